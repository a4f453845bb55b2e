"""The real bot on a real PostgreSQL whose address has a password: no log at any level and no error shows it."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from domain.errors import SettingsError
from storage.opening import open_storage
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.discord_process import BotProcess
from tests.postgres import a_database, wire_to

PASSWORD = "open:sesame/4711@cave"
ROLE = f"marginalia_test_{uuid.uuid4().hex}"
"""Roles are those of the whole server, which tests that run side by side share."""

KEY = "AKIA-very-secret-key-4711"


def with_user(url: str, password: str) -> str:
    """The address with a user and a password, as one has to write them in a URL."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{ROLE}:{quote(password, safe='')}@{host}"))


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database that a role with a password owns."""
    with a_database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN SUPERUSER PASSWORD {}").format(sql.Identifier(ROLE), sql.Literal(PASSWORD))
        )
        yield url
        connection.execute(sql.SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(sql.Identifier(ROLE)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(ROLE)))


@pytest.fixture
def environment() -> dict[str, str]:
    return {"LOG_LEVEL": "DEBUG", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY[::-1]}


def shown(output: str) -> list[str]:
    """The secrets that stand in an output, as they are or as they are written in a URL."""
    forms = (PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD), "sesame", KEY, KEY[::-1])
    return [form for form in forms if form in output]


async def test_a_day_with_a_database_that_goes_away(
    bot: BotProcess, discord: DiscordDouble, database: str, tmp_path: Path
) -> None:
    async with wire_to(database) as wire:
        url = with_user(wire.url, PASSWORD)
        bot.set(DATABASE_URL=url, BOOKS_URL=f"file://{tmp_path}/store?secret_access_key={KEY}")
        await bot.start()
        await discord.until(lambda: discord.commands.commands.get(0))
        ann = discord.user("ann")
        added = await ann.slash("books add", file=discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n"))
        await discord.until(lambda: added.original and (added.original.embeds or added.original.content))
        assert "DEBUG" in bot.output
        wire.cut()
        told = await ann.slash("books list")
        await discord.until(lambda: told.messages)
        assert shown(told.text) == []
        wire.mend()
        assert await bot.stop() == 0
    assert shown(bot.output) == []


@pytest.mark.parametrize("password", ["wrong:sesame/4711@cave", ""])
async def test_a_start_that_is_refused(bot: BotProcess, database: str, password: str) -> None:
    parts = urlsplit(with_user(database, password))
    bot.set(DATABASE_URL=urlunsplit(parts._replace(netloc=f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:1", query="")))
    with pytest.raises(AssertionError):
        await bot.start()
    assert "cannot be opened" in bot.output
    assert shown(bot.output) == []


async def test_a_server_that_refuses_the_role(bot: BotProcess, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER ROLE {} NOLOGIN").format(sql.Identifier(ROLE)))
    bot.set(DATABASE_URL=with_user(database, PASSWORD))
    with pytest.raises(AssertionError):
        await bot.start()
    assert "is not permitted to log in): check DATABASE_URL" in bot.output
    assert shown(bot.output) == []


@pytest.mark.parametrize("password", ["open/sesame@cave", "open@sesame/cave", "4711/sesame", "sesame%zz"])
async def test_a_password_that_is_not_written_as_in_a_url(password: str) -> None:
    with pytest.raises(SettingsError, match="%2F for a ") as refused:
        await open_storage(f"postgresql://alice:{password}@127.0.0.1:1/books")
    assert "sesame" not in str(refused.value)
    assert "cave" not in str(refused.value)


@pytest.mark.parametrize("url", ["ftp://ann:sesame@host/books", "az://sesame@container/books?sas_token=sesame"])
async def test_an_address_of_no_store_with_a_key_in_it(bot: BotProcess, url: str) -> None:
    bot.set(BOOKS_URL=url)
    with pytest.raises(AssertionError):
        await bot.start()
    assert "BOOKS_URL must be like" in bot.output
    assert "sesame" not in bot.output
