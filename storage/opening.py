"""All repositories over one database."""

from storage import Engine, Storage
from storage.sql.books import SQLBooks, SQLDerivedTexts
from storage.sql.conversations import SQLConversations
from storage.sql.database import Database
from storage.sql.messages import SQLMessages
from storage.sql.people import SQLReaders, SQLUsage
from storage.sql.privacy import SQLPrivacy, SQLRetention
from storage.sql.turns import SQLTurns


async def open_sqlite(path: str) -> Storage:
    """Open the SQLite database at a path.

    Raises:
        StorageError: it cannot be opened.
    """
    from storage.sqlite.database import SQLiteDatabase

    database = await SQLiteDatabase.open(path)
    return _repositories_over(database, database)


def _repositories_over(engine: Engine, database: Database) -> Storage:
    return Storage(
        engine=engine,
        books=SQLBooks(database),
        conversations=SQLConversations(database),
        messages=SQLMessages(database),
        turns=SQLTurns(database),
        readers=SQLReaders(database),
        usage=SQLUsage(database),
        derived_texts=SQLDerivedTexts(database),
        privacy=SQLPrivacy(database),
        retention=SQLRetention(database),
    )
