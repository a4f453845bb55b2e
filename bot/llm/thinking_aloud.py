"""Open models that think aloud: what they write between <think> and </think> is for nobody else."""

from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class ThinkingFilter:
    """Lets through what is said after the thinking that a streamed reply begins with; any other reply unchanged.

    Servers that know the model take its thinking out themselves; the others stream it as if it were the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._answering = False

    def feed(self, piece: str) -> str:
        """What of the text so far may be shown now and was not shown before."""
        if self._answering:
            return piece
        self._held += piece
        begun = self._held.lstrip()
        if begun.startswith(_OPEN):
            _, _, answer = begun.partition(_CLOSE)
            return self._answer(answer.lstrip())
        return "" if _OPEN.startswith(begun) else self._answer(self._held)

    def end(self) -> str:
        """What was held back only because it might have become thinking."""
        return "" if self._held.lstrip().startswith(_OPEN) else self._held

    def _answer(self, text: str) -> str:
        if text:
            self._answering, self._held = True, ""
        return text
