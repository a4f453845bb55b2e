"""marginalia check: is everything set up? Each line says ok, or what to do."""

import asyncio
import filecmp
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track
from rich.text import Text

from bot.app import App, books_folder
from bot.cli.running import console, errors, fail, opened, run_async
from bot.client.checks import Finding, findings
from bot.health import STALE_AFTER_S, age_of
from bot.logs import set_up_logs
from bot.settings import load_settings
from domain.book import Book
from domain.errors import BookError


def check() -> None:
    """Check settings, database, model, and Discord's token, intents and permissions."""

    async def work() -> int:
        settings, failures = load_settings(), 0
        set_up_logs("CRITICAL", settings.log_format, settings.secrets)  # what is wrong stands in the findings
        async for finding in findings(settings):
            console.print(line(finding), soft_wrap=True)
            failures += not finding.ok
        return 1 if failures else 0

    run_async(work)


def line(finding: Finding) -> Text:
    mark = Text("ok  ", style="green") if finding.ok else Text("!!  ", style="bold red")
    return mark + Text(f"{finding.subject}: ", style="bold") + Text(finding.sentence)


DATABASE = "marginalia.db"
BOOKS = "books"


def backup(
    path: Annotated[
        Path,
        typer.Argument(help="The folder to copy to; books that are there as they are now are kept"),
    ],
) -> None:
    """Copy the database and the books to a folder. Put that folder in place of DATA_DIR to go back to it."""

    async def work() -> int:
        async with opened() as app:
            target = path / BOOKS
            try:
                await asyncio.to_thread(target.mkdir, parents=True, exist_ok=True)
                # The database first: a book whose row is in the copy has had its file before.
                await app.storage.backup(path / DATABASE)
                missing = [
                    book.title
                    for book in track(await app.shelf.list(None), "Copying books", console=errors, transient=True)
                    if not await _fetched_and_copied(app, book, target)
                ]
            except OSError as error:
                fail(f"The copy could not be written to {path}: {error.strerror}. Make room there and try again.")
        for title in missing:
            errors.print(f"The file of “{title}” is gone, so it is not in the copy.", style="yellow", markup=False)
        console.print(f"Copied the database and the books to {path}.", markup=False)
        return 1 if missing else 0

    run_async(work)


async def _fetched_and_copied(app: App, book: Book, target: Path) -> bool:
    """Copy one book file, fetched to this machine where books are in a store. False: there is none to copy."""
    if app.settings.books_url:
        try:
            await app.shelf.open(book)
        except BookError:
            return False
    return await asyncio.to_thread(_copy, books_folder(app.settings), target, f"{book.sha256}.book")


def _copy(source: Path, target: Path, name: str) -> bool:
    """Copy one book file, whole or not at all, unless it is there as it is now. False: there is none to copy."""
    original, copy, unfinished = source / name, target / name, target / f"{name}.part"
    try:
        if not (copy.exists() and filecmp.cmp(original, copy)):
            shutil.copy2(original, unfinished)  # with its time, by which the next backup knows it again
            unfinished.replace(copy)
    except FileNotFoundError:
        return copy.exists()
    return True


def health() -> None:
    """Say whether the bot that uses this DATA_DIR is online; exit code 0 if it is, else 1."""
    folder = load_settings().data_dir
    age = age_of(folder)
    if age is None:
        fail(f"No bot is online on {folder}. Start it with: marginalia run")
    if age > STALE_AFTER_S:
        fail(
            f"The bot on {folder} was online {age:.0f} seconds ago and is not now: it was killed, it has lost Discord, "
            "or its storage does not answer. Its log says which."
        )
    console.print(f"Online; last seen {max(0.0, age):.0f} seconds ago.", markup=False)
