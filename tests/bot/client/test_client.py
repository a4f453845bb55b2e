"""The client, on the loopback Discord: it comes online, tells Discord what it must, and stays."""

import asyncio
import json
import logging
from functools import partial
from pathlib import Path

import discord
import pytest

from bot.client import command_sync
from bot.client.connection import advised_shards
from bot.client.sessions import AN_HOUR_AT_MOST
from domain.errors import SettingsError, StorageError, StorageErrorCode
from tests.bot.online import Online, online
from tests.doubles.discord_api import DiscordDouble, Permission

EVERYWHERE = 0


async def answers(double: DiscordDouble) -> bool:
    """Whether the bot reacts to a command."""
    return "Reading with Marginalia" in (await double.user("ann").slash("help")).text


async def registered(double: DiscordDouble) -> None:
    await double.until(lambda: double.commands.commands.get(EVERYWHERE))


async def test_it_comes_online_and_offers_its_commands(double: DiscordDouble, tmp_path: Path) -> None:
    async with online(double, tmp_path) as state:
        assert state.told == ["Online as marginalia in 1 server(s)."]
        await registered(double)
        assert await answers(double)
        assert double.violations == []


async def test_it_asks_for_no_more_than_it_needs(double: DiscordDouble, tmp_path: Path) -> None:
    async with online(double, tmp_path) as state:
        assert state.bot.intents == discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, message_content=True
        )
        assert state.bot.allowed_mentions
        assert state.bot.allowed_mentions.to_dict() == discord.AllowedMentions.none().to_dict()


class TestCommandSync:
    async def test_discord_is_told_once_as_long_as_nothing_changes(self, double: DiscordDouble, tmp_path: Path) -> None:
        for _ in range(2):
            async with online(double, tmp_path):
                await registered(double)
                assert await answers(double)
        assert double.commands.syncs == 1

    @pytest.mark.parametrize("memory", ['{"%s": {"everywhere": "of an older version"}}', "damaged"])
    async def test_discord_is_told_again_when_a_command_may_have_changed(
        self, double: DiscordDouble, tmp_path: Path, memory: str
    ) -> None:
        (tmp_path / "discord-commands.json").write_text(memory.replace("%s", str(double.bot.id)))
        async with online(double, tmp_path) as state:
            await settled(double, state)
        async with online(double, tmp_path) as state:
            await settled(double, state)
        assert double.commands.syncs == 1

    async def test_a_guild_that_is_named_has_the_commands_at_once(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path, discord_guild_ids=(double.guild.id,)):
            await double.until(lambda: double.commands.commands.get(double.guild.id))
            assert await answers(double)
            assert double.commands.commands[EVERYWHERE] == []

    async def test_commands_are_never_offered_twice(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path) as state:
            await settled(double, state)
        async with online(double, tmp_path, discord_guild_ids=(double.guild.id,)) as state:
            await settled(double, state)
        assert double.commands.commands[EVERYWHERE] == []
        async with online(double, tmp_path) as state:
            await settled(double, state)
            offered = [each.name for each in state.bot.tree.get_commands()]
        assert double.commands.commands[double.guild.id] == []
        assert sorted(each["name"] for each in double.commands.commands[EVERYWHERE]) == sorted(offered)

    async def test_a_guild_the_bot_is_not_in_is_said_and_passed_over(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with online(double, tmp_path, discord_guild_ids=(12345, double.guild.id)) as state:
            await settled(double, state)
        assert double.commands.commands[double.guild.id]
        assert "take it out of DISCORD_GUILD_IDS" in caplog.text

    async def test_trouble_does_not_keep_the_bot_offline(self, double: DiscordDouble, tmp_path: Path) -> None:
        double.drop("PUT /applications/{app}/commands")
        async with online(double, tmp_path) as state:
            assert state.told

    async def test_commands_discord_does_not_take_are_told_once(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        double.fail("PUT /applications/{app}/commands", status=400, code=50035, times=9)
        async with online(double, tmp_path) as state:
            await settled(double, state)
        assert "does not take the commands" in caplog.text
        assert double.commands.syncs == 0

    async def test_descriptions_are_there_in_german_and_names_stay(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path):
            await registered(double)
        [chat] = [each for each in double.commands.commands[EVERYWHERE] if each["name"] == "chat"]
        assert chat["description_localizations"]["de"] == "Über ein Buch sprechen, in einem eigenen Thread"
        assert not chat["name_localizations"]
        assert chat["default_member_permissions"]

    async def test_commands_are_offered_where_they_make_sense(self, double: DiscordDouble, tmp_path: Path) -> None:
        """Contexts: servers, direct messages with the bot, private channels. Installations: by servers, by people."""
        async with online(double, tmp_path):
            await registered(double)
        told = double.commands.commands[EVERYWHERE]
        places = {each["name"]: (each["contexts"], each["integration_types"]) for each in told}
        for name in ("books", "progress", "usage", "privacy", "help"):
            assert places[name] == ([0, 1, 2], [0, 1]), name
        for name in ("chat", "conversations", "verbose"):
            assert places[name] == ([0, 1], [0, 1]), name

    async def test_commands_are_links_with_the_ids_of_the_server_they_are_read_in(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        other = double.add_guild("Elsewhere")
        async with online(double, tmp_path, discord_guild_ids=(double.guild.id, other.id)) as state:
            await settled(double, state)
            ann = double.user("ann")
            double.world.join(other, ann.user)
            for guild in (double.guild, other):
                [channel] = [each for each in guild.channels.values() if each.type == double.channel.type][:1]
                used = await ann.slash("books list", channel=channel)
                await double.until(partial(getattr, used, "messages"))
                [books] = [each for each in double.commands.commands[guild.id] if each["name"] == "books"]
                assert f"</books add:{books['id']}>" in str(used.message.embeds)

    async def test_a_node_that_has_not_told_discord_learns_the_ids_that_another_has_noted(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with online(double, tmp_path) as state:
            await settled(double, state)
        before = len(double.calls("GET /applications/{app}/commands"))
        async with online(double, tmp_path) as state:
            await settled(double, state)
            used = await double.user("ann").slash("books list")
            await double.until(lambda: used.messages)
        [books] = [each for each in double.commands.commands[EVERYWHERE] if each["name"] == "books"]
        assert f"</books add:{books['id']}>" in str(used.message.embeds)
        assert len(double.calls("GET /applications/{app}/commands")) == before
        assert double.commands.syncs == 1

    async def test_an_answer_that_cannot_be_read_is_logged_and_asked_for_again(
        self, double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(command_sync, "SYNC_AGAIN_AFTER_S", 0.2)
        whole = double.commands._kept
        monkeypatch.setattr(double.commands, "_kept", lambda *_: {"id": "1"})
        async with online(double, tmp_path):
            await double.until(lambda: "could not be told to Discord" in caplog.text)
            double.commands.commands.clear()
            monkeypatch.setattr(double.commands, "_kept", whole)
            await double.until((tmp_path / "discord-commands.json").exists)

    async def test_ids_that_an_older_version_has_not_noted_are_fetched_once(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with online(double, tmp_path) as state:
            await settled(double, state)
        file = tmp_path / "discord-commands.json"
        kept = json.loads(file.read_text())
        file.write_text(json.dumps({str(double.bot.id): kept[str(double.bot.id)]}))
        for _ in range(2):
            async with online(double, tmp_path) as state:
                await settled(double, state)
                assert not state.bot.links.lack(["books find", "help"], [])
        assert len(double.calls("GET /applications/{app}/commands")) == 1


async def settled(double: DiscordDouble, state: Online) -> None:
    """Until Discord has been told about the commands."""
    [syncing] = [task for task in state.bot._in_background if task.get_name() == "command sync"]
    await double.until(syncing.done)


class TestStayingOnline:
    async def test_a_first_connection_that_fails(self, double: DiscordDouble, tmp_path: Path) -> None:
        double.gateway.refuse = 1
        async with online(double, tmp_path, wait=False) as state:
            await double.until(lambda: state.told)
            assert len(state.bots) == 1

    async def test_a_log_in_that_fails_at_first(self, double: DiscordDouble, tmp_path: Path) -> None:
        double.drop("GET /users/{user}", times=4)
        double.fail("GET /oauth2/applications/@me", status=503)
        async with online(double, tmp_path, wait=False) as state:
            await double.until(lambda: state.told)
            await registered(double)
            assert await answers(double)

    async def test_a_gateway_that_drops(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path):
            await registered(double)
            await double.gateway.drop()
            await double.until(lambda: double.gateway.resumes == 1)
            assert await answers(double)
            assert double.gateway.identifies == 1

    async def test_a_request_to_reconnect(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path):
            await registered(double)
            double.gateway.reconnect()
            await double.until(lambda: double.gateway.resumes == 1)
            assert await answers(double)

    @pytest.mark.parametrize("resumable", [True, False])
    async def test_an_invalid_session(self, double: DiscordDouble, tmp_path: Path, resumable: bool) -> None:
        async with online(double, tmp_path) as state:
            await registered(double)
            double.gateway.invalidate(resumable=resumable)
            await double.until(lambda: double.gateway.resumes == 1 or len(state.told) == 2)
            assert await answers(double)

    async def test_an_event_that_breaks_the_parser(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with online(double, tmp_path) as state:
            await registered(double)
            double.gateway.garbage('{"op": 0, "s": 99, "t": "MESSAGE_CREATE", "d": {"id": "nonsense"}}')
            await double.until(lambda: len(state.told) == 2)
            assert await answers(double)
            assert len(state.bots) == 1
            assert len(double.gateway.live) == 1
        assert "no connection to Discord" in caplog.text

    async def test_a_database_that_is_away_as_it_connects_is_told_in_a_line(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        away = [StorageError(StorageErrorCode.UNREACHABLE, "The database is away.")]

        async def wait(*_: int) -> None:
            if away:
                raise away.pop()

        async with online(double, tmp_path) as state:
            await registered(double)
            monkeypatch.setattr(state.bot, "wait_to_identify", wait)
            double.gateway.garbage('{"op": 0, "s": 99, "t": "MESSAGE_CREATE", "d": {"id": "nonsense"}}')
            await double.until(lambda: len(state.told) == 2)
        [record] = [each for each in caplog.records if "The database is away." in each.getMessage()]
        assert record.exc_info is None

    async def test_a_gateway_that_is_away_for_long(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path) as state:
            await registered(double)
            double.gateway.refuse = 3
            await double.gateway.drop()
            await double.until(lambda: double.connected and double.gateway.refuse == 0)
            await double.until(lambda: state.bot.ws.open)
            assert await answers(double)

    async def test_sessions_that_keep_ending_are_not_used_up(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        double.commands.identify_limit["remaining"] = 3
        async with online(double, tmp_path, wait=False):
            await double.until(lambda: "session starts are left" in caplog.text)
            assert double.gateway.identifies == 0

    async def test_a_session_loop_inside_the_library_is_broken(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with online(double, tmp_path) as state:
            for _ in range(AN_HOUR_AT_MOST - 1):
                state.bot.identify_limit.count()
            await double.until(lambda: "the next one is in 3" in caplog.text)
            await double.until(lambda: not double.connected)
            assert not state.task.done()


class TestWhatPatienceDoesNotMend:
    async def failure(self, state: Online) -> str:
        with pytest.raises(SettingsError) as caught:
            await asyncio.wait_for(state.task, 30)
        return caught.value.message

    async def test_a_wrong_token(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path, token="wrong", wait=False) as state:
            sentence = await self.failure(state)
        assert "DISCORD_TOKEN" in sentence
        assert "Bot → Reset Token" in sentence

    async def test_a_token_that_is_taken_back_while_online(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path) as state:
            await double.gateway.drop(4004)
            assert "Reset Token" in await self.failure(state)

    async def test_a_bot_that_has_grown_too_large(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with online(double, tmp_path) as state:
            await double.gateway.drop(4011)
            assert "code 4011" in await self.failure(state)

    async def test_an_address_that_is_not_discords(self, double: DiscordDouble, tmp_path: Path) -> None:
        double.fail("GET /users/{user}", status=404, times=9)
        async with online(double, tmp_path, wait=False) as state:
            assert "DISCORD_API_URL" in await self.failure(state)

    async def test_an_address_that_is_not_discords_where_the_number_of_shards_is_asked_for(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with online(double, tmp_path):  # which points discord.py at the double
            assert await advised_shards(double.token) == 1
            double.fail("GET /users/{user}", status=404, times=9)
            with pytest.raises(SettingsError, match="DISCORD_API_URL"):
                await asyncio.wait_for(advised_shards(double.token), 30)


class TestWithoutTheContentIntent:
    async def test_it_answers_mentions_only_and_says_so(
        self, double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        double.gateway.privileged = 0
        async with online(double, tmp_path) as state:
            assert not state.bot.intents.message_content
            assert not state.bot.intents.message_content
            await registered(double)
            told = await double.user("ann").slash("help")
            assert "I can't read other messages" in told.text
        assert "Message Content Intent" in caplog.text
        assert "Privileged Gateway Intents" in caplog.text

    async def test_it_answers_mentions_only_if_the_gateway_refuses_the_intent(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        double.gateway.privileged = 1 << 1
        async with online(double, tmp_path) as state:
            assert [bot.intents.message_content for bot in state.bots] == [True, False]


async def test_missing_permissions_are_logged_by_name(
    double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    everyone = double.guild.everyone
    everyone.permissions &= ~Permission.EMBED_LINKS
    async with online(double, tmp_path):
        assert "lacks permissions: manage_threads, embed_links" in caplog.text


async def test_nothing_anybody_wrote_is_logged(
    double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with online(double, tmp_path):
        await double.user("ann").say(None, "the butler did it")
        await registered(double)
        assert await answers(double)
    assert "butler" not in caplog.text


async def test_a_mention_is_no_command(double: DiscordDouble, tmp_path: Path) -> None:
    async with online(double, tmp_path):
        await double.user("ann").say(None, "help", mention=double.bot)
        await registered(double)
        assert await answers(double)
        assert "Reading with Marginalia" not in "".join(double.said())
