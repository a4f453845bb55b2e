"""Clubs, what was posted for them, and votes, in SQL."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from domain.book import PositionState, ReadingPosition
from domain.clubs.plan import Club, Member, Post, PostState, Section, ThreadGate, Vote
from storage.sql.database import Database, Row, Transaction, Value
from storage.sql.rows import (
    entities,
    listed,
    optional_time_from_text,
    optional_time_to_text,
    strings_from_text,
    strings_to_text,
    time_from_text,
    time_to_text,
    upsert,
)
from storage.sql.turns import hold_fence

_CLUB = (
    "id", "book_id", "guild_id", "channel_id", "host_id", "gate", "role_id", "events", "created_at", "ended_at",
    "look_at",
)  # fmt: skip
_SECTION = (
    "club_id",
    "number",
    "starts",
    "ends",
    "due",
    "opened_at",
    "conversation_id",
    "thread_id",
    "private",
    "ready",
)
_MEMBER = ("club_id", "reader_id", "joined_at", "checked_in_at", "hidden", "left_at")
_VOTE = ("id", "guild_id", "channel_id", "asker_id", "choices", "created_at", "ends_at", "message_id", "told")

_SELECT = "SELECT clubs.*, books.length FROM clubs JOIN books ON books.id = book_id AND removed_at IS NULL"
_SECTIONS = "SELECT * FROM club_sections WHERE club_id IN {these} ORDER BY number"
_MEMBERS = """
SELECT club_members.*, positions.state, positions.read_to, coalesce(readers.opted_out, 0) AS left_out
FROM club_members JOIN clubs ON clubs.id = club_id
LEFT JOIN readers ON readers.id = club_members.reader_id
LEFT JOIN positions ON positions.reader_id = club_members.reader_id AND positions.book_id = clubs.book_id
WHERE club_id IN {these} ORDER BY joined_at, club_members.reader_id
"""
_INSERT = (
    f"INSERT INTO clubs ({listed(_CLUB)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
    "ON CONFLICT (channel_id) WHERE ended_at IS NULL DO NOTHING RETURNING id"
)
_END_WITHOUT_BOOK = """
UPDATE clubs SET ended_at = ? WHERE channel_id = ? AND ended_at IS NULL
  AND book_id IN (SELECT id FROM books WHERE removed_at IS NOT NULL)
"""
_CLAIM = """
INSERT INTO club_posts (club_id, key, state, claimed_at) SELECT id, ?2, 'claimed', ?3 FROM clubs WHERE id = ?1
ON CONFLICT (club_id, key) DO NOTHING
"""
_HAS_POSTED = """
SELECT 1 FROM club_posts JOIN clubs ON clubs.id = club_id WHERE guild_id = ?1 AND message_id = ?2
UNION ALL SELECT 1 FROM votes WHERE guild_id = ?1 AND message_id = ?2
"""
_NOW = "UPDATE clubs SET look_at = '' WHERE id = ?"
_UPDATE_SECTION = """
UPDATE club_sections SET due = ?, conversation_id = ?, thread_id = ?, private = ?, ready = ?
WHERE club_id = ? AND number = ?
"""
_FORGET_THREAD = """
UPDATE club_sections SET thread_id = NULL, ready = 1
WHERE thread_id = ? AND club_id IN (SELECT id FROM clubs WHERE guild_id = ?) RETURNING club_id
"""


class SQLClubs:
    """ClubRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, club: Club) -> bool:
        async def insert(transaction: Transaction) -> bool:
            known = await transaction.run("SELECT id FROM clubs WHERE id = ?", [club.id])
            await transaction.run(_END_WITHOUT_BOOK, [time_to_text(club.created_at), club.channel_id])
            if not known and not await transaction.run(_INSERT, _club_row(club)):
                return False
            await transaction.run_many(
                upsert("club_sections", _SECTION, ("club_id", "number")),
                [_section_row(club.id, each) for each in club.sections],
            )
            for member in club.members:
                await _put_member(transaction, club.id, member)
            return True

        return await self._database.atomically(insert)

    async def get(self, club_id: str) -> Club | None:
        found = await self._clubs("clubs.id = ?", [club_id])
        return found[0] if found else None

    async def get_running(self, guild_id: str) -> Sequence[Club]:
        return await self._clubs("guild_id = ? AND ended_at IS NULL", [guild_id])

    async def get_by_book(self, book_id: str) -> Sequence[Club]:
        return await self._clubs("book_id = ? AND ended_at IS NULL", [book_id])

    async def get_by_reader(self, reader_id: str, book_id: str) -> Sequence[Club]:
        theirs = "SELECT club_id FROM club_members WHERE reader_id = ? AND left_at IS NULL"
        return await self._clubs(f"clubs.id IN ({theirs}) AND book_id = ? AND ended_at IS NULL", [reader_id, book_id])

    async def get_by_conversation(self, conversation_id: str) -> Club | None:
        found = await self._clubs(
            "clubs.id IN (SELECT club_id FROM club_sections WHERE conversation_id = ?)", [conversation_id]
        )
        return found[0] if found else None

    async def put_member(self, club_id: str, member: Member) -> None:
        async def put(transaction: Transaction) -> None:
            if await transaction.run("SELECT id FROM clubs WHERE id = ?", [club_id]):
                await _put_member(transaction, club_id, member)
                await transaction.run(_NOW, [club_id])

        await self._database.atomically(put)

    async def change_sections(self, club_id: str, change: Callable[[Section], Section]) -> None:
        async def write(transaction: Transaction) -> None:
            rows = await transaction.run("SELECT * FROM club_sections WHERE club_id = ? ORDER BY number", [club_id])
            changed = [(section, change(section)) for section in await entities(_section, rows)]
            await transaction.run_many(
                _UPDATE_SECTION,
                [
                    [each.due.isoformat(), each.conversation_id, each.thread_id, int(each.private), int(each.ready),
                     club_id, each.number]
                    for before, each in changed if each != before
                ],
            )  # fmt: skip
            await transaction.run(_NOW, [club_id])

        await self._database.atomically(write)

    async def forget_thread(self, guild_id: str, thread_id: str) -> str | None:
        async def forget(transaction: Transaction) -> str | None:
            rows = await transaction.run(_FORGET_THREAD, [thread_id, guild_id])
            for row in rows:
                await transaction.run(_NOW, [row["club_id"]])
            return rows[0]["club_id"] if rows else None

        return await self._database.atomically(forget)

    async def claim_opening(self, club_id: str, number: int, now: datetime) -> bool:
        async def claim(transaction: Transaction) -> bool:
            await hold_fence(transaction)
            moment = time_to_text(now)
            await transaction.run(
                "UPDATE club_sections SET opened_at = ? WHERE club_id = ? AND number = ? AND opened_at IS NULL",
                [moment, club_id, number],
            )
            rows = await transaction.run(
                "SELECT opened_at FROM club_sections WHERE club_id = ? AND number = ?", [club_id, number]
            )
            await transaction.run(_NOW, [club_id])
            return bool(rows) and rows[0]["opened_at"] == moment

        return await self._database.atomically(claim)

    async def put_host(self, club_id: str, host_id: str) -> None:
        await self._database.write("UPDATE clubs SET host_id = ?, look_at = '' WHERE id = ?", [host_id, club_id])

    async def end(self, club_id: str, now: datetime) -> None:
        await self._database.write(
            "UPDATE clubs SET ended_at = ?, look_at = '' WHERE id = ? AND ended_at IS NULL",
            [time_to_text(now), club_id],
        )

    async def look_again(self, club_id: str, at: datetime | None) -> None:
        await self._database.write("UPDATE clubs SET look_at = ? WHERE id = ?", [optional_time_to_text(at), club_id])

    async def look_at_all(self) -> None:
        await self._database.write("UPDATE clubs SET look_at = '' WHERE ended_at IS NULL")

    async def list_to_look_at(self, now: datetime) -> Sequence[str]:
        sql = "SELECT id FROM clubs WHERE look_at <= ? ORDER BY look_at, created_at, rowid"
        return [row["id"] for row in await self._database.read(sql, [time_to_text(now)])]

    async def claim(self, club_id: str, key: str, now: datetime) -> Post:
        async def take(transaction: Transaction) -> Post:
            await hold_fence(transaction)
            await transaction.run(_CLAIM, [club_id, key, time_to_text(now)])
            rows = await transaction.run("SELECT * FROM club_posts WHERE club_id = ? AND key = ?", [club_id, key])
            if not rows:  # the club is gone, and nothing is to be posted for it
                return Post(key, PostState.GONE, now)
            post = _post(rows[0])
            is_new = post.state is PostState.CLAIMED and rows[0]["claimed_at"] == time_to_text(now)
            return Post(key, post.state, post.claimed_at, is_new, post.message_id, post.shown)

        return await self._database.atomically(take)

    async def settle(self, club_id: str, key: str, state: PostState, message_id: str = "", shown: str = "") -> None:
        await self._database.write(
            "UPDATE club_posts SET state = ?, message_id = ?, shown = ? WHERE club_id = ? AND key = ?",
            [state, message_id, shown, club_id, key],
        )

    async def forget(self, club_id: str, keys: Sequence[str]) -> None:
        async def delete(transaction: Transaction) -> None:
            await transaction.run_many(
                "DELETE FROM club_posts WHERE club_id = ? AND key = ?", [[club_id, key] for key in keys]
            )

        await self._database.atomically(delete)

    async def get_posts(self, club_id: str) -> dict[str, Post]:
        rows = await self._database.read("SELECT * FROM club_posts WHERE club_id = ?", [club_id])
        return {each.key: each for each in await entities(_post, rows)}

    async def has_posted(self, guild_id: str, message_id: str) -> bool:
        return bool(await self._database.read(_HAS_POSTED, [guild_id, message_id]))

    async def put_vote(self, vote: Vote) -> bool:
        async def put(transaction: Transaction) -> bool:
            known = await transaction.run("SELECT id FROM votes WHERE id = ?", [vote.id])
            others = "SELECT id FROM votes WHERE channel_id = ? AND told = 0"
            if not known and await transaction.run(others, [vote.channel_id]):
                return False
            await transaction.run(upsert("votes", _VOTE), _vote_row(vote))
            return True

        return await self._database.atomically(put)

    async def list_votes(self, now: datetime) -> Sequence[Vote]:
        sql = "SELECT * FROM votes WHERE told = 0 AND (message_id = '' OR ends_at <= ?) ORDER BY created_at, rowid"
        return await entities(_vote, await self._database.read(sql, [time_to_text(now)]))

    async def _clubs(self, where: str, parameters: Sequence[Value]) -> list[Club]:
        rows = await self._database.read(f"{_SELECT} WHERE {where} ORDER BY clubs.created_at, clubs.rowid", parameters)
        if not rows:
            return []
        ids = [row["id"] for row in rows]
        these = f"({', '.join('?' * len(ids))})"
        sections, members = await asyncio.gather(
            self._database.read(_SECTIONS.format(these=these), ids),
            self._database.read(_MEMBERS.format(these=these), ids),
        )
        sections_of, members_of = _by_club(sections), _by_club(members)
        return [await _club(row, sections_of[row["id"]], members_of[row["id"]]) for row in rows]


def _by_club(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    grouped: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["club_id"]].append(row)
    return grouped


async def _club(row: Row, sections: Sequence[Row], members: Sequence[Row]) -> Club:
    return Club(
        id=row["id"],
        book_id=row["book_id"],
        guild_id=row["guild_id"],
        channel_id=row["channel_id"],
        host_id=row["host_id"],
        gate=ThreadGate(row["gate"]),
        created_at=time_from_text(row["created_at"]),
        length=row["length"],
        sections=tuple(await entities(_section, sections)),
        members=tuple(await entities(_member, members)),
        role_id=row["role_id"],
        events=bool(row["events"]),
        ended_at=optional_time_from_text(row["ended_at"]),
    )


async def _put_member(transaction: Transaction, club_id: str, member: Member) -> None:
    await transaction.run(
        upsert("club_members", _MEMBER, ("club_id", "reader_id")),
        [
            club_id, member.reader_id, time_to_text(member.joined_at), optional_time_to_text(member.checked_in_at),
            int(member.hidden), optional_time_to_text(member.left_at),
        ],
    )  # fmt: skip


def _club_row(club: Club) -> list[Value]:
    return [
        club.id, club.book_id, club.guild_id, club.channel_id, club.host_id, club.gate, club.role_id, int(club.events),
        time_to_text(club.created_at), optional_time_to_text(club.ended_at), "",
    ]  # fmt: skip


def _section_row(club_id: str, section: Section) -> list[Value]:
    return [
        club_id, section.number, section.start, section.end, section.due.isoformat(),
        optional_time_to_text(section.opened_at), section.conversation_id, section.thread_id, int(section.private),
        int(section.ready),
    ]  # fmt: skip


def _vote_row(vote: Vote) -> list[Value]:
    return [
        vote.id, vote.guild_id, vote.channel_id, vote.asker_id, strings_to_text(vote.choices),
        time_to_text(vote.created_at), time_to_text(vote.ends_at), vote.message_id, int(vote.told),
    ]  # fmt: skip


def _section(row: Row) -> Section:
    return Section(
        row["number"],
        row["starts"],
        row["ends"],
        date.fromisoformat(row["due"]),
        optional_time_from_text(row["opened_at"]),
        row["conversation_id"],
        row["thread_id"],
        bool(row["private"]),
        bool(row["ready"]),
    )


def _member(row: Row) -> Member:
    is_set = row["state"] is not None
    return Member(
        row["reader_id"],
        time_from_text(row["joined_at"]),
        ReadingPosition(PositionState(row["state"]), row["read_to"]) if is_set else ReadingPosition(),
        optional_time_from_text(row["checked_in_at"]),
        bool(row["hidden"]),
        optional_time_from_text(row["left_at"]),
        bool(row["left_out"]),
    )


def _post(row: Row) -> Post:
    return Post(
        row["key"],
        PostState(row["state"]),
        time_from_text(row["claimed_at"]),
        message_id=row["message_id"],
        shown=row["shown"],
    )


def _vote(row: Row) -> Vote:
    values: dict[str, Any] = {name: row[name] for name in _VOTE}
    return Vote(
        **values
        | {
            "choices": strings_from_text(values["choices"]),
            "created_at": time_from_text(values["created_at"]),
            "ends_at": time_from_text(values["ends_at"]),
            "told": bool(values["told"]),
        }
    )
