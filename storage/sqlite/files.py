"""The files and folders of a database: made when missing, replaced only by something whole."""

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

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


_PAUSE_S = 0.1


async def claimed(database: Path, patience_s: float) -> IO[bytes]:
    """The lock of a database, held until it is closed.

    Raises:
        StorageError: IN_USE, somebody else holds it all the time; WRITE_FAILED, there can be no such file.
    """
    path, deadline = database.with_name(f"{database.name}.lock"), time.monotonic() + patience_s
    while True:
        try:
            return await asyncio.to_thread(_lock, path)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _in_use(database) from None
        except OSError as error:
            message = f"The file {path} cannot be written: {error.strerror}. Give this user the right to."
            raise StorageError(StorageErrorCode.WRITE_FAILED, message) from error
        await asyncio.sleep(_PAUSE_S)


def _lock(path: Path) -> IO[bytes]:
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _in_use(database: Path) -> StorageError:
    return StorageError(
        StorageErrorCode.IN_USE,
        f"Another Marginalia is running on the database {database}, and two would answer everything twice. "
        "Stop that one, or give this one a DATA_DIR and a DATABASE_URL of its own.",
    )
