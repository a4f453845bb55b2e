"""Finding the sentence of the book that an uncited sentence of an answer repeats.

Small models rarely write sentence keys, yet much of what they say repeats their passages word for word or nearly. Such
a sentence is cited as if the model had written the key. A match has to be safe rather than likely: every meaningful
word of the answer's sentence occurs in the book's sentence, in the same order; nothing is denied, and nothing certain,
that is not so there; and "before" is not "after". A pronoun may be replaced by the only name in the sentence before,
and who the book's sentence begins with by a pronoun; adverbs may stand elsewhere. What somebody says of themselves may
be retold: "he" for "I", or the name in the chapter's title.
`python -m benchmarks.matching` measures what is found, and what is found by mistake.
"""

import asyncio
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise

from domain.book import Passage, Sentence
from domain.citations.context import CHAPTER
from domain.citations.keys import starts_of_sentences
from domain.citations.symbols import any_of, lazily, words_of_kind
from domain.concurrency import LONG_ANSWER, in_thread_if_long
from domain.library.numerals import number_value
from domain.library.search.languages import in_one_spelling
from domain.library.search.sentences import is_heading, only_name, says_something, subject_of
from domain.library.search.words import STOP_WORDS, fold_letters, is_dense, is_movable_adverb, stem_of, words_of
from domain.spoilers.filter import spans

FEWEST_TELLING = 3
"""Meaningful words; a sentence with fewer says too little to be identified."""

FEWEST_DENSE = 8
"""The same for scripts without spaces, in characters."""

SHORTEST_RUN = 4
"""Consecutive words that answer and book must share."""

FEWEST_SAME = 6
"""Words; a sentence of the book with as many is identified by these words alone, whatever they mean."""

LEAST_OF_EACH = 2
"""Meaningful words that a match of two sentences shares with either of them."""

MOST_SKIPPED = 3
"""Meaningful words of the book that may be missing between two of the answer; one where two sentences meet."""

SHORTEST = 5
"""Characters; a shorter sentence has less than FEWEST_TELLING words."""

LONGEST = 4_000
"""Characters; a longer sentence says more than one or two sentences of a book do."""

_NEGATIONS, _DOUBTS = map(words_of_kind, ("negations", "doubts"))
"""Words that turn a statement into another one: what is denied, doubted, wished or dreamt is not told as a fact."""
_TURNING = frozenset(word for word in STOP_WORDS if "'" not in word) - words_of_kind("colourless")
"""Words without which a sentence may say the same, but not with another in their place: before, out, only, her."""
_SUBJECTS = frozenset(["he", "she", "it", "they"])
"""Pronouns that begin a sentence of the book, where an answer may say the name."""
_TELLERS = frozenset(["i", "ich", "je"])
_CONJUNCTIONS = words_of_kind("conjunctions")
_FORMS = {pronoun: words_of_kind(f"forms_of_{pronoun}") for pronoun in ("he", "she")}
"""Pronouns that begin a sentence of an answer, where the book may say who it is, with words for the same sex."""
_RETOLD: defaultdict[str, set[str]] = defaultdict(set)
"""By the first and the second person, the third ones in which an answer may retell what somebody says of themselves."""
for _pair in words_of_kind("retold"):
    _RETOLD[_pair.partition(">")[0]].add(_pair.partition(">")[2])
_PERSONS = frozenset(_RETOLD).union(*_RETOLD.values())
_FRAME = frozenset(map(stem_of, words_of_kind("framing")))
"""Words with which answers introduce the book's words, and which are ignored."""

_SAYS, _NEXT, _TEXT, _LABEL = (
    f"(?:{'|'.join(sorted(words_of_kind(each), key=len, reverse=True))})"
    for each in ("saying", "going_on", "texts", "labels")
)
_BOLD_LABEL = (
    r"(?<=[*_]{2})(?!(?:false|wrong|untrue|incorrect|myth|rumou?r|lie|error|falsch|irrtum|faux|erreur|falso|mito)\b)"
    r"(?:[^\W_][\w.'’-]{0,20}\s){0,3}[^\W_][\w.'’-]{0,20}(?:[*_]{2}:|:[*_]{2})\s"
)
_A_FEW = r"(?:[^\W\d_][\w.'’]{0,20}\s){0,3}"
_LEAD = lazily(
    r"\s*+(?:(?:[-*•>+]|\d{1,3}[.)])\s++)*+[*_]{0,3}(?:"
    rf"{_BOLD_LABEL}|(?:(?:the|key|main|short|die|la)\s)?{_LABEL}:\s"
    rf"|{_NEXT}(?:,[*_]{{0,2}}|[*_]{{1,2}},)\s"
    rf"|(?:in|at|from|by|im|aus|dans|en)\s{_A_FEW}{_TEXT}\b[^,.;:!?\n]{{0,20}},\s"
    r"|(?:according to|laut|nach|selon|d'après|según)\s[^,.;:!?\n]{1,40}[,:]\s"
    rf"|(?:as|wie|comme|como)\s{_A_FEW}{_SAYS}(?:\s[^,.;:!?\n]{{1,20}})?,\s"
    r"|(?:based on|from|to answer|let me tell|as far as (?:i|we|you)|soweit (?:ich|man)|autant que je|que yo)"
    r"\s[^,.;:!?\n]{1,40}[,:]\s"
    rf"|{_A_FEW}(?:[^\W\d_]+\s){_SAYS}(?:\s(?:us|me|him|her|them|later|here|to\s[^\W\d_]+))?,?\s(?:that|dass|que)\s"
    r"|(?:I|we|you)\s(?:can\s)?(?:learn|read|see|find(?:\sout)?|tell\syou(?=\sthat\b)|know|think|believe|are\stold)\s(?:that\s)?)",
    re.IGNORECASE,
)
"""Words before a sentence that only introduce it, at the beginning of one: "Harker writes that", "In chapter 2,"."""
_CHAPTER = lazily(rf"\b(?:{CHAPTER})\.?\s(\w{{1,12}})", re.IGNORECASE)


@dataclass(frozen=True)
class _Words:
    """The words of a sentence, in one spelling, and the meaningful ones in the form in which they are searched; in
    front of each of these, and behind the last, the words that turn what it says.
    """

    folded: tuple[str, ...]
    telling: tuple[str, ...]
    turns: tuple[frozenset[str], ...]
    adverbs: dict[int, str] = field(default_factory=dict)
    """Those of the meaningful words that may stand elsewhere in a sentence that says the same, by their places."""

    @classmethod
    def of(cls, text: str, *, framed: bool = False) -> "_Words":
        folded = tuple(map(in_one_spelling, words_of(text)))
        telling: list[str] = []
        turns: list[set[str]] = [set()]
        adverbs: dict[int, str] = {}
        for plain, before in zip(folded, ("", *folded), strict=False):
            if plain in STOP_WORDS:  # "to do" says what is done, while "do" alone helps another verb
                turns[-1] |= {plain} if before == "to" and plain in ("be", "do", "have") else {plain} & _TURNING
            elif framed and stem_of(plain) in _FRAME:
                turns[-1] &= _TURNING if telling else set()
            else:
                if is_movable_adverb(plain):
                    adverbs[len(telling)] = stem_of(plain)
                telling.append(stem_of(plain))
                turns.append(set())
        return cls(folded, tuple(telling), tuple(map(frozenset, turns)), adverbs)

    @property
    def still(self) -> "_Words":
        """The same without its adverbs."""
        telling = [word for at, word in enumerate(self.telling) if at not in self.adverbs]
        turns = [self.turns[0]]
        for at, behind in enumerate(self.turns[1:]):
            turns[-1:] = [turns[-1] | behind] if at in self.adverbs else [turns[-1], behind]
        return replace(self, telling=tuple(telling), turns=tuple(turns), adverbs={})

    @property
    def fewest(self) -> int:
        return FEWEST_DENSE if any(map(is_dense, self.telling)) else FEWEST_TELLING

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        size, alike = SHORTEST_RUN, tuple("" if word in _PERSONS else word for word in self.folded)
        return frozenset(alike[at : at + size] for at in range(len(alike) - size + 1))

    def denials(self, last: int | None = None) -> tuple[int, int]:
        """How many negations and doubts precede the meaningful word at `last`."""
        places = [at for at, word in enumerate(self.folded) if word not in STOP_WORDS]
        words = self.folded if last is None else self.folded[: places[last - 1] + 1]
        doubts = sum(word.removesuffix("n't") in _DOUBTS for word in words)
        return sum(word in _NEGATIONS or word.endswith("n't") for word in words), doubts


@dataclass(frozen=True)
class _Candidate:
    sentences: tuple[Sentence, ...]
    words: _Words
    opening: int
    """How many meaningful words its first sentence has; a match of two sentences has to begin there."""
    before: frozenset[str]
    """The name in the sentence before, to which a pronoun at the beginning may refer; empty if there are several."""
    teller: frozenset[str]
    """The names in the chapter's title, where its "I" may be named: "Jonathan Harker's Journal"."""

    def is_meant_by(self, pronoun: str, first: int) -> bool:
        """Whether a pronoun may stand for who the book's sentence begins with, right before the word at `first`."""
        subject = subject_of(self.sentences[0].text)
        length = len(_Words.of(subject).telling)
        is_next = 0 < length <= first and all(at in self.words.adverbs for at in range(length, first))
        if not is_next or any(self.words.turns[length : first + 1]):
            return False
        for words in (_Words.of(subject).folded, self.words.folded):
            if told := [each for each, forms in _FORMS.items() if not forms.isdisjoint(words)]:
                return pronoun in told
        return True


class PassageMatcher:
    """Finds the sentence of the given passages that a sentence repeats."""

    def __init__(self) -> None:
        self._unread: list[Passage] = []
        self._known: set[tuple[int, int]] = set()
        self._by_run: dict[tuple[str, ...], list[_Candidate]] = defaultdict(list)
        self._whole: dict[tuple[bool, tuple[str, ...]], Sentence] = {}

    def learn(self, passage: Passage) -> None:
        """Add a passage the model has been given. It is analysed when the first sentence is compared."""
        self._unread.append(passage)

    async def read_for(self, sentence: str) -> None:
        """Analyse the passages that were added, if they will be compared with this sentence; other tasks run in
        between, because each passage takes some milliseconds.
        """
        is_compared = bool(self._unread) and _comparable(sentence) is not None
        while self._unread and is_compared:
            self._analyse(self._unread.pop(0))
            await asyncio.sleep(0)

    def match(self, sentence: str) -> tuple[Sentence, ...]:
        """The sentence, or the two consecutive sentences, that contain all of this one; empty if there is none."""
        return self._match(sentence) or self._match(_introduced(sentence))

    def _match(self, sentence: str) -> tuple[Sentence, ...]:
        said = _comparable(sentence)
        if said is None:
            return ()
        while self._unread:
            self._analyse(self._unread.pop(0))
        if same := self._whole.get((_asks(sentence), said.folded)):
            return (same,)
        if len(said.telling) < said.fewest or _asks(sentence):
            return ()
        candidates = {id(found): found for run in said.runs for found in self._by_run.get(run, ())}
        names = frozenset(_stems_of_names(sentence))
        fitting = [each for each in candidates.values() if _repeats(said, each, names)]
        return min(fitting, key=lambda each: (len(each.sentences), len(each.words.folded))).sentences if fitting else ()

    def _analyse(self, passage: Passage) -> None:
        before: frozenset[str] = frozenset()
        teller = frozenset(_stems_of_names(passage.chapter))
        for at, first in enumerate(passage.sentences):
            for sentences in (passage.sentences[at : at + 1], passage.sentences[at : at + 2]):
                span = (first.start, sentences[-1].end)
                if span not in self._known:
                    self._known.add(span)
                    words = _Words.of(" ".join(sentence.text for sentence in sentences))
                    opening = len(_Words.of(first.text).telling)
                    candidate = _Candidate(sentences, words, opening, before, teller)
                    for run in words.runs:
                        self._by_run[run].append(candidate)
                    if len(sentences) == 1:
                        self._keep_whole(first, words)
            before = only_name(first.text)

    def _keep_whole(self, sentence: Sentence, words: _Words) -> None:
        """Keep its words, also without an "and" or "but" in front, and those of each part before a semicolon, or behind
        one if nothing before it is doubted.
        """
        parts = [*map(_Words.of, sentence.text.split(";"))] if ";" in sentence.text else []
        doubted = next((at for at, part in enumerate(parts) if part.denials()[1]), len(parts))
        for each in (words, *parts[: doubted + 1]):
            is_joined = not _CONJUNCTIONS.isdisjoint(each.folded[:1])
            for folded in (each.folded, each.folded[is_joined:]):
                if len(folded) >= FEWEST_SAME:
                    self._whole.setdefault((_asks(sentence.text), folded), sentence)


def _stems_of_names(text: str) -> Iterator[str]:
    return (stem_of(word) for word in re.findall(r"\b[A-Z][^\W\d_]+", text))


def _comparable(sentence: str) -> _Words | None:
    """The words of a sentence, unless it is too long or too short to be compared."""
    if not SHORTEST <= len(sentence) <= LONGEST:
        return None
    said = _Words.of(sentence, framed=True)
    return said if len(said.telling) >= said.fewest or len(said.folded) >= FEWEST_SAME else None


def _introduced(sentence: str) -> str:
    """The sentence without the words that only introduce it; empty if there are none, or they deny or doubt it."""
    lead = _LEAD.match(sentence)
    is_plain = lead is not None and _Words.of(lead[0]).denials() == (0, 0)
    return sentence[lead.end() :] if lead and is_plain else ""


def leads_elsewhere(sentence: str, chapter: str) -> bool:
    """Whether the words that introduce a sentence name another chapter by its number: "In chapter 3,"."""
    lead = _LEAD.match(sentence)
    led = _CHAPTER.search(lead[0]) if lead else None
    number = number_value(led[1]) if led else None
    own = {number_value(word) for word in re.findall(r"\w+", chapter)} - {None}
    return bool(own) and number is not None and number not in own


def _repeats(said: _Words, candidate: _Candidate, names: frozenset[str]) -> bool:
    """Whether a sentence says no more than the book does; its adverbs may stand elsewhere in it."""
    if _places(said, candidate, names):
        return True
    places = _places(said.still, candidate, names) if said.adverbs and len(candidate.sentences) == 1 else []
    return bool(places) and set(said.adverbs.values()).issubset(
        candidate.words.telling[max(places[0] - 1, 0) : places[-1] + 2]
    )


def _places(said: _Words, candidate: _Candidate, names: frozenset[str]) -> list[int]:
    """The places of the meaningful words in the book's sentences; none if these do not say as much."""
    book = candidate.words
    stand_ins = names & candidate.before if _SUBJECTS.intersection(book.folded[:1]) else frozenset()
    stand_ins |= names & candidate.teller if not _TELLERS.isdisjoint(book.folded) else frozenset()
    wanted = [*said.telling]
    while wanted and wanted[0] in stand_ins:
        del wanted[0]
    places = _in_order(wanted, book.telling)
    if len(places) < FEWEST_TELLING or _asks(candidate.sentences[0].text):
        return []
    turns = said.turns[len(said.telling) - len(wanted) :]
    pronoun = next((word for word in said.folded if not is_movable_adverb(word)), "")
    if pronoun in _FORMS and candidate.is_meant_by(pronoun, places[0]):
        turns = (turns[0] - {pronoun}, *turns[1:])
    is_joined = len(candidate.sentences) == 1 or _joins(places, candidate.opening)
    is_alike = is_joined and _turns_alike(turns, book, places)
    return places if is_alike and said.denials() == book.denials(places[-1] + 1) else []


_CLOSERS = "\"'”’“»«›」』*_) \xa0\u202f"


def _asks(sentence: str) -> bool:
    return sentence.rstrip(_CLOSERS).endswith(("?", "？"))


def _joins(places: Sequence[int], opening: int) -> bool:
    """Whether words of both sentences occur, and hardly any are missing where these meet."""
    before = bisect_left(places, opening)
    if min(before, len(places) - before) < LEAST_OF_EACH:
        return False
    return places[before] - places[before - 1] <= 2


def _in_order(wanted: Sequence[str], telling: Sequence[str]) -> list[int]:
    """The places of the wanted words; none if they do not all occur in this order."""
    places: list[int] = []
    for word in wanted:
        start = places[-1] + 1 if places else 0
        within = telling[start : start + MOST_SKIPPED + 1] if places else telling
        if word not in within:
            return []
        places.append(start + within.index(word))
    return places


def _turns_alike(said: Sequence[frozenset[str]], book: _Words, places: Sequence[int]) -> bool:
    """Whether what turns the words of the answer stands at the same places in the book."""
    start = 0
    for turns, at in zip(said, [*places, places[-1] + 1], strict=True):
        there = frozenset().union(*book.turns[start : at + 1])
        if not turns <= there.union(*(_RETOLD[person] for person in there & _RETOLD.keys())):
            return False
        start = at + 1
    return True


FEWEST_WORDS_CLAIMED = 5
"""Words of a claim; fewer are one if somebody is told to do something."""

_REFERENCE = lazily(r"\((?:about )?pp?\. [^()\n]+\)")
_MARK = "\ue000"
"""Stands for a reference while sentences are split: the full stop in "p. 12" does not end a sentence."""

_BLANKS = lazily(r"\s{2,}")
_LEADING_MARKS = lazily(rf"[{_MARK}\s]+[.,;]?")
_NOT_PROSE = lazily(r"\s*(?:-#\s|```|\||(?:[^:;]+: \d+(?:;\s|\s*$))+$)")
"""Small print, code, tables, tallies ("The Arrival: 2; The Key: 1")."""
_BLOCK_QUOTATION = lazily(rf"\s*>.*{_MARK}")
_LINE_LEAD = lazily(r"\s*(?:(?:[-*+>]|\d{1,3}[.)])\s+)*")
_OF_TALK = lazily(
    rf"\b(?:i(?:['’](?:m|ve))?(?:\s(?:also|only|just|still))?|ich)\s{any_of('i_in_talk')}|\b{any_of('i_in_talk')}\sich\b"
    rf"|\byou\s{any_of('you_in_talk')}|\b{any_of('before_you')}\syou\b|\byour\s(?:\w+\s)?{any_of('yours_in_talk')}"
    rf"|\b(?:my|our)\s{any_of('mine_in_talk')}|\bwe\s{any_of('we_in_talk')}|\b{any_of('in_talk')}"
    rf"|(?:^\W*|[,;:–—]\s|\b(?:please|just|or|and)\s){any_of('asking')}\sm(?:e|ir|ich)\b|(?<!\S)/[a-z]+\b"
)
"""What is said to the reader rather than of the book, as it reads; who tells a story may be an "I", too."""
_ASIDE = lazily(r",\s(?:i\s(?:think|believe|suppose|guess)|you\sknow)(?=\W*\Z)|\A\W*you\ssee,\s", re.IGNORECASE)
_QUOTES = r"(?:says|said|writes|wrote|replies|replied|sagt|sagte|schreibt|schrieb|dit|écrit|dice|escribe)"
_REPORTED = lazily(
    rf"(?<!\bi )(?<!\bwe )(?<!\byou )\b{_QUOTES}[,:]?\s(?:I|you|my|your|ich|du|meine?|deine?|je|tu|yo)\b"
    rf"|[,.!?]\s{_QUOTES}\s[^\W\d_]",
    re.IGNORECASE,
)
"""What somebody in the book says is a claim, also by "I" and "you"; its marks are gone if it does not stand there."""
_SAYS_NOTHING = lazily(r"\W*(?:no|nothing|nobody|none|not|nichts|kein\w*|niemand)\b", re.IGNORECASE)
"""What follows "I find" in an answer that claims nothing."""


async def uncited_in(answer: str) -> tuple[str, ...]:
    """As `find_uncited`, off the event loop if the answer is long."""
    return await in_thread_if_long(answer, LONG_ANSWER, partial(find_uncited, answer))


def find_uncited(answer: str) -> tuple[str, ...]:
    """The claims in an answer that have no reference, in order."""
    plain = (_BLANKS.sub(" ", line.rstrip()) for line in answer.splitlines())
    lines = (line for line in plain if line and not (is_heading(line) or _NOT_PROSE.match(line)))
    return tuple(sentence for line in lines for sentence in _sentences(line) if _is_bare_claim(sentence))


def _sentences(line: str) -> list[str]:
    """The sentences of a line; a reference after a full stop belongs to the sentence before it. Hidden spans are
    neither judged nor repeated.
    """
    line = _REFERENCE.sub(_MARK, "".join(span.text for span in spans(line) if not span.is_hidden))
    if _BLOCK_QUOTATION.match(line):
        return []
    lead = _LINE_LEAD.match(line)
    text = line[lead.end() :] if lead else line
    sentences: list[str] = []
    for start, end in pairwise([*starts_of_sentences(text), len(text)]):
        sentence = text[start:end].rstrip()
        leading = _LEADING_MARKS.match(sentence)
        if leading and sentences:
            sentences[-1] += _MARK
            sentence = sentence[leading.end() :].strip()
        if sentence:
            sentences.append(sentence)
    return sentences


def _is_bare_claim(sentence: str) -> bool:
    if _MARK in sentence or sentence.rstrip(_CLOSERS).endswith(("?", "？", ":")):
        return False
    words = words_of(sentence)
    fewest = FEWEST_DENSE if any(map(is_dense, words)) else FEWEST_WORDS_CLAIMED
    return (len(words) >= fewest or says_something(sentence)) and not _is_of_talk(sentence)


def _is_of_talk(sentence: str) -> bool:
    """Whether a sentence is said to the reader. "I think that" is, but not what follows."""
    told = _introduced(sentence)
    claim = sentence if _SAYS_NOTHING.match(told) else told or sentence
    is_reported = _REPORTED.search(sentence) is not None
    return not is_reported and _OF_TALK.search(fold_letters(_ASIDE.sub("", claim))) is not None
