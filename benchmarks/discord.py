"""The bot on Discord, a process of its own on loopback doubles: how soon it asks the model, how soon the answer stands.

    python -m benchmarks.discord [--answers 40]

Warm, in one thread, one question after another; with no latency of Discord's and with 80 ms per round trip. The model
looks something up and then streams an answer of some 60 words in about three seconds. "to the model" is from the
event's leaving Discord to the first request's arrival; "to the final text" from the last token's leaving the model to
the moment at which Discord has the final text.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from benchmarks.table import print_memory, print_table, summary
from bot.app import SAMPLE
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Message
from tests.doubles.discord_api.call import Call
from tests.doubles.script import Call as ToolCall
from tests.doubles.script import Json, Reply, Text
from tests.journeys.discord_process import BotProcess, bot_process

QUESTION = "Where does Kit Varley lift his hat, and why?"
WORDS = 60
PACE_S = 0.045
WARMING = 3
ROUND_TRIPS_S = (0.0, 0.08)
BREATH_S = 1.3
"""Between an answer and the next question, so that no draft of the one counts against the other."""


class PunctualModel(AnthropicDouble):
    """Keeps the moments at which requests arrive and at which replies have been sent."""

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.arrived: list[float] = []
        self.sent: list[float] = []

    def _reply(self, body: Json) -> Reply:
        if body.get("tools") and not prompt_of(body).answered:
            return Reply((ToolCall("search_book", {"query": QUESTION}),))
        return Reply((Text(" ".join(f"word{number}" for number in range(WORDS))),), pace=PACE_S)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        self.arrived.append(time.monotonic())
        response = await super()._messages(request)
        self.sent.append(time.monotonic())
        return response


@dataclass
class Figures:
    """Milliseconds of every answer, and what Discord saw of it."""

    to_model: list[float] = field(default_factory=list)
    to_final: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    edits_per_second: list[float] = field(default_factory=list)
    refused: int = 0


class Reading:
    """Ann in her thread."""

    def __init__(self, discord: DiscordDouble, model: PunctualModel) -> None:
        self.discord = discord
        self.model = model
        self.ann: Actor = discord.user("ann")
        self.thread: Channel

    async def open(self) -> None:
        await self.discord.until(lambda: self.discord.commands.commands.get(0), 30)
        await self.ann.slash("books add", file=self.discord.file(SAMPLE.name, SAMPLE.read_bytes()))
        books: list[Json] = []
        while not books:
            books = await self.ann.autocomplete("chat", "book", "")
        await self.ann.slash("chat", book=books[0]["value"], title="Bench")
        await self.discord.until(
            lambda: self.discord.threads() and self.discord.messages(self.discord.threads()[0])[1:]
        )
        [self.thread] = self.discord.threads()

    async def ask(self, figures: Figures | None = None) -> None:
        """Ask, wait until the answer stands, and note how it came about."""
        before, requests = len(self.discord.messages(self.thread)), len(self.model.arrived)
        logged = len(self.discord.rest_log)
        asked = time.monotonic() + self.discord.round_trip / 2
        await self.ann.say(self.thread, QUESTION)
        await self.discord.until(lambda: self._stands(before), 30)
        await asyncio.sleep(BREATH_S)
        if figures is not None:
            self._note(figures, asked, requests, self.discord.rest_log[logged:])

    def _stands(self, before: int) -> bool:
        """Whether the last message is the answer, whole; while an answer runs it can be stopped."""
        shown: list[Message] = self.discord.messages(self.thread)[before + 1 :]
        running = any(button.label == "Stop" for each in shown for button in each.buttons)
        return bool(shown) and f"word{WORDS - 1}" in shown[-1].content and not running

    def _note(self, figures: Figures, asked: float, requests: int, calls: list[Call]) -> None:
        shift = time.time() - time.monotonic()
        figures.to_model.append((self.model.arrived[requests] - asked) * 1000)
        written = [call for call in calls if call.finished and call.route.endswith(("/messages", "{message}"))]
        final, last_token = max(call.finished or 0 for call in written) - shift, self.model.sent[-1]
        figures.to_final.append((final - last_token) * 1000)
        figures.calls.append(len(calls))
        edits = [call for call in written if call.method == "PATCH"]
        figures.edits_per_second.append(len(edits) / max(final - asked, 1.0))
        figures.refused += sum(call.status == 429 for call in calls)


async def measure(answers: int) -> None:
    rows = []
    async with DiscordDouble() as discord, PunctualModel() as model:
        with tempfile.TemporaryDirectory() as folder:
            async with bot_process(Path(folder), discord, model) as bot:
                rows = await _all(bot, discord, model, answers)
    head = (
        "round trip",
        "",
        "to the model, ms",
        "p95",
        "to the final text, ms",
        "p95",
        "REST calls",
        "edits/s",
        "429s",
    )
    print_table(head, rows)
    assert discord.violations == []
    print_memory()


async def _all(bot: BotProcess, discord: DiscordDouble, model: PunctualModel, answers: int) -> list[list[str]]:
    await bot.start()
    reading, rows = Reading(discord, model), []
    await reading.open()
    for verbose in ("off", "on"):
        await reading.ann.slash("verbose", channel=reading.thread, mode=verbose)
        for round_trip in ROUND_TRIPS_S:
            discord.round_trip = round_trip
            figures = await _repeat(reading.ask, answers)
            calls, edits = (sum(each) / len(each) for each in (figures.calls, figures.edits_per_second))
            name = f"{round_trip * 1000:.0f} ms"
            counts = [f"{calls:.1f}", f"{edits:.2f}", str(figures.refused)]
            rows.append([name, f"verbose {verbose}", *summary(figures.to_model), *summary(figures.to_final), *counts])
        discord.round_trip = 0.0
    await bot.stop()
    return rows


async def _repeat(ask: Callable[..., Awaitable[None]], answers: int) -> Figures:
    figures = Figures()
    for _ in range(WARMING):
        await ask()
    for _ in range(answers):
        await ask(figures)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=40)
    asyncio.run(measure(parser.parse_args().answers))


if __name__ == "__main__":
    main()
