"""Verifying quotations: what an answer puts in quotation marks has to be in the book."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from domain.book import Passage
from domain.citations.keys import CLOSING, KEY_GROUP, SPEAKS, SPEAKS_UP, fold
from domain.citations.symbols import lazily
from domain.library.search.words import is_dense, words_of

MOST_ADDED = 3
"""Words in a bracket that may explain a quotation: a name for "he"."""

LONGEST_ATTRIBUTION = 6
"""Words; a longer line below a quotation is not the name of its speaker, but quoted too."""

FEWEST_LETTERS = 3
"""Less between apostrophes is no quotation: rock 'n' roll."""

SHORT = 3
"""Words; shorter quotations have to stand in a text as whole words, not within others."""

LONGEST = 1_200
"""Characters held back at most while a quotation is open; a longer one cannot be checked whole and loses its mark."""

MOST_LOOKED_UP = 40
"""Quotations per answer that are searched in the whole book, at some ms each; not those of the model's passages."""

QUOTATIONS_AT_ONCE = 16
"""Quotations after which other tasks run: what was held back may have hundreds of them."""

_NEXT_LINE = r"\n(?![ \t]*(?:\n|\Z|[-*•>#|]|\d+[.)]\s))"
"""A line end within a paragraph: verses and letters are quoted over several lines."""
_OTHER_MARKS = '“”„‟"＂«»❝❞〝〞〟″״⹂´'
"""Marks in pairs that have no pattern of their own, such as the Swedish ones, or an opening mark that closes."""
_ENTITY = r"&(?:quot|[lrb]dquo|[lr]aquo|#34|#822[0-2]);"
_SAID, _END_OF_SAID, _NEUTRAL = "\ue103", "\ue104", "\ue105"
"""Stand for emphasis that quotes, where it begins and ends, and for a straight mark in code."""
_FENCED, _END_OF_FENCED = "\ue106", "\ue107"
"""Stand for the fences around lines that are quoted as code."""
_SPELT_MARK = rf"{_ENTITY}|</?(?:q|blockquote)>|``|''"
_SPELT_OUT = (
    rf"{_ENTITY}(?=\w)[^&\n]+{_ENTITY}|<(?:q|blockquote)>[^<\n]+</(?:q|blockquote)>"
    r"|(?:(?<!`)``|(?<![\w'])'')(?=\w)(?:[^`'\n]|'(?!'))++''"
)
"""Marks as HTML and TeX write them."""
_LINES = rf"(?<![\w\"])\"(?=\w)(?:[^\"\n]|{_NEXT_LINE})+"
"""Words in straight marks over several lines, without the closing one."""
_DOUBLE = (
    rf"“(?:[^“”\n]|{_NEXT_LINE}|“[^“”\n]*”)+”|„(?:[^„“”\n]|{_NEXT_LINE})+[“”]|«(?:[^«»\n]|{_NEXT_LINE})+»"
    rf"|»(?=\w)[^«»\n]+«|‹[^‹›\n]+›|「+[^「」\n]+」+|『[^『』\n]+』"
    rf"|\"{{1,3}}[^\"\n]+\"{{1,3}}|{_LINES}(?<!\s)\"(?!\w)|{_SPELT_OUT}|{_SAID}+[^{_SAID}{_END_OF_SAID}\n]+{_END_OF_SAID}+"
    rf"|{_FENCED}+[^{_FENCED}{_END_OF_FENCED}]+{_END_OF_FENCED}+"
    rf"|(?<![\w.,;:!?…)])[{_OTHER_MARKS}](?=\w)[^{_OTHER_MARKS}\n]+(?<!\s)[{_OTHER_MARKS}](?!\w)"
)
_MARK_THERE = lazily(rf"{_SPELT_MARK}|\"+|「+|{_SAID}+|{_FENCED}+|.")
_LAST_MARK = lazily(rf"(?:{_SPELT_MARK}|\"+|」+|{_END_OF_SAID}+|{_END_OF_FENCED}+|.)\Z")
_CURLY_SINGLE = r"(?<!\w)[‘ʻ‛][^‘’ʻʼ\n]++(?:[’ʼ](?=\w)[^‘’ʻʼ\n]*+)*+[’ʼ](?!\w)|(?<!\w)‚(?:[^‚‘’\n]|’(?=\w))++[‘’](?!\w)"
_ENGLISH_SINGLE = r"(?<![\w'])'(?!(?:t(?:is|was|ill)|em|cause|round|bout|\d)\b)[^'\n]++(?:'(?=\w)[^'\n]*+)*+'(?!\w)"
_UNCLOSED = rf"[“„«](?:[^“”„«»\n]|{_NEXT_LINE})+(?=\n|\Z)|(?<![\w\"])\"(?=\w)[^\"\n]+(?=\n|\Z)"
_BLOCK = r"(?:^[ \t]*>[^\n]*\n?)+"
_FIRST = rf"(?=[{_OTHER_MARKS}‹「『‘‚ʻ‛'&<`{_SAID}{_FENCED}])"
"""A look at one character before all the patterns: most are no mark."""
_QUOTED = lazily(
    rf"(?P<block>{_BLOCK})|{_FIRST}(?:(?P<closed>{_DOUBLE}|{_CURLY_SINGLE}|{_ENGLISH_SINGLE})|(?P<unclosed>{_UNCLOSED}))",
    re.MULTILINE,
)
_OPEN_LINES = lazily(rf"{_LINES}\n?\Z")
_NO_MARK = lazily(rf"[^{_OTHER_MARKS}‹「『‘‚ʻ‛'&<`>{_SAID}{_FENCED}]*")
_OPENING = lazily(
    rf"{_FIRST}(?:[“«„‹「『\"{_SAID}]|(?<![\w.,;:!?…)])(?:[{_OTHER_MARKS}]|{_SPELT_MARK})(?=\w|\Z)|(?<!\w)[‘‚ʻ‛]"
    r"|(?:(?<![\w&;#])&[#\w]{0,5}|(?<![\w<>])</?\w{0,10}|[`']++)\Z"
    r"|(?<![\w'])'(?!(?:t(?:is|was|ill)|em|cause|round|bout|\d)\b))|^[ \t]*>",
    re.MULTILINE,
)
_ENDS_A_PARAGRAPH = lazily(r"\n(?=[ \t]*(?:\n|[-*•>#|]|\d+[.)]\s))")
_BRACKET = lazily(r"\[[^\[\]\n]*\]")
_GAP = lazily(rf"\s*(?:{_BRACKET.pattern}|…|\.\.\.)\s*")
_BLOCK_MARK = lazily(r"^[ \t]*>+[ \t]?", re.MULTILINE)
_ATTRIBUTION = lazily(r"\n[ \t>]*(?:[—–]|--?)(?P<name>[^\n]*)\s*\Z")
_TYPED_REFERENCE = lazily(r"\((?:about )?pp?\. ?[^()\n]{1,30}\)")
_KEY_OR_REFERENCE = lazily(rf"{KEY_GROUP.pattern}|{_TYPED_REFERENCE.pattern}")
_ADDED_TO_THEM = lazily(rf"{KEY_GROUP.pattern}|{_ATTRIBUTION.pattern}|[ \t]?{_TYPED_REFERENCE.pattern}")
"""What an answer adds to the book's words in a quotation: what it cites, and who says it."""
_ADDED = lazily(rf"{_ADDED_TO_THEM.pattern}|[ \t]?{_BRACKET.pattern}")
"""The same with a word of its own in brackets."""
_MARKS = "“”„«»‹›‘’\"'「」『』"
_EDGES = " .,;:!?'\"-_*。、！？"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of checked text. `quoted`: words in a quotation that are in the book. `misquoted`: words that are not,
    and have lost their quotation marks. `refused`: such a quotation ends here.
    """

    text: str
    quoted: bool = False
    misquoted: bool = False
    refused: bool = False


class Quotations:
    """Checks quotations against what the model was given, then against everything the reader may see of the book."""

    def __init__(self, stands_in_book: Callable[[str], Awaitable[bool]]) -> None:
        self._stands_in_book = stands_in_book
        self._seen: list[str] = []
        self._unfolded: list[Passage | str] = []
        self._readers: list[str] = []
        self._unfolded_readers: list[str] = []
        self._known: dict[str, bool] = {}
        self._looked_up = 0
        self._is_in_block = False

    def learn(self, source: Passage | str) -> None:
        """Add what the model may quote: a passage and its chapter's title, or a text, such as the book's title."""
        self._unfolded.append(source)  # a history has dozens; they are folded when there is a quotation to compare

    def learn_reader(self, text: str) -> None:
        """Add a reader's words: they may be quoted, but what is quoted from them stands on no page."""
        self._unfolded_readers.append(text)

    def open_at(self, text: str, before: str = "") -> int:
        """Where an unfinished quotation begins after the text `before`; the length of the text if there is none."""
        if "`" in text or "~" in text:
            code = _OPEN_CODE.search(_with_code(text, _read_through))
            if code and len(text) - code.start() <= LONGEST:
                text = text[: code.start()]
        whole = _stand_in(before) + _read(text, before)
        if _NO_MARK.fullmatch(whole, 1):
            return len(text)
        rest = _QUOTED.sub(lambda found: found[0] if _may_go_on(found, len(whole)) else "·" * len(found[0]), whole)
        line = rest.rfind("\n")
        paragraph = max((end.start() for end in _ENDS_A_PARAGRAPH.finditer(rest)), default=-1)
        for opening in _OPENING.finditer(rest, max(len(rest) - LONGEST, 0)):
            is_sure = opening[0] in "“„«" or _OPEN_LINES.match(rest, opening.start())
            end = paragraph if is_sure else line  # marks that cannot be mistaken may close in another one
            if opening.start() > end or opening[0].endswith(">"):
                return opening.start() - 1
        return len(text)

    async def check(self, text: str, before: str = "") -> list[Piece]:
        """The text, with the marks removed from every quotation that is not in the book."""
        at = self._edge_of_long_block(text, before)
        if at is None:
            return await self._checked(text, before)
        rest = await (self._checked if self._is_in_block else self.check)(text[at:], "·")
        return [*await self._checked(text[:at], before), Piece("", refused=True), *rest]

    def _edge_of_long_block(self, text: str, before: str) -> int | None:
        """Where words begin or end that are quoted as code and too long to be checked whole; None if they do not."""
        if self._is_in_block and before:
            end = _FENCE.search(text)
            self._is_in_block = end is None
            return end.end() if end else None
        code = _OPEN_CODE.search(_with_code(text, _read_through)) if "```" in text or "~~~" in text else None
        self._is_in_block = code is not None and code[0][0] in "`~" and not _is_code(text[code.end() :])
        return code.start() if code and self._is_in_block else None

    async def _checked(self, text: str, before: str) -> list[Piece]:
        whole, written = _stand_in(before) + _read(text, before), f" {text}"
        if _NO_MARK.fullmatch(whole, 1):
            return [Piece(text)] if text else []
        pieces, at = [], 1
        for number, found in enumerate(_QUOTED.finditer(whole), 1):
            if number % QUOTATIONS_AT_ONCE == 0:
                await asyncio.sleep(0)
            pieces.append(Piece(written[at : found.start()]))
            quotation = written[slice(*found.span())]
            inner = _inside(found, quotation)
            plain = _without_additions(inner)
            if not _quotes(found, plain):
                pieces.append(Piece(quotation))
            elif self._has_its_gaps(plain):
                pieces += _told_apart(quotation, _ADDED_TO_THEM)
            elif await self._is_true(plain):
                pieces += _told_apart(quotation, _ADDED)
            elif self._is_readers(plain):
                pieces.append(Piece(quotation, refused=len(words_of(plain)) >= SHORT))
            else:
                unsigned = _ATTRIBUTION.sub("", inner) if found["block"] and len(inner) > len(plain) else inner
                words = await self.check(KEY_GROUP.sub("", unsigned).strip(" \xa0\u202f"), "·")
                kept = [Piece(end if end in ", " else "") for end in (quotation[0], quotation[-1])]
                words = [replace(piece, misquoted=True) for piece in words]
                pieces += [kept[0], *words, Piece("", refused=True), kept[1]]
            at = found.end()
        return [piece for piece in (*pieces, Piece(written[at:])) if piece.text or piece.refused]

    def _has_its_gaps(self, plain: str) -> bool:
        """Whether the dots or brackets in a quotation are the book's own."""
        if not words_of(plain) or not _GAP.search(plain):
            return False
        return any(_without_marks(plain).strip(_EDGES) in text for text in self._given())

    async def _is_true(self, plain: str) -> bool:
        if any(len(words_of(bracket)) > MOST_ADDED for bracket in _BRACKET.findall(plain)):
            return False
        lines = [line for line in plain.split("\n") if words_of(_GAP.sub(" ", line))]
        if len(lines) > 1 and not _GAP.search(plain) and await self._stands([" ".join(lines)]):
            return True
        parts = [[part for part in _GAP.split(line) if words_of(part)] for line in lines]
        return bool(parts) and all([await self._stands(line) for line in parts])

    def _is_readers(self, plain: str) -> bool:
        words = _without_marks(plain).strip(_EDGES)
        self._readers += map(_without_marks, self._unfolded_readers)
        self._unfolded_readers.clear()
        near = [text for text in self._readers if words in text]
        return bool(near) and any(map(_as_whole_words(words).search, near))

    async def _stands(self, parts: Sequence[str]) -> bool:
        """Whether the parts of a quotation with gaps stand in the book: not in any order, and not single words."""
        sizes = [_size(part) for part in parts]
        if sum(sizes) < SHORT * (len(parts) - 1) or not all(any(map(str.isalpha, part)) for part in parts):
            return False
        needles = [_without_marks(part).strip(_EDGES) for part in parts]
        near = [text for text in self._given() if all(needle in text for needle in needles)]
        patterns = [*map(_as_whole_words, needles)] if near else []
        given = [text for text in near if all(pattern.search(text) for pattern in patterns)]
        if given:
            return any(_stand_in_order(patterns, text) for text in given)
        if len(parts) > 1 and min(sizes) < SHORT:
            return False
        return all([await self._is_in_book(part.strip(_EDGES + _MARKS)) for part in parts])

    def _given(self) -> list[str]:
        for source in self._unfolded:
            self._seen += map(_without_marks, (source,) if isinstance(source, str) else (source.text, source.chapter))
        self._unfolded.clear()
        return self._seen

    async def _is_in_book(self, part: str) -> bool:
        """Whether the book contains it; after MOST_LOOKED_UP lookups the answer is no."""
        if part not in self._known:
            self._looked_up += 1
            self._known[part] = self._looked_up <= MOST_LOOKED_UP and await self._stands_in_book(part)
        return self._known[part]


def _without_marks(text: str) -> str:
    """Text for comparison: within a quotation, an answer writes the book's quotation marks in its own way."""
    return re.sub("[\"']", "", fold(text))


def _size(part: str) -> int:
    """The length of a part in words; in a script without spaces, two characters count as one."""
    return sum(max(1, len(word) // 2) if is_dense(word) else 1 for word in words_of(part))


def _as_whole_words(needle: str) -> re.Pattern[str]:
    words = words_of(needle)
    is_short = len(words) < SHORT and not any(map(is_dense, words))
    plain = re.escape(needle)
    return re.compile(rf"{plain}(?!\w)(?<!\w{plain})" if is_short else plain)


def _stand_in_order(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    at = 0
    for pattern in patterns:
        found = pattern.search(text, at)
        if not found:
            return False
        at = found.end()
    return True


def _without_additions(inner: str) -> str:
    """The words of a quotation that the book has to have."""
    said_by = _ATTRIBUTION.search(inner)
    if said_by and len(words_of(said_by["name"])) <= LONGEST_ATTRIBUTION:
        inner = inner[: said_by.start()]
    return _KEY_OR_REFERENCE.sub("", inner)


def _told_apart(quotation: str, additions: re.Pattern[str]) -> Iterator[Piece]:
    """A quotation that is in the book, with what the answer has added to it as text of its own."""
    at = 0
    for added in additions.finditer(quotation):
        yield Piece(quotation[at : added.start()], quoted=True)
        yield Piece(added[0])
        at = added.end()
    yield Piece(quotation[at:], quoted=True)


_WHOM = r"(?:\s(?!(?:that|dass|daß|que|che|dat|что)\b)[^\s*_`《〈,:.!?]+){0,4}\s?[,:：]"
_SAYS_THIS = lazily(
    rf"(?:\b(?:{SPEAKS})(?:{_WHOM})?\s?|\b(?:{SPEAKS_UP}){_WHOM}\s?|[说說道曰问問答][:：，,]\s?"
    r"|\b(?:words|worte|mots|palabras)\s(?:are|were|sind|waren|sont|étaient|son)\s)\Z",
    re.IGNORECASE,
)
_KEY = r"(?:[\[【({<]{1,2}(?:[^\[\]【】()\n]{0,40}[^\w\n-])?|\W?)s-[0-9a-f]{4}"
_SAYS_THAT = lazily(
    rf"(?:(?:\s{{0,3}}{_KEY}[0-9a-f]{{0,8}}[^\s\w,]{{0,2}})?,|(?<=[,.!?][*_>`]))"
    rf"\s(?:[^\s,.!?]+\s){{0,2}}(?:{SPEAKS}|{SPEAKS_UP})\b",
    re.IGNORECASE,
)
"""What says who speaks, before words and behind them, or behind their key."""
_KEY_FOLLOWS = rf"(?=\)?\s{{0,3}}(?:\|\s?)?{_KEY})"
_KEY_ANNOUNCES = lazily(r"s-[0-9a-f]{4}[^\n]{0,60}[:：]\s{0,3}\Z")
_TAG = r"(?:i|em|b|strong)>"
_LEAD = lazily(r"(?:(?:\A|\n)[ \t]*(?:[-*•]\s|\d+[.)]\s)?|[.!?:：…|—–]\s|:[*_]{2}\s)\Z")
"""Where a sentence begins: in a line of its own, or behind another one, a colon or a dash."""
_AS_FAR = r"[^\n.!?]{0,100}"
"""From emphasis to a key of its sentence."""
_SAID_OTHERWISE = lazily(
    r"(?:^|(?=[—–*_<`《〈iqzc]))(?:"
    rf"^[ \t]*(?P<dash>[—–])(?=\s?(?:[^\W\d_]|\Z))(?:[^\n]*?(?P<comma>,)(?=\s(?:{SPEAKS}|{SPEAKS_UP})\b)|[^\n]*\Z)"
    r"|(?:\bI quote|^\W{0,3}(?:quote|quotation|zitat|citation|cita)\W{0,3})[,:](?P<blank>[ ])(?![\s“\"„«‘'*_`>])"
    rf"(?:[^\n“\"„«\[]*?(?P<end>[ ]){_KEY_FOLLOWS}|[^\n“\"„«]*\Z)"
    rf"|(?<![\w*_`<])(?P<star>\*{{1,3}}|__?|<{_TAG}|`|《|〈)(?:\Z|(?=[^\s*_`])"
    rf"(?:(?P<words>[^\n*_<`《》〈〉]+)(?P<stars>(?P=star)(?![\w*])|</{_TAG}|[》〉´])"
    rf"(?:(?P<key>{_KEY_FOLLOWS}|(?={_AS_FAR}?\bs-[0-9a-f]{{4}}))|(?P<open>(?={_AS_FAR}\Z)))?"
    rf"|[^\n*_<`《》〈〉]+(?:(?:(?P=star)|</?\w{{0,6}}>?|[》〉´]){_AS_FAR})?\Z)))",
    re.MULTILINE | re.IGNORECASE,
)
"""Words quoted without marks: by a dash, by announcing them or by emphasis, before a verb of saying or a key."""
_SAID_BY = (("dash", "comma"), ("blank", "end"), ("star", "stars"))
_MAY_BE_SAID = lazily(r"[—–*_`<《〈]|quot|zitat|cita", re.IGNORECASE)
_ANNOUNCED = lazily(
    rf"\b(?:{SPEAKS}|{SPEAKS_UP}|lines?|sentence|passage|excerpt|text|wording|verbatim|quot(?:e|ation)|wortlich|wörtlich|wortlaut"
    r"|satz|stelle|zeile|zitat|phrase|texte|citation|frase|pasaje|texto|cita)"
    r"(?:\s(?:is|reads?|ist|lautet|est|es))?\W{0,3}[:：]\W{0,4}\Z",
    re.IGNORECASE,
)
_BOLD = frozenset(["**", "__", "<b>", "<strong>"])
_FEWEST_IN_A_SENTENCE, _SURELY_A_SENTENCE = 5, 8
_ENDS = lazily(r"[.!?。！？][\"”’)]?\Z")
_ENDS_BEHIND_KEY = lazily(rf"\s{{0,3}}{_KEY}[0-9a-f]*\S{{0,3}}?[.!?。！？]")
_IN_PERSON = lazily(
    r"\b(?:I|[Mm][ey]|[Ii]ch|[Mm]i[cr]h?|[Mm]ein\w*|Je|je(?=\s(?:ne|me|te|l[ae]s?|vous|suis|vais|veux|\w+ais?)\b)|[Mm]oi|[Yy]o|[Ii]o|[Яя]|[Мм]не|[Мм]еня)\b"
)
_CODE_START = lazily(r"^(?P<fence>`{3,}+|~{3,}+)[^\n`]*+\n|(?<!`)`{1,2}(?!`)", re.MULTILINE)
_CODE = lazily(
    rf"^(?P<fence>`{{3,}}+|~{{3,}}+)(?P<language>[^\n`]*+)\n(?P<lines>.*?)^(?P=fence)(?:[ \t]*$|{_KEY_FOLLOWS})"
    r"|(?<!`)(?P<tick>`{1,2})(?!`)(?P<code>[^`\n]+)(?P=tick)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_OPEN_CODE = lazily(
    rf"(?:\A|(?<=\n))(?:`{{3,}}|~{{3,}}|~{{1,2}}\Z)|(?<!`)`{{1,2}}(?=[^`\s][^`\n]*\Z)"
    rf"|(?<!{_NEUTRAL})(?:{_NEUTRAL}++\s{{0,4}}+)++\S{{0,8}}\Z"
)
"""Where code begins that has no end, or at the end of a text what quotes if a key follows."""
_FENCE = lazily(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
_CODE_SIGN = lazily(r"[={}\[\]<>\\$#|+@→│├└]|;\s*$|\w[_./]\w|\w\(|(?<!\S)--?\w|^[ \t]*(?:[-*•]\s|\d)", re.MULTILINE)
_KEY_BESIDE = lazily(rf"\s{{0,4}}{_KEY}")
_INCHES = lazily(r"(?<!\w)\d['’′]\s?\d{1,2}\"(?!\w)")
_NEAR = 60
"""Characters before words by which it is told whether they are quoted."""
_STRAIGHT = str.maketrans(dict.fromkeys("\"'", _NEUTRAL))


def _read(text: str, before: str) -> str:
    """The text as the patterns read it, letter by letter: straight marks in code are none, emphasis may be one."""
    if "`" in text or "~" in text:
        text = _with_code(text, _without_straight_marks)
    if '"' in text:
        text = _INCHES.sub(_as_inches, text)
    if "[quote]" in text:
        text = text.replace("[quote]", _SAID * 7).replace("[/quote]", _END_OF_SAID * 8)
    whole = before + text
    if _MAY_BE_SAID.search(whole):
        whole = _SAID_OTHERWISE.sub(_as_said, whole)
    return whole[len(before) :]


def _with_code(text: str, written: Callable[[re.Match[str]], str]) -> str:
    """The text with each piece of code as `written`. The end of a fence that has none is looked for once."""
    parts: list[str] = []
    at, unended = 0, set[str]()
    for start in _CODE_START.finditer(text):
        if start.start() < at or start["fence"] in unended:
            continue
        if code := _CODE.match(text, start.start()):
            parts += text[at : code.start()], written(code)
            at = code.end()
        elif start["fence"]:
            unended.add(start["fence"])
    return "".join((*parts, text[at:]))


def _as_inches(measure: re.Match[str]) -> str:
    """A measure in feet and inches without its straight mark, unless a quotation ends there: 6'2"."""
    line = measure.string[measure.string.rfind("\n", 0, measure.start()) + 1 : measure.start()]
    return measure[0] if line.count('"') % 2 else f"{measure[0][:-1]}{_NEUTRAL}"


def _without_straight_marks(code: re.Match[str]) -> str:
    if code["fence"] and _is_quoted_as_code(code):
        begins, lines = code.start("lines") - code.start(), code["lines"].rstrip("\n")
        return f"{_FENCED * begins}{lines}{_END_OF_FENCED * (len(code[0]) - begins - len(lines))}"
    if code["fence"]:
        lines = code["lines"].splitlines(keepends=True)
        shown = [line.translate(_STRAIGHT) if code["language"].strip() or _is_code(line) else line for line in lines]
        return f"{code[0][: code.start('lines') - code.start()]}{''.join(shown)}{code['fence']}".ljust(len(code[0]))
    if (code["tick"] == "``" and "''" in code["code"]) or not _is_code(code["code"]):
        return code[0]
    return _NEUTRAL * len(code["tick"]) + code["code"].translate(_STRAIGHT) + _NEUTRAL * len(code["tick"])


def _is_quoted_as_code(code: re.Match[str]) -> bool:
    """Whether fences stand around words rather than code, and a key beside them."""
    before, lines = code.string[max(code.start() - _NEAR, 0) : code.start()], code["lines"]
    has_key = "s-" in lines and KEY_GROUP.search(lines)
    has_key = has_key or _KEY_BESIDE.match(code.string, code.end()) or _KEY_ANNOUNCES.search(before)
    return bool(has_key) and not _is_code(lines)


def _read_through(code: re.Match[str]) -> str:
    """In place of code, as much of what is none, or of what quotes if a key follows."""
    return ("·" if _is_code(code["lines"] if code["fence"] else code["code"]) else _NEUTRAL) * len(code[0])


def _is_code(text: str) -> bool:
    """Whether it is code rather than words that are quoted as code."""
    plain = KEY_GROUP.sub("", text)
    return len(words_of(plain)) < SHORT or bool(_CODE_SIGN.search(plain))


def _as_said(found: re.Match[str]) -> str:
    """Words quoted without marks, as a quotation, or as the beginning of one whose end is still to be seen."""
    opening, closing = next((pair for pair in _SAID_BY if found[pair[0]]), _SAID_BY[0])
    marks = {opening: _SAID, closing: _END_OF_SAID}
    if found["words"] and not _is_spoken(found):
        if _is_named(found["words"]) or not (found["open"] is not None or _is_put_forth(found)):
            return found[0]
        marks.pop(closing if found["open"] is not None else "", None)
    text = [*found[0]]
    for group, mark in marks.items():
        for at in range(*found.span(group)):
            text[at - found.start()] = mark
    return "".join(text)


def _is_spoken(found: re.Match[str]) -> bool:
    """Whether emphasis is what somebody says, as "I" or by the words around it, or what a key announces."""
    words, before = found["words"], found.string[max(found.start("star") - _NEAR, 0) : found.start("star")]
    if _is_named(words) or words.rstrip().endswith((":", "：")):
        return False
    is_speech = before.endswith((", ", "，")) and words[0].isupper() and _ENDS.search(words)
    says = _IN_PERSON.search(words) or _SAYS_THIS.search(before) or _SAYS_THAT.match(found.string, found.end())
    is_long = found["star"] not in _BOLD and _size(words) >= _FEWEST_IN_A_SENTENCE
    return bool(is_speech or says or (is_long and _KEY_ANNOUNCES.search(before)))


def _is_put_forth(found: re.Match[str]) -> bool:
    """Whether emphasis in a sentence with a key is announced there, or is not bold and a whole sentence or as long as
    one. A bold one is the answer's own claim, in italics it is what somebody else has written.
    """
    words, before = found["words"], found.string[max(found.start("star") - _NEAR, 0) : found.start("star")]
    begins, is_bold, is_code = _LEAD.search(before), found["star"] in _BOLD, found["star"] == "`"
    if begins and found["key"] is not None and _ANNOUNCED.search(before):
        return True
    has_end = is_code or _ENDS.search(words) or _ENDS_BEHIND_KEY.match(found.string, found.end())
    fewest = _FEWEST_IN_A_SENTENCE if has_end and (begins or is_code) else _SURELY_A_SENTENCE
    return found["key"] is not None and not is_bold and _size(words) >= fewest


def _is_named(emphasised: str) -> bool:
    """Whether it is a word or two, or a title: all of the long words begin with a capital."""
    return _size(emphasised) < SHORT or "".join(w[0] for w in words_of(emphasised) if len(w) > SHORT).isupper()


def _stand_in(before: str) -> str:
    """One character that represents the preceding text in the patterns: a line's beginning, a word, or neither."""
    last = before[-1:] or "\n"
    return last if last == "\n" else "w" if last.isalnum() else "·"


def _may_go_on(found: re.Match[str], end: int) -> bool:
    """Whether following text may change the result: the mark's own closing one, another line, or a letter after an
    apostrophe.
    """
    if found["unclosed"] and _OPEN_LINES.match(found.string, found.start()):
        return True
    if found["closed"] and found[0][-1] not in CLOSING.get(found[0][0], found[0][-1]):
        return True
    return found.end() == end and (not found["closed"] or (found[0][-1] in "'’" and found[0][-2:] != "''"))


def _inside(found: re.Match[str], quotation: str) -> str:
    if found["block"]:
        return _BLOCK_MARK.sub("", quotation)
    opening = _MARK_THERE.match(found[0])
    closing = None if found["unclosed"] else _LAST_MARK.search(found[0])
    return quotation[opening.end() if opening else 0 : closing.start() if closing else len(quotation)]


def _quotes(found: re.Match[str], plain: str) -> bool:
    """Whether marks quote words: no number, no sign, no name in JSON, and no letter between apostrophes."""
    words = words_of(plain)
    if not any(map(str.isalpha, plain)) or (found["unclosed"] and len(words) < SHORT):
        return False
    mark, around = found[0][0], found.string[found.start() - 1] + found.string[found.end() : found.end() + 1]
    if mark == '"' and len(words) < SHORT:
        return not re.search(r"[{\[]|:$|[\]}]$", around)
    return mark not in "'‘" or len(words) > 1 or len(plain) >= FEWEST_LETTERS
