"""Verifying quotations: what an answer puts in quotation marks has to be in the book."""

import asyncio
import html
import re
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from domain.book import Passage
from domain.citations.matching import KEY_GROUP
from domain.library.search.sentences import split_sentences
from domain.library.search.words import is_dense, words_of
from domain.spoilers.filter import spans
from domain.tasks import LONG_ANSWER, in_thread_if_long

FEWEST_LETTERS = 3
"""Less between apostrophes is no quotation: rock 'n' roll."""

SHORT = 3
"""Words; shorter quotations have to stand in a text as whole words, not within others."""

LONGEST = 1_200
"""Characters held back at most while a quotation is open; a longer one cannot be checked whole and loses its mark."""

MOST_LOOKED_UP = 40
"""Quotations per answer that are searched in the whole book, at some milliseconds each. Those found in what the model
was given, as true ones usually are, do not count.
"""

QUOTATIONS_AT_ONCE = 16
"""Quotations after which other tasks run: what was held back may have hundreds of them."""

_DOUBLE = (
    r"“(?:[^“”\n]|“[^“”\n]*”)+”|„[^„“”\n]+[“”]|«[^«»\n]+»|»(?=\w)[^«»\n]+«|‹[^‹›\n]+›"
    r"|「[^「」\n]+」|『[^『』\n]+』|\"[^\"\n]+\""
)
_CURLY_SINGLE = r"(?<!\w)‘[^‘’\n]++(?:’(?=\w)[^‘’\n]*+)*+’(?!\w)"
_ENGLISH_SINGLE = r"(?<![\w'])'(?!(?:t(?:is|was|ill)|em|cause|round|bout|\d)\b)[^'\n]++(?:'(?=\w)[^'\n]*+)*+'(?!\w)"
_UNCLOSED = r"[“„«][^“”„«»\n]+(?=\n|\Z)"
_BLOCK = r"(?:^[ \t]*>[^\n]*\n?)+"
_QUOTED = re.compile(
    rf"(?P<block>{_BLOCK})|(?P<closed>{_DOUBLE}|{_CURLY_SINGLE}|{_ENGLISH_SINGLE})|(?P<unclosed>{_UNCLOSED})",
    re.MULTILINE,
)
_OPENING = re.compile(
    r"[“«„‹「『\"]|»(?=\w)|(?<!\w)‘|(?<![\w'])'(?!(?:t(?:is|was|ill)|em|cause|round|bout|\d)\b)|^[ \t]*>", re.MULTILINE
)
_GAP = re.compile(r"\s*(?:\[[^\]\n]*\]|…|\.\.\.)\s*")
_BLOCK_MARK = re.compile(r"^[ \t]*>+[ \t]?", re.MULTILINE)
_ATTRIBUTION = re.compile(r"\n[ \t]*(?:[—–]|--?)[^\n]*\s*\Z")
_TYPED_REFERENCE = re.compile(r"\((?:about )?pp?\. ?[^()\n]{1,30}\)")
_MARKS = "“”„«»‹›‘’\"'「」『』"
_FOLDS = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "*": "", "_": ""}
)
UNSEEN = re.compile(
    "[\u00ad\u034f\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|(?<=[ -~])[\u200c\u200d]"
)
"""Invisible characters, in which a page number or a quotation could be hidden from the checks."""
_EDGES = " .,;:!?'\"-_*。、！？"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of checked text. `quoted`: a quotation that is in the book. `refused`: a quotation that is not in the
    book ends here.
    """

    text: str
    quoted: bool = False
    refused: bool = False


def fold(text: str) -> str:
    """Text for comparison, with compatible characters, case, quotation marks, dashes and white space unified."""
    plain = unicodedata.normalize("NFKC", UNSEEN.sub("", text)).translate(_FOLDS).casefold()
    return " ".join(plain.replace("--", "-").split())


_LOOK_ALIKE_LETTERS = """
    aаαɑᴀ@ bвβʙ cсᴄ dԁðđᴅ eеεᴇ fꜰ gɡցɢ hнһʜ iіιıɪ jјᴊ kкκᴋ lӏʟ mмᴍ nηոɴ oоοօøᴏ pрρᴘ qԛ rгʀ sѕꜱ tтτᴛ uυսᴜ vѵνᴠ wԝᴡ
    xхχ yуγʏ zᴢ
"""
_LOOK_ALIKES = {ord(other): group[0] for group in _LOOK_ALIKE_LETTERS.split() for other in group[1:]}
_NEGATIVE_LETTERS = ((0x1F150, 0x1F169), (0x1F170, 0x1F189), (0x1F1E6, 0x1F1FF))
"""Letters in black circles and squares, and flag letters, which Unicode does not classify as letters."""

SUPERSCRIPTS = "²³¹⁰⁴⁵⁶⁷⁸⁹"
_UNSEEN = frozenset({"Mn", "Cf", "Cc", "Co"})
_DISGUISE = re.compile(
    rf"(?:{KEY_GROUP.pattern})|&#?\w{{1,8}};|</?[A-Za-z]{{1,9}}\s?/?>|\\(?=[^\w\s])|[*_`]|\|\||~~"
    r"|\](?P<target>\(https?://[^()\s]{0,200}\))"
)
"""Characters that do not read as written. Keys count as nothing, so that they cannot separate a word from its number.
Of a link, only the label is read.
"""
LINK_INTO_A_BOOK = re.compile(
    r"(\[[^\[\]\n]{0,80}\])\((?:(?!https?://)|(?=[^()\s]{0,200}p(?:age|g)?[=/_-]?\d))[^()\s]{0,200}\d[^()\s]{0,200}\)",
    re.IGNORECASE,
)
"""A link that leads to a page, with its label in brackets as the group."""
RAISED = re.compile(r"\s?<su[pb]>[^\w<]{0,3}\d{1,4}[^\w<]{0,3}</su[pb]>", re.IGNORECASE)
_PLAIN_OR_ONE = re.compile(r"(?P<plain>[\n\t -~]+)|.", re.DOTALL)
"""A run of characters each of which reads as one, or any other character."""
_PLAIN = re.compile(r"[\n\t -~]*")
EMPHASIS = re.compile(r"[*_`]|\|\||~~|<")


@lru_cache(maxsize=4_096)
def _folded(character: str) -> str:
    """A character as a person reads it; empty if it is invisible."""
    for first, last in _NEGATIVE_LETTERS:
        if first <= ord(character) <= last:
            return chr(ord("a") + ord(character) - first)
    if character in SUPERSCRIPTS or character in "\n\t":
        return character  # a superscript is the number of a note behind that of a page
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(_digit(part) for part in parts if unicodedata.category(part) not in _UNSEEN).translate(_LOOK_ALIKES)


def _digit(character: str) -> str:
    value = None if character.isascii() else unicodedata.digit(character, None)
    return character if value is None else str(value)


def fold_letters(text: str) -> str:
    """A text as a person reads it, letter by letter."""
    return "".join(map(_folded, text))


def _read_plain(text: str) -> str:
    """Plain characters as a person reads them: "@" is the only look-alike among them."""
    return text.lower().replace("@", "a")


class Seen(NamedTuple):
    """A text as it reads, with the original start and end of each of its characters."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int, written: str) -> tuple[int, int]:
        """The original span; emphasis marks that open within it are closed within it."""
        first, last = self.starts[start], self.ends[end - 1]
        return first, self.starts[end] if EMPHASIS.search(written, first, last) else last


def as_seen(text: str) -> Seen:
    """The text as a person reads it: look-alikes as the letters they imitate, and nothing of what is invisible."""
    if _PLAIN.fullmatch(text) and not _DISGUISE.search(text):  # as most texts
        return Seen(_read_plain(text), range(len(text) + 1), range(1, len(text) + 1))
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
                pieces.append(_read_plain(run[0]))
                starts.extend(range(*run.span()))
                ends.extend(range(run.start() + 1, run.end() + 1))
            else:
                add(_folded(run[0]), *run.span())
        if disguise and disguise[0][0] == "&":
            add(fold_letters(html.unescape(disguise[0])), start, end)
        elif disguise and disguise["target"]:
            add("]", start, end)
        at = end
    return Seen("".join(pieces), [*starts, len(text)], ends)


class Quotations:
    """Checks quotations against what the model was given, then against everything the reader may see of the book."""

    def __init__(self, stands_in_book: Callable[[str], Awaitable[bool]]) -> None:
        self._stands_in_book = stands_in_book
        self._seen: list[str] = []
        self._unfolded: list[Passage | str] = []
        self._known: dict[str, bool] = {}
        self._looked_up = 0

    def learn(self, source: Passage | str) -> None:
        """Add what the model may quote: a passage and its chapter's title, or a text, such as a reader's own words.

        A history has dozens of them; they are folded only when there is a quotation to compare.
        """
        self._unfolded.append(source)

    def open_at(self, text: str, before: str = "") -> int:
        """Where an unfinished quotation begins; the length of the text if there is none.

        `before` is the preceding text, or its last character.
        """
        whole = _stand_in(before) + text
        rest = _QUOTED.sub(lambda found: found[0] if _may_go_on(found, len(whole)) else "·" * len(found[0]), whole)
        for opening in _OPENING.finditer(rest):
            waits = opening[0].endswith(">") or "\n" not in rest[opening.start() :]
            if waits and len(rest) - opening.start() <= LONGEST:
                return opening.start() - 1
        return len(text)

    async def check(self, text: str, before: str = "") -> list[Piece]:
        """The text, with the marks removed from every quotation that is not in the book."""
        whole = _stand_in(before) + text
        pieces, at = [], 1
        for number, found in enumerate(_QUOTED.finditer(whole), 1):
            if number % QUOTATIONS_AT_ONCE == 0:
                await asyncio.sleep(0)
            pieces.append(Piece(whole[at : found.start()]))
            inner = _inside(found)
            plain = _TYPED_REFERENCE.sub("", KEY_GROUP.sub("", _ATTRIBUTION.sub("", inner)))
            if not _quotes(found, plain):
                pieces.append(Piece(found[0]))
            elif await self._is_true(plain):
                pieces.append(Piece(found[0], quoted=True))
            else:
                pieces += [*await self.check(inner, "·"), Piece("", refused=True)]
            at = found.end()
        return [piece for piece in (*pieces, Piece(whole[at:])) if piece.text or piece.refused]

    async def _is_true(self, plain: str) -> bool:
        parts = [part for line in plain.split("\n") for part in _GAP.split(line) if words_of(part)]
        long = [part for part in parts if len(words_of(part)) > 1]
        return all([await self._stands(part) for part in long or parts])

    async def _stands(self, part: str) -> bool:
        needle = fold(part).strip(_EDGES)
        for source in self._unfolded:
            self._seen += map(fold, (source,) if isinstance(source, str) else (source.text, source.chapter))
        self._unfolded.clear()
        words = words_of(needle)
        whole = re.compile(rf"(?<!\w){re.escape(needle)}(?!\w)") if len(words) < SHORT else None
        if any(map(is_dense, words)):
            whole = None
        stands = any(needle in text and (whole is None or whole.search(text)) for text in self._seen)
        return stands or await self._is_in_book(part.strip(_EDGES + _MARKS))

    async def _is_in_book(self, part: str) -> bool:
        """Whether the book contains it; after MOST_LOOKED_UP lookups the answer is no."""
        if part not in self._known:
            self._looked_up += 1
            self._known[part] = self._looked_up <= MOST_LOOKED_UP and await self._stands_in_book(part)
        return self._known[part]


def _stand_in(before: str) -> str:
    """One character that represents the preceding text in the patterns: a line's beginning, a word, or neither."""
    last = before[-1:] or "\n"
    return last if last == "\n" else "w" if last.isalnum() else "·"


def _may_go_on(found: re.Match[str], end: int) -> bool:
    """Whether following text may change the result: a closing mark, another line, a letter after an apostrophe."""
    return found.end() == end and (not found["closed"] or found[0][-1] in "'’")


def _inside(found: re.Match[str]) -> str:
    if found["block"]:
        return _BLOCK_MARK.sub("", found[0])
    return found[0][1:] if found["unclosed"] else found[0][1:-1]


def _quotes(found: re.Match[str], plain: str) -> bool:
    """Whether what is in quotation marks quotes words: not a number or a sign, nor a name in JSON, nor an apostrophe's
    letter.
    """
    words = words_of(plain)
    if not any(map(str.isalpha, plain)) or (found["unclosed"] and len(words) < SHORT):
        return False
    mark, around = found[0][0], found.string[found.start() - 1] + found.string[found.end() : found.end() + 1]
    if mark == '"' and len(words) < SHORT:
        return not re.search(r"[{\[]|:$|[\]}]$", around)
    return mark not in "'‘" or len(words) > 1 or len(plain) >= FEWEST_LETTERS


FEWEST_WORDS_CLAIMED = 5

_REFERENCE = re.compile(r"\((?:about )?pp?\. [^()\n]+\)")
_MARK = "\ue000"
"""Stands for a reference while sentences are split: the full stop in "p. 12" does not end a sentence."""

_BLANKS = re.compile(r"\s{2,}")
_LEADING_MARKS = re.compile(rf"[{_MARK}\s]+[.,;]?")
_NOT_PROSE = re.compile(r"\s*(?:#{1,6}\s|-#\s|```|\||\*\*[^*]*[^*.!?…]\*\*\s*$|(?:[^:;]+: \d+(?:;\s|\s*$))+$)")
"""Headings (bold ones end without a stop), small print, code, tables, tallies ("The Arrival: 2; The Key: 1")."""
_QUOTED_BEFORE_MARK = re.compile(rf"“[^“”]*”[.,;]?\s*(?={_MARK})")
"""A reference after a quotation covers all of its sentences."""
_TITLE = re.compile(r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,120}\*(?!\*)|[“„«]\d{1,4}\. [^“”„«»\n]{1,120}[”“»]")
"""What is emphasised, and what is numbered and in quotation marks."""
_INNER_STOP = re.compile(r"[.?!…]+(?=\s)")
"""A stop in a title ("12. Return on the Ebb") does not end a sentence."""
_BLOCK_QUOTATION = re.compile(rf"\s*>.*{_MARK}")
_LINE_LEAD = re.compile(r"\s*(?:(?:[-*+>]|\d{1,3}[.)])\s+)*")
_OF_THE_TALK = re.compile(
    r"\b(?:I|I['’]\w+)\b"
    r"|(?i:\b(?:me|my|you|your|we|us|our|ich|mir|mich|mein\w*|du|dir|dich|wir|uns|je|nous|vous|tu|yo|nosotros)\b)"
    r"|\b(?:been read|can be read|so far|passages?|bisher|zu lesen ist|Textstellen?)\b"
    r"|\b(?:peut être lu|se puede leer)\b"
)


async def uncited_in(answer: str) -> tuple[str, ...]:
    """As `find_uncited`, off the event loop if the answer is long."""
    return await in_thread_if_long(answer, LONG_ANSWER, partial(find_uncited, answer))


def find_uncited(answer: str) -> tuple[str, ...]:
    """The claims in an answer that have no reference, in order."""
    long = (line for line in answer.splitlines() if len(line.split()) >= FEWEST_WORDS_CLAIMED)
    plain = (_BLANKS.sub(" ", line.rstrip()) for line in long)
    lines = (line for line in plain if line and not _NOT_PROSE.match(line))
    return tuple(sentence for line in lines for sentence in _sentences(line) if _is_bare_claim(sentence))


def _sentences(line: str) -> list[str]:
    """The sentences of a line; a reference after a full stop belongs to the sentence before it."""
    line = _REFERENCE.sub(_MARK, _shown(line))
    if _BLOCK_QUOTATION.match(line):
        return []
    line = _TITLE.sub(lambda title: _INNER_STOP.sub("", title[0]), line)
    lead = _LINE_LEAD.match(line)
    text = _QUOTED_BEFORE_MARK.sub("“…” ", line[lead.end() :] if lead else line)
    sentences: list[str] = []
    for start, end in split_sentences(text):
        sentence = text[start:end]
        leading = _LEADING_MARKS.match(sentence)
        if leading and sentences:
            sentences[-1] += _MARK
            sentence = sentence[leading.end() :].strip()
        if sentence:
            sentences.append(sentence)
    return sentences


def _shown(line: str) -> str:
    """The text without hidden spans, which are neither judged nor repeated."""
    return "".join(span.text for span in spans(line) if not span.is_hidden)


def _is_bare_claim(sentence: str) -> bool:
    if _MARK in sentence or sentence.rstrip('*_"”’)').endswith(("?", ":")):
        return False
    return len(sentence.split()) >= FEWEST_WORDS_CLAIMED and not _OF_THE_TALK.search(sentence)
