"""The numbers in a text, and what says that one of them is no page reference.

A `Number` is found by its digits, as a Roman numeral or in words; its properties are the licences with which it may
stand in an answer. There are three kinds: its own form is no page's (a year, a time, a measure, a telephone number); a
noun follows that it counts; or a word stands before it that takes a number, and takes one as high (no question, age or
chapter has the number that most pages have). What stands further off, such as another number, is no licence.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Set
from functools import cached_property
from string import ascii_lowercase

from domain.citations import context
from domain.citations.context import COUNTED_BY_NOTHING, SOURCE
from domain.citations.keys import Seen
from domain.citations.symbols import (
    ANY_PAGE,
    CARDINAL,
    DATE,
    DENSE,
    ENDS,
    FOREIGN,
    FOREIGN_SHORT,
    HOUR,
    LEADS_ON,
    OPEN,
    PAGE,
    SHORT_PAGE,
    SMALL_ORDINAL,
    closes,
    marked,
    more_to_come,
    number_in_any_form,
    number_pattern,
)
from domain.library.numerals import RESULT_OF_A_SUM, are_small, is_in_telephone_number, values_of
from domain.library.search.words import fold_letters

_COUNTED_PAGES = frozenset(map(fold_letters, context.COUNTED_PAGES.split()))
NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"
_ALONE = re.compile(r"(?:[.!?…]\s|\n\W*)(?:(?:auf|on|sur|su|en|na|op|pa)\s)?\Z")
_LABEL = re.compile(r"(?:[.!?…:]\s|\n\W*)(?P<name>[^\W\d_]{3,}) (?:(?:number|no\.|nr\.) )?\Z")
_STOPS, ITEM = re.compile(r"\W*(?:\n|\Z)|\s?[.!?…]"), re.compile(r"[.)][^\S\n]+(?=\S)")
_NEAR_PAGE = re.compile(
    rf"(?:-?(?:[^\W\d_]{{1,5}}|{SHORT_PAGE}))?(?:[\s-][^\W\d_]{{1,6}})?[\s-](?P<page>{FOREIGN}{{2,}})(?!\w)"
)
_SAID = r"(?:is|was|reads?|numbered|marked|labell?ed|number|after|before) (?:number )?"
_RIGHT_BESIDE_PAGE = re.compile(rf"{FOREIGN}{{2,}}\s(?:[^\W\d_]{{1,6}}[\s-])?\Z")
_BESIDE_PAGE = re.compile(
    rf"{ANY_PAGE}(?:[^\w.!?\n]{{1,6}}(?:[a-z]-?)?|[^\S\n]{{1,4}}|\W?n[or]\W|(?:[:,]?\s[^\W\d]+){{0,6}} {_SAID})"
    r"(?:\[\d)?\Z"
    rf"|{FOREIGN}{{2,}}\s[^\W\d_]{{1,6}}[\s-]\Z"
)
MARK, CLOSING_MARKS = r"[\"“„«‹'‘<|/$⟨{]", "\"”›»'’>|/$⟩}^~"
_BLANK = r"[^\S\n]"
_LEAD_IN = re.compile(
    rf"(?!\B\w)(?:(?<=\n)(?P<line>[-*+>#•\t ]*{MARK}?)\Z"
    rf"|(?P<open>\s*{OPEN}\s*(?:[^\W\d]{{1,12}}\.?[\s:]{{1,2}}){{0,3}}{NUMBER_SIGN}[^\w()\[\]]{{0,3}})\Z"
    rf"|\b(?P<place>(?:on|at|in)\s(?:(?:the|this|about|around)\s)?(?!(?<=at )n){NUMBER_SIGN}"
    rf"(?:{MARK}|[^\w\s{PAGE}-{SMALL_ORDINAL}])?)\Z"
    r"|\b(?P<goes>(?:see|compare|vide|cf\.?|(?:turn|go|refer|back|return|skip|jump|look)\s(?:to|at))(?:\salso)?)"
    rf"\s{NUMBER_SIGN}\Z"
    rf"|(?P<sign>{_BLANK}?(?:[^\w\s{PAGE}-{SMALL_ORDINAL}.,;:!?\"'“”‘’«»()\[\]{{}}%$£€¥₽₹°+*=<>|/\\–—…·-]){_BLANK}?)\Z"
    rf"|(?P<source>{SOURCE}[\"'`]?\s?[:=]{_BLANK}?[\"'\[]{{0,2}})\Z"
    rf"|(?P<joint>(?:{_BLANK}?(?:[,;:·…]|\.{{2,}}){_BLANK}?|\t|{_BLANK}[–—-]{_BLANK}?|{_BLANK}{{2,}}|—"
    rf"|(?<=[\"”’»]){_BLANK}){MARK}?)\Z)"
)
"""What stands before a number, by which a reference leaves its sentence."""
_NEXT = re.compile(
    rf"[\s-](?P<page>{PAGE}{{5}}|(?<=-){PAGE}{{4}}(?=\s\w)|{FOREIGN}{{2,}})(?!\w)"
    rf"|\s?(?P<unit>[€£¥₽₹×]|x\b|(?:{SHORT_PAGE}|a)\.?\s?m\b|[ap]m\b|out of \d|[+×=÷^−]\s?\d|o['’]clock|per\s"
    r"|in the (?:morning|afternoon|evening)\b|at night\b|an?\s(?:second|minute|hour|day|night|week|month|year)\b"
    r"|(?:b\.?\s?c|a\.?\s?d|b?ce|[vn]\.\s?chr)\b|,?\s(?:rue|avenue|boulevard|quai|via|calle)\s"
    r"|\s(?:[^\W\d_]{3,}\s){1,2}(?:avenue|crescent|gardens|lane|road|row|square|street|terrace)\b)"
    rf"|(?P<joint>-(?!\s))?{_BLANK}{{0,2}}(?:(?!cents?\b){CARDINAL}++\s)?(?P<word>[^\W\d_]+)"
)
_BEGINS = re.compile(r"(?:[.!?;:,—–(\n*]|\b(?:as|that|and|where|since|but|while))\s*\Z")
_COMPOUND = re.compile(r"\d+([:./, \u00a0\u202f]|\s?h\s?)\d+(?::\d+|\D{1,5}\d*\D{0,2})?\Z")
_NAME_BEFORE = re.compile(r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]{2,}\s\Z")
_WHOLE = re.compile(r"\s?(?:is|was)\s(?!where|when|the|what)")
_NEXT_WORD = re.compile(r"\A[\s-]([^\W\d_]+)")
_ENDINGS = f"{ascii_lowercase}{FOREIGN_SHORT}'’"
_IS_ROMAN = re.compile(r"[ivxl][ivxlcdm]*")
FEW = 12
"""So many things at most are a few; a larger number of things may be a page."""
_LEAST_ROMAN = 3
"""Letters of a Roman numeral; "I" and "mi" are words."""
_LEAST_NOUN = 3
"""Letters of a noun behind a hyphen, as in "12-man"."""
_YEARS = range(1_000, 2_100)
_MOST_PAGES = 10_000
_BEST_OF_A_RATING = (5, 10)
_IN_SO_MANY = re.compile(r"\sin\s\d")
_ISBN = re.compile(r"\bisbn[^.!?\n]{0,30}\Z")
_ADDRESS = re.compile(r"://\S+\Z")
_NTH = re.compile(r"\d(?:st|nd|rd|th)\Z")
_BEHIND_A_NAME = re.compile(r"\b(?:[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+|s?he|er|sie|elle|lui)\W{1,4}(?:[a-z.]+\s|~)?\Z")
_DECADE = re.compile(rf"[1-9]0['’]?(?:s|{FOREIGN_SHORT})")
_NAME_THAT_DOES = re.compile(r"[\s*_]{1,4}[A-Z]\w+(?<!s)(?<!m[ae]n)\s(?:is|was|has|[a-z]{2,}[a-rt-z](?:s|ed))\b")
_DECADE_OF_LIFE = re.compile(r"\b(?:anfang|mitte|ende) \Z")
_SO_MUCH = re.compile(r"(?:[$£€]|\d\s(?:is|are|makes?|gives?|equals?|=))\s?\Z")
_FIRST_WORDS = re.compile(
    r"\A\n\W{0,3}(?:[^\W\d_]+[^\w\n.!?]{1,3}){0,4}"
    r"(?P<listed>(?:\d{1,3}(?:,|\sor|(?P<last>,?\s(?:and|und|et|y))) ){0,9})\Z"
)
_OLDEST, _LAST_DAY, _HOURS = 110, 31, 24
_COLONS_OF_A_RECORDING = 2
"""Between hours, minutes and seconds."""
_MOST_KINGS = 30
"""No king or pope has a number as high: "Henry VIII", "John XXIII"."""
_HIGHEST = defaultdict(lambda: _MOST_PAGES, part=200, division=34, item=50, day=_LAST_DAY, hour=_HOURS)
_HIGHEST |= dict.fromkeys(("being", "age"), _OLDEST)
"""The highest number that a word takes: no chapter, canto of Dante's, question or age is higher, but a page is."""
_LEAST_LOCATION = 100
"""Places in the file of an e-book are counted by the thousand; "position 3" is any position."""
_LEAST_CALLED = 100
"""Short telephone numbers have three digits."""
_LAST_VERSE, _MOST_CHAPTERS = 99, 28
"""What a pair such as "3:47" or "3/12" may end with if it is chapter and verse, or two chapters."""
_LEAST_PAGES = 60
"""Pages of a book, at least: "12/300" is one of so many, "3/5" may be anything."""
_LONGEST_KIND = 45
"""Characters before a number in which the word stands that takes it."""
_POINT, _AFTER_A_STOP = re.compile(rf"[\s-]{ANY_PAGE}[\s-](?:mark|point)\b"), re.compile(r"[.!?…]\s+\Z")
_WITHOUT_MARK = re.compile(rf"(?:(?<!\s)\s+)?{MARK}?\Z")
_BESIDE = 70
"""Characters on either side of a number that are looked at."""


class Number:
    """A number that may be a reference, and what stands before and after it."""

    def __init__(self, found: re.Match[str], seen: Seen, written: str) -> None:
        self.start, self.end = found.span()
        begin = max(self.start - _BESIDE, 0)
        self.left, self.right = found.string[begin : self.start], found.string[self.end : self.end + _BESIDE]
        self.words_after = seen.text[self.end : self.end + _BESIDE]
        self.written = written[seen.starts[self.start] : seen.ends[self.end - 1]]
        self.before = written[seen.starts[begin] : seen.starts[self.start]]
        self.after = written[seen.ends[self.end - 1] :][:_BESIDE]
        self.next_word = "".join(_NEXT_WORD.findall(self.after))
        self.is_decimal = self.written[0].isdecimal()
        self.is_in_words = CARDINAL <= found[0][0] <= SMALL_ORDINAL
        self.values = values_of(found[0], self.written)
        self.read = found[0]
        self.is_share, self.is_of_book = map(bool, found.group("share", "book"))
        lead = _LEAD_IN.search(self.left)
        self.form = (lead.lastgroup or "") if lead else ""
        first, last = lead.span(self.form) if lead else (len(self.left), len(self.left))
        self.leads = (begin + first, begin + last)
        self.begins_capital = written[seen.starts[self.leads[0]]].isupper()
        is_titled = re.match(r"\.\s[^\W\d_]", self.right) is not None  # 6. The Night
        self.is_in_prose = (
            self.form in ("", "place", "goes", "line") or is_titled or (self.form == "joint" and self.is_in_words)
        )

    @property
    def is_beside_page(self) -> bool:
        return _BESIDE_PAGE.search(self.left) is not None and not self.written.startswith(("0.", "0,"))

    @property
    def is_near_page(self) -> bool:
        """Whether a word for page follows that is not counted: "217 нче биттә", in the way of "on the 217th page"."""
        near = _NEAR_PAGE.match(self.right)
        is_counted = near and self.words_after[slice(*near.span("page"))] in _COUNTED_PAGES
        return near is not None and (not is_counted or self.left.endswith("-"))

    @property
    def is_in_item_marks(self) -> bool:
        """Whether brackets make it the number of what follows: "(1) the cook", "first 1) the cook", not "(p. 5, 1)"."""
        is_closed = self.right.startswith((")", "]") if self.form == "open" else ")")
        is_bracketed = self.form != "open" and self.left.rfind("(") > self.left.rfind(")")
        return is_closed and not is_bracketed and bool(self.right[1:3].strip(" .,;:"))

    @property
    def is_word(self) -> bool:
        """Whether it is a word or a name rather than a number: "one of them", "Henry VIII", "Nineteen Eighty-Four"."""
        if not self.is_in_words:
            is_short = len(self.written) < _LEAST_ROMAN and not self.written.isupper()
            is_name = _NAME_BEFORE.search(self.before) and max(self.values, default=_MOST_KINGS) < _MOST_KINGS
            return _IS_ROMAN.fullmatch(self.read) is not None and (is_short or bool(is_name))
        is_title = self.left == "\n" and _WHOLE.match(self.words_after) is not None
        if is_title or context.OTHER_WORD.search(self.written) or _DECADE_OF_LIFE.search(self.left):
            return True
        return are_small(self.values, self.written)

    def is_one_of(self, pages: Set[int]) -> bool:
        """Whether these pages have it, and it is too large to be one of a few things."""
        return not self.is_share and any(value > FEW and value in pages for value in self.values)

    @property
    def is_homograph(self) -> bool:
        """Whether it is an ordinary word somewhere, such as "once" or "elf", and not all that a sentence says."""
        is_all = _ALONE.search(self.left) and _STOPS.match(self.right)
        return self.is_in_words and not is_all and bool(context.HOMOGRAPHS.match(fold_letters(self.written)))

    @property
    def is_compound(self) -> bool:
        """Whether it is a time, a verse, a decimal or a date, and no citation such as ", 38:4." or "(1897:38)"."""
        parts = _COMPOUND.match(self.written)
        if not parts:
            return False
        if parts[1] == "/" and self.values[-1] in _BEST_OF_A_RATING:
            return True
        cites = self.form in ("open", "sign") or (self.form == "joint" and ":" not in self.left[-2:])
        cites |= (parts[1] == ":" and self.left.endswith("in ")) or (parts[1] == "/" and self.form == "line")
        is_pair = parts[1] == "/" and self.form == "place" and self.values[-1] >= _LEAST_PAGES
        return not (is_pair or self._is_chapter_and_page or (cites and ENDS.match(self.right)))

    @property
    def _is_chapter_and_page(self) -> bool:
        """Whether nothing but a page can follow on the sign, "6:213", "ch. 6/47": no hour and no verse is as late."""
        last = self.values[-1:]
        is_behind_chapter = "/" in self.written and context.BEHIND_CHAPTER.search(self.left) is not None
        return (":" in self.written and last > [_LAST_VERSE]) or (is_behind_chapter and last > [_MOST_CHAPTERS])

    @property
    def is_year(self) -> bool:
        """Whether it is a year, or too large for a page, or somebody's decade, "his 30s"."""
        is_large = any(value in _YEARS or value >= _MOST_PAGES for value in self.values[:1])
        is_large &= all(value in _YEARS or value <= _LAST_VERSE for value in self.values[1:])  # not "1897/217"
        is_decade = _DECADE.fullmatch(self.read) and context.SOMEBODYS.search(self.left)
        return bool(is_large or is_decade) and not self.is_in_words and ":" not in self.written

    @property
    def is_measure(self) -> bool:
        """Whether it is a part of a measure, of a sum or a chance: "10–15%", "12 by 15", "29 + 21 is 50", "1 in 5"."""
        if self.values[:1] == [0] or (self.values == [1] and _IN_SO_MANY.match(self.right)):
            return True
        is_sum = any(sign in self.written for sign in "+×*") and RESULT_OF_A_SUM.match(self.words_after) is not None
        return is_sum or context.PART_OF_MEASURE.match(self.words_after) is not None

    @property
    def is_of_a_unit(self) -> bool:
        """Whether it is so much of a unit, or of a sum: "38 miles", "£38", "19 + 19 is 38"; no page is told so."""
        is_unit = context.UNIT.match(self.words_after) is not None and not self._is_too_large
        return (is_unit and self.read.isdecimal()) or self.is_measure or _SO_MUCH.search(self.left) is not None

    @property
    def is_placed(self) -> bool:
        """Whether it is how far into a book or a recording something stands: "Loc. 1234", "the 3:47 mark", or a share
        that is one of nothing, "at 47%".
        """
        around = f"{self.left}\0{self.words_after}"
        if self.is_share:
            told = context.TOLD.search(around)
            is_counting = self.is_counting and not context.IN_ENGLISH.search(self.left)
            return not (told and told["surely"]) and (self.is_of_book or not (told or is_counting))
        if context.RECORDING.search(around) and (":" in self.written or context.HEARD.search(around)):
            return True
        location = context.LOCATION.search(around)
        is_named = location is not None and (not location["named"] or max(self.values, default=0) >= _LEAST_LOCATION)
        return self.written.count(":") == _COLONS_OF_A_RECORDING or (is_named and not context.HAS.search(self.left))

    def is_the_answer(self, *, is_hour: bool) -> bool:
        """Whether the answer begins with it, but for a few words, and it is nothing else's: "In 21.", "It's 21"."""
        is_first = len(self.left) < _BESIDE and _FIRST_WORDS.match(self.left)
        if not is_first or (is_hour and max(self.values, default=_HOURS) > _HOURS):
            return False
        listed = is_first["listed"]
        is_list = listed.count(",") > 1 or is_first["last"] or more_to_come().match(self.right)
        return not listed or bool(is_list)

    @property
    def is_in_address(self) -> bool:
        return _ADDRESS.search(self.left) is not None

    @property
    def is_telephone(self) -> bool:
        """Whether it is part of a telephone number or of a book's, or the short one of a hotline."""
        is_short = self.is_decimal and self.form != "open" and self.values[0] >= _LEAST_CALLED
        is_hotline = (is_short and context.HOTLINE.search(self.left) is not None) or _ISBN.search(self.left) is not None
        return is_hotline or is_in_telephone_number(f"{self.left}{self.read}{self.right}", len(self.left))

    @property
    def is_day(self) -> bool:
        """Whether it is a day of a month that is not named: "on the 4th"."""
        is_day = _NTH.search(self.written) is not None and max(self.values, default=_LAST_DAY + 1) <= _LAST_DAY
        return is_day and context.ON_A_DAY.search(self.left) is not None

    def is_age(self, *, is_asked: bool) -> bool:
        """Whether it may be how old somebody is, where ages are told: behind a name, or `is_asked` in a sentence."""
        is_told = (is_asked and not self.form) or _BEHIND_A_NAME.search(self.before) is not None
        return is_told and 0 < max(self.values, default=0) <= _OLDEST

    @property
    def is_counting(self) -> bool:
        """Whether a noun follows that it counts."""
        listed = more_to_come().match(self.right)
        at = listed.end() if listed and self.form != "place" else 0
        if context.GERMAN_ORDINAL.search(self.left) and re.match(r"\.\s[^\W\d_]", self.after):
            return True
        if self._is_telling:
            return False
        following = _NEXT.match(self.right, at)
        if not following or context.OF_THE_BOOK.match(self.words_after) or _RIGHT_BESIDE_PAGE.search(self.left):
            return False
        if self._plain_use in ("day", "hour", "division") and self._is_too_large:
            return False
        if following["unit"]:
            return True
        if not context.is_of_known_script(self.next_word):
            return False
        if context.PLURAL.match(self.words_after) and len(self.values) == 1 and self.form in ("", "joint", "line"):
            return True  # of a page nobody says "are"
        if following["page"]:
            counted = self.words_after[slice(*following.span("page"))]
            is_told = context.HAS.search(self.left) or context.LONG.match(self.right)
            return counted in _COUNTED_PAGES or is_told is not None
        word = self.words_after[slice(*following.span("word"))]
        if re.match(f"[{DENSE}]", word):
            return not any(word[:size] in COUNTED_BY_NOTHING for size in range(1, 7))
        if word in COUNTED_BY_NOTHING or word in context.NO_THINGS or (following["joint"] and len(word) < _LEAST_NOUN):
            return False
        if context.IN_ENGLISH.search(self.left) and self.is_decimal and self.values != [1]:
            is_name = self.after[following.start("word") :][:2].istitle()
            return bool((context.COUNTED_NAME if is_name else context.COUNTED_THINGS).match(self.words_after))
        return True

    @property
    def is_plainly_none(self) -> bool:
        """Whether a word right beside it says that it is no page, which is what may stand where a page is asked for: a
        chapter, a date, an hour, an age, a hotline, or a small number of things.
        """
        is_certain = self._is_plainly_dated or self.is_telephone or self._is_listed or self._is_a_few
        is_used = self._plain_use is not None and not self._is_too_large
        return is_certain or (is_used and not self._is_chapter_and_page)

    @property
    def _plain_use(self) -> str | None:
        """What the word beside it makes of it: "part", "hour" and the like."""
        use = context.plain_use().search(self._around)
        return use.lastgroup if use else None

    @property
    def _is_too_large(self) -> bool:
        """Whether the word beside it takes no number as large."""
        use = self._plain_use
        return use is not None and max(self.values, default=0) > _HIGHEST[use]

    @property
    def is_of_a_month(self) -> bool:
        """Whether it is the day or the year behind a month; behind a day and its month only a year: "8 July, 1893"."""
        month = context.BEHIND_A_MONTH.search(self.left)
        latest = max(self.values, default=0) if month else 0
        return latest in _YEARS or 0 < latest <= (0 if month and month["day"] else _LAST_DAY)

    @property
    def _around(self) -> str:
        """What stands around it, with its ending, such as "th"."""
        ending = self.read[len(self.read.rstrip(_ENDINGS)) :] if self.is_decimal else ""
        return f"{self.left}\0{ending}{self.right}"

    @property
    def _is_plainly_dated(self) -> bool:
        """Whether it is a year in which no book has pages, a date with one, or an hour that is not all that is said."""
        is_all = context.OPENS.search(self.left[: self.leads[0] - self.start]) if self.form else None
        is_apart = is_all or self.form in ("open", "joint", "sign")  # in "…, 2:34." it is chapter and page
        is_hour = HOUR.fullmatch(self.read) and not (is_apart and ENDS.match(self.right))
        return bool(DATE.fullmatch(self.read) or is_hour or self.is_of_a_month)

    @property
    def _is_a_few(self) -> bool:
        """Whether it is a small number of what follows, or in words of what was told: "3 boxes", "the other two"."""
        if max(self.values, default=FEW + 1) > FEW:
            return False
        is_spelt = self.is_in_words and self.is_word
        is_first = not is_spelt and context.OPENS.search(self.left) is not None
        return (self.is_counting and not is_first) or (is_spelt and context.OTHERS.search(self.left) is not None)

    @property
    def _is_telling(self) -> bool:
        """Whether a verb follows rather than a noun: "47 relates that", "la 47 dit", "47 Ann drowns"."""
        is_done = bool(context.ON_GERMAN.search(self.left) and context.GERMAN_VERB.match(self.after))
        is_done |= self.is_decimal and _NAME_THAT_DOES.match(self.after) is not None
        if is_done or not self.written.isdecimal():
            return is_done
        return bool(
            ((_BEGINS.search(self.left) or _NAME_BEFORE.search(self.before)) and context.TELLS.match(self.words_after))
            or (context.THE_ONE.search(self.left) and not context.MONTH.match(self.words_after))
        )

    @property
    def is_taken(self) -> bool:
        """Whether a word stands before it that takes a number, and takes one as large."""
        most = max((value for value in self.values if value not in _YEARS), default=0)
        is_span = " to " in self.read or self.left.endswith(("from ", "between "))
        if is_span and self.form != "open" and self.values[1:] and _HOURS >= self.values[0] > self.values[1]:
            return True  # nine to five: no pages are read backwards
        if not (taken := self._word_before):
            return self._is_listed or self._is_of_a_label or self.is_of_a_month
        is_pair = ":" in self.written or ("/" in self.written and self.values[-1] > _MOST_CHAPTERS)
        is_cited = is_pair and self.form == "open" and ENDS.match(self.right)
        is_part = taken.lastgroup in ("part", "division")
        if (is_part and (is_cited or self._is_chapter_and_page)) or most > _HIGHEST[taken.lastgroup or ""]:
            return False  # [Ch. 3:47]
        if taken["being"]:
            ends = ENDS.match(self.right) or context.OF_THE_BOOK.match(self.words_after)
            return not (context.PLACE.search(self.left) or (context.IT_IS.search(self.left) and ends))
        return not (taken[0][0] == "$" and self.right.startswith(tuple(CLOSING_MARKS)))

    @property
    def is_of_something_said(self) -> bool:
        """Whether it numbers what is said: "answer 57", "reply-57"."""
        return self._word_before is not None and self._word_before.lastgroup in ("said", "joined")

    @cached_property
    def _word_before(self) -> re.Match[str] | None:
        """The word before it that takes a number, by its kind; None if there is none."""
        return context.takes_a_number().search(self.left, max(len(self.left) - _LONGEST_KIND, 0))

    @property
    def _is_listed(self) -> bool:
        """Whether it is one of several chapters or verses; "Kapitel 3, 47" may be a chapter and its page."""
        lists = context.LISTS_NUMBERS.search(self.left) if self.left.endswith((", ", ", and ", ", or ")) else None
        return lists is not None and bool(not lists["one"] or self.values[1:] or more_to_come().match(self.right))

    @property
    def _is_of_a_label(self) -> bool:
        """Whether it is the number of a thing that a sentence begins with: "Lamp 5 is out." """
        label = _LABEL.search(self.before) if self.is_decimal and self.values[0] <= _LAST_VERSE else None
        name = fold_letters(label["name"]) if label and label["name"][0].isupper() else ""
        if not name or name in COUNTED_BY_NOTHING or context.NO_LABEL.fullmatch(name):
            return False
        return context.is_of_known_script(name) and not (name == "number" and ENDS.match(self.right))

    def removal(self) -> tuple[int, int, str]:
        """How it leaves its sentence if it is a reference: from where to where something is replaced, and by what."""
        (first, last), start, end = self.leads, self.start, self.end
        marks = len(self.right) - len(self.right.lstrip(CLOSING_MARKS))
        ends = ENDS.match(self.right, marks)
        if self.is_beside_page or self.form == "source":
            return start, end, "…"
        if self.form == "place":
            point = _POINT.match(self.right, marks)
            return (
                first,
                end + (point.end() if point else marks),
                "In the book" if self.begins_capital else "in the book",
            )
        if self.form == "goes":
            return last, end, " a page" if len(self.values) < 2 else " some pages"
        if self.form == "open" and (closing := closes().match(self.right)):
            return first, end + closing.end(), ""
        if self.form == "line":
            item = ITEM.match(self.right)
            return (start, end + item.end(), "") if item else (start, end, "…")
        if self.form == "sign" or (self.form == "joint" and ends):
            is_between = re.match(r",(?!\s\d)", self.right) is not None and self.left.endswith(", ")  # one comma stays
            return first + is_between, end + marks + is_between, ""
        if ends and not LEADS_ON.search(self.left):
            opening = len(self.left) - len(_WITHOUT_MARK.sub("", self.left))
            is_sentence = _AFTER_A_STOP.search(self.left) is not None and self.right[marks : marks + 1] in set(".!?…")
            return start - opening, end + marks + is_sentence, ""
        return start, end, "…"


def numbers_of(seen: Seen, written: str, begin: int = 0, *, in_any_form: bool = False) -> Iterator[Number]:
    """The numbers of a text as it reads that begin at `begin` or after it, in order; `written` is the text itself."""
    pattern = number_in_any_form() if in_any_form else number_pattern()
    return (Number(found, seen, written) for found in pattern.finditer(marked(seen.text), begin))
