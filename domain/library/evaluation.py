"""Evaluation: how well search finds what labelled questions ask for.

A questions file has a JSON object a line: `book` (the path of a UTF-8 .txt file, relative to the questions file),
`question`, `spans` (those that hold the evidence) and, where they are known, `answer_spans` (the answer's own words).
Spans are character offsets in the book, which is indexed as it stands; only CRLF becomes LF.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from domain.book import Book, BookText
from domain.errors import BookError, BookErrorCode
from domain.library.measures import LabelledQuestion, Outcome, Scores, Span, WordAxis, measure
from domain.protocols import BookFiles, BookView, Progress

PASSAGES = 30
"""Passages asked for each question: enough for the 2,000 words of the largest budget."""

ReadPlain = Callable[[str], BookText]
"""Finds pages and chapters on a text without changing it."""


@dataclass(frozen=True, slots=True)
class Report:
    """The scores over all questions, and for each book by its path."""

    overall: Scores
    books: dict[str, Scores]

    def as_dict(self) -> dict[str, Any]:
        """As `marginalia eval --json` prints it."""
        return {"overall": self.overall.as_dict(), "books": {path: s.as_dict() for path, s in self.books.items()}}


async def evaluate(
    path: Path,
    files: BookFiles,
    read_plain: ReadPlain,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Index the books of a questions file in `files`, ask its first `limit` questions, and take the books out again.

    Raises:
        BookError: the questions file or one of its books is missing or not of the form it has to be.
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
    """A view of the whole of a book that is in the folder as long as it is looked at.

    Its key is no file's digest, so a book of the same text that somebody added stays as it is.
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
        BookError: it is missing, or one of its lines is not of the form it has to be.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(BookErrorCode.NOT_FOUND, f"The questions in {path} cannot be read: {error}.") from error
    return list(_parsed(path, lines))


def _parsed(path: Path, lines: Sequence[str]) -> Iterator[LabelledQuestion]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            evidence, answers = _spans(row["spans"]), _spans(row.get("answer_spans") or ())
            yield LabelledQuestion(str(row["book"]), str(row["question"]), evidence, answers)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            message = f'Line {number} of {path} is not a question: it needs "book", "question" and "spans".'
            raise BookError(BookErrorCode.PARSE_FAILED, message) from error


def _spans(pairs: Sequence[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((int(start), int(end)) for start, end in pairs)


def _read_book(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BookError(BookErrorCode.NOT_FOUND, f"The book {path} cannot be read as UTF-8 text: {error}.") from error
