"""The gateway: sessions that outlive connections, heartbeats, resuming, and what can go wrong with them."""

import asyncio
import json
import secrets
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

from tests.doubles.discord_api.entities import Json, User

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, REQUEST_MEMBERS, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 8, 9, 10, 11
AUTHENTICATION_FAILED, DISALLOWED_INTENTS, ABRUPT = 4004, 4014, 4000
ENDS_THE_SESSION = (WSCloseCode.OK, WSCloseCode.GOING_AWAY)
IDENTIFY_S = 5.0
"""How long a bucket of shards has to wait between two new sessions. Discord has one bucket per session it lets begin at
once; a bot without shards has none.
"""
ACK_DELAY_S = 0.03
"""discord.py misreads its latency when a heartbeat is acknowledged at once."""

INTENT_GUILDS, INTENT_MEMBERS, INTENT_MESSAGES = 1 << 0, 1 << 1, 1 << 9
INTENT_EVENTS = 1 << 16
INTENT_REACTIONS, INTENT_TYPING, INTENT_DIRECT_MESSAGES, INTENT_CONTENT = 1 << 10, 1 << 11, 1 << 12, 1 << 15


class Connection:
    """One websocket; frames leave in order, each after the one-way latency."""

    def __init__(self, socket: web.WebSocketResponse, compress: bool, latency: Callable[[], float]) -> None:
        self.socket = socket
        self._compressor = zlib.compressobj() if compress else None
        self._latency = latency
        self._frames: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
        self._writer = asyncio.create_task(self._write())
        self.was_dropped = False
        """Whether it was us who closed it."""

    def send(self, frame: Json) -> None:
        self.send_raw(json.dumps(frame))

    def send_raw(self, text: str, delay: float = 0.0) -> None:
        due = asyncio.get_running_loop().time() + self._latency() / 2 + delay
        self._frames.put_nowait((due, text))

    async def close(self, code: int) -> None:
        self.was_dropped = True
        await self.socket.close(code=code)

    async def finish(self) -> None:
        self._writer.cancel()
        with suppress(asyncio.CancelledError):
            await self._writer

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, text = await self._frames.get()
            if (wait := due - loop.time()) > 0:
                await asyncio.sleep(wait)
            with suppress(ConnectionError):
                await self._write_now(text)

    async def _write_now(self, text: str) -> None:
        if self._compressor is None:
            await self.socket.send_str(text)
        else:
            packed = self._compressor.compress(text.encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH)
            await self.socket.send_bytes(packed)


@dataclass(eq=False)
class Session:
    """What the bot identified as; its events are kept for a resume."""

    id: str
    intents: int
    connection: Connection | None = None
    events: list[Json] = field(default_factory=list)
    shard: tuple[int, int] = (0, 1)
    """Its number, and how many there are."""

    def serves(self, guild_id: int | str | None) -> bool:
        """Whether what happens in a guild is told here; direct messages are told to the first shard."""
        return (int(guild_id or 0) >> 22) % self.shard[1] == self.shard[0]

    def dispatch(self, event: str, data: Json) -> None:
        frame = {"op": DISPATCH, "t": event, "s": len(self.events) + 1, "d": data}
        self.events.append(frame)
        if self.connection is not None:
            self.connection.send(frame)


Welcome = Callable[[Session], None]
"""Sends READY and the guilds to a session that has just identified."""


class Gateway:
    """All sessions of the one bot. `refuse` and `replay` are trouble for the next connections."""

    def __init__(self, token: str, bot: User, latency: Callable[[], float]) -> None:
        self._token = token
        self._bot = bot
        self._latency = latency
        self.sessions: dict[str, Session] = {}
        self.welcome: Welcome = lambda session: None
        self.members: Callable[[Json], Json] = lambda request: {}
        self.changed: Callable[[], None] = lambda: None
        self.heartbeat_seconds = 15.0
        self.acknowledges = True
        self.privileged = INTENT_MEMBERS | INTENT_CONTENT
        self.refuse = 0
        self.replay = 0
        self.buckets: Callable[[], int] = lambda: 1
        self.problem: Callable[[str], None] = lambda problem: None
        self.identifies = 0
        self.resumes = 0
        self._identified: dict[int, float] = {}

    @property
    def live(self) -> list[Session]:
        return [session for session in self.sessions.values() if session.connection is not None]

    def emit(self, event: str, data: Json, intent: int = 0, without_content: Json | None = None) -> None:
        """Tell every session that asked for this kind of event (0: nobody need ask).

        `without_content` is what sessions get that have no Message Content intent.
        """
        for session in self.sessions.values():
            if intent and not session.intents & intent:
                continue
            if not session.serves(data["id"] if event == "GUILD_CREATE" else data.get("guild_id")):
                continue
            reduced = without_content is not None and not session.intents & INTENT_CONTENT
            session.dispatch(event, without_content if reduced and without_content else data)

    async def drop(self, code: int = ABRUPT) -> None:
        """Close every connection; the sessions may be resumed unless the code says otherwise."""
        for session in self.live:
            assert session.connection
            await session.connection.close(code)

    def reconnect(self) -> None:
        """Op 7: the bot is asked to come back and resume."""
        self._to_all({"op": RECONNECT, "d": None})

    def invalidate(self, *, resumable: bool) -> None:
        """Op 9: the session is over, or must be resumed."""
        self._to_all({"op": INVALID, "d": resumable})
        if not resumable:
            self.sessions.clear()

    def garbage(self, text: str) -> None:
        """A frame of whatever text."""
        for session in self.live:
            assert session.connection
            session.connection.send_raw(text)

    def _to_all(self, frame: Json) -> None:
        for session in self.live:
            assert session.connection
            session.connection.send(frame)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.refuse > 0:
            self.refuse -= 1
            return web.Response(status=503)
        socket = web.WebSocketResponse(heartbeat=None, compress=False)
        await socket.prepare(request)
        connection = Connection(socket, request.query.get("compress") == "zlib-stream", self._latency)
        connection.send({"op": HELLO, "d": {"heartbeat_interval": int(self.heartbeat_seconds * 1000)}})
        try:
            await self._listen(connection)
        finally:
            for session in [each for each in self.sessions.values() if each.connection is connection]:
                session.connection = None
                if not connection.was_dropped and socket.close_code in ENDS_THE_SESSION:
                    del self.sessions[session.id]
            self.changed()
            await connection.finish()
        return socket

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is not WSMsgType.TEXT:
                continue
            frame = json.loads(message.data)
            await self._react(connection, frame["op"], frame.get("d"))
            self.changed()

    async def _react(self, connection: Connection, op: int, data: Any) -> None:
        if op == HEARTBEAT and self.acknowledges:
            connection.send_raw(json.dumps({"op": ACK}), delay=ACK_DELAY_S)
        elif op == IDENTIFY:
            await self._identify(connection, data)
        elif op == RESUME:
            self._resume(connection, data)
        elif op == REQUEST_MEMBERS:
            for session in self.live:
                if session.connection is connection:
                    session.dispatch("GUILD_MEMBERS_CHUNK", self.members(data))

    async def _identify(self, connection: Connection, data: Json) -> None:
        self.identifies += 1
        if data["token"] != self._token:
            await connection.close(AUTHENTICATION_FAILED)
        elif data["intents"] & (INTENT_MEMBERS | INTENT_CONTENT) & ~self.privileged:
            await connection.close(DISALLOWED_INTENTS)
        elif not self._takes_its_turn(shard := tuple(data.get("shard", (0, 1)))):
            self.problem(f"shard {shard[0]} began a session within {IDENTIFY_S:.0f} s of another in its bucket")
            connection.send({"op": INVALID, "d": False})
        else:
            session = Session(secrets.token_hex(16), data["intents"], connection, shard=(shard[0], shard[1]))
            self.sessions[session.id] = session
            self.welcome(session)

    def _takes_its_turn(self, shard: tuple[int, ...]) -> bool:
        number, count = shard
        now, bucket = asyncio.get_running_loop().time(), number % self.buckets()
        if count > 1 and now - self._identified.get(bucket, -IDENTIFY_S) < IDENTIFY_S:
            return False
        self._identified[bucket] = now
        return True

    def _resume(self, connection: Connection, data: Json) -> None:
        session = self.sessions.get(data["session_id"])
        if session is None or data["token"] != self._token:
            connection.send({"op": INVALID, "d": False})
            return
        self.resumes += 1
        session.connection = connection
        for frame in session.events[max(0, data["seq"] - self.replay) :]:
            connection.send(frame)
        self.replay = 0
        session.dispatch("RESUMED", {"_trace": []})

    async def close(self) -> None:
        await self.drop(WSCloseCode.GOING_AWAY)
