"""/chat and /conversations, and following the changes that people make to threads."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import access
from cogs.access import reach_of, resolve_conversation, visible_conversations
from cogs.cards import INK, QUESTION_LENGTH, clipped, plain, titled
from cogs.conversation.recovery import OPENING, WORK, tell_restarted
from cogs.errors import DISCORD_ERRORS, Refusal, edit_reply, retry_transient, sentence_for
from cogs.i18n import Speech, later, speech_in, speech_of
from cogs.interactions import (
    assert_fresh,
    confirmation,
    defer_if_slow,
    file_for,
    on_choice,
    on_press,
    page_asked,
    page_of,
    page_turner,
)
from cogs.opening import Opening, offer
from cogs.permissions import in_conversations, manages, may_change
from cogs.privacy import as_edit, list_of, still_there_line
from cogs.removals import Removals
from cogs.rendering.export import ExportFormat, export_conversation, export_name, is_said, readable
from cogs.services import ServingBot, record_action, server_of, shelf_of
from cogs.threads import (
    NAME_LENGTH,
    assert_can_post,
    delete_thread,
    others_wrote_in,
    rename_thread,
    take_over_name,
    thread_name,
    thread_of,
)
from domain.book import Book
from domain.conversation import Conversation
from domain.errors import BookError, MarginaliaError
from domain.records import Removal
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

RENAMING = "renaming"
"""The action of a reply that tells of a new title; a start can continue it."""

RENAMED_AMONG = 50
"""Messages, from the last on, among which there is one that tells of a renaming."""
BRACKETS = str.maketrans("[]", "()")
"""A title becomes the text of a link, which a bracket would end."""


class Chat(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening) -> None:
        self._use_cases = use_cases
        self._opening = opening
        bot.handle(on_press("chat-new", self._start_anew), on_choice("chat-resume", self._take_up))
        bot.handle(on_press("chat-move", self._move))
        bot.continuations[OPENING] = opening.go_on

    @app_commands.command(description="Talk about a book in its own thread")
    @in_conversations
    @app_commands.default_permissions(send_messages_in_threads=True)
    @app_commands.describe(
        book="The book",
        message="Your first question, answered right away",
        title="A title for the conversation",
        conversation="An earlier conversation to continue",
        private="Visible only to you and people who manage threads",
    )
    @app_commands.autocomplete(book=access.books, conversation=access.conversations)
    async def chat(
        self,
        interaction: discord.Interaction[Any],
        book: str,
        message: Range[str, 1, QUESTION_LENGTH] | None = None,
        title: Range[str, 1, NAME_LENGTH] | None = None,
        conversation: str | None = None,
        private: bool | None = None,
    ) -> None:
        assert_can_post(interaction)  # before a conversation is offered that can't be continued here
        found = await defer_if_slow(interaction, access.resolve_book(interaction, book))
        if conversation is not None:
            await self._resume(interaction, found, conversation, message)
        elif {message, title, private} == {None} and (
            earlier := await defer_if_slow(interaction, self._opening.earlier(interaction, found))
        ):
            await offer(interaction, found, earlier)
        else:
            await self._opening.start(interaction, found, title=title, message=message, private=bool(private))

    async def _resume(
        self, interaction: discord.Interaction[Any], book: Book, reference: str, message: str | None
    ) -> None:
        if not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True)
        conversation = await resolve_conversation(interaction, reference)
        if conversation.book_id != book.id:
            raise Refusal(
                speech_of(interaction)("That conversation is about another book. Please choose that book instead.")
            )
        await self._opening.resume(interaction, conversation, message)

    async def _start_anew(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        book = await defer_if_slow(
            interaction, self._use_cases.shelf.get(book_id, shelf=shelf_of(interaction)), thinking=False
        )
        await self._opening.start(interaction, book)

    async def _take_up(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        await interaction.response.defer()
        await self._opening.resume(interaction, await resolve_conversation(interaction, conversation_id))

    async def _move(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        conversation = await resolve_conversation(interaction, conversation_id)
        await self._opening.resume(interaction, conversation, confirmed=True)


@in_conversations
@app_commands.default_permissions(send_messages_in_threads=True)
class Conversations(commands.GroupCog, group_name="conversations", group_description="Conversations about books"):
    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening, removals: Removals) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._opening = opening
        self._removals = removals
        bot.handle(on_press("talks-page", self._turn_page), on_press("talk-delete", self._delete))
        bot.continuations[RENAMING] = self._rename_after_kill

    @app_commands.command(description="Start a conversation about a book in its own thread")
    @app_commands.describe(book="The book", title="A title for the conversation")
    @app_commands.autocomplete(book=access.books)
    async def create(
        self, interaction: discord.Interaction[Any], book: str, title: Range[str, 1, NAME_LENGTH] | None = None
    ) -> None:
        found = await defer_if_slow(interaction, access.resolve_book(interaction, book))
        await self._opening.start(interaction, found, title=title)

    @app_commands.command(name="list", description="The conversations you can see, newest first")
    @app_commands.describe(book="Only conversations about this book")
    @app_commands.autocomplete(book=access.books)
    async def list_conversations(self, interaction: discord.Interaction[Any], book: str | None = None) -> None:
        await interaction.response.defer(ephemeral=True)
        found = await access.resolve_book(interaction, book) if book else None
        embed, view = await self._page(interaction, found.id if found else "", 1)
        await interaction.edit_original_response(embed=embed, view=view)

    @app_commands.command(description="Rename a conversation and its thread")
    @app_commands.describe(title="The new title", conversation="Which conversation; not needed in its own thread")
    @app_commands.autocomplete(conversation=access.conversations)
    async def rename(
        self,
        interaction: discord.Interaction[Any],
        title: Range[str, 1, NAME_LENGTH],
        conversation: str | None = None,
    ) -> None:
        found = await defer_if_slow(interaction, self._changeable(interaction, conversation))
        interaction.extras[WORK] = RENAMING, [found.id, title]
        if not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True)
        await self._rename(interaction, found, title)

    async def _rename_after_kill(self, interaction: discord.Interaction[Any], arguments: list[str] | None) -> None:
        """Carry out what a kill has interrupted, once, so that a conversation and its thread have the same name."""
        found = await self._use_cases.conversations.find(arguments[0]) if arguments else None
        if arguments is None or found is None or found.owner_id != str(interaction.user.id):
            await tell_restarted(interaction)
            return
        try:
            await self._rename(interaction, found, arguments[1])
        except MarginaliaError as error:
            await edit_reply(interaction, content=sentence_for(error, speech_of(interaction)))

    async def _rename(self, interaction: discord.Interaction[Any], found: Conversation, title: str) -> None:
        say = speech_of(interaction)
        renamed = await self._use_cases.conversations.rename(found.id, title)
        done = say("It's called “{title}” already.", title=plain(renamed.title))
        if renamed.title != found.title:
            if found.owner_id != str(interaction.user.id):
                _note(interaction, later("{who} renamed a conversation that {owner} had opened ({id})."), found)
            done = say("It's now called “{title}”.", title=plain(renamed.title))
        if thread := await thread_of(server_of(interaction), renamed):
            done = f"{done}\n{await rename_thread(thread, thread_name(renamed), say)}".strip()
        await interaction.edit_original_response(content=done)

    @app_commands.command(description="Delete a conversation, its messages and its thread")
    @app_commands.describe(conversation="Which conversation; not needed in its own thread")
    @app_commands.autocomplete(conversation=access.conversations)
    async def delete(self, interaction: discord.Interaction[Any], conversation: str | None = None) -> None:
        await interaction.response.defer(ephemeral=True)
        found, say = await self._deletable(interaction, conversation), speech_of(interaction)
        count = sum(map(is_said, await self._use_cases.transcripts.messages(found.id)))
        goes = _what_goes(say, count, has_thread=not (found.is_direct or found.is_aside))
        question = say("Delete “{title}”?", title=plain(titled(found, say)))
        view = confirmation("talk-delete", found.id, say("Delete it"), say)
        await interaction.edit_original_response(content=f"{question}\n{goes}", view=view)

    @app_commands.command(description="Download a conversation as a file, with its citations")
    @app_commands.describe(
        conversation="Which conversation; not needed in its own thread",
        format="The file's format; Markdown if left empty",
    )
    @app_commands.choices(
        format=[
            app_commands.Choice(name="Markdown", value=ExportFormat.MARKDOWN.value),
            app_commands.Choice(name="JSON", value=ExportFormat.JSON.value),
        ]
    )
    @app_commands.autocomplete(conversation=access.conversations)
    async def export(
        self,
        interaction: discord.Interaction[Any],
        conversation: str | None = None,
        format: str = ExportFormat.MARKDOWN.value,
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        found = await resolve_conversation(interaction, conversation)
        access.assert_may_read_back(interaction, found)
        book, form = await self._use_cases.shelf.get(found.book_id), ExportFormat(format)
        messages = await self._use_cases.transcripts.messages(found.id)
        say = speech_of(interaction)
        shown = readable(messages, await reach_of(interaction, found), say)
        data = await asyncio.to_thread(export_conversation, found, book.title, shown, form, say)
        file = await file_for(interaction, data, export_name(found, form))
        await interaction.followup.send(file=file, ephemeral=True)

    async def _delete(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        found, say = await self._deletable(interaction, conversation_id), speech_of(interaction)
        thread = await thread_of(server_of(interaction), found)
        # What can be seen goes first: if that fails, the button can be pressed again.
        left = await delete_thread(thread, say) if thread else ""
        self._use_cases.chat.withdraw(found.id)
        await self._use_cases.chat.settle(found.id)
        to_remove = await self._use_cases.conversations.delete(found.id, str(interaction.user.id))
        action = later("{who} deleted a conversation that {owner} had opened ({id}).")
        if found.owner_id == str(interaction.user.id):
            action = later("{who} deleted a conversation of their own ({id}).")
        _note(interaction, action, found)
        done = say("Deleted “{title}”.", title=plain(titled(found, say)))
        with suppress(discord.NotFound):  # the button was in that thread
            await interaction.edit_original_response(content=f"{done}\n{left}".strip(), view=None)
        if still_there := await self._still_there(interaction, to_remove):
            text = f"{done}\n{still_there_line(still_there, say)}"
            await interaction.edit_original_response(content=text, **as_edit(list_of(still_there)))

    async def _still_there(self, interaction: discord.Interaction[Any], to_remove: Sequence[Removal]) -> list[Removal]:
        """Remove what everybody sees of a deleted conversation; returns what Discord does not let the bot remove."""
        await self._removals.work(to_remove)
        places = {each.link for each in to_remove}
        left = await self._use_cases.people.removals_for(str(interaction.user.id)) if to_remove else ()
        return [each for each in left if each.link in places]

    async def _changeable(self, interaction: discord.Interaction[Any], reference: str | None) -> Conversation:
        conversation, say = await resolve_conversation(interaction, reference), speech_of(interaction)
        if not may_change(interaction, conversation):
            raise Refusal(_not_yours(conversation, say))
        return conversation

    async def _deletable(self, interaction: discord.Interaction[Any], reference: str | None) -> Conversation:
        """The conversation meant, if the person may delete it.

        Raises:
            Refusal: it is somebody else's; or others have written in it, and the person does not manage threads there.
        """
        conversation, say = await self._changeable(interaction, reference), speech_of(interaction)
        if not manages(interaction, conversation) and await self._others_wrote(interaction, conversation):
            raise Refusal(
                say(
                    "Others have written in this conversation, so only somebody with the permission “Manage Threads” "
                    "or “Manage Server” can delete it."
                )
            )
        return conversation

    async def _others_wrote(self, interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
        person, use_cases = str(interaction.user.id), self._use_cases
        heard = {*await use_cases.transcripts.authors(conversation.id), *await use_cases.company.of(conversation.id)}
        if any(map(str.isdecimal, heard - {person})):
            return True
        thread = await thread_of(server_of(interaction), conversation)
        with suppress(discord.Forbidden):  # then it has to do with what it has heard
            return thread is not None and await others_wrote_in(thread, person)
        return False

    async def _turn_page(self, interaction: discord.Interaction[Any], argument: str) -> None:
        await interaction.response.defer()
        embed, view = await self._page(interaction, *page_asked(argument))
        await interaction.edit_original_response(embed=embed, view=view)

    async def _page(
        self, interaction: discord.Interaction[Any], book_id: str, number: int
    ) -> tuple[discord.Embed, discord.ui.View | None]:
        say = speech_of(interaction)
        books = {book.id: book.title for book in await self._use_cases.shelf.list(shelf_of(interaction))}
        page = page_of(await visible_conversations(interaction, book_id or None), number)
        embed = discord.Embed(title=say("Conversations"), colour=INK)
        lines = [_line(each, books.get(each.book_id, ""), say) for each in page.items]
        embed.description = "\n".join(lines) or await self._why_none(interaction, book_id)
        if lines:
            embed.set_footer(text=say("page {page} of {pages}", page=page.number, pages=page.count))
        return embed, page_turner("talks-page", book_id, page, say)

    async def _why_none(self, interaction: discord.Interaction[Any], book_id: str) -> str:
        """What to say where there is no conversation, perhaps because books were removed."""
        say = speech_of(interaction)
        if book_id or not await self._use_cases.shelf.removed(shelf_of(interaction)):
            return say("You have no conversations yet. Start one with /chat.")
        if await access.restorable_books(interaction):
            return say(
                "There are no conversations here at the moment. A book was removed lately: within 7 days, /books "
                "restore brings it back with its conversations."
            )
        return say(
            "There are no conversations here at the moment. A book was removed lately: within 7 days, somebody with "
            "the permission “Manage Server” can bring it back with its conversations."
        )

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Somebody renamed a thread, which renames the conversation.

        The name is taken from Discord's message about it, because the event about the thread says neither who renamed
        it nor when: it may come late, with a name that the bot itself has given and replaced since.
        """
        if message.type is discord.MessageType.channel_name_change and message.guild is not None:
            rename = partial(self._take_over_name, message)
            await self._bot.storage_retries.now_or_later(rename, f"the name of thread {message.channel.id}")

    @commands.Cog.listener()
    async def on_book_restored(self, book_id: str) -> None:
        """Say in the threads about a book that they go on; they were told that they had ended when it was removed."""
        with suppress(BookError):  # it has been removed again
            book = await self._use_cases.shelf.get(book_id)
            for conversation in await self._use_cases.conversations.list_by_book(book_id):
                server = self._bot.get_guild(int(conversation.server_id or 0))
                if server is not None and (thread := await thread_of(server, conversation)):
                    await _say_it_goes_on(thread, book)

    @commands.Cog.listener()
    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """The same if Discord's message about it is missing, because somebody has deleted it."""
        if before.name == after.name:
            return
        conversation = await self._use_cases.conversations.in_thread(str(after.id))
        if conversation is None or conversation.is_title_taken_back:  # with the message that told of it
            return
        if after.name in await self._given_names(conversation) or await _is_told_of(after):
            return
        await self._use_cases.conversations.rename(conversation.id, after.name)

    async def _given_names(self, conversation: Conversation) -> set[str]:
        """The names that the bot itself gives a conversation's thread: its title, or its book's while it has none."""
        names = {thread_name(conversation)}
        with suppress(BookError):
            names.add(thread_name(conversation, await self._use_cases.shelf.get(conversation.book_id)))
        return names

    async def _take_over_name(self, message: discord.Message) -> None:
        if conversation := await self._use_cases.conversations.in_thread(str(message.channel.id)):
            await take_over_name([message], conversation, self._use_cases.conversations)


async def _say_it_goes_on(thread: discord.Thread, book: Book) -> None:
    say = speech_in(thread.guild)
    back = say("“{title}” is back on the shelf, so this conversation goes on.", title=plain(book.title))
    try:
        await retry_transient(partial(thread.send, back, silent=True, nonce=f"back:{thread.id}"))
    except DISCORD_ERRORS as error:
        logger.info("in thread %s it was not said that it goes on: %s", thread.id, error)


def _note(interaction: discord.Interaction[Any], text: str, conversation: Conversation) -> None:
    """Record it in the moderators' log, without the title, which may be somebody's words."""
    owner = f"<@{conversation.owner_id}>" if conversation.owner_id.isdecimal() else "—"
    record_action(interaction, text, owner=owner, id=conversation.id[:8])


def _line(conversation: Conversation, book: str, say: Speech) -> str:
    title = clipped(plain(titled(conversation, say).translate(BRACKETS)), 120)
    if conversation.is_direct:
        now = " · " + say("the one we're in") if conversation.thread_id else ""
        return (
            f"**{title}**\n-# {clipped(plain(book), 80)} · {discord.utils.format_dt(conversation.created_at, 'd')}{now}"
        )
    if conversation.thread_id:
        title = f"[{title}](https://discord.com/channels/{conversation.guild_id}/{conversation.thread_id})"
    gone = "" if conversation.thread_id else " · " + say("its thread is gone; /chat opens a new one")
    if conversation.is_aside:
        gone = " · " + say("only you can see it; continue with /ask")
    owner = f" · <@{conversation.owner_id}>" if conversation.owner_id.isdecimal() else ""
    lock = "🔒 " if conversation.private else ""
    when = discord.utils.format_dt(conversation.created_at, "d")
    return f"{lock}**{title}**\n-# {clipped(plain(book), 80)} · {when}{owner}{gone}"


def _what_goes(say: Speech, messages: int, *, has_thread: bool) -> str:
    """What is deleted with a conversation."""
    if not messages and has_thread:
        return say("Nothing has been said in it. This permanently deletes it and the thread.")
    if not messages:
        return say("Nothing has been said in it. This permanently deletes it.")
    if has_thread:
        return say.counted(
            messages,
            "This permanently deletes {number} message and the thread.",
            "This permanently deletes {number} messages and the thread.",
        )
    return say.counted(
        messages, "This permanently deletes {number} message.", "This permanently deletes {number} messages."
    )


def _not_yours(conversation: Conversation, say: Speech) -> str:
    if not conversation.owner_id.isdecimal():
        return say("Only somebody with the permission “Manage Threads” or “Manage Server” can do that.")
    return say(
        "Only {who}, whose conversation this is, or somebody with the permission “Manage Threads” or "
        "“Manage Server” can do that.",
        who=f"<@{conversation.owner_id}>",
    )


async def _is_told_of(renamed: discord.Thread) -> bool:
    """Whether a message tells of a thread's name, or may do so where the bot cannot look.

    The message says who gave the name and when. The event does not, and may come late, after the name has been
    replaced.
    """
    try:
        async for message in renamed.history(limit=RENAMED_AMONG):
            # The text is blank without the Message Content intent.
            if message.type is discord.MessageType.channel_name_change and message.content in ("", renamed.name):
                return True
    except DISCORD_ERRORS:
        return True
    return False
