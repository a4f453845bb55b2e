"""All repositories over one database."""

from domain.errors import SettingsError
from domain.ports import LeaseRepository
from storage import Engine, Storage
from storage.sql.books import SQLBookObjects, SQLBooks, SQLDerivedTexts
from storage.sql.conversations import SQLConversations, SQLMessages
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
    return _repositories_over(database, leases=None)


async def open_postgres(url: str) -> Storage:
    """Open the PostgreSQL database of a URL.

    Raises:
        SettingsError: the driver is not installed, or the URL is none.
        StorageError: it cannot be opened.
    """
    try:
        from storage.postgres.database import PostgresDatabase
        from storage.postgres.leases import PostgresLeases
    except ImportError as error:
        raise SettingsError(
            "DATABASE_URL names PostgreSQL, whose driver is not installed: pip install 'marginalia[postgres]'."
        ) from error

    database = await PostgresDatabase.open(url)
    return _repositories_over(database, PostgresLeases(database))


def _repositories_over(database: Engine, leases: LeaseRepository | None) -> Storage:
    return Storage(
        engine=database,
        leases=leases,
        books=SQLBooks(database),
        book_objects=SQLBookObjects(database),
        conversations=SQLConversations(database),
        messages=SQLMessages(database),
        turns=SQLTurns(database),
        readers=SQLReaders(database),
        usage=SQLUsage(database),
        derived_texts=SQLDerivedTexts(database),
        privacy=SQLPrivacy(database),
        retention=SQLRetention(database),
    )
