"""Components whose custom_id is all they know: which action, and its argument. Cogs register what actions do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Self, TypeVar

import discord
from discord import ButtonStyle
from discord.ui import Button, DynamicItem, Item, Select, View

from cogs.errors import Refusal, report
from cogs.i18n import Speech, speech_of
from cogs.services import ServingBot

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


KEEP = "keep"

VALID_FOR = timedelta(minutes=15)
"""As long as Discord lets the reply be changed that holds the question."""


def confirmation(action: str, argument: str, label: str, say: Speech) -> View:
    """A button that does it, and one that does not."""
    return row(
        ActionButton(action, argument, label=label, style=ButtonStyle.danger),
        ActionButton(KEEP, "", label=say("Keep it")),
    )


def assert_fresh(interaction: discord.Interaction[Any]) -> None:
    """Take no answer to a question of long ago: what it named may have grown since.

    Raises:
        Refusal: the question is too old.
    """
    asked = interaction.message
    if asked is not None and discord.utils.utcnow() - asked.created_at > VALID_FOR:
        raise Refusal(speech_of(interaction)("I asked that a while ago. Please use the command again."))


async def keep(interaction: discord.Interaction[Any], argument: str) -> None:
    """Do nothing, and say so."""
    await interaction.response.edit_message(
        content=speech_of(interaction)("Nothing was changed."), embed=None, view=None
    )


T = TypeVar("T")

PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class PageOf(Generic[T]):
    """A page of a list; `number` counts from 1 and is always one that exists."""

    items: Sequence[T]
    number: int
    count: int


def page_of(items: Sequence[T], number: int, size: int = PAGE_SIZE) -> PageOf[T]:
    """The page of that number, or the nearest there is: the list may have changed since the button was made."""
    count = max(1, -(-len(items) // size))
    nearest = min(max(1, number), count)
    return PageOf(items[(nearest - 1) * size : nearest * size], nearest, count)


def page_asked(argument: str) -> tuple[str, int]:
    """What the list is of, and the number of its page, from the argument that `page_turner` makes."""
    of, _, number = argument.rpartition(":")
    return of, int(number) if number.isdecimal() else 1


def page_turner(action: str, argument: str, page: PageOf[T], say: Speech) -> View | None:
    """Buttons to the pages before and after; none where there is one page only.

    The action's argument is `argument`, a colon and the number of the page.
    """
    if page.count == 1:
        return None
    return row(
        ActionButton(action, f"{argument}:{page.number - 1}", label=say("◀ Back"), disabled=page.number == 1),
        ActionButton(action, f"{argument}:{page.number + 1}", label=say("Next ▶"), disabled=page.number == page.count),
    )
