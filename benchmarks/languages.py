"""How many forms of a word are found that do not stand in the book, while another form of it does.

    python -m benchmarks.languages [BOOK | BOOK,OTHER ...] [--samples 40] [--show]

Without books, books are made of the pairs of benchmarks/word_forms.json: the first form of each stands in a sentence,
the second is asked for. A book is one in any format; the forms asked for are taken at random from OTHER, another text
in the same language, or from the second half of BOOK: those that are not in the book (or its first half) while the stem
Snowball gives them is. A form is found if the first passage holds a word with its stem, or the sentence of its pair.
"as English" is the same with the book taken for an English one.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import snowballstemmer  # type: ignore[import-untyped]

from benchmarks.table import print_table
from bot.parsers.draft import DEFAULT_LIMITS
from bot.parsers.formats import read_book
from domain.library.search.languages import language_name, text_language
from domain.library.search.words import words_of
from domain.library.view import BlockingView
from tests.domain.library.indexed import reading_of

SEED = 3
PAIRS = Path(__file__).with_name("word_forms.json")

SHORTEST = 4
"""Letters of a form that is asked for; shorter ones are mostly function words."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A form that is asked for, and whether a passage answers it."""

    form: str
    is_answered_by: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Task:
    """A text in a language, and the forms that are asked for in it."""

    language: str
    text: str
    asked: Sequence[Asked]


def main() -> None:
    options = _options()
    tasks = [_from_books(each, options.samples) for each in options.books] or list(_from_pairs())
    rows = []
    for task in tasks:
        known = reading_of(task.text, language=task.language)
        english = reading_of(task.text, language="en")
        missed = [each.form for each in task.asked if not _is_found(known, each)]
        if options.show and missed:
            print(f"{task.language}: {', '.join(missed)}")
        before = sum(_is_found(english, each) for each in task.asked)
        rows.append(
            [
                language_name(task.language),
                text_language(task.text) or "-",
                f"{len(words_of(task.text)):,}",
                str(len(task.asked)),
                str(len(task.asked) - len(missed)),
                str(before),
            ]
        )
    print_table(["language", "told from the text", "words", "forms", "found", "as English"], rows)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*")
    parser.add_argument("--samples", type=int, default=40, help="forms asked for in each book")
    parser.add_argument("--show", action="store_true", help="print what was not found")
    return parser.parse_args()


def _is_found(reading: BlockingView, asked: Asked) -> bool:
    return any(asked.is_answered_by(passage.text) for passage in reading.search([asked.form], 1))


def _from_pairs() -> Iterator[Task]:
    for language, made in json.loads(PAIRS.read_text("utf-8")).items():
        pairs = [pair.split() for pair in made["pairs"]]
        lines = [f"{made['frame'].replace('…', here)}\n\n{made['filling']}" for here, _ in pairs]
        asked = [Asked(form, _holding(here)) for here, form in pairs]
        yield Task(language, "\n\n".join(lines), asked)


def _holding(word: str) -> Callable[[str], bool]:
    return lambda text: word in words_of(text)


def _from_books(names: str, samples: int) -> Task:
    book, _, other = names.partition(",")
    text, source = _read(book), _read(other) if other else ""
    if not source:
        middle = text.find("\n\n", len(text) // 2)
        text, source = text[:middle], text[middle:]
    language = text_language(text[: len(text) // 2])
    if not language:
        raise SystemExit(f"{book} is in no language that has a stemmer, or is too short to tell.")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language_name(language)).stemWord
    here = set(map(str.lower, words_of(text)))
    stems = set(map(stem, here))
    absent = sorted(set(map(str.lower, words_of(source))) - here)
    forms = [word for word in absent if word.isalpha() and len(word) >= SHORTEST and stem(word) in stems]
    return Task(language, text, [_by_stem(form, stem) for form in random.Random(SEED).sample(forms, samples)])


def _by_stem(form: str, stem: Callable[[str], str]) -> Asked:
    return Asked(form, lambda text: stem(form) in {stem(word.lower()) for word in words_of(text)})


def _read(name: str) -> str:
    path = Path(name)
    return read_book(path.read_bytes(), path.name, limits=DEFAULT_LIMITS).text


if __name__ == "__main__":
    main()
