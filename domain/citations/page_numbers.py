"""Removing every page reference that a model types.

Page references come only from citations that code has resolved. Whether a typed number happens to be right does not
matter: a rule with exceptions can be talked around. A page reference is whatever a person would read as one: letters
are compared without accents and case, look-alikes of other alphabets count as the letters they imitate, digits of
every script as digits, and emphasis, entities and invisible characters as nothing.

A reference in brackets is deleted. Within a sentence it is part of the grammar, so it is replaced: "on page 42"
becomes "in the book", "page 42" becomes "a page"; in other languages an ellipsis replaces the number alone. Chapter
numbers, years and page counts ("300 pages") stay.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from domain.citations.matching import KEY_GROUP

_LOOK_ALIKE_LETTERS = """
    aаαɑᴀ@ bвβʙ cсᴄ dԁðđᴅ eеεᴇ fꜰ gɡցɢ hнһʜ iіιıɪ jјᴊ kкκᴋ lӏʟ mмᴍ nηոɴ oоοօøᴏ pрρᴘ qԛ rгʀ sѕꜱ tтτᴛ uυսᴜ vѵνᴠ wԝᴡ
    xхχ yуγʏ zᴢ
"""
_LOOK_ALIKES = {ord(other): group[0] for group in _LOOK_ALIKE_LETTERS.split() for other in group[1:]}
_NEGATIVE_LETTERS = ((0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x1F1E6, 0x1F1FF))
"""Letters in black circles and squares, and flag letters, which Unicode does not classify as letters."""

_SUPERSCRIPTS = "²³¹⁰⁴⁵⁶⁷⁸⁹"
_UNSEEN = frozenset({"Mn", "Cf", "Cc", "Co"})
_DISGUISE = re.compile(
    rf"(?:{KEY_GROUP.pattern})|&#?\w{{1,8}};|</?[A-Za-z]{{1,9}}\s?/?>|\\(?=[^\w\s])|[*_`]|\|\||~~"
    r"|\](?P<target>\(https?://[^()\s]{0,200}\))"
)
"""Characters that do not read as written. Keys count as nothing, so that they cannot separate a word from its number.
Of a link, only the label is read.
"""
_LINK_INTO_A_BOOK = re.compile(
    r"(\[[^\[\]\n]{0,80}\])\((?:(?!https?://)|(?=[^()\s]{0,200}p(?:age|g)?[=/_-]?\d))[^()\s]{0,200}\d[^()\s]{0,200}\)",
    re.IGNORECASE,
)
"""A link that leads to a page, with its label in brackets as the group."""
_RAISED = re.compile(r"\s?<sup>[^\w<]{0,3}\d{1,4}[^\w<]{0,3}</sup>", re.IGNORECASE)
_PLAIN_OR_ONE = re.compile(r"(?P<plain>[\n\t -~]+)|.", re.DOTALL)
"""A run of characters each of which reads as one, or any other character."""
_EMPHASIS = re.compile(r"[*_`]|\|\||~~|<")


@lru_cache(maxsize=4_096)
def _folded(character: str) -> str:
    """A character as a person reads it; empty if it is invisible."""
    for first, last in _NEGATIVE_LETTERS:
        if first <= ord(character) <= last:
            return chr(ord("a") + ord(character) - first)
    if character in _SUPERSCRIPTS or character in "\n\t":
        return character  # a superscript is the number of a note behind that of a page
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(_digit(part) for part in parts if unicodedata.category(part) not in _UNSEEN).translate(_LOOK_ALIKES)


def _digit(character: str) -> str:
    value = None if character.isascii() else unicodedata.digit(character, None)
    return character if value is None else str(value)


def _fold(text: str) -> str:
    return "".join(map(_folded, text))


class _Seen(NamedTuple):
    """A text as it reads, with the original start and end of each of its characters."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int, written: str) -> tuple[int, int]:
        """The original span; emphasis marks that open within it are closed within it."""
        first, last = self.starts[start], self.ends[end - 1]
        return first, self.starts[end] if _EMPHASIS.search(written, first, last) else last


def _as_seen(text: str) -> _Seen:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def add(read: str, start: int, end: int) -> None:
        pieces.append(read)
        starts.extend([start] * len(read))
        ends.extend([end] * len(read))

    at = 0
    for disguise in [*_DISGUISE.finditer(text), None]:
        start, end = disguise.span() if disguise else (len(text), len(text))
        for run in _PLAIN_OR_ONE.finditer(text, at, start):
            if run["plain"]:
                pieces.append(run[0].lower().translate(_LOOK_ALIKES))
                starts.extend(range(*run.span()))
                ends.extend(range(run.start() + 1, run.end() + 1))
            else:
                add(_folded(run[0]), *run.span())
        if disguise and disguise[0][0] == "&":
            add(_fold(html.unescape(disguise[0])), start, end)
        elif disguise and disguise["target"]:
            add("]", start, end)
        at = end
    return _Seen("".join(pieces), [*starts, len(text)], ends)


# Words that matter are replaced by runs of one symbol of the same length: offsets stay, and patterns are short.
_PAGE, _ABBREVIATED_PAGE, _FOREIGN, _ABBREVIATED, _CARDINAL, _ORDINAL, _SMALL_ORDINAL = map(chr, range(0xE001, 0xE008))

_FOREIGN_WORDS = """
    seite seiten buchseite página páginas pagina pagine pagini paginas pàgina pàgines bladzijde bladzijden sida sidan
    sidor sidorna siden sider siderne blaðsíða síða sivu sivun sivulla sivut strona stronie stronę strony stron strana
    straně strany stránka stránce stranica stranici stranice oldal oldalon sayfa sayfada sayfası halaman laman trang
    страница странице страницу страницы страниц стр сторінка сторінці сторінку стор σελίδα σελίδες σελ folio folios
    lapa lappuse lpp puslapis puslapyje lehekülg leheküljel paĝo paĝoj orrialdea tudalen leathanach pag pags pagg blz
    עמוד בעמוד העמוד לעמוד עמודים צפחה صفحة الصفحة بالصفحة صفحات صفحه ص पृष्ठ पेज পৃষ্ঠা பக்கம் หน้า
"""
_ABBREVIATIONS = "s str sf sid hal fol mbl bls"
_CARDINALS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety hundred thousand
    ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf sech sieb zwanzig dreißig vierzig fünfzig
    sechzig siebzig achtzig neunzig hundert tausend
    un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt vingts trente
    quarante cinquante soixante septante huitante octante nonante cent cents mille
    uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieci veinte veinti treinta
    cuarenta cincuenta sesenta setenta ochenta noventa ciento cien doscientos trescientos mil
    due tre quattro cinque sei sette otto nove undici dodici tredici quattordici quindici sedici venti vent trenta trent
    quaranta quarant cinquanta cinquant sessanta settanta ottanta novanta cento
    um dois duas quatro sete oito dez doze treze vinte trinta quarenta cinquenta sessenta oitenta cem
    een twee drie vijf zes zeven negen tien twaalf dertig veertig vijftig zestig zeventig tachtig negentig honderd
    två fyra sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton arton nitton tjugo trettio fyrtio femtio
    sextio sjuttio åttio nittio syv sju otte fjorten seksten sytten atten tyve tjue tredive tretti førti
    один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать
    пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать тридцать сорок пятьдесят шестьдесят семьдесят
    восемьдесят девяносто сто
"""
_SMALL_ORDINALS = """
    first second third fourth fifth sixth seventh eighth ninth tenth
    deuxième troisième quatrième cinquième sixième septième huitième neuvième
    segunda tercera cuarta quinta sexta séptima octava novena terceira quarta sétima oitava nona terza sesta settima
    ottava первой второй третьей четвертой пятой шестой седьмой восьмой девятой
"""
_ORDINALS = """
    eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth
    fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth thousandth
"""
_TENS_AND_ONES = (
    r"(?:tjugo|trettio|fyrtio|femtio|sextio|sjuttio|attio|nittio|tjue|tretti|forti|femti|seksti|sytti|atti|nitti)"
    r"(?:en|ett|to|tva|tre|fyra|fire|fem|sex|seks|sju|syv|atta|atte|nio|ni)"
    r"|(?:en|to|tre|fire|fem|seks|syv|otte|ni)og(?:tyve|tredive|fyrre|halvtreds|tres|halvfjerds|firs|halvfems)"
)
"""Numbers of Scandinavian languages, whose parts are words of other languages as well."""
_ORDINAL_ENDINGS = (
    r"\w*(?:(?:zehn|elf|zwolf|ss?ig|zig|hundert)s?te[nrms]?|(?:tien|tig|honderd|elf|twaalf)(?:de|ste)"
    r"|(?:onz|douz|treiz|quatorz|quinz|seiz|vingt|trent|ant|cent)ieme|[gtv]esim[ao]|[nt]tesim[ao])"
)
_ENGLISH_PAGE = re.compile(r"(?<![^\W_])p(?:[\s.·-]?[a4][\s.·-]?g(?:[\s.·-]?e|3))s?(?![^\W\d_])")
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"[^\W\d_]+")
_SOMEBODY = re.compile(r"\s+(?:can|could|may|might|must|shall|should|will|would|ha[sd]|is|was|reads?)\b")
"""After "a page one": here "one" is not a number."""


@cache
def _symbols() -> tuple[dict[str, str], re.Pattern[str]]:
    """Single words and their symbols, and the pattern for numbers written as one word, such as "achtunddreißig" or
    "achtunddreißigsten".
    """
    lists = {
        _CARDINAL: _CARDINALS,
        _FOREIGN: _FOREIGN_WORDS,
        _ABBREVIATED: _ABBREVIATIONS,
        _ORDINAL: _ORDINALS,
        _SMALL_ORDINAL: _SMALL_ORDINALS,
        _ABBREVIATED_PAGE: "p pp pg pgs",
    }
    by_word = {_fold(word): symbol for symbol, words in lists.items() for word in words.split()}
    parts = "|".join(sorted(map(_fold, _CARDINALS.split()), key=len, reverse=True))
    return by_word, re.compile(rf"(?P<ordinal>{_ORDINAL_ENDINGS})|{_TENS_AND_ONES}|(?>(?:und|{parts}|en|y|e)+)")


def _marked(text: str) -> str:
    """The text with words about pages and numbers replaced by symbols; its length is unchanged."""
    by_word, compound = _symbols()

    def mark(word: re.Match[str]) -> str:
        symbol = by_word.get(word[0], "")
        if not symbol and len(word[0]) > 5 and (number := compound.fullmatch(word[0])):
            symbol = _ORDINAL if number["ordinal"] else _CARDINAL
        is_somebody = word[0] == "one" and _SOMEBODY.match(text, word.end())
        return symbol * len(word[0]) if symbol and not is_somebody else word[0]

    return _WORD.sub(mark, _ENGLISH_PAGE.sub(lambda page: _PAGE * len(page[0]), text))


_SPELT = rf"{_CARDINAL}++(?:[\s-]{{1,2}}(?:(?:and|und|y|et|e|en)[\s-]{{1,2}})?{_CARDINAL}++){{0,6}}+(?!['’]\w)(?!-?\w)"
_ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?!\w)"
_DIGITS = (
    rf"(?:\d{{1,2}}[,.]\d{{3}}(?![\w%])|\d{{1,5}}(?:(?:st|nd|rd|th|ff?|[a-hrv])(?!\w)|[{_SUPERSCRIPTS}]+|:\d{{1,3}}"
    r"|(?:\s\d){0,3}(?![\w%])))"
)
_WRITTEN = rf"(?:{_DIGITS}|{_ROMAN})"
_NUMBER = rf"(?:{_WRITTEN}|{_SPELT})"
_JOINT = r"\s?(?:[-–—&+/~]|to|through|thru|till|until|and|or|bis|und|oder|et|ou|y|o|a|al|e|и|до|по)\s?"
_NUMBERS = (
    rf"{_NUMBER}(?:{_JOINT}{_NUMBER}|,\s?{_NUMBER}(?=(?:,\s?{_NUMBER})*(?:{_JOINT}{_NUMBER}|\s?(?:[.;!?)\]]|\Z))))*"
    r"(?:\s?ff?\.)?"
)
_HAN_NUMBER = "[0-9一二三四五六七八九十百千〇零两]{1,6}"

_NAMED = r"(?:\s?(?:references?|refs?|numbered|numbers?|numero|num|nummer|no|nr|n)(?:[.°]|(?!\w)))?"
_SIGN = r"(?:[^\S\n]|[.:#№=])"
_NEW_LINE = r"[^\S\n]?\n[^\S\n]?(?!\d{1,3}[.)])"
_QUOTE = "[\"“”'‘’«»()\\[\\]]"
_GAP = rf"(?:{_SIGN}{{0,4}}|\.?{_NEW_LINE}|[-–/]){_NAMED}{_SIGN}{{0,4}}"
_NUMBERED = rf"{_GAP}(?:{_NUMBERS}|{_QUOTE}{{1,2}}\s?{_NUMBERS}\s?{_QUOTE}{{1,2}})"
_BEFORE = rf"(?<![\w'’.{_PAGE}-{_SMALL_ORDINAL}])(?<!mr\. )(?<!mrs\. )(?<!miss )(?<!mr )(?<!mrs )"
_BY_THE_SIDE = "".join(
    rf"(?<!{word} )"
    for word in (
        "beiden",
        "anderen",
        "einen",
        "linken",
        "rechten",
        "seiner",
        "ihrer",
        "jeder",
        "dieser",
        "andra",
        "vid",
    )
)
"""German "Seite" and Swedish "sida" mean a side, too."""
_COUNTED = (
    "years? months? weeks? days? nights? hours? minutes? seconds? times? miles? feet inches yards paces steps men women"
    " people boys? girls? children kings? queens? knights? lords? ladies soldiers? jahren? monate tage mal manner"
    " frauen kinder fois ans mois jours hommes femmes enfants anos veces meses dias hombres mujeres anni volte mesi"
    " giorni uomini"
)
_NO_COUNT = rf"(?!\s+(?:{'|'.join(_COUNTED.split())})\b)"
_SAME_SENTENCE = rf"(?!\.\s+(?>{_NUMBERS})\s+[^\W\d_])"
"""After a word for page that is not shortened: "She turned the page. Two dogs barked."."""
_ENGLISH = rf"{_BEFORE}(?:{_PAGE}++{_SAME_SENTENCE}|{_ABBREVIATED_PAGE}++){_NUMBERED}{_NO_COUNT}"
_FOREIGN_PAGE = (
    rf"{_BEFORE}{_BY_THE_SIDE}(?:{_FOREIGN}{{1,4}}+(?!{_FOREIGN})\.?|{_FOREIGN}{{5,}}+(?:['’]{_ABBREVIATED})?{_SAME_SENTENCE}\.?"
    rf"|{_ABBREVIATED}++\.|(?<=pa )side|(?<={_fold('на')} )c\.|(?<={_fold('см')}\. )c\.)"
    rf"{_NUMBERED}{_NO_COUNT}"
)
_SPELT_ORDINAL = (
    rf"(?:(?:{_CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{0,4}}{_ORDINAL}++(?:[\s-]{_SMALL_ORDINAL}++)?"
    rf"|(?:{_CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{1,4}}{_SMALL_ORDINAL}++)"
)
_NTH = rf"{_BEFORE}(?:\d{{1,5}}(?:st|nd|rd|th|er|re|e)[\s-]?|{_SPELT_ORDINAL}[\s-]){_PAGE}++"
_NTH_FOREIGN = rf"{_BEFORE}\d{{1,5}}(?:\.|er|re|eme|ieme|[eoaº]|-?(?:ya|я|й|и|ая|ои|у|ю|е))?\s?-?{_FOREIGN}++(?!\w)"
_COUNT = rf"\d{{1,5}}\s{_FOREIGN}++"
"""A number without an ordinal sign before a foreign word for page is a count."""
_NTH_FOREIGN = rf"(?:(?!{_COUNT}){_NTH_FOREIGN}|{_BEFORE}{_SPELT_ORDINAL}\s{_FOREIGN}++(?!\w))"
_ROMANCE = (
    rf"\b(?:la|les|aux|des|ces|cette|de|du|a|dopo|des|voir|vedi|ver|op|na|nas|en|alla|alle|nella|dalla|della)"
    rf"\s(?:{_ENGLISH}|{_NTH})"
)
"""French has the English word for page, and other languages have its abbreviation."""
_ELSEWHERE = r"(?!\s+of\s+(?!(?:the|this)\s+(?:book|novel|story|tale)\b))"
"""After "on the third page": it is not the page of a letter or the like."""
_NTH_OF_TEN = rf"{_SMALL_ORDINAL}++ {_PAGE}++{_ELSEWHERE}"
_HAN_PAGE = f"(?:{'|'.join(map(_fold, ('頁', '页', 'ページ', '쪽', '페이지')))})"
_HANGUL_ONES, _HANGUL_TENS = (f"(?:{'|'.join(map(_fold, letters))})" for letters in ("일이삼사오육칠팔구", "십백"))
_HANGUL_NUMBER = rf"{_HANGUL_ONES}?{_HANGUL_TENS}(?:{_HANGUL_ONES}|{_HANGUL_TENS}){{0,6}}"
_HAN = (
    rf"(?:第\s?{_HAN_NUMBER}\s?(?:{_HAN_PAGE}|面|張|张)|(?<![\d全共約约]){_HAN_NUMBER}\s?{_HAN_PAGE}"
    rf"|{_HAN_PAGE}\s?{_HAN_NUMBER}|{_HANGUL_NUMBER}\s?{_HAN_PAGE})"
)
_REFERENCE = rf"(?:{_ENGLISH}|{_FOREIGN_PAGE}|{_NTH}|{_NTH_FOREIGN}|{_HAN})"

_BLANKS = r"(?:(?<!\s)\s++)?"
"""White space from its beginning, so that a long stretch of it is looked through once."""
_OPEN, _CLOSE = r"[(\[{【〔⟨]", r"[)\]}】〕⟩]"
_LEAD = (
    r"(?:(?:see|cf\.?|about|approx\.?|around|ca\.?|also|at|on|in|from|siehe|vgl\.|etwa|auf|voir|ver)\s){0,2}(?:the\s)?"
)
_MORE = rf"(?:\s*(?:[,;/]|{_JOINT})\s*(?:[{_ABBREVIATED_PAGE}{_ABBREVIATED}]{{1,2}}\.?\s?)?{_NUMBER})*(?:\s?ff?\.?)?"
_SHORTENED = (
    r"(?!(?:ch|chap|kap|cap|vol|bk|pt|act|sc|st|no|nr|age|b|d|r|ca|in|of|on|at|by|to|ad|bc|ps|fig|sect?|lib|bd"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)(?!\w)|c\.\s?\d{4})"
    rf"(?:(?:[^\W\d_]{{1,2}}|[^\W\d_]{{1,4}}\.|side)\s?{_DIGITS}|[^\W\d_]{{1,4}}(?:\.\s?|\s){_ROMAN})"
)
"""A number behind any language's abbreviation for page, in brackets; chapters, years and ages have some as well."""
_NO_YEAR = r"(?!1[5-9]\d\d(?!\d)|20\d\d(?!\d))"
_BARE = rf"\^?\s?{_NO_YEAR}{_NUMBER}{_MORE}\.?\s?(?:†[^()\[\]【】\n]{{0,40}})?"
"""A number in brackets without a word."""


@cache
def _typed() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<bracketed>{_BLANKS}{_OPEN}\s*{_LEAD}{_REFERENCE}{_MORE}\s*{_CLOSE}"
        rf"|{_BLANKS}\(\s*{_SHORTENED}{_MORE}\s*\)"
        rf"|(?<=[^\s(\[])\s*(?:\(\s*)?[\[{{【〔⟨]\s*{_BARE}[\]}}】〕⟩](?:\s*\))?"
        rf"|(?<=[.!?…\"”’])\s*\(\s*{_NO_YEAR}\d{{1,4}}{_MORE}\s*\)"
        rf"|(?<=[^\s(\[])\s*\(\s*{_BARE}\)(?=[.!?…。！？]|[^\S\n]*(?:\n|\Z))"
        rf"|(?<=[.!?…,;:\"”’)])[{_SUPERSCRIPTS}]{{1,4}}|(?:(?<=[^\W\d_]{{3}})|\s|(?<=\s))[{_SUPERSCRIPTS}]{{1,4}}(?!\w))"
        rf"|(?P<bracket>{_OPEN}[^()\[\]\n]{{1,60}}?)[,;]\s*{_REFERENCE}{_MORE}(?={_CLOSE})"
        rf"|\b(?P<place>on|at|in) (?:(?:the|this) )?(?:{_ENGLISH}|{_NTH}|{_NTH_OF_TEN})"
        rf"|(?P<plain>(?:\b(?:the|this) )?(?:{_ENGLISH}|{_NTH}))"
        rf"|(?P<foreign>{_ROMANCE}|{_FOREIGN_PAGE}|{_NTH_FOREIGN}|{_HAN})"
    )


@cache
def _label() -> re.Pattern[str]:
    number = rf"(?<![^\W\d_])(?:\d+\.(?=\s?{_FOREIGN})|(?:{_SPELT_ORDINAL}|{_NUMBER})(?:\s?ff?(?!\w))?)"
    return re.compile(rf"{number}|\d+|{_HAN_NUMBER}|{_HANGUL_NUMBER}")


LONGEST_REFERENCE = 160
"""Characters; at most this much of a stream is held back because it may still become a reference."""

_HELD_WORDS = 8
_PART = re.compile(
    rf"[{_PAGE}-{_SMALL_ORDINAL}\d(\[{{<&\\【〔⟨（［第]|^\W*(?:[page]|[ivxlcdm]{{2,}})\W*$|{_HAN_PAGE}|[一二三四五六七八九十百千〇零两]"
)
"""A word that may be part of a reference."""
_JOINS = re.compile(
    r"\W*(?:on|at|in|the|this|see|cf|about|around|approx|also|from|siehe|vgl|etwa|auf|voir|ver|and|to|through|until|till|und"
    r"|bis|or|oder|et|y|e|en|og|och|и|numbered|number|numero|num|nummer|no|nr|n|ca)?\W*"
)
"""A word that may precede a reference, or join two."""


def settled(text: str) -> int:
    """The length of the prefix that can contain no unfinished reference; the text's last word may be incomplete."""
    window = max(len(text) - LONGEST_REFERENCE, 0)
    seen = _as_seen(text[window:])
    marked = _marked(seen.text)
    words = [*_TOKEN.finditer(marked)]
    whole = len(words) - (not marked[-1:].isspace()) if words else 0
    parts = [at for at in range(max(len(words) - _HELD_WORDS, 0), whole) if _PART.search(words[at][0])]
    first = min(parts, default=whole)
    while first and (_PART.search(words[first - 1][0]) or _JOINS.fullmatch(words[first - 1][0])):
        first -= 1
    return window + seen.starts[words[first].start()] if first < len(words) else len(text)


def named_pages(text: str) -> list[str]:
    """The first page that a text refers to, and the last one if it names a range; in digits or small Roman numerals."""
    marked = _marked(_as_seen(text).text)
    for typed in _typed().finditer(marked):
        if not typed["bracketed"] and (labels := re.findall(rf"(?<!\w)(?:\d+|{_ROMAN})", typed[0])):
            return labels[:2]
    return []


def without_typed_pages(text: str, before: str = "") -> str:
    """The text without page references; `before` is the preceding text, or its last character."""
    context = before[-1:]
    written = context + _RAISED.sub("", _LINK_INTO_A_BOOK.sub(r"\1", text))
    seen, kept, at = _as_seen(written), [], len(context)
    for first, last, replacement in _edits(seen, written):
        start, end = seen.span(first, last, written)
        if (start := max(start, at)) < end:
            keys = "".join(group[0] for group in KEY_GROUP.finditer(written, start, end))
            kept += [written[at:start], replacement, keys]
            at = end
    return "".join([*kept, written[at:]])


def _edits(seen: _Seen, written: str) -> Iterator[tuple[int, int, str]]:
    """The replacements, in order, in terms of the text as it reads."""
    marked = _marked(seen.text)
    for typed in _typed().finditer(marked):
        is_capital = written[seen.starts[typed.start()]].isupper()
        if typed["bracketed"]:
            yield *typed.span(), ""
        elif typed["bracket"]:
            yield typed.end("bracket"), typed.end(), ""
        elif typed["place"]:
            yield *typed.span(), "In the book" if is_capital else "in the book"
        elif typed["plain"]:
            vague = "some pages" if len(_label().findall(typed[0])) > 1 else "a page"
            yield *typed.span(), vague.capitalize() if is_capital else vague
        else:
            for label in _label().finditer(marked, *typed.span()):
                yield *label.span(), "…"
