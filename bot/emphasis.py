"""Markdown's emphasis in a terminal: *italics* and **bold** as such, without their asterisks."""

import re

from rich.text import Text

_PART = re.compile(r"\*{1,3}|\n")
_STYLES = {"*": "italic", "**": "bold", "***": "bold italic"}


class Emphasis:
    """Styles text that streams in whole words. What opens in a line ends with it at the latest."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, words: str) -> Text:
        """Take in more words; return them as they are to be shown."""
        shown, at = Text(), 0
        for part in _PART.finditer(words):
            shown.append(words[at : part.start()], _STYLES.get(self._open))
            before, after = words[: part.start()][-1:], words[part.end() :][:1]
            shown.append(self._pass(part.group(), before, after), _STYLES.get(self._open))
            at = part.end()
        shown.append(words[at:], _STYLES.get(self._open))
        return shown

    def _pass(self, mark: str, before: str, after: str) -> str:
        """Open or close what a mark does, which then is not shown; give back one that does neither."""
        if mark == "\n":
            self._open = ""
            return mark
        closes = mark == self._open and bool(before.strip())
        opens = not self._open and bool(after.strip()) and not before.isalnum()
        if not (closes or opens):
            return mark
        self._open = "" if closes else mark
        return ""
