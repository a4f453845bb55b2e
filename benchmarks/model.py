"""The double of the model's API in a process of its own, and the program connected to it."""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from bot.app import SAMPLE, App, open_app
from bot.cli.run import warm_up
from bot.settings import load_settings
from domain.event import Answer
from domain.turn.chat_with_book import Reader

QUESTION = "Where does Kit Varley lift his hat, and why?"
READER = Reader("bench", "Bench")


@contextlib.asynccontextmanager
async def double(module: str = "tests.doubles.anthropic_api") -> AsyncIterator[str]:
    """Serve the double of a module; yields its URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, "--port", "0"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def program(url: str, database: str = "") -> AsyncIterator[App]:
    """The program with an empty folder, as warm as the bot is when it goes online; without `database` it has SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(
            _env_file=None,
            data_dir=Path(folder),
            database_url=database,
            anthropic_api_key="sk-ant-double",
            anthropic_base_url=url,
        )
        async with open_app(settings) as app:
            await warm_up(app.provider)
            yield app


async def conversations(app: App, count: int) -> list[str]:
    """The ids of new conversations on the sample novel."""
    book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)).book
    return [(await app.conversations.create(book.id)).id for _ in range(count)]


async def ask(app: App, talk: str) -> bool:
    """Ask the question; whether an answer came of it."""
    await app.chat.receive(talk, QUESTION, READER)
    events = [event async for event in app.chat.answer(talk)]
    return isinstance(events[-1], Answer)
