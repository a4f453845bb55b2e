"""marginalia search, recap, who, discuss and eval: what a book says, outside conversations."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown
from rich.table import Table

from bot.app import App
from bot.cli.console import TERMINAL_READER
from bot.cli.running import console, errors, fail, opened, print_json, progress_bar, run_async, with_said
from domain.book import Book, Citation, Passage, page_reference
from domain.errors import LLMError, shortened
from domain.library.evaluation import Report
from domain.library.progress import end_of_chapter, end_of_page
from domain.library.search.query import MAX_RESULTS
from domain.ports import BookFile, BookView
from domain.reading.companion import Asker, Discussion, Told
from domain.reading.questions import MOST_QUESTIONS, question_text


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
    if page is not None and chapter is not None:
        fail("Give either --page or --chapter.")

    async def work() -> None:
        async with opened() as app:
            found = await app.shelf.find(book, shelf=None)
            file = await app.shelf.open(found)
            read_to = await _end_of(found, file, page, chapter)
            view = file.view(found.length if read_to is None else read_to)
            for line in [query] if query is not None else _queries(str(queries)):
                passages = await view.search([line or ""], top_k)
                if as_json:
                    fields = [await passage_fields(passage, view) for passage in passages]
                    print_json(fields)
                else:
                    _show(passages, estimated=view.book.pages_estimated)

    run_async(work)


async def _end_of(book: Book, file: BookFile, page: str | None, chapter: str | None) -> int | None:
    """Where the named page or chapter ends; None if none was named."""
    if page is not None:
        return end_of_page(await file.pages(), page, estimated=book.pages_estimated)
    return None if chapter is None else end_of_chapter(await file.chapters(), chapter)


BOOK = Annotated[str, typer.Argument(help="Title, id, path or file name")]
PAGE = Annotated[str | None, typer.Option(help="The page you're on; without it, where you are in the terminal's chat")]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object")]


def recap(
    book: BOOK,
    since: Annotated[str, typer.Option(help="Start at “chapter 3”, “page 40” or a title")] = "",
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Tell what has happened so far, up to your page."""

    async def work() -> None:
        async with opened(with_model=True) as app:
            found, read_to = await _read_so_far(app, book, page)
            told = await app.reading.recap(found, read_to, since or 0, TERMINAL_ASKER)
        _tell(told, "There's too little to recap so far.", as_json=as_json)

    run_async(work)


def who(
    book: BOOK,
    name: Annotated[str, typer.Argument(help="A name as the book writes it")],
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Tell who somebody is, as far as you've read."""

    async def work() -> None:
        async with opened(with_model=True) as app:
            found, read_to = await _read_so_far(app, book, page)
            told = await app.reading.who(found, read_to, name, TERMINAL_ASKER)
        _tell(told, f"“{shortened(name)}” hasn't come up so far.", as_json=as_json)

    run_async(work)


def discuss(
    book: BOOK,
    section: Annotated[str, typer.Option(help="This chapter or part, as printed; by default the last three")] = "",
    count: Annotated[int, typer.Option(min=1, max=MOST_QUESTIONS, metavar="N", help="How many questions")] = 3,
    page: PAGE = None,
    as_json: AS_JSON = False,
) -> None:
    """Find questions to discuss, each with the quotation it is based on."""

    async def work() -> None:
        async with opened(with_model=True) as app:
            found, read_to = await _read_so_far(app, book, page)
            since, end = await app.reading.lately(found, read_to), read_to
            if section:
                since, end = await app.reading.stretch(found, read_to, section)
            discussion = await app.reading.discuss(found, end, since, count, TERMINAL_ASKER)
        if as_json:
            print_json(_discussion_fields(discussion))
        else:
            _tell_in_words(discussion.text(), discussion.trouble, "There's too little to discuss so far.")

    run_async(work)


TERMINAL_ASKER = Asker(TERMINAL_READER.id)


async def _read_so_far(app: App, book: str, page: str | None) -> tuple[Book, int]:
    """The book, and how far the reader may look: to the named page, else to their position."""
    found = await app.shelf.find(book, shelf=None)
    read_to = await _end_of(found, await app.shelf.open(found), page, None)
    if read_to is None:
        read_to = (await app.positions.get(TERMINAL_READER.id, found)).bound(found.length)
    return found, read_to


def _tell(told: Told, nothing: str, *, as_json: bool) -> None:
    if as_json:
        citations = [_citation_fields(each) for each in told.citations]
        note = told.trouble.message if told.trouble else ""
        print_json({"text": told.text, "citations": citations, "note": note})
    else:
        _tell_in_words(told.text, told.trouble, nothing)


def _tell_in_words(text: str, trouble: LLMError | None, nothing: str) -> None:
    if trouble:
        told = with_said(trouble.message, trouble.said)
        errors.print(f"{told}\nHere is what the book itself says.", style="yellow", markup=False, soft_wrap=True)
    lines = text.replace("\n> ", "\n>\n> ")  # each sentence is a paragraph of its own: Markdown would join them
    console.print(Markdown(lines) if text else nothing)


def _discussion_fields(discussion: Discussion) -> dict[str, object]:
    questions = [
        {"question": question_text(each), "citations": [_citation_fields(c) for c in each.citations]}
        for each in discussion.questions
    ]
    return {"questions": questions, "note": discussion.trouble.message if discussion.trouble else ""}


def _citation_fields(citation: Citation) -> dict[str, object]:
    return {
        "page": _page(citation.page),
        "last_page": _page(citation.last_page),
        "chapter": citation.chapter,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
    }


def _show(passages: Sequence[Passage], *, estimated: bool) -> None:
    if not passages:
        console.print("Nothing was found.")
    for passage in passages:
        pages = page_reference(passage.page, passage.last_page, estimated=estimated)
        where = " · ".join(part for part in (pages, passage.chapter, f"{passage.score:.2f}") if part)
        console.print(where, style="bold", markup=False)
        console.print(passage.text + "\n", markup=False)


async def passage_fields(passage: Passage, view: BookView) -> dict[str, object]:
    """A passage as the command line's JSON has it: the text as it is, pages as numbers if their labels are numbers."""
    return {
        "passage_id": passage.id,
        "page": _page(passage.page),
        "last_page": _page(passage.last_page),
        "chapter": passage.chapter,
        "start": passage.start,
        "end": passage.end,
        "score": round(passage.score, 4),
        "text": (await view.cite(passage.start, passage.end)).quote,
    }


def _page(label: str) -> int | str:
    return int(label) if label.isdecimal() else label


def _queries(name: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        fail(f"The queries in {shortened(name)} cannot be read: {error.strerror}.")
    lines = data.decode(errors="replace").split("\n")  # and at nothing else that `splitlines` takes for an end
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


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
    from domain.library.evaluation import evaluate as run
    from storage.book_files.files import SQLiteBookFiles

    with tempfile.TemporaryDirectory() as folder, progress_bar() as bar:
        files = SQLiteBookFiles(Path(folder), confine=shut_in)
        task = bar.add_task("Asking", total=1.0)
        try:
            return await run(file, files, read_plain, limit, lambda _, share: bar.update(task, completed=share))
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
