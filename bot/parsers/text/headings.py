"""Headings in text without markup: labelled lines, bare numbers, or lines in capitals, with blank lines around them.

A heading is known by three things together: what it says, the white space around it, and the others of its kind.
"""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import pairwise

from bot.parsers.chapters import Heading, chapters_from, has_words, is_bare_label, is_label, middle
from bot.parsers.headings import Rank, is_not_the_book, numeral_value, parse_label, parse_numeral
from bot.parsers.text.blocks import Block, blocks_of, usual_gap
from bot.parsers.titles import with_subtitle

_LONGEST_TITLE = 90
_LONGEST_BARE_LABEL = 40
_FEWEST = 2
_SHORTEST_SECTION = 400
_SHORTEST_NUMBERED_SECTION = 200
_QUOTES = "\"“”'‘’«»„*[("
_ENDS_OF_SENTENCES = ".!?…:;\"”’'»)*_-—"


def find_headings(text: str) -> list[Heading]:
    """The headings of a text, by the strongest signs it has: labels, then bare numbers, then lines in capitals."""
    blocks = blocks_of(text)
    labelled = _labelled(text, blocks)
    ranked = [heading for heading in labelled if heading.level]
    if _divide(text, [heading for heading in ranked if heading.level >= Rank.ACT]):
        return _levelled(text, labelled)
    inner = _numbered(text, blocks, labelled)
    if not inner and len(capitals := _capitals(text, blocks)) > len(ranked):
        inner = capitals
    taken = {heading.start for heading in labelled}
    found = [*labelled, *(heading for heading in inner if heading.start not in taken)]
    return _levelled(text, sorted(found, key=lambda heading: heading.start))


def _divide(text: str, headings: Sequence[Heading]) -> bool:
    return len(headings) >= _FEWEST and len(chapters_from(text, headings)) >= _FEWEST


def _levelled(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Named parts (level 0 so far) stand inside the part they open, or else beside the outermost division there is."""
    outermost = min((heading.level for heading in headings if heading.level), default=Rank.NUMERAL)
    result: list[Heading] = []
    for heading in headings:
        above = result[-1] if result else None
        if not heading.level:
            opens_part = above and above.level < Rank.CHAPTER and not has_words(text, above.end, heading.start)
            heading = replace(heading, level=above.level + 1 if above and opens_part else outermost)
        result.append(heading)
    return result


def _labelled(text: str, blocks: Sequence[Block]) -> list[Heading]:
    found = [heading for block in blocks if (heading := _label_of(text, block))]
    return _with_title_lines(found, blocks)


def _label_of(text: str, block: Block) -> Heading | None:
    if not block.is_short:
        return _label_above_prose(text, block)
    first, *others = block.lines
    label = parse_label(first)
    if label is None or any(map(is_label, others)) or (others and others[0][:1].islower()):
        return None
    return Heading(block.start, block.end, _one_line(block, is_bare=not label.title), label.rank or 0)


def _one_line(block: Block, *, is_bare: bool) -> str:
    """A label and the lines under it: its title, or the rest of it."""
    first, *others = block.lines
    return with_subtitle(first, " ".join(others)) if others and is_bare else block.text


def _label_above_prose(text: str, block: Block) -> Heading | None:
    """ "CHAPTER I" with the prose in the very next line."""
    end = text.find("\n", block.start, block.start + _LONGEST_BARE_LABEL)
    if end < 0:
        return None
    line = text[block.start : end].strip()
    following = text[end + 1 : text.find("\n", end + 1) + 1 or block.end].strip()
    if not line or not is_bare_label(line) or is_label(following) or len(following) < _LONGEST_BARE_LABEL:
        return None
    label = parse_label(line)
    return Heading(block.start, block.start + len(line), line, label.rank) if label and label.rank else None


def _with_title_lines(headings: Sequence[Heading], blocks: Sequence[Block]) -> list[Heading]:
    """Bare labels joined with the title that stands under them, if it is in capitals or most labels have one."""
    following = {above.end: below for above, below in pairwise(blocks)}
    titles = {
        heading.start: below
        for heading in headings
        if is_bare_label(heading.title) and (below := following.get(heading.end)) and _may_be_title(below)
    }
    bare = sum(is_bare_label(heading.title) for heading in headings)
    usual = len(titles) * 10 >= bare * 6
    return [
        Heading(heading.start, title.end, with_subtitle(heading.title, title.text), heading.level)
        if (title := titles.get(heading.start)) and (usual or _in_capitals(title.text))
        else heading
        for heading in headings
    ]


def _may_be_title(block: Block) -> bool:
    text = block.text
    if not block.is_short or len(text) > _LONGEST_TITLE or text[0] in _QUOTES or is_label(text):
        return False
    if _in_capitals(text):
        return True
    long_words = [word for word in text.split() if len(word) > 4]
    return text[-1] not in ".,;:!" and text[0].isupper() and all(not word[0].islower() for word in long_words)


def _in_capitals(text: str) -> bool:
    return text == text.upper() and sum(map(str.isalpha, text)) > 1


def _numbered(text: str, blocks: Sequence[Block], labelled: Sequence[Heading]) -> list[Heading]:
    """Bare numerals that count 1, 2, 3 and stand between whole sentences, which page numbers do not."""
    ends_of_headings = {heading.end for heading in labelled}
    found: list[Heading] = []
    last = whole = 0
    for above, block in zip([None, *blocks], blocks, strict=False):
        label = parse_numeral(block.lines[0]) if block.is_short else None
        if (
            label
            and len(block.lines) <= 1 + (not label.title)
            and (value := numeral_value(label.name)) in (1, last + 1)
        ):
            last = value
            whole += above is None or value == 1 or _may_end_before_heading(text, above, ends_of_headings)
            title = _one_line(block, is_bare=not label.title)
            found.append(Heading(block.start, block.end, title, Rank.NUMERAL))
    found = _with_title_lines(found, blocks)
    chapters = chapters_from(text, found)
    if len(chapters) < _FEWEST or whole * 10 < len(found) * 8:
        return []
    usual = middle(chapter.end - chapter.start for chapter in chapters)
    return found if usual >= _SHORTEST_NUMBERED_SECTION else []


def _may_end_before_heading(text: str, block: Block, ends_of_headings: Container[int]) -> bool:
    return block.end in ends_of_headings or text[block.end - 1] in _ENDS_OF_SENTENCES


def _capitals(text: str, blocks: Sequence[Block]) -> list[Heading]:
    """Titles in capitals, as in a collection of tales: set apart by more white space than paragraphs are."""
    titles = [block for block in blocks if block.is_short and _is_shouted_title(block.text)]
    usual = usual_gap(blocks)
    apart = [block for block in titles if block.gap > usual]
    if len(apart) < _FEWEST + 1:
        starts_the_book = bool(titles) and titles[0] is blocks[0]
        apart = [block for block in titles if block.text[-1] not in ".!?,"] if starts_the_book else []
    found = [Heading(block.start, block.end, block.text, Rank.NUMERAL) for block in apart]
    chapters = chapters_from(text, found)
    if len(chapters) < _FEWEST or len({chapter.title for chapter in chapters}) * 10 < len(chapters) * 7:
        return []
    usual_length = middle(chapter.end - chapter.start for chapter in chapters)
    return found if usual_length >= _SHORTEST_SECTION else []


def _is_shouted_title(text: str) -> bool:
    if len(text) > _LONGEST_TITLE or text[0] in _QUOTES or text[-1] in ",;" or not _in_capitals(text):
        return False
    return not is_not_the_book(text) and not parse_numeral(text)
