"""The bot is killed at any moment while somebody is erased: either all of it is done in the end, or none."""

import asyncio
import random
import sqlite3
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Message, Permission
from tests.doubles.script import Handler, Json, Reply, Text
from tests.journeys.discord_process import BotProcess
from tests.journeys.test_discord_chaos import damage

ROUNDS, SEED = 6, 3
LONGEST_LIFE_S = 0.8
QUESTION = "Where does Hobb keep the {} key?"

pytestmark = pytest.mark.usefixtures("quick_posting")


def slowly(body: Json) -> Reply:
    if not body.get("stream"):
        return Reply((Text("A title"),))
    return Reply(tuple(Text(word) for word in ("In", " the", " secret", " drawer", " of", " Hobb", ".")), pace=0.05)


@pytest.fixture
def handler() -> Handler:
    return slowly


def files_with(folder: Path, text: str) -> list[str]:
    """The files of the database, its log included, in which a text stands."""
    found = (folder / "data").glob("marginalia.db*")
    return [file.name for file in found if text.encode() in file.read_bytes()]


def kept(folder: Path, reader_id: int) -> int:
    """How many messages of a person are kept, and how much is still to be removed."""
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        sql = "SELECT (SELECT count(*) FROM chat_messages WHERE author_id = ?1) + (SELECT count(*) FROM removals)"
        return int(database.execute(sql, [str(reader_id)]).fetchone()[0])


def shown(discord: DiscordDouble, words: str) -> list[str]:
    places = (discord.channel, *discord.threads())
    said = [each for place in places for each in discord.messages(place) if each.author is discord.bot]
    return [text for each in said for text in (each.content, *each.embed_texts) if words in text]


async def test_killed_at_any_moment(bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
    chance, ben = random.Random(SEED), discord.user("ben")
    discord.world.grant(discord.guild, discord.bot, Permission.MANAGE_THREADS)
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    added = await ben.slash("books add", file=discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n"))
    await discord.until(lambda: added.original and added.original.embeds)
    outcomes = set()
    for number in count():
        if number >= ROUNDS and True in outcomes:
            break
        ann = discord.user(f"ann{number}")
        thread = await talked(discord, ann, ben, f"number{number}")
        asked = await ann.slash("privacy")
        await ann.click(asked.messages[0], label="Erase it all")
        discord.round_trip = 0.03
        await ann.say(thread, QUESTION.format(f"last{number}"), mention=discord.bot)
        await asyncio.sleep(chance.random() * 0.3)
        await ann.click(asked.messages[0], label="Erase it all", wait=False)
        await asyncio.sleep(chance.random() * LONGEST_LIFE_S * (1 + number // ROUNDS))  # a slow machine takes longer
        await bot.kill()
        discord.round_trip = 0.0
        assert damage(tmp_path) == []
        before = len(discord.calls("POST /channels/{channel}/messages"))
        await bot.start()
        with closing(sqlite3.connect(tmp_path / "data" / "marginalia.db")) as database:
            sql = "SELECT count(*) FROM chat_messages WHERE author_id = ?"
            is_erased = database.execute(sql, [str(ann.id)]).fetchone()[0] == 0
        outcomes.add(is_erased)
        if is_erased:
            await discord.until(partial(nothing_left, discord, ann, tmp_path))
            assert len(discord.calls("POST /channels/{channel}/messages")) == before  # nothing is said again
            assert files_with(tmp_path, f"number{number}") == []
            assert files_with(tmp_path, f"last{number}") == []
        else:
            await discord.until(lambda: len(shown(discord, "secret drawer")) >= 2)
            asked = await ann.slash("privacy")
            await ann.click(asked.messages[0], label="Erase it all")
            await ann.click(asked.messages[0], label="Erase it all")
            await discord.until(partial(nothing_left, discord, ann, tmp_path))
    assert await bot.stop() == 0
    assert discord.violations == []


async def test_killed_between_posting_and_recording(bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
    """A question that the bot repeated shows no mention, and Discord never said that it was posted."""
    ann, ben, word = discord.user("ann"), discord.user("ben"), "velvet"
    discord.world.grant(discord.guild, discord.bot, Permission.MANAGE_THREADS)
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    added = await ben.slash("books add", file=discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n"))
    await discord.until(lambda: added.original and added.original.embeds)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    discord.hold("POST /channels/{channel}/messages", skip=1)  # the card of the conversation is answered
    asking = asyncio.create_task(ann.slash("chat", book=book["value"], message=QUESTION.format(word)))
    await discord.until(lambda: shown(discord, word))
    await bot.kill()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert recorded(tmp_path) == 0
    await bot.start()
    await discord.until(lambda: recorded(tmp_path) == 1)
    [thread] = discord.threads()
    await discord.until(lambda: any("secret drawer" in each.content for each in discord.messages(thread)))
    await ben.say(thread, "I was here.")
    asked = await ann.slash("privacy")
    await ann.click(asked.messages[0], label="Erase it all")
    await ann.click(asked.messages[0], label="Erase it all")
    await discord.until(partial(nothing_left, discord, ann, tmp_path))
    assert not shown(discord, word)
    assert await bot.stop() == 0


@pytest.mark.timeout(300)
async def test_killed_before_recording_in_direct_messages_and_in_a_thread_that_falls_asleep(
    bot: BotProcess, discord: DiscordDouble, tmp_path: Path
) -> None:
    ann, ben = discord.user("ann"), discord.user("ben")
    direct = ann.direct_channel
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    added = await ben.slash("books add", file=discord.file("lamp.txt", b"Chapter 1\n\nThe lamp was dark.\n"))
    await discord.until(lambda: added.original and added.original.embeds)
    [book] = await ann.autocomplete("ask", "book", "lamp")
    thread = await ben.start_thread("Gossip")
    await ann.slash("ask", channel=thread, question="What was dark?", book=book["value"], public=True)
    own = await ann.slash("books add", channel=direct, file=discord.file("own.txt", b"Chapter 1\n\nA lamp.\n"))
    await discord.until(lambda: own.original and own.original.embeds)
    await discord.until(lambda: len(replies(discord, thread)) == len(replies(discord, direct)) == 1)
    await bot.kill()
    with closing(sqlite3.connect(tmp_path / "data" / "marginalia.db")) as database, database:
        assert database.execute("DELETE FROM posts").rowcount >= 2  # as if it had been killed a moment earlier
    await ben.archive(thread)
    await bot.start()
    await discord.until(lambda: shown_people(tmp_path) >= {str(ann.id)}, 40)
    asked = await ann.slash("privacy")
    await ann.click(asked.messages[0], label="Erase it all")
    await ann.click(asked.messages[0], label="Erase it all")
    await discord.until(lambda: not replies(discord, thread) and not replies(discord, direct), 40)
    assert thread.archived
    assert await bot.stop() == 0
    assert discord.violations == []


def replies(discord: DiscordDouble, place: Channel) -> list[Message]:
    """The replies to commands that stand in a place: Discord shows whose commands they were."""
    return [each for each in discord.messages(place) if each.interaction_id]


def shown_people(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        return {row[0] for row in database.execute("SELECT reader_id FROM posts")}


def recorded(folder: Path) -> int:
    """How many posts are recorded as somebody's words."""
    with closing(sqlite3.connect(folder / "data" / "marginalia.db")) as database:
        return int(database.execute("SELECT count(*) FROM posts WHERE words = 1").fetchone()[0])


async def talked(discord: DiscordDouble, ann: Actor, ben: Actor, word: str) -> Channel:
    """A thread in which Ann has been answered, and Ben was there."""
    known = {each.id for each in discord.threads()}
    [book] = await ann.autocomplete("chat", "book", "lamp")
    await ann.slash("chat", book=book["value"], message=QUESTION.format(word))
    await discord.until(lambda: {each.id for each in discord.threads()} - known)
    [thread] = [each for each in discord.threads() if each.id not in known]
    await discord.until(
        lambda: any("secret drawer" in each.content and each.buttons for each in discord.messages(thread))
    )
    await ben.say(thread, "I was here.")
    await discord.until(lambda: any("more than one of you" in each.content for each in discord.messages(thread)))
    return thread


def nothing_left(discord: DiscordDouble, ann: Actor, folder: Path) -> bool:
    if shown(discord, "secret") or shown(discord, "Hobb") or shown(discord, ann.user.name):
        return False
    return not shown(discord, str(ann.id)) and kept(folder, ann.id) == 0
