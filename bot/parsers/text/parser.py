"""Plain text: kept as it stands where it has no notation of its own, so that offsets in the file are the book's."""

from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.encoding import decode
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.text.aozora import read_aozora
from domain.book import BookText

FORMAT = "txt"


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read a text file of any encoding.

    Only line endings are changed, and a Project Gutenberg licence and the notation of Aozora Bunko left out.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    report(0.2)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    draft = BookDraft(FORMAT, text, warnings=warnings)
    if aozora := read_aozora(text):
        draft = BookDraft(
            FORMAT,
            aozora.text,
            outlines=[aozora.headings],
            title=aozora.title,
            author=aozora.author,
            language="ja",
            warnings=warnings,
        )
    return assemble(draft, filename, limits)


def read_plain(text: str, filename: str = "") -> BookText:
    """Pages and chapters found on `text`, which stays as it is to the last character.

    Raises:
        BookError: NO_TEXT, it is empty.
    """
    unlimited = ReadingLimits(max_characters=max(len(text), 1))
    return assemble(BookDraft(FORMAT, text), filename, unlimited, as_it_stands=True)
