"""marginalia search and eval: the search in a book, and how well it finds what labelled questions ask for.

A file of labelled questions has one JSON object per line: `book` (the path of a UTF-8 .txt file, relative to the file),
`question`, `spans` (those with the evidence) and, where known, `answer_spans` (the words of the answer itself). Spans
are character offsets in the book, which is indexed unchanged, except that CRLF becomes LF.
"""

import asyncio
import hashlib
import json
import re
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median, quantiles
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.table import Table

from bot.cli.terminal import Emphasis, console, fail, opened, print_json, progress_bar, run_async
from domain.book import Book, BookText, Passage, page_reference
from domain.errors import BookError, BookErrorCode, shortened
from domain.library.addressing import end_of_chapter, end_of_page
from domain.library.search.query import MAX_RESULTS
from domain.ports import BookFile, BookFiles, BookView, Progress


def search(
    book: Annotated[str, typer.Argument(help="Title, id, path or file name")],
    query: Annotated[str | None, typer.Argument(help="What to look for")] = None,
    top_k: Annotated[int, typer.Option(min=1, metavar="N", help=f"How many passages, {MAX_RESULTS} at most")] = 5,
    page: Annotated[str | None, typer.Option(help="Only what a reader on this page has read")] = None,
    chapter: Annotated[
        str | None, typer.Option(help="Only what a reader of this chapter, as printed, has read")
    ] = None,
    queries: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with one query per line; - is standard input")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list; with --queries, one list per line")
    ] = False,
) -> None:
    """Search a book for passages."""
    if (query is None) == (queries is None):
        fail("Give either a QUERY or --queries FILE.")
    if query is not None and not query.strip():
        fail("Say what to look for.")
    if page is not None and chapter is not None:
        fail("Give either --page or --chapter.")

    async def work() -> None:
        async with opened() as app:
            found = await app.shelf.find(book, shelf=None)
            file = await app.shelf.open(found)
            read_to = await end_of(found, file, page, chapter)
            view = file.view(found.length if read_to is None else read_to)
            for line in [query] if query is not None else _queries(str(queries)):
                passages = await view.search([line or ""], top_k)
                if as_json:
                    fields = [await passage_fields(passage, view) for passage in passages]
                    print_json(fields)
                else:
                    _show(passages, estimated=view.book.pages_estimated)

    run_async(work)


async def end_of(book: Book, file: BookFile, page: str | None, chapter: str | None) -> int | None:
    """Where the named page or chapter ends; None if none was named."""
    if page is not None:
        return end_of_page(await file.pages(), page, estimated=book.pages_estimated)
    return None if chapter is None else end_of_chapter(await file.chapters(), chapter)


def _show(passages: Sequence[Passage], *, estimated: bool) -> None:
    if not passages:
        console.print("Nothing was found.")
    for passage in passages:
        pages = page_reference(passage.page, passage.last_page, estimated=estimated)
        where = " · ".join(part for part in (pages, passage.chapter, f"{passage.score:.2f}") if part)
        console.print(where, style="bold", markup=False)
        console.print(Emphasis().feed(f"{passage.text}\n"))


async def passage_fields(passage: Passage, view: BookView) -> dict[str, object]:
    """A passage as the command line's JSON has it: the text as it is, pages as numbers if their labels are numbers."""
    return {
        "passage_id": passage.id,
        "page": page_number(passage.page),
        "last_page": page_number(passage.last_page),
        "chapter": passage.chapter,
        "start": passage.start,
        "end": passage.end,
        "score": round(passage.score, 4),
        "text": (await view.cite(passage.start, passage.end)).quote,
    }


def page_number(label: str) -> int | str:
    return int(label) if label.isdecimal() else label


def _queries(name: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        fail(f"The queries in {shortened(name)} cannot be read: {error.strerror}.")
    lines = data.decode(errors="replace").split("\n")  # and at nothing else that `splitlines` takes for an end
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


Span = tuple[int, int]

RANKS = (1, 3, 5, 10)
BUDGETS = (500, 1_000, 2_000)
"""Words of the book that a model is given to answer from."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, the spans with its evidence, and those of the answer's own words where known."""

    book: str
    text: str
    spans: tuple[Span, ...]
    answer_spans: tuple[Span, ...] = ()


class WordAxis:
    """The words of a book as people count them: anything between spaces."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _WORD.finditer(text)]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def within(self, span: Span) -> range:
        """The words with at least one character in a span."""
        return range(bisect_right(self._ends, span[0]), bisect_left(self._starts, span[1]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one question.

    `rank` is that of the first passage that is a hit, or None. `recalled` and `answered` say for each budget whether
    that many words contained half of the evidence, and the whole answer; `answered` is empty where the answer's place
    is not known.
    """

    rank: int | None
    recalled: tuple[bool, ...]
    answered: tuple[bool, ...]
    passage_words: float
    milliseconds: float


def measure(question: LabelledQuestion, found: Sequence[Span], axis: WordAxis, milliseconds: float) -> Outcome:
    """Judge the passages found for a question, best first."""
    ranks = (rank for rank, passage in enumerate(found, 1) if any(is_hit(passage, span) for span in question.spans))
    words = [axis.within(passage) for passage in found]
    arrival = _arrival(words)
    return Outcome(
        rank=next(ranks, None),
        recalled=tuple(any(_share(axis.within(span), arrival, n) >= 0.5 for span in question.spans) for n in BUDGETS),
        answered=tuple(
            any(_share(axis.within(span), arrival, n) == 1.0 for span in question.answer_spans)
            for n in (BUDGETS if question.answer_spans else ())
        ),
        passage_words=fmean(map(len, words)) if words else 0.0,
        milliseconds=milliseconds,
    )


def is_hit(passage: Span, span: Span) -> bool:
    """Whether half of the span is in the passage, or half of the passage is in the span."""
    common = min(passage[1], span[1]) - max(passage[0], span[0])
    return common > 0 and 2 * common >= min(passage[1] - passage[0], span[1] - span[0])


def _arrival(passages: Sequence[range]) -> dict[int, int]:
    """How many different words had been returned before each word."""
    arrival: dict[int, int] = {}
    for words in passages:
        for word in words:
            arrival.setdefault(word, len(arrival))
    return arrival


def _share(words: range, arrival: dict[int, int], budget: int) -> float:
    """The share of these words that is among the first ones returned."""
    return sum(arrival.get(word, budget) < budget for word in words) / len(words) if words else 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """The measures over many questions."""

    outcomes: Sequence[Outcome] = field(repr=False)

    def as_dict(self) -> dict[str, float]:
        """The measures by name, rates in percent, in the order in which they are printed."""
        times = [outcome.milliseconds for outcome in self.outcomes]
        return {
            "questions": len(self.outcomes),
            **{f"recall@{k}": self._rate([_rank(o) <= k for o in self.outcomes]) for k in RANKS},
            "mrr": self._rate([1 / _rank(outcome) for outcome in self.outcomes]),
            **{f"recall@{n}w": self._rate([o.recalled[i] for o in self.outcomes]) for i, n in enumerate(BUDGETS)},
            **{
                f"answer@{n}w": self._rate([o.answered[i] for o in self.outcomes if o.answered])
                for i, n in enumerate(BUDGETS)
            },
            "words_per_passage": round(fmean(o.passage_words for o in self.outcomes), 1) if self.outcomes else 0.0,
            "median_ms": round(median(times), 2) if times else 0.0,
            "p95_ms": round(quantiles(times, n=20)[-1], 2) if len(times) > 1 else round(sum(times), 2),
        }

    @staticmethod
    def _rate(values: Sequence[float]) -> float:
        return round(100 * fmean(values), 2) if values else 0.0


def _rank(outcome: Outcome) -> float:
    return outcome.rank or float("inf")


PASSAGES = 30
"""Passages requested per question: enough for the 2,000 words of the largest budget."""

ReadPlain = Callable[[str], BookText]
"""Finds pages and chapters in a text without changing it."""


@dataclass(frozen=True, slots=True)
class Report:
    """The scores over all questions, and for each book by its path."""

    overall: Scores
    books: dict[str, Scores]

    def as_dict(self) -> dict[str, Any]:
        """As `marginalia eval --json` prints it."""
        return {"overall": self.overall.as_dict(), "books": {path: s.as_dict() for path, s in self.books.items()}}


async def ask_all(
    path: Path,
    files: BookFiles,
    read_plain: ReadPlain,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Index the books of a questions file in `files`, ask its first `limit` questions, and remove the books again.

    Raises:
        BookError: the questions file or one of its books is missing or malformed.
    """
    questions = (await asyncio.to_thread(read_questions, path))[:limit]
    told = progress or (lambda stage, share: None)
    by_book: dict[str, list[Outcome]] = {question.book: [] for question in questions}
    for name, outcomes in by_book.items():
        text = await asyncio.to_thread(_read_book, path.parent / name)
        async with _indexed(files, read_plain(text), name) as view:
            axis = WordAxis(text)
            for question in (question for question in questions if question.book == name):
                outcomes.append(await _ask(view, question, axis))
                told("asking", sum(map(len, by_book.values())) / len(questions))
    return Report(
        overall=Scores([outcome for outcomes in by_book.values() for outcome in outcomes]),
        books={name: Scores(outcomes) for name, outcomes in by_book.items()},
    )


async def _ask(view: BookView, question: LabelledQuestion, axis: WordAxis) -> Outcome:
    started = perf_counter()
    passages = await view.search([question.text], PASSAGES)
    milliseconds = (perf_counter() - started) * 1_000
    return measure(question, [(passage.start, passage.end) for passage in passages], axis, milliseconds)


@asynccontextmanager
async def _indexed(files: BookFiles, text: BookText, name: str) -> AsyncIterator[BookView]:
    """A view of a whole book that is in the folder only while it is used.

    Its key is no file's digest, so a book with the same text that somebody has added is left alone.
    """
    digest = hashlib.sha256(b"evaluation\n" + text.text.encode("utf-8", "surrogatepass")).hexdigest()
    book = Book(
        id=digest,
        shelf="evaluation",
        sha256=digest,
        title=name,
        author="",
        format=text.format,
        page_count=len(text.pages),
        chapter_count=len(text.chapters),
        word_count=len(text.text.split()),
        length=len(text.text),
        created_at=datetime.now(UTC),
    )
    try:
        await files.write(digest, text)
        yield (await files.open(book)).view(book.length)
    finally:
        await files.remove(digest)


def read_questions(path: Path) -> list[LabelledQuestion]:
    """The questions of a file.

    Raises:
        BookError: it is missing or empty, or one of its lines is malformed.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(
            BookErrorCode.NOT_FOUND, f"The questions in {shortened(str(path))} cannot be read: {_reason(error)}."
        ) from error
    found = list(_parsed(path, lines))
    if not found:
        raise BookError(BookErrorCode.PARSE_FAILED, f"There are no questions in {shortened(str(path))}.")
    return found


def _parsed(path: Path, lines: Sequence[str]) -> Iterator[LabelledQuestion]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            evidence, answers = _spans(row["spans"]), _spans(row.get("answer_spans") or ())
            yield LabelledQuestion(str(row["book"]), str(row["question"]), evidence, answers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            message = (
                f'Line {number} of {shortened(str(path))} is not a question: it needs "book", "question" and "spans".'
            )
            raise BookError(BookErrorCode.PARSE_FAILED, message) from error


def _spans(pairs: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((int(start), int(end)) for start, end in pairs)


def _read_book(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(
            BookErrorCode.NOT_FOUND, f"The book {shortened(str(path))} cannot be read as UTF-8 text: {_reason(error)}."
        ) from error


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "the disk refuses" if isinstance(error, OSError) else "it has bytes of another encoding"


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Labelled questions, one JSON object per line")],
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only this many questions, from the first")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object")] = False,
) -> None:
    """Measure the search on labelled questions."""

    async def work() -> None:
        report = await _report(file, limit)
        if as_json:
            print_json(report.as_dict())
        else:
            books = {name: scores.as_dict() for name, scores in zip(_names(report), report.books.values(), strict=True)}
            console.print(_table({"all": report.overall.as_dict(), **books}))

    run_async(work)


async def _report(file: Path, limit: int | None) -> Report:
    """The report. The books are indexed in a temporary folder."""
    from bot.parsers.sandbox.lockdown import shut_in
    from bot.parsers.text.parser import read_plain
    from storage.book_files.files import SQLiteBookFiles

    with tempfile.TemporaryDirectory() as folder, progress_bar() as bar:
        files = SQLiteBookFiles(Path(folder), confine=shut_in)
        task = bar.add_task("Asking", total=1.0)
        try:
            return await ask_all(file, files, read_plain, limit, lambda _, share: bar.update(task, completed=share))
        finally:
            await files.close()


def _names(report: Report) -> list[str]:
    """The column headings of the books: short if that distinguishes them."""
    stems = [Path(path).stem for path in report.books]
    return stems if len({"all", *stems}) == len(stems) + 1 else list(report.books)


def _table(rows: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("", *rows, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for measured in rows["all"]:
        table.add_row(measured, *(f"{row[measured]:g}" for row in rows.values()))
    return table
