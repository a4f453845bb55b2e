"""Whatever Discord does to a long answer on its way: no text is lost, none is doubled, and it stands in order."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cogs.conversation import worker
from cogs.delivery import writer
from cogs.permissions import timed_out_for
from domain.conversation import TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, TextBlockEnd, TextChunk
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import PATIENCE_S, Channel, DiscordDouble, Permission
from tests.doubles.discord_api.ratelimits import Window
from tests.sampling import a_few
from tests.waiting import eventually

SEND, EDIT = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
SENTENCES = [f"Sentence {number} says once more that the lamp on the island was dark." for number in range(1, 91)]
PARAGRAPHS = [" ".join(SENTENCES[at : at + 5]) + "\n\n" for at in range(0, len(SENTENCES), 5)]
ANSWER = "".join(PARAGRAPHS).strip()
LEAST_MESSAGES = 3

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, NO_PERMISSION, ARCHIVED, TOO_LATE = 10003, 10008, 50013, 50083, 10062
INVALID_BODY = 50035


@pytest.fixture(autouse=True)
def soon(double: DiscordDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    for route in (SEND, EDIT):
        double.rest.limits.windows[route] = Window(50, 1.0)
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.2, 0.4, 0.8))
    monkeypatch.setattr(writer, "BACK_OFF_S", (0.05, 0.1, 0.2))


@pytest.fixture
def expected_errors() -> list[str]:
    return ["channel"]


def numbers_in(room: Scene) -> list[int]:
    return [int(number) for text in room.said() for number in re.findall(r"Sentence (\d+) says", text)]


async def stands_once(room: Scene, turns: int = 1) -> None:
    """Until the answer stands in the thread, whole and in order, with nothing else."""
    wanted = list(range(1, len(SENTENCES) + 1))
    await room.until(lambda: numbers_in(room) == wanted)
    await room.until_delivered(turns)
    assert numbers_in(room) == wanted
    assert len(room.replies()) >= LEAST_MESSAGES
    assert not any(button.label in ("Stop", "Retry") for reply in room.replies() for button in reply.buttons)


async def ask(room: Scene) -> None:
    room.model.say([*map(TextChunk, PARAGRAPHS), TextBlockEnd(), ChatResponse(text=ANSWER)])
    await room.ann.say(room.thread, "Was the lamp dark?")


@pytest.mark.parametrize("skip", a_few([2, 0], 1), ids=["third message", "first message"])
@pytest.mark.parametrize(
    ("status", "code", "took_effect"),
    a_few(
        [
            pytest.param(429, 0, False, id="429"),
            pytest.param(500, 0, False, id="500"),
            pytest.param(502, 0, True, id="502, yet it was posted"),
            pytest.param(503, 0, False, id="503"),
            pytest.param(503, 0, True, id="503, yet it was posted"),
            pytest.param(0, 0, False, id="dropped"),
            pytest.param(0, 0, True, id="dropped, yet it was posted"),
            pytest.param(403, NO_PERMISSION, False, id="403"),
            pytest.param(404, UNKNOWN_CHANNEL, False, id="unknown channel"),
            pytest.param(400, ARCHIVED, False, id="archived"),
        ],
        3,
    ),
)
async def test_a_message_that_is_not_taken(room: Scene, status: int, code: int, took_effect: bool, skip: int) -> None:
    room.double.fail(SEND, status=status, code=code, took_effect=took_effect, skip=skip)
    await ask(room)
    await stands_once(room)


@pytest.mark.parametrize(
    ("status", "code", "took_effect"),
    a_few(
        [
            pytest.param(429, 0, False, id="429"),
            pytest.param(500, 0, False, id="500"),
            pytest.param(502, 0, True, id="502, yet it was changed"),
            pytest.param(503, 0, False, id="503"),
            pytest.param(0, 0, False, id="dropped"),
            pytest.param(0, 0, True, id="dropped, yet it was changed"),
            pytest.param(403, NO_PERMISSION, False, id="403"),
            pytest.param(404, UNKNOWN_CHANNEL, False, id="unknown channel"),
            pytest.param(400, ARCHIVED, False, id="archived"),
        ],
        3,
    ),
)
async def test_an_edit_that_is_not_taken(room: Scene, status: int, code: int, took_effect: bool) -> None:
    draft = await room.hold()
    await ask(room)
    await room.until(lambda: room.replies())
    room.double.fail(EDIT, status=status, code=code, took_effect=took_effect)
    draft.set()
    await stands_once(room)
    assert room.double.rest.faults.all_struck


async def test_a_limit_on_all_requests_is_waited_for(room: Scene) -> None:
    room.double.fail(SEND, status=429, is_global=True, retry_after=0.3, times=2)
    await ask(room)
    await stands_once(room)


async def test_an_answer_that_discord_refuses_for_good_is_named_with_the_command_that_has_it(room: Scene) -> None:
    room.double.fail(SEND, status=400, code=INVALID_BODY)
    room.model.say("It was Hobb.")
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until(lambda: room.said())
    [told] = room.said()
    assert "Discord refuses this answer" in told
    assert "/conversations export" in told
    await room.until_delivered()


async def test_a_draft_that_somebody_deletes_is_written_anew(room: Scene) -> None:
    draft = await room.hold()
    await ask(room)
    await room.until(lambda: room.replies())
    room.double.world.delete(room.replies()[0])
    draft.set()
    await stands_once(room)


async def test_a_part_that_is_finished_and_then_deleted_is_written_anew(room: Scene) -> None:
    draft = await room.hold()
    pieces = ["".join(PARAGRAPHS[:8]), *PARAGRAPHS[8:]]
    room.model.say([*map(TextChunk, pieces), TextBlockEnd(), ChatResponse(text=ANSWER)])
    await room.ann.say(room.thread, "Was the lamp dark?")
    await room.until(lambda: len(room.replies()) > 1)
    room.double.world.delete(room.replies()[0])
    await asyncio.sleep(0.1)
    draft.set()
    await stands_once(room)


@pytest.mark.parametrize("took_effect", [True, False])
async def test_who_mentions_the_bot_reads_how_to_start_once_though_discord_has_trouble(
    room: Scene, took_effect: bool
) -> None:
    room.double.fail("POST /channels/*/messages", status=503, took_effect=took_effect)
    await room.ben.say(room.double.channel, "Hello?", mention=room.double.bot)
    await room.until(lambda: len(room.double.calls("POST /channels/{channel}/messages")) >= 2)
    await room.until(lambda: room.said(room.double.channel))
    assert len(room.said(room.double.channel)) == 1


@pytest.mark.parametrize("route", ["GET /channels/*/messages/*", "PATCH /channels/*/messages/*"])
async def test_the_answer_to_an_edited_question_can_be_made_again_though_discord_has_trouble(
    room: Scene, route: str
) -> None:
    asked = await room.ann.say(room.thread, "Whi?")
    await room.until_delivered(1)
    room.double.fail(route, status=503)
    await room.ann.edit(asked, "Who?")
    await room.until(lambda: [each.label for each in room.replies()[-1].buttons] == ["Answer again"])


async def test_a_thread_is_told_that_its_book_is_removed_though_discord_has_trouble(room: Scene) -> None:
    manager, book = room.double.user("manager"), await room.book()
    manager.grant(Permission.MANAGE_GUILD)
    asked = await manager.slash("books remove", book=book.id)
    await room.until(lambda: asked.messages)
    room.double.fail("POST /channels/*/messages", status=503)
    room.double.fail("PATCH /channels/*", status=503)
    await manager.click(asked.message, label="Remove it")
    await room.until(lambda: room.thread.archived)
    assert "this conversation has ended" in room.said()[-1]


async def test_a_thread_that_is_archived_under_the_answer_is_woken(room: Scene) -> None:
    draft = await room.hold()
    await ask(room)
    await room.until(lambda: room.replies())
    await room.ann.archive(room.thread)
    draft.set()
    await stands_once(room)
    assert not room.thread.archived


@pytest.mark.parametrize("stays_archived", [True, False])
async def test_a_thread_that_is_closed_and_locked_under_the_answer_has_it_once_it_is_unlocked(
    room: Scene, monkeypatch: pytest.MonkeyPatch, stays_archived: bool
) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (10_000.0,))
    draft = await room.hold()
    await ask(room)
    await room.until(lambda: room.replies())
    await room.ann.lock(room.thread)
    draft.set()
    await room.until(lambda: any(call.status == 403 for call in room.double.calls("PATCH /channels/{channel}")))
    await asyncio.sleep(0.2)  # the worker gives up
    room.double.world.update_channel(room.thread, room.ann.user, {"locked": False, "archived": stays_archived})
    await stands_once(room)


async def test_an_outage_that_outlasts_our_patience_is_mended_by_the_next_start(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_ATTEMPTS", 3)
    async with scene(double, tmp_path) as room:
        await room.prepare()
        double.fail(SEND, status=503, skip=1, times=10_000)
        await ask(room)
        await room.until(lambda: len(double.rest.log) and double.rest.log[-1].status == 503)
    double.rest.faults.clear()
    async with again(room) as after:
        after.model.say("Not asked again.")
        await stands_once(after)
        assert after.model.requests == []


@pytest.mark.parametrize("statuses", a_few([[429, 500, 502, 0, 503], [500], [429]], 1), ids=["all sorts", "500", "429"])
async def test_an_outage_of_everything_loses_and_doubles_nothing(room: Scene, statuses: list[int]) -> None:
    """Every request fails; of the last sort, some have taken effect."""
    for _ in range(1 if len(statuses) == 1 else 200):
        for number, status in enumerate(statuses):
            times = 100_000 if len(statuses) == 1 else 1
            room.double.fail("*", status=status, times=times, took_effect=number > 1, retry_after=0.2)
    other = room.ben
    for number in range(1, 4):
        room.model.say(f"Answer {number}.")
        await room.ann.say(room.thread, f"Question {number}?")
        await other.say(room.thread, f"And {number}?", mention=room.double.bot)
        await asyncio.sleep(0.7)
    room.double.rest.faults.clear()
    async with asyncio.timeout(PATIENCE_S):
        while await room.app.chat.waiting((await room.conversation()).id) or any(
            turn.state is not TurnState.DELIVERED for turn in await room.turns()
        ):
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    kept = await room.kept()
    assert [each for each in kept if each.startswith("And")] == [f"And {number}?" for number in range(1, 4)]
    answers = [each for each in kept if not each.startswith(("And", "Question"))]
    assert [each for each in room.said() if not each.startswith("There's more than one of you")] == answers
    posted = [each for turn in await room.turns() for each in turn.reply_ids]
    assert len(posted) == len(set(posted)) == len(answers)


async def test_of_two_answers_that_read_alike_each_keeps_its_own_messages(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_ATTEMPTS", 3)
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await ask(room)
        await stands_once(room)
        parts = len(room.replies())
        release = await room.hold()
        await ask(room)
        await room.until_asked(2)
        await room.ann.say(room.thread, "Was it?")
        await room.until(lambda: len(room.replies()) > parts)
        double.fail(SEND, status=503, skip=parts - 1, times=10_000)
        release.set()
        await room.until(lambda: sum(call.status == 503 for call in double.calls(SEND)) >= writer.MOST_ATTEMPTS)
    double.rest.faults.clear()
    async with again(room) as after:
        await after.until(lambda: numbers_in(after) == [*range(1, len(SENTENCES) + 1)] * 3)
        await after.until_delivered(3)
        posted = [each for turn in await after.turns() for each in turn.reply_ids]
        assert sorted(posted) == sorted(str(reply.id) for reply in after.replies())


def home(room: Scene) -> Channel:
    assert room.thread.parent is not None
    return room.thread.parent


def hush(room: Scene, lost: Permission = Permission.SEND_MESSAGES_IN_THREADS) -> None:
    """The bot may not write in threads any more."""
    room.double.world.forbid(home(room), room.double.bot, lost)


def let_speak(room: Scene, given: Permission = Permission.SEND_MESSAGES_IN_THREADS) -> None:
    room.double.world.allow(home(room), room.double.bot, given)


async def refused(room: Scene) -> None:
    """Until Discord has not let the bot say something."""
    await room.until(lambda: any(call.status == 403 for call in room.double.calls(SEND)))


async def held_up(room: Scene) -> None:
    """Until the answer is made, and is not shown."""
    await refused(room)
    await eventually(room.turns, lambda turns: [turn.state for turn in turns] == [TurnState.ANSWERED])


async def silenced(room: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is made and may not be shown; nothing but a new permission or a new message brings the bot back."""
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (10_000.0,))
    hush(room)
    await ask(room)
    await held_up(room)


async def test_when_the_permission_is_back_the_answer_comes_at_once_and_once(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await silenced(room, monkeypatch)
    let_speak(room)
    await stands_once(room)
    assert len(room.model.requests) == 1


async def test_a_question_while_a_retry_is_to_come_brings_no_second_one(
    room: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (1.0, 10_000.0))
    hush(room)
    await ask(room)
    await held_up(room)
    before = len(room.double.calls(SEND))
    await room.ann.say(room.thread, "Are you there?")
    await room.until(lambda: len(room.double.calls(SEND)) > before)
    await asyncio.sleep(0.2)  # the worker gives up
    let_speak(room)
    await room.until_delivered(2)
    await asyncio.sleep(1.2)  # the time of the retry
    assert [each for each in caplog.records if each.name == "asyncio"] == []


async def test_when_the_permission_comes_with_a_role_it_is_the_same(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await silenced(room, monkeypatch)
    room.double.world.grant(room.double.guild, room.double.bot, Permission.ADMINISTRATOR)
    await stands_once(room)


async def test_when_a_moderator_ends_a_timeout_of_the_bot_it_is_the_same(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.0,))
    until = await timed_out(room)
    await ask(room)
    await held_up(room)
    refused = await room.ann.slash("chat", book=(await room.book()).id, message="Who?")
    assert refused.text.startswith(f"I'm in timeout on this server until <t:{int(until.timestamp())}:f>.")
    room.double.world.time_out(room.double.guild, room.double.bot, None)
    await stands_once(room)


async def test_a_timeout_of_the_bot_is_waited_for_because_nobody_tells_of_its_end(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def over_soon(place: object) -> float:
        waits.append(timed_out_for(place))
        room.double.guild.members[room.double.bot.id].timed_out_until = None
        return 0.1

    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.0,))
    monkeypatch.setattr(worker, "timed_out_for", over_soon)
    await timed_out(room)
    await ask(room)
    await stands_once(room)
    assert 3000.0 < waits[0] <= 3600.0


async def timed_out(room: Scene) -> datetime:
    """A moderator has put the bot in timeout for an hour."""
    until = datetime.now(UTC) + timedelta(hours=1)
    room.double.world.time_out(room.double.guild, room.double.bot, until)
    await room.until(lambda: room.state.bot.guilds[0].me.is_timed_out())
    return until


async def test_when_a_locked_thread_is_unlocked_it_is_the_same(room: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (10_000.0,))
    world = room.double.world
    room.double.fail(SEND, status=403, code=NO_PERMISSION)
    await ask(room)
    await held_up(room)
    world.update_channel(room.thread, room.ann.user, {"locked": True})
    world.update_channel(room.thread, room.ann.user, {"locked": False})
    await stands_once(room)


@pytest.mark.parametrize("lost", [Permission.VIEW_CHANNEL, Permission.CREATE_PUBLIC_THREADS])
async def test_a_refusal_names_only_what_is_missing(room: Scene, lost: Permission) -> None:
    room.double.world.forbid(room.double.channel, room.double.bot, lost)
    refused = await room.ann.slash("chat", book=(await room.book()).id, message="Who?")
    named = {Permission.VIEW_CHANNEL: "View Channels", Permission.CREATE_PUBLIC_THREADS: "Create Public Threads"}
    assert f"I'm missing permissions here: “{named[lost]}”. Somebody" in refused.text


@pytest.mark.parametrize(
    ("lost", "rename", "delete"),
    [
        (Permission.VIEW_CHANNEL, "need “View Channels”.", "need “View Channels” and “Manage Threads”."),
        (Permission(0), "need “Manage Threads”.", "need “Manage Threads”."),
    ],
)
async def test_what_keeps_a_thread_from_being_changed_is_named(
    room: Scene, lost: Permission, rename: str, delete: str
) -> None:
    hush(room, lost)
    if not lost:
        room.double.fail("PATCH /channels/{channel}", status=403, code=NO_PERMISSION)
    renamed = await room.ann.slash("conversations rename", channel=room.thread, title="New")
    await room.until(lambda: rename in renamed.text)
    asked = await room.ann.slash("conversations delete", channel=room.thread)
    await room.until(lambda: asked.messages and asked.messages[0].buttons)
    await room.ann.click(asked.messages[0], label="Delete it")
    await room.until(lambda: delete in asked.text)


async def test_threads_need_no_permission_to_write_in_their_channel(room: Scene) -> None:
    double = room.double
    double.world.forbid(double.channel, double.bot, Permission.SEND_MESSAGES)
    opened = await room.chat(await room.book(), title="Quiet")
    await room.ann.say(opened, "Who?")
    await room.until_said("I do not know.", thread=opened)


@pytest.mark.parametrize(
    ("lost", "named"),
    [
        (Permission.SEND_MESSAGES_IN_THREADS, "“Send Messages in Threads”"),
        (Permission.VIEW_CHANNEL, "“View Channels”"),
    ],
)
async def test_whoever_presses_retry_is_told_why_no_answer_comes(room: Scene, lost: Permission, named: str) -> None:
    room.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."), "It was Hobb.")
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: [button.label for reply in room.replies() for button in reply.buttons] == ["Retry"])
    [failed] = room.replies()
    hush(room, lost)
    room.double.fail(EDIT, status=403, code=NO_PERMISSION)
    pressed = await room.ann.click(failed, label="Retry")
    await room.until(lambda: pressed.messages)
    assert pressed.ephemeral
    assert "I'll post my answer" in pressed.text
    assert named in pressed.text
    let_speak(room, lost)
    await room.until_said("It was Hobb.")
    await room.until_delivered()
    await room.until(lambda: "I'll post my answer" not in pressed.text)


async def test_a_press_of_retry_that_came_too_late_for_an_acknowledgement_is_carried_out(room: Scene) -> None:
    room.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."), "It was Hobb.")
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: [button.label for reply in room.replies() for button in reply.buttons] == ["Retry"])
    room.double.fail(CALLBACK, status=404, code=TOO_LATE)
    await room.ann.click(room.replies()[0], label="Retry", wait=False)
    await room.until_said("It was Hobb.")
    await room.until_delivered()


async def test_whoever_asks_with_a_command_is_told_why_no_answer_comes(room: Scene) -> None:
    """Discord lets the bot post its card and the question, and then nothing more."""
    room.double.fail(SEND, status=403, code=NO_PERMISSION, skip=2)
    room.model.say("It was Hobb.")
    known = {thread.id for thread in room.double.threads()}
    asked = await room.ann.slash("chat", book=(await room.book()).id, title="More", message="Who?")
    await room.until(lambda: "I'll post my answer" in asked.text)
    [opened] = [thread for thread in room.double.threads() if thread.id not in known]
    await room.until_said("", "It was Hobb.", thread=opened)
    await room.until_delivered(thread=opened)
    await room.until(lambda: "I'll post my answer" not in asked.text)


async def test_the_next_message_is_answered_after_what_was_held_up(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", ())
    room.double.fail(SEND, status=403, code=NO_PERMISSION)
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: room.double.rest.faults.all_struck)
    await room.ann.say(room.thread, "And when?")
    await room.until_said("I do not know.", "I do not know.")
    await room.until_delivered(2)


async def test_nothing_more_is_asked_while_an_answer_cannot_be_shown(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await silenced(room, monkeypatch)
    before = len(room.double.calls(SEND))
    room.model.say("At night.")
    await room.ann.say(room.thread, "And when?")
    await room.until(lambda: len(room.double.calls(SEND)) > before)
    assert len(room.model.requests) == 1
    let_speak(room)
    await room.until_delivered(2)
    assert len(room.model.requests) == 2
    assert room.said()[-1] == "At night."
