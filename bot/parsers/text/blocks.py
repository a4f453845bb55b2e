"""Plain text as blocks between blank lines, and the titles among them: unnumbered ones, and those below labels."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from bot.parsers.chapters import MOST_CHAPTERS, chapters_from, middle
from bot.parsers.headings import (
    Heading,
    Label,
    Rank,
    is_bare_label,
    is_label,
    is_not_the_book,
    parse_numeral,
)
from bot.parsers.titles import calm, is_caption, with_subtitle

_LETTER_SPACED = re.compile(r"[^\W_](?: [^\W_])+(?:\s{2,}(?:[^\W_]{2,}|[^\W_](?: [^\W_])*)[.:]?)*+")
_BETWEEN_LETTERS = re.compile(r"(?<=\S) (?=\S)")
LONGEST_HEADING = 240
MOST_HEADING_LINES = 3
_LONGEST_BLOCK = 700
_MOST_LINES = 9
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v\u3000\xa0]*\n")
_BLANK_LINE_WITH_SPACES = re.compile(r"\n[ \t\r\f\v\u3000\xa0]+\n")
_START_OF_TEXT = 99
_FEWEST_LINES = 20
_LONGEST_PRINTED_LINE = 160
"""Longer lines are whole paragraphs."""


class Block(NamedTuple):
    """Lines without a blank line between them; `gap` counts the blank lines above.

    It is a tuple, because a novel has tens of thousands of them and a frozen dataclass takes twice as long to create.
    """

    start: int
    end: int
    gap: int
    lines: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """Whether it could be a heading: at most three lines and 240 characters."""
        return bool(self.lines) and len(self.lines) <= MOST_HEADING_LINES and self.end - self.start <= LONGEST_HEADING

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def blocks_of(text: str) -> list[Block]:
    """All blocks; of those too long to be a heading, the lines are left out. If hardly any line is blank, or
    paragraphs are lines, each line is a block.
    """
    result: list[Block] = []
    end = 0
    for start, piece in _pieces(text):
        stripped = piece.strip()
        if not stripped:
            continue
        at = start + piece.index(stripped[0])
        gap = text.count("\n", end, at) - 1 if result else _START_OF_TEXT
        end = at + len(stripped)
        result.append(Block(at, end, gap, _heading_lines(stripped)))
    return result


def usual_gap(blocks: Sequence[Block]) -> int:
    """The usual number of blank lines between paragraphs."""
    gaps = Counter(block.gap for block in blocks[1:])
    return max(gaps, key=lambda gap: (gaps[gap], -gap), default=1)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    is_by_lines = _are_paragraphs(lines, len(text))
    if not is_by_lines and _BLANK_LINE_WITH_SPACES.search(text):
        yield from _between_blank_lines(text)
        return
    pieces, gap = text.split("\n\n"), 2
    if is_by_lines or (len(lines) > _FEWEST_LINES and (len(pieces) - 1) * 50 < len(lines)):
        pieces, gap = lines, 1
    offset = 0
    for piece in pieces:
        yield offset, piece
        offset += len(piece) + gap


def _are_paragraphs(lines: Sequence[str], length: int) -> bool:
    """Whether a text of that length has a line for each paragraph, mostly without blank lines between them."""
    followed = [bool(below.strip()) for above, below in pairwise(lines) if len(above) > _LONGEST_PRINTED_LINE]
    return (
        sum(followed) * 2 > len(followed)
        and sum([len(line) for line in lines if len(line) > _LONGEST_PRINTED_LINE]) * 2 > length
    )


def _between_blank_lines(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for blank in _BLANK_LINE.finditer(text):
        yield offset, text[offset : blank.start()]
        offset = blank.start() + 1
    yield offset, text[offset:]


def _heading_lines(block: str) -> tuple[str, ...]:
    if len(block) > _LONGEST_BLOCK:
        return ()
    lines = block.split("\n")
    return tuple(map(_closed_up, map(str.strip, lines))) if len(lines) <= _MOST_LINES else ()


def _closed_up(line: str) -> str:
    """The line, without the spaces between its letters if all stand apart: "C H A P T E R   I"."""
    if line[1:2] != " " or not _LETTER_SPACED.fullmatch(line):
        return line
    return " ".join(_BETWEEN_LETTERS.sub("", line).split())


LONGEST_TITLE = 90
_FEWEST = 2
_FEWEST_TITLES = 3
_FEWEST_OF_MANY_STYLES = 6
_SHORTEST_SECTION = 400
_FEWEST_TALES = 5
_SHORTEST_TALE = 2_000
_LONGEST_PAGE = 4_000
_QUOTES = "\"“”'‘’«»„*[(-–—"
_STOPS = ".,;:!?…。，；：！？।"
_EMPHASISED = re.compile(r"_[^_]*_")
_WORDS = re.compile(r"[^\W\d_]+")


def in_capitals(text: str) -> bool:
    """Whether everything is in capitals, except for emphasised words: "DR. SEWARD'S DIARY--_continued_"."""
    text = _EMPHASISED.sub("", text) if "_" in text else text
    return text == text.upper() and text != text.lower() and sum(map(str.isalpha, text)) > 1


_MONTHS = """
    january february march april may june july august september october november december
    januar jänner februar märz mai juni juli oktober dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
"""
_MONTH_NAMES = frozenset(_MONTHS.split())
_LONGEST_DATE = 48
_YEAR = re.compile(r"[12]\d{3}(?:\s?[-–/]\s?\d{2,4})?")
_MARKS_OF_NO_DATE = frozenset('"“”«»„?!;:')
_FEWEST_DATES = 5


def dated(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """The entries of a diary, or letters with nothing but a date."""
    days = [block for block in blocks if len(block.lines) == 1 and is_date(block.lines[0])]
    return _sections(text, days) if len(days) >= _FEWEST_DATES else []


_VERSE = re.compile(r"\d{1,3}:\d")
_OUTER_NUMBER = re.compile(r"(?P<number>\d{1,2})\.?\s+(?P<title>[^\W\d_].*)")
_INNER_NUMBER = re.compile(r"(?P<number>\d{1,2})\.\d")


def outlined(blocks: Sequence[Block]) -> list[Heading]:
    """The chapters of a manual: titles with numbers that count on, and with decimal ones in them ("2 Use", "2.1 …")."""
    found: list[Heading] = []
    divided: set[str] = set()
    for block in blocks:
        line = block.lines[0] if len(block.lines) == 1 else ""
        number = str(len(found))
        if found and (inner := _INNER_NUMBER.match(line)) and inner["number"] == number:
            divided.add(number)
        elif (outer := _OUTER_NUMBER.fullmatch(line)) and reads_as_title(outer["title"]):
            if found and outer["number"] == number and number not in divided:
                found.pop()
            if outer["number"] == str(len(found) + 1):
                label = Label(Rank.NUMERAL, outer["number"], " ", outer["title"], outer["number"], len(found) + 1)
                found.append(Heading(block.start, block.end, block.text, Rank.NUMERAL, label))
    return found if len(divided) > _FEWEST and len(divided) * 2 > len(found) else []


def is_year(line: str) -> bool:
    """Whether a line is just a year, or some: "1931", "1932–33"."""
    return bool(_YEAR.fullmatch(line))


def is_date(line: str) -> bool:
    """Whether a line is just a date: "Am 4. Mai 1771", "January 3rd", "1931"."""
    if is_year(line):
        return True
    if len(line) > _LONGEST_DATE or not any(map(str.isdecimal, line)) or not _MARKS_OF_NO_DATE.isdisjoint(line):
        return False
    words = _WORDS.findall(line.casefold())
    return len(words) <= 4 and not _MONTH_NAMES.isdisjoint(words)


def titles_in_capitals(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles in capitals, as in a collection of tales: with more white space around them than paragraphs have."""
    titles = [block for block in blocks if block.is_short and _is_shouted_title(block.text)]
    usual = usual_gap(blocks)
    apart = [block for block in titles if block.gap > usual]
    if len(apart) < _FEWEST + 1:
        starts_the_book = bool(titles) and titles[0] is blocks[0]
        plain = [block for block in titles if block.text[-1] not in ".!?,"]
        apart = plain if starts_the_book or _stand_above_tales(plain) else []
    return _sections(text, apart)


def _stand_above_tales(titles: Sequence[Block]) -> bool:
    """Whether there are enough titles, far enough from each other, that they cannot be signs and shouts within a
    story.
    """
    lengths = [below.start - above.end for above, below in pairwise(titles)]
    return len(lengths) >= _FEWEST_TALES and middle(lengths) >= _SHORTEST_TALE


def titles_set_apart(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles with much more white space above them than almost anything else has."""
    usual = usual_gap(blocks)
    below = [*(block.gap for block in blocks), _FEWEST][1:]
    for gap in sorted({min(block.gap, 9) for block in blocks if block.gap > usual}):
        apart = [
            (block, is_title)
            for block, under in zip(blocks, below, strict=True)
            if block.gap >= gap and not _is_ornament(block)
            for is_title in (block.is_short and under > 0 and len(block.lines) <= 2 and reads_as_title(block.text),)
        ]
        titles = [block for block, is_title in apart if is_title]
        shouted = sum(in_capitals(block.text) for block in titles)
        fewest = _FEWEST_TITLES if shouted in (0, len(titles)) else _FEWEST_OF_MANY_STYLES
        if len(titles) >= fewest and len(titles) * 10 >= len(apart) * 8:
            return _sections(text, _past_half_titles(blocks, _with_first(text, blocks, titles, usual)))
    return []


def _is_ornament(block: Block) -> bool:
    """Whether it stands between scenes: "* * *"."""
    return block.is_short and not any(map(str.isalnum, block.text))


def _past_half_titles(blocks: Sequence[Block], titles: Sequence[Block]) -> list[Block]:
    """The titles; where one says the book's again, the line under it is meant: "FAUST", and then "Night"."""
    name = blocks[0].text.casefold()
    under = dict(pairwise(blocks[1:])) if any(title.text.casefold() == name for title in titles) else {}
    return [
        below
        if title.text.casefold() == name
        and (below := under.get(title))
        and below.is_short
        and reads_as_title(below.text)
        else title
        for title in titles
    ]


def _with_first(text: str, blocks: Sequence[Block], titles: list[Block], usual: int) -> list[Block]:
    """The titles with a first one at the head of the book, which may have less white space above it."""
    first = titles[0]
    before = [block for block in blocks if block.start < first.start]
    if first.start - (before[0].start if before else 0) < _SHORTEST_SECTION:
        return titles
    opening = [block for block in before[:8] if block.gap > usual and block.is_short and reads_as_title(block.text)]
    prose = next((block.start for block in before if block.end - block.start > 200), first.start)
    heads = [block for block in opening if block.start < prose]
    return [heads[-1], *titles] if heads and heads[-1] is not first else titles


def _sections(text: str, titles: Sequence[Block]) -> list[Heading]:
    found = [Heading(block.start, block.end, block.text, Rank.NUMERAL) for block in titles]
    return found if _are_names_of_chapters(text, found, _FEWEST, _SHORTEST_SECTION) else []


def _is_shouted_title(text: str) -> bool:
    return in_capitals(text) and reads_as_title(text)


def reads_as_title(text: str) -> bool:
    """Whether a short block may be a title: no speech, unfinished sentence, speaker in a play, or number."""
    if len(text) > LONGEST_TITLE or text[0] in _QUOTES or text[-1] in ",;:" or not any(map(str.isalpha, text)):
        return False
    return not (
        text[0].islower() or is_not_the_book(text) or parse_numeral(text) or is_caption(text) or _VERSE.match(text)
    )


# --- titles by their look -------------------------------------------------------------------------------------------

FEWEST_HEADINGS = 3
"""Of fewer heading elements, the looks of lines are examined as well."""
_FEWEST_STYLED = 3
_SHORTEST_STYLED_CHAPTER = 800
_MOST_LOOKS = 20
_MOST_MISSES = 100
_FARTHEST = 500_000
"""The characters among which the next title is looked for, so that the time does not grow with their product."""


class StyledLine(NamedTuple):
    """A line of a document, with what it looks like; `text` is empty if it is longer than a title.

    `is_marked` says that it has anything that plain paragraphs lack.
    """

    text: str
    look: Hashable
    is_marked: bool


def styled_titles(lines: Iterable[StyledLine], text: str) -> list[Heading]:
    """The titles of a book without heading elements: short lines that look alike, and unlike all of the prose.

    `text` is what the lines are in.
    """
    titles: dict[Hashable, list[str]] = {}
    prose: Counter[Hashable] = Counter()
    after_title_page = False
    for line in lines:
        after_title_page = after_title_page or not line.text
        if not line.text or not (reads_as_title(line.text) or is_label(line.text) or is_year(line.text)):
            is_ornament = bool(line.text) and not any(map(str.isalnum, line.text))
            prose[line.look] += after_title_page and not is_ornament
        elif line.is_marked:
            titles.setdefault(line.look, []).append(line.text)
    found = [
        placed
        for look, alike in sorted(titles.items(), key=lambda each: -len(each[1]))[:_MOST_LOOKS]
        if _FEWEST_STYLED <= len(alike) <= MOST_CHAPTERS and prose[look] * 10 <= len(alike)
        for placed in (_placed(text, alike), _placed_from_end(text, alike))
    ]
    return max((each for each in found if divides_into_chapters(text, each)), key=len, default=[])


def _placed(text: str, lines: Iterable[str]) -> list[Heading]:
    """The lines as headings where they stand in the text, each a block by itself."""
    whole, found, end, misses = f"\n{text}\n", [], 0, 0
    for line in lines:
        if (at := whole.find(f"\n{line}\n", end, end + _FARTHEST)) >= 0:
            end = at + len(line) + 1
            found.append(Heading(at, at + len(line), line, 1))
        elif (misses := misses + 1) > _MOST_MISSES:
            return []
    return found


def _placed_from_end(text: str, lines: Sequence[str]) -> list[Heading]:
    """As `_placed`, but from the last line back, which leaves out a table of contents that names them in front."""
    whole, found, end, misses = f"\n{text}\n", [], len(text) + 2, 0
    for line in reversed(lines):
        if (at := whole.rfind(f"\n{line}\n", max(0, end - _FARTHEST), end)) >= 0:
            end = at + 1
            found.append(Heading(at, at + len(line), line, 1))
        elif (misses := misses + 1) > _MOST_MISSES:
            return []
    return found[::-1]


def divides_into_chapters(text: str, headings: Sequence[Heading]) -> bool:
    """Whether headings stand as far from each other as those of chapters, and are not the same again and again."""
    return _are_names_of_chapters(text, headings, _FEWEST_STYLED, _SHORTEST_STYLED_CHAPTER)


def _are_names_of_chapters(text: str, headings: Sequence[Heading], fewest: int, shortest: int) -> bool:
    """Whether there are enough headings, far enough from each other. Where most come again, they must be farther from
    each other than the heads of pages are: the names of those who tell the story in turn.
    """
    chapters = chapters_from(text, headings)
    names = {chapter.title for chapter in chapters}
    come_again = len(names) * 10 < len(chapters) * 7 or all(map(is_year, names))
    return (
        len(chapters) >= fewest
        and len(names) > 1
        and middle(chapter.end - chapter.start for chapter in chapters) >= (_LONGEST_PAGE if come_again else shortest)
    )


# --- titles under labels --------------------------------------------------------------------------------------------

_LONGEST_TITLE_IN_CAPITALS = 420
_FRONT_MATTER = re.compile(
    r"(?:the )?(?:author|translator|editor|publisher)[’']s (?:preface|note|introduction)\W*", re.IGNORECASE
)
_ANNOUNCING_WORDS = """
    in which, wherein, which, how, of, what, containing, showing, concerning, treating of, treats of, relates, being,
    in welchem, in dem, worin, wie, wo, von, vom, was, handelt von,
    où, comment, de, du, des, ce que, ce qui, dans lequel, qui,
    que, donde, del, en que, en el que, en donde, cómo, como, lo que, prosigue,
    nel quale, in cui, dove, come, di, della, em que, о том, в которой, как
"""
_ANNOUNCING = tuple(f"{words.strip()} " for words in _ANNOUNCING_WORDS.split(","))
"""How titles begin that announce what a chapter tells."""


@dataclass(frozen=True, slots=True)
class HeadingCandidate:
    """A line that may be a heading: its span, its label, and the number of its block."""

    heading: Heading
    label: Label
    block: int


def with_title_lines(
    candidates: Sequence[HeadingCandidate], blocks: Sequence[Block], listed: Iterable[Heading] = ()
) -> list[Heading]:
    """Bare labels joined with the title that stands under them.

    It is in capitals, or the contents list it, or most labels have one; where most have, it may be a whole sentence
    that announces what the chapter tells ("In which …"), or a line in small letters, as most languages write titles.
    """
    starts = [block.start for block in blocks]
    ends = {block.end for block in blocks}
    named = {heading.start for heading in listed}
    titles: dict[int, Block] = {}
    less_certain: dict[int, Block] = {}
    bare = 0
    for each in candidates:
        heading = each.heading
        if each.label.is_certain and not is_bare_label(heading.title):
            continue
        bare += 1
        at = bisect_left(starts, heading.end)
        if heading.end not in ends or at >= len(blocks):
            continue
        if (blocks[at].start in named and not is_label(blocks[at].text)) or may_be_title(blocks[at]):
            titles[heading.start] = blocks[at]
        elif _announces(blocks[at]) or _is_line_above_prose(*blocks[at : at + 2]):
            less_certain[heading.start] = blocks[at]
    if len(less_certain) >= _FEWEST_TITLES and (len(titles) + len(less_certain)) * 10 >= bare * 6:
        titles |= less_certain
    usual = len(titles) * 10 >= bare * 6
    found: list[Heading] = []
    for each in candidates:
        heading = each.heading
        if (title := titles.get(heading.start)) and (usual or title.start in named or in_capitals(title.text)):
            heading = replace(heading, end=title.end, title=with_subtitle(calm(heading.title), calm(title.text)))
        if not found or heading.start >= found[-1].end:  # "A Letter" may be the title of "Chapter IV"
            found.append(heading)
    return found


def without_lines_of_contents(
    blocks: Sequence[Block], numbers: Sequence[HeadingCandidate], labelled: Sequence[Heading]
) -> list[HeadingCandidate]:
    """The numbers without those that another number or label follows at once; "Epilogue" may be a number's title."""
    counted = (each.start for each in labelled if each.label and each.label.value is not None)
    starts = {each.heading.start for each in numbers}.union(counted)
    follows = dict(pairwise(block.start for block in blocks))
    return [
        each
        for each in numbers
        if each.heading.end < blocks[each.block].end or follows.get(blocks[each.block].start) not in starts
    ]


def _announces(block: Block) -> bool:
    """Whether a block says in a sentence what a chapter tells: "In which we meet an old friend"."""
    text = block.text
    if not text or len(text) > _LONGEST_TITLE_IN_CAPITALS or goes_on(text) or is_label(text) or is_date(text):
        return False
    return text.casefold().startswith(_ANNOUNCING)


def _is_line_above_prose(block: Block, below: Block | None = None) -> bool:
    """Whether a block is one line, neither speech nor a sentence, with a paragraph below it rather than a verse."""
    text = block.text
    if len(block.lines) != 1 or below is None or below.end - below.start <= LONGEST_TITLE:
        return False
    if len(text) > LONGEST_TITLE or text[-1] in _STOPS or not text[0].isalpha():
        return False
    return not (text[0].islower() or is_date(text) or is_label(text) or is_not_the_book(text))


def may_be_title(block: Block) -> bool:
    """Whether a block under a label may be its title: in capitals, or a few words without a full stop."""
    text = whole[1:-1] if (whole := block.text)[:1] == "_" == whole[-1:] else whole
    if not text or is_date(text) or text[0] in _QUOTES or is_label(text) or is_not_the_book(text):
        return False
    if _FRONT_MATTER.fullmatch(text):
        return False
    if in_capitals(text):
        return len(text) <= _LONGEST_TITLE_IN_CAPITALS and not goes_on(text)
    if not block.is_short or len(text) > LONGEST_TITLE:
        return False
    long_words = [word for word in text.split() if len(word) > 4]
    return text[-1] not in ".,;:!" and text[0].isupper() and all(not word[0].islower() for word in long_words)


def goes_on(text: str) -> bool:
    """Whether a block of several lines is rather prose that begins with a label: it contains sentences."""
    return text.count(". ") + text.count("! ") + text.count("? ") > 1
