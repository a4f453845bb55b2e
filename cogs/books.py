"""/books: the shelf of a server, or of a person."""

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import access
from cogs.cards import (
    PAPER,
    STAGES,
    added_buttons,
    added_card,
    book_card,
    book_facts,
    clipped,
    offers_menu,
    plain,
    progress_line,
)
from cogs.conversation.recovery import BEGAN, WORK
from cogs.errors import DISCORD_ERRORS, EXPIRED, DiscordCode, Refusal, edit_reply, retry_transient, sentence_for
from cogs.i18n import Speech, later, speech_for_all, speech_in, speech_of
from cogs.interactions import (
    assert_fresh,
    change,
    confirmation,
    defer_if_slow,
    on_choice,
    on_press,
    page_asked,
    page_of,
    page_turner,
    reply,
)
from cogs.permissions import everywhere, lacking_to_post, manages_shelf, may_remove_book
from cogs.services import ServingBot, is_guest, record_action, server_of, shelf_of
from cogs.threads import thread_of
from domain.book import Book, DownloadedFile
from domain.concurrency import is_lease_lost
from domain.conversation import Conversation
from domain.library.search.words import fold
from domain.ports import Progress
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

EDIT_EVERY_S = 1.5
"""Discord allows some five edits in five seconds; the final card must not have to wait for one."""
MEBIBYTE = 2**20
TITLE_LENGTH = 200
UPLOADS_AT_ONCE = 2
"""Files held in memory with the text that results from them: as many as are parsed at once. Further ones wait."""
DOWNLOADS_AT_ONCE = 2
"""The same for downloads, counted separately because a host may be arbitrarily slow."""
LONGEST_ADDRESS = 2_000
LONGEST_VALUE = 100
"""Characters in the value of a menu's option."""
OFFER = "book-offer"
READING = "reading"
"""The work of a reply in which a file is read."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that is to become a book. `room` limits how many of its kind are in memory at once. `source` is how it can
    be fetched again: "upload" or "web", and its address.
    """

    name: str
    fetch: Callable[[Progress], Awaitable[DownloadedFile]]
    room: asyncio.Semaphore
    source: tuple[str, str]


class ProgressReport:
    """Shows the progress of long work in the reply. `update` may be called from any thread."""

    def __init__(self, interaction: discord.Interaction[Any], name: str) -> None:
        self._interaction = interaction
        self._name = name
        self._latest = (STAGES["reading"], 0.0)

    def update(self, stage: str, share: float) -> None:
        self._latest = (STAGES.get(stage, stage), share)

    @contextlib.asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Keep the reply up to date during the block."""
        task = asyncio.create_task(self._show())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _show(self) -> None:
        say, shown = speech_for_all(self._interaction), ""
        while True:
            line = progress_line(self._name, *self._latest, say)
            if line != shown and not is_lease_lost():
                with contextlib.suppress(*DISCORD_ERRORS):
                    await edit_reply(self._interaction, content=line)
                shown = line
            await asyncio.sleep(EDIT_EVERY_S)


async def add_book(
    interaction: discord.Interaction[Any],
    use_cases: UseCases,
    incoming: IncomingFile,
    title: str,
    author: str,
) -> None:
    """Fetch, parse, index and shelve a file once there is memory for it; the reply ends as a card.

    Raises:
        Refusal: the person has reached their limit, or Discord does not deliver the file.
        DownloadError, BookError, StorageError: with a sentence.
    """
    await defer_if_slow(interaction, access.assert_may_add(interaction, use_cases))
    interaction.extras[WORK] = READING, [*incoming.source, incoming.name, title, author]
    if not interaction.response.is_done():
        hidden = is_guest(interaction) or bool(lacking_to_post(interaction))
        await interaction.response.defer(ephemeral=hidden, thinking=True)
    try:
        await _read(interaction, use_cases, incoming, title, author, use_cases.clock())
    except Exception as error:
        if await _is_taken_back(interaction):
            raise
        await _tell_instead(interaction, error)


async def _read(
    interaction: discord.Interaction[Any],
    use_cases: UseCases,
    incoming: IncomingFile,
    title: str,
    author: str,
    since: datetime,
) -> None:
    """Read a file onto the shelf, in the acknowledged reply.

    What the person has added `since` then, this reading has: it may have been interrupted by a kill.
    """
    report = ProgressReport(interaction, incoming.name)
    try:
        async with report.shown(), incoming.room:
            await use_cases.shelf.expect(incoming.name)
            file = await incoming.fetch(report.update)
            added = await use_cases.shelf.add(
                file.data,
                file.name,
                shelf=shelf_of(interaction),
                title=title,
                author=author,
                added_by=str(interaction.user.id),
                progress=report.update,
                limits=use_cases.facts.limits.of_shelf,
            )
    except asyncio.CancelledError:
        if not is_lease_lost():  # else another node reads on, in this reply
            await _is_taken_back(interaction)
        raise
    say, took = speech_for_all(interaction), use_cases.clock() - since
    own = added.book.added_by == str(interaction.user.id) and added.book.created_at >= since
    added = replace(added, is_new=added.is_new or own)
    if added.is_back:
        interaction.client.dispatch("book_restored", added.book.id)
    card = added_card(added, took.total_seconds(), say)
    questions = await access.first_questions(interaction, added.book, say)
    view = added_buttons(added.book, questions, say, can_talk=not is_guest(interaction))
    try:
        await edit_reply(interaction, content=None, embed=card, view=view)
    except discord.NotFound as error:
        if error.code != DiscordCode.UNKNOWN_MESSAGE:
            raise
        await interaction.followup.send(embed=card, view=view, ephemeral=True)  # nobody else wants to see it


async def _is_taken_back(interaction: discord.Interaction[Any]) -> bool:
    """Delete the progress, which no longer matters. False: it is too late for that, and for other replies."""
    try:
        await interaction.delete_original_response()
    except discord.HTTPException as error:
        return error.code not in EXPIRED
    except DISCORD_ERRORS as error:
        logger.info("the progress of a reading stays: %s", error)
    return True


async def _tell_instead(interaction: discord.Interaction[Any], error: Exception) -> None:
    """Tell an error in place of the progress."""
    with contextlib.suppress(*DISCORD_ERRORS):
        await edit_reply(interaction, content=sentence_for(error, speech_for_all(interaction)))


async def _download(bot: ServingBot, url: str, name: str, say: Speech, progress: Progress) -> DownloadedFile:
    try:
        return DownloadedFile(await bot.http.get_from_cdn(url), name)
    except (discord.HTTPException, OSError) as error:
        raise Refusal(say("I couldn't download the file from Discord. Please attach it again.")) from error


@everywhere
@app_commands.default_permissions(send_messages=True)
class Books(
    commands.GroupCog, group_name="books", group_description="The books on the shelf: the server's, or your own"
):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._room = asyncio.Semaphore(UPLOADS_AT_ONCE)
        self._downloads = asyncio.Semaphore(DOWNLOADS_AT_ONCE)
        bot.handle(
            on_press("books-page", self._turn_page),
            on_press("book-remove", self._remove),
            on_choice(OFFER, self._fetch),
        )
        bot.continuations[READING] = self._read_on

    @app_commands.command(description="Add a book: EPUB, PDF, Kindle, FB2, DOCX, ODT, RTF, HTML, Markdown or text")
    @app_commands.describe(
        file="The file", title="Its title, if the file's own is wrong", author="Its author, if the file's own is wrong"
    )
    async def add(
        self,
        interaction: discord.Interaction[Any],
        file: discord.Attachment,
        title: Range[str, 1, TITLE_LENGTH] | None = None,
        author: Range[str, 1, TITLE_LENGTH] | None = None,
    ) -> None:
        say = speech_of(interaction)
        if file.size > self._use_cases.facts.max_upload_mb * MEBIBYTE:
            raise Refusal(
                say(
                    "This file is {size:.1f} MB and the limit is {limit} MB. Is there a smaller edition?",
                    size=math.ceil(file.size / MEBIBYTE * 10) / 10,  # never the same as the limit
                    limit=self._use_cases.facts.max_upload_mb,
                )
            )
        incoming = self._incoming(("upload", file.url), file.filename, say)
        await add_book(interaction, self._use_cases, incoming, title or "", author or "")

    def _incoming(self, source: tuple[str, str], name: str, say: Speech) -> IncomingFile:
        kind, url = source
        if kind == "upload":
            return IncomingFile(name, partial(_download, self._bot, url, name, say), self._room, source)
        return IncomingFile(name, partial(self._use_cases.downloads.download, url), self._downloads, source)

    async def _read_on(self, interaction: discord.Interaction[Any], arguments: Any) -> None:
        """Go on with a reading that a kill has interrupted; if that has happened before, say so."""
        say = speech_for_all(interaction)
        try:
            if arguments is None:
                raise Refusal(say("I was restarted while I was reading this book. Please add it again."))
            kind, url, name, title, author = arguments
            await _read(
                interaction,
                self._use_cases,
                self._incoming((kind, url), name, say),
                title,
                author,
                interaction.extras[BEGAN],
            )
        except Exception as error:  # noqa: BLE001 - nobody else tells it
            await _tell_instead(interaction, error)

    @app_commands.command(description="Search Project Gutenberg for a free book and add it")
    @app_commands.describe(query="Words of its title, or its author's name")
    async def find(self, interaction: discord.Interaction[Any], query: Range[str, 1, 200]) -> None:
        say = speech_of(interaction)
        if self._use_cases.catalogue is None:
            raise Refusal(
                say("The search for books is turned off here. Add one by its address with /books fetch, or as a file.")
            )
        await interaction.response.defer(ephemeral=True)
        offered = [each for each in await self._use_cases.catalogue.find(query) if len(each.url) <= LONGEST_VALUE]
        if not offered:
            raise Refusal(
                say(
                    "Project Gutenberg has nothing for “{query}”. Try fewer words, or only the author's name.",
                    query=plain(query),
                )
            )
        found = say("Found in Project Gutenberg's catalogue. The book you choose goes on the shelf.")
        await interaction.edit_original_response(content=found, view=offers_menu(OFFER, offered, interaction.locale))

    @app_commands.command(description="Add a book from its address on the web")
    @app_commands.describe(
        url="The address of an EPUB or another book file",
        title="Its title, if the file's own is wrong",
        author="Its author, if the file's own is wrong",
    )
    async def fetch(
        self,
        interaction: discord.Interaction[Any],
        url: Range[str, 1, LONGEST_ADDRESS],
        title: Range[str, 1, TITLE_LENGTH] | None = None,
        author: Range[str, 1, TITLE_LENGTH] | None = None,
    ) -> None:
        await self._fetch(interaction, url, title or "", author or "")

    async def _fetch(self, interaction: discord.Interaction[Any], url: str, title: str = "", author: str = "") -> None:
        """Add the book at an address that somebody has typed or chosen."""
        name = url.rstrip("/").rpartition("/")[2]
        incoming = self._incoming(("web", url), name, speech_of(interaction))
        await add_book(interaction, self._use_cases, incoming, title, author)

    @app_commands.command(name="list", description="The books on the shelf")
    async def list_books(self, interaction: discord.Interaction[Any]) -> None:
        embed, view = await defer_if_slow(interaction, self._page(interaction, 1))
        await reply(interaction, embed=embed, view=view or discord.utils.MISSING)

    @app_commands.command(description="A book's chapters and details")
    @app_commands.describe(book="The book")
    @app_commands.autocomplete(book=access.books)
    async def info(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        found = await access.resolve_book(interaction, book)
        position = await self._use_cases.positions.get(str(interaction.user.id), found)
        file = await self._use_cases.shelf.open(found)
        chapters, pages = await file.chapters(), await file.pages()
        card = book_card(found, chapters, pages, position.bound(found.length), speech_of(interaction))
        await interaction.followup.send(embed=card, ephemeral=True)

    @app_commands.command(description="Remove a book and its conversations from the shelf")
    @app_commands.describe(book="The book")
    @app_commands.autocomplete(book=access.books)
    async def remove(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        found, say = await self._removable(interaction, book), speech_of(interaction)
        talks = await self._conversations_to_go(interaction, found)
        seen = len(await access.visibility_of(interaction).of(talks))
        goes = say.counted(
            seen,
            "This takes it off the shelf at once, with {number} conversation you can see. You can undo this "
            "with /books restore for 7 days; after that it's erased for good.",
            "This takes it off the shelf at once, with {number} conversations you can see. You can undo this "
            "with /books restore for 7 days; after that it's erased for good.",
        )
        if not seen:
            goes = say(
                "This takes it off the shelf at once, with any conversations about it. You can undo this with "
                "/books restore for 7 days; after that it's erased for good."
            )
        if await self._use_cases.clubs.store.get_by_book(found.id):
            goes = f"{say('The club that reads it will stop.')} {goes}"
        question = say("Remove “{title}” from the shelf?", title=plain(found.title))
        view = confirmation("book-remove", found.id, say("Remove it"), say)
        await interaction.edit_original_response(content=f"{question}\n{goes}", view=view)

    @app_commands.command(description="Bring a removed book back, with its conversations")
    @app_commands.describe(book="A book that was removed in the last 7 days")
    @app_commands.autocomplete(book=access.removed_books)
    async def restore(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        say, wanted = speech_of(interaction), fold(" ".join(book.split()))
        there = await access.restorable_books(interaction)
        found = [each for each in there if book == each.id] or [each for each in there if fold(each.title) == wanted]
        if not found:
            raise Refusal(await self._why_not_back(interaction, book, wanted))
        await self._use_cases.shelf.restore(found[0], self._use_cases.facts.limits.of_shelf)
        interaction.client.dispatch("book_restored", found[0].id)
        record_action(
            interaction,
            later("{who} brought the book “{book}” back, with its conversations."),
            book=plain(found[0].title),
        )
        done = say("“{title}” is back on the shelf, with its conversations.", title=plain(found[0].title))
        await interaction.edit_original_response(content=done)

    async def _why_not_back(self, interaction: discord.Interaction[Any], book: str, title: str) -> str:
        say, there = speech_of(interaction), await self._use_cases.shelf.glance(shelf_of(interaction))
        if found := next((each for each in there if book == each.id or fold(each.title) == title), None):
            return say("“{title}” is already on the shelf.", title=plain(found.title))
        if manages_shelf(interaction):
            return say("No such book was removed in the last 7 days. /books list shows what's on the shelf.")
        return say(
            "I can't bring that book back. Only the person who removed it, or somebody with the permission “Manage "
            "Server”, can do that, within 7 days."
        )

    async def _remove(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        found, say = await self._removable(interaction, book_id), speech_of(interaction)
        talks = await self._conversations_to_go(interaction, found)
        for talk in talks:
            self._use_cases.chat.withdraw(talk.id)
            await self._use_cases.chat.settle(talk.id)
        clubs = await self._use_cases.clubs.store.get_by_book(found.id)
        await self._use_cases.shelf.take_off(found.id, by=str(interaction.user.id))
        interaction.client.dispatch("book_removed", clubs, found.title)
        record_action(
            interaction,
            later("{who} removed the book “{book}” with its conversations; for 7 days it can be brought back."),
            book=plain(found.title),
        )
        done = say(
            "Removed “{title}” from the shelf. /books restore brings it back within 7 days.", title=plain(found.title)
        )
        await interaction.edit_original_response(content=done, view=None)
        await self._close_threads(interaction, found, list(talks))

    async def _close_threads(
        self, interaction: discord.Interaction[Any], book: Book, talks: list[Conversation]
    ) -> None:
        server = server_of(interaction)
        if server is None:
            return
        say = speech_in(server)
        farewell = say(
            "“{title}” was removed from the shelf, so this conversation has ended. For 7 days, somebody with the "
            "permission “Manage Server” can bring both back with /books restore.",
            title=plain(book.title),
        )
        for talk in talks:
            if thread := await thread_of(server, talk):
                await _close(thread, farewell)

    async def _removable(self, interaction: discord.Interaction[Any], reference: str) -> Book:
        book, say = await access.resolve_book(interaction, reference), speech_of(interaction)
        if not may_remove_book(interaction, book):
            who = f"<@{book.added_by}>" if book.added_by.isdecimal() else say("whoever added it")
            raise Refusal(
                say(
                    "Only {who}, who added this book, or somebody with the permission “Manage Server” can remove it.",
                    who=who,
                )
            )
        return book

    async def _conversations_to_go(self, interaction: discord.Interaction[Any], book: Book) -> Sequence[Conversation]:
        """The conversations that would be deleted with a book.

        Raises:
            Refusal: others own or wrote in some of them, or read the book in a club, and the person does not manage the
            server; their number is not told.
        """
        talks = await self._use_cases.conversations.list_by_book(book.id)
        if not manages_shelf(interaction) and await self._concerns_others(book, talks, str(interaction.user.id)):
            raise Refusal(
                speech_of(interaction)(
                    "Others talk about this book or read it in a club, so only somebody with the permission "
                    "“Manage Server” can remove it."
                )
            )
        return talks

    async def _concerns_others(self, book: Book, talks: Sequence[Conversation], person: str) -> bool:
        clubs = await self._use_cases.clubs.store.get_by_book(book.id)
        members = {member.reader_id for club in clubs for member in club.taking_part}
        if members - {person} or any(talk.owner_id != person for talk in talks):
            return True
        written = [await self._use_cases.transcripts.authors(talk.id) for talk in talks]
        return any({*authors} - {person} for authors in written)

    async def _turn_page(self, interaction: discord.Interaction[Any], argument: str) -> None:
        _, number = page_asked(argument)
        embed, view = await defer_if_slow(interaction, self._page(interaction, number), thinking=False)
        await change(interaction, embed=embed, view=view)

    async def _page(
        self, interaction: discord.Interaction[Any], number: int
    ) -> tuple[discord.Embed, discord.ui.View | None]:
        say = speech_of(interaction)
        books = await self._use_cases.shelf.list(shelf_of(interaction))
        page = page_of(books, number)
        lines = [f"**{clipped(plain(book.title), 200)}**{_by(book)}\n-# {book_facts(book, say)}" for book in page.items]
        embed = discord.Embed(title=say("The shelf"), colour=PAPER)
        embed.description = "\n".join(lines) or say(access.EMPTY_SHELF)
        if books:
            total = say.counted(len(books), "{number} book", "{number} books")
            embed.set_footer(text=total + " · " + say("page {page} of {pages}", page=page.number, pages=page.count))
        return embed, page_turner("books-page", "", page, say)


def _by(book: Book) -> str:
    return f" · {clipped(plain(book.author), 100)}" if book.author else ""


async def _close(thread: discord.Thread, farewell: str) -> None:
    """Post a last word in a thread that is no longer answered, and archive it, as far as Discord allows."""
    try:
        await retry_transient(partial(thread.send, farewell, silent=True, nonce=f"bye:{thread.id}"))
        await retry_transient(partial(thread.edit, archived=True))
    except DISCORD_ERRORS as error:
        logger.info("thread %s was not closed: %s", thread.id, error)
