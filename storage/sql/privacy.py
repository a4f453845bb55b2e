"""Everything kept about a person, in SQL: copied for that person, or erased.

PERSONAL is the only list of where that is. A table that holds people's ids and is not in the list fails a test.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from domain.book import is_personal
from domain.conversation import UNTITLED
from domain.records import Erasure, PersonalPost, PostingPlace, Removal, RemovalKind
from storage.sql.database import Database, Row, Statement, Transaction
from storage.sql.erasure import keep_spent, note_erasure, note_removals, removals_of_turns, unquote, was_erased
from storage.sql.rows import (
    IN_PLACE,
    LINK_QUESTION,
    strings_from_text,
    time_from_text,
    time_to_text,
    title_mark,
    utc_now,
)


@dataclass(frozen=True, slots=True)
class PersonalColumn:
    """A column with people's ids, optionally behind a `prefix`, and what exporting and erasing do with its rows.

    `copy` selects the rows of the person `?1` under the name `part`. `erase` may be blank where another statement
    already deletes the rows.
    """

    table: str
    column: str
    part: str
    copy: str
    erase: str
    prefix: str = ""


# The longest-standing other member becomes the host.
_HAND_OVER = """
UPDATE clubs SET host_id = coalesce((
  SELECT reader_id FROM club_members
  WHERE club_id = clubs.id AND reader_id <> ?1 AND left_at IS NULL ORDER BY joined_at, reader_id LIMIT 1), '')
WHERE host_id = ?1
"""

# Its card is then drawn without that member.
_DRAW_ANEW = "UPDATE clubs SET look_at = '' WHERE id IN (SELECT club_id FROM club_members WHERE reader_id = ?1)"

_THEIR_TURNS = "SELECT DISTINCT turn_id FROM chat_messages WHERE author_id = ?1 AND turn_id IS NOT NULL"

PERSONAL = (
    PersonalColumn(
        "positions",
        "reader_id",
        "positions",
        """SELECT books.title AS book, book_id, state, read_to
        FROM positions JOIN books ON books.id = book_id WHERE reader_id = ?1 ORDER BY books.created_at, books.rowid""",
        "DELETE FROM positions WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "books",
        "shelf",
        "own_books",
        """SELECT id, title, author, format, filename, created_at
        FROM books WHERE shelf = 'person:' || ?1 ORDER BY created_at, rowid""",
        "DELETE FROM books WHERE shelf = 'person:' || ?1",
        prefix="person:",
    ),
    PersonalColumn(
        "conversations",
        "guild_id",
        "own_conversations",
        """SELECT conversations.id, conversations.title, books.title AS book, conversations.created_at
        FROM conversations JOIN books ON books.id = book_id
        WHERE guild_id = 'person:' || ?1 ORDER BY conversations.created_at, conversations.rowid""",
        "DELETE FROM conversations WHERE guild_id = 'person:' || ?1",
        prefix="person:",
    ),
    PersonalColumn(
        "usage",
        "guild_id",
        "own_usage",
        "SELECT at, model, input_tokens, output_tokens FROM usage WHERE guild_id = 'person:' || ?1 ORDER BY at, id",
        "UPDATE usage SET guild_id = NULL, conversation_id = NULL WHERE guild_id = 'person:' || ?1",
        prefix="person:",
    ),
    PersonalColumn(
        "books",
        "added_by",
        "books_added",
        """SELECT id, shelf, title, author, format, filename, created_at
        FROM books WHERE added_by = ?1 ORDER BY created_at, rowid""",
        "UPDATE books SET added_by = '' WHERE added_by = ?1",
    ),
    PersonalColumn(
        "conversations",
        "owner_id",
        "conversations",
        """SELECT conversations.id, conversations.title, books.title AS book, guild_id, thread_id,
          conversations.created_at
        FROM conversations JOIN books ON books.id = book_id
        WHERE owner_id = ?1 ORDER BY conversations.created_at, conversations.rowid""",
        "UPDATE conversations SET owner_id = '' WHERE owner_id = ?1",
    ),
    PersonalColumn(
        "chat_messages",
        "author_id",
        "messages",
        """SELECT conversation_id, conversations.title AS conversation, chat_messages.created_at, author_name, note,
          content, external_id
        FROM chat_messages JOIN conversations ON conversations.id = conversation_id
        WHERE author_id = ?1 ORDER BY arrival""",
        "DELETE FROM chat_messages WHERE author_id = ?1",
    ),
    PersonalColumn(
        "shown_questions",
        "reader_id",
        "questions_shown_in",
        "SELECT channel_id, message_id, repeated FROM shown_questions WHERE reader_id = ?1 ORDER BY message_id",
        "DELETE FROM shown_questions WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "turns",
        "asked_by",
        "answers_without_question",
        """SELECT turns.conversation_id, content, expires_at
        FROM turns JOIN chat_messages ON turn_id = turns.id
        WHERE asked_by = ?1 AND role = 'assistant' ORDER BY arrival""",
        "DELETE FROM turns WHERE asked_by = ?1",
    ),
    PersonalColumn(
        "present",
        "reader_id",
        "present_in",
        """SELECT conversation_id, conversations.title AS conversation, written_at, absent_since
        FROM present JOIN conversations ON conversations.id = conversation_id
        WHERE reader_id = ?1 ORDER BY conversations.created_at, conversations.rowid""",
        "DELETE FROM present WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "books",
        "removed_by",
        "books_removed",
        """SELECT id, title, removed_at
        FROM books WHERE removed_at IS NOT NULL AND removed_by = ?1 ORDER BY removed_at, rowid""",
        "UPDATE books SET removed_by = '' WHERE removed_at IS NOT NULL AND removed_by = ?1",
    ),
    PersonalColumn(
        "clubs",
        "host_id",
        "clubs_hosted",
        """SELECT books.title AS book, guild_id, channel_id, clubs.created_at
        FROM clubs JOIN books ON books.id = book_id WHERE host_id = ?1 ORDER BY clubs.created_at, clubs.rowid""",
        _HAND_OVER,
    ),
    PersonalColumn(
        "club_members",
        "reader_id",
        "clubs",
        """SELECT books.title AS book, guild_id, channel_id, joined_at, checked_in_at, hidden, left_at,
          CASE host_id WHEN reader_id THEN 1 ELSE 0 END AS host
        FROM club_members JOIN clubs ON clubs.id = club_id JOIN books ON books.id = book_id
        WHERE reader_id = ?1 ORDER BY joined_at, clubs.rowid""",
        "DELETE FROM club_members WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "votes",
        "asker_id",
        "votes",
        """SELECT guild_id, channel_id, choices, created_at, ends_at
        FROM votes WHERE asker_id = ?1 ORDER BY created_at, rowid""",
        "UPDATE votes SET asker_id = '' WHERE asker_id = ?1",
    ),
    PersonalColumn(
        "usage",
        "reader_id",
        "usage",
        """SELECT at, guild_id, conversation_id, model, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, cost_microdollars
        FROM usage WHERE reader_id = ?1 ORDER BY at, id""",
        "UPDATE usage SET reader_id = '' WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "readers",
        "id",
        "preferences",
        'SELECT "verbose", locale, opted_out FROM readers WHERE id = ?1',
        'UPDATE readers SET "verbose" = NULL, locale = NULL WHERE id = ?1',
    ),
    PersonalColumn(
        "posts",
        "reader_id",
        "shown_in",
        "SELECT guild_id, channel_id, message_id, name FROM posts WHERE reader_id = ?1 ORDER BY message_id",
        "DELETE FROM posts WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "open_replies",
        "reader_id",
        "replies_in_the_making",
        "SELECT guild_id, channel_id, began_at, about FROM open_replies WHERE reader_id = ?1 ORDER BY began_at, id",
        "DELETE FROM open_replies WHERE reader_id = ?1",
    ),
    PersonalColumn(
        "removals",
        "reader_id",
        "to_be_removed",
        """SELECT kind, guild_id, channel_id, message_id, noted_at, refused_at
        FROM removals WHERE reader_id = ?1 ORDER BY noted_at, channel_id, message_id""",
        "",  # each row is deleted when it is done, and after thirty days
    ),
)
"""Every column with people's ids, in the order in which they are erased."""

IMPERSONAL = frozenset({
    "allowances", "book_objects", "club_posts", "club_sections", "derived_texts", "erasures", "forgotten_messages",
    "greeted_servers", "left_servers", "locks", "posting_places", "salts", "servers", "spent_tokens",
})  # fmt: skip
"""Tables without personal data; `allowances`, `erasures`, `locks` and `spent_tokens` hold hashes of ids, for a day."""

_ANSWERS = f"""
SELECT chat_messages.conversation_id, chat_messages.created_at, content
FROM chat_messages WHERE turn_id IN ({_THEIR_TURNS}) AND role = 'assistant' AND content <> '' ORDER BY arrival
"""  # noqa: S608

_ALONE = """
SELECT conversations.id, guild_id, thread_id, books.title AS book FROM conversations JOIN books ON books.id = book_id
WHERE owner_id = ?1 AND NOT EXISTS (
  SELECT 1 FROM chat_messages
  WHERE conversation_id = conversations.id AND role = 'user' AND author_id NOT IN ('', ?1))
  AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation_id = conversations.id AND asked_by <> ?1)
"""

_THEIR_MESSAGES = f"(author_id = ?1 OR turn_id IN ({_THEIR_TURNS}))"

PLACE = "CASE WHEN guild_id LIKE 'person:%' THEN channel_id ELSE thread_id END"
"""Where a conversation is shown: in its thread, or in direct messages."""

_REPLIES = f"""
SELECT conversations.guild_id, {PLACE} AS thread_id, turns.reply_ids, turns.trace_id
FROM turns JOIN conversations ON conversations.id = conversation_id
WHERE turns.id IN ({_THEIR_TURNS}) OR asked_by = ?1 ORDER BY turns.conversation_id, turns.number
"""  # noqa: S608

_NAMED = """SELECT conversations.title, books.title AS book FROM conversations JOIN books ON books.id = book_id
WHERE thread_id = ?"""

_COMPARED = 90  # characters of a name: threads bear long ones cut off
_SHOWN = "SELECT message_id, channel_id, guild_id, name, words FROM posts WHERE reader_id = ?1"
# A title made from the person's words, or chosen by them, is erased too.
_TITLED = f"""
SELECT conversations.id, guild_id, thread_id, books.title AS book
FROM conversations JOIN books ON books.id = book_id
WHERE conversations.title <> ?2 AND (owner_id = ?1
  OR (title_source <> 'person' AND conversations.id IN (
    SELECT conversation_id FROM chat_messages WHERE {_THEIR_MESSAGES})))
"""  # noqa: S608

_LET_OTHERS_WAIT = f"""
UPDATE chat_messages SET turn_id = NULL WHERE role = 'user' AND author_id <> ?1 AND turn_id IN (
  SELECT id FROM turns WHERE id IN ({_THEIR_TURNS}) AND (state = 'running' OR (state <> 'delivered' AND told = 0)))
"""  # noqa: S608

_REMEMBER_NOTHING_BUT_IDS = f"""
INSERT INTO forgotten_messages (external_id, conversation_id)
SELECT external_id, conversation_id FROM chat_messages WHERE {_THEIR_MESSAGES} AND external_id IS NOT NULL
ON CONFLICT DO NOTHING
"""  # noqa: S608

_NOTE_POST = """
INSERT INTO posts (message_id, reader_id, channel_id, guild_id, name, thread_id, words) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (message_id, reader_id) DO UPDATE
SET name = CASE excluded.name WHEN '' THEN posts.name ELSE excluded.name END,
  words = CASE excluded.words WHEN 0 THEN posts.words ELSE excluded.words END
"""

_TO_REMOVE = "SELECT kind, channel_id, message_id, guild_id, reader_id, name, refused_at FROM removals WHERE"
_IN_ORDER = "ORDER BY noted_at, channel_id, message_id"

AGAIN_AFTER = timedelta(days=1)
"""When to retry what Discord refused; somebody may have granted the permission by then."""


class SQLPrivacy:
    """PrivacyRepository in SQL."""

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._now = now

    async def export(self, reader_id: str) -> dict[str, Any]:
        kept: dict[str, Any] = {"reader_id": reader_id, "verbose": None, "language": None, "left_out": False}
        for each in PERSONAL:
            kept[each.part] = await self._copied(each.copy, reader_id)
        kept["answers"] = await self._copied(_ANSWERS, reader_id)
        for chosen in kept.pop("preferences"):
            kept["verbose"] = None if chosen["verbose"] is None else bool(chosen["verbose"])
            kept |= {"language": chosen["locale"], "left_out": bool(chosen["opted_out"])}
        return kept

    async def _copied(self, sql: str, reader_id: str) -> list[dict[str, Any]]:
        """The empty id stands for everybody unknown."""
        return [dict(row) for row in await self._database.read(sql, [reader_id])] if reader_id else []

    async def erase(self, reader_id: str, written_before: datetime | None = None) -> Erasure:
        if not reader_id:
            return Erasure()
        now = self._now()

        async def erase(transaction: Transaction) -> Erasure:
            await note_erasure(transaction, reader_id, now, written_before or now)
            return await _erase(transaction, reader_id, now)

        erased = await self._database.atomically(erase)
        await self._database.forget_deleted()
        return erased

    async def note_posts(self, posts: Iterable[PersonalPost]) -> bool:
        known = list(posts)
        return await self._database.atomically(lambda transaction: _note_posts(transaction, known, self._now()))

    async def note_place(self, place: PostingPlace, forget_before: datetime | None = None) -> None:
        note = "INSERT INTO posting_places (channel_id, at, guild_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        statements: list[Statement] = [(note, [place.channel_id, time_to_text(place.at), place.guild_id])]
        if forget_before:
            statements.append(("DELETE FROM posting_places WHERE at < ?", [time_to_text(forget_before)]))
        await self._database.write_all(statements)

    async def list_places(self) -> Sequence[PostingPlace]:
        rows = await self._database.read("SELECT channel_id, guild_id, at FROM posting_places ORDER BY at, channel_id")
        return [PostingPlace(row["channel_id"], row["guild_id"], time_from_text(row["at"])) for row in rows]

    async def forget_posts(self, message_id: str) -> None:
        if await self._database.read_one("SELECT 1 FROM posts WHERE message_id = ?", [message_id]):
            await self._database.write("DELETE FROM posts WHERE message_id = ?", [message_id])

    async def forget_posts_in(self, channel_id: str) -> None:
        await self._database.write(f"DELETE FROM posts WHERE {IN_PLACE}", [channel_id])  # noqa: S608

    async def list_removals(self) -> Sequence[Removal]:
        sql = f"{_TO_REMOVE} refused_at < ? {_IN_ORDER}"
        rows = await self._database.read(sql, [time_to_text(self._now() - AGAIN_AFTER)])
        return [_removal(row) for row in rows]

    async def list_removals_for(self, reader_id: str) -> Sequence[Removal]:
        rows = await self._database.read(f"{_TO_REMOVE} reader_id = ? {_IN_ORDER}", [reader_id])
        return [_removal(row) for row in rows] if reader_id else []

    async def removed(self, removal: Removal) -> None:
        place = [removal.channel_id, removal.message_id]
        await self._database.write("DELETE FROM removals WHERE channel_id = ? AND message_id = ?", place)
        await self._database.forget_deleted()  # it holds the name of somebody who was erased

    async def refused(self, removal: Removal) -> None:
        await self._database.write(
            "UPDATE removals SET refused_at = ? WHERE channel_id = ? AND message_id = ?",
            [time_to_text(self._now()), removal.channel_id, removal.message_id],
        )


async def _note_posts(transaction: Transaction, posts: Iterable[PersonalPost], now: datetime) -> bool:
    late: list[Removal] = []
    for each in posts:
        by_platform = not each.as_of_turn
        if each.as_of and await was_erased(transaction, each.reader_id, each.as_of, by_platform=by_platform):
            kind = RemovalKind.MESSAGE if each.repeats else RemovalKind.MENTION
            late.append(Removal(kind, each.channel_id, each.message_id, each.guild_id, each.reader_id, each.name))
        elif (
            each.thread_id and each.name and await _name_was_taken_back(transaction, each.thread_id, each.name)
        ) or not await _has_its_questions(transaction, each):
            late.append(Removal(RemovalKind.MESSAGE, each.channel_id, each.message_id, each.guild_id))
        else:
            name = "" if each.thread_id else each.name  # a thread's name may be somebody's words
            row = (each.message_id, each.reader_id, each.channel_id, each.guild_id, name, each.thread_id)
            await transaction.run(_NOTE_POST, [*row, bool(each.repeats)])
    await note_removals(transaction, late, now)
    return not late


async def _has_its_questions(transaction: Transaction, post: PersonalPost) -> bool:
    """Note which questions a message repeats; False if all of them have been deleted meanwhile."""
    link = LINK_QUESTION.format(repeated=1)
    noted = [await transaction.run(link, [post.message_id, post.channel_id, each, ""]) for each in post.repeats]
    return any(noted) or not noted


async def _name_was_taken_back(transaction: Transaction, thread_id: str, name: str) -> bool:
    """Whether the conversation of a thread is gone or has no title any more, so that the name is nobody's now."""
    rows = await transaction.run(_NAMED, [thread_id])
    return all(row["title"] == UNTITLED and row["book"][:_COMPARED] != name[:_COMPARED] for row in rows)


async def removals_of_asides(transaction: Transaction, rows: Iterable[Row], reader_id: str = "") -> list[Removal]:
    """The messages that show turns of /ask to everybody; rows have `owner_id` and `reply_ids`."""
    replies = {message_id: row["owner_id"] for row in rows for message_id in strings_from_text(row["reply_ids"])}
    posts = [row for owner in {*replies.values()} for row in await transaction.run(_SHOWN, [owner])]
    return [
        Removal(RemovalKind.MESSAGE, row["channel_id"], row["message_id"], row["guild_id"], reader_id)
        for row in posts
        if row["message_id"] in replies
    ]


_RENAMES = "SELECT message_id, channel_id, guild_id FROM posts WHERE thread_id = ?"


async def untitle(transaction: Transaction, rows: Iterable[Row], reader_id: str = "", title: str = "") -> list[Removal]:
    """Remove the titles of conversations, and return what has to change on Discord.

    Rows have `id`, `guild_id`, `thread_id` and the title of the `book`, the name of threads without another `title`.
    """
    removals = []
    for row in rows:
        await transaction.run(
            "UPDATE conversations SET title = ?, title_mark = ?, title_source = 'automatic', updated_at = ? "
            "WHERE id = ?",
            [title or UNTITLED, title_mark(row["id"], title or UNTITLED), time_to_text(utc_now()), row["id"]],
        )
        if (thread_id := row["thread_id"]) and not is_personal(row["guild_id"]):
            name = title or row["book"]
            removals.append(Removal(RemovalKind.THREAD_NAME, thread_id, "", row["guild_id"], reader_id, name))
            removals += await _telling_the_name(transaction, thread_id, reader_id)
    return removals


async def _telling_the_name(transaction: Transaction, thread_id: str, reader_id: str) -> list[Removal]:
    """Discord's system messages about threads that the bot opened or renamed."""
    return [
        Removal(RemovalKind.MESSAGE, row["channel_id"], row["message_id"], row["guild_id"], reader_id)
        for row in await transaction.run(_RENAMES, [thread_id])
    ]


async def _erase(transaction: Transaction, reader_id: str, now: datetime) -> Erasure:
    written = await transaction.run("SELECT count(*) AS written FROM chat_messages WHERE author_id = ?", [reader_id])
    await keep_spent(transaction, reader_id, now)
    removals = removals_of_turns(await transaction.run(_REPLIES, [reader_id]), reader_id)
    removals += [_removal_of_post(row, reader_id) for row in await transaction.run(_SHOWN, [reader_id])]
    alone = await _delete_conversations_alone(transaction, reader_id, removals)
    removals += await untitle(transaction, await transaction.run(_TITLED, [reader_id, UNTITLED]), reader_id)
    await unquote(transaction, reader_id)
    await transaction.run(_LET_OTHERS_WAIT, [reader_id])
    await transaction.run(_REMEMBER_NOTHING_BUT_IDS, [reader_id])
    await transaction.run(f"DELETE FROM turns WHERE id IN ({_THEIR_TURNS})", [reader_id])  # noqa: S608
    await transaction.run(_DRAW_ANEW, [reader_id])
    await transaction.run("DELETE FROM readers WHERE id = ?1 AND opted_out = 0", [reader_id])
    for each in PERSONAL:
        if each.erase:
            await transaction.run(each.erase, [reader_id])
    await note_removals(transaction, removals, now)
    return Erasure(messages=int(written[0]["written"]), conversations=alone)


async def _delete_conversations_alone(transaction: Transaction, reader_id: str, removals: list[Removal]) -> int:
    """Delete the conversations that nobody else took part in; return how many there were."""
    rows = await transaction.run(_ALONE, [reader_id])
    for row in rows:
        if row["thread_id"] and not is_personal(row["guild_id"]):
            removals.append(Removal(RemovalKind.THREAD, row["thread_id"], "", row["guild_id"], reader_id, row["book"]))
            removals += await _telling_the_name(transaction, row["thread_id"], reader_id)
    await transaction.run_many("DELETE FROM conversations WHERE id = ?", [[row["id"]] for row in rows])
    return len(rows)


def _removal_of_post(row: Row, reader_id: str) -> Removal:
    kind = RemovalKind.MESSAGE if row["words"] else RemovalKind.MENTION
    return Removal(kind, row["channel_id"], row["message_id"], row["guild_id"], reader_id, row["name"])


def _removal(row: Row) -> Removal:
    values = dict(row)
    refused = bool(values.pop("refused_at"))
    return Removal(**values | {"kind": RemovalKind(row["kind"]), "refused": refused})
