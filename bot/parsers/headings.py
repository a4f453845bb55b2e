"""The meaning of headings: "CHAPTER II. The Pool of Tears" is a chapter with number II and that title; "Contents" is
none.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import IntEnum
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path

from domain.library.numerals import HAN, MONTH_NAMES, ROMAN, SIGNS_OF_NUMERAL, letter_value, number_value


class Rank(IntEnum):
    """The divisions of a book, from the outside in."""

    VOLUME = 1
    BOOK = 2
    PART = 3
    ACT = 4
    CHAPTER = 5
    SCENE = 6
    NUMERAL = 7


WORDS = json.loads(Path(__file__).with_name("headings.json").read_text(encoding="utf-8"))
"""Words of headings in many languages; a list has several words a line."""
LISTS = {name: dict.fromkeys(" ".join(lines).split()) for name, lines in WORDS.items() if isinstance(lines, list)}

NO_AUTHORS = frozenset(", ".join(WORDS["names"]["no_authors"]).split(", "))
"""What programs fill in for the author: the name that the machine's account had from the beginning."""

RANK_OF = {word: Rank[name.upper()] for name, lines in WORDS["divisions"].items() for word in " ".join(lines).split()}
"""Words that take a number: "Chapter 3", "Buch II"."""

NAMED_PARTS = frozenset([*LISTS["parts"], *LISTS["appendices"]])
"""Words that are headings by themselves."""

RANK_OF_CJK = {word: Rank[name.upper()] for name, words in WORDS["cjk_divisions"].items() for word in words.split()}
"""Words right behind a number, in scripts without blanks: 第五章."""

_LONGEST = 800
_LONGEST_NUMERAL = 240
_LONGEST_UNUSUAL = 60  # labels in small letters or misspelt, titles behind commas
_LONGEST_CJK_TITLE = 60
_SHORT_WORD = 4
_MOST_WORDS_OF_NUMBER = 4
_MOST_UNKNOWN_WORDS = 3
_DECORATION = " \t\r\n_*=~#>\u3000\ufeff§·•|/+†‡❦❧☙❖◆◇★☆✦✧●■□♦⁂∽〜～"
_TRAIL = _DECORATION + ".:;,—–-"
_BRACKETS = "[](){}<>【】〔〕（）［］«»—–-"
AROUND_A_NUMBER = f".:…{_DECORATION}{_BRACKETS}"
"""Signs that may stand around a number that is a heading."""
_JOINED = re.compile(r"(?P<word>[^\W\d_]{2,20})[-_]?(?=\d{1,3}(?!\w))")
"""The word of "Chapter12" and "Chapter-12"."""
_HALF = re.compile(r"\.\d(?![\d.])")
"""The end of "Chapter 2.5", which stands between two others."""
_SIGNS = "".join(sign for sign in map(chr, range(0x300, 0x1000)) if unicodedata.category(sign)[0] == "M")
"""Signs of the letter before them, such as the vowels of Hindi and Thai; for `re`, they are no part of a word."""
LETTERS = rf"(?:[^\W\d_]++[{_SIGNS}]*+)++"
"""A pattern for letters in a row, with their signs."""
_PART_OF_WORD = rf"(?:[^\W_]++[{_SIGNS}]*+)++"
_TOKEN = re.compile(rf"{_PART_OF_WORD}(?:(?:[-’'״]|\.(?=[ºª])|(?<=[א-ת])\"(?=[א-ת])){_PART_OF_WORD})*")
_JOINT = re.compile(r"[\s.:,#°º№\u00a0—–-]*")
_OF_A_PART = re.compile(
    r"(?:of|to)\s+(?:the\s+)?(?:[^\W\d_]+\s+)?(?:part|volume|vol\.?|book|edition|reader)\b\W*(?:\w+\W*)?$",
    re.IGNORECASE,
)
_TITLE_JOINT = re.compile(r"[.:,;!?—–]")
_BETWEEN_WORDS = re.compile(r"[ \t\u00a0.-]*")
_WITHIN_NUMBER = re.compile(r"-?[ \t\u00a0]*")
_MARK = re.compile(r"\s*[.:;)\]]+\s*[—–-]*\s*|\s*[—–-]+\s*|\s+")
_COMMA = re.compile(r"\s*,\s*")
_DECIMAL = re.compile(
    r"(?P<label>\d{1,3}(?:\.\d{1,2}){1,4})(?![\w.:]\w)(?:(?P<mark>\.?\s+|:\s*)(?P<title>[^\W\d_].*))?", re.DOTALL
)
_NUMERAL = re.compile(
    rf"(?P<label>{ROMAN}|\d{{1,3}}|[{HAN}]{{1,5}})(?!\w|[.:]\d)(?:(?P<mark>\s*[.:)、．]\s*[—–-]*\s*|\s*[—–]+\s*|\s{{2,}})(?P<title>\S.*)?)?",
    re.DOTALL,
)
MONTHS = MONTH_NAMES.union(LISTS["short_months"])
_DATED = re.compile(rf"(?:(?:{'|'.join(MONTHS)})\b|[ivx]{{1,4}}\.)\W*\d{{4}}\b", re.IGNORECASE)
_HAN_TITLE = re.compile(rf"(?P<label>[{HAN}]{{1,5}})(?P<mark>[\s\u3000、．.]+)(?P<title>\S.*)", re.DOTALL)
_PHRASE = re.compile(
    r"author[’']s (?:note|preface|introduction)|introductory note|to the reader|al lector|au lecteur"
    rf"|(?:{'|'.join(LISTS['appendices'])})(?: lục)?\s?(?:[a-z]|\d{{1,2}}|[ivx]{{1,4}})(?![^\W_])",
    re.IGNORECASE,
)
_CJK_APPENDIX = r"(?:付録|附録|附录|附錄|부록)\s?[A-Z\d]{1,2}"
_CJK = re.compile(
    rf"(?P<label>[第제]\s*(?P<number>[{HAN}\d０-９]+)\s*(?P<word>[{''.join(RANK_OF_CJK)}])|"
    rf"(?P<word2>[卷巻])之?(?P<number2>[{HAN}]+)|"
    rf"(?P<number3>\d{{1,4}})\s?(?P<word3>[{''.join(RANK_OF_CJK)}])(?=[\s.:：]|$)|"
    rf"(?:{'|'.join(LISTS['cjk_parts'])})[{HAN}\d０-９]{{0,4}}(?=[\s:：、.．]|$)|{_CJK_APPENDIX}(?=[\s:：、.．]|$))(?P<mark>[\s\u3000:：、.．]*)(?P<title>.*)",
    re.DOTALL,
)
_OPENS_CJK_LABEL = frozenset("第제卷巻付附부0123456789") | {word[0] for word in LISTS["cjk_parts"]}
PATTERNS = {name: "|".join(lines) for name, lines in WORDS["patterns"].items()}
_CONTENTS, _OTHERS = PATTERNS["contents"], f"{PATTERNS['pictures']}|{PATTERNS['not_the_book']}"
_IS_NOT_THE_BOOK = re.compile(rf"[\s_*\[]*(?:{_CONTENTS}|{_OTHERS})[\s.:_*\]]*", re.IGNORECASE)
_IS_CONTENTS = re.compile(rf"[\s_*=\[]*(?:the\s+)?(?:{_CONTENTS})(?:[\s.:_*=\]]|page)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Label:
    """A parsed heading.

    `rank` is None for a named part such as a prologue, which may have any depth. `number` is the printed one ("V",
    "first"), and `value` is its value: None if there is no number, or none that is understood ("Einunddreißgstes",
    misprinted). In the latter case `is_certain` is False: only others of its kind make it a heading. `within` is the
    part named in front: "ACT I" in "ACT I. SCENE 2".
    """

    rank: Rank | None
    name: str
    mark: str
    title: str
    number: str = ""
    value: int | None = None
    is_certain: bool = True
    within: str = ""

    @property
    def word(self) -> str:
        """The label without its number: "kapitel" of "Erstes Kapitel"."""
        whole = self.name.removeprefix(self.within).lstrip(_TRAIL)
        name = whole.removesuffix(self.number) if self.number else whole
        return (name.removeprefix(self.number) if name == whole else name).strip(" .\u00a0").casefold()


def opens_cjk_label(line: str) -> bool:
    """A fast check: whether a line begins as a label without spaces between its words may: "第三回", "3화"."""
    return line[0] in _OPENS_CJK_LABEL


@lru_cache(maxsize=8_192)
def parse_label(line: str) -> Label | None:
    """The label of a line such as "BOOK ONE: 1805", "Letter 4" or "Prologue"; None if it is no such heading."""
    label = parse_any_label(line)
    return label if label and label.is_certain else None


@lru_cache(maxsize=8_192)
def parse_any_label(line: str) -> Label | None:
    """As `parse_label`, but also labels whose number is not understood."""
    text = line.strip(_DECORATION).lstrip(_BRACKETS).strip(_DECORATION)
    if not text or len(text) > _LONGEST:
        return None
    if (joined := _JOINED.match(text)) and joined["word"].casefold() in RANK_OF:
        text = f"{joined['word']} {text[joined.end() :]}"
    if text[0] != text[0].title():
        return _label_in_small_letters(text)
    if opens_cjk_label(text) and (label := _cjk_label(text)):
        return label
    found = _labelled(text)
    if found is None:
        return None
    rank, number, end, is_certain = found
    if rank is Rank.CHAPTER and number.isdecimal() and (half := _HALF.match(text, end)):
        number, end = f"{number}{half[0]}", half.end()
    name, rest = text[:end], text[end:].rstrip(_TRAIL + "]")
    mark = _MARK.match(rest)
    if rest and mark is None:
        comma = _COMMA.match(rest)
        return _behind_comma(Label(rank, name, ", ", rest[comma.end() :], number)) if comma and is_certain else None
    title = rest[mark.end() :] if mark else ""
    joint = mark.group() if mark and title else ""
    if _is_numbered_title(name, number, joint, title):
        return None
    if _reads_as_prose(rank, joint, title) or (title and not is_certain):
        return None
    label = Label(rank, name, joint, title, number, _value_of(number) if number else None, is_certain)
    return _inner(label) or label


def _behind_comma(label: Label) -> Label | None:
    """The label of "Act I, Scene 2" or "Chapter 1, A Letter Arrives"; "Chapter 1, where it rains" is prose."""
    long = [word for word in label.title.split() if len(word) > _SHORT_WORD]
    is_title = label.title[:1].isupper() and label.title[-1:].isalnum() and not any(word[0].islower() for word in long)
    is_chapter = label.rank is Rank.CHAPTER and is_title and len(label.title) <= _LONGEST_UNUSUAL
    return _inner(label) or (replace(label, value=_value_of(label.number)) if is_chapter else None)


def _label_in_small_letters(text: str) -> Label | None:
    """The label of a line that is nothing else, as "chapter one", or that a colon or a dash sets apart."""
    label = parse_label(text[0].title() + text[1:]) if len(text) <= _LONGEST_UNUSUAL else None
    return label if label and (not label.title or label.mark.strip(" .,")) else None


def _inner(label: Label) -> Label | None:
    """The second label of a line that begins with a part's label: "SCENE 2" in "ACT I. SCENE 2. A Hall"."""
    if label.rank is None or label.rank > Rank.ACT or not label.title or label.title[0].islower():
        return None
    inner = parse_label(label.title)
    if inner is None or inner.rank is None or inner.rank <= label.rank or inner.within or not inner.number:
        return None
    return replace(inner, name=f"{label.name}{label.mark}{inner.name}", within=label.name)


@lru_cache(maxsize=8_192)
def parse_numeral(line: str) -> Label | None:
    """A heading that is a bare number, or a number and a title: "IV.", "[ 4 ]", "FOUR" or "3. The Lantern Room".

    "7.2" is the second of its series. A verse ("7:2 And he said") is no heading.
    """
    if len(line) > _LONGEST_NUMERAL or (line[:1] == "(" and line.rstrip()[-1] in ".;:"):
        return None  # "(2) The ferry is free." is a paragraph of a law
    text = line.lstrip(AROUND_A_NUMBER).rstrip(_TRAIL + "…")
    text = text.rstrip(_BRACKETS + _TRAIL) if text[-1:] in _BRACKETS and not set(text[:-1]) & set("[(（［«»") else text
    match = _NUMERAL.fullmatch(text) or _HAN_TITLE.fullmatch(text) or _DECIMAL.fullmatch(text)
    if match and not (match["title"] or "")[:1].islower() and not _DATED.match(match["title"] or ""):
        name = match["label"]
        value = number_value(name.rpartition(".")[2])
        return Label(Rank.NUMERAL, name, match["mark"] or "", match["title"] or "", name, value)
    words = text.split()
    if 0 < len(words) <= 3 and text[0].isupper() and (value := number_value(text)) is not None:
        return Label(Rank.NUMERAL, text, "", "", text, value)
    return None


def is_not_the_book(title: str) -> bool:
    """Whether a heading does not belong to the book itself: contents, cover, copyright, "The End"."""
    return len(title) <= _LONGEST_NUMERAL and bool(_IS_NOT_THE_BOOK.fullmatch(title))


def is_contents(title: str) -> bool:
    """Whether it is the heading of a table of contents."""
    return len(title) <= _LONGEST_NUMERAL and bool(_IS_CONTENTS.fullmatch(title))


def _labelled(text: str) -> tuple[Rank | None, str, int, bool] | None:
    """The rank of the label a text begins with, its number, where the label ends, and whether the number is
    understood.
    """
    words = [*islice(_TOKEN.finditer(text, 0, 120), 7)]
    if not words:
        return None
    first = words[0].group().casefold()
    begins = 1 if first in LISTS["articles"] and len(words) > 1 and first != "de" else 0
    word = words[begins].group().casefold()
    if (rank := RANK_OF.get(word)) is not None and (found := _number_after(text, words, begins)):
        return rank, *found
    if found_before := _number_before(text, words, begins):
        return found_before
    if phrase := _PHRASE.match(text):
        return None, "", phrase.end(), True
    if word in NAMED_PARTS or first in NAMED_PARTS:
        return None, "", words[begins if word in NAMED_PARTS else 0].end(), True
    return None


def _value_of(number: str) -> int | None:
    return value if (value := number_value(number)) is not None else letter_value(number)


def _number_after(text: str, words: list[re.Match[str]], at: int) -> tuple[str, int, bool] | None:
    """The number after a division's word: "Chapter 2", "Book the Second", "Capítulo primero", "Chapter Twenty Two"."""
    start = at + 1 + (at + 2 < len(words) and words[at + 1].group().casefold() in LISTS["articles"])
    if start >= len(words) or words[start].group().casefold() in LISTS["no_numbers"]:  # "di" would be 501
        return None
    if not _JOINT.fullmatch(text, words[at].end(), words[at + 1].start()):
        return None
    best = None
    for end in range(start, min(start + _MOST_WORDS_OF_NUMBER, len(words))):
        if end > start and not _goes_on(text, words[end - 1], words[end]):
            break
        printed = text[words[start].start() : words[end].end()]
        if number_value(printed) is not None:
            best = (printed, words[end].end(), True)
        elif end == start and letter_value(printed) is not None:
            signs = SIGNS_OF_NUMERAL.match(text, words[end].end())
            best = (printed, signs.end() if signs else words[end].end(), True)
    if best or start + _MOST_UNKNOWN_WORDS < len(words):
        return best
    end_of_line = words[-1].end()
    unknown = text[words[start].start() : end_of_line]
    is_alone = not text[end_of_line:].strip(_TRAIL) and (unknown[:1] == unknown[:1].upper() or len(words) == start + 1)
    return (unknown, end_of_line, False) if is_alone and not _TITLE_JOINT.search(unknown) else None


def _number_before(text: str, words: list[re.Match[str]], at: int) -> tuple[Rank | None, str, int, bool] | None:
    """The number before a division's word: "First Act", "1. Kapitel"; but "Nineteen Volumes" is a title."""
    for end in range(at + 1, min(at + 1 + _MOST_WORDS_OF_NUMBER + 1, len(words))):
        word = words[end].group().casefold()
        rank = RANK_OF.get(word)
        if rank is None and word not in NAMED_PARTS:
            continue
        gap = text[words[end - 1].end() : words[end].start()]
        printed = text[words[at].start() : words[end - 1].end()]
        if not _BETWEEN_WORDS.fullmatch(gap) or not all(_goes_on(text, *pair) for pair in pairwise(words[at:end])):
            return None
        if word in LISTS["plurals"] or re.split(r"\W+", printed.casefold())[-1] in LISTS["cardinals"]:
            return None
        if number_value(printed) is not None or printed.casefold() == "last":
            return rank, printed, words[end].end(), True
        is_alone = not text[words[end].end() :].strip(_TRAIL)
        is_written_so = words[end].group()[:1].isupper() or word in LISTS["written_small"]
        plain = not _TITLE_JOINT.search(printed) and is_written_so
        if is_alone and end == at + 1 and rank is not None and plain and rank != Rank.SCENE:
            return rank, printed, words[end].end(), False
        return None
    return None


def _goes_on(text: str, word: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a number continues: "Twenty Two" does; "3. Nineteen", "3 Four" and "Twenty - Two" are two numbers."""
    return not word.group().isdecimal() and bool(_WITHIN_NUMBER.fullmatch(text, word.end(), following.start()))


def _is_numbered_title(name: str, number: str, joint: str, title: str) -> bool:
    """Whether a number and a full stop precede a title that only begins like a label: "3. Book Club"."""
    if not number or not title or joint.strip() or not name.startswith(f"{number}."):
        return False
    first = _TOKEN.match(title)
    is_numbered_again = first is not None and number_value(first.group()) is not None
    return name.split()[-1].casefold() in LISTS["number_follows"] and not is_numbered_again


def _reads_as_prose(rank: Rank | None, mark: str, title: str) -> bool:
    """Whether it is prose rather than a heading: "Chapter 5 of the report was lost", "Preface to what follows"."""
    if not title or mark.strip():
        return False
    if rank is None and title[-1] not in ",;" and (_OF_A_PART.match(title) or number_value(title) is not None):
        return False  # "Dedication of Part II", "Preface to the Second Edition", "Interlude 3"
    return rank is None or title[0].islower() or (title[-1] in ".,;" and title != title.upper())


def _cjk_label(text: str) -> Label | None:
    match = _CJK.fullmatch(text)
    if match is None or len(match["title"]) > _LONGEST_CJK_TITLE or match["title"].endswith(("。", "，", "；")):
        return None
    number = match["number"] or match["number2"] or match["number3"]
    if not number:
        return Label(None, match["label"], match["mark"], match["title"])
    rank = RANK_OF_CJK[match["word"] or match["word2"] or match["word3"]]
    return Label(rank, match["label"], match["mark"], match["title"], number, number_value(number))


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at `[start, end)` of the text; outer levels are smaller."""

    start: int
    end: int
    title: str
    level: int
    label: Label | None = None


def label_of(heading: Heading) -> Label | None:
    """Its label, as it was found or as its title says."""
    return heading.label or parse_label(heading.title) or parse_numeral(heading.title)


def is_label(title: str) -> bool:
    """Whether a heading says which one it is: "Chapter II", "Prologue", "IV. The Cave"."""
    return bool(parse_label(title) or parse_numeral(title))


def is_bare_label(title: str) -> bool:
    """Whether a heading is only a number or "Chapter II", so that its title may follow."""
    label = parse_label(title) or parse_numeral(title)
    return label is not None and label.rank is not None and not label.title


def order_of_parts(ranks: Sequence[Rank | None]) -> dict[Rank, float]:
    """Ranks from the outside in; a book whose parts open with "Book One" is divided into books first."""
    order = {rank: float(rank) for rank in Rank}
    opens = Counter((above, below) for above, below in pairwise(ranks) if above in order and below in order)
    for outer, inner in ((Rank.VOLUME, Rank.BOOK), (Rank.BOOK, Rank.PART), (Rank.VOLUME, Rank.PART)):
        if opens[inner, outer] > opens[outer, inner]:
            order[outer], order[inner] = order[inner], order[outer]
    return order


_FEWEST_LETTERS = 5
_FEWEST_CHAPTERS = 3


def without_letters_of_index(headings: Sequence[Heading]) -> list[Heading]:
    """The headings without the letters that divide an index behind others: "A", "B", "D" … in a row."""
    runs: list[list[Heading]] = [[]]
    for heading in headings:
        above = runs[-1][-1].title if runs[-1] else ""
        is_letter = len(heading.title) == 1 and heading.title.isalpha()
        runs += [[]] if not is_letter or (above and heading.title <= above) else []
        runs[-1] += [heading] if is_letter else []
    letters = {heading for run in runs if len(run) >= _FEWEST_LETTERS for heading in run}
    is_at_the_back = letters.isdisjoint(headings[:_FEWEST_CHAPTERS])
    return [heading for heading in headings if not is_at_the_back or heading not in letters]


_COUNTED = re.compile(
    r"(?:[#№<]|No\.)?\s?(?P<number>\d{1,3}|(?![CL]\b)[IVXLC]{1,7})[.>/]?(?:\s+[—–|•·/-])?\s+(?=[“„«»\"‘'¿¡(]?[^\W\d_])|"
    r"(?P<words>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?)(?:\s*[.:—–]\s*(?!\d)|\s+[|•·/-]\s+)(?=\S)|"
    rf"(?P<kind>§|[^\W\d_]\S*?(?:\s[^\W\d_]+(?=\s\d))?)"
    rf"(?:\s+(?:the\s|(?:N[or]\.|[№#])\s?)?(?P<of_kind>[^\s.:—–-]+)|(?P<han>[{HAN}]{{1,5}})(?!\S))[\s.:—–-]*"
)


def with_numbers(headings: Sequence[Heading]) -> list[Heading]:
    """The headings, with labels where only counting 1, 2, 3 on one level, perhaps several times, shows that there is a
    number: "1 Markets", "One: Fog", and "Chương 1", by a word of whatever language.
    """
    known = [*map(label_of, headings)]
    labels = [label or counted(heading.title) for label, heading in zip(known, headings, strict=True)]
    found: dict[tuple[int, str, bool], list[int]] = {}
    for heading, label, before in zip(headings, labels, known, strict=True):
        if label and label.value is not None and (label.rank in (Rank.NUMERAL, None) or not before):
            found.setdefault(_series(heading, label), []).append(label.value)
    counting = {series for series, values in found.items() if _counts(values)}
    return [
        replace(heading, label=label) if label and not before and _series(heading, label) in counting else heading
        for heading, label, before in zip(headings, labels, known, strict=True)
    ]


def _series(heading: Heading, label: Label) -> tuple[int, str, bool]:
    """What numbers of a series share; "1 Introduction" begins that of "2 Markets", and "I Remember" is of neither."""
    return heading.level, label.word if label.rank else "", label.number.isdecimal()


def counted(title: str) -> Label | None:
    """The label of a title that begins with a number, "1 Markets", which only others of its series make one."""
    match = _COUNTED.match(title[:_LONGEST_NUMERAL])
    number = next(filter(None, match.group("number", "words", "of_kind", "han")), "") if match else ""
    value = _value_of(number) if number else None
    if match is None or value is None:
        return None
    rank = Rank.CHAPTER if match["kind"] else Rank.NUMERAL
    name = title[: match.end(match.lastgroup or 0)]
    return Label(rank, name, match[0].removeprefix(name), title[match.end() :], number, value)


def by_a_word(line: str) -> Label | None:
    """The label of a line such as "Day 1", "§ 2 Fords" or "Unit 3: At the Market", if others of its word count on."""
    label = counted(line) if len(line) <= _LONGEST_NUMERAL and line[:1] == line[:1].title() else None
    if label is None or label.rank is not Rank.CHAPTER or label.word in LISTS["pages"]:
        return None
    is_title = not label.title or (label.title[0].isalpha() and not label.title[0].islower())
    return label if is_title and label.title[-1:] not in set(",;") else None


def _counts(values: Sequence[int]) -> bool:
    """Whether numbers count from 1, perhaps several times."""
    return 3 in values and all(below in (1, above + 1) for above, below in pairwise([0, *values]))


_OF_CHAPTERS = "|".join([*(word for word, rank in RANK_OF.items() if rank is Rank.CHAPTER), *LISTS["provisions"]])
_RUN_IN = re.compile(
    rf"^[ \t]*+(?P<head>(?P<label>(?P<word>(?i:{_OF_CHAPTERS})\.? |(?=\d+\. 1\. ))(?P<number>{ROMAN}|\d{{1,3}}))"
    r"\b\.?[ºª]?(?: 1\.)?) (?![a-z])(?:[^\n]{10,}\n[ \t]*(?P<prose>[a-z])|[^\n]{1,90}$|(?P<long>[^\n]+))",
    re.MULTILINE,
)
_BARE_NUMBER = re.compile(r"^[ \t]*+(?P<label>\d{1,3})\.\s", re.MULTILINE)


def run_in(text: str) -> list[Heading]:
    """Chapters of verses or articles of a law that begin in the lines of their labels: "CHAP. II. 1. The Master said".
    Behind "Ch. 1. 1. The Tao", the second may be "2. 1. All in the world", and one of a single verse "11.".
    """
    labels = [*_RUN_IN.finditer(text)]
    words = Counter(line["word"] for line in labels)
    prose = Counter(line["word"] for line in labels if line["prose"] or line["long"])
    lines = [line for line in labels if prose[line["word"]] * 2 >= words[line["word"]]]
    if prose.total() < _FEWEST_RUN_IN or len(text) > len(lines) * _LONGEST_OF_VERSES:
        return []
    found = {line.span("head"): line["label"] if line["word"] else lines[0]["word"] + line["label"] for line in lines}
    for above, below in pairwise(lines):
        number, last = number_value(above["number"]) or 0, (number_value(below["number"]) or 0) - 1
        for line in _BARE_NUMBER.finditer(text, above.end(), below.start()):
            if int(line["label"]) == number + 1 <= last:
                number += 1
                found[line.span("label")] = lines[0]["word"] + line["label"]
    return [Heading(start, end, title, Rank.NUMERAL) for (start, end), title in sorted(found.items())]


_WORDS_AND_NUMBERS = re.compile(r"[^\W_]+")
_FEWEST_RUN_IN = 5
_LONGEST_OF_VERSES = 2_000
_ALIKE = 0.75


def misspelt_label(line: str, number: int, words: Iterable[str]) -> tuple[Label, str] | None:
    """The label of a line such as "CHAPER III", where the third chapter is missing, and the corrected line."""
    found = _WORDS_AND_NUMBERS.findall(line[:_LONGEST_UNUSUAL])
    printed = next((token for token in found if number_value(token) == number), "")
    wrong = next((token for token in found if token != printed), "")
    tried = words if printed and wrong and len(found) <= 8 else ()
    meant = next((each for each in tried if SequenceMatcher(None, wrong.casefold(), each).ratio() >= _ALIKE), None)
    if meant is None:
        return None
    mended = line.replace(wrong, meant.upper() if wrong.isupper() else meant.capitalize(), 1)
    return Label(Rank.CHAPTER, mended, "", "", printed, number), mended
