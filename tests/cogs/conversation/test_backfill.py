"""After a crash, a stop or an absence: every message has exactly one answer, in what stands already."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cogs import errors
from cogs.conversation import backfill, worker
from domain.chat import ChatMessage, MessageRole
from domain.conversation import TitleSource, Turn, TurnState
from domain.tool_use import TextChunk
from storage.opening import open_storage
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.scripted_chat import call, calls
from tests.sampling import a_few
from tests.waiting import eventually

TOGETHER = "There's more than one of you here now, so I'll only answer when you mention me or reply to me."
LONG = "The lamp on the island was dark that night, and nobody knew why; the keeper had not come back from the sea."


@pytest.fixture
async def gone(double: DiscordDouble, tmp_path: Path) -> Scene:
    """A bot that was here and is away now; Ann has her thread."""
    async with scene(double, tmp_path) as room:
        await room.prepare()
        room.model.say("Before.")
        await room.ann.say(room.thread, "Were you here?")
        await room.until_said("Before.")
        await room.until_delivered()
    return room


async def settled(room: Scene, turns: int) -> None:
    await room.until_delivered(turns)
    await asyncio.sleep(0.1)


class TestAbsence:
    async def test_what_was_written_meanwhile_is_answered(self, gone: Scene) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        await gone.ann.say(gone.thread, "Hello?")
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)
            assert await room.kept() == ["Were you here?", "Before.", "Are you here?", "Hello?", "I do not know."]

    async def test_people_who_have_joined_meanwhile_are_told_how_to_ask(self, gone: Scene) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        await gone.ben.say(gone.thread, "It is away.")
        await gone.ann.say(gone.thread, "Hello?")
        async with again(gone) as room:
            await room.until_said("Before.", TOGETHER, "I do not know.")
            await settled(room, 2)
            assert await room.kept() == ["Were you here?", "Before.", "Are you here?", "I do not know."]

    async def test_where_nothing_was_written_nothing_is_said(self, gone: Scene) -> None:
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
            await asyncio.sleep(0.2)
            assert room.said() == ["Before."]
            assert len(room.double.calls("GET /channels/{channel}/messages")) == 1
            assert len(room.model.requests) == 0

    async def test_who_has_mentioned_it_in_the_channel_is_told_how_to_start_once(self, gone: Scene) -> None:
        channel = gone.double.channel
        await gone.ben.say(channel, "anybody there?", mention=gone.double.bot)
        asked = await gone.ben.say(channel, "who was it?", mention=gone.double.bot)
        await gone.ann.say(channel, "It is away.")
        for _ in range(2):
            async with again(gone) as room:
                await room.until(lambda: "Which book is it about?" in "".join(gone.said(channel)))
                await asyncio.sleep(0.2)
        [told] = [each for each in gone.replies(channel) if each.reference is not None]
        assert told.reference is asked

    async def test_a_mention_of_long_ago_is_left_alone(self, gone: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        await gone.ben.say(gone.double.channel, "who was it?", mention=gone.double.bot)
        monkeypatch.setattr(backfill, "MENTIONED_WITHIN", timedelta(0))
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
            await asyncio.sleep(0.2)
            assert not [each for each in room.replies(room.double.channel) if each.reference is not None]

    async def test_a_long_absence_from_a_busy_thread_loses_nothing_that_is_for_the_bot(self, gone: Scene) -> None:
        await gone.ben.say(gone.thread, "It is away.")
        for number in range(130):
            await gone.ann.say(gone.thread, f"Talk {number}")
        await gone.ben.say(gone.thread, "who was it?", mention=gone.double.bot)
        async with again(gone) as room:
            await room.until_said("Before.", TOGETHER, "I do not know.")
            await settled(room, 2)
            assert await room.kept() == ["Were you here?", "Before.", "who was it?", "I do not know."]

    async def test_messages_in_a_thread_that_is_archived_now_are_answered(self, gone: Scene) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        await gone.ann.archive(gone.thread)
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_thread_that_discord_does_not_name_is_read_on(
        self, gone: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        monkeypatch.setattr(gone.thread, "archived", True)
        async with again(gone) as room:
            monkeypatch.setattr(gone.thread, "archived", False)
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    @pytest.mark.parametrize("status", a_few([0, 500, 503], 1))
    async def test_a_thread_is_read_on_though_discord_stumbles(self, gone: Scene, status: int) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        gone.double.fail("GET /channels/{channel}/messages", status=status)
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_stop_does_not_take_the_connection_from_under_the_reading(self, gone: Scene) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        gone.double.fail("GET /channels/{channel}/messages", status=503)
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
        await asyncio.sleep(errors.WAITS_S[0] + 0.1)  # would ask again by now; the log must hold no error
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_thread_that_could_not_be_read_is_read_later(
        self, gone: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(errors, "WAITS_S", ())
        monkeypatch.setattr(backfill, "READ_AGAIN_AFTER_S", (0.1, 0.1))
        await gone.ann.say(gone.thread, "Are you here?")
        gone.double.fail("GET /channels/{channel}/messages", status=503, times=2)
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_question_whose_thread_could_not_be_found_is_answered_later(
        self, gone: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(errors, "WAITS_S", ())
        monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.1, 0.1))
        await gone.ann.say(gone.thread, "Are you here?")
        await gone.ann.archive(gone.thread)
        gone.double.fail("GET /channels/{channel}", status=503, times=2)
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_it_is_read_in_order_before_what_comes_now(
        self, gone: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await gone.ann.say(gone.thread, "One?")
        await gone.ann.archive(gone.thread)
        monkeypatch.setattr(backfill, "ASLEEP_AT_MOST", 0)
        async with again(gone) as room:
            await room.ann.say(room.thread, "Two?")
            await room.until(lambda: len(room.said()) >= 2)
            await settled(room, 2)
            assert await room.kept() == ["Were you here?", "Before.", "One?", "Two?", "I do not know."]

    async def test_in_company_only_what_is_for_the_bot(self, gone: Scene) -> None:
        await gone.ben.say(gone.thread, "It is away.")
        await gone.ann.say(gone.thread, "So it is.")
        await gone.ben.say(gone.thread, "who was it?", mention=gone.double.bot)
        async with again(gone) as room:
            await room.until_said("Before.", TOGETHER, "I do not know.")
            await settled(room, 2)
            assert await room.kept() == ["Were you here?", "Before.", "who was it?", "I do not know."]

    async def test_a_new_session_reads_on_too(self, gone: Scene) -> None:
        async with again(gone) as room:
            await asyncio.sleep(0.2)
            await room.double.gateway.drop()
            room.double.gateway.sessions.clear()
            await room.ann.say(room.thread, "Are you here?")
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)
            assert room.double.gateway.identifies == 3

    async def test_a_session_that_goes_on_with_a_gap_reads_on(self, gone: Scene) -> None:
        async with again(gone) as room:
            await asyncio.sleep(0.2)
            await room.double.gateway.drop()
            await room.ann.say(room.thread, "Are you here?")
            session = list(room.double.gateway.sessions.values())[-1]
            session.events = [event for event in session.events if event["t"] != "MESSAGE_CREATE"]
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)
            assert room.double.gateway.resumes == 1

    @pytest.mark.parametrize("status", a_few([403, 503], 1))
    async def test_who_writes_in_a_thread_that_cannot_be_read_is_answered(
        self, gone: Scene, monkeypatch: pytest.MonkeyPatch, status: int
    ) -> None:
        monkeypatch.setattr(errors, "WAITS_S", ())
        monkeypatch.setattr(backfill, "READ_AGAIN_AFTER_S", (0.5, 0.5))
        await gone.ann.say(gone.thread, "Are you here?")
        gone.double.fail("GET /channels/{channel}/messages", status=status, times=2)
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
            await room.ann.say(room.thread, "Hello?")
            await room.until_said("Before.", "I do not know.", "I do not know.")
            await settled(room, 3)
            assert {"Are you here?", "Hello?"} <= {*await room.kept()}

    async def test_a_thread_that_cannot_be_read_does_not_keep_others_waiting(self, gone: Scene) -> None:
        await gone.ann.say(gone.thread, "Are you here?")
        gone.double.fail("GET /channels/{channel}/messages", status=403)
        async with again(gone) as room:
            other = await room.chat(await room.book())
            await room.ann.say(other, "And here?")
            await room.until_said("I do not know.", thread=other)
            await room.ann.say(room.thread, "Hello?")
            await room.until(lambda: len(room.said()) == 2)
            assert "Are you here?" in await room.kept()


class Crash:
    """What a bot that was killed leaves in the storage and in the thread."""

    def __init__(self, room: Scene) -> None:
        self.room = room

    async def __aenter__(self) -> "Crash":
        self.stack = AsyncExitStack()
        url = f"sqlite:///{self.room.folder / 'marginalia.db'}"
        self.storage = await self.stack.enter_async_context(await open_storage(url))
        found = await self.storage.conversations.get_by_thread(str(self.room.thread.id))
        assert found is not None
        self.conversation = found
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()

    async def begun(self, question: str = "Who?") -> Turn:
        """A turn that was running."""
        said = await self.room.ann.say(self.room.thread, question)
        now = self.conversation.created_at
        message = ChatMessage(
            f"question {said.id}",
            self.conversation.id,
            MessageRole.USER,
            question,
            now,
            author_id=str(self.room.ann.id),
            external_id=str(said.id),
        )
        await self.storage.messages.add_incoming(message)
        return await self.storage.turns.begin(self.conversation.id, [message.id], now)

    async def answered(self, text: str = LONG, question: str = "Who?") -> Turn:
        """A turn whose answer is kept and not delivered."""
        turn = await self.begun(question)
        now = self.conversation.created_at
        answer = ChatMessage(f"answer {turn.id}", self.conversation.id, MessageRole.ASSISTANT, text, now)
        await self.storage.turns.finish(replace(turn, state=TurnState.ANSWERED), [answer])
        return turn

    def posted(self, content: str, custom_id: str = "") -> str:
        """A message of the bot that stands in the thread."""
        button = {"type": 2, "style": 4, "label": "Stop", "custom_id": custom_id}
        rows = [{"type": 1, "components": [button]}] if custom_id else []
        world = self.room.double.world
        return str(world.post(self.room.thread, world.bot, content, components=rows).id)


class TestCrash:
    async def test_an_interrupted_turn_is_made_anew_in_the_message_that_stands(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            reply = crash.posted("-# 📖 reading …", f"do:stop:{turn.id}")
            await crash.storage.turns.update_delivery(turn.id, [reply], None)
        async with again(gone) as room:
            await room.until(lambda: room.said() == ["Before.", "I do not know."])
            await settled(room, 2)
            assert str(room.replies()[-1].id) == reply
            assert [button.label for button in room.replies()[-1].buttons] == ["Try again"]

    async def test_an_interrupted_turn_finds_its_message_although_it_was_not_recorded(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            reply = crash.posted(LONG, f"do:stop:{turn.id}")
        async with again(gone) as room:
            await room.until(lambda: room.said() == ["Before.", "I do not know."])
            await settled(room, 2)
            assert str(room.replies()[-1].id) == reply

    async def test_an_interrupted_turn_is_made_anew_in_its_message_after_several_crashes(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            reply = crash.posted(LONG, f"do:stop:{turn.id}")
            await crash.storage.turns.reopen(turn.id)
        async with again(gone) as room:
            await room.until(lambda: room.said() == ["Before.", "I do not know."])
            await settled(room, 2)
            assert str(room.replies()[-1].id) == reply

    async def test_an_answer_that_was_not_delivered_is_delivered(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            await crash.answered()
        async with again(gone) as room:
            await room.until_said("Before.", LONG)
            await settled(room, 2)
            assert room.model.requests == []

    async def test_a_draft_of_it_becomes_the_answer(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.answered()
            reply = crash.posted(LONG[:50], f"do:stop:{turn.id}")
        async with again(gone) as room:
            await room.until_said("Before.", LONG)
            await settled(room, 2)
            assert str(room.replies()[-1].id) == reply

    async def test_an_answer_that_stands_and_was_not_noted_is_not_said_again(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            await crash.answered()
            reply = crash.posted(LONG)
        gone.double.advance(3600)
        async with again(gone) as room:
            await settled(room, 2)
            assert room.said() == ["Before.", LONG]
            assert (await room.turns())[-1].reply_ids == (reply,)

    async def test_a_failure_nobody_was_told_of_is_tried_again(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            await crash.storage.turns.finish(replace(turn, state=TurnState.FAILED, error="overloaded"))
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_failure_that_was_told_stays(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            reply = crash.posted("⚠️ Too busy.", f"do:retry:{turn.id}")
            await crash.storage.turns.finish(replace(turn, state=TurnState.FAILED, told=True, reply_ids=(reply,)))
        async with again(gone) as room:
            await asyncio.sleep(0.3)
            assert room.said() == ["Before.", "⚠️ Too busy."]
            assert room.model.requests == []

    async def test_a_card_of_tool_calls_is_used_again(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            await crash.storage.conversations.save(replace(crash.conversation, verbose=True))
            turn = await crash.begun()
            card = crash.posted("", f"tc:{turn.id}:0:0:1")
        shown = next(each for each in gone.double.messages(gone.thread) if str(each.id) == card)
        shown.embeds = [{"description": "⏳ 1 search_book …", "type": "rich"}]
        async with again(gone) as room:
            room.model.say(calls(call("search_book", query="lamp")), "I found nothing.")
            await settled(room, 2)
            assert shown.embed_texts[0].startswith("▸ 1 search_book")
            assert room.said() == ["Before.", "", "I found nothing."]

    async def test_a_card_that_has_no_use_any_more_goes(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            crash.posted("", f"tc:{turn.id}:0:0:1")
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            await settled(room, 2)

    async def test_a_question_that_waited_is_answered_though_its_thread_sleeps(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            turn = await crash.begun()
            await crash.storage.turns.reopen(turn.id)
        await gone.ann.archive(gone.thread)
        async with again(gone) as room:
            await room.until_said("Before.", "I do not know.")
            assert not room.thread.archived

    async def test_a_conversation_of_the_terminal_is_left_alone(self, gone: Scene) -> None:
        async with Crash(gone) as crash:
            unbound = replace(crash.conversation, id="terminal", thread_id=None, guild_id=None)
            await crash.storage.conversations.save(unbound)
            message = ChatMessage("m", "terminal", MessageRole.USER, "Who?", unbound.created_at)
            await crash.storage.messages.add_incoming(message)
            turn = await crash.storage.turns.begin("terminal", ["m"], unbound.created_at)
        async with again(gone) as room:
            await asyncio.sleep(0.3)
            kept = await room.app.storage.turns.get(turn.id)
            assert kept is not None
            assert kept.state is TurnState.RUNNING


class TestStop:
    async def test_an_answer_that_is_being_made_goes_on_after_the_next_start(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            await room.hold()
            room.model.say([TextChunk(LONG)])
            await room.ann.say(room.thread, "Who?")
            await room.until(lambda: room.said() and room.said()[0].startswith(LONG[:30]))
        [paused] = room.replies()
        assert "I'm restarting" in paused.content
        async with again(room) as after:
            await after.until(
                lambda: (
                    after.said() == ["I do not know."] and [button.label for button in paused.buttons] == ["Try again"]
                )
            )
            await settled(after, 1)
            assert await after.kept() == ["Who?", "I do not know."]

    async def test_an_answer_that_is_made_is_delivered_first(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            double.round_trip = 0.3
            await room.ann.say(room.thread, "Who?")
            while not any(turn.state is TurnState.ANSWERED for turn in await room.turns()):
                await asyncio.sleep(0.005)
        assert room.said() == ["I do not know."]
        double.round_trip = 0.0
        async with again(room) as after:
            assert [turn.state for turn in await after.turns()] == [TurnState.DELIVERED]

    async def test_it_does_not_take_long_even_if_discord_is_away(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            double.fail("POST /channels/{channel}/messages", status=503, times=99)
            await room.ann.say(room.thread, "Who?")
            while not any(turn.state is TurnState.ANSWERED for turn in await room.turns()):
                await asyncio.sleep(0.005)
            began = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - began < 10
        double.rest.faults.clear()
        async with again(room) as after:
            await after.until_said("I do not know.")
            await settled(after, 1)


class TestNames:
    """A thread that a person renames while the bot does not see it."""

    async def title(self, room: Scene, wanted: str) -> None:
        await eventually(room.conversation, lambda talk: talk.title == wanted)
        assert (await room.conversation()).title_source is TitleSource.PERSON

    async def test_its_name_is_taken_over_at_the_next_start(self, gone: Scene) -> None:
        await gone.ann.rename(gone.thread, "By hand")
        await gone.ann.rename(gone.thread, "By hand, twice")
        async with again(gone) as room:
            await self.title(room, "By hand, twice")

    async def test_the_name_of_an_archived_thread_is_taken_over_at_the_next_start(self, gone: Scene) -> None:
        await gone.ann.rename(gone.thread, "By hand")
        await gone.ann.archive(gone.thread)
        async with again(gone) as room:
            await self.title(room, "By hand")

    async def test_the_name_of_a_thread_reopened_under_another_name_is_taken_over(self, gone: Scene) -> None:
        await gone.ann.archive(gone.thread)
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
            room.double.world.update_channel(room.thread, room.ann.user, {"archived": False, "name": "By hand"})
            await self.title(room, "By hand")

    async def test_a_title_that_was_chosen_since_stays(self, gone: Scene) -> None:
        await gone.ann.rename(gone.thread, "By hand")
        async with again(gone) as room:
            await self.title(room, "By hand")
            await room.app.conversations.rename((await room.conversation()).id, "Chosen")
        async with again(room) as after:
            await after.until(lambda: len(after.double.calls("GET /channels/{channel}/messages")) == 2)
            await asyncio.sleep(0.2)
            await self.title(after, "Chosen")

    async def test_what_the_bot_itself_calls_it_is_no_choice_of_a_persons(self, gone: Scene) -> None:
        gone.double.world.update_channel(gone.thread, gone.double.bot, {"name": "A title of ours"})
        async with again(gone) as room:
            await room.until(lambda: room.double.calls("GET /channels/{channel}/messages"))
            await asyncio.sleep(0.2)
            assert (await room.conversation()).title == "Talk"
