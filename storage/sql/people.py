"""Readers' positions, preferences and usage, and servers' settings, in SQL; and the hashes for people who have used up
something, or were erased, today.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from typing import Any
from weakref import WeakValueDictionary

from domain.book import PositionState, ReadingPosition
from domain.records import LimitedAction, OpenReply, ServerSettings, UsageRecord, UsageTotal
from domain.tool_use import TokenUsage
from storage.sql.database import Database, Result, Row, Transaction, Value
from storage.sql.rows import day_of, entities, entity, listed, marks, time_from_text, time_to_text

_SET_POSITION = """
INSERT INTO positions (reader_id, book_id, state, read_to) VALUES (?, ?, ?, ?)
ON CONFLICT (reader_id, book_id) DO UPDATE SET state = excluded.state, read_to = excluded.read_to
"""

_TAKES_PART = "NOT EXISTS (SELECT 1 FROM readers WHERE readers.id = positions.reader_id AND opted_out = 1)"

_IN_A_CLUB = """
SELECT 1 FROM club_members JOIN clubs ON clubs.id = club_id
WHERE reader_id = ?1 AND book_id = ?2 AND left_at IS NULL AND ended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM readers WHERE id = ?1 AND opted_out = 1)
"""

_SET_VERBOSE = """
INSERT INTO readers (id, "verbose") VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET "verbose" = excluded."verbose"
"""


_SET_LOCALE = """
INSERT INTO readers (id, locale) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET locale = excluded.locale
"""

_SET_OPTED_OUT = """
INSERT INTO readers (id, opted_out) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET opted_out = excluded.opted_out
"""
_LOOK_AT_CLUBS = """
UPDATE clubs SET look_at = ''
WHERE ended_at IS NULL AND id IN (SELECT club_id FROM club_members WHERE reader_id = ? AND left_at IS NULL)
"""


class SQLReaders:
    """ReaderRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_position(self, reader_id: str, book_id: str) -> ReadingPosition:
        row = await self._database.read_one(
            f"SELECT state, read_to FROM positions WHERE reader_id = ? AND book_id = ? AND {_TAKES_PART}",  # noqa: S608
            [reader_id, book_id],
        )
        return entity(_position, row) or ReadingPosition()

    async def set_position(self, reader_id: str, book_id: str, position: ReadingPosition) -> None:
        if position.state is PositionState.UNSET:
            await self._database.write(
                "DELETE FROM positions WHERE reader_id = ? AND book_id = ?", [reader_id, book_id]
            )
        else:
            await self._database.write(_SET_POSITION, [reader_id, book_id, position.state, position.read_to])

    async def is_in_club(self, reader_id: str, book_id: str) -> bool:
        return await self._database.read_one(_IN_A_CLUB, [reader_id, book_id]) is not None

    async def list_positions(self, book_id: str) -> Sequence[tuple[int, str]]:
        sql = (
            "SELECT read_to, reader_id FROM positions "  # noqa: S608
            f"WHERE book_id = ? AND state = ? AND {_TAKES_PART} ORDER BY read_to, reader_id"
        )
        rows = await self._database.read(sql, [book_id, PositionState.READING])
        return [(int(row["read_to"]), row["reader_id"]) for row in rows]

    async def get_verbose(self, reader_id: str) -> bool | None:
        row = await self._database.read_one('SELECT "verbose" FROM readers WHERE id = ?', [reader_id])
        return None if row is None or row["verbose"] is None else bool(row["verbose"])

    async def set_verbose(self, reader_id: str, verbose: bool) -> None:
        await self._database.write(_SET_VERBOSE, [reader_id, verbose])

    async def get_locale(self, reader_id: str) -> str | None:
        row = await self._database.read_one("SELECT locale FROM readers WHERE id = ?", [reader_id])
        return None if row is None else row["locale"]

    async def set_locale(self, reader_id: str, locale: str) -> None:
        await self._database.write(_SET_LOCALE, [reader_id, locale])

    async def is_opted_out(self, reader_id: str) -> bool:
        row = await self._database.read_one("SELECT opted_out FROM readers WHERE id = ?", [reader_id])
        return row is not None and bool(row["opted_out"])

    async def list_opted_out(self) -> Collection[str]:
        return [row["id"] for row in await self._database.read("SELECT id FROM readers WHERE opted_out = 1")]

    async def set_opted_out(self, reader_id: str, opted_out: bool) -> None:
        async def choose(transaction: Transaction) -> None:
            await transaction.run(_SET_OPTED_OUT, [reader_id, int(opted_out)])
            await transaction.run(_LOOK_AT_CLUBS, [reader_id])

        await self._database.atomically(choose)


def _position(row: Row) -> ReadingPosition:
    return ReadingPosition(PositionState(row["state"]), row["read_to"])


_USED = (
    "at", "reader_id", "guild_id", "conversation_id", "model", "input_tokens", "output_tokens", "cache_read_tokens",
    "cache_write_tokens", "cost_microdollars", "estimated", "request_id",
)  # fmt: skip
# Whom a request is charged to stays as it was first recorded, or erased since.
_OF_LATER_RECORDS = ", ".join(f"{name} = excluded.{name}" for name in _USED if not name.endswith("_id"))
_IN_PLACE = f"ON CONFLICT (request_id) DO UPDATE SET {_OF_LATER_RECORDS}"
_RECORD = f"INSERT INTO usage ({listed(_USED)}) VALUES ({marks(_USED)}) {_IN_PLACE}"  # noqa: S608
_RECORD_UNLESS_ERASED = f"""
INSERT INTO usage ({listed(_USED)}) SELECT {marks(_USED)}
WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE person = ? AND at >= ?) {_IN_PLACE}
"""  # noqa: S608
_RECORDED = "SELECT input_tokens + output_tokens AS tokens FROM usage WHERE request_id = ?"

_TOTAL = """
SELECT count(*) AS requests, coalesce(sum(input_tokens), 0) AS input_tokens,
  coalesce(sum(output_tokens), 0) AS output_tokens, coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens,
  coalesce(sum(cache_write_tokens), 0) AS cache_write_tokens, coalesce(sum(cost_microdollars), 0) AS cost_microdollars,
  count(*) - count(cost_microdollars) AS unpriced, coalesce(max(estimated), 0) AS estimated
FROM usage WHERE
"""


class SQLUsage:
    """UsageRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._salt = SaltOfPeople(database)

    async def record(self, record: UsageRecord) -> None:
        tokens, at = record.usage, time_to_text(record.at)
        used = [
            at, record.reader_id, record.guild_id, record.conversation_id, record.model, tokens.input_tokens,
            tokens.output_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens, record.cost_microdollars,
            int(tokens.estimated), record.request_id,
        ]  # fmt: skip
        if record.request_id and not (tokens.input_tokens or tokens.output_tokens):
            await self._database.write("DELETE FROM usage WHERE request_id = ?", [record.request_id])
            return
        if not record.reader_id:
            await self._database.write(_RECORD, used)
            return
        person, asked = erased_person(record.reader_id, await self._salt()), time_to_text(record.asked_at or record.at)
        [known], _ = await self._database.write_all(
            [(KEEP_ERASURE, [person]), (_RECORD_UNLESS_ERASED, [*used, person, asked])]
        )
        if known["at"] >= asked:
            await self._record_without_name(record, used)

    async def _record_without_name(self, record: UsageRecord, used: Sequence[Value]) -> None:
        """Record usage of somebody who has been erased meanwhile; their tokens of the day count all the same."""
        tokens = record.usage.input_tokens + record.usage.output_tokens

        async def write(transaction: Transaction) -> None:
            at, _, *others = used
            before = await transaction.run(_RECORDED, [record.request_id])
            more = tokens - sum(row["tokens"] for row in before)
            await transaction.run(_RECORD, [at, "", *others])
            await add_spent(transaction, record.reader_id, record.at, {record.guild_id or "": more})

        await self._database.atomically(write)

    async def total_for_reader(self, reader_id: str, since: datetime) -> UsageTotal:
        return await self._total("reader_id = ? AND at >= ?", [reader_id, time_to_text(since)])

    async def total_for_guild(self, guild_id: str, since: datetime) -> UsageTotal:
        return await self._total("guild_id = ? AND at >= ?", [guild_id, time_to_text(since)])

    async def total_in_guild(self, reader_id: str, guild_id: str, since: datetime) -> UsageTotal:
        return await self._total(
            "reader_id = ? AND guild_id = ? AND at >= ?", [reader_id, guild_id, time_to_text(since)]
        )

    async def spent_before_erasure(self, reader_id: str, at: datetime, guild_id: str = "") -> int:
        day = day_of(at)
        if not (salt := await self._database.read_one("SELECT value FROM salts WHERE name = ?", [day])):
            return 0
        person = hashed_spender(reader_id, guild_id, salt["value"])
        sql = "SELECT tokens FROM spent_tokens WHERE day = ? AND person = ?"
        row = await self._database.read_one(sql, [day, person])
        return int(row["tokens"]) if row else 0

    async def _total(self, condition: str, parameters: Sequence[Value]) -> UsageTotal:
        row = (await self._database.read(_TOTAL + condition, parameters))[0]
        usage = TokenUsage(
            int(row["input_tokens"]),
            int(row["output_tokens"]),
            int(row["cache_read_tokens"]),
            int(row["cache_write_tokens"]),
            estimated=bool(row["estimated"]),
        )
        return UsageTotal(row["requests"], usage, int(row["cost_microdollars"]), row["unpriced"])


KEPT_FOR = timedelta(days=1)
"""How long somebody's actions are remembered: the longest period of any limit."""

_SALT = "allowances"

_LOCK = "INSERT INTO locks (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at"


class SerialTransactions:
    """Transactions that count rows before they add one. Those of the same name run one after another, on all nodes.

    Each of them first writes the same row: of two at a time, PostgreSQL lets one pass, and the other starts again. In
    this process they wait for a lock before that, so that they seldom collide.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, name: str, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Do the work in a transaction, as `Database.atomically`. The name is stored as a salted hash, for a day."""

        async def alone(transaction: Transaction) -> Result:
            now = datetime.now(UTC)
            await transaction.run("DELETE FROM locks WHERE at <= ?", [time_to_text(now - KEPT_FOR)])
            await transaction.run(_LOCK, [salted_hash(name, await salt_of_people(transaction)), time_to_text(now)])
            return await work(transaction)

        async with self._locks.setdefault(name, asyncio.Lock()):
            return await self._database.atomically(alone)


class SQLAllowances:
    """AllowanceRepository in SQL. The salt is drawn once and kept in the database, so that all nodes share it."""

    def __init__(self, database: Database) -> None:
        self._serial = SerialTransactions(database)

    async def take(
        self, person: str, action: LimitedAction, most: int, span: timedelta, now: datetime, about: str = ""
    ) -> datetime | None:
        async def take(transaction: Transaction) -> datetime | None:
            await transaction.run("DELETE FROM allowances WHERE at <= ?", [time_to_text(now - KEPT_FOR)])
            salt = await salt_of_people(transaction)
            who, what = salted_hash(person, salt), salted_hash(about, salt) if about else ""
            known = "SELECT 1 AS one FROM allowances WHERE person = ? AND deed = ? AND about = ?"
            if what and await transaction.run(known, [who, action, what]):
                return None
            # Later ones are of another node's clock, or, if by more, of one that was wrong.
            times = "at > ? AND at < ? ORDER BY at DESC LIMIT ?"
            done = await transaction.run(
                f"SELECT at FROM allowances WHERE person = ? AND deed = ? AND {times}",  # noqa: S608
                [who, action, time_to_text(now - span), time_to_text(now + span), most],
            )
            if len(done) >= most:
                return time_from_text(done[-1]["at"]) + span
            await transaction.run(
                "INSERT INTO allowances (person, deed, at, about) VALUES (?, ?, ?, ?)",
                [who, action, time_to_text(now), what],
            )
            return None

        return await self._serial.run(f"{action} {person}", take)


async def salt_of_people(transaction: Transaction) -> str:
    """The salt of `salted_hash`. It is made once for a database and never changes."""
    rows = await transaction.run("SELECT value FROM salts WHERE name = ?", [_SALT])
    if not rows:
        await transaction.run(
            "INSERT INTO salts (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            [_SALT, secrets.token_hex(32)],
        )
        rows = await transaction.run("SELECT value FROM salts WHERE name = ?", [_SALT])
    return str(rows[0]["value"])


class SaltOfPeople:
    """The same, read once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._salt = ""

    async def __call__(self) -> str:
        self._salt = self._salt or await self._database.atomically(salt_of_people)
        return self._salt


def salted_hash(text: str, salt: str) -> str:
    """The hash that stands for a text about a person, such as their id."""
    return hashlib.blake2b(text.encode(), key=bytes.fromhex(salt), digest_size=16).hexdigest()


KEEP_ERASURE = """
INSERT INTO erasures (person, at, written_at) VALUES (?, '', '')
ON CONFLICT (person) DO UPDATE SET at = erasures.at RETURNING at, written_at
"""


def erased_person(reader_id: str, salt: str) -> str:
    """A person's name in `erasures`."""
    return salted_hash(f"erased {reader_id}", salt)


_KEEP_SPENT = """
INSERT INTO spent_tokens (day, person, tokens) VALUES (?1, ?2, ?3)
ON CONFLICT (day, person) DO UPDATE SET tokens = spent_tokens.tokens + excluded.tokens
"""


async def add_spent(transaction: Transaction, reader_id: str, now: datetime, spent: Mapping[str, int]) -> None:
    """Add to what an erased person has used today: `spent` are tokens by servers, under an empty id those outside of
    servers.
    """
    day, new = day_of(now), secrets.token_hex(32)
    await transaction.run("INSERT INTO salts (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [day, new])
    salt = (await transaction.run("SELECT value FROM salts WHERE name = ?", [day]))[0]["value"]
    kept = {guild_id: tokens for guild_id, tokens in spent.items() if guild_id} | {"": sum(spent.values())}
    await transaction.run_many(_KEEP_SPENT, [[day, hashed_spender(reader_id, each, salt), kept[each]] for each in kept])


def hashed_spender(reader_id: str, guild_id: str, salt: str) -> str:
    """The hash that stands for a person in `spent_tokens`, for one server; with an empty id, for all they have used."""
    return hashlib.sha256(f"{salt}:{guild_id}:{reader_id}".encode()).hexdigest()


_SET_SERVER = """
INSERT INTO servers (id, settings) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET settings = excluded.settings
"""


class SQLServers:
    """ServerRepository in SQL: one JSON object per server, with its changed settings only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, server_id: str) -> ServerSettings:
        row = await self._database.read_one("SELECT settings FROM servers WHERE id = ?", [server_id])
        return entity(_server_settings, row) or ServerSettings()

    async def update(self, server_id: str, change: Callable[[ServerSettings], ServerSettings]) -> ServerSettings:
        async def update(transaction: Transaction) -> ServerSettings:
            rows = await transaction.run("SELECT settings FROM servers WHERE id = ?", [server_id])
            changed = change(entity(_server_settings, rows[0] if rows else None) or ServerSettings())
            await transaction.run(_SET_SERVER, [server_id, _chosen(changed)])
            return changed

        return await self._database.atomically(update)

    async def delete(self, server_id: str) -> None:
        await self._database.write("DELETE FROM servers WHERE id = ?", [server_id])

    async def is_greeted(self, server_id: str) -> bool:
        return bool(await self._database.read("SELECT 1 FROM greeted_servers WHERE guild_id = ?", [server_id]))

    async def greets_since(self) -> datetime:
        rows = await self._database.read("SELECT applied_at FROM schema_migrations WHERE version = 14")
        return time_from_text(rows[0]["applied_at"])

    async def set_greeted(self, server_id: str, greeted: bool) -> None:
        if greeted:
            sql = "INSERT INTO greeted_servers (guild_id) VALUES (?) ON CONFLICT DO NOTHING"
        else:
            sql = "DELETE FROM greeted_servers WHERE guild_id = ?"
        await self._database.write(sql, [server_id])

    async def all(self) -> Mapping[str, ServerSettings]:
        rows = await self._database.read("SELECT id, settings FROM servers")
        settings = await entities(_server_settings, rows)
        return dict(zip([row["id"] for row in rows], settings, strict=True))


def _server_settings(row: Row) -> ServerSettings:
    chosen = json.loads(row["settings"])
    known = {field.name: chosen[field.name] for field in fields(ServerSettings) if field.name in chosen}
    return ServerSettings(**known | {"channels": tuple(known.get("channels", ()))})


def _chosen(settings: ServerSettings) -> str:
    default = asdict(ServerSettings())
    return json.dumps({name: value for name, value in asdict(settings).items() if value != default[name]})


_REPLY = ("id", "reader_id", "guild_id", "channel_id", "token", "about", "began_at", "lease", "epoch")
_NOTE_REPLY = f"""
INSERT INTO open_replies ({listed(_REPLY)}) VALUES ({marks(_REPLY)}) ON CONFLICT DO NOTHING RETURNING id
"""  # noqa: S608
_TAKE_REPLY = """
UPDATE open_replies SET about = ?1, lease = ?2, epoch = ?3 WHERE id = ?4 AND lease = ?5 AND epoch = ?6 RETURNING id
"""


class SQLOpenReplies:
    """OpenReplyRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, reply: OpenReply) -> bool:
        values: dict[str, Any] = asdict(reply) | {"began_at": time_to_text(reply.began_at)}
        return bool(await self._database.write(_NOTE_REPLY, [values[name] for name in _REPLY]))

    async def list(self) -> Sequence[OpenReply]:
        return await entities(_open_reply, await self._database.read(f"SELECT {listed(_REPLY)} FROM open_replies"))  # noqa: S608

    async def take(self, reply: OpenReply, about: str, lease: str, epoch: int) -> bool:
        parameters: Sequence[Value] = [about, lease, epoch, reply.id, reply.lease, reply.epoch]
        return bool(await self._database.write(_TAKE_REPLY, parameters))

    async def forget(self, reply_id: str) -> None:
        await self._database.write("DELETE FROM open_replies WHERE id = ?", [reply_id])


def _open_reply(row: Row) -> OpenReply:
    return OpenReply(**{name: row[name] for name in _REPLY} | {"began_at": time_from_text(row["began_at"])})
