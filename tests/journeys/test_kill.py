"""The program is killed again and again while it answers; nothing is lost, nothing is said twice, nothing is damaged.

Several terminals share one database, and every history has to pass the strict double of the model's API.
"""

import asyncio
import json
import random
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from domain.chat import MessageRole
from domain.conversation import TurnState
from storage.opening import Storage, open_storage
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Json, Reply
from tests.journeys.forked import Forked
from tests.journeys.terminal import Terminal

TERMINALS = 3
WAVES = 4
"""Twelve kills, more where hardly any process was at work when it was killed; then everybody is let finish."""

EARLY = 0.3
"""The share of those struck before they have begun; the others are let begin, and struck as they search or write."""

LONGEST_LIFE_S = 1.0
"""A process is killed within this time of its first sign of life."""

LOOK_S = 0.005

QUESTION = "Who drives the cart, and what does the sea do? ({})"


@dataclass(frozen=True)
class Talking:
    """`marginalia chat` at work in a process of its own."""

    process: Forked
    out: Path

    @property
    def objects(self) -> list[Json]:
        """What it has said so far, a JSON object a line; a line that is not finished is left out."""
        return [json.loads(line) for line in self.out.read_text().split("\n")[:-1]]

    async def says(self, event: str) -> None:
        """Wait until it says that, or has ended."""
        while self.process.is_alive and event not in {each["event"] for each in self.objects}:
            await asyncio.sleep(LOOK_S)


def talking(terminal: Terminal, name: str, *arguments: str, stdin: str, **environment: str) -> Talking:
    """Start `marginalia` with these arguments; `name` is that of the files with its input and output."""
    given, out, err = (terminal.write(f"{name}.{end}", text) for end, text in (("in", stdin), ("out", ""), ("err", "")))
    with given.open("rb") as read, out.open("ab") as said, err.open("ab") as failed:
        process = Forked(arguments, terminal.environment(**environment), terminal.folder, (read, said, failed))
    return Talking(process, out)


@pytest.fixture
async def slow_model() -> AsyncIterator[AnthropicDouble]:
    def handler(body: Json) -> Reply:
        reply = honest_reply(prompt_of(body))
        return Reply(reply.parts, pace=0.01)

    async with AnthropicDouble(handler) as api:
        yield api


async def test_killed_at_any_moment_every_question_has_one_answer(tmp_path: Path, slow_model: AnthropicDouble) -> None:
    terminal = Terminal(tmp_path)
    environment = {
        "ANTHROPIC_API_KEY": slow_model.api_key,
        "ANTHROPIC_BASE_URL": slow_model.base_url,
        "HISTORY_MESSAGES": "1000",
    }
    talks = [ran.objects[0]["id"] for ran in await asyncio.gather(*(beginning(terminal) for _ in range(TERMINALS)))]
    chance = random.Random()
    struck_at_work = 0
    for wave in count():
        if wave >= WAVES and struck_at_work > TERMINALS:
            break
        lives = [live_and_die(terminal, talk, QUESTION.format(wave), chance.random(), environment) for talk in talks]
        struck_at_work += sum(await asyncio.gather(*lives))
        await assert_sound(tmp_path)
    for talk in talks:
        last = talking(terminal, talk, "chat", "--json", "--conversation", talk, stdin="Goodbye?\n", **environment)
        assert await last.process.end() == 0, last.objects
        await assert_all_answered_once(tmp_path, talk)


async def beginning(terminal: Terminal) -> Talking:
    """A conversation, begun with nothing said; all of them begin at once, with a shelf that is empty."""
    begun = talking(terminal, uuid.uuid4().hex, "chat", "--json", stdin="")
    assert await begun.process.end() == 0
    return begun


async def live_and_die(
    terminal: Terminal, talk: str, question: str, chance: float, environment: dict[str, str]
) -> bool:
    """Ask in a process of its own and kill it at a random moment. Whether it was struck while a turn ran."""
    life = talking(terminal, talk, "chat", "--json", "--conversation", talk, stdin=f"{question}\n", **environment)
    await life.says("conversation" if chance < EARLY else "turn_started")
    await asyncio.sleep(chance * LONGEST_LIFE_S)
    await life.process.kill()
    said = [event["event"] for event in life.objects]
    return said.count("turn_started") > said.count("answer")


async def assert_sound(folder: Path) -> None:
    async with await opened(folder) as storage:
        assert await storage.integrity_check() == []


async def assert_all_answered_once(folder: Path, talk: str) -> None:
    async with await opened(folder) as storage:
        history = await storage.messages.get_by_conversation(talk)
        turns = await storage.turns.get_by_conversation(talk)
    asked = [message for message in history if message.role is MessageRole.USER]
    assert max(Counter(message.content for message in asked).values()) == 1, "a question is kept twice"
    assert asked[-1].content == "Goodbye?"
    assert {turn.state for turn in turns} == {TurnState.DELIVERED}
    assert {message.turn_id for message in asked} == {turn.id for turn in turns}
    answers = [m for m in history if m.role is MessageRole.ASSISTANT and not m.tool_invocations]
    assert Counter(answer.turn_id for answer in answers) == Counter(turn.id for turn in turns)


async def opened(folder: Path) -> Storage:
    return await open_storage(f"sqlite:///{folder / 'data' / 'marginalia.db'}")
