"""Every failure ends in a sentence, for the person who asked and for nobody else."""

import logging
import sqlite3
import time
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from discord import app_commands

from cogs.conversation.recovery import OpenReplies, is_left
from cogs.errors import Refusal, sentence_for
from cogs.i18n import speech_for
from cogs.interactions import on_stale_press
from domain.book import Page
from domain.concurrency import CURRENT_LEASE, HeldLease
from domain.errors import (
    BookError,
    BookErrorCode,
    ClubError,
    ClubErrorCode,
    DownloadError,
    DownloadErrorCode,
    LLMError,
    LLMErrorCode,
    MarginaliaError,
    Worded,
)
from domain.library.addressing import page_missing
from domain.records import OpenReply
from storage.sqlite.connection import storage_error
from tests.cogs.stage import Stage, text_of
from tests.storage.values import MIDNIGHT

SAY = speech_for(discord.Locale.american_english)


def response(status: int) -> Any:
    """As much of an HTTP response as discord.py's errors look at."""
    return SimpleNamespace(status=status, reason="because")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Refusal("No."), "No."),
        (BookError(BookErrorCode.TOO_LARGE, "Too large."), "Too large."),
        (app_commands.MissingPermissions(["manage_threads"]), "You need: “Manage Threads”."),
        (app_commands.MissingPermissions(["ban_members"]), "You need: “Ban Members”."),
        (app_commands.BotMissingPermissions(["embed_links"]), "I'm missing permissions here: “Embed Links”."),
        (app_commands.NoPrivateMessage(), "Use this in a server"),
        (app_commands.CheckFailure(), "You can't use this command here."),
        (app_commands.CommandNotFound("old", []), "This command has changed."),
        (discord.RateLimited(61.0), "Discord wants me to wait 61 seconds"),
        (discord.RateLimited(0.3), "Discord wants me to wait 1 second before"),
        (discord.Forbidden(response(403), "no"), "I'm missing a permission"),
        (discord.NotFound(response(404), {"code": 10003}), "Somebody deleted the channel or thread for this"),
        (discord.DiscordServerError(response(502), "no"), "Discord is having trouble"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_known_failures_have_sentences_of_their_own(error: Exception, sentence: str) -> None:
    assert sentence in sentence_for(error, SAY)


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [
        (
            discord.Locale.american_english,
            "There is no room left for the database marginalia.db: free some space on the disk, then try again.",
        ),
        (discord.Locale.german, "Das ließ sich nicht speichern. Bitte versuche es noch einmal."),
    ],
)
@pytest.mark.parametrize("folder", ["/srv/marginalia/", "/srv/my books/2026/"])
def test_nobody_is_told_in_which_folder_the_data_is(locale: discord.Locale, sentence: str, folder: str) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    told = sentence_for(storage_error(full, f"{folder}marginalia.db"), speech_for(locale))
    assert told == sentence


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            page_missing("99", [Page(1, "1", 0, 9), Page(2, "2", 9, 20)], estimated=False),
            "Eine Seite 99 gibt es in diesem Buch nicht (es hat 2 Seiten).",
        ),
        (
            LLMError(LLMErrorCode.OVERLOADED, Worded("So {when}.", when="now")),
            "Das Modell ist gerade überlastet oder nicht bereit. Bitte versuche es gleich noch einmal.",
        ),
        (
            ClubError(ClubErrorCode.NO_CLUB, "No club is reading here. Start one with /club start."),
            "Hier liest kein Lesekreis. Mit /club start beginnst du einen.",
        ),
        (
            BookError(
                BookErrorCode.TOO_LARGE,
                Worded("This book is longer than {most:,} characters. Please add it in parts.", most=9_000_000),
            ),
            "Dieses Buch ist länger als 9.000.000 Zeichen. Bitte füge es in Teilen hinzu.",
        ),
        (
            DownloadError(
                DownloadErrorCode.CATALOGUE_DOWN,
                Worded(
                    "{what} Please try again in a few minutes, or add a book by its address or as a file.",
                    what=Worded("The catalogue of Project Gutenberg takes too long to answer."),
                ),
            ),
            "Der Katalog von Project Gutenberg antwortet nicht schnell genug. Bitte versuche es in ein paar Minuten "
            "noch einmal, oder füge ein Buch über seine Adresse oder als Datei hinzu.",
        ),
    ],
)
def test_in_another_language_no_english_is_left(error: MarginaliaError, sentence: str) -> None:
    assert sentence_for(error, speech_for(discord.Locale.german)) == sentence


def test_a_command_can_be_clicked_in_a_sentence_of_ours_alone() -> None:
    full = BookError(BookErrorCode.TOO_LARGE, Worded("Only {limit} books fit. Use /books remove.", limit=3))
    assert sentence_for(full, SAY) == "Only 3 books fit. Use /books remove."
    named = BookError(BookErrorCode.NOT_FOUND, Worded("There's no book called “{title}”.", title="/books remove"))
    assert sentence_for(named, SAY) != named.message
    assert sentence_for(named, SAY).replace("\u200b", "") == named.message


def test_a_worded_sentence_takes_nothing_but_the_names_of_values() -> None:
    assert Worded("{one} of {two:,}", one="{}", two=1_000) == "{} of 1,000"
    for template in ("{one.__class__}", "{0}", "{one[0]}"):
        with pytest.raises(ValueError, match="placeholder"):
            Worded(template, one="")


def test_an_unknown_failure_is_logged_under_the_id_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    told = sentence_for(ZeroDivisionError("secret detail"), SAY)
    assert "secret detail" not in told
    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info
    assert str(record.args[0]) in told  # type: ignore[index]


class TestBroken:
    @pytest.fixture
    def expected_errors(self) -> list[str]:
        """The database closes under whatever the bot does at the time."""
        return ["what ", "the conversations ", "which answers ", "command ", "failure "]

    async def test_a_command_that_breaks_says_so(self, stage: Stage) -> None:
        await stage.app.storage.close()
        told = await stage.ann.slash(stage.channel, "books list")
        assert told.ephemeral
        assert text_of(told).strip()
        assert "Traceback" not in text_of(told)

    async def test_a_button_that_breaks_says_so(self, stage: Stage) -> None:
        shown = await stage.ann.slash(stage.channel, "privacy")
        await stage.app.storage.close()
        assert shown.response
        told = await stage.ann.click(shown.response, label="Give me a copy")
        assert told.ephemeral
        assert "Traceback" not in text_of(told)
        assert text_of(told).strip()


async def test_a_button_of_an_older_version_says_so(stage: Stage) -> None:
    shown = await stage.ann.slash(stage.channel, "privacy")
    stage.bot.remove_dynamic_items(*stage.bot.handled)
    stage.bot.add_dynamic_items(on_stale_press([]))
    assert shown.response
    told = await stage.ann.click(shown.response, label="Give me a copy")
    assert "from an older version" in text_of(told)


async def test_a_command_discord_still_shows_but_the_bot_no_longer_has(stage: Stage) -> None:
    stage.bot.tree.remove_command("usage")
    told = await stage.ann.slash(stage.channel, "usage")
    assert "This command has changed" in text_of(told)


@pytest.mark.parametrize(
    ("noted_under", "epoch", "mine", "ends_it"),
    [
        ("shard/1", 7, 1, True),  # its node is gone, and this one has its shard
        ("shard/1", 8, 1, False),  # this node makes it
        ("shard/1", 7, 0, False),  # perhaps it is alive on another node
        ("shard/9", 7, 0, True),  # there were more shards then
        ("shard/9", 7, 1, False),
        ("", 0, 0, True),  # there was only one process then
    ],
)
def test_a_node_ends_the_replies_of_those_before_it_and_leaves_the_living_alone(
    noted_under: str, epoch: int, mine: int, ends_it: bool
) -> None:
    reply = OpenReply("9", "dodo", None, None, "key", "{}", MIDNIGHT, noted_under, epoch)
    assert is_left(reply, HeldLease(f"shard/{mine}", "me", 8, 0.0), (mine, 2)) is ends_it
    assert is_left(reply, None, (0, 1)), "the only process has none but those before it"


def waited_for(stage: Stage) -> Any:
    """An interaction to which somebody waits for a reply."""
    return SimpleNamespace(
        id=9,
        user=stage.ann,
        guild_id=None,
        channel_id=None,
        token="key",
        locale=discord.Locale.german,
        context=discord.app_commands.AppCommandContext(dm_channel=True),
        extras={},
        client=stage.bot,
        is_guild_integration=lambda: True,
        is_user_integration=lambda: False,
    )


async def test_an_interaction_that_discord_repeats_after_a_takeover_is_left_as_it_was_noted(stage: Stage) -> None:
    known = stage.app.open_replies
    of_the_dead = OpenReply("9", "dodo", None, None, "key", '{"action": "reading"}', MIDNIGHT, "shard/0", 7)
    await known.note(of_the_dead)
    replies, repeated = OpenReplies(stage.bot, known), waited_for(stage)
    mine = CURRENT_LEASE.set(HeldLease("shard/0", "me", 8, time.monotonic() + 60))
    try:
        await replies.note(repeated, hidden=True)
        replies.ended(repeated)
        await replies.settle()
        assert await known.list() == [of_the_dead]
    finally:
        CURRENT_LEASE.reset(mine)


async def test_a_node_that_has_lost_its_shard_leaves_its_replies_to_the_next_one(stage: Stage) -> None:
    known = stage.app.open_replies
    replies, lease = OpenReplies(stage.bot, known), HeldLease("shard/0", "me", 8, time.monotonic() + 60)
    answered = waited_for(stage)
    mine = CURRENT_LEASE.set(lease)
    try:
        await replies.note(answered, hidden=True)
        held, lease.valid_until = lease.valid_until, 0.0
        replies.ended(answered)
        await replies.settle()
        assert [each.id for each in await known.list()] == ["9"]
        lease.valid_until = held
        replies.ended(answered)
        await replies.settle()
        assert await known.list() == []
    finally:
        CURRENT_LEASE.reset(mine)
