"""/privacy: a copy of everything kept about a person, or its erasure; and the erasure of a server by its managers."""

import asyncio
import io
import json
import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import discord
from discord import ButtonStyle, app_commands
from discord.ext import commands
from discord.ui import Button, View

from cogs.errors import DISCORD_ERRORS, Refusal
from cogs.i18n import Speech, choose_language, later, speech_of
from cogs.interactions import (
    action_button,
    assert_fresh,
    change,
    confirmation,
    defer_if_slow,
    file_for,
    on_press,
    reply,
    row,
)
from cogs.permissions import everywhere, manages_shelf
from cogs.removals import PostingPlaces, PostNotes, Removals
from cogs.services import Conversing, ServingBot, record_action, server_of
from domain.errors import MarginaliaError
from domain.records import Erasure, Removal
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

LINKS_SHOWN = 12
"""Longer lists are sent as a file."""


class Privacy(commands.Cog):
    def __init__(
        self,
        bot: ServingBot,
        use_cases: UseCases,
        removals: Removals,
        conversing: Conversing,
        places: PostingPlaces,
    ) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._removals = removals
        self._conversing = conversing
        self._posts = PostNotes(bot, use_cases, removals, places)
        bot.handle(
            on_press("privacy-export", self._export),
            on_press("privacy-ask", self._ask),
            on_press("privacy-erase", self._erase),
            on_press("privacy-out", self._leave_out),
            on_press("privacy-in", self._take_in),
            on_press("privacy-server-ask", self._ask_for_server),
            on_press("privacy-server-erase", self._erase_server),
        )

    async def cog_load(self) -> None:
        await self._use_cases.people.load_left_out()
        self._removals.keep_looking()

    async def cog_unload(self) -> None:
        await self._removals.close()

    def _where_it_goes(self, say: Speech) -> str:
        if not self._use_cases.has_model:
            return say("I answer without a language model, so I send what you write to nobody.")
        if provider := self._use_cases.facts.provider:
            return say(
                "To answer, I send your messages to the model ({provider}). I do nothing else with them.",
                provider=provider,
            )
        return say(
            "To answer, I send your messages to a model on a server that the bot's operator has chosen. I do nothing "
            "else with them."
        )

    @app_commands.command(description="What I store about you: download it or erase it")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    async def privacy(self, interaction: discord.Interaction[Any]) -> None:
        say = speech_of(interaction)
        stored = say(
            "**What I store about you**\n"
            "- what you write to me, with my answers\n"
            "- whose threads you write in; what you tell others there only if somebody asks me about it\n"
            "- the books you've added, and how far you are in each book\n"
            "- the clubs you're in, your check-ins, and the votes you've started\n"
            "- your language, whether you want to see how I look things up, and how many tokens you've used\n"
            "- which of my messages show your name"
        )
        text = f"{stored}\n{self._where_it_goes(say)}"
        buttons = [
            action_button("privacy-export", "", label=say("Give me a copy")),
            action_button("privacy-ask", "", label=say("Erase it all"), style=ButtonStyle.danger),
        ]
        if _manages_server(interaction):
            label = say("Erase this server's data")
            buttons.append(action_button("privacy-server-ask", "", label=label, style=ButtonStyle.danger))
        people, person = self._use_cases.people, str(interaction.user.id)
        known = asyncio.gather(people.removals_for(person), people.is_left_out(person))
        left, out = await defer_if_slow(interaction, known)
        text += f"\n\n{still_there_line(left, say)}" if left else ""
        text = f"{_left_out_line(say)}\n\n{text}" if out else text
        links = as_edit(list_of(left)) if interaction.response.is_done() else list_of(left)
        await reply(interaction, content=text, view=row(*buttons, _opt_button(say, out=out)), **links)

    async def _leave_out(self, interaction: discord.Interaction[Any], argument: str) -> None:
        leaving = self._use_cases.people.leave_out(str(interaction.user.id), left_out=True)
        await defer_if_slow(interaction, leaving, thinking=False)
        say = speech_of(interaction)
        erase = action_button("privacy-ask", "", label=say("Erase it all"), style=ButtonStyle.danger)
        await change(interaction, content=_left_out_line(say), view=row(_opt_button(say, out=True), erase))

    async def _take_in(self, interaction: discord.Interaction[Any], argument: str) -> None:
        coming = self._use_cases.people.leave_out(str(interaction.user.id), left_out=False)
        await defer_if_slow(interaction, coming, thinking=False)
        say = speech_of(interaction)
        text = say("Welcome back. From now on I'll store and answer what you write to me again.")
        await change(interaction, content=text, view=row(_opt_button(say, out=False)))

    async def _export(self, interaction: discord.Interaction[Any], argument: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        kept = await self._use_cases.people.export(str(interaction.user.id))
        data = await asyncio.to_thread(json.dumps, kept, ensure_ascii=False, indent=2, default=str)
        file = await file_for(interaction, data.encode(), "marginalia.json")
        await interaction.followup.send(file=file, ephemeral=True)

    async def _ask(self, interaction: discord.Interaction[Any], argument: str) -> None:
        say = speech_of(interaction)
        text = say(
            "Erase everything? This deletes the conversations that are yours alone, and their threads unless "
            "others wrote there. Elsewhere it deletes what you wrote, the answers to it, and my messages that "
            "show your name. Your own shelf goes, too; books on servers stay, without your name. This can't be undone."
        )
        view = confirmation("privacy-erase", "", say("Erase it all"), say)
        await interaction.response.edit_message(content=text, view=view, attachments=[])

    async def _erase(self, interaction: discord.Interaction[Any], argument: str) -> None:
        begun = time.monotonic()
        assert_fresh(interaction)
        await interaction.response.defer()
        say, reader = speech_of(interaction), str(interaction.user.id)
        conversations = await self._use_cases.conversations.of_reader(reader)
        async with self._conversing.standing_still(conversations, reader):
            # By Discord's clock, as what they have written is; ours may be another.
            before = interaction.created_at + timedelta(seconds=time.monotonic() - begun)
            erased = await self._use_cases.people.erase(reader, before)
        self._bot.audit.note(
            server_of(interaction),
            later(
                "Somebody erased what I had stored about them (conversations: {conversations}, messages: {messages})."
            ),
            conversations=erased.conversations,
            messages=erased.messages,
        )
        to_remove = await self._use_cases.people.removals_for(reader)
        busy = say("I'm removing it from Discord too …")
        await interaction.edit_original_response(
            content=f"{_erased_line(erased, say)}\n{busy}" if to_remove else _erased_line(erased, say), view=None
        )
        if to_remove:
            await self._removals.work(to_remove)
            await self._tell_what_is_left(interaction, erased)
        self._bot.dispatch("owner_erased", [each for each in conversations if each.owner_id == reader])

    async def _tell_what_is_left(self, interaction: discord.Interaction[Any], erased: Erasure) -> None:
        say = speech_of(interaction)
        left = await self._use_cases.people.removals_for(str(interaction.user.id))
        lines = [_erased_line(erased, say), *([still_there_line(left, say)] if left else [])]
        try:
            await interaction.edit_original_response(content="\n".join(lines), view=None, **as_edit(list_of(left)))
        except DISCORD_ERRORS as error:  # it has taken longer than a reply can be changed; /privacy tells it, too
            logger.info("what could not be removed was not told: %s", error)

    async def _ask_for_server(self, interaction: discord.Interaction[Any], argument: str) -> None:
        say = speech_of(interaction)
        _refuse_who_does_not_manage(interaction, say)
        text = say(
            "Erase everything I store about this server? This deletes all books, everybody's conversations "
            "about them, how far everyone has read, and the settings. Threads and messages on Discord stay. "
            "This can't be undone."
        )
        view = confirmation("privacy-server-erase", "", say("Erase this server's data"), say)
        await interaction.response.edit_message(content=text, view=view, attachments=[])

    async def _erase_server(self, interaction: discord.Interaction[Any], argument: str) -> None:
        assert_fresh(interaction)
        say, guild_id = speech_of(interaction), str(interaction.guild_id)
        _refuse_who_does_not_manage(interaction, say)
        await interaction.response.defer()
        record_action(interaction, later("{who} had everything erased that I had stored about this server."))
        await self._bot.audit.close()  # its channel is one of the settings, which are erased as well
        conversations = await self._use_cases.conversations.in_guild(guild_id)
        async with self._conversing.standing_still(conversations, None):
            await self._use_cases.servers.erase(guild_id)
            choose_language(int(guild_id), "")
            await self._use_cases.left_servers.erase(guild_id)
        await interaction.edit_original_response(content=say("Everything about this server is erased."), view=None)

    # What Discord tells

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        if self._bot.user and message.author.id == self._bot.user.id:
            await self._posts.note(message)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if self._bot.user and payload.message.author.id == self._bot.user.id:
            await self._posts.note(payload.message)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._posts.forget(payload.message_id)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        for message_id in payload.message_ids:
            await self._posts.forget(message_id)

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        await self._use_cases.left_servers.left([str(guild.id)])

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._use_cases.left_servers.back([str(guild.id)])

    @commands.Cog.listener()
    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Discord also reports a server that the bot was added to again."""
        await self._use_cases.left_servers.back([str(guild.id)])

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Find out which servers the bot was removed from, or added to again, while it was offline, and what a program
        that was killed had posted last.
        """
        here = {str(guild.id) for guild in self._bot.guilds}
        try:
            known = {each for each in await self._use_cases.left_servers.known() if self._bot.serves(each)}
            await self._use_cases.left_servers.left(known - here)
            await self._use_cases.left_servers.back(known & here)
        except MarginaliaError as error:
            logger.error("which servers the bot was removed from could not be found out: %s", error)
        self._removals.wake()
        if self._bot.user:
            self._posts.look_through(self._bot.user.id)


def _manages_server(interaction: discord.Interaction[Any]) -> bool:
    return server_of(interaction) is not None and manages_shelf(interaction)


def _refuse_who_does_not_manage(interaction: discord.Interaction[Any], say: Speech) -> None:
    if not _manages_server(interaction):
        raise Refusal(say("Only somebody with the permission “Manage Server” can erase this server's data."))


def _opt_button(say: Speech, *, out: bool) -> Button[View]:
    """The button that undoes the current choice."""
    if out:
        return action_button("privacy-in", "", label=say("Take part again"))
    return action_button("privacy-out", "", label=say("Leave me out"))


def _left_out_line(say: Speech) -> str:
    return say(
        "I'll leave you out from now on: I won't store or answer what you write, and your page won't limit "
        "anybody's answers. What I stored before stays until you erase it. “Take part again” undoes this."
    )


def _erased_line(erased: Erasure, say: Speech) -> str:
    messages = say.counted(erased.messages, "{number} message", "{number} messages")
    talks = say.counted(erased.conversations, "{number} conversation", "{number} conversations")
    return say(
        "Erased: {messages}, {conversations}, your positions and preferences.", messages=messages, conversations=talks
    )


def still_there_line(left: Sequence[Removal], say: Speech) -> str:
    """The threads and messages that still show the person because Discord does not let the bot remove them."""
    refused = [each for each in left if each.refused]
    lines = []
    if refused:
        lines.append(
            say.counted(
                len(refused),
                "I couldn't remove {number} thread or message from Discord; somebody who manages threads can:",
                "I couldn't remove {number} threads or messages from Discord; somebody who manages threads can:",
            )
        )
        lines += [each.link for each in refused] if len(refused) <= LINKS_SHOWN else []
    if waiting := len(left) - len(refused):
        lines.append(
            say.counted(
                waiting,
                "{number} more will go as soon as Discord lets me.",
                "{number} more will go as soon as Discord lets me.",
            )
        )
    return "\n".join(lines)


def list_of(left: Sequence[Removal]) -> dict[str, Any]:
    """A file with the links, if there are too many for a message."""
    links = [each.link for each in left if each.refused]
    if len(links) <= LINKS_SHOWN:
        return {}
    return {"file": discord.File(io.BytesIO("\n".join(links).encode()), "still-there.txt")}


def as_edit(parts: dict[str, Any]) -> dict[str, Any]:
    """The same for a reply that stands already."""
    return {"attachments": [parts["file"]]} if parts else {}
