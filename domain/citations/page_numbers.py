"""Page numbers that a model has typed: kept where it was given such a page, taken out or made vague where it was not.

A reference in brackets can go without a trace. Within a sentence it is part of the grammar, so it is replaced: "on page
42" becomes "in the book", "page 42" becomes "a page". In other languages the number alone gives way to an ellipsis.

A number counts as what a reader will see: in bold, in HTML's or in full-width letters it is a number all the same.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_NUMBER = rf"(?:\d{{1,5}}|{_ROMAN}|{_ROMAN.upper()})(?![\w%])"
_JOINT = r"\s?(?:[-–—&]|to|and|bis|und|et?|y|à|al?)\s?"
_NUMBERS = rf"{_NUMBER}(?:{_JOINT}{_NUMBER}|, ?{_NUMBER}(?=(?:, ?{_NUMBER})*{_JOINT}{_NUMBER}))*"
_ENGLISH = r"(?:[Pp]ages?|PAGES?|[Pp][Pp]?\.|[Pp]gs?\.)"
_FOREIGN = r"(?:[Ss]eiten?|S\.|[Pp]áginas?|[Pp]ágs?\.|[Pp]agin[ae]|[Pp]agg?\.)"
_REFERENCE = rf"(?:{_ENGLISH}|{_FOREIGN})\s{{0,20}}(?:{_NUMBERS})"
_AND_MORE = rf"\s*(?:[,;/]|or|oder|o|ou|{_JOINT})\s*(?:[Pp][Pp]?\.\s*)?{_NUMBER}"
_IN_BRACKETS = rf"(?:{_ENGLISH}|{_FOREIGN}|[Pp][Pp]?|[Pp]gs?)\s{{0,20}}{_NUMBER}(?:{_AND_MORE})*(?:\s?ff?\.?)?"

_TYPED = re.compile(
    rf"(?P<bracketed>\s*[(\[](?:(?:see|cf\.|about|siehe|vgl\.|etwa) )?{_IN_BRACKETS}\s*[)\]])"
    rf"|(?P<bracket>[(\[][^()\[\]\n]{{1,60}}?),\s*{_REFERENCE}(?=[)\]])"
    rf"|\b(?P<place>[Oo][Nn]|[Aa][Tt]|[Ii][Nn]) (?:[Tt]he )?(?P<placed>{_ENGLISH}\s{{0,20}}{_NUMBERS})"
    rf"|\b(?P<plain>{_ENGLISH}\s{{0,20}}{_NUMBERS})"
    rf"|\b(?P<foreign>{_FOREIGN}\s{{0,20}}{_NUMBERS})"
)
_LABEL = re.compile(_NUMBER)
_NAMED = re.compile(_REFERENCE)
_LISTED = re.compile(r'"(?:last_)?page": "([^"]{1,20})"')
_VAGUE = re.compile(r"(?:about|around|roughly|circa|ca\.|near|etwa|ungefähr|um)\s*$", re.IGNORECASE)
_VAGUE_REACH = 12
_DISGUISE = re.compile(r"&#?\w{1,8};|</?[A-Za-z]{1,9}\s?/?>|\\(?=[^\w\s])|[*_`]|\|\||~~|[^\x00-\x7f]")
_EMPHASIS = re.compile(r"[*_`]|\|\||~~|<")

PENDING = re.compile(
    r"(?:\b(?:on|at|in|about|around|roughly|circa|ca\.|near|etwa|ungefähr|um)\s+(?:the\s+)?)?"
    r"(?:\b(?:pages?|pp?\.|pgs?\.|seiten?|s\.|páginas?|págs?\.|pagin[ae]|pagg?\.)"
    r"(?:[\s*_`~|\\]|[^\x00-\x7f]|&\#?\w{1,6};|</?\w{1,9}>){0,20}+"
    r"(?:(?:\d{1,5}+|[ivxlcdm]{2,12}+)[\s,–—&-]{0,4}+(?:(?:to|and|bis|und|et?|y|à|al?)\s)?+)*+)?\S{0,24}\Z",
    re.IGNORECASE,
)
"""The end of a text that may still become a page reference: its last word, and what would belong to it."""


class _Seen(NamedTuple):
    """A text without its marks, and where in what was written each of its characters begins and ends."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int, written: str) -> tuple[int, int]:
        """Where that stands in what was written; emphasis that begins in it ends in it."""
        first, last = self.starts[start], self.ends[end - 1]
        return first, self.starts[end] if _EMPHASIS.search(written, first, last) else last


def _as_seen(text: str) -> _Seen:
    pieces, starts, ends, at = [], [], [], 0
    for disguise in [*_DISGUISE.finditer(text), None]:
        start, end = disguise.span() if disguise else (len(text), len(text))
        said = _said_by(disguise[0]) if disguise else ""
        pieces += [text[at:start], said]
        starts += [*range(at, start), *[start] * len(said)]
        ends += [*range(at + 1, start + 1), *[end] * len(said)]
        at = end
    return _Seen("".join(pieces), [*starts, len(text)], ends)


def _said_by(disguise: str) -> str:
    """What a mark, an entity or a letter says: marks and invisible letters nothing, look-alikes the same."""
    if disguise[0] == "&":
        return html.unescape(disguise)
    if disguise.isascii() or unicodedata.category(disguise) == "Cf":
        return ""
    if unicodedata.decomposition(disguise).startswith("<super>"):
        return disguise  # the number of a note behind that of a page
    plain = unicodedata.normalize("NFKC", disguise)
    return plain if plain.isascii() else disguise


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
        seen, checked, at = _as_seen(text), [], 0
        for typed in _TYPED.finditer(seen.text):
            true = self._checked(typed)
            if true != typed[0]:
                start, end = seen.span(typed.start(), typed.end(), text)
                checked += [text[at:start], true]
                at = end
        return "".join([*checked, text[at:]])

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
