"""Wrapping text at words while it streams."""

import re

_PIECE = re.compile(r"\n|[^\S\n]+|\S+")


class WordWrap:
    """Breaks lines of `width` columns between words. A word is given out once it has ended; None never breaks lines."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._column = 0
        self._word = ""

    def feed(self, text: str) -> str:
        """Take in more text; return what may be shown now."""
        *ended, self._word = [*_PIECE.findall(self._word + text)] or [""]
        return "".join(map(self._place, ended))

    def finish(self) -> str:
        """The last word."""
        word, self._word = self._word, ""
        return self._place(word)

    def _place(self, piece: str) -> str:
        if piece == "\n":
            self._column = 0
            return piece
        breaks = self._width is not None and self._column and self._column + len(piece) > self._width
        self._column = len(piece) if breaks else self._column + len(piece)
        if not breaks:
            return piece
        if piece.isspace():  # the blank goes, and the next word begins the line
            self._column = 0
            return "\n"
        return f"\n{piece}"
