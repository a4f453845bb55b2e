"""Page numbers that a model has typed: kept where it was given such a page, taken out or made vague where it was not.

A reference in brackets can go without a trace. Within a sentence it is part of the grammar, so it is replaced: "on page
42" becomes "in the book", "page 42" becomes "a page". In other languages the number alone gives way to an ellipsis.
"""

import re
from collections.abc import Iterable

_ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_NUMBER = rf"(?:\d{{1,5}}|{_ROMAN})(?![\w%])"
_JOINT = r"\s?(?:[-–—&]|to|and|bis|und|et?|y|à|al?)\s?"
_NUMBERS = rf"{_NUMBER}(?:{_JOINT}{_NUMBER}|, ?{_NUMBER}(?=(?:, ?{_NUMBER})*{_JOINT}{_NUMBER}))*"
_ENGLISH = r"(?:[Pp]ages?|[Pp][Pp]?\.|[Pp]gs?\.)"
_FOREIGN = r"(?:[Ss]eiten?|S\.|[Pp]áginas?|[Pp]ágs?\.|[Pp]agin[ae]|[Pp]agg?\.)"
_REFERENCE = rf"(?:{_ENGLISH}|{_FOREIGN})\s?(?:{_NUMBERS})"

_TYPED = re.compile(
    rf"(?P<bracketed>\s*[(\[](?:(?:see|cf\.|about|siehe|vgl\.|etwa) )?{_REFERENCE}[)\]])"
    rf"|(?P<bracket>[(\[][^()\[\]\n]{{1,60}}?),\s*{_REFERENCE}(?=[)\]])"
    rf"|\b(?P<place>[Oo]n|[Aa]t|[Ii]n) (?:the )?(?P<placed>{_ENGLISH}\s?{_NUMBERS})"
    rf"|\b(?P<plain>{_ENGLISH}\s?{_NUMBERS})"
    rf"|\b(?P<foreign>{_FOREIGN}\s?{_NUMBERS})"
)
_LABEL = re.compile(_NUMBER)
_NAMED = re.compile(_REFERENCE)
_LISTED = re.compile(r'"(?:last_)?page": "([^"]{1,20})"')
_VAGUE = re.compile(r"(?:about|around|roughly|circa|ca\.|near|etwa|ungefähr|um)\s*$", re.IGNORECASE)
_VAGUE_REACH = 12

PENDING = re.compile(
    r"(?:\b(?:on|at|in|about|around|roughly|circa|ca\.|near|etwa|ungefähr|um)\s+(?:the\s+)?)?"
    r"(?:\b(?:pages?|pp?\.|pgs?\.|seiten?|s\.|páginas?|págs?\.|pagin[ae]|pagg?\.)\s?"
    r"(?:(?:\d{1,5}+|[ivxlcdm]{2,12}+)[\s,–—&-]{0,4}+(?:(?:to|and|bis|und|et?|y|à|al?)\s)?+)*+)?\S{0,24}\Z",
    re.IGNORECASE,
)
"""The end of a text that may still become a page reference: its last word, and what would belong to it."""


class TypedPages:
    """Checks typed page numbers against the pages a model was given. `estimated`: they are not printed anywhere."""

    def __init__(self, *, estimated: bool = False) -> None:
        self._estimated = estimated
        self._given: set[str] = set()

    def learn(self, labels: Iterable[str]) -> None:
        """Pages that the model may name."""
        self._given.update(label.casefold() for label in labels)

    def learn_from(self, text: str) -> None:
        """The pages that a reader's words name."""
        for named in _NAMED.finditer(text):
            self.learn(re.findall(r"\w+", named[0]))

    def learn_listed(self, result: str) -> None:
        """The pages in the fields of a tool's result, and not what its titles and texts say of pages."""
        for label in _LISTED.findall(result):
            self.learn(re.findall(r"\w+", label))

    def check(self, text: str) -> str:
        """The text with every page number true."""
        return _TYPED.sub(self._checked, text)

    def _checked(self, typed: re.Match[str]) -> str:
        labels = {label.casefold() for label in _LABEL.findall(typed[0])}
        if labels <= self._given:
            return self._marked_estimated(typed) if self._estimated else typed[0]
        if typed["bracketed"] or typed["bracket"]:
            return typed["bracket"] or ""
        if place := typed["place"]:
            return "In the book" if place[0].isupper() else "in the book"
        if plain := typed["plain"]:
            vague = "some pages" if len(labels) > 1 else "a page"
            return vague.capitalize() if plain[0].isupper() else vague
        return _LABEL.sub("…", typed["foreign"])

    def _marked_estimated(self, typed: re.Match[str]) -> str:
        before = typed.string[max(typed.start() - _VAGUE_REACH, 0) : typed.start()]
        if _VAGUE.search(before) or re.search(r"\babout |\betwa ", typed[0]):
            return typed[0]
        if typed["place"]:
            return f"{'Around' if typed['place'][0].isupper() else 'around'} {typed['placed']}"
        if typed["foreign"]:
            return f"ca. {typed[0]}"
        if typed["plain"]:
            return f"About {typed[0].lower()}" if typed[0][0].isupper() else f"about {typed[0]}"
        return re.sub(_REFERENCE, lambda reference: f"about {reference[0]}", typed[0], count=1)
