"""The loopback Discord, proved with a small bot on the real discord.py client."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Self

import aiohttp
import discord
import pytest
from discord import app_commands

from tests.doubles.discord_api import ChannelType, DiscordDouble, Message, MessageFlag, MessageType, Permission, Window
from tests.doubles.discord_api.pointing import pointed_at

PATCH_MESSAGE = "PATCH /channels/{channel}/messages/{message}"
POST_MESSAGE = "POST /channels/{channel}/messages"


class Counter(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"count:(?P<count>\d+)"):
    """A button that remembers by its name."""

    def __init__(self, count: int) -> None:
        super().__init__(discord.ui.Button(label=f"pressed {count}", custom_id=f"count:{count}"))
        self.count = count

    @classmethod
    async def from_custom_id(cls, interaction: Any, item: Any, match: Any) -> Self:
        return cls(int(match["count"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        view = discord.ui.View(timeout=None)
        view.add_item(Counter(self.count + 1))
        await interaction.response.edit_message(view=view)


class Form(discord.ui.Modal, title="A form"):
    name: discord.ui.TextInput["Form"] = discord.ui.TextInput(label="Name", custom_id="name")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"hello {self.name.value}", ephemeral=True)


class SmallBot(discord.Client):
    def __init__(self, **options: Any) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            guild_ready_timeout=0.05,
            **options,
        )
        self.tree = app_commands.CommandTree(self)
        self.events: list[tuple[str, Any]] = []
        add_commands(self.tree)

    async def setup_hook(self) -> None:
        self.add_dynamic_items(Counter)
        await self.tree.sync()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """A test need not wait five seconds before it identifies again."""

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        self.events.append((event, args))
        super().dispatch(event, *args, **kwargs)

    def seen(self, event: str) -> int:
        return sum(name == event for name, _ in self.events)

    async def on_message(self, message: discord.Message) -> None:
        if message.content.startswith("echo "):
            await message.channel.send(message.content.removeprefix("echo "))


def add_commands(tree: app_commands.CommandTree[SmallBot]) -> None:
    @tree.command(description="Say it back")
    async def echo(interaction: discord.Interaction, text: str, times: int = 1) -> None:
        await interaction.response.send_message(text * times)

    @tree.command(description="Think, then answer")
    async def slow(interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True)
        await interaction.followup.send("first")
        await interaction.followup.send("second")
        await interaction.edit_original_response(content="first, edited")

    @tree.command(description="A button")
    async def button(interaction: discord.Interaction) -> None:
        view = discord.ui.View(timeout=None)
        view.add_item(Counter(0))
        await interaction.response.send_message("press", view=view)

    @tree.command(description="A form")
    async def form(interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Form())

    @tree.command(description="Read a file")
    async def read(interaction: discord.Interaction, file: discord.Attachment) -> None:
        data = await file.read()
        await interaction.response.send_message(file=discord.File(io.BytesIO(data.upper()), file.filename))

    @tree.command(description="Never answers")
    async def silent(interaction: discord.Interaction) -> None:
        await asyncio.sleep(0)

    @tree.command(description="Answers twice")
    async def twice(interaction: discord.Interaction) -> None:
        response = interaction.response
        await response.send_message("once")
        response._response_type = None
        try:
            await response.send_message("twice")
        except discord.HTTPException as error:
            await interaction.followup.send(f"refused: {error.code}")

    @echo.autocomplete("text")
    async def complete(interaction: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
        words = ["white rabbit", "white queen", "red queen"]
        return [app_commands.Choice(name=word, value=word) for word in words if current in word]

    @tree.context_menu(name="Count letters")
    async def letters(interaction: discord.Interaction, message: discord.Message) -> None:
        await interaction.response.send_message(str(len(message.content)), ephemeral=True)


@pytest.fixture
async def double() -> AsyncIterator[DiscordDouble]:
    async with DiscordDouble() as double:
        with pointed_at(double):
            yield double


@pytest.fixture
async def bot(double: DiscordDouble) -> AsyncIterator[SmallBot]:
    async with running(double, SmallBot()) as bot:
        yield bot


class running:
    def __init__(self, double: DiscordDouble, bot: SmallBot) -> None:
        self.double, self.bot = double, bot

    async def __aenter__(self) -> SmallBot:
        self.task = asyncio.create_task(self.bot.start(self.double.token))
        await self.double.until(lambda: self.bot.is_ready() or self.task.done())
        return self.bot

    async def __aexit__(self, *exc: object) -> None:
        await self.bot.close()
        with suppress(asyncio.CancelledError):
            await self.task


def channel_of(bot: SmallBot, double: DiscordDouble) -> discord.TextChannel:
    channel = bot.get_channel(double.channel.id)
    assert isinstance(channel, discord.TextChannel)
    return channel


async def test_the_bot_logs_in_and_registers_its_commands(double: DiscordDouble, bot: SmallBot) -> None:
    assert bot.user and bot.user.name == "marginalia"
    assert bot.guilds[0].name == "Bookworms"
    assert {command["name"] for command in double.commands.commands[0]} >= {"echo", "slow", "Count letters"}
    assert double.violations == []


async def test_a_wrong_token_is_refused(double: DiscordDouble) -> None:
    async with SmallBot() as bot:
        with pytest.raises(discord.LoginFailure):
            await bot.login("wrong")


async def test_a_message_is_answered_and_the_order_is_kept(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    await ann.say(None, "echo hello")
    await double.until(lambda: double.said() == ["hello"])
    assert [message.author.name for message in double.messages()] == ["ann", "marginalia"]


async def test_edits_and_deletions_reach_the_bot(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    message = await ann.say(None, "fist")
    await ann.edit(message, "first")
    await ann.delete(message)
    await double.until(lambda: bot.seen("raw_message_delete"))
    assert bot.seen("raw_message_edit") == 1


async def test_without_the_content_intent_only_mentions_are_readable(double: DiscordDouble) -> None:
    bot = SmallBot()
    bot._connection._intents.message_content = False
    async with running(double, bot):
        ann = double.user("ann")
        await ann.say(None, "echo unread")
        answer = await ann.say(None, "echo read", mention=double.bot)
        await double.until(lambda: bot.seen("message") == 2)
        contents = [args[0].content for name, args in bot.events if name == "message"]
    assert contents == ["", answer.content]


async def test_slash_commands_are_checked_as_a_client_checks_them(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    said = await ann.slash("echo", text="ho", times=3)
    assert said.text.strip() == "hohoho"
    assert said.message.type is MessageType.CHAT_INPUT_COMMAND
    with pytest.raises(AssertionError, match="required"):
        await ann.slash("echo")
    with pytest.raises(AssertionError, match="no command"):
        await ann.slash("nonsense")


async def test_autocomplete_offers_choices(double: DiscordDouble, bot: SmallBot) -> None:
    choices = await double.user("ann").autocomplete("echo", "text", "white")
    assert [choice["name"] for choice in choices] == ["white rabbit", "white queen"]


async def test_a_deferred_answer_fills_its_placeholder(double: DiscordDouble, bot: SmallBot) -> None:
    asked = await double.user("ann").slash("slow")
    await double.until(lambda: "edited" in asked.text)
    assert [message.content for message in asked.messages] == ["first, edited", "second"]
    assert [message.ephemeral for message in asked.messages] == [True, False]
    assert double.said() == ["second"]


async def test_a_command_that_is_not_answered_in_time_fails(double: DiscordDouble, bot: SmallBot) -> None:
    asked = await double.user("ann").slash("silent", wait=False)
    await double.until(lambda: bot.seen("interaction"))
    double.advance(3.1)
    assert asked.failed
    with pytest.raises(discord.NotFound) as caught:
        await last_interaction(bot).response.send_message("too late")
    assert caught.value.code == 10062


async def test_a_second_acknowledgement_is_refused(double: DiscordDouble, bot: SmallBot) -> None:
    asked = await double.user("ann").slash("twice")
    await double.until(lambda: len(asked.messages) == 2)
    assert asked.messages[1].content == "refused: 40060"


async def test_a_token_lives_a_quarter_of_an_hour(double: DiscordDouble, bot: SmallBot) -> None:
    await double.user("ann").slash("echo", text="hi")
    double.advance(15 * 60 + 1)
    with pytest.raises(discord.HTTPException) as caught:
        await last_interaction(bot).followup.send("late")
    assert caught.value.code == 50027


async def test_a_button_remembers_by_its_name(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    asked = await ann.slash("button")
    message = asked.message
    await ann.click(message, label="pressed 0")
    await ann.click(message, custom_id="count:1")
    assert [button.label for button in message.buttons] == ["pressed 2"]


async def test_a_modal_is_filled_in_and_sent(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    opened = await ann.slash("form")
    answer = await ann.submit(opened, name="Ann")
    assert answer.message.content == "hello Ann"


async def test_files_go_both_ways(double: DiscordDouble, bot: SmallBot) -> None:
    answer = await double.user("ann").slash("read", file=double.file("a.txt", b"quiet"))
    await double.until(lambda: answer.messages)
    assert answer.message.attachments[0].data == b"QUIET"
    async with aiohttp.ClientSession() as web, web.get(answer.message.attachments[0].url) as response:
        assert await response.read() == b"QUIET"


async def test_a_message_menu(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    answer = await ann.menu("Count letters", await ann.say(None, "four"))
    assert answer.message.content == "4"


async def test_a_thread_from_a_message_has_its_id(double: DiscordDouble, bot: SmallBot) -> None:
    channel = channel_of(bot, double)
    message = await channel.send("start here")
    thread = await message.create_thread(name="A thread")
    assert thread.id == message.id
    assert double.messages(double.threads()[0])[0].type is MessageType.THREAD_STARTER_MESSAGE
    with pytest.raises(discord.HTTPException) as caught:
        await message.create_thread(name="Another")
    assert caught.value.code == 160004


async def test_an_archived_thread_refuses_edits_and_wakes_when_written_to(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    thread = await channel_of(bot, double).create_thread(name="A thread", type=discord.ChannelType.public_thread)
    message = await thread.send("before")
    shown = double.world.channels[thread.id]
    await ann.archive(shown)
    with pytest.raises(discord.HTTPException) as caught:
        await message.edit(content="after")
    assert caught.value.code == 50083
    await thread.send("good morning")
    assert not shown.archived


async def test_a_private_thread_is_seen_by_its_members_alone(double: DiscordDouble, bot: SmallBot) -> None:
    ann, bob = double.user("ann"), double.user("bob")
    thread = await channel_of(bot, double).create_thread(name="Ours", type=discord.ChannelType.private_thread)
    await thread.add_user(discord.Object(ann.id))
    shown = double.world.channels[thread.id]
    await ann.say(shown, "echo inside")
    await double.until(lambda: "inside" in double.said(shown))
    with pytest.raises(AssertionError):
        await bob.say(shown, "let me in")


async def test_the_same_nonce_is_one_message(double: DiscordDouble, bot: SmallBot) -> None:
    channel = channel_of(bot, double)
    first = await channel.send("once", nonce="turn-1:0")
    again = await channel.send("once", nonce="turn-1:0")
    assert first.id == again.id
    assert double.said() == ["once"]
    await first.delete()
    with pytest.raises(discord.NotFound):
        await channel.send("once", nonce="turn-1:0")


async def test_a_send_whose_answer_is_lost_has_taken_place(double: DiscordDouble, bot: SmallBot) -> None:
    channel = channel_of(bot, double)
    double.drop(POST_MESSAGE, took_effect=True)
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await channel.send("heard", nonce="turn-1:0")
    assert double.said() == ["heard"]
    assert (await channel.send("heard", nonce="turn-1:0")).content == "heard"
    assert double.said() == ["heard"]


async def test_limits_are_enforced_and_remembered(double: DiscordDouble, bot: SmallBot) -> None:
    channel = channel_of(bot, double)
    for body in ({"content": "x" * 2001}, {"embed": discord.Embed(description="x" * 4097)}):
        with pytest.raises(discord.HTTPException) as caught:
            await channel.send(**body)
        assert caught.value.code == 50035
    with pytest.raises(discord.HTTPException) as caught:
        await channel.send("   ")
    assert caught.value.code == 50006
    assert len(double.violations) == 2


async def test_content_that_could_ping_is_remembered(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    channel = channel_of(bot, double)
    await channel.send(ann.mention)
    assert double.violations == []
    await channel.send(ann.mention, allowed_mentions=discord.AllowedMentions(users=True))
    assert len(double.violations) == 1
    assert [ann.id in message.pings for message in double.messages()] == [False, True]


async def test_the_client_keeps_the_limits_it_is_told(double: DiscordDouble, bot: SmallBot) -> None:
    double.rest.limits.windows[PATCH_MESSAGE] = Window(2, 0.3)
    message = await channel_of(bot, double).send("0")
    started = time.monotonic()
    for number in range(5):
        await message.edit(content=str(number))
    assert time.monotonic() - started >= 0.6
    assert double.rate_limited == []


async def test_a_429_is_waited_for(double: DiscordDouble, bot: SmallBot) -> None:
    double.fail(POST_MESSAGE, status=429, retry_after=0.05)
    await channel_of(bot, double).send("at last")
    assert [call.status for call in double.calls(POST_MESSAGE)] == [429, 200]
    double.fail(POST_MESSAGE, status=429, through_proxy=False)
    with pytest.raises(discord.HTTPException):
        await channel_of(bot, double).send("banned")


async def test_renaming_twice_is_enough(double: DiscordDouble) -> None:
    async with running(double, SmallBot(max_ratelimit_timeout=30)) as bot:
        thread = await channel_of(bot, double).create_thread(name="0", type=discord.ChannelType.public_thread)
        for name in ("1", "2"):
            await thread.edit(name=name)
        with pytest.raises(discord.RateLimited):
            await thread.edit(name="3")
        double.advance(601)
        await thread.edit(name="4")


async def test_missing_permissions_are_refused(double: DiscordDouble, bot: SmallBot) -> None:
    double.world.forbid(double.channel, double.bot, Permission.SEND_MESSAGES)
    with pytest.raises(discord.Forbidden) as caught:
        await channel_of(bot, double).send("may I?")
    assert caught.value.code == 50013


@pytest.mark.parametrize(
    ("lost", "parts", "code"),
    [
        (Permission.EMBED_LINKS, {"embed": discord.Embed(title="?")}, 50013),
        (Permission.ATTACH_FILES, {"file": discord.File(io.BytesIO(b"?"), "a.txt")}, 50013),
        (Permission.READ_MESSAGE_HISTORY, {"reference": True}, 160002),
    ],
)
async def test_some_parts_of_a_message_need_more(
    double: DiscordDouble, bot: SmallBot, lost: Permission, parts: dict[str, Any], code: int
) -> None:
    channel = channel_of(bot, double)
    first = await channel.send("may I?")
    double.world.forbid(double.channel, double.bot, lost)
    if "reference" in parts:
        parts = {"reference": first}
    with pytest.raises(discord.Forbidden) as caught:
        await channel.send("and this?", **parts)
    assert caught.value.code == code


async def test_announcement_channels_have_threads_of_their_own(double: DiscordDouble, bot: SmallBot) -> None:
    news = double.world.add_channel(double.guild, "news", ChannelType.ANNOUNCEMENT)
    await double.until(lambda: bot.get_channel(news.id))
    channel = bot.get_channel(news.id)
    assert isinstance(channel, discord.TextChannel)
    with pytest.raises(discord.HTTPException) as caught:
        await channel.create_thread(name="A thread", type=discord.ChannelType.public_thread)
    assert caught.value.code == 50024
    assert (await channel.create_thread(name="A thread", type=discord.ChannelType.news_thread)).is_news()


async def test_a_dropped_gateway_is_resumed_with_what_was_missed(double: DiscordDouble, bot: SmallBot) -> None:
    await double.gateway.drop()
    await double.user("ann").say(None, "echo missed")
    await double.until(lambda: double.said() == ["missed"])
    assert (double.gateway.identifies, double.gateway.resumes) == (1, 1)


async def test_events_may_come_twice_after_a_resume(double: DiscordDouble, bot: SmallBot) -> None:
    await double.user("ann").say(None, "once")
    await double.until(lambda: bot.seen("message") == 1)
    double.gateway.replay = 1
    double.gateway.reconnect()
    await double.until(lambda: bot.seen("resumed"))
    assert bot.seen("message") == 2


@pytest.mark.parametrize(("resumable", "identifies"), [(True, 1), (False, 2)])
async def test_an_invalid_session(double: DiscordDouble, bot: SmallBot, resumable: bool, identifies: int) -> None:
    double.gateway.invalidate(resumable=resumable)
    await double.until(lambda: bot.seen("resumed") or bot.seen("ready") == 2)
    assert double.gateway.identifies == identifies


async def test_unknown_events_are_passed_over(double: DiscordDouble, bot: SmallBot) -> None:
    double.gateway.garbage('{"op": 0, "t": "SOMETHING_NEW", "d": {}}')
    double.gateway.garbage('{"op": 77, "d": null}')
    await double.user("ann").say(None, "echo still here")
    await double.until(lambda: double.said() == ["still here"])


async def test_the_gateway_may_refuse_to_open(double: DiscordDouble) -> None:
    double.gateway.refuse = 1
    async with aiohttp.ClientSession() as web:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await web.ws_connect(double.environment["DISCORD_GATEWAY_URL"])
        async with web.ws_connect(double.gateway_url) as socket:
            assert (await socket.receive_json())["op"] == 10


async def test_the_round_trip_is_felt(double: DiscordDouble, bot: SmallBot) -> None:
    double.round_trip = 0.1
    started = time.monotonic()
    await channel_of(bot, double).send("slow")
    assert time.monotonic() - started >= 0.1


async def test_history_is_read_as_discord_serves_it(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    said: list[Message] = [await ann.say(None, str(number)) for number in range(120)]
    channel = channel_of(bot, double)
    assert [message.content async for message in channel.history(limit=None, oldest_first=True)] == [
        each.content for each in said
    ]
    later = channel.history(after=discord.Object(said[99].id), limit=None)
    assert [message.content async for message in later] == [str(number) for number in range(100, 120)]


async def test_people_are_found_by_their_id(double: DiscordDouble, bot: SmallBot) -> None:
    ann = double.user("ann")
    assert (await bot.guilds[0].fetch_member(ann.id)).name == "ann"
    assert await bot.guilds[0].query_members(user_ids=[ann.id], limit=1)


async def test_suppressed_previews_stay_so_unless_an_edit_says_otherwise(double: DiscordDouble, bot: SmallBot) -> None:
    channel = channel_of(bot, double)
    message = await channel.send("text", suppress_embeds=True)
    shown = double.messages()[0]
    await channel.get_partial_message(message.id).edit(content="more")
    assert MessageFlag.SUPPRESS_EMBEDS in shown.flags
    await message.edit(content="and more")
    assert MessageFlag.SUPPRESS_EMBEDS not in shown.flags


def last_interaction(bot: SmallBot) -> discord.Interaction[Any]:
    found: list[discord.Interaction[Any]] = [args[0] for name, args in bot.events if name == "interaction"]
    return found[-1]


async def test_it_closes_in_peace_while_a_request_is_under_way(caplog: pytest.LogCaptureFixture) -> None:
    """The server waits a moment for its handlers; one that ends in the same moment must not find the waiting ended."""
    double = DiscordDouble(round_trip=0.19)
    await double.start()
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.get(f"{double.api_url}/gateway"))
        await double.until(lambda: double.rest_log and double.rest_log[0].finished)
        asyncio.get_running_loop().call_later(0.09, time.sleep, 0.06)  # both ends come in one round of the loop
        await double.close()
        await asyncio.gather(asking, return_exceptions=True)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
