"""The numbers in a text, and what says that one of them is no page reference.

Texts are compared as a person reads them (`as_seen`), and so are the lists of words here. Words that matter are
replaced by runs of one symbol of the same length: offsets stay, and patterns are short. A `Number` is found by its
digits, as a Roman numeral or in words; its properties are the licences with which a number may stand in an answer.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from domain.citations.quotations import Seen, as_seen
from domain.library.numerals import (
    CARDINAL_IN_ONE_WORD,
    CARDINALS,
    MONTHS,
    NO_NOUNS,
    ORDINAL_IN_ONE_WORD,
    ORDINALS,
    PARTICLES,
    SMALL_ORDINALS,
    number_value,
)
from domain.library.search.words import SUPERSCRIPTS, fold_letters

PAGE, SHORT_PAGE, FOREIGN, FOREIGN_SHORT, CARDINAL, ORDINAL, SMALL_ORDINAL = map(chr, range(0xE001, 0xE008))
"""The symbols: for page, its English abbreviations, page in other languages, their abbreviations, and numbers."""

_FOREIGN_WORDS = """
    seite seiten buchseite página páginas pagina pagine pagini paginas pàgina pàgines bladzijde bladzijden sida sidan
    sidor sidorna siden sider siderne blaðsíða blaðsíðu síða síðu dudalen sivu sivun sivulla sivulta sivut strona
    stronie stronę strony
    stron strana straně strany stránka stránce stranica stranici stranice stranicama oldal oldalon oldalán oldala
    sayfa sayfada sayfası sayfasında halaman muka lembar laman trang trương страница странице страницу страницы
    страниц стр сторінка сторінці сторінку стор σελίδα σελίδες σελ σσ folio folios feuillet feuillets blatt lapa
    lappuse lpp puslapis puslapyje lehekülg leheküljel orrialdea tudalen leathanach pag pags pagg blz seitenzahl
    seitennummer seitnr ukurasa עמ עמוד בעמוד העמוד לעמוד עמודים בדף דף صفحة الصفحة بالصفحة صفحات صفحه صفحہ ص ورقة
    पृष्ठ पन्ना
    पेज পৃষ্ঠা পৃষ্ঠায় பக்கம் பக்கத்தில் หน้า გვერდზე გვერდი
"""
_ON_A_PAGE = "পৃষ্ঠায় பக்கத்தில் sayfada sayfasında oldalon oldalán sivulla sivulta puslapyje leheküljel stranici stranicama"
"""Behind a number these mean a page and no count: "38 sayfada" is on page 38."""
_FOREIGN_SHORT = "s σ str sf sid hal fol fols fo bl mbl bls"
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
        FOREIGN: _FOREIGN_WORDS,
        FOREIGN_SHORT: _FOREIGN_SHORT,
        ORDINAL: ORDINALS,
        SMALL_ORDINAL: SMALL_ORDINALS,
        SHORT_PAGE: "p pp pg pgs",
    }
    by_word = {fold_letters(word): symbol for symbol, words in lists.items() for word in words.split()}
    return by_word, re.compile(rf"(?P<ordinal>{ORDINAL_IN_ONE_WORD})|{CARDINAL_IN_ONE_WORD}")


@cache
def _places() -> frozenset[str]:
    return frozenset(map(fold_letters, _ON_A_PAGE.split()))


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
CHAPTER = rf"ch|chap|chapter|kap|kapitel|cap|chapitre|capitulo|capitolo|{fold_letters('глава|гл')}"
PART_OF_A_BOOK = rf"(?:{CHAPTER}|book|part|act|vol|volume)"
SOURCE = (
    r"\b(?:references?|refs?|sources?|citations?|cited|locations?|loc|where|found(?:\sat)?|quelle|beleg|stelle|fundstelle"
    r"|fundort|fuente|fonte|riferimento|source)"
)
NUMBER_SIGN = r"(?:(?:(?:numbers?|nummer|no|nr|num|n|locations?|loc|positions?|pos|screen)\b\.?|[#№~≈@§¶])\s?)?"


COUNTED_BY_NOTHING = frozenset(fold_letters(word) for word in (*NO_NOUNS.split(), *PARTICLES.split()))
_KINDS = (
    rf"{CHAPTER}|hoofdstuk|rozdzia\w+|{fold_letters('главе|главы|κεφάλαιο|פרק')}|chapters|kapiteln|capitulos"
    r"|chapitres|books?|bok|buch|parts?|teil|parte|partie|tome|acts?|akt|acte|acto|vol|volume|band|scene|szene"
    r"|canto|sonnet|psalm|verse|stanza|lines|opus|symphony|letter|section of|steps?|schritt|article|artikel|law"
    r"|form|version|grade|type|model|room|zimmer|cell|bed|gate|platform|route|flight|bus|size|area|apollo"
    r"|fahrenheit|prisoner|agent|war|mr|mrs|miss|dr|boeing|seat|cabin|track|episode|season|day|night|siglo|seculo"
    r"|secolo|win|won|lost|beat|score[ds]?|drew|dial|call|phone|tel|anno|ad|(?:summer|winter) of|years?|jahr|annee|ano"
    r"|the ages? of|at age|aged?|eldest|youngest|elder|younger|(?:half|quarter) (?:past|to)|str(?:ikes|uck)|times"
    r"|(?:answer|reply|sentence|claim|question|message|word|fact|test|attempt|case|example|thread|reader|user|token|piece|round|option)(?!:)"
    r"|apartment|exit|locker|level|stage|floor|channel|plus|minus|rolled an?|bets?|bid|guess(?:ed|es)?"
    r"|\w+strasse|\w+gasse|gasse|strasse|\w+allee|\w+weg|(?:calle|via|rua|rue|plaza|avenida)\s[^.!?;:()]{1,30},"
    r"|(?:lad|m[ae]n|boys?|girls?|wom[ae]n|child|youth|fellow|lady|person|creature) of"
    r"|(?:total|number|sum|average|speed|height|out) of|total|altogether|scale (?:of|from)"
    r"|(?:call|give|rate)(?:s|d)? (?:it|this|that|him|her)(?= an?\s)"
)
_BEING = (
    rf"bought|sold|owned|owed|spent|earned|ate|drank|caught|is|was|are|were|be|been|being|(?:it|he|she|there)['’]{FOREIGN_SHORT}|turn(?:s|ed)|costs?|paid|weigh(?:s|ed)|measured|counted|count"
    r"|numbered|numbers|equals|makes|has|have|had|than|up to|count(?:s|ed)? to|ten to|one in|(?:is|was|be|about) to"
    r"|ist|war|waren|sind|wurden?|est|sont|es|son"
)
_ROUGHLY = (
    r"(?:(?:only|just|now|then|already|exactly|about|nearly|almost|over|under|some|still|an?|the|nur|etwa|circa|ca)"
    r"\.?\s)"
)


@cache
def _takes_a_number() -> re.Pattern[str]:
    """The end of a text that takes a number; `thing`: not as a citation, ", item 38."."""
    return re.compile(
        rf"\b(?:(?P<kind>{_KINDS}|{MONTHS})|(?P<being>{_BEING})"
        rf"|(?P<thing>nos?|nr|numbers?|number|nummer|items?|sections?|sect?|lines?|pos|positions?|notes?|house|table|figure))"
        rf"\.?:?\s?{_ROUGHLY}{{0,2}}\Z|[$£€¥₽₹]\s?\Z|\d\s?(?:[+×*/=^−-]|h)\s?\Z|[a-z]{{1,12}}-\Z|(?<=\s)['’.−-]\Z"
    )


_IT_IS = re.compile(
    rf"[.!?:;\n]\W*(?:(?:yes|no|so|and|ja|nein|und|oui|si|i (?:think|believe|guess|suppose))\W+(?:that )?)?"
    rf"(?:(?:(?:it|this|that|es|das|dies|ce|eso|esto|questo)\s|c['’])(?:(?:must|would|should|may|might|could|will)\s)?)?"
    rf"(?:(?:it|that)['’](?:{FOREIGN_SHORT}|d\sbe)|is|was|be|ist|war|est|es)\s(?:{_ROUGHLY}{{0,2}}|la\s)\Z"
    rf"|\b(?:later|earlier|sooner|further|farther)\sthan\s\Z"
)
"""The answer to a question, which may be that for the page: a number in its own right is told of somebody."""
_LABEL = re.compile(r"(?<!\w)([^\W\d_]{3,}) \Z")
_NAME_OF_IT = re.compile(r"(?<!\w)[^\W\d_]{3,}\W+\Z")
_NO_LABEL = re.compile(
    r"see|vide|via|per|in|on|at|to|check|open|try|cite[ds]?|citing|consult|compare|turn\w*|go|read\w*|look\w*|find|found|kindle"
    r"|chunks?|side|leaf|leaves|sheets?|columns?|col|loc|locations?|scan|image|plate|screen|refs?|references?|sources?"
    r"|marked|numbered|circa|toward|towards|until|past|near|around|about|after|before|from|between|bei|auf|siehe|vgl|dort"
    r"|voyez|voir|vedi|vedere|vea|vease|ver|veja|zie|lasd|patrz|katso|schlage?|lies|lisez|lis|ouvrez|abre|abra|leggi"
    r"|\w+(?:ed|ing)"
)
"""Words before a number that lead to a place in a book, so that the number is no name of a thing."""
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
    rf"|(?P<joint>-(?!\s))?{_BLANK}{{0,2}}(?:{CARDINAL}++\s)?(?P<word>[^\W\d_]+)"
)
_PAGES_IN = re.compile(
    r"[\s-](?:pages?|lea(?:f|ves)|sheets?)\s(?:in(?:to)?|deep)"
    r"(?:\W*(?:[.,;:!?)…]|\Z)|\s(?:you|we|he|she|they|(?:the|this|my|your) (?:book|novel|story|text)|from)\b)"
)
_ABBREVIATED = re.compile(r"\s(?!b\.\s?c|a\.\s?d)[a-z]\.\s?[a-z]\.")
"""As "m. w. N." after a reference, which is no number of metres."""
_INTO = re.compile(r"[\s-]\S+\s(?:in(?:to)?|before|after|short|from|later|earlier|past|behind|ahead|deep|on)\b")
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
_COUNTED_THINGS = re.compile(
    r"(?:[\s-][^\W\d_]+){0,3}?"
    r"[\s-](?!(?:is|was|his|this|its|us|as|thus|has|does|says|tells|always|perhaps|dies|goes|sees)\b)"
    rf"(?:[^\W\d_]+s|[^\W\d_]*(?:men|women|children)|people|feet|teeth|mph|km|kmh|kg|lb|cm|mm|mice|sheep|per|percent|stone|dozen|o['’]clock|am"
    rf"|noon|(?:jahren|tagen|grad|uhr|(?:de\s)?{MONTHS}|of))\b"
)
"""Nouns in the plural, after "on", "at" and the like, with which references begin."""
_COUNTED_NAME = re.compile(
    rf"\s(?:[^\W\d_]+s\b|[^\W\d_]*men\b|(?:tage|jahre|stunde|minute|woche|monate|band|teile)n\b|{MONTHS}\b"
    r"|(?:\S+\s){0,2}(?:street|st|road|rd|lane|avenue|square|place|terrace|row|court"
    r"|drive|way|close|crescent|gardens)\b)"
)
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
        cites = self.form in ("open", "sign") or (self.form == "joint" and ":" not in self.left[-2:])
        return not (cites or (self.form == "line" and parts[1] == "/")) or not ENDS.match(self.right)

    @property
    def is_year(self) -> bool:
        return bool(self.values) and not self.is_in_words and self.values[0] in _YEARS and ":" not in self.written

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
            return bool((_COUNTED_NAME if is_name else _COUNTED_THINGS).match(self.words_after))
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
        if label[1] in COUNTED_BY_NOTHING or _NO_LABEL.fullmatch(label[1]):
            return False
        return not ENDS.match(self.right) or bool(_ALONE.search(self.left[: label.start(1)]))


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
