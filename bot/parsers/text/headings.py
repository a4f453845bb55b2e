"""Headings in text without markup: labelled lines, bare numbers, titles that stand apart, or lines in capitals.

A heading is recognised by its words, the white space around it, the others of its kind, and the printed table of
contents, if there is one. The table itself is only evidence: none of its lines is a heading.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, zip_longest

from bot.parsers.chapters import chapters_from
from bot.parsers.draft import Block, has_words, in_capitals, middle, usual_gap
from bot.parsers.headings import (
    AROUND_A_NUMBER,
    LETTERS,
    NAMED_PARTS,
    RANK_OF,
    Heading,
    Label,
    Rank,
    by_a_word,
    is_bare_label,
    is_label,
    is_not_the_book,
    misspelt_label,
    opens_cjk_label,
    order_of_parts,
    parse_any_label,
    parse_numeral,
    run_in,
)
from bot.parsers.text.blocks import (
    article,
    blocks_of,
    dated,
    is_above_prose,
    marked_by_signs,
    not_within,
    outlined,
    stories_above,
    titles_among_paragraphs,
    titles_in_capitals,
    titles_of_series,
    titles_set_apart,
)
from bot.parsers.text.contents import PrintedContents, TableLine, find_contents, is_inside_series, without_references
from bot.parsers.titles import (
    LONGEST_TITLE,
    HeadingCandidate,
    goes_on,
    may_be_called,
    may_be_title,
    reads_as_title,
    with_subtitle,
    with_title_lines,
    without_lines_of_contents,
)
from domain.library.numerals import HAN

_LONGEST_BARE_LABEL = 60
_LONGEST_LINE_ABOVE_PROSE = 40
_LONGEST_FIRST_WORDS = 72
_LONGEST_OPENING = 32
_FEWEST = 2
_FEWEST_TITLES = 3
_FEW_NUMBERED = 6
"""Numbered headings that may all be sections of one tale, among others that have titles."""
_SHORTEST_NUMBERED_SECTION = 200
_LONGEST_STEP = 2_000
_ENDS_OF_SENTENCES = ".!?…:;\"”“’‘'»«›‹)*_-—。！？：」』"
"""The last signs of a paragraph that is whole: German closes its quotations with the signs that open others'."""
_WHOLE = re.compile(rf"[{re.escape(_ENDS_OF_SENTENCES)}][\d\s,–-]{{0,16}}\Z")  # verses end so: "… be pure. 183"
_WORDS = re.compile(LETTERS)
_Parse = Callable[[str], Label | None]
_HINTS = frozenset(RANK_OF) | NAMED_PARTS | {"introductory", "author", "to", "al", "au"}


@lru_cache(maxsize=1)
def lines_of(text: str) -> tuple[Sequence[Block], Sequence[HeadingCandidate], PrintedContents]:
    """The blocks of a text, its labelled lines, which may be headings, and its tables of contents."""
    blocks = blocks_of(text)
    candidates = _candidates(text, blocks)
    lines = [TableLine(each.heading, each.label) for each in candidates]
    return blocks, candidates, find_contents(text, blocks, lines)


def find_headings(text: str) -> list[Heading]:
    """The headings of a text, by its strongest signs: labels, then bare numbers, then titles."""
    blocks, candidates, contents = lines_of(text)
    marked = marked_by_signs(text, blocks)
    if marked and sum(each.label.is_certain for each in candidates) <= 2 * len(marked):
        return marked
    if verses := run_in(text):
        known = {verse.start for verse in verses}
        parts = with_title_lines([each for each in candidates if each.heading.start not in known], blocks)
        return _levelled(text, [*parts, *verses])
    outside = [each for each in candidates if not contents.holds(each.heading.start)]
    labelled = without_references(with_title_lines(_labelled(outside), blocks, contents.headings))
    body = [block for block in blocks if not contents.holds(block.start)] if contents.spans else blocks
    found = _divided(text, body, labelled, contents)
    wrapping = [Heading(start, end, "Contents", Rank.VOLUME) for start, end in contents.spans]
    return sorted([*found, *wrapping, *_wrapping_of(body, found)], key=lambda heading: heading.start)


def _divided(text: str, blocks: Sequence[Block], labelled: list[Heading], contents: PrintedContents) -> list[Heading]:
    """The labelled headings, together with numbered or titled ones, or those of the contents."""
    ranked = [heading for heading in labelled if heading.level]
    listed = not_within(contents.headings, labelled)
    if ranked and len(articles := _counted(text, blocks, labelled, 0, article)) > len(ranked):
        return _levelled(text, [*labelled, *articles])
    if len(chapters_from(text, [heading for heading in ranked if heading.level >= Rank.ACT])) >= _FEWEST:
        found = _bridged(blocks, labelled, listed)
        return _levelled(text, [*titles_of_series(text, blocks, found), *found])
    days = dated(text, blocks)
    inner = outlined(blocks) or _numbered(text, blocks, labelled) or days
    stories = stories_above(blocks, inner, labelled)
    sections = inner if stories else []  # or the chapters of novels: their lengths tell
    apart = not_within(listed, inner)
    are_listed = len(apart) >= _FEWEST_TITLES and (len(apart) >= len(inner) // 2 or stories)
    inner = listed if are_listed else stories or inner
    if len(inner) < _FEW_NUMBERED or _begin_again(inner) or inner is days:
        finders = (titles_in_capitals, titles_set_apart, titles_among_paragraphs)
        titled = max((find(text, blocks) for find in finders), key=len)
        is_within = _are_in_one_tale if len(inner) < _FEW_NUMBERED else _are_steps
        are_among = inner is days and {day.start for day in days} <= {title.start for title in titled}
        inner = titled if len(titled) > len(ranked) and (are_among or is_within(inner, titled)) else inner
    if len(inner) < _FEWEST_TITLES and not ranked:
        inner = _counted(text, blocks, labelled, 0, by_a_word) or inner
    taken = {heading.start for heading in labelled}
    found = [*labelled, *(each for each in [*inner, *not_within(sections, inner)] if each.start not in taken)]
    return _levelled(text, found)


def _are_in_one_tale(headings: Sequence[Heading], titled: Sequence[Heading]) -> bool:
    """Whether all headings, if there are any, are in the same one of many titled tales."""
    starts = [title.start for title in titled]
    return not headings or (len(titled) > len(headings) and len({bisect_left(starts, h.start) for h in headings}) == 1)


def _begin_again(headings: Sequence[Heading]) -> bool:
    return sum(heading.label is not None and heading.label.value == 1 for heading in headings) >= _FEWEST_TITLES


def _are_steps(numbered: Sequence[Heading], titled: Sequence[Heading]) -> bool:
    """Whether short numbered headings with titles begin again under each of some titles: steps, as in a manual."""
    starts = [title.start for title in titled]
    firsts = [heading.start for heading in numbered if heading.label and heading.label.value == 1]
    above = [bisect_left(starts, first) for first in firsts]
    named = sum(heading.label is not None and bool(heading.label.title) for heading in numbered)
    usual = middle(below.start - heading.end for heading, below in pairwise(numbered))
    return usual < _LONGEST_STEP and named * 2 > len(numbered) and 0 not in above and len({*above}) == len(above)


def _levelled(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Named parts (level 0 so far) belong inside the part they open, or else on the level of the outermost division;
    and parts of books, or books of parts, are as deep as they open each other.
    """
    order = order_of_parts([heading.label.rank if heading.label else None for heading in headings])
    headings = [
        replace(heading, level=int(order[heading.label.rank])) if heading.label and heading.label.rank else heading
        for heading in headings
    ]
    headings.sort(key=lambda heading: heading.start)
    levels = {heading.level for heading in headings if heading.level}
    outermost = min(levels, default=Rank.NUMERAL)
    result: list[Heading] = []
    for heading, below in zip_longest(headings, headings[1:]):
        above = result[-1] if result else None
        goes_on = above and below and above.level == below.level >= Rank.CHAPTER
        if not heading.level and goes_on and below.label and below.label.value != 1:
            heading = replace(heading, level=below.level)  # "Interlude", between two chapters of a part
        elif not heading.level:
            opens_part = above and above.level < Rank.CHAPTER and not has_words(text, above.end, heading.start)
            inner = min((level for level in levels if above and level > above.level), default=outermost)
            heading = replace(heading, level=inner if opens_part else outermost)
        result.append(heading)
    return result


# --- labelled lines -------------------------------------------------------------------------------------------------


def _candidates(text: str, blocks: Sequence[Block]) -> list[HeadingCandidate]:
    found: list[HeadingCandidate] = []
    for number, block in enumerate(blocks):
        if not block.lines:
            found += _lines_in_prose(text, block, number)
        elif block.lines[0][0] not in "\"“”'‘’«»„":
            found += _candidates_of(text, block, number)
    return _above_prose(text, blocks, found)


def _above_prose(text: str, blocks: Sequence[Block], found: Sequence[HeadingCandidate]) -> list[HeadingCandidate]:
    """The candidates; where most bare labels stand above prose in one block, a short paragraph is no title either."""
    bare = [each for each in found if each.label.rank and not each.label.title and each.label.is_certain]
    whole = [each for each in bare if each.heading.end == blocks[each.block].end and blocks[each.block].lines]
    titled = {each.heading.start for each in whole if is_above_prose(blocks[each.block].lines)}
    plain = sum(each.heading.end < blocks[each.block].end and is_bare_label(each.heading.title) for each in bare)
    if plain <= len(titled):
        return [*found]
    return [
        replace(each, heading=_heading(each.heading.start, end, text[each.heading.start : end].strip(), each.label))
        if each.heading.start in titled and (end := text.find("\n", each.heading.start)) > 0
        else each
        for each in found
    ]


def _candidates_of(text: str, block: Block, number: int) -> list[HeadingCandidate]:
    """The heading that a block is, or the headings in its lines if it is a list."""
    labels = [label for line in block.lines if _may_be_label(line) and (label := parse_any_label(line))]
    is_titled = len(block.lines) == _FEWEST and labels[1:] and may_be_called(block.lines[0], labels[1])
    if len(block.lines) > 1 and len(labels) > 1 and not is_titled:
        return _lines_in_prose(text, block, number)
    label = _label_of(block)
    if label is None:
        return _lines_in_prose(text, block, number) if len(block.lines) > 1 else []
    title = block.text
    if len(block.lines) > 1 and not label.title:
        title = with_subtitle(block.lines[0], " ".join(block.lines[1:]))
    return [HeadingCandidate(_heading(block.start, block.end, title, label), label, number)]


def _label_of(block: Block) -> Label | None:
    first = block.lines[0]
    label = parse_any_label(first) if _may_be_label(first) else None
    if label is None:
        return None
    if len(block.lines) > 1:
        rest = " ".join(block.lines[1:])
        if not label.is_certain or (not label.title and rest[:1].islower()):
            return None
        if label.rank and label.title and is_above_prose(block.lines):
            return None
        if block.is_short:
            return label
        names = in_capitals(rest) if not label.title else bool(label.mark.strip())
        return label if names and not goes_on(rest) else None
    return label


def _may_be_label(line: str, longest: int = _LONGEST_FIRST_WORDS) -> bool:
    """A fast check: whether one of the first words is a label."""
    return opens_cjk_label(line) or not _HINTS.isdisjoint(_WORDS.findall(line[:longest].casefold()))


def _lines_in_prose(text: str, block: Block, number: int) -> list[HeadingCandidate]:
    """Labelled lines without blank lines around them: "CHAPTER I" with prose in the next line, or in a list."""
    end = text.find("\n", block.start, block.start + LONGEST_TITLE + 60)
    if end < 0 or end >= block.end:
        return []
    found: list[HeadingCandidate] = []
    lines, at = text[block.start : block.end].split("\n"), block.start
    for index, line in enumerate(lines):
        start, at = at, at + len(line) + 1
        words = line.strip()
        if not words or words[0].islower() or len(words) > LONGEST_TITLE + 60:
            continue
        label = parse_any_label(words) if _may_be_label(words, _LONGEST_OPENING) else None
        if label is None or label.rank is None or not label.is_certain or (index and not _may_follow(lines[index - 1])):
            continue
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if following[:1].islower() or (label.title and not _is_title(label.title)):
            continue
        begin = start + line.index(words[0])
        end = begin + len(words)
        may_have_title = label.rank not in (Rank.ACT, Rank.SCENE) and not label.title
        if may_have_title and _is_title_in_capitals(lines[index + 1 : index + 3]):
            words, end = with_subtitle(words, following), at + len(lines[index + 1])
        found.append(HeadingCandidate(_heading(begin, end, words, label), label, number))
    return found


def _is_title_in_capitals(lines: Sequence[str]) -> bool:
    """Whether the first of two lines is a title in capitals, and not the first words of a sentence."""
    title = lines[0].strip() if len(lines) > 1 else ""
    is_title = bool(title) and in_capitals(title) and reads_as_title(title) and not is_label(title)
    return is_title and not lines[1].strip()[:1].islower()


def _may_follow(line: str) -> bool:
    above = line.strip()
    return not above or above[-1] in _ENDS_OF_SENTENCES or above[-1].isdigit() or len(above) < _LONGEST_BARE_LABEL


def _is_title(title: str) -> bool:
    return len(title) <= LONGEST_TITLE and not title[0].islower()


def _heading(start: int, end: int, title: str, label: Label) -> Heading:
    return Heading(start, end, title, label.rank or 0, label)


def _labelled(candidates: Sequence[HeadingCandidate]) -> list[HeadingCandidate]:
    """The candidates that are headings: those with an unknown number only if others are of their kind."""
    certain = [each for each in candidates if each.label.is_certain]
    kinds = {each.label.rank for each in certain if each.label.rank}
    unknown = Counter(each.label.word for each in candidates if not each.label.is_certain)
    return [
        each
        for each in candidates
        if each.label.is_certain
        or (each.label.rank in kinds and each.label.rank != Rank.PART)
        or unknown[each.label.word] >= _FEWEST_TITLES
    ]


# --- gaps in a series -----------------------------------------------------------------------------------------------


def _bridged(blocks: Sequence[Block], labelled: Sequence[Heading], listed: Sequence[Heading]) -> list[Heading]:
    """The labelled headings, and those that their series lacks: printed in another form, or only in the contents."""
    found = list(labelled)
    extra = [heading for heading in listed if not is_inside_series(heading, labelled)]
    for heading in [*_numbers_missing(blocks, labelled), *extra]:
        if all(heading.start >= other.end or heading.end <= other.start for other in _near(found, heading)):
            found.append(heading)
            found.sort(key=lambda each: each.start)
    return found


def _near(headings: Sequence[Heading], heading: Heading) -> Sequence[Heading]:
    at = bisect_left(headings, heading.start, key=lambda each: each.start)
    return headings[max(0, at - 2) : at + 2]


def _numbers_missing(blocks: Sequence[Block], labelled: Sequence[Heading]) -> list[Heading]:
    """Blocks with a number that the series lacks at that point: "VII. THE BLUE CARBUNCLE" after Adventure VI."""
    series = [
        (heading.start, heading.label.value)
        for heading in labelled
        if heading.label and heading.label.rank == Rank.CHAPTER and heading.label.value is not None
    ]
    if len(series) < _FEWEST:
        return []
    known = {block.start: index for index, block in enumerate(blocks)}
    least = min((blocks[known[start]].gap for start, _ in series if start in known), default=1)
    wanted = [  # begin, end, first number, last number (0: any)
        (start + 1, stop, value + 1, following - 1)
        for (start, value), (stop, following) in pairwise([(0, 0), *series])
        if following > value + 1
    ]
    wanted.append((series[-1][0] + 1, blocks[-1].end + 1, series[-1][1] + 1, 0))
    starts = [block.start for block in blocks]
    words = {heading.label.word for heading in labelled if heading.label and heading.label.rank == Rank.CHAPTER}
    found: list[Heading] = []
    for begin, stop, first, last in wanted:
        number = first
        for block in blocks[bisect_left(starts, begin) : bisect_left(starts, stop)]:
            if not block.is_short or block.gap < least or len(block.text) > LONGEST_TITLE + 30:
                continue
            label, title = parse_numeral(block.lines[0]), block.text
            if label is None and last:
                label, title = misspelt_label(title, number, words) or (None, title)
            if label is None or label.value is None or not number <= label.value <= max(last, number):
                continue
            if last == 0 and not label.title:
                continue
            found.append(_heading(block.start, block.end, title, replace(label, rank=Rank.CHAPTER)))
            number = label.value + 1
            if last and number > last:
                break
    return found


# --- bare numbers ---------------------------------------------------------------------------------------------------


def _numbered(text: str, blocks: Sequence[Block], labelled: Sequence[Heading]) -> list[Heading]:
    """Bare numerals that count 1, 2, 3 and are between complete sentences, unlike page numbers. Roman ones may go on
    with XXI, as in a second volume.
    """
    if found := _counted(text, blocks, labelled, 0):
        return found
    usual = usual_gap(blocks)
    set_apart = (block.text for block in blocks if len(block.lines) == 1 and block.gap > usual)
    first = next((label for line in set_apart if line.isupper() and (label := parse_numeral(line))), None)
    is_roman = first is not None and not first.title and first.number.isascii() and first.number.isalpha()
    found = _counted(text, blocks, labelled, first.value - 1) if first and first.value and is_roman else []
    return found if len(found) >= _FEWEST_TITLES else []


def _counted(
    text: str, blocks: Sequence[Block], labelled: Sequence[Heading], last: int, parse: _Parse = parse_numeral
) -> list[Heading]:
    """The bare numerals that count on from `last`, or the labels that count in another way."""
    ends_of_headings = {heading.end for heading in labelled}
    found: list[HeadingCandidate] = []
    outer: dict[tuple[int, tuple[bool, ...]], int] = {}  # by the last number and the style of an interrupted series
    running: tuple[bool, ...] = ()
    for number, block in enumerate(blocks):
        first = _first_line(text, block)
        label = parse(first) if first and (parse is not parse_numeral or _may_be_numeral(first)) else None
        if label is None or label.value is None or (label.value > 1 and found and label.word != found[-1].label.word):
            continue
        if not _is_set_above_prose(block, label) and (not block.is_short or len(block.lines) > 1 + (not label.title)):
            continue
        style = _style_of_numeral(blocks, number, label)
        before = (label.value - 1, style)
        if label.value == 1 and last:
            outer.setdefault((last, running), len(found))
        elif before in outer and style != running:
            del found[outer[before] :]
            while outer.popitem()[0] != before:
                continue
        elif label.value not in (last + 1, last + 2 if last > 2 else 0):
            continue
        last, running = label.value, style
        found.append(HeadingCandidate(_numeral_heading(block, first, label), label, number))
    numbers, found = found, without_lines_of_contents(blocks, found, labelled)
    values = {each.label.value for each in found}
    if values == {1} or (len(found) * 2 < len(numbers) and 1 not in values):
        return []  # the first items of lists, or the last ones
    headings = with_title_lines(found, blocks)
    whole = sum(
        parse is not parse_numeral
        or each.label.value in (1, found[0].label.value)
        or _may_end_before_heading(text, blocks[each.block - 1] if each.block else None, ends_of_headings)
        for each in found
    )
    chapters = chapters_from(text, headings)
    if len(chapters) < _FEWEST or whole * 10 < len(found) * 8:
        return []
    usual = middle(chapter.end - chapter.start for chapter in chapters)
    return headings if usual >= _SHORTEST_NUMBERED_SECTION and not _are_pages(text, blocks, found) else []


def _are_pages(text: str, blocks: Sequence[Block], numbers: Sequence[HeadingCandidate]) -> bool:
    """Whether numbers are those of pages: they run on through the book, close like paragraphs, and titles do not."""
    usual = usual_gap(blocks)
    apart = sum(blocks[each.block].gap > usual for each in numbers)
    is_titled = any(each.label.title or each.label.name != each.label.number for each in numbers)
    if is_titled or apart * 4 > len(numbers) or sum(each.label.value == 1 for each in numbers) > 1:
        return False
    starts = [each.heading.start for each in numbers]
    titles = max((titles_in_capitals(text, blocks), titles_set_apart(text, blocks)), key=len)
    follow = sum(
        at < len(starts) and not has_words(text, title.end, starts[at])
        for title in titles
        for at in (bisect_left(starts, title.end),)
    )
    return _FEWEST_TITLES <= len(titles) < len(numbers) and follow * 2 < len(titles)


def _style_of_numeral(blocks: Sequence[Block], number: int, label: Label) -> tuple[bool, ...]:
    """The style of a numeral, in which sections and chapters differ: digits, a title after it, a title below it."""
    below = blocks[number + 1] if number + 1 < len(blocks) else None
    is_above_title = below is not None and len(blocks[number].lines) == 1 and may_be_title(below)
    return label.number.isdecimal(), bool(label.title), is_above_title


def _first_line(text: str, block: Block) -> str:
    """The first line of a block; of a long one, only if it is short and others follow."""
    if block.lines:
        return block.lines[0]
    end = text.find("\n", block.start, min(block.end, block.start + _LONGEST_LINE_ABOVE_PROSE))
    return text[block.start : end].strip() if end >= 0 else ""


def _may_be_numeral(line: str) -> bool:
    text = line.strip(AROUND_A_NUMBER)
    return bool(text) and (text[0] in f"IVXLC{HAN}" or text[0].isdecimal() or (text[0].isupper() and len(text) < 24))


def _is_set_above_prose(block: Block, label: Label) -> bool:
    """Whether it is a number on a line of its own above prose; above a long block it may have a title."""
    if not block.lines or (label.title and is_above_prose(block.lines)):
        return not label.title or label.title[-1] not in _ENDS_OF_SENTENCES + ",，、"
    return not label.title and len(block.lines) > 1 and len(block.lines[1]) > _LONGEST_BARE_LABEL


def _numeral_heading(block: Block, first: str, label: Label) -> Heading:
    if _is_set_above_prose(block, label):
        return _heading(block.start, block.start + len(first), first, label)
    if not label.title and len(block.lines) > 1:
        return _heading(block.start, block.end, with_subtitle(first, " ".join(block.lines[1:])), label)
    return _heading(block.start, block.end, block.text, label)


def _may_end_before_heading(text: str, block: Block | None, ends_of_headings: Container[int]) -> bool:
    return block is None or block.end in ends_of_headings or bool(_WHOLE.search(text, block.start, block.end))


def _wrapping_of(blocks: Sequence[Block], found: Sequence[Heading]) -> list[Heading]:
    """Headings of what is no part of the story, such as advertisements; a last chapter may be called "The End"."""
    labels = {heading.end: heading.level for heading in found if is_bare_label(heading.title)}
    return [
        Heading(block.start, block.end, block.text, labels.get(above, Rank.VOLUME))
        for above, block in zip([0, *(block.end for block in blocks)], blocks, strict=False)
        if block.is_short and block.end - block.start <= 60 and block.gap and is_not_the_book(block.text)
    ]
