"""Plain text: unchanged unless it has a notation, so that offsets in the file are those of the book.

The notation of Aozora Bunko is supported: readings, notes on layout, and letters outside the character set.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bot.parsers.assembly import assemble
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    MOST_READINGS,
    BookDraft,
    ReadingLimits,
    Report,
    hiragana,
    ignore_progress,
)
from bot.parsers.encoding import decode
from bot.parsers.headings import Heading
from domain.book import BookText

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


FORMAT = "txt"


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a text file of any encoding.

    Only line endings are changed, and a Project Gutenberg licence and the notation of Aozora Bunko left out.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    report(0.2)
    if "\r" in text:
        text = text.replace("\r\n" if "\n" in text else "\r", "\n")
    draft = BookDraft(FORMAT, text, warnings=warnings)
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
    return assemble(BookDraft(FORMAT, text), filename, unlimited, as_it_stands=True)
