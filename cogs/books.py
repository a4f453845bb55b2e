"""/books: the guild's shelf."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import access
from cogs.cards import PAPER, added_buttons, added_card, book_card, book_facts, clipped, plain
from cogs.errors import DISCORD_ERRORS, Refusal
from cogs.i18n import Speech, language_name, later, speech_for, speech_for_all, speech_in, speech_of
from cogs.interactions import (
    action_menu,
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
    row,
)
from cogs.permissions import everywhere, lacking_to_post, manages_shelf, may_remove_book
from cogs.services import ServingBot, is_guest, note_deed, server_of, shelf_of
from cogs.threads import close_thread, thread_of
from domain.book import Book, DownloadedFile, OfferedBook
from domain.conversation import Conversation
from domain.ports import Progress
from domain.usage import Deed
from domain.use_cases import UseCases

EDIT_EVERY_S = 1.5
"""Discord allows some five edits in five seconds; the final card must not have to wait for one."""
MEBIBYTE = 2**20
_MEGA = 1_000_000
BAR = 12
"""Characters of the progress bar."""

STAGES = {
    "downloading": later("Downloading"),
    "reading": later("Reading"),
    "recognising": later("Recognising the text of"),
    "indexing": later("Indexing"),
}

TITLE_LENGTH = 200
UPLOADS_AT_ONCE = 2
"""Files held in memory with the text that results from them: as many as are parsed at once. Further ones wait."""
DOWNLOADS_AT_ONCE = 2
"""The same for downloads, counted separately because a host may be arbitrarily slow."""
LONGEST_ADDRESS = 2_000
LONGEST_VALUE = 100
"""Characters in the value of a menu's option."""
OFFER = "book-offer"


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that is to become a book. `room` limits how many of its kind are in memory at once."""

    name: str
    fetch: Callable[[Progress], Awaitable[DownloadedFile]]
    room: asyncio.Semaphore


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
            if line != shown:
                with contextlib.suppress(*DISCORD_ERRORS):
                    await self._interaction.edit_original_response(content=line)
                shown = line
            await asyncio.sleep(EDIT_EVERY_S)


def progress_line(name: str, stage: str, share: float, say: Speech) -> str:
    done = round(min(max(share, 0.0), 1.0) * BAR)
    return f"{say(stage)} {clipped(plain(name), 200)} `{'█' * done}{'░' * (BAR - done)}` {share:.0%}"


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
    await defer_if_slow(interaction, assert_may_add(interaction, use_cases))
    if not interaction.response.is_done():
        hidden = is_guest(interaction) or bool(lacking_to_post(interaction))
        await interaction.response.defer(ephemeral=hidden, thinking=True)
    started = time.perf_counter()
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
    except (Exception, asyncio.CancelledError):
        with contextlib.suppress(*DISCORD_ERRORS):
            await interaction.delete_original_response()  # the earlier progress no longer matters
        raise
    say = speech_for_all(interaction)
    card = added_card(added, time.perf_counter() - started, say)
    questions = await access.first_questions(interaction, added.book, say)
    view = added_buttons(added.book, questions, say, can_talk=not is_guest(interaction))
    await interaction.edit_original_response(content=None, embed=card, view=view)


async def assert_may_add(interaction: discord.Interaction[Any], use_cases: UseCases) -> None:
    """Let a person add a book, and count it.

    Raises:
        Refusal: the server's managers do not allow it, or the person has reached their limit.
        BookError: SHELF_FULL.
    """
    await _assert_adder(interaction, use_cases)
    await _assert_room(interaction, use_cases)
    if wait := await use_cases.allowances.take(str(interaction.user.id), Deed.ADD_BOOK):
        raise Refusal(
            speech_of(interaction)(
                "You've added {limit} books within an hour, which is the limit for one person. You can add the "
                "next one {when}. The bot's operator sets this limit.",
                limit=use_cases.facts.limits.adds_per_hour,
                when=discord.utils.format_dt(discord.utils.utcnow() + wait, "R"),
            )
        )


async def _assert_room(interaction: discord.Interaction[Any], use_cases: UseCases) -> None:
    """
    Raises:
        BookError: SHELF_FULL.
    """
    books = await use_cases.shelf.list(shelf_of(interaction))
    use_cases.facts.limits.of_shelf.assert_room(len(books), sum(book.length for book in books))


async def _assert_adder(interaction: discord.Interaction[Any], use_cases: UseCases) -> None:
    """Raises:
    Refusal: the person is not among those who may add books to this server's shelf.
    """
    server, member = server_of(interaction), interaction.user
    role = (await use_cases.servers.settings(str(server.id))).adder_role if server else ""
    if not role or manages_shelf(interaction):
        return
    if not isinstance(member, discord.Member) or member.get_role(int(role)) is None:
        raise Refusal(
            speech_of(interaction)(
                "Only people with the role {role} may add books here. Somebody with the permission “Manage Server” can "
                "change that with /settings adders.",
                role=f"<@&{role}>",
            )
        )


async def _download(file: discord.Attachment, say: Speech, progress: Progress) -> DownloadedFile:
    try:
        return DownloadedFile(await file.read(), file.filename)
    except (discord.HTTPException, OSError) as error:
        raise Refusal(say("I couldn't download the file from Discord. Please attach it again.")) from error


def _offers(offered: Sequence[OfferedBook], locale: discord.Locale) -> discord.ui.View:
    """A menu of books to download; each option's value is the address."""
    say = speech_for(locale)
    options = [
        discord.SelectOption(label=clipped(book.title, 100), description=_about(book, locale), value=book.url)
        for book in {each.url: each for each in offered}.values()
    ]
    return row(action_menu(OFFER, "", options=options, placeholder=say("Choose the book to add")))


def _about(book: OfferedBook, locale: discord.Locale) -> str:
    """Author, language and length, where known."""
    say = speech_for(locale)
    length = say("about {number:,} words", number=book.words) if book.words is not None else ""
    if book.size is not None:
        length = say("{size:.1f} MB", size=book.size / _MEGA)
    languages = ", ".join(language_name(code, locale) for code in book.languages)
    return clipped(" · ".join(filter(None, (clipped(book.author, 50), languages, length))), 100)


@everywhere
@app_commands.default_permissions(send_messages=True)
class Books(
    commands.GroupCog, group_name="books", group_description="The books on the shelf: the server's, or your own"
):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._room = asyncio.Semaphore(UPLOADS_AT_ONCE)
        self._downloads = asyncio.Semaphore(DOWNLOADS_AT_ONCE)
        bot.handle(
            on_press("books-page", self._turn_page),
            on_press("book-remove", self._remove),
            on_choice(OFFER, self._fetch),
        )

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
        incoming = IncomingFile(file.filename, partial(_download, file, say), self._room)
        await add_book(interaction, self._use_cases, incoming, title or "", author or "")

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
        await interaction.edit_original_response(content=found, view=_offers(offered, interaction.locale))

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
        incoming = IncomingFile(name, partial(self._use_cases.downloads.download, url), self._downloads)
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
        found = await self._use_cases.shelf.find(book, shelf=shelf_of(interaction))
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
        goes = say.counted(
            len(await access.visibility_of(interaction).of(talks)),
            "This takes it off the shelf at once, with {number} conversation you can see. You can undo this "
            "with /books restore for 7 days; after that it's erased for good.",
            "This takes it off the shelf at once, with {number} conversations you can see. You can undo this "
            "with /books restore for 7 days; after that it's erased for good.",
        )
        question = say("Remove “{title}” from the shelf?", title=plain(found.title))
        view = confirmation("book-remove", found.id, say("Remove it"), say)
        await interaction.edit_original_response(content=f"{question}\n{goes}", view=view)

    @app_commands.command(description="Bring a removed book back, with its conversations")
    @app_commands.describe(book="A book that was removed in the last 7 days")
    @app_commands.autocomplete(book=access.removed_books)
    async def restore(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        say, wanted = speech_of(interaction), " ".join(book.split()).casefold()
        there = await access.restorable_books(interaction)
        found = [each for each in there if book == each.id] or [
            each for each in there if each.title.casefold() == wanted
        ]
        if not found:
            raise Refusal(
                say(
                    "I can't bring that book back. Only the person who removed it, or somebody with the "
                    "permission “Manage Server”, can do that, within 7 days."
                )
            )
        await self._use_cases.shelf.restore(found[0], self._use_cases.facts.limits.of_shelf)
        interaction.client.dispatch("book_restored", found[0].id)
        note_deed(
            interaction,
            later("{who} brought the book “{book}” back, with its conversations."),
            book=plain(found[0].title),
        )
        done = say("“{title}” is back on the shelf, with its conversations.", title=plain(found[0].title))
        await interaction.edit_original_response(content=done)

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
        note_deed(
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
                await close_thread(thread, farewell)

    async def _removable(self, interaction: discord.Interaction[Any], reference: str) -> Book:
        book, say = await self._use_cases.shelf.find(reference, shelf=shelf_of(interaction)), speech_of(interaction)
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
            Refusal: others own or wrote in some of them, and the person does not manage the server; their number
            is not told.
        """
        talks = await self._use_cases.conversations.list_by_book(book.id)
        if not manages_shelf(interaction) and await self._concern_others(talks, str(interaction.user.id)):
            raise Refusal(
                speech_of(interaction)(
                    "Others have conversations about this book, so only somebody with the permission “Manage Server” "
                    "can remove it."
                )
            )
        return talks

    async def _concern_others(self, talks: Sequence[Conversation], person: str) -> bool:
        if any(talk.owner_id != person for talk in talks):
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
        embed.description = "\n".join(lines) or say("The shelf is empty. Add a book with /books add.")
        if books:
            total = say.counted(len(books), "{number} book", "{number} books")
            embed.set_footer(text=total + " · " + say("page {page} of {pages}", page=page.number, pages=page.count))
        return embed, page_turner("books-page", "", page, say)


def _by(book: Book) -> str:
    return f" · {clipped(plain(book.author), 100)}" if book.author else ""
