"""The Discord client: intents, cogs, command sync, one handler for command errors."""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import discord
import yarl
from discord import app_commands
from discord.ext import commands
from discord.gateway import DiscordWebSocket

from bot.app import App
from bot.client.command_sync import CommandLinks, CommandMemory, SharedCommandMemory, stay_in_sync
from bot.client.http_fixes import CURRENT_INTERACTION, patch_requests
from bot.client.sessions import (
    CannotResumeError,
    GatewaySession,
    IdentifyLimit,
    SharedIdentifyLimit,
    stop_heartbeats,
)
from bot.logs import HealthFile
from cogs.basics import FirstSteps, FirstWords, Help, Usage, Verbose
from cogs.books import Books
from cogs.clubs.cog import Clubs
from cogs.conversation.cog import ConversationCog
from cogs.conversation.recovery import OpenReplies
from cogs.conversations import Chat, Conversations
from cogs.errors import Refusal, excuse, report, turn_away
from cogs.i18n import CatalogueTranslator
from cogs.interactions import KEEP, assert_may_be_used_here, carry_out_form, keep, on_press, on_stale_press
from cogs.menus import ContextMenus
from cogs.opening import Opening
from cogs.permissions import missing
from cogs.privacy import Privacy
from cogs.progress import Progress
from cogs.reading import ReadingCog
from cogs.removals import PostingPlaces, Removals
from cogs.services import Memberships, RecentIds, ServingBot, StorageRetries
from cogs.settings import AuditLog, ServerSettingsCog
from domain.concurrency import CURRENT_LEASE
from domain.errors import MarginaliaError

logger = logging.getLogger(__name__)

INTERACTION_S = 8.0
"""Discord waits three seconds for the answer to an interaction. The rest is for clocks that differ."""

LEASE_PATIENCE_S = 12.0
"""A process that wakes up learns within this time whether its shard has another holder now, or the database is away."""
LEFT_OPEN = 4_000
"""A session closed with this code can be resumed, also by another process; 1000 would end it."""
READY_AFTER_S = 0.1
"""How long to wait for more guilds when all are known already."""
SUGGESTED_WITHIN_S = 2.0
"""Discord waits three seconds for suggestions; the database may take longer. An empty list is better than an error."""
CACHED_MESSAGES = 100
"""The conversation is in storage; discord.py's own cache of messages is not used."""
LONGEST_RATE_LIMIT_S = 30.0
"""A request that would have to wait longer fails instead: a thread's third rename would wait for ten minutes."""
STORAGE_PATIENCE_S = 5.0
"""How long a healthy database may take to answer."""
COMMAND_PATIENCE_S = 1.5
"""How long a stop of the program waits for running commands."""
FAREWELL_S = 1.0
"""The time for then telling people that their command was not carried out."""
LISTENER_PATIENCE_S = 0.25
"""How long it finally waits for event handlers; what they leave unfinished is read after the next start."""


class GatewaySocket(DiscordWebSocket):
    """The library's connection. It resumes the session that its client has taken over, if there is one."""

    @classmethod
    async def from_client(cls, client: discord.Client, **options: Any) -> Self:
        if not isinstance(client, Marginalia):
            return await super().from_client(client, **options)
        socket = await super().from_client(client, **await client.connecting(options))
        client.taken_over = None
        return socket


discord.client.DiscordWebSocket = GatewaySocket  # type: ignore[misc]  # the library has no setting for it


class Commands(app_commands.CommandTree["Marginalia"]):
    """The slash commands."""

    async def interaction_check(self, interaction: discord.Interaction["Marginalia"], /) -> bool:
        if not self.client.take_up(interaction):
            return False
        try:
            await assert_may_be_used_here(interaction)
        except (Refusal, MarginaliaError) as error:
            if interaction.type is not discord.InteractionType.autocomplete:
                await report(interaction, error)
            return False
        return True

    async def on_error(
        self, interaction: discord.Interaction["Marginalia"], error: app_commands.AppCommandError, /
    ) -> None:
        await report(interaction, error)

    async def _call(self, interaction: discord.Interaction["Marginalia"]) -> None:
        if interaction.type is not discord.InteractionType.autocomplete:
            await super()._call(interaction)
            return
        try:
            async with asyncio.timeout(SUGGESTED_WITHIN_S):
                await super()._call(interaction)
        except TimeoutError:
            logger.info("there are no suggestions for the letters of interaction %s in time", interaction.id)
            await interaction.response.autocomplete([])


class Marginalia(ServingBot):
    """The bot on Discord.

    `reads_messages` False: without a privileged intent, it answers mentions and replies only.
    """

    def __init__(
        self,
        app: App,
        *,
        reads_messages: bool = True,
        announce: Callable[[str], None] = logger.info,
        health: HealthFile | None = None,
        **options: Any,
    ) -> None:
        super().__init__(
            command_prefix=commands.when_mentioned,
            help_command=None,
            tree_cls=Commands,
            intents=intents(reads_messages=reads_messages),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=CACHED_MESSAGES,
            max_ratelimit_timeout=LONGEST_RATE_LIMIT_S,
            **options,
        )
        self.links = CommandLinks()
        self.places = PostingPlaces(app)
        patch_requests(self.http, self.links, self._server_of_channel, self.places.note)
        self.identify_limit = IdentifyLimit()
        self._may_identify = False
        leases = app.storage.leases
        self._identify_turns = SharedIdentifyLimit(leases, self.shard_count or 1) if leases is not None else None
        self.taken_over: GatewaySession | None = None
        """The session to resume instead of starting a new one."""
        self._events_repeat = False
        """Whether Discord sends events that a killed process may have handled already."""
        self._last_handled: int | None = None
        """The number of the last event that was handled before the stop."""
        self.use_cases = app
        self.storage_retries = StorageRetries()
        self.audit = AuditLog(app)
        self.handled = []
        self.forms = {}
        self.continuations = {}
        self.replies = OpenReplies(self, app.open_replies)
        self.memberships = Memberships()
        self.at_work = {}
        self.carried_out = RecentIds()
        self._announce = announce
        self._settings = app.settings
        self._storage = app.storage
        self._health = health
        self._in_background: list[asyncio.Task[None]] = []
        self._listening: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._turned_away: set[asyncio.Task[None]] = set()
        self._guild_ready_timeout = self._connection.guild_ready_timeout

    async def setup_hook(self) -> None:
        """Runs between log-in and gateway connection."""
        await self.tree.set_translator(CatalogueTranslator())
        self.handle(on_press(KEEP, keep))
        for cog in self._cogs():
            await self.add_cog(cog)
        self.add_dynamic_items(on_stale_press(self.handled))
        self._in_background = []
        # one shard tells Discord for all of them
        leases, servers = self._storage.leases, self._settings.discord_guild_ids
        file = CommandMemory(self._settings.data_dir / "discord-commands.json")
        memory = file if leases is None else SharedCommandMemory(leases)
        telling = stay_in_sync(self.tree, servers, memory, self.links, tells=not self.shard_id)
        self._in_background.append(asyncio.create_task(telling, name="command sync"))
        if self._health:
            self._in_background.append(asyncio.create_task(self._health.keep(self.is_well), name="health file"))

    def _cogs(self) -> list[commands.Cog]:
        removals = Removals(self, self.use_cases)
        talk = ConversationCog(self, self.use_cases, removals)
        opening = Opening(self.use_cases, talk, removals)
        reading = ReadingCog(self, self.use_cases)
        return [
            talk,
            Books(self, self.use_cases),
            Chat(self, self.use_cases, opening),
            FirstSteps(self, self.use_cases, opening, reading),
            Conversations(self, self.use_cases, opening, removals),
            Verbose(self, self.use_cases),
            ServerSettingsCog(self, self.use_cases),
            Progress(self, self.use_cases),
            reading,
            ContextMenus(self, self.use_cases, reading),
            Clubs(self, self.use_cases),
            Usage(self, self.use_cases),
            Privacy(self, self.use_cases, removals, talk, self.places),
            Help(self, self.use_cases),
            FirstWords(self, self.use_cases),
        ]

    async def on_ready(self) -> None:
        """Connected, for the first time or again."""
        for guild in self.guilds:
            if not guild.unavailable and (lacking := missing(guild.me.guild_permissions)):
                logger.warning("in guild %s the bot lacks permissions: %s", guild.id, ", ".join(lacking))
        self._connection.guild_ready_timeout = self._guild_ready_timeout
        self._announce(f"Online as {self.user} in {len(self.guilds)} server(s).")
        await self.storage_retries.now_or_later(self.replies.end_interrupted, "the end of interrupted replies")

    async def connecting(self, options: dict[str, Any]) -> dict[str, Any]:
        """The library's options for a connection to the gateway, with the session that was taken over, if there is one.

        Raises:
            CannotResumeError: a new session would be started, and has not waited for its turn.
        """
        lease = CURRENT_LEASE.get()
        if lease is not None:  # if it has another holder, that one has the session, and this task is ended
            await lease.until_held(LEASE_PATIENCE_S)
        if session := self.taken_over:
            options |= {"session": session.id, "sequence": session.sequence, "resume": True}
            options["gateway"] = yarl.URL(session.gateway)
        elif self._takes_turns and not options.get("resume") and not self._may_identify:
            raise CannotResumeError
        return options

    @property
    def _takes_turns(self) -> bool:
        """Whether several processes take turns to start sessions."""
        return self._identify_turns is not None and self.shard_id is not None

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Called before a new session is requested."""
        self.identify_limit.count()
        if self._identify_turns is not None and self.shard_id is not None:
            await self._identify_turns.begin(self.shard_id)
        else:
            await super().before_identify_hook(shard_id, initial=initial)
        self._may_identify = False

    async def wait_to_identify(self, buckets: int = 0, total: int = 0) -> None:
        """Wait for this shard's turn to start a session, before the library's time limit for connecting begins.

        `buckets` and `total` are Discord's numbers of sessions that may start at once, and in a day; 0: the last known.
        """
        turns, shard = self._identify_turns, self.shard_id
        if turns is not None and shard is not None:
            turns.buckets, turns.total = buckets or turns.buckets, total or turns.total
            await turns.turn(shard)
            self._may_identify = True

    def take_up(self, interaction: discord.Interaction[Any]) -> bool:
        """Count the interaction among the running ones; while the bot is shutting down, tell people to try again."""
        age = discord.utils.utcnow() - interaction.created_at
        if self._events_repeat and age.total_seconds() > INTERACTION_S:
            return False
        if not self._is_stopping:
            CURRENT_INTERACTION.set(interaction)
            is_taken = super().take_up(interaction)
            if is_taken and (task := asyncio.current_task()):
                task.add_done_callback(lambda _: self.replies.ended(interaction))
            return is_taken
        if self.carried_out.is_new(interaction.id) and interaction.type is not discord.InteractionType.autocomplete:
            task = asyncio.create_task(turn_away(interaction))
            self._turned_away.add(task)
            task.add_done_callback(self._turned_away.discard)
        return False

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Pass an event to its listeners, but not while the bot is stopping.

        What is missed then is read after the next start.
        """
        if not self._is_stopping:
            super().dispatch(event, *args, **kwargs)

    def _schedule_event(self, *args: Any, **kwargs: Any) -> asyncio.Task[None]:
        """Keep references to running handlers: the library does not, and would close the connection under them."""
        task = super()._schedule_event(*args, **kwargs)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        return task

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Handle modals, which are recognised by their custom_id; commands and buttons have their own paths."""
        await carry_out_form(interaction)

    async def on_message(self, message: discord.Message) -> None:
        """There are no text commands: a mention is a question."""

    @property
    def is_connected(self) -> bool:
        """Whether the gateway is connected and has told which servers there are."""
        return self.is_ready() and self.ws is not None and self.ws.open

    async def is_well(self) -> bool:
        """Whether the gateway is connected and the storage answers."""
        if not self.is_connected:
            return False
        try:
            async with asyncio.timeout(STORAGE_PATIENCE_S):
                await self._storage.ping()
        except (MarginaliaError, TimeoutError):
            return False
        return True

    async def connect(self, *, reconnect: bool = True) -> None:
        """As usual; when a session is resumed, its servers are known from the beginning."""
        if self.taken_over is not None:
            try:
                self._know_guilds(self.taken_over)
            except Exception:  # perhaps another version of the program has written it
                logger.exception("a session cannot be resumed; a new one is started")
                self.taken_over = None
        await super().connect(reconnect=reconnect)

    def _know_guilds(self, session: GatewaySession) -> None:
        self._events_repeat = session.interactions is None
        for number in session.interactions or ():
            self.carried_out.is_new(number)
        user, state = self.user, self._connection
        assert user is not None, "the log-in comes before the gateway"
        state.guild_ready_timeout = READY_AFTER_S
        myself: Any = {"id": user.id, "username": user.name, "discriminator": user.discriminator, "bot": True}
        absent: Any = [guild for guild in session.guilds if guild["unavailable"]]
        state.parse_ready({"user": myself | {"avatar": None}, "guilds": absent})  # type: ignore[typeddict-item]
        for guild in session.guilds:
            state.parse_guild_create(guild)

    async def on_resumed(self) -> None:
        """Discord has sent all events from before the session was resumed."""
        self._events_repeat = False

    def session(self) -> GatewaySession | None:
        """The current session without its servers, for another process in case this one is killed. None: there is no
        session, or Discord is still sending the servers.
        """
        is_loading = self._connection._ready_task is not None  # noqa: SLF001
        if is_loading or self.ws is None or not self.ws.open or not self.ws.session_id or self.ws.sequence is None:
            return None
        return GatewaySession(self.ws.session_id, self.ws.sequence, str(self.ws.gateway), interactions=None)

    async def leave_session(self) -> GatewaySession | None:
        """Wind down and leave the gateway so that another process can resume the session, which is returned without its
        servers; None if there is no session.
        """
        await self.wind_down()
        session = self.session()
        if session is None or self._last_handled is None:
            return None
        await self.ws.close(LEFT_OPEN)
        return replace(session, sequence=self._last_handled, interactions=self.carried_out.known())

    async def close(self) -> None:
        """Finish running work while the connection is still open, then close it."""
        await self.wind_down()
        await super().close()
        stop_heartbeats(self)

    async def wind_down(self) -> None:
        """Finish or cancel running work before the connection is closed. Meanwhile, people who use commands or buttons
        are told to try again.

        That requires the connection to stay open.
        """
        if self._is_stopping:
            return
        self._is_stopping = True
        self._last_handled = getattr(self.ws, "sequence", None) if self.is_ready() else None
        for task in self._in_background:
            task.cancel()
        await asyncio.gather(*self._in_background, self.storage_retries.close(), return_exceptions=True)
        await self._finish_work()
        await self._finish_replies()
        for name in tuple(self.cogs):
            await self.remove_cog(name)
        await self._finish_listening()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await self.audit.close()
        if self._turned_away:
            await asyncio.wait(self._turned_away, timeout=FAREWELL_S)

    async def _finish_work(self) -> None:
        """Wait for commands that are nearly done; tell the authors of the others to try again."""
        myself = asyncio.current_task()
        working = {task: interaction for task, interaction in self.at_work.items() if task is not myself}
        late = await _end(working, COMMAND_PATIENCE_S)
        mine = [working[task] for task in late if not self.replies.is_for_others(working[task])]
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await asyncio.gather(*map(excuse, mine), return_exceptions=True)

    async def _finish_replies(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await self.replies.settle()

    async def _finish_listening(self) -> None:
        """Wait for running event handlers, and cancel the rest while they can still be cancelled in order."""
        myself = asyncio.current_task()
        await _end([task for task in self._listening if task is not myself], LISTENER_PATIENCE_S)

    def _server_of_channel(self, channel_id: Any) -> int | None:
        """The server of a channel that messages are sent to, as far as it is known."""
        channel = self.get_channel(int(channel_id)) if channel_id else None
        return channel.guild.id if isinstance(channel, (discord.abc.GuildChannel, discord.Thread)) else None


async def _end(tasks: Collection[asyncio.Task[Any]], patience_s: float) -> set[asyncio.Task[Any]]:
    """Wait until tasks are done, cancel those that take longer, and return these."""
    if not tasks:
        return set()
    _, late = await asyncio.wait(tasks, timeout=patience_s)
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return late


def intents(*, reads_messages: bool) -> discord.Intents:
    """Servers with their channels and threads, and messages, including direct ones. No members, no presences."""
    return discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=reads_messages)
