"""The numbers in a text, and what says that one of them is no page reference.

A `Number` is found by its digits, as a Roman numeral or in words; its properties are the licences with which it may
stand in an answer.
"""

import re
from collections.abc import Container, Iterator
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
from domain.library.numerals import RESULT_OF_A_SUM, are_small, is_in_telephone_number, is_score, values_of
from domain.library.search.words import fold_letters, stem_of, words_of

_COUNTED_PAGES = frozenset(map(fold_letters, context.COUNTED_PAGES.split()))
NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"
_LABEL = re.compile(r"(?<!\w)([^\W\d_]{3,}) \Z")
_NAME_OF_IT = re.compile(r"(?<!\w)[^\W\d_]{3,}\W+\Z")
_ALONE = re.compile(r"(?:[.!?…]\s|\n\W*)(?:(?:auf|on|sur|su|en|na|op|pa)\s)?\Z")
_STOPS, ITEM = re.compile(r"\W*(?:\n|\Z)|\s?[.!?…]"), re.compile(r"[.)][^\S\n]+(?=\S)")
_NEAR_PAGE = re.compile(
    rf"(?:-?(?:[^\W\d_]{{1,5}}|{SHORT_PAGE}))?(?:[\s-][^\W\d_]{{1,6}})?[\s-](?P<page>{FOREIGN}{{2,}})(?!\w)"
)
_SAID = r"(?:is|was|reads?|numbered|marked|labell?ed|number|after|before) (?:number )?"
_RIGHT_BESIDE_PAGE = re.compile(rf"{FOREIGN}{{2,}}\s(?:[^\W\d_]{{1,6}}[\s-])?\Z")
_BESIDE_PAGE = re.compile(
    rf"{ANY_PAGE}(?:[^\w.!?\n]{{1,6}}(?:[a-z]-?)?|\s{{1,4}}|\W?n[or]\W|(?:[:,]?\s[^\W\d]+){{0,6}} {_SAID})(?:\[\d)?\Z"
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
    rf"|(?P<source>{SOURCE}[\"'`]?\s?[:=]\s?[\"'\[]{{0,2}})\Z"
    rf"|(?P<joint>(?:{_BLANK}?(?:[,;:·…]|\.{{2,}}){_BLANK}?|\t|{_BLANK}[–—-]{_BLANK}?|{_BLANK}{{2,}}|—"
    rf"|(?<=[\"”’»]){_BLANK}){MARK}?)\Z)"
)
"""What stands before a number, by which a reference leaves its sentence."""
_NEXT = re.compile(
    rf"[\s-](?P<page>{PAGE}{{5}}|(?<=-){PAGE}{{4}}(?=\s\w)|{FOREIGN}{{2,}})(?!\w)"
    rf"|\s?(?P<unit>[€£¥₽₹×]|x\b|(?:{SHORT_PAGE}|a)\.?\s?m\b|[ap]m\b|out of \d|[+×=÷^−]\s?\d|o['’]clock|per\s"
    r"|an?\s(?:second|minute|hour|day|night|week|month|year)\b"
    r"|(?:b\.?\s?c|a\.?\s?d|b?ce|[vn]\.\s?chr)\b|,?\s(?:rue|avenue|boulevard|quai|via|calle)\s)"
    rf"|(?P<joint>-(?!\s))?{_BLANK}{{0,2}}(?:(?!cents?\b){CARDINAL}++\s)?(?P<word>[^\W\d_]+)"
)
_BEGINS = re.compile(r"(?:[.!?;:,—–(\n*]|\b(?:as|that|and|where|since|but|while))\s*\Z")
_COMPOUND = re.compile(r"\d+([:./, \u00a0\u202f]|\s?h\s?)\d+(?::\d+|\D{1,5}\d*\D{0,2})?\Z")
_NAME_BEFORE = re.compile(r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]{2,}\s\Z")
_WHOLE = re.compile(r"\s?(?:\Z|[.:!?,]|(?:is|was)\s(?!where|when|the|what))")
_NEXT_WORD = re.compile(r"\A[\s-]([^\W\d_]+)")
_ENDINGS = f"{ascii_lowercase}{FOREIGN_SHORT}'’"
_IS_ROMAN = re.compile(r"[ivxl][ivxlcdm]*")
_FEW, _LEAST_ROMAN, _LEAST_NOUN, _YEARS, _MOST_PAGES = 12, 3, 3, range(1_000, 2_100), 10_000
_NTH, _LATER = re.compile(r"\d(?:st|nd|rd|th)\Z"), re.compile(r"\(\d{1,3}, (?:later|then|spater|dann) \Z")
_NTH_THING = re.compile(r"(?<!\b(?:on|at|in|of)\sthe\s)(?<=\s)(\d+)(?:st|nd|rd|th)\s(?!of\b|to\b|and\b|or\b)[^\W\d_]")
_NAME_AND_VERB = re.compile(r"[\s*_]{1,4}[A-Z]\w+\s(?:[a-z]+(?:s|ed|t))\b")
_NAME_THAT_DOES = re.compile(r"[\s*_]{1,4}[A-Z]\w+(?<!s)(?<!m[ae]n)\s(?:is|was|has|[a-z]{2,}[a-rt-z](?:s|ed))\b")
_VERB_AND_NAME = re.compile(r"\s[^\W\d_]+\s[A-ZÀ-ÝА-ЯΑ-Ω]")
_STREET = re.compile(r"(?:\s[A-Z][\w'’]+\.?){1,4}(?:[,;!?.]|\Z|\n)")
_FIRST_WORDS = re.compile(
    r"\A\n\W{0,3}(?:[^\W\d_]+[^\w\n.!?]{1,3}){0,4}"
    r"(?P<listed>(?:\d{1,3}(?:,|\sor|(?P<last>,?\s(?:and|und|et|y))) ){0,9})\Z"
)
_OLDEST, _LAST_DAY, _NOON, _COLONS, _MOST_KINGS, _HOURS = 110, 31, 12, 2, 30, 24
_LEAST_LOCATION, _LEAST_CALLED, _LAST_VERSE, _LEAST_PAGES, _LONGEST_KIND, _MOST_CHAPTERS = 100, 100, 99, 60, 45, 28
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
        if context.OTHER_WORD.search(self.written) or (self.left == "\n" and _WHOLE.match(self.words_after)):
            return True
        return are_small(self.values, self.written)

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
        if self.written == "24/7" or context.SCRIPTURE.search(self.left):
            return True
        cites = self.form in ("open", "sign") or (self.form == "joint" and ":" not in self.left[-2:])
        cites |= (parts[1] == ":" and self.left.endswith("in ")) or (parts[1] == "/" and self.form == "line")
        is_pair = parts[1] == "/" and self.form == "place" and self.values[-1] >= _LEAST_PAGES
        return not (is_pair or self._is_chapter_and_page or (cites and ENDS.match(self.right)))

    @property
    def _is_chapter_and_page(self) -> bool:
        """Whether nothing but a page can follow on the colon: "6:213"; no hour and no verse is as late."""
        return ":" in self.written and self.values[-1:] > [_LAST_VERSE] and not context.SCRIPTURE.search(self.left)

    @property
    def is_year(self) -> bool:
        """Whether it is a year, or too large for a page."""
        is_large = any(value in _YEARS or value >= _MOST_PAGES for value in self.values[:1])
        return is_large and not self.is_in_words and ":" not in self.written

    @property
    def is_measure(self) -> bool:
        """Whether it is a part of a measure, of a telephone number or of a year that is not told: "10–15%", "17—"."""
        part = context.PART_OF_MEASURE.match(self.words_after)
        if part and part[0] in ("—", "--"):
            return self.written in ("15", "16", "17", "18", "19")
        is_part = part is not None and (part[0] != "+" or self.form != "open")
        is_part |= any(sign in self.written for sign in "+×*") and RESULT_OF_A_SUM.match(self.words_after) is not None
        is_minute = self.left.endswith(("°", "° ")) and self.right.startswith(("'", "’", "′"))
        is_inches = self.right.startswith(('"', "”", "″")) and self.left.endswith(("'", "’", "′"))
        return is_part or is_minute or is_inches or self.values[:1] == [0] or "-0" in self.written

    @property
    def is_placed(self) -> bool:
        """Whether it is how far into a book or a recording something stands: "Loc. 1234", "the 3:47 mark", "at 47%"."""
        around = f"{self.left}\0{self.words_after}"
        location = context.LOCATION.search(around)
        if not self.is_share:
            is_large = max(self.values, default=0) >= _LEAST_LOCATION
            is_time = ":" in self.written or "h" in self.read
            if context.RECORDING.search(around) and (is_time or context.HEARD.search(around)):
                return True
            if self.written.count(":") == _COLONS and context.AT_A_TIME.search(around):
                return True
            return bool(location and (location["mark"] or (is_large and (location["named"] or not self.is_counting))))
        told, placed = context.TOLD.search(around), location or context.PLACED.search(around)
        if self.is_of_book or (told and told["surely"]):
            return not (told and told["surely"])
        marks = len(self.right) - len(self.right.lstrip(CLOSING_MARKS))
        is_heading = self.form == "line" and _NAME_AND_VERB.match(self.after)
        leaves = is_heading or self.form == "place" or (self.form and ENDS.match(self.right, marks))
        if told or not (placed or leaves):
            return False
        way = placed.lastgroup if placed else None
        is_noun = self.after.lstrip(" -*_")[:1].isupper() == (way == "german")  # in German nouns are, elsewhere names
        return way == "surely" or not (is_noun and self.is_counting and not _VERB_AND_NAME.match(self.after))

    @property
    def is_of_an_address(self) -> bool:
        """Whether it is a house: "at 347 Piccadilly."; who does something has a verb: "at 347 Dracula says"."""
        if context.ADDRESS.search(self.before):
            return True
        is_placed = self.left == "\n" or (self.form == "place" and self.left.endswith("at "))
        return is_placed and _STREET.match(self.after) is not None

    def is_the_answer(self, *, is_hour: bool) -> bool:
        """Whether the answer begins with it, but for a few words, and it is nothing else's: "In 21.", "It's 21"."""
        is_first = len(self.left) < _BESIDE and _FIRST_WORDS.match(self.left)
        if not is_first or (is_hour and max(self.values, default=_HOURS) > _HOURS):
            return False
        listed = is_first["listed"]
        is_list = listed.count(",") > 1 or is_first["last"] or more_to_come().match(self.right)
        return not listed or bool(is_list)

    @property
    def is_score(self) -> bool:
        """Whether it is a score, "4–2" or "6-4, 3-6", or a row such as "5-7-5": pages run from a lower one on."""
        beside = f"{self.left[-_FEW:]}{self.read}{self.right[:_FEW]}"
        return self.form != "open" and is_score(self.read, beside)

    @property
    def is_telephone(self) -> bool:
        """Whether it is part of a telephone number, or the short one of a hotline."""
        is_short = self.is_decimal and self.form != "open" and self.values[0] >= _LEAST_CALLED
        is_hotline = is_short and context.HOTLINE.search(self.left) is not None
        return is_hotline or is_in_telephone_number(f"{self.left}{self.read}{self.right}", len(self.left))

    @property
    def is_part(self) -> bool:
        """Whether it is one of a total that is no book's, or that total: "1 von 10", "Of the 8 dwarves, 3 die"."""
        if self.left.endswith(", ") and context.OF_THOSE.search(self.left):
            return self._is_elliptic or not ENDS.match(self.right)
        of = context.OF_SO_MANY.match(self.read + self.right)
        if self.form not in ("", "line") or not (of or context.SO_MANY_OF.search(self.left)):
            return self._is_elliptic
        noun = of["noun"] if of else ""
        is_counting = bool(noun) and noun[1] not in f"{PAGE}{FOREIGN}" and noun[1:] not in COUNTED_BY_NOTHING
        total = int(of["total"]) if of else max(self.values, default=_LEAST_PAGES)
        return is_counting or (not self.form and total < _LEAST_PAGES)

    @property
    def _is_elliptic(self) -> bool:
        """Whether it counts what a larger one before it counts: "at 11 knots, the launch at 9"."""
        if not self.left.endswith(" "):
            return False
        around = f"{self.left}\0{self.right}"
        same = context.OF_THE_SAME.search(self.left)
        first = same or context.SHARED_OUT.search(self.before) or context.DEALT.search(around)
        goes_on = (same and same["then"]) or context.IN_CHAPTERS.search(around)
        most = _LEAST_PAGES if goes_on else int(first["most"]) if first else 0
        return max(self.values, default=_LEAST_PAGES) <= min(most, _LEAST_PAGES)

    def is_in_work(self, own: Container[str]) -> bool:
        """Whether it is a line of another work, or the number of its book before a line; `own` has this one's words."""
        named = context.IN_WORK.search(self.before)
        is_book = self.values[:1] <= [_MOST_CHAPTERS] and re.match(r"[,.:]\s?\d", self.right)
        if not named or not (self.is_decimal if named["book"] else is_book):
            return False
        return not any(stem_of(word) in own for word in words_of(named["title"]))

    @property
    def is_date(self) -> bool:
        """Whether it is a day or an hour where days or hours are told of, or one of a series such as "the 1st ship"."""
        around = f"{self.left} {self.right}"
        if _NTH.search(self.written) and not self.is_beside_page:
            is_dated = context.DATED.search(around) or context.ON_A_DAY.search(self.left)
            is_day = max(self.values, default=_LAST_DAY + 1) <= _LAST_DAY and bool(is_dated)
            goes_on = any(int(thing[:9]) < max(self.values, default=0) for thing in _NTH_THING.findall(self.left))
            return is_day or goes_on or bool(context.IN_A_RANK.search(self.left))
        is_hour = max(self.values, default=_NOON + 1) <= _NOON and bool(context.AT_AN_HOUR.search(self.left))
        return is_hour and bool(context.HOURS.search(around) or self.left.endswith((" um ", " a las ")))

    def is_age(self, *, is_asked: bool, is_answer: bool = False) -> bool:
        """Whether it is how old somebody is; `is_asked` where ages are spoken of, `is_answer` where a reader asks."""
        if not (self.is_decimal or self.is_in_words) or max(self.values, default=_OLDEST + 1) > _OLDEST:
            return False
        if self.form == "open" or _LATER.search(self.left):
            closed = context.CLOSES_AGE.match(self.right)
            is_named = closed and context.BEHIND_A_NAME.search(self.before)
            return bool(is_named) and (is_asked or not ENDS.match(self.right, closed.end() if closed else 0))
        beside = context.BESIDE_A_NAME.search(self.before)
        if beside and self.right.startswith(","):
            is_author = self.before[: beside.start()].endswith(("(", "["))  # (Smith, 38, …)
            return not is_author and self.words_after[1:3].strip().isalpha()
        is_first = self.left.endswith("at ") and _BEGINS.search(self.left[:-3]) and context.OF_AN_AGE.match(self.right)
        is_in_a_series = context.ONE_OF_A_SERIES.search(self.left) and context.GOES_ON.match(self.right)
        is_anothers = not self.form and bool(is_answer or context.ANOTHERS_AGE.search(self.before))
        is_anothers |= is_answer and self.form == "joint" and bool(context.BEHIND_ITS_BEARER.search(self.before))
        is_told = context.AT_AN_AGE.search(self.left) or context.ONLY.search(self.before)
        is_own = not self.form and context.IS_SO_OLD.search(self.left) and context.AT_THE_TIME.match(self.right)
        return bool(is_first or is_in_a_series or is_told or is_own or is_anothers)

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
        if following["unit"]:
            return True
        if context.ABBREVIATED.match(self.words_after) or not context.is_of_known_script(self.next_word):
            return False
        if context.PLURAL.match(self.words_after) and len(self.values) == 1 and self.form in ("", "joint", "line"):
            return True  # of a page nobody says "are"
        if following["page"]:
            return not context.INTO.match(self.words_after, at) and not context.READ.search(self.before)
        word = self.words_after[slice(*following.span("word"))]
        if re.match(f"[{DENSE}]", word):
            return not any(word[:size] in COUNTED_BY_NOTHING for size in range(1, 5))
        if word in COUNTED_BY_NOTHING or word in context.NO_THINGS or (following["joint"] and len(word) < _LEAST_NOUN):
            return False
        if context.IN_ENGLISH.search(self.left) and self.is_decimal and self.values != [1]:
            is_name = self.after[following.start("word") :][:2].istitle()
            return bool((context.COUNTED_NAME if is_name else context.COUNTED_THINGS).match(self.words_after))
        return True

    @property
    def is_plainly_none(self) -> bool:
        """Whether its words say plainly that it is no page, which is what may stand where a page is asked for."""
        is_result = self.is_score and context.SCORED.search(self.left) is not None
        is_plain = self.is_in_plain_use or self._is_plainly_dated or self._is_plainly_counting
        return is_plain or self._is_listed or self.is_telephone or is_result

    @property
    def is_in_plain_use(self) -> bool:
        """Whether a word right beside it says that it is something else, such as a chapter, a month or a unit."""
        return self.is_of_a_month or (not self._is_chapter_and_page and bool(context.plain_use().search(self._around)))

    @property
    def is_of_a_month(self) -> bool:
        """Whether it is the day or the year behind a month; behind a day and its month only a year: "8 July, 1893"."""
        month = context.BEHIND_A_MONTH.search(self.left)
        latest = max(self.values, default=0) if month else 0
        return latest in _YEARS or 0 < latest <= (0 if month and month["day"] else _LAST_DAY)

    @property
    def is_in_other_use(self) -> bool:
        """Whether they say so less surely."""
        return (not self.form and self.is_in_plain_use) or context.OTHER_USE.search(self._around) is not None

    @property
    def _around(self) -> str:
        """What stands around it, with its ending, such as "th"."""
        ending = self.read[len(self.read.rstrip(_ENDINGS)) :] if self.is_decimal else ""
        return f"{self.left}\0{ending}{self.right}"

    @property
    def _is_plainly_dated(self) -> bool:
        """Whether it is a year in which no book has pages, a date with one, or an hour that is not all that is said."""
        is_all = context.OPENS.search(self.left[: self.leads[0] - self.start]) if self.form else None
        is_hour = HOUR.fullmatch(self.read) and not (is_all and ENDS.match(self.right))
        return bool(DATE.fullmatch(self.read) or is_hour)

    @property
    def _is_plainly_counting(self) -> bool:
        """Whether a noun follows that it counts: where a clause begins, only behind a small number in words, and behind
        a word that leads to a place, only one that is seen to be a plural.
        """
        is_small = self.is_in_words and self.is_word
        most = _OLDEST if self.left.endswith(", ") else _FEW
        are_few = max(self.values, default=most) <= most and context.OF_THEM.match(self.right)
        if are_few or (is_small and context.OTHERS.search(self.left)):
            return True
        plural = context.PLURALS.match(self.words_after)
        if not self.is_counting or _IS_ROMAN.fullmatch(self.read) or (plural and not plural["plural"]):
            return False
        if context.OPENS.search(self.left):
            return is_small or bool(plural and _STOPS.match(self.right, plural.end()))
        if context.LEADS_TO_A_PLACE.search(self.left):
            return (plural is not None or is_small) and self.next_word.islower()
        return len(self.next_word) >= _LEAST_NOUN

    @property
    def _is_telling(self) -> bool:
        """Whether a verb follows rather than a noun: "47 relates that", "la 47 dit", "47 Ann drowns"."""
        is_done = bool(context.ON_GERMAN.search(self.left) and context.GERMAN_VERB.match(self.after))
        is_done |= self.is_decimal and _NAME_THAT_DOES.match(self.after) is not None
        if is_done or not self.written.isdecimal():
            return is_done
        return bool(
            (_BEGINS.search(self.left) and context.TELLS.match(self.words_after))
            or (context.THE_ONE.search(self.left) and not context.MONTH.match(self.words_after))
        )

    @property
    def is_taken(self) -> bool:
        """Whether a word stands before it that takes a number."""
        taken = context.takes_a_number().search(self.left, max(len(self.left) - _LONGEST_KIND, 0))
        is_span = " to " in self.read or self.left.endswith(("from ", "between "))
        if is_span and self.form != "open" and self.values[1:] and self.values[0] > self.values[1]:
            return True  # nine to five, odds of 20 to 1: no pages are read backwards
        if not taken:
            return self._is_listed or self._is_of_a_label or self.is_of_a_month
        is_pair = ":" in self.written or ("/" in self.written and self.values[-1] > _MOST_CHAPTERS)
        is_cited = is_pair and self.form == "open" and ENDS.match(self.right)
        if taken["kind"] and (is_cited or self._is_chapter_and_page):
            return False  # [Ch. 3:47]
        if taken["being"]:
            ends = ENDS.match(self.right) or context.OF_THE_BOOK.match(self.words_after)
            return not (context.PLACE.search(self.left) or (context.IT_IS.search(self.left) and ends))
        if taken["thing"]:
            return not (
                ENDS.match(self.right) and (self.form == "goes" or context.CITING.search(self.left[: taken.start()]))
            )
        return not (taken[0][0] in "$'" and self.right.startswith(tuple(CLOSING_MARKS)))

    def is_label_of(self, own: Container[str]) -> bool:
        """Whether the word that takes it is one of these, the book's own: "Dracula 88 has it"."""
        name = None if context.takes_a_number().search(self.left) else _NAME_OF_IT.search(self.before)
        return name is not None and any(stem_of(word) in own for word in words_of(name[0]))

    @property
    def _is_listed(self) -> bool:
        """Whether it is one of several chapters or verses; "Kapitel 3, 47" may be a chapter and its page."""
        lists = context.LISTS_NUMBERS.search(self.left) if self.left.endswith((", ", ", and ", ", or ")) else None
        return lists is not None and bool(not lists["one"] or self.values[1:] or more_to_come().match(self.right))

    @property
    def _is_of_a_label(self) -> bool:
        """Whether it is the number in the name of a thing: "Sentence 5 says". No sentence ends in one unless it is all
        of it and one thing, such as "Claim 2.".
        """
        label, name = _LABEL.search(self.left), _NAME_OF_IT.search(self.before)
        if not label or not name or not name[0][0].isupper() or not self.is_decimal:
            return False
        is_known = context.is_of_known_script(label[1]) and label[1] not in COUNTED_BY_NOTHING
        if not is_known or context.NO_LABEL.fullmatch(label[1]) or self.values[0] >= _LEAST_CALLED:
            return False
        is_gospel = not self.form and self.values[0] <= _MOST_CHAPTERS and context.SCRIPTURE.search(self.left)
        is_alone = _ALONE.search(self.left, 0, label.start(1)) and not label[1].endswith("s")  # "Spiders 88"
        is_whole = is_alone or context.BOOK_OF_THE_BIBLE.search(self.left)
        return not ENDS.match(self.right) or bool(is_gospel or is_whole)

    def removal(self) -> tuple[int, int, str]:
        """How it leaves its sentence if it is a reference: from where to where something is replaced, and by what."""
        (first, last), start, end = self.leads, self.start, self.end
        marks = len(self.right) - len(self.right.lstrip(CLOSING_MARKS))
        ends = ENDS.match(self.right, marks)
        if self.is_beside_page or self.form == "source":
            return start, end, "…"
        if self.form == "place":
            return first, end + marks, "In the book" if self.begins_capital else "in the book"
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
            return start - opening, end + marks, ""
        return start, end, "…"


def numbers_of(seen: Seen, written: str, begin: int = 0, *, in_any_form: bool = False) -> Iterator[Number]:
    """The numbers of a text as it reads that begin at `begin` or after it, in order; `written` is the text itself."""
    pattern = number_in_any_form() if in_any_form else number_pattern()
    return (Number(found, seen, written) for found in pattern.finditer(marked(seen.text), begin))
