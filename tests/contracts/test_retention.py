"""What every storage promises of erasing what is not to be kept any longer."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain.clubs.plan import Section
from domain.conversation import TurnState
from domain.records import LimitedAction, UsageRecord
from domain.tool_use import TokenUsage
from storage.opening import Storage
from storage.sql.erasure import SQLRetention
from tests.contracts.test_clubs import a_club
from tests.storage.values import a_book, a_conversation, a_question, at, everything_said, furnish, hold_turn, ids_of

A_DAY = 24 * 60


@pytest.fixture(autouse=True)
async def table(storage: Storage) -> None:
    await furnish(storage)


async def deliver(storage: Storage, name: str, conversation_id: str = "tea") -> None:
    turn = await hold_turn(storage, name, conversation_id)
    await storage.turns.finish(replace(turn, state=TurnState.DELIVERED))


def _with_conversation(number: int, conversation_id: str) -> Callable[[Section], Section]:
    return lambda each: replace(each, conversation_id=conversation_id) if each.number == number else each


class TestConversations:
    async def test_those_nobody_writes_in_go_with_all_that_was_said(self, storage: Storage) -> None:
        await deliver(storage, "first")
        await storage.conversations.save(a_conversation("new", created_at=at(A_DAY)))
        assert await storage.retention.erase_conversations(at(A_DAY)) == 1
        assert [each.id for each in await storage.conversations.get_by_book("alice")] == ["new"]
        assert await ids_of(storage) == []
        assert await storage.books.get("alice")
        assert await storage.integrity_check() == []

    async def test_one_that_somebody_wrote_in_since_stays_whole(self, storage: Storage) -> None:
        await deliver(storage, "first")
        await storage.messages.add_incoming(a_question("late", created_at=at(2 * A_DAY)))
        assert await storage.retention.erase_conversations(at(A_DAY)) == 0
        assert len(await ids_of(storage)) == 3

    async def test_what_waits_in_a_thread_will_be_answered(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation(thread_id="1"))
        await storage.messages.add_incoming(a_question())
        assert await storage.retention.erase_conversations(at(A_DAY)) == 0
        await storage.conversations.save(a_conversation(thread_id=None))
        assert await storage.retention.erase_conversations(at(A_DAY)) == 1

    @pytest.mark.parametrize(
        ("state", "told", "goes"),
        [
            (TurnState.RUNNING, False, False),
            (TurnState.ANSWERED, False, False),
            (TurnState.FAILED, False, False),
            (TurnState.FAILED, True, True),
            (TurnState.DELIVERED, False, True),
        ],
    )
    async def test_what_is_under_way_in_a_thread_is_left_alone(
        self, storage: Storage, state: TurnState, told: bool, goes: bool
    ) -> None:
        await storage.conversations.save(a_conversation(thread_id="1"))
        turn = await hold_turn(storage, "first")
        await storage.turns.finish(replace(turn, state=state, told=told))
        assert await storage.retention.erase_conversations(at(A_DAY)) == goes

    async def test_a_turn_that_runs_now_is_left_alone_wherever_it_is(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        await storage.turns.begin("tea", ["question"], at(2 * A_DAY))
        assert await storage.retention.erase_conversations(at(A_DAY)) == 0

    async def test_those_of_a_running_club_stay_until_somebody_has_written_in_them(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        for number, name in enumerate(("section 1", "section 2"), 1):
            await storage.conversations.save(a_conversation(name, thread_id=name, guild_id="1"))
            await storage.clubs.change_sections("club", _with_conversation(number, name))
        await deliver(storage, "first", "section 1")
        await storage.conversations.delete("tea")
        assert await storage.retention.erase_conversations(at(A_DAY)) == 1
        assert [each.id for each in await storage.conversations.get_by_book("alice")] == ["section 2"]
        await storage.clubs.end("club", at(0))
        assert await storage.retention.erase_conversations(at(A_DAY)) == 1

    async def test_those_that_never_got_their_thread_go(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation("unopened", owner_id="4711"))
        await storage.conversations.save(a_conversation("opened", owner_id="4711", guild_id="1", thread_id="2"))
        await storage.conversations.save(a_conversation("deleted thread", owner_id="4711", guild_id="1"))
        await storage.conversations.save(a_conversation("terminal", owner_id="terminal"))
        await storage.conversations.save(a_conversation("fresh", owner_id="4711", created_at=at(A_DAY)))
        assert await storage.retention.erase_unopened(at(60)) == 1
        assert await storage.conversations.get("unopened") is None


class TestToolCalls:
    async def said(self, storage: Storage, state: TurnState = TurnState.DELIVERED) -> None:
        await storage.messages.add_incoming(a_question())
        turn = await storage.turns.begin("tea", ["question"], at(0))
        await storage.turns.finish(replace(turn, state=state, finished_at=at(1)), everything_said())

    async def test_calls_and_results_go_and_the_answer_stays(self, storage: Storage) -> None:
        await self.said(storage)
        assert await storage.retention.erase_tool_calls(at(2)) == 1
        question, answer = await storage.messages.get_by_conversation("tea")
        assert (question.content, answer.content) == (a_question().content, "Nobody knows (p. 97).")
        assert answer.citations
        assert answer.raw is None
        assert await storage.retention.erase_tool_calls(at(2)) == 0

    async def test_a_turn_that_ended_since_keeps_them(self, storage: Storage) -> None:
        await self.said(storage)
        assert await storage.retention.erase_tool_calls(at(1)) == 0
        assert len(await ids_of(storage)) == 4

    async def test_a_turn_that_is_not_delivered_keeps_them(self, storage: Storage) -> None:
        await self.said(storage, TurnState.ANSWERED)
        assert await storage.retention.erase_tool_calls(at(2)) == 0


class TestPlaces:
    async def test_a_conversation_goes_so_long_after_its_thread_or_channel_unless_it_is_found_again(
        self, storage: Storage
    ) -> None:
        for name in ("thread", "channel", "found", "there"):
            place = {"thread": "7", "channel": "8", "found": "9"}.get(name, "10")
            await storage.conversations.save(
                a_conversation(name, guild_id="1", channel_id="5" if name == "channel" else "6", thread_id=place)
            )
        for place in ("7", "5", "9", "unknown"):
            await storage.conversations.note_gone("1", place, at(0))
        assert await storage.conversations.note_gone("2", "10", at(0)) == 0
        assert await storage.conversations.note_gone("1", "7", at(A_DAY)) == 0
        await storage.conversations.note_found("found")
        assert await storage.retention.erase_gone(at(0)) == 0
        assert await storage.retention.erase_gone(at(1)) == 2
        assert {each.id for each in await storage.conversations.get_by_guild("1")} == {"found", "there"}


class TestServers:
    async def test_a_server_is_known_by_what_is_kept_of_it(self, storage: Storage) -> None:
        await storage.books.save(a_book("shelved", shelf="11"))
        await storage.books.save(a_book("own", shelf="person:12"))
        await storage.conversations.save(a_conversation("talk", guild_id="13"))
        assert set(await storage.retention.list_servers()) == {"11", "13"}

    async def test_it_is_over_so_long_after_it_was_left_unless_the_bot_is_back(self, storage: Storage) -> None:
        await storage.retention.note_left(["11", "13"])
        before = await storage.retention.list_left(datetime.now(UTC) - timedelta(days=1))
        assert list(before) == []
        await storage.retention.note_back(["11", "12"])
        assert list(await storage.retention.list_left(datetime.now(UTC) + timedelta(days=1))) == ["13"]
        assert list(await storage.retention.list_left(None)) == []

    async def test_one_that_is_to_go_at_once_goes_wherever_the_bot_is(self, storage: Storage) -> None:
        await storage.retention.note_to_erase("11")
        await storage.retention.note_back(["11"])
        await storage.retention.note_left(["11"])
        assert list(await storage.retention.list_left(None)) == ["11"]
        await storage.retention.erase_server("11")
        assert list(await storage.retention.list_left(None)) == []


async def test_notes_of_what_could_not_be_removed_go_in_the_end(storage: Storage) -> None:
    await storage.conversations.save(a_conversation(guild_id="1", thread_id="2", owner_id="hatter"))
    await storage.privacy.erase("hatter")
    await storage.retention.erase_notes(datetime.now(UTC) - timedelta(days=30))
    assert await storage.privacy.list_removals()
    await storage.retention.erase_notes(datetime.now(UTC) + timedelta(minutes=1))
    assert await storage.privacy.list_removals() == []


async def test_what_counts_for_a_day_goes_though_nobody_does_anything_more(storage: Storage) -> None:
    now = datetime.now(UTC)
    await storage.allowances.take("hatter", LimitedAction.ASK, 1, timedelta(hours=1), now)
    await storage.retention.erase_notes(now - timedelta(days=30))
    assert await storage.allowances.take("hatter", LimitedAction.ASK, 1, timedelta(hours=1), now)
    next_day = SQLRetention(storage.engine, lambda: now + timedelta(days=1, minutes=1))
    await next_day.erase_notes(now - timedelta(days=30))
    for table in ("allowances", "locks"):
        assert await storage.engine.read(f"SELECT at FROM {table}") == []


async def test_what_an_erased_person_has_used_is_known_until_the_day_ends(storage: Storage) -> None:
    now = datetime.now(UTC)
    await storage.usage.record(UsageRecord(now, "model", TokenUsage(100, 10), "hatter"))
    await storage.privacy.erase("hatter")
    await storage.retention.erase_notes(now - timedelta(days=30))
    assert await storage.usage.spent_before_erasure("hatter", now) == 110
    next_day = SQLRetention(storage.engine, lambda: now + timedelta(days=1))
    await next_day.erase_notes(now - timedelta(days=30))
    assert await storage.usage.spent_before_erasure("hatter", now) == 0
    assert await storage.engine.read("SELECT person FROM spent_tokens") == []
    salts = await storage.engine.read("SELECT value FROM salts WHERE name < 'a'")
    assert salts == [], "without its salt, a hash says nothing"


async def test_nothing_is_erased_where_there_is_nothing(storage: Storage) -> None:
    await storage.books.save(a_book("other"))
    assert await storage.retention.erase_tool_calls(at(A_DAY)) == 0
    assert await storage.retention.erase_conversations(at(-A_DAY)) == 0
