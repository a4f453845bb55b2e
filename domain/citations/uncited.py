"""Claims without a reference: sentences of an answer that say something of the book and name no page for it.

Told by their form alone: what asks, greets, speaks of the conversation or of what was not found claims nothing. It is a
hint for people who look closely, not a judgement.
"""

import re

from domain.library.search.sentences import split_sentences
from domain.spoilers.filter import spans

FEWEST_WORDS = 5

_REFERENCE = re.compile(r"\((?:about )?pp?\. [^()\n]+\)")
_MARK = "\ue000"
"""Stands for a reference while sentences are split: the full stop in "p. 12" ends none."""

_BLANKS = re.compile(r"\s{2,}")
_LEADING_MARKS = re.compile(rf"[{_MARK}\s]+[.,;]?")
_NOT_PROSE = re.compile(r"\s*(?:#{1,6}\s|-#\s|```|\||\*\*[^*]*[^*.!?…]\*\*\s*$|(?:[^:;]+: \d+(?:;\s|\s*$))+$)")
"""Headings (bold ones end without a stop), small print, code, tables, tallies ("The Arrival: 2; The Key: 1")."""
_QUOTED = re.compile(rf"“[^“”]*”[.,;]?\s*(?={_MARK})")
"""The reference behind a quotation is one for all of its sentences."""
_EMPHASIS = re.compile(r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,120}\*(?!\*)")
_INNER_STOP = re.compile(r"[.?!…]+(?=\s)")
"""In a title ("*12. Return on the Ebb*") it ends no sentence."""
_BLOCK_QUOTATION = re.compile(rf"\s*>.*{_MARK}")
_LINE_LEAD = re.compile(r"\s*(?:(?:[-*+>]|\d{1,3}[.)])\s+)*")
_OF_THE_TALK = re.compile(
    r"\b(?:I|I['’]\w+)\b"
    r"|(?i:\b(?:me|my|you|your|we|us|our|ich|mir|mich|mein\w*|du|dir|dich|wir|uns|je|nous|vous|tu|yo|nosotros)\b)"
    r"|\b(?:been read|can be read|so far|passages?|bisher|zu lesen ist|Textstellen?)\b"
    r"|\b(?:peut être lu|se puede leer)\b"
)


def find_uncited(answer: str) -> tuple[str, ...]:
    """The claims of an answer that stand without a reference, in order."""
    plain = (_BLANKS.sub(" ", line.rstrip()) for line in answer.splitlines())
    lines = (line for line in plain if line and not _NOT_PROSE.match(line))
    return tuple(sentence for line in lines for sentence in _sentences(line) if _is_bare_claim(sentence))


def _sentences(line: str) -> list[str]:
    """The sentences of a line; a reference behind a full stop belongs to the sentence before it."""
    line = _REFERENCE.sub(_MARK, _shown(line))
    if _BLOCK_QUOTATION.match(line):
        return []
    line = _EMPHASIS.sub(lambda emphasised: _INNER_STOP.sub("", emphasised[0]), line)
    lead = _LINE_LEAD.match(line)
    text = _QUOTED.sub("“…” ", line[lead.end() :] if lead else line)
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
    """What was hidden stays so: it is neither judged nor repeated."""
    return "".join(span.text for span in spans(line) if not span.is_hidden)


def _is_bare_claim(sentence: str) -> bool:
    if _MARK in sentence or sentence.rstrip('*_"”’)').endswith(("?", ":")):
        return False
    return len(sentence.split()) >= FEWEST_WORDS and not _OF_THE_TALK.search(sentence)
