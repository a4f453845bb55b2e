"""Characters: the names met so far, and what the book has said about one of them, in its own sentences."""

import asyncio
import json
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise, takewhile

from domain.book import Citation, ContentsEntry, Mentions, Sentence
from domain.errors import Say, in_english
from domain.library.names import TITLES_OF_PEOPLE, NameCollector, folded_name, printed_name
from domain.library.search.words import fold, name_pattern
from domain.library.summaries import story_start, weights_of
from domain.ports import BookFile, BookView
from domain.reading.recap import (
    forms_of,
    introductions,
    is_fit,
    is_spoken,
    names_of,
    other_names,
    quoted,
    score,
)

INTRODUCTIONS = 2
TOLD = 5
"""Sentences about somebody, besides those that introduce them."""

FORMS = 6
SLICE = 5_000
"""Characters searched for names at once, in a thread: two milliseconds or three."""
PAUSE_S = 0.003
"""After a whole slice: without it, who types waits three times as long, because the thread keeps the interpreter."""
STRIDE = 100_000
"""Characters between the points of a book up to which its names are kept; they take a twentieth of a second."""
KEPT_POINTS = 64
"""Of all books together; at the end of the longest novels, each takes less than a megabyte."""

KEPT = 24
"""Lists of names that are remembered: somebody who types asks for the same one at every letter."""

_SUBJECT = 1.4
_STARTS_WITH_WORD = re.compile(r"\s*(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Portrait:
    """What has been read about a name.

    `forms` are names that share a word with it, with their counts; `others` are names that a sentence equates with it
    ("called", "known as"). `introduced` are the sentences that say who it is, `told` the most telling others, all in
    order. `total` counts the mentions. `is_complete`: all of the book may be told.
    """

    name: str
    total: int
    first: Citation
    last: Citation
    forms: tuple[tuple[str, int], ...] = ()
    others: tuple[str, ...] = ()
    introduced: tuple[Citation, ...] = ()
    told: tuple[Citation, ...] = ()
    is_complete: bool = False

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All sentences, each once, in order."""
        found = dict.fromkeys((self.first, *self.introduced, *self.told, self.last))
        return tuple(sorted(found, key=lambda each: each.start))


async def portray(view: BookView, name: str) -> Portrait | None:
    """What has been read about a name; None if it has not occurred in the story.

    Where the book has chapters, the text before the first is a title page and contents, and is left out; so is a
    preface, unless the name is nowhere else.
    """
    name = await as_written(view, name)
    chapters = await view.contents()
    mentions = in_story(await view.count_mentions(name), chapters)
    first, last = mentions.in_story, mentions.last
    if first is None or last is None or last.start < (chapters[0].start if chapters else 0):
        return None
    begin = min(first.start, story_start(chapters))
    about = {
        term: story
        for term, sentences in (await sentences_about(view, name)).items()
        if (story := [each for each in sentences if each.start >= begin])
    }
    sentences = about.get(name, [])
    introduced = await asyncio.to_thread(introductions, name, sentences, INTRODUCTIONS)
    left_out = {each.start for each in introduced}
    told = await asyncio.to_thread(_most_told, name, [each for each in sentences if each.start not in left_out])
    return Portrait(
        mentions.term,
        mentions.total,
        await _whole(view, first, sentences[:1]),
        await _whole(view, last, sentences[-1:]),
        tuple((await asyncio.to_thread(forms_among, name, about)).most_common(FORMS)),
        tuple((await asyncio.to_thread(other_names, name, sentences))[:FORMS]),
        tuple([await view.cite(each.start, each.end) for each in introduced]),
        tuple([await view.cite(each.start, each.end) for each in told]),
        view.book.is_all_before(view.read_to),
    )


def in_story(mentions: Mentions, chapters: Sequence[ContentsEntry]) -> Mentions:
    """The mentions without those in front of the story, on a title page or in a preface, unless there are no others."""
    if not chapters:
        return mentions
    begin = story_start(chapters)
    front = {0, *(each.number for each in chapters if each.start < begin)}
    counted = tuple(each for each in mentions.by_chapter if each.number not in front)
    return replace(mentions, total=sum(each.count for each in counted), by_chapter=counted) if counted else mentions


def portrait_text(portrait: Portrait, say: Say = in_english) -> str:
    """A portrait in Markdown."""
    first, last = portrait.first, portrait.last
    if portrait.total == 1:
        return say("**{name}** is mentioned once, here:", name=portrait.name) + f"\n{quoted(first, say, portrait.name)}"
    also = [form for form, _ in portrait.forms if fold(form) != fold(portrait.name)] + list(portrait.others)
    named = say("Also written: {names}.", names=", ".join(dict.fromkeys(also))) if also else ""
    seen = {first}
    blocks = [say("First mention:") + f"\n{quoted(first, say, portrait.name)}"]
    for heading, citations in (
        (say("How {name} is introduced:", name=portrait.name), portrait.introduced),
        (say("What the book tells us:") if portrait.is_complete else say("What we know so far:"), portrait.told),
        (say("Last mention:"), (last,)),
    ):
        new = [each for each in citations if each not in seen]
        seen.update(new)
        blocks += ["\n".join([heading, *(quoted(each, say, portrait.name) for each in new)])] if new else []
    return "\n\n".join(["\n".join(filter(None, (_counted(portrait, say), named))), *blocks])


def _counted(portrait: Portrait, say: Say) -> str:
    name, count = portrait.name, portrait.total
    first, last = portrait.first.reference_in(say), portrait.last.reference_in(say)
    if first == last:
        return say(
            "**{name}** is mentioned {count} times, all in one place ({page}).", name=name, count=count, page=first
        )
    return say(
        "**{name}** is mentioned {count} times, from {first} to {last}.",
        name=name,
        count=count,
        first=first,
        last=last,
    )


def not_met(name: str, say: Say = in_english, *, is_complete: bool) -> str:
    """What to say about a name that has not occurred in what may be told, which may be all of the book."""
    if is_complete:
        return say("“{name}” doesn't appear in this book.", name=name)
    return say("“{name}” hasn't come up so far.", name=name)


_ARTICLE = re.compile(r"\A(?:the|der|die|das|le|la|les|el|los|las) (?=\S)", re.IGNORECASE)


async def as_written(view: BookView, name: str) -> str:
    """The name as the book prints it: as given, capitalised, with its spelling corrected, or its last part alone;
    without an article, which a book writes small within a sentence.
    """
    plain = _ARTICLE.sub("", " ".join(name.split()))
    capital = " ".join(word[:1].upper() + word[1:] for word in plain.split())
    missing = await view.missing_words(capital)
    mended = [missing[word][0] if missing.get(word) else word for word in capital.split()]
    for each in dict.fromkeys([plain, capital, " ".join(mended), *mended[-1:]]):
        is_name = each and not each[0].islower() and not each.endswith(".")
        if is_name and (place := (await view.count_mentions(each)).first):
            return printed_name(each, place.quote)
    return plain if (await view.count_mentions(plain)).total else " ".join(name.split())


async def sentences_about(view: BookView, name: str) -> dict[str, list[Sentence]]:
    """The sentences with the name, and those with each capitalised word of it."""
    parts = [word for word in name.replace(".", "").split() if word[0].isupper() and len(word) > 2]
    terms = dict.fromkeys([name, *parts])
    found = {term: await view.mentions(term) for term in terms}
    return {term: sentences for term, sentences in found.items() if sentences}


def forms_among(name: str, about: Mapping[str, Sequence[Sentence]]) -> Counter[str]:
    """The forms of a name in the sentences about it, and their counts. A shared title does not make a form."""
    forms: Counter[str] = Counter()
    for sentences in about.values():
        forms |= forms_of(name, sentences)
    own = {folded_name(word) for word in name.split()} - TITLES_OF_PEOPLE
    known = names_of([each for sentences in about.values() for each in sentences]) | TITLES_OF_PEOPLE | own
    shared = {
        form: n for form, n in forms.items() if own & {*map(folded_name, form.split())} and not _are_apart(name, form)
    }
    return Counter({form: n for form, n in shared.items() if known >= {*map(folded_name, form.split())}})


def _are_apart(name: str, other: str) -> bool:
    """Whether titles tell that two names are those of two persons: "Mr Crake" and "Mrs Crake"."""
    titles = ([group for group in _DIFFERENT_PEOPLE if group & {*folded_name(each).split()}] for each in (name, other))
    ours, theirs = titles
    return bool(ours and theirs) and ours != theirs


async def _whole(view: BookView, citation: Citation, sentence: Sequence[Sentence]) -> Citation:
    """The citation of the sentence with a mention."""
    return await view.cite(sentence[0].start, sentence[0].end) if sentence else citation


def _most_told(name: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """The most telling sentences about somebody, one from each of some stretches of equal length, in order."""
    weights, names = weights_of(sentences), names_of(sentences)
    begins = re.compile(rf"{_STARTS_WITH_WORD.pattern}(?:\w+\.?\s+)?{name_pattern(name)}", re.IGNORECASE)

    def weight(each: Sentence) -> float:
        return score(each, weights, names) * (_SUBJECT if begins.match(each.text) else 1)

    fit = [each for each in sentences if is_fit(each) and not is_spoken(each.text)] or list(filter(is_fit, sentences))
    stretches = [fit[len(fit) * n // TOLD : len(fit) * (n + 1) // TOLD] for n in range(TOLD)]
    return [max(stretch, key=weight) for stretch in stretches if stretch]


_MOST_SAMPLED = 100_000
"""Words of a story by whose names its people are told; the whole of a longer one would take seconds."""


async def people_met(view: BookView) -> list[tuple[str, Mentions]]:
    """The people whom readers have met, each by name, or as "the curate", with all mentions, the most frequent first.

    Who is a person is told by the way whole chapters, evenly chosen of what has been read, use a name.
    """
    chapters = await view.contents()
    step = -(-sum(each.words for each in chapters) // _MOST_SAMPLED) or 1
    numbers = [each.number for each in chapters[::step]] or [0]
    read = [await view.read_chapter(number) for number in numbers]
    people = await asyncio.to_thread(lambda: people_among("\n".join([each.text for each in read])))
    met = [(shown, await view.count_mentions(name)) for shown, name in people.items()]
    return sorted((each for each in met if each[1].in_story), key=lambda each: -each[1].total)


_WORDS = json.loads(files(__package__).joinpath("portrait.json").read_text(encoding="utf-8"))


def _pattern(words: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(words.replace("DOES", f"SPEAKS|{_WORDS['does']}").replace("SPEAKS", _WORDS["speaks"]), flags)


_SIGNS = {sign: _pattern(words, re.IGNORECASE) for sign, words in _WORDS["signs"].items()}
"""What stands beside a name (a zero character) that is somebody's who does something, or rather what the key says.

A name alone between two sentences is that of the speaker in a play.
"""

_UNNAMED = [_pattern(words) for words in _WORDS["unnamed"]]
"""Who speaks, where that is somebody without a name, with an article: "said the curate"."""

_SPEAKERS = [_pattern(words, re.MULTILINE) for words in _WORDS["speakers"]]
"""Who speaks or has a form of address, where no capital inside a sentence tells a name: in capitals before their words,
as in plays, and in Chinese and Japanese.
"""

_WORD, _INSIDE = re.compile(r"[^\W\d_]{3,}"), re.compile(r"(?<=[\w,;] )[^\W\d_]{3,}")
"""Words, and those that do not open a sentence."""

_ANYBODY = frozenset(_WORDS["anybody"].split())
"""Who speaks or is spoken to without being anybody in particular."""

_PATRONYMIC = re.compile(r"(?<=\w) \w+(?:[ое]вич|[ое]вн|ьич|ичн)\w{0,2}\b|(?<=[а-яё]{3})(?:[аеийоуыьюя]|ом|ою|ей)\b")
"""What many have, and nobody is known by alone ("Порфирий Петрович"), and endings of Russian names."""

_DIFFERENT_PEOPLE = [{*titles.split()} for titles in _WORDS["titles of different people"]]
"""Titles of which no two are those of the same person."""

_LEAD = 24
"""Characters examined before a name, and behind it."""

_MOST_PLACES = 200
"""Places of a name that are examined, evenly chosen."""

_MOST_EXAMINED = 80
"""The most frequent names, of which it is asked whether they are persons'."""

_RARE, _ONCE_IN = 0.02, 100_000
"""The share of the mentions of the most frequent name below which another is not worth telling, and the characters for
each of which somebody has to be mentioned once.
"""

_SELDOM, _AT_TIMES, _MOSTLY = 0.03, 0.2, 0.5
"""Shares of the places of a name with a sign."""
_AFTER = re.compile(r"\0 ((?:of|on|to|in|at|from|for|with|by) [a-z]+ [a-z]+)")
"""What follows on a name, here as NUL, that is part of a formula: "Return on the ebb"."""

_FEWEST_WORDS_SAID = 4
"""Places where somebody without a name has to speak."""

_OFTEN_INSIDE = 6
"""Places inside sentences of a name that is also a word ("Miles", "Eve"), which is rare beside it."""


def people_among(text: str) -> dict[str, str]:
    """The persons in a text by the way it uses their names, each with the word by which to count them.

    One of the names that share a word ("Tom", "Tom Sawyer") stands for all; a title alone stands for the name that
    follows it somewhere. People without a name are called by what they are, such as "the curate".
    """
    return _Usage(text).people()


def _is_anybody(name: str) -> bool:
    first, *more = folded_name(name).split()
    return first in (_ANYBODY - TITLES_OF_PEOPLE if more else _ANYBODY | TITLES_OF_PEOPLE)


class _Usage:
    """How a text uses its most frequent names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, dict[str, float]] = {}
        collector = NameCollector()
        collector.add(text)
        phrases = collector.phrases
        self._totals = {name: phrases.get(name, 0) for name in collector.met()[:_MOST_EXAMINED]}
        self._totals |= {name: phrases.get(name, 0) for name in self._also_words()}
        self._words, self._pairs = Counter[str](), Counter[tuple[str, str]]()
        for phrase, count in phrases.items():
            for word in (words := phrase.split()):
                self._words[word] += count
            for pair in pairwise(words):
                self._pairs[pair] += count

    def people(self) -> dict[str, str]:
        fewest = max(max(self._totals.values(), default=0) * _RARE, len(self._text) / _ONCE_IN)
        kept: dict[str, str] = {}
        for name, total in Counter(self._totals).most_common():
            called, word = self._called(name), self._title_of(name)
            is_person = word != name or self._is_person(name)
            is_told = max(total, self._words[word] if word != name else 0) >= fewest
            if is_told and is_person and not any(self._is_same(called, other) for other in kept):
                kept[called] = word
        for name in self._speakers():
            if not any(self._is_same(name, other) for other in kept):
                kept[name] = name
        return kept | {who: word for who, word in self._unnamed().items() if word not in {*kept.values()}}

    def _also_words(self) -> list[str]:
        """Names that are also words, by their deeds."""
        small, inside = Counter(_WORD.findall(self._text)), Counter(_INSIDE.findall(self._text))
        often = {word for word, count in inside.items() if count >= _OFTEN_INSIDE and word.istitle()}
        rare = [word for word in often if 0 < small[word.lower()] <= _AT_TIMES * inside[word]]
        shares = {word: self._shares(word) for word in sorted({*rare} - self._totals.keys()) if not _is_anybody(word)}
        return [word for word, each in shares.items() if each["deed"] >= _AT_TIMES / 2 and each["role"] < _AT_TIMES]

    def _speakers(self) -> list[str]:
        """Those before whose words their name stands, the most frequent first."""
        said = Counter(match[1].title() for each in _SPEAKERS for match in each.finditer(self._text))
        often = [name for name, count in said.most_common(_MOST_EXAMINED) if count >= _FEWEST_WORDS_SAID]
        return [name for name in often if not _is_anybody(name)]

    def _unnamed(self) -> dict[str, str]:
        """Those who speak and are called what they are, or by a name that begins with that, each with the word."""
        found = [tuple(filter(None, match.groups())) for each in _UNNAMED for match in each.finditer(self._text)]
        article = {word: the.lower() for the, word in found}
        taken = {folded_name(name.split()[-1]) for name in self._totals} | _ANYBODY
        often = [word for word, count in Counter(word for _, word in found).items() if count >= _FEWEST_WORDS_SAID]
        titled = {word: next((name for name in self._totals if name.startswith(f"{word} ")), "") for word in often}
        return {titled[word] or f"{article[word]} {word}": word for word in often if folded_name(word) not in taken}

    def _called(self, name: str) -> str:
        """A name, or the one that a title alone stands for: "Count Crake" for "the Count"."""
        if self._shares(name)["role"] <= _AT_TIMES:
            return name
        titled = next((other for other in self._totals if other.startswith(f"{name} ")), name)
        pairs = ((other, self._pairs[name.split()[-1], other.split()[0]]) for other in self._totals)
        follows = (other for other, often in pairs if often and self._is_person(other))
        return next((f"{name} {other}" for other in follows), titled)

    def _title_of(self, name: str) -> str:
        """The first word of a name if it is mostly told by that: "Count" for "Count Crake", who is "the Count"."""
        first = name.split()[0]
        if " " not in name or first in self._totals or folded_name(first) in TITLES_OF_PEOPLE:
            return name
        share = self._shares(first)
        return first if share["role"] >= _MOSTLY and share["deed"] + share["being"] >= _AT_TIMES / 2 else name

    def _is_same(self, name: str, other: str) -> bool:
        """Whether two names share a word, or the text joins them ("Ann Crake": "Madam Ann" and "Mrs Crake"), and no
        titles tell that they are two persons: "Mr Crake" and "Mrs Crake".
        """
        words, others = (_PATRONYMIC.sub("", folded_name(each)).split() for each in (name, other))
        are_alike = (words[0] in TITLES_OF_PEOPLE) is (others[0] in TITLES_OF_PEOPLE)
        first, second = name.split()[-1], other.split()[-1]
        joined = self._pairs[first, second] + self._pairs[second, first]
        is_joined = are_alike and joined > min(self._words[first], self._words[second]) * _SELDOM
        return not _are_apart(name, other) and (is_joined or not ({*words} & {*others}) <= TITLES_OF_PEOPLE)

    def _is_person(self, name: str) -> bool:
        """Whether a name has a title, or its bearer speaks or does something, and is no people, ship or place."""
        share = self._shares(name)
        is_initial = len(name.split()[-1]) == 1
        if _is_anybody(name) or is_initial or max(share["address"], share["part"], share["formula"]) >= _MOSTLY:
            return False
        if " " in name and folded_name(name.split()[0]) in TITLES_OF_PEOPLE:
            return True
        if share["role"] >= _MOSTLY:
            return share["speech of a role"] > 0
        place, acts = share["place"] + share["goal"], share["deed"] + share["called"]
        is_active = acts >= _SELDOM and acts + share["being"] > place
        is_subject = share["being"] > max(_SELDOM, 2 * (share["role"] + place))
        return (is_active or is_subject) and share["kind"] <= _AT_TIMES

    def _shares(self, name: str) -> dict[str, float]:
        """The share of the places of a name that have each sign."""
        if name not in self._known:
            text = self._text
            every = [match.span() for match in re.finditer(name_pattern(name), text)]
            places = every[:: len(every) // _MOST_PLACES + 1]
            around = [f"{text[max(at - _LEAD, 0) : at].rstrip()}\0{text[end : end + _LEAD]}" for at, end in places]
            found = {sign: [each.search(words) for words in around] for sign, each in _SIGNS.items()}
            self._known[name] = {sign: sum(map(bool, each)) / max(len(each), 1) for sign, each in found.items()}
            often = max(Counter(_AFTER.findall("\n".join(around))).values(), default=0)
            self._known[name]["formula"] = often / len(around) if often >= _FEWEST_WORDS_SAID else 0.0
        return self._known[name]


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most SLICE characters, which end with a line or a word where that is possible."""
    while start < end:
        stop = min(start + SLICE, end)
        if stop < end:
            breaks = (text.rfind(mark, start + SLICE // 2, stop) + 1 for mark in "\n ")
            stop = next(filter(None, breaks), stop)
        yield start, stop
        start = stop


class MetNames:
    """The names that readers have met, cached for people who type one letter after another.

    One list is made at a time, in a thread: it takes a second for a million characters, and the event loop has to
    share the interpreter with it. Whoever is further on in the same book begins at the last point kept before.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], asyncio.Task[list[str]]] = OrderedDict()
        self._points: OrderedDict[tuple[str, int], NameCollector] = OrderedDict()
        """The names in the first pieces of a book, by its id and the number of pieces."""
        self._turn = asyncio.Lock()

    async def of(self, file: BookFile, view: BookView, seconds: float | None = None) -> list[str]:
        """The names in the visible part of the story, the most frequent first.

        If that takes longer than `seconds`, only the names of an earlier part, as far as they are known.
        """
        key = (view.book.id, view.read_to)
        task = self._kept.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._kept[key] = asyncio.create_task(self._names_of_story(file, *key))
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        if seconds is None or (await asyncio.wait([task], timeout=seconds))[0]:
            return await asyncio.shield(task)
        known = {read_to: each for (book_id, read_to), each in self._kept.items() if book_id == view.book.id}
        earlier = [each for each in known if each < view.read_to and known[each].done()]
        return await known[max(earlier)] if earlier else []

    async def _names_of_story(self, file: BookFile, book_id: str, read_to: int) -> list[str]:
        async with self._turn:
            text = (await file.text())[:read_to]
            chapters = [(each.start, min(each.end, read_to)) for each in await file.chapters() if each.start < read_to]
            return await asyncio.to_thread(self._met, book_id, text, chapters or [(0, len(text))])

    def _met(self, book_id: str, text: str, story: Sequence[tuple[int, int]]) -> list[str]:
        pieces = [piece for start, end in story for piece in _pieces(text, start, end)]
        whole = sum(1 for _ in takewhile(lambda piece: piece[1] < len(text), pieces))
        known = [number for of_book, number in self._points if of_book == book_id and number <= whole]
        begun = max(known, default=0)
        names, since = NameCollector(), 0
        if begun:
            self._points.move_to_end((book_id, begun))
            names = self._points[book_id, begun].copy()
        for number, (start, end) in enumerate(pieces[begun:], start=begun + 1):
            names.add(text[start:end])
            time.sleep(PAUSE_S * (end - start) / SLICE)
            since += end - start
            if since >= STRIDE and number <= whole:
                self._points[book_id, number], since = names.copy(), 0
        while len(self._points) > KEPT_POINTS:
            self._points.popitem(last=False)
        return names.met()
