"""Signs of answers in a sentence: numbers and measures, times and places, names, what somebody is and to whom."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product, takewhile

from bot.providers.extractive.language import (
    CUE_WORDS,
    PAST,
    RELATIVES,
    SIGNS,
    WORDINGS,
    Language,
    alike,
    any_accents,
    is_little,
    stem,
    stems_of,
    written,
)
from domain.library.names import TITLES_OF_PEOPLE, NameRecognizer
from domain.library.search.phrases import LEAST_RUN
from domain.library.search.words import IRREGULAR_FORMS, fold, sound_of, without_possessive, words_of
from domain.reading.recap import NO_LINK, is_role, without_adverbial


@dataclass(frozen=True, slots=True)
class Cues:
    """Regular expressions for the signs of answers in a sentence, in one language.

    `unit` matches units of length, weight, age and time. `reason` joins a cause to its effect within the sentence;
    `because` is the weaker "for" and "as" of older books; `purpose` is a wish, an aim or a measure. `naming` introduces
    a person or thing, `called` gives it a name. `money`, `size` and `age` are units, `looks` words for somebody's
    appearance, `sights` for that of a place, `fate` for what became of somebody.
    """

    number: re.Pattern[str]
    unit: re.Pattern[str]
    time: re.Pattern[str]
    place: re.Pattern[str]
    reason: re.Pattern[str]
    because: re.Pattern[str]
    purpose: re.Pattern[str]
    feeling: re.Pattern[str]
    speech: re.Pattern[str]
    naming: re.Pattern[str]
    called: re.Pattern[str]
    money: re.Pattern[str]
    size: re.Pattern[str]
    age: re.Pattern[str]
    looks: re.Pattern[str]
    sights: re.Pattern[str]
    fate: re.Pattern[str]


CUES: dict[Language, Cues] = {
    Language(name): Cues(**{sign: re.compile(pattern) for sign, pattern in signs.items()})
    for name, signs in CUE_WORDS.items()
}


DATED, AGED, SIZED, CAUSE = (re.compile(SIGNS[sign], re.IGNORECASE) for sign in ("dated", "aged", "sized", "cause"))
"""A date; an age, because years alone are often a time; a size, because feet and yards alone are often a distance; and
words that state a cause or an aim, because the others that may, such as "since" and "lest", often mean something else.
"""
OLD = re.compile(r"\b(?:old|age|alt|âge|edad|años)\b", re.IGNORECASE)
LARGE = re.compile(
    r"\b(?:tall|big|large|high|deep|wide|far|long is|long was|gro(?:ß|ss)|hoch|tief|breit)\b", re.IGNORECASE
)


def introduces(name: str, text: str, naming: re.Pattern[str]) -> bool:
    """Whether a sentence says more about a name (a pattern): "the painter Crake", "one named Crake"."""
    before = rf"\b(?:the|an?|his|her|my)(?: {NO_LINK}\w+){{1,2}}(?:,(?= {name}(?:[^\w\s’']|$)))? {name}(?!['’]s)"
    after = rf"{name}, (?:the|an?|his|her|my|our|their)\b|{name},? whose?\b"
    link = rf"(?:{naming.pattern})(?! (?:at|for|on|out|to|up|upon)\b)"
    told = without_adverbial(name, text)
    return bool(re.search(rf"{before}|{after}|{name}.{{0,20}}{link}|{link}.{{0,30}}\b{name}", told, re.IGNORECASE))


_SHARE_OF_A_PLACE, _FEWEST_OF_A_PLACE = 0.12, 3
"""Of the mentions of a place, so many follow such words: in novels 0.14 or more, and of a person 0.08 or less."""


def is_place(name: str, text: str) -> bool:
    """Whether a name (a pattern) mostly follows words such as "in" and "to" in a text, like that of no person."""
    at = rf"(\b{SIGNS['at_a_place']} (?:(?:the|this|that|der|de[mn]|la|le|el) )?)?{name}(?!['’])"
    used = [found[1] for found in re.finditer(at, " ".join(text.split()))]
    return sum(map(bool, used)) >= max(_FEWEST_OF_A_PLACE, len(used) * _SHARE_OF_A_PLACE)


def role_holders(roles: Sequence[str], text: str) -> list[str]:
    """Names that have one of these roles: "the captain" of "Captain Ahab" or "Ahab is their captain"."""
    role = rf"(?i:{'|'.join(map(re.escape, roles))})"
    before = rf"\b{role},? (?:[A-Z]\w*\. )*([A-Z]\w+)"
    after = rf"\b([A-Z]\w+),? (?:\w+ ){{1,4}}{role}\b"
    return re.findall(before, text) + re.findall(after, text)


def defines(thing: str, text: str) -> bool:
    """Whether a text says what a thing (a pattern) is: "A splice is a joint", "called a splice", "Love is life"."""
    whole = rf"(?<!of )(?<!of the )(?:an? |the )?{thing}s?"
    is_one = r"(?: [\w/-]+){0,3} (?:is|are|was|were|means?|refers to|stands for) (?:an?|any|the|one|those|short|used)"
    is_all = rf"(?:{SIGNS['is_all']})"
    called = rf"\b(?:called|known as|termed) {whole}\b"
    return re.search(rf"\b{whole}{is_one}\b|{called}|(?<!of )\b{thing}{is_all}", text, re.IGNORECASE) is not None


_DEFINED, _PEOPLED = (
    re.compile(rf"\W*(?:{any_accents('|'.join(WORDINGS[each]))})\W*", re.IGNORECASE) for each in ("defined", "peopled")
)
_PEOPLE = re.compile(
    rf"\b(?:\d[\d,.]*\d\d|\w*(?:hundred|thousand|million|tausend|hundert)\w*)(?:\W+\w+){{0,2}}\W+(?:{SIGNS['people']})\b"
    r"|\bpopulation of\b",
    re.IGNORECASE,
)


def matters_in(asked: str) -> list[str]:
    """What is to be defined, if it is something that everybody knows, and what else it is called: "liberty" and
    "freedom" in "What is liberty?"; empty if there is none.
    """
    if not (found := _DEFINED.fullmatch(asked)):
        return []
    matter, spoken = next(filter(None, found.groups())), Language.ENGLISH
    return [matter, *written(alike([stem(matter, spoken)], spoken), spoken)]


def world_fact_in(asked: str) -> Callable[[str], bool] | None:
    """Whether a text states the fact that is asked for, if the world knows it and a novel hardly: what love is, or how
    many people live in London.
    """
    if matters := matters_in(asked):
        return partial(defines, rf"(?:{'|'.join(map(re.escape, matters))})")
    if found := _PEOPLED.fullmatch(asked):
        place = fold(next(filter(None, found.groups())).strip())
        return lambda text: place in fold(text) and _PEOPLE.search(text) is not None
    return None


_TRUTH_REACH = 8
"""Words within which those of a general truth stand."""


def is_general_truth(words: Sequence[str], stems: Sequence[str], text: str) -> bool:
    """Whether a text has all these words (stems) near each other in this order, and tells nothing as past."""
    places = [[at for at, each in enumerate(stems) if each == word] for word in words]
    near = (last for first, last in product(places[0], places[-1]) if 0 <= last - first <= _TRUTH_REACH)
    told = [*zip(words_of(text), stems, strict=False)]
    others = " ".join(word for word, each in told if each not in words)
    is_past = PAST.search(others) or any(each in words and fold(word) in IRREGULAR_FORMS for word, each in told)
    return all(places) and any(near) and not is_past


_RELATIVE = any_accents("|".join(RELATIVES))
_RELATION = re.compile(
    rf"(?:['’]s?|\b(?-i:[A-ZÄÖÜ])\w+s|\b(?:his|her|their|sein\w*|ihr\w*))"
    rf" (?:(?!and\b|und\b)\w+ ){{0,2}}?({_RELATIVE})\b"
    rf"|\b({_RELATIVE}) (?:of|von|des|der) \w",
    re.IGNORECASE,
)


@lru_cache(maxsize=16)  # a turn asks for the same question with each of its words
def relation_in(text: str) -> str:
    """The word for what somebody is to somebody else: "sister" in "Ann's younger sister"; empty if there is none."""
    found = _RELATION.search(text)
    return next(filter(None, found.groups())) if found else ""


_AFTER_ARTICLE = re.compile(
    r"\b(?:d(?:er|ie|as|en|em|es)|[kmds]?ein\w*|ihr\w*|unser\w*|dies\w*|jed\w*|[iau]m|in|ins|zu[mr]?|vo[mr]|beim|alle\w*)"
    r" (?:[a-zäöü]\w*e[nrs]? )?([A-ZÄÖÜ]\w+)"
)


def names_in(text: str, language: Language) -> frozenset[str]:
    """The names in a text, folded; in German, also words with a capital that stand twice and never with an article."""
    recognizer = NameRecognizer()
    recognizer.add(text)
    found = frozenset(map(fold, recognizer.names()))
    if language is Language.GERMAN:
        nouns = set(_AFTER_ARTICLE.findall(text))
        often = Counter(re.findall(r"(?<=[a-zäöüß,»-] )»?([A-ZÄÖÜ]\w+)", text))
        found |= {fold(word) for word, count in often.items() if count > 1 and word not in nouns}
        found -= {word for word in found if is_role(word) or is_little(word, language) or word in TITLES_OF_PEOPLE}
    return found


_RELATIVE_REACH = 4
"""Words between what somebody is and the name, at most: "her daughter, a girl named Ann"."""


def relative_named(
    words: Sequence[str], stems: Sequence[str], relatives: Collection[str], names: Collection[str]
) -> float:
    """1 if one of these names (folded) stands beside the word for a relative (a stem), half if it stands nearby."""
    folded = [fold(without_possessive(word)) if word[0].isupper() else "" for word in words]
    places = [at for at, stem in enumerate(stems) if stem in relatives and without_possessive(words[at]) == words[at]]
    near = [abs(name - place) for name, word in enumerate(folded) if word in names for place in places]
    nearest = min(near, default=_RELATIVE_REACH + 1)
    return 0.0 if nearest > _RELATIVE_REACH else 1.0 if nearest == 1 else 0.5


def has_relative(name: str, relatives: Sequence[str], text: str) -> bool:
    """Whether one of these relatives is said to be that of a name (a pattern)."""
    relative = rf"(?:{'|'.join(map(re.escape, relatives))})\b"
    owned = rf"{name}(?:['’]s?)?(?: \w+){{0,2}} {relative}|{relative} (?:of|to|von|de|du) (?:\w+\.? )?{name}"
    his = rf"{name}.{{0,80}}\b(?:his|her|sein\w*|ihr\w*|s[ao]n?|ses|su)(?: [\w-]+){{0,3}} {relative}"
    return re.search(f"{owned}|{his}", text, re.IGNORECASE) is not None


_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Doctor|Professor|Aunt|Uncle|Madame?|Herr|Frau|Monsieur|Señora?)\b"


def is_full_name(name: str, text: str) -> bool:
    """Whether another name stands with this one (a pattern): "Ann" in "Ann Marsh", "Marsh" in "Ann Marsh"."""
    return re.search(rf"{name} (?:[A-Z]\. )?[A-Z][a-z]+|(?<=[a-z,] )(?!{_TITLE})[A-Z][a-z]+ {name}", text) is not None


_WORD = re.compile(r"\w+")
_UNIT_REACH = 3
"""Words behind a number among which its unit is."""

_APART = 0.25
"""What a number and a unit count that do not belong together."""


ALMOST = 0.9
"""What a weak sign counts that is as often right as a sure one: any title for a name, any length for a height."""


def number_with(cues: Cues, unit: re.Pattern[str], text: str) -> float:
    """1 for a number of this unit ("forty feet"), a part for a number and the unit in different places."""
    numbers = [match.end() for match in cues.number.finditer(text)]
    if not numbers or not unit.search(text):
        return 0.0
    behind = (" ".join(_WORD.findall(text[end:])[:_UNIT_REACH]) for end in numbers)
    return 1.0 if any(map(unit.search, behind)) else _APART


def measure_in(asked: str) -> re.Pattern[str] | None:
    """The ages or sizes that are asked for, which belong to somebody or something; None for any other measure."""
    return AGED if OLD.search(asked) else SIZED if LARGE.search(asked) else None


def measured_in(text: str, asked: str, cues: Cues) -> float:
    """Whether a text has a number with the unit that is asked for: years of an age, feet of a height."""
    if OLD.search(asked):
        return max(number_with(cues, cues.age, text) / 2, float(AGED.search(text) is not None))
    if LARGE.search(asked):
        return max(ALMOST * number_with(cues, cues.size, text), float(SIZED.search(text) is not None))
    return number_with(cues, cues.unit, text)


_CLAUSE_BETWEEN = re.compile(
    r"[.;:!?()—“”\"]|--|\b(?:and|but|or|than|that|which|whom?|whose|when|while|as|since|because|if|his|her|their|my|your"
    r"|und|aber|oder|dass|de[mnr]en|wenn|weil|sein\w*|ihr\w*|et|mais|ou|que?i?|dont|s[ae]s?|son|y|pero|cuando|su)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r",? (?:who|der|die|qui|que|quien)\b")
_OBLIQUE = re.compile(r"\b(?:of|to|with|from|by|for|than|at|von|mit|bei|zu|für|als|de|à|du|con|para) $", re.IGNORECASE)
_MOST_BETWEEN, _MOST_BEFORE = 10, 4
"""Words between somebody and what is said of them, and between what is said first and them."""


def is_said_of(name: str, sign: re.Pattern[str], text: str, others: Collection[str]) -> bool:
    """Whether a sign belongs to a name (a pattern): no other of these names (folded) and no new clause is between."""
    for found, named in product(sign.finditer(text), re.finditer(rf"{name}(?!['’]s?\b)", text, re.IGNORECASE)):
        is_before = named.start() < found.start()
        between = text[named.end() : found.start()] if is_before else text[found.end() : named.start()]
        words = words_of(between := _WHO.sub("", between, count=1) if is_before else between)
        is_subject = _OBLIQUE.search(text[: named.start()]) is None
        is_near = len(words) <= (_MOST_BETWEEN if is_before else _MOST_BEFORE) and not _CLAUSE_BETWEEN.search(between)
        if is_subject and is_near and {fold(word) for word in words}.isdisjoint(others):
            return True
    return False


def has_number(text: str, asked: str, cues: Cues) -> bool:
    """Whether a text has a number that is not in the question."""
    known = {number.lower() for number in cues.number.findall(asked)}
    return any(number.lower() not in known for number in cues.number.findall(text))


_ROOT = 5
"""Initial letters that identify a word with its plural."""


def is_counted(text: str, word: str, cues: Cues) -> bool:
    """Whether a number directly precedes what is to be counted ("how many posts": "sixty-two posts")."""
    counted = rf"{cues.number.pattern}(?:\W+\w+)?\W+{re.escape(word[:_ROOT])}"
    return re.search(counted, text, re.IGNORECASE) is not None


_PLACE_NAME = re.compile(
    r"\b(?:in|at|near|from|to|of|on|through|towards?|nach|aus|bei|à|de|en|a) (?:the )?([A-ZÀ-Þ][\w’'-]+)"
)


def names_a_place(text: str, asked: str) -> bool:
    """Whether a name that is not in the question follows a word such as "in" or "at"."""
    known = {word.lower().strip("?.,!’'s") for word in asked.split()}
    return any(name.lower() not in known for name in _PLACE_NAME.findall(text))


_BESIDE = 4
"""Words before a place among which is what is there, and words that name the place."""
_PLACE_WORDS = 3
"""Words of a place up to its noun: "to the house"."""


def says_where(text: str, asked: frozenset[str], names: frozenset[str], language: Language) -> bool:
    """Whether a place follows a word of the question (stems), if possible none of its names, and is none that the
    question has itself.
    """
    for place in CUES[language].place.finditer(text):
        there, named = text[: place.start()].split()[-_BESIDE:], text[place.start() :].split()[:_BESIDE]
        is_there = not (asked - names or asked).isdisjoint(stems_of(" ".join(there), language))
        is_somebody = any(map(is_role, words_of(" ".join(named[:_PLACE_WORDS]))))  # "left to your mother"
        if is_there and not is_somebody and asked.isdisjoint(stems_of(" ".join(named), language)):
            return True
    return False


_AT_THE_END, _AT_THE_START = (re.compile(each, re.IGNORECASE) for each in WORDINGS["where_told"])


def where_told(share: float, asked: str) -> float:
    """How far a place, the share of what was found that stands before its end, is in the last fifth if the end is asked
    for, or in the first fifth; else 0.
    """
    return max(
        0.0, 5 * share - 4 if _AT_THE_END.search(asked) else 1 - 5 * share if _AT_THE_START.search(asked) else 0.0
    )


_FEW_PLACES = 3
"""Texts in which a line stands at most that somebody means; what stands in more is a turn of phrase."""


def texts_with_line(asked: Sequence[str], telling: frozenset[str], texts: Iterable[Sequence[str]]) -> frozenset[int]:
    """The texts, by their places in the list, with the longest run of the words `asked` that has all the `telling` ones
    of a line, if it stands in few of them; all words are folded.
    """
    runs = [_shared_run(asked, words) for words in texts] if telling else []
    longest = max((run for run in runs if telling <= {*run}), key=len, default=())
    places = frozenset(at for at, run in enumerate(runs) if longest and run == longest)
    return places if len(places) <= _FEW_PLACES else frozenset()


def _shared_run(words: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """The longest run of these words that others have too; empty if that is too short to be a run."""
    starts: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(words) - LEAST_RUN + 1):
        starts[tuple(words[at : at + LEAST_RUN])].append(at)
    longest: tuple[str, ...] = ()
    for first in range(len(others) - LEAST_RUN + 1):
        for at in starts.get(tuple(others[first : first + LEAST_RUN]), ()):
            if at and first and words[at - 1] == others[first - 1]:
                continue  # it began earlier; where a word is repeated, that is nearly everywhere
            pairs = zip(words[at:], others[first:], strict=False)
            same = tuple(word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            longest = max(longest, same, key=len)
    return longest


def stands_in(line: str, text: str) -> bool:
    """Whether a text has the very words of a line."""
    return _words_alone(line) in _words_alone(text)


_EXCHANGED = re.compile(r"\b(?:his|her|hers?|him|their|them|my|me|your|our|us|its?|an?)\b", re.IGNORECASE)
_ALIKE, _ALIKE_IN_LITTLE = 1.25, 2.0
"""The share of a line's words in a text and of those that mean something, in sum; the second if it has one of these."""


def is_like(line: str, text: str, language: Language) -> bool:
    """Whether a text has most words of a line in their order, as they sound, and most of those that mean something."""
    every = (text, line, " ".join(word for word in words_of(line) if not is_little(word, language)))
    parts = (_EXCHANGED.sub("the", each) for each in every)
    sounds, *rest = ([*map(sound_of, stems_of(each, language))] for each in parts)
    whole, telling = (_in_order(words, sounds) / max(len(words), 1) for words in rest)
    return whole + telling >= (_ALIKE if len(rest[1]) > 1 else _ALIKE_IN_LITTLE)


def _in_order(words: Sequence[str], others: Sequence[str]) -> int:
    """How many of these words, at most, others have in the same order."""
    row = [0] * (len(words) + 1)
    for other in others:
        before = row
        row = [0]
        for at, word in enumerate(words):
            row.append(before[at] + 1 if word == other else max(row[at], before[at + 1]))
    return row[-1]


def _words_alone(text: str) -> str:
    return f" {' '.join(words_of(fold(text)))} "


def in_one_sentence(words: Collection[str], text: str) -> bool:
    """Whether one sentence of a text has all these words, as one that tells of Count Rostóv and his son Nicholas."""
    return any({*words} <= {*words_of(sentence)} for sentence in re.split("[.!?]", text))
