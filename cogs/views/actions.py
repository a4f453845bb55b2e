"""Components whose custom_id is all they know: which action, and its argument. Cogs register what actions do."""

import re
from typing import Any, Self

import discord
from discord import ButtonStyle
from discord.ui import Button, DynamicItem, Item, Select, View

from cogs.errors import Refusal, report
from cogs.services import ServingBot
from cogs.translation import speech_of

_TEMPLATE = r"(?P<action>[a-z-]+):(?P<argument>.*)"


async def carry_out(interaction: discord.Interaction[Any], action: str, argument: str) -> None:
    """Do what a cog registered under that name; whatever goes wrong ends in a sentence."""
    bot = interaction.client
    assert isinstance(bot, ServingBot)
    if not bot.take_up(interaction):
        return
    act = bot.actions.get(action)
    try:
        if act is None:
            raise Refusal(speech_of(interaction)("This button is from an older version of me."))
        await act(interaction, argument)
    except Exception as error:  # noqa: BLE001 - discord.py would only log it, and the person read "interaction failed"
        await report(interaction, error)


class ActionButton(DynamicItem[Button[View]], template=f"do:{_TEMPLATE}"):
    """A button that carries out an action."""

    def __init__(
        self,
        action: str,
        argument: str,
        *,
        label: str,
        style: ButtonStyle = ButtonStyle.secondary,
        disabled: bool = False,
    ) -> None:
        super().__init__(Button(label=label, style=style, custom_id=f"do:{action}:{argument}", disabled=disabled))
        self.action = action
        self.argument = argument

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(match["action"], match["argument"], label="…")

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await carry_out(interaction, self.action, self.argument)


class ActionMenu(DynamicItem[Select[View]], template=f"pick:{_TEMPLATE}"):
    """A menu that carries out an action with the value chosen; the argument in its custom_id goes in front."""

    def __init__(self, action: str, argument: str, *, options: list[discord.SelectOption], placeholder: str) -> None:
        super().__init__(Select(custom_id=f"pick:{action}:{argument}", options=options, placeholder=placeholder))
        self.action = action
        self.argument = argument

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: Item[Any], match: re.Match[str], /
    ) -> Self:
        return cls(match["action"], match["argument"], options=[discord.SelectOption(label="…")], placeholder="")

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await carry_out(interaction, self.action, f"{self.argument}{self.item.values[0]}")


def row(*items: Item[Any]) -> View:
    """A view of these items. Made of dynamic items alone, it costs no memory once it is sent."""
    view = View(timeout=None)
    for item in items:
        view.add_item(item)
    return view
