"""How rendering says things: in English, unless it is handed somebody who knows the reader's language."""

from typing import Protocol


class Say(Protocol):
    """Turns an English text with {placeholders} into the reader's language."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def in_english(text: str, /, **values: object) -> str:
    return text.format(**values)
