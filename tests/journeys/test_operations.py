"""What those who run the bot rely on: stopping, logs, health, one copy at a time, and going back to a backup."""

import asyncio
import json
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.bot.test_metrics import figures
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import PATIENCE_S, DiscordDouble
from tests.doubles.ports import held_port
from tests.doubles.script import Call, Failure, Fault, Handler, Json, Reply, Text, say
from tests.journeys.discord_process import BotProcess
from tests.journeys.marked_questions import leftovers, opened, reply_to, said_twice_or_never
from tests.journeys.reading_room import TALE
from tests.journeys.terminal import Terminal

SEND, EDIT = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"
LONGEST_FAREWELL_S = 10.0


pytestmark = pytest.mark.usefixtures("quick_posting")


@pytest.fixture
def handler() -> Handler:
    return reply_to


@pytest.fixture
def environment() -> dict[str, str]:
    return {"LOG_LEVEL": "INFO", "LOG_FORMAT": "json"}


async def online(bot: BotProcess, discord: DiscordDouble) -> None:
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))


async def all_answered(discord: DiscordDouble, asked: dict[str, Any]) -> None:
    await discord.until(lambda: not said_twice_or_never(discord, asked) and not leftovers(discord))
    await asyncio.sleep(0.3)
    assert (said_twice_or_never(discord, asked), leftovers(discord)) == ({}, [])


def stalling(body: Json) -> Reply:
    return say("This answers nothing yet", fault=Fault.STALL)


def trickling(body: Json) -> Reply:
    reply = reply_to(body)
    return Reply(reply.parts, pace=0.4)


class TestStopping:
    @pytest.mark.parametrize(("handler", "discord_is_away"), [(trickling, False), (stalling, True)])
    async def test_answers_that_run_are_made_after_the_next_start(
        self, bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble, handler: Any, discord_is_away: bool
    ) -> None:
        await online(bot, discord)
        threads = await opened(discord)
        model.handler = handler
        asked = {f"Q{number}": thread for number, thread in enumerate(threads, start=1)}
        for mark, thread in asked.items():
            await discord.user("ann").say(thread, f"What about {mark}?")
        await discord.until(lambda: len(model.requests) >= len(threads))
        if discord_is_away:
            discord.fail("*", status=503, times=100_000)
        began = time.monotonic()
        assert await bot.stop() == 0
        assert time.monotonic() - began < LONGEST_FAREWELL_S
        discord.rest.faults.clear()
        model.handler = reply_to
        await bot.start()
        await all_answered(discord, asked)


class TestOneCopy:
    async def test_the_second_is_refused_with_a_sentence(
        self, bot: BotProcess, discord: DiscordDouble, tmp_path: Path
    ) -> None:
        await online(bot, discord)
        second = await Terminal(tmp_path).run("run", **discord.environment)
        assert second.code == 1
        assert "Another Marginalia is running on the database" in " ".join(second.err.split())
        assert "Traceback" not in second.err
        assert (await Terminal(tmp_path).run("books", "list")).code == 0
        await bot.kill()
        await bot.start()


class TestHealth:
    async def test_it_is_told_by_the_command(self, bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
        terminal = Terminal(tmp_path)
        before = await terminal.run("health")
        assert (before.code, before.err.startswith("No bot is online")) == (1, True)
        await online(bot, discord)
        await discord.until((tmp_path / "data" / "health").exists)
        during = await terminal.run("health")
        assert (during.code, during.out.startswith("Online; last seen")) == (0, True)
        await bot.stop()
        assert (await terminal.run("health")).code == 1


class TestMetrics:
    async def test_a_bot_that_has_lost_discord_is_seen(self, bot: BotProcess, discord: DiscordDouble) -> None:
        with held_port() as port:
            bot.set(METRICS_PORT=str(port))
            await online(bot, discord)
            assert await connected_of(port) == (1, 1)
            discord.gateway.refuse = 1_000
            await discord.gateway.drop()
            async with asyncio.timeout(PATIENCE_S):
                while await connected_of(port) != (0, 1):
                    await asyncio.sleep(0.05)


async def connected_of(port: int) -> tuple[float, float]:
    told = await figures(port)
    return told["marginalia_shards_connected",], told["marginalia_shards",]


SECRETS = ("Zanzibar", "quokka", "Thessaly", "marmalade", "Ozymandias")
"""In what is asked, in what is answered, in the book, in its title and its file's name, and in what was refused."""

STAGES = {"prepared_ms", "first_text_ms", "tools_ms", "total_ms"}


class TestLogs:
    def replies(self) -> list[Reply | Failure]:
        look = Reply((Text("Let me look for Zanzibar."), Call("search_book", {"query": "Zanzibar quokka"})))
        wrong = Reply(
            (
                Call("search_book", {"quary": "quokka"}),
                Call("read_pages", {"first": "quokka", "last": "quokka"}),
                Call("no_such_tool_quokka", {"x": "quokka"}),
            )
        )
        return [
            look,
            say("The quokka answers."),
            wrong,
            say("The quokka answers again."),
            Failure(400, message="messages.1.content: Zanzibar is not allowed"),
            Failure(529, message="Ozymandias is overloaded"),
            say("The quokka is cut in a wo", fault=Fault.CUT),
            say("The quokka", fault=Fault.GARBAGE),
            say("The quokka answers in the end."),
        ]

    async def test_a_line_a_turn_and_no_word_of_anybody(
        self, bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble
    ) -> None:
        await online(bot, discord)
        ann = discord.user("ann")
        file = discord.file("marmalade.txt", b"CHAPTER I\n\nIn Thessaly there was a lamp, and nobody lit it.\n" * 30)
        added = await ann.slash("books add", file=file, title="marmalade days")
        await discord.until(lambda: added.original and added.original.embeds)
        broken = await ann.slash("books add", file=discord.file("marmalade.pdf", b"%PDF-1.7 marmalade"))
        await discord.until(lambda: "PDF" in broken.text)
        [book] = await ann.autocomplete("chat", "book", "marmalade")
        model.handler = lambda body: say("quokka")
        await ann.slash("chat", book=book["value"], title="Zanzibar", message="What of Zanzibar?")
        await discord.until(lambda: bot.turns == 1)
        replies = iter(self.replies())
        model.handler = lambda body: next(replies, say("The quokka goes on."))
        [thread] = discord.threads()
        for turn in range(7):
            discord.fail((SEND, EDIT)[turn % 2], status=(503, 400, 403, 0)[turn % 4])
            await ann.say(thread, "Tell me about Zanzibar")
            await discord.until(partial(has_played, bot, turn + 2))
        await ann.slash("conversations rename", channel=thread, title="Ozymandias")
        await ann.slash("privacy")
        assert await bot.stop() == 0
        assert not [secret for secret in SECRETS if secret.casefold() in bot.output.casefold()], bot.output
        first, second, *_ = [line for line in bot.lines if line["logger"] == "marginalia.turns"]
        assert first["reader"] == str(ann.id)
        assert first["guild"] == str(discord.guild.id)
        assert (second["state"], second["calls"]) == ("answered", 1)
        assert second.keys() >= STAGES | {"turn", "conversation", "model", "tokens_in", "tokens_out"}
        assert second["cost_microdollars"] > 0


def has_played(bot: BotProcess, turns: int) -> bool:
    return bot.turns >= turns


class TestBackup:
    async def test_a_book_that_was_made_anew_takes_the_place_of_its_copy(self, tmp_path: Path) -> None:
        terminal = Terminal(tmp_path)
        terminal.write("lamp.txt", TALE)
        await terminal.run("books", "add", "lamp.txt")
        [book] = (tmp_path / "data" / "books").iterdir()
        sound, copy = book.read_bytes(), tmp_path / "copy" / "books" / book.name
        book.write_bytes(b"damaged")
        assert (await terminal.run("backup", str(tmp_path / "copy"))).code == 0
        assert copy.read_bytes() == b"damaged"
        await terminal.run("books", "add", "lamp.txt")
        assert (await terminal.run("backup", str(tmp_path / "copy"))).code == 0
        assert copy.read_bytes() == sound
        book.unlink()
        assert (await terminal.run("backup", str(tmp_path / "copy"))).code == 0
        assert [path.name for path in copy.parent.iterdir()] == [book.name]

    async def test_a_backup_made_while_it_runs_takes_its_place(
        self, bot: BotProcess, discord: DiscordDouble, tmp_path: Path, model: AnthropicDouble
    ) -> None:
        await online(bot, discord)
        threads = await opened(discord)
        ann, asked = discord.user("ann"), {"Q1": threads[0], "Q2": threads[1]}
        for mark, thread in asked.items():
            await ann.say(thread, f"What about {mark}?")
        await all_answered(discord, asked)
        copied = await Terminal(tmp_path).run("backup", str(tmp_path / "copy"))
        assert copied.code == 0, copied.err
        await bot.kill()
        shutil.rmtree(tmp_path / "data")
        shutil.move(tmp_path / "copy", tmp_path / "data")
        asked["Q4"] = threads[0]
        await ann.say(threads[0], "What about Q4?")
        await bot.start()
        await all_answered(discord, asked)
        assert "What about Q1?" in json.dumps(model.requests[-1]), "what was said before the backup is remembered"
        checked = await Terminal(tmp_path).run("check")
        assert "is undamaged" in " ".join(checked.out.split())
