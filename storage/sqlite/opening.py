"""All repositories over one SQLite database."""

from storage import Storage
from storage.sqlite.books import SQLiteBooks, SQLiteDerivedTexts
from storage.sqlite.conversations import SQLiteConversations
from storage.sqlite.database import Database
from storage.sqlite.messages import SQLiteMessages
from storage.sqlite.people import SQLiteReaders, SQLiteUsage
from storage.sqlite.privacy import SQLitePrivacy, SQLiteRetention
from storage.sqlite.turns import SQLiteTurns


async def open_sqlite(path: str) -> Storage:
    """Open the database at a path.

    Raises:
        StorageError: it cannot be opened.
    """
    database = await Database.open(path)
    return Storage(
        engine=database,
        books=SQLiteBooks(database),
        conversations=SQLiteConversations(database),
        messages=SQLiteMessages(database),
        turns=SQLiteTurns(database),
        readers=SQLiteReaders(database),
        usage=SQLiteUsage(database),
        derived_texts=SQLiteDerivedTexts(database),
        privacy=SQLitePrivacy(database),
        retention=SQLiteRetention(database),
    )
