"""What is done to text that comes out of markup or a page layout, so that words can be found as readers type them."""

import re
import unicodedata

MARK = "\ufdd0"
"""Stands in text for a page break or an anchor until its offset is known. A noncharacter: no book contains it."""

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200c\u200e\u200f\u2060\ufeff"  # soft hyphen, zero-width and direction marks
    f"\u061c\u202a-\u202e\u2066-\u2069{MARK}]+"  # what turns the direction of others around
)
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
"""In which whole sentences can be hidden. Apart from the others: a set with characters beyond U+FFFF in it is looked
for twenty times as slowly."""
_CLEAN = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]*")
"""Most blocks of most books: Latin letters and the usual signs, to which nothing is to be done."""
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """NFC, ligatures as letters, no soft hyphens, invisible marks or control characters; line feeds stay."""
    if _CLEAN.fullmatch(text):
        return text
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
        text = text if text.isascii() else _TAGS.sub("", _INVISIBLE.sub("", text))
    if text.isascii():
        return text
    if any(map(text.__contains__, _LIGATURES)):
        for ligature, letters in _LIGATURES.items():
            text = text.replace(ligature, letters)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def collapse(text: str) -> str:
    """The text with each run of white space as one space, the outer ones kept (also as one)."""
    if text.isprintable() and "  " not in text:
        return text
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"
