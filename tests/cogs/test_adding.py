"""Adding a book: the line that says how far it is, and what comes of it."""

import discord
import pytest

from cogs.cards import progress_line
from cogs.i18n import speech_for
from tests.bot.online import Online
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.reading_room import TALE

SAY = speech_for(discord.Locale.american_english)


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0.0, "░" * 12), (0.5, "█" * 6 + "░" * 6), (1.0, "█" * 12), (7.5, "█" * 12), (-1.0, "░" * 12)],
)
def test_a_bar_is_as_full_as_the_work_is_done(share: float, bar: str) -> None:
    assert f"`{bar}`" in progress_line("alice.epub", "Reading", share, SAY)


def test_a_file_name_cannot_format_the_line() -> None:
    assert r"\*\*bold\*\*" in progress_line("**bold**.txt", "Reading", 0.1, SAY)


def test_the_stage_is_said_in_the_readers_language() -> None:
    assert progress_line("a.txt", "Reading", 0.1, speech_for(discord.Locale.german)).startswith("Lese")


async def test_if_the_progress_is_deleted_whoever_adds_the_book_still_hears_what_came_of_it(
    bot: Online, double: DiscordDouble
) -> None:
    ann = double.user("ann")
    adding = await ann.slash("books add", file=double.file("tale.txt", (TALE * 200).encode()))
    await double.until(lambda: "tale.txt" in adding.text)
    assert adding.original
    double.world.delete(adding.original)
    await double.until(lambda: adding.followups)
    [card] = adding.messages
    assert card.ephemeral
    assert "Took" in adding.text


async def test_of_two_who_add_the_same_file_at_once_one_is_told_that_it_is_there_already(
    bot: Online, double: DiscordDouble
) -> None:
    people = [double.user("ann"), double.user("ben")]
    files = [double.file("tale.txt", (TALE * 50).encode()) for _ in people]
    adding = [await each.slash("books add", file=file) for each, file in zip(people, files, strict=True)]
    await double.until(lambda: all(each.original and each.original.embeds for each in adding))
    told = [each.original.embeds[0]["author"]["name"] for each in adding if each.original]
    assert sorted(told) == ["Added to the shelf", "This book is already on the shelf"]
