"""Finding what a text gives away: names and runs of words that stand in the book only beyond the bound.

A model may know a famous book by heart, so that it tells what no tool has shown it. What it tells in the book's own
words or names can be found without a model: the unread text is here, only nobody is shown it.
"""

import re
from dataclasses import dataclass

RUN = 4
"""Words in a row that are the book's own and no accident. Of three-word runs every page has some that recur."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True)
class Leaks:
    """Knows both sides of a bound. Making one takes about 0.1 s per million characters: not on the event loop."""

    _read: str
    _unread: str
    _read_names: frozenset[str]
    _unread_names: frozenset[str]

    @classmethod
    def beyond(cls, text: str, read_to: int) -> "Leaks":
        """What of the text lies beyond `read_to`, against what lies before it."""
        read, unread = text[:read_to], text[read_to:]
        return cls(_folded(read), _folded(unread), frozenset(_folded(read).split()), _names(unread))

    def found_in(self, sentence: str, known: str = "") -> bool:
        """Whether a sentence tells what only unread text holds; what is in `known` (the question) tells nothing."""
        known_folded = _folded(known)
        return self._has_run(_folded(sentence), known_folded) or self._has_name(sentence, known_folded)

    def _has_run(self, sentence: str, known: str) -> bool:
        words = sentence.split()
        runs = {f" {' '.join(words[at : at + RUN])} " for at in range(len(words) - RUN + 1)}
        return any(run in self._unread and run not in self._read and run not in known for run in runs)

    def _has_name(self, sentence: str, known: str) -> bool:
        names = {word.casefold() for word in _bare_words(sentence) if word[0].isupper()}
        return any(
            name in self._unread_names and name not in self._read_names and f" {name} " not in known for name in names
        )


def _folded(text: str) -> str:
    """The words alone, in lower case, each with one space on both sides."""
    return f" {' '.join(_WORD.findall(text.replace('’', chr(39)).casefold()))} "


def _names(text: str) -> frozenset[str]:
    """Words that are written with a capital wherever they stand, and somewhere inside a sentence."""
    inside = set(re.findall(r"(?<=[^\W\d_] )[A-Z][^\W\d_]+|(?<=, )[A-Z][^\W\d_]+", text))
    lower = set(re.findall(r"\b[^\W\d_A-Z][^\W\d_]*", text))
    return frozenset(name.casefold() for name in inside if len(name) >= _SHORTEST_NAME and name.casefold() not in lower)


def _bare_words(text: str) -> list[str]:
    return [re.split("['’]", word)[0] for word in _WORD.findall(text)]
