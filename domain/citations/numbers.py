"""The numbers in a text, and what stands beside them that says that one is no page reference.

A `Number` is found by its digits, as a Roman numeral or in words, alone or in a longer word; its properties are the
licences with which it may stand in an answer. There are three kinds: its own form is no page's (a year, a measure, a
telephone number); a noun follows that it counts; or a word stands before it that takes a number, and takes one as high
(no question, age or chapter has the number that most pages have). What stands further off is no licence.
"""

import re
from collections.abc import Iterator, Set
from functools import cached_property
from string import ascii_lowercase

from domain.citations import context
from domain.citations.context import COUNTED_BY_NOTHING, SOURCE
from domain.citations.keys import Seen
from domain.citations.symbols import (
    ANY_PAGE,
    CARDINAL,
    CLOSES,
    DATE,
    DENSE,
    ENDS,
    FOREIGN,
    FOREIGN_SHORT,
    HAN_PAGE,
    LEADS_ON,
    MORE_TO_COME,
    NUMBER_IN_ANY_FORM,
    OPEN,
    PAGE,
    SHORT_PAGE,
    SMALL_ORDINAL,
    lazily,
    marked,
)
from domain.library.numerals import are_small, is_in_telephone_number, values_of
from domain.library.search.words import fold_letters

_COUNTED_PAGES = frozenset(map(fold_letters, context.COUNTED_PAGES.split()))
NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"
_ALONE = lazily(r"(?:[.!?…]\s|\n\W*)(?:(?:auf|on|sur|su|en|na|op|pa)\s)?\Z")
_STOPS, ITEM = lazily(r"\W*(?:\n|\Z)|\s?[.!?…]"), lazily(r"[.)][^\S\n]+(?=\S)")
_NEAR_PAGE = lazily(
    rf"(?:-?(?:[^\W\d_]{{1,5}}|{SHORT_PAGE}))?(?:[\s-][^\W\d_]{{1,6}})?[\s-](?P<page>{FOREIGN}{{2,}})(?!\w)"
)
_SAID = r"(?:is|was|reads?|numbered|marked|labell?ed|number|after|before) (?:number )?"
_RIGHT_BESIDE_PAGE = lazily(rf"{FOREIGN}{{2,}}\s(?:[^\W\d_]{{1,6}}[\s-])?\Z")
_BESIDE_PAGE = lazily(
    rf"{ANY_PAGE}(?:[^\w.!?\n]{{1,6}}(?:[a-z]-?)?|[^\S\n]{{1,4}}|\W?n[or]\W|(?:[:,]?\s[^\W\d]+){{0,6}} {_SAID})"
    r"(?:\[\d)?\Z"
    rf"|{FOREIGN}{{2,}}\s[^\W\d_]{{1,6}}[\s-]\Z"
)
MARK, CLOSING_MARKS = r"[\"“„«‹'‘<|/$⟨{]", "\"”›»'’>|/$⟩}^~"
_LEAD_IN = lazily(
    rf"(?!\B\w)(?:(?<=\n)(?P<line>[-*+>#•\t ]*{MARK}?)\Z"
    rf"|(?P<open>\s*{OPEN}\s*(?:[^\W\d]{{1,12}}\.?[\s:]{{1,2}}){{0,3}}{NUMBER_SIGN}[^\w()\[\]]{{0,3}})\Z"
    rf"|\b(?P<place>(?:on|at|in){context.SPACE}(?:(?:the|this|about|around){context.SPACE})?(?!(?<=at )n){NUMBER_SIGN}"
    rf"(?:{MARK}|[^\w\s{PAGE}-{SMALL_ORDINAL}])?)\Z"
    r"|\b(?P<goes>(?:see|compare|vide|cf\.?|(?:turn|go|refer|back|return|skip|jump|look)\s(?:to|at))(?:\salso)?)"
    rf"{context.SPACE}{NUMBER_SIGN}\Z"
    rf"|(?P<sign>{context.SPACE}?(?:[^\w\s{PAGE}-{SMALL_ORDINAL}.,;:!?\"'“”‘’«»()\[\]{{}}%$£€¥₽₹°+*=<>|/\\–—…·-]){context.SPACE}?)\Z"
    rf"|(?P<source>{SOURCE}[\"'`]?\s?[:=]{context.SPACE}?[\"'\[]{{0,2}})\Z"
    rf"|(?P<joint>(?:{context.SPACE}?(?:[,;:·…]|\.{{2,}}){context.SPACE}?|\t|{context.SPACE}[–—-]{context.SPACE}?|{context.SPACE}{{2,}}|—"
    rf"|(?<=[\"”’»]){context.SPACE}){MARK}?)\Z)"
)
"""What stands before a number, by which a reference leaves its sentence."""
_STOP = lazily(r"[.!?…](?=\s)|\n|[。！？]")
_NEXT_WORD = lazily(r"\A[\s-]([^\W\d_]+)")
_ENDINGS = f"{ascii_lowercase}{FOREIGN_SHORT}'’"
_IS_ROMAN = lazily(r"[ivxl][ivxlcdm]*")
FEW = 12
"""So many things at most are a few; a larger number of things may be a page."""
_LEAST_ROMAN = 3
"""Letters of a Roman numeral; "I" and "mi" are words."""
_LEAST_NOUN = 3
"""Letters of a noun behind a hyphen, as in "12-man"."""
_YEARS = range(1_000, 2_100)
_APART = lazily(r"\d\s\d")
_THOUSANDS = lazily(r"(?<![\w.,])[1-9]\d{0,2}(?:[.,\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2})?(?![\w])")
MOST_PAGES = 10_000
"""The highest number that is taken for what was asked for."""
_BEST_OF_A_RATING = (5, 10)
_MOST_LABELS = 99
"""Things that bear numbers, "Lamp 37 is out": no more are told of."""
_NTH = lazily(r"\d(?:st|nd|rd|th)\Z")
_PAIR = lazily(r"\d\s?[:/]\s?\d")
_GLUED = lazily(r"[^\W\d_]\d|\d[^\W\d_]")
OLDEST, _LAST_DAY, _HOURS, _MINUTES = 110, 31, 24, 60
_RECORDED = lazily(r"\d:\d\d:\d\d")
"""Hours, minutes and seconds."""
_MOST_KINGS = 30
"""No king or pope has a number as high: "Henry VIII", "John XXIII"."""
_HIGHEST = {"part": 200, "division": 34, "day": _LAST_DAY, "hour": _HOURS, "age": OLDEST}
"""The highest number that a word takes: no chapter, canto of Dante's, question or age is higher, but a page is."""
_LEAST_LOCATION = 100
"""Places in the file of an e-book are counted by the thousand; "position 3" is any position."""
_LEAST_CALLED = 100
"""Short telephone numbers have three digits."""
_LONGEST_KIND = 45
"""Characters before or after a number in which the word stands that takes it."""
_POINT, _AFTER_A_STOP = lazily(rf"[\s-]{ANY_PAGE}[\s-](?:mark|point)\b"), lazily(r"[.!?…]\s+\Z")
_WITHOUT_MARK = lazily(rf"(?:(?<!\s)\s+)?{MARK}?\Z")
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
            is_name = context.NAME_BEFORE.search(self.before) and max(self.values, default=_MOST_KINGS) < _MOST_KINGS
            return _IS_ROMAN.fullmatch(self.read) is not None and (is_short or bool(is_name))
        is_title = self.left == "\n" and context.WHOLE.match(self.words_after) is not None
        if is_title or context.OTHER_WORD.search(self.written) or context.DECADE_OF_LIFE.search(self.left):
            return True
        return are_small(self.values, self.written)

    @property
    def is_in_stems(self) -> bool:
        """Whether it is in words of a language whose words are not listed in full."""
        is_roman = _IS_ROMAN.fullmatch(self.read) is not None
        return not (self.is_in_words or self.is_share or is_roman or re.search(rf"[\d{DENSE}]", self.read))

    def is_one_of(self, pages: Set[int]) -> bool:
        """Whether these pages have it, and it is too large to be one of a few things."""
        return not self.is_share and any(value > FEW and value in pages for value in self.values)

    @property
    def is_homograph(self) -> bool:
        """Whether it is an ordinary word somewhere, such as "once" or "elf", and not all that a sentence says."""
        is_all = _ALONE.search(self.left) and _STOPS.match(self.right)
        return self.is_in_words and not is_all and bool(context.HOMOGRAPHS.match(fold_letters(self.written)))

    @property
    def is_verse(self) -> bool:
        """Whether it is chapter and verse of a book of the Bible: "Genesis 3:16"."""
        return ":" in self.written and context.BEHIND_A_SCRIPTURE.search(self.left) is not None

    @property
    def is_time(self) -> bool:
        """Whether it is when somebody sets out, arrives or wakes: "reached Vienna at 6:46", "the 6:30 train"."""
        if not context.TIME.fullmatch(self.read):
            return False
        is_at = ":" in self.read and context.AT_A_TIME.search(self.left) is not None
        return is_at or context.OF_A_TRAIN.match(self.right) is not None

    @property
    def is_year(self) -> bool:
        """Whether it is a year, or too large for a page, or somebody's decade, "his 30s"."""
        if self._is_in_thousands:
            return True
        is_large = any(value >= _YEARS.start for value in self.values[:1]) and not _APART.search(self.read)
        is_large &= all(value >= _YEARS.start or value < 100 for value in self.values[1:])  # not "1897/217"
        is_decade = context.DECADE.fullmatch(self.read) and context.SOMEBODYS.search(self.left)
        return bool(is_large or is_decade) and not self.is_in_words and ":" not in self.written

    @property
    def _is_in_thousands(self) -> bool:
        """Whether it is printed as no page is: "1,200"; "ch. 6 142" are two numbers."""
        are_two = " " in self.written and (self.form == "open" or context.BEHIND_CHAPTER.search(self.left))
        return self.is_decimal and not are_two and not re.search(r"\d", _THOUSANDS.sub("", self.written))

    @property
    def is_of_a_unit(self) -> bool:
        """Whether it is so much of a unit or part of a measure: "38 miles", "£38", "12 by 15 feet", "1 in 5"."""
        if context.NOUGHT.fullmatch(self.read) or (self.values == [1] and context.IN_SO_MANY.match(self.right)):
            return True
        is_a = context.IS_A.search(self.left) and ENDS.match(self.right)
        if self.is_small and (self._is_in_a_sum or is_a or context.TO_THE_HOUR.match(self.right)):
            return True
        if context.WITH_UNIT.fullmatch(self.read) or context.PART_OF_MEASURE.match(self.words_after):
            return True
        is_unit = context.UNIT.match(self.words_after) is not None and not self._is_too_large
        return (is_unit and not self.is_glued and ":" not in self.written) or self.is_money

    @property
    def _is_in_a_sum(self) -> bool:
        """Whether it is added to another number or the like, and the result follows: "9 + 3 = 12"."""
        is_last = context.BEHIND_OPERATOR.search(self.left) or context.OPERATOR.search(self.read)
        return bool(context.OPERATION.match(self.right) or (is_last and context.RESULT.match(self.right)))

    @property
    def is_money(self) -> bool:
        """Whether it is a sum of money: "£38"."""
        return context.MONEY.search(self.left) is not None and "%" not in self.read

    @property
    def is_glued(self) -> bool:
        """Whether it is part of a longer word: "flies217", "MP3"."""
        return not self.is_in_words and _GLUED.search(self.read) is not None

    @property
    def is_in_a_name(self) -> bool:
        """Whether it is the small number of a name, or numbers what is said: "MP3", "word214", "7f3a2c", "w37"."""
        is_said = self.read.rstrip("0123456789") in context.WORDS_SAID
        if self.is_glued and (is_said or context.TOKEN.fullmatch(self.read)):
            return True
        return self.is_small and context.SHORT_NAME.fullmatch(self.written) is not None

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
        return _RECORDED.search(self.written) is not None or (is_named and not context.HAS.search(self.left))

    def is_the_answer(self, *, is_hour: bool, most: int) -> bool:
        """Whether the answer begins with it, but for a few words, and it is nothing else's: "In 21.", "It's 21"."""
        is_bare = self.form not in ("open", "sign", "source") and len(self.left) < _BESIDE
        is_first = is_bare and context.FIRST_WORDS.match(self.left)
        follows = context.GOES_ON if is_first and is_first[0].strip() == "" else _NEXT_WORD
        goes_on = follows.match(self.words_after) and not MORE_TO_COME.match(self.right)
        if not is_first or goes_on or max(self.values, default=_HOURS) > (_HOURS if is_hour else most):
            return False
        listed = is_first["listed"]
        is_list = listed.count(",") > 1 or is_first["last"] or MORE_TO_COME.match(self.right)
        return not listed or bool(is_list)

    @property
    def is_telephone(self) -> bool:
        """Whether it is part of a telephone number or of a book's, or the short one of a hotline."""
        called = {"".join(filter(str.isdecimal, each)) for each in context.BETWEEN_ALTERNATIVES.split(self.written)}
        if context.CALLED.search(self.left) and called <= context.EMERGENCY:
            return True
        is_short = self.is_decimal and self.form != "open" and self.values[0] >= _LEAST_CALLED
        if context.ISBN.search(self.left) or (is_short and context.HOTLINE.search(self.left)):
            return True
        return is_in_telephone_number(f"{self.left}{self.read}{self.right}", len(self.left))

    @property
    def is_day(self) -> bool:
        """Whether it is a day of a month that is not named: "on the 4th"."""
        is_day = _NTH.search(self.written) is not None and max(self.values, default=_LAST_DAY + 1) <= _LAST_DAY
        return is_day and context.ON_A_DAY.search(self.left) is not None

    def is_age(self, *, is_asked: bool) -> bool:
        """Whether it may be how old somebody is, where ages are told: behind a name, or `is_asked` in a sentence."""
        is_named = context.BEHIND_A_NAME.search(self.before) is not None
        is_told = is_named or (is_asked and not self.form and not context.NO_AGE.search(f"{self.left}\0{self.right}"))
        return is_told and 0 < max(self.values, default=0) <= OLDEST

    @property
    def is_counting(self) -> bool:
        """Whether a noun follows that it counts."""
        listed = MORE_TO_COME.match(self.right)
        at = listed.end() if listed and self.form != "place" else 0
        if context.GERMAN_ORDINAL.search(self.left) and re.match(r"\.\s[^\W\d_]", self.after):
            return True
        if self._is_telling:
            return False
        following = context.NEXT.match(self.right, at)
        if not following or context.OF_THE_BOOK.match(self.words_after) or _RIGHT_BESIDE_PAGE.search(self.left):
            return False
        if self._plain_use in ("day", "hour", "division") and self._is_too_large:
            return False
        if following["unit"]:
            return True
        if not context.is_of_known_script(self.next_word):
            return False
        if context.ARE.match(self.words_after) and len(self.values) == 1 and self.form in ("", "joint", "line"):
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
    def counts_common_things(self) -> bool:
        """Whether it counts what is counted anywhere: "38 men", "38 chapters", "38. Tag"."""
        following = context.NEXT.match(self.right)
        is_of_a_unit = following is not None and bool(following["unit"] or following["page"])
        is_known = self._plain_use is not None or context.THINGS.match(self.words_after) is not None
        is_ordinal = context.GERMAN_ORDINAL.search(self.left) is not None and self.right.startswith(".")
        has_pages = context.HAS_HAN.search(self.left) is not None and re.match(HAN_PAGE, self.right) is not None
        return is_of_a_unit or is_known or is_ordinal or has_pages

    @property
    def is_told_with_a_page(self) -> bool:
        """Whether its sentence speaks of a page, or what it numbers is the book's: "420 less 203 is the page"."""
        if context.OF_THE_BOOK.match(self.words_after):
            return True
        sentence = f"{_STOP.split(self.left)[-1]}0{_STOP.split(self.right)[0]}"
        return context.SPEAKS_OF_A_PAGE.search(sentence) is not None

    @property
    def is_plainly_none(self) -> bool:
        """Whether a word right beside it says that it is no page, which is what may stand where a page is asked for: a
        chapter, a date, an hour, an age, a hotline, or a small number of things.
        """
        return DATE.fullmatch(self.read) is not None or self.is_plainly_none_but_a_year

    @property
    def is_plainly_none_but_a_year(self) -> bool:
        """The same without a date that has no more than a year."""
        is_certain = self._is_of_a_month or self.is_telephone or self._is_listed or self._is_a_few
        is_used = self._plain_use is not None and not self._is_too_large
        is_used &= self._plain_use not in ("part", "division") or not _PAIR.search(self.written)  # [Ch. 3:47]
        return is_certain or is_used

    @cached_property
    def _plain_use(self) -> str | None:
        """What the word beside it makes of it: "part", "hour" and the like."""
        ending = self.read[len(self.read.rstrip(_ENDINGS)) :] if self.is_decimal else ""
        use = context.PLAIN_USE.search(f"{self.left[-_LONGEST_KIND:]}\0{ending}{self.right[:_LONGEST_KIND]}")
        return use.lastgroup if use else None

    @property
    def _is_too_large(self) -> bool:
        """Whether the word beside it takes no number as large."""
        use = self._plain_use
        values = self.values[:1] if use == "hour" and context.TIME.fullmatch(self.read) else self.values
        return use is not None and max(values, default=0) > _HIGHEST[use]

    @property
    def _is_of_a_month(self) -> bool:
        """Whether it is the day or the year behind a month; behind a day and its month only a year: "8 July, 1893"."""
        month = context.BEHIND_A_MONTH.search(self.left, max(len(self.left) - _LONGEST_KIND, 0))
        latest = max(self.values, default=0) if month else 0
        return latest in _YEARS or 0 < latest <= (0 if month and month["day"] else _LAST_DAY)

    @property
    def _is_a_few(self) -> bool:
        """Whether it is a small number of what follows, or in words of what was told: "3 boxes", "the other two"."""
        if not self.is_small:
            return False
        is_spelt = self.is_in_words and self.is_word
        is_first = not is_spelt and context.OPENS.search(self.left) is not None
        return (self.is_counting and not is_first) or (is_spelt and context.OTHERS.search(self.left) is not None)

    @property
    def _is_telling(self) -> bool:
        """Whether a verb follows rather than a noun: "47 relates that", "la 47 dit", "47 Ann drowns"."""
        is_done = bool(context.ON_GERMAN.search(self.left) and context.GERMAN_VERB.match(self.after))
        is_done |= self.is_decimal and context.NAME_THAT_DOES.match(self.after) is not None
        if is_done or not self.written.isdecimal():
            return is_done
        is_subject = context.BEGINS.search(self.left) or context.NAME_BEFORE.search(self.before)
        is_the_one = context.THE_ONE.search(self.left) and not context.MONTH.match(self.words_after)
        return bool((is_subject and context.TELLS.match(self.words_after)) or is_the_one)

    @property
    def is_named(self) -> bool:
        """Whether a word stands before it that takes a number, and takes one as high: "a total of 80", "room 5"."""
        if not (taken := self._word_before):
            return self._is_of_a_label
        if taken.lastgroup is None:
            return max(self.values, default=_MINUTES) < _MINUTES  # "4 hours 40"
        return taken.lastgroup in ("kind", "said") or (taken.lastgroup == "thing" and self.is_small)

    @property
    def is_of_something_said(self) -> bool:
        """Whether it numbers what is said: "answer 57", "reply-57"."""
        return self._word_before is not None and self._word_before.lastgroup == "said"

    @property
    def is_small(self) -> bool:
        """Whether it is so small that it may be one of a few things."""
        return max(self.values, default=FEW + 1) <= FEW

    @property
    def is_somebodys_age(self) -> bool:
        """Whether it is how old somebody is, who is named right before it: "he is 38", "Holden was 16", "aged 25"."""
        taken = self._word_before
        if not taken or not 0 < max(self.values, default=0) <= OLDEST:
            return False
        somebody = context.SOMEBODY_IS.search(self.before.rstrip("*_~`"))
        is_told = somebody and fold_letters(somebody["name"]) not in COUNTED_BY_NOTHING - context.PERSONS
        goes_on = context.TELLS_MORE.match(self.words_after) or context.OF_THE_BOOK.match(self.words_after)
        return taken.lastgroup == "age" or bool(taken.lastgroup == "being" and is_told and not goes_on)

    @property
    def is_backwards(self) -> bool:
        """Whether it falls, as no pages do: "nine to five", "20 to 8"; or is so many of five or ten: "4/5"."""
        if len(self.values) == 2 and "/" in self.written:
            return self.values[-1] in _BEST_OF_A_RATING and self.values[0] <= self.values[-1]
        is_span = " to " in self.read or self.left.endswith(("from ", "between "))
        return bool(is_span and self.form != "open" and self.values[1:] and _HOURS >= self.values[0] > self.values[1])

    @cached_property
    def _word_before(self) -> re.Match[str] | None:
        """The word before it that takes a number, by its kind; None if there is none."""
        return context.TAKES_A_NUMBER.search(self.left, max(len(self.left) - _LONGEST_KIND, 0))

    @property
    def _is_listed(self) -> bool:
        """Whether it is one of several chapters or verses; "Kapitel 3, 47" may be a chapter and its page."""
        lists = context.LISTS_NUMBERS.search(self.left) if self.left.endswith((", ", ", and ", ", or ")) else None
        return lists is not None and bool(not lists["one"] or self.values[1:] or MORE_TO_COME.match(self.right))

    @property
    def _is_of_a_label(self) -> bool:
        """Whether it is the number of a thing that a sentence begins with: "Lamp 5 is out." """
        is_low = self.is_decimal and (self.is_small or (self.values[0] <= _MOST_LABELS and not ENDS.match(self.right)))
        label = context.LABEL.search(self.before) if is_low else None
        name = fold_letters(label["name"]) if label and label["name"][0].isupper() else ""
        if not name or not self.read.isdecimal() or name in COUNTED_BY_NOTHING or context.NO_LABEL.fullmatch(name):
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
        if self.form == "open" and (closing := CLOSES.match(self.right)):
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


def numbers_of(seen: Seen, written: str, begin: int = 0) -> Iterator[Number]:
    """The numbers of a text as it reads that begin at `begin` or after it, in order; `written` is the text itself."""
    return (Number(found, seen, written) for found in NUMBER_IN_ANY_FORM.finditer(marked(seen.text), begin))
