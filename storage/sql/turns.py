"""Turns of conversations, in SQL. Every change is one transaction, together with the messages it affects."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from domain.chat import ChatMessage
from domain.concurrency import ALL, CURRENT_LEASE, Shard
from domain.conversation import UNTITLED, WITH_AN_ANSWER, TitleSource, Turn, TurnState, title_from
from domain.errors import ConversationError, ConversationErrorCode, StorageError, StorageErrorCode
from domain.records import Removal, RemovalKind
from storage.sql.conversations import REPETITIONS, saving, write_messages
from storage.sql.database import Database, Row, Statement, Transaction, Value
from storage.sql.erasure import forget_lookups, note_removals, removals_of_turns
from storage.sql.privacy import PLACE, removals_of_asides, untitle
from storage.sql.rows import (
    FIRST_OF_RECENT,
    IN_PLACE,
    OF_SHARD,
    entities,
    entity,
    listed,
    marks,
    optional_time_from_text,
    optional_time_to_text,
    strings_from_text,
    strings_to_text,
    time_from_text,
    time_to_text,
    usage_from_text,
    usage_to_text,
    utc_now,
)

_COLUMNS = (
    "id", "conversation_id", "number", "state", "started_at", "finished_at", "error", "model", "usage", "reply_ids",
    "trace_id", "stopped", "told", "asked_by", "expires_at",
)  # fmt: skip
_SELECT = f"SELECT {listed(_COLUMNS)} FROM turns"  # noqa: S608

# The turn's own number, if the work is repeated after its commit.
_NUMBER = """
SELECT coalesce(max(CASE id WHEN ?2 THEN number END), max(number) + 1, 1) AS number FROM turns
WHERE conversation_id = ?1
"""

# If the work is repeated after its commit, the turn exists with its number.
_OPEN = """
INSERT INTO turns (id, conversation_id, number, state, started_at)
SELECT ?1, ?2, (SELECT coalesce(max(number), 0) + 1 FROM turns WHERE conversation_id = ?2), ?3, ?4
WHERE EXISTS (SELECT 1 FROM conversations WHERE id = ?2)
  AND EXISTS (SELECT 1 FROM chat_messages WHERE id IN ({asked}))
  AND NOT EXISTS (SELECT 1 FROM chat_messages WHERE id IN ({asked}) AND (conversation_id <> ?2 OR turn_id <> ?1))
ON CONFLICT (id) DO UPDATE SET state = turns.state RETURNING number
"""

_TAKE = """
UPDATE chat_messages SET turn_id = ?1 WHERE id IN ({asked}) AND EXISTS (SELECT 1 FROM turns WHERE id = ?1)
"""

# Delivery is written by whoever delivers, while the turn is made elsewhere: what is not given here is left as it is.
_FINISH = """
UPDATE turns SET state = ?1, finished_at = ?2, error = ?3, model = ?4, usage = ?5, stopped = ?6,
  reply_ids = CASE ?7 WHEN '[]' THEN reply_ids ELSE ?7 END, trace_id = coalesce(?8, trace_id), told = ?9
WHERE id = ?10 RETURNING id
"""

_BEGIN_AGAIN = """
UPDATE turns SET state = 'answered', told = 1 WHERE id = ? AND state IN ('answered', 'delivered') AND asked_by IS NULL
"""

_INSERT = """
INSERT INTO turns (
  id, conversation_id, number, state, started_at, finished_at, model, usage, reply_ids, trace_id, stopped
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_UNDELIVERED = f"""
{_SELECT} WHERE id IN (
  SELECT id FROM turns WHERE state IN ('running', 'answered')
  UNION ALL SELECT id FROM turns WHERE state = 'failed' AND told = 0
) AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = conversation_id AND {OF_SHARD})
ORDER BY started_at, rowid
"""  # noqa: S608


_REMEMBER_ID = """
INSERT INTO forgotten_messages (external_id, conversation_id)
SELECT external_id, conversation_id FROM chat_messages WHERE id = ? AND external_id IS NOT NULL
ON CONFLICT DO NOTHING
"""


_ASKED = """
SELECT chat_messages.turn_id, author_id, content, arrival, chat_messages.conversation_id, conversations.id,
  conversations.title, title_source, guild_id, channel_id, thread_id, books.title AS book
FROM chat_messages JOIN conversations ON conversations.id = chat_messages.conversation_id
  JOIN books ON books.id = book_id
WHERE chat_messages.id = ?
"""

_ASKED_IN = _ASKED.replace("chat_messages.id = ?", "chat_messages.turn_id = ? AND role = 'user'")

# What /ask has answered for all to see stands in no thread of its own.
_SHOWN_IN = """
SELECT turns.id FROM turns JOIN conversations ON conversations.id = conversation_id
WHERE state = 'delivered' AND reply_ids LIKE '%"' || ?1 || '"%' AND (conversations.thread_id = ?2
  OR (conversations.guild_id = ?3 AND conversations.thread_id IS NULL AND conversations.channel_id IS NULL))
"""

# Without its question there is nothing left of a turn; else it has failed, and its reader knows.
_FORGET_ANSWER = (
    "DELETE FROM turns WHERE id = ? AND asked_by IS NOT NULL",
    "DELETE FROM chat_messages WHERE turn_id = ? AND role <> 'user'",
    """UPDATE turns SET state = 'failed', told = 1, error = 'deleted', reply_ids = '[]', trace_id = NULL, stopped = 0
    WHERE id = ?""",
)

_SHOWN = f"""
SELECT turns.id, owner_id, conversations.guild_id, {PLACE} AS thread_id, reply_ids, trace_id
FROM turns JOIN conversations ON conversations.id = conversation_id
"""  # noqa: S608

_POSTED = f"SELECT message_id FROM posts WHERE {IN_PLACE}"  # noqa: S608
# A reply to a command shows who gave it.
_ASIDES_SHOWN = f"""{_SHOWN} WHERE conversations.guild_id = ?2 AND conversations.thread_id IS NULL
  AND conversations.channel_id IS NULL AND turns.state = 'delivered' AND reply_ids <> '[]'
  AND owner_id IN (SELECT reader_id FROM posts WHERE {IN_PLACE})
"""  # noqa: S608

_EARLIER = "SELECT 1 FROM chat_messages WHERE conversation_id = ? AND role = 'user' AND arrival < ? LIMIT 1"


# The row stays locked until the end of the transaction, so nobody takes the lease meanwhile; should this process be
# stopped in between, the server ends the transaction. Nothing that follows takes effect where the division fails.
_FENCE = """
SELECT 1 / count(*) AS held, max(patience) AS patience FROM (
  SELECT set_config('idle_in_transaction_session_timeout', '3000', true) AS patience FROM leases
  WHERE name = ? AND holder = ? AND epoch = ? FOR SHARE
) AS lease
"""


def fence() -> list[Statement]:
    """What a transaction begins with that only the holder of a lease may carry out: it fails with LEASE_LOST where the
    current task works under a lease that another holder has taken.
    """
    lease = CURRENT_LEASE.get()
    return [(_FENCE, [lease.name, lease.holder, lease.epoch])] if lease else []


async def hold_fence(transaction: Transaction) -> None:
    """Carry out the statements of `fence`.

    Raises:
        StorageError: LEASE_LOST, the current task works under a lease that another holder has taken.
    """
    for statement in fence():
        await transaction.run(*statement)


class SQLTurns:
    """TurnRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, conversation_id: str, message_ids: Sequence[str], now: datetime) -> Turn:
        turn_id = uuid.uuid4().hex
        opening = [turn_id, conversation_id, TurnState.RUNNING, time_to_text(now)]
        *_, opened, _ = await self._database.write_all(
            [
                *fence(),
                (_OPEN.format(asked=marks(message_ids, after=len(opening))), [*opening, *message_ids]),
                (_TAKE.format(asked=marks(message_ids, after=1)), [turn_id, *message_ids]),
            ]
        )
        if opened:
            return Turn(turn_id, conversation_id, opened[0]["number"], TurnState.RUNNING, now)
        if not await self._database.read("SELECT 1 FROM conversations WHERE id = ?", [conversation_id]):
            raise ConversationError(ConversationErrorCode.NOT_FOUND, "This conversation has been deleted.")
        raise ConversationError(
            ConversationErrorCode.INVALID_STATE, "That message isn't waiting for an answer any more."
        )

    async def finish(self, turn: Turn, messages: Sequence[ChatMessage] = ()) -> None:
        said = [replace(each, turn_id=turn.id, conversation_id=turn.conversation_id) for each in messages]
        before = fence()
        try:
            results = await self._database.write_all([*before, (_FINISH, _finished(turn)), *saving(said)])
        except StorageError as error:  # there can be no messages of a turn that is gone
            if error.code is not StorageErrorCode.NOT_FOUND or await self.get(turn.id):
                raise
            results = [[]] * (len(before) + 1)
        if not results[len(before)]:
            raise ConversationError(ConversationErrorCode.NOT_FOUND, "The question was deleted before it was answered.")

    async def get(self, turn_id: str) -> Turn | None:
        return entity(_turn, await self._database.read_one(f"{_SELECT} WHERE id = ?", [turn_id]))

    async def get_by_conversation(self, conversation_id: str) -> Sequence[Turn]:
        rows = await self._database.read(f"{_SELECT} WHERE conversation_id = ? ORDER BY number", [conversation_id])
        return await entities(_turn, rows)

    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[Turn]:
        rows = await self._database.read(
            f"{_SELECT} WHERE conversation_id = ?1 AND number >= {FIRST_OF_RECENT} AND ?2 > 0 ORDER BY number",
            [conversation_id, turns],
        )
        return await entities(_turn, rows)

    async def reopen(self, turn_id: str) -> None:
        async def undo(transaction: Transaction) -> None:
            await hold_fence(transaction)
            rows = await transaction.run("SELECT state FROM turns WHERE id = ?", [turn_id])
            if rows and rows[0]["state"] in WITH_AN_ANSWER:
                raise ConversationError(ConversationErrorCode.INVALID_STATE, "This question has already been answered.")
            await transaction.run(
                "UPDATE chat_messages SET turn_id = NULL WHERE turn_id = ? AND role = 'user'", [turn_id]
            )
            await transaction.run("DELETE FROM turns WHERE id = ?", [turn_id])

        await self._database.atomically(undo)

    async def forget_question(self, message_id: str, expires_at: datetime) -> Turn | None:
        async def forget(transaction: Transaction) -> Row | None:
            await hold_fence(transaction)
            await transaction.run(_REMEMBER_ID, [message_id])
            asked = await transaction.run(_ASKED, [message_id])
            if not asked:
                return None
            await _remove_repetitions(transaction, message_id, asked[0]["guild_id"])
            await transaction.run("DELETE FROM chat_messages WHERE id = ?", [message_id])
            await _take_title_back(transaction, asked[0])
            return await _leave_without_question(transaction, asked[0], expires_at)

        row = await self._database.atomically(forget)
        await self._database.forget_deleted()
        return entity(_turn, row)

    async def find_shown(self, message_id: str, channel_id: str, guild_id: str | None) -> str | None:
        row = await self._database.read_one(_SHOWN_IN, [message_id, channel_id, guild_id])
        return None if row is None else str(row["id"])

    async def forget_answer(self, turn_id: str, message_id: str) -> bool:
        async def forget(transaction: Transaction) -> bool:
            await hold_fence(transaction)
            shown = [
                row
                for row in await transaction.run(
                    f"{_SHOWN} WHERE turns.id = ? AND turns.state = 'delivered'", [turn_id]
                )
                if message_id in strings_from_text(row["reply_ids"])
            ]
            asides = [row for row in shown if row["thread_id"] is None]
            removals = [*removals_of_turns(shown), *await removals_of_asides(transaction, asides)]
            await note_removals(transaction, [each for each in removals if each.message_id != message_id], utc_now())
            if shown:
                await _forget_answer(transaction, turn_id)
            return bool(shown)

        is_forgotten = await self._database.atomically(forget)
        if is_forgotten:
            await self._database.forget_deleted()
        return is_forgotten

    async def forget_asides_in(self, guild_id: str, place_id: str) -> None:
        async def forget(transaction: Transaction) -> bool:
            await hold_fence(transaction)
            posted = {row["message_id"] for row in await transaction.run(_POSTED, [place_id])}
            rows = await transaction.run(_ASIDES_SHOWN, [place_id, guild_id])
            shown = [row["id"] for row in rows if posted.intersection(strings_from_text(row["reply_ids"]))]
            for turn_id in shown:
                await _forget_answer(transaction, turn_id)
            return bool(shown)

        if await self._database.atomically(forget):
            await self._database.forget_deleted()

    async def reword_question(self, message_id: str, text: str) -> None:
        async def reword(transaction: Transaction) -> None:
            await hold_fence(transaction)
            asked = await transaction.run(_ASKED, [message_id])
            await transaction.run("UPDATE chat_messages SET content = ? WHERE id = ?", [text, message_id])
            if asked:
                await _take_title_back(transaction, asked[0], title_from(text))
            # Of /ask, only a quotation is taken out, which may have been looked up.
            if asked and (asked[0]["channel_id"], asked[0]["thread_id"]) == (None, None):
                await forget_lookups(transaction, asked[0]["turn_id"])

        await self._database.atomically(reword)
        await self._database.forget_deleted()

    async def keep_answer(self, turn_id: str) -> bool:
        sql = "UPDATE turns SET expires_at = NULL WHERE id = ? AND asked_by IS NOT NULL RETURNING id"
        return bool(await self._database.write(sql, [turn_id]))

    async def drop_answer(self, turn_id: str) -> bool:
        return bool(await self._drop("turns.id = ? AND asked_by IS NOT NULL", turn_id))

    async def drop_expired(self, before: datetime) -> int:
        return await self._drop("expires_at IS NOT NULL AND expires_at < ?", time_to_text(before))

    async def _drop(self, condition: str, parameter: str) -> int:
        async def drop(transaction: Transaction) -> int:
            rows = await transaction.run(f"{_SHOWN} WHERE {condition}", [parameter])
            await note_removals(transaction, removals_of_turns(rows), utc_now())
            await transaction.run_many("DELETE FROM turns WHERE id = ?", [[row["id"]] for row in rows])
            return len(rows)

        dropped = await self._database.atomically(drop)
        if dropped:
            await self._database.forget_deleted()
        return dropped

    async def list_expiring(self) -> Sequence[Turn]:
        return await entities(_turn, await self._database.read(f"{_SELECT} WHERE expires_at IS NOT NULL"))

    async def begin_again(self, turn_id: str) -> Turn | None:
        async def begin(transaction: Transaction) -> Row | None:
            await hold_fence(transaction)
            await transaction.run(_BEGIN_AGAIN, [turn_id])
            rows = await transaction.run(
                f"{_SELECT} WHERE id = ? AND state = 'answered' AND asked_by IS NULL", [turn_id]
            )
            return rows[0] if rows else None

        return entity(_turn, await self._database.atomically(begin))

    async def supersede(self, turn_id: str, turn: Turn, messages: Sequence[ChatMessage]) -> None:
        async def write(transaction: Transaction) -> None:
            await hold_fence(transaction)
            old = await transaction.run("SELECT number FROM turns WHERE id = ?", [turn_id])
            if not old and await transaction.run("SELECT 1 FROM turns WHERE id = ?", [turn.id]):
                return  # the work is repeated after its commit
            if not old:
                raise ConversationError(ConversationErrorCode.NOT_FOUND, "The question was deleted meanwhile.")
            last = await transaction.run(_NUMBER, [turn.conversation_id, turn.id])
            await transaction.run(
                _INSERT,
                [
                    turn.id, turn.conversation_id, last[0]["number"], turn.state, time_to_text(turn.started_at),
                    optional_time_to_text(turn.finished_at), turn.model, usage_to_text(turn.usage),
                    strings_to_text(turn.reply_ids), turn.trace_id, turn.stopped,
                ],
            )  # fmt: skip
            await transaction.run(
                "UPDATE chat_messages SET turn_id = ? WHERE turn_id = ? AND role = 'user'", [turn.id, turn_id]
            )
            await transaction.run("DELETE FROM turns WHERE id = ?", [turn_id])
            await transaction.run("UPDATE turns SET number = ? WHERE id = ?", [old[0]["number"], turn.id])
            await write_messages(
                transaction, [replace(each, turn_id=turn.id, conversation_id=turn.conversation_id) for each in messages]
            )

        await self._database.atomically(write)
        await self._database.forget_deleted()

    async def update_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None:
        delivery = [strings_to_text(reply_ids), trace_id, turn_id]
        await self._database.write_all(
            [*fence(), ("UPDATE turns SET reply_ids = ?, trace_id = ? WHERE id = ?", delivery)]
        )

    async def list_undelivered(self, shard: Shard = ALL) -> Sequence[Turn]:
        return await entities(_turn, await self._database.read(_UNDELIVERED, shard))


async def _forget_answer(transaction: Transaction, turn_id: str) -> None:
    for row in await transaction.run(_ASKED_IN, [turn_id]):
        if row["title_source"] == TitleSource.MODEL:  # made of the question and its answer
            await _take_title_back(transaction, row, title_from(row["content"]))
    for sql in _FORGET_ANSWER:
        await transaction.run(sql, [turn_id])


async def _remove_repetitions(transaction: Transaction, question_id: str, guild_id: str | None) -> None:
    """List the bot's messages that repeat a question for removal."""
    rows = await transaction.run(REPETITIONS, [question_id])
    repeated = [Removal(RemovalKind.MESSAGE, row["channel_id"], row["message_id"], guild_id) for row in rows]
    await note_removals(transaction, repeated, utc_now())


async def _leave_without_question(transaction: Transaction, asked: Row, expires_at: datetime) -> Row | None:
    """Update a turn whose question was deleted; returns the turn as it was, or None if others asked in it as well."""
    turn_id = asked["turn_id"]
    if await transaction.run("SELECT 1 FROM chat_messages WHERE turn_id = ? AND role = 'user'", [turn_id]):
        return None
    turns = await transaction.run(f"{_SELECT} WHERE id = ?", [turn_id])
    if turns and turns[0]["state"] == TurnState.DELIVERED:
        card = {"guild_id": asked["guild_id"], "thread_id": asked["thread_id"], "reply_ids": "[]"}
        shown = removals_of_turns([card | {"trace_id": turns[0]["trace_id"]}])
        await note_removals(transaction, shown, utc_now())
        await forget_lookups(transaction, turn_id)
        await transaction.run(
            "UPDATE turns SET asked_by = ?, expires_at = ?, trace_id = NULL WHERE id = ?",
            [asked["author_id"], time_to_text(expires_at), turn_id],
        )
    else:
        await transaction.run("DELETE FROM turns WHERE id = ?", [turn_id])
    return turns[0] if turns else None


async def _take_title_back(transaction: Transaction, asked: Row, instead: str = "") -> None:
    """Remove a conversation's title that was made from this question: from its first words, or from it and its answer.

    `instead` replaces a title made of the first words, if those have changed.
    """
    if asked["title_source"] == TitleSource.PERSON or asked["title"] == UNTITLED:
        return
    if asked["title_source"] == TitleSource.MODEL:
        is_made_of_it = not await transaction.run(_EARLIER, [asked["conversation_id"], asked["arrival"]])
    else:
        is_made_of_it = asked["title"] == title_from(asked["content"])
    if is_made_of_it:
        await note_removals(transaction, await untitle(transaction, [asked], title=instead), utc_now())


def _finished(turn: Turn) -> list[Value]:
    return [
        turn.state, optional_time_to_text(turn.finished_at), turn.error, turn.model, usage_to_text(turn.usage),
        turn.stopped, strings_to_text(turn.reply_ids), turn.trace_id, turn.told, turn.id,
    ]  # fmt: skip


def _turn(row: Row) -> Turn:
    values = dict(row)
    return Turn(
        **values
        | {
            "state": TurnState(values["state"]),
            "started_at": time_from_text(values["started_at"]),
            "finished_at": optional_time_from_text(values["finished_at"]),
            "usage": usage_from_text(values["usage"]),
            "reply_ids": strings_from_text(values["reply_ids"]),
            "stopped": bool(values["stopped"]),
            "told": bool(values["told"]),
            "expires_at": optional_time_from_text(values["expires_at"]),
        }
    )
