"""/privacy: a copy of what is kept about a person, or its erasure."""

import asyncio
import io
import json
from collections.abc import Awaitable
from typing import Any

import discord
from discord import ButtonStyle, app_commands
from discord.ext import commands
from discord.ui import Button, View

from cogs.errors import DISCORD_ERRORS
from cogs.i18n import Speech, later, speech_of
from cogs.interactions import action_button, assert_fresh, confirmation, on_press, row
from cogs.permissions import everywhere
from cogs.services import ServingBot, server_of
from domain.usage import Erasure
from domain.use_cases import UseCases


class Privacy(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._bot = bot
        self._use_cases = use_cases
        bot.handle(
            on_press("privacy-export", self._export),
            on_press("privacy-ask", self._ask),
            on_press("privacy-erase", self._erase),
            on_press("privacy-out", self._leave_out),
            on_press("privacy-in", self._take_in),
        )

    @app_commands.command(description="What I store about you: download it or erase it")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    async def privacy(self, interaction: discord.Interaction[Any]) -> None:
        say = speech_of(interaction)
        text = say(
            "I keep what you write in conversations with me and my answers, in whose threads you write to others, "
            "how far you are in which book, whether you like to see tool calls, and how many tokens you have used. To "
            "answer, your messages go to the model ({provider}); nothing else is done with them.",
            provider=self._use_cases.facts.provider,
        )
        view = row(
            action_button("privacy-export", "", label=say("Give me a copy")),
            action_button("privacy-ask", "", label=say("Erase it all"), style=ButtonStyle.danger),
        )
        out = await self._use_cases.people.is_left_out(str(interaction.user.id))
        view.add_item(_opt_button(say, out=out))
        text = f"{_left_out_line(say)}\n\n{text}" if out else text
        await interaction.response.send_message(text, view=view, ephemeral=True)

    async def _leave_out(self, interaction: discord.Interaction[Any], argument: str) -> None:
        await self._use_cases.people.leave_out(str(interaction.user.id), left_out=True)
        say = speech_of(interaction)
        erase = action_button("privacy-ask", "", label=say("Erase it all"), style=ButtonStyle.danger)
        await interaction.response.edit_message(
            content=_left_out_line(say), view=row(_opt_button(say, out=True), erase)
        )

    async def _take_in(self, interaction: discord.Interaction[Any], argument: str) -> None:
        await self._use_cases.people.leave_out(str(interaction.user.id), left_out=False)
        say = speech_of(interaction)
        text = say("Welcome back. I store and answer what you write to me again.")
        await interaction.response.edit_message(content=text, view=row(_opt_button(say, out=False)))

    async def _export(self, interaction: discord.Interaction[Any], argument: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        kept = await self._use_cases.people.export(str(interaction.user.id))
        data = await asyncio.to_thread(json.dumps, kept, ensure_ascii=False, indent=2, default=str)
        file = discord.File(io.BytesIO(data.encode()), "marginalia.json")
        await interaction.followup.send(file=file, ephemeral=True)

    async def _ask(self, interaction: discord.Interaction[Any], argument: str) -> None:
        say = speech_of(interaction)
        text = say(
            "Erase everything? Conversations that are yours alone go with their threads; where others wrote too, what "
            "you wrote goes with the answers to it. Books stay, without your name. It cannot be undone."
        )
        view = confirmation("privacy-erase", "", say("Erase it all"), say)
        await interaction.response.edit_message(content=text, view=view)

    async def _erase(self, interaction: discord.Interaction[Any], argument: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        say, reader = speech_of(interaction), str(interaction.user.id)
        await self._withdraw_answers(await self._use_cases.people.export(reader))
        erased = await self._use_cases.people.erase(reader)
        self._bot.audit.note(
            server_of(interaction),
            later(
                "Somebody erased what I had stored about them (conversations: {conversations}, messages: {messages})."
            ),
            conversations=erased.conversations,
            messages=erased.messages,
        )
        await interaction.edit_original_response(content=_erased_line(erased, say), view=None)
        left = await self._remove_from_discord(erased)
        if left:
            note = say.counted(
                left,
                "{number} thread or message could not be removed from Discord; somebody who manages threads can.",
                "{number} threads or messages could not be removed from Discord; somebody who manages threads can.",
            )
            await interaction.edit_original_response(content=f"{_erased_line(erased, say)}\n{note}", view=None)

    async def _withdraw_answers(self, kept: dict[str, Any]) -> None:
        """Let no answer be written any more to what is about to be erased."""
        own = {each["id"] for each in kept["conversations"]} | {each["conversation_id"] for each in kept["messages"]}
        for conversation_id in own:
            self._use_cases.chat.withdraw(conversation_id)
            await self._use_cases.chat.settle(conversation_id)

    async def _remove_from_discord(self, erased: Erasure) -> int:
        """Remove threads and answers that showed what was erased; how many could not be."""
        left = 0
        for thread_id in erased.thread_ids:
            left += await _failed(self._delete_thread(int(thread_id)))
        for thread_id, message_id in erased.replies:
            place = self._bot.get_partial_messageable(int(thread_id))
            left += await _failed(place.get_partial_message(int(message_id)).delete())
        return left

    async def _delete_thread(self, thread_id: int) -> None:
        thread = await self._bot.fetch_channel(thread_id)
        if isinstance(thread, discord.Thread):
            await thread.delete()


async def _failed(removal: Awaitable[None]) -> bool:
    try:
        await removal
    except discord.NotFound:
        return False
    except DISCORD_ERRORS:
        return True
    return False


def _opt_button(say: Speech, *, out: bool) -> Button[View]:
    """The button that undoes what is so."""
    if out:
        return action_button("privacy-in", "", label=say("Take part again"))
    return action_button("privacy-out", "", label=say("Leave me out"))


def _left_out_line(say: Speech) -> str:
    return say(
        "I leave you out, as you asked: I neither store nor answer what you write, and how far you've read holds "
        "nobody back. What I stored before stays until you erase it. “Take part again” undoes this."
    )


def _erased_line(erased: Erasure, say: Speech) -> str:
    messages = say.counted(erased.messages, "{number} message", "{number} messages")
    talks = say.counted(erased.conversations, "{number} conversation", "{number} conversations")
    return say(
        "Erased: {messages}, {conversations}, your positions and preferences.", messages=messages, conversations=talks
    )
