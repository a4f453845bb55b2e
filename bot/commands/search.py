"""marginalia search."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.running import console, fail, opened, run_async
from domain.book import Passage, page_reference
from domain.library.progress import end_of_page
from domain.library.search.query import MAX_RESULTS
from domain.ports import BookView


def search(
    book: Annotated[str, typer.Argument(help="Title or id")],
    query: Annotated[str | None, typer.Argument(help="What to look for")] = None,
    top_k: Annotated[int, typer.Option(min=1, help=f"How many passages, {MAX_RESULTS} at most")] = 5,
    page: Annotated[str | None, typer.Option(help="Only what a reader on this page has read")] = None,
    queries: Annotated[str | None, typer.Option(help="A file of queries, one a line; - is standard input")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list; with --queries one a line")] = False,
) -> None:
    """Search a book for passages."""
    if (query is None) == (queries is None):
        fail("Give either a QUERY or --queries FILE.")

    async def work() -> None:
        async with opened() as app:
            found = await app.shelf.find(book, shelf=None)
            file = await app.shelf.open(found)
            read_to = found.length if page is None else end_of_page(await file.pages(), page)
            view = file.view(read_to)
            for line in [query] if query is not None else _queries(str(queries)):
                passages = await view.search([line or ""], top_k)
                if as_json:
                    fields = [await passage_fields(passage, view) for passage in passages]
                    print(json.dumps(fields, ensure_ascii=False))  # noqa: T201
                else:
                    _show(passages, estimated=view.book.pages_estimated)

    run_async(work)


def _show(passages: Sequence[Passage], *, estimated: bool) -> None:
    if not passages:
        console.print("Nothing was found.")
    for passage in passages:
        pages = page_reference(passage.page, passage.last_page, estimated=estimated)
        where = " · ".join(part for part in (pages, passage.chapter, f"{passage.score:.2f}") if part)
        console.print(where, style="bold", markup=False)
        console.print(passage.text + "\n", markup=False)


async def passage_fields(passage: Passage, view: BookView) -> dict[str, object]:
    """A passage as the command line's JSON has it: the text as it stands, pages as numbers where their labels are."""
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
        fail(f"The queries in {name} cannot be read: {error.strerror}.")
    lines = data.decode(errors="replace").split("\n")  # and at nothing else that `splitlines` takes for an end
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
