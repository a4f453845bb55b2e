"""Bytes of a text file as text, whatever encoding they are in."""

import codecs
import re

from domain.errors import BookError, BookErrorCode

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 300_000
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
_WESTERN = re.compile(r"\b(?:the|and|le|la|les|et|der|die|und|que|los|het|een|och|og|che|di|da|uma)\b")
_CENTRAL = re.compile(r"\b(?:nie|jest|na|je|se|si|za|nem|hogy|egy|az|nu|pe|su|do|to)\b")


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
        raise BookError(
            BookErrorCode.UNSUPPORTED_FORMAT,
            "This file does not look like text. I read EPUB, PDF, DOCX, HTML, Markdown and plain text.",
        )
    return _COMMANDS.sub(" ", text), warnings


def _has_commands(text: str) -> bool:
    """Looked for in UTF-8: to look for any of many characters takes five times as long as for any of many bytes."""
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded.translate(None, _COMMAND_BYTES)) < len(encoded) or bool(_LONG_COMMAND_BYTES.search(encoded))


def decode_markup(data: bytes) -> str:
    """The text of an HTML or XML file, by its byte order mark, what it declares, or as UTF-8."""
    if encoding := _marked(data):
        return data.decode(encoding, "replace")
    declared = _DECLARED.search(data, 0, _LONGEST_DECLARATION)
    for encoding in ("utf-8", declared[1].decode("ascii", "replace") if declared else "cp1252"):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    return data.decode("cp1252", "replace")


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
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError:
        return _damaged_utf8(data) or _legacy(data)


def _marked(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if data.startswith(mark)), None)


def _unmarked_utf16(data: bytes) -> str | None:
    """Western text in UTF-16 has a zero in every second byte."""
    head = data[:_SAMPLE]
    zeros = (head[0::2].count(0), head[1::2].count(0))
    if max(zeros) * 4 < len(head) or min(zeros) * 20 > len(head):
        return None
    return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"


def _damaged_utf8(data: bytes) -> tuple[str, tuple[str, ...]] | None:
    """UTF-8 with a few broken characters is still UTF-8; legacy encodings break at nearly every accent."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken > max(1, _MOST_BROKEN * len(text)) or broken * 4 > sum(
        map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text))
    ):
        return None
    return text, ("A few characters of this file are damaged and are shown as \ufffd.",)


def _legacy(data: bytes) -> tuple[str, tuple[str, ...]]:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    encoding = best.encoding if best else "cp1252"
    if encoding in ("cp1250", "iso8859_2") and _is_western(data):
        encoding = "cp1252"
    return data.decode(encoding, "replace"), ()


def _is_western(data: bytes) -> bool:
    """The detector cannot tell cp1250 from cp1252 by their letters; the small words can."""
    sample = data[:_SAMPLE].decode("ascii", "replace").lower()
    return len(_WESTERN.findall(sample)) >= len(_CENTRAL.findall(sample))
