"""Removing every page reference that a model types.

Page references come only from citations that code has resolved. Whether a typed number happens to be right does not
matter: a rule with exceptions can be talked around. A page reference is whatever a person would read as one: letters
are compared without accents and case, look-alikes of other alphabets count as the letters they imitate, digits of
every script as digits, and emphasis, entities and invisible characters as nothing.

A number beside a word for page is a reference (`without_typed_pages`). Any other number needs a licence, or it is one
as well (`TypedPages`): the word right beside it says what else it is, such as a unit, "chapter 3" or things that are
counted; somebody has told it, the book in what the model was given, a reader or another tool; it is the result of
numbers before it, or the next of a list; or it is what was asked for. Where a page is asked for or the sentence speaks
of one, and always of the pages that passages come from, only the word right beside it counts
(`Number.is_plainly_none`).

A reference in brackets is deleted. Within a sentence it is part of the grammar, so it is replaced: "on page 42"
becomes "in the book", "page 42" becomes "a page", and where it is the reader who is there, "your page"; where that
does not fit, an ellipsis replaces the number alone.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import lru_cache

from domain.citations import context
from domain.citations.context import SOURCE
from domain.citations.keys import LINK_INTO_A_BOOK, RAISED, Seen, as_seen, key_groups, pointer_at
from domain.citations.numbers import FEW, ITEM, MOST_PAGES, OLDEST, Number, numbers_of
from domain.citations.symbols import (
    A_NUMBER,
    ANY_PAGE,
    CARDINAL,
    COUNTED,
    DENSE,
    ENDS,
    ENDS_IN_STEMS,
    FOREIGN,
    FOREIGN_SHORT,
    HAN_PAGE,
    HANGUL_NUMBER,
    PAGE,
    PAGE_LABEL,
    ROMAN,
    SIGNPOST,
    SMALL_ORDINAL,
    SOME_PAGE,
    STEMMED_ORDINAL,
    STEMMED_WORD,
    TYPED_PAGE,
    any_of,
    lazily,
    marked,
)

_TOKEN = lazily(r"\S+")
LONGEST_REFERENCE = 160
"""Characters; at most this much of a stream is held back because it may still become a reference, and the same once
more until the line ends.
"""

_HELD_WORDS, _NEAR = 8, 60
_DECIDING_WORDS = 4
"""Words after a number, at most, that decide what it is."""
_PART = lazily(
    rf"[{PAGE}-{SMALL_ORDINAL}\d(\[{{<&\\【〔⟨（［第]|^\W*(?:[page]|[ivxlcdm]{{2,}})\W*$|{HAN_PAGE}|[一二三四五六七八九十百千〇零两]"
)
"""A word that may be part of a reference."""
_NO_NUMBER = lazily(rf"[^\W\d_{DENSE}]\D*\Z")
_LONE = lazily(r"(?:\A|(?<=\n))[^\w\n|]*\d{1,4}[^\w\n|]*\n\s*(?:\S+\s+){0,3}\S*\Z")
"""A number alone in its line, with the beginning of the next one."""
_NUMBERED_SENTENCE = lazily(r"\S{0,24}\d(?:[^.!?…。！？\n]|[.!?…](?!\s|\Z))*\Z")
"""A sentence from its number on, which goes on and may still say that this is a page."""
_STEMMED_PART = lazily(rf"\W*(?:{STEMMED_ORDINAL}|{STEMMED_WORD}|{HANGUL_NUMBER})\W*")


@lru_cache(maxsize=4_096)
def _is_part(word: str) -> bool:
    """Whether a word, as it reads, may be part of a reference."""
    return bool(_PART.search(word) or _STEMMED_PART.fullmatch(word))


LONGEST_WORD = 24
"""Characters before a text that tell whether a word goes on in it."""


def settled(text: str, *, begins: bool = False) -> int:
    """The length of the prefix without unfinished references; where an answer `begins`, its first word is one."""
    window = max(len(text) - LONGEST_REFERENCE, 0)
    while window and text[window - 1].isdecimal():  # no number is cut in two
        window -= 1
    seen = as_seen(text[window:])
    read = marked(seen.text)
    words = [*_TOKEN.finditer(read)]
    whole = len(words) - (not read[-1:].isspace()) if words else 0
    known = whole if whole < len(words) and words[-1][0].isalpha() else len(words)
    parts = [at for at in range(max(len(words) - _HELD_WORDS, 0), known) if _is_part(words[at][0])]
    first = min(parts, default=whole)
    named = (at for at in range(max(first - _HELD_WORDS, 0), first) if re.search(ANY_PAGE, words[at][0]))
    first = min(named, default=first) if parts else first
    first = _held_from(words, first)
    is_alone = begins and first == 1 and words[0][0][-1].isalnum()
    if first and not is_alone and not (first == whole < len(words) and _NO_NUMBER.match(words[first][0])):
        first = _held_from(words, first - 1)  # it may have a comma before a number, or decide what a number is
    lone = _LONE.search(text, window) or _NUMBERED_SENTENCE.search(text, window)
    # what is held includes what is invisible before it, such as emphasis, and a blank that nothing stands before
    before = words[first].start() if first < len(words) else words[-1].end() if words else 0
    end = window + seen.ends[before - 1] if first else _cut(text, window)
    return min(end, lone.start()) if lone else end


def _cut(text: str, window: int) -> int:
    """Where to cut a text of which all that stands behind `window` has to wait: at the end of a line, since the next
    one may begin with a number and what decides it; between words if there is none for too long.
    """
    line = text.rfind("\n", 0, window) + 1
    return line or (text.rfind(" ", 0, window) + 1 or window if window > LONGEST_REFERENCE else 0)


def _held_from(words: Sequence[re.Match[str]], first: int) -> int:
    """The first word that has to wait if the one at `first` does, because both may belong to one reference, or because
    a number stands before it that it decides, as "men" does in "38 brave men".
    """
    while first and (_is_part(words[first - 1][0]) or context.JOINS_REFERENCES.fullmatch(words[first - 1][0])):
        first -= 1
    for at in range(first - 1, max(first - _DECIDING_WORDS, 0) - 1, -1):
        if _is_part(words[at][0]):
            return _held_from(words, max(at - 1, 0))
        if not words[at][0][-1].isalnum() and words[at][0] != "%":
            break
    return first


_PAGING = lazily(
    r"[\"'](?:(?:total|num|per)_?pages?|pages?_?(?:size|count|total))[\"']\s?:\s?\d+"
    r"|[\"'](?:(?:current|next|prev|previous|last)_?)?page(?:_?(?:no|num|number|index))?[\"']\s?:\s?(?:[012]|null)(?!\d)"
    r"|[?&]page=[012](?!\d)"
    r"|\b(?:(?:web|home|main|talk|landing|wiki(?:pedia)?)[\s-]?pages?|this page"
    r"|page (?:title|not found|was last|last edited))\b(?!\W{0,3}(?:n|no|nr|number)?\W{0,3}\d)",
    re.IGNORECASE,
)
"""How many pages a list of results has, the first ones of them, and pages of the web, in what a tool returns."""
_TAGS_AS_WORDS = str.maketrans("<>/", "   ")


def without_paging(result: str) -> str:
    """The words a tool has returned, tags among them, without pages of its results or the web: these are no book's."""
    return _PAGING.sub("", result).translate(_TAGS_AS_WORDS)


def named_pages(text: str) -> list[str]:
    """The first page that a text refers to, and the last one if it names a range; in digits or small Roman numerals."""
    found = TYPED_PAGE.finditer(marked(as_seen(text).text))
    typed = (each[0] for each in found if not (each["bracketed"] or each["opened"]))
    labels = (re.findall(rf"(?<!\w)(?:\d+|{ROMAN})", reference) for reference in typed)
    return next((pages[:2] for pages in labels if pages), [])


def tells_of_pages(text: str, *, is_asked: bool = False) -> bool:
    """Whether a text has a word for page, or points at places in a book; `is_asked`: which names none, as "I'm on page
    12" and "how many pages" do.
    """
    seen = as_seen(text).text
    if (context.ASKS_WHERE if is_asked else context.POINTS).search(seen):
        return True
    read = marked(seen)
    return SOME_PAGE.search(TYPED_PAGE.sub("", read) if is_asked else read) is not None


def without_typed_pages(text: str, before: str = "", *, is_telling_ages: bool = False) -> str:
    """The text without page references; `before` is the preceding text, or its last character."""
    ahead = before[-LONGEST_WORD:]  # of "Step 1", the "p" alone would be a page
    written = ahead + RAISED.sub("", LINK_INTO_A_BOOK.sub(r"\1", text))
    seen, read = _read(written)
    return _changed(written, len(ahead), seen, _edits(seen, read, written, len(ahead), is_telling_ages))


@lru_cache(maxsize=4)
def _read(written: str) -> tuple[Seen, str]:
    """The text as it reads, also with symbols. Most pieces of an answer are read twice and changed seldom."""
    seen = as_seen(written)
    return seen, marked(seen.text)


_EMPHASIS = lazily(r"\*{1,3}|~~|\|\||(?<!\w)_{1,2}|_{1,2}(?!\w)")
_BEGINS_A_LINE, _ENDS_A_LABEL = lazily(r"(?:\A|\n)\W*(?:\d+[.)]\s)?\Z"), lazily(r"\s?[:–—.-][^\S\n]+(?=\S)")
_COMMAND = lazily(r"(?<!\S)\W?/[a-z]+ \Z")


def _changed(written: str, at: int, seen: Seen, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text from `at` on with the replacements, which are in terms of the text as it reads; keys stay."""
    kept = []
    for first, last, replacement in edits:
        start, end = seen.span(first, last, written)
        if (start := max(start, at)) < end:
            gone = written[start:end]
            emphasis = _EMPHASIS.findall(gone)
            alone = [mark for mark in dict.fromkeys(emphasis) if emphasis.count(mark) % 2]  # **Page**: 38
            if alone and not replacement and written[at:start].endswith(alone[0]):
                start -= len(alone.pop(0))
            kept += [written[at:start], replacement, *alone, *(group[0] for group in key_groups(gone))]
            at = end
    return "".join([*kept, written[at:]])


def _edits(seen: Seen, read: str, written: str, at: int, is_telling_ages: bool) -> Iterator[tuple[int, int, str]]:
    """The replacements from `at` on, in order, in terms of the text as it reads."""
    if not SIGNPOST.search(read):
        return
    is_telling_ages = is_telling_ages or context.tells_ages(written)
    for typed in TYPED_PAGE.finditer(read):
        is_capital, before = written[seen.starts[typed.start()]].isupper(), read[: typed.start()][-_NEAR:]
        is_in_english = not (typed["romance"] or typed["foreign"])
        if typed["bracketed"] or typed["opened"] or typed["bracket"]:
            if is_telling_ages and context.AGE_IN_BRACKETS.search(written[: seen.ends[typed.end() - 1]][-_NEAR:]):
                continue
            blanks = typed[0][: len(typed[0]) - len(typed[0].lstrip())]
            start = typed.start() + blanks.rfind("\n") + 1  # what begins a line leaves the line
            yield max(start, typed.end("bracket")), typed.end(), ""
        elif pointer := pointer_at(seen, written, typed.span(), at):
            yield pointer
        elif _BEGINS_A_LINE.search(before) and (mark := _ENDS_A_LABEL.match(read, typed.end())):
            yield typed.start(), mark.end(), ""
            first = written[seen.starts[mark.end()]]
            yield mark.end(), mark.end() + 1, first.upper() if is_capital else first
        elif _COMMAND.search(before):
            yield typed.start() - 1, typed.end(), ""
        elif is_in_english and context.THE_READER_IS.search(before):
            yield *typed.span(), f"{typed['place']} your page" if typed["place"] else "your page"
        elif typed["place"]:
            yield *typed.span(), "In the book" if is_capital else "in the book"
        elif is_in_english and not re.match(f"[{DENSE}]", read[typed.start() - 1 :]):
            vague = "some pages" if len(PAGE_LABEL.findall(typed[0])) > 1 else "a page"
            yield *typed.span(), vague.capitalize() if is_capital else vague
        else:
            for label in PAGE_LABEL.finditer(read, *typed.span()):
                yield *label.span(), "…"


_TABLE_RULE = lazily(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_COLUMN = lazily(rf"{ANY_PAGE}|[{FOREIGN_SHORT}]+\.?\s*\Z|{SOURCE}\b|{HAN_PAGE}|\b(?:ort|lieu|at)\b|\bc\.")
_COUNTING_HEAD = lazily(
    rf"(?:[^\W\d_]+s|{context.CHAPTER}|{COUNTED}|{any_of('ages')}|{any_of('kinds')}|{any_of('asked_for')}|[%€£$])\W*\Z"
    r"|\A(?:number|how many|anzahl|nombre|n[uú]mero) "
)
"""Heads a column of numbers that count something."""
_CELL = lazily(rf"\w*\d\w*|\b{ROMAN}|{CARDINAL}++(?:[\s-]{CARDINAL}++)*")
_LINE = lazily(r"[^\n]*\n|[^\n]+")
_LINES = lazily(r"(?:[^\w\n|]*\d{1,4}[^\w\n|]*\n+)?(?:[^\n]*\n|[^\n]+)")
"""Lines; a number alone in one belongs to the next, which tells what it is."""
_HEADING = lazily(r"\n#{1,6} \Z")
_LATE_HEADING, _REMEMBERED = 12, 120
"""The highest number of a heading that follows on none; characters kept of what came before."""
_FIRST_CELL = lazily(r"\n\s*\|\s*\Z")
_CELL_BEGIN = lazily(r"(?:\n|\|)\s*(?:\d{1,4},\s){0,9}\Z")
_CELL_END = lazily(r"(?:,\s\d{1,4}){0,9}\s*\|")
_OPERANDS = 8
"""Numbers before another one of which it may be the result; the question's come first."""
_ASKED_NUMBER = lazily(r"(?<![\w.,])\d{1,4}(?![\w.,]\d)")
_PAGES = lazily(rf"[\s-]?(?:[{PAGE}{FOREIGN}]|{HAN_PAGE})")


class TypedPages:
    """Removes typed pages from an answer, piece by piece.

    Besides what stands beside a word for page, a number is one unless it has a licence. `is_known` says whether it
    stands in what the model was given or in what a reader wrote, `is_of_things` whether these speak of what it counts;
    `seen` are the pages that passages came from, and `last_page` is how many the book has: a year may be one.
    `are_pages_told`: a reader has asked for a page, or a tool outside the book told one, so that "probably 38" is one.
    """

    def __init__(
        self,
        is_known: Callable[[Number], bool],
        question: str = "",
        is_of_things: Callable[[Number], bool] = lambda number: False,
    ) -> None:
        self._is_known, self._is_of_things = is_known, is_of_things
        self._licensed = deque(map(int, _ASKED_NUMBER.findall(question)), maxlen=_OPERANDS)
        self._tells_ages = context.tells_ages(question)
        self._asked_for = context.ASKS_FOR_ONE.search(question)
        self._is_share_asked = context.ASKS_FOR_A_SHARE.search(as_seen(question).text) is not None
        self._behind, self._line, self._header = "\n", "", ""
        self._columns: frozenset[int] | None = None
        self._heads, self._column = list[str](), 0
        self._items, self._counted, self.are_pages_told = 0, 0, False
        self.seen: Set[int] = frozenset()
        self.last_page = 0

    def remove(self, text: str, before: str = "") -> str:
        """A piece of the answer without typed pages; `before` is the preceding text, or its last character."""
        plain = without_typed_pages(text, before, is_telling_ages=self._are_ages_told)
        ahead = before[-LONGEST_WORD:]
        seen, read = _read(ahead + plain)  # once more, unless a reference has gone
        at = bisect_left(seen.starts, max(len(ahead) - 1, 0))
        if not (self._columns or self.are_pages_told or A_NUMBER.search(read, at) or ENDS_IN_STEMS.search(read, at)):
            return self.skip(plain)
        head = plain[: plain.find("\n") + 1] if self._line else ""  # a number is not alone in a line that goes on
        return "".join(map(self._checked, filter(None, [head, *_LINES.findall(plain[len(head) :])])))

    def skip(self, text: str) -> str:
        """A piece that is left alone, such as a quotation."""
        for line in _LINE.findall(text):
            self._follow(line)
        return text

    def _checked(self, part: str) -> str:
        """A part of a line without numbers that have no licence."""
        written = self._behind + part
        seen = as_seen(written)
        shown = _changed(written, len(self._behind), seen, self._unlicensed(seen, written))
        shown = self._without_cells(shown) if self._columns else shown
        self.skip(part)
        return shown

    def _unlicensed(self, seen: Seen, written: str) -> Iterator[tuple[int, int, str]]:
        at = len(self._behind)
        for number in numbers_of(seen, written, bisect_left(seen.starts, at)):
            self._column = self._line.count("|") + written[at : seen.starts[number.start]].count("|")
            if self._is_licensed(number):
                self._licensed.extend(number.values)
            else:
                points = number.form == "goes" and len(number.values) > 0
                pointer = pointer_at(seen, written, (number.start, number.end), at) if points else None
                yield pointer or number.removal()

    def _is_licensed(self, number: Number) -> bool:
        if context.ADDRESS.search(number.left) or self._counts_on(number):
            return True
        if _is_pointed_at(number):
            return False
        if _may_be_a_late_page(number) and (self.are_pages_told or max(number.values) <= self.last_page):
            return self._is_known(number) and not self.are_pages_told
        if self.are_pages_told or number.is_told_with_a_page:
            return self._is_plainly_none(number)
        if number.is_one_of(self.seen):
            is_other = number.is_of_a_unit or number.is_of_something_said or self._is_age(number)
            return is_other or self._is_plainly_none(number)
        if number.is_share:
            is_told = self._is_cell(number) or self._is_known(number) or number.is_money
            is_asked = self._is_share_asked and number.form not in ("place", "goes") and not number.is_of_book
            return not number.is_placed or is_told or is_asked
        if number.is_placed or number.is_near_page:
            return False
        if context.PAGES_IN.match(number.right):
            return self._is_known(number)
        if context.LEAVES.match(number.words_after) or (
            _PAGES.match(number.right) and context.TURNS.search(number.left)
        ):
            return self._is_known(number)
        if number.is_beside_page:
            return number.is_word or self._counts_things(number)
        return (
            self._says_what_it_is(number) or self._is_known(number) or self._is_result(number) or self._is_part(number)
        )

    def _says_what_it_is(self, number: Number) -> bool:
        """Whether what stands right beside it, or what was asked, says what else it is."""
        return (
            self._is_item(number)
            or number.is_homograph
            or number.is_word
            or number.is_in_a_name
            or number.is_backwards
            or number.is_year
            or number.is_of_a_unit
            or number.is_verse
            or number.is_time
            or number.is_day
            or number.is_plainly_none
            or number.is_named
            or number.is_somebodys_age
            or self._is_age(number)
            or self._counts_things(number)
            or self._is_cell(number)
            or self._is_answer(number)
        )

    def _counts_things(self, number: Number) -> bool:
        """Whether it counts things that are counted anywhere, or of which the model was told."""
        if not number.is_counting:
            return False
        return number.is_small or number.counts_common_things or number.is_in_stems or self._is_of_things(number)

    def _is_answer(self, number: Number) -> bool:
        """Whether it is what was asked for."""
        most = OLDEST if self._tells_ages else MOST_PAGES
        return self._asked_for is not None and number.is_the_answer(
            is_hour=self._asked_for["hour"] is not None, most=most
        )

    def _is_result(self, number: Number) -> bool:
        """Whether it is the sum, difference, product or quotient of two numbers before it."""
        if len(number.values) != 1 or (number.form and ENDS.match(number.right) and not number.left.endswith("= ")):
            return False
        (value,), before = number.values, [*self._licensed]
        totals = {sum(before[at:]) for at in range(len(before) - 1)}
        pairs = ((a, b) for a in before for b in before if b > 1)
        return value in totals or any(value in (a + b, a - b, a * b) or value * b == a for a, b in pairs)

    def _is_part(self, number: Number) -> bool:
        """Whether it is so many of a larger number: "29 of the fifty boxes", "of the 50, 29 were found"."""
        if len(number.values) != 1 or number.form not in ("", "joint", "line"):
            return False
        is_of_before = context.OF_THEM.match(number.words_after) and any(
            each > number.values[0] for each in self._licensed
        )
        return bool(is_of_before or context.OF_SO_MANY.match(number.right))

    def _is_plainly_none(self, number: Number) -> bool:
        """Whether it is no page although one is spoken of."""
        if number.is_placed or number.is_beside_page or number.is_near_page:
            return False
        if number.is_share:
            return not ENDS.match(number.right)
        if _PAGES.match(number.right):
            return bool(context.HAS.search(number.left) or context.LONG.match(number.right))
        return (
            self._is_item(number)
            or number.is_homograph
            or (number.is_word and (not number.is_in_words or number.values == [1]))
            or number.is_plainly_none
            or self._is_known(number)
        )

    def _counts_on(self, number: Number) -> bool:
        """Whether it is the next of many numbers that count up from one, as the lines of a text do."""
        if number.values != [self._counted + 1]:
            return False
        self._counted += 1
        return self._counted > FEW

    def _is_age(self, number: Number) -> bool:
        return self._are_ages_told and number.is_age(is_asked=self._tells_ages)

    @property
    def _are_ages_told(self) -> bool:
        return self._tells_ages or context.tells_ages(self._behind)

    def _is_item(self, number: Number) -> bool:
        """Whether it numbers the next item of a list, or one again."""
        is_first = _FIRST_CELL.search(number.left) is not None
        if not (number.is_in_item_marks or number.form == "line" or is_first) or len(number.values) != 1:
            return False
        if self.are_pages_told and not is_first and ENDS.match(number.right) and not ITEM.match(number.right):
            return False
        next_one = self._items + (1 if number.is_decimal else 2)  # I and V are letters
        heads = _HEADING.search(number.left) and ITEM.match(number.right) and number.values[0] <= _LATE_HEADING
        if number.values[0] > next_one and not heads:
            return False
        self._items = max(self._items, number.values[0])
        return True

    def _is_cell(self, number: Number) -> bool:
        """Whether it is alone in a cell, or there is nothing but numbers, in a column that counts things."""
        begins, ends = _CELL_BEGIN.search(number.left), _CELL_END.match(number.right)
        is_listed = re.match(r",\s\d", number.right) or re.search(r"\d,\s\Z", number.left)
        counts = self._column < len(self._heads) and _COUNTING_HEAD.search(self._heads[self._column])
        return bool(counts and (begins and ends if is_listed else begins or ends))

    def _follow(self, part: str) -> None:
        """Note a part of a line for what comes after it."""
        self._behind = (self._behind + part)[-_REMEMBERED:]
        self._line += part
        if not part.endswith("\n"):
            return
        line, self._line = self._line.rstrip("\n"), ""
        if "|" not in line:
            self._columns, self._heads = None, []
        elif _TABLE_RULE.fullmatch(line):
            self._heads = [marked(as_seen(head).text.strip()) for head in self._header.split("|")]
            self._columns = frozenset(at for at, head in enumerate(self._heads) if _COLUMN.search(head))
        self._header = line

    def _without_cells(self, part: str) -> str:
        """A part of a table's row without numbers in the columns for pages."""
        cells = enumerate(part.split("|"), self._line.count("|"))
        return "|".join(_without_numbers(cell) if at in (self._columns or ()) else cell for at, cell in cells)


def _may_be_a_late_page(number: Number) -> bool:
    """Whether it has four digits, and nothing beside it says that it is a year or counts things: "1501.", "on 1501"."""
    if not number.is_year or number.is_counting or number.is_of_a_unit or not number.values:
        return False
    return not (context.OF_A_YEAR.search(number.left) or number.is_plainly_none_but_a_year)


def _is_pointed_at(number: Number) -> bool:
    """Whether it is where to look, whatever else it is: "see ten.", "Lies ab 50 weiter", "(Stoker, Dracula 45)"."""
    is_source = context.IN_A_SOURCE.search(number.before) is not None and number.right.startswith(")")
    is_end = ENDS.match(number.right) and context.LOOK_AT.search(number.left)
    goes_on = context.FOLLOWING.search(number.read) or context.ONWARDS.match(number.words_after)
    return is_source or bool(is_end or goes_on)


def _without_numbers(cell: str) -> str:
    seen = as_seen(cell)
    return _changed(cell, 0, seen, ((*found.span(), "…") for found in _CELL.finditer(marked(seen.text))))
