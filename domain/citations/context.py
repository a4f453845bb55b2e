"""The words that stand beside numbers, in many languages, and what they tell of them: pages, ages, hours, measures.

The other words by which citations are told are with them, in `context.json`.
"""

import re
from functools import cache, lru_cache

from domain.citations.symbols import (
    CARDINAL,
    COUNTED,
    FOREIGN,
    FOREIGN_SHORT,
    FOREIGN_WORDS,
    LISTS,
    MONTHS,
    PAGE,
    ROUGHLY,
    SHORT_PAGE,
    SMALL_ORDINAL,
    any_of,
    either,
    words_of_kind,
)
from domain.library.search.words import fold_letters, script_of

CHAPTER = rf"ch|chap|chapter|kap|kapitel|cap|chapitre|capitulo|capitolo|{fold_letters('глава|гл')}"
PART_OF_A_BOOK = rf"(?:{CHAPTER}|book|part|act|vol|volume)"
NUMBERED = rf"{CHAPTER}|rozdzia\w+|op(?=\.)|{any_of('numbered')}"
"""Words for things that have numbers, as a pattern."""
KINDS = (
    rf"{NUMBERED}|{any_of('kinds')}|(?:half|quarter) (?:past|to)|\w+(?:strasse|gasse|allee|weg)"
    r"|(?:calle|via|rua|rue|plaza|avenida)\s[^.!?;:()]{1,30},"
    r"|(?:numbers?|count|total|amount|anzahl|zahl|nombre|numero) (?:of|der|von|de|des) (?:[^\W\d_]+ ){0,2}"
    r"[^\W\d_]+(?=:)"
    r"|(?:call|give|rate)(?:s|d)? (?:it|this|that|him|her)(?= an?\s)"
)
"""Words that take a number, as a pattern."""

_TALK = rf"(?<!\bfor ){any_of('talk')}(?!:)"
COUNTED_BY_NOTHING = frozenset(map(fold_letters, words_of_kind("counted_by_nothing")))
NO_THINGS = frozenset(fold_letters(" ".join([*LISTS["roughly"], *LISTS["no_things"]])).split())
DATED = re.compile(rf"\b(?:{MONTHS}|{any_of('dated')}|(?:until|till|since) the\b)")
HOURS = re.compile(rf"\b{any_of('hours')}")
_BIBLE = any_of("books_of_the_bible")
BOOK_OF_THE_BIBLE = re.compile(rf"\b(?:{_BIBLE})\.?\s\Z")
SCRIPTURE = re.compile(rf"\b(?:{_BIBLE}|{any_of('books_with_other_names')})\.?\s\Z")

COUNTED_PAGES = " ".join(LISTS["counted_pages"])
"""Behind a number these are counted: "38 sayfa" are 38 pages, while "38 sayfada" is on page 38."""


_KNOWN_SCRIPTS = {*map(script_of, FOREIGN_WORDS.split()), "CJK", "HIRAGANA", "KATAKANA", "HANGUL"}


def is_of_known_script(word: str) -> bool:
    """Whether words for page are known in the script of a word; of others any word may be one. Empty is known."""
    return not word or script_of(word) in _KNOWN_SCRIPTS


NO_LABEL = re.compile(rf"{any_of('leading')}|{MONTHS}|\w+(?:ed|ing)|turn\w*|(?:re)?read\w*|look\w*")
"""Words before a number that lead to a place in a book, so that the number is no name of a thing."""
COUNTED_THINGS = re.compile(
    r"(?:[\s-][^\W\d_]+){0,3}?"
    r"[\s-](?!(?:is|was|his|this|its|us|as|thus|has|does|says|tells|always|perhaps|dies|goes|sees)\b)"
    rf"(?:{COUNTED}|[^\W\d_]+s|[^\W\d_]*(?:men|women|children)|people|feet|teeth|mph|km|kmh|kg|mg|lb|cm|mm|ml|[kmgt]i?b|[kmg]hz|nm|rpm|mice|sheep|per|percent|stone|dozen|o['’]clock|am"
    rf"|noon|(?:jahren|tagen|grad|uhr|(?:de\s)?{MONTHS}|of))\b"
)
"""Nouns in the plural, after "on", "at" and the like, with which references begin."""
_STREET = r"(?:street|st|road|rd|lane|avenue|square|place|terrace|row|court|drive|way|close|crescent|gardens)\b"
COUNTED_NAME = re.compile(
    rf"\s(?:[^\W\d_]+s\b|[^\W\d_]*men\b|(?:tage|jahre|stunde|minute|woche|monate|band|teile)n\b|{MONTHS}\b"
    rf"|(?:\S+\s){{0,2}}{_STREET})"
)
LOOK_UP = rf"see|cf|compare|vgl|vergleiche?|siehe|voir|voyez|vease|vedi|zie|ver|{fold_letters('смотри|см')}"
SEE = rf"{LOOK_UP}|also|refer to|(?:turn|go) to|look (?:at|on)|check|auch|dazu|hierzu|auf|aussi|anche|ook|on|in"
AGES = re.compile(
    r"\b(?:how old|ages?|aged|years? old|(?:old|young)est|wie alt|Alter|Jahre alt|quel âge|qué edad|años|che età"
    r"|anni)\b",
    re.IGNORECASE,
)
"""Words where ages are told or asked for."""
COUNTS = re.compile(
    r"\b(?:how (?:many|often|much(?!\s\w+er\b)|long|far|tall|high|big)|(?:what|which) (?:number|year)"
    r"|wie (?:viele?|oft|lange?|weit|hoch)|combien|cu[aá]nt[oa]s?|quant[oiae]s?|сколько|hvor mange|hur m[aå]nga"
    r"|hoeveel|kuinka monta|h[aá]ny|kaç|ile)\b|何人|何歳|いくつ|多少|几[个岁]|몇\s?[살명개]|كم|כמה|कितन",
    re.IGNORECASE,
)
"""Words with which a number is asked for."""
ASKS_FOR_ONE = re.compile(
    rf"{COUNTS.pattern}|\b(?:(?:what|which)(?:['’]s|\sis|\swas)?(?:\s(?:the|his|her|their|my))?\s{any_of('asked_for')}"
    r"|which (?:one|of)|how (?:old|thick|fast|heavy|deep)|what(?:['’]s|\sis)\s(?:half\sof\s|twice\s)?\d+"
    r"|(?P<hour>when|what time|wann|um wie ?viel uhr|(?:à|a) (?:quelle heure|qu[eé] hora|che ora)|cuándo|quando|когда)"
    r"|wie (?:alt|dick|schnell|schwer)|welche[msnr]? (?:jahr|kapitel|zimmer|alter|vers|zeile|uhrzeit)"
    r"|quel(?:le)? (?:age|âge|chapitre|heure|annee|année)|qu[eé] (?:edad|cap[ií]tulo|hora|a[nñ]o))\b",
    re.IGNORECASE,
)
"""Words with which one is asked for that may be the whole answer: "In which chapter?" "21." """
MAY_BE_A_PAGE = re.compile(r"number|answer|total|\b(?:one|of|far|when|line|wann|weit|cu[aá]ndo|quando|когда)\b", re.I)
"""Where a number is asked for, what may mean a page as well: "which number?", but not "how old?"."""
AGE_IN_BRACKETS = re.compile(
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
IT_IS = re.compile(
    rf"[.!?:;\n]\W*(?:(?:yes|no|so|and|ja|nein|und|oui|si|i (?:think|believe|guess|suppose))\W+(?:that )?)?"
    rf"(?:(?:(?:it|this|that|es|das|dies|ce|eso|esto|questo)\s|c['’])(?:(?:must|would|should|may|might|could|will)\s)?)?"
    rf"(?:(?:it|that)['’](?:{FOREIGN_SHORT}|d\sbe)|is|was|be|ist|war|est|etait|es|era)\s(?:{ROUGHLY}{{0,2}}|la\s)\Z"
    rf"|\b(?:later|earlier|sooner|further|farther)\sthan\s\Z"
)
"""The answer to a question, which may be that for the page: a number in its own right is told of somebody."""
OTHER_WORD = re.compile(
    r"\A(?:seize|cents?|vent|trent|sexton|seis)\Z|\b(?:thousand|tausend|mill?e?|тысяч\w*)\b|(?:hundred|hundert|cien)\Z"
    r"|\A(?:ten|twelve|\w+teen|twenty)[\s-](?:hundred|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
"""Words of another language, round numbers, and years such as "nineteen eighty-four"."""
HOMOGRAPHS = re.compile(rf"(?:(?:una?|ein)\s)?{any_of('homographs')}(?:\s(?:one|un[ao]?|eine?[mnrs]?))?\Z")
"""Numbers that are ordinary words, most of them in another language: alone, they are none."""
PAGES_IN = re.compile(
    r"[\s-](?:pages?|lea(?:f|ves)|sheets?)\s(?:in(?:to)?|deep|to go|left|later|further|earlier|remaining|mark|point)"
    r"(?:\W*(?:[.,;:!?)…]|\Z)|\s(?:you|we|he|she|they|(?:in |of )?(?:the|this|my|your) (?:book|novel|story|text)"
    r"|from)\b)"
)
TELLS = re.compile(
    r"\s[^\W\d_]+(?:s|ed)\s(?:that|how|what|why|where|us|it|clear|plain|so|him|her|of the|about the"
    r"|the (?:story|scene))\b"
)
AT_AN_AGE = re.compile(
    rf"\b{any_of('life_events')}\sat\s(?:\d{{1,3}}\b[^.!?;:\d\n]{{1,30}}\sat\s)?{ROUGHLY}?\Z|\bmit\s{ROUGHLY}?\Z"
    rf"|\b(?:(?:age(?:\sat\s[a-z]+)?|alter|edad|eta|idade)\s?:|aged?|the age of|alter von|s?he look(?:s|ed)"
    rf"|(?:s?he|age) (?:is|was)(?: between| given as)?|(?:er|sie) (?:ist|war) zwischen)\s{ROUGHLY}?\Z"
)
ONE_OF_A_SERIES = re.compile(
    rf"(?:\b(?:is|was|ist|war|turn(?:s|ed)|aged?)\s{ROUGHLY}{{0,2}}\d{{1,3}}\b|, \d{{1,3}} (?:by|in|at|when|as)\s)"
    r"[^.!?\n]*,?\s(?:(?:and|und)\s)?\Z"
)
_A_NAME = r"(?<!\d )(?<!\d\. )(?<!\d[snrt][tdh] )(?<!\b[IiOoAa][nmt] )\b[A-ZÀ-ÝА-ЯΑ-Ω][^\W\d_]+(?:\*\*|__)?"
BESIDE_A_NAME = re.compile(
    rf"(?:{_A_NAME}|\b(?:[Hh]is|[Hh]er|[Tt]heir|[Ww]hose) age),\s(?:~|(?:then|now|only|just|already|still|barely)\s)?\Z"
)
ONLY = re.compile(rf"{_A_NAME}\s(?:only|just|barely|merely|already|now|nur|erst|gerade|schon|knapp|kaum)\s\Z")
BEHIND_A_NAME = re.compile(
    rf"(?:{_A_NAME}\s\((?:(?:about|around|nearly|etwa|fast) |ca\.? |~)?|\(\d{{1,3}}, (?:later|then|später|dann) )\Z"
)
BEHIND_ITS_BEARER = re.compile(rf"(?:{_A_NAME}|\b(?:[Ss]?[Hh]e|[Ee]lle|[Ll]ui|[Ee]r|[Ss]ie))\W{{1,4}}\Z")
CLOSES_AGE = re.compile(r"(?:, (?:later|then|spater|dann) \d{1,3})?\)")
_PARALLEL = r"[^.!?\n]*(?:[,;]|\b(?:and|und|et|y))\s(?:(?:and|und|et|y|while|but)\s)?"
ANOTHERS_AGE = re.compile(
    rf"(?:\d{_PARALLEL}(?:s?he|er|sie|lui|elle|él|ella)|\b[Aa]ges:\s(?:[A-Z]\w+ \d{{1,3}}, (?:and )?)*[A-Z]\w+"
    rf"|(?:\b(?:be|is|was|ist|war|has|had|a|avait|tiene|tenía|aged?)\s(?:\w+\s)?\d{{1,3}}\b|\d\s(?:года?|лет)\b){_PARALLEL}"
    r"(?:(?:d['’])?[A-ZÀ-Þ]|(?:his|her|their|the|d(?:er|ie|as)|seine?|ihre?|sa|son|su)\s(?:[a-z]+\s(?=[A-Z]))?|[а-яё])[^\W\d_]+)\s(?:(?:about|etwa|environ|unos)\s)?\Z"
)
"""What stands before the second number in "He is 25, she 31"."""
_E_READER = (
    rf"(?:\b(?:kindle|kobo|tolino|e-?books?|e-?readers?|liseuse)(?![a-z])|{fold_letters('キンドル|электронной книг')})"
)
_IN_FILES = rf"(?:\b{any_of('locations')}|{fold_letters('位置')}|{_E_READER})"
_LINE = rf"(?:\b{any_of('lines')}\W{{0,3}}\0|\0\.?\s{any_of('lines')})"
LOCATION = re.compile(
    rf"(?P<named>{_IN_FILES})\W{{0,3}}(?:n[or]\W{{0,2}})?\0|{_E_READER}[^.!?\n]*(?<! in )\0|\0[^.!?\n]*{_E_READER}"
    rf"|(?P<mark>\bthe \0 (?:minute )?mark\b|{_LINE},?\s(?:of|in|des|dieses|der|im|du|de|del|van|i|w)\s"
    rf"(?:[^\W\d_]+\s){{0,2}}?(?:{CHAPTER}|{any_of('books')}|[{PAGE}-{FOREIGN}]))"
)
"""Where a number, here as NUL, is a place in the file of an e-book, or a line."""
RECORDING = re.compile(rf"\b{any_of('recordings')}")
HEARD = re.compile(
    rf"(?:\b(?:tracks?|titel|disc|cd|\w*{any_of('minutes')})\W{{0,2}}|{fold_letters('第')}"
    rf"|\b(?:at|bei|nach|ab|a|au|en|al|alla?|om|op|na|w|po|vid|{fold_letters('на|в')}) {ROUGHLY}{{0,2}}"
    r"|\d\s?(?:std|stunden?|h|hours?|hrs?|heures?|horas?|ore)\.?,?\s(?:(?:and|und|et|y|e)\s)?)\0"
    r"|\0[^.!?\n]{0,30}\b(?:in|into)\b"
)
"""Where a number, here as NUL, is a time, if a recording is spoken of."""
_PROGRESS = rf"\b(?:progres\w*|\w*fortschritt|{fold_letters('прогресс')})"
_KEY = r"\w*(?:position|percent|offset)\w*"
_SOMEHOW = r"(?:(?!least|most|moins|plus|peine|menos|mas)[^\W\d_]+\.? )?"
PLACED = re.compile(
    r"(?P<surely>[.!?:;,—–\n]\W{0,4}(?:after|before|until|past) \0"
    rf"|(?:{fold_letters('進捗|在')})\0"
    rf"|{fold_letters('全書|全书|小説|小说|物語|故事|책의|소설의')}[^.!?\n]{{0,8}}\0(?!\s?(?:{fold_letters('は|が|是|은|는|이|가')}))"
    rf"|\0{fold_letters('の')}?\s?(?:{fold_letters('ところ|所|位置|を過|時点|地点|あたり|付近|处|處|时|時|지점|부분|쯤')})"
    rf"|\0 {fold_letters('पर')}(?!\w))"
    r"|(?<!['’])\b(?:(?P<german>bei|nach|ab|gegen|zwischen)|at|near|(?<!is )(?<!was )around|au?|vers|apres|autour de"
    rf"|au bout d[eu]|al|{fold_letters('на|в районе')}|na|en el|hacia el|en torno al|verso il|intorno al|aos?"
    rf"|por volta d[eo]s?|rond|vid|w okolicach) {_SOMEHOW}\0|[.!?:;,—–\n(]\s?{_SOMEHOW}(?:by|after|before|until|past"
    rf"|between|(?<!, )(?<!up )from|op|sobre el|a partir del?|{fold_letters('около|после|к|до')}) {_SOMEHOW}\0"
    rf"|(?:{_PROGRESS}|\b{_KEY}[\"']?\s?[:=])[^.!?\n]{{1,20}}\0|\bby \0(?=\W*(?:[.,;:!?)—–]|\Z))"
)
"""A share, here as NUL, that is a place in a book."""
TOLD = re.compile(
    r"(?P<surely>\b(?:you(?:['’](?:re|ve)|\s(?:are|have))|du (?:bist|hast)|(?:sie|ihr) (?:sind|haben|seid|habt)"
    rf"|tu (?:es|as)|vous (?:etes|avez)|estas|has|{fold_letters('вы|ты')})\s[^.!?\n]{{0,20}}\0"
    rf"|[.!?;:,—–(\n]\W*{ROUGHLY}{{0,3}}\0 (?:{BEING}|(?!as\b)[^\W\d_]+s)\b)"
    rf"|\0 (?:der|des|du|del?|vom|von|van|di|{fold_letters('из')}) "
    rf"|[\n,;]\W*(?!{_IN_FILES}|{_PROGRESS}|{_KEY}|{SOURCE})[^\W\d_]+: \0"
    rf"|(?:\b(?:half|quarter|(?:maj|min)orit[ye]|tiers|most"
    rf"|halfte|[vd]\w{{3}}tel|mehrheit|moitie|mitad|mayoria)|{SMALL_ORDINAL}+)(?: (?!book|story)[^\W\d_]+){{0,3}} \(\0"
    r"|\b(?:likely|rain|showers|snow|interest|payable|pays?|paid|borrow\w*|yield\w*|invest\w*|rates?|odds|chances?|tax\w*|\w*zins\w*|\w*quoten?(?!\")|taux|impots?|interes"
    rf"|(?:{fold_letters('ставк|налог|вырос|упал|сни[зж]|увелич|сокра|повы')})\w*)\b|\b(?:lent|peak(?:s|ed)|st(?:an|oo)ds?|set"
    r"|f[ae]lls?|r[io]se|drop\w*|gr[eo]w\w*|shr[aiu]nk\w*|cut\w*|outs[eo]l\w+|w[io]n\w*|lost"
    r"|loses?|up|down|rais\w+|lower\w*|reduc\w+|\w\wcreas\w+|solution|costs?|should|must|keeps?|stay|ranges?)"
    r" [^.!?\n]{0,20}\0"
)
"""A share, here as NUL, of something that is told, or a rate; `surely` also one of the book, or the reader's own."""
HOTLINE = re.compile(
    r"\b(?:(?:life|help|hot)[\s-]?line|telefonseelsorge|notruf\w*|emergency (?:number|services?))\b[^.!?,;()\n]{0,20}\Z"
    r"|\b(?:call|dial|phone|ring)(?:ing)? or text(?:ing)? \Z|\b(?:call|dial|phone|text)\s\+?\d[^.!?\n]{0,24}\sor\s\Z"
)
_OF = rf"(?:out of|of|in|von|sur|su|de|de cada|van|av|{fold_letters('из')})\s(?:(?:the|den|allen|les|los|insgesamt)\s)?"
_SOME = rf"(?:\d{{1,4}}|{CARDINAL}++(?:-{CARDINAL}++)?)"
OF_SO_MANY = re.compile(rf"{_SOME}\s{_OF}(?P<total>\d+)(?P<noun>\s[^\W\d_]+)?")
"""A number and all of which it is a part."""
SO_MANY_OF = re.compile(rf"(?:\A|[.!?\n]\s?|\b(?:only|just|nur|seule?s|solo|about)\s){_SOME}\s{_OF}\Z")
OF_THOSE = re.compile(rf"\b{_OF}{_SOME}\s[^\W\d_]+,\s\Z")
"""What stands before a part of that many: "Of the 8 dwarves, 3"."""
ADDRESS = re.compile(
    r"\b(?:[Aa]ddress|[Aa]dresse|Anschrift)(?:\s(?:is|was|ist|war|lautet|est|était)|\s?:)\s(?:[A-ZÀ-Þ][\w'’.]*,?\s){1,3}\Z"
)
IN_WORK = re.compile(
    r"[*_“„«\"](?P<title>[^*_“”„«»\"\n]{3,60}(?<!:))[*_”“»\"]{1,2},?\s(?:(?P<book>[IVXLC]{1,7})[,.:]\s?)?\Z"
)
"""The end of a text that names a work and perhaps its book: "*Paradise Lost* X, "."""
SHARED_OUT = re.compile(
    r"\b(?:are|were|has|have|had|gets?|got|received|takes?|took|went)\s(?P<most>\d{1,2})(?=[^,]*(?:,|\sand\s))"
    r"(?:,|\s(?:at|in|to|for|and)\b|\s[A-ZÀ-Þ][\w'’]*|\s\d{1,2}\b)+\s\Z"
)
"""Before a smaller number that counts what the first one counts: "There are 29 at Carfax, 6 at Mile End, "."""
_THEN = "(?:then|later|dann|spater|puis|luego|poi)"
OF_THE_SAME = re.compile(
    rf"\b(?P<way>at|for|by)\s(?P<most>\d{{1,3}})[\s-]{any_of('units')}[^.!?;:\d\n]{{0,40}},[^.!?;:,\d\n]{{1,30}}\s(?P=way)\s\Z"
    rf"|\d\s?(?:%|[^\W\d_]+s\b|{any_of('units')})[^.!?;:\d\n]{{0,30}},\s(?P<then>(?:and\s)?{_THEN}\s(?:\d+,\s|\Z)){{1,5}}"
)
"""Before one of the same unit, which is no larger without `then`: "at 11 knots, the launch at ", "5 mg, then "."""
LISTS_NUMBERS = re.compile(
    r"\b(?:chapters|acts|parts|books|lines|verses|scenes|kapiteln|(?P<one>kapitel)|chapitres|capitulos|psalms?|genesis|[1-3]?\s?(?:kings|cor)"
    r"|days|nights|steps|phases|matthew|mark|luke|john|romans|aged?|ages|coordinates are)[.:]?\s(?:\d+|[ivxlc]{2,7})"
    r"(?:(?:,\s?|\s|[-–])(?:(?:and|or|to|und|et|y|e)\s)?(?:\d+|[ivxlc]{2,7}))*,\s(?:(?:and|or)\s)?\Z"
)
"""The end of a text that lists chapters or verses."""
PLACE = re.compile(
    r"(?:\b(?:numbers?(?!\s\Z|\s(?:on|over|above)\s(?:the|an?|his|her|its|their)\s(?:[a-z]+\s)?[a-z]{3,}\s(?:was|is)\s)|place|reference|passage|pasaje|referencia|spot|corner|sources?|location|position|citation|stelle|where|paperback"
    rf"|edition|copy|penguin|norton|hardcover)\b|[{PAGE}-{FOREIGN}])[^.!?]*\Z|(?:[.!?:;,—–\n(]\s?|read )up to \Z"
)
INTO = re.compile(
    r"[\s-]\S+\s(?:in(?=\W*[.,;:!?)…]|\s*\Z|\s(?:the|this|my|your|to)\b)|into|before|after|short|from|later|earlier|past|behind|ahead|deep|on"
    r"|spater|weiter|fruher|zuvor|plus (?:loin|tard)|despues|mas adelante|dopo|depois|verder|later|senare)\b"
)
READ = re.compile(r"(?:\bafter|\bна|\b(?:after|once|when)\b[^.!?]{0,20}\bread)\s\Z", re.IGNORECASE)
OF_THE_BOOK = re.compile(
    r"\sof (?:(?:the|this|my|your|that) )?(?:book|novel|edition|story|text|copy|volume|paperback|print)"
    r"|\swhere\b|\sin (?:mine|yours|(?:my|this|your|that|the)\s(?:\w+\s)?(?:copy|edition|book|paperback))\b"
)
BEHIND_A_MONTH = re.compile(
    rf"(?:(?P<day>\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:(?:of|de)\s)?)|\b){MONTHS}\.?[,:]?\s(?:the\s)?{ROUGHLY}{{0,2}}\Z"
)
MONTH = re.compile(rf"\s(?:de\s)?{MONTHS}\b")
HAS = re.compile(
    r"\b(?:has|have|had|hat|haben|hatten?|(?:livre|roman|ouvrage|texte) a|tiene|tem|heeft|har)"
    rf"(?:\sread)?\s{ROUGHLY}?\Z"
)
ASKS_WHERE = re.compile(
    r"\bhow (?:far|many pages) (?:in|into|through)\b|\bwhere (?:in the (?:book|novel|text)|does it say)\b"
    r"|\bwhere (?:is|was) (?:that|this|it) (?:written|said|told|mentioned|described|from)\b"
    r"|\b(?:hvilken side|hokker side|kiu pago|welcher sait|kaca pira|qaysi bet)\b"
    r"|\A\W*(?:and )?(?:the |your )?(?:source|citation|reference|quelle|beleg|fundstelle)s?\W*\Z"
)
"""Questions for a place in the book that have no word for page; as a text reads."""
GERMAN_ORDINAL = re.compile(r"\b(?:im|de[rmns]|die|das|am|zum|zur|beim|vom|eine?[rmns]?|jede[rmns]?)\s\Z")
ON_A_DAY = re.compile(r"\b(?:on|by|from|since|after|before|for|to) the\s\Z")
AT_AN_HOUR = re.compile(rf"\b(?:at|by|until|till|before|um|gegen|vor|a las)\s{ROUGHLY}?\Z")
GOES_ON = re.compile(
    r"(?!\sin the (?:book|novel))\s(?:by|in|at|when|as|on|during|after|before|bei|im|am|beim|als|nach)\s"
)
IS_SO_OLD = re.compile(rf"\b(?:s?he|they)\s(?:is|was|are|were)\s{ROUGHLY}?\Z")
AT_THE_TIME = re.compile(r"\s(?:when|as|at the time)\b")
OF_AN_AGE = re.compile(r",\s(?:she|he)\s(?!says|said|tells|told|writes|wrote|describes|explains|mentions)")
PART_OF_MEASURE = re.compile(
    rf"\+(?=\s)|\s(?:by|x|×)\s\d|['’′]\d{{1,2}}[\"”″]|\scents?\b|(?:[-–—]|\s(?:to|or|bis|oder|a|o)\s)[-−]?\d+\s?[%°]|(?:—|--)(?=[\"”'’),.;])|\.\s(?:{PART_OF_A_BOOK}|buch|buches|teil|teils|akt|szene|band)\b"
)
PLURAL = re.compile(r"\s(?:are|were|have|do|did|sind|waren|haben|hatten|sont|ont|avaient|eran|tienen|han)\b")
AT_A_TIME = re.compile(r"\b(?:at|bei|nach|ab|a|al?|alle) \0")
IN_A_RANK = re.compile(r"\b(?:came|comes|finish(?:es|ed)|placed|ranks|ranked)\s\Z")
CITING = re.compile(rf"(?:^|[,;:.(\[–—\n]|\b(?:{LOOK_UP})\.?(?: (?:le|el|il|la))?)\s?\Z")
IN_ENGLISH = re.compile(r"\b(?:on|at|in|see|by|per|from|as|says?|to)\s(?:the\s)?\Z")
ABBREVIATED = re.compile(r"\s(?!b\.\s?c|a\.\s?d)[a-z]\.\s?[a-z]\.")
"""As "m. w. N." after a reference, which is no number of metres."""
THE_ONE = re.compile(r"\b(?:la|el|il|lo|alla|nella|dalla|della)\s\Z")
ON_GERMAN = re.compile(r"\b(?:auf|ab|bei|bis|um)\s(?:der\s)?\Z")
GERMAN_VERB = re.compile(r"\s(?:[a-zäöüß]*[^\Waeiou\d_]t|war|kam|wird|wurde|hatte|fand|sah)\s")
DEALT = re.compile(
    r"\b(?P<most>\d{1,2})\s[^.!?;:\n]{0,60}?\b(?P<way>to|in|at|for|from|with)\s[^.!?;:\d\n]{1,40}(?:,|\s(?:and|und))\s"
    r"(?:\d{1,2}\s(?P=way)\s[^.!?;:\d\n]{1,40}(?:,|\s(?:and|und))\s)*\0\s(?P=way)\s"
)
"""A number, here as NUL, with the same preposition as a larger one before it: "29 went to Carfax, 6 to Mile End"."""
IN_CHAPTERS = re.compile(
    rf"\bin\s(?:{CHAPTER})\.?\s\d[^.!?;:\n]{{0,50}}(?:,|\sand)\s[^.!?;:,\d\n]{{1,30}}\sin\s\0"
    r"|\bchapters\s\d[^.!?;:\n]{0,60},\s(?:and\s)?\0\s(?:in|on|are|is|tell)\b"
)
"""Another chapter, here as NUL: "flies in chapter 6, spiders in 7"."""
HEADS_NUMBERS = re.compile(
    r"\b(?:chapters|kapitel|chapitres|capitulos|(?:number|count|anzahl|nombre|numero)s?\s(?:of|der|de|von)|how many"
    r"|ages|alter|edades)\b(?!.*\d)"
)
"""In a line above a list: its items have chapters, ages or counts."""
_COUNTERS = either(" ".join(LISTS["counters"]))
_NTH_SIGN = rf"(?:st|nd|rd|th|er|re|e|o|a|de|ste|[.º°ª]|-?{either('й я го ой ая')}|{fold_letters('번째')})?"
_NOT_OF_A_COPY = "".join(rf"(?<!\b{word} )" for word in " ".join(LISTS["before_a_copy"]).split())
"""What does not stand before the name of a thing: behind "in my book" it is not the book's number that follows."""
_UNITS = rf"(?:{COUNTED}|{any_of('units')})"
_SECOND_DAY = rf"(?:(?:and|or|und|et|y|e|to)\s(?:the\s)?\d{{1,2}}{_NTH_SIGN}\s)?"


@cache
def plain_use() -> re.Pattern[str]:
    """The few uses in which a number, here as NUL, is surely no page, whatever was asked for."""
    return re.compile(
        rf"(?<!\w){_NOT_OF_A_COPY}(?:{NUMBERED}|{_BIBLE})\.?\s\0"
        rf"|\0{_NTH_SIGN}[\s-](?:{CHAPTER}|{any_of('parts')})(?!\w)|\0\s?{_COUNTERS}"
        rf"|\0{_NTH_SIGN},?\s{_SECOND_DAY}(?:(?:of|de|d['’])\s?)?{MONTHS}"
        rf"|\0[\s-]?{_UNITS}(?!\s\d)|\0[\s-]{PAGE}+\s(?:long|thick|in all|altogether|so far)(?!\w)"
        rf"|[$£€¥₽₹]\s?\0(?!\$)|\0\s?(?:[€£¥₽₹°]|(?:{SHORT_PAGE}|[ap])\.?\s?m\b|o['’]clock|uhr\b|h\b)"
        r"|\0\s(?:in the (?:morning|afternoon|evening)|at night)\b"
        r"|\b(?:half|quarter|viertel|halb) (?:(?:past|to|vor|nach) )?\0|\bthere (?:are|were) \0"
        r"|\b(?:a|an|one|ein|eine|einen) [^\W\d_]+ (?:or|oder) \0"
        rf"|\b(?:liv(?:es?|ed|ing)|resid\w+|wohn\w+) (?:at|in) \0|\0\s(?:[^\W\d_]+\s){{1,2}}{_STREET}"
    )


_LAW = rf"(?:gesetz|\b[a-z]{{1,4}}gb\b|\b{any_of('laws')})"
OTHER_USE = re.compile(
    rf"{_LAW}[^\0]*§\s*\0|§\s*\0.*{_LAW}|\d\s?[×÷*+]\s?\d+\s(?:(?!on|at|in|see)[^\W\d_]+\s){{1,3}}\0"
    rf"|(?:\d|{CARDINAL}),\s(?:almost|nearly|perhaps|maybe|fast|beinahe|presque|casi)\s\0|\0['’]?{FOREIGN_SHORT}(?!\w)"
    r"|\0\s(?:in (?:all|total)|altogether)(?=\W*(?:[.,;:!?)]|\Z))|\d\s(?:ft|feet|foot) \0"
    r"|\b(?:(?:highs?|lows?) (?:of|near)|feels like) \0|°[cf]?\s?(?:on|in|at)\b[^.!?\n]*, (?:and )?\0 (?:on|in|at)\b"
)
"""Uses in which a number, here as NUL, is no page unless one was asked for: laws, results, decades, totals, weather."""
OPENS = re.compile(r"(?:\A|[\n.!?:;=(–—])\W*\Z")
"""The end of a text after which a clause begins."""
SCORED = re.compile(r"\b(?:scores?d?|w[io]ns?|lo(?:st|ses?)|beats?|match|game)\b[^.!?\n]*\Z")
OF_THEM = re.compile(r"\sof\s(?:them|these|those|the|us|his|her|their)\b")
OTHERS = re.compile(r"\b(?:others?|those|these|all|they|you|we|alle[nr]?|ander(?:e|en)|beiden|tutti|tous|todos)\s\Z")
LEADS_TO_A_PLACE = re.compile(
    rf"(?:\b(?:{any_of('leading')}|{any_of('roughly')}|{any_of('placing')})|,|['’]{FOREIGN_SHORT})\s\Z"
)
"""The end of a text after which a number may be a page unless it counts something."""
PLURALS = re.compile(
    rf"[\s-]{any_of('no_plurals')}"
    r"|(?P<plural>[\s-][^\W\d_]+(?:s|men|people|children|feet|mice))(?![\w'’])"
)
"""What follows on a number that counts it; without the group, what is no plural although it may look like one."""
JOINS_REFERENCES = re.compile(rf"\W*(?:{any_of('joining')}|{PART_OF_A_BOOK}|{SOURCE})?\W*")
"""A word that may precede a reference, or join two."""
_BY_NOW = r"(?: (?:now|only|just|so far|still|already))?"
THE_READER_IS = re.compile(
    rf"\byou(?:(?:['’]re| are){_BY_NOW}|(?:['’]ve| have)?{_BY_NOW}"
    r" (?:reached|(?:read|got|gotten|come|been)(?: up| on)? (?:to|until|till|as far as)))\s\Z"
)
"""What stands before the reader's own page: "you've read up to page 42"."""


@cache
def takes_a_number() -> re.Pattern[str]:
    """The end of a text that takes a number; `thing`: not as a citation, ", item 38."; `talk`: also of what is no page,
    if pages are not spoken of.
    """
    return re.compile(
        rf"\b(?:(?P<kind>{KINDS})|(?P<being>{BEING})|(?P<talk>{_TALK})"
        rf"|(?P<thing>nos?|nr|numbers?|nummer|numero|{fold_letters('номер')}|items?|sections?|sect?|lines?|pos|positions?|notes?|house|table|figure))"
        rf"\.?:?\s?{ROUGHLY}{{0,2}}\Z|[$£€¥₽₹]\s?\Z|\d\s?(?:[+×*/=^−-]|h|% of)\s?\Z|(?<=\s)['’.−-]\Z"
        rf"|(?<=[a-z])(?<!\bmid)-\Z|(?:(?:\A|[\n.!?]\s?)(?:only\s|just\s)?|\ba\s)(?:1|{CARDINAL}{{3}})\sin\s\Z"
        rf"|[\d{CARDINAL}]\s(?:past|vor|nach)\s\Z|\b(?:part|step|day|night|round|question|volume|act)\s\d{{1,3}}\sof\s\Z"
        r"|\d\s(?:less|(?:[a-z]{1,6}\s)?by)\s\Z|\d\s(?:hours?|stunden?|heures?|horas?|ore)(?: and| und| et| y)?\s\Z|://\S{0,60}\Z"
        r"|\b(?:divided by|multiplied by|minut\w{1,2}|geteilt durch|divise par)\s\Z"
        rf"|(?<![\w{PAGE}-{FOREIGN_SHORT}])(?!{SOURCE})(?P<named>[a-z_]{{1,20}})\s[=%<>]=?\s\Z"
    )
