"""Texts that a model wrote about a book, in SQLite."""

from domain.book import DerivedText
from storage.sqlite.connection import Row
from storage.sqlite.database import Database
from storage.sqlite.rows import entity, upsert
from storage.sqlite.serialisation import time_from_text, time_to_text

_TEXT_COLUMNS = ("book_id", "kind", "key", "depends_to", "text", "model", "created_at")
_TEXT_UPSERT = upsert("derived_texts", _TEXT_COLUMNS, key=("book_id", "kind", "key", "depends_to"))

_WITHIN_BOUND = """
SELECT * FROM derived_texts WHERE book_id = ? AND kind = ? AND key = ? AND depends_to <= ?
ORDER BY depends_to DESC LIMIT 1
"""


class SQLiteDerivedTexts:
    """DerivedTextRepository in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        return entity(_derived_text, await self._database.read_one(_WITHIN_BOUND, [book_id, kind, key, read_to]))

    async def put(self, text: DerivedText) -> None:
        await self._database.write(
            _TEXT_UPSERT,
            [
                text.book_id,
                text.kind,
                text.key,
                text.depends_to,
                text.text,
                text.model,
                time_to_text(text.created_at),
            ],
        )


def _derived_text(row: Row) -> DerivedText:
    values = dict(row)
    return DerivedText(**values | {"created_at": time_from_text(values["created_at"])})
