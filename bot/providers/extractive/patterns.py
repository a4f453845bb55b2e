"""How readers put what is no plain question to the book: greetings, counts, lines, pages, contents, summaries."""

import re


def _one_of(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _anywhere(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_one_of(*alternatives)}", re.IGNORECASE | re.DOTALL)


def _whole(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\W*{_one_of(*alternatives)}\W*", re.IGNORECASE)


_THE_BOOK = "(?:the|this) (?:book|novel|story|tale|plot)"
_PRAISE = "(?:ok(?:ay)?|great|perfect|wow|nice|cool|super)"
_HELPED = "(?:[,.! ]+(?:that|this|it)(?:['’]s| is| was| has)? (?:really |very )?(?:help(?:s|ed|ful)|useful|great))?"
REMARKS = {
    "greeting": _whole(
        r"(?:hi|hello|hey|greetings|good (?:morning|evening|afternoon|day))(?:,? (?:there|all|everyone|marginalia))?",
        "hallo|guten (?:tag|morgen|abend)|moin|servus",
        "bonjour|bonsoir|salut|coucou",
        "hola|buen[oa]s (?:días|tardes|noches)",
    ),
    "thanks": _whole(
        rf"(?:{_PRAISE}[,.! ]*)*(?:thanks|thank you|thx|{_PRAISE})(?: (?:so|very) much| a lot)?{_HELPED}",
        "bye|good ?bye|good night|see you",
        "(?:vielen )?dank(?:e(?: schön)?)?|tschüss",
        "merci(?: beaucoup)?|au revoir",
        "(?:muchas )?gracias|adiós",
    ),
    "abilities": _whole(
        r"help|how can you help(?: me)?|(?:so )?what (?:can|do) you do|how (?:do you|does this) work",
        "(?:who|what) are you",
        r"are you (?:an? )?(?:ai|bot|robot|human|real|person)",
        r"what(?:['’]s| is) your (?:opinion|view|favou?rite)\b.*|what do you (?:think|feel) (?:of|about)\b.*",
        r"(?:did|do) you (?:like|love|hate|enjoy)\b.*",
        r"was (?:hältst|denkst|meinst) du\b.*|que penses-tu\b.*|qué (?:opinas|piensas)\b.*",
        "hilfe|was kannst du|wer bist du",
        "aide|que peux-tu faire|que pouvez-vous faire|qui (?:es-tu|êtes-vous)",
        "ayuda|qué puedes hacer|quién eres",
    ),
    "book": _whole(
        rf"who (?:wrote|is the author of) (?:it|{_THE_BOOK})|who(?:['’]s| is) the author",
        rf"what(?:['’]s| is) the (?:title|name) of {_THE_BOOK}|(?:what|which) book (?:is this|are we on)",
        "wer hat (?:das|dieses) buch geschrieben|qui a écrit ce livre|quién escribió este libro",
    ),
}
"""Messages that are nothing but this, by the phrase that answers them."""

_LABEL = r"(\d+|[ivxlc]+)"
POSITION = _whole(
    rf"i(?:['’]m| am)(?: now| currently)? (?:on|at) (?:page|p\.) ?{_LABEL}(?: now)?",
    rf"i(?:['’]ve| have) (?:just )?read (?:up )?to (?:page|p\.) ?{_LABEL}",
    rf"ich bin (?:jetzt )?(?:auf|bei) seite {_LABEL}",
    rf"je suis (?:maintenant )?à la page {_LABEL}",
    rf"estoy en la página {_LABEL}",
)
CONTENTS = _anywhere(
    r"table of contents\b|(?:what|which)(?: are the| \w+)? chapters\b|list (?:of |all |the )*chapters\b",
    r"chapter (?:list|titles)\b|how many chapters\b",
    r"inhaltsverzeichnis\b|welche kapitel\b|wie viele kapitel\b",
    r"table des matières\b|quels (?:sont les )?chapitres\b|combien de chapitres\b",
    r"índice\b|qué capítulos\b|cuántos capítulos\b",
)
_SO_FAR = r"(?:so far|up to (?:now|here)|until now|till now)\b"
OVERVIEW = _anywhere(
    r"summar\w+|recap\b|sum (?:it |this |things )?up\b|synopsis\b|overview\b|tl;?dr\b",
    rf"what(?:['’]s| is| was) (?:it|this|that|{_THE_BOOK}|(?:the|this) chapter)(?: all)? about\b",
    r"what(?:['’]s| is| are) the (?:plot|themes?|moral|message|main (?:characters?|ideas?|themes?|points?))\b",
    r"who are the (?:main )?characters\b",
    rf"what(?:['’]s| has| have)? happen(?:s|ed|ing) (?:{_SO_FAR}|in (?:{_THE_BOOK}|(?:this |the )?chapter\b))",
    rf"(?:story|plot|book) {_SO_FAR}",
    r"zusammenfass\w+|fasse?\b.*\bzusammen\b|worum geht\b",
    r"was (?:ist|geschah|geschieht|passierte|passiert) (?:denn )?(?:bisher|bis jetzt|bis hierher)\b",
    r"résum\w+|de quoi (?:parle|s['’]agit)|(?:qu['’]est-ce qui s['’]est|que s['’]est-il) passé jusqu['’]ici\b",
    r"resum(?:en|ir|e (?:el|la|lo))\b|resúme\w*|de qu[ée] (?:se )?trata\b",
    r"qué (?:ha pasado|pasó|ha ocurrido|ha sucedido) hasta (?:ahora|aquí)\b",
)
CHAPTER = _anywhere(r"(?:chapter|kapitel|chapitre|capítulo) (?P<chapter>\d+|[ivxlc]+\b)")
LATEST = _anywhere("latest|(?:last|this) chapter|(?:letzte[ns]?|diesem) kapitel|dernier chapitre|último capítulo")
ONWARD = _whole(
    "(?:and )?then|what then|(?:what['’]s |what is |and )?next|go on|continue|read on|(?:tell me )?more",
    "what (?:happens|happened|comes|came) (?:next|then|afterwards|after(?: that| this)?)",
    "(?:und )?(?:dann|weiter)|wie geht es weiter",
    "et (?:puis|après|ensuite)|continuez",
    "y (?:luego|después|entonces)|sigue|continúa",
)

_MENTIONED = r"(?:mentioned|referred to|named|appear(?:s|ed)?|occur(?:s|red)?|comes? up|crops? up|shows? up)\b"
_AUXILIARY = "(?:is|are|was|were|does|do|did|has|have)"
COUNTS = (
    _anywhere(rf"how (?:often|many times|frequently) {_AUXILIARY} (?P<term>.+?) (?:been )?{_MENTIONED}"),
    _anywhere(r"how many (?:mentions|occurrences) (?:are there )?of (?P<term>[^?]+)"),
    _anywhere(r"(?:count|number of)(?: all| the)* (?:mentions|occurrences) of (?P<term>[^?]+)"),
    _anywhere(r"how (?:often|many times) (?:is|does) (?P<term>the (?:word|name) .+?) used\b"),
    _anywhere(r"wie oft (?:wird|werden|kommt|kommen|taucht) (?P<term>.+?) (?:erwähnt|genannt|vor|auf)\b"),
    _anywhere(r"combien de fois (?:est-ce que |le mot )?(?P<term>.+?)(?: est|-t-il| apparaît| revient| mentionnée?)"),
    _anywhere(r"cuántas veces (?:aparece|se menciona|se nombra) (?P<term>[^?]+)"),
)
_WHERE = "(?:where|when|on (?:which|what) page|in (?:which|what) chapter)"
PLACES = (
    _anywhere(rf"{_WHERE} {_AUXILIARY} (?P<term>.+?) (?P<place>first|last) {_MENTIONED}"),
    _anywhere(rf"{_WHERE} {_AUXILIARY} (?P<term>.+?) {_MENTIONED} for the (?P<place>first|last) time\b"),
    _anywhere(r"(?P<place>first|last) (?:mention|appearance|occurrence) of (?P<term>[^?]+)"),
    _anywhere(r"wo (?:wird|kommt|taucht) (?P<term>.+?) (?:zum ersten mal|zuerst) (?:erwähnt|genannt|vor|auf)\b"),
    _anywhere(r"où (?P<term>.+?) (?:apparaît|est)(?:-(?:il|elle))? .*pour la première fois\b"),
    _anywhere(r"dónde (?:aparece|se menciona) (?P<term>.+?) por primera vez\b"),
)

QUOTED = re.compile(r"[“\"«„](?P<text>[^“”\"«»„]{8,})[”\"»“]")
ASKS_FOR_PLACE = _whole(
    "",
    r"(?:who|wer|qui|quién) (?:\w+ ){0,2}(?:says?|said|tells?|told|speaks|spoke|cri(?:es|ed)|asks?|asked)\b.*",
    r"(?:who|wer|qui|quién) (?:\w+ ){0,2}(?:sagt\w*|fragt\w*|ruft|rief|dit|demande|dice|dijo|pregunta)\b.*",
    r"(?:where|wo|où|dónde|find|locate|quote|search|(?:on |in )?(?:which|what) (?:page|chapter))\b.*",
)
"""What stands around a quoted line when it is the line that is wanted."""

LINES = (
    _anywhere(
        r"where (?:does|did) (?:it|the (?:book|author|text|narrator)|s?he) (?:say|write|read)"
        r"(?: that| something like)?[:,]? (?P<text>.+)"
    ),
    _anywhere(
        r"(?:find|locate|where is|what page is|which page has)(?: me)? the (?:line|sentence|quot\w+|phrase|words)"
        r"(?: that (?:says|goes|reads)| where it says| which says| saying)?[:,]? (?P<text>.+)"
    ),
    _anywhere(r"wo steht(?:,? dass|,? das|:|,)? (?P<text>.+)"),
    _anywhere(r"où est-il (?:dit|écrit)(?: que|:)? (?P<text>.+)"),
    _anywhere(r"dónde dice(?: que|:)? (?P<text>.+)"),
)
SPEAKER = _whole(r"(?:who|wer|qui|quién)\b.*")
TOPIC = re.compile(r"about\b", re.IGNORECASE)

PAGE = _anywhere(
    r"(?:pages?|pp?\.|seiten?|páginas?) ?(?P<first>\d+|[ivxlc]+)\b"
    r"(?: ?(?:-|–|to|and|until|through|bis|und|à|et|al?|y) ?(?:page )?(?P<last>\d+|[ivxlc]+)\b)?"
)
PAGE_WORDS = _anywhere(
    r"(?:what(?:['’]s)?|is|does|do|happen(?:s|ed)?|on|at|from|of|read|show|open|quote|me|the|text|please|can|you|says?",
    r"stands?|there|it|aloud|out|was|steht|auf|lies|zeig|mir|lis|montre|moi|à|la|sur|lee|en|muestra|que|qué|hay|a)\b",
)
WRAPPING = "“”\"«»„‘’' .,;:!?"
ARTICLES = re.compile(
    r"^(?:the (?:word|name|term|phrase) |das wort |le mot |la palabra |an? |the |der |die |das |le |la |les |el )",
    re.IGNORECASE,
)
TAIL = re.compile(
    rf"\s+(?:in {_THE_BOOK}|in the text|so far|here|im buch|dans le livre|en el libro)\W*$", re.IGNORECASE
)
