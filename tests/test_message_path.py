"""How many of our files a message passes through, counted over a real turn: a newcomer has to read them all.

python -m tests.test_message_path     prints the files, in the order in which they are reached
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

import discord

from bot.cli.run import warm_up
from bot.providers.anthropic.client import AnthropicChat
from cogs.conversation.cog import ConversationCog
from tests.cogs.conversation.scene import scene
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.pointing import pointed_at
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Json, Reply

ROOT = Path(__file__).parents[1]
OURS = ("bot", "cogs", "domain", "storage")
MOST_FILES = 55
QUESTION = "Who put the lamp out?"


ON_ITS_WAY: ContextVar[bool] = ContextVar("ON_ITS_WAY", default=False)
"""Set in the task that handles the message, and so in every task that one begins."""


class PathOfCalls:
    """Notes the files of ours whose functions are called on the way of the question, in its tasks and in threads."""

    def __init__(self) -> None:
        self.following = False
        self.files: dict[str, None] = {}
        self._known: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not self.following or code in self._known:
            return
        if ON_ITS_WAY.get() or threading.current_thread() is not threading.main_thread():
            self._known.add(code)
            file = Path(code.co_filename)
            is_ours = file.is_relative_to(ROOT) and file.relative_to(ROOT).parts[0] in OURS
            if is_ours and code.co_name != "<module>":
                self.files[str(file.relative_to(ROOT))] = None


@contextmanager
def watched() -> Iterator[PathOfCalls]:
    """Look at the calls from the question on; in threads, which are older than it, from their beginning."""
    path, before, on_message = PathOfCalls(), sys.getprofile(), ConversationCog.on_message

    @wraps(on_message)
    async def watched_message(cog: ConversationCog, message: discord.Message) -> None:
        if message.content == QUESTION:
            path.following = True
            ON_ITS_WAY.set(True)
            sys.setprofile(path)
        await on_message(cog, message)

    threading.setprofile(path)
    try:
        with patch.object(ConversationCog, "on_message", watched_message):
            yield path
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


async def traced(folder: Path) -> list[str]:
    """The files, in the order in which a question reaches them on its way to the model."""

    def asked(body: Json) -> Reply:
        path.following = False
        return honest_reply(prompt_of(body))

    async with DiscordDouble() as discord, AnthropicDouble(asked) as api:
        chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url)
        await warm_up(chat)  # what is loaded and compiled once is none of the way, and slow while watched
        with watched() as path, pointed_at(discord):
            async with scene(discord, folder) as room:
                await room.prepare()
                with patch.object(room.model, "stream", chat.stream):
                    await room.ann.say(room.thread, QUESTION)
                    await room.until(lambda: api.requests)
                    await room.until_delivered()
        await chat.aclose()
    return [*path.files]


def test_a_message_reaches_the_model_through_few_files() -> None:
    command = [sys.executable, "-m", "tests.test_message_path"]  # threads of other tests are none of its way
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=240)
    assert 10 < len(ran.stdout.split()) <= MOST_FILES, ran.stdout


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        sys.stdout.write("\n".join([*asyncio.run(traced(Path(temporary))), ""]))
