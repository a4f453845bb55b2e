"""Removing every page reference that a model types.

Page references come only from citations that code has resolved. Whether a typed number happens to be right does not
matter: a rule with exceptions can be talked around. A page reference is whatever a person would read as one: letters
are compared without accents and case, look-alikes of other alphabets count as the letters they imitate, digits of
every script as digits, and emphasis, entities and invisible characters as nothing.

A reference in brackets is deleted. Within a sentence it is part of the grammar, so it is replaced: "on page 42"
becomes "in the book", "page 42" becomes "a page"; in other languages an ellipsis replaces the number alone. Chapter
numbers, years and page counts ("300 pages") stay.

A disguise that no list has is met by one rule: a number that stands where references stand, counts nothing, and
occurs neither in a reader's words nor in what the model was given of the book is a page reference (`TypedPages`).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from domain.citations.matching import KEY_GROUP
from domain.citations.quotations import EMPHASIS, LINK_INTO_A_BOOK, RAISED, SUPERSCRIPTS, Seen, as_seen, fold_letters

# Words that matter are replaced by runs of one symbol of the same length: offsets stay, and patterns are short.
_PAGE, _ABBREVIATED_PAGE, _FOREIGN, _ABBREVIATED, _CARDINAL, _ORDINAL, _SMALL_ORDINAL = map(chr, range(0xE001, 0xE008))

_FOREIGN_WORDS = """
    seite seiten buchseite página páginas pagina pagine pagini paginas pàgina pàgines bladzijde bladzijden sida sidan
    sidor sidorna siden sider siderne blaðsíða síða sivu sivun sivulla sivut strona stronie stronę strony stron strana
    straně strany stránka stránce stranica stranici stranice oldal oldalon sayfa sayfada sayfası halaman laman trang
    страница странице страницу страницы страниц стр сторінка сторінці сторінку стор σελίδα σελίδες σελ folio folios
    blatt lapa lappuse lpp puslapis puslapyje lehekülg leheküljel paĝo paĝoj orrialdea tudalen leathanach pag pags
    pagg blz seitenzahl seitennummer עמוד בעמוד העמוד לעמוד עמודים صفحة الصفحة بالصفحة صفحات صفحه ص पृष्ठ पेज পৃষ্ঠা பக்கம் หน้า
"""
_ABBREVIATIONS = "s str sf sid hal fol fols fo bl mbl bls"
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
    الأولى الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة عشرة العشرين الثلاثين الأربعين
    الخمسين الستين السبعين الثمانين التسعين والعشرين والعشرون والثلاثين والثلاثون والأربعين والأربعون والخمسين
    والخمسون والستين والستون والسبعين والسبعون والثمانين والثمانون والتسعين والتسعون المئة
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
_ENGLISH_PAGE = re.compile(
    r"(?<![^\W_])(?:p(?:[\s.·-]?[a4][\s.·-]?g(?:[\s.·-]?e|3))s?(?:\(s\)|_?(?:numbers?|num|no|nr|label|ref)\b)?"
    r"|pge|paeg|pagee|(?:lea(?:f|ves)|sheets?)(?=\s(?:no\.?\s?)?\d)|(?<=th\s)leaf|ff?(?=\.\s?\d+\s?[-–rv]))(?![^\W\d_])"
)
_TOKEN = re.compile(r"\S+")
_DENSE = "\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts without spaces, as they are after folding."""
_WORD = re.compile(rf"[^\W\d_{_DENSE}]+|[{_DENSE}]+")
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
    by_word = {fold_letters(word): symbol for symbol, words in lists.items() for word in words.split()}
    parts = "|".join(sorted(map(fold_letters, _CARDINALS.split()), key=len, reverse=True))
    return by_word, re.compile(rf"(?P<ordinal>{_ORDINAL_ENDINGS})|{_TENS_AND_ONES}|(?>(?:und|{parts}|en|y|e)+)")


@lru_cache(maxsize=2_048)
def _symbol_of(word: str) -> str:
    by_word, compound = _symbols()
    symbol = by_word.get(word, "")
    if not symbol and len(word) > 5 and (number := compound.fullmatch(word)):
        symbol = _ORDINAL if number["ordinal"] else _CARDINAL
    return symbol


def _marked(text: str) -> str:
    """The text with words about pages and numbers replaced by symbols; its length is unchanged."""

    def mark(word: re.Match[str]) -> str:
        symbol = _symbol_of(word[0])
        is_somebody = word[0] == "one" and _SOMEBODY.match(text, word.end())
        return symbol * len(word[0]) if symbol and not is_somebody else word[0]

    paged = _ENGLISH_PAGE.sub(lambda page: _PAGE * len(page[0]), text)
    return _WORD.sub(mark, paged) if any(map(_symbol_of, _WORD.findall(paged))) else paged


_SPELT = rf"{_CARDINAL}++(?:[\s-]{{1,2}}(?:(?:and|und|y|et|e|en)[\s-]{{1,2}})?{_CARDINAL}++){{0,6}}+(?!['’]\w)(?!-?\w)"
_ROMAN = r"(?=[ivxlcdm]{2})m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?!\w)"
_DIGITS = (
    rf"(?:\d{{1,2}}[,.]\d{{3}}(?![\w%])|\d{{1,5}}(?:(?:st|nd|rd|th|ff?|[a-hrv])(?!\w)|[{SUPERSCRIPTS}]+|:\d{{1,3}}"
    rf"|(?:\s\d){{0,3}}(?![%]|[^\W{_DENSE}])))"
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
_BEFORE = rf"(?<![^\W{_DENSE}]|['’.{_PAGE}-{_SMALL_ORDINAL}])(?<!mr\. )(?<!mrs\. )(?<!miss )(?<!mr )(?<!mrs )"
_SIDES = "beiden anderen einen linken rechten seiner ihrer jeder dieser andra vid"
_NO_SIDE = "".join(rf"(?<!{word} )" for word in _SIDES.split())
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
    rf"{_BEFORE}{_NO_SIDE}(?:{_FOREIGN}{{1,4}}+(?!{_FOREIGN})\.?|{_FOREIGN}{{5,}}+(?:['’]{_ABBREVIATED})?{_SAME_SENTENCE}\.?"
    rf"|{_ABBREVIATED}++\.|(?<=pa )side|(?<={fold_letters('на')} )c\.|(?<={fold_letters('см')}\. )c\.)"
    rf"{_NUMBERED}{_NO_COUNT}"
)
_SPELT_ORDINAL = (
    rf"(?:(?:{_CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{0,4}}{_ORDINAL}++(?:[\s-]{_SMALL_ORDINAL}++)?"
    rf"|(?:{_CARDINAL}++[\s-]{{1,2}}(?:and[\s-])?){{1,4}}{_SMALL_ORDINAL}++)"
)
_NTH = rf"{_BEFORE}(?:\d{{1,5}}(?:st|nd|rd|th|er|re|e)[\s-]?|{_SPELT_ORDINAL}[\s-]){_PAGE}++"
_NTH_ENDING = rf"(?:\.|er|re|eme|ieme|[eoaº]|-?(?:ya|{fold_letters('ая|ой|я|й|у|ю|е')}))?"
_NTH_FOREIGN = rf"{_BEFORE}\d{{1,5}}{_NTH_ENDING}\s?-?{_FOREIGN}++(?!\w)"
_COUNT = rf"\d{{1,5}}\s{_FOREIGN}++"
"""A number without an ordinal sign before a foreign word for page is a count."""
_NTH_FOREIGN = (
    rf"(?:(?:(?!{_COUNT})|(?<={fold_letters('на')} )){_NTH_FOREIGN}|{_BEFORE}{_SPELT_ORDINAL}\s{_FOREIGN}++(?!\w))"
)
_ROMANCE = (
    rf"\b(?:la|les|aux|des|ces|cette|de|du|a|dopo|des|voir|vedi|ver|op|na|nas|en|alla|alle|nella|dalla|della)"
    rf"\s(?:{_ENGLISH}|{_NTH})"
)
"""French has the English word for page, and other languages have its abbreviation."""
_ELSEWHERE = r"(?!\s+of\s+(?!(?:the|this)\s+(?:book|novel|story|tale)\b))"
"""After "on the third page": it is not the page of a letter or the like."""
_NTH_OF_TEN = rf"{_SMALL_ORDINAL}++ {_PAGE}++{_ELSEWHERE}"
_HAN_PAGE = f"(?:{'|'.join(map(fold_letters, ('頁', '页', '页码', '頁碼', 'ページ', '쪽', '페이지')))})"
_HANGUL_ONES, _HANGUL_TENS = (f"(?:{'|'.join(map(fold_letters, each))})" for each in ("일이삼사오육칠팔구", "십백"))
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
        rf"|(?<=[.!?…,;:\"”’)])[{SUPERSCRIPTS}]{{1,4}}|(?:(?<=[^\W\d_]{{3}})|\s|(?<=\s))[{SUPERSCRIPTS}]{{1,4}}(?!\w))"
        rf"|(?P<bracket>{_OPEN}[^()\[\]\n]{{1,60}}?)[,;]\s*{_REFERENCE}{_MORE}(?={_CLOSE})"
        rf"|\b(?P<place>on|at|in) (?:(?:the|this) )?(?:{_ENGLISH}|{_NTH}|{_NTH_OF_TEN})"
        rf"|(?P<plain>(?:\b(?:the|this) )?(?:{_ENGLISH}|{_NTH}))"
        rf"|(?P<foreign>{_ROMANCE}|{_FOREIGN_PAGE}|{_NTH_FOREIGN}|{_HAN})"
    )


_SIGNPOST = re.compile(
    rf"[{_PAGE}{_ABBREVIATED_PAGE}{_FOREIGN}{SUPERSCRIPTS}第]|{_OPEN}|{_ABBREVIATED}\.|(?<=pa )side|(?<= )c\."
    rf"|{_HAN_PAGE}"
)
"""A part of every reference that `_typed` matches. Most texts have none; looking for it takes a tenth of the time."""


@cache
def _label() -> re.Pattern[str]:
    number = rf"(?<![^\W\d_])(?:\d+\.(?=\s?{_FOREIGN})|(?:{_SPELT_ORDINAL}|{_NUMBER})(?:\s?ff?(?!\w))?)"
    return re.compile(rf"{number}|\d+|{_HAN_NUMBER}|{_HANGUL_NUMBER}")


_COUNTS_NOTHING = (
    r"(?=\s*(?:[.,:](?!\d)|[;!?…)\]}>\"”»’'“„«|。，、；：！？）]|\Z|\n|[–—]|-\s)"
    r"|\s(?:of (?:the|this|my|your) (?:book|novel|edition|story|text)"
    r"|he|she|it|they|we|you|i|the|an?|this|that|these|those|there|here|where|when|while|as|for|if|because|which|who|is"
    r"|was|are|were|says?|tells?|reads?|and|but|er|sie|es|wir|man|der|die|das|eine?|wo|als|und|ils?|elles?|on|les?|la|une?"
    r"|et|ou|el|los|y|donde)\b)"
)
"""After a number: there is no noun that it could count."""
_LEAF = r"(?:[,\s]?\s?(?:verso|recto)\b|(?:[abnrv]|ff?)(?!\w))?"
_DATE = r"\.\s(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sept?|o[ck]t|nov|de[cz])"
_JOINED = rf"[%°′″]|[.,:/]\d|(?!(?:ff?|[abn])(?!\w))[^\W{_DENSE}rv]|{_DATE}"
_BARE_NUMBER = rf"(?:{_NO_YEAR}\d{{1,4}}(?!{_JOINED})|(?=[ivxl]{{3}}){_ROMAN}){_LEAF}"
_OF_ALL = r"(?:\s?(?:of|von|sur|de|/)\s?\d+(?=\W*(?:\n|\Z|[)\].])))?"
_BARE_NUMBERS = rf"(?>{_BARE_NUMBER}(?:(?:{_JOINT}|,\s?){_BARE_NUMBER}){{0,12}}(?:\s?ff?\b\.?)?{_OF_ALL})"
_NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"
_CHAPTER = rf"ch|chap|chapter|kap|kapitel|cap|chapitre|capitulo|capitolo|{fold_letters('глава|гл')}"
_PART_OF_A_BOOK = rf"(?:{_CHAPTER}|book|part|act|vol|volume)"
_ANY_PAGE = rf"[{_PAGE}-{_FOREIGN}]++"
_SOURCE = (
    r"\b(?:references?|refs?|sources?|citations?|cited|locations?|loc|where|found(?:\sat)?|quelle|beleg|stelle|fundstelle"
    r"|fundort|fuente|fonte|riferimento|source)"
)
_TAKES_A_NUMBER = re.compile(
    rf"\b(?:{_PART_OF_A_BOOK}|is|was|are|were|be|been|being|of|to|than|aged?|turn(?:s|ed)?|numbers?|nos?|nr|chapters|acts"
    r"|scene|lines?|verse|canto|psalm|letter|room|house|sect?|section|stanza|step|items?|total|counts?|only|just|exactly"
    r"|about|nearly|almost|over|under|words?|pages?|years?|ist|war|sind|von|est|sont|es|son|e|c|ca|b|d"
    r"|(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sept?|o[ck]t|nov|de[cz])[a-z]*)\.?:?\s?\Z"
)


@cache
def _bare() -> re.Pattern[str]:
    """Numbers in places of a reference."""
    numbers = rf"{_BARE_NUMBERS}{_COUNTS_NOTHING}"
    ended = rf"{_BARE_NUMBERS}(?=\s*[.;:!?)…。！？；](?!\d)|\s*\Z|\s*\n)"
    elsewhere = r"(?:,?\s(?:above|below|oben|unten|supra|infra|in (?:my|this|the) \w+))?"
    page = rf"{_ANY_PAGE}(?:[^\w.!?\n]{{1,6}}(?:[a-z]-?(?=\d))?|\s{{1,4}}|\W?n[or]\W)"
    said = r"(?:is|was|reads?|numbered|marked|labell?ed|number|after|before) (?:number )?"
    return re.compile(
        rf"(?P<bracketed>\s*{_OPEN}\s*(?:{_LEAD}[^\w()\[\]]{{0,3}}\s?{_NUMBER_SIGN}{_BARE_NUMBERS}"
        rf"(?:\s?{_ABBREVIATED_PAGE}{{1,3}}\.?|\.\s?(?:o|old)\.)?{elsewhere}|\d{{1,3}}[./]\d{{1,4}})\s*{_CLOSE})"
        rf"|(?P<named>\s*{_OPEN}(?!\s*{_PART_OF_A_BOOK}\b)[^()\[\]\n]{{1,40}}?)(?P<joint>\s?[,;:/@–-]\s?|\s){_BARE_NUMBERS}{elsewhere}\s*(?={_CLOSE})"
        rf"|(?P<parted>\b{_PART_OF_A_BOOK}\.?\s?(?:\d{{1,3}}|{_ROMAN}|[ivx])\b)\s?[,;:/@–—-]\s?{numbers}(?!,?\s(?:and|or|und|et|y)\s\d)"
        rf"|\b(?P<place>on|at) (?:the )?(?:(?!(?<=at )n){_NUMBER_SIGN}{numbers}"
        rf"|[^\w\s(\[\"'“‘.,;:!?£€/-]{{1,2}}\s?{numbers}"
        rf"|{_BARE_NUMBERS}\s?{_ABBREVIATED_PAGE}{{1,3}}(?!\.\s?m\b)\.?)"
        rf"|\b(?P<goes>(?:see|compare)(?: also)?|cf\.?|vide"
        rf"|(?:turn|go|refer|back|return|skip|jump|look) (?:to|at)) {_NUMBER_SIGN}{numbers}"
        rf"|(?P<foreign>\b(?:auf|siehe|vgl\.?|voir|ver|vease|vedi|op|pa|na|en|{fold_letters('на|см')})\.?\s"
        rf"{_NUMBER_SIGN}{numbers}|{_SOURCE}[\"'`]?\s?[:=]\s?[\"'\[]{{0,2}}{numbers}"
        rf"|{page}(?:\[\d)?{numbers}|{_ANY_PAGE}(?:[:,]?\s[^\W\d]+){{0,6}} {said}{numbers})"
        rf"|(?P<sign>\s?(?:(?<![#\n])#(?=\d)|[→⇒➔➜№§¶\U0001f4c3\U0001f4c4\U0001f4d1\U0001f4d6\U0001f516]\s?|(?<=\s)a){numbers})"
        rf"|(?P<apposed>(?<![\d\s])(?:[,;]\s?|\s[–—-]\s?|(?<=[\"”’»]) ){ended}"
        rf"|(?<=\w)(?:\s?(?:[.·_]{{2,}}|…|\t|[^\S\n]{{2,}})|:)\s?{_BARE_NUMBERS}(?=[^\S\n]*(?:\n|\Z)))"
        rf"|(?P<raised>\s?[\^~]\{{?{_BARE_NUMBERS}\}}?[\^~]?(?!\w))"
        rf"|(?P<wrapped>(?<=[^\W\d_]\s)(?:[\"“‹<«/⟨]\s?{_BARE_NUMBERS}\s?[\"”›>»/⟩]|\|{_BARE_NUMBERS}\||\${_BARE_NUMBERS}\$)(?=\s?(?:[.,;:!?)\n]|\Z)))"
        rf"|(?P<emphasised>(?<=[^\W\d_]\s){_BARE_NUMBERS}(?=\s?(?:[.,;:!?)\n](?!\d)|\Z)))"
        rf"|(?P<item>^[^\S\n]*(?:>\s?)*\d{{1,4}}[.)]\s+(?=\S))"
        rf"|(?P<led>^[^\S\n]*(?:[-*+>#•]+\s)*{_BARE_NUMBERS}(?=[^\S\n]*(?:[:|](?!\d)|[–—-]\s|\n|\Z)))",
        re.MULTILINE,
    )


LONGEST_REFERENCE = 160
"""Characters; at most this much of a stream is held back because it may still become a reference."""

_HELD_WORDS = 8
_PART = re.compile(
    rf"[{_PAGE}-{_SMALL_ORDINAL}\d(\[{{<&\\【〔⟨（［第]|^\W*(?:[page]|[ivxlcdm]{{2,}})\W*$|{_HAN_PAGE}|[一二三四五六七八九十百千〇零两]"
)
"""A word that may be part of a reference."""
_JOINS = re.compile(
    r"\W*(?:on|at|in|the|this|see|cf|about|around|approx|also|from|siehe|vgl|etwa|auf|voir|ver|vease|vedi|op|pa|na|en|and|to"
    r"|through|until|till|und|bis|or|oder|et|y|e|og|och|и|of|turn|go|refer|back|return|skip|jump|look|numbered|numbers?"
    rf"|numero|num|nummer|no|nr|n|ca|locations?|loc|positions?|pos|screen|lea(?:f|ves)|sheets?|ff?|{_PART_OF_A_BOOK}|{_SOURCE}"
    rf"|{fold_letters('на|см')})?\W*"
)
"""A word that may precede a reference, or join two."""
_NO_NUMBER = re.compile(rf"[^\W\d_{_DENSE}]\D*\Z")


def settled(text: str, *, begins: bool = False) -> int:
    """The length of the prefix without unfinished references; where an answer `begins`, its first word is one."""
    window = max(len(text) - LONGEST_REFERENCE, 0)
    seen = as_seen(text[window:])
    marked = _marked(seen.text)
    words = [*_TOKEN.finditer(marked)]
    whole = len(words) - (not marked[-1:].isspace()) if words else 0
    known = whole if whole < len(words) and words[-1][0].isalpha() else len(words)
    parts = [at for at in range(max(len(words) - _HELD_WORDS, 0), known) if _PART.search(words[at][0])]
    first = min(parts, default=whole)
    named = (at for at in range(max(first - _HELD_WORDS, 0), first) if re.search(_ANY_PAGE, words[at][0]))
    first = min(named, default=first) if parts else first
    while first and (_PART.search(words[first - 1][0]) or _JOINS.fullmatch(words[first - 1][0])):
        first -= 1
    if first > begins and not (first == whole < len(words) and _NO_NUMBER.match(words[first][0])):
        first -= 1  # it may have a comma before a number, or decide what a number is
    return window + seen.starts[words[first].start()] if first < len(words) else len(text)


def named_pages(text: str) -> list[str]:
    """The first page that a text refers to, and the last one if it names a range; in digits or small Roman numerals."""
    marked = _marked(as_seen(text).text)
    for typed in _typed().finditer(marked):
        if not typed["bracketed"] and (labels := re.findall(rf"(?<!\w)(?:\d+|{_ROMAN})", typed[0])):
            return labels[:2]
    return []


def without_typed_pages(text: str, before: str = "") -> str:
    """The text without page references; `before` is the preceding text, or its last character."""
    context = before[-1:]
    written = context + RAISED.sub("", LINK_INTO_A_BOOK.sub(r"\1", text))
    seen = as_seen(written)
    return _changed(written, len(context), seen, _edits(seen, written))


def _changed(written: str, at: int, seen: Seen, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text from `at` on with the replacements, which are in terms of the text as it reads; keys stay."""
    kept = []
    for first, last, replacement in edits:
        start, end = seen.span(first, last, written)
        if (start := max(start, at)) < end:
            keys = "".join(group[0] for group in KEY_GROUP.finditer(written, start, end))
            kept += [written[at:start], replacement, keys]
            at = end
    return "".join([*kept, written[at:]])


def _edits(seen: Seen, written: str) -> Iterator[tuple[int, int, str]]:
    """The replacements, in order, in terms of the text as it reads."""
    marked = _marked(seen.text)
    if not _SIGNPOST.search(marked):
        return
    for typed in _typed().finditer(marked):
        is_capital = written[seen.starts[typed.start()]].isupper()
        if typed["bracketed"]:
            yield *typed.span(), ""
        elif typed["bracket"]:
            yield typed.end("bracket"), typed.end(), ""
        elif typed["place"]:
            yield *typed.span(), "In the book" if is_capital else "in the book"
        elif typed["plain"] and not re.match(f"[{_DENSE}]", marked[typed.start() - 1 :]):
            vague = "some pages" if len(_label().findall(typed[0])) > 1 else "a page"
            yield *typed.span(), vague.capitalize() if is_capital else vague
        else:
            for label in _label().finditer(marked, *typed.span()):
                yield *label.span(), "…"


_TABLE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_COLUMN = re.compile(rf"{_ANY_PAGE}|[{_ABBREVIATED}]+\.?\s*\Z|{_SOURCE}\b|{_HAN_PAGE}|\b(?:ort|lieu|at)\b|\bc\.")
_CELL = re.compile(rf"\w*\d\w*|\b{_ROMAN}|{_CARDINAL}++(?:[\s-]{_CARDINAL}++)*")
_SMALL_ROMAN = re.compile(r"\b[ivxl]{3,}\b", re.IGNORECASE)
_LABEL_OF_BARE = re.compile(rf"\d+|\b{_ROMAN}")


class TypedPages:
    """Removes typed pages from an answer, piece by piece.

    Besides what reads as a page reference by its words, a number is one if it stands where references stand, counts
    nothing, and is not known: "(25), see below", "on 25.", ", 25." or a table's column for pages. `is_known` says
    whether a reader wrote it, or the model was given it of the book: in digits, or (True) also in words.
    """

    def __init__(self, is_known: Callable[[int, bool], bool]) -> None:
        self._is_known = is_known
        self._line = ""
        self._header = ""
        self._columns: frozenset[int] = frozenset()
        self._items = 0

    def remove(self, text: str, before: str = "") -> str:
        """A piece of the answer without typed pages; `before` is the preceding text, or its last character."""
        plain = without_typed_pages(text, before)
        if any(map(str.isnumeric, plain)) or _SMALL_ROMAN.search(plain):
            context = before[-1:] or "\n"
            seen = as_seen(context + plain)
            plain = _changed(context + plain, 1, seen, self._bare_pages(seen, context + plain))
        return self._without_columns(plain)

    def skip(self, text: str) -> str:
        """A piece that is left alone, such as a quotation."""
        for at, line in enumerate(text.split("\n")):
            if at:
                self._end_line()
            self._line += line
        return text

    def _bare_pages(self, seen: Seen, written: str) -> Iterator[tuple[int, int, str]]:
        marked = _marked(seen.text)
        for bare in _bare().finditer(marked):
            if self._is_harmless(bare, seen, written):
                continue
            is_capital = written[seen.starts[bare.start()]].isupper()
            labels = [*_LABEL_OF_BARE.finditer(marked, *bare.span())]
            if bare["place"]:
                yield *bare.span(), "In the book" if is_capital else "in the book"
            elif bare["goes"]:
                yield bare.end("goes"), bare.end(), " some pages" if len(labels) > 1 else " a page"
            elif bare["parted"] or bare["named"]:
                yield bare.end("parted" if bare["parted"] else "named"), bare.end(), ""
            elif bare["foreign"] or bare["led"]:
                yield from ((*label.span(), "…") for label in labels)
            else:
                blank = bool(bare["wrapped"] or bare["emphasised"])
                yield bare.start() - blank, bare.end(), ""

    def _is_harmless(self, bare: re.Match[str], seen: Seen, written: str) -> bool:
        numbers = [int(each) for each in re.findall(r"\d+", bare[0])]
        goes_on = bare["bracketed"] and bare.string[bare.end() : bare.end() + 2].strip(" .,;:")
        if (bare["item"] or bare["led"] or goes_on) and len(numbers) == 1 and numbers[0] <= self._items + 1:
            self._items = max(self._items, numbers[0])
            return True
        if bare["sign"] and written[seen.starts[bare.start("sign") + 1]] in "aA":
            return True
        if bare["named"] and bare["joint"].isspace() and _TAKES_A_NUMBER.search(bare["named"]):
            return True
        if (bare["wrapped"] or bare["emphasised"] or bare["apposed"]) and _TAKES_A_NUMBER.search(
            bare.string[: bare.start()][-20:]
        ):
            return True
        if bare["emphasised"] and not EMPHASIS.search(
            written, seen.ends[bare.start() - 1], seen.starts[bare.start()] + 1
        ):
            return True
        return bool(numbers) and all(self._is_known(number, bool(bare["place"])) for number in numbers)

    def _without_columns(self, text: str) -> str:
        """The text without numbers in the columns of tables that are for pages."""
        lines = []
        for at, line in enumerate(text.split("\n")):
            if at:
                self._end_line()
            lines.append(self._without_cells(line) if self._columns else line)
            self._line += line
        return "\n".join(lines)

    def _without_cells(self, part: str) -> str:
        first = self._line.count("|")
        cells = enumerate(part.split("|"), first)
        return "|".join(_without_numbers(cell) if at in self._columns else cell for at, cell in cells)

    def _end_line(self) -> None:
        line, self._line = self._line, ""
        if "|" not in line:
            self._columns = frozenset()
        elif _TABLE_RULE.fullmatch(line):
            heads = (_marked(as_seen(head).text.strip()) for head in self._header.split("|"))
            self._columns = frozenset(at for at, head in enumerate(heads) if _COLUMN.search(head))
        self._header = line


def _without_numbers(cell: str) -> str:
    seen = as_seen(cell)
    return _changed(cell, 0, seen, ((*found.span(), "…") for found in _CELL.finditer(_marked(seen.text))))
