"""Places in a book as people name them: a page by its label, a chapter by its printed number, the part it is in, or
its title; and which chapters are no part of the story.
"""

import json
import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from domain.book import Chapter, Page, one_line
from domain.errors import BookError, BookErrorCode, Worded
from domain.library.numerals import CARDINALS, number_value
from domain.library.search.words import fold, words_of

_CHAPTERS = """
    chapter chapters chap ch kapitel kap chapitre capítulo capitulo cap capitolo hoofdstuk глава letter brief lettre
    carta lettera письмо story tale adventure stave canto chant gesang scene szene scène escena scena auftritt явление
    capitel kapitlet kapittel capítol rozdział kapitola fejezet luku bölüm κεφάλαιο розділ поглавље poglavlje poglavje
    chương bab פרק فصل الفصل باب geschichte erzählung märchen
"""
_STORIES = "story tale geschichte erzählung märchen"
_PARTS = """
    volume vol tome tomo band том book livre libro buch boek книга part partie parte teil deel часть act acte acto akt
    atto aufzug действие epilogue prologue epilog эпилог theil delen część díl rész osa частина част kısım μέρος חלק
    الجزء القسم الباب بخش
"""
_SAME = """
    chapter chap ch kapitel kap chapitre capítulo capitulo cap capitolo hoofdstuk глава
    letter brief lettre carta lettera письмо
    scene szene scène escena scena auftritt явление
    volume vol tome tomo band том
    book livre libro buch boek книга
    part partie parte teil theil deel часть
    act acte acto akt atto aufzug действие
"""
"""Words for the same kind of chapter or part, a kind a line: readers ask for "Akt 1" of an English play."""
_SPECIAL_PARTS = frozenset(("epilogue", "prologue", "epilog", "эпилог"))
_FILLERS = frozenset("the of in von der die das de des du la le del della no nr and".split())  # noqa: SIM905
_CHAPTER_WORDS, _PART_WORDS, _STORY_WORDS = (
    frozenset(form for word in words.split() for form in (word.casefold(), fold(word)))
    for words in (_CHAPTERS, _PARTS, _STORIES)
)
_KINDS = [frozenset(form for word in line.split() for form in (word, fold(word))) for line in _SAME.splitlines()]
_POSITION = re.compile(r"#(\d{1,5})")
_CJK_NUMBER = re.compile(r"第\s*([〇零一二三四五六七八九十百千\d]+)\s*[卷部篇章回节節話话]")
_LEADING_NUMBER = re.compile(r"\s*(?:(?P<word>[^\W\d_]+)\.?\s+)?(?P<number>\d{1,4}|[ivxlcdm]+)(?:\b|$)", re.IGNORECASE)
_MOST_WORDS = 12

WHICH_PART = "In this book, chapter numbers start again in each part. Name the part too, for example: part 2 chapter 5."


class Addressed(Protocol):
    """A chapter, or a line of the table of contents."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def printed(self) -> str: ...


Named = TypeVar("Named", bound=Addressed)


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of an address: "part 2", a number alone, or "epilogue", which may have none."""

    word: str
    value: int | None


class _Line(NamedTuple, Generic[Named]):
    """A chapter, the parts it is in, the outermost first, and whether it is a part itself."""

    chapter: Named
    above: tuple[Named, ...]
    is_part: bool


def find_chapter(chapters: Sequence[Named], name: str) -> Named | None:
    """The chapter somebody means; None if there is none.

    An address is the whole title, a number ("5", "V", "chapter five"), part and number ("book 2 chapter 5"), "#12" for
    the twelfth chapter from the beginning, or words of the title. A part may be called by its title, and parts without
    numbers are counted. A number is the one the book prints; chapters are counted only in books that print none, and
    stories in any that does not call them so.

    Raises:
        BookError: NOT_FOUND, several parts have this number; the sentence asks for the part.
    """
    if position := _POSITION.fullmatch(name.strip()):
        return next((each for each in chapters if each.number == int(position[1])), None)
    wanted = _folded(name)
    by_title = next((each for each in chapters if _folded(each.title) == wanted), None)
    if by_title is not None and not name.strip().isdecimal():
        return by_title
    steps = _steps(name)
    if steps and (found := _by_number(chapters, steps, name)) is not None:
        return found
    by_part = (each for each in chapters if wanted and not steps and f" {wanted} " in f" {_folded(each.title)} ")
    return by_title or next(by_part, None) or _in_titled_part(chapters, wanted)


def _in_titled_part(chapters: Sequence[Named], wanted: str) -> Named | None:
    """The chapter of a part that is called by its title: "chapter 3 of The Mill"."""
    parts = [each for each, _, is_part in _with_parts(chapters) if is_part]
    for part in sorted(parts, key=lambda each: -len(each.title)):
        before, title, after = f" {wanted} ".partition(f" {_folded(part.title)} ")
        if title.strip() and (rest := f"{before} {after}".strip()):
            return find_chapter(with_descendants(chapters, part)[1:], rest)
    return None


_MATTER_WORDS = json.loads(Path(__file__).with_name("matter.json").read_text(encoding="utf-8"))
_MATTER = re.compile(
    rf"(?:(?:the |an? )?(?:{_MATTER_WORDS['whose'].replace(' ', '|')})[’']?s[’']? )?"
    rf"(?:{'|'.join(_MATTER_WORDS['titles'])})(?: (?:{_MATTER_WORDS['of'].replace(' ', '|')}) .*)?[\s.:]*",
    re.IGNORECASE,
)


def is_matter(title: str) -> bool:
    """Whether a chapter with this title is front or back matter if it is at the front or at the back of a book.

    Prologues, epilogues and anything between chapters are story.
    """
    return _MATTER.fullmatch(" ".join(title.split())) is not None


def is_chapter_word(word: str) -> bool:
    """Whether a word names a division of a book: chapter, Kapitel, part, volume …"""
    return _folded(word) in _CHAPTER_WORDS | _PART_WORDS


def without_titles(title: str) -> str:
    """The part of a title that is a mere address, its kind and number ("Part Two"), which spoils nothing."""
    words = (word for word in title.split() if _is_address(word))
    return " ".join(words)


def _is_address(word: str) -> bool:
    plain = _folded(word)
    return plain in (_CHAPTER_WORDS | _PART_WORDS) - _SPECIAL_PARTS or number_value(plain) is not None


def last_chapter(chapters: Sequence[Named], word: str) -> Named | None:
    """The last numbered one that is called by a word, "part", or else the last in front of the back matter, if any."""
    told = [*chapters]
    while told and is_matter(told[-1].title):
        del told[-1]
    called = [each for each in told if each.printed and _is_called(each, word.casefold())]
    return next(reversed(called or told), None)


def with_descendants(chapters: Sequence[Named], chapter: Named) -> list[Named]:
    """A chapter, and the chapters in it if it is a part."""
    following = [each for each in chapters if each.number > chapter.number]
    inner = next((at for at, each in enumerate(following) if each.level <= chapter.level), len(following))
    return [chapter, *following[:inner]]


def is_printed(chapters: Sequence[Addressed]) -> bool:
    """Whether the book prints chapter numbers."""
    return any(each.printed for each in chapters)


def is_counted(chapters: Sequence[Addressed]) -> bool:
    """Whether chapters are known by their positions: the book prints no numbers, or the same ones."""
    return not is_printed(chapters) or all(number_value(each.printed) == each.number for each in chapters)


_INNERMOST_FIRST = re.compile(r"\b(?:of|in|von|aus|de|du|del)\b", re.IGNORECASE)
"""In "book 3 of volume 2"; other addresses name the part first."""


def _by_number(chapters: Sequence[Named], steps: Sequence[_Step], name: str) -> Named | None:
    word, place = steps[-1].word, steps[-1].value
    if word in _STORY_WORDS and not any(_is_called(each, word) for each in chapters):
        return next((each for at, each in enumerate(_stories(chapters), start=1) if at == place), None)
    if not is_printed(chapters):
        return _by_title_or_place(chapters, steps[-1], name)
    innermost = steps[0] if _INNERMOST_FIRST.search(name) else steps[-1]
    target = next((step for step in reversed(steps) if step.word not in _PART_WORDS), innermost)
    outer = [step for step in steps if step is not target]
    lines, values = list(_with_parts(chapters)), _values(chapters)
    counted = values | _places_of_parts(lines)
    used = {word for each, _, is_part in lines if is_part for word in _PART_WORDS if _is_called(each, word)}
    numbers = counted if target.word in _PART_WORDS else values
    fitting = [
        line
        for line in lines
        if numbers[line.chapter.number] == target.value
        and all(
            any(_fits(part, counted[part.number], step, used) for part in line.above) or _says(line.chapter, step)
            for step in outer
        )
    ]
    fitting = _of_kind(fitting, target.word, used)
    if not fitting:
        return None
    if len(fitting) > 1:
        raise BookError(BookErrorCode.NOT_FOUND, WHICH_PART)
    return fitting[0].chapter


def _stories(chapters: Sequence[Named]) -> Iterator[Named]:
    """The chapters that have a title of their own, are no matter, and contain no others that have."""
    titled = [line for line in _with_parts(chapters) if without_titles(line.chapter.title) != line.chapter.title]
    containing = {part.number for line in titled for part in line.above}
    for each, _, _ in titled:
        if each.number not in containing and not is_matter(each.title):
            yield each


def _places_of_parts(lines: Sequence[_Line[Named]]) -> dict[int, int | None]:
    """The places of the outermost parts among each other, if none has a number; empty if one has."""
    parts = [each for each, above, is_part in lines if is_part and not above]
    return {} if any(each.printed for each in parts) else {each.number: at for at, each in enumerate(parts, start=1)}


def _values(chapters: Sequence[Addressed]) -> dict[int, int | None]:
    """The value of each chapter's printed number, by the chapter's position. A misprint, or a number in letters of
    another script ("ה", "الخامس"), follows the one before.
    """
    values: dict[int, int | None] = {}
    last: dict[int, int] = {}
    for each in chapters:
        value = number_value(each.printed)
        last = {level: known for level, known in last.items() if level <= each.level}
        if value is None and any(map(str.isalpha, each.printed)):
            value = last.get(each.level, 0) + 1
        if value is not None:
            last[each.level] = value
        values[each.number] = value
    return values


def _of_kind(fitting: list[_Line[Named]], word: str, used: Container[str]) -> list[_Line[Named]]:
    """The chapters of the kind that was named; if none was, chapters before parts, and "Chapter 2"
    before "Letter 2".
    """
    if word in _PART_WORDS:
        called = [line for line in fitting if _is_called(line.chapter, word)]
        outermost = [line for line in fitting if line.is_part and not line.above]
        return called if called or word in used else [each for each in outermost if not _is_special(each.chapter)]
    chapters = [line for line in fitting if not line.is_part] or fitting
    if word and (called := [line for line in chapters if _is_called(line.chapter, word)]):
        return called
    other_kinds = _CHAPTER_WORDS | _PART_WORDS - {"epilogue"}
    main = [line for line in chapters if not _words(line.chapter) & other_kinds]
    main = main or [line for line in chapters if any(_is_called(line.chapter, each) for each in ("chapter", "kapitel"))]
    return main if 0 < len(main) < len(chapters) and not word else chapters


def _is_special(each: Addressed) -> bool:
    return not _words(each).isdisjoint(_SPECIAL_PARTS)


def _with_parts(chapters: Sequence[Named]) -> Iterator[_Line[Named]]:
    above: list[Named] = []
    for at, each in enumerate(chapters):
        while above and above[-1].level >= each.level:
            above.pop()
        is_part = at + 1 < len(chapters) and chapters[at + 1].level > each.level
        yield _Line(each, tuple(above), is_part)
        above.append(each)


def _fits(part: Addressed, value: int | None, step: _Step, used: Container[str]) -> bool:
    """Whether a part is the one of a step. `used` are the words that name parts in this book: if it has only
    volumes, "part 2" is the second volume.
    """
    if step.value is None:
        return _is_called(part, step.word)
    is_other_word = step.word not in used and part.level == 1
    return value == step.value and (not step.word or is_other_word or _is_called(part, step.word))


def _says(each: Addressed, step: _Step) -> bool:
    """Whether a chapter's own title says that step: "part 2" or, as it has no other part, "volume 2" in "Chapter 1:
    The Ford (Part 2)".
    """
    said = {
        word: number_value(number)
        for word, number in pairwise(map(_folded, re.findall(r"[^\W_]+", each.title)))
        if word in _PART_WORDS
    }
    same = said.keys() & _kind_of(step.word) or said.keys()
    return step.value is not None and any(said[word] == step.value for word in same)


def _is_called(each: Addressed, word: str) -> bool:
    return not _words(each).isdisjoint(_kind_of(word))


def _kind_of(word: str) -> frozenset[str]:
    """The words for the same kind of chapter or part."""
    return next((words for words in _KINDS if word in words), frozenset((word,)))


def _words(each: Addressed) -> set[str]:
    return {word.casefold() for word in words_of(each.title)[:4]}


def _by_title_or_place(chapters: Sequence[Named], step: _Step, name: str) -> Named | None:
    """For books without printed numbers, or parsed by an earlier version: the number in a title, else the position.
    That of a part is its place among the outermost parts; a book without any has no acts or volumes.
    """
    if step.word in _PART_WORDS and not any(_is_called(each, step.word) for each in chapters):
        parts = [each for each, above, is_part in _with_parts(chapters) if is_part and not above]
        if parts or step.word not in _kind_of("part"):
            return next((each for at, each in enumerate(parts, start=1) if at == step.value), None)
    counted = next((each for each in chapters if each.number == step.value), None)
    if name.strip().isdecimal():
        return counted
    return next((each for each in chapters if _number_in_title(each) == step.value), None) or counted


def _number_in_title(each: Addressed) -> int | None:
    match = _LEADING_NUMBER.match(each.title)
    if match is None or (match["word"] and match["word"].casefold() not in _CHAPTER_WORDS):
        return None
    return number_value(match["number"])


def _steps(name: str) -> list[_Step]:
    """The steps of an address such as "book 2, chapter 5"; empty if the text is anything else."""
    if match := _CJK_NUMBER.fullmatch(name.strip()):
        value = number_value(match[1])
        return [_Step("", value)] if value is not None else []
    words = [word.casefold() for word in re.findall(r"[^\W_]+", name)][: _MOST_WORDS + 1]
    if not words or len(words) > _MOST_WORDS or re.search(r"[^\w\s.,:;#/\-]", name):
        return []
    named = [word for word in words if word not in _FILLERS or number_value(word) is not None]
    steps: list[_Step] = []
    at = 0
    while at < len(named):
        step, at = _step(named, at)
        if step is None:
            return []
        steps.append(step)
    return steps if any(step.value is not None for step in steps) else []


def _step(words: Sequence[str], at: int) -> tuple[_Step | None, int]:
    """The step that begins at a word: "part 2", "second part", or "2"; None if there is none."""
    word = words[at] if _is_division(words[at]) else ""
    value, end = _number_at(words, at + bool(word))
    if value is None:
        return (_Step(word, None), at + 1) if word in _SPECIAL_PARTS else (None, at)
    if not _is_division(words[0]) and end < len(words) and _is_division(words[end]):
        return _Step(words[end], value), end + 1
    return _Step(word, value), end


def _is_division(word: str) -> bool:
    return word in _CHAPTER_WORDS or word in _PART_WORDS


def _number_at(words: Sequence[str], at: int) -> tuple[int | None, int]:
    """The number made of the longest run of words from an index on ("twenty", "one"), and the index where it ends."""
    for end in (at + 2, at + 1):
        if end <= len(words) and (value := number_value(" ".join(words[at:end]))) is not None:
            return value, end
    return None, at


@lru_cache(maxsize=20_000)
def _folded(title: str) -> str:
    return " ".join(fold(word) for word in words_of(title))


_NTH_CHAPTER = re.compile(
    r"(?<![\w-])(?P<words>[\w-]+\.?(?: [\w-]+)?) "
    r"(?P<kind>chapter|kapitel|chapitre|capítulo|act|akt|acte|acto|story|tale|geschichte|erzählung|märchen)"
    r"(?:(?<=kapitel|märchen)s)?\b"
    r"(?! (?:\d|[ivxlc]+\b))",
    re.IGNORECASE,
)
"""A chapter by a number before it, unless it has one behind it: "part 2 chapter 5"."""
_ORDINAL_SIGN = re.compile(r"(?<=\d)(?:\.|st|nd|rd|th|er|re|e|º|o)$")
_CARDINALS = frozenset(CARDINALS.split())


def with_chapter_numbers(text: str) -> str:
    """A text with chapters by their numbers: "the first chapter" as "the chapter 1"; "one chapter" stays."""
    return _NTH_CHAPTER.sub(_numbered, text)


def _numbered(nth: re.Match[str]) -> str:
    words = nth["words"].split()
    for at in range(len(words)):
        number = " ".join(words[at:])
        if number.lower() not in _CARDINALS and (value := number_value(_ORDINAL_SIGN.sub("", number))):
            return " ".join([*words[:at], nth["kind"], str(value)])
    return nth[0]


_PAGE_WORD = re.compile(r"(?:pages?|pp?\.|seiten?|s\.|p[áa]gina|pag\.) ?(?=\S)", re.IGNORECASE)

_LIKE_A_NUMBER = re.compile(r"\d|^[ivxlcdm]+$", re.IGNORECASE)
_PAGE = re.compile(r"(?:[A-Za-z]{1,2}[-.]?)?\d{1,5}[a-z]?|[ivxlcdm]{1,12}", re.IGNORECASE)


def find_page(pages: Sequence[Page], label: str) -> Page | None:
    """The page with that label, with or without "page" in front; if no page is labelled so, the one with that number,
    in whichever script's digits.
    """
    typed = _without_page_word(label).casefold()
    wanted = "".join(str(unicodedata.decimal(each, each)) for each in typed)  # full-width ones, as keyboards make them
    by_label = (page for page in pages if page.label.strip().casefold() in (typed, wanted))
    by_number = (page for page in pages if str(page.number) == wanted)
    return next(by_label, None) or next(by_number, None)


def names_page(typed: str) -> bool:
    """Whether something typed begins as pages are named: "page 12", "S. 12"."""
    return _PAGE_WORD.match(typed) is not None


def _without_page_word(label: str) -> str:
    """The label on one line, without "page" in front."""
    line = one_line(label)
    word = _PAGE_WORD.match(line)
    return line[word.end() :] if word else line


def end_of_page(pages: Sequence[Page], label: str, *, estimated: bool) -> int:
    """The offset that a reader who has finished that page has reached.

    Raises:
        BookError: NOT_FOUND, there is no such page.
    """
    page = find_page(pages, label)
    if page is None:
        raise page_missing(label, pages, estimated=estimated)
    return page.end


def page_missing(label: str, pages: Sequence[Page], *, estimated: bool) -> BookError:
    """The error for a page that a book does not have. It says how many pages there are, as the book's card does."""
    named = _without_page_word(label)
    one, many = Worded("1 page"), Worded("{pages} pages", pages=len(pages))
    if estimated:
        one, many = Worded("about 1 page"), Worded("about {pages} pages", pages=len(pages))
    count = one if len(pages) == 1 else many
    if not _LIKE_A_NUMBER.search(named):
        told = Worded("“{page}” is not a page number (the book has {count}).", page=named, count=count)
        return BookError(BookErrorCode.NOT_FOUND, told)
    message = Worded("There's no page {page} in this book (it has {count}).", page=named, count=count)
    if pages and pages[0].label != "1":
        message = Worded(
            "There's no page {page} in this book (it has {count}, and they begin with {first}).",
            page=named,
            count=count,
            first=pages[0].label,
        )
    return BookError(BookErrorCode.NOT_FOUND, message)


def end_of_chapter(chapters: Sequence[Chapter], name: str) -> int:
    """The offset that a reader who has finished that chapter or part has reached; it is named by number or title.

    Raises:
        BookError: NOT_FOUND, there is no such chapter, or several parts have one.
    """
    chapter = find_chapter(chapters, name)
    if chapter is None:
        message = Worded(
            "I can't find chapter “{name}” in this book. Tell me the page you've read to instead.", name=name.strip()
        )
        raise BookError(BookErrorCode.NOT_FOUND, message)
    return with_descendants(chapters, chapter)[-1].end


def page_in(argument: str) -> str | None:
    """The label of a page that an argument names ("80", "xii", "A-3"); None for anything else.

    A button shows what the model writes here, so arbitrary words are refused.
    """
    label = " ".join(argument.split())
    return label if _PAGE.fullmatch(label) else None


def is_same_number(token: str, label: str) -> bool:
    """Whether a word is that label, or its number in other digits or in words."""
    if token.casefold() == label.casefold():
        return True
    value = number_value(label)
    return value is not None and number_value(token) == value
