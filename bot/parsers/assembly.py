"""The last step of every parser: from a draft to a BookText with its pages, chapters, title and author."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise, takewhile

from bot.parsers.chapters import chapters_from
from bot.parsers.draft import (
    MOST_PAGES,
    PAGE_CHARACTERS,
    Block,
    BookDraft,
    PageMark,
    ReadingLimits,
    Wrapping,
    check_length,
    end_of_story,
    estimated_pages,
    has_words,
    pages_between,
    unwrap,
)
from bot.parsers.headings import (
    LISTS,
    PATTERNS,
    Heading,
    Rank,
    is_bare_label,
    is_contents,
    is_label,
    is_not_the_book,
    label_of,
    parse_label,
    with_numbers,
)
from bot.parsers.text.blocks import blocks_of, is_underline
from bot.parsers.text.headings import find_headings
from bot.parsers.titles import (
    BY_ELSEWHERE,
    LONGEST_TITLE,
    author_name,
    book_title,
    calm,
    chapter_title,
    is_date,
    is_name_of_file,
    is_year,
    letters,
    may_be_title,
    one_line,
    page_label,
    title_from_filename,
    with_subtitle,
)
from domain.book import BookText, Chapter, Page, encodable
from domain.errors import BookError, BookErrorCode
from domain.library.numerals import number_value

_READ = 3_000
_LONGEST_LINE = 120
_MOST_TITLE_BLOCKS = 4
_FEWEST_ALIKE = 3  # titles, numbers, lines of a list
_CREDITS = re.compile(PATTERNS["credits"], re.IGNORECASE)
_IMPRINT = re.compile(PATTERNS["imprint"], re.IGNORECASE)
_DECLARED = re.compile(
    r"^[ \t]*(?:(?P<title>title|titel|titre|título|titolo|titulo|название)"
    r"|(?:author|autor|auteur|autore|автор)s?)[ \t]*:\s*(?P<value>\S.*)",
    re.MULTILINE | re.IGNORECASE,
)
"""A line of what manuscripts and screenplays declare at their top: "Title: The Weir"."""
_IN_ASCIIDOC = re.compile(r"= (?P<title>\S[^\n]*)(?:\n(?P<author>[^\n<:]{4,80}?)(?: <[^<>\n]+>)?$)?", re.MULTILINE)
_OF_A_KIND = rf"(?P<kind>(?:an? |ein |un |une )?(?:[^\W\d_]+ )?(?:{'|'.join(LISTS['kinds'])})\s+)?"
_WRITTEN_BY = PATTERNS["written_by"]
_NAMED = r"(?P<name>[^\W\d_].{1,80})"
_BY_A_PERSON = re.compile(rf"{_OF_A_KIND}(?:{_WRITTEN_BY}){_NAMED}", re.IGNORECASE)
_BY_NAME = re.compile(rf"{_OF_A_KIND}(?:{_WRITTEN_BY}|(?:{BY_ELSEWHERE}):?\s+){_NAMED}", re.IGNORECASE)
_OTHER_WORK = "edit|transl|illust|publ|print|introd|select|collect"
_BY_ALONE = re.compile(rf"(?!.*(?:{_OTHER_WORK}))(?:[^\W\d_]+ ){{0,3}}by:?|(?:{BY_ELSEWHERE}|de):?", re.IGNORECASE)
"""A line of its own above the author's name: "by", "Screenplay by", "von"."""
_CJK_TITLE = re.compile("[《『「](?P<title>[^《》『』「」]{1,60})[》』」]")
_CJK_TITLE_AND_AUTHOR = re.compile(
    r"《(?P<title>[^《》]{1,60})》\s*(?:作者\s*[：:]\s*)?(?P<author>[\u3400-\u9fff·]{2,8}?)\s*(?:[（(〔][^（）()〔〕]{1,6}[）)〕])?\s*[著撰]?"
)
_NAME = re.compile(r"(?:[^\W\d_][\w.’'-]*\s+){1,3}[^\W\d_][\w.’'-]+")
_CJK_NAME = re.compile(
    r"(?!.*[卷巻冊册部集編编版譯译訳説说語语詩诗])(?P<name>[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,8}?)"
    r"(?:\s?(?:著|지음)|\s(?:作|글|저))?"
)
_NO_NAME = frozenset([*LISTS["kinds"], *LISTS["no_names"]])


def read_title_page(front: str, *, has_prose: bool = False) -> tuple[str, str]:
    """Title and author, or empty strings if they are not obvious. `front` is the text before the first chapter, or
    with `has_prose` the beginning of a book without chapters.

    Obvious means what the first lines declare ("Title: …"), a title followed by a line "by …", or short lines only in
    front of an imprint or the first chapter, the first of which is then the title.
    """
    if declared := _declared(front[:_READ]):
        return declared
    printed = takewhile(lambda block: not _ends_title_page(block.text), blocks_of(front[:_READ]))
    told = (block for block in printed if not block.is_short or letters(block.text))
    blocks = [block for block in told if not _CREDITS.match(block.text)]
    blocks = [each for block in blocks[:1] for each in _by_lines(block)] + [
        block for block in blocks[1:] if not _is_list(front, block)
    ]
    if not blocks or not _fits_a_title_page(blocks[0]):
        return "", ""
    if named := _byline(blocks, has_prose=has_prose) or _cjk_title_and_author(blocks[0].text):
        return named
    if has_prose or not all(map(_fits_a_title_page, blocks)):
        return (calm(_underlined(front)), "")
    return calm(blocks[0].text), _author_below(blocks)


def _author_below(blocks: Sequence[Block]) -> str:
    """The name below a title; in a script without capitals, only what alone is there may be one."""
    name = _name_below([block.text for block in blocks])
    if _is_name(name) or not name:
        return name if letters(name) != letters(blocks[0].text) else ""
    is_alone = len(blocks) == 2 or blocks[0].start == blocks[1].start
    if not is_alone or name.upper() != name.lower() or is_label(name) or is_not_the_book(name):
        return ""
    cjk = _CJK_NAME.fullmatch(name)
    is_name = _NAME.fullmatch(name) and _NO_NAME.isdisjoint(name.split())
    return cjk["name"] if cjk else name if is_name else ""


def _ends_title_page(text: str) -> bool:
    """Whether it is an imprint, the contents, or the day on which a paper was written; a book may be called "1984"."""
    return bool(_IMPRINT.match(text)) or is_contents(text) or (is_date(text) and not is_year(text))


def _underlined(front: str) -> str:
    """A title in the first line with a line of signs below it, or an empty string."""
    first, second, *_ = [*front.lstrip().split("\n", 2), "", ""]
    return first.strip() if is_underline(second.strip(), first.strip()) else ""


def _declared(front: str) -> tuple[str, str] | None:
    """The title and the author where a text begins with a line that declares one of them, or is in AsciiDoc."""
    if titled := _IN_ASCIIDOC.match(front.lstrip()):
        return calm(titled["title"]), titled["author"] if titled["author"] and _is_name(titled["author"]) else ""
    declared = {bool(each["title"]): each["value"].strip("_* \t\r") for each in reversed([*_DECLARED.finditer(front)])}
    is_first = _DECLARED.match(front.lstrip())
    return (declared.get(True, ""), author_name(declared.get(False, ""))) if is_first else None


def _cjk_title_and_author(line: str) -> tuple[str, str] | None:
    """The title in brackets and the author behind it, as texts in Chinese begin: 《西游记》吴承恩（明）."""
    named = _CJK_TITLE_AND_AUTHOR.fullmatch(line)
    return (named["title"], named["author"]) if named else None


def _by_lines(block: Block) -> list[Block]:
    """The first block, by lines if the second one names a person under a title that does not go on there; only the
    title if a line of signs below it sets that apart.
    """
    lines = [line for line in block.lines if letters(line)]
    is_apart = len(block.lines) > 1 and not block.lines[1]
    said = lines if _has_name_below(lines) else [block.lines[0] if is_apart else block.text]
    return [block._replace(lines=(line,)) for line in said]


def _has_name_below(lines: Sequence[str]) -> bool:
    if len(lines) == 2 and (match := _BY_A_PERSON.fullmatch(lines[1])) and not match["name"][0].islower():
        return True
    if len(lines) == 2 and lines[0][0] >= "\u2e80" and _CJK_NAME.fullmatch(lines[1]) and not is_label(lines[1]):
        return not is_not_the_book(lines[1])
    name = _name_below(lines)
    if not _is_name(name) or name[0].islower():
        return False
    last = lines[0].split()[-1]
    return last[-1].isalnum() and last.casefold() not in _NO_NAME


def _name_below(lines: Sequence[str]) -> str:
    """What stands where a title page has its author: below the title, or below what kind of book it is."""
    at = 2 if len(lines) > 1 and LISTS["kinds"].keys() & lines[1].casefold().split() else 1
    names_place = len(lines) > at + 1 and (number_value(lines[at + 1]) or 0) >= _EARLIEST_YEAR  # New York, 1920
    return lines[at] if len(lines) > at and not names_place else ""


def _is_list(front: str, block: Block) -> bool:
    """Whether a block is a table of contents rather than prose: short lines, and none of them a sentence."""
    lines = front[block.start : block.end].split("\n")
    return len(lines) >= _FEWEST_ALIKE and all(
        len(line) <= _LONGEST_LINE and (line.rstrip()[-1:] not in ".,;!?" or is_label(line)) for line in lines
    )


def _is_name(text: str) -> bool:
    """Whether some words may be a person's name: capitalised except for a "de" or "von", and no word of a sentence."""
    words = text.split()
    if not _NAME.fullmatch(text) or text == text.upper():
        return False
    return all(word.casefold() not in _NO_NAME and (len(word) <= 3 or not word[0].islower()) for word in words)


def _may_follow_by(text: str, *, has_prose: bool) -> bool:
    """Whether the words after "by" may be a name: "by the sea we sat." begins a sentence. In front of a chapter, any
    single word may be a pen name.
    """
    words = text.split()
    begins = any(word[0].isupper() or not word[0].isascii() for word in words[:2])
    begins = begins or (not has_prose and len(words) == 1)
    return begins and not (text[-1] in ".!?…" and words[-1][0].islower())


def _byline(blocks: Sequence[Block], *, has_prose: bool) -> tuple[str, str] | None:
    for at, block in enumerate(blocks[1 : _MOST_TITLE_BLOCKS + 1], start=1):
        if not _fits_a_title_page(block):
            return None
        title = _title(blocks[:at])
        match = _BY_NAME.fullmatch(block.text)
        if match and (_is_name(match["name"]) if match["kind"] else _may_follow_by(match["name"], has_prose=has_prose)):
            return title, calm(match["name"])
        if _BY_ALONE.fullmatch(block.text) and at + 1 < len(blocks):
            return title, calm(blocks[at + 1].text)
    return None


def _title(blocks: Sequence[Block]) -> str:
    """The first block, and the next if it continues it: "Frankenstein; / or, the Modern Prometheus"."""
    first, *others = (block.text for block in blocks)
    goes_on = others and (first[-1] in ";:," or others[0].casefold().startswith(("or,", "or ")))
    named = _CJK_TITLE.fullmatch(first)
    return named["title"] if named else calm(f"{first} {others[0]}" if goes_on else first)


def _fits_a_title_page(block: Block) -> bool:
    return block.is_short and len(block.text) <= _LONGEST_LINE


_FEWEST_CHAPTERS = 2
_FAR_MORE = 1.5
_VERY_LONG_CHAPTER = 60_000
_LONGEST_MARKED_PAGE = 10_000
_LONGEST_HEADING = 400
_EARLIEST_YEAR = 1_400
FRONT_LABEL = "front"


def assemble(draft: BookDraft, filename: str, limits: ReadingLimits, *, as_it_stands: bool = False) -> BookText:
    """The book of a draft. With `as_it_stands`, wrapping such as a licence is kept as text.

    Raises:
        BookError: NO_TEXT or TOO_LARGE.
    """
    check_length(len(draft.text), limits)
    wrapping = Wrapping(0, len(draft.text)) if as_it_stands else unwrap(draft.text)
    draft = _cut(draft, wrapping)
    if not draft.text.strip():
        raise BookError(
            BookErrorCode.NO_TEXT, "There is no text in this file. Please add a file that has the book's text."
        )
    declared_title, named_author = book_title(draft.title, author_name(draft.author))
    name_of_file = draft.title if is_name_of_file(draft.title) else ""
    told = _cut(draft, Wrapping(0, end_of_story(draft.text)))
    chapters = _chapters(told, declared_title or name_of_file)
    found_title, found_author = _title_page(draft.text, chapters)
    pages, estimated = _pages(draft.text, draft.page_marks, chapters)
    return BookText(
        text=draft.text,
        pages=pages,
        chapters=chapters,
        format=draft.format,
        title=one_line(calm(declared_title or wrapping.title or found_title))
        or title_from_filename(name_of_file or filename),
        author=one_line(named_author or wrapping.author or author_name(draft.author) or found_author),
        language=one_line(draft.language or wrapping.language),
        pages_estimated=estimated,
        warnings=tuple(draft.warnings),
        readings=tuple(draft.readings),
        pictures=draft.pictures,
    )


def _cut(draft: BookDraft, wrapping: Wrapping) -> BookDraft:
    start, end = wrapping.start, wrapping.end
    if (start, end) == (0, len(draft.text)):
        return replace(draft, text=encodable(draft.text))
    return replace(
        draft,
        text=encodable(draft.text[start:end]),
        outlines=[[*_cut_headings(headings, start, end)] for headings in draft.outlines],
        styled=[*_cut_headings(draft.styled, start, end)],
        page_marks=[*_cut_marks(draft.page_marks, start, end)],
    )


def _cut_headings(headings: Iterable[Heading], start: int, end: int) -> Iterable[Heading]:
    return (
        replace(heading, start=heading.start - start, end=min(heading.end, end) - start)
        for heading in headings
        if start <= heading.start < end
    )


def _cut_marks(marks: Sequence[PageMark], start: int, end: int) -> Iterable[PageMark]:
    before = [mark for mark in marks if mark.start <= start]
    inside = (PageMark(mark.start - start, mark.label) for mark in marks if start < mark.start < end)
    return (*(PageMark(0, mark.label) for mark in before[-1:]), *inside)


def _chapters(draft: BookDraft, title: str) -> tuple[Chapter, ...]:
    """The chapters of the most trusted outline, unless another one divides the book far more finely.

    Where none does, they are found in the text: by labels and numbers, else by the looks of lines, else by white space.
    """
    best: tuple[Chapter, ...] = ()
    sections: set[int] = set()
    for outline in draft.outlines:
        headings = _with_missing(draft, outline)
        found = chapters_from(draft.text, headings, title)
        added = {each.start if each.printed else each.title for each in found if each.start not in sections}
        if len(best) < _FEWEST_CHAPTERS or len(added) > _FAR_MORE * len(best):
            best = max(best, found, key=len)
        sections |= {heading.start for heading in headings} - {chapter.start for chapter in best}
    if len(best) >= _FEWEST_CHAPTERS and len(draft.text) < len(best) * _VERY_LONG_CHAPTER and not _only_parts(best):
        return _with_printed_numbers(draft.text, _with_titles_below(draft.text, best))
    found = chapters_from(draft.text, find_headings(draft.text), title)
    is_regular = sum(1 for chapter in found if chapter.printed) * 10 >= len(found) * 7
    styled = chapters_from(draft.text, draft.styled, title)
    if len(styled) > len(found) or not is_regular:
        found = styled or found
    if len(best) < _FEWEST_CHAPTERS or (is_regular and len(found) > 2 * _FAR_MORE * len(best)):
        best = max(best, found, key=len)
    return _with_printed_numbers(draft.text, best)


def _with_missing(draft: BookDraft, outline: Sequence[Heading]) -> list[Heading]:
    """An outline with the numbered chapters that it lacks and the book has: contents may leave out a chapter, and one
    heading may be without its style. Otherwise the chapter before it would go on to its end.
    """
    found = [*outline]
    following = dict(pairwise([*(each.start for each in outline), len(draft.text)]))
    for rank in (Rank.CHAPTER, Rank.NUMERAL):
        series = _series(with_numbers(outline), rank)
        if len(series) < _FEWEST_ALIKE:
            continue
        gaps = [(above, below) for above, below in pairwise(series) if below[1] > above[1] + 1]
        *usual, last = (following[heading.start] - heading.start for heading, _ in series)
        if gaps or last > max(usual):
            gaps.append((series[-1], (Heading(len(draft.text), len(draft.text), "", 0), 0)))
        others = _numbered_elsewhere(draft, rank) if gaps else []
        found += (each for above, below in gaps for each in _between(others, *above, *below))
    return sorted(found, key=lambda each: each.start)


def _series(headings: Iterable[Heading], rank: Rank) -> list[tuple[Heading, int]]:
    labels = ((each, label_of(each)) for each in headings)
    return [(each, label.value) for each, label in labels if label and label.rank is rank and label.value]


def _numbered_elsewhere(draft: BookDraft, rank: Rank) -> list[tuple[Heading, int]]:
    """The numbered headings of all outlines, and the labelled ones in the text."""
    labelled = find_headings(draft.text) if rank is Rank.CHAPTER else []
    every = [*(with_numbers(headings) for headings in draft.outlines), labelled]
    return sorted(_series(chain.from_iterable(every), rank), key=lambda each: each[0].start)


def _between(
    others: Sequence[tuple[Heading, int]], above: Heading, number: int, below: Heading, following: int
) -> list[Heading]:
    """The headings that count on up to the next number, 0 for any; none if they don't get there."""
    begin, end = (bisect_left(others, each.start, key=lambda other: other[0].start) for each in (above, below))
    found: list[Heading] = []
    for each, value in others[begin:end]:
        if value == number + len(found) + 1:
            found.append(replace(each, level=above.level))
    return found if following in (0, number + len(found) + 1) else []


_OPENING = 1_200


def _with_titles_below(text: str, chapters: tuple[Chapter, ...]) -> tuple[Chapter, ...]:
    """The chapters; where an outline has only "Chapter 5", and most have a title of their own below, it is theirs."""
    labels = ((each, parse_label(each.title)) for each in chapters)
    bare = [each for each, label in labels if label and label.rank is Rank.CHAPTER and not label.title]
    titled = {each.number: lines for each in bare if (lines := _label_and_title(text, each))}
    titles = {title for _, title in titled.values()}
    if len(titles) < max(len(titled), _FEWEST_ALIKE) or len(titled) * 10 < len(bare) * 6:
        return chapters
    names = {number: chapter_title(with_subtitle(*lines)) for number, lines in titled.items()}
    return tuple(replace(each, title=names.get(each.number, each.title)) for each in chapters)


def _label_and_title(text: str, chapter: Chapter) -> tuple[str, str] | None:
    """A chapter's label as it is in the book, and the title behind or below it; None if there is none."""
    blocks = blocks_of(text[chapter.start : min(chapter.end, chapter.start + _OPENING)])[:3]
    first = parse_label(blocks[0].text) if blocks else None
    if first and first.title and is_bare_label(first.name) and may_be_title(blocks[0]._replace(lines=(first.title,))):
        return first.name, first.title  # behind it, where the contents leave it out
    match blocks:
        case [label, title, below] if is_bare_label(label.text) and len(title.lines) == 1 and may_be_title(title):
            return (label.text, title.text) if below.end - below.start > LONGEST_TITLE else None
    return None


_MOST_NUMBERED = 1_000
_FRONT = 60_000
_BEFORE = 12
_NUMBER_BEFORE = re.compile(r"(?:^|[\s|])(\d{1,3}|[ivxlc]{1,8})\s*[.):—–|-]?\s*$")


def _with_printed_numbers(text: str, chapters: tuple[Chapter, ...]) -> tuple[Chapter, ...]:
    """Chapters whose titles come without numbers, with those that the book prints above them or in its contents."""
    return _with_numbers_of_contents(text, _with_numbers_above(text, chapters))


def _with_numbers_above(text: str, chapters: tuple[Chapter, ...]) -> tuple[Chapter, ...]:
    """The chapters with the numbers where they begin: "CHAPTER ONE", and below it "The Harbour"."""
    headings = with_numbers([Heading(each.start, each.end, _printed(text, each), each.level) for each in chapters])
    labels = {
        each.number: label
        for each, heading in zip(chapters, headings, strict=True)
        if not each.printed and (label := label_of(heading)) and label.value and label.title
    }
    if not _count_up([label.value or 0 for label in labels.values()]):
        return chapters
    return tuple(
        replace(each, printed=one_line(labels[each.number].number), title=chapter_title(heading.title))
        if each.number in labels
        else each
        for each, heading in zip(chapters, headings, strict=True)
    )


def _printed(text: str, chapter: Chapter) -> str:
    """A chapter's title with the label that stands in front of it or above it."""
    lines = text[chapter.start : min(chapter.end, chapter.start + _LONGEST_HEADING)].split("\n")
    first, second, *_ = [*filter(letters, lines), "", ""]
    title = letters(chapter.title)
    if is_bare_label(first) and letters(second) and title.startswith(letters(second)):
        return with_subtitle(first, chapter.title)
    return first if letters(first).endswith(title) else chapter.title


def _with_numbers_of_contents(text: str, chapters: tuple[Chapter, ...]) -> tuple[Chapter, ...]:
    """The chapters with the numbers of the printed table of contents, if none that are as deep have any."""
    bare = [chapter for chapter in chapters if not chapter.printed][:_MOST_NUMBERED]
    if len(bare) < _FEWEST_ALIKE or any(chapter.printed and chapter.level >= bare[-1].level for chapter in chapters):
        return chapters
    front = " ".join(text[: min(_FRONT, bare[len(bare) // 2].start)].split()).casefold()
    numbers = {chapter.number: _number_in(front, chapter.title) for chapter in bare}
    values = [value for number in numbers.values() if number and (value := number_value(number)) is not None]
    if len(values) * 10 < len(bare) * 7 or not _count_up(values):  # those of pages do not count
        return chapters
    return tuple(replace(chapter, printed=numbers.get(chapter.number) or chapter.printed) for chapter in chapters)


def _count_up(values: Sequence[int]) -> bool:
    """Whether most of these numbers count from one, perhaps several times."""
    counting = sum(below in (1, above + 1) for above, below in pairwise([0, *values]))
    return counting * 10 >= len(values) * 7


def _number_in(front: str, title: str) -> str:
    """The number directly before a title in a table, as printed; empty if there is none."""
    name, at = " ".join(title.split()).casefold(), -1
    while (at := front.find(name, at + 1)) >= 0:
        if match := _NUMBER_BEFORE.search(front, max(0, at - _BEFORE), at):
            return match[1].upper()
    return ""


def _only_parts(chapters: Sequence[Chapter]) -> bool:
    """Whether an outline names the parts of a book but not the chapters in them."""
    ranks = [label.rank for chapter in chapters if (label := parse_label(chapter.title)) and label.rank]
    parts = sum(rank < Rank.ACT for rank in ranks)
    return parts >= _FEWEST_CHAPTERS and parts * 2 > len(ranks) and not any(chapter.level > 1 for chapter in chapters)


def _title_page(text: str, chapters: Sequence[Chapter]) -> tuple[str, str]:
    has_prose = len(chapters) < _FEWEST_CHAPTERS
    title, author = read_title_page(text[: _READ if has_prose else chapters[0].start], has_prose=has_prose)
    title, named = book_title(title, author)  # "The Weir by Ann Author" in one line
    return title, named or author


def _pages(text: str, marks: Sequence[PageMark], chapters: Sequence[Chapter]) -> tuple[tuple[Page, ...], bool]:
    if not marks or len(text) > len(marks) * _LONGEST_MARKED_PAGE or len(marks) > MOST_PAGES:
        return estimated_pages(text, (chapter.start for chapter in chapters)), True
    starts = [mark.start for mark in marks]
    labels = [page_label(mark.label) or str(number) for number, mark in enumerate(marks, start=1)]
    starts[0] = _start_of_first(starts[0], chapters)
    is_later = number_value(labels[0]) not in (None, 1)
    if starts[0] > PAGE_CHARACTERS or (is_later and has_words(text, 0, starts[0])):
        starts, labels = [0, *starts], [FRONT_LABEL, *labels]
    starts[0] = 0
    return pages_between(starts, len(text), labels), False


def _start_of_first(mark: int, chapters: Sequence[Chapter]) -> int:
    """Where the first page with a mark begins: with the headings just in front of it, which are on that page."""
    return min((chapter.start for chapter in chapters if 0 <= mark - chapter.start <= _LONGEST_HEADING), default=mark)
