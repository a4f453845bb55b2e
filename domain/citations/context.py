"""The words that stand beside numbers, in many languages, and what they tell of them: pages, ages, hours, measures.

The other words by which citations are told are with them, in `context.json`.
"""

import re
from functools import lru_cache

from domain.citations.symbols import (
    ANY_PAGE,
    CARDINAL,
    COUNTED,
    FOREIGN,
    FOREIGN_SHORT,
    FOREIGN_WORDS,
    HAN_PAGE,
    LISTS,
    MONTHS,
    NO_SIDE,
    PAGE,
    ROUGHLY,
    SHORT_PAGE,
    any_of,
    either,
    lazily,
    words_of_kind,
)
from domain.library.search.words import fold_letters, script_of

CHAPTER = rf"ch|chap|chapter|kap|kapitel|cap|chapitre|capitulo|capitolo|{fold_letters('глава|гл')}"
PART_OF_A_BOOK = rf"(?:{CHAPTER}|book|part|act|vol|volume)"
NUMBERED = rf"{CHAPTER}|rozdzia\w+|op(?=\.)|{any_of('numbered')}"
"""Words for things that have numbers, as a pattern."""
BEHIND_CHAPTER = lazily(rf"\b(?:{CHAPTER})\.?\s\Z")
KINDS = rf"{any_of('kinds')}|(?:half|quarter) (?:past|to)"
"""Words that take a number, as a pattern."""

COUNTED_BY_NOTHING = frozenset(map(fold_letters, words_of_kind("counted_by_nothing")))
NO_THINGS = frozenset(fold_letters(" ".join([*LISTS["roughly"], *LISTS["no_things"]])).split())

COUNTED_PAGES = " ".join(LISTS["counted_pages"])
"""Behind a number these are counted: "38 sayfa" are 38 pages, while "38 sayfada" is on page 38."""


_KNOWN_SCRIPTS = {*map(script_of, FOREIGN_WORDS.split()), "CJK", "HIRAGANA", "KATAKANA", "HANGUL"}


def is_of_known_script(word: str) -> bool:
    """Whether words for page are known in the script of a word; of others any word may be one. Empty is known."""
    return not word or script_of(word) in _KNOWN_SCRIPTS


NO_LABEL = lazily(rf"{any_of('leading')}|{MONTHS}|\w+(?:s|ed|ing)|turn\w*|(?:re)?read\w*|look\w*")
"""Words before a number that lead to a place in a book, or name several, so that the number is no name of a thing."""
COUNTED_THINGS = lazily(
    r"(?:[\s-][^\W\d_]+){0,3}?"
    r"[\s-](?!(?:is|was|his|this|its|us|as|thus|has|does|says|tells|always|perhaps|dies|goes|sees)\b)"
    rf"(?:{COUNTED}|[^\W\d_]+s|[^\W\d_]*(?:men|women|children)|people|feet|teeth|mph|km|kmh|kg|mg|lb|cm|mm|ml|[kmgt]i?b|[kmg]hz|nm|rpm|mice|sheep|per|percent|stone|dozen|o['’]clock|am"
    rf"|noon|century|(?:jahren|tagen|grad|uhr|(?:de\s)?{MONTHS}|of))\b"
)
"""Nouns in the plural, after "on", "at" and the like, with which references begin."""
THINGS = lazily(rf"(?:[\s-][^\W\d_]+)?[\s-](?:{COUNTED}|{any_of('units')}|{any_of('parts_of_books')})")
"""Things that are counted anywhere, behind a number."""
BEHIND_A_SCRIPTURE = lazily(rf"\b{any_of('scriptures')}\.?\s\Z")
"""The end of a text that names a book of the Bible."""
SPEAKS_OF_A_PAGE = lazily(
    rf"(?<![{PAGE}-{FOREIGN}])(?<![\d{CARDINAL}])(?<![\d{CARDINAL}][\s-])(?<!many )(?<!few )(?<!viele )"
    rf"(?:[{PAGE}]{{4,}}|{NO_SIDE}[{FOREIGN}]{{5,}}|{HAN_PAGE})"
    rf"|\b(?:counted )?in (?:leaves|sheets)\b"
)
"""A word for page that nothing counts."""
COUNTED_NAME = lazily(
    rf"\s(?:[^\W\d_]+s\b|[^\W\d_]*men\b|(?:tage|jahre|stunde|minute|woche|monate|band|teile)n\b|{MONTHS}\b)"
)
LOOK_UP = rf"see|cf|compare|vgl|vergleiche?|siehe|voir|voyez|vease|vedi|zie|ver|{fold_letters('смотри|см')}"
SEE = rf"{LOOK_UP}|also|refer to|(?:turn|go) to|look (?:at|on)|check|auch|dazu|hierzu|auf|aussi|anche|ook|on|in"
AGES = lazily(
    r"\b(?:how old|ages?|aged|years? old|(?:old|young)est|wie alt|Alter|Jahre alt|quel âge|qué edad|años|che età"
    r"|anni|hoe oud|hur gammal|hvor gammel|kuinka vanha|hány éves|kaç yaşında|ile lat|kolik (?:mu|jí|let)"
    r"|сколько (?:ему |ей )?лет|πόσων χρον[ωώ]ν)\b|多大|几岁|何歳|몇\s?살",
    re.IGNORECASE,
)
"""Words where ages are told or asked for."""
COUNTS = lazily(
    r"\b(?:how (?:many|often|much(?!\s\w+er\b)|long|far|tall|high|big)|(?:what|which) (?:number|year)"
    r"|wie (?:viele?|oft|lange?|weit|hoch)|combien|cu[aá]nt[oa]s?|quant[oiae]s?|сколько|hvor mange|hur m[aå]nga"
    r"|hoeveel|kuinka monta|h[aá]ny|kaç|ile)\b|何人|何歳|いくつ|多少|几[个岁]|몇\s?[살명개]|كم|כמה|कितन",
    re.IGNORECASE,
)
"""Words with which a number is asked for."""
ASKS_FOR_ONE = lazily(
    rf"{COUNTS.pattern}|\b(?:(?:what|which)(?:['’]s|\sis|\swas)?(?:\s(?:the|his|her|their|my))?\s{any_of('asked_for')}"
    r"|which (?:one|of)|how (?:old|thick|fast|heavy|deep)|what(?:['’]s|\sis)\s(?:half\sof\s|twice\s)?\d+"
    r"|(?P<hour>when|what time|wann|um wie ?viel uhr|(?:à|a) (?:quelle heure|qu[eé] hora|che ora)|cuándo|quando|когда)"
    r"|wie (?:alt|dick|schnell|schwer)|welche[msnr]? (?:jahr|kapitel|zimmer|alter|vers|zeile|uhrzeit)"
    r"|quel(?:le)? (?:age|âge|chapitre|heure|annee|année)|qu[eé] (?:edad|cap[ií]tulo|hora|a[nñ]o))\b",
    re.IGNORECASE,
)
"""Words with which one is asked for that may be the whole answer: "In which chapter?" "21." """
ASKS_FOR_A_SHARE = lazily(
    rf"(?s)\A(?!.*\b(?:{any_of('progress')}|(?:far\b|weit\b|book|buch|livre|libro))).*\b(?:{any_of('shares')}|{any_of('rates')})"
)
"""Questions for a share, not for how far into the book something stands; as a text reads."""
MAY_BE_A_PAGE = lazily(r"number|answer|total|\b(?:one|of|far|when|line|wann|weit|cu[aá]ndo|quando|когда)\b", re.I)
"""Where a number is asked for, what may mean a page as well: "which number?", but not "how old?"."""
AGE_IN_BRACKETS = lazily(
    r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+(?:\*\*|__)?\s\(\d{1,2}(?:(?:\s(?:or|oder|to|bis)\s|[-–/])\d{1,2})?\)\Z"
)


@lru_cache(maxsize=4)
def tells_ages(text: str) -> bool:
    """Whether ages are told or asked for in a text."""
    return AGES.search(text) is not None


SOURCE = (
    r"\b(?:references?|refs?|sources?|citations?|cited|locations?|loc|where|found(?:\sat)?|quelle|beleg|stelle|fundstelle"
    r"|fundort|fuente|fonte|riferimento|source)"
)
BEING = rf"{any_of('being')}|(?:it|he|she|there)['’]{FOREIGN_SHORT}"
OTHER_WORD = lazily(
    r"\A(?:seize|cents?|vent|trent|sexton|seis)\Z|\b(?:thousand|tausend|mill?e?|тысяч\w*)\b|(?:hundred|hundert|cien)\Z"
    r"|\A(?:ten|twelve|\w+teen|twenty)[\s-](?:hundred|oh|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
"""Words of another language, round numbers, and years such as "nineteen eighty-four"."""
HOMOGRAPHS = lazily(rf"(?:(?:una?|ein)\s)?{any_of('homographs')}(?:\s(?:one|un[ao]?|eine?[mnrs]?))?\Z")
"""Numbers that are ordinary words, most of them in another language: alone, they are none."""
PAGES_IN = lazily(
    rf"[\s-](?:{ANY_PAGE}|lea(?:f|ves)|sheets?)\s"
    r"(?:(?:in(?:to)?|deep|to go|left|later|further|earlier|remaining|mark|point)(?:\W*(?:[.,;:!?)…]|\Z)"
    r"|\s(?:you|we|he|she|they|from|(?:in |of )?(?:the|this|my|your) (?:book|novel|story|text))\b)"
    r"|(?:from|before|after|past)\b|vor\b|nach\b|(?:avant|apres|antes|tras|prima)\b"
    r"|(?:spater|weiter|fruher|zuvor|plus (?:loin|tard)|despues|mas adelante|dopo|depois|verder|later|senare)\b)"
)
"""What follows on a number of pages that lie between two places: "42 pages later"."""
LEAVES = lazily(rf"[\s-]{any_of('leaves')}")
"""What is turned like a page, behind a number."""
TURNS = lazily(rf"\b{any_of('turns')}\s{ROUGHLY}{{0,2}}\Z")
"""What stands before the number of pages that are turned."""
UNIT = lazily(rf"\s?[°€$£]|[\s-]{any_of('units')}(?!\s(?:in|into|through|on|later)\b)")
"""What stands behind so much of something, not behind how far into a book somebody is."""
TELLS = lazily(
    rf"\s(?!{any_of('units')})[^\W\d_]+(?:s|ed)\s(?:that|how|what|why|where|us|it|clear|plain|so|him|his|her|of the"
    r"|about the|the|an?)\b"
)
_E_READER = (
    rf"(?:\b(?:kindle|kobo|tolino|e-?books?|e-?readers?|liseuse)(?![a-z])|{fold_letters('キンドル|электронной книг')})"
)
LOCATION = lazily(
    rf"(?P<named>(?:\b{any_of('locations')}|{fold_letters('位置')}|{_E_READER})\W{{0,3}}(?:n[or]\W{{0,2}})?\0)"
    rf"|\bthe \0 (?:minute )?mark\b|\0\.?\s{any_of('lines')}(?! \d)"
    rf"|\b{any_of('lines')} \0 (?:of|in|des|dieses|der|du|de|del) (?:[^\W\d_]+ )?(?:{CHAPTER}|{any_of('books')})"
)
"""Where a number, here as NUL, is a place in the file of an e-book, or a line."""
RECORDING = lazily(rf"\b{any_of('recordings')}")
HEARD = lazily(
    rf"(?:\b(?:tracks?|titel|disc|cd|\w*{any_of('minutes')})\W{{0,2}}|{fold_letters('第')}"
    rf"|\b(?:at|bei|nach|ab|a|au|en|al|alla?|om|op|na|w|po|vid|{fold_letters('на|в')}) {ROUGHLY}{{0,2}}"
    r"|\d\s?(?:std|stunden?|h|hours?|hrs?|heures?|horas?|ore)\.?,?\s(?:(?:and|und|et|y|e)\s)?)\0"
    r"|\0[^.!?\n]{0,30}\b(?:in|into)\b"
)
"""Where a number, here as NUL, is a time, if a recording is spoken of."""
TOLD = lazily(
    r"(?P<surely>\b(?:you(?:['’](?:re|ve)|\s(?:are|have))|du (?:bist|hast)|ihr (?:seid|habt)|sie (?:sind|haben)"
    r"|vous (?:etes|avez))\s[^.!?\n]{0,20}\0"
    rf"|[.!?;:,—–(\n]\W*{ROUGHLY}{{0,3}}\0 (?:{BEING}|(?!as\b)[^\W\d_]+s)\b)"
    rf"|\0 (?:of|der|des|du|del?|vom|von|van|di) |\b{any_of('rates')}[^.!?\n]{{0,20}}\0|\0 {any_of('rates')}"
    rf"|\b(?:{BEING}|that['’]{FOREIGN_SHORT}|i\.e\.|d\.h\.) (?:(?:about|almost|only|etwa|rund|fast|nur) )?\0"
    rf"|\0 (?:{BEING})|\b(?!\w*{any_of('progress')})[^\W\d_]{{3,}}: \0"
)
"""A share, here as NUL, of something that is told, or of what a label names, or a rate; `surely` also one of the book,
or the reader's own.
"""
HOTLINE = lazily(
    r"\b(?:(?:life|help|hot)[\s-]?line|telefonseelsorge|notruf\w*|emergency (?:number|services?))\b[^.!?,;()\n]{0,20}\Z"
    r"|\b(?:call|dial|phone|ring)(?:ing)? or text(?:ing)? \Z|\b(?:call|dial|phone|text)\s\+?\d[^.!?\n]{0,24}\sor\s\Z"
)
LISTS_NUMBERS = lazily(
    r"\b(?:chapters|acts|parts|books|verses|scenes|kapiteln|(?P<one>kapitel)|chapitres|capitulos|days|steps|questions|aged?|ages)"
    r"[.:]?\s(?:\d+|[ivxlc]{2,7})(?:(?:,\s?|\s|[-–])(?:(?:and|or|to|und|et|y|e)\s)?(?:\d+|[ivxlc]{2,7}))*,\s(?:(?:and|or)\s)?\Z"
)
"""The end of a text that lists chapters, ages and the like."""
PLACE = lazily(
    r"(?:\b(?:numbers?|place|reference|passage|pasaje|referencia|spot|corner|sources?|location|position|citation|stelle|where"
    rf"|paperback|edition|copy|penguin|norton|hardcover)\b|[{PAGE}-{FOREIGN}])[^.!?]*\Z"
    r"|(?:[.!?:;,—–\n(]\s?|read )up to \Z"
)
"""The end of a text that tells of a place in a book, so that what it "is" is a page."""
SOMEBODYS = lazily(r"\b(?:his|her|their|my|your)\s(?:(?:early|mid|late)[\s-])?\Z")
OF_THE_BOOK = lazily(
    rf"\s(?:(?:of|in|des|du|del|dieses|di)\s)?(?:(?:the|this|my|your|that|a|la)\s)?{any_of('books')}"
    r"|\sof (?:(?:the|this|my|your|that) )?(?:edition|copy|volume|paperback|print)"
    r"|\swhere\b|\sin (?:mine|yours|(?:my|this|your|that|the)\s(?:\w+\s)?(?:copy|edition|book|paperback))\b"
)
BEHIND_A_MONTH = lazily(
    rf"(?:(?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:(?:of|de)\s)?)|\b){MONTHS}\.?[,:]?\s(?:the\s)?{ROUGHLY}{{0,2}}\Z"
)
MONTH = lazily(rf"\s(?:de\s)?{MONTHS}\b")
HAS = lazily(
    r"\b(?:has|have|had|fill(?:s|ed)|r[au]n(?:s|ning)? to|com(?:es|prises)|counts|hat|haben|hatten?|umfasst|zahlt|fullt"
    r"|(?:livre|roman|ouvrage|texte) a|compte|tiene|tem|heeft|har)"
    rf"(?:\sread)?\s{ROUGHLY}?\Z"
)
HAS_HAN = lazily(r"[有共约約全]\Z")
"""What stands before the number of pages that something has, in Chinese and Japanese."""
LONG = lazily(
    rf"[\s-]{ANY_PAGE}\s(?:long|thick|in all|altogether|so far|(?:an?|per|each|every|am|pro|par|al)"
    rf" (?:day|week|evening|tag|jour|dia))\b|-{ANY_PAGE}\s(?!mark|point)[^\W\d_]"
)
"""What stands before and after the number of pages of something: no other number of pages is told."""
ASKS_WHERE = lazily(
    r"\bhow (?:far|many pages) (?:in|into|through)\b|\bwhere (?:in the (?:book|novel|text)|does it say)\b"
    r"|\bwhere (?:is|was) (?:that|this|it) (?:written|said|told|mentioned|described|from)\b"
    r"|\b(?:hvilken side|hokker side|kiu pago|welcher sait|kaca pira|qaysi bet)\b"
    r"|\A\W*(?:and )?(?:the |your )?(?:source|citation|reference|quelle|beleg|fundstelle)s?\W*\Z"
)
"""Questions for a place in the book that have no word for page; as a text reads."""
POINTS = lazily(
    rf"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )\b(?:{LOOK_UP}|{any_of('locations')}|bookmark|lesezeichen|folio|leaf)"
    r"[\"']?\s?[:=]?\s?[\"']?\d|[^\W\d_], \d{1,3}; [^\W\d_]"
)
"""Places without a word for page, as a tool may tell them: {"loc": 78}, "see 78", "mirror, 78; wolves, 31"."""
GERMAN_ORDINAL = lazily(r"\b(?:im|de[rmns]|die|das|am|zum|zur|beim|vom|eine?[rmns]?|jede[rmns]?)\s\Z")
ON_A_DAY = lazily(r"\b(?:on|by|from|since|after|before|until|till|to) the\s\Z")
PART_OF_MEASURE = lazily(
    rf"\s(?:by|x|×)\s\d|['’′]\d{{1,2}}[\"”″]|\scents?\b|(?:[-–—]|\s(?:to|or|and|bis|oder|und|a|o|et|y)\s)[-−]?\d+\s?[%°]"
    rf"|\.\s(?:{PART_OF_A_BOOK}|{any_of('parts')})\b"
)
ARE = lazily(r"\s(?:are|were|have|do|did|sind|waren|haben|hatten|sont|ont|avaient|eran|tienen|han)\b")
TELLS_MORE = lazily(r"\s(?:that|who|which|where|what|how|qui|que|qu|dass|wo|che|donde)\b")
"""What follows on a page that tells something: "it is 47 that tells of it"."""
IN_ENGLISH = lazily(
    rf"\b(?:on|at|in|see|by|per|from|as|says?|to|after|before|until|past|around|near)\s(?:the\s|{ROUGHLY})?\Z"
)
THE_ONE = lazily(r"\b(?:la|el|il|lo|alla|nella|dalla|della)\s\Z")
ON_GERMAN = lazily(rf"\b(?:auf|ab|bei|bis|um|nach|zwischen|gegen|laut|gemass|zufolge)\s(?:der\s)?{ROUGHLY}?\Z")
GERMAN_VERB = lazily(r"\s(?:[a-zäöüß]*[^\Waeiou\d_]t|war|kam|wird|wurde|hatte|fand|sah)\s")
_COUNTERS = either(" ".join(LISTS["counters"]))
_NTH_SIGN = rf"(?:st|nd|rd|th|er|re|e|o|a|de|ste|[.º°ª]|-?{either('й я го ой ая')}|{fold_letters('번째')})?"
_NOT_OF_A_COPY = "".join(rf"(?<!\b{word} )" for word in " ".join(LISTS["before_a_copy"]).split())
"""What does not stand before the name of a thing: behind "in my book" it is not the book's number that follows."""
_SECOND_DAY = rf"(?:(?:and|or|und|et|y|e|to)\s(?:the\s)?\d{{1,2}}{_NTH_SIGN}\s)?"
PLAIN_USE = lazily(
    rf"(?P<part>{_NOT_OF_A_COPY}\b(?:{NUMBERED})\.?\s\0|\0{_NTH_SIGN}[\s-](?:{CHAPTER})s?(?!\w)|\0\s?{_COUNTERS})"
    rf"|(?P<division>{_NOT_OF_A_COPY}\b{any_of('divisions')}\.?\s\0|\0{_NTH_SIGN}[\s-]{any_of('parts')})"
    rf"|(?P<day>\0{_NTH_SIGN},?\s{_SECOND_DAY}(?:(?:of|de|d['’])\s?)?{MONTHS})"
    rf"|(?P<hour>\0\s?(?:(?:{SHORT_PAGE}|[ap])\.?\s?m\b|o['’]clock|uhr\b|h\b|in the (?:morn|afternoon|even)))"
    rf"|(?P<age>\b{any_of('ages')} \0"
    rf"|\0[\s-](?:years?[\s-]old|jahre alt|ans|anos|anni|{fold_letters('лет|года?')})(?!\w))"
)
"""The few uses in which a number, here as NUL, may stand where a page is asked for, up to a highest one each."""
NO_AGE = lazily(rf"\b(?:{LOOK_UP})\.?\s\0|\0-")
"""A number, here as NUL, that is looked up, or has a case ending, as no age has: "voyez 104", "a 91-en"."""
BEHIND_A_NAME = lazily(r"\b(?:[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+|s?he|er|sie|elle|lui)\W{1,4}(?:[a-z.]+\s|~)?\Z")
"""What stands before somebody's age: a name or a pronoun."""
LABEL = lazily(r"(?:[.!?…:]\s|\n\W*)(?P<name>[^\W\d_]{3,}) (?:(?:number|no\.|nr\.) )?\Z")
"""What stands before the number of a thing with which a sentence begins: "Lamp 5 is out"."""
LOOK_AT = lazily(
    rf"\b(?:{LOOK_UP}|(?:turn|go) to|open (?:it|the book|your book) at|(?:is|are|was|be|stands?|found|appears?) on)"
    r"\.?\s(?:la\s)?\Z"
)
FOLLOWING = lazily(r"\sff?\.?\Z")
ONWARDS = lazily(r"\s(?:onwards?|weiter|(?:for|has)\s(?:the\s(?:exact|full|whole)|more|details))(?![^\W_])")
IN_A_SOURCE = lazily(r"\((?:[A-ZÀ-ÞА-Я][^\W\d_]+[,.:;]?\s){1,4}\Z")
"""What stands before and after a number that is looked up."""
OF_A_YEAR = lazily(
    r"\b(?:in|since|until|till|by|from|for|(?<!bottom )(?<!top )(?<!foot )(?<!end )of|years?|anno|circa|ca?\.|about"
    r"|before|after|around|to|and|or|early|late|the|edition|published|printed|born|died|written"
    r"|im|jahre?|seit|bis|von|vom|um|en|de|depuis|annee|ano|desde|nel|dal|i|ar|aret|w|v|roku|roce|do|dari|tahun"
    rf"|spring|summer|autumn|winter|copyright|{fold_letters('в|с|до|году|года')}|{MONTHS})\s\Z|[–—-]\Z|©\s?\Z"
)
"""What stands before a year."""
OF_SO_MANY = lazily(
    rf"\sof\s(?:all\s)?(?:the|his|her|their|its|these|those)\s(?:{CARDINAL}++|\d+)\s(?![{PAGE}{FOREIGN}])\w"
)
OF_THEM = lazily(r"\s(?:were|are|had been|have been|of (?:them|these|those))\b")
"""What follows on a part of a number: "29 of the fifty boxes", "of the 50, 29 were found"."""
TIME = lazily(r"(?:[01]?\d|2[0-4])[:.][0-5]\d")
AT_A_TIME = lazily(
    r"\b(?:arriv(?:e|es|ed|al|ing)|leaves?|left|leaving|reach(?:es|ed)?|depart(?:s|ed|ing)?|return(?:s|ed)?|back|due|home"
    r"|w[ao]kes?|rises?|rose|train|boat|ankunft|abfahrt|ankommt|kommt|fahrt|fahren)\b[^.!?\n]{0,40}"
    r"\s(?:at|by|until|till|um|gegen|bis)\s(?:about\s|around\s|etwa\s)?\Z"
)
OF_A_TRAIN = lazily(r"\s(?:train|express|mail|boat|ferry|coach|bus|zug)\b")
"""What stands before and after a time of day."""
IN_SO_MANY = lazily(r"\sin\s\d")
"""What follows on the one of "1 in 5"."""
NAME_BEFORE = lazily(r"\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]{2,}\s\Z")
"""A name before a number."""
BEGINS = lazily(r"(?:[.!?;:,—–(\n*]|\b(?:as|that|and|where|since|but|while))\s*\Z")
"""The end of a text after which a clause begins."""
ADDRESS = lazily(r"://\S+\Z")
"""What stands before a number in an address of the web."""
OPENS = lazily(r"(?:\A|[\n.!?:;=(–—])\W*\Z")
"""The end of a text after which a clause begins."""
OTHERS = lazily(
    r"\b(?:others?|those|these|all|they|you|we|alle[nr]?|ander(?:e|en)|beiden|tutti|tous|todos"
    r"|(?:an?|one|eine?n?) [^\W\d_]+ (?:or|oder))\s\Z"
)
"""Before a small number in words that is no page: "the other two", "a mile or two"."""
JOINS_REFERENCES = lazily(rf"\W*(?:{any_of('joining')}|{PART_OF_A_BOOK}|{SOURCE})?\W*")
"""A word that may precede a reference, or join two."""
_BY_NOW = r"(?: (?:now|only|just|so far|still|already))?"
THE_READER_IS = lazily(
    rf"\byou(?:(?:['’]re| are){_BY_NOW}|(?:['’]ve| have)?{_BY_NOW}"
    r" (?:reached|(?:read|got|gotten|come|been)(?: up| on)? (?:to|until|till|as far as)))\s\Z"
)
"""What stands before the reader's own page: "you've read up to page 42"."""


SPACE = r"[^\S\n]"
"""White space within a line, as a pattern."""
NEXT = lazily(
    rf"[\s-](?P<page>{PAGE}{{5}}|(?<=-){PAGE}{{4}}(?=\s\w)|{FOREIGN}{{2,}})(?!\w)"
    rf"|\s?(?P<unit>[€£¥₽₹×]|x\b|(?:{SHORT_PAGE}|a)\.?\s?m\b|[ap]m\b|out of (?:10|\d)\b|o['’]clock"
    r"|per (?!il|la|lo|le|un|una|i|gli)[a-z]"
    r"|in the (?:morning|afternoon|evening)\b|at night\b|an?\s(?:second|minute|hour|day|night|week|month|year)\b"
    r"|(?:b\.?\s?c|a\.?\s?d|b?ce|[vn]\.\s?chr)\b|,?\s(?:rue|avenue|boulevard|quai|via|calle)\s"
    r"|\s(?:[^\W\d_]{3,}\s){1,2}(?:avenue|crescent|gardens|lane|road|row|square|street|terrace)\b)"
    rf"|(?P<joint>-(?!\s))?{SPACE}{{0,2}}(?:(?!cents?\b){CARDINAL}++\s)?(?P<word>[^\W\d_]+)"
)
"""What follows on a number: a word for page, a unit, or another word."""
VERB_AND_OBJECT = lazily(r"\s[^\W\d_]+s\s(?:the|an?|his|her|their|its|this|that|it|him|them|us|me|how|what|where)\b")
"""Behind a number that tells something rather than counts: "217 covers the wall"."""
PLURAL = lazily(
    r"(?:\b[^\W\d_A-ZÄÖÜ]\w*[^s\W]s|x|i|men|people|feet|teeth|mice|sheep|fish|[^\x00-\x7f])\Z|\b[A-ZÄÖÜ]\w+(?:en|er|e|n)\Z"
)
"""The end of a word in the plural; in German it has a capital letter, and no name in English does."""
NOUGHT = lazily(r"0+(?:[.,]\d+|(?:\s[^\W\d_]+\s|\s?[-–]\s?)\d+)?")
"""No page has this number, alone or as the first of several."""
CALLED = lazily(
    r"\b(?:call(?:ed|ing)?|dial|text|phone|ring|ruf(?:e|t)?|wähl(?:e|t)?|appel(?:ez|le)|llam[ae]|chiama)"
    r"(?:,?\s(?:or|oder|ou|o|an|the|die|le|il|al|\d{3,6})){0,6}[,:]?\s\Z"
)
"""What stands before a telephone number, and before the next one."""
BETWEEN_ALTERNATIVES = lazily(r"\s(?:or|oder|ou|o)\s")
EMERGENCY = frozenset(
    {"911", "112", "988", "999", "000", "110", "111", "116123", "3114", "024", "131114", "144", "143", "142"}
)
"""Numbers for emergencies and for whoever is in despair, in North America, Europe and Australia."""
ISBN = lazily(r"\bisbn[^.!?\n]{0,30}\Z")
NAME_THAT_DOES = lazily(r"[\s*_]{1,4}[A-Z]\w+(?<!s)(?<!m[ae]n)\s(?:is|was|has|[a-z]{2,}[a-rt-z](?:s|ed))\b")
"""Behind a number, somebody who does something: it is no name of what is counted."""
SOMEBODY_IS = lazily(
    r"(?P<name>\b(?:[Hh]e|[Ss]he|[Ww]ho|[Ee]r|[Ss]ie|[Ii]l|[Ee]lle|[Éé]l|[Ee]lla|[Оо]н|[Оо]на|[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+))"
    r"(?:['’][^\W\d_]{1,2}|(?:\s[^\W\d_]+){1,2})\s~?\Z"
)
"""Who somebody is of whom a number may tell how old they are."""
PERSONS = frozenset({"he", "she", "who", "er", "sie", "il", "elle", "el", "ella", "он", "она"})
"""Words for persons that count nothing."""
DECADE = lazily(rf"[1-9]0['’]?(?:s|{FOREIGN_SHORT})")
DECADE_OF_LIFE = lazily(r"\b(?:anfang|mitte|ende) \Z")
MONEY = lazily(r"[$£€¥₽₹]\s?\Z")
OPERATOR = lazily(r"[+×*/÷−x-]")
RESULT = lazily(r"\s?(?:=|is|are|makes?|gives?|equals?)\s?\d")
"""What stands between two numbers and their result, with its first digit."""
OPERATION = lazily(rf"\s?(?:{OPERATOR.pattern}|plus|minus|times|less|divided by)\s?\d+{RESULT.pattern}")
"""Another number and the result of both, behind the first one."""
BEHIND_OPERATOR = lazily(rf"\d\s?(?:{OPERATOR.pattern}|plus|minus|times|less|divided by)\s?\Z")
TO_THE_HOUR = lazily(rf"\s(?:past|vor|nach)\s[\d{CARDINAL}]")
"""Behind minutes: "ten past 3"."""
IS_A = lazily(r"\b(?:is|was|rolled|scored) an?\s\Z")
WORDS_SAID = frozenset(map(fold_letters, words_of_kind("said")))
SHORT_NAME = lazily(r"[A-Z]{1,5}-?\d{1,2}(?:[A-Z]{1,3}\d{0,2})?")
"""A name with numbers: "MP3", "U-2"."""
TOKEN = lazily(r"(?=[\w-]{6,}\Z)(?!0[xb])(?=.*\d[^\W\d_]+\d)[\w-]+|(?![psfln]\d)[^\W\d_]-?\d{1,4}")
"""A word that tells things apart rather than saying something: letters and digits in turn, or one letter and a number.
"""
WITH_UNIT = lazily(r"\d+(?:[.,]\d+)?(?:[ckm]?m|km/?h|[kmµ]?g|lbs?|oz|m?l|h|hrs?|min|s|k|x|d|[kmgt]?b|k?wh?|hz)")
"""A number and its unit in one word: "10km"."""
FIRST_WORDS = lazily(
    r"\A\n\W{0,3}(?:[^\W\d_]+[^\w\n.!?]{1,3}){0,4}"
    r"(?P<listed>(?:\d{1,3}(?:,|\sor|(?P<last>,?\s(?:and|und|et|y))) ){0,9})\Z"
)
"""What stands before a number with which an answer begins."""
GOES_ON = lazily(r"\s(?!(?:and|or|in all|in total|und|et|y|e|of (?:them|us|you)|altogether|insgesamt)\b)[^\W\d_]")
"""A word behind a number that is no end of what is told of it."""
WHOLE = lazily(r"\s?(?:is|was)\s(?!where|when|the|what)")
TAKES_A_NUMBER = lazily(
    rf"\b(?:(?<!\bat )(?<!\bin )(?<!\bon )(?<!\bsee )(?P<said>{any_of('said')}(?: number| no\.| nr\.)?(?!:))"
    rf"|(?P<kind>{KINDS}|tel\.)|(?P<being>{BEING})"
    rf"|(?P<age>{any_of('ages')})|(?P<thing>{any_of('things')}))(?:-|\s?:?\s?){ROUGHLY}{{0,2}}\Z"
    rf"|\d\s?h\s?\Z"
    rf"|[\d{CARDINAL}]\s(?:past|vor|nach)\s\Z|\b(?:part|step|day|night|round|question|volume|act)\s\d{{1,3}}\sof\s\Z"
    r"|\d\s(?:hours?|stunden?|heures?|horas?|ore|uhr)(?: and| und| et| y)?\s\Z"
    rf"|\d\s?(?:m|cm|km|ft|foot|feet|yards?|inch(?:es)?|lb|pounds?|stone)\.?\s(?:(?:by|x)\s)?\Z"
    rf"|(?<!\w)(?:1|{CARDINAL}{{3}})\sin\s\Z|\d[°'’′]\s?\Z"
)
"""The end of a text that takes a number; of some only a small one, for a larger one is a page."""
