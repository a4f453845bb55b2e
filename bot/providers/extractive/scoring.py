"""How well each candidate answers a question: a few measured features, each with a fitted weight."""

import math
import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from bot.providers.extractive.language import (
    FEATURES,
    LITTLE_WORDS,
    Language,
    expected_in,
    has_run,
    split_words,
    stems_of,
    telling_stems,
    tells_of_people,
    together,
)
from bot.providers.extractive.question import (
    ALIKE,
    FULL_NAME,
    Question,
    QuestionKind,
    is_title,
    kind_of,
)
from bot.providers.extractive.quotation import NOTHING, Candidate, Choice, Confidence, is_telling, without_others
from bot.providers.extractive.signs import (
    ALMOST,
    CAUSE,
    CUES,
    DATED,
    Cues,
    has_number,
    has_relative,
    introduces,
    is_counted,
    is_full_name,
    is_said_of,
    measure_in,
    measured_in,
    names_a_place,
    names_in,
    number_with,
    relation_in,
    relative_named,
    role_holders,
    says_where,
    texts_with_line,
    where_told,
)
from domain.book import Sentence
from domain.library.search.words import fold, words_of
from domain.reading.recap import is_role, role_given

WEIGHTS = {name: weight for group in FEATURES.values() for name, weight in group.items()}

_STEEP, _FLAT, _AFTERWARDS = 0.5, 0.78, 0.6
"""The remaining weight of a word one sentence away: nearby, in the same scene, and only afterwards."""

_SAME_SCENE = 4
"""Sentences for which somebody who was named is mostly "he" or "she"."""
_MOST_EXPECTED = 2
"""Words of the sort asked for that count in one sentence."""

_ASKS = re.compile("[?？]")
_QUOTES = re.compile('["“”«»„「」‘]')
_NAME = re.compile(r"(?<=[^.!?\"“\s] )[A-Z]\w+")
"""A capitalised word that does not begin a sentence."""


class Evidence:
    """Where the words of a question occur among the candidates, and how telling each of them is there."""

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
        self.question = question
        self.texts, self.candidates = without_others(question, candidates)
        self._runs = [candidate.run for candidate in candidates]
        self.sets = [frozenset(candidate.stems) for candidate in candidates]
        held = {term.stem: sum(not term.stems.isdisjoint(each) for each in self.sets) for term in question.terms}
        self.weight = {term.stem: term.weight * _rarity(held[term.stem], len(candidates)) for term in question.terms}
        self.subject = question.names or frozenset(self.weight)
        self._hits = {
            term.stem: [term.strength_in(candidate.stems) for candidate in candidates] for term in question.terms
        }
        self.runs = question.runs
        self.quoted = [each for each in question.quoted if any(has_run(each, other.stems) for other in candidates)]
        texts = (each.words.split() for each in self.candidates)
        self.lines = texts_with_line(words_of(fold(question.text)), question.of_a_line, texts)
        self.asked = {word.lower() for word in question.text.split()} | LITTLE_WORDS[question.language]
        is_what = QuestionKind.WHAT in (question.kind, kind_of(question.text, question.language))
        own = {*stems_of(question.text, question.language)}
        self.expected = expected_in(question.text) - own if is_what else frozenset[str]()
        relation = stems_of(relation_in(question.text), question.language)
        self.relatives = {key for term in question.terms if term.stem in relation for key in (term.stem, *term.others)}
        self._total = sum(self.weight.values()) or 1.0
        self.here = self._cover(lambda hits: hits)
        self.near = self._cover(lambda hits: _both_ways(hits, self._runs, _STEEP))
        self.explains = not tells_of_people(" ".join(self.texts), question.language)
        self.wide = self._cover(lambda hits: _both_ways(hits, self._runs, _FLAT))
        self.behind = self._cover(lambda hits: _onwards(hits, self._runs, _AFTERWARDS))

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The names among the candidates, folded, without those in the question."""
        told = "\n".join(candidate.text for candidate in self.candidates)
        asked = {*stems_of(self.question.text, self.question.language), *self.question.names}
        found = names_in(told, self.question.language)
        return frozenset(name for name in found if asked.isdisjoint(stems_of(name, self.question.language)))

    @cached_property
    def first_named(self) -> int | None:
        """The first candidate with all of the subject."""
        return next((at for at in range(len(self.sets)) if self.share(self.subject, at) >= 1.0), None)

    def lacks_names(self) -> bool:
        """Whether the question names somebody and none of its names occurs."""
        return bool(self.question.names) and not any(self.question.names & stems for stems in self.sets)

    def names_alone(self) -> bool:
        """Whether the question has names, and no words besides that say what is wanted."""
        question = self.question
        own = {term.stem for term in question.terms if term.weight >= ALIKE}
        return bool(own) and own <= question.names and question.kind is not QuestionKind.WHO_IS

    def is_about_it(self, at: int) -> bool:
        """Whether a name in the question, and each verb with a particle, occur in a candidate or shortly before it."""
        names, runs = self.question.names, self._runs
        near = [i for i in range(max(0, at - _SAME_SCENE), min(at + 2, len(runs))) if runs[i] == runs[at]]
        verbs = (self._hits[term.stem] for term in self.question.terms if term.particle)
        is_named = not names or any(names & self.sets[i] for i in near)
        return is_named and all(max(hits[i] for i in near) >= ALIKE for hits in verbs)

    def share(self, stems: frozenset[str], at: int) -> float:
        """The share of these words' weight that a candidate has."""
        total = sum(self.weight[stem] for stem in stems)
        return sum(self.weight[stem] for stem in stems & self.sets[at]) / total if total else 0.0

    def share_above(self, at: int) -> float:
        """The share of the question's words that the heading above a candidate has, in a book that explains things."""
        above = self.candidates[at].above if self.explains else ()
        return sum(self.weight[t.stem] * t.strength_in(above) for t in self.question.terms) / self._total

    def expected_at(self, at: int) -> float:
        return min(_MOST_EXPECTED, len(self.expected & self.sets[at]))

    def previous(self, at: int) -> int | None:
        return self._beside(at, at - 1)

    def following(self, at: int) -> int | None:
        return self._beside(at, at + 1)

    def _beside(self, at: int, other: int) -> int | None:
        return other if 0 <= other < len(self._runs) and self._runs[other] == self._runs[at] else None

    def _cover(self, spread: Callable[[list[float]], list[float]]) -> list[float]:
        cover = [0.0] * len(self.candidates)
        for stem, weight in self.weight.items():
            for at, strength in enumerate(spread(self._hits[stem])):
                cover[at] += weight * strength
        return [value / self._total for value in cover]


def scores(evidence: Evidence) -> list[float]:
    """The confidence in each candidate; the sum is 1."""
    sums = [sum(WEIGHTS[name] * value for name, value in row.items()) for row in features(evidence)]
    top = max(sums, default=0.0)
    parts = [math.exp(value - top) for value in sums]
    return [part / sum(parts) for part in parts]


def features(evidence: Evidence) -> list[dict[str, float]]:
    """The measured features of each candidate."""
    factor = _ONLY_NAMES if evidence.names_alone() else 1.0
    return [
        {**_by_words(evidence, at), **{name: value * factor for name, value in _by_kind(evidence, at).items()}}
        for at in range(len(evidence.candidates))
    ]


_ONLY_NAMES = 1.5
"""How much more the signs of an answer count where a question has no words but names: "How old is Ann?"."""


def _by_words(evidence: Evidence, at: int) -> dict[str, float]:
    candidate, question = evidence.candidates[at], evidence.question
    return {
        "wide": evidence.wide[at],
        "behind": evidence.behind[at],
        "pairs": together([t.stem for t in question.terms if t.weight == 1.0], candidate.stems),
        "names": evidence.share(question.names, at),
        "standing": candidate.standing,
        "length": math.log1p(candidate.length),
        "verbatim": _verbatim(evidence, at),
        "is speech": _found(_QUOTES, candidate.text),
        "is question": _found(_ASKS, candidate.text),
        "where told": where_told(candidate.end / evidence.candidates[-1].end, question.text),
        "headed": evidence.share_above(at),
    }


def _by_kind(evidence: Evidence, at: int) -> dict[str, float]:
    """Features for the kind of answer that is wanted."""
    question, text = evidence.question, evidence.texts[at]
    cues = CUES[question.language]
    match question.kind:
        case QuestionKind.HOW_MANY:
            counted = any(is_counted(text, term.word, cues) for term in question.terms[:1])
            return {"number": has_number(text, question.text, cues), "counted": float(counted)}
        case QuestionKind.HOW_MUCH:
            priced = number_with(cues, cues.money, text)
            return {"number": float(priced and has_number(text, question.text, cues)), "priced": priced}
        case QuestionKind.HOW_LONG:
            return {"number": has_number(text, question.text, cues), "measured": measured_in(text, question.text, cues)}
        case QuestionKind.WHERE:
            return {
                "place": min(3.0, len(cues.place.findall(text))),
                "named place": float(names_a_place(text, question.text)),
            }
        case QuestionKind.WHY:
            reasons = (cues.reason, cues.because, cues.purpose)
            return {"cause": _found(CAUSE, text), "reason": max(_found(each, text) for each in reasons)}
        case QuestionKind.WHO_IS:
            return _introduction(evidence, at, cues)
        case QuestionKind.WHO:
            named = {
                "new name": float(_has_new(evidence, _NAME.findall(text))),
                "holder": _names_the_holder(evidence, at),
            }
            return {**named, "related": _names_a_relative(evidence, at)}
        case QuestionKind.NAMED:
            full = FULL_NAME.search(question.text) and is_full_name(question.name_pattern, text)
            calls = [not is_title(word) for word in cues.called.findall(text)]
            named = {
                "new name": float(_has_new(evidence, _NAME.findall(text))),
                "called": float(any(calls)) or ALMOST * len(calls[:1]),
            }
            return {**named, "full name": float(bool(full)), "related": _names_a_relative(evidence, at)}
        case QuestionKind.WHAT if question.language is Language.ENGLISH:
            return {"expected": evidence.expected_at(at), "defined": float(question.is_defined_in(text))}
        case QuestionKind.LOOKS | QuestionKind.SCENE:
            looks = cues.looks if question.kind is QuestionKind.LOOKS else cues.sights
            return {"looks": min(5.0, len(looks.findall(text)))}
        case kind:
            signs = {
                QuestionKind.WHEN: {"time": cues.time, "dated": DATED},
                QuestionKind.HAPPENED: {"fate": cues.fate},
                QuestionKind.FELT: {"feeling": cues.feeling},
                QuestionKind.SAID: {"speech": cues.speech},
            }
            return {name: _found(pattern, text) for name, pattern in signs.get(kind, {}).items()}


def _introduction(evidence: Evidence, at: int, cues: Cues) -> dict[str, float]:
    """A feature for sentences that introduce somebody: at the first occurrence of the name, and explicitly."""
    text, name, subject = evidence.texts[at], evidence.question.name_pattern, evidence.subject
    named = evidence.share(subject, at)
    says_it = named > 0 and (evidence.expected_at(at) > 0 or not evidence.expected)  # "my friend" is no profession
    if says_it and evidence.candidates[at].length <= _FEW:  # "Your name is Ann."
        says_it = not subject >= telling_stems(text, evidence.question.language)
    return {
        "expected": evidence.expected_at(at) * (named > 0),
        "introduced": float(says_it and introduces(name, text, cues.naming)),
        "role": role_given(name, text) / 2 if says_it else 0.0,
        "only speaks": float(named > 0 and _found(_QUOTES, text) * _found(cues.speech, text)),
        "first named": float(at == evidence.first_named),
    }


def _names_the_holder(evidence: Evidence, at: int) -> float:
    """Whether a sentence names somebody for a role that is asked about: "who is the captain": "Captain Ahab"."""
    roles = [term.word for term in evidence.question.terms if is_role(term.word)]
    return float(bool(roles) and _has_new(evidence, role_holders(roles, evidence.candidates[at].text)))


def _has_new(evidence: Evidence, capitalised: Sequence[str]) -> bool:
    """Whether one of these words is new; in German, where every noun has a capital, whether one is a new name."""
    new = (word for word in capitalised if word.lower() not in evidence.asked)
    return any(evidence.question.language is not Language.GERMAN or fold(word) in evidence.known_names for word in new)


def _names_a_relative(evidence: Evidence, at: int) -> float:
    """Whether a name that is not in the question stands with the word for a relative that is."""
    if not evidence.relatives:
        return 0.0
    words = split_words(evidence.texts[at], evidence.question.language)
    return relative_named(words, evidence.candidates[at].stems, evidence.relatives, evidence.known_names)


def _is_their_relative(evidence: Evidence, at: int) -> bool:
    """Whether a sentence names a relative, and says that it is that of a name in the question, if there is one."""
    question, text, named = evidence.question, evidence.texts[at], _names_a_relative(evidence, at) > 0
    if not (named and question.names):
        return named
    return has_relative(question.name_pattern, _words_of(evidence, at, evidence.relatives), text)


def _words_of(evidence: Evidence, at: int, stems: Collection[str]) -> list[str]:
    words = split_words(evidence.texts[at], evidence.question.language)
    return [word for word, stem in zip(words, evidence.candidates[at].stems, strict=True) if stem in stems]


_QUOTED, _LINE = 3.0, 1.3
"""How much more words in quotation marks count than a run of others, and a run that is all a question is about."""


def _verbatim(evidence: Evidence, at: int) -> float:
    """Whether a run of words of the question occurs verbatim; more if they are in quotation marks there."""
    stems = evidence.candidates[at].stems
    run = any(has_run(each, stems) for each in evidence.runs)
    return run + _LINE * (at in evidence.lines) + _QUOTED * sum(has_run(each, stems) for each in evidence.quoted)


def _found(pattern: re.Pattern[str], text: str) -> float:
    return float(bool(pattern.search(text)))


def _rarity(holders: int, among: int) -> float:
    return math.log(1 + (among - holders + 0.5) / (holders + 0.5))


def _onwards(hits: list[float], runs: list[int], decay: float) -> list[float]:
    """Each hit carried on to the following candidates of the same run, weaker by `decay` at every step."""
    carried: list[float] = []
    for at, hit in enumerate(hits):
        inherited = carried[-1] * decay if at and runs[at] == runs[at - 1] else 0.0
        carried.append(max(hit, inherited))
    return carried


def _both_ways(hits: list[float], runs: list[int], decay: float) -> list[float]:
    back = _onwards(hits[::-1], runs[::-1], decay)[::-1]
    return [max(pair) for pair in zip(_onwards(hits, runs, decay), back, strict=True)]


MOST_PIECES = 3
"""Quotations of one answer; sentences that follow each other in the book are one."""

MOST_WORDS = 150
"""Words quoted in one answer: three long sentences, or a very long first one, which is quoted all the same."""

_MORE_SPACE = 4 / 3
"""How much more is quoted where no candidate is sure."""

_RUNS_ON = 2.0
"""How much more a neighbour of what is quoted counts: what answers a question often runs over two sentences."""

_FEW = 6
"""Words as which any shorter sentence counts: an exclamation is worth little beside what is quoted."""

_ENOUGH = 0.9
"""The total confidence after which nothing more is quoted."""

_FAR_BEHIND, _VERY_FAR_BEHIND = 0.1, 0.03
"""The share of the best candidate's confidence below which nothing is quoted beside it: if that is sure, and if not."""
_SURE = 0.45
"""The confidence from which the best candidate is sure: below it there are others as good."""

_FIRM, _FAINT, _GENERAL = 0.5, 0.25, 0.5
"""The share of the question's words near what is quoted, above which it is an answer and below which it is none; the
last for a question that may be about anything: "Who is the richest man in the world?".

On questions put to their own book, 86 % are above the first and 1 % below the second; put to another, 21 % and 28 %.
"""


def choose(
    evidence: Evidence, told: Collection[Sentence] = (), *, most_words: int = MOST_WORDS, most: int = MOST_PIECES
) -> Choice:
    """Take the best candidates until the confidence is sufficient, or the space is used up. If some sentences were
    `told` before, it is asked what follows from them.
    """
    if not evidence.candidates or evidence.lacks_names():
        return NOTHING
    shares = scores(evidence)
    chosen = _best(evidence, shares, told, most_words, most)
    cover = max(evidence.near[at] for at in chosen)
    question = evidence.question
    is_told = question.names or question.story or evidence.quoted or evidence.lines
    if not is_told and cover < (_GENERAL if question.is_general else _FAINT):
        return NOTHING
    best = max(chosen, key=shares.__getitem__)
    is_sure = shares[best] >= _SURE and evidence.is_about_it(best) and _may_show_it(evidence, best)
    confidence = Confidence.NEAR if cover < _FIRM else Confidence.FIRM if is_sure else Confidence.LIKELY
    shows_it = _shows_it(evidence, best)
    if shows_it and confidence is Confidence.FIRM and measure_in(question.text):
        chosen = [at for at in chosen if _shows_it(evidence, at)]  # nobody else's age
    return Choice(tuple(evidence.candidates[at] for at in sorted(chosen)), confidence, shows_it)


_SIGNS: dict[QuestionKind, tuple[str, ...]] = {
    QuestionKind.HOW_MANY: ("counted",),
    QuestionKind.HOW_LONG: ("measured",),
    QuestionKind.WHEN: ("time", "dated"),
    QuestionKind.WHY: ("cause",),
    QuestionKind.WHO_IS: ("introduced", "role"),
    QuestionKind.NAMED: ("called", "full name", "related"),
    QuestionKind.LOOKS: ("looks",),
    QuestionKind.SCENE: ("looks",),
    QuestionKind.FELT: ("feeling",),
    QuestionKind.SAID: ("speech",),
}
"""The features of which a sentence that surely answers has one."""

_OWN = "(?:['’]s?)?"
_STANDS_IN = re.compile(r"\W*\b(?P<pronoun>s?he|er|sie|ils?|elles?|él|ella)\b", re.IGNORECASE)


def _shows_it(evidence: Evidence, at: int) -> bool:
    """Whether a candidate has a sign of the answer, which belongs to the one asked about where that can be told."""
    question, text, signs = evidence.question, evidence.texts[at], _SIGNS.get(evidence.question.kind, ())
    cues = CUES[question.language]
    match question.kind:
        case QuestionKind.WHERE:
            return says_where(text, frozenset(evidence.weight), question.names, question.language)
        case QuestionKind.HOW_MUCH:
            return not (question.names or any(is_role(term.word) for term in question.terms))
        case QuestionKind.WHO_IS if not question.names and any(is_role(term.word) for term in question.terms):
            return _names_the_holder(evidence, at) > 0
        case QuestionKind.HOW_LONG if measure := measure_in(question.text):
            return _is_theirs(evidence, at, measure)
        case QuestionKind.HOW_MANY if question.names and not _is_theirs(evidence, at, cues.number):
            return False
        case QuestionKind.LOOKS | QuestionKind.FELT if question.names:
            return _is_theirs(evidence, at, cues.looks if question.kind is QuestionKind.LOOKS else cues.feeling)
        case QuestionKind.WHAT if question.asks_what_it_is and len(question.terms) == 1:
            return question.is_defined_in(text)
    shows_it = not signs or any(_by_kind(evidence, at)[sign] >= 1.0 for sign in signs)
    others = {key for term in question.terms if term.stem not in question.names for key in term.stems | term.others}
    if not (shows_it and question.names and others) or question.kind is QuestionKind.WHO_IS:
        return shows_it
    deeds = "|".join(map(re.escape, _words_of(evidence, at, others)))
    return bool(deeds) and _is_theirs(evidence, at, re.compile(rf"\b(?:{deeds})\b"), _OWN)


def _is_theirs(evidence: Evidence, at: int, sign: re.Pattern[str], own: str = "") -> bool:
    """Whether a sign is said of the one asked about, or of what they `own`, by name or by a pronoun that opens it."""
    name, others, text = evidence.question.name_pattern + own, evidence.known_names, evidence.texts[at]
    opening = _STANDS_IN.match(text) if _is_named_beside(evidence, at, name) else None
    by_pronoun = opening and is_said_of(rf"^\W*{opening['pronoun']}\b", sign, text, others)
    return bool(by_pronoun) or is_said_of(name, sign, text, others)


def _is_named_beside(evidence: Evidence, at: int, name: str) -> bool:
    """Whether a name is the last in the sentence before, or if that has none, the first in the next."""
    before = "" if evidence.previous(at) is None else evidence.texts[at - 1]
    after = "" if evidence.following(at) is None else evidence.texts[at + 1]
    *named, since = re.split(name, before, flags=re.IGNORECASE)
    if not named:
        until, *named = re.split(name, after, maxsplit=1, flags=re.IGNORECASE)
        since = f"{before} {until}"
    return bool(named) and evidence.known_names.isdisjoint(map(fold, words_of(since)))


def _may_show_it(evidence: Evidence, at: int) -> bool:
    """Whether a candidate has the number, the sum or the relative that is asked for, and is not just a line of which
    something is asked.
    """
    if at in evidence.lines and evidence.question.asks_about_a_line:
        return False
    match evidence.question.kind:
        case QuestionKind.HOW_MUCH:
            return evidence.here[at] >= _FIRM and not evidence.names_alone() and _by_kind(evidence, at)["priced"] == 1.0
        case QuestionKind.HOW_MANY:
            return _by_kind(evidence, at)["number"] > 0
        case _:
            return not evidence.relatives or _is_their_relative(evidence, at)


def _best(
    evidence: Evidence, shares: Sequence[float], told: Collection[Sentence], most_words: int, most: int
) -> list[int]:
    """The best candidates in up to `most` pieces; a neighbour of one that is chosen already makes it longer instead."""
    candidates = evidence.candidates
    tells = [not (each.is_heading or evidence.question.names >= {*each.stems}) for each in candidates]
    if told:
        tells = [it and evidence.behind[at] > 0 and candidates[at].sentence not in told for at, it in enumerate(tells)]
    ranking = sorted(range(len(candidates)), key=lambda at: (not tells[at], -shares[at], at))
    best, pieces, chosen = ranking[0], 1, ranking[:1]
    is_sure = shares[best] >= _SURE and _may_show_it(evidence, best)
    least = shares[best] * (_FAR_BEHIND if is_sure else _VERY_FAR_BEHIND)
    left = (most_words if is_sure else most_words * _MORE_SPACE) - candidates[best].length
    others, beside = [at for at in ranking if tells[at]], set[int | None]()
    while most > 1 and sum(shares[at] for at in chosen) < _ENOUGH:
        last = candidates[chosen[-1]]
        refrain = last.stems if is_telling(last) else None
        others = [at for at in others if candidates[at] is not last and candidates[at].stems != refrain]
        beside |= {evidence.previous(chosen[-1]), evidence.following(chosen[-1])}
        worth = {at: shares[at] * (_RUNS_ON if at in beside else 1) for at in others if at in beside or pieces < most}
        fitting = [at for at, value in worth.items() if value >= least and candidates[at].length <= left]
        if not fitting:
            break
        chosen.append(max(fitting, key=lambda at: worth[at] / max(candidates[at].length, _FEW)))
        pieces += chosen[-1] not in beside
        left -= candidates[chosen[-1]].length
    return chosen
