"""The bot is killed while it makes an answer anew, at any moment: it is made after all, kept alone, and shown."""

import asyncio
import json
import random
import sqlite3
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import Channel, DiscordDouble, Message, MessageType
from tests.doubles.discord_api.interactions import Interaction
from tests.doubles.script import Fault, Handler, Json, Reply, Text, say
from tests.journeys.discord_process import BotProcess
from tests.journeys.reading_room import TALE
from tests.journeys.test_discord_chaos import damage
from tests.sampling import a_few

ROUNDS, SEED = 4, 11
LONGEST_LIFE_S = 1.2
ANSWERS = count(1)
HOOK, THREAD = "PATCH /webhooks/{app}/{token}/messages/{message}", "POST /channels/{channel}/messages/{message}/threads"
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
SEND, RENAME = "POST /channels/{channel}/messages", "PATCH /channels/{channel}"

pytestmark = pytest.mark.usefixtures("quick_posting")


def numbered(body: Json) -> Reply:
    """Each answer has a number of its own, and takes its time."""
    if not body.get("stream"):
        return Reply((Text("A title"),))
    return Reply(tuple(Text(word) for word in (f"Number {next(ANSWERS)}", " is", " the", " answer", ".")), pace=0.1)


LINE = "The tide went out at nine, and the lamp was dark. "


@pytest.fixture
def handler() -> Handler:
    return numbered


def kept(folder: Path) -> list[str]:
    """The answers in the order in which a model would see them."""
    database = sqlite3.connect(folder / "data" / "marginalia.db")
    try:
        rows = database.execute(
            "SELECT content FROM chat_messages JOIN turns ON turns.id = turn_id WHERE role = 'assistant' "
            "ORDER BY number"
        )
        return [row[0] for row in rows]
    finally:
        database.close()


def unfinished(folder: Path) -> list[str]:
    """The turns whose answers have yet to be shown, or to be made again."""
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        return [turn_id for (turn_id,) in database.execute("SELECT id FROM turns WHERE state <> 'delivered'")]


def answers(discord: DiscordDouble, thread: Channel) -> list[Message]:
    shown = [each for each in discord.messages(thread) if each.author is discord.bot and not each.embed_texts]
    return [each for each in shown if each.type in (MessageType.DEFAULT, MessageType.REPLY) and each.content]


def at_rest(discord: DiscordDouble, thread: Channel, number: int) -> bool:
    shown = answers(discord, thread)
    return len(shown) == number and all([b.label for b in each.buttons] == ["Try again"] for each in shown)


async def test_killed_at_any_moment(bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
    chance, ann = random.Random(SEED), discord.user("ann")
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    added = await ann.slash(
        "books add", file=discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n"), title="Lamp"
    )
    await discord.until(lambda: added.original and added.original.embeds)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    await ann.slash("chat", book=book["value"], title="Thread")
    await discord.until(lambda: discord.threads() and len(discord.messages(discord.threads()[0])) > 1)
    [thread] = discord.threads()
    for number, question in enumerate(["Why?", "Who?"], start=1):
        await ann.say(thread, question)
        await discord.until(partial(at_rest, discord, thread, number))
    first, second = answers(discord, thread)
    outcomes, anew = set(), False
    for _ in range(ROUNDS):
        before = kept(tmp_path)
        await ann.click(first, label="Try again")
        await asyncio.sleep(chance.random() * LONGEST_LIFE_S)
        await bot.kill()
        assert damage(tmp_path) == []
        outcomes.add(kept(tmp_path) == before)
        has_begun = unfinished(tmp_path)
        await bot.start()
        await discord.until(lambda: not unfinished(tmp_path) and at_rest(discord, thread, 2))
        assert answers(discord, thread) == [first, second]
        assert [each.content for each in (first, second)] == kept(tmp_path)
        assert kept(tmp_path)[0] != before[0] or not has_begun, "it is not made after all"
        anew = anew or bool(has_begun)
    assert True in outcomes, "no process was killed before its answer was kept"
    assert anew, "no process was killed before its answer was shown"
    await ann.click(first, label="Try again")
    shown = first.content
    await discord.until(lambda: first.content not in ("", shown) and at_rest(discord, thread, 2))
    assert [each.content for each in (first, second)] == kept(tmp_path)
    assert await bot.stop() == 0
    assert discord.violations == []


def long_book() -> bytes:
    return "".join(f"Chapter {number}\n\n{LINE * 400}\n\n" for number in range(1, 120)).encode()


async def being_read(bot: BotProcess, discord: DiscordDouble) -> Interaction:
    """A book that is being read, as everybody in the channel sees."""
    ann = discord.user("ann")
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    adding = await ann.slash("books add", file=discord.file("long.txt", long_book()), title="Long")
    await discord.until(lambda: "Reading long.txt" in adding.text)
    return adding


async def small_book_added(bot: BotProcess, discord: DiscordDouble) -> Interaction:
    """The command with which ann has added a book, on a bot that has just been started."""
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    small = discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n")
    added = await discord.user("ann").slash("books add", file=small, title="Lamp")
    await discord.until(lambda: added.original and added.original.embeds)
    return added


async def ready(bot: BotProcess, discord: DiscordDouble) -> list[Json]:
    """How the bot offers a small book that ann has added."""
    await small_book_added(bot, discord)
    return await discord.user("ann").autocomplete("chat", "book", "lamp")


def noted(folder: Path) -> list[str | None]:
    """Of each reply that is being made, what can be continued."""
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        return [json.loads(about)["arguments"] for (about,) in database.execute("SELECT about FROM open_replies")]


async def test_killed_while_a_book_is_added(bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
    """The next start reads on, in the same reply; nothing half written stays, and nobody is told anything twice."""
    adding = await being_read(bot, discord)
    await bot.kill()
    await bot.start()
    await discord.until(lambda: adding.original and adding.original.embeds)
    assert "Took" in adding.text, "it is said to have been on the shelf already"
    [reply] = [each for each in discord.messages() if each.interaction_id == adding.id]
    assert reply.content == ""
    assert len(await discord.user("ann").autocomplete("chat", "book", "long")) == 1
    assert [path.suffix for path in (tmp_path / "data" / "books").iterdir()] == [".book"]
    await discord.until(lambda: noted(tmp_path) == [])
    assert discord.violations == []


async def test_a_reading_that_is_killed_twice_ends_in_a_sentence(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path
) -> None:
    """Perhaps the file itself is the reason. The reply has an end even when its token has expired."""
    adding = await being_read(bot, discord)
    await bot.kill()
    discord.advance(16 * 60)
    await bot.start()
    await discord.until(lambda: noted(tmp_path) == [None])
    await bot.kill()
    await bot.start()
    await discord.until(lambda: noted(tmp_path) == [])
    assert adding.text == "I was restarted while I was reading this book. Please add it again."
    again = await discord.user("ann").slash("books add", file=discord.file("long.txt", long_book()), title="Long")
    await discord.until(lambda: again.original and again.original.embeds)


@pytest.mark.parametrize(
    ("route", "skip"),
    [
        pytest.param(HOOK, 0, id="it is announced"),
        pytest.param(THREAD, 0, id="its thread is made"),
        pytest.param(SEND, 0, id="its card is posted"),
        pytest.param(SEND, 1, id="its question is repeated"),
    ],
)
@pytest.mark.parametrize("minutes", a_few([20, 0], 1))
async def test_a_chat_that_is_killed_while_its_thread_is_opened_is_opened_and_answered(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path, route: str, skip: int, minutes: int
) -> None:
    """The thread has its card, its question and its answer, in this order and once, also much later."""
    ann = discord.user("ann")
    await small_book_added(bot, discord)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    discord.hold(route, skip=skip)
    asked = await ann.slash("chat", book=book["value"], message="Why was it dark?")
    await discord.until(lambda: discord.rest.faults.all_struck and noted(tmp_path))
    await bot.kill()
    discord.advance(minutes * 60)
    await bot.start()
    await discord.until(lambda: any(at_rest(discord, thread, 1) for thread in threads_of(discord, asked)))
    await discord.until(lambda: noted(tmp_path) == [])
    [thread] = discord.threads()
    starter, card, question, answer = discord.messages(thread)
    assert starter.type is MessageType.THREAD_STARTER_MESSAGE
    assert "Just write here" in card.embed_texts[0]
    assert question.embeds[0]["author"]["name"] == "Ann"
    assert question.embed_texts == ["Why was it dark?"]
    assert answer.content in kept(tmp_path)
    [announced] = [each for each in discord.messages() if each.interaction_id == asked.id]
    assert announced.content == ""
    assert "is reading this book here" in announced.embed_texts[0]
    assert discord.violations == []


async def test_what_is_written_in_a_thread_before_it_is_bound_waits_for_the_next_start(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path
) -> None:
    ann = discord.user("ann")
    await small_book_added(bot, discord)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    discord.hold(SEND)
    await ann.slash("chat", book=book["value"], title="Lamp")
    await discord.until(lambda: discord.rest.faults.all_struck and noted(tmp_path))
    await bot.kill()
    [thread] = discord.threads()
    await ann.say(thread, "Why was it dark?")
    await bot.start()
    await discord.until(lambda: at_rest(discord, thread, 1))


@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_renaming_that_is_killed_reaches_the_thread(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path, took_effect: bool
) -> None:
    ann = discord.user("ann")
    await small_book_added(bot, discord)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    opened = await ann.slash("chat", book=book["value"], title="Old")
    await discord.until(lambda: threads_of(discord, opened) and noted(tmp_path) == [])
    [thread] = threads_of(discord, opened)
    if took_effect:
        discord.hold(RENAME)
    else:
        discord.drop(RENAME, times=10_000)
    renaming = await ann.slash("conversations rename", channel=thread, title="New")
    await discord.until(lambda: any(call.route == RENAME for call in discord.rest_log))
    await bot.kill()
    discord.rest.faults.clear()
    await bot.start()
    await discord.until(lambda: "called “New”" in renaming.text)
    assert thread.name == "New"
    await discord.until(lambda: noted(tmp_path) == [])
    [found] = await ann.autocomplete("chat", "conversation", "New", book=book["value"])
    assert found["name"].startswith("New")


def threads_of(discord: DiscordDouble, opened: Interaction) -> list[Channel]:
    return [each for each in discord.threads() if opened.original and each.id == opened.original.id]


Used = tuple[int, int, int]
"""Tokens read and written in a request, and whether they are estimated."""


def used(folder: Path) -> dict[int, Used]:
    """What each request has used, as it is counted."""
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        rows = database.execute("SELECT id, input_tokens, output_tokens, estimated FROM usage ORDER BY id")
        return {number: (read, written, estimated) for number, read, written, estimated in rows}


@pytest.mark.parametrize("way", ["message", "again", "ask"])
async def test_what_a_killed_request_has_used_counts(
    bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble, tmp_path: Path, way: str
) -> None:
    """Its prompt and the words that have come are counted, estimated and marked so, before the next start and after."""
    ann = discord.user("ann")
    await small_book_added(bot, discord)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    await ann.slash("chat", book=book["value"], message="Why was it dark?", title="Lamp")
    await discord.until(lambda: any(at_rest(discord, thread, 1) for thread in discord.threads()))
    [thread] = discord.threads()
    before = used(tmp_path)
    model.handler = lambda body: say(LINE * 20, fault=Fault.STALL)
    if way == "message":
        await ann.say(thread, "Who says so?")
    elif way == "again":
        await ann.click(answers(discord, thread)[0], label="Try again")
    else:
        await ann.slash("ask", question="Who says so?", book=book["value"])

    def killed() -> Used:
        [last] = [each for number, each in used(tmp_path).items() if number not in before] or [(0, 0, 0)]
        return last

    await discord.until(lambda: killed()[1] > 100)  # a stalled reply has come half way
    counted = killed()
    assert 1_000 < counted[0] < 10_000, "its prompt"
    assert counted[1] < 200, "its words"
    assert counted[2], "an estimate"
    await bot.kill()
    model.handler = numbered
    await bot.start()
    await discord.until(lambda: at_rest(discord, thread, 2 if way == "message" else 1) and noted(tmp_path) == [])
    assert counted in used(tmp_path).values()
    assert sum(estimated for *_, estimated in used(tmp_path).values()) == 1


@pytest.mark.parametrize("public", [False, True])
async def test_a_question_of_ask_that_is_killed_is_answered(
    bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble, tmp_path: Path, public: bool
) -> None:
    """In the same reply, to the same people, and once: the answer is kept alone."""
    ann, [book] = discord.user("ann"), await ready(bot, discord)
    model.handler = lambda _: say(LINE, fault=Fault.STALL)
    asked = await ann.slash("ask", question="Why was it dark?", book=book["value"], public=public)
    await discord.until(lambda: asked.thinking and noted(tmp_path) and model.requests)
    await bot.kill()
    model.handler = numbered
    await bot.start()
    await discord.until(lambda: asked.messages)
    assert asked.text.startswith("**Ann** asks: Why was it dark?\n")
    assert kept(tmp_path)[0] in asked.text
    assert len(kept(tmp_path)) == 1
    assert asked.ephemeral is not public
    await discord.until(lambda: noted(tmp_path) == [])
    assert discord.violations == []


async def test_who_limits_a_public_answer_is_named_after_a_kill(
    bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble, tmp_path: Path
) -> None:
    ann, ben = discord.user("ann"), discord.user("ben")
    await small_book_added(bot, discord)
    await ann.slash("books add", file=discord.file("tale.txt", TALE.encode()), title="Tale")
    await discord.until(lambda: len(discord.messages()) == 2 and all(each.embeds for each in discord.messages()))
    [book] = await ann.autocomplete("chat", "book", "tale")
    await ben.slash("progress", book=book["value"], chapter="1")
    model.handler = lambda _: say(LINE, fault=Fault.STALL)
    asked = await ann.slash("ask", question="Who was Hobb?", book=book["value"], public=True)
    await discord.until(lambda: asked.thinking and noted(tmp_path) and model.requests)
    await bot.kill()
    model.handler = numbered
    await bot.start()
    await discord.until(lambda: asked.messages)
    assert asked.text.endswith(f"as far as {ben.mention} has read.")


async def test_an_answer_that_was_made_before_the_kill_is_shown_as_it_is(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path
) -> None:
    ann, [book] = discord.user("ann"), await ready(bot, discord)
    discord.fail(HOOK, status=503, times=3)
    asked = await ann.slash("ask", question="Why was it dark?", book=book["value"])
    await discord.until(lambda: kept(tmp_path))
    await bot.kill()
    discord.rest.faults.clear()
    assert not asked.messages
    await bot.start()
    await discord.until(lambda: asked.messages)
    [answer] = kept(tmp_path)
    assert answer in asked.text


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        pytest.param("recap", {}, "The lamp was dark", id="recap"),
        pytest.param("who", {"name": "Hobb"}, "doesn't appear in this book", id="who"),
        pytest.param("discuss", {}, "The lamp was dark", id="discuss"),
    ],
)
async def test_what_is_told_of_a_book_is_told_after_a_kill(
    bot: BotProcess,
    discord: DiscordDouble,
    model: AnthropicDouble,
    tmp_path: Path,
    command: str,
    options: dict[str, Any],
    told: str,
) -> None:
    ann = discord.user("ann")
    await ready(bot, discord)
    discord.hold(CALLBACK)
    model.handler = lambda _: say(LINE, fault=Fault.STALL)
    asked = await ann.slash(command, **options)
    await discord.until(lambda: asked.thinking and noted(tmp_path))
    await bot.kill()
    model.handler = numbered
    await bot.start()
    await discord.until(lambda: asked.messages)
    assert told in asked.text
    await discord.until(lambda: noted(tmp_path) == [])
    assert len(asked.messages) == 1


async def test_a_command_that_is_killed_twice_has_an_end(
    bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble, tmp_path: Path
) -> None:
    """Whoever asked reads what has happened; a reply that stands already stays as it is."""
    ann, added = discord.user("ann"), await small_book_added(bot, discord)
    card, [book] = added.text, await ann.autocomplete("chat", "book", "lamp")
    model.handler = lambda _: say(LINE, fault=Fault.STALL)
    asked = await ann.slash("ask", question="Why was it dark?", book=book["value"])
    await discord.until(lambda: asked.thinking and noted(tmp_path))
    await bot.kill()
    await bot.start()
    await discord.until(lambda: noted(tmp_path) == [None])
    await bot.kill()
    await bot.start()
    await discord.until(lambda: asked.messages)
    assert asked.text == "I was restarted in the middle of this. If it isn't done, please try again."
    assert asked.ephemeral
    assert added.text == card
    await discord.until(lambda: noted(tmp_path) == [])
