"""Plain text: kept as it stands, so that offsets in the file are offsets in the book."""

from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.encoding import decode
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from domain.book import BookText

FORMAT = "txt"


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read a text file of any encoding; only line endings are changed, and a Project Gutenberg licence left out.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    report(0.2)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return assemble(BookDraft(FORMAT, text, warnings=warnings), filename, limits)


def read_plain(text: str, filename: str = "") -> BookText:
    """Pages and chapters found on `text`, which stays as it is to the last character.

    Raises:
        BookError: NO_TEXT, it is empty.
    """
    unlimited = ReadingLimits(max_characters=max(len(text), 1))
    return assemble(BookDraft(FORMAT, text), filename, unlimited, as_it_stands=True)
