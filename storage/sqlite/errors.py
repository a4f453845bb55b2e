"""What SQLite says, as a sentence for the person who has to act."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from domain.errors import StorageError, StorageErrorCode

_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        StorageErrorCode.WRITE_FAILED,
        "There is no room left for the database {path}: free some space on the disk, then try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        StorageErrorCode.WRITE_FAILED,
        "The database {path} may only be read: give this user the right to write the file and its folder.",
    ),
    sqlite3.SQLITE_BUSY: (
        StorageErrorCode.WRITE_FAILED,
        "Another program keeps the database {path} locked: close it or wait until it is done, then try again.",
    ),
    sqlite3.SQLITE_IOERR: (
        StorageErrorCode.WRITE_FAILED,
        "The disk failed while the database {path} was read or written: check the disk and the space on it.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        StorageErrorCode.WRITE_FAILED,
        "That is too long to be kept in the database {path}: shorten it.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StorageErrorCode.NOT_FOUND,
        "The database {path} cannot be opened: check that it is a file and that this user may write in its folder.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StorageErrorCode.DB_CORRUPTED,
        "The database {path} is damaged and was left as it is: put a backup in its place.",
    ),
    sqlite3.SQLITE_NOTADB: (
        StorageErrorCode.DB_CORRUPTED,
        "The file {path} is not a database and was left as it is: name another file, or put a backup in its place.",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        StorageErrorCode.WRITE_FAILED,
        "The database {path} does not take that entry, because it contradicts what is in it: {reason}.",
    ),
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (
        StorageErrorCode.NOT_FOUND,
        "The book, conversation or turn that this belongs to is no longer in the database {path}.",
    ),
}
_SENTENCES |= {
    sqlite3.SQLITE_LOCKED: _SENTENCES[sqlite3.SQLITE_BUSY],
    sqlite3.SQLITE_PERM: _SENTENCES[sqlite3.SQLITE_CANTOPEN],
    sqlite3.SQLITE_AUTH: _SENTENCES[sqlite3.SQLITE_READONLY],
}
_OTHER = (StorageErrorCode.WRITE_FAILED, "The database {path} refused: {reason}.")
_PRIMARY = 0xFF
"""The lower byte of an extended result code is the primary one."""


def storage_error(error: Exception, path: str) -> StorageError:
    """The domain's error for one of sqlite3 or aiosqlite."""
    extended = getattr(error, "sqlite_errorcode", None) or 0
    code, sentence = _SENTENCES.get(extended) or _SENTENCES.get(extended & _PRIMARY) or _OTHER
    return StorageError(code, sentence.format(path=path, reason=str(error).rstrip(".")))


def is_busy(error: sqlite3.Error) -> bool:
    """Another connection is in the way; it may be gone in a moment."""
    return error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Let nothing but StorageError out of calls to SQLite.

    aiosqlite reports a closed connection as ValueError; sqlite3 reports numbers beyond 64 bits as OverflowError.
    """
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        raise storage_error(error, path) from error
