"""Numbers and page references, as they stand in a text.

Texts are compared as a person reads them (`as_seen`), and words that matter are replaced by runs of one symbol of the
same length (`marked`): offsets stay, and patterns are short. Here are these words, in many languages, and the patterns
for numbers and for page references.
"""

import asyncio
import json
import re
import threading
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from domain.library.numerals import CARDINALS, MONTH_NAMES, NOUGHTS, number_value
from domain.library.search.words import STOP_WORDS, SUPERSCRIPTS, fold, fold_letters, stem_of, words_of


class _LazyPattern:
    """A pattern that is compiled when it is first used, or by `compile_patterns`."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, method: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in _METHODS)  # from now on without this detour
        return getattr(compiled, method)


_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")
_uncompiled: list[_LazyPattern] = []


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that takes no time until it is used. Together they take half a second, and most commands need none."""
    _uncompiled.append(_LazyPattern(pattern, flags))
    return cast("re.Pattern[str]", _uncompiled[-1])


async def compile_patterns() -> None:
    """Compile the patterns, once in a program; in a thread, so that the event loop goes on."""
    if _uncompiled:
        await asyncio.to_thread(_compile_all)


_one_at_a_time = threading.Lock()


def _compile_all() -> None:
    with _one_at_a_time:
        marked("page one")  # its words are looked up in a table, which takes time as well
        while _uncompiled:
            _uncompiled.pop().search("")


PAGE, SHORT_PAGE, FOREIGN, FOREIGN_SHORT, CARDINAL, ORDINAL, SMALL_ORDINAL = map(chr, range(0xE001, 0xE008))
"""The symbols: for page, its English abbreviations, page in other languages, their abbreviations, and numbers."""
ANY_PAGE = rf"[{PAGE}-{FOREIGN}]++"
DENSE = "\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces, as they are after folding."""

LISTS = json.loads(Path(__file__).with_name("context.json").read_text(encoding="utf-8"))
"""Words by kind."""


def any_of(kind: str) -> str:
    """A pattern for each word of a kind, as it reads."""
    words = {fold_letters(word.replace("_", " ")) for line in LISTS[kind] for word in line.split()}
    return rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})(?![^\W{DENSE}])"


def words_of_kind(kind: str) -> frozenset[str]:
    """The words of a kind, as they are written."""
    return frozenset(word.replace("_", " ") for line in LISTS[kind] for word in line.split())


SMALL_ORDINALS = " ".join(LISTS["small_ordinals"])
ORDINALS = " ".join(LISTS["ordinals"])


def either(words: str) -> str:
    """A pattern for each of these words, as it reads."""
    return f"(?:{'|'.join(sorted(set(fold_letters(words).split()), key=len, reverse=True))})"


def _in_one_word(language: dict[str, str], last: str) -> str:
    """A pattern for a language's numbers from ten to 999 that are one word; `last` has the units that end one."""
    units, teens, tens, hundred, after = (
        either(language[part]) for part in ("units", "teens", "tens", "hundred", last)
    )
    joint = language["joint"]
    rest = rf"(?:{teens}|{f'{units}{joint}{tens}' if joint else f'{tens}{after}'}|{tens})"
    return rf"(?:{units}?{hundred}(?:{joint})?(?:{after}|{rest})?|{rest})"


_LANGUAGES = LISTS["in_one_word"].values()
CARDINAL_IN_ONE_WORD = "|".join(_in_one_word(each, "units") for each in _LANGUAGES)
_NTH_IN_ONE_WORD = [f"{_in_one_word(each, 'nth')}{either(each['endings'])}?" for each in _LANGUAGES]
ORDINAL_IN_ONE_WORD = "|".join([*_NTH_IN_ONE_WORD, r"[a-z]{0,12}(?:g|[cg]ent)esim[oa]"])
"""Patterns for numbers that are one word, such as "achtunddreißig", with letters folded; no ordinal is a cardinal."""
STEMS = " ".join(LISTS["stems"])
"""Beginnings of numbers: beside a word for page they are precise enough, elsewhere they are not."""
MONTHS = rf"{either(' '.join([*LISTS['short_months'], *MONTH_NAMES]))}(?![^\W{DENSE}])"
"""Months as they read without accents, as a pattern."""

FOREIGN_WORDS = " ".join(LISTS["pages"])
BEGINNINGS_OF_PAGE = tuple(map(fold_letters, " ".join(LISTS["beginnings_of_page"]).split()))
"""Of words for page, in languages that join an ending to them."""
ENDINGS_OF_PAGE = tuple(map(fold_letters, " ".join(LISTS["endings_of_page"]).split()))
"""Of words that end in one for page, in languages that are written without spaces."""
ROUGHLY = rf"(?:{any_of('roughly')}\.?\s)"
SIDE = rf"(?:(?:(?<=pa |op )|(?<=nde )|(?<={ORDINAL} ))side|(?<=sur )pago|(?<=der )sait)(?!\w)"
"""Words for page that mean something else elsewhere, behind the word that tells them: Danish, Esperanto and others."""
COUNTED = any_of("counted")
NO_SIDE = "".join(rf"(?<!{word} )" for word in " ".join(LISTS["before_side"]).split())
"""German "Seite" and Swedish "sida" mean a side, too."""
FOREIGN_ABBREVIATIONS = "s σ str sf sid hal fol fols fo bl mbl bls"
_KANA = "いち|に|さん|し|よん|こ|ろく|なな|はち|き[ゅゆ]う|し[ゅゆ]う|ひ[ゃや]く"
_HANGUL_ONES, _HANGUL_TENS = (f"(?:{'|'.join(map(fold_letters, each))})" for each in ("일이삼사오육칠팔구", "십백"))
_NATIVE = "하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 스물 서른 마흔 쉰 예순 일흔 여든 아흔 백"
_HANGUL_NATIVE = f"(?:{'|'.join(map(fold_letters, _NATIVE.split()))})"
HANGUL_NUMBER = (
    rf"(?:{_HANGUL_ONES}?{_HANGUL_TENS}(?:{_HANGUL_ONES}|{_HANGUL_TENS}){{0,6}}"
    rf"|{_HANGUL_NATIVE}(?:\s?{_HANGUL_NATIVE}){{0,3}})"
)
KANA_NUMBER = rf"(?:{_KANA}){{1,6}}"


def _beginnings(words: list[str]) -> str:
    """A pattern for words with any of these beginnings: of two, the shorter one is enough."""
    if "" in words:
        return ""
    by_letter = (
        f"{letter}{_beginnings([word[1:] for word in group])}" for letter, group in groupby(words, itemgetter(0))
    )
    return f"(?:{'|'.join(by_letter)})"


_STEMS = sorted(set(fold_letters(STEMS).split()))
_LONG = [stem for stem in _STEMS if not re.fullmatch(r"[a-z]{1,3}|.", stem)]
_SHORT = either(" ".join({*_STEMS}.difference(_LONG)))
"""Short stems have to be the whole word, or more of it than one."""
_HINDI_TENS = "तीस लीस ईस चास वन सठ तर यासी रासी नासी वासी ठासी चासी तासी नवे पन कीस बीस"
STEMMED_WORD = (
    rf"(?:(?:ו|و|ال|وال|ה|וה)?(?:{_SHORT}{{1,4}}(?:{fold_letters('वें')})?(?!\w)"
    rf"|{_SHORT}{{0,4}}{_beginnings(_LONG)}(?:[^\W\d_]|['’](?=[^\W\d_])){{0,44}}+(?!\w))"
    rf"|[ऀ-ॿ]{{0,6}}{either(_HINDI_TENS)}(?:{fold_letters('वें')})?(?!\w))"
)
NO_STEM = any_of("no_stems")
AND = rf"[\s-]{{1,2}}(?:{either('i и та ve va και si og och e y et und en and و')}\s)?"
_GOES_ON = rf"(?:(?<=\S){AND})?"
STEMMED = (
    rf"(?:(?=[^\s-])(?:(?:o|en|et|ett)\s(?=sut|{CARDINAL}))?(?:{CARDINAL}++{AND}){{0,3}}(?:{_GOES_ON}{STEMMED_WORD}(?:{AND}{CARDINAL}++){{0,3}}){{1,6}}"
    r"|[א-ת]{1,3}[״\"][א-ת]|[^\W\d_]{1,3}[ʹ'’´׳])"
)
"""A number in words, or in letters that count, in languages whose words are not listed in full."""
_NTH = " ".join(LISTS["nth"])
_ENDINGS_OF_ORDINALS = [ORDINAL, SMALL_ORDINAL, *map(fold_letters, " ".join([_NTH, *LISTS["nth_endings"]]).split())]
_STEMMED_NUMBERS = (
    rf"(?!\s|jedn|drug|druh|medesim|prim|prvn|pierw|{fold_letters('одн|друг')})"
    rf"(?:{_GOES_ON}(?:[{CARDINAL}-{SMALL_ORDINAL}]++|{either(_NTH)}(?!\w)|[^\W\d_]{{2,30}}esim[oa](?!\w)|{STEMMED_WORD})){{1,6}}"
)
_IS_ORDINAL = rf"(?<!{CARDINAL})(?:{'|'.join(f'(?<={each})' for each in _ENDINGS_OF_ORDINALS)})"
STEMMED_ORDINAL = f"{_STEMMED_NUMBERS}{_IS_ORDINAL}"
_BOOK = (
    r"(?:(?!(?:his|her|an?|any|each)\s)[^\W\d_]{1,4}[\s'’](?:(?:la|het|de|the)\s)?)?"
    rf"{any_of('books')}"
)
FRACTION = rf"(?:{any_of('fractions')}|{any_of('whole_fractions')})"
_HAN_DIGITS = "〇零一二三四五六七八九十百千廿卅卌两壱弐参壹贰叁肆伍陆柒捌玖拾佰"
"""The last ones are those of bills."""
_OTHER_NUMBERS = rf"\b[ivxlcdm]{{2,}}\b|{FRACTION}|[{_HAN_DIGITS}]"
A_NUMBER = lazily(rf"[\d{CARDINAL}-{SMALL_ORDINAL}]|{_OTHER_NUMBERS}")
"""A part of every number. Most texts have none, and looking takes a tenth of the time."""
LARGER_NUMBER = lazily(rf"\d|[{CARDINAL}-{SMALL_ORDINAL}]{{4}}|{_OTHER_NUMBERS}")
"""The same without the shortest words, such as "one", which are not looked for among the numbers that were given."""
SHARE_SIGN = rf"(?:\\?%|{any_of('percent')}|(?:per|pour|por)\s{CARDINAL}{{4,6}}(?!\w)|{fold_letters('割')})"
"""What makes the number before it a share."""
OF_A_BOOK = (
    r"(?:(?:\s(?:read|done|completed?|finished|gelesen|geschafft|lu|leido|letto)\b|[\s-](?:mark|marke|point)\b(?:\s(?:of|in))?"
    r"|\s(?:of\sthe\sway(?:\s(?:into|through|in)|(?!\s))|into"
    rf"|(?:through|in)(?=\s{_BOOK}|\W*(?:[.,;:!?)—–]|\Z)|\s(?:your|my|when|as|s?he|they|you|we|it|i)\b)))(?:\s{_BOOK})?"
    rf"|\s(?:of|von|de|del|di|des)\s(?:[^\W\d_]{{1,6}}\s)?\d{{1,4}}[\s-]?[{PAGE}{FOREIGN}]{{4,}}+|\s?(?:of\s)?{_BOOK})"
)
"""What follows on a share of a book, or leads into one."""
FRACTION_OF_A_BOOK = (
    rf"(?<!\w)(?:(?:{CARDINAL}++(?:[\s-]{CARDINAL}++){{0,3}}+|\d{{1,3}}|{any_of('articles')})[\s-](?:\w{{1,12}}\s)?"
    rf"(?:{FRACTION}|{SMALL_ORDINAL}+)(?:\s(?:parts?|partes|parti))?|{any_of('whole_fractions')})(?={OF_A_BOOK})"
)
"""A fraction in words that leads into a book: "two thirds" before "of the way"."""


_LEAVES = r"(?:(?<=\b(?:on|at|in|of)\s)|(?<=\b(?:the|see)\s)|(?<=\bfrom\s)|(?<=[(\[\n])|(?<=[.!?]\s)|\A)leaves"
"""The noun; "she leaves 20 minutes later"."""
_ENGLISH_PAGE = lazily(
    r"(?<![^\W_])(?:p(?:[\s.·-]?[a4][\s.·-]?g(?:[\s.·-]?e|3))s?(?:\(s\)|_?(?:numbers?|num|no|nr|label|ref)\b)?"
    rf"|pge|paeg|pagee|paage|egap|þ(?=\.?\s?\d)|pagination|(?:leaf|{_LEAVES}|sheets?)(?=\s(?:no\.?\s?)?\d)|(?<=th\s)(?:leaf|sheet)"
    r"|ff?(?=\.\s?\d+\s?[-–rv]))(?![^\W\d_])"
)
_WORD = lazily(rf"[^\W\d_{DENSE}]+|[{DENSE}]+")
_SOMEBODY = lazily(r"\s+(?:can|could|may|might|must|shall|should|will|would|ha[sd]|is|was|reads?)\b")
"""After "a page one": here "one" is not a number."""
_BEFORE_CENTS = lazily(
    r"(?:\b(?:one|two|three|four|five|seven|eight|nine|ten|eleven|twelve|few|many)|[^\W\d_](?:teen|ty)|\d)[\s-]\Z"
)
"""What is English before "cents", which is a number in French."""
_LONGEST_BEFORE_CENTS = 10


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
    return by_word, re.compile(rf"(?P<cardinal>{CARDINAL_IN_ONE_WORD})|{ORDINAL_IN_ONE_WORD}")


@lru_cache(maxsize=2_048)
def _symbol_of(word: str) -> str:
    by_word, compound = _symbols()
    symbol = by_word.get(word, "")
    if not symbol and (word.startswith(BEGINNINGS_OF_PAGE) or word.endswith(ENDINGS_OF_PAGE)):
        return FOREIGN
    if not symbol and len(word) > 5 and (number := compound.fullmatch(word)):
        symbol = CARDINAL if number["cardinal"] else ORDINAL
    return symbol


def is_number_word(word: str) -> bool:
    """Whether a word, as it reads, is a number."""
    return CARDINAL <= _symbol_of(word) <= SMALL_ORDINAL


def telling_words(text: str) -> frozenset[str]:
    """The stems of a text's words, without function words and numbers."""
    words = (fold(word) for word in words_of(text) if not any(map(str.isdecimal, word)))
    return frozenset(stem_of(word) for word in words if not is_number_word(word) and word not in STOP_WORDS)


def marked(text: str) -> str:
    """A folded text with words about pages and numbers replaced by symbols; its length is unchanged."""

    def mark(word: re.Match[str]) -> str:
        symbol = _symbol_of(word[0])
        is_other = (word[0] == "one" and _SOMEBODY.match(text, word.end())) or (
            word[0] in ("cent", "cents")
            and _BEFORE_CENTS.search(text, max(word.start() - _LONGEST_BEFORE_CENTS, 0), word.start())
        )
        return symbol * len(word[0]) if symbol and not is_other else word[0]

    def mark_again(number: re.Match[str]) -> str:
        is_same = number_value(text[slice(*number.span("words"))]) == int(number["again"])
        return number["words"].ljust(len(number[0]), CARDINAL) if is_same else number[0]

    paged = _ENGLISH_PAGE.sub(lambda page: PAGE * len(page[0]), text)
    if not any(map(_symbol_of, _WORD.findall(paged))):
        return paged
    words = _WORD.sub(mark, paged)
    return _AGAIN.sub(mark_again, words) if "(" in words else words


_NOUGHT = rf"{either(' '.join(NOUGHTS))}(?![^\W{DENSE}])"
_AND_NUMBER = rf"[\s—–-]{{1,2}}(?:(?:and|und|y|et|e|en|og|och|{_NOUGHT})[\s—–-]{{1,2}}){{0,2}}"
SPELT = (
    rf"{CARDINAL}++(?:{_AND_NUMBER}{CARDINAL}++){{0,6}}+(?:[\s—–-]{_NOUGHT}){{0,2}}+"
    r"(?:\se\suma?(?!\w))?+(?!['’]\w)(?!-?\w)"
)
"""A number in words; also digit by digit, "one-oh-nine"."""
_AGAIN = lazily(rf"(?P<words>{SPELT})\s?\((?P<again>\d{{1,4}})\)")
"""A number in words and once more in digits, which is one number: "forty-two (42) men"."""
_COUNTING = rf"(?:{CARDINAL}++{_AND_NUMBER})"
SPELT_ORDINAL = rf"(?:{_COUNTING}{{0,6}}{ORDINAL}++(?:[\s-]{SMALL_ORDINAL}++)?|{_COUNTING}{{1,6}}{SMALL_ORDINAL}++)"
ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?=[rv]?(?!\w))"
DIGITS = (
    rf"(?:\d{{1,2}}[,.]\d{{3}}(?![\w%])|0[xb][\da-f]{{1,16}}(?!\w)"
    rf"|\d{{1,5}}(?:(?:st|nd|rd|th|ff?|[a-hrv]|\s?[rv]o|sqq?)(?!\w)|[{SUPERSCRIPTS}]+|:\d{{1,3}}"
    rf"|(?:(?:[^\S\n]|[·・•])\d){{0,3}}(?![%]|[^\W{DENSE}])))"
)
NUMBER = rf"(?:{DIGITS}|{ROMAN}|{SPELT})"
HAN_NUMBER = f"[0-9{_HAN_DIGITS}]{{1,6}}"
OPEN, CLOSE = r"[(\[{【〔⟨]", r"[)\]}】〕⟩]"
JOINT = (
    r"(?!\s—\s)\s?(?:[-–—&+/~]|to|through|thru|till|until|and|or|bis|auf|und|oder|et|ou|y|o|a|al|e|и|до|по|و|ו-?)\s?"
)

HAN_PAGE = f"(?:{'|'.join(map(fold_letters, ('頁', '页', '页码', '頁碼', 'ページ', '쪽', '페이지')))})"

_LEAF = (
    r"(?:[,\s]?\s?(?:verso|recto)\b|(?:[abnrv]|ff?|sqq?|st|nd|rd|th|er|re|e[mr]?|o|eme|ieme|-?ish)(?!\w)"
    rf"|['’]?{FOREIGN_SHORT}(?!\w)"
    rf"|[-.]?(?:{fold_letters('й|я')}|ya)(?!\w))?"
)
_JOINED = rf"[′″⁄{FOREIGN_SHORT}]|\s?[%°]|[.,:/]\d|[^\W{DENSE}]|\.\s{MONTHS}\b"
_NO_THOUSANDS = (
    r"(?!\d{1,3}(?:[^\S\n]\d{3})+(?!\d))"
    r"(?!(?:(?<=\W\d[^\S\n])|(?<=\W\d\d[^\S\n])|(?<=\d\d\d[^\S\n]))\d{3}(?!\d))"
)
_APART = rf"(?<![^\W{DENSE}])(?<!\d[.,:/])(?<![{CARDINAL}-{SMALL_ORDINAL}⁄])"
_IN_THOUSANDS = r"\d{1,3}(?:,|[^\S\n])\d{3}(?!\w|[,\s]\d)"
_TIME = r"\d{1,2}\s?h\s?\d{1,2}(?:\s?m(?:in)?\b\.?(?:\s?\d{1,2}\s?s)?)?(?!\w)|\d{1,2}(?::\d\d){2}(?!\w)"
ANY_NUMBER = (
    rf"(?:{_APART}(?:{_NO_THOUSANDS}0{{0,6}}\d{{1,4}}(?!\d){_LEAF}(?!{_JOINED})|{_IN_THOUSANDS}|{_TIME}|\d{{1,4}}[:.,/]\d{{1,4}}(?!\w|{_JOINED})|(?=[ivxl]{{2}}|[ivxlcdm]{{4}}){ROMAN}"
    rf"|(?<!-)(?:{SPELT_ORDINAL}(?!-?\w)|{SPELT}))"
    rf"|(?<![{DENSE}\d])[一二三四五六七八九]?[十百][一二三四五六七八九十百零〇]{{0,5}}(?![{DENSE}])"
    rf"|(?<![{DENSE}\d])[〇零一二三四五六七八九]{{2,4}}(?![{DENSE}]))"
)
_OF_ALL = r"(?:\s?(?:of|von|sur|de|/)\s?\d++(?![.,]\d)(?=\W*(?:\n|\Z|[)\].])))?"
_QUANTITY = rf"(?:(?<![^\W{DENSE}])(?<![.,%])\d{{1,3}}(?:[.,]\d{{1,3}})?|(?<!\w){SPELT})"
_SHARE = (
    rf"(?P<share>{_QUANTITY}(?:(?:[\s-]?{SHARE_SIGN})?{JOINT}{_QUANTITY})?[\s-]?{SHARE_SIGN}"
    rf"|(?<![\w.,])0?[.,]\d{{1,4}}(?![\w%])|{fold_letters('百分之')}{HAN_NUMBER}|(?<![\d/])[1-9][/⁄][1-9](?=\sof\sthe\sway)"
    rf"|{HAN_NUMBER}(?:{fold_letters('割')}|{fold_letters('分')}[{fold_letters('の之')}]{HAN_NUMBER})|{FRACTION_OF_A_BOOK})"
    rf"(?P<book>{OF_A_BOOK})?"
)
_LETTERS = rf"[^\W\d{DENSE}]{{0,24}}"
_IN_DIGITS = (
    rf"(?<![^\W{DENSE}]){_LETTERS}\d[^\W{DENSE}]{{0,24}}(?:[-.,:/'’+×*=·・•]\d[^\W{DENSE}]{{0,24}})*(?![^\W{DENSE}])"
    rf"(?:['’]?{FOREIGN_SHORT}|[,\s]?\s?(?:verso|recto)\b)?"
)
_ROMAN_NTH = r"(?<!\w)[ivxlcdm]{4,}(?:st|nd|rd|th)(?!\w)"
_IN_HAN = f"[{_HAN_DIGITS}]{{2,}}"
_SURE_STEM = rf"(?!{NO_STEM}|{fold_letters('друг|одн')}){STEMMED_WORD}"
_IN_STEMS = rf"(?=[^\W\d_])(?:(?:(?<![^\W\d_])|{AND}(?:(?:to|on)\s)?){_SURE_STEM}){{2,}}"
_IN_HANGUL = rf"(?:(?!\d){HAN_NUMBER}|{HANGUL_NUMBER})(?=(?:{fold_letters('です|だ|입니다|이다|예요')})?\W*\Z)"
_ALL_THAT_IS_SAID = rf"(?<=\A\n)(?:[^\W\d_]{{1,3}}\s)?(?:{STEMMED}(?=\W*\Z)|{_IN_HANGUL})"
"""A number in words or signs that is the whole answer; one beside others may be an ordinary word."""


_DIGITS_IN_ANY_FORM = rf"(?>{_IN_THOUSANDS}|{_IN_DIGITS})"
_OTHERS_IN_ANY_FORM = rf"(?:{_ALL_THAT_IS_SAID}|{ANY_NUMBER}|{_IN_HAN}|{_IN_STEMS}|{_ROMAN_NTH})"
_IN_ANY_FORM = "|".join(
    rf"{each}(?:(?!\s?/){JOINT}{each}){{0,8}}" for each in (_DIGITS_IN_ANY_FORM, _OTHERS_IN_ANY_FORM)
)
NUMBER_IN_ANY_FORM = lazily(rf"{_SHARE}|(?:{_IN_ANY_FORM})(?:\s?ff?\b\.?)?{_OF_ALL}")
"""A share, or whatever else may be read as a number: 0xD4, 2-1-7, 217ish, and words of any language."""
ENDS_IN_STEMS = lazily(rf"{_IN_STEMS}(?=\W*(?:[.;!?,:)…\n—]|\Z))")
"""A number in words that nothing follows on, in languages whose words are not listed in full."""
MORE_TO_COME = lazily(rf"(?:,\s?{ANY_NUMBER}){{0,6}},?\s(?:and|or|to|und|et|y|e|o|bis|oder|ou)\s{ANY_NUMBER}")
CLOSES = lazily(
    rf"(?:,\s?{ANY_NUMBER})*(?:\s?{SHORT_PAGE}{{1,3}}\.?|\.\s?(?:o|old)\.)?"
    rf"(?:,?\s(?:above|below|oben|unten|supra|infra|in (?:my|this|the) \w+))?[\s$/|'’\"”]{{0,3}}{CLOSE}"
)
ENDS = lazily(r"\s*(?:[.;!?:,)\]}…。！？；，、」』|“„«»‹「『\"‘'](?!\d)|\Z|\n|[–—])")
LEADS_ON = lazily(
    r"(?:(?<!\w)(?:a|an|the|of|to|from|by|per|with|until|till|than|at|on|in|after|before|under|around|about|near|is|was|are|be"
    r"|as|like|between|past|and|or|nor|but|says?|auf|von|vom|nach|ab|bis|zu|zur|bei|in|im|der|die|das|den|siehe|unter|aus"
    r"|a|la|le|les|el|de|du|en|sur|voir|voyez|ver|alla|alle|nella|na|no|da|di|al|op|pa|po|v|w|u|se|zie|viz|lihat|xem)"
    rf"|[{DENSE}$£€¥₽₹]|\W[^\W\d_]-|['’]{FOREIGN_SHORT})\s*\Z"
)
"""The end of a text that asks for something to follow."""
DATE = lazily(
    rf"(?:1[5-9]|20)\d\d(?:{FOREIGN_SHORT})?(?:(?:{JOINT})(?:(?:1[5-9]|20)\d\d|\d\d))?|(?:1[5-9]|20)\d\d[-./]\d{{1,2}}[-./]\d{{1,2}}"
    r"|\d{1,2}[-./]\d{1,2}[-./](?:1[5-9]|20)\d\d"
)


SOME_PAGE = lazily(
    rf"(?<![{PAGE}-{FOREIGN}])(?<!many )(?<!viele )(?<!combien de )(?<!cuantas ){ANY_PAGE}"
    rf"|(?<!少)(?<!(?<!第)[几幾]){HAN_PAGE}(?!{fold_letters('ある|あり|数|數|있')})"
)
_OPERATOR = rf"\s{any_of('operators')}\s"
_NUMBERS = (
    rf"{NUMBER}(?:,?{JOINT}{NUMBER}|{_OPERATOR}{NUMBER}|,\s?{NUMBER}(?=(?:,\s?{NUMBER})*(?:,?{JOINT}{NUMBER}|\s?(?:[.;!?)\]]|\Z))))*"
    r"(?:\s?ff?\.)?"
)
_NUMBER_AS_ADJECTIVE = any_of("numbered_by")
_NUMBER_AS_WORD = fold_letters("संख्या|नंबर|নম্বর|نمبر|numre|nömrəli")
_NAMED = rf"(?:\s?(?:ref(?:erence)?s?|number(?:ed|s)?|num(?:ero|mer)?|no|nr|n|{_NUMBER_AS_WORD})(?:[.°]|(?!\w)))?"
_SIGN = r"(?:[^\S\n]|[.:#№=])"
_NEW_LINE = r"[^\S\n]?\n[^\S\n]?(?!\d{1,3}[.)])"
_QUOTE = "[\"“”'‘’«»()\\[\\]{}|/$⟨⟩]"
_GAP = rf"(?:{_SIGN}{{0,4}}|\.?{_NEW_LINE}|[-–/]){_NAMED}{_SIGN}{{0,4}}(?:(?:[a-z]|ال)-?(?=\d))?"
_NUMBERED = rf"{_GAP}(?:{_NUMBERS}|{HAN_NUMBER}|{_QUOTE}{{1,2}}\s?{_NUMBERS}\s?{_QUOTE}{{1,2}})"
_BEFORE = rf"(?<![^\W{DENSE}]|['’.{PAGE}-{SMALL_ORDINAL}])(?<!mr\. )(?<!mrs\. )(?<!miss )(?<!mr )(?<!mrs )"
_NO_COUNT = rf"(?:(?<=\d)(?!\d)|(?<!\d)(?!\s+{COUNTED}))"
_SAME_SENTENCE = rf"(?!\.\s+(?>{_NUMBERS})\s+[^\W\d_])"
"""After a word for page that is not shortened: "She turned the page. Two dogs barked."."""
_NO_NAME = "".join(rf"(?<!\b{article} )" for article in ("the", "a", "his", "her", "their", "my", "our"))
_ENGLISH = (
    rf"{_BEFORE}(?:{PAGE}++{_SAME_SENTENCE}|(?:{_NO_NAME}|(?!{SHORT_PAGE}-)){SHORT_PAGE}++){_NUMBERED}{_NO_COUNT}"
)
"""After an article, "P-38" is an aeroplane."""
_A_PAGE = rf"(?:{FOREIGN}++|{SIDE})"
_FOREIGN_PAGE = (
    rf"{_BEFORE}{NO_SIDE}(?:{FOREIGN}{{1,4}}+(?!{FOREIGN})\.?|{FOREIGN}{{5,}}+(?:['’]{FOREIGN_SHORT})?{_SAME_SENTENCE}\.?"
    rf"|{FOREIGN_SHORT}++\.|{SIDE}|(?<={fold_letters('на')} )c\.|(?<={fold_letters('см')}\. )c\.)"
    rf"{_NUMBERED}{_NO_COUNT}"
)
_NTH_IN_DIGITS = r"\d{1,5}(?:st|nd|rd|th|er|re|e)"
_NTH_PAGE = (
    rf"{_BEFORE}(?:(?:{_NTH_IN_DIGITS}|{SPELT_ORDINAL}|{SMALL_ORDINAL}++)(?:-|\s(?:and|or|to)\s(?:the\s)?))?"
    rf"(?:{_NTH_IN_DIGITS}[\s-]?|{SPELT_ORDINAL}[\s-]){PAGE}++"
)
_NTH_ENDING = rf"(?:\.|er|re|eme|ieme|[eoaº]|-?(?:ya|{fold_letters('ая|ой|я|й|у|ю|е')}|[^\W\d_]{{1,3}}))?"
_NO_COUNT_OF_PAGES = rf"(?!\d{{1,5}}\s{FOREIGN})"
_AND_NTH = rf"{JOINT}(?:(?:zu[rm]|de[rnms]?|die|la|el|las)\s)?{_NO_COUNT_OF_PAGES}\d{{1,5}}{_NTH_ENDING}"
_NTH_FOREIGN = (
    rf"(?:{_BEFORE}|(?<=[ሀ-፿])){_NO_COUNT_OF_PAGES}\d{{1,5}}{_NTH_ENDING}(?:{_AND_NTH})?\s?-?{FOREIGN}++(?!\w)"
)
"""A number without an ordinal sign before a foreign word for page is a count."""
_ROMANCE = r"\b(?:la|les|aux|des|ces|cette|de|du|a|dopo|des|voir|vedi|ver|op|na|nas|en|alla|alle|nella|dalla|della)\s"
"""French has the English word for page, and other languages have its abbreviation."""
_IN_OTHER_WORDS = (
    rf"{_BEFORE}(?:{_A_PAGE}['’׳]?\.?[\s-]{{1,2}}(?:nr\.?\s|no\.?\s)?{STEMMED}"
    rf"|{_STEMMED_NUMBERS}(?:{_IS_ORDINAL}|\s{_NUMBER_AS_ADJECTIVE})\s{_A_PAGE}|{FOREIGN_SHORT}\.\s?[^\W\d_]{{1,3}}ʹ)"
    rf"|(?<![{DENSE}]){KANA_NUMBER}{HAN_PAGE}"
)
_ELSEWHERE = r"(?!\s+of\s+(?!(?:the|this)\s+(?:book|novel|story|tale)\b))"
"""After "on the third page": it is not the page of a letter or the like."""
_NTH_OF_TEN = rf"{SMALL_ORDINAL}++ {PAGE}++{_ELSEWHERE}"
_HAN_NUMBERS = rf"{HAN_NUMBER}(?:[-–—~至到、,]{HAN_NUMBER})?"
_HAN = (
    rf"(?:\d{{1,4}}\s?(?:{fold_letters('면')}|丁(?!目))|第\s?{_HAN_NUMBERS}\s?(?:{HAN_PAGE}|面|張|张)|(?<![\d全共約约有过過了写一二三四五六七八九十百千〇零两])(?!一页|一頁|一ヘ){_HAN_NUMBERS}(?:番目の?|{fold_letters('번째')})?\s?{HAN_PAGE}(?!ある|あり|ある|てす)"
    rf"|(?<={fold_letters('のは')}){HAN_NUMBER}\s?{HAN_PAGE}|{HAN_PAGE}\s?{HAN_NUMBER}|{HANGUL_NUMBER}\s?{HAN_PAGE})"
)
_BLANKS = r"(?:(?<!\s)\s++)?"
"""White space from its beginning, so that a long stretch of it is looked through once."""
_LEAD = rf"(?:(?:see|cf\.?|also|at|on|in|from|siehe|vgl\.|auf|voir|ver)\s|{ROUGHLY}){{0,3}}(?:the\s)?"
_MORE = rf"(?:\s*(?:[,;/]|{JOINT})\s*(?:[{SHORT_PAGE}{FOREIGN_SHORT}]{{1,2}}\.?\s?)?{NUMBER})*(?:\s?ff?\.?)?"
_SHORTENED = (
    r"(?!(?:ch|chap|kap|cap|vol|bk|pt|act|sc|st|no|nr|age|b|d|r|ca|in|of|on|at|by|to|ad|bc|ps|fig|sect?|lib|bd"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?!\w)|c\.\s?\d{4})"
    rf"(?:(?:[^\W\d_]{{1,2}}|[^\W\d_]{{1,4}}\.|side)\s?{DIGITS}|[^\W\d_]{{1,4}}(?:\.\s?|\s){ROMAN})"
)
"""A number behind any language's abbreviation for page, in brackets; chapters, years and ages have some as well."""
_NO_YEAR = r"(?!1[5-9]\d\d(?!\d)|20\d\d(?!\d))"
_BARE = rf"(?:\^|[a-z](?=\d))?\s?{_NO_YEAR}{NUMBER}{_MORE}\.?\s?(?:†[^()\[\]【】\n]{{0,40}})?"
"""A number in brackets without a word."""
_PAGE_IN_WORDS = (
    rf"(?:(?:\b(?P<place>on|at|in) (?:(?:the|this) )?|(?P<romance>{_ROMANCE})|(?:\b(?:the|this) )?)"
    rf"(?:{_ENGLISH}|{_NTH_PAGE}|(?(place){_NTH_OF_TEN}|(?!)))(?(place)(?:\sof (?:the|this) book)?|)"
    rf"|(?P<foreign>{_IN_OTHER_WORDS}|{_FOREIGN_PAGE}|{_NTH_FOREIGN}|{_HAN}))"
)
TYPED_PAGE = lazily(
    rf"(?:(?P<opened>{_BLANKS}{OPEN}\s*{_LEAD})|(?P<bracket>{OPEN}[^()\[\]\n]{{1,60}}?)[,;]\s*|){_PAGE_IN_WORDS}"
    rf"(?(opened){_MORE}\s*[,;]?\s*{CLOSE}|(?(bracket){_MORE}(?={CLOSE})|))"
    rf"|(?P<bracketed>{_BLANKS}{OPEN}\s*\d{{1,2}}:\d\d:\d\d\s*{CLOSE}"
    rf"|{_BLANKS}\(\s*(?:{_SHORTENED}{_MORE}|[{SUPERSCRIPTS}]{{1,4}})\s*\)"
    rf"|(?<=[^\s(\[])\s*(?:\(\s*)?[\[{{【〔⟨]\s*{_BARE}[\]}}】〕⟩](?:,\s?[\[{{]\s*{_BARE}[\]}}])*(?:\s*\))?"
    rf"|(?<=[.!?…\"”’])\s*\(\s*{_NO_YEAR}\d{{1,4}}{_MORE}\s*\)"
    rf"|(?<=[^\s(\[])\s*\(\s*{_BARE}\)(?=[.!?…。！？]|[^\S\n]*(?:\n|\Z))"
    rf"|(?:[^\S\n]|(?<![\d{SUPERSCRIPTS}])(?<!\b[^\W\d_])(?<!\b[^\W\d_]{{2}}))[{SUPERSCRIPTS}]{{1,4}}(?!\w)"
    rf"|\s?(?<!\w)p{{1,2}}[{SUPERSCRIPTS}]{{1,4}}(?!\w)"
    rf"|(?<=\b[^\W\d_]{{2}})[{SUPERSCRIPTS}]{{2,4}}(?!\w))"  # of "km²" it is one
)
"""A page reference: in brackets of its own (`bracketed`, or `opened` where it has a word for page), behind other words
in brackets (`bracket`), or in a sentence, in English (there at a `place`) or not (`romance`, `foreign`).
"""
SIGNPOST = lazily(
    rf"[{PAGE}{SHORT_PAGE}{FOREIGN}{SUPERSCRIPTS}第]|{OPEN}|{FOREIGN_SHORT}\.|{SIDE}"
    rf"|(?<= )c\.|{HAN_PAGE}|\d\s?(?:{fold_letters('면')}|丁)"
)
"""A part of every reference that `TYPED_PAGE` matches. Most texts have none, and looking takes a tenth of the time."""
PAGE_LABEL = lazily(
    rf"{STEMMED_ORDINAL}(?=\s(?:{FOREIGN}|side))|{STEMMED}"
    rf"|(?<![^\W\d_])(?:\d+\.(?=\s)|(?:{SPELT_ORDINAL}|{NUMBER}(?:{_OPERATOR}{NUMBER})*)(?:\s?ff?(?!\w))?)"
    rf"|\d+|{HAN_NUMBER}|{HANGUL_NUMBER}|{KANA_NUMBER}"
)
