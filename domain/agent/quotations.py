"""Quotation marks are a promise: what stands between them stands in the book."""

import re
import unicodedata
from collections.abc import Awaitable, Callable

FEWEST_WORDS = 4
"""Shorter quotations are names and turns of phrase, which everybody may put in quotation marks."""

LONGEST = 1_200
"""Characters held back at most while a quotation is open; longer ones are let through unquoted."""

_QUOTED = re.compile(r"“([^“”\n]+)”|\"([^\"\n]+)\"|«([^«»\n]+)»|„([^„“\n]+)“")
_OPENING = re.compile(r"[“«„\"]")
_FOLDS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


def fold(text: str) -> str:
    """Text for comparison: compatible characters, case, quotation marks, dashes and white space made alike."""
    plain = unicodedata.normalize("NFKC", text).translate(_FOLDS).casefold()
    return " ".join(plain.replace("--", "-").split())


class Quotations:
    """Checks quotations against passages the model was given, then against all the reader may see of the book."""

    def __init__(self, stands_in_book: Callable[[str], Awaitable[bool]]) -> None:
        self._stands_in_book = stands_in_book
        self._seen: list[str] = []

    def learn(self, text: str) -> None:
        """A text the model may quote from."""
        self._seen.append(fold(text))

    def open_at(self, text: str) -> int:
        """Where a quotation begins that has not ended yet; the length of the text if there is none."""
        rest = _QUOTED.sub(lambda match: "·" * len(match[0]), text)
        opening = _OPENING.search(rest)
        if opening is None or "\n" in rest[opening.start() :] or len(rest) - opening.start() > LONGEST:
            return len(text)
        return opening.start()

    async def check(self, text: str) -> str:
        """The text with the marks taken off every quotation that does not stand in the book."""
        out, at = [], 0
        for match in _QUOTED.finditer(text):
            quoted = next(group for group in match.groups() if group is not None)
            true = await self._is_true(quoted)
            out += [text[at : match.start()], match[0] if true else quoted]
            at = match.end()
        return "".join([*out, text[at:]])

    async def _is_true(self, quoted: str) -> bool:
        parts = [part for part in re.split(r"\s*(?:\[?(?:…|\.\.\.)\]?)\s*", quoted) if part.strip()]
        return all([await self._part_is_true(part) for part in parts])

    async def _part_is_true(self, part: str) -> bool:
        if len(part.split()) < FEWEST_WORDS:
            return True
        needle = fold(part).strip(" .,;:!?'-")
        return any(needle in text for text in self._seen) or await self._stands_in_book(part)
