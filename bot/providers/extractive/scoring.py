"""How well each candidate answers: a few measured features, each with a fitted weight."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from bot.providers.extractive.language import CUES, LITTLE_WORDS, Cues
from bot.providers.extractive.question import Question, QuestionKind
from bot.providers.extractive.quotation import Candidate

WEIGHTS: dict[str, float] = {
    # Where the question's words stand.
    "wide": 3.5,
    "behind": 2.2,
    "pairs": 0.6,
    "names": -0.5,
    "standing": 2.3,
    "length": 0.6,
    # What is seldom an answer.
    "is speech": -0.2,
    "is question": -0.6,
    # Questions with a clause that says when or because of what.
    "main clause": 0.5,
    "after setting": 1.0,
    # Signs of the kind of answer that is wanted.
    "number": 1.5,
    "counted": 1.1,
    "measured": 0.5,
    "time": 0.7,
    "place": 0.6,
    "feeling": 2.6,
    "speech": 0.4,
    "new name": 0.7,
    "naming": 0.4,
    # Signs of a reason.
    "reason": 0.3,
    "because": 0.3,
    "purpose": 0.3,
    "hence follows": 0.4,
    # Introductions: set by hand, as the questions behind the others hardly ever ask who somebody is.
    "introduced": 1.2,
    "first named": 0.8,
    "only speaks": -0.8,
}


_STEEP, _FLAT, _AFTERWARDS = 0.5, 0.78, 0.6
"""What is left of a word's weight one sentence away from it: close by, in the same scene, and further on only."""

_ROOT = 5
"""Letters by which a word and its plural are the same."""

_PAIR_REACH = 4
"""Words within which two neighbouring words of the question count as standing together."""

_ASKS = re.compile("[?？]")
_QUOTES = re.compile('["“”«»„「」‘]')
_NAME = re.compile(r"(?<=[^.!?\"“\s] )[A-Z]\w+")
"""A capital that does not begin a sentence."""


class Evidence:
    """Where the words of a question stand among the candidates, and how telling each of them is there."""

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
        self.question = question
        self.candidates = candidates
        self._sets = [frozenset(candidate.stems) for candidate in candidates]
        known = Counter(stem for stems in self._sets for stem in stems)
        self.weight = {term.stem: term.weight * _rarity(known[term.stem], len(candidates)) for term in question.terms}
        self._total = sum(self.weight.values()) or 1.0
        self.here = self._cover(lambda hits: hits)
        self.near = self._cover(lambda hits: _both_ways(hits, self._runs, _STEEP))
        self.wide = self._cover(lambda hits: _both_ways(hits, self._runs, _FLAT))
        self.behind = self._cover(lambda hits: _onwards(hits, self._runs, _AFTERWARDS))

    def lacks_names(self) -> bool:
        """Whether the question names somebody and none of its names is anywhere."""
        names = self.question.names
        return bool(names) and not any(names & stems for stems in self._sets)

    def share(self, stems: frozenset[str], at: int) -> float:
        """The share of the weight of these words that a candidate has."""
        total = sum(self.weight[stem] for stem in stems)
        return sum(self.weight[stem] for stem in stems & self._sets[at]) / total if total else 0.0

    def previous(self, at: int) -> int | None:
        return at - 1 if self._is_with(at - 1, at) else None

    def following(self, at: int) -> int | None:
        return at + 1 if self._is_with(at + 1, at) else None

    def _is_with(self, other: int, at: int) -> bool:
        return 0 <= other < len(self.candidates) and self.candidates[other].run == self.candidates[at].run

    @property
    def _runs(self) -> list[int]:
        return [candidate.run for candidate in self.candidates]

    def _cover(self, spread: Callable[[list[float]], list[float]]) -> list[float]:
        cover = [0.0] * len(self.candidates)
        for stem, weight in self.weight.items():
            for at, strength in enumerate(spread([float(stem in stems) for stems in self._sets])):
                cover[at] += weight * strength
        return [value / self._total for value in cover]


def scores(evidence: Evidence) -> list[float]:
    """The share of confidence each candidate has; together they have 1."""
    sums = [sum(WEIGHTS[name] * value for name, value in row.items()) for row in features(evidence)]
    top = max(sums, default=0.0)
    parts = [math.exp(value - top) for value in sums]
    return [part / sum(parts) for part in parts]


def features(evidence: Evidence) -> list[dict[str, float]]:
    """What is measured of each candidate."""
    return [{**_by_words(evidence, at), **_by_setting(evidence, at), **_by_kind(evidence, at)} for at in _all(evidence)]


def _all(evidence: Evidence) -> range:
    return range(len(evidence.candidates))


def _by_words(evidence: Evidence, at: int) -> dict[str, float]:
    candidate, question = evidence.candidates[at], evidence.question
    text = candidate.text
    return {
        "wide": evidence.wide[at],
        "behind": evidence.behind[at],
        "pairs": _pairs(question, candidate),
        "names": evidence.share(question.names, at),
        "standing": candidate.standing,
        "length": math.log1p(candidate.length),
        "is speech": float(bool(_QUOTES.search(text))),
        "is question": float(bool(_ASKS.search(text))),
    }


def _by_setting(evidence: Evidence, at: int) -> dict[str, float]:
    question, previous = evidence.question, evidence.previous(at)
    if not question.setting:
        return {}
    own = frozenset(term.stem for term in question.terms) - question.setting
    return {
        "main clause": evidence.share(own, at),
        "after setting": evidence.share(question.setting, previous) if previous is not None else 0.0,
    }


def _by_kind(evidence: Evidence, at: int) -> dict[str, float]:
    question, text = evidence.question, evidence.candidates[at].text
    cues = CUES[question.language]
    match question.kind:
        case QuestionKind.HOW_MANY:
            return {"number": has_number(cues, text, question), "counted": _is_counted(question, text, cues)}
        case QuestionKind.HOW_LONG:
            return {"number": has_number(cues, text, question), "measured": _is_measured(text, cues)}
        case QuestionKind.WHEN:
            return {"time": _found(cues.time, text)}
        case QuestionKind.WHERE:
            return {"place": min(3.0, len(cues.place.findall(text)))}
        case QuestionKind.FELT:
            return {"feeling": _found(cues.feeling, text)}
        case QuestionKind.SAID:
            return {"speech": _found(cues.speech, text)}
        case QuestionKind.WHY:
            return _reasons(evidence, at, cues)
        case QuestionKind.WHO:
            return {"new name": float(_has_new_name(question, text)), "naming": _found(cues.naming, text)}
        case QuestionKind.WHO_IS:
            return _introduction(evidence, at, cues)
        case _:
            return {}


def _reasons(evidence: Evidence, at: int, cues: Cues) -> dict[str, float]:
    text, following = evidence.candidates[at].text, evidence.following(at)
    return {
        "reason": _found(cues.reason, text),
        "because": _found(cues.because, text),
        "purpose": _found(cues.purpose, text),
        "hence follows": _found(cues.hence, evidence.candidates[following].text) if following is not None else 0.0,
    }


def _introduction(evidence: Evidence, at: int, cues: Cues) -> dict[str, float]:
    """Who somebody is tends to be said where the name falls first, and in so many words."""
    question = evidence.question
    subject = question.names or frozenset(term.stem for term in question.terms)
    named = evidence.share(subject, at)
    earlier = any(evidence.share(subject, other) >= 1.0 for other in range(at))
    text = evidence.candidates[at].text
    return {
        "introduced": float(named > 0 and _introduces(question, text, cues)),
        "only speaks": float(bool(_QUOTES.search(text)) and named > 0 and _found(cues.speech, text)),
        "first named": float(named >= 1.0 and not earlier),
    }


def _introduces(question: Question, text: str, cues: Cues) -> bool:
    words = question.name_words or [term.word for term in question.terms]
    name = "|".join(map(re.escape, words))
    before, after = r"\b(?:the|an?|his|her|my)(?: \w+){1,2},?", r"(?:the|an?|his|her|my|our|their|whose?)\b"
    apposition = rf"\b(?:{name}),? {after}|{before} (?:{name})\b"
    told = rf"\b(?:{name})\b.{{0,20}}(?:{cues.naming.pattern})|(?:{cues.naming.pattern}).{{0,30}}\b(?:{name})\b"
    return bool(re.search(f"{apposition}|{told}", text, re.IGNORECASE))


def has_number(cues: Cues, text: str, question: Question) -> float:
    """Whether a sentence has a number that is not the question's own."""
    asked = {number.lower() for number in cues.number.findall(question.text)}
    return float(any(number.lower() not in asked for number in cues.number.findall(text)))


def _is_counted(question: Question, text: str, cues: Cues) -> float:
    """Whether a number stands right before what is to be counted ("how many posts": "sixty-two posts")."""
    if not question.terms:
        return 0.0
    counted = re.escape(question.terms[0].word[:_ROOT])
    return _found(re.compile(rf"{cues.number.pattern}(?:\W+\w+)?\W+{counted}", re.IGNORECASE), text)


def _is_measured(text: str, cues: Cues) -> float:
    return _found(re.compile(rf"{cues.number.pattern}(?:\W+\w+)?\W+{cues.unit.pattern}", re.IGNORECASE), text)


def _has_new_name(question: Question, text: str) -> bool:
    asked = {word.lower() for word in question.text.split()} | LITTLE_WORDS[question.language]
    return any(name.lower() not in asked for name in _NAME.findall(text))


def _pairs(question: Question, candidate: Candidate) -> float:
    """The share of neighbouring words of the question that stand together, in that order."""
    stems = [term.stem for term in question.terms if term.weight == 1.0]
    pairs = list(pairwise(stems))
    places: dict[str, list[int]] = {}
    for place, stem in enumerate(candidate.stems):
        places.setdefault(stem, []).append(place)
    close = [
        any(0 < second - first <= _PAIR_REACH for first in places.get(a, ()) for second in places.get(b, ()))
        for a, b in pairs
    ]
    return sum(close) / len(close) if close else 0.0


def _found(pattern: re.Pattern[str], text: str) -> float:
    return float(bool(pattern.search(text)))


def _rarity(holders: int, among: int) -> float:
    return math.log(1 + (among - holders + 0.5) / (holders + 0.5))


def _onwards(hits: list[float], runs: list[int], decay: float) -> list[float]:
    """Each hit carried on to what follows it in the same run, weaker by `decay` at every step."""
    carried: list[float] = []
    for at, hit in enumerate(hits):
        inherited = carried[-1] * decay if at and runs[at] == runs[at - 1] else 0.0
        carried.append(max(hit, inherited))
    return carried


def _both_ways(hits: list[float], runs: list[int], decay: float) -> list[float]:
    back = _onwards(hits[::-1], runs[::-1], decay)[::-1]
    return [max(pair) for pair in zip(_onwards(hits, runs, decay), back, strict=True)]


MOST_WORDS = 90
"""Words quoted in one answer; a first sentence that is longer is quoted all the same."""

MOST_PIECES = 4
_ENOUGH = 0.8
"""The share of confidence after which nothing more is quoted."""

_FAR_BEHIND = 0.1
"""The share of the best candidate's confidence below which nothing is quoted beside it."""

_FIRM, _FAINT = 0.5, 0.25
"""The share of the question's words near what is quoted, above which it is an answer and below which it is none.

On questions put to the book they belong to, 86 % are above the first and 1 % below the second; put to a book of the
same sort they do not belong to, 21 % and 28 %.
"""


class Confidence(StrEnum):
    FIRM = "firm"
    NEAR = "near"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates to quote, in book order."""

    candidates: tuple[Candidate, ...]
    confidence: Confidence


NOTHING = Choice((), Confidence.NONE)


def choose(evidence: Evidence, *, most_words: int = MOST_WORDS, most: int = MOST_PIECES) -> Choice:
    """Take the best candidates until there is confidence enough, or room no more."""
    if not evidence.candidates or evidence.lacks_names():
        return NOTHING
    shares = scores(evidence)
    chosen = _best(evidence.candidates, shares, most_words, most)
    cover = max(evidence.near[at] for at in chosen)
    if cover < _FAINT:
        return NOTHING
    confidence = Confidence.FIRM if cover >= _FIRM else Confidence.NEAR
    return Choice(tuple(evidence.candidates[at] for at in sorted(chosen)), confidence)


def _best(candidates: Sequence[Candidate], shares: Sequence[float], most_words: int, most: int) -> list[int]:
    ranking = sorted(range(len(candidates)), key=lambda at: (candidates[at].is_heading, -shares[at], at))
    best = ranking[0]
    chosen, words = [best], candidates[best].length
    for at in ranking[1:]:
        enough = len(chosen) == most or sum(shares[i] for i in chosen) >= _ENOUGH
        if enough or candidates[at].is_heading or shares[at] < _FAR_BEHIND * shares[best]:
            break
        if words + candidates[at].length <= most_words:
            chosen.append(at)
            words += candidates[at].length
    return chosen
