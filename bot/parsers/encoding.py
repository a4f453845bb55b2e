"""Bytes of a text file as text, whatever encoding they are in."""

import codecs
import re

from bot.parsers.encoding_guess import guess_encoding
from domain.errors import BookError, BookErrorCode

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_DECLARATION = 2_000
_DECLARED = re.compile(rb"""(?:encoding|charset)\s*=\s*["']?\s*([\w:.-]{2,40})""", re.IGNORECASE)
_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*([>\[])", re.IGNORECASE)
_END_OF_SUBSET = re.compile(r"\]\s*>")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
_COMMANDS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
"""What a terminal takes for an order: every control character but those that begin a line or a page, or indent."""
_COMMAND_BYTES = bytes([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])
_LONG_COMMAND_BYTES = re.compile(rb"\xc2[\x80-\x9f]")
_MOST_CONTROLS = 0.001
_MOST_BROKEN = 0.001
_MOST_UNMARKED_ZEROS = 0.005
"""Share of zero bytes above which bytes without a byte order mark are UTF-16, which Latin letters, blanks and line
feeds give away, or no text."""
_SAMPLE = 100_000
_USUAL = re.compile("[\t\n\r -~\u2010-\u2027\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_LEAST_USUAL = 0.95
_DAMAGED = ("A few characters of this file are damaged and are shown as \ufffd.",)
_ESCAPES = ((b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"), (b"\x1b$)C", "iso2022_kr"))


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text, and warnings where some of it could not be read for certain.

    The few control characters a text may hold become blanks, one for one, so that offsets stay what they are.

    Raises:
        BookError: UNSUPPORTED_FORMAT, these bytes are no text.
    """
    text, warnings = _decoded(data)
    if not _has_commands(text):
        return text, warnings
    if len(_CONTROL.findall(text)) > _MOST_CONTROLS * len(text):
        raise _no_text()
    return _COMMANDS.sub(" ", text), warnings


def _has_commands(text: str) -> bool:
    """Looked for in UTF-8: to look for any of many characters takes five times as long as for any of many bytes."""
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded.translate(None, _COMMAND_BYTES)) < len(encoded) or bool(_LONG_COMMAND_BYTES.search(encoded))


def decode_document(data: bytes) -> str:
    """The text of an HTML or XML file that stands alone.

    Raises:
        BookError: UNSUPPORTED_FORMAT, it cannot be told how its letters are encoded.
    """
    return _decode_markup(data) or _decoded(data)[0]


def decode_markup(data: bytes) -> str:
    """The text of a part of an archive, by its byte order mark, as UTF-8, as it declares, or as it most likely is."""
    if (text := _decode_markup(data)) is not None:
        return text
    guess = guess_encoding(data)
    return data.decode(guess.encoding if guess else "cp1252", "replace")


def ascii_head(data: bytes, length: int) -> str:
    """The first bytes of a file as far as they are ASCII, others as \ufffd, whatever the encoding."""
    head = data[:length]
    encoding = _marked(data) or _unmarked_utf16(head) or "ascii"
    return codecs.getincrementaldecoder(encoding)("replace").decode(head)


def _decode_markup(data: bytes) -> str | None:
    if encoding := _marked(data) or _unmarked_utf16(data):
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if damaged := _damaged_utf8(data):
            return damaged[0]
    declared = _DECLARED.search(data, 0, _LONGEST_DECLARATION)
    guess = guess_encoding(data, declared[1].decode("ascii") if declared else "")
    return data.decode(guess.encoding, "replace") if guess else None


def without_doctype(markup: str) -> str:
    """XML or XHTML without document types, and so without declarations of entities; one that never ends is left."""
    kept, at = [], 0
    while opening := _DOCTYPE.search(markup, at):
        closing = opening if opening[1] == ">" else _END_OF_SUBSET.search(markup, opening.end())
        if closing is None:
            break
        kept.append(markup[at : opening.start()])
        at = closing.end()
    return "".join([*kept, markup[at:]])


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    if encoding := _marked(data) or _unmarked_utf16(data):
        return data.decode(encoding, "replace"), ()
    for escape, encoding in _ESCAPES:
        if escape in data:
            return data.decode(encoding, "replace"), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return _damaged_utf8(data) or _legacy(data)


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if data.startswith(mark)), None)


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 of any language has blanks and line feeds, and so zero bytes, mostly at odd or mostly at even places."""
    zeros = (data[0::2].count(0), data[1::2].count(0))
    if max(zeros) < max(2, _MOST_UNMARKED_ZEROS * len(data)):
        return None
    if min(zeros) * 20 <= max(zeros):
        return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
    sample = data[: _SAMPLE - _SAMPLE % 2]  # East Asian text has zeros of both kinds, as in U+4E00
    letters = {name: len(_USUAL.findall(sample.decode(name, "replace"))) for name in ("utf-16-le", "utf-16-be")}
    best = max(letters, key=lambda name: letters[name])
    return best if letters[best] * 2 > _LEAST_USUAL * len(sample) else None


def _damaged_utf8(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-8 with a few broken characters is still UTF-8; legacy encodings break at nearly every accent."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken > max(1, _MOST_BROKEN * len(text)) or broken * 4 > sum(
        map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text))
    ):
        return None
    return text, _DAMAGED


def _legacy(data: bytes) -> tuple[str, tuple[str, ...]]:
    guess = guess_encoding(data)
    text = data.decode(guess.encoding, "replace") if guess else "\ufffd"
    if (broken := text.count("\ufffd")) > max(1, _MOST_BROKEN * len(text)) or guess is None:
        if len(data) - len(data.translate(None, _COMMAND_BYTES)) > _MOST_CONTROLS * len(data):
            raise _no_text()
        raise BookError(
            BookErrorCode.UNSUPPORTED_FORMAT,
            "I can't tell how the letters in this file are encoded. Please open it in a text editor, "
            "save it as UTF-8, and add that.",
        )
    return text, _DAMAGED if broken else ()


def _no_text() -> BookError:
    return BookError(
        BookErrorCode.UNSUPPORTED_FORMAT,
        "This file does not look like text, nor like any book I can read. If it is a book, please convert it to EPUB, "
        "for example with Calibre, and add that.",
    )
