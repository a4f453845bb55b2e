"""What a reader wants, recognised from the wording.

Usually that is an answer, otherwise the contents, a page, a line or a count.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.providers.extractive import language
from bot.providers.extractive.language import OF_ANY_BOOK, WORDINGS, any_accents, tells_of_people
from bot.providers.extractive.question import (
    MEANS_A_MATTER,
    MEASURED,
    YES_OR_NO,
    Question,
    QuestionKind,
    analyse,
    asked_in,
    cut_at_pauses,
    without_fillers,
)
from bot.providers.extractive.quotation import Candidate
from bot.providers.extractive.signs import is_general_truth, world_fact_in
from domain.library.addressing import with_chapter_numbers
from domain.library.numerals import in_figures, number_value
from domain.library.search.phrases import POINTING
from domain.library.search.words import fold, length_of, without_possessive, words_of
from domain.reading.portrait import people_among


def _one_of(*alternatives: str) -> str:
    return any_accents(f"(?:{'|'.join(alternatives)})")


def _anywhere(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_one_of(*alternatives)}", re.IGNORECASE | re.DOTALL)


def _each(*alternatives: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(_anywhere, alternatives))


def _whole(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\W*{_one_of(*alternatives)}\W*", re.IGNORECASE)


_THE_BOOK, _POLITE, _AT = (language.MACROS[name] for name in ("THE_BOOK", "POLITE", "AT_A_PLACE"))
REMARKS = {reply: _whole(f"{_POLITE}(?:{'|'.join(words)})") for reply, words in language.REMARKS.items()}
"""Messages that are nothing but a remark, by the phrase that answers them."""

PAGE_READ, CHAPTER_READ = (_whole(*WORDINGS[each]) for each in ("page_read", "chapter_read"))
"""The last page or chapter somebody has read. "I'm in chapter 3" doesn't say how far."""
FINISHED = _whole(*WORDINGS["finished"])
SOMEWHERE = _whole(*WORDINGS["somewhere"])
"""A place that is neither a page nor the end of a chapter."""
CAST, CAST_THERE, OUTCRY = (_whole(*WORDINGS[each]) for each in ("cast", "cast_there", "outcry"))
CONTENTS, ELSEWHERE, THERE = (_anywhere(*WORDINGS[each]) for each in ("contents", "elsewhere", "there"))
"""The chapters, famous works and places, and where in the book the people are who are asked for."""
OVERVIEW, CHAPTER, CHAPTERS, LATEST = (
    _anywhere(*WORDINGS[each]) for each in ("overview", "chapter", "chapters", "latest")
)
_HOW_TO, _READERS_OWN, _EXPLAINED = (_whole(*WORDINGS[each]) for each in ("how_to", "readers_own", "explained"))
"""What only a book that explains something can answer, and what is about the life of the one who asks, or of all."""
_PRESENT, _PAST, _DEFINITE = (_anywhere(*WORDINGS[each]) for each in ("present", "past", "definite"))
_THE_THING = _anywhere(WORDINGS["definite"][0])

COUNTS, IN_CHAPTERS, PLACES, MEETINGS = (
    _each(*WORDINGS[each]) for each in ("counts", "in_chapters", "places", "meetings")
)
NAMED_PART, PIECE = _each(*WORDINGS["named_part"]), _each(*WORDINGS["piece"])
BARE_CHAPTER, NARRATOR = (_whole(*WORDINGS[each]) for each in ("bare_chapter", "narrator"))
BEGINNING, ONWARD, ENDING = (_whole(*WORDINGS[each]) for each in ("beginning", "onward", "ending"))

QUOTED = re.compile(WORDINGS["quoted"][0])
ASKS_FOR_PLACE = _whole(*WORDINGS["lines_of"])
"""The wording around a quoted line when the place of that line is wanted."""

_OF_IT = _whole(*WORDINGS["of_it"])
"""What asks for the place of what was just quoted, or who says it."""
_ABOUT_IT = _whole(*WORDINGS["about_it"])
"""What asks for something in the passage that was just quoted."""
_ASKS_WHERE_IT_IS = _whole(*WORDINGS["of_it"], *WORDINGS["whereabouts"])
"""What asks for the place of a passage, and not for something in it."""
ASKS_FOR_CHAPTER = _anywhere("(?:which|what|welche\\w*|quel|qué) (?:chapter|kapitel|chapitre|capítulo)")
_BLOCK = re.compile(r"^> ?(.*)$", re.MULTILINE)
_INSIDE = re.compile(r"[“„»«\"]([^“”„»«\"]+)[”“«»\"]")

LINES = _each(*WORDINGS["lines"])
SAYING = [*map(_whole, WORDINGS["saying"])]
"""A line without quotation marks, if it stands in the book."""
SPEAKER = _whole(r"(?:who|wer|qui|quién)\b.*", r".*\bwho (?:says|said) \w+")
TOPIC, _IT = (re.compile(each, re.IGNORECASE) for each in (r"about\b", r"\bit\b"))

(PAGE, PAGE_IN_WORDS), PAGE_WORDS = _each(*WORDINGS["page"]), _anywhere(*WORDINGS["page_words"])
WRAPPING = "“”\"«»„‘’' .,;:!?"
_ARTICLES, _TAIL = (re.compile(pattern, re.IGNORECASE) for pattern in WORDINGS["around_term"])


@dataclass(frozen=True, slots=True)
class Lookup:
    """An answer to be looked up in the book."""

    question: Question


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to be answered without the book; `reply` names the phrase."""

    reply: str


@dataclass(frozen=True, slots=True)
class ContentsList:
    """The chapters."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The names of the book, or of a chapter."""

    chapter: int | str | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """How often a term occurs, or where: `place` is "all", "chapters", "first", "last", or "met" for first and how."""

    term: str
    place: str


@dataclass(frozen=True, slots=True)
class Line:
    """The place of a line. `speaker`: who says it; `after`: what follows. Unless it is `sure`, it may be none."""

    text: str
    speaker: bool
    sure: bool = True
    after: bool = False


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer from a passage that the message quotes as a block; `lines` are what to look for, all of it first.

    `needs` are stems of which one has to be there: a question that does not point at it may be about something else.
    """

    lines: tuple[str, ...]
    question: Question
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pages:
    """What is on pages, or, with a question, what they say about it."""

    first: str
    last: str
    question: Question | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A summary: of one chapter by its number, its address or what may be its title, of the latest ones, or of all.

    `others` are the numbers of further chapters.
    """

    chapter: int | str | None
    latest: bool = False
    may_be_title: bool = False
    others: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """The reader says how far they have read: to a page, or through a chapter; neither: to the end."""

    page: str = ""
    chapter: str = ""


@dataclass(frozen=True, slots=True)
class Beginning:
    """How the story begins, or a chapter; `narrator`: and thereby who tells it, or where and when it happens."""

    narrator: bool = False
    chapter: int | str | None = None


@dataclass(frozen=True, slots=True)
class StoryEnd:
    """How the story ends, or a chapter."""

    chapter: int | str | None = None


@dataclass(frozen=True, slots=True)
class Onward:
    """What follows the last quotation."""


_FEWEST_WORDS, _FEWEST_OF_A_LINE = 2, 3
"""Words of a line that can be distinguished from others, and words in a row that are no accident."""
_MOST_OF_REMARK = 400
"""Characters of a message, or a part of one, that are compared with remarks."""

_LONGEST_REMARK = 4
"""Words of a message that may mean nothing, and need not be a line: "that is it then"."""

_MOST_LINES = 4
"""Lines of a quoted passage that are looked for."""

_Places = Count | Line | Cited | Pages | ContentsList | Cast | Overview
Intent = Lookup | Remark | _Places | Position | Beginning | StoryEnd | Onward


def intent_of(text: str, question: Question, book: Mapping[str, Any] | None = None, *, has_past: bool) -> Intent:
    """What a message wants; `question` is its analysis, `has_past` whether the book was quoted before."""
    known = {"title": "", "open": True, **(book or {})}
    if any(asked.search(text) for asked in MEETINGS) and (met := _count(text)):
        return met
    plain = _as_this_work(text[:_MOST_OF_REMARK], known["title"])
    if remark := _remark(text[:_MOST_OF_REMARK], plain, has_past=has_past):
        return remark
    if FINISHED.fullmatch(text):
        return Position()
    if place := _place_in(text, is_open=known["open"]):
        return place
    named = (text, plain)
    if any(map(NARRATOR.fullmatch, named)):
        return Beginning(narrator=True)
    if (of_people := _cast(text)) is not None:
        return of_people
    if edge := _edge(text, named):
        return edge
    if has_past and ONWARD.fullmatch(text):
        return Onward()
    found = _count(text) or _line(text, question) or _structure(text) or _pages(text, question)
    return found or _said(text, question) or Lookup(question)


OF_THE_BOOK = ("book", "origin", "pages")


def names_author(question: Question, author: str, told: Collection[Candidate]) -> bool:
    """Whether a question has the surname of the book's author, which is in nothing that is told."""
    own = {term.stem for term in question.terms if term.weight == 1.0}
    surname = own.intersection(language.stems_of(author, question.language)[-1:])
    return bool(surname) and all(surname.isdisjoint(each.stems) for each in told)


_A_CHAPTER = re.compile(rf"(?:\b(?:the|das|des|de[mr]|die|le|el) )?(?:{CHAPTER.pattern})", re.IGNORECASE)


def _edge(text: str, named: Sequence[str]) -> Beginning | StoryEnd | None:
    """How the book begins or ends, or a chapter, which then stands in its place."""
    numbered = with_chapter_numbers(text[:_MOST_OF_REMARK])
    if chapter := _chapter(numbered):
        named = [_A_CHAPTER.sub("this work", numbered)]
    if any(map(BEGINNING.fullmatch, named)):
        return Beginning(chapter=chapter)
    return StoryEnd(chapter) if any(map(ENDING.fullmatch, named)) else None


def _place_in(text: str, *, is_open: bool) -> Position | Remark | None:
    """How far the reader is, if a message says so between two pauses: "I'm on page 40, who is he?". What else it asks
    has to wait until that is settled, since an answer might tell what comes after it. Fear of spoilers waits for
    nothing if the book isn't `is_open`.
    """
    _, said = cut_at_pauses(text)
    parts = [part[:_MOST_OF_REMARK] for part in (text, *said)]
    if page := next(filter(None, map(PAGE_READ.fullmatch, parts)), None):
        return Position(next(filter(None, page.groups())))
    if chapter := next(filter(None, map(CHAPTER_READ.fullmatch, parts)), None):
        return Position(chapter=next(filter(None, chapter.groups())))
    vague = (
        SOMEWHERE.fullmatch(part) or REMARKS["position"].fullmatch(part) for part in parts[: None if is_open else 1]
    )
    return Remark("position") if any(vague) else None


def _remark(text: str, plain: str, *, has_past: bool) -> Remark | None:
    """A remark. One about the book may name it, which `plain` does not, or call it "it" where nothing went before."""
    called_it = [text, plain] if has_past else [text, plain, _IT.sub("this book", text)]
    texts = {reply: called_it if reply in (*OF_THE_BOOK, "opinion") else [text] for reply in REMARKS}
    return next((Remark(reply) for reply, each in REMARKS.items() if any(map(each.fullmatch, texts[reply]))), None)


def _as_this_work(text: str, title: str) -> str:
    """The text with "this work" in place of the book's title, or of some words of it."""
    words = {without_possessive(word) for word in words_of(title)}
    telling = [re.escape(word) for word in words if not language.is_little(word, language.language_of(title))]
    name = rf"\b(?:{'|'.join(telling)})\b(?:['’]s)?"
    joint = rf"[\W_]+(?:(?:{'|'.join(map(re.escape, words))})\W+){{0,2}}"
    called = rf"(?:\b{_THE_BOOK} )?\W?(?:\b(?:the|an?|der|die|das|le|la|el) )?{name}(?:{joint}{name})*\W?"
    return " ".join(re.sub(called, " this work ", text, flags=re.IGNORECASE).split()) if telling else text


def parted(text: str) -> tuple[str, str]:
    """The words of a message, and what they are about: the passage that it quotes as a block, on one line."""
    return _BLOCK.sub("", text).strip(), " ".join(" ".join(_BLOCK.findall(text)).split())


def of_last(text: str, quoted: Sequence[str], question: Question) -> Intent | None:
    """What a message wants that points at the last of the sentences quoted before, if it does."""
    if quoted and _OF_IT.fullmatch(text):
        return Line(quoted[-1], SPEAKER.fullmatch(text) is not None)
    return Cited(tuple(quoted[-_MOST_LINES:]), question, frozenset()) if quoted and _ABOUT_IT.fullmatch(text) else None


def about_passage(words: str, passage: str, question: Question) -> Intent:
    """What a message wants that quotes a passage as a block; `question` is the analysis of its words in that light."""
    wanted = intent_of(words, question, has_past=True)
    line = passage[1:-1].strip() if passage.startswith("“") and passage.endswith("”") else passage
    if _ASKS_WHERE_IT_IS.fullmatch(words):
        return Line(line, SPEAKER.fullmatch(words) is not None)
    parts = [part for part in _INSIDE.findall(line) if length_of(part) >= _FEWEST_OF_A_LINE]
    spoken = question.language
    is_pointed = MEANS_A_MATTER.search(words) or language.language_of(passage, spoken) is not spoken
    own = [] if is_pointed else [t for t in analyse(words).terms if t.word.lower() not in language.COLOURLESS[spoken]]
    cited = Cited(tuple(dict.fromkeys([line, *parts]))[:_MOST_LINES], question, frozenset(term.stem for term in own))
    return cited if isinstance(wanted, Lookup | Line | Overview | Onward) else wanted


def asks_nothing(question: Question) -> bool:
    """Whether a message asks for nothing: an emoji, or "why?", "go on" and "who is he?" where nothing went before."""
    is_empty = not (words_of(question.text) and question.says_something)
    return is_empty or question.means_nobody or ONWARD.fullmatch(question.text) is not None


def is_readers_own(question: Question, told: str, spoken: language.Language | None) -> bool:
    """Whether a question is about the life of the one who asks, and about nobody in a book that tells of people."""
    texts = [" ".join(words_of(text)) for text in (question.text, without_fillers(question.text))]
    is_known = question.language in (language.Language.ENGLISH, language.Language.GERMAN) and not question.quoted
    is_own = all(map(_READERS_OWN.fullmatch, texts)) and not _THE_THING.search(question.text)
    asks = is_known and (is_own or any(map(_HOW_TO.fullmatch, texts)))
    return asks and tells_of_people(told, spoken) and not _names_somebody(question, told)


def _names_somebody(question: Question, told: str) -> bool:
    """Whether a question has a name of the book that is none of a place by what stands before it: "to London"."""
    names = [without_possessive(word) for word in question.name_words if word[0].isupper() and word in told]
    places = [name for name in names if re.search(rf"\b{_AT} {re.escape(name)}\b", question.text)]
    return len(places) < len(names) or any(place in who.split() for place in places for who in people_among(told))


def is_indefinite(question: Question) -> bool:
    """Whether an English question names nobody and points at nothing that is known: "How do you skin a rabbit?"."""
    return _is_whole(question) and not (question.names or _DEFINITE.search(question.text))


def _is_whole(question: Question) -> bool:
    is_english = question.language is asked_in(question.text, question.language) is language.Language.ENGLISH
    is_alone = not (question.quoted or question.story)
    return is_english and is_alone and all(term.weight in (1.0, MEASURED) for term in question.terms)


_TOGETHER, _MOSTLY_TOGETHER = 0.63, 0.5
"""For what names nothing that is known, and for anything else that is so."""


def least_together(question: Question, told: str) -> float:
    """The share of a question's words that has to stand in one scene, since it may be about the world in general."""
    is_general = (is_indefinite(question) or _PRESENT.search(question.text)) and not world_fact_in(question.text)
    if not (is_general and _is_whole(question)) or _PAST.search(question.text) or _names_somebody(question, told):
        return 0.0
    return _TOGETHER if is_indefinite(question) else _MOSTLY_TOGETHER


def is_of_the_world(question: Question) -> bool:
    """Whether the world knows the answer and a novel hardly: what love is, or how birds fly."""
    return bool(world_fact_in(question.text) or (_EXPLAINED.fullmatch(question.text) and is_indefinite(question)))


def stating(question: Question, kept: list[Candidate]) -> list[Candidate]:
    """Those that state what the world knows, if a story is asked; all, of how something is that a chapter is about."""
    words, titles = [t.stem for t in question.terms], [c.chapter for c in kept if question.kind is QuestionKind.HOW]
    if not is_of_the_world(question) or not tells_of_people(" ".join(c.text for c in kept), question.language):
        return kept
    if states := world_fact_in(question.text):
        kept = [each for each in kept if states(each.text)]
    elif {*words}.isdisjoint(language.stems_of(" ".join(titles), question.language)):
        kept = [each for each in kept if is_general_truth(words, each.stems, each.text)]
    return [replace(each, position=at, run=each.run + each.position - at) for at, each in enumerate(kept)]


def _count(text: str) -> Count | None:
    sorts = (("met", MEETINGS), ("first", PLACES), ("chapters", IN_CHAPTERS), ("all", COUNTS))
    for place, asked in ((place, asked) for place, each in sorts for asked in each):
        if found := asked.search(text):
            term = _ARTICLES.sub("", _TAIL.sub("", found["term"]).strip(WRAPPING)).strip(WRAPPING)
            return Count(term, (found.groupdict().get("place") or place).lower()) if term else None
    return None


def _line(text: str, question: Question) -> Line | None:
    quoted = QUOTED.search(text)
    if quoted:
        around = f"{text[: quoted.start()]} {text[quoted.end() :]}".strip()
        found = quoted if ASKS_FOR_PLACE.fullmatch(around) or _is_of_little_words(question) else None
    else:
        found = next((match for asked in LINES if (match := asked.search(text))), None)
    line = (found["text"] or found["single"] if quoted else found["text"]) if found else ""
    if len(line.split()) < _FEWEST_WORDS or TOPIC.match(line):
        return None
    return Line(line.strip(WRAPPING), bool(SPEAKER.fullmatch(text)))


def _is_of_little_words(question: Question) -> bool:
    """Whether nothing can be searched for but words in a row: "what about “as it was”?"."""
    words = words_of(without_fillers(question.text))
    return all(language.is_little(word, question.language) or fold(word) in POINTING for word in words)


def _said(text: str, question: Question) -> Line | None:
    """A line without quotation marks: what somebody says, or a message that is no question."""
    found = next((match["text"] for asked in SAYING if (match := asked.fullmatch(text))), "")
    if not found and _is_bare_phrase(text, question):
        found = text
    if TOPIC.match(found) or length_of(found) < _FEWEST_OF_A_LINE:
        return None
    is_sure = not question.says_something and length_of(found) > _LONGEST_REMARK  # "To be or not to be"
    is_after = question.kind is QuestionKind.HAPPENED
    return Line(found.strip(WRAPPING), bool(SPEAKER.fullmatch(text)), sure=is_sure, after=is_after)


def _is_bare_phrase(text: str, question: Question) -> bool:
    """Whether a message neither asks nor requests anything: it may be words from the book."""
    asks = "?" in text or YES_OR_NO.match(text) or without_fillers(text) != text
    return question.kind is QuestionKind.OTHER and not asks


def _structure(text: str) -> ContentsList | Overview | None:
    if CONTENTS.search(text):
        return ContentsList()
    text = with_chapter_numbers(text)
    if OVERVIEW.search(text) and (several := _chapters(text)):
        return Overview(several[0], others=tuple(several[1:]))
    if piece := _title(text, PIECE):
        return Overview(piece, may_be_title=True)
    if OVERVIEW.search(text) or (BARE_CHAPTER.fullmatch(text) and _chapter(text) is not None):
        chapter, latest = _chapter(text), bool(LATEST.search(text))
        title = "" if chapter or latest else _title(text, NAMED_PART)
        return Overview(title or chapter, latest, bool(title) and all(number_value(w) is None for w in title.split()))
    return None


def _cast(text: str) -> Cast | None:
    if CAST.fullmatch(text):
        return Cast()
    text = with_chapter_numbers(text)
    asked = " ".join(THERE.sub(" ", text).split())
    chapter = _chapter(text) if asked != text else None
    return Cast(chapter) if chapter and (CAST.fullmatch(asked) or CAST_THERE.fullmatch(asked)) else None


def _title(text: str, wordings: Sequence[re.Pattern[str]]) -> str:
    """What a summary is wanted of; empty if it is the book, as far as that can be told."""
    found = next((match for asked in wordings if (match := asked.search(text))), None)
    title = without_fillers(next(filter(None, found.groups()))).strip(WRAPPING) if found else ""
    own = [word for word in words_of(title) if word.lower() not in OF_ANY_BOOK]
    return title if any(not language.is_little(word, language.language_of(text)) for word in own) else ""


def _chapter(text: str) -> int | str | None:
    """The chapter that a question names: its number, or its address if the part is named too."""
    if not (found := CHAPTER.search(text)):
        return None
    if numeral := found["chapter"]:
        return number_value(numeral) or numeral
    address = found["address"] or found["words"]
    return address if any(number_value(word) is not None for word in address.split()[1:]) else None


_MOST_CHAPTERS = 12


def _chapters(text: str) -> list[int]:
    """The numbers of several chapters that a question names: "chapters 1 to 3", "chapters 2 and 5"."""
    if not (found := CHAPTERS.search(text)):
        return []
    first, last = (number_value(found[each]) or 0 for each in ("first", "last"))
    named = range(first, last + 1) if found["through"] else (first, last)
    return [*named][:_MOST_CHAPTERS]


def _pages(text: str, question: Question) -> Pages | None:
    words = PAGE_IN_WORDS.search(text)
    found = PAGE.search(in_figures(text, words.start("number"), words["number"]) if words else text)
    if found is None:
        return None
    text = found.string
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    more = PAGE_WORDS.sub("", rest).strip(WRAPPING)
    return Pages(found["first"], found["last"] or found["first"], analyse(rest, question.language) if more else None)
