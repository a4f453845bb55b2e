"""marginalia migrate: the database and the books, copied to where they are to be from now on."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track
from rich.table import Table

from bot.app import App, books_folder, open_book_files
from bot.cli.running import console, errors, opened, run_async
from bot.settings import Settings
from domain.errors import BookError, SettingsError, StorageError, StorageErrorCode
from storage import Storage, open_storage


def migrate(
    to: Annotated[str, typer.Option(help="The DATABASE_URL to copy to; the database must be empty")],
    books: Annotated[
        str, typer.Option(help="The BOOKS_URL to copy the books to, or a folder. Without it they stay where they are")
    ] = "",
) -> None:
    """Copy everything to another database, and the books to another place. The bot must not run meanwhile."""

    async def work() -> int:
        async with opened() as app:
            if to == app.settings.storage_url:
                raise SettingsError("That is the database that is in use: name another one.")
            await app.storage.claim()
            async with await open_storage(to) as target:
                from storage.copying import copy_database

                with console.status("Copying the database"):
                    counts = await copy_database(app.storage, target, lambda table, copied: None)
                lost = await _copy_books(app, target, books) if books else []
        _say_what_was_copied(counts)
        for title in lost:
            errors.print(f"The file of “{title}” is gone, so it is not in the copy.", style="yellow", markup=False)
        _say_what_to_set(to, books)
        return 1 if lost else 0

    run_async(work)


async def _copy_books(app: App, target: Storage, where: str) -> list[str]:
    """Copy the books' files; the titles of those that are gone."""
    lost = []
    shelved = {book.sha256: book for book in await app.shelf.list(None)}
    for book in track(shelved.values(), "Copying the books", console=errors, transient=True):
        try:
            await app.shelf.open(book)  # fetched, where it is in a store
            content = await asyncio.to_thread((books_folder(app.settings) / f"{book.sha256}.book").read_bytes)
        except (BookError, OSError):
            lost.append(book.title)
        else:
            await _put(app.settings, target, where, book.sha256, content)
    return lost


async def _put(settings: Settings, target: Storage, where: str, sha256: str, content: bytes) -> None:
    if "://" in where:
        from storage.book_files.objects import CachedBookFiles

        files = open_book_files(settings.model_copy(update={"books_url": where}), target)
        assert isinstance(files, CachedBookFiles)
        await files.put(sha256, content)
        return
    from storage.book_files.writer import write_whole

    def write() -> None:
        Path(where).mkdir(parents=True, exist_ok=True)
        write_whole(Path(where) / f"{sha256}.book", content)

    try:
        await asyncio.to_thread(write)
    except OSError as error:
        message = f"The books cannot be written to {where}: {error.strerror}."
        raise StorageError(StorageErrorCode.WRITE_FAILED, message) from error
    await target.book_objects.delete(sha256)


def _say_what_was_copied(counts: dict[str, int]) -> None:
    table = Table("Copied", "Rows")
    for name, count in sorted(counts.items()):
        table.add_row(name.replace("_", " "), f"{count:,}")
    console.print(table)


def _say_what_to_set(to: str, books: str) -> None:
    console.print("Nothing was taken away from where it was. To use the copy, set this and start the bot:")
    console.print(f"DATABASE_URL={to}", markup=False, soft_wrap=True)
    if "://" in books:
        console.print(f"BOOKS_URL={books}", markup=False, soft_wrap=True)
    elif books:
        console.print(
            f"BOOKS_URL=  (empty; the books in {books} belong in DATA_DIR/books)", markup=False, soft_wrap=True
        )
