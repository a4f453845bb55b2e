"""What each part of the search brings: labelled questions asked with that part left out.

    python -m benchmarks.retrieval QUESTIONS.jsonl [--folder BOOKS] [--every N] [--only NAME ...] [--books]

QUESTIONS.jsonl is as `marginalia eval` reads it. A line may have a "quote" in place of its spans, words of the
book that hold the answer, and a line without a book is about the sample novel: bot/sample/questions.jsonl. The
questions of benchmarks/novels.jsonl are about Project Gutenberg's texts, which lie in the --folder. The books are
indexed in memory; what is found is the same as in a book file. With --books, answer@1000w of each book by itself: a
part that helps one and harms another is no part to trust.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from benchmarks.memory_book import MemoryBook
from benchmarks.table import print_table
from bot.cli.search import PASSAGES, LabelledQuestion, Outcome, Scores, WordAxis, measure
from domain.library.search import layout, query, words
from domain.library.search.languages import Analyzer
from domain.library.search.layout import BookLayout
from domain.library.search.query import query_terms
from domain.library.search.sentences import MAX_SENTENCE

MEASURES = ("answer@500w", "answer@1000w", "answer@2000w", "recall@1000w", "recall@5", "mrr", "median_ms")

LABELS = ("spans", "answer_spans")
SAMPLE = "return-on-the-ebb.md"

Scored = dict[str, Scores]
"""Scores by book."""

Change = tuple[ModuleType, str, Any]
"""A module, the name of something in it, and what is there instead."""


def _saturated(constant: float) -> list[Change]:
    """BM25's k1 set otherwise."""
    most = MAX_SENTENCE + layout.WIDTHS[-1] + 1
    table = [times / (times + constant) for times in range(most)]
    return [(query, "_SATURATION", constant), (query, "_SATURATED", table)]


def _widths(*bits: int) -> list[Change]:
    """Windows of 2**bits words; the rough score needs a width to take its weights from."""
    blocks = min(max(query._BLOCK_BITS, bits[0]), bits[-1])  # noqa: SLF001
    return [
        (query, "_BLOCK_BITS", blocks),
        (query, "_NARROWEST_BITS", bits[0]),
        *((module, "WIDTHS", tuple(1 << b for b in bits)) for module in (query, layout)),
    ]


def _grown(near: Callable[[int, int], float]) -> list[Change]:
    """A passage grown by the neighbour that is best by `near`, which is given it and the sentence it all began with."""
    grow = query._grow  # noqa: SLF001

    def grown(book: BookLayout, best: int, scores: Mapping[int, float], taken: set[int]) -> range:
        reach = range(best - query.PASSAGE_WORDS, best + query.PASSAGE_WORDS)
        return grow(book, best, {sentence: near(sentence, best) for sentence in reach}, taken)

    return [(query, "_grow", grown)]


def _all_terms(analyzer: Analyzer, text: str) -> list[tuple[str, ...]]:
    return query_terms(replace(analyzer, stop_words=frozenset()), text)


VARIANTS: dict[str, list[Change]] = {
    "as it is": [],
    "stop words searched": [(query, "query_terms", _all_terms)],
    "runs of words not seen": [(query, "verbatim_gains", lambda index, layout, text: {})],
    "no endings taken off": [(words, "_without_ending", lambda word: word)],
    "no irregular forms": [(words, "IRREGULAR_FORMS", {})],
    "rare words as in BM25": [(query, "_RARITY", 1.0)],
    "all words alike": [(query, "_RARITY", 0.0)],
    "a word counts once": _saturated(0.001),
    "k1 as usual (1.2)": _saturated(1.2),
    "sums not squared": [(query, "_TOGETHER", 1)],
    "sums cubed": [(query, "_TOGETHER", 3)],
    "one width (64)": _widths(6),
    "one width (256)": _widths(8),
    "without 64": _widths(7, 8, 9, 10, 11),
    "without 2,048": _widths(6, 7, 8, 9, 10),
    "4,096 besides": _widths(6, 7, 8, 9, 10, 11, 12),
    "32 besides": _widths(5, 6, 7, 8, 9, 10, 11),
    "every block scored closely": [(query, "_BEST_BLOCKS", 1_000_000)],
    "wide windows not sampled": [(query, "_STEP_WORDS", 1_000_000)],
    "grown evenly": _grown(lambda sentence, best: 1 / (1 + abs(sentence - best))),
    "grown onwards": _grown(lambda sentence, best: float(sentence > best)),
    "the best sentence alone": [(query, "PASSAGE_WORDS", 0)],
    "60 words": [(query, "PASSAGE_WORDS", 60)],
    "90 words": [(query, "PASSAGE_WORDS", 90)],
    "150 words": [(query, "PASSAGE_WORDS", 150)],
    "200 words": [(query, "PASSAGE_WORDS", 200)],
    "300 words": [(query, "PASSAGE_WORDS", 300)],
}
"""The search as it is, and with one part each left out or done in the usual way."""


def main() -> None:
    options = _options()
    lines = [json.loads(line) for line in options.questions.read_text("utf-8").splitlines()][:: options.every]
    folder = options.folder or options.questions.parent
    texts = {name: _text(folder, name) for name in dict.fromkeys(line.get("book", SAMPLE) for line in lines)}
    questions = [_labelled(line, texts) for line in lines]
    rows = []
    for name in options.only or VARIANTS:
        scores = _scores(texts, questions, VARIANTS[name])
        rows.append([name, *(f"{figure:.1f}" for figure in _figures(scores, by_book=options.books))])
    print_table(["", *((Path(book).stem for book in texts) if options.books else MEASURES)], rows)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--folder", type=Path, help="where the books are, if not beside the questions")
    parser.add_argument("--every", type=int, default=1, help="take only every N-th question")
    parser.add_argument("--only", nargs="+", choices=list(VARIANTS), help="measure only these")
    parser.add_argument("--books", action="store_true", help="answer@1000w book by book")
    return parser.parse_args()


def _text(folder: Path, name: str) -> str:
    place = files("bot.sample") / name if name == SAMPLE else folder / name
    return place.read_bytes().decode("utf-8").replace("\r\n", "\n")


def _labelled(line: Mapping[str, Any], texts: Mapping[str, str]) -> LabelledQuestion:
    book = line.get("book", SAMPLE)
    if "quote" not in line:
        spans, answers = (tuple((start, end) for start, end in line.get(name) or ()) for name in LABELS)
    else:
        quoted = r"\s+".join(map(re.escape, line["quote"].split()))
        spans = answers = tuple(found.span() for found in re.finditer(quoted, texts[book]))
    return LabelledQuestion(book, line["question"], spans, answers)


def _scores(texts: Mapping[str, str], questions: Sequence[LabelledQuestion], changes: Sequence[Change]) -> Scored:
    with _changed(changes):
        return {book: Scores(list(_asked(text, questions, book))) for book, text in texts.items()}


def _asked(text: str, questions: Sequence[LabelledQuestion], book: str) -> Iterator[Outcome]:
    reading, axis = MemoryBook(text).reading, WordAxis(text)
    for question in questions:
        if question.book == book:
            started = perf_counter()
            passages = reading.search([question.text], PASSAGES)
            milliseconds = (perf_counter() - started) * 1_000
            yield measure(question, [(passage.start, passage.end) for passage in passages], axis, milliseconds)


@contextmanager
def _changed(changes: Sequence[Change]) -> Iterator[None]:
    """Other parts in place of those of the program, for as long as it takes."""
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    words.stem_of.cache_clear()
    try:
        for module, name, value in changes:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        words.stem_of.cache_clear()


def _figures(scores: Scored, *, by_book: bool) -> list[float]:
    if by_book:
        return [each.as_dict()["answer@1000w"] for each in scores.values()]
    overall = Scores([outcome for each in scores.values() for outcome in each.outcomes]).as_dict()
    return [overall[name] for name in MEASURES]


if __name__ == "__main__":
    main()
