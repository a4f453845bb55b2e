"""marginalia check, backup, health and migrate."""

import asyncio
import filecmp
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from bot.app import App, books_folder, open_book_files
from bot.cli.terminal import console, errors, fail, opened, progress_bar, run_async
from bot.logs import STALE_AFTER_S, age_of, set_up_logs
from bot.private import redacted
from bot.settings import FOUND_HERE, Settings, default_data_dir, load_settings
from domain.book import Book
from domain.concurrency import NODES
from domain.errors import BookError, MarginaliaError, SettingsError, StorageError, StorageErrorCode, shortened
from storage.opening import Storage, open_storage

if TYPE_CHECKING:
    from bot.client.checks import Finding


def check() -> None:
    """Check settings, database, store of books, model, and Discord's token, intents and permissions."""
    from bot.client.checks import findings  # discord.py takes a while to load

    async def work() -> int:
        settings, failures = load_settings(), 0
        set_up_logs("CRITICAL", settings.log_format, settings.secrets)  # the findings say what is wrong
        async for finding in findings(settings):
            # A service may repeat the key it was sent, in whatever words.
            shown = replace(finding, sentence=redacted(finding.sentence, settings.secrets))
            console.print(line(shown), soft_wrap=True)
            failures += not finding.ok
        return 1 if failures else 0

    run_async(work)


def line(finding: "Finding") -> Text:
    mark = Text("ok  ", style="green") if finding.ok else Text("!!  ", style="bold red")
    return mark + Text(f"{finding.subject}: ", style="bold") + Text(finding.sentence)


DATABASE = "marginalia.db"
BOOKS = "books"


def backup(
    path: Annotated[
        Path,
        typer.Argument(help="The folder to copy to; books already in it are not copied again"),
    ],
) -> None:
    """Copy the database and the books to a folder. To go back to it, put that folder in place of DATA_DIR."""

    async def work() -> int:
        async with opened() as app:
            if await asyncio.to_thread(_is_found_at_a_start, path) and app.settings.data_dir == default_data_dir():
                fail(f"The next start here would use {path.name} in place of your own folder. Choose another name.")
            target = path / BOOKS
            try:
                # The database first: every book in the copy then has its file.
                await app.storage.backup(path / DATABASE)
                await asyncio.to_thread(target.mkdir, exist_ok=True)
                with progress_bar() as bar:
                    missing = [
                        book.title
                        for book in bar.track(await app.shelf.all_on(None), description="Copying books")
                        if not await _fetched_and_copied(app, book, target)
                    ]
            except OSError as error:
                fail(
                    f"The copy could not be written to {shortened(str(path))}: {error.strerror}. "
                    "Make room there, or choose another folder."
                )
        for title in missing:
            errors.print(f"The file of “{title}” is gone, so it is not in the copy.", style="yellow", markup=False)
        console.print(f"Copied the database and the books to {path}.", markup=False)
        return 1 if missing else 0

    run_async(work)


def _is_found_at_a_start(path: Path) -> bool:
    """Whether a folder with the program's data is taken for the data folder where DATA_DIR is not set."""
    return path.resolve() == FOUND_HERE.resolve()


async def _fetched_and_copied(app: App, book: Book, target: Path) -> bool:
    """Copy one book file, downloading it first if books are in a store. False: there is none to copy."""
    if app.settings.books_url:
        try:
            await app.shelf.open(book)
        except BookError:
            return False
    return await asyncio.to_thread(_copy, books_folder(app.settings), target, f"{book.sha256}.book")


def _copy(source: Path, target: Path, name: str) -> bool:
    """Copy one book file, completely or not at all, unless an identical copy exists. False: there is none to copy."""
    original, copy, unfinished = source / name, target / name, target / f"{name}.part"
    with suppress(FileNotFoundError):  # it was removed meanwhile
        # A device, or a pipe, would be read without an end.
        if original.is_file() and not (copy.exists() and filecmp.cmp(original, copy)):
            unfinished.unlink(missing_ok=True)  # which may be a link that leads elsewhere
            try:
                shutil.copy2(original, unfinished)  # with its time, by which the next backup recognises it
                unfinished.replace(copy)
            finally:
                unfinished.unlink(missing_ok=True)
    return copy.exists()


def health() -> None:
    """Say whether the bot that uses this DATA_DIR is online; exit code 0 if it is, else 1."""
    folder = load_settings().data_dir
    age = age_of(folder)
    if age is None:
        fail(f"No bot is online on {folder}. Start it with: marginalia run")
    if age > STALE_AFTER_S:
        fail(
            f"The bot on {folder} was online {age:.0f} seconds ago and isn't any more: it was killed, it lost Discord, "
            "or its storage doesn't answer. Its log says which."
        )
    console.print(f"Online; last seen {max(0.0, age):.0f} seconds ago.", markup=False)


def migrate(
    to: Annotated[str, typer.Option(metavar="URL", help="The DATABASE_URL to copy to; the database must be empty")],
    books: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The BOOKS_URL to copy the books to, or a folder. Without it they stay where they are"
        ),
    ] = "",
) -> None:
    """Copy everything to another database, and the books to another place. Stop the bot first."""

    async def work() -> int:
        async with opened() as app:
            if to == app.settings.storage_url:
                raise SettingsError("That is the database in use. Choose another one.")
            await app.storage.claim()
            await _refuse_while_nodes_run(app.storage, "the database")
            with _option_named("--to", "DATABASE_URL"):
                opened_target = await open_storage(to)
            async with opened_target as target:
                from storage.opening import copy_database

                await _refuse_while_nodes_run(target, "the database of --to")
                put = _opened_place(books, app.settings, target)  # refused before anything is copied
                with console.status("Copying the database"):
                    counts = await copy_database(
                        app.storage, target, lambda table, copied: None, is_resumed=bool(books)
                    )
                lost = await _copy_books(app, put) if put else []
        _say_what_was_copied(counts)
        for title in lost:
            errors.print(f"The file of “{title}” is gone, so it is not in the copy.", style="yellow", markup=False)
        _say_what_to_set(to, books)
        return 1 if lost else 0

    run_async(work)


async def _refuse_while_nodes_run(storage: Storage, name: str) -> None:
    """Refuse a database in PostgreSQL that bots are using. One in SQLite is refused by its lock.

    Raises:
        StorageError: IN_USE.
    """
    if storage.leases is not None and await storage.leases.list_held(NODES):
        raise StorageError(
            StorageErrorCode.IN_USE,
            f"Bots are running on {name}, and what they write meanwhile would be lost. Stop all of them and try again; "
            "a bot that was killed counts for ten seconds.",
        )


@contextmanager
def _option_named(option: str, setting: str) -> Iterator[None]:
    """In errors about an address, name the option of `migrate` in place of the setting that usually has it."""
    try:
        yield
    except MarginaliaError as error:
        error.message = error.message.replace(setting, option)
        raise


PutBook = Callable[[str, bytes], Awaitable[None]]
"""Writes the file of a book, known by its hash."""


def _opened_place(where: str, settings: Settings, target: Storage) -> PutBook | None:
    """What writes the books to an address or a folder; None if they stay where they are.

    Raises:
        SettingsError, StorageError: the address names no store, or the folder cannot be made.
    """
    if not where:
        return None
    if "://" in where:
        from storage.book_files.objects import CachedBookFiles

        with _option_named("--books", "BOOKS_URL"):
            files = open_book_files(settings.model_copy(update={"books_url": where}), target)
        assert isinstance(files, CachedBookFiles)
        return files.put
    with _written_to(where):
        Path(where).mkdir(parents=True, exist_ok=True)
    return partial(_put_in_folder, where, target)


async def _put_in_folder(folder: str, target: Storage, sha256: str, content: bytes) -> None:
    from storage.book_files.format import write_whole

    with _written_to(folder):
        await asyncio.to_thread(write_whole, Path(folder) / f"{sha256}.book", content)
    await target.book_objects.delete(sha256)


@contextmanager
def _written_to(folder: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"The books cannot be written to {shortened(folder)}: {error.strerror}."
        raise StorageError(StorageErrorCode.WRITE_FAILED, message) from error


async def _copy_books(app: App, put: PutBook) -> list[str]:
    """Copy the books' files; returns the titles of those whose file is missing."""
    lost = []
    books = {book.sha256: book for book in await app.shelf.all_on(None)}
    with progress_bar() as bar:
        for book in bar.track(books.values(), description="Copying the books"):
            try:
                await app.shelf.open(book)  # fetched, where it is in a store
                content = await asyncio.to_thread((books_folder(app.settings) / f"{book.sha256}.book").read_bytes)
            except (BookError, OSError):
                lost.append(book.title)
            else:
                await put(book.sha256, content)
    return lost


def _say_what_was_copied(counts: dict[str, int]) -> None:
    table = Table("Copied", "Rows")
    for name, count in sorted(counts.items()):
        table.add_row(name.replace("_", " "), f"{count:,}")
    console.print(table)


def _say_what_to_set(to: str, books: str) -> None:
    console.print("The original is unchanged. To use the copy, set this and start the bot:")
    console.print(f"DATABASE_URL={to}", markup=False, soft_wrap=True)
    if "://" in books:
        console.print(f"BOOKS_URL={books}", markup=False, soft_wrap=True)
    elif books:
        console.print(
            f"BOOKS_URL=  (empty; the books in {books} belong in DATA_DIR/books)", markup=False, soft_wrap=True
        )
