"""Plain text as blocks between blank lines, and the titles among them: unnumbered ones, and those below labels."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

from bot.parsers.chapters import MOST_CHAPTERS, chapters_from
from bot.parsers.draft import Block, has_words, in_capitals, middle, usual_gap, width_of
from bot.parsers.headings import LISTS, Heading, Label, Rank, by_a_word, is_label, parse_numeral
from bot.parsers.titles import BY_ELSEWHERE, LONGEST_TITLE, is_date, is_quoted, is_year, reads_as_title

_LETTER_SPACED = re.compile(r"[^\W_](?: [^\W_])+(?:\s{2,}(?:[^\W_]{2,}|[^\W_](?: [^\W_])*)[.:]?)*+")
_BETWEEN_LETTERS = re.compile(r"(?<=\S) (?=\S)")
_DASHES = "—–-"
_ORNAMENTS = f"*~=+|#{_DASHES}"
_LONGEST_BLOCK = 700
_MOST_LINES = 9
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v\u3000\xa0]*\n")
_BLANK_LINE_WITH_SPACES = re.compile(r"\n[ \t\r\f\v\u3000\xa0]+\n")
_START_OF_TEXT = 99
_FEWEST_LINES = 20
_MOST_WORDS = 50_000
_LONGEST_WORD = 12
_LONGEST_PRINTED_LINE = 160
"""Longer lines are whole paragraphs."""


def blocks_of(text: str) -> list[Block]:
    """All blocks; of those too long to be a heading, the lines are left out. If hardly any line is blank, or
    paragraphs are lines, each line is a block. A long list of words has none: it has no chapters, either.
    """
    result: list[Block] = []
    end = 0
    text = text.replace("\f", "\n")  # what begins on a new page begins a block
    for start, piece in _pieces(text):
        stripped = piece.strip()
        if not stripped:
            continue
        at = start + piece.index(stripped[0])
        gap = text.count("\n", end, at) - 1 if result else _START_OF_TEXT
        end = at + len(stripped)
        result.append(Block(at, end, gap, _heading_lines(stripped)))
    letters = sum(block.end - block.start for block in result)
    return [] if len(result) > _MOST_WORDS and letters < len(result) * _LONGEST_WORD else result


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
    return tuple(map(_plain, map(str.strip, lines))) if len(lines) <= _MOST_LINES else ()


def _plain(line: str) -> str:
    """The line without the ornaments around it, "*** The Bridge ***", and without the spaces between its letters if
    all stand apart: "C H A P T E R   I".
    """
    if line[:1] in _ORNAMENTS and line[-1:] in _ORNAMENTS:
        line = _without_ornaments(line)
    if line[1:2] != " " or not _LETTER_SPACED.fullmatch(line):
        return line
    return " ".join(_BETWEEN_LETTERS.sub("", line).split())


def _without_ornaments(line: str) -> str:
    """The words between ornaments; a single dash is one only if a space follows, since speech may begin with it."""
    inner = line.strip(_ORNAMENTS)
    start = line.find(inner)
    edges = ((line[:start], inner[:1]), (line[start + len(inner) :], inner[-1:]))
    are_ornaments = all(mark.strip(_DASHES) or len(mark) > 1 or edge == " " for mark, edge in edges)
    return inner.strip() if are_ornaments and inner.strip()[:1].isalnum() else line


_FEWEST = 2
_FEWEST_TITLES = 3
_FEWEST_OF_MANY_STYLES = 6
_SHORTEST_SECTION = 400
_FEWEST_TALES = 5
_SHORTEST_TALE = 2_000
_LONGEST_PAGE = 4_000
_WIDEST = 9
_STOPS = ".!?…"
_FEWEST_DATES = 5
_BEHIND_DATE = re.compile(r"\.?_?(?:--|\s?[—–]|\.\s)")


def dated(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """The entries of a diary, or letters with nothing but a date, which may begin a line: "3 May. Bistritz.--Left"."""
    days = [day for block in blocks if (day := _day(text, block))]
    found = _sections(text, days) if len(days) >= _FEWEST_DATES else []
    return [replace(day, label=Label(None, day.title, "", "")) for day in found]  # "6. Mai" is no sixth chapter


def _day(text: str, block: Block) -> Block | None:
    """The date that the first line of a block is or begins with."""
    line = text[block.start : min(block.end, block.start + LONGEST_TITLE)].partition("\n")[0]
    ends = (len(line), *(mark.start() for mark in _BEHIND_DATE.finditer(line)))
    day = next((day for end in ends if is_date(day := line[:end].strip(f"{_ORNAMENTS}_ "))), "")
    return block._replace(end=block.start + line.index(day) + len(day), lines=(day,)) if day else None


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


_UNDERLINE = re.compile(r"([=*~^#\"+_-])(?: ?\1){2,}")
_BEHIND_SIGNS = re.compile(r"^(=(?:={1,5}|(?=[ \t])))[ \t]*(\w[^\n]*?)[ \t]*\1?[ \t]*$", re.MULTILINE)
_LISTED = re.compile(r"\s*[*•-]\s+(\S[^\n]*)")


def marked_by_signs(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles behind signs, as in AsciiDoc and the text of wikis ("== The Ford =="), or with a line of signs below."""
    behind = [Heading(line.start(), line.end(), line[2], len(line[1])) for line in _BEHIND_SIGNS.finditer(text)]
    return (
        behind if _are_names_of_chapters(text, behind, _FEWEST_TITLES, _SHORTEST_SECTION) else _underlined(text, blocks)
    )


def _underlined(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles with a line of one sign below them, and perhaps above, as in text made by Sphinx; which sign comes first
    tells how deep they are.
    """
    levels: dict[tuple[str, bool], int] = {}
    found: list[Heading] = []
    for block in blocks:
        has_line_above = bool(block.lines and _UNDERLINE.fullmatch(block.lines[0]))
        title, under, *_ = (*block.lines[has_line_above:], "", "")
        if is_underline(under, title) or (has_line_above and under == block.lines[0]):
            level = levels.setdefault((under[0], has_line_above), len(levels) + 1)
            end = text.find("\n", text.index(under, block.start + len(under) * has_line_above))
            found.append(Heading(block.start, end if 0 <= end < block.end else block.end, title, level))
    found = _without_captions(text, found)
    return found if _are_names_of_chapters(text, found, _FEWEST_TITLES, _SHORTEST_SECTION) else []


def is_underline(line: str, title: str) -> bool:
    """Whether a line of one sign is about as long as the title above it is, or looks."""
    margin = max(2, len(title) // 4)
    is_line = bool(_UNDERLINE.fullmatch(line)) and any(map(str.isalnum, title))
    return is_line and len(title) - margin <= len(line) <= width_of(title) + margin


def _without_captions(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings without those above a part of the contents, whose first line names what is not within them."""
    levels = {heading.title.casefold(): heading.level for heading in headings}
    listed = [(heading, _LISTED.match(text, heading.end)) for heading in headings]
    return [
        heading
        for heading, line in listed
        if line is None or levels.get(line[1].strip().casefold(), heading.level + 1) > heading.level
    ]


def titles_in_capitals(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles in capitals, as in a collection of tales: with more white space around them than paragraphs have."""
    shouted = [block for block in blocks if block.is_short and in_capitals(block.text)]
    titles = [block for block in shouted if reads_as_title(block.text)]
    usual = usual_gap(blocks)
    apart = _with_few_quotations(
        [block for block in shouted if block.gap > usual and reads_as_title(block.text, may_be_quoted=True)]
    )
    if len(apart) < _FEWEST + 1:
        starts_the_book = bool(titles) and titles[0] is blocks[0]
        plain = [block for block in titles if block.text[-1] not in ".!?,"]
        apart = plain if starts_the_book or _stand_above_tales(plain) else []
    return _sections(text, apart)


def titles_among_paragraphs(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles in a text without blank lines, where each paragraph is a line: short ones that no sign closes."""
    if usual_gap(blocks):
        return []
    short = [
        block for block in blocks if block.is_short and len(block.text) <= LONGEST_TITLE and block.text[-1].isalnum()
    ]
    titles = [block for block in short if reads_as_title(block.text)]
    return _sections(text, titles) if len(titles) == len(short) and _stand_above_tales(titles) else []


def _stand_above_tales(titles: Sequence[Block]) -> bool:
    """Whether there are enough titles, far enough from each other, that they cannot be signs and shouts within a
    story.
    """
    lengths = [below.start - above.end for above, below in pairwise(titles)]
    return len(lengths) >= _FEWEST_TALES and middle(lengths) >= _SHORTEST_TALE


def titles_set_apart(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles with much more white space above them than almost anything else has."""
    usual, blocks = usual_gap(blocks), _apart_by_signs(blocks)
    below = [*(block.gap for block in blocks), _FEWEST][1:]
    short = (block for block in blocks if block.is_short and len(block.lines) <= 2)
    titled = {block for block in short if reads_as_title(block.text, may_be_quoted=True)}
    for gap in sorted({min(block.gap, _WIDEST) for block in blocks if block.gap > usual}):
        apart: list[Block] = []
        titles: list[Block] = []
        for above, block, under in zip([None, *blocks], blocks, below, strict=False):
            if block.gap < gap or block.is_ornament:
                continue
            if under > 0 and block in titled:
                titles.append(block)
            elif titles and above is titles[-1]:
                continue  # what begins under a title
            apart.append(block)
        titles = _with_few_quotations(titles)
        alike = titles if _are_in_one_style(titles) else [title for title in titles if title is not blocks[0]]
        fewest = _FEWEST_TITLES if _are_in_one_style(alike) else _FEWEST_OF_MANY_STYLES
        if len(alike) >= fewest and len(titles) * 10 >= len(apart) * 8:
            return _sections(text, _past_half_titles(blocks, _with_first(blocks, titles, usual)))
    return []


def _apart_by_signs(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks; where most lines of signs, "* * *", stand around titles rather than scenes, these are set apart."""
    signs = [block.is_ornament for block in blocks]
    beside = zip([False, *signs], blocks, [*signs[1:], False], strict=False)
    titles = {block for above, block, below in beside if above and below and block.text[-1:] not in _STOPS}
    are_usual = len(titles) >= max(_FEWEST_TITLES, sum(signs) / 4)
    return [block._replace(gap=_WIDEST) if are_usual and block in titles else block for block in blocks]


def _are_in_one_style(titles: Sequence[Block]) -> bool:
    return len({in_capitals(title.text) for title in titles}) == 1


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


def _with_first(blocks: Sequence[Block], titles: list[Block], usual: int) -> list[Block]:
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


def _with_few_quotations(titles: list[Block]) -> list[Block]:
    """The titles; those in quotation marks are rather speech, unless they are at most half of them."""
    plain = [title for title in titles if not is_quoted(title.text)]
    return titles if len(plain) * 2 >= len(titles) else plain


_SHORTEST_LINE_OF_PROSE = 50
_UNFINISHED = re.compile(
    r"(?:\b(?:a|an|the|of|and|or|in|to|by|with|from|der|die|das|und|von|de|du|des|la|le|les|et|del|el|y)|[,—–-])$",
    re.IGNORECASE,
)


def is_above_prose(lines: Sequence[str]) -> bool:
    """Whether the first line of a block stands by itself above prose: in a title that goes on, the line would have
    been filled.
    """
    first, *rest = lines
    if not rest or rest[0][:1].islower() or in_capitals(" ".join(rest)) or _UNFINISHED.search(first):
        return False
    width = max(map(len, rest))
    return width >= _SHORTEST_LINE_OF_PROSE and len(first) + len(rest[0].split(maxsplit=1)[0]) < width


# --- titles by their look -------------------------------------------------------------------------------------------

FEWEST_HEADINGS = 3
"""Of fewer heading elements, the looks of lines are examined as well; fewer lines that look alike are no headings."""
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
        if FEWEST_HEADINGS <= len(alike) <= MOST_CHAPTERS and prose[look] * 10 <= len(alike)
        for placed in (_placed(text, alike), _placed(text, alike, from_end=True))
    ]
    return max((each for each in found if divides_into_chapters(text, each)), key=len, default=[])


def _placed(text: str, lines: Sequence[str], *, from_end: bool = False) -> list[Heading]:
    """The lines as headings where they stand in the text, each a block by itself. If they are looked for from the last
    one back, those of a table of contents in front are left out.
    """
    whole, found, misses = f"\n{text}\n", [], 0
    end = len(whole) if from_end else 0
    for line in reversed(lines) if from_end else lines:
        near = (max(0, end - _FARTHEST), end) if from_end else (end, end + _FARTHEST)
        at = (whole.rfind if from_end else whole.find)(f"\n{line}\n", *near)
        if at >= 0:
            end = at + (1 if from_end else len(line) + 1)
            found.append(Heading(at, at + len(line), line, 1))
        elif (misses := misses + 1) > _MOST_MISSES:
            return []
    return found[::-1] if from_end else found


def divides_into_chapters(text: str, headings: Sequence[Heading]) -> bool:
    """Whether headings stand as far from each other as those of chapters, and are not the same again and again."""
    return _are_names_of_chapters(text, headings, FEWEST_HEADINGS, _SHORTEST_STYLED_CHAPTER)


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


# --- titles above numbers -------------------------------------------------------------------------------------------

_Place = TypeVar("_Place", Heading, Block)
_BYLINE = re.compile(rf"(?:by|{BY_ELSEWHERE})\s+\S.{{1,60}}", re.IGNORECASE)


def stories_above(blocks: Sequence[Block], numbered: Sequence[Heading], known: Sequence[Heading]) -> list[Heading]:
    """Titles of stories that are divided I, II, III, and those of the same style that are not; other headings are
    known already.
    """
    firsts = [heading.start for heading in numbered if heading.label and heading.label.value == 1]
    if len(firsts) < _FEWEST:
        return []
    starts = [block.start for block in blocks]
    above = [_above_byline(blocks, at - 1) for first in firsts if (at := bisect_left(starts, first)) > 0]
    titles = [
        block
        for block in not_within(above, known)
        if block.is_short and reads_as_title(block.text) and not is_label(block.text)
    ]
    if len(titles) * 10 < len(firsts) * 7:
        return []
    gap = min(block.gap for block in titles)
    shouted = all(in_capitals(block.text) for block in titles)
    if gap <= usual_gap(blocks) and not shouted:
        return [Heading(block.start, block.end, block.text, Rank.CHAPTER) for block in titles]
    named = {block.start: block for block in titles}
    return [
        Heading(block.start, block.end, block.text, Rank.CHAPTER)
        for each in not_within(blocks, known)
        for block in (named.get(each.start, each),)
        if block.is_short
        and block.gap >= gap
        and reads_as_title(block.text)
        and (not shouted or in_capitals(block.text))
        and not parse_numeral(block.text)
    ]


def _above_byline(blocks: Sequence[Block], number: int) -> Block:
    """A block; if it is "by Mary Shelley", the title above that, and the place of both."""
    block, above = blocks[number], blocks[number - 1] if number else None
    is_byline = above is not None and above.is_short and block.is_short and _BYLINE.fullmatch(block.text)
    return block._replace(start=above.start, gap=above.gap, lines=above.lines) if above and is_byline else block


def titles_of_series(text: str, blocks: Sequence[Block], chapters: Sequence[Heading]) -> list[Heading]:
    """The titles right above each "Chapter I" of a book that has several, and no labelled parts. If these are
    numbered, as "Article I" above "Section 1", so are others: the amendments of a constitution may have no sections.
    """
    if any(heading.level and heading.level < Rank.CHAPTER for heading in chapters):
        return []
    ranks = [heading.label.rank if heading.label else None for heading in chapters]
    outermost = min(filter(None, ranks), default=None)
    counted = [heading for heading, rank in zip(chapters, ranks, strict=True) if rank is outermost]
    firsts = [heading.start for heading in counted if heading.label and heading.label.value == 1]
    above = {
        title.start: replace(title, level=Rank.PART)
        for title in stories_above(blocks, counted, chapters)
        if any(not has_words(text, title.end, first) for first in firsts[bisect_left(firsts, title.end) :][:1])
    }
    lines = [(block, by_a_word(block.text)) for block in not_within(blocks, chapters) if len(block.lines) == 1]
    begun = {label.word for _, label in lines if label and label.value == 1}
    alike = [Heading(*block[:2], block.text, Rank.PART) for block, label in lines if label and label.word in begun]
    return alike if above and above.keys() <= {each.start for each in alike} else [*above.values()]


def article(line: str) -> Label | None:
    """The label of an article of a law, "Article 2" or "§ 2"; they count on through its titles and chapters."""
    label = by_a_word(line)
    is_article = label is not None and label.name.split()[0].strip(".").casefold() in LISTS["provisions"]
    return replace(label, rank=Rank.NUMERAL) if label and is_article else None


def not_within(places: Sequence[_Place], headings: Sequence[Heading]) -> list[_Place]:
    """The places outside the spans of headings; a title below a label is inside."""
    starts = [heading.start for heading in headings]
    result = []
    for place in places:
        at = bisect_left(starts, place.start + 1) - 1
        if at < 0 or headings[at].end <= place.start:
            result.append(place)
    return result
