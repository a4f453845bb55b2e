"""What is done to text that comes out of markup or a page layout, so that words can be found as readers type them."""

import re
import unicodedata

MARK = "\ufdd0"
"""Stands in text for a page break or an anchor until its offset is known. A noncharacter: no book contains it."""

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_INVISIBLE = (
    "\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff"  # soft hyphen, zero-width and direction marks
    "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # what turns the direction of others around
)
_TAGS = "".join(map(chr, range(0xE0000, 0xE0080)))  # in which whole sentences can be hidden
_CONTROLS = "".join(map(chr, [*range(32), *range(127, 160)]))
_REPLACEMENTS = str.maketrans(
    dict.fromkeys(_INVISIBLE + _TAGS + MARK)
    | {character: " " for character in _CONTROLS if character != "\n"}
    | _LIGATURES
)
_REPLACED = re.compile("[" + "".join(re.escape(chr(code)) for code in _REPLACEMENTS if chr(code) not in _TAGS) + "]")
_TAG = re.compile(f"[{_TAGS[0]}-{_TAGS[-1]}]")
"""Apart from the others: a set with characters beyond U+FFFF in it is looked for twenty times as slowly."""


def clean(text: str) -> str:
    """NFC, ligatures as letters, no soft hyphens, invisible marks or control characters; line feeds stay."""
    if _REPLACED.search(text) or (not text.isascii() and _TAG.search(text)):
        text = text.translate(_REPLACEMENTS)
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def collapse(text: str) -> str:
    """The text with each run of white space as one space, the outer ones kept (also as one)."""
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


def encodable(text: str) -> str:
    """The text without lone surrogates, which no encoding can store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
