"""The files and folders of a database: made when missing, replaced only by something whole."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from domain.errors import StorageError, StorageErrorCode


async def make_folder_for(path: Path) -> None:
    """Make the folder that a file is to lie in.

    Raises:
        StorageError: NOT_FOUND, the folder cannot be made.
    """
    try:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            StorageErrorCode.NOT_FOUND, f"The folder {path.parent} for the database cannot be made: {error.strerror}."
        ) from error


@asynccontextmanager
async def replacing(target: Path) -> AsyncIterator[Path]:
    """A path to write to. At the end of the block that file takes the target's place; if it fails, it goes.

    Raises:
        StorageError: WRITE_FAILED, the target cannot be replaced.
    """
    partial = target.with_name(f"{target.name}.partial")
    try:
        await asyncio.to_thread(partial.unlink, missing_ok=True)  # what an earlier attempt left when it was killed
        yield partial
        await asyncio.to_thread(partial.replace, target)
    except OSError as error:
        raise StorageError(
            StorageErrorCode.WRITE_FAILED, f"The file {target} cannot be written: {error.strerror}."
        ) from error
    finally:
        with suppress(OSError):
            await asyncio.to_thread(partial.unlink, missing_ok=True)


async def same_file(one: Path, other: Path) -> bool:
    return await asyncio.to_thread(one.resolve) == await asyncio.to_thread(other.resolve)
