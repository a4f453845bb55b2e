"""Project Gutenberg's wrapping: the header that names the book, and the licence, which is no part of it."""

import re
from dataclasses import dataclass

_START = re.compile(
    r"\*{3}\s*START\s+OF\s+(?:THE|THIS)\s+PROJECT\s+GUTENBERG[^*]{0,400}\*{3}\s*"
    r"|\*END\*?\s*THE\s+SMALL\s+PRINT!?[^*]{0,200}\*END\*\s*",
)
_END = re.compile(
    r"^[ \t]*(?:\*{3}\s*END\s+OF\s+(?:THE|THIS)\s+PROJECT\s+GUTENBERG"
    r"|End\s+of\s+(?:the\s+|this\s+)?Project\s+Gutenberg(?:['’]s|(?:['’]s)?\s+E-?(?:Book|text)))",
    re.MULTILINE | re.IGNORECASE,
)
_FIELD = re.compile(r"^[ \t]*(Title|Author|Language):[ \t]*([^\n]+(?:\n[ \t]{2,}[^\n]+)*)", re.MULTILINE)
_HEADER_CHARACTERS = 30_000
_LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "dutch": "nl",
    "portuguese": "pt", "finnish": "fi", "swedish": "sv", "latin": "la", "chinese": "zh", "russian": "ru",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wrapping:
    """Where the book itself stands, `[start, end)`, and what the header says of it."""

    start: int
    end: int
    title: str = ""
    author: str = ""
    language: str = ""


def unwrap(text: str) -> Wrapping:
    """The place of the book in a text that may be wrapped; all of it where no wrapping is found."""
    opening = _START.search(text, 0, _HEADER_CHARACTERS)
    start = opening.end() if opening else 0
    end = _last_end(text, start)
    if end <= start:
        return Wrapping(0, len(text))
    fields = {name: " ".join(value.split()) for name, value in _FIELD.findall(text[:start])}
    language = fields.get("Language", "").lower()
    return Wrapping(start, end, fields.get("Title", ""), fields.get("Author", ""), _LANGUAGES.get(language, language))


def _last_end(text: str, start: int) -> int:
    """Where the book ends: the licence is up to 20,000 characters long and stands at the very end."""
    begin = max(start, len(text) - _HEADER_CHARACTERS)
    closing = _END.search(text, begin)
    return begin + len(text[begin : closing.start()].rstrip()) if closing else len(text)
