"""The answerer's own words, in the languages it knows, and its searches."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from itertools import islice, pairwise, permutations
from typing import Any

from bot.providers.extractive.language import ANSWERING, NUMBERS, WORDINGS, Language, is_little, stems_of, written
from bot.providers.extractive.question import (
    ARTICLES,
    FULL_NAME,
    MEASURED,
    Question,
    QuestionKind,
    Term,
    is_title,
    without_fillers,
)
from bot.providers.extractive.quotation import Choice, Confidence
from bot.providers.extractive.signs import (
    AGED,
    CAUSE,
    CUES,
    has_number,
    in_one_sentence,
    matters_in,
    measure_in,
    relation_in,
)
from domain.errors import shortened
from domain.library.search.languages import german_forms, is_strong_german
from domain.library.search.phrases import LEAST_RUN, quoted_in
from domain.library.search.words import fold, is_dense, without_possessive, words_of
from domain.tool_use import OfferedTools, ToolInvocation


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences and lead-ins; `{}` is filled in."""

    found: str
    reason: str
    no_reason: str
    no_number: str
    no_time: str
    near: str
    likely: str
    rest: str
    nothing: str
    nothing_yet: str
    unread: str
    unread_by_others: str
    greeting: str
    well: str
    languages: str
    thanks: str
    ready: str
    farewell: str
    abilities: str
    position: str
    book: str
    title: str
    origin: str
    pages: str
    pages_about: str
    no_summary: str
    telling: str
    telling_some: str
    proposed: str
    contents: str
    one_chapter: str
    no_contents: str
    no_contents_yet: str
    more: str
    goes_on: str
    once: str
    once_yet: str
    counted: str
    counted_yet: str
    all_in: str
    between: str
    mostly: str
    mostly_there: str
    in_chapter: str
    never: str
    never_yet: str
    page: str
    line: str
    line_similar: str
    there: str
    no_line: str
    no_line_yet: str
    first: str
    last: str
    onward: str
    chapter_ends: str
    begins: str
    ends: str
    end_ahead: str
    no_more: str
    failed: str
    no_page: str
    no_chapter: str
    both_chapters: str
    which_chapter: str
    which_inner: str
    nothing_about: str
    nothing_about_yet: str
    did_you_mean: str
    foreign: str
    cast: str
    cast_line: str
    no_cast: str
    narrator: str
    unclear: str
    who_is_meant: str
    sorry: str
    sure: str
    opinion: str
    off_topic: str

    @property
    def unsure(self) -> tuple[str, ...]:
        """Lead-ins that say that what follows may not be an answer."""
        return (self.near, self.likely, self.rest, self.no_reason, self.no_number, self.no_time)

    def within_bound(self) -> "Phrases":
        """Those for somebody who has not read all of the book: what is said about it holds so far."""
        yet = [each.name for each in fields(self) if each.name.endswith("_yet")]
        return replace(self, **{name.removesuffix("_yet"): getattr(self, name) for name in yet})


PHRASES: dict[Language, Phrases] = {
    Language(name): Phrases(**phrases)
    for name, phrases in json.loads(files(__package__).joinpath("phrases.json").read_text(encoding="utf-8")).items()
}

_WITHIN_BOUND = {language: phrases.within_bound() for language, phrases in PHRASES.items()}


def phrases_in(language: Language, book: Mapping[str, Any]) -> Phrases:
    """What to say in a language about a book, all of which may be open to the reader or not."""
    return PHRASES[language] if book["open"] else _WITHIN_BOUND[language]


def book_told(reply: str, book: Mapping[str, Any], phrases: Phrases) -> str:
    """What the book is, or how many pages it has, as far as that is known."""
    title, author, pages = (book.get(each) for each in ("title", "author", "pages"))
    if reply == "pages" and pages:
        return (phrases.pages_about if book.get("estimated") else phrases.pages).format(pages)
    if not title:
        return phrases.abilities
    told = phrases.book.format(title, author) if author else phrases.title.format(title)
    return f"{told} {phrases.origin}" if reply == "origin" and author else told


_MOST_COUNTED = 40
"""Up to this many chapters are listed; and first and last occurrences told as well as the chapter with the most."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a term occurs in total, and in each chapter, in order."""

    total: int
    chapters: Sequence[Mapping[str, Any]]

    def sentence(self, term: str, phrases: Phrases) -> str:
        return f"{phrases.counted.format(term, f'{self.total:,}')}{self._where(phrases)}."

    def listed(self, term: str, phrases: Phrases) -> str:
        """How often it occurs, and each chapter with its count, unless they are too many for a message."""
        if len(self.chapters) > _MOST_COUNTED:
            return self.sentence(term, phrases)
        lines, part = [f"{phrases.counted.format(term, f'{self.total:,}')}:"], ""
        for each in self.chapters:
            if each["parent"] not in ("", part):
                part = each["parent"]
                lines.append(f"**{part}**")
            lines.append(f"* {each['title']} ({each['count']} ×)")
        return "\n".join(lines)

    def _where(self, phrases: Phrases) -> str:
        if len({each["title"] for each in self.chapters}) < max(len(self.chapters), 1):  # each part counts them anew
            return ""
        if len(self.chapters) > _MOST_COUNTED:
            return self._most(phrases)
        if len(self.chapters) == 1:
            return phrases.all_in.format(_place(self.chapters[0], phrases))
        ends = (self.chapters[0], self.chapters[-1])
        between = phrases.between.format(*(self._end(each, phrases) for each in ends))
        return between if self._top in ends else between + self._most(phrases)

    def _end(self, chapter: Mapping[str, Any], phrases: Phrases) -> str:
        there = phrases.mostly_there.format(chapter["count"]) if chapter is self._top else ""
        return _place(chapter, phrases) + there

    def _most(self, phrases: Phrases) -> str:
        top = self._top
        return phrases.mostly.format(_place(top, phrases), top["count"]) if top else ""

    @property
    def _top(self) -> Mapping[str, Any] | None:
        """The chapter with the most mentions; None if several share the first place."""
        most = max(each["count"] for each in self.chapters)
        first, *others = [each for each in self.chapters if each["count"] == most]
        return None if others else first


def tally_of(data: Mapping[str, Any] | None) -> Tally | None:
    """The counts in a result of `count_mentions`, if it has any; those of a title page only if there are no others."""
    told = [each for each in data["chapters"] if each["number"]] if data else []
    return Tally(sum(each["count"] for each in told) or data["total"], told) if data else None


def _place(chapter: Mapping[str, Any], phrases: Phrases) -> str:
    return phrases.in_chapter.format(chapter["title"])


def is_replaceable(term: Term, question: Question) -> bool:
    """Whether an answer may have other words or forms instead; nothing else replaces a name."""
    has_forms = bool(term.particle) or (question.language is Language.GERMAN and is_strong_german(term.word))
    return (bool(term.others) or has_forms) and term.stem not in question.names


def absent(question: Question, missing: Mapping[str, Sequence[str]], told: Collection[str]) -> list[Term]:
    """The words of a question that the book has in no spelling, if neither they ("Thimble" is "thimble") nor what
    replaces them is told (stems).

    `missing` are words that the book does not have, each with similar ones that it has.
    """
    own = (term for term in question.terms if term.weight == 1.0 and term.stems.isdisjoint(told))
    spelt = respelt(question, missing).keys()
    lost = {word for word, each in missing.items() if not each or word not in spelt}
    gone = (term for term in own if without_possessive(term.word) in lost)
    return [term for term in gone if not is_replaceable(term, question) or term.others.isdisjoint(told)]


def respelt(question: Question, missing: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The words of a question that the book spells otherwise, and how, unless an answer may do without them: names as
    names, and so any word beside one that is nowhere. Those printed as names since had been searched small.
    """
    own = {without_possessive(term.word): term for term in question.terms if not is_replaceable(term, question)}
    spelt = {word: missing.get(word) or missing.get(word.lower(), ()) for word in own}
    is_strange = any(missing.get(word) == spelt[word] == [] for word in own)
    names = {word for word, term in own.items() if is_strange or term.stem in question.names}
    verbs = {word for word, term in own.items() if question.has_as_verb(term)}
    alike = {word: [s for s in each if s[0].islower() or word not in verbs] for word, each in spelt.items()}
    meant = {word: [s for s in each if s[0].isupper() or word not in names] for word, each in alike.items()}
    found = {word: each[0] for word, each in meant.items() if each}
    is_noun = question.language is Language.GERMAN  # has a capital like a name: "Harry Potter" is no "Haare Götter"
    common = [word for word, each in found.items() if is_noun or each.islower()]  # and no hurried porter
    pairs = {word for pair in permutations(common, 2) if " ".join(pair) in question.text for word in pair}
    return {word: each for word, each in found.items() if word not in pairs}


_ANSWER_WORDS = {
    name: [(QuestionKind(kind), re.compile(asked, re.IGNORECASE), words) for kind, asked, words in answering]
    for name, answering in ANSWERING.items()
}


def answer_queries(question: Question) -> list[str]:
    """Words to search for that an answer may have: those of the question and words for the kind of answer, without its
    names, which often give way to "he" or "I", and with them. Empty if there are no words for that kind.
    """
    relation = stems_of(relation_in(question.text), question.language)
    wanted = QuestionKind.NAMED if relation and question.kind is QuestionKind.WHO else question.kind
    known = _ANSWER_WORDS.get(question.language, ())
    words = next((words for kind, asked, words in known if kind is wanted and asked.search(question.text)), "")
    if question.kind is QuestionKind.HOW_MANY and question.terms:
        words = " ".join(f'"{number} {question.terms[0].word}"' for number in NUMBERS[question.language])
    own = [
        term.word
        for term in question.terms
        if (term.stem not in question.names or term.stem in relation)
        and not (question.kind is QuestionKind.HOW_MUCH and term.weight == MEASURED)
    ]
    own += [other for term in question.terms if term.stem in relation for other in _instead_of(term, question)]
    own = [word for word in own if word not in words.split()]
    queries = (" ".join([*names, *own, words]) for names in ([], question.name_words))
    return list(dict.fromkeys(queries)) if words else []


_MOST_ALIKE = 6
"""Alternatives searched for one word of the question."""

_MOST_VERBS = 2
"""Verbs of a question that are searched for in other forms: of all phrasings, a search takes four."""


def _instead_of(term: Term, question: Question) -> list[str]:
    return written(term.others, question.language)[:_MOST_ALIKE]


def _forms_of(verb: Term, question: Question) -> list[str]:
    """What to search for besides a verb itself; empty if its forms are alike."""
    if question.language is not Language.GERMAN:
        return [f'"{verb.word} {verb.particle}"'] if verb.particle else []
    is_apart = verb.forms and (verb.particle or is_strong_german(verb.word))
    return german_forms(verb.word, verb.particle) if is_apart else []


def other_phrasings(question: Question) -> list[str]:
    """What a question has in quotation marks, all of it as typed if it may be a line, and words of an answer to it."""
    answer = [word for term in question.terms for word in _instead_of(term, question) or [term.word]]
    parts: list[list[str]] = []
    verbs = ((verb, forms) for verb in question.terms if (forms := _forms_of(verb, question)))
    for verb, forms in islice(verbs, _MOST_VERBS):
        parts.append([*forms, *(term.word for term in question.terms if term is not verb)])
    if question.language is Language.GERMAN and relation_in(question.text):
        parts.append([term.word for term in question.terms])
        answer = [question.searched(word) for word in answer]
    if any(term.others for term in question.terms):
        parts.append(answer)
    is_one = "ist" if question.language is Language.GERMAN else "is"
    defined = [f'"{each} {is_one}"' for each in matters_in(question.text)]
    quoted = (*defined, *(f'"{" ".join(words)}"' for words in quoted_in(question.text)))
    is_long = len(words_of(question.text)) >= LEAST_RUN + 2  # it may have a run of a book in another language
    may_quote = question.of_a_line if question.language is Language.ENGLISH else is_long
    typed = [without_fillers(question.text)] if may_quote and not defined else []
    phrasings = dict.fromkeys([*quoted, *typed, *(" ".join(words) for words in parts)])
    return [phrasing for phrasing in phrasings if phrasing != question.query]


def in_known_words(question: Question, missing: Mapping[str, Sequence[str]]) -> str:
    """What to search for where the book lacks a word, but may have others for it: "Tom brother sister" for "Tom's
    siblings"; empty if enough is left without it.
    """
    gone = [term for term in absent(question, missing, ()) if is_replaceable(term, question)]
    words = (_instead_of(term, question) if term in gone else [term.word] for term in question.terms)
    return " ".join(word for each in words for word in each) if gone and len(question.terms) <= len(gone) + 1 else ""


PASSAGES = 20
"""Passages of a search. Of plain questions the answer is in the first eight for six of ten, in twenty for seven."""


def search(question: Question, tools: OfferedTools, also: Sequence[str] = ()) -> list[ToolInvocation]:
    also = also or other_phrasings(question)
    return tools.call("search_book", query=question.query, top_k=PASSAGES, also=also)


def people(tools: OfferedTools) -> list[ToolInvocation]:
    """Searches for passages in which people are named."""
    first, *others = WORDINGS["of_people"]
    return tools.call("search_book", query=first, top_k=PASSAGES, also=others)


def introduction(question: Question, tools: OfferedTools) -> list[ToolInvocation]:
    """Find where a name first occurs: there a book tends to say who somebody is, and how old."""
    is_whole = FULL_NAME.search(question.text) is not None  # of "Mr. Darcy", the other name
    name = " ".join(map(without_possessive, question.name_words)) if is_whole else question.called
    if question.kind is QuestionKind.HAPPENED and name and len(question.terms) - len(question.names) <= 1:
        return tools.call("count_mentions", term=name)
    is_age = question.kind is QuestionKind.HOW_LONG and measure_in(question.text) is AGED
    if not name or not (question.kind is QuestionKind.WHO_IS or is_age or is_whole):
        return []
    return tools.call("who_is", name=name) or tools.call("count_mentions", term=name)


def essential(question: Question, gone: Sequence[Term], respelt: Collection[str], *, is_foreign: bool) -> list[str]:
    """Absent words without which a question has no answer: a name; all but one of the words asked about; or the only
    thing: of "Who found the dragon?", "found" alone says nothing. `respelt` words are found in another spelling.
    """
    own = [term for term in question.terms if term.weight == 1.0]
    lost = [term for term in gone if not is_replaceable(term, question)]
    names = [term for term in lost if term.stem in question.names and not is_title(term.word)]
    typed = [term for term in names if term.word[0].isupper()] or (names if len(question.names) == len(own) else [])
    there = [each for each in own if each.stem in question.names and each not in gone]
    known_names = "|".join(re.escape(each.word) for each in there if without_possessive(each.word) not in respelt)
    if known_names and any(re.search(rf"\b{re.escape(t.word)} (?:{known_names})\b", question.text) for t in typed):
        return []  # of "Phil Bennet", the Bennets are there
    if typed and question.language is not Language.GERMAN:  # where every noun looks like a name
        return [term.word for term in typed]
    known = len(own) - len(lost) - len(respelt)
    lent = any(term.weight < 1.0 and term.stem in question.names for term in question.terms)
    if is_foreign and (known or lent):
        return []
    if not known:
        return [term.word for term in own] if lost else []
    if known == 1 and len(lost) > 1:
        return [term.word for term in lost]
    things = [term for term in own if term.stem in question.names or question.has_article(term.word)]
    return [term.word for term in things] if all(term in gone for term in things) else []


def half_known(question: Question, gone: Collection[str], respelt: Mapping[str, str], told: str) -> list[str]:
    """The words of a name if the book has only some of them: Muff Potter is no Harry Potter."""
    if question.language is Language.GERMAN and question.kind is not QuestionKind.WHO_IS:
        return []  # "Effis Grabstein": every noun has a capital
    names = [word for word in question.name_words if not (is_title(word) or relation_in(f"{word} of all"))]
    pairs = ([*map(without_possessive, pair)] for pair in pairwise(words_of(question.text)) if {*pair} <= {*names})
    lost = [p for p in pairs if not {*gone, *respelt}.isdisjoint(p) or _are_no_name(p, question, told)]
    text = fold(told.replace("-", " "))
    as_spelt = {pair: [fold(respelt.get(word, word)) for word in pair] for pair in map(tuple, lost)}
    are_there = (
        " ".join(words) in text or (not respelt.keys().isdisjoint(pair) and in_one_sentence(words, text))
        for pair, words in as_spelt.items()
    )
    return [] if all(are_there) else names


def _are_no_name(pair: Sequence[str], question: Question, told: str) -> bool:
    """Whether two words that are typed as a name are none in the book: an iron will and a man are no Iron Man."""
    are_typed = all(word[0].isupper() for word in pair) and any(term.word[0].islower() for term in question.terms)
    return are_typed and not any(re.search(rf"[a-zà-ÿ,;] {re.escape(word)}\b", told) for word in pair)


def without_lost(question: Question, gone: Sequence[Term]) -> Question | None:
    """The question without these words, if it then still is about somebody or something; else None."""
    terms = tuple(term for term in question.terms if term not in gone)
    kept = frozenset(term.stem for term in terms)
    its = "|".join([f"(?:of|about)(?: {ARTICLES})?", *(re.escape(t.word) for t in terms if t.word.islower())])
    if any(re.search(rf"\b(?:{its}) {re.escape(term.word)}\b", question.text, re.IGNORECASE) for term in gone):
        return None  # "the price of the tea" and "the black tea" are about tea
    is_left = gone and any(term.stem in question.names or question.has_article(term.word) for term in terms)
    rest = replace(question, terms=terms, names=question.names & kept)
    return rest if is_left else None


def nothing_found(words: Sequence[str], asked: str, phrases: Phrases) -> str:
    """That nothing was found, and about what, as far as that is known, in the words of the question."""
    if not words:
        return phrases.nothing
    listed = ", ".join(f"*{shortened(word)}*" for word in as_typed(words, asked))
    return phrases.nothing_about.format(listed)


def as_typed(words: Sequence[str], asked: str) -> list[str]:
    """The words with what belongs to them: "d'Artagnon", and neighbours as one: "Mock Turtle", 説明."""
    typed: list[str] = []
    end = -1
    for word in dict.fromkeys(words):
        bound = "" if is_dense(word) else r"\b"
        found = re.search(rf"(?:\b\w['’])?{bound}{re.escape(word)}{bound}", asked)
        is_alike = typed and word[0].isupper() is typed[-1][0].isupper()
        if found and is_alike and found.start() >= end and not asked[end : found.start()].strip():
            typed[-1] += asked[end : found.start()] + found[0]
        else:
            typed.append(found[0] if found else word)
        end = found.end() if found else len(asked)
    return typed


def lead_in(question: Question, choice: Choice, phrases: Phrases, *, several: bool) -> str:
    """What introduces the quotations: it claims no more than they hold."""
    cues = CUES[question.language]
    texts = [candidate.text for candidate in choice.candidates]
    match question.kind:
        case _ if choice.confidence is Confidence.NEAR:
            return phrases.near
        case QuestionKind.HOW_MANY | QuestionKind.HOW_MUCH if not any(
            has_number(text, question.text, cues) for text in texts
        ):
            return phrases.no_number
        case QuestionKind.WHEN if not any(cues.time.search(text) for text in texts):
            return phrases.no_time
        case QuestionKind.WHY if not any(
            p.search(text) for text in texts for p in (cues.reason, cues.because, CAUSE, cues.purpose)
        ):
            return phrases.no_reason
        case _ if choice.confidence is Confidence.LIKELY or not choice.shows_it or question.leans_on_past:
            return phrases.likely
        case QuestionKind.WHY:
            return phrases.reason
        case _:
            return phrases.found if several else ""


_OF_A_STORY = r"(?:(?:the )?(?:adventure|case|history|legend|mystery|story|tale) of )?"
_IN_STORY = rf"(?:in|from|aus|dans|en) {_OF_A_STORY}(?:(?:the|der|dem|das|die|le|la|l|el|an?) )?"
_BESIDE_TITLE = re.compile(rf"^\W*(?:[ivxlc\d]+[.:)]\s+)?{_OF_A_STORY}|[\[(].*", re.IGNORECASE)
"""What a title has that readers leave out: its number, and its other title in brackets."""


def told_in(question: Question, titles: Collection[str]) -> tuple[str, Question]:
    """The title in "Who killed the boy in the juniper tree?" that is one of these, and the question without it, or as
    it is if nothing else remains; an empty title if it has none. One word is a title only where nothing
    else remains.
    """
    asked = " ".join(words_of(fold(question.text)))
    for title in sorted(titles, key=len, reverse=True):
        words = words_of(fold(_BESIDE_TITLE.sub("", title)))
        telling = [word for word in words if not is_little(word, question.language)]
        named = " ".join(words[words.index(telling[0]) :]) if telling else ""
        is_named = rf"\b{_IN_STORY}{re.escape(named)}\b|\b{re.escape(named)} about$"
        if named and named in asked and re.search(is_named, asked):
            own = {*stems_of(named, question.language)}
            terms = tuple(term for term in question.terms if term.stem not in own)
            if not terms:
                return title, question
            if len(telling) > 1:
                return title, replace(question, terms=terms, names=question.names - own, story=title)
    return "", question
