"""A foreign tool that may change something is called only after its asker has pressed Allow."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.chat import MessageRole
from domain.turn import state
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import DiscordDouble, Message
from tests.doubles.scripted_chat import call, calls

ROOT = Path(__file__).parents[3]
SERVERS = f"double=PYTHONPATH={ROOT} {sys.executable} -m tests.doubles.mcp_server"


@pytest.fixture
async def room(double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """A scene with the tools of a server."""
    monkeypatch.setattr("bot.mcp.tools.FIRST_TRY_S", 30.0)
    async with scene(double, tmp_path, mcp_servers=SERVERS) as opened:
        await opened.prepare()
        yield opened


async def question_in(room: Scene) -> Message:
    """The message that asks for leave, once it is there."""
    await room.until(lambda: [reply for reply in room.replies() if "may I use" in reply.content])
    return room.replies()[-1]


async def asked(room: Scene) -> Message:
    room.model.say(calls(call("double_echo", text="a note `for` @everyone")), "Noted.")
    await room.ann.say(room.thread, "Please note this.")
    return await question_in(room)


async def result_in(room: Scene) -> str:
    (result,) = [each.content for each in await room.history() if each.role is MessageRole.TOOL_RESULT]
    return result


async def test_its_message_shows_tool_and_arguments_and_allow_carries_it_out(room: Scene) -> None:
    question = await asked(room)
    assert f"<@{room.ann.id}>, may I use **double_echo**?" in question.content
    assert '"text": "a note' in question.content
    assert [button.label for button in question.buttons] == ["Allow", "Refuse", "Stop"]
    await room.ann.click(question, label="Allow")
    await room.until_delivered()
    assert await result_in(room) == "a note `for` @everyone"
    assert room.said() == ["Noted."]
    assert [button.label for button in question.buttons] == ["Try again"]


async def test_refuse_leaves_it_undone_and_tells_the_model(room: Scene) -> None:
    await room.ann.click(await asked(room), label="Refuse")
    await room.until_delivered()
    assert "The reader refused this call. Nothing was done" in await result_in(room)


async def test_nobody_else_decides(room: Scene) -> None:
    question = await asked(room)
    pressed = await room.ben.click(question, label="Allow")
    await room.until(lambda: pressed.messages)
    assert "Only the person who asked can decide this." in pressed.text
    await room.ann.click(question, label="Allow")
    await room.until_delivered()


async def test_without_a_word_nothing_is_done(room: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "APPROVAL_S", 2.0)
    question = await asked(room)
    await room.until_delivered()
    assert "did not say whether this call is allowed" in json.loads(await result_in(room))["error"]
    assert room.said() == ["Noted."]
    assert [button.label for button in question.buttons] == ["Try again"]


async def test_two_calls_at_once_are_asked_for_one_after_the_other(room: Scene) -> None:
    room.model.say(calls(call("double_echo", "a", text="one"), call("double_echo", "b", text="two")), "Both.")
    await room.ann.say(room.thread, "Please note both.")
    first = await question_in(room)
    assert '"text": "one"' in first.content
    await room.ann.click(first, label="Refuse")
    await room.until(lambda: '"text": "two"' in room.replies()[-1].content)
    await room.ann.click(room.replies()[-1], label="Allow")
    await room.until_delivered()
    results = [each.content for each in await room.history() if each.role is MessageRole.TOOL_RESULT]
    assert "refused" in results[0]
    assert results[1] == "two"


async def test_stop_ends_the_waiting(room: Scene) -> None:
    question = await asked(room)
    await room.ann.click(question, label="Stop")
    await room.until_delivered()
    assert [button.label for button in question.buttons] == ["Try again"]


async def test_servers_that_are_trusted_ask_nobody(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.mcp.tools.FIRST_TRY_S", 30.0)
    async with scene(double, tmp_path, mcp_servers=SERVERS, mcp_trusted="double") as opened:
        await opened.prepare()
        opened.model.say(calls(call("double_echo", text="x")), "Noted.")
        await opened.ann.say(opened.thread, "Please note this.")
        await opened.until_delivered()
        assert await result_in(opened) == "x"
