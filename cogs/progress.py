"""/progress: how far a reader is in a book; and how far a book may be told in a place.

Only people move a position, and only their own.
"""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands
from discord.ui import View

from cogs import access
from cogs.access import assert_may_post, bound_conversation, resolve_book, resolve_conversation
from cogs.cards import clipped, place_of, plain
from cogs.errors import DISCORD_ERRORS, Refusal, retry_transient
from cogs.i18n import Speech, later, speech_in, speech_of
from cogs.interactions import action_button, on_press, row
from cogs.permissions import everywhere, may_change
from cogs.rendering.answers import binding_note, page_name
from cogs.services import ServingBot, record_action, server_of, shelf_of, use_cases_of
from cogs.threads import dismiss_absent, has_left, thread_of
from domain.book import Binding, BindingKind, Book
from domain.clubs.plan import Club
from domain.conversation import Conversation
from domain.use_cases import UseCases

LABEL_LENGTH = 100
TITLE_SHOWN = 100
MOST_OFFERED = 5
WHO_BINDS, UNBIND = "who-binds", "unbind"
MOST_LOOKED_FOR = 5
"""Readers about whom Discord is asked whether they are still on the server; the next one is taken to be."""
HIDDEN = "hidden"
"""Stands on a button in place of the id of a person who hides their place in a club."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A book, and how far a reply may go: for the asker alone, or for everybody who sees the reply.

    `binding` is who or what keeps it from going further, if that is not the asker. `page` is the label of the last
    page, `since` that of the first one, if it is not the book's. `club` is the channel's club.
    """

    book: Book
    read_to: int
    public: bool = False
    binding: Binding | None = None
    page: str = ""
    club: Club | None = None
    since: str = ""


class Progress(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        bot.handle(on_press(WHO_BINDS, self._who_binds), on_press(UNBIND, self._unbind, rf"\w+:(?:\d+|{HIDDEN})"))

    @app_commands.command(description="Tell me how far you've read, so I don't spoil anything; or see where you are")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(
        book="The book; not needed in a conversation's thread",
        page="The last page you've read",
        chapter="The last chapter you've read",
        finished="You've finished the book",
        clear="Forget your page; I may then talk about the whole book",
    )
    @app_commands.autocomplete(book=access.books, chapter=access.chapters)
    async def progress(
        self,
        interaction: discord.Interaction[Any],
        book: str | None = None,
        page: Range[str, 1, LABEL_LENGTH] | None = None,
        chapter: Range[str, 1, LABEL_LENGTH] | None = None,
        finished: bool | None = None,
        clear: bool | None = None,
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        found, say, reader = await resolve_book(interaction, book), speech_of(interaction), str(interaction.user.id)
        if sum((page is not None, chapter is not None, bool(finished), bool(clear))) > 1:
            raise Refusal(say("Please use only one of `page`, `chapter`, `finished` and `clear`."))
        await self._move(reader, found, page, chapter, finished=bool(finished), clear=bool(clear))
        interaction.client.dispatch("position_moved", reader, found.id)
        line = await place_of(reader, found, self._use_cases.positions, say)
        view = await self._way_to_who_binds(interaction, found)
        lines = [f"**{plain(found.title)}**", line, await self._bound_here(interaction, found)]
        await interaction.edit_original_response(content="\n".join(filter(None, lines)), view=view)

    async def _bound_here(self, interaction: discord.Interaction[Any], book: Book) -> str:
        """Who or what keeps answers here from going as far as the person has read; empty if nothing does."""
        conversation, reader, binding = await bound_conversation(interaction), str(interaction.user.id), None
        positions, clubs = self._use_cases.positions, self._use_cases.clubs
        if conversation is not None and conversation.book_id == book.id:
            people = await self._use_cases.company.of(conversation.id)
            binding = await positions.binding(people, [reader], book, conversation)
        elif club := await clubs.reading_in(shelf_of(interaction), str(interaction.channel_id), book.id):
            found = await positions.binding_in(club, book, clubs.now())
            own = (await positions.get(reader, book)).bound(book.length)
            binding = found if found and found.read_to < own else None
        return binding_note(binding, speech_of(interaction)) if binding else ""

    async def _way_to_who_binds(self, interaction: discord.Interaction[Any], book: Book) -> View | None:
        """A button for people who may change the thread's conversation, if somebody else reads along."""
        conversation = await bound_conversation(interaction)
        if conversation is None or conversation.book_id != book.id or not may_change(interaction, conversation):
            return None
        if not {*await self._use_cases.company.of(conversation.id)} - {str(interaction.user.id)}:
            return None
        return row(action_button(WHO_BINDS, conversation.id, label=speech_of(interaction)("Whose page counts")))

    async def _who_binds(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        """Say who keeps the answers of a conversation from going further, and offer to stop counting them."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        conversation, say = await self._own(interaction, conversation_id), speech_of(interaction)
        server = server_of(interaction)
        if server is not None and (thread := await thread_of(server, conversation)):
            await dismiss_absent(thread, conversation, self._use_cases)
        book = await self._use_cases.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
        people = await self._use_cases.company.of(conversation.id)
        positions = self._use_cases.positions
        read_to, last = await positions.lowest_of(people, book)
        limit = await positions.binding_of_thread(conversation, book)
        if limit is not None and limit.read_to <= read_to:
            await interaction.followup.send(binding_note(limit, say), ephemeral=True)
            return
        if not last:
            raise Refusal(say("Nobody's page limits the answers here, so I may talk about the whole book."))
        named = [person for person in last if not await positions.bounds.hides(person, book)]
        who = say.listed([f"<@{person}>" for person in named])
        if not named:
            line = say("I stop where the slowest reader here is. They hide their place, so I won't say where that is.")
        elif page := await positions.page_at(book, read_to):
            page = page_name(page, say, estimated=book.pages_estimated)
            line = say.counted(
                len(named),
                "I stop at {page} here, as far as {who} has read.",
                "I stop at {page} here, as far as {who} have read.",
                page=page,
                who=who,
            )
        else:
            line = say.counted(
                len(named),
                "I won't reveal anything here yet, because {who} hasn't started reading.",
                "I won't reveal anything here yet, because {who} haven't started reading.",
                who=who,
            )
        others = {person: await _name(server, person, say) for person in named if person != str(interaction.user.id)}
        waited_for = [*others.items()][:MOST_OFFERED]
        if not named and {*last} - {str(interaction.user.id)}:
            waited_for = [(HIDDEN, _named(HIDDEN, say))]
        buttons = [
            action_button(
                UNBIND,
                f"{conversation.id}:{person}",
                label=clipped(say("Stop waiting for {name}", name=name), LABEL_LENGTH - 20),
            )
            for person, name in waited_for
        ]
        view = row(*buttons) if buttons else discord.utils.MISSING
        await interaction.followup.send(line, view=view, ephemeral=True)

    async def _unbind(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Stop counting somebody, and say so there; `argument` is the conversation, a colon and the person."""
        conversation_id, _, person = argument.partition(":")
        await interaction.response.defer()
        conversation, server = await self._own(interaction, conversation_id), server_of(interaction)
        if server is None or person == str(interaction.user.id):
            raise Refusal(speech_of(interaction)("Set your own page with /progress."))
        people = [person]
        if person == HIDDEN:
            book = await self._use_cases.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
            everybody = await self._use_cases.company.of(conversation.id)
            _, last = await self._use_cases.positions.lowest_of(everybody, book)
            hides = self._use_cases.positions.bounds.hides
            people = [each for each in last if each != str(interaction.user.id) and await hides(each, book)]
        for each in people:
            await self._use_cases.company.dismiss(conversation.id, each)
        say = speech_in(server)
        record_action(
            interaction,
            later("{who} told me to stop waiting for {person} in {thread}."),
            thread=f"<#{conversation.thread_id}>",
            person=_named(person, say),
        )
        told = say(
            "-# Answers here no longer wait for {person}, until they write here again.", person=_named(person, say)
        )
        if thread := await thread_of(server, conversation):
            nobody, nonce = discord.AllowedMentions.none(), f"free:{interaction.id}"
            with contextlib.suppress(*DISCORD_ERRORS):  # it is so, whether or not it can be told there
                await retry_transient(partial(thread.send, told, silent=True, allowed_mentions=nobody, nonce=nonce))
        say = speech_of(interaction)
        done = say("Answers there no longer wait for {person}.", person=_named(person, say))
        await interaction.edit_original_response(content=done, view=None)

    async def _own(self, interaction: discord.Interaction[Any], conversation_id: str) -> Conversation:
        """The conversation with that id or title, if the person may change it.

        Raises:
            Refusal: there is no such conversation, or the person may not change it.
        """
        conversation, say = await resolve_conversation(interaction, conversation_id), speech_of(interaction)
        if not may_change(interaction, conversation):
            raise Refusal(
                say("Only the person who opened this conversation, or somebody who manages threads here, can do that.")
            )
        return conversation

    async def _move(
        self, reader: str, book: Book, page: str | None, chapter: str | None, *, finished: bool, clear: bool
    ) -> None:
        """Apply the options; without any, the position stays.

        Raises:
            BookError: NOT_FOUND, there is no such page or chapter.
        """
        positions = self._use_cases.positions
        if page is not None:
            await positions.set_page(reader, book, page)
        elif chapter is not None:
            await positions.set_chapter(reader, book, chapter)
        elif finished:
            await positions.finish(reader, book)
        elif clear:
            await positions.clear(reader, book)


def _named(person: str, say: Speech) -> str:
    return say("a member who hides their place") if person == HIDDEN else f"<@{person}>"


async def _name(server: discord.Guild | None, person: str, say: Speech) -> str:
    if server is not None:
        with contextlib.suppress(*DISCORD_ERRORS):
            return (await server.fetch_member(int(person))).display_name
    return say("somebody who has left")


async def scope_here(interaction: discord.Interaction[Any], book: str | None, *, public: bool) -> Scope:
    """The scope of a reply about a book here. Where only the person has installed the bot, nothing is public."""
    club = await club_here(interaction)
    found = await resolve_book(interaction, club.book_id if club and book is None else book)
    if public and server_of(interaction) is not None:
        assert_may_post(interaction)
    return await scope_of(interaction, found, club, public=public)


async def scope_of(interaction: discord.Interaction[Any], book: Book, club: Club | None, *, public: bool) -> Scope:
    """The same for a book that is known, where `club` reads."""
    positions, own = use_cases_of(interaction).positions, await own_bound(interaction, book)
    if not public or server_of(interaction) is None:
        return Scope(book, own, page=await positions.page_at(book, own))
    club = club if club is not None and club.book_id == book.id else None
    binding = await _public_binding(interaction, book, own, club)
    if binding is not None:
        return Scope(book, binding.read_to, public=True, binding=binding, page=binding.page, club=club)
    return Scope(book, own, public=True, page=await positions.page_at(book, own), club=club)


async def _public_binding(
    interaction: discord.Interaction[Any], book: Book, own: int, club: Club | None
) -> Binding | None:
    """Who or what limits what is public here; None if the asker does.

    In a thread it is the people there, in a club's channel its members, elsewhere everybody who reads the book.
    """
    use_cases = use_cases_of(interaction)
    conversation = await bound_conversation(interaction)
    if conversation is not None and conversation.book_id == book.id:
        people = await use_cases.company.of(conversation.id)
        return await use_cases.positions.binding(people, [str(interaction.user.id)], book, conversation)
    if club is not None:
        binding = await use_cases.positions.binding_in(club, book, use_cases.clubs.now())
    else:
        binding = await _slowest_here(interaction, book, own)
    return binding if binding is not None and binding.read_to < own else None


async def _slowest_here(interaction: discord.Interaction[Any], book: Book, own: int) -> Binding | None:
    """The slowest reader of a book who has not left the server, if they are not as far as the person who asks."""
    positions, server = use_cases_of(interaction).positions, server_of(interaction)
    behind = [(at, each) for at, each in await positions.slowest(book) if at < own and each != str(interaction.user.id)]
    for number, (read_to, reader) in enumerate(behind):
        if number >= MOST_LOOKED_FOR or server is None or not await has_left(server, reader):
            last = [each for at, each in behind[number:] if at == read_to]
            return await positions.binding_by(last, read_to, book)
    return None


def extent_line(scope: Scope, say: Speech) -> str:
    """The line that says which book and which part of it a reply is about."""
    title, estimated = plain(clipped(scope.book.title, TITLE_SHOWN)), scope.book.pages_estimated
    first = page_name(scope.since, say, estimated=estimated) if scope.since else ""
    last = page_name(scope.page, say, estimated=estimated) if scope.page else ""
    if scope.book.is_all_before(scope.read_to):
        if first:
            return say("-# {title} · from {first} to the end", title=title, first=first)
        return say("-# {title} · the whole book", title=title)
    if scope.binding is not None and scope.binding.kind is BindingKind.HIDDEN:
        return f"-# {title}"
    if not last:
        return say("-# {title} · nothing read yet", title=title)
    if first == last:
        return f"-# {title} · {last}"
    if first:
        return say("-# {title} · from {first} to {last}", title=title, first=first, last=last)
    return say("-# {title} · up to {page}", title=title, page=last)


async def club_here(interaction: discord.Interaction[Any]) -> Club | None:
    """The club that reads in this channel, not in one of its threads."""
    server = server_of(interaction)
    running = await use_cases_of(interaction).clubs.store.get_running(str(server.id)) if server else ()
    return next((each for each in running if each.channel_id == str(interaction.channel_id)), None)


async def own_bound(interaction: discord.Interaction[Any], book: Book) -> int:
    """How far a private reply to a person may go in a book."""
    return (await use_cases_of(interaction).positions.get(str(interaction.user.id), book)).bound(book.length)
