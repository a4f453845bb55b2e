"""marginalia eval: how well the search finds what labelled questions ask for."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from bot.commands.running import console, errors, run_async
from domain.library.evaluation import Report


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Labelled questions, one JSON object a line")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object")] = False,
) -> None:
    """Measure the search on questions whose answers' places are known."""

    async def work() -> None:
        report = await _report(file, limit)
        if as_json:
            print(json.dumps(report.as_dict()))  # noqa: T201
        else:
            books = {name: scores.as_dict() for name, scores in zip(_names(report), report.books.values(), strict=True)}
            console.print(_table({"all": report.overall.as_dict(), **books}))

    run_async(work)


async def _report(file: Path, limit: int | None) -> Report:
    """The books are indexed in a folder of their own, which goes when it is done."""
    from bot.parsers.text.parser import read_plain
    from domain.library.evaluation import evaluate as run
    from storage.book_files.files import SQLiteBookFiles

    with tempfile.TemporaryDirectory() as folder, Progress(console=errors, transient=True) as bar:
        files = SQLiteBookFiles(Path(folder))
        task = bar.add_task("Asking", total=1.0)
        try:
            return await run(file, files, read_plain, limit, lambda _, share: bar.update(task, completed=share))
        finally:
            await files.close()


def _names(report: Report) -> list[str]:
    """What stands over the columns of the books: short if that tells them apart."""
    stems = [Path(path).stem for path in report.books]
    return stems if len({"all", *stems}) == len(stems) + 1 else list(report.books)


def _table(rows: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("", *rows, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for measured in rows["all"]:
        table.add_row(measured, *(f"{row[measured]:g}" for row in rows.values()))
    return table
