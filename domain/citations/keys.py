"""How an answer points at the book: by sentence keys, which models write, and by page references, which code writes.

Here are what keys look like and how a text reads: without them, where its sentences end, sentences that say nothing but
where something stands, and references in other languages.
"""

import hashlib
import html
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from domain.book import Citation, Passage, Sentence, page_reference
from domain.citations.context import SEE, SOURCE
from domain.citations.symbols import lazily
from domain.library.search.sentences import split_sentences
from domain.library.search.words import fold_letter, fold_letters
from domain.spoilers.filter import uncovered

_DIGITS = 7

KEY = r"s-[0-9a-f]{4,12}"
"""A key of any length that a model might invent, so that a mistyped key is recognised and removed."""

_LIKE_A_KEY = r"[sS] ?[-‐‑–] ?[0-9a-fA-F]{4,16}+(?!\w)"
_BARE_KEY = rf"(?<![\w-])s-[0-9a-f]{{{_DIGITS}}}(?![\w-])"
_AND = r"\s*+[,;&]\s*+"
_NOTE = r"\[[^\[\]\n]{0,80} · \d{4}-\d\d-\d\d\]"
_PASSAGE = r"passage-\d{1,9}[-–/]\d{1,9}"
_KEY_FORMS = (
    rf"[\[【]{{1,2}}(?:[^\[\]【】\n]{{0,40}}?[^\w\[\]【】\n-])??{_LIKE_A_KEY}[^\[\]【】\n]{{0,60}}+[\]】]{{1,2}}",
    r"\[s-(?:[a-z]*+\d\w{0,20}+)?\]",
    rf"[(（{{<]\s*+(?:[^\W\d]{{2,9}}+[:.]? )?\[?{_LIKE_A_KEY}(?:{_AND}{_LIKE_A_KEY})*+\]?\s*+[)）}}>]",
    rf"[\[(](?:[^()\[\]\n]{{0,80}}? )?{_PASSAGE}[\])]|(?<![\w-]){_PASSAGE}(?:{_AND}{_PASSAGE})*+(?![\w-])",
    rf"{_NOTE}|[*_]{_NOTE}[*_]|\*\*{_NOTE}\*\*",
    rf"[\[`^]?{_BARE_KEY}(?:{_AND}{_BARE_KEY})*+[\]`]?",
)

KEY_IN_GROUP = lazily(KEY)
KEY_GROUP = lazily(rf"(?:(?:(?<!\s)\s++)?(?:{'|'.join(_KEY_FORMS)}))+")
"""Keys in a row, in brackets with whatever stands beside them there, or as small models write them, without brackets;
names of passages, which are no citation; the line in front of a reader's message; all with the white space before
them, which is looked through once.
"""
UNFINISHED = lazily(
    r"(?=[\s\[【({<`^sp])(?:(?:\s*+(?:[\[【][^\]\n]{0,80}+(?:\]\([^()\s]{0,200}+\)?+|\]?+)|[({<][^()\n]{0,60}+\)?+))++\s*+\Z"
    r"|\s*+[`^]?(?<![\w-])(?:s(?:-[0-9a-f]{0,7}+`?)?|passage[\d-]{0,20}+)\Z|\s++\Z)"
)
"""A tail that may still become keys, links or page references in brackets, or the blank before them.

The pattern never backtracks: a model that writes a hundred brackets must not delay everybody.
"""

_DASH = lazily("[-‐‑–]")


def key_groups(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
    """The keys in a text, in groups; every key has a dash, and most texts have none."""
    return KEY_GROUP.finditer(text, start, end) if _DASH.search(text, start, end) else iter(())


def key_of(sentence: Sentence) -> str:
    """The key of a sentence, always the same: s-7f3a2c1."""
    place = f"{sentence.start}-{sentence.end}".encode()
    return f"s-{hashlib.blake2s(place).hexdigest()[:_DIGITS]}"


def render(passages: Sequence[Passage]) -> str:
    """Passages as text, with each sentence's key in front of it."""
    return "\n\n".join(_render_one(passage) for passage in passages)


def _render_one(passage: Passage) -> str:
    heading = " · ".join(part for part in (passage.chapter, passage.source) if part)
    sentences = " ".join(f"[{key_of(sentence)}] {' '.join(sentence.text.split())}" for sentence in passage.sentences)
    return f"({heading})\n{sentences}"


LINK_INTO_A_BOOK = lazily(
    r"(\[[^\[\]\n]{0,80}\])\((?:(?!https?://)|(?=[^()\s]{0,200}p(?:age|g)?[=/_-]?\d))[^()\s]{0,200}\d[^()\s]{0,200}\)",
    re.IGNORECASE,
)
"""A link that leads to a page, with its label in brackets as the group."""
RAISED = lazily(
    r"\s?<(su[pb]|ref|cite|page|source)>[^\w<]{0,3}\d{1,4}[^\w<]{0,3}</(?:su[pb]|ref|cite|page|source)>", re.IGNORECASE
)


_BETWEEN_LETTERS = (
    r"[ .-](?:(?<=\b[^\W\d_][ .-])(?=[^\W\d_][ .-][^\W\d_]\b)|(?<=\b[^\W\d_][ .-][^\W\d_][ .-])(?=[^\W\d_]\b))"
)
"""A pattern for what is between two of at least three letters that stand apart: "n i n e", "n-i-n-e", "n.i.n.e"."""
_SPACED = lazily(_BETWEEN_LETTERS)
_ESCAPED = r"\\x[\da-fA-F]{2}|\\u[\da-fA-F]{4}|(?<!\d)(?:%[0-7][\da-fA-F])++"
"""A pattern for characters by their numbers: "\\x33", "\\u0033" and "%33" are a 3."""
_DISGUISE = (
    rf"{_BETWEEN_LETTERS}|(?P<escaped>{_ESCAPED})|"
    + r"&#?\w{1,8};|</?[A-Za-z]{1,9}\s?/?>|\\(?=[^\w\s])|[*_`]|\|\||~~|\](?P<target>\(https?://[^()\s]{0,200}\))"
)
"""A pattern for characters that do not read as written; a link is read as its label."""
_PLAIN_OR_ONE = lazily(r"(?P<plain>[\n\t -~]+)|.", re.DOTALL)
"""A run of characters each of which reads as one, or any other character."""
_SIGN = lazily(r"[&%<\\*_`|~\]\[({【（‐‑–-]")
"""A part of every disguise and of every key. Most texts have none; looking for it takes a tenth of the time."""
_A_IN_A_WORD = lazily(r"@(?=[a-z])")
_PLAIN = lazily(r"[\n\t -~]*")
_READS_AS_OTHERS = lazily(rf"&|\]\(|{_ESCAPED}")
"""A disguise that is more than left out, or its beginning."""
_EMPHASISED = lazily(r"[\n\t !-$'-;=-\[^-{}]*")
"""A run of plain characters without signs of which a disguise other than emphasis is made."""
_WITHOUT_EMPHASIS = str.maketrans("", "", "*_`")
_EMPHASIS = lazily(r"[*_`]|\|\||~~|<")


def _unescaped(written: str) -> str:
    """What an entity or the numbers of characters stand for."""
    if written[0] == "\\":
        return chr(int(written[2:], 16))
    return html.unescape(written) if written[0] == "&" else unquote(written)


def _read_plain(text: str) -> str:
    """Plain characters as a person reads them: "@" is the only look-alike among them, within a word."""
    return _A_IN_A_WORD.sub("a", text.lower()) if "@" in text else text.lower()


class Seen(NamedTuple):
    """A text as it reads, with the original start and end of each of its characters."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int, written: str) -> tuple[int, int]:
        """The original span; emphasis marks that open within it are closed within it, and signs of its last letter."""
        first, last = self.starts[start], self.ends[end - 1]
        while last < len(written) and unicodedata.category(written[last]).startswith("M"):
            last += 1
        return first, self.starts[end] if _EMPHASIS.search(written, first, last) else last


_DISGUISES = lazily(rf"(?:{KEY_GROUP.pattern})|{_DISGUISE}")
_FOLDS = {**str.maketrans("’‘ʼ“”–—", "'''\"\"--", "*_"), ord("…"): "..."}
UNSEEN = lazily(
    "[\u00ad\u034f\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ue000]|(?<=[ -~])[\u200c\u200d]"
)
"""Invisible characters, in which a page number or a quotation could be hidden from the checks, and the one with which
the resolver marks what is refused.
"""


def fold(text: str) -> str:
    """Text for comparison, with compatible characters, case, quotation marks, dashes and white space unified."""
    plain = unicodedata.normalize("NFKC", UNSEEN.sub("", text)).translate(_FOLDS).casefold()
    return " ".join(plain.replace("--", "-").split())


def as_seen(text: str) -> Seen:
    """The text as a person reads it: look-alikes as the letters they imitate, and nothing that is invisible, nor keys:
    these do not separate a word from its number.
    """
    is_spaced = _SPACED.search(text) is not None
    has_signs = is_spaced or _SIGN.search(text) is not None
    if _PLAIN.fullmatch(text) and not (has_signs and _DISGUISES.search(text)):  # as most texts
        return Seen(_read_plain(text), range(len(text) + 1), range(1, len(text) + 1))
    if _EMPHASISED.fullmatch(text) and not is_spaced and not KEY_GROUP.search(text):
        kept = [at for at, letter in enumerate(text) if letter not in "*_`"]
        return Seen(_read_plain(text.translate(_WITHOUT_EMPHASIS)), [*kept, len(text)], [at + 1 for at in kept])
    if _PLAIN.fullmatch(text) and not _READS_AS_OTHERS.search(text):  # what is a disguise is left out
        edges = [0, *(edge for found in _DISGUISES.finditer(text) for edge in found.span()), len(text)]
        runs = [slice(*run) for run in zip(edges[::2], edges[1::2], strict=True)]
        places = range(len(text))
        kept = [at for run in runs for at in places[run]]
        return Seen(_read_plain("".join(map(text.__getitem__, runs))), [*kept, len(text)], [at + 1 for at in kept])
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def add(read: str, start: int, end: int) -> None:
        pieces.append(read)
        starts.extend([start] * len(read))
        ends.extend([end] * len(read))

    at = 0
    for disguise in [*(_DISGUISES.finditer(text) if has_signs else ()), None]:
        start, end = disguise.span() if disguise else (len(text), len(text))
        for run in _PLAIN_OR_ONE.finditer(text, at, start):
            if run["plain"]:
                pieces.append(_read_plain(run[0]))
                starts.extend(range(*run.span()))
                ends.extend(range(run.start() + 1, run.end() + 1))
            else:
                add(fold_letter(run[0]), *run.span())
        if disguise and (disguise[0][0] == "&" or disguise["escaped"]):
            add(fold_letters(_unescaped(disguise[0])), start, end)
        elif disguise and disguise["target"]:
            add("]", start, end)
        at = end
    return Seen("".join(pieces), [*starts, len(text)], ends)


_POINTS = lazily(
    r"(?:(?:(?<=[.!?…])|(?<=[.!?…][\"”’»)\]*_]))\s+|(?<=\n))(?P<whole>(?:(?<=\n)[ \t]*(?:[-*•+–—>]|\d+[.)])\s+)?\W{0,3}"
    rf"(?:(?:{SEE}|{SOURCE})[\s:.]+){{0,4}}(?:the\s)?)\Z"
)
_AND_ENDS = lazily(
    r"(?:\s(?:for|fur|pour)(?:\s(?:the|all|more|further|full|weitere|mehr))*"
    r"(?:\s(?:details?|information|infos?|context|passage|scene|text|quote|this|it|einzelheiten))?)?"
    r"(?:[.!…]+[)\]*_]*(?=\s|\Z)|(?<=f\.)(?=\s)|[)\]*_]*(?=[^\S\n]*(?:\n|\Z)))(?P<line>[ \t]*\n+)?"
)
_LONGEST, _LONGEST_LEAD = 40, 60
"""Characters of a key, and of a sentence before its reference."""


def _sentence_of_reference(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a sentence or line that says nothing but the reference at this span, such as "See p. 42."; None if
    it says more, or if nothing stands before it. `text` is folded, as people read it.
    """
    leads = _POINTS.search(text, max(start - _LONGEST_LEAD, 0), start)
    ends = _AND_ENDS.match(text, end) if leads else None
    if not leads or not ends or not text[: leads.start()].strip():
        return None
    first, last = leads.start("whole"), ends.end()
    before = text[max(first - 2, 0) : first]
    is_line = before.endswith("\n")
    if ends["line"] and before != "\n\n":
        last -= ends["line"].count("\n") - is_line
    return (first if is_line else leads.start()), last


def pointer_at(seen: Seen, written: str, span: tuple[int, int], at: int) -> tuple[int, int, str] | None:
    """How a sentence goes that says nothing but a reference, unless it began before `at` or has a key."""
    sentence = _sentence_of_reference(seen.text, *span)
    if not sentence or seen.starts[sentence[0]] < at:
        return None
    end = seen.ends[sentence[1] - 1]
    keys = key_groups(written, seen.starts[sentence[0]], end + _LONGEST)
    return None if any(key.start() <= end for key in keys) else (*sentence, "")


CLOSING = {"“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", '"': '"'}
"""Quotation marks that open, and those that close them."""
_QUOTE_MARK = lazily(f"[\n{''.join({*CLOSING, *''.join(CLOSING.values())})}]")
_CLOSES_ONLY = lazily(r"(?<=[^\W\d]|[.,;:!?…])\"(?!\w)")
"""A straight mark that opens no quotation: one that ends in this line, and has begun in another."""
_QUOTE_START = lazily(rf"[{''.join(CLOSING)}>]")


class Quoting:
    """Tells, from one place of a text to the next, whether it is in a quotation that was opened in its line."""

    def __init__(self, text: str) -> None:
        self._marks = _QUOTE_MARK.finditer(text)
        self._mark = next(self._marks, None)
        self._closing = ""

    def at(self, place: int) -> bool:
        while self._mark is not None and self._mark.start() < place:
            mark = self._mark[0]
            if mark == "\n" or mark in self._closing:
                self._closing = ""
            elif not self._closing and not _CLOSES_ONLY.match(self._mark.string, self._mark.start()):
                self._closing = CLOSING.get(mark, "")
            self._mark = next(self._marks, None)
        return self._closing != ""


SPEAKS = (
    r"says?|said|saying|(?:cr|repl)(?:y|ies|ied)|(?:whisper|shout|exclaim|declar|remark|mutter|insist)(?:s|es|ed)|sagte?|ruft|rief"
    r"|flüsterte?|meinte?|dit|s['’]écri[ea]|murmur[ea]|dice|dijo|disse|diz|grita|gritó|zegt|zei|говорит|сказала?"
    r"|think(?:s|ing)?|thought|denkt|dachte|pensa(?:it)?|pense|piensa|pensó|думает|подумала?"
)
SPEAKS_UP = (
    r"tells?|told|answer(?:s|ed)|(?:ask|add|warn|beg|quote)(?:s|g?ed|d)?|writes?|wrote|reads?|words|fragte?|antwortete?|schreibt|schrieb"
    r"|steht|heißt|zitat|demand[ea]|répond|répondit|écrit|pregunta|preguntó|responde|respondió|escrib[ei]ó?|chiede|chiese"
    r"|risponde|scrive|vraagt|schrijft|пишет|спросила?"
)
"""Verbs that say who speaks, before the words or behind them; the latter before them only with whom they speak to."""
TELLS_MORE = lazily(
    rf"\s*(?:he|she|they|er|sie|ils?|elles?|él|ella|ellos)\s(?!.*\b(?:{SPEAKS}|{SPEAKS_UP})\b)", re.IGNORECASE
)
"""The beginning of a sentence that tells more than whose the quotation before it is: "He is sad"."""
_STOP = (
    r"(?<![.!?…。！？])(?:(?<!\b[A-Z])(?<!\bM[rs])(?<!\b[DS][rt])(?<!\bMrs)\.|[!?…。！？])"
    r"[.!?…。！？]*+(?:[ \xa0\u202f]»)?+[\"'“”‘’«»‹›」』)*_\ue000]*+"
)
_AFTER_MARK = r"(?<![.!?…。！？])"
_CAPITALIZED = r"[A-ZÀ-Þ][\w'’-]*+"
_HAS_SPOKEN = (
    r"(?:[.;!?…]|,(?!\s?[\"“„«·])|\s*+(?:\n|\Z)|\s(?:to|at|in|with|from|as|when|while|and|then|again|aloud|\w+ly)\b)"
)
"""What follows a verb of saying that tells no more of what is said, and announces nothing else."""
_SAYS_WHOSE = (
    rf"(?:[^\S\n]++(?:{_CAPITALIZED}\.?\s){{1,3}}(?:{SPEAKS}|{SPEAKS_UP}){_HAS_SPOKEN}"
    r"|と|って|[^\s。！？「『“]{1,6}[说說道曰问問答喊叫](?![:：「『“]))"
)
"""What belongs to the words in quotation marks before it: "Who is there?" Hobb asked, and opened."""
_MAY_SAY_WHOSE = rf"(?:[^\S\n]*+(?:{_CAPITALIZED}\.?\s){{0,3}}(?:[\w'’-]++(?:[.,]?\s?|\s\w*+))?|\S{{0,7}})\Z"
_GOES_ON = rf"(?:\s++(?:[—–-]\s?)?[a-zß-öø-ÿа-яё]|{_AFTER_MARK}{_SAYS_WHOSE})"
"""What follows a stop that ends no sentence: a small letter, or behind a closing mark who speaks."""
_STOPS = rf"{_STOP}(?!{_GOES_ON})(?=\s+[^\s\[(])|(?<=[。！？])[」』”]*+(?!{_GOES_ON})(?=[^\s\[(」』”。！？])"
SENTENCE_END = lazily(rf"{_STOPS}|(?=\n)")
"""The end of a sentence before another one, or at the end of a line."""
END_OF_SAID = lazily(rf"{_STOPS}|(?<![:：\n])(?<![:：][*_]{{2}})(?=\n)")
"""The same, with the sentence that a colon at the end of a line announces."""
_FINAL_STOP = lazily(rf"{_STOP}\s*\Z")
_MAY_GO_ON = lazily(rf"{_STOP}{_AFTER_MARK}(?={_MAY_SAY_WHOSE})")
_REST = lazily(_GOES_ON)
_QUOTE_END = lazily(r"[\"'“”‘’«»‹›」』]")
BLANK = "·"
"""Stands for each letter of a quotation where sentences are told apart."""
_STOP_LENGTH, _LONGEST_SPEAKER = 40, 100
"""Characters at the end of a text in which its last stop is searched, without and with who speaks behind it."""


def _final_stop(text: str) -> re.Match[str] | None:
    """The stop at the end of a text, with the marks and the white space behind it; keys may follow."""
    return _FINAL_STOP.search(text, max(len(text) - _STOP_LENGTH, 0))


def ends_between(sentence: str, text: str) -> bool:
    """Whether a sentence ends before the text that follows it."""
    stop = _final_stop(sentence) if text.strip() else None
    is_apart = stop is not None and (text[0].isspace() or stop[0][0] in "。！？")
    return stop is not None and is_apart and not _REST.match(stop[0] + text[:_LONGEST_SPEAKER], len(stop[0]))


_WHOLE = lazily(
    r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,120}\*(?!\*)|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|»(?=\w)[^«»]*«"
    r"|(?<![\w\"])\"(?=\w)[^\"]*\"|「[^「」]*」|『[^『』]*』"
)
"""What is emphasised, such as a title, and quotations: no sentence ends within them, though one may at their end."""
_INNER_STOP = lazily(r"[.?!…](?=\s+[^\s»])|[。！？](?![。！？」』”])")
_SPACE_BEFORE_MARK = lazily(r"(?<=[.?!…])[ \xa0\u202f]»")
_ENGLISH_MARKS = str.maketrans("“«", "”»")


def starts_of_sentences(line: str) -> list[int]:
    """Where sentences begin in a line of an answer."""
    plain = _WHOLE.sub(_as_one, line)
    found = split_sentences(plain)
    return [start for at, (start, _) in enumerate(found) if at == 0 or not _REST.match(plain, found[at - 1][1])]


def _as_one(whole: re.Match[str]) -> str:
    """Words in which no sentence ends, letter by letter, with a mark at the end that closes in every language."""
    return _INNER_STOP.sub(",", _SPACE_BEFORE_MARK.sub("» ", whole[0])).translate(_ENGLISH_MARKS)


def with_reference(sentence: str, reference: str) -> str:
    """The text with the reference before its full stop, but not inside a quotation."""
    stop = _final_stop(sentence)
    at = stop.start() if stop and not _QUOTE_END.search(stop[0]) else len(sentence.rstrip())
    return f"{sentence[:at]}{reference}{sentence[at:]}"


def blanked(quotation: str) -> str:
    """A quotation without its words, so that no sentence ends within it, though one may where it ends."""
    stop = _final_stop(quotation)
    at = stop.start() if stop and _QUOTE_END.search(stop[0]) else len(quotation)
    return f"{BLANK * at}{quotation[at:]}"


def end_of_decided(sentence: str, text: str) -> int:
    """Where in a text that goes on with a sentence it is still to be seen whether the sentence ends; or its end."""
    near = sentence[-_STOP_LENGTH:] + text
    open_at = _MAY_GO_ON.search(near, max(len(near) - _LONGEST_SPEAKER, 0))
    return max(open_at.end() - len(near) + len(text), 0) if open_at else len(text)


_NEAR = 20
"""Characters before a reference by which it is told whether the book itself has it there."""


def in_language(text: str, citations: Iterable[Citation], say: Callable[..., str]) -> str:
    """The answer with its page references in another language.

    `citations` are those of the answer. `say` translates an English text and fills its {placeholders}. Only references
    that code has resolved change: one that stands in the book or in a reader's words, and is quoted, stays as it is.
    """
    cited = tuple(citations)
    if all(citation.reference == citation.reference_in(say) for citation in cited):
        return text
    pages, last_pages = _any_of(each.page for each in cited), _any_of(each.last_page for each in cited)
    one = re.compile(rf"(about )?pp?\. ({pages}|{last_pages})(?:-({last_pages}))?(?=[,)])")
    group = re.compile(rf"\({one.pattern}(?:, {one.pattern})*\)")
    quotes = "\n".join(" ".join(citation.quote.split()) for citation in cited)
    quoting = Quoting(text)

    def translate(found: re.Match[str]) -> str:
        if not _is_resolved(found, quotes, is_quoted=quoting.at(found.start())):
            return found[0]
        return one.sub(
            lambda each: page_reference(each[2], each[3] or each[2], estimated=bool(each[1]), say=say), found[0]
        )

    return group.sub(translate, text)


def _any_of(labels: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted({*labels}, key=len, reverse=True)))


def _is_resolved(reference: re.Match[str], quotes: str, *, is_quoted: bool) -> bool:
    """Whether code has put a reference there. Inside a quotation it has, where a sentence cited has those words."""
    start = reference.start()
    before = reference.string[max(start - _NEAR, 0) : start]
    near = " ".join(uncovered(_QUOTE_START.split(before)[-1]).split())
    if near and reference[0] in quotes and f"{near} {reference[0]}" in quotes:
        return False
    return not is_quoted or (near != "" and near in quotes)
