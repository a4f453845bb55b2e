"""A club of the real bot, which is killed between Discord's doing something and its hearing of it."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.doubles.discord_api import Channel, DiscordDouble, Interaction, Message, MessageType, Permission
from tests.doubles.discord_api.entities import as_read
from tests.journeys.discord_process import BotProcess
from tests.journeys.reading_room import TALE

CALLBACK = "POST /interactions/{interaction}/{token}/callback"
SEND, THREAD = "POST /channels/{channel}/messages", "POST /channels/{channel}/threads"
LET_IN, EVENT = "PUT /channels/{channel}/thread-members/{user}", "POST /guilds/{guild}/scheduled-events"

pytestmark = pytest.mark.usefixtures("quick_posting")


EVENTS_AND_POLLS = Permission.CREATE_EVENTS | Permission.SEND_POLLS


@pytest.fixture(autouse=True)
def may_make_events_and_polls(discord: DiscordDouble) -> None:
    discord.world.grant(discord.guild, discord.bot, EVENTS_AND_POLLS)


class Club:
    """What a server sees of its club, and what the program has kept of it."""

    def __init__(self, discord: DiscordDouble, folder: Path) -> None:
        self.discord = discord
        self.ann, self.ben = discord.user("ann"), discord.user("ben")
        discord.world.grant(discord.guild, self.ann.user, EVENTS_AND_POLLS)
        self._database = folder / "data" / "marginalia.db"

    def kept(self, question: str, *values: object) -> list[tuple[object, ...]]:
        database = sqlite3.connect(self._database)
        try:
            return database.execute(question, values).fetchall()
        finally:
            database.close()

    def is_done(self, key: str) -> bool:
        return bool(self.kept("SELECT 1 FROM club_posts WHERE key = ? AND state = 'done'", key))

    async def done(self, *keys: str) -> None:
        await self.discord.until(lambda: all(map(self.is_done, keys)))

    async def add_book(self) -> str:
        file = self.discord.file("lamp.txt", TALE.encode())
        added = await self.ann.slash("books add", file=file, title="The Lamp")
        await self.discord.until(lambda: added.original and "Added to the shelf" in shown(added))
        [book] = await self.ann.autocomplete("club start", "book", "lamp")
        return str(book["value"])

    def own(self, place: Channel | None = None) -> list[Message]:
        """What the bot has posted of itself."""
        own = [each for each in self.discord.messages(place) if each.author is self.discord.bot]
        return [each for each in own if each.type in (MessageType.DEFAULT, MessageType.REPLY)]

    @property
    def cards(self) -> list[Message]:
        return [each for each in self.own() if any(button.label == "Join" for button in each.buttons)]

    @property
    def reminders(self) -> list[str]:
        return [each.content for each in self.own() if each.content.startswith("📖")]

    @property
    def polls(self) -> list[Message]:
        return [each for each in self.own() if each.poll]

    @property
    def ends(self) -> list[str]:
        return [as_read(each.content) for each in self.own() if each.content.startswith("The vote is over")]


def shown(interaction: Interaction) -> str:
    assert interaction.original
    authors = [str(embed.get("author", {}).get("name", "")) for embed in interaction.original.embeds]
    return "\n".join([interaction.text, *authors])


@pytest.fixture
def club(discord: DiscordDouble, tmp_path: Path) -> Club:
    return Club(discord, tmp_path)


async def test_who_left_a_thread_is_let_back_in_and_who_left_the_server_holds_nobody_out(
    bot: BotProcess, discord: DiscordDouble, club: Club
) -> None:
    await bot.start()
    await club.ann.slash("club start", book=await club.add_book(), sections=3)
    await discord.until(lambda: club.cards)
    [card] = club.cards
    for each in (club.ben, discord.user("cleo")):
        await each.click(card, label="Join")
        await each.click(card, label="I'm there")
    discord.world.part(discord.guild, club.ben.user)
    await club.ann.click(card, label="I'm there")
    await discord.until(lambda: club.kept("SELECT 1 FROM club_sections WHERE number = 1 AND ready = 1"))
    [thread] = discord.threads()
    everybody = {club.ann.id, discord.user("cleo").id, discord.bot.id}
    assert set(thread.members) == everybody

    await club.ann.leave(thread)
    discord.world.update_channel(thread, discord.bot, {"archived": True})
    pressed = await club.ann.click(card, label="I'm there")
    assert "You've checked in" in pressed.text
    await discord.until(lambda: set(thread.members) == everybody)
    assert discord.violations == []


async def test_what_got_through_before_a_kill_stands_once(bot: BotProcess, discord: DiscordDouble, club: Club) -> None:
    async def killed_once(happened: object, *, then: str = "") -> None:
        """Kill it when something is so; the next request to `then` after the start gets through unanswered."""
        await discord.until(happened)  # type: ignore[arg-type]
        assert discord.rest.faults.all_struck
        await bot.kill()
        if then:
            discord.hold(then)
        await bot.start()

    await bot.start()
    book = await club.add_book()
    discord.hold(SEND)
    today = datetime.now(UTC).date()
    begun = str(today - timedelta(days=29))
    await club.ann.slash("club start", book=book, sections=3, every=30, start=begun, events=True)
    await killed_once(lambda: club.cards, then=SEND)
    await killed_once(lambda: club.reminders, then=EVENT)
    await killed_once(lambda: discord.guild.events)
    await club.done("card", "remind/1", "event/1", "event/2", "event/3")

    [card] = club.cards
    joined = await club.ben.click(card, label="Join")
    assert "You're in." in joined.text
    await club.ben.click(card, label="I'm there")
    await discord.until(lambda: "1 of 2 is there" in club.cards[0].embed_texts[0])  # else it sees both of them there
    discord.hold(CALLBACK)
    await club.ann.click(card, label="I'm there")
    assert not discord.threads()
    await killed_once(lambda: discord.rest.faults.all_struck, then=THREAD)
    await killed_once(discord.threads, then=SEND)
    [thread] = discord.threads()
    await killed_once(lambda: club.own(thread), then=LET_IN)
    await killed_once(lambda: len(thread.members) == 2, then=SEND)
    await killed_once(lambda: len(club.own(thread)) == 2)
    await discord.until(lambda: club.kept("SELECT 1 FROM club_sections WHERE number = 1 AND ready = 1"))
    await club.done("seats/1")

    assert discord.threads() == [thread]
    assert {club.ann.id, club.ben.id, discord.bot.id} == set(thread.members)
    greeting, questions = club.own(thread)
    assert "up to about p. 1" in greeting.content
    assert "p. 1" in questions.content
    welcomed = [each for each in discord.messages(thread) if each.type is MessageType.RECIPIENT_ADD]
    assert len(welcomed) == 2
    assert len(club.cards) == len(club.reminders) == 1
    assert len({event["name"] for event in discord.guild.events.values()}) == len(discord.guild.events) == 3
    assert "2 of 2 are there" in club.cards[0].embed_texts[0]
    assert discord.violations == []


async def test_a_poll_stands_once_and_its_end_is_told_once_after_an_absence(
    bot: BotProcess, discord: DiscordDouble, club: Club
) -> None:
    await bot.start()
    discord.hold(SEND)
    await club.ann.slash("club vote", choices="Emma; Dracula", days=1)
    await discord.until(lambda: club.polls)
    await bot.kill()
    [poll] = club.polls
    assert poll.poll
    ends_at = poll.poll.expiry = discord.world.now() + timedelta(seconds=2)  # the day goes by in a moment
    await bot.start()
    await discord.until(lambda: club.kept("SELECT 1 FROM votes WHERE message_id = ?", str(poll.id)))
    await bot.kill()
    await club.ben.vote(poll, "Dracula")
    await discord.until(lambda: discord.world.now() > ends_at)
    discord.world.end_poll(poll)
    discord.hold(SEND)
    await bot.start()
    await discord.until(lambda: club.ends)
    await bot.kill()
    await bot.start()
    await discord.until(lambda: club.kept("SELECT 1 FROM votes WHERE told = 1"))
    assert club.polls == [poll]
    assert club.ends == ["The vote is over: “Dracula” has won with the only vote. /club start begins a club on it."]
    assert discord.violations == []
