"""The process is killed at any moment: the file is sound, nothing that was promised is lost, every history is valid."""

import asyncio
import random
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest

from domain.chat import ChatMessage, MessageRole
from domain.conversation import TurnState
from storage.opening import Storage, open_storage
from tests.sampling import a_few
from tests.storage.values import furnish

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize("kills", a_few([5, 20], 1))
async def test_killed_at_any_moment(tmp_path: Path, kills: int) -> None:
    url = f"sqlite:///{tmp_path / 'marginalia.db'}"
    async with await open_storage(url) as storage:
        await furnish(storage)
    chance = random.Random()
    promised: list[str] = []
    for _ in range(kills):
        promised += await _promises_of_a_killed_writer(url, seconds=chance.random() * 0.15)
        async with await open_storage(url) as storage:
            assert await storage.integrity_check() == []
            history = await storage.messages.get_by_conversation("tea")
            assert set(promised) <= {message.id for message in history}
            await _check_turns(storage, history)
    assert len(promised) > kills


async def _promises_of_a_killed_writer(url: str, seconds: float) -> list[str]:
    """Start a writer, wait until it writes and then that long, kill it; the ids it said were kept."""
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.sqlite.endless_writer", url, cwd=PROJECT, stdout=asyncio.subprocess.PIPE
    )
    assert writer.stdout is not None
    first = await writer.stdout.readline()
    await asyncio.sleep(seconds)
    writer.kill()
    *lines, _unfinished = (first + await writer.stdout.read()).decode().split("\n")
    await writer.wait()
    assert lines, "the writer wrote nothing"
    return lines


async def _check_turns(storage: Storage, history: Sequence[ChatMessage]) -> None:
    states = {turn.id: turn.state for turn in await storage.turns.get_by_conversation("tea")}
    for turn_id, members in groupby(history, key=lambda message: message.turn_id):
        messages = list(members)
        if turn_id is None or states[turn_id] is TurnState.RUNNING:
            assert [message.role for message in messages] == [MessageRole.USER] * len(messages)
            continue
        _question, call, result, answer = messages
        assert [call.role, result.role, answer.role] == [
            MessageRole.ASSISTANT,
            MessageRole.TOOL_RESULT,
            MessageRole.ASSISTANT,
        ]
        assert [invocation.tool_use_id for invocation in call.tool_invocations] == [result.tool_use_id]
        assert not answer.tool_invocations
