"""The bound of a turn: how far into the book its readers may look, and how the model is told."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from domain.book import Book, Page, ReadingPosition
from domain.ports import ReaderRepository

_LONGEST_NAME = 64
_BETWEEN = " · "


def bound_of(positions: Iterable[ReadingPosition], length: int) -> int:
    """The lowest position of several readers, as an offset; the whole length where nobody has one."""
    return min((position.bound(length) for position in positions), default=length)


async def lowest_bound(readers: ReaderRepository, people: Iterable[str], book: Book) -> int:
    """How far into the book these people may look together; whoever is not known by an id does not count."""
    positions = [await readers.get_position(person, book.id) for person in {*people} - {""}]
    return bound_of(positions, book.length)


def label_at(pages: Sequence[Page], read_to: int) -> str:
    """The label of the page that holds the last character before `read_to`."""
    return next((page.label for page in reversed(pages) if page.start < read_to), pages[0].label if pages else "")


def note_for(name: str, pages: Sequence[Page], read_to: int, length: int, now: datetime) -> str:
    """The line in front of a reader's message. It tells nothing that depends on unread text, not even a page count."""
    if read_to >= length:
        extent = "the whole book is open"
    else:
        page = _unmarked(label_at(pages, read_to))
        extent = f"has read to page {page}" if read_to > 0 else "has not begun to read"
    who = _unmarked(name)[:_LONGEST_NAME]
    return f"[{_BETWEEN.join(part for part in (who, extent, now.date().isoformat()) if part)}]"


def _unmarked(text: str) -> str:
    """A name or label as one part of the note: it can neither end the note nor begin another part."""
    return " ".join(text.replace("[", "(").replace("]", ")").replace("·", " ").split())
