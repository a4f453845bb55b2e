"""A printed table of contents: where it is, and which lines of the book it names as headings.

Two signs distinguish it from the book: its lines follow one another directly, and what they name occurs again
elsewhere. A table is never a chapter; the headings it names are found even if nothing else marks them.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

from bot.parsers.draft import Block, width_of
from bot.parsers.headings import (
    Heading,
    Label,
    Rank,
    is_bare_label,
    is_contents,
    is_not_the_book,
    parse_any_label,
    parse_numeral,
)
from bot.parsers.titles import QUOTATION_MARKS, letters

_DENSE = 320
"""Characters between lines of a table that have titles of their own below them."""
_FEWEST = 4
_FEWEST_UNDER_A_NAME = 3
_FEWEST_OF_A_REFRAIN = 4
_SHORTEST_NAME, _SHORTEST_CJK_NAME = 4, 2
_LONGEST_ENTRY = 110
_LONGEST_PROSE_LINE = 85
_MOST_ENTRIES = 3_000
_LONGEST_TABLE = 150_000
_FRONT = 60_000
_LONGEST_TITLE = 160
_ALIKE = 0.82
_MOST_COMPARED = 400
_PAGE = re.compile(r"(?:[\s.·…_–—-]{2,}|\s)\s*(?:p(?:age|\.)?\s*)?(?:\d{1,4}|[ivxlc]{1,6})\s*$|[\s.·…_]{3,}$")
_LONGEST_NUMERAL = 16
_LETTERS = re.compile(r"[^\W\d_]")
_MOST_REFERENCES = 4
"""Mentions of chapters in a row, such as in a list."""
_STOPS = ".,;!?。，；！？"


@dataclass(frozen=True, slots=True)
class TableLine:
    """A labelled line of the text, which may be a heading or a line of a table."""

    heading: Heading
    label: Label


@dataclass(frozen=True, slots=True)
class PrintedContents:
    """The positions of tables of contents, and the headings they name, in order."""

    spans: tuple[tuple[int, int], ...] = ()
    headings: tuple[Heading, ...] = ()
    _starts: tuple[int, ...] = field(default=(), repr=False)

    def holds(self, offset: int) -> bool:
        """Whether an offset is in a table of contents."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self.spans[at][1]


@dataclass(slots=True)
class _Entry:
    """A line of a table; `keys` are the letters of its possible names in the book."""

    keys: tuple[str, ...]
    indent: int
    is_numbered: bool


def find_contents(text: str, blocks: Sequence[Block], lines: Sequence[TableLine]) -> PrintedContents:
    """The tables of contents in a text, given its blocks and its labelled lines."""
    spans = _dense_runs(text, blocks, lines)
    headings: list[Heading] = []
    for start, end in _lists(text, blocks, spans):
        entries = _entries(text, start, end)
        named = _named(blocks, lines, entries, (start, end), spans)
        if named:
            spans.append((start, end))
            headings += named
    spans = _merged(spans)
    starts = tuple(start for start, _ in spans)
    table = PrintedContents(tuple(spans), (), starts)
    kept = {heading.start: heading for heading in headings if not table.holds(heading.start)}
    return PrintedContents(tuple(spans), tuple(kept[start] for start in sorted(kept)), starts)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


# --- runs of labelled lines -----------------------------------------------------------------------------------------


def _dense_runs(text: str, blocks: Sequence[Block], lines: Sequence[TableLine]) -> list[tuple[int, int]]:
    """Runs of labelled lines without text between them, which occur again outside the run."""
    keys, exact = _keys(lines)
    places: dict[tuple[object, ...], list[int]] = {}
    for at, names in enumerate(zip(keys, exact, strict=True)):
        for name in {*names}:
            places.setdefault(name, []).append(at)
    starts = [block.start for block in blocks]
    numerals = _last_numerals(blocks)
    result = []
    first = 0
    for at in range(1, len(lines) + 1):
        if at < len(lines) and lines[at].heading.start - lines[at - 1].heading.end <= _DENSE:
            continue
        span = _run(text, blocks, starts, lines, (keys, exact), places, first, at)
        if span := span or _counted_again(text, blocks, starts, lines[first:at], numerals):
            result.append(span)
        first = at
    return result


def _keys(lines: Sequence[TableLine]) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """What identifies lines: their titles if those occur again, else their numbers; each also with the part they are
    in.
    """
    above: dict[int, object] = {}
    numbers: list[tuple[object, ...]] = []
    titles: list[tuple[object, ...]] = []
    for line in lines:
        rank = line.label.rank or 0
        own = line.label.value if line.label.value is not None else letters(line.label.name)
        parent = next((above[each] for each in range(rank - 1, 0, -1) if each in above), None)
        if rank:
            for deeper in [each for each in above if each > rank]:
                del above[deeper]
            above[rank] = own
        title = letters(_without_page(line.label.title))[:24]
        numbers.append((parent, rank, line.label.word, own))
        titles.append((rank, line.label.word, own, title) if len(title) > 2 else ())
    known = Counter(titles)
    keys: list[tuple[object, ...]] = []
    exact: list[tuple[object, ...]] = []
    for by_title, by_number in zip(titles, numbers, strict=True):
        occurs_again = bool(by_title) and known[by_title] > 1
        keys.append(by_title if occurs_again else by_number)
        exact.append((*by_number, by_title[-1]) if occurs_again else by_number)
    return keys, exact


def _run(
    text: str,
    blocks: Sequence[Block],
    starts: Sequence[int],
    lines: Sequence[TableLine],
    keys: tuple[Sequence[tuple[object, ...]], Sequence[tuple[object, ...]]],
    places: dict[tuple[object, ...], list[int]],
    first: int,
    stop: int,
) -> tuple[int, int] | None:
    """The span of the run `lines[first:stop]`, without the book's own first headings, which may follow directly."""
    is_named, begin = _name_above(blocks, starts, lines[first].heading.start)
    fewest = _FEWEST_UNDER_A_NAME if is_named else _FEWEST
    if stop - first < fewest:
        return None

    def is_outside(name: tuple[object, ...]) -> bool:
        return places[name][0] < first or places[name][-1] >= stop

    outside = [*map(is_outside, keys[0][first:stop])]
    later_end = stop
    while later_end - first >= fewest:
        name = keys[1][later_end - 1]
        comes_again = places[name][0] < later_end - 1 and not is_outside(name)
        if outside[later_end - first - 1] and not comes_again:
            break
        later_end -= 1
    known = sum(outside[: later_end - first])
    if later_end - first < fewest or known * 10 < (later_end - first) * 6:
        return None
    last = lines[later_end - 1].heading
    end = lines[later_end].heading.start if later_end < stop else _end_of_line_after(text, last.end)
    return begin, end


def _last_numerals(blocks: Sequence[Block]) -> dict[int, int]:
    """The last occurrence of each bare number: "- 3 -"."""
    result: dict[int, int] = {}
    for block in blocks:
        if len(block.lines) == 1 and len(block.lines[0]) <= _LONGEST_NUMERAL:
            label = parse_numeral(block.lines[0])
            if label and not label.title and label.value is not None:
                result[label.value] = block.start
    return result


def _counted_again(
    text: str, blocks: Sequence[Block], starts: Sequence[int], run: Sequence[TableLine], numerals: Mapping[int, int]
) -> tuple[int, int] | None:
    """The span of a run under "Contents" whose chapters are bare numbers in the book: "Chapter 3" is "- 3 -" there."""
    is_named, begin = _name_above(blocks, starts, run[0].heading.start)
    if not is_named or len(run) < _FEWEST_UNDER_A_NAME:
        return None
    if any(_LETTERS.search(text, above.heading.end, below.heading.start) for above, below in pairwise(run)):
        return None
    end = run[-1].heading.end
    known = sum(line.label.value is not None and numerals.get(line.label.value, 0) > end for line in run)
    return (begin, _end_of_line_after(text, end)) if known * 10 >= len(run) * 6 else None


def _end_of_line_after(text: str, offset: int) -> int:
    """The end of a table's last line, and of the short title that may be below it."""
    following = text[offset : offset + _DENSE].lstrip()
    skipped = len(text[offset : offset + _DENSE]) - len(following)
    line = following.partition("\n")[0]
    return offset + skipped + len(line) if line and _PAGE.search(line) and len(line) < _LONGEST_ENTRY else offset


def _name_above(blocks: Sequence[Block], starts: Sequence[int], start: int) -> tuple[bool, int]:
    """Whether "Contents" precedes a place, and where the table then begins."""
    at = bisect_right(starts, start) - 1
    for number in range(at, max(-1, at - 5), -1):
        block = blocks[number]
        first = block.lines[0] if block.lines else ""
        if first and len(first) < 60 and is_contents(first):
            return True, block.start
    return False, start


def is_inside_series(heading: Heading, labelled: Sequence[Heading]) -> bool:
    """Whether a heading of the contents is between two that count on without it, as a section's title is."""
    at = bisect_left(labelled, heading.start, key=lambda each: each.start)
    if not 0 < at < len(labelled):
        return False
    above, below = labelled[at - 1].label, labelled[at].label
    return (
        above is not None
        and below is not None
        and above.rank == below.rank
        and above.value is not None
        and below.value == above.value + 1
    )


def without_references(headings: Sequence[Heading]) -> list[Heading]:
    """The headings without lines that begin with another chapter's label: those from which the series goes on as if
    they were not there, and whose number comes again; and "Chapter 5, Basics" where the book prints no such comma.
    """
    series: dict[str, list[tuple[int, int]]] = {}
    for at, heading in enumerate(headings):
        if heading.label and heading.label.value is not None:
            series.setdefault(heading.label.word, []).append((at, heading.label.value))
    references: set[int] = set()
    for counted in series.values():
        times = Counter(value for _, value in counted)
        commas = {at for at, _ in counted if (label := headings[at].label) and label.mark == ", "}
        references |= commas if len(commas) * 2 < len(counted) else set()
        last = 0
        for number, (at, value) in enumerate(counted):
            following = {later for _, later in counted[number + 1 : number + 1 + _MOST_REFERENCES]}
            if value not in (1, last, last + 1) and times[value] > 1 and last + 1 in following:
                references.add(at)
            else:
                last = value
    return [heading for at, heading in enumerate(headings) if at not in references]


# --- lists of lines -------------------------------------------------------------------------------------------------


def _lists(text: str, blocks: Sequence[Block], taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places that look like tables: what follows "Contents", and lists of short lines at the front."""
    result: list[tuple[int, int]] = []
    end = 0
    for number, block in enumerate(blocks):
        if block.start < end:
            continue
        first = text[block.start : block.start + 60].partition("\n")[0].strip()
        if first and len(first) < 50 and block.gap and is_contents(first):
            end = _end_of_list(text, blocks, number)
        elif block.start < _FRONT and _is_list(text, block) and not any(a <= block.start < b for a, b in taken):
            end = _end_of_list(text, blocks, number) if block.end - block.start > 90 else block.end
        else:
            continue
        result.append((block.start, end))
    return result


def _is_list(text: str, block: Block) -> bool:
    lines = text[block.start : min(block.end, block.start + _LONGEST_TABLE)].split("\n")
    widths = [*map(width_of, lines)]
    return len(lines) >= _FEWEST and max(widths) <= _LONGEST_ENTRY and sum(widths) < 60 * len(lines)


def _end_of_list(text: str, blocks: Sequence[Block], number: int) -> int:
    """Where the lines of a table end: at the first prose, or where the first name occurs again, perhaps below its
    label.
    """
    seen: Counter[str] = Counter()
    start = end = before_label = blocks[number].start
    for block in blocks[number : number + _MOST_ENTRIES]:
        if block.start - start > _LONGEST_TABLE:
            break
        lines = text[block.start : min(block.end, block.start + _LONGEST_TABLE)].split("\n")
        if not _are_entries(lines):
            break
        names = [letters(_name_of(line)) for line in lines]
        shortest = _SHORTEST_CJK_NAME if names[0][:1] >= "\u2e80" else _SHORTEST_NAME
        is_again = seen[names[0]] or seen["".join(names)]  # with its author below
        if len(lines) <= 2 and is_again and len(names[0]) >= shortest and seen.total() >= _FEWEST_UNDER_A_NAME:
            return before_label
        seen.update(name for name in names if name)
        before_label, end = end if is_bare_label(block.text) else block.end, block.end
    return end


def _are_entries(lines: Sequence[str]) -> bool:
    widths = [width_of(line.strip()) for line in lines]
    if max(map(len, lines)) > _LONGEST_ENTRY:
        return False
    long = sum(width > _LONGEST_PROSE_LINE - 25 for width in widths[:-1])
    ends = sum(line.rstrip()[-1:] in _STOPS and width > 40 for line, width in zip(lines, widths, strict=True))
    return len(lines) < 3 or (long * 2 < len(lines) and ends * 2 <= len(lines))


def _without_page(line: str) -> str:
    return _PAGE.sub("", line.rstrip())


def _name_of(line: str) -> str:
    """A line of a table without its page and its number."""
    title = _without_page(line.strip())
    label = parse_any_label(title) or parse_numeral(title)
    return label.title if label and label.title else title


def _entries(text: str, start: int, end: int) -> list[_Entry]:
    """The lines of a table; each may also be identified together with the next one."""
    lines = [line for line in text[start:end].split("\n") if line.strip()]
    entries: list[_Entry] = []
    for at, line in enumerate(lines[:_MOST_ENTRIES]):
        title = _without_page(line.strip())
        if len(title) > _LONGEST_ENTRY or is_not_the_book(title) or title[:1].islower():
            continue
        label = parse_any_label(title) or parse_numeral(title)
        following = _without_page(lines[at + 1].strip()) if at + 1 < len(lines) else ""
        names = [letters(title), letters(f"{title} {following}")]
        if label and label.title:
            names += [letters(label.title), letters(f"{label.title} {following}")]
        keys = tuple(name for name in dict.fromkeys(names) if len(name) > 2 or (label is None and name))
        if keys and not (label and not label.title):
            entries.append(_Entry(keys, len(line) - len(line.lstrip()), label is not None))
    return entries


def _named(
    blocks: Sequence[Block],
    lines: Sequence[TableLine],
    entries: Sequence[_Entry],
    span: tuple[int, int],
    taken: Sequence[tuple[int, int]],
) -> list[Heading]:
    """The headings in the book that a list names, if it names enough of them to be a table of contents."""
    if len(entries) < _FEWEST_UNDER_A_NAME:
        return []
    index: dict[str, int] = {}
    for number, entry in enumerate(entries):
        for key in entry.keys:
            index.setdefault(key, number)
    spans = [*taken, span]
    found = _places(blocks, lines, index, spans)
    refrains = _refrains(found)
    chain = _longest_chain([each for each in found if each[0] not in refrains])
    distinct = {number for number, _ in chain}
    if len(distinct) < _FEWEST_UNDER_A_NAME or len(distinct) * 10 < len(entries) * 5:
        return []
    chain = _with_misprints(blocks, entries, chain, spans, refrains)
    labels = {line.heading.start: line for line in lines}
    base = min(entries[number].indent for number, _ in chain)
    numbered = sum(entries[number].is_numbered for number, _ in chain) * 2 > len(chain)
    return [
        _heading(block, labels.get(block.start), entries[number], base, is_numbered=numbered) for number, block in chain
    ]


def _places(
    blocks: Sequence[Block], lines: Sequence[TableLine], index: dict[str, int], spans: Sequence[tuple[int, int]]
) -> list[tuple[int, Block]]:
    """Blocks with the words of an entry, in the order of the text."""
    titles = {line.heading.start: line.label.title for line in lines if line.label.title}
    longest = max(map(len, index)) * 2 + 20
    firsts = {key[0] for key in index}
    result: list[tuple[int, Block]] = []
    for block in blocks:
        if not block.lines or block.end - block.start > longest or any(a <= block.start < b for a, b in spans):
            continue
        first = block.lines[0].lstrip(f"_*= \t{QUOTATION_MARKS}")[:1].casefold()
        may_be_number = first.isdigit() or first in "ivxlc"
        if len(block.lines) > 4 or not (may_be_number or first in firsts or block.start in titles):
            continue
        text = block.text
        number = index.get(letters(text))
        if number is None and (title := titles.get(block.start)):
            number = index.get(letters(title))
        if number is None and may_be_number and (label := parse_numeral(text)) and label.title:
            number = index.get(letters(label.title))
        if number is not None:
            result.append((number, block))
    return result


def _refrains(found: Sequence[tuple[int, Block]]) -> set[int]:
    """The entries that come again and again between others: the speakers of a play. A page head comes in a row."""
    places: dict[int, list[int]] = {}
    for at, (number, _) in enumerate(found):
        places.setdefault(number, []).append(at)
    return {
        number for number, ats in places.items() if len(ats) >= _FEWEST_OF_A_REFRAIN and ats[-1] - ats[0] > len(ats)
    }


def _longest_chain(found: Sequence[tuple[int, Block]]) -> list[tuple[int, Block]]:
    """The longest run of entries that occur in the book in the order of the table."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, (number, _) in enumerate(found):
        place = bisect_left(tails, number)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(number)
            ends.append(at)
        elif tails[place] != number:  # of two that say the same the first is the heading
            tails[place], ends[place] = number, at
    chain: list[tuple[int, Block]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(found[at])
        at = before[at]
    return chain[::-1]


def _with_misprints(
    blocks: Sequence[Block],
    entries: Sequence[_Entry],
    chain: list[tuple[int, Block]],
    spans: Sequence[tuple[int, int]],
    refrains: Container[int],
) -> list[tuple[int, Block]]:
    """The chain, with blocks of nearly the same words for entries that are missing between their neighbours."""
    starts = [block.start for block in blocks]
    result: list[tuple[int, Block]] = []
    for at, (number, block) in enumerate(chain):
        result.append((number, block))
        following = chain[at + 1] if at + 1 < len(chain) else (len(entries), blocks[-1])
        missing = [each for each in range(number + 1, following[0]) if each not in refrains]
        if not missing or len(missing) > 20:
            continue
        between = blocks[bisect_left(starts, block.end) : bisect_left(starts, following[1].start)]
        short = [
            each
            for each in between
            if each.is_short and len(each.text) <= _LONGEST_TITLE and not any(a <= each.start < b for a, b in spans)
        ]
        short = sorted(short, key=lambda each: -each.gap)[:_MOST_COMPARED]
        for entry in missing:
            if likely := _most_alike(entries[entry].keys[0], short):
                result.append((entry, likely))
    return sorted(result, key=lambda each: each[1].start)


def _most_alike(key: str, blocks: Sequence[Block]) -> Block | None:
    best, best_ratio = None, _ALIKE
    if len(key) < 5:
        return None
    for block in blocks:
        matcher = SequenceMatcher(None, letters(block.text), key, autojunk=False)
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = block, ratio
    return best


def _heading(block: Block, line: TableLine | None, entry: _Entry, base: int, *, is_numbered: bool) -> Heading:
    """A heading of the table at its place; entries indented under others are deeper."""
    if line is not None and line.label.rank:
        return Heading(block.start, block.end, block.text, line.label.rank, line.label)
    is_deeper = entry.indent > base + 1 and entry.is_numbered and not is_numbered
    label = parse_numeral(block.text)
    return Heading(block.start, block.end, block.text, Rank.NUMERAL if is_deeper else Rank.CHAPTER, label)
