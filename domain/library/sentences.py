"""Sentences: where they begin and end in a text.

Two properties matter more here than a last percent of accuracy, because a reader may stand anywhere in a book:

- Whether a sentence begins somewhere depends on no more than LOOK_AHEAD characters after that place.
- Splitting may start anew at the beginning of any sentence, and finds the same sentences from there on.

So the sentences of what has been read can be had from stored ones and a look at the last few, and never depend on what
has not been read.
"""

import re

LOOK_AHEAD = 400
"""Characters after the beginning of a sentence that the decision to begin one there may depend on."""

MAX_SENTENCE = 1_200
"""Characters of the longest sentence; what is longer has lost its punctuation and is cut, so that nothing else has to
be prepared for a sentence of a million characters. English novels have a few true sentences beyond it."""

_CLOSERS = "\"'”’»›)\\]}）」』】〉》〕_*"
_OPENERS = "\"'“‘«‹(\\[{（「『【〈《〔—–_*-"
_DENSE_STOPS = "。！？｡"
_END = re.compile(rf"[.!?…‽؟۔।॥{_DENSE_STOPS}]+[{_CLOSERS}]*|\n[^\S\n]*\n")
_NEXT = re.compile(rf"(\s{{0,40}})[{_OPENERS}]{{0,6}}(.?)", re.DOTALL)
_LAST_WORD = re.compile(r"(?:^|[^\w.])((?:\w+\.)*\w+)$")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_FIRST_CHARACTER = re.compile(r"\S")
_SOFT_CUT = re.compile(r"[;:,，、；：]\s*|\s+")

_ABBREVIATIONS = """
    mr mrs ms messrs mme mlle dr prof rev hon st ste sr jr capt col gen lt lieut sgt maj gov pres supt insp esq mt
    vs viz cf ca approx bros i.e e.g hr frau bzw z.b d.h u.a p.m a.m ph.d b.c a.d vv ed trans
"""
_NEVER_LAST = frozenset(_ABBREVIATIONS.split())
_BEFORE_NUMBERS = frozenset(
    ("no", "nos", "nr", "p", "pp", "vol", "vols", "fig", "figs", "ch", "chap", "sec", "art", "bk")
)

_LONGEST_ABBREVIATION = max(map(len, _NEVER_LAST | _BEFORE_NUMBERS))


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The spans of the sentences of `text[start:end]`, in order; together they cover all but whitespace."""
    end = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    begin = scanned = _skip_space(text, start, end)
    while begin < end:
        limit = min(end, begin + MAX_SENTENCE)
        stop = _END.search(text, scanned, limit)
        if stop is None:
            after = end if limit == end else _soft_cut(text, begin, limit)
        elif _ends_sentence(text, begin, stop.start(), stop.end(), end):
            after = stop.end()
        else:
            scanned = stop.end()
            continue
        spans.append((begin, _without_space(text, begin, after)))
        begin = scanned = _skip_space(text, after, end)
    return spans


def is_finished(text: str, begin: int, end: int, limit: int) -> bool:
    """Whether the last sentence of `text[:limit]`, at `[begin, end)`, ends there whatever follows the limit."""
    if _PARAGRAPH_END.search(text, end, limit):
        return True
    stops = [stop for stop in _END.finditer(text, begin, end) if stop.end() == end]
    return bool(stops) and not _is_abbreviation(text, begin, stops[0].start(), "")


def _skip_space(text: str, start: int, end: int) -> int:
    found = _FIRST_CHARACTER.search(text, start, end)
    return found.start() if found else end


def _without_space(text: str, begin: int, end: int) -> int:
    return begin + len(text[begin:end].rstrip())


def _soft_cut(text: str, begin: int, limit: int) -> int:
    """Where to cut a sentence that is too long: at the last comma or space of its last quarter, else anywhere."""
    gaps = [gap.end() for gap in _SOFT_CUT.finditer(text, begin + MAX_SENTENCE * 3 // 4, limit)]
    return gaps[-1] if gaps else limit


def _ends_sentence(text: str, begin: int, stop: int, after: int, end: int) -> bool:
    """Whether the terminator or empty line at `[stop, after)` ends the sentence that begins at `begin`."""
    if after == end or text[stop] == "\n":
        return True
    following = _NEXT.match(text, after, end)
    space, first = following.groups() if following else ("", "")
    if not space:
        return text[stop] in _DENSE_STOPS
    if first.islower() or (first and first in ".,;:!?…"):
        return False
    return not _is_abbreviation(text, begin, stop, first)


def _is_long_word(text: str, begin: int, stop: int) -> bool:
    """Whether what ends at `stop` is longer than any abbreviation: so much is seen at a glance."""
    return stop - begin > _LONGEST_ABBREVIATION and text[stop - _LONGEST_ABBREVIATION - 1 : stop].isalpha()


def _is_abbreviation(text: str, begin: int, stop: int, first: str) -> bool:
    if text[stop] != "." or text[stop + 1 : stop + 2] == "." or _is_long_word(text, begin, stop):
        return False
    last_word = _LAST_WORD.search(text, max(begin, stop - 24), stop)
    if last_word is None:
        return False
    word = last_word[1]
    if len(word) == 1:
        return word.isupper() and word != "I"
    if word.lower() in _BEFORE_NUMBERS:
        return first.isdigit()
    return word.lower() in _NEVER_LAST
