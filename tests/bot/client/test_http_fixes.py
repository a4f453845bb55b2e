"""A broken connection costs nobody the answer to a command, and nobody reads it twice."""

from pathlib import Path

import pytest

from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import DiscordDouble, Permission
from tests.doubles.discord_api.pointing import pointed_at

CALLBACK, ORIGINAL, FOLLOWUP = "POST /interactions/*", "PATCH /webhooks/*", "POST /webhooks/*"

EITHER_WAY = pytest.mark.parametrize("took_effect", [False, True], ids=["before it arrives", "after it has arrived"])


@EITHER_WAY
async def test_an_acknowledgement_gets_through(tmp_path: Path, took_effect: bool) -> None:
    async with DiscordDouble() as double:
        with pointed_at(double):
            async with scene(double, tmp_path) as room:
                await room.prepare()
                await _use_commands(room, took_effect)
        assert double.violations == []


async def _use_commands(room: Scene, took_effect: bool) -> None:
    room.double.drop(CALLBACK, took_effect=took_effect)
    helped = await room.ann.slash("help")
    await room.until(lambda: "Reading with Marginalia" in helped.text)
    room.double.drop(CALLBACK, took_effect=took_effect)
    room.double.drop(ORIGINAL, times=2, took_effect=took_effect)
    listed = await room.ann.slash("conversations list")
    await room.until(lambda: "Talk" in listed.text)
    room.double.drop(FOLLOWUP, took_effect=took_effect)
    exported = await room.ann.slash("conversations export", channel=room.thread)
    await room.until(lambda: exported.messages)
    assert exported.messages[-1].attachments[0].data.startswith(b"# Talk")


async def test_a_connection_that_stays_broken_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with DiscordDouble() as double:
        with pointed_at(double):
            async with scene(double, tmp_path) as room:
                await room.prepare()
                double.drop(ORIGINAL, times=3)
                listed = await room.ann.slash("conversations list")
                await room.until(lambda: "Discord is having trouble" in listed.text)
    assert "unexpected error" not in caplog.text


@EITHER_WAY
async def test_a_thread_is_opened_renamed_and_deleted_over_a_broken_line(tmp_path: Path, took_effect: bool) -> None:
    async with DiscordDouble() as double:
        double.world.grant(double.guild, double.bot, Permission.MANAGE_THREADS)
        with pointed_at(double):
            async with scene(double, tmp_path) as room:
                await room.prepare()
                double.drop("POST /channels/*/threads", took_effect=took_effect)
                thread = await room.chat(await room.book(), title="Over a bad line")
                assert len(double.threads()) == 2
                double.drop("PATCH /channels/{channel}", took_effect=took_effect)
                renamed = await room.ann.slash("conversations rename", channel=thread, title="Over a good one")
                await room.until(lambda: "It's now called" in renamed.text)
                assert thread.name == "Over a good one"
                asked = await room.ann.slash("conversations delete", channel=thread)
                await room.until(lambda: asked.messages)
                double.drop("DELETE /channels/{channel}", took_effect=took_effect)
                await room.ann.click(asked.message, label="Delete it")
                await room.until(lambda: double.threads() == [room.thread])


async def test_an_acknowledgement_that_discord_took_and_said_it_did_not_counts(tmp_path: Path) -> None:
    async with DiscordDouble() as double:
        with pointed_at(double):
            async with scene(double, tmp_path) as room:
                await room.prepare()
                double.fail(CALLBACK, status=500, took_effect=True)
                listed = await room.ann.slash("conversations list")
                await room.until(lambda: "Talk" in listed.text)
