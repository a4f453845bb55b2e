"""marginalia backup: a copy of everything, while the bot runs."""

import asyncio
import filecmp
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from bot.commands.running import console, errors, fail, opened, run_async

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
                source = app.settings.data_dir / BOOKS
                missing = [
                    book.title
                    for book in track(await app.shelf.list(None), "Copying books", console=errors, transient=True)
                    if not await asyncio.to_thread(_copy, source, target, f"{book.sha256}.book")
                ]
            except OSError as error:
                fail(f"The copy could not be written to {path}: {error.strerror}. Make room there and try again.")
        for title in missing:
            errors.print(f"The file of “{title}” is gone, so it is not in the copy.", style="yellow", markup=False)
        console.print(f"Copied the database and the books to {path}.", markup=False)
        return 1 if missing else 0

    run_async(work)


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
