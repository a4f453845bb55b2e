"""The numbers in a text, and what says that one of them is no page reference.

Texts are compared as a person reads them (`as_seen`), and so are the lists of words here. Words that matter are
replaced by runs of one symbol of the same length: offsets stay, and patterns are short. A `Number` is found by its
digits, as a Roman numeral or in words; its properties are the licences with which a number may stand in an answer.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from domain.citations.matching import Seen, as_seen
from domain.library.numerals import (
    CARDINAL,
    CARDINAL_IN_ONE_WORD,
    CARDINALS,
    COUNTED_NAME,
    COUNTED_THINGS,
    DATED,
    FOREIGN,
    FOREIGN_ABBREVIATIONS,
    FOREIGN_SHORT,
    FOREIGN_WORDS,
    HOURS,
    KINDS,
    MONTHS,
    NO_LABEL,
    NO_NOUNS,
    ON_A_PAGE,
    ORDINAL,
    ORDINAL_IN_ONE_WORD,
    ORDINALS,
    PAGE,
    PART_OF_A_BOOK,
    PARTICLES,
    ROUGHLY,
    SCRIPTURE,
    SHORT_PAGE,
    SMALL_ORDINAL,
    SMALL_ORDINALS,
    SOURCE,
    number_value,
)
from domain.library.search.words import SUPERSCRIPTS, fold_letters

_ENGLISH_PAGE = re.compile(
    r"(?<![^\W_])(?:p(?:[\s.·-]?[a4][\s.·-]?g(?:[\s.·-]?e|3))s?(?:\(s\)|_?(?:numbers?|num|no|nr|label|ref)\b)?"
    r"|pge|paeg|pagee|paage|egap|þ(?=\.?\s?\d)|pagination|(?:lea(?:f|ves)|sheets?)(?=\s(?:no\.?\s?)?\d)|(?<=th\s)(?:leaf|sheet)"
    r"|ff?(?=\.\s?\d+\s?[-–rv]))(?![^\W\d_])"
)
DENSE = "\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces, as they are after folding."""
_WORD = re.compile(rf"[^\W\d_{DENSE}]+|[{DENSE}]+")
_SOMEBODY = re.compile(r"\s+(?:can|could|may|might|must|shall|should|will|would|ha[sd]|is|was|reads?)\b")
"""After "a page one": here "one" is not a number."""


@cache
def _symbols() -> tuple[dict[str, str], re.Pattern[str]]:
    """Single words and their symbols, and the pattern for numbers written as one word, such as "achtunddreißig" or
    "achtunddreißigsten".
    """
    lists = {
        CARDINAL: CARDINALS,
        FOREIGN: FOREIGN_WORDS,
        FOREIGN_SHORT: FOREIGN_ABBREVIATIONS,
        ORDINAL: ORDINALS,
        SMALL_ORDINAL: SMALL_ORDINALS,
        SHORT_PAGE: "p pp pg pgs",
    }
    by_word = {fold_letters(word): symbol for symbol, words in lists.items() for word in words.split()}
    return by_word, re.compile(rf"(?P<ordinal>{ORDINAL_IN_ONE_WORD})|{CARDINAL_IN_ONE_WORD}")


@cache
def _places() -> frozenset[str]:
    return frozenset(map(fold_letters, ON_A_PAGE.split()))


@lru_cache(maxsize=2_048)
def _symbol_of(word: str) -> str:
    by_word, compound = _symbols()
    symbol = by_word.get(word, "")
    if not symbol and len(word) > 5 and (number := compound.fullmatch(word)):
        symbol = ORDINAL if number["ordinal"] else CARDINAL
    return symbol


def is_number_word(word: str) -> bool:
    """Whether a word, as it reads, is a number."""
    return CARDINAL <= _symbol_of(word) <= SMALL_ORDINAL


def marked(text: str) -> str:
    """A folded text with words about pages and numbers replaced by symbols; its length is unchanged."""

    def mark(word: re.Match[str]) -> str:
        symbol = _symbol_of(word[0])
        is_somebody = word[0] == "one" and _SOMEBODY.match(text, word.end())
        return symbol * len(word[0]) if symbol and not is_somebody else word[0]

    paged = _ENGLISH_PAGE.sub(lambda page: PAGE * len(page[0]), text)
    return _WORD.sub(mark, paged) if any(map(_symbol_of, _WORD.findall(paged))) else paged


SPELT = rf"{CARDINAL}++(?:[\s-]{{1,2}}(?:(?:and|und|y|et|e|en)[\s-]{{1,2}})?{CARDINAL}++){{0,6}}+(?!['’]\w)(?!-?\w)"
SPELT_ORDINAL = (
    rf"(?:(?:{CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{0,4}}{ORDINAL}++(?:[\s-]{SMALL_ORDINAL}++)?"
    rf"|(?:{CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{1,4}}{SMALL_ORDINAL}++)"
)
ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?!\w)"
DIGITS = (
    rf"(?:\d{{1,2}}[,.]\d{{3}}(?![\w%])|0[xb][\da-f]{{1,8}}(?!\w)"
    rf"|\d{{1,5}}(?:(?:st|nd|rd|th|ff?|[a-hrv]|\s?[rv]o|sqq?)(?!\w)|[{SUPERSCRIPTS}]+|:\d{{1,3}}"
    rf"|(?:\s\d){{0,3}}(?![%]|[^\W{DENSE}])))"
)
NUMBER = rf"(?:{DIGITS}|{ROMAN}|{SPELT})"
HAN_NUMBER = "[0-9一二三四五六七八九十百千〇零两壱弐参壹贰叁肆伍陆柒捌玖拾佰]{1,6}"
OPEN, CLOSE = r"[(\[{【〔⟨]", r"[)\]}】〕⟩]"
JOINT = r"\s?(?:[-–—&+/~]|to|through|thru|till|until|and|or|bis|und|oder|et|ou|y|o|a|al|e|и|до|по)\s?"

HAN_PAGE = f"(?:{'|'.join(map(fold_letters, ('頁', '页', '页码', '頁碼', 'ページ', '쪽', '페이지')))})"
NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"


COUNTED_BY_NOTHING = frozenset(fold_letters(word) for word in (*NO_NOUNS.split(), *PARTICLES.split()))
_BEING = (
    rf"bought|sold|owned|owed|spent|earned|ate|drank|caught|is|was|are|were|be|been|being|(?:it|he|she|there)['’]{FOREIGN_SHORT}|turn(?:s|ed)|costs?|paid|weigh(?:s|ed)|measured|counted|count"
    r"|numbered|numbers|equals|makes|has|have|had|than|up to|count(?:s|ed)? to|ten to|one in|(?:is|was|be|about) to"
    r"|ist|war|waren|sind|wurden?|est|sont|es|son"
)


@cache
def _takes_a_number() -> re.Pattern[str]:
    """The end of a text that takes a number; `thing`: not as a citation, ", item 38."."""
    return re.compile(
        rf"\b(?:(?P<kind>{KINDS}|{MONTHS})|(?P<being>{_BEING})"
        rf"|(?P<thing>nos?|nr|numbers?|number|nummer|items?|sections?|sect?|lines?|pos|positions?|notes?|house|table|figure))"
        rf"\.?:?\s?{ROUGHLY}{{0,2}}\Z|[$£€¥₽₹]\s?\Z|\d\s?(?:[+×*/=^−-]|h)\s?\Z|[a-z]{{1,12}}-\Z|(?<=\s)['’.−-]\Z"
    )


_IT_IS = re.compile(
    rf"[.!?:;\n]\W*(?:(?:yes|no|so|and|ja|nein|und|oui|si|i (?:think|believe|guess|suppose))\W+(?:that )?)?"
    rf"(?:(?:(?:it|this|that|es|das|dies|ce|eso|esto|questo)\s|c['’])(?:(?:must|would|should|may|might|could|will)\s)?)?"
    rf"(?:(?:it|that)['’](?:{FOREIGN_SHORT}|d\sbe)|is|was|be|ist|war|est|es)\s(?:{ROUGHLY}{{0,2}}|la\s)\Z"
    rf"|\b(?:later|earlier|sooner|further|farther)\sthan\s\Z"
)
"""The answer to a question, which may be that for the page: a number in its own right is told of somebody."""
_LABEL = re.compile(r"(?<!\w)([^\W\d_]{3,}) \Z")
_NAME_OF_IT = re.compile(r"(?<!\w)[^\W\d_]{3,}\W+\Z")
_ALONE = re.compile(r"(?:[.!?…]\s|\n\W*)\Z")
LISTS_NUMBERS = re.compile(
    rf"\b(?:chapters|acts|parts|books|lines|verses|scenes|kapiteln?|chapitres|capitulos|psalms?|genesis|[1-3]?\s?(?:kings|cor)"
    rf"|matthew|mark|luke|john|romans|coordinates are)\.?\s(?:\d+|{ROMAN})"
    rf"(?:(?:,\s?|\s|[-–])(?:(?:and|or|to|und|et|y|e)\s)?(?:\d+|{ROMAN}))*,\s(?:(?:and|or)\s)?\Z"
)
"""The end of a text that lists chapters or verses."""
LEADS_ON = re.compile(
    r"(?:(?<!\w)(?:a|an|the|of|to|from|by|per|with|until|till|than|at|on|in|after|before|under|around|about|near|is|was|are|be"
    r"|as|like|between|past|and|or|nor|but|says?|auf|von|vom|nach|ab|bis|zu|zur|bei|in|im|der|die|das|den|siehe|unter|aus"
    r"|a|la|le|les|el|de|du|en|sur|voir|voyez|ver|alla|alle|nella|na|no|da|di|al|op|pa|po|v|w|u|se|zie|viz|lihat|xem)"
    rf"|[{DENSE}]|\W[^\W\d_]-|['’]{FOREIGN_SHORT})\s*\Z"
)
"""The end of a text that asks for something to follow."""

_LEAF = (
    r"(?:[,\s]?\s?(?:verso|recto)\b|(?:[abnrv]|ff?|sqq?|st|nd|rd|th|er|re|e[mr]?|o|eme|ieme)(?!\w)"
    rf"|[-.]?(?:{fold_letters('й|я')}|ya)(?!\w))?"
)
_JOINED = rf"[%°′″⁄{FOREIGN_SHORT}]|\s%|[.,:/]\d|[^\W{DENSE}]|\.\s{MONTHS}\b"
_NO_THOUSANDS = r"(?!\d{1,3}(?:\s\d{3})+(?!\d))(?!(?<=\d\s)\d{3}(?!\d))"
_APART = rf"(?<![^\W{DENSE}])(?<!\d[.,:/])(?<![{CARDINAL}-{SMALL_ORDINAL}⁄])"
ANY_NUMBER = (
    rf"(?:{_APART}(?:{_NO_THOUSANDS}\d{{1,4}}(?!\d){_LEAF}(?!{_JOINED})|\d{{1,4}}[:./]\d{{1,4}}(?!\w|{_JOINED})|(?=[ivxl]{{2}}){ROMAN}"
    rf"|(?<!-)(?:{SPELT_ORDINAL}(?!-?\w)|{SPELT}))"
    rf"|(?<![{DENSE}\d])[一二三四五六七八九]?[十百][一二三四五六七八九十百零〇]{{0,5}}(?![{DENSE}])"
    rf"|(?<![{DENSE}\d])[〇零一二三四五六七八九]{{2,4}}(?![{DENSE}]))"
)
_OF_ALL = r"(?:\s?(?:of|von|sur|de|/)\s?\d+(?=\W*(?:\n|\Z|[)\].])))?"


@cache
def _span() -> re.Pattern[str]:
    """A number or a range of numbers that is not part of something else: 10:38, 5 %, 3D."""
    return re.compile(rf"{ANY_NUMBER}(?:{JOINT}{ANY_NUMBER}){{0,8}}(?:\s?ff?\b\.?)?{_OF_ALL}")


A_NUMBER = re.compile(rf"[\d{CARDINAL}-{SMALL_ORDINAL}]|\b[ivxl]{{2,}}\b|[〇零一二三四五六七八九十百]")
"""A part of every number. Most texts have none; looking for it takes a tenth of the time."""

ANY_PAGE = rf"[{PAGE}-{FOREIGN}]++"
_SAID = r"(?:is|was|reads?|numbered|marked|labell?ed|number|after|before) (?:number )?"
_BESIDE_PAGE = re.compile(
    rf"{ANY_PAGE}(?:[^\w.!?\n]{{1,6}}(?:[a-z]-?)?|\s{{1,4}}|\W?n[or]\W|(?:[:,]?\s[^\W\d]+){{0,6}} {_SAID})(?:\[\d)?\Z"
)
MARK, CLOSING_MARKS = r"[\"“„«‹'‘<|/$⟨{]", "\"”›»'’>|/$⟩}^~"
_BLANK = r"[^\S\n]"
_LEAD_IN = re.compile(
    rf"(?<=\n)(?P<line>[-*+>#•\t ]*{MARK}?)\Z"
    rf"|(?P<open>\s*{OPEN}\s*(?:[^\W\d]{{1,12}}\.?[\s:]{{1,2}}){{0,3}}{NUMBER_SIGN}[^\w()\[\]]{{0,3}})\Z"
    rf"|\b(?P<place>(?:on|at|in)\s(?:(?:the|this|about|around)\s)?(?!(?<=at )n){NUMBER_SIGN}"
    rf"(?:{MARK}|[^\w\s{PAGE}-{SMALL_ORDINAL}])?)\Z"
    r"|\b(?P<goes>(?:see|compare|vide|cf\.?|(?:turn|go|refer|back|return|skip|jump|look)\s(?:to|at))(?:\salso)?)"
    rf"\s{NUMBER_SIGN}\Z"
    rf"|(?P<sign>{_BLANK}?(?:[^\w\s{PAGE}-{SMALL_ORDINAL}.,;:!?\"'“”‘’«»()\[\]{{}}%$£€¥₽₹°+*=<>|/\\–—…·-]){_BLANK}?)\Z"
    rf"|(?P<source>{SOURCE}[\"'`]?\s?[:=]\s?[\"'\[]{{0,2}})\Z"
    rf"|(?P<joint>(?:{_BLANK}?(?:[,;:·…]|\.{{2,}}){_BLANK}?|\t|{_BLANK}[–—-]{_BLANK}?|{_BLANK}{{2,}}|—"
    rf"|(?<=[\"”’»]){_BLANK}){MARK}?)\Z"
)
"""What stands before a number, by which a reference leaves its sentence."""
ENDS = re.compile(r"\s*(?:[.;!?:,)\]}…。！？；，、」』|“„«»‹「『\"‘'](?!\d)|\Z|\n|[–—])")
_NEXT = re.compile(
    rf"[\s-](?P<page>{PAGE}{{5}}|{FOREIGN}{{2,}})(?!\w)"
    rf"|\s?(?P<unit>(?:{SHORT_PAGE}|a)\.?\s?m\b|[ap]m\b|out of \d|[+×=÷^]\s?\d|o['’]clock|per\s"
    r"|(?:b\.?\s?c|a\.?\s?d|b?ce|[vn]\.\s?chr)\b|,?\s(?:rue|avenue|boulevard|quai|via|calle)\s)"
    rf"|(?P<joint>-(?!\s))?{_BLANK}{{0,2}}(?:(?!cents?\b){CARDINAL}++\s)?(?P<word>[^\W\d_]+)"
)
_PAGES_IN = re.compile(
    r"[\s-](?:pages?|lea(?:f|ves)|sheets?)\s(?:in(?:to)?|deep)"
    r"(?:\W*(?:[.,;:!?)…]|\Z)|\s(?:you|we|he|she|they|(?:the|this|my|your) (?:book|novel|story|text)|from)\b)"
)
_ABBREVIATED = re.compile(r"\s(?!b\.\s?c|a\.\s?d)[a-z]\.\s?[a-z]\.")
"""As "m. w. N." after a reference, which is no number of metres."""
_INTO = re.compile(
    r"[\s-]\S+\s(?:in(?=\W*[.,;:!?)…]|\s*\Z|\s(?:the|this|my|your|to)\b)|into|before|after|short|from|later|earlier|past|behind|ahead|deep|on)\b"
)
_READ = re.compile(r"(?:\bafter|\bна|\b(?:after|once|when)\b[^.!?]{0,20}\bread)\s\Z", re.IGNORECASE)
_OF_THE_BOOK = re.compile(
    r"\sof (?:(?:the|this|my|your|that) )?(?:book|novel|edition|story|text|copy|volume|paperback|print)"
)
_IN_ENGLISH = re.compile(r"\b(?:on|at|in|see|by|per|from|as|says?|to)\s(?:the\s)?\Z")
_BEGINS = re.compile(r"(?:[.!?;:,—–(\n*]|\b(?:as|that|and|where|since|but|while))\s*\Z")
_TELLS = re.compile(
    r"\s[^\W\d_]+(?:s|ed)\s(?:that|how|what|why|where|us|it|clear|plain|so|him|her|of the|about the"
    r"|the (?:story|scene))\b"
)
_THE_ONE = re.compile(r"\b(?:la|el|il|lo|alla|nella|dalla|della)\s\Z")
_MONTH = re.compile(rf"\s(?:de\s)?{MONTHS}\b")
_COMPOUND = re.compile(r"\d+([:./])\d+\Z")
_PLACE = re.compile(
    r"(?:\b(?:numbers?|place|reference|passage|spot|corner|sources?|location|position|citation|stelle|where|paperback"
    rf"|edition|copy)\b|{ANY_PAGE})[^.!?]*\Z"
)
_CITING = re.compile(r"(?:^|[,;:.(\[–—\n])\s?\Z")


@cache
def _more_to_come() -> re.Pattern[str]:
    return re.compile(rf"(?:,\s?{ANY_NUMBER}){{0,6}},?\s(?:and|or|to|und|et|y|e|o|bis|oder|ou)\s{ANY_NUMBER}")


_GERMAN_ORDINAL = re.compile(r"\b(?:im|de[rmns]|die|das|am|zum|zur|beim|vom|eine?[rmns]?|jede[rmns]?)\s\Z")
_NAME_BEFORE = re.compile(r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]{2,}\s\Z")
_WHOLE = re.compile(r"\s?(?:\Z|[.:!?,]|(?:is|was)\s(?!where|when|the|what))")
_OTHER_WORD = re.compile(
    r"\A(?:seize|cents?|vent|trent|sexton|seis)\Z|\b(?:thousand|tausend|mill?e?|тысяч\w*)\b|(?:hundred|hundert|cien)\Z"
    r"|\A(?:ten|twelve|\w+teen|twenty)[\s-](?:hundred|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
"""Words of another language, round numbers, and years such as "nineteen eighty-four"."""
_LETTERS = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"\s?(?:–|—|&|\b(?:to|or|and|bis|und|oder|et|ou|y|o|e)\b)\s?")
_FEW, _LONGEST_SMALL = 12, 5
_YEARS = range(1_000, 2_100)
_LEAST_ROMAN = _LEAST_NOUN = 3
_NTH = re.compile(r"\d(?:st|nd|rd|th)\Z")
_IN_A_RANK = re.compile(r"\b(?:came|comes|finish(?:es|ed)|placed|ranks|ranked)\s\Z")
_NTH_THING = re.compile(r"\d(?:st|nd|rd|th)\s(?!of\b|to\b|and\b|or\b)[^\W\d_]+")
_AT_AN_HOUR = re.compile(rf"\b(?:at|by|until|till|um|gegen)\s{ROUGHLY}?\Z")
_AT_AN_AGE = re.compile(
    r"\b(?:die[sd]?|dead|marr(?:y|ies|ied)|wed(?:ded|s)?|orphaned|widowed|retire[sd]?|hanged|executed|killed|bec[ao]mes?"
    rf"|enlist(?:s|ed)?|(?:left|leaves) home|(?:went|goes) to sea)\sat\s{ROUGHLY}?\Z|\bmit\s{ROUGHLY}?\Z"
)
_OF_AN_AGE = re.compile(r",\s(?:she|he)\s(?!says|said|tells|told|writes|wrote|describes|explains|mentions)")
_ONE_OF_A_SERIES = re.compile(
    rf"(?:\b(?:is|was|ist|war|turn(?:s|ed)|aged?)\s{ROUGHLY}{{0,2}}\d{{1,3}}\b|, \d{{1,3}} (?:by|in|at|when|as)\s)"
    r"[^.!?\n]*,?\s(?:(?:and|und)\s)?\Z"
)
_GOES_ON = re.compile(
    r"(?!\sin the (?:book|novel))\s(?:by|in|at|when|as|on|during|after|before|bei|im|am|beim|als|nach)\s"
)
_A_NAME = r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+[*_]{0,3}"
_BESIDE_A_NAME = re.compile(rf"{_A_NAME},\s(?:~|(?:then|now|only|just|already|still|barely)\s)?\Z")
_ONLY = re.compile(rf"{_A_NAME}\s(?:only|just|barely|merely|already|now|nur|erst|gerade|schon|knapp|kaum)\s\Z")
_BEHIND_A_NAME = re.compile(
    rf"(?:{_A_NAME}\s\((?:about |around |etwa |ca\.? |~)?|\(\d{{1,3}}, (?:later|then|später|dann) )\Z"
)
_AGE_IN_BRACKETS = re.compile(rf"{_A_NAME}\s\(\d{{1,2}}(?:(?:\s(?:or|oder|to|bis)\s|[-–/])\d{{1,2}})?\)\Z")
_CLOSES_AGE = re.compile(r"(?:, (?:later|then|spater|dann) \d{1,3})?\)")
_PART_OF_MEASURE = re.compile(
    rf"\+(?=\s)|\scents?\b|[-–—]\d+\s?[%°]|(?:—|--)(?=[\"”'’),.;])|\.\s(?:{PART_OF_A_BOOK}|buch|buches|teil|teils|akt|szene|band)\b"
)
_LATER = re.compile(r"\(\d{1,3}, (?:later|then|spater|dann) \Z")
_OLDEST, _LAST_DAY, _NOON = 110, 31, 12


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
        self.is_decimal = self.written[0].isdecimal()
        self.is_in_words = CARDINAL <= found[0][0] <= SMALL_ORDINAL
        self.values = _values(found[0], self.written)
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
        return _BESIDE_PAGE.search(self.left) is not None

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
            return self.written[0] in "IVXLivxl" and (is_short or bool(_NAME_BEFORE.search(self.before)))
        if _OTHER_WORD.search(self.written) or (self.left == "\n" and _WHOLE.match(self.words_after)):
            return True
        if _PAGES_IN.match(self.words_after):
            return False
        values = self.values or [_value_of(word) for word in _LETTERS.findall(self.written)]
        return all(value <= _FEW for value in values)

    @property
    def is_compound(self) -> bool:
        """Whether it is a time, a verse, a decimal or a date, and no citation such as ", 38:4." or "(1897:38)"."""
        parts = _COMPOUND.match(self.written)
        if not parts:
            return False
        if self.written == "24/7" or SCRIPTURE.search(self.left):
            return True
        cites = self.form in ("open", "sign") or (self.form == "joint" and ":" not in self.left[-2:])
        return not (cites or (self.form == "line" and parts[1] == "/")) or not ENDS.match(self.right)

    @property
    def is_year(self) -> bool:
        return bool(self.values) and not self.is_in_words and self.values[0] in _YEARS and ":" not in self.written

    @property
    def is_measure(self) -> bool:
        """Whether it is a part of a measure, of a telephone number or of a year that is not told: "10–15%", "17—"."""
        part = _PART_OF_MEASURE.match(self.words_after)
        if part and part[0] in ("—", "--"):
            return self.written in ("15", "16", "17", "18", "19")
        is_part = part is not None and (part[0] != "+" or self.form != "open")
        is_minute = self.left.endswith(("°", "° ")) and self.right.startswith(("'", "’", "′"))
        return is_part or is_minute or "-0" in self.written

    @property
    def is_date(self) -> bool:
        """Whether it is a day or an hour where days or hours are told of, or one of a series such as "the 1st ship"."""
        around = f"{self.left} {self.right}"
        if _NTH.search(self.written) and not self.is_beside_page:
            is_day = max(self.values, default=_LAST_DAY + 1) <= _LAST_DAY and bool(DATED.search(around))
            return is_day or bool(_NTH_THING.search(self.left) or _IN_A_RANK.search(self.left))
        is_hour = max(self.values, default=_NOON + 1) <= _NOON and bool(_AT_AN_HOUR.search(self.left))
        return is_hour and bool(HOURS.search(around))

    def is_age(self, *, is_asked: bool) -> bool:
        """Whether it is how old somebody is; `is_asked` where ages are spoken of."""
        if not self.is_decimal or max(self.values, default=_OLDEST + 1) > _OLDEST:
            return False
        if self.form == "open" or _LATER.search(self.left):
            closed = _CLOSES_AGE.match(self.right)
            is_named = closed and _BEHIND_A_NAME.search(self.before)
            return bool(is_named) and (is_asked or not ENDS.match(self.right, closed.end() if closed else 0))
        if _BESIDE_A_NAME.search(self.before) and self.right.startswith(","):
            return self.words_after[1:3].strip().isalpha()
        is_at_an_age = self.left.endswith("at ") and _BEGINS.search(self.left[:-3]) and _OF_AN_AGE.match(self.right)
        is_in_a_series = _ONE_OF_A_SERIES.search(self.left) and _GOES_ON.match(self.right)
        return bool(is_at_an_age or is_in_a_series or _AT_AN_AGE.search(self.left) or _ONLY.search(self.before))

    @property
    def is_counting(self) -> bool:
        """Whether a noun follows that it counts."""
        listed = _more_to_come().match(self.right)
        at = listed.end() if listed and self.form != "place" else 0
        if _GERMAN_ORDINAL.search(self.left) and re.match(r"\.\s[^\W\d_]", self.after):
            return True
        if self._is_telling:
            return False
        following = _NEXT.match(self.right, at)
        if not following or _OF_THE_BOOK.match(self.words_after) or _PAGES_IN.match(self.words_after):
            return False
        if following["unit"]:
            return True
        if _ABBREVIATED.match(self.words_after):
            return False
        if following["page"]:
            if self.words_after[slice(*following.span("page"))] in _places():
                return False
            return not _INTO.match(self.words_after, at) and not _READ.search(self.before)
        word = self.words_after[slice(*following.span("word"))]
        if re.match(f"[{DENSE}]", word):
            return not any(word[:size] in COUNTED_BY_NOTHING for size in range(1, 5))
        if word in COUNTED_BY_NOTHING or (following["joint"] and len(word) < _LEAST_NOUN):
            return False
        if _IN_ENGLISH.search(self.left) and self.written.isdecimal() and self.values != [1]:
            is_name = self.after[following.start("word") :][:1].isupper()
            return bool((COUNTED_NAME if is_name else COUNTED_THINGS).match(self.words_after))
        return True

    @property
    def _is_telling(self) -> bool:
        """Whether a verb follows rather than a noun: "47 relates that", "la 47 dit"."""
        if not self.written.isdecimal():
            return False
        return bool(
            (_BEGINS.search(self.left) and _TELLS.match(self.words_after))
            or (_THE_ONE.search(self.left) and not _MONTH.match(self.words_after))
        )

    @property
    def is_taken(self) -> bool:
        """Whether a word stands before it that takes a number."""
        taken = _takes_a_number().search(self.left)
        if self.values[1:] and self.values[0] > self.values[1] and self.left.endswith("from "):
            return True  # from nine to five: no pages are read backwards
        if not taken:
            return bool(LISTS_NUMBERS.search(self.left)) or self._is_of_a_label
        if taken["being"]:
            return not (_PLACE.search(self.left) or (_IT_IS.search(self.left) and ENDS.match(self.right)))
        if taken["thing"]:
            return not (_CITING.search(self.left[: taken.start()]) and ENDS.match(self.right))
        return not (taken[0][0] in "$'" and self.right.startswith(tuple(CLOSING_MARKS)))

    @property
    def _is_of_a_label(self) -> bool:
        """Whether it is the number in the name of a thing: "Sentence 5 says". No sentence ends in one unless it is all
        of it, such as "Claim 2.".
        """
        label, name = _LABEL.search(self.left), _NAME_OF_IT.search(self.before)
        if not label or not name or not name[0][0].isupper() or not self.is_decimal:
            return False
        if label[1] in COUNTED_BY_NOTHING or NO_LABEL.fullmatch(label[1]):
            return False
        return not ENDS.match(self.right) or bool(_ALONE.search(self.left[: label.start(1)]))


def ends_with_age(text: str) -> bool:
    """Whether a text ends with a name and what may be an age in brackets, such as "Jane (22)"."""
    return _AGE_IN_BRACKETS.search(text, max(len(text) - _BESIDE, 0)) is not None


def numbers_of(seen: Seen, written: str, begin: int = 0) -> Iterator[Number]:
    """The numbers of a text as it reads that begin at `begin` or after it, in order; `written` is the text itself."""
    return (Number(found, seen, written) for found in _span().finditer(marked(seen.text), begin))


def numbers_in(text: str) -> Iterator[tuple[int, bool, bool]]:
    """The numbers that stand in a text, whether they do in words, and whether no reference could stand there."""
    for number in numbers_of(as_seen(text), text):
        for value in number.values:
            yield value, not number.is_decimal, not number.form


def _values(read: str, written: str) -> list[int]:
    """What the numbers are; empty if that is not known, as with words in some languages."""
    if digits := re.findall(r"\d+", read):
        return [int(each) for each in digits]
    whole = number_value(written)
    parts = [whole] if whole is not None else map(number_value, _BETWEEN.split(written))
    return [value for value in parts if value is not None]


def _value_of(word: str) -> int:
    """The value of a word for a number; of those that are not known, only long ones are for large numbers."""
    value = number_value(word)
    return value if value is not None else _FEW + (len(word) > _LONGEST_SMALL)
