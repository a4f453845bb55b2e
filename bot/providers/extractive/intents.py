"""What a reader wants: an answer, mostly; or the contents, a page, a line, a count; or to say hello."""

from dataclasses import dataclass
from itertools import pairwise

from bot.providers.extractive import patterns
from bot.providers.extractive.question import Question, analyse


@dataclass(frozen=True, slots=True)
class Lookup:
    """An answer from the book."""

    question: Question


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to be answered without the book; `reply` names the phrase."""

    reply: str


@dataclass(frozen=True, slots=True)
class ContentsList:
    """The chapters."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often a term occurs, or where first or last; `place` is "all", "first" or "last"."""

    term: str
    place: str


@dataclass(frozen=True, slots=True)
class Line:
    """Where words stand. `speaker`: who says them."""

    text: str
    speaker: bool


@dataclass(frozen=True, slots=True)
class Pages:
    """What is on pages, or, with a question of more words than that, what they say to it."""

    first: str
    last: str
    question: Question | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A summary: of one chapter by its number, of the latest ones, or of all."""

    chapter: int | None
    latest: bool = False


@dataclass(frozen=True, slots=True)
class Position:
    """The reader says where they are."""

    page: str


@dataclass(frozen=True, slots=True)
class Onward:
    """What comes after what was quoted last."""


_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_FEWEST_WORDS = 2
"""Words of a line that can be told from any other."""

Intent = Lookup | Remark | ContentsList | Count | Line | Pages | Overview | Position | Onward


def intent_of(text: str, question: Question, *, has_past: bool) -> Intent:
    """What a message wants; `question` is the message taken apart, `has_past` whether the book was quoted before."""
    for reply, wording in patterns.REMARKS.items():
        if wording.fullmatch(text):
            return Remark(reply)
    if told := patterns.POSITION.fullmatch(text):
        return Position(next(filter(None, told.groups())))
    if has_past and patterns.ONWARD.fullmatch(text):
        return Onward()
    return _count(text) or _line(text) or _structure(text) or _pages(text, question) or Lookup(question)


def _count(text: str) -> Count | None:
    for wording in (*patterns.PLACES, *patterns.COUNTS):
        if found := wording.search(text):
            term = _clean_term(found["term"])
            place = found.groupdict().get("place") or "first"
            return Count(term, place.lower() if wording in patterns.PLACES else "all") if term else None
    return None


def _clean_term(text: str) -> str:
    bare = patterns.TAIL.sub("", text).strip(patterns.WRAPPING)
    return patterns.ARTICLES.sub("", bare).strip(patterns.WRAPPING)


def _line(text: str) -> Line | None:
    quoted = patterns.QUOTED.search(text)
    if quoted:
        around = f"{text[: quoted.start()]} {text[quoted.end() :]}".strip()
        found = quoted if patterns.ASKS_FOR_PLACE.fullmatch(around) else None
    else:
        found = next((match for wording in patterns.LINES if (match := wording.search(text))), None)
    if found is None or len(found["text"].split()) < _FEWEST_WORDS or patterns.TOPIC.match(found["text"]):
        return None
    return Line(found["text"].strip(patterns.WRAPPING), bool(patterns.SPEAKER.fullmatch(text)))


def _structure(text: str) -> ContentsList | Overview | None:
    if patterns.CONTENTS.search(text):
        return ContentsList()
    if patterns.OVERVIEW.search(text):
        chapter = patterns.CHAPTER.search(text)
        return Overview(_number(chapter["chapter"]) if chapter else None, bool(patterns.LATEST.search(text)))
    return None


def _number(numeral: str) -> int:
    """The value of an Arabic or Roman numeral."""
    if numeral.isdecimal():
        return int(numeral)
    values = [_ROMAN.get(letter, 0) for letter in numeral.lower()]
    return sum(-value if value < after else value for value, after in pairwise([*values, 0]))


def _pages(text: str, question: Question) -> Pages | None:
    found = patterns.PAGE.search(text)
    if found is None:
        return None
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    more = patterns.PAGE_WORDS.sub("", rest).strip(patterns.WRAPPING)
    return Pages(found["first"], found["last"] or found["first"], analyse(rest, question.language) if more else None)
