"""Plain text: unchanged but for invisible characters, unless it has a notation.

The notation of Aozora Bunko is supported: readings, notes on layout, and letters outside the character set. So is what
shows where the pages of the printed book begin: marks such as "[Pg 12]", and the heads of pages in scanned texts.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from bot.parsers.assembly import assemble
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    MOST_PAGES,
    MOST_READINGS,
    BookDraft,
    PageMark,
    ReadingLimits,
    Report,
    composed,
    hiragana,
    ignore_progress,
)
from bot.parsers.encoding import decode
from bot.parsers.headings import Heading, Label, Rank, is_bare_label, parse_label
from domain.book import BookText
from domain.library.numerals import number_value

# The notation of Aozora Bunko, a Japanese library of plain texts.
_NOTE = re.compile(r"［＃[^］\n]{1,200}］")
"""A note of those who typed the text: ［＃改ページ］ is a page break."""
_RUBY = re.compile(r"(?<=[^\s《》])《[^《》\n]{1,60}》")
"""How the characters before it are read, printed beside them: 吾輩《わがはい》."""
_KANA_RUBY = re.compile(r"[\u3005\u3400-\u9fff]《[\u3041-\u30ff]{1,30}》")
"""The same only where it is a reading for sure: kana behind a Chinese character."""
_FEWEST_RUBY = 3
_READ_WORD = re.compile(
    r"(?:｜(?P<marked>[^｜《》\n]{1,20})|(?P<written>[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]{1,20}))"
    r"《(?P<reading>[^《》\n]{1,60})》(?P<ending>[\u3041-\u3096]{0,2})"
)
"""A reading with its word, which begins at ｜ or is all the Chinese characters before, and with the kana behind it."""
_SHORTEST_READING = 2
_LEGEND = re.compile(r"^-{10,}\n【テキスト中に現れる記号について】.{1,4000}?^-{10,}\n", re.MULTILINE | re.DOTALL)
"""The explanation of the notation ("about the signs in the text"), below title and author."""
_FOOTER = re.compile(r"^底本：", re.MULTILINE)
""""Source text:", the edition that was typed; the book ends before it."""
_OUTSIDE = re.compile(
    r"※［＃[^］\n]{0,150}?(?:(?:水準|、)(?P<men>[12])-(?P<ku>\d{1,2})-(?P<ten>\d{1,2})|U\+(?P<code>[0-9A-Fa-f]{4,5}))"
    r"[^］\n]{0,60}］"
)
"""A character that Shift JIS lacks, by its place in JIS X 0213 (plane, row, cell) or in Unicode."""
# Behind a heading, and around one: 一［＃「一」は大見出し］, ［＃大見出し］一［＃大見出し終わり］.
_HEADING_NOTE = re.compile(r"［＃「(?P<title>[^」\n]{1,100})」は(?:同行|窓)?(?P<size>[大中小])見出し］")
_SPANNED_HEADING = re.compile(r"［＃(?P<size>[大中小])見出し］(?P<title>[^［\n]{1,100})［＃[大中小]見出し終わり］")
_LEVELS = {"大": 1, "中": 2, "小": 3}
_TITLE_LINES = 2


@dataclass(frozen=True, slots=True)
class AozoraText:
    """A text without its notation, with the headings named by notes, its title and its author."""

    text: str
    headings: tuple[Heading, ...]
    title: str
    author: str
    readings: tuple[tuple[str, str], ...]


def read_aozora(text: str) -> AozoraText | None:
    """The text without its notation, or None if it is not in this notation."""
    if "《" not in text or not _is_aozora(text):
        return None
    head = [line for line in text[:500].split("\n\n", 1)[0].split("\n") if line.strip()]
    lines = [*_lines(_FOOTER.split(_LEGEND.sub("", text, count=1), maxsplit=1)[0])]
    headings, offset = [], 0
    for line, title, level in lines:
        if level:
            start = offset + line.index(title)
            headings.append(Heading(start, start + len(title), title, level))
        offset += len(line) + 1
    named = len(head) >= _TITLE_LINES and bool(_LEGEND.search(text))
    title, author = (_clean(head[0]), _clean(head[-1])) if named else ("", "")
    readings = tuple(islice(dict.fromkeys(_readings(text)), MOST_READINGS))
    return AozoraText("\n".join(line for line, _, _ in lines), tuple(headings), title.strip(), author.strip(), readings)


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """Readings with their words, and with the first letters of the following ending."""
    for word in _READ_WORD.finditer(_NOTE.sub("", text)):
        written, reading, ending = word["marked"] or word["written"], hiragana(word["reading"]), word["ending"]
        for letters in range(len(ending) + 1):
            if len(reading) + letters >= _SHORTEST_READING:
                yield reading + ending[:letters], written + ending[:letters]


def _is_aozora(text: str) -> bool:
    """Whether it is in the notation: Chinese books have titles in the same brackets, but no kana in them."""
    return bool(_LEGEND.search(text)) or len(_KANA_RUBY.findall(text, 0, 200_000)) >= _FEWEST_RUBY


def _lines(text: str) -> Iterator[tuple[str, str, int]]:
    """Each line to be read, and the heading in it with its level (0: none)."""
    for line in text.split("\n"):
        named = _HEADING_NOTE.search(line) or _SPANNED_HEADING.search(line)
        clean = _clean(line)
        if not clean.strip() and line.strip():
            continue  # nothing but a note
        title = _clean(named["title"]) if named else ""
        yield clean, title, _LEVELS[named["size"]] if named and title and title in clean else 0


def _clean(line: str) -> str:
    if "［＃" in line:
        line = _NOTE.sub("", _OUTSIDE.sub(_letter, line))
    return _RUBY.sub("", line).replace("｜", "")


def _letter(note: re.Match[str]) -> str:
    """The letter that a note describes by its place in JIS X 0213 or Unicode; if unknown, the mark
    that stands for it.
    """
    if note["code"]:
        code = int(note["code"], 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "※"
    row, cell = int(note["ku"]), int(note["ten"])
    if not (1 <= row <= 94 and 1 <= cell <= 94):
        return "※"
    place = bytes((0xA0 + row, 0xA0 + cell))
    try:
        return (place if note["men"] == "1" else b"\x8f" + place).decode("euc_jis_2004")
    except UnicodeDecodeError:
        return "※"


# The pages of the printed book, where a text still shows them.
_PAGE_MARK = re.compile(r"[\[{] ?(?:Pg|Page|P|S|Seite)\.? ?(?P<label>\d{1,4}|[ivxlc]{1,7}) ?[\]}]", re.IGNORECASE)
"""A mark of those who typed the book: "[Pg 12]"."""
_HEAD = re.compile(r"(?P<left>\d{1,4})\s.*[^\W\d_].*|.*[^\W\d_].*\s(?P<right>\d{1,4})")
"""The head of a scanned page, with its number on the outer side: left on even pages, right on odd ones."""
_FOOT = re.compile(r"\W{0,3}(\d{1,4})\W{0,3}")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_LONGEST_HEAD = 90
_LONGEST_EDGE = 400
_BLANK_LINE = 2
_SHORTEST_LINE = 40
_FEWEST_PAGES = 8
_FEWEST_IN_ORDER = 0.8
_MOST_IN_FULL = 1.6
"""How many times as many pages a book may have as heads were found: the first pages of chapters have none."""
_ENDS_OF_SENTENCES = '.!?…:;"”’»)'
_GAP = re.compile(r"\s+")
_CUT = re.compile(r"(?<=[^\W\d_])-[ \t]*\n[ \t]*(?=[^\W\d_])")
"""The end of a line that cuts a word."""
_CUT_IN_TWO = re.compile(r"(?<![^\W\d_])([^\W\d_]++)-[ \t]*\n[ \t]*([^\W\d_]+)")
_FEWEST_CUTS = 5


@dataclass(frozen=True, slots=True)
class _PageTurn:
    """The span of what shows that a page begins, and the page's label."""

    start: int
    end: int
    label: str


def with_printed_pages(text: str) -> tuple[str, list[PageMark]]:
    """The text without the marks, heads and numbers of its pages, and where those pages begin. Where a program made it
    from printed pages, or a printer's lines cut words, these are mended.
    """
    turns = _marked_pages(text)
    is_typed = bool(turns)
    turns = turns or _fed_pages(text) or _headed_pages(text)
    sheets: list[str] = []
    at = 0
    for turn in turns:
        before, turned = text[at : turn.start], text[max(at, turn.start) : turn.end]
        gap = max((each.count("\n") for each in _GAP.findall(turned)), default=0)
        gap = max(gap, _BLANK_LINE) if "\f" in turned else gap
        sheets.append(before + "\n" * (min(gap, 1) if _goes_on(before, text[turn.end : turn.end + 1]) else gap))
        at = turn.end
    sheets.append(text[at:])
    if (turns or _cuts_words(text)) and not is_typed:
        sheets = mend_words([_CUT.sub(SPLIT, sheet) for sheet in sheets])
    starts = accumulate(map(len, sheets))
    return "".join(sheets), [PageMark(start, turn.label) for start, turn in zip(starts, turns, strict=False)]


def _cuts_words(text: str) -> bool:
    """Whether lines end within words, as a printer's do: the book has more of these elsewhere as a whole than with a
    hyphen of their own, at which anybody may break a line.
    """
    if text.count("-\n") < _FEWEST_CUTS:
        return False
    lower = text.lower()
    words, pairs = set(lower.split()), {cut.groups() for cut in _CUT_IN_TWO.finditer(lower)}
    whole, own = (sum(sign.join(pair) in words for pair in pairs) for sign in ("", "-"))
    return whole > max(own, _FEWEST_CUTS)


def _goes_on(before: str, after: str) -> bool:
    """Whether a sentence goes on behind the head of a page: it may do so with a name."""
    is_full = len(before) - before.rfind("\n") > _SHORTEST_LINE
    return before[-1:] not in _ENDS_OF_SENTENCES and (is_full or after.islower())


def _marked_pages(text: str) -> list[_PageTurn]:
    marks = [*_PAGE_MARK.finditer(text)]
    values = [number_value(mark["label"]) or 0 for mark in marks]
    in_order = sum(below == above + 1 for above, below in pairwise(values))
    if not _FEWEST_PAGES <= len(marks) <= MOST_PAGES or in_order < _FEWEST_IN_ORDER * (len(marks) - 1):
        return []
    return [_PageTurn(*_with_gaps(text, *mark.span()), mark["label"]) for mark in marks]


def _fed_pages(text: str) -> list[_PageTurn]:
    """The pages between form feeds, as where a program took the text out of a PDF, if most have a number at an edge."""
    if not _FEWEST_PAGES <= text.count("\f") <= MOST_PAGES:
        return []
    starts = [0, *(feed.end() for feed in re.finditer("\f", text)), len(text) + 1]
    edges = [_edges(text, start, end - 1) for start, end in pairwise(starts)]
    firsts = Counter(line.number - at for at, lines in enumerate(edges) for line in lines if line.number)
    first, times = firsts.most_common(1)[0] if firsts else (0, 0)
    if times * 2 < len(edges):
        return []
    turns: list[_PageTurn] = []
    for number, (start, (_, foot), (head, _)) in enumerate(zip(starts[1:], edges, edges[1:], strict=False), first + 1):
        if number < 1:
            continue  # in front of the first page that counts
        begin = foot.start if foot.number == number - 1 else start - 1
        end = head.end if head.number == number else start
        turns.append(_PageTurn(*_widened(text, begin, end), str(number)))
    head, _ = edges[0]
    opening = _widened(text, 0, head.end) if head.number == first else (0, 0)
    return [_PageTurn(*opening, str(first)), *turns] if first > 0 else turns


class _Edge(NamedTuple):
    """The first or last line of a page; `number` is 0 if it has none."""

    start: int
    end: int
    number: int


def _edges(text: str, start: int, end: int) -> tuple[_Edge, _Edge]:
    lines = [
        *_LINE.finditer(text, start, min(end, start + _LONGEST_EDGE)),
        *_LINE.finditer(text, max(start, end - _LONGEST_EDGE), end),
    ]
    if not lines:
        return _Edge(start, start, 0), _Edge(end, end, 0)
    head, foot = lines[0], lines[-1]
    return _Edge(*head.span(), _number_of(head[0], is_head=True)), _Edge(
        *foot.span(), _number_of(foot[0], is_head=False)
    )


def _number_of(line: str, *, is_head: bool) -> int:
    if len(line) > _LONGEST_HEAD:
        return 0
    if alone := _FOOT.fullmatch(line):
        return int(alone[1])
    head = _HEAD.fullmatch(line) if is_head and not is_bare_label(line) else None
    return int(head["left"] or head["right"]) if head else 0


def _headed_pages(text: str) -> list[_PageTurn]:
    lines = text.split("\n")
    found: list[_PageTurn] = []
    at = 0
    for above, line, below in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        start, at = at, at + len(line) + 1
        words = line.strip()
        if not 0 < len(words) <= _LONGEST_HEAD or above.strip() or below.strip():
            continue
        head = _HEAD.fullmatch(words)
        number = _number_of(words, is_head=True) if head else 0
        if head and number and (number % 2 == 0) == (head["left"] is not None):
            found.append(_PageTurn(*_with_gaps(text, start, start + len(line)), str(number)))
    turns = _rising(found)
    numbers = [int(turn.label) for turn in turns]
    if not max(_FEWEST_PAGES, _FEWEST_IN_ORDER * len(found)) <= len(turns) <= MOST_PAGES:
        return []
    are_close = numbers[-1] - numbers[0] < _MOST_IN_FULL * len(numbers)
    return turns if are_close and len({number % 2 for number in numbers}) > 1 else []


def _with_gaps(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the white space around it if it is a line of its own; within a line, with one of two blanks."""
    left, right = _widened(text, start, end)
    if (not left or "\n" in text[left:start]) and (right == len(text) or "\n" in text[end:right]):
        return left, right
    return start, end + (left < start and end < right)


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with all white space around it."""
    while start and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return start, end


def _rising(turns: Sequence[_PageTurn]) -> list[_PageTurn]:
    """The longest series of pages whose numbers rise, so that misread ones are left out."""
    last: list[int] = []  # of each length, the series with the lowest last number: its place
    lowest: list[int] = []
    above: list[int] = []
    for place, turn in enumerate(turns):
        length = bisect_left(lowest, int(turn.label))
        above.append(last[length - 1] if length else -1)
        lowest[length : length + 1] = [int(turn.label)]
        last[length : length + 1] = [place]
    found: list[_PageTurn] = []
    place = last[-1] if last else -1
    while place >= 0:
        found.append(turns[place])
        place = above[place]
    return found[::-1]


_VERSE = re.compile(
    r"^[ \t]*+(?:(?P<book>(?:[1-4][ \t]?)?[^\W\d_]{2,20}(?:[ \t][^\W\d_]{2,20}){0,3})[ \t]+)?"
    r"(?P<numbers>\[?(?P<chapter>\d{1,3}):(?P<verse>\d{1,3})\]?)[ \t]+(?=\S)",
    re.MULTILINE,
)
_FEWEST_VERSES = 20
_LONGEST_VERSE = 600
"""The characters of a usual verse at most, with what stands between verses."""
_LONGEST_NAME_OF_BOOK = 240


def chapters_of_verses(text: str) -> list[Heading]:
    """The chapters of a text whose verses begin with both numbers, as those of a Bible ("2:1 Thus the heavens"), and
    the books they are in, which are named above each 1:1 or in each verse ("Genesis 2:1"); none in any other text, and
    none where chapters have headings of their own.
    """
    verses = [*_VERSE.finditer(text)]
    numbers = [(int(verse["chapter"]), int(verse["verse"])) for verse in verses]
    count_on = sum(
        below in ((chapter, verse + 1), (chapter + 1, 1)) or (below == (1, 1) and verse > 1)
        for (chapter, verse), below in pairwise(numbers)
    )
    if len(text) > len(verses) * _LONGEST_VERSE or len(verses) < _FEWEST_VERSES or count_on * 10 < len(verses) * 9:
        return []
    found: list[Heading] = []
    above, end = 0, 0
    for verse, (chapter, number) in zip(verses, numbers, strict=True):
        start = verse.start()
        if (chapter, number) == (1, 1) and (name := _name_of_book(text, end, verse)):
            if (heading := parse_label(name.title)) and heading.rank in (Rank.CHAPTER, Rank.NUMERAL):
                return []
            found.append(name)
            start = verse.start("numbers")
        if chapter != above or number == 1:
            label = Label(Rank.CHAPTER, str(chapter), "", "", str(chapter), chapter)
            found.append(Heading(start, start, str(chapter), Rank.CHAPTER, label))
        above, end = chapter, verse.end()
    return found


def _name_of_book(text: str, end_of_last: int, verse: re.Match[str]) -> Heading | None:
    """The name of a book in its first verse, or else the paragraph above that, which is no verse."""
    if verse["book"]:
        return Heading(*verse.span("book"), verse["book"], Rank.BOOK)
    *before, paragraph = re.split(r"\n[ \t]*\n", text[end_of_last : verse.start()].rstrip())
    name = paragraph.strip()
    if not name or len(name) > _LONGEST_NAME_OF_BOOK or (end_of_last and not before):
        return None
    start = text.rindex(name, end_of_last, verse.start())
    return Heading(start, start + len(name), " ".join(name.split()), Rank.BOOK)


FORMAT = "txt"


SPLIT = "\ufffe"
"""Marks a word that is cut at the end of a line; PDFium's own sign for it."""

_CUT_WORD = re.compile(rf"(?<![^\W\d_])([^\W\d_]+){SPLIT}(\w+)")
_FROM_CUT = re.compile(rf"{SPLIT}[^ ]*")
_STOPS = ",.;:!?"


def mend_words(texts: Sequence[str]) -> list[str]:
    """The paragraphs of a book with cut words joined, keeping the hyphens that are the author's."""
    pairs = {word.groups() for text in texts for word in _cut_words(text)}
    hyphened = _hyphened(pairs, set(" ".join(texts).lower().split())) if pairs else set()
    return [_mended(text, hyphened) if SPLIT in text else text for text in texts]


def _cut_words(text: str) -> Iterator[re.Match[str]]:
    """The cut words of a text; only the cuts are examined, because most words are whole."""
    for cut in _FROM_CUT.finditer(text):
        yield from _CUT_WORD.finditer(text, text.rfind(" ", 0, cut.start()) + 1, cut.end())


def _mended(text: str, hyphened: Collection[tuple[str, ...]]) -> str:
    """The text with cut words joined: without a hyphen, unless it is the word's own."""
    joined = [word.end(1) for word in _cut_words(text) if word.groups() not in hyphened]
    return "".join(text[end + 1 : cut] for end, cut in pairwise([-1, *joined, len(text)])).replace(SPLIT, "-")


def _hyphened(pairs: set[tuple[str, ...]], words: Collection[str]) -> set[tuple[str, ...]]:
    """The cut words that have a hyphen of their own.

    A word's spelling elsewhere in the book decides; for words that occur only once, the majority of the others. Books
    without typesetter's hyphenation break lines only at such hyphens.
    """

    def is_written(word: str) -> bool:
        return any(f"{word.lower()}{stop}" in words for stop in ("", *_STOPS))

    own = {pair for pair in pairs if not pair[1][0].islower() or is_written("-".join(pair))}
    joined = {pair for pair in pairs if is_written("".join(pair))} - own
    unknown = pairs - own - joined
    if len(own) == len(joined):
        return own | {pair for pair in unknown if all(map(is_written, pair))}
    return own | unknown if len(own) > len(joined) else own


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a text file of any encoding.

    Only line endings and the encoding of accents are changed, and left out a Project Gutenberg licence, the marks and
    heads of printed pages, invisible characters, and the notation of Aozora Bunko.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    report(0.2)
    if "\r" in text:
        text = text.replace("\r\n" if "\n" in text else "\r", "\n")
    text = composed(text)
    printed, page_marks = with_printed_pages(text)
    draft = BookDraft(FORMAT, printed, outlines=[chapters_of_verses(printed)], page_marks=page_marks, warnings=warnings)
    if aozora := read_aozora(text):
        draft = BookDraft(
            FORMAT,
            aozora.text,
            outlines=[aozora.headings],
            title=aozora.title,
            author=aozora.author,
            language="ja",
            readings=aozora.readings,
            warnings=warnings,
        )
    return assemble(draft, filename, limits)


def read_plain(text: str, filename: str = "") -> BookText:
    """The pages and chapters of `text`, which is not changed.

    Raises:
        BookError: NO_TEXT, it is empty.
    """
    unlimited = ReadingLimits(max_characters=max(len(text), 1))
    return assemble(
        BookDraft(FORMAT, text, outlines=[chapters_of_verses(text)]), filename, unlimited, as_it_stands=True
    )
