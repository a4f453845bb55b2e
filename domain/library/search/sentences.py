"""Sentences: where they begin and end in a text.

Two properties matter more here than a last percent of accuracy, because a reader may stop anywhere in a book:

- Whether a sentence begins at some place depends on at most LOOK_AHEAD characters after it.
- Splitting may start at the beginning of any sentence, and finds the same sentences from there on.

The sentences of the part that has been read therefore follow from stored ones and a look at the last few, and never
depend on unread text.
"""

import re
from collections.abc import Iterator

from domain.library.numerals import number_value
from domain.library.search.words import IRREGULAR_FORMS, STOP_WORDS, fold, stem_of, words_of

LOOK_AHEAD = 400
"""Characters after the beginning of a sentence that may influence the decision to begin one there."""

MAX_SENTENCE = 1_200
"""Characters in the longest sentence. A longer one has lost its punctuation and is cut, so that no other code has to
handle a sentence of a million characters. English novels have a few true sentences that are longer.
"""

_CLOSERS = "\"'”’»›)\\]}）」』】〉》〕_*"
_OPENERS = "\"'“‘«‹(\\[{（「『【〈《〔—–_*-"
_DENSE_STOPS = "。！？｡"
_STOPS = rf".!?…‽؟۔।॥{_DENSE_STOPS}"
_MOST_SPACE = 40
_STOP = re.compile(
    rf"[{_STOPS}\n](?:(?<=\n)[^\S\n]*\n"
    rf"|(?<!\n)[{_STOPS}]*[{_CLOSERS}]*(?=(?P<space>\s{{0,{_MOST_SPACE}}})[{_OPENERS}]{{0,6}}(?P<next>.?)))",
    re.DOTALL,
)
"""An empty line, or a terminator and what follows it. It begins with a character set, which is fast to search."""

_LAST_WORD = re.compile(r"(?<![\w.])((?:\w+\.)*\w+)$")
_DATE = re.compile(r"[\W_]*\d{1,2}(?:st|nd|rd|th|\.)? \w{3,9}")
"""A day and a month, as at the beginning of a diary entry or a letter."""

_LONGEST_DATE = 20
"""Characters."""

_SEEN_BEYOND = 64
"""Characters examined after the longest sentence, to see what follows a stop at its end."""

_AT_ONCE = 16_384
"""Characters searched at once at most, because a long sentence may make the search futile."""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_FIRST_CHARACTER = re.compile(r"\S")
_SOFT_CUT = re.compile(r"[;:,，、；：]\s*|\s+")

_ABBREVIATIONS = """
    mr mrs ms messrs mme mlle dr prof rev hon st ste sr jr capt col gen lt lieut sgt maj gov pres supt insp esq mt
    vs viz cf ca approx bros i.e e.g hr frau bzw z.b d.h u.a p.m a.m ph.d b.c a.d vv ed trans
"""
_NEVER_LAST = frozenset(_ABBREVIATIONS.split())
_SHORT = frozenset("uvz")
"""Single letters that are no initials: "und", "von" or "versus", and "zu" or "zum"."""

_BEFORE_INITIAL = re.compile(r"\b[^\W\d_]\. $")
"""What makes the "I" behind it one of several initials, and not the one who speaks."""

_BEFORE_NUMBERS = frozenset(
    ("no", "nos", "nr", "p", "pp", "vol", "vols", "fig", "figs", "ch", "chap", "sec", "art", "bk")
)

_LAST_TWO, _LAST_THREE = (frozenset(word[-letters:] for word in _NEVER_LAST | _BEFORE_NUMBERS) for letters in (2, 3))


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The spans of the sentences of `text[start:end]`, in order; together they cover everything but white space."""
    end = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    begin = _skip_space(text, start, end)
    while begin < end:
        begin, scanned = _split_plain(text, begin, end, spans)
        if begin < end:
            begin = _split_one(text, begin, scanned, end, spans)
    return spans


def _split_plain(text: str, begin: int, end: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Split sentences in one pass over their stops, which is faster than searching for one after the other.

    The pass ends before a sentence that may be too long, and where its look-ahead would end before the text does. It
    returns the beginning of that sentence and the position after the last stop that did not end it.
    """
    edge = min(end, begin + _AT_ONCE)
    sure = end if edge == end else edge - _SEEN_BEYOND
    scanned = begin
    for stop in _STOP.finditer(text, begin, edge):
        at, after = stop.span()
        if at < begin:  # an empty line that follows a stop
            continue
        if after > begin + MAX_SENTENCE or after > sure:
            break
        space, following = stop.groups()
        if space and following.isupper() and at - begin > _LONGEST_DATE and _is_other_word(text[at - 3 : at]):
            spans.append((begin, after))
            begin = scanned = after + len(space) if len(space) < _MOST_SPACE else _skip_space(text, after, end)
        elif _ends_sentence(text, begin, stop, end):
            spans.append((begin, _without_space(text, begin, after)))
            begin = scanned = _skip_space(text, after, end)
        else:
            scanned = after
    return begin, scanned


def _split_one(text: str, begin: int, scanned: int, end: int, spans: list[tuple[int, int]]) -> int:
    """One sentence, cut if it is too long, with no stop before `scanned`; and where the next one begins."""
    limit = begin + MAX_SENTENCE
    while True:
        stop = _STOP.search(text, scanned, min(end, limit + _SEEN_BEYOND))
        if stop is None or stop.start() >= limit:
            after = end if end <= limit else _soft_cut(text, begin, limit)
            break
        if _ends_sentence(text, begin, stop, end):
            after = stop.end()
            break
        scanned = stop.end()
    spans.append((begin, _without_space(text, begin, after)))
    return _skip_space(text, after, end)


def is_finished(text: str, begin: int, end: int, limit: int) -> bool:
    """Whether the last sentence of `text[:limit]`, at `[begin, end)`, ends there whatever follows the limit."""
    if _PARAGRAPH_END.search(text, end, limit):
        return True
    stops = [stop for stop in _STOP.finditer(text, begin, end) if stop.end() == end]
    return bool(stops) and not _is_abbreviation(text, begin, stops[0].start(), "")


def _skip_space(text: str, start: int, end: int) -> int:
    if start < end and not text[start].isspace():
        return start
    found = _FIRST_CHARACTER.search(text, start, end)
    return found.start() if found else end


def _without_space(text: str, begin: int, end: int) -> int:
    return end if not text[end - 1].isspace() else begin + len(text[begin:end].rstrip())


def _soft_cut(text: str, begin: int, limit: int) -> int:
    """Where to cut a sentence that is too long: at the last comma or space in its last quarter, else at the limit."""
    gaps = [gap.end() for gap in _SOFT_CUT.finditer(text, begin + MAX_SENTENCE * 3 // 4, limit)]
    return gaps[-1] if gaps else limit


def _ends_sentence(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    """Whether a stop ends the sentence that begins at `begin`."""
    space, following = stop["space"], stop["next"]
    if space is None or stop.end() == end:
        return True
    if not space:
        return text[stop.start()] in _DENSE_STOPS
    if following.islower() or (following and following in ".,;:!?…"):
        return False
    return not _is_abbreviation(text, begin, stop.start(), following)


def _is_abbreviation(text: str, begin: int, stop: int, following: str) -> bool:
    if text[stop] != "." or text[stop + 1 : stop + 2] == ".":
        return False
    if stop - begin <= _LONGEST_DATE and _DATE.fullmatch(text, begin, stop):
        return True
    if _is_other_word(text[max(begin, stop - 3) : stop]):
        return False
    last_word = _LAST_WORD.search(text, max(begin, stop - 24), stop)
    if last_word is None:
        return False
    word = last_word[1]
    if len(word) == 1:
        is_initial = word != "I" or _BEFORE_INITIAL.search(text, max(begin, stop - 5), stop - 1) is not None
        return word in _SHORT or (word.isupper() and is_initial)
    if word.lower() in _BEFORE_NUMBERS:
        return following.isdigit()
    return word.lower() in _NEVER_LAST


def _is_other_word(last_three: str) -> bool:
    """Whether no abbreviation ends in these letters, a fast check."""
    last_two = last_three[-2:].lower()
    if last_two not in _LAST_TWO:
        return last_two.isalpha() and len(last_two) == 2
    return last_three.isalpha() and len(last_three) == 3 and last_three.lower() not in _LAST_THREE


_AUXILIARY_WORDS = """
    is was are were has had have does did will would can could became isn't wasn't hasn't hadn't didn't doesn't
    ist war sind waren hat hatte haben wird wurde kann est était sont ont avait fut es era fue son tiene ha è
    meurt meurent tue vit aime épouse part revient devient muere mueren mata vive ama vuelve muore muoiono uccide sposa
    sterft morre мёртв мертв мертва мёртва жив жива убит убита zmarł zmarła umiera żyje umírá žije
"""
_GREETING_WORDS = """
    point question task job lesson note interesting
    good great nice happy hello hi hey dear welcome thanks thank sorry sure please yes no okay well next first last
    guten gute gut viel gern danke bitte hallo bonjour bonne bon merci hola buenos buenas gracias
"""
_NO_VERB_WORDS = """
    always perhaps besides sometimes afterwards towards upstairs downstairs indoors outdoors plus yes less unless others
    indeed aged sechs alone too either even ever maybe else men women children feet teeth wives wolves better best worse
    worst auch allein nicht nichts nur selbst sonst n aussi seul seule non pas plus rien también mismo misma más anche
    stesso stessa тоже не сам сама другой
"""
_AUXILIARIES, _NO_SUBJECTS, _NO_VERBS = (
    frozenset(words.split()) for words in (_AUXILIARY_WORDS, _GREETING_WORDS, _NO_VERB_WORDS)
)
"""Verbs that end like none, words that begin a greeting or a fragment, and words that only end like verbs."""
_CAPITAL = "[A-ZÀ-ÞА-ЯЁ]"
_ADVERB = r"(?:(?:also|then|never|later|soon|often|\w+ly)\s)?"
_NOUN = (
    rf"(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir|[Dd](?:er|ie|as)|[EeIi]l|[Ll][ea]|{_CAPITAL}[^\W\d_]*['’]s)\s[^\W\d_]+"
)
_PERSON = (
    r"(?:[Ss]?[Hh]e|[Tt]hey|[Ee]r|[Ii]l|[Ee]lle|Él|Ella|Lui|Lei|Он[аи]?|(?:No|Every|Some)body|(?:No\s|Every|Some)one"
    r"|Niemand|Keiner|Personne|Nadie|Nessuno|Никто)(?:\s(?:l[aeo]|n[e']|не))?"
)
_SOME = (
    r"(?:None|(?:Every|Some)(?:one|body)|All|Both|Most|Many|Few|Some|Alle|Tous|Todos|Tutti|Все"
    r"|One|T(?:wo|hree|en|w(?:elve|enty)|hirty)|F(?:our|ive|orty|ifty)|S(?:ix|even)|Eight|Nine)(?:\s[^\W\d_]+){1,4}"
)
_IT_WAS = (
    rf"(?!Here|There|That|What|How|Let|It){_CAPITAL}[^\W\d_]+['’]s\s(?:alive|an?|dead|gone|ill|lost|mad|never|not|safe|the)\b"
    rf"|(?:[Ii]t|Th(?:is|at)|[Ee]s|Das|[Cc]['’])\s?(?:is|was|ist|war|est|était)\s(?!Chap|Kapitel){_CAPITAL}[^\W\d_]"
    r"|(?:(?:[Ss]?[Hh]e|[Tt]hey)['’](?:s|d|re|ve|ll)|Th(?:e|o)se\s(?:are|were)|[Ii]t\s(?!depends|seems|was)[a-z]{3,}(?:s|ed))"
    r"\s(?!all\b|the\b)[^\W\d_]"
    r"|(?:[Ii]t\swas\s(?:the|an?|his|her)|[Ee]s\swar\s(?:der|die|das|eine?)|[Cc]['’]était\s(?:l[ea]|une?))\s[^\W\d_]"
    r"|(?:There\s(?:is|are|was|were)|Es\sg[ai]bt?|Il\sy\sa(?:vait)?|Hay|Había)\s(?!(?:no|nothing|none|kein\w*|nichts)\b)\w"
)
_TELLS = re.compile(
    rf"(?:\b(?P<noun>{_NOUN})|\b(?P<person>{_PERSON})|\b(?P<name>(?!(?:[Ii]t|Es)\s){_CAPITAL}[^\W\d_]*\.?))"
    rf"(?=\s{_ADVERB}(?P<verb>[a-zà-ÿа-яёąćęłńóśźżčěřšůžý]+(?:['’][ts])?))"
)
"""Somebody or something, and the word behind it."""
_FINITE = re.compile(r"\w+(?:ed|ete|[bgkmß]t|eht|tet|hrt|[аяеи]т|[аяеиу]л[аи]?)")
"""Endings of verbs, behind a name."""
_TELLS_OF_SOME, _TELLS_WHO = re.compile(rf"(?:^|\W){_SOME}"), re.compile(rf"\b(?:{_IT_WAS})")
_UNMARKED = str.maketrans("", "", "*_")
_CLOSED, _FEWEST_WITHOUT_STOP = "\"'”’»)", 3


def says_something(fragment: str) -> bool:
    """Whether a few words are a sentence of their own, with a name or a noun and a verb behind it; two with a stop."""
    plain = fragment.translate(_UNMARKED)
    if len(words_of(plain)) < _FEWEST_WITHOUT_STOP and not plain.rstrip(_CLOSED).endswith((".", "!")):
        return False
    if _TELLS_WHO.search(plain) or any(map(_has_verb, _TELLS.finditer(plain))):
        return True
    some = _TELLS_OF_SOME.match(plain)
    return some is not None and any(word in _AUXILIARIES or _is_finite(word) for word in some[0].split()[1:])


def _has_verb(found: re.Match[str]) -> bool:
    name, verb = fold(found["name"] or ""), found["verb"].replace("’", "'")
    if name in STOP_WORDS or name in _NO_SUBJECTS or verb in _NO_VERBS or number_value(name) is not None:
        return False
    if verb in _AUXILIARIES or _is_finite(verb):
        return True
    return verb not in STOP_WORDS and (found["person"] is not None or (verb.endswith("s") and not found["noun"]))


def _is_finite(verb: str) -> bool:
    return verb in IRREGULAR_FORMS or _FINITE.fullmatch(verb) is not None


_SUBJECT = re.compile(
    r"\W*(?:(?:[Tt]he|[Mm]y|[Oo]ur|[Yy]our|[Hh]is|[Hh]er|[Tt]heir|This|An?)\s"
    r"(?P<noun>[a-z]+\s[a-z]+(?=\s(?:is|was|has|had)\b)|[a-z]+(?=\s))"
    r"|(?P<name>(?:(?:M(?:rs?|iss)|Dr|Lord|Lady|Count)\.?\s)?[A-ZÀ-Þ][^\W\d_]+(?:\s[A-ZÀ-Þ][^\W\d_]+)?(?=\s[a-z])))"
)


def subject_of(sentence: str) -> str:
    """The noun or the name that a sentence begins with, without an article; empty if it begins with another word."""
    found = _SUBJECT.match(sentence)
    return (found["noun"] or found["name"]) if found else ""


_NAME = re.compile(r"(?:\b[A-ZÀ-Þ][^\W\d_]+(?:\.? (?=[A-ZÀ-Þ]))?)+")


def only_name(sentence: str) -> frozenset[str]:
    """The words of the name in a sentence; empty if it has none or several."""
    names = [words_of(name[0]) for name in _NAME.finditer(sentence)]
    told = [[word for word in name if fold(word) not in STOP_WORDS] for name in names]
    stems = {frozenset(map(stem_of, name)) for name in told if name}
    return next(iter(stems)) if len(stems) == 1 else frozenset()


_HEADING = re.compile(r"\s*+(?:#{1,6}\s|(?:\*\*)?[^*\n]*[^*.!…\"”’»\n]\*\*\s*$)")


def is_heading(line: str) -> bool:
    """Whether a line, or the end of one, is a heading, which claims nothing; a bold one ends without a stop."""
    return _HEADING.match(line) is not None


_REQUESTS = "tell|list|give|show|name|describe|explain|summari[sz]e"
_ASKS = (
    rf"(?:what|where|when|who|whom|whose|why|how|which|{_REQUESTS})",
    "(?:was|wo|wann|wer|warum|wie)",
    "(?:où|quand|qui|pourquoi|comment)",
    "(?:qué|dónde|cuándo|quién|por qué|cómo)",
)
_SECOND_QUESTION = re.compile(
    "|".join(rf",? {also} (?={asks}\b)" for also, asks in zip(("and", "und", "et", "y"), _ASKS, strict=True)),
    re.IGNORECASE,
)
_BEGINS_AS_QUESTION = re.compile(rf"\W*(?:{'|'.join(_ASKS)})(?:['’]?s)? (?!(?:and|und|et|y)\b)", re.IGNORECASE)
_QUOTES = re.compile('["“”„«»]')
_NEXT_LINE = re.compile(r"(?<=[?？])\s*\n")
ENDS_AS_QUESTION = re.compile(r"[?？][^\w?？]*$")


def questions_in(text: str) -> Iterator[str]:
    """The sentences of a message; a sentence with several questions is divided, unless it quotes something."""
    lines = _NEXT_LINE.split(text)  # many type no capital
    for sentence in (line[start:end] for line in lines for start, end in split_sentences(line)):
        asks = ENDS_AS_QUESTION.search(sentence) or _BEGINS_AS_QUESTION.match(sentence)  # many type no mark
        parts = _SECOND_QUESTION.split(sentence) if asks and not _QUOTES.search(sentence) else [sentence]
        yield from (
            part if ENDS_AS_QUESTION.search(part) or len(parts) == 1 else f"{part}?" for part in parts if part.strip()
        )
