"""Copying a whole database into another one, of whatever kind."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from graphlib import TopologicalSorter

from domain.errors import StorageError, StorageErrorCode
from storage.opening import Storage
from storage.sql.database import CopyableDatabase, TableShape, Transaction, Value
from storage.sql.rows import listed, marks

PAGE = 500
"""Rows that are in memory at once; a message with its passages has some ten kilobytes."""
TIMEOUT_S = 3_600.0

Report = Callable[[str, int], None]
"""Told the name of a table, and how many of its rows are copied."""


async def copy_database(source: Storage, target: Storage, report: Report) -> dict[str, int]:
    """Copy every row, all or none, and return how many there are of each table in the end.

    Raises:
        StorageError: IN_USE, the target holds something; WRITE_FAILED, the copy has not as many rows as the original.
    """
    theirs, ours = await source.engine.tables(), await target.engine.tables()
    tables = {name: table for name, table in ours.items() if name in theirs}
    await _refuse_full(target.engine, tables)

    async def copy(transaction: Transaction) -> None:
        for name in TopologicalSorter(
            {name: set(table.parents) - {name} for name, table in tables.items()}
        ).static_order():
            columns = [column for column in theirs[name].columns if column in tables[name].columns]
            await _copy_table(source.engine, transaction, name, columns, theirs[name].order, report)

    await target.engine.atomically(copy, timeout_s=TIMEOUT_S)
    await target.engine.finish_copy()
    counts = {name: await _count(target.engine, name) for name in tables}
    for name, count in counts.items():
        if count != await _count(source.engine, name):
            raise StorageError(
                StorageErrorCode.WRITE_FAILED,
                f"The copy of {name} is not complete: somebody writes to the original. Stop the bot and try again.",
            )
    return counts


async def _refuse_full(database: CopyableDatabase, tables: Mapping[str, TableShape]) -> None:
    for name in tables:
        if await _count(database, name):
            raise StorageError(
                StorageErrorCode.IN_USE, "There is something in that database already: name one that is empty."
            )


async def _count(database: CopyableDatabase, table: str) -> int:
    return int((await database.read(f"SELECT count(*) AS number FROM {table}"))[0]["number"])  # noqa: S608


async def _copy_table(
    source: CopyableDatabase,
    transaction: Transaction,
    name: str,
    columns: Sequence[str],
    order: Sequence[str],
    report: Report,
) -> None:
    insert, copied = f"INSERT INTO {name} ({listed(columns)}) VALUES ({marks(columns)})", 0  # noqa: S608
    async for page in _pages(source, name, columns, order):
        await transaction.run_many(insert, page)
        copied += len(page)
        report(name, copied)


async def _pages(
    source: CopyableDatabase, name: str, columns: Sequence[str], order: Sequence[str]
) -> AsyncIterator[list[list[Value]]]:
    """The rows of a table in their order, page by page, each page found by the last row of the one before."""
    keys = ", ".join(f'"{column}" AS key_{number}' for number, column in enumerate(order))
    select = f"SELECT {listed(columns)}, {keys} FROM {name}"  # noqa: S608
    after, last = "", list[Value]()
    while True:
        rows = await source.read(f"{select} {after} ORDER BY {listed(order)} LIMIT {PAGE}", last)
        if rows:
            yield [[row[column] for column in columns] for row in rows]
        if len(rows) < PAGE:
            return
        after = f"WHERE ({listed(order)}) > ({marks(order)})"
        last = [rows[-1][f"key_{number}"] for number in range(len(order))]
