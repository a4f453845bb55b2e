"""Recaps: the book's own sentences that say most about what has happened so far, and about who somebody is."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from domain.book import Citation, Sentence, one_line, shown_chapter
from domain.errors import BookError, BookErrorCode, Say, Worded, in_english
from domain.library.addressing import find_chapter, with_descendants
from domain.library.names import (
    NAME_WORD,
    SEPARATORS,
    NameRecognizer,
    bare_name,
    counted_as_printed,
    name_phrases,
)
from domain.library.search.words import STOP_WORDS, name_pattern, stem_of, words_of
from domain.library.summaries import FEWEST_WORDS, LENGTH_POWER, MOST_WORDS, ChapterPart, chapter_parts, weights_of
from domain.ports import BookView

RECENT_CHAPTERS = 3
"""The last chapters, of which more is told, because readers go on from them."""

MOST_SENTENCES = 24
"""Sentences in a whole recap; in a long book only the best of them."""
MOST_RECENT = MOST_SENTENCES // 2
SENTENCES_OF_A_PIECE = 3
"""At most, for each piece of a chapter that is summarised by itself: a short chapter gets fewer than a long one."""

_SPEECH = re.compile("[\"“”«»„「」‘]|(?<!\\w)'|(?<=[,.!?…-])['’]")
_OPENER_WORDS = """
    he she it they this that these those his her its their him them and but so or nor yet for then there here
    er sie es dies dieser diese dieses und aber denn doch da so sein ihr
    il elle ils elles ce cela cette et mais ou donc son sa leur el ella ellos y pero
"""
_OPENERS = frozenset(_OPENER_WORDS.split())
"""First words that depend on the sentence before, which is not quoted with them."""

_NAMED, _LEANING, _SPOKEN, _BROKEN = 1.3, 0.5, 0.35, 0.2
"""What the score of a sentence is multiplied by: one that has a name, one that needs the sentence before to be
understood, one that is said by somebody, and one that is no whole sentence.
"""

_MARKS = re.compile("[“«„‘”»]|(?<=[,.!?…-])’")
_PARAGRAPH_GAP = 2
"""Characters between sentences that mean different paragraphs: an empty line, or an indent."""

_UNFINISHED = ("—", "-", ":", ";", ",")
_PAGE = re.compile(r"(?:pages?|pp?\.|seiten?|s\.)? ?((?:[a-z]{1,2}[-.]?)?\d{1,6}[a-z]?|[ivxlcdm]{1,12})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RecapPart:
    """The sentences of a chapter, or of the beginning of a book without chapters, with an empty title."""

    title: str
    citations: tuple[Citation, ...]


async def recap(view: BookView, since: int = 0) -> list[RecapPart]:
    """The telling sentences of what has been read from an offset on, chapter by chapter, in order.

    Of the chapters read last there are more, until the whole book has been read.
    """
    chapters: dict[int, list[ChapterPart]] = {}
    for part in await chapter_parts(view):
        if part.end > since and part.sentences:
            chapters.setdefault(part.chapter, []).append(part)
    is_over = view.book.is_all_before(view.read_to)
    told: list[tuple[str, list[Sentence]]] = []
    for parts, wanted in zip(chapters.values(), _shares([*map(len, chapters.values())], is_over=is_over), strict=True):
        sentences = [sentence for part in parts for sentence in part.after(since)]
        chosen = await asyncio.to_thread(telling_sentences, sentences, wanted, parts[0].title)
        told.append((_title(parts[0]), chosen))
    kept = await asyncio.to_thread(_within_limit, [sentences for _, sentences in told], is_over=is_over)
    return [
        RecapPart(title, tuple([await view.cite(each.start, each.end) for each in sentences if each in kept]))
        for title, sentences in told
        if not kept.isdisjoint(sentences)
    ]


def _shares(lengths: Sequence[int], *, is_over: bool) -> list[int]:
    """How many sentences each chapter gets, by its length in pieces."""
    even = max(MOST_SENTENCES // max(len(lengths), 1), 1)
    if not is_over and len(lengths) > 2 * RECENT_CHAPTERS:
        recent = [MOST_RECENT // RECENT_CHAPTERS] * RECENT_CHAPTERS
        shares = [1] * (len(lengths) - RECENT_CHAPTERS) + recent
    else:
        shares = [even] * len(lengths)
    return [min(share, SENTENCES_OF_A_PIECE * length) for share, length in zip(shares, lengths, strict=True)]


def recap_text(parts: Sequence[RecapPart], say: Say = in_english) -> str:
    """The parts in Markdown: each title, followed by its sentences with their pages."""
    return "\n\n".join(
        "\n".join([*([f"**{part.title}**"] if part.title else []), *(quoted(each, say) for each in part.citations)])
        for part in parts
    )


LONGEST_QUOTE = 400
"""Characters of a sentence that are shown; some sentences of old books fill a page."""


def quoted(citation: Citation, say: Say, around: str = "") -> str:
    """A cited sentence as a line of a block quotation, followed by its page; a long one is cut around a word. Each
    quotation mark in it has its partner.
    """
    quote = " ".join(citation.quote.split())
    if len(quote) > LONGEST_QUOTE:
        at = max(quote.find(around), 0) if around else 0
        start = quote.rfind(" ", 0, max(at - LONGEST_QUOTE // 2, 0) + 1) + 1
        end = quote.rfind(" ", start, start + LONGEST_QUOTE)
        end = end if end > start else start + LONGEST_QUOTE
        quote = f"{'… ' if start else ''}{quote[start:end]}{' …' if end < len(quote) else ''}"
    return f"> {paired(quote)} ({citation.reference_in(say)})"


DOUBLE_MARKS = re.compile(r"[\"“”„«»]")
OPENS = re.compile(r"„|(?:(?<=[\s(\[—–-])|^)(?:[\"“«»](?=[^\s.,;:!?)])|«)")
"""The neighbours of a mark tell what it does: “ closes a reply in German, « in some books and » in others."""

_BRACKETED = re.compile(r"\[([^\[\]]+)\]")
"""A stage direction. In a quotation, brackets would mean that words are left out."""


def bare(text: str) -> str:
    """The text without outer quotation marks, if it has no others, or without its brackets."""
    if bracketed := _BRACKETED.fullmatch(text):
        text = bracketed[1]
    marks = [match.start() for match in DOUBLE_MARKS.finditer(text)]
    return text.strip('"“”„«» ') if marks and {*marks} <= {0, len(text) - 1} else text


_PARTNERS = dict(zip('“„«»‘"', '”“»«’"', strict=True))
_BY_CLOSING = {closing: opening for opening, closing in _PARTNERS.items()}
_ANY_MARK = re.compile(rf"{DOUBLE_MARKS.pattern}|(?<!\w)‘(?=\S)|(?<=[.,;:!?…—–”\"])’(?!\w)")
"""Double marks, and single ones that are no apostrophes."""


def paired(text: str) -> str:
    """The text with a partner for each mark that has its own in what is left out; alone at one end, it is left out."""
    if len(DOUBLE_MARKS.findall(text)) == 1:
        text = bare(text)
    inner, opened, missing = text.strip("… "), "", ""
    for mark in _ANY_MARK.finditer("" if "[" in inner else inner):  # words in brackets would be taken for left out
        if mark[0] == "‘" or OPENS.match(inner, mark.start()):  # as may each paragraph of a long reply
            opened += mark[0] if mark[0] not in opened and words_of(inner[mark.end() :]) else ""
        elif (opener := _BY_CLOSING.get(mark[0], "")) in opened:
            opened = opened[: opened.rfind(opener)]
        elif opener not in missing and words_of(inner[: mark.start()]):
            missing = opener + missing
    before, after = text.split(inner, 1) if inner else (text, "")
    after = f" …{''.join(_PARTNERS[each] for each in reversed(opened))}" if opened else after
    return (f"{missing}… " if missing else before) + inner + after


async def offset_of(view: BookView, place: str) -> int:
    """The offset at which a chapter or a page begins, as somebody names it: "chapter 3", "page 40", "40", a title.

    Raises:
        BookError: NOT_FOUND, there is no such place in the part that has been read.
    """
    entries = await view.contents()
    chapter = None if place.strip().isdecimal() else await asyncio.to_thread(find_chapter, entries, place)
    if chapter is not None:
        return chapter.start
    label = page_named(place)
    if label is None:
        message = Worded("There's no chapter or page “{place}” in what's been read so far.", place=place.strip())
        if view.book.is_all_before(view.read_to):
            message = Worded("There's no chapter or page “{place}” in this book.", place=place.strip())
        raise BookError(BookErrorCode.NOT_FOUND, message)
    return (await view.read_pages(label, label))[0].start


def page_named(place: str) -> str | None:
    """The label of the page that somebody names: "page 40", "p. 40", "40"; None if it is no page."""
    found = _PAGE.fullmatch(one_line(place))
    return found[1] if found else None


async def stretch_of(view: BookView, name: str) -> tuple[int, int]:
    """Where a chapter or part begins, and where the part of it that has been read ends.

    Raises:
        BookError: NOT_FOUND, there is no such chapter in the part that has been read.
    """
    entries = await view.contents()
    chapter = await asyncio.to_thread(find_chapter, entries, name)
    if chapter is None:
        message = Worded("There's no chapter “{name}” in what's been read so far.", name=name.strip())
        if view.book.is_all_before(view.read_to):
            message = Worded("There's no chapter “{name}” in this book.", name=name.strip())
        raise BookError(BookErrorCode.NOT_FOUND, message)
    passages = [await view.read_chapter(each.number) for each in with_descendants(entries, chapter)]
    return passages[0].start, passages[-1].end


def telling_sentences(sentences: Sequence[Sentence], count: int, title: str = "") -> list[Sentence]:
    """The sentences that say most about what happens, one from each of `count` stretches of equal length, in order.

    Narration is preferred to speech, and self-contained sentences to those that depend on the one before.
    """
    heading = " ".join(title.split()).casefold()
    told = [each for each in sentences if not heading or " ".join(each.text.split()).casefold() not in heading]
    if len(told) <= count:
        return [each for each in told if is_fit(each)] or told[:count]
    weights, names, spoken = weights_of(told), names_of(told), spoken_among(told)
    scores = {
        each: score(each, weights, names) * (_SPOKEN if each.start in spoken and not is_spoken(each.text) else 1)
        for each in told
        if is_fit(each)
    }
    chosen = []
    for number in range(count):
        stretch = told[len(told) * number // count : len(told) * (number + 1) // count]
        fit = [each for each in stretch if each in scores]
        if fit:
            chosen.append(max(fit, key=lambda each: scores[each]))
    return chosen or told[:1]


def is_fit(sentence: Sentence) -> bool:
    """Whether a sentence is neither a heading or exclamation nor too long for an excerpt."""
    return FEWEST_WORDS <= len(words_of(sentence.text)) <= MOST_WORDS


def score(sentence: Sentence, weights: Counter[str], names: frozenset[str]) -> float:
    """How telling a sentence is in the text with these weights."""
    words = words_of(sentence.text)
    named = {word for word in words if word[0].isupper() and word.casefold() in names}
    stems = {stem_of(word) for word in words if word not in named and word.casefold() not in STOP_WORDS}
    told = sum(weights[stem] for stem in stems) / len(words) ** LENGTH_POWER
    has_name = bool(named)
    if has_name:
        told *= _NAMED
    if words[0].casefold() in _OPENERS:
        told *= 1 if has_name and words[0].casefold() not in ("and", "but", "und", "aber") else _LEANING
    if is_spoken(sentence.text):
        told *= _SPOKEN
    return float(told * (_BROKEN if _is_broken(sentence.text) else 1))


def is_spoken(text: str) -> bool:
    """Whether a sentence contains speech."""
    return _SPEECH.search(text) is not None


def spoken_among(sentences: Sequence[Sentence]) -> set[int]:
    """Where sentences with speech begin, including those in the middle of a long speech."""
    spoken, is_open, end = set(), False, 0
    for each in sentences:
        is_open = is_open and each.start - end < _PARAGRAPH_GAP
        if is_open or is_spoken(each.text):
            spoken.add(each.start)
        for mark in _MARKS.findall(each.text):
            is_open = mark in "“«„‘"
        end = each.end
    return spoken


def _is_broken(text: str) -> bool:
    """Whether a sentence continues in the next one, or begins in the middle of something."""
    plain = text.strip()
    return plain.endswith(_UNFINISHED) or plain[:1].islower() or plain.count("(") != plain.count(")")


def names_of(sentences: Sequence[Sentence]) -> frozenset[str]:
    recognizer = NameRecognizer()
    for sentence in sentences:
        recognizer.add(sentence.text)
    return recognizer.names()


def _title(part: ChapterPart) -> str:
    return shown_chapter(part.chapter, part.title, is_counted=part.is_counted) if part.chapter else ""


def _within_limit(chapters: Sequence[Sequence[Sentence]], *, is_over: bool) -> set[Sentence]:
    """Of too many sentences, those of the chapters read last, until the whole book has been read; and from the others
    those whose words are most frequent overall.
    """
    if sum(map(len, chapters)) <= MOST_SENTENCES:
        return {each for sentences in chapters for each in sentences}
    last = len(chapters) if is_over else len(chapters) - RECENT_CHAPTERS
    before = [each for sentences in chapters[:last] for each in sentences]
    recent = [each for sentences in chapters[last:] for each in sentences]
    room, weights, names = MOST_SENTENCES - len(recent), weights_of(before), names_of(before)
    chosen = []
    for number in range(room):  # from stretches of equal length, so that no part of the book is passed over
        stretch = before[len(before) * number // room : len(before) * (number + 1) // room]
        chosen += [max(stretch, key=lambda each: score(each, weights, names))] if stretch else []
    return {*recent, *chosen}


_ROLES: dict[str, str] = json.loads(files(__package__).joinpath("roles.json").read_text(encoding="utf-8"))
_ANYBODYS_ROLE, _ROLE = (
    re.compile(rf"(?:\w+-)?(?:{words})", re.IGNORECASE) for words in (_ROLES["anybody"], "|".join(_ROLES.values()))
)
_ROLE_OR_NOT = re.compile(r"[^\W\d_]{3,}(?:-\w+)*")
_NAME, _ANYBODY, _SOMEBODY = "\0", "\1", "\2"
"""What stands for a name, for a word for what anybody can be, and for one that tells more."""

NO_LINK = rf"(?!(?:{SEPARATORS}|had|has|was|were|is|if|whether|because|so|then|where|while)\b)"
"""What stands before a word that may belong to the name behind it: "the painter Crake", not "the house of Crake"."""
_CAPITALISED = rf"[A-ZÀ-Þ{_NAME}{_ANYBODY}{_SOMEBODY}][\w.’-]*"
_BEFORE_ROLE = (
    r"(?:[Aa]n?|[Tt]he|[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir|of|was|is|[Ee]in\w*|[Dd](?:er|ie)|(?:[MmSs]ein|[Ii]hr)\w*)"
)
_A_ROLE = f"(?P<role>[{_ANYBODY}{_SOMEBODY}])"
_DESCRIBED = rf"(?:{NO_LINK}[\w{_ANYBODY}{_SOMEBODY}-]+,? ){{0,4}}{_A_ROLE}"
_APPOSED = rf"(?:,(?=[^,.;:!?]*{_NAME}(?:[^\w\s’']|$| and\b| who\b)))?"
"""A comma in front of a name with another behind: "his friend, Crake, left", not "after the friend, Crake left"."""
_MARK = "[“‘\"']?"
_NO_OBJECT = r"(?<!\bof )(?<!\bto )"
_IS_ONE = "(?:,|,? who|,? being)? (?:is|was|were|had been|has been|became|war|ist|sei|soll)"
_GIVEN = [
    re.compile(pattern)
    for pattern in (
        rf"\b{_BEFORE_ROLE} {_DESCRIBED}{_APPOSED} (?:(?:named|called|by the name of|namens) )?{_MARK}"
        rf"(?:{_CAPITALISED} ){{0,2}}{_NAME}(?!['’]s)",
        rf"{_NO_OBJECT}{_NAME}(?: {_CAPITALISED}){{0,2}}(?:{_IS_ONE}|,(?: who| being)?)"
        rf"(?: \w+ly| nämlich| ja| auch)? (?:{_BEFORE_ROLE}|only|eldest|youngest|second) {_DESCRIBED}",
        rf"{_NAME} (?:an?|the) {_A_ROLE}",
        rf"{_NAME}(?: {_CAPITALISED}){{0,2}}, (?:[a-z{_ANYBODY}{_SOMEBODY}-]+ )?{_A_ROLE} (?:of|to|at|von|de)\b",
    )
]


_ADVERBIAL = re.compile(
    r"\W*(?:after|before|with|without|during|since|despite|instead of|unlike|having|nach|vor|mit|ohne|seit|après)\b",
    re.IGNORECASE,
)


def is_role(word: str) -> bool:
    """Whether a word says what somebody is."""
    return _ROLE.fullmatch(word) is not None


def role_given(name: str, text: str) -> int:
    """What a sentence says that the bearer of a name (a pattern) is: 0 nothing, 1 what anybody can be ("Crake, a young
    man"), 2 more than that ("the painter Crake").
    """
    return _role_in(re.sub(name, _NAME, without_adverbial(name, text), flags=re.IGNORECASE))


def without_adverbial(name: str, text: str) -> str:
    """A sentence without what opens it and says nothing of a name (a pattern) that is its subject: "After a talk with
    his wife Pierre left".
    """
    if _ADVERBIAL.match(text) is None:
        return text
    opening = rf"\A[^,.;:!?—]*?(?={name} (?!{SEPARATORS}|who|whose|is|was)[a-z])"
    return re.sub(opening, "", text)


def _role_in(named: str) -> int:
    marked = _ROLE_OR_NOT.sub(lambda found: _marked(found[0]), named)
    if marked == named:
        return 0
    roles = [found["role"] for pattern in _GIVEN for found in pattern.finditer(marked)]
    return 2 if _SOMEBODY in roles else len(roles[:1])


@lru_cache(maxsize=20_000)
def _marked(word: str) -> str:
    if not is_role(word):
        return word
    return _ANYBODY if _ANYBODYS_ROLE.fullmatch(word) else _SOMEBODY


_ONE_OF_A_KIND = r"(?:an?|the|my|his|her|their|our|your|one of)"
_FOND = re.compile(
    r"\b(?:(?:dear(?:est)?|poor|good|old|young|little|sweet|beloved|excellent|late|brave|gentle|fair),? )+(?=\0)",
    re.IGNORECASE,
)
"""What stands before a name without saying whose it is: "my dear Ann"."""
_INTRODUCTIONS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\0,? (?:who|whose)\b",
        r"\0, (?:an?|one of|the (?:elder|younger|eldest|youngest|only|new|first|last|famous|well-known)) \w+",
        rf"{_NO_OBJECT}\0 (?:is|was|were|had been|has been|became) (?:\w+ )?{_ONE_OF_A_KIND} \w+",
        rf"(?:called|named|known as|names? (?:is|was|of)|introduced|this is|i am|i['’]m) {_MARK}(?:\w+\.? )?\0",
        rf"\b{_ONE_OF_A_KIND} {NO_LINK}\w+(?: {NO_LINK}\w+)? \0(?!['’]s)",
        r"\0,? (?:(?:war|ist|wurde) (?:\w+ )?)?(?:der|die|das|ein|eine|sein|seine|ihr|ihre|mein|meine) \w+",
        r"\0,? (?:qui|le|la|un|une|son|sa|était|est|el|una|su|era|es|que) \w+",
        r"(?:hieß|heißt|namens|genannt|nommée?|appelée?|s['’]appelait|llamad[oa]|se llamaba) \0",
    )
]
"""Forms of sentences that introduce somebody whose name is a zero character there."""
_ANOTHER_NAME = re.compile(
    r"(?:called|known as|nicknamed|alias|named|name (?:is|was)|genannt|surnommée?|llamad[oa]) [“‘\"']?"
    rf"((?:(?:the|der|die|le|la|el) )?(?:{NAME_WORD} ){{0,2}}{NAME_WORD})"
)


_DIRECTION = ("[", "(", "_[", "_(")
"""Opens a stage direction: who enters or is looked at was introduced before."""

_ROLE_COUNTS = (0, 2, 5)
"""How many of these forms the words for what somebody is are worth, by how much they tell."""


def introductions(name: str, sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """The sentences that best introduce somebody, in order; of equals the earlier one goes first. None is far behind
    the best.
    """
    named = re.compile(name_pattern(name), re.IGNORECASE)

    def score_of(sentence: Sentence) -> float:
        told = without_adverbial(named.pattern, " ".join(sentence.text.split()))
        text = _FOND.sub("", named.sub(_NAME, told))
        found = _ROLE_COUNTS[_role_in(text)] + sum(bool(each.search(text)) for each in _INTRODUCTIONS)
        return found / 2 if found and len(words_of(text)) > MOST_WORDS else found

    scores = {each: score_of(each) for each in sentences if not each.text.startswith(_DIRECTION)}
    least = max(max(scores.values(), default=0) / 2, 1)
    ranked = sorted((each for each in scores if scores[each] >= least), key=lambda each: -scores[each])
    return sorted(ranked[:count], key=lambda sentence: sentence.start)


def forms_of(name: str, sentences: Sequence[Sentence]) -> Counter[str]:
    """Names in the sentences that share a word with a name ("Miss Crake" for "Hilda Crake"), with their counts."""
    words = {bare_name(word) for word in name.split()}
    phrases = (phrase for sentence in sentences for phrase in name_phrases(sentence.text))
    shared = (" ".join(phrase) for phrase in phrases if words & {bare_name(word) for word in phrase})
    return counted_as_printed(Counter(shared))


def other_names(name: str, sentences: Sequence[Sentence]) -> list[str]:
    """Other names that a sentence gives explicitly: "called", "known as"."""
    words = {bare_name(word) for word in name.split()}
    found = (match[1] for sentence in sentences for match in _ANOTHER_NAME.finditer(sentence.text))
    phrases = (phrase for given in found for phrase in name_phrases(given))
    return list(
        dict.fromkeys(" ".join(phrase) for phrase in phrases if not words & {bare_name(word) for word in phrase})
    )
