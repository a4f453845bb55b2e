"""Which book files are open: the ones used last, so that file descriptors stay few with any number of books."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from storage.book_files.opened import OpenedFile

MAX_OPEN = 32
"""Book files kept open. One holds a file descriptor and, for a long novel, one to three megabytes of memory."""


@dataclass(slots=True)
class _Entry:
    file: OpenedFile
    users: int = 0
    dropped: bool = False


class OpenFiles:
    """Opens book files when they are used and closes those that were not used for longest. Safe for threads."""

    def __init__(self, limit: int = MAX_OPEN) -> None:
        self._limit = limit
        self._entries: OrderedDict[Path, _Entry] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def use(self, path: Path) -> Iterator[OpenedFile]:
        """The opened file, which stays open as long as it is used.

        Raises:
            BookError: INVALID_STATE, it cannot be opened.
        """
        entry = self._take(path)
        try:
            yield entry.file
        finally:
            self._give_back(entry)

    def drop(self, path: Path) -> None:
        """Close a file as soon as nobody uses it."""
        with self._lock:
            entry = self._entries.pop(path, None)
            if entry is not None:
                _retire(entry)

    def close(self) -> None:
        for path in list(self._entries):
            self.drop(path)

    def _take(self, path: Path) -> _Entry:
        with self._lock:
            entry = self._entries.get(path)
            if entry is None:
                entry = self._entries[path] = _Entry(OpenedFile(path))
            self._entries.move_to_end(path)
            entry.users += 1
            while len(self._entries) > self._limit:
                _retire(self._entries.popitem(last=False)[1])
            return entry

    def _give_back(self, entry: _Entry) -> None:
        with self._lock:
            entry.users -= 1
            if entry.dropped and not entry.users:
                entry.file.close()


def _retire(entry: _Entry) -> None:
    entry.dropped = True
    if not entry.users:
        entry.file.close()
