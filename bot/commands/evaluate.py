"""marginalia eval: how well the search finds what labelled questions ask for."""

import asyncio
import hashlib
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Table

from bot.commands.running import console, errors, run_async
from domain.book import Book
from domain.errors import BookError, BookErrorCode
from domain.library.evaluation import LabelledQuestion, Outcome, Scores, WordAxis, measure
from domain.protocols import BookView
from storage.book_files.files import SQLiteBookFiles

PASSAGES = 40
"""Asked for with every question: enough for 2,000 different words, the most that is measured."""


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Labelled questions, one JSON object a line")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object")] = False,
) -> None:
    """Measure the search on questions whose answers' places are known."""

    async def work() -> None:
        questions = (await asyncio.to_thread(_read_questions, file))[:limit]
        with tempfile.TemporaryDirectory() as folder:
            files = SQLiteBookFiles(Path(folder))
            try:
                outcomes = await _outcomes(files, file.parent, questions)
            finally:
                await files.close()
        scores = {name: Scores(found).as_dict() for name, found in outcomes.items()}
        overall = Scores([outcome for found in outcomes.values() for outcome in found]).as_dict()
        if as_json:
            print(json.dumps({"overall": overall, "books": scores}))  # noqa: T201
        else:
            console.print(_table({"all": overall, **scores}))

    run_async(work)


async def _outcomes(
    files: SQLiteBookFiles, folder: Path, questions: Sequence[LabelledQuestion]
) -> Mapping[str, list[Outcome]]:
    views: dict[str, tuple[BookView, WordAxis]] = {}
    outcomes: defaultdict[str, list[Outcome]] = defaultdict(list)
    for question in track(questions, "Asking", console=errors, transient=True):
        if question.book not in views:
            views[question.book] = await _open(files, folder / question.book)
        view, axis = views[question.book]
        started = time.perf_counter()
        found = await view.search([question.text], PASSAGES)
        milliseconds = (time.perf_counter() - started) * 1000
        outcomes[question.book].append(measure(question, [(p.start, p.end) for p in found], axis, milliseconds))
    return outcomes


async def _open(files: SQLiteBookFiles, path: Path) -> tuple[BookView, WordAxis]:
    """Index a text as it stands, so that the offsets of the labels are those of the book."""
    from bot.readers.txt import read_plain

    try:
        text = (await asyncio.to_thread(path.read_bytes)).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(BookErrorCode.PARSE_FAILED, f"The book {path} cannot be read as UTF-8 text.") from error
    book_text = await asyncio.to_thread(read_plain, text)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    await files.write(sha256, book_text)
    pages, chapters, words = len(book_text.pages), len(book_text.chapters), len(text.split())
    book = Book(
        sha256, "eval", sha256, path.stem, "", "txt", pages, chapters, words, len(text), datetime.now(UTC), True
    )
    return (await files.open(book)).view(len(text)), WordAxis(text)


def _read_questions(path: Path) -> list[LabelledQuestion]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(BookErrorCode.NOT_FOUND, f"The questions in {path} cannot be read.") from error
    return [_question(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _question(path: Path, number: int, line: str) -> LabelledQuestion:
    try:
        fields = json.loads(line)
        return LabelledQuestion(
            str(fields["book"]),
            str(fields["question"]),
            _spans(fields["spans"]),
            _spans(fields.get("answer_spans") or []),
        )
    except (ValueError, KeyError, TypeError) as error:
        sentence = f"Line {number} of {path} is no labelled question: it needs book, question and spans."
        raise BookError(BookErrorCode.PARSE_FAILED, sentence) from error


def _spans(values: Any) -> tuple[tuple[int, int], ...]:
    return tuple((int(start), int(end)) for start, end in values)


def _table(rows: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in rows:
        table.add_column(Path(name).stem, justify="right")
    for measured in next(iter(rows.values())):
        table.add_row(measured, *(f"{row[measured]:g}" for row in rows.values()))
    return table
