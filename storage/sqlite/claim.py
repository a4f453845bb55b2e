"""One bot at a time on a database: a locked file beside it. The lock ends with the process, however that ends."""

import asyncio
import fcntl
import time
from pathlib import Path
from typing import IO

from domain.errors import StorageError, StorageErrorCode

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
