"""marginalia books: add, find, fetch, list, info, remove, restore, text."""

import asyncio
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from bot.app import App
from bot.cli.terminal import (
    console,
    errors,
    fail,
    opened,
    print_json,
    progress_bar,
    run_async,
    said_yes,
    typed,
    without_terminal_sequences,
)
from bot.tools.results import counted
from domain.book import Book, Chapter, DownloadedFile, OfferedBook, Page, is_personal, page_reference
from domain.errors import BookError, BookErrorCode, MarginaliaError, shortened
from domain.library.progress import label_at
from domain.library.shelf import LOCAL_SHELF, AddedBook
from domain.ports import Progress as Follow

BOOK_HELP = "Title, id, path or file name"
LEAST_WIDE = 80
"""Columns of a window in which a table of books has room for everything."""

commands = typer.Typer(no_args_is_help=True, help="Add, list, show and remove books.")

TITLE = Annotated[str, typer.Option(help="The title, if the file's own is missing or wrong")]
AUTHOR = Annotated[str, typer.Option(help="The author, if the file's own is missing or wrong")]


@commands.command()
def add(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="EPUB, PDF, DOCX, ODT, RTF, FB2, MOBI, AZW3, HTML, Markdown or text"),
    ],
    title: TITLE = "",
    author: AUTHOR = "",
    server: Annotated[
        str,
        typer.Option(
            metavar="ID", help="Put them on the shelf of this Discord server, also files too large to upload there"
        ),
    ] = "",
) -> None:
    """Read files and put them on the shelf."""
    shelf = _shelf_of(server) if server else LOCAL_SHELF

    async def work() -> int:
        failures = 0
        async with opened() as app:
            for path in paths:
                try:
                    await add_path(app, path, title=title, author=author, shelf=shelf)
                except MarginaliaError as error:
                    named = shortened(path.name or str(path))
                    errors.print(f"{named}: {error.message}", style="red", markup=False, soft_wrap=True)
                    failures += 1
        return 1 if failures else 0

    run_async(work)


@commands.command()
def find(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words of the title or the author's name")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list")] = False,
) -> None:
    """Search Project Gutenberg's catalogue, and add the book you choose."""

    async def work() -> int | None:
        async with opened() as app:
            if app.catalogue is None:
                fail("The search is turned off: GUTENDEX_URL is empty. Set it, or use: marginalia books fetch URL")
            offered = await app.catalogue.find(" ".join(query))
            if as_json:
                print_json([asdict(book) for book in offered])
                return None
            if not offered:
                console.print("The catalogue has no match. Try fewer words, or only the author's name.")
                return None
            console.print(_offers(offered))
            chosen = await _chosen(offered)
            if chosen is not None:
                await _fetch(app, chosen.url)
            return None

    run_async(work)


@commands.command()
def fetch(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of an EPUB or another book file")],
    title: TITLE = "",
    author: AUTHOR = "",
) -> None:
    """Download a book from a host in BOOK_HOSTS, and put it on the shelf."""

    async def work() -> None:
        async with opened() as app:
            await _fetch(app, url, title=title, author=author)

    run_async(work)


@commands.command("list")
def list_books(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list")] = False) -> None:
    """List the books on the shelf."""

    async def work() -> None:
        async with opened() as app:
            books = await app.shelf.list(None)
        if as_json:
            print_json([_book_fields(book) for book in books])
        elif books:
            console.print(_table(books))
        else:
            console.print("The shelf is empty. Add a book with: marginalia books add PATH")

    run_async(work)


@commands.command()
def info(
    book: Annotated[str, typer.Argument(help=BOOK_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
) -> None:
    """Show what is known about a book, and its chapters."""

    async def work() -> None:
        async with opened() as app:
            found = await app.shelf.find(book, shelf=None)
            file = await app.shelf.open(found)
            chapters, pages = await file.chapters(), await file.pages()
        if as_json:
            print_json(_info_fields(found, chapters, pages))
            return
        by = f" by {found.author}" if found.author else ""
        console.print(f"“{found.title}”{by}", markup=False, soft_wrap=True)
        console.print(f"{_format(found)}, {_pages(found)}{_chapters(len(chapters))}", markup=False)
        for chapter in chapters:
            name = without_terminal_sequences(chapter.title)
            label = label_at(pages, chapter.start + 1)
            page = page_reference(label, label, estimated=found.pages_estimated)
            console.print(f"{'  ' * chapter.level}{name} ({page})", markup=False, highlight=False, soft_wrap=True)

    run_async(work)


@commands.command()
def remove(
    book: Annotated[str, typer.Argument(help=BOOK_HELP)],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Remove it without asking; a part of its title is not enough then")
    ] = False,
) -> None:
    """Erase a book with its conversations, permanently."""

    async def work() -> int | None:
        async with opened() as app:
            found = await app.shelf.find(book, shelf=None, in_full=yes)
            conversations = len(await app.conversations.list_by_book(found.id))
            goes = f"“{found.title}”"
            if conversations:
                goes += f" and {counted(conversations, 'conversation')} on it"
            if not yes and not await _confirmed(f"Remove {goes}?"):
                console.print("Nothing was removed.")
                return 1
            await app.shelf.remove(found.id)
        console.print(f"Removed {goes}.", markup=False)
        return None

    run_async(work)


@commands.command()
def restore(book: Annotated[str, typer.Argument(help="Title or id of a book that was removed on Discord")]) -> None:
    """Bring back a book that was removed on Discord in the last 7 days."""

    async def work() -> None:
        async with opened() as app:
            restored = await app.shelf.restore(await app.shelf.find(book, shelf=None, removed=True))
        console.print(f"“{restored.title}” is back on its shelf, with its conversations.", markup=False, soft_wrap=True)

    run_async(work)


@commands.command()
def text(
    book: Annotated[str, typer.Argument(help=BOOK_HELP)],
    page: Annotated[str, typer.Option(help="Only this page, by the number printed on it")] = "",
) -> None:
    """Print the text that was indexed."""

    async def work() -> None:
        async with opened() as app:
            file = await app.shelf.open(await app.shelf.find(book, shelf=None))
            text = await file.text(page or None)
            sys.stdout.write(without_terminal_sequences(text) if sys.stdout.isatty() else text)
            sys.stdout.flush()

    run_async(work)


def _shelf_of(server: str) -> str:
    """The key of a Discord server's shelf, which is the server's id."""
    if not re.fullmatch(r"[0-9]{15,20}", server):
        fail(
            "--server takes the id of a Discord server, a number of 17 digits or more. To copy it, switch on Developer "
            "Mode in Discord's settings, then right-click the server."
        )
    return server


async def add_path(app: App, path: Path, *, title: str = "", author: str = "", shelf: str = LOCAL_SHELF) -> Book:
    """Add a file with a progress bar on standard error, and print the result.

    Raises:
        BookError, StorageError: with a sentence.
    """
    data = await asyncio.to_thread(_bytes_of, path, app.settings.max_upload_mb)
    with _bar(path.name) as follow:
        return await _add(app, DownloadedFile(data, path.name), follow, title, author, shelf)


async def _fetch(app: App, url: str, *, title: str = "", author: str = "") -> Book:
    """Download a book and add it in the same way.

    Raises:
        DownloadError, BookError, StorageError: with a sentence.
    """
    with _bar(url) as follow:
        return await _add(app, await app.downloads.download(url, follow), follow, title, author)


async def _add(
    app: App, file: DownloadedFile, follow: Follow, title: str, author: str, shelf: str = LOCAL_SHELF
) -> Book:
    started = time.perf_counter()
    added = await app.shelf.add(file.data, file.name, shelf=shelf, title=title, author=author, progress=follow)
    _report(added, time.perf_counter() - started)
    return added.book


@contextmanager
def _bar(name: str) -> Iterator[Follow]:
    """A progress bar for work on a file, during the block."""
    description = TextColumn("{task.description}", markup=False)
    shown = shortened(without_terminal_sequences(name))
    with progress_bar(SpinnerColumn(), description, BarColumn()) as bar:
        task = bar.add_task(shown, total=1.0)
        yield lambda stage, share: bar.update(task, description=f"{shown}: {stage}", completed=share)


def _offers(offered: Sequence[OfferedBook]) -> Table:
    table = _columns("", "Title", "Author", "Language", "Length", narrow=3)
    for number, book in enumerate(offered, 1):
        _add_row(table, str(number), book.title, book.author, ", ".join(book.languages), _length(book))
    return table


def _columns(*names: str, narrow: int) -> Table:
    """An empty table that cuts no cell. A narrow window gets the first `narrow` columns alone."""
    table = Table(*names[: narrow if console.width < LEAST_WIDE else None], box=None, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    return table


def _add_row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(without_terminal_sequences(cell)) for cell in cells[: len(table.columns)]))


def _length(book: OfferedBook) -> str:
    if book.words is not None:
        return f"about {book.words:,} words"
    return f"{book.size / 1e6:.1f} MB" if book.size is not None else ""


async def _chosen(offered: Sequence[OfferedBook]) -> OfferedBook | None:
    """The book whose number the reader types; None for none, or if there is nobody to ask."""
    if not sys.stdin.isatty():
        console.print("To add one of them: marginalia books fetch URL, with its address from --json")
        return None
    while True:
        answer = (await typed(f"Add which? [1-{len(offered)}, Enter for none] ") or "").strip()
        if not answer:
            return None
        if answer.isdecimal() and 1 <= int(answer) <= len(offered):
            return offered[int(answer) - 1]


def _bytes_of(path: Path, most_mb: int) -> bytes:
    """The contents of a file, bounded: a device never ends, a pipe may never begin, and a file may grow while it is
    read.
    """
    named = shortened(str(path))
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BookError(
                    BookErrorCode.PARSE_FAILED, f"{named} is not a file that can hold a book. Choose another one."
                )
            data = file.read(most_mb * 2**20 + 1)
        if len(data) > most_mb * 2**20:
            sentence = f"This file is larger than {most_mb} MB. Raise MAX_UPLOAD_MB, or add a smaller edition."
            raise BookError(BookErrorCode.TOO_LARGE, sentence)
        return data
    except IsADirectoryError as error:
        raise BookError(BookErrorCode.PARSE_FAILED, f"{named} is a folder. Name the files in it.") from error
    except FileNotFoundError as error:
        raise BookError(BookErrorCode.NOT_FOUND, f"There is no file {named}. Check the path.") from error
    except OSError as error:
        raise BookError(BookErrorCode.PARSE_FAILED, f"{named} cannot be read: {error.strerror}.") from error


def _report(added: AddedBook, seconds: float) -> None:
    book = added.book
    if added.is_new:
        facts = f"{_format(book)}, {_pages(book)}{_chapters(book.chapter_count)}, {seconds:.1f} s"
        by = f" by {book.author}" if book.author else ""
        errors.print(f"Added “{book.title}”{by} ({facts}).", markup=False, soft_wrap=True)
    elif added.is_back:
        errors.print(f"“{book.title}” is back on the shelf, with its conversations.", markup=False, soft_wrap=True)
    else:
        errors.print(f"“{book.title}” is already on the shelf; nothing was added.", markup=False, soft_wrap=True)
    for warning in added.warnings:
        errors.print(warning, style="yellow", markup=False, soft_wrap=True)


def _format(book: Book) -> str:
    if book.is_partly_read_by_ocr:
        return f"{book.file_format} (partly read by OCR)"
    return f"{book.file_format} (read by OCR)" if book.is_read_by_ocr else book.file_format


def _pages(book: Book) -> str:
    return f"{'about ' if book.pages_estimated else ''}{counted(book.page_count, 'page')}"


def _chapters(count: int) -> str:
    """The number of chapters behind a comma; empty if there are none."""
    return f", {counted(count, 'chapter')}" if count else ""


def _table(books: Sequence[Book]) -> Table:
    table = _columns("Id", "Title", "Author", "Format", "Pages", "Chapters", "Words", narrow=2)
    for book in books:
        pages = f"{'~' if book.pages_estimated else ''}{book.page_count}"
        title = f"{book.title}{_owner(book)}"
        chapters, words = str(book.chapter_count), f"{book.word_count:,}"
        _add_row(table, book.id[:8], title, book.author, _format(book), pages, chapters, words)
    return table


def _owner(book: Book) -> str:
    """Whose shelf a book is on, by their id on Discord; empty for the terminal's."""
    if book.shelf == LOCAL_SHELF:
        return ""
    return f" ({book.shelf.replace(':', ' ') if is_personal(book.shelf) else f'server {book.shelf}'})"


def _info_fields(book: Book, chapters: Sequence[Chapter], pages: Sequence[Page]) -> dict[str, object]:
    return {
        **_common_fields(book),
        "chapters": [
            {
                "number": chapter.printed,
                "title": chapter.title,
                "start": chapter.start,
                "end": chapter.end,
                "page": label_at(pages, chapter.start + 1),
                "depth": chapter.level,
                "parent": chapter.parent,
            }
            for chapter in chapters
        ],
    }


def _common_fields(book: Book) -> dict[str, object]:
    return {
        "id": book.id,
        "title": book.title,
        "author": book.author,
        "format": book.file_format,
        "read_by_ocr": book.is_read_by_ocr,
        "pages": book.page_count,
        "pages_estimated": book.pages_estimated,
    }


def _book_fields(book: Book) -> dict[str, object]:
    return {
        **_common_fields(book),
        "chapters": book.chapter_count,
        "words": book.word_count,
        "characters": book.length,
        "sha256": book.sha256,
        "shelf": book.shelf,
        "added_at": book.created_at.isoformat(),
    }


async def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        fail("To remove a book without being asked, add --yes.")
    return await said_yes(f"{question} [y/N]")
