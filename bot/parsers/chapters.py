"""From headings to chapters: contents pages are no chapters, parts contain chapters, chapters do not overlap."""

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from bot.parsers.draft import has_words, middle, tells
from bot.parsers.headings import (
    LISTS,
    Heading,
    Label,
    Rank,
    is_contents,
    is_label,
    is_not_the_book,
    label_of,
    order_of_parts,
    parse_label,
    with_numbers,
    without_letters_of_index,
)
from bot.parsers.titles import BY_ELSEWHERE, calm, chapter_title, joined, letters, one_line, stories_over_parts
from domain.book import Chapter

MOST_CHAPTERS = 5_000
_MOST_HEADINGS = 50_000
"""Of more headings, none is one: every other line of a list looks so."""
_FRONT_MATTER_CHARACTERS = 6_000
_TITLE_PAGE_CHARACTERS = 400
_LINES_OF_CONTENTS = 3
_LONGEST_CONTENTS = 20_000
_LONGEST_LINE = 200
_LIKE_A_CHAPTER = 4
_FEW_PARTS = 3
_FEW_STORIES = 2
_FEWEST_LEVELS = 2
_DEEPEST = 12
_MOST_TITLED_PARTS = 8
_SHORTEST_STORY = 2_000
_LONG_SECTION = 6_000
_SECTIONS_OF_FEW = 4
_SECTIONS_OF_SEVERAL = 6
"""The numbers under each title, from which on two or three titles, or several, are rather novels than stories."""
_SHORTEST_NOVEL = 100_000
_LONGEST_FRONT_OF_NOVEL = 2_000
_WORD = re.compile(r"\w")
_LEADERS = re.compile(r"(?:(?:[.…·_]\s?){4}|(?:\s\.){2})\s?[\divxlc]*\s*\Z")
"""The end of a line of contents: "4 Functions . . . . . 17"."""
_COPYRIGHT = re.compile(r"©|\bcopyright\b", re.IGNORECASE)
_PAGE_BEHIND = re.compile(r"\s(?:\d{1,4}|[ivxl]{1,7})\s*\Z")
"""The page at the end of a line of contents: "2 Knots 17"."""
_SECTION = re.compile(r"\W{0,3}(?:[^\W\d_]{1,12}\s){0,2}(?P<number>\d{1,3}|[A-Z])(?:\.\d{1,3}){1,5}\.?(?!\w)")
"""A section with the number of its chapter or appendix: "3.2", "Section 3.2.1", "A.1"."""
_NAMED_AS_MATTER = re.compile(r"\W*(?:the )?(?:index|cover|credits|table|illustrations?)\W*", re.IGNORECASE)
_NAMED_AS_END = re.compile(r"\W*(?:the end|end|fin|finis|ende|das ende|конец)\W*", re.IGNORECASE)
_NUMBER = re.compile(r"(?P<value>\d{1,3})\.?\s")
_NUMBERED = (Rank.CHAPTER, Rank.NUMERAL)
_BYLINE = re.compile(r"(?:written |told |edited |translated )?by\s+\S.{1,80}", re.IGNORECASE)
_BY = re.compile(rf"(?:^|\n)\W*(?:by|{BY_ELSEWHERE})\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A heading with its label and its level among all headings."""

    start: int
    end: int
    title: str
    level: int
    label: Label | None
    is_wrapping: bool

    @property
    def rank(self) -> Rank | None:
        return self.label.rank if self.label else None


def chapters_from(text: str, headings: Iterable[Heading], book_title: str = "") -> tuple[Chapter, ...]:
    """The chapters that start at headings, which are in reading order.

    A heading without text starts a chapter only if deeper headings follow at once, as under "Book One".
    """
    named = [each for each in headings if _WORD.search(each.title) and not _LEADERS.search(each.title)]
    if len(named) > _MOST_HEADINGS:
        return ()
    told = without_letters_of_index(_with_chapters_named_as_matter(text, named))
    whole = _without_numbered_sections(_without_lists_of_sections(text, told))
    titled = joined(text, _on_one_level(with_numbers(whole)))
    content = _with_content(text, stories_over_parts(text, _without_title_page(text, titled, book_title)))
    return _chapters(_without_subdivisions(text, _placed(content)), len(text))


def _with_chapters_named_as_matter(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The headings; an "Index" or "Cover" between chapters that tells something is a chapter as the one before, and so
    is "The End" behind chapters that have names alone.
    """
    last = max((heading.start for heading in headings if not _is_outside(heading)), default=0)
    result: list[Heading] = []
    for heading, after in zip_longest(headings, headings[1:]):
        before = result[-1] if result and not _is_outside(result[-1]) else None
        named = _NAMED_AS_MATTER if heading.start < last else _NAMED_AS_END
        may_be_chapter = before and (heading.start < last or not label_of(before)) and named.fullmatch(heading.title)
        if before and may_be_chapter and tells(text[heading.end : after.start if after else len(text)]):
            heading = replace(heading, level=before.level, label=Label(None, heading.title, "", ""))
        result.append(heading)
    return result


def _is_outside(heading: Heading) -> bool:
    """Whether it opens no part of the book itself, such as its index."""
    return heading.label is None and is_not_the_book(heading.title)


def _has_content(text: str, start: int, end: int) -> bool:
    """Whether it contains more than lines of a table of contents."""
    first = _WORD.search(text, start, end)
    if first is None:
        return False
    if not is_label(text[first.start() : first.start() + _LONGEST_LINE].partition("\n")[0]):
        return True
    lines = text[first.start() : min(end, start + _LONGEST_CONTENTS)].split("\n")
    return not all(is_label(line) for line in lines if _WORD.search(line))


def _without_lists_of_sections(text: str, headings: Sequence[Heading]) -> Sequence[Heading]:
    """The headings without "Contents" where several chapters open with one, and "Notes" where several close so."""
    lists = {
        below
        for above, below in pairwise(headings)
        if is_contents(below.title) and label_of(above) and not has_words(text, above.end, below.start)
    }
    notes = {heading for heading in headings if letters(heading.title) in LISTS["closing"]}
    left_out = {heading for several in (lists, notes) if len(several) > 1 for heading in several}
    return [heading for heading in headings if heading not in left_out]


def _without_numbered_sections(headings: Sequence[Heading]) -> Sequence[Heading]:
    """The headings without the sections of chapters and appendices, as manuals number them: "3.2", "3.2.1", "A.1"."""
    found = ((heading, _SECTION.match(heading.title), parse_label(heading.title)) for heading in headings)
    sections = {each: match["number"] for each, match, label in found if match and not (label and "." in label.number)}
    whole = [heading for heading in headings if heading not in sections]
    numbers = {str(label.value) for heading in whole if (label := label_of(heading)) and label.rank in _NUMBERED}
    numbers |= {number["value"] for heading in whole if (number := _NUMBER.match(heading.title))}
    if numbers.isdisjoint(sections.values()):
        return headings
    numbers.update(filter(str.isalpha, sections.values()))
    return [heading for heading in headings if sections.get(heading) not in numbers]


def _on_one_level(headings: Sequence[Heading]) -> list[Heading]:
    """Headings with numbers that a series lacks on the level of that series: one "Chapter V" as h3 among h2."""
    labels = [*map(label_of, headings)]
    result = list(headings)
    for rank in _NUMBERED:
        ranked = [(at, label) for at, label in enumerate(labels) if label and label.rank is rank and label.value]
        series = [at for at, label in ranked if "." not in label.number]  # "2.1" says itself how deep it is
        levels = Counter(headings[at].level for at in series)
        usual, times = levels.most_common(1)[0] if levels else (0, 0)
        if len(levels) < _FEWEST_LEVELS or times * 10 < len(series) * 6:
            continue
        values = [0, *((label.value or 0) if (label := labels[at]) else 0 for at in series), 0]
        for place, at in enumerate(series, start=1):
            before, value, after = values[place - 1 : place + 2]
            near = {headings[other].level for other in series[max(0, place - 2) : place + 1]}
            if headings[at].level != usual and usual in near and before == value - 1 and after in (value + 1, 0):
                result[at] = replace(headings[at], level=usual)
    return result


def _without_title_page(text: str, headings: Sequence[Heading], book_title: str) -> Sequence[Heading]:
    """The headings without those before the first chapter that only name the book and its author."""
    works = _works(headings)
    if headings and headings[0] not in works and _is_book_title(text, headings, letters(book_title)):
        headings = headings[1:]
        if len(headings) > 1 and _is_above_all(headings) and not has_words(text, headings[0].end, headings[1].start):
            headings = headings[1:]  # the author, below the title
    first_label = next((at for at, heading in enumerate(headings) if label_of(heading)), 0)
    titled = Counter(heading.level for heading in headings[first_label:] if not label_of(heading))
    firsts = Counter(heading.level for heading in headings if (label := label_of(heading)) and label.value == 1)
    front = [
        heading
        for heading, below in pairwise(headings[: first_label + 1])
        if _is_outside(heading)
        or heading in works
        or not (_is_front_matter(text, heading, below) or _is_author(text, heading))
        or (below.level > heading.level and (titled[heading.level] >= _FEW_STORIES or firsts[below.level] > 1))
    ]
    return [*front, *headings[first_label:]]


def _works(headings: Sequence[Heading]) -> Collection[Heading]:
    """The titles of several works in one book: each is directly above a first chapter."""
    titles = {
        above
        for above, below in pairwise(headings)
        if below.level > above.level and not label_of(above) and (label := label_of(below)) and label.value == 1
    }
    return titles if len(titles) > 1 and len({title.level for title in titles}) == 1 else ()


def _is_front_matter(text: str, heading: Heading, below: Heading) -> bool:
    if heading.start > _FRONT_MATTER_CHARACTERS:
        return False
    is_short = below.start - heading.end <= _TITLE_PAGE_CHARACTERS
    return is_short or bool(_COPYRIGHT.search(text, heading.end, below.start) or _BYLINE.fullmatch(heading.title))


def _is_author(text: str, heading: Heading) -> bool:
    """Whether a heading on the title page is the name after "by"."""
    return heading.start <= _FRONT_MATTER_CHARACTERS and bool(
        _BY.search(text, max(0, heading.start - 20), heading.start)
    )


def _is_book_title(text: str, headings: Sequence[Heading], book_key: str) -> bool:
    """Whether the first heading is the book's title: by name, as the only one of its level, or with little text."""
    first, *others = headings
    if not others or label_of(first) or first.start > _FRONT_MATTER_CHARACTERS:
        return False
    key = letters(first.title)
    if (book_key and (key in book_key or book_key in key)) or _is_above_all(headings):
        return True
    usual = middle(
        below.start - above.end for above, below in pairwise([*others, Heading(len(text), len(text), "", 0)])
    )
    if others[0].level > first.level:
        return False
    is_short = others[0].start - first.end < min(_TITLE_PAGE_CHARACTERS, usual / _LIKE_A_CHAPTER)
    return is_short and not has_words(text, 0, first.start)


def _is_above_all(headings: Sequence[Heading]) -> bool:
    """Whether the first heading has no label, and all others are deeper."""
    return not label_of(headings[0]) and all(heading.level > headings[0].level for heading in headings[1:])


def _with_content(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Headings that contain text or deeper headings, which removes the lines of a table of contents."""
    ends = [*(heading.start for heading in headings[1:]), len(text)]
    full = [_has_content(text, heading.end, end) for heading, end in zip(headings, ends, strict=False)]
    kept: list[Heading] = []
    later: set[str] = set()
    following: Heading | None = None
    for at in range(len(headings) - 1, -1, -1):
        heading, key = headings[at], letters(headings[at].title)
        holds_deeper = not full[at] and following is not None and _is_above(heading, following)
        if (
            holds_deeper
            or _is_outside(heading)
            or (
                full[at]
                and not (key in later and _ends_contents(headings, full, at, later))
                and not _is_listed(heading, later)
            )
        ):
            kept.append(heading)
            following = following if _is_outside(heading) else heading
        label = label_of(heading)
        later |= {key, letters(f"{label.number}{label.title}") if label else key}
    return kept[::-1]


def _is_listed(heading: Heading, later: Container[str]) -> bool:
    """Whether it is a line of contents with a page behind it, "2 Knots 17", of what begins later."""
    page = _PAGE_BEHIND.search(heading.title)
    return page is not None and letters(heading.title[: page.start()]) in later


def _is_above(heading: Heading, below: Heading) -> bool:
    """Whether it is a part of what begins with the heading below, by their levels or else by their labels."""
    part, chapter = label_of(heading), label_of(below)
    if heading.level != below.level or not (part and chapter and part.rank and chapter.rank):
        return heading.level < below.level
    return part.rank <= Rank.PART < chapter.rank


def _ends_contents(headings: Sequence[Heading], full: Sequence[bool], at: int, later: Container[str]) -> bool:
    """Whether this is the last line of a table of contents, or a half-title below, followed by other front matter."""
    first = max(0, at - _LINES_OF_CONTENTS)
    are_near = headings[at].start - headings[first].start < _LINES_OF_CONTENTS * _TITLE_PAGE_CHARACTERS
    are_lines = are_near and not label_of(headings[at])
    return at - first == _LINES_OF_CONTENTS and all(
        each.level >= headings[at].level and (not told or (are_lines and letters(each.title) in later))
        for each, told in zip(headings[first:at], full[first:at], strict=True)
    )


def _without_subdivisions(text: str, headings: Sequence[_Placed]) -> list[_Placed]:
    """Headings without those of sections: a heading within another stays if that is a part, not if it is a chapter or
    a story.
    """
    kept = list(headings)
    for level in sorted({heading.level for heading in headings})[1:]:
        families = _families(kept, level)
        if families and (left_out := _sections_of(text, kept, families, level)):
            kept = _without_descendants(kept, left_out)
    return kept


def _families(headings: Sequence[_Placed], level: int) -> dict[int, list[_Placed]]:
    """The headings of a level, grouped by the start of the heading that contains them; headings at the top are left
    out.
    """
    families: dict[int, list[_Placed]] = {}
    open_headings: list[_Placed] = []
    for heading in headings:
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        if heading.level == level and open_headings and not open_headings[-1].is_wrapping:
            families.setdefault(open_headings[-1].start, []).append(heading)
        open_headings.append(heading)
    return families


def _sections_of(
    text: str, headings: Sequence[_Placed], families: Mapping[int, Sequence[_Placed]], level: int
) -> set[int]:
    """Where the headings start that are sections of chapters, judged over all families of their kind."""
    parents = {heading.start: heading for heading in headings if heading.start in families}
    kinds: dict[str, list[int]] = {}
    for start, children in families.items():
        kinds.setdefault(_kind(children), []).append(start)
    lengths = _lengths(text, headings)
    left_out = _sections_of_preface(headings, families, parents)
    for kind, starts in kinds.items():
        group = {start: families[start] for start in starts}
        beside = [
            heading
            for heading in headings
            if heading.start not in families and not heading.is_wrapping and heading.level < level
        ]
        if not _holds_chapters(text, kind, group, parents, beside, lengths, others=len(families) - len(group)):
            left_out |= {child.start for children in group.values() for child in children}
    return left_out


def _sections_of_preface(
    headings: Sequence[_Placed], families: Mapping[int, Sequence[_Placed]], parents: Mapping[int, _Placed]
) -> set[int]:
    """Where sections of a preface start: behind it, the chapters count from one again, less deep or in parts."""
    first, *others = families
    sections = families[first]
    behind = [each for each in headings if each.start > sections[-1].start and each.start not in families]
    chapters = [(each.level, each.label.value) for each in behind if each.label and not _is_part(each)]
    values = [value for _, value in chapters if value]
    goes_on = any((label := families[start][0].label) and (label.value or 0) > 1 for start in others)
    counts = values[:1] == [1] and values.count(1) == 1 and (goes_on or chapters[0][0] < sections[0].level)
    is_preface = counts and parents[first].rank is None and sections[0].rank is Rank.NUMERAL
    return {section.start for section in sections if is_preface}


def _kind(children: Sequence[_Placed]) -> str:
    """The kind of most of these headings: just "numbered", "labelled" as chapters are, or "titled"."""
    numbered = sum(
        child.rank in (Rank.NUMERAL, Rank.PART, Rank.SCENE) or (child.label is not None and child.rank is None)
        for child in children
    )
    if numbered * 2 > len(children):
        return "numbered"
    return "labelled" if sum(child.rank is not None for child in children) * 2 > len(children) else "titled"


def _lengths(text: str, headings: Sequence[_Placed]) -> dict[int, int]:
    """The number of characters that belong to each heading."""
    ends = [*(heading.start for heading in headings), len(text)][1:]
    return {heading.start: end - heading.end for heading, end in zip(headings, ends, strict=True)}


def _holds_chapters(
    text: str,
    kind: str,
    families: Mapping[int, Sequence[_Placed]],
    parents: Mapping[int, _Placed],
    beside: Sequence[_Placed],
    lengths: Mapping[int, int],
    *,
    others: int,
) -> bool:
    """Whether families of a kind are parts with chapters, rather than chapters or stories with sections.

    `beside` are the headings that contain none, `others` is the number of families of other kinds.
    """
    heads = [parents[start] for start in families]
    if sum(_is_part(head) for head in heads) * 2 > len(heads):
        return True
    undivided = [each for each in beside if not each.label and lengths[each.start] > _SHORTEST_STORY]
    are_novels = middle(each[-1].start + lengths[each[-1].start] - each[0].start for each in families.values()) >= (
        _SHORTEST_NOVEL
    )
    front = _LONGEST_FRONT_OF_NOVEL if are_novels else 0
    with_text = sum(has_words(text, parents[start].end + front, each[0].start) for start, each in families.items())
    is_alone = len(heads) == 1 and not undivided and not others
    if is_alone and (not beside or not with_text):
        return True
    if kind == "labelled":
        chapters = sum(head.rank is Rank.CHAPTER and (is_label(head.title) or bool(with_text)) for head in heads)
        # "The Second Day" is a chapter only where it tells something.
        return chapters * 2 <= len(heads) and len(undivided) < len(heads)
    children = [child for each in families.values() for child in each]
    if kind == "numbered" and not _count_on(children):
        fewest = _SECTIONS_OF_FEW if len(heads) <= _FEW_PARTS else _SECTIONS_OF_SEVERAL
        are_many = middle(map(len, families.values())) >= fewest
        are_like_chapters = are_many or middle(lengths[child.start] for child in children) >= _LONG_SECTION
        are_parts = are_like_chapters and len(undivided) * 4 < len(heads) <= _MOST_TITLED_PARTS
        is_chapter = any(head.rank is Rank.CHAPTER for head in heads)
        return with_text * 2 <= len(heads) and not is_chapter and (are_novels or are_parts)
    are_subtitles = len(children) <= len(heads) and not all(child.label for child in children)
    return not are_subtitles and with_text * 2 <= len(heads)


def _without_descendants(headings: Sequence[_Placed], left_out: Collection[int]) -> list[_Placed]:
    kept: list[_Placed] = []
    dropped = 0
    for heading in headings:
        if dropped and (heading.level > dropped and not heading.is_wrapping):
            continue
        dropped = heading.level if heading.start in left_out else 0
        if not dropped:
            kept.append(heading)
    return kept


def _is_part(heading: _Placed) -> bool:
    return heading.rank is not None and heading.rank <= Rank.ACT


def _count_on(headings: Sequence[_Placed]) -> bool:
    """Whether numbering continues from part to part instead of restarting in each."""
    values = [heading.label.value for heading in headings if heading.label and heading.label.value]
    return len(values) > _FEW_PARTS and values.count(1) <= 1


def _placed(headings: Sequence[Heading]) -> list[_Placed]:
    """The headings with their labels, and with levels that follow from both: volumes contain books, books contain
    chapters, and no part contains one of its own kind, such as "Part Two" in a smaller type than "Part One".
    """
    labels = [*map(label_of, headings)]
    ranks = [label.rank if label else None for label in labels]
    order = order_of_parts(ranks)
    ranked = [*zip(headings, ranks, strict=True)]
    chapters = [each.level for each, rank in ranked if rank in _NUMBERED and not _is_outside(each)]
    outermost = min(chapters, default=0)
    raised = {rank for rank in (Rank.VOLUME, Rank.BOOK, Rank.PART) if chapters and _opens_chapters(ranks, rank)}
    of_rank = {rank: [each.level for each, own in ranked if own is rank] for rank in raised}
    found = [min([outermost, *of_rank[rank]]) if rank in raised else each.level for each, rank in ranked]
    only = {
        level: {order[rank] for other, rank in zip(found, ranks, strict=True) if rank and other == level}
        for level in {*found}
    }
    usual = {level: next(iter(orders)) if len(orders) == 1 else order[Rank.CHAPTER] for level, orders in only.items()}
    keys = [(level, order[rank] if rank else usual[level]) for level, rank in zip(found, ranks, strict=True)]
    keys = _beside_numbers(keys, headings, ranks)
    position = {key: at for at, key in enumerate(sorted(set(keys))[:_DEEPEST], start=1)}
    return [
        _Placed(heading.start, heading.end, heading.title, position.get(key, _DEEPEST), label, _is_outside(heading))
        for heading, key, label in zip(headings, keys, labels, strict=True)
    ]


def _opens_chapters(ranks: Sequence[Rank | None], rank: Rank) -> bool:
    """Whether headings of that rank are mostly followed directly by a chapter or another part."""
    follows = [below for above, below in pairwise(ranks) if above is rank]
    return sum(below is not None for below in follows) * 2 > len(follows)


def _beside_numbers(
    keys: list[tuple[int, float]], headings: Sequence[Heading], ranks: Sequence[Rank | None]
) -> list[tuple[int, float]]:
    """Where chapters are bare numbers that do not restart under titles of their level, those titles are siblings of
    them.
    """
    numbered = [
        label_of(heading)
        for above, below, heading in zip(ranks, ranks[1:], headings[1:], strict=False)
        if above is None and below is Rank.NUMERAL
    ]
    if ranks.count(Rank.NUMERAL) < _FEW_PARTS or sum(label is not None and label.value == 1 for label in numbered) > 1:
        return keys
    numeral = min(key for key, rank in zip(keys, ranks, strict=True) if rank is Rank.NUMERAL)
    return [numeral if rank is None and key[0] == numeral[0] else key for key, rank in zip(keys, ranks, strict=True)]


def _chapters(headings: Sequence[_Placed], length: int) -> tuple[Chapter, ...]:
    ends = [*(heading.start for heading in headings), length][1:]
    book = [(heading, end) for heading, end in zip(headings, ends, strict=True) if not heading.is_wrapping]
    result: list[Chapter] = []
    open_parts: list[tuple[int, str]] = []
    within = ""
    for number, (heading, end) in enumerate(book[:MOST_CHAPTERS], start=1):
        while open_parts and open_parts[-1][0] >= heading.level:
            open_parts.pop()
        title = chapter_title(heading.title)
        within = calm(heading.label.within) if heading.label and heading.label.within else within
        parent = open_parts[-1][1] if open_parts else within
        printed = one_line(heading.label.number) if heading.label else ""
        result.append(Chapter(number, title, heading.start, end, len(open_parts) + 1, printed, parent))
        open_parts.append((heading.level, title))
    return tuple(result)
