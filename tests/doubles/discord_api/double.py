"""DiscordDouble: a Discord on loopback that the real discord.py client can be pointed at."""

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.channel_routes import ChannelRoutes
from tests.doubles.discord_api.command_routes import CommandRoutes
from tests.doubles.discord_api.entities import Attachment, Channel, Guild, Json, Message, User, as_read
from tests.doubles.discord_api.event_routes import EventRoutes
from tests.doubles.discord_api.faults import Fault, Moment
from tests.doubles.discord_api.gateway import Gateway, Session
from tests.doubles.discord_api.interaction_routes import InteractionRoutes
from tests.doubles.discord_api.message_routes import Composer, MessageRoutes
from tests.doubles.discord_api.payloads import guild_payload, member_payload, user_payload
from tests.doubles.discord_api.rest import Rest
from tests.doubles.discord_api.world import World

TOKEN = "loopback.token.of-nobody"
PATIENCE_S = 90.0
"""How long a test waits for what must come, on a machine with much else to do."""
POLL_S = 0.02
"""Conditions that do not depend on Discord's state are looked at this often."""


class DiscordDouble:
    """One application, its bot, a guild with one channel, and the people a test invents.

    `round_trip` is added to every REST call and, half of it, to every event, in seconds. Set it, and anything in
    `gateway`, `rest.limits.windows` and `faults`, whenever it is wanted.
    """

    def __init__(self, *, round_trip: float = 0.0, guild: str = "Bookworms", channel: str = "reading-room") -> None:
        self.token = TOKEN
        self.round_trip = round_trip
        self.violations: list[str] = []
        self._shift = 0.0
        self._changed = asyncio.Event()
        self._actors: dict[str, Actor] = {}
        self._runner: web.AppRunner | None = None
        self.bot = User(1, "marginalia", bot=True)
        self.gateway = Gateway(self.token, self.bot, lambda: self.round_trip)
        self.world = World(self.gateway, self.bot, self.now)
        self.bot.id = self.world.snowflake()
        self.world.users = {self.bot.id: self.bot}
        self.rest = Rest(self.token, self.now, lambda: self.round_trip, self.notify)
        self.gateway.changed = self.world.changed = self.notify
        self.gateway.welcome, self.gateway.members = self._welcome, self._members
        composer = Composer(self.world, self.violations)
        self._messages = MessageRoutes(self.world, composer, self.now)
        self.commands = CommandRoutes(self.world, composer)
        self.gateway.buckets = lambda: self.commands.identify_limit["max_concurrency"]
        self.gateway.problem = self.violations.append
        self._channels = ChannelRoutes(self.world, composer, self.rest.limits)
        self._events = EventRoutes(self.world, composer)
        self.interactions = InteractionRoutes(self.world, composer, self._messages)
        self.guild = self.world.add_guild(guild)
        self.channel = self.world.add_channel(self.guild, channel)

    # Running

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/gateway/", self.gateway.handle)
        app.router.add_get("/cdn/attachments/{place}/{attachment}/{name}", self._serve_attachment)
        endpoints: dict[str, Endpoint] = {}
        for routes in (self._messages, self._channels, self._events, self.commands, self.interactions):
            endpoints |= routes.endpoints()
        self.rest.mount(app, "/api/v10", endpoints)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"
        self.world.cdn_url = f"{self.base_url}/cdn"

    async def close(self) -> None:
        await self.gateway.close()
        await self.rest.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def api_url(self) -> str:
        """For DISCORD_API_URL and `discord.http.Route.BASE`."""
        return f"{self.base_url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """For DISCORD_GATEWAY_URL and `DiscordWebSocket.DEFAULT_GATEWAY`."""
        return self.base_url.replace("http", "ws", 1) + "/gateway"

    @property
    def environment(self) -> dict[str, str]:
        """The settings that point a bot in another process here."""
        return {
            "DISCORD_TOKEN": self.token,
            "DISCORD_API_URL": self.api_url,
            "DISCORD_GATEWAY_URL": self.gateway_url,
        }

    # Time

    def now(self) -> float:
        """Seconds since 1970 on the double's own clock."""
        return time.time() + self._shift

    def advance(self, seconds: float) -> None:
        """Let time pass for Discord (deadlines, tokens, rate limits), not for the bot."""
        self._shift += seconds
        self.notify()

    # People and places

    def user(self, name: str, guild: Guild | None = None) -> Actor:
        """The person of that name, who joins the guild on first mention."""
        actor = self._actors.get(name) or Actor(self, self.world.add_user(name))
        self._actors[name] = actor
        home = guild or self.guild
        if actor.user.id not in home.members:
            self.world.join(home, actor.user)
        return actor

    def stranger(self, name: str) -> Actor:
        """A person who is in none of the bot's guilds."""
        return Actor(self, self.world.add_user(name))

    def add_guild(self, name: str, channel: str = "general", *, with_bot: bool = True) -> Guild:
        guild = self.world.add_guild(name, with_bot=with_bot)
        self.world.add_channel(guild, channel)
        return guild

    def file(self, filename: str, data: bytes, content_type: str = "application/octet-stream") -> Attachment:
        """A file a person is about to upload."""
        return self.world.attach(None, filename, data, content_type)

    # Looking

    def messages(self, channel: Channel | None = None) -> list[Message]:
        """What stands in a channel, oldest first; everything that everybody can see."""
        return self.world.history(channel or self.channel)

    def said(self, channel: Channel | None = None) -> list[str]:
        """The bot's own words in a channel, oldest first."""
        return [as_read(each.content) for each in self.messages(channel) if each.author is self.bot]

    def threads(self, guild: Guild | None = None) -> list[Channel]:
        return [each for each in (guild or self.guild).channels.values() if each.is_thread]

    @property
    def rest_log(self) -> list[Call]:
        return self.rest.log

    def calls(self, route: str) -> list[Call]:
        """The requests of one route, as "POST /channels/{channel}/messages"."""
        return [call for call in self.rest_log if call.route == route]

    @property
    def rate_limited(self) -> list[Call]:
        return [call for call in self.rest_log if call.status == 429]

    @property
    def connected(self) -> bool:
        return bool(self.gateway.live)

    async def until(self, condition: Callable[[], object], timeout: float = PATIENCE_S) -> None:
        """Wait until something is so.

        Raises:
            AssertionError: it is not, after `timeout` seconds; says what stands in the channels.
        """
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not so within {timeout} s; Discord shows:\n{self.transcript()}")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), POLL_S)
            except TimeoutError:
                continue

    def notify(self) -> None:
        self._changed.set()

    def transcript(self) -> str:
        """What stands everywhere, for a person reading a failed test."""
        lines = []
        for channel in self.world.channels.values():
            lines.append(f"# {channel.name or 'direct message'}{' (archived)' if channel.archived else ''}")
            for message in self.world.history(channel):
                shown = [message.content, *message.embed_texts, *(f"[{each.label}]" for each in message.buttons)]
                lines.append(f"  {message.author.name}: {' | '.join(shown)}")
        calls = [f"  {call.status} {call.route}" for call in self.rest_log[-12:]]
        return "\n".join([*lines, "last calls:", *calls, "violations:", *self.violations])

    # Trouble

    def fail(
        self,
        route: str,
        *,
        status: int,
        code: int = 0,
        skip: int = 0,
        times: int = 1,
        took_effect: bool = False,
        retry_after: float = 0.1,
        is_global: bool = False,
        through_proxy: bool = True,
    ) -> None:
        """Let requests to `route` ("PATCH /channels/*") fail, after `skip` that pass; status 0 drops the connection.

        `took_effect` does the work first and loses only the answer.
        """
        moment = Moment.AFTER if took_effect else Moment.BEFORE
        self.rest.faults.add(
            Fault(
                route,
                status,
                code,
                moment=moment,
                skip=skip,
                times=times,
                retry_after=retry_after,
                is_global=is_global,
                through_proxy=through_proxy,
            )
        )

    def drop(self, route: str, *, skip: int = 0, times: int = 1, took_effect: bool = False) -> None:
        """Break the connection of requests to `route` instead of answering."""
        self.fail(route, status=0, skip=skip, times=times, took_effect=took_effect)

    def hold(self, route: str, *, skip: int = 0) -> None:
        """Carry out a request to `route` and never answer it, as is seen by whoever is killed while waiting."""
        self.rest.faults.add(Fault(route, 0, moment=Moment.AFTER, skip=skip, holds=True))

    # For the gateway and the CDN

    def _welcome(self, session: Session) -> None:
        application = self.commands.application_payload()
        session.dispatch(
            "READY",
            {
                "v": 10,
                "user": user_payload(self.bot),
                "session_id": session.id,
                "resume_gateway_url": self.gateway_url,
                "guilds": [
                    {"id": str(guild.id), "unavailable": True}
                    for guild in [*self._own_guilds(), *self.world.lost_guilds()]
                    if session.serves(guild.id)
                ],
                "shard": list(session.shard),
                "application": {"id": application["id"], "flags": application["flags"]},
            },
        )
        for guild in self._own_guilds():
            if session.serves(guild.id):
                session.dispatch("GUILD_CREATE", guild_payload(guild, self.bot))
        self.notify()

    def _own_guilds(self) -> list[Guild]:
        return [guild for guild in self.world.guilds.values() if self.bot.id in guild.members]

    def _members(self, request: Json) -> Json:
        guild = self.world.guilds[int(request["guild_id"])]
        wanted: Sequence[str] = [str(each) for each in request.get("user_ids", [])]
        members = [each for each in guild.members.values() if not wanted or str(each.user.id) in wanted]
        query = request.get("query") or ""
        members = [each for each in members if each.user.name.startswith(query)]
        return {
            "guild_id": str(guild.id),
            "members": [member_payload(each) for each in members],
            "chunk_index": 0,
            "chunk_count": 1,
            "nonce": request.get("nonce"),
        }

    async def _serve_attachment(self, request: web.Request) -> web.Response:
        attachment = self.world.attachments.get(int(request.match_info["attachment"]))
        if attachment is None:
            return web.Response(status=404)
        return web.Response(body=attachment.data, content_type=attachment.content_type)
