"""How often a line that somebody half remembers is found at the first place, for each kind of damage.

    python -m benchmarks.phrases [BOOK.txt ...] [--samples N] [--show]

Without books the sample novel is measured. Of every book, so many runs of words of each length are taken at random and
damaged; the columns are the words that were taken. A find is right if most of what was found stands where the words
were taken from, or is word for word what was asked for: some lines stand in a book twice. With --show the misses are
printed.
"""

import argparse
import random
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from time import thread_time
from typing import Any

from benchmarks.memory_book import MemoryBook
from benchmarks.table import percentile, print_table
from bot.cli.search import is_hit
from domain.book import PhraseHit
from domain.library.search.words import fold, word_spans, words_of

SEED = 7
LENGTHS = ((5, 5), (8, 12), (13, 25), (26, 60))

_TYPED = str.maketrans("“”‘’—\n", "\"\"''- ")
"""Signs as a keyboard has them."""

Damage = Callable[[random.Random, str, Sequence[str]], str]
"""What becomes of a run of text; the last argument has words of the same book to put in."""


@dataclass(frozen=True, slots=True)
class Found:
    """Whether the right place came first, and the milliseconds of processor time it took."""

    right: bool
    milliseconds: float


def exact(chance: random.Random, text: str, other: Sequence[str]) -> str:
    return text


def signs(chance: random.Random, text: str, other: Sequence[str]) -> str:
    """Case, punctuation and quote signs are lost or others."""
    turned = text.translate(_TYPED)
    bare = re.sub(r"""[^\w\s'-]""", "", turned) if chance.random() < 0.5 else turned
    return chance.choice((bare, bare.lower(), bare.upper(), bare.title()))


def misspelt(chance: random.Random, text: str, other: Sequence[str]) -> str:
    """Every fifth word or so has a wrong, missing, doubled or swapped letter; at least one."""
    return _some(chance, text, lambda word: _typo(chance, word))


def dropped(chance: random.Random, text: str, other: Sequence[str]) -> str:
    return _some(chance, text, lambda word: "")


def replaced(chance: random.Random, text: str, other: Sequence[str]) -> str:
    return _some(chance, text, lambda word: chance.choice(other))


def added(chance: random.Random, text: str, other: Sequence[str]) -> str:
    return _some(chance, text, lambda word: f"{word} {chance.choice(other)}")


def swapped(chance: random.Random, text: str, other: Sequence[str]) -> str:
    """Two neighbours change places, in every tenth word or so."""
    words = text.split()
    for place in chance.sample(range(len(words) - 1), max(1, len(words) // 10)):
        words[place], words[place + 1] = words[place + 1], words[place]
    return " ".join(words)


def mixed(chance: random.Random, text: str, other: Sequence[str]) -> str:
    """One word misspelt and other signs; of more than five words also one dropped and one replaced."""
    words = signs(chance, text, other).split()
    if len(words) > 5:
        del words[chance.randrange(len(words))]
        words[chance.randrange(len(words))] = chance.choice(other)
    place = chance.randrange(len(words))
    words[place] = _typo(chance, words[place])
    return " ".join(words)


KINDS: dict[str, Damage] = {
    "exact": exact,
    "case, punctuation, quote signs": signs,
    "words misspelt": misspelt,
    "words dropped": dropped,
    "words replaced": replaced,
    "words added": added,
    "neighbours swapped": swapped,
    "mixed": mixed,
}


def main() -> None:
    options = _options()
    books = [MemoryBook(text) for text in _texts(options.books)]
    times: list[float] = []
    rows = []
    for kind, damage in KINDS.items():
        cells = []
        for length in LENGTHS:
            found = [each for book in books for each in _measured(book, damage, length, options)]
            times += [each.milliseconds for each in found]
            cells.append(f"{100 * fmean(each.right for each in found):.1f}")
        rows.append([kind, *cells])
    head = ["at the first place, %", *(f"{a}-{b} words" if a != b else f"{a} words" for a, b in LENGTHS)]
    print_table(head, rows)
    print(
        f"\n{len(books)} books, {len(books) * options.samples} lines a cell; "
        f"processor time: median {percentile(times, 0.5):.1f} ms, 95 % within {percentile(times, 0.95):.1f}, "
        f"most {max(times):.1f}"
    )


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", type=Path)
    parser.add_argument("--samples", type=int, default=30, help="lines of each length taken from each book")
    parser.add_argument("--show", action="store_true", help="print what was not found")
    return parser.parse_args()


def _texts(paths: Sequence[Path]) -> list[str]:
    sample = files("bot.sample") / "return-on-the-ebb.md"
    return [path.read_text("utf-8") for path in paths] or [sample.read_text(encoding="utf-8")]


def _measured(book: MemoryBook, damage: Damage, length: tuple[int, int], options: Any) -> list[Found]:
    chance = random.Random(SEED)
    places = word_spans(book.text)
    other = words_of(book.text)
    return [
        _look(book, damage, _run(chance, places, length), other, chance, show=options.show)
        for _ in range(options.samples)
    ]


def _run(chance: random.Random, places: Sequence[tuple[int, int]], length: tuple[int, int]) -> tuple[int, int]:
    """The span of a run of so many words, anywhere in a book."""
    count = chance.randint(*length)
    first = chance.randrange(len(places) - count)
    return places[first][0], places[first + count - 1][1]


def _look(
    book: MemoryBook, damage: Damage, span: tuple[int, int], other: Sequence[str], chance: random.Random, *, show: bool
) -> Found:
    asked = damage(chance, book.text[slice(*span)], other)
    started = thread_time()
    hits = book.reading.find_phrase(asked, 1)
    milliseconds = (thread_time() - started) * 1_000
    right = bool(hits) and _is_right(hits[0], span, asked)
    if show and not right:
        print(f"{asked!r}\n  {[hit.citation.quote for hit in hits]}\n  {book.text[slice(*span)]!r}")
    return Found(right, milliseconds)


def _is_right(hit: PhraseHit, span: tuple[int, int], asked: str) -> bool:
    place = (hit.citation.start, hit.citation.end)
    return is_hit(place, span) or _words(hit.citation.quote) == _words(asked)


def _words(text: str) -> list[str]:
    return [fold(word) for word in words_of(text)]


def _some(chance: random.Random, text: str, change: Callable[[str], str]) -> str:
    """The text with one word in five changed, at least one."""
    words = text.split()
    for place in chance.sample(range(len(words)), max(1, len(words) // 5)):
        words[place] = change(words[place])
    return " ".join(filter(None, words))


def _typo(chance: random.Random, word: str) -> str:
    place = chance.randrange(len(word))
    letter = chance.choice(string.ascii_lowercase)
    before, here, after = word[:place], word[place], word[place + 1 :]
    return chance.choice([before + letter + after, before + after, before + here + word[place:], _turned(word, place)])


def _turned(word: str, place: int) -> str:
    return word[:place] + word[place : place + 2][::-1] + word[place + 2 :]


if __name__ == "__main__":
    main()
