"""The adapter from the port `Channel` to discord.py: its calls and its exceptions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self

import aiohttp
import discord

from cogs.delivery.message_group import (
    ArchivedThreadError,
    ChannelGoneError,
    DeliveryError,
    MessageGoneError,
    MessagePayload,
    NotAllowedError,
    RefusedError,
    Sent,
    TryLaterError,
)
from cogs.errors import DiscordCode, retry_transient
from cogs.rendering.inline import as_compared
from cogs.rendering.tool_calls import EmbedData

logger = logging.getLogger(__name__)

MakeView = Callable[[Hashable], discord.ui.View]
"""Makes the buttons for a body's `view`."""

Place = discord.Thread | discord.TextChannel | discord.PartialMessageable

BANNED_FOR_S = 60.0
"""How long to pause if a 429 does not say: it comes from Cloudflare, after too many invalid requests."""


LOOKED_THROUGH = 100
"""Messages since an attempt among which its message is searched: one request's worth."""

CLOCKS_DIFFER = timedelta(minutes=1)
"""How far Discord's clock and ours may differ."""

REFRESH_S = 8.0
"""Discord shows it for ten seconds, and ends it only when a message arrives."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A message that may or may not have been posted, and the newest message before it."""

    body: MessagePayload
    after: int


class DiscordChannel:
    """Posts messages that never notify anybody, whatever the client's own setting. `own_id` is the bot's id."""

    def __init__(self, channel: Place, make_view: MakeView, own_id: int) -> None:
        self._channel = channel
        self._own_id = own_id
        self._make_view = make_view
        self._unsure: dict[str, _Attempt] = {}
        self._newest_sent = 0

    @property
    def id(self) -> int:
        return self._channel.id

    async def send(self, body: MessagePayload, nonce: str) -> Sent:
        """See Channel. Discord remembers a nonce for some minutes only, and an outage may take longer. So before a
        message is sent again, the channel is searched for it.
        """
        attempt = self._unsure.get(nonce) or _Attempt(body, self._newest_known())
        with _translated():
            message = await self._find(attempt) if nonce in self._unsure else None
            self._unsure[nonce] = attempt
            message = message or await self._send(body, nonce)
        del self._unsure[nonce]
        self._newest_sent = max(self._newest_sent, message.id)
        return Sent(str(message.id), self._shows(message, body))

    async def _send(self, body: MessagePayload, nonce: str) -> discord.Message:
        return await self._channel.send(
            body.content or None,
            nonce=nonce,
            silent=body.silent,
            suppress_embeds=not body.embeds,
            allowed_mentions=discord.AllowedMentions.none(),
            **self._parts(body),
        )

    async def _find(self, attempt: "_Attempt") -> discord.Message | None:
        """The message of an attempt whose response was lost, if it exists."""
        after = discord.Object(attempt.after)
        try:
            async for message in self._channel.history(after=after, limit=LOOKED_THROUGH, oldest_first=True):
                if message.author.id == self._own_id and self._shows(message, attempt.body):
                    return message
        except discord.Forbidden:  # without permission to look, the nonce has to suffice
            return None
        return None

    def _newest_known(self) -> int:
        return max(self._newest_sent, getattr(self._channel, "last_message_id", None) or 0)

    def _shows(self, message: discord.Message, body: MessagePayload) -> bool:
        return _shows(message, body, self._custom_ids(body))

    async def edit(self, message_id: str, body: MessagePayload) -> None:
        """Edit through a partial message: a full one would send flags along and bring link previews back."""
        with _translated():
            message = self._partial(message_id)
            view = None if body.view is None else self._make_view(body.view)
            if body.embeds:
                await message.edit(embeds=embeds_of(body), view=view)
            else:
                await message.edit(content=body.content, view=view, allowed_mentions=discord.AllowedMentions.none())

    async def delete(self, message_id: str) -> None:
        with _translated():
            await self._partial(message_id).delete()

    async def unarchive(self) -> None:
        if isinstance(self._channel, discord.Thread):
            with _translated():
                await self._channel.edit(archived=False)

    async def typing(self) -> None:
        with _translated():
            await self._channel.typing()

    def _partial(self, message_id: str) -> discord.PartialMessage:
        return self._channel.get_partial_message(int(message_id))

    def _parts(self, body: MessagePayload) -> dict[str, Any]:
        parts: dict[str, Any] = {"embeds": embeds_of(body)} if body.embeds else {}
        return parts | {"view": self._make_view(body.view)} if body.view is not None else parts

    def _custom_ids(self, body: MessagePayload) -> list[str]:
        view = None if body.view is None else self._make_view(body.view)
        return [part["custom_id"] for row in view.to_components() for part in row["components"]] if view else []


def embeds_of(body: MessagePayload) -> list[discord.Embed]:
    return [_embed(embed) for embed in body.embeds]


def _embed(embed: EmbedData) -> discord.Embed:
    return discord.Embed(description=embed.description, colour=embed.colour)


def _shows(message: discord.Message, body: MessagePayload, custom_ids: list[str]) -> bool:
    """Whether the message is the one that was sent, not an earlier one with the same nonce; white space is ignored."""
    rows = [row.children for row in message.components if isinstance(row, discord.ActionRow)]
    shown = [message.content, *(embed.description or "" for embed in message.embeds)]
    wanted = [body.content, *(embed.description for embed in body.embeds)]
    pressable = [part.custom_id for row in rows for part in row]
    return pressable == custom_ids and [*map(as_compared, shown)] == [*map(as_compared, wanted)]


@contextmanager
def _translated() -> Iterator[None]:
    """Translate discord.py's exceptions into those of delivery.

    discord.py repeats neither requests that met a 503 nor those whose connection broke; delivery does.
    """
    try:
        yield
    except discord.RateLimited as error:
        raise TryLaterError(str(error), error.retry_after) from error
    except discord.DiscordServerError as error:
        raise TryLaterError(str(error)) from error
    except discord.HTTPException as error:
        raise _fault(error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise TryLaterError(f"{type(error).__name__}: {error}") from error


def _fault(error: discord.HTTPException) -> Exception:
    if error.status == 429:
        return TryLaterError(str(error), BANNED_FOR_S)
    if error.code == DiscordCode.THREAD_ARCHIVED:
        return ArchivedThreadError(str(error))
    if error.code == DiscordCode.UNKNOWN_CHANNEL:
        return ChannelGoneError(str(error))
    if error.status == 404 or error.code == DiscordCode.TOO_MANY_OLD_EDITS:
        return MessageGoneError(str(error))
    if error.status in (401, 403) or error.code == DiscordCode.THREAD_LOCKED:
        return NotAllowedError(str(error))
    return RefusedError(str(error))


class Typing:
    """Shows the typing indicator between `start` and `stop`, or within a block; in the background, as well as
    possible.
    """

    def __init__(
        self, show: Callable[[], Awaitable[None]], *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._show = show
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_showing(), name="typing")

    def stop(self) -> None:
        """Stop at once; may be called any number of times."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = self._task
        self.stop()
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_showing(self) -> None:
        while True:
            try:
                await self._show()
            except DeliveryError as fault:
                logger.debug("typing is not shown: %s", fault)
            await self._sleep(REFRESH_S)


async def find_post(
    place: discord.abc.Messageable, since: datetime, is_it: Callable[[discord.Message], bool]
) -> discord.Message | None:
    """The bot's own message for which `is_it` is true, among the newest messages or the first ones after `since`.

    None if there is none, or the bot may not read the history.
    """
    try:
        newest = await retry_transient(partial(_page, place, limit=LOOKED_THROUGH))
        found = next(filter(partial(_is_ours, is_it), newest), None)
        if found is None and len(newest) == LOOKED_THROUGH:
            after = await retry_transient(partial(_page, place, after=since - CLOCKS_DIFFER, limit=LOOKED_THROUGH))
            found = next(filter(partial(_is_ours, is_it), after), None)
    except discord.Forbidden as error:
        logger.info("what stands in a channel could not be read: %s", error)
        return None
    return found


async def _page(place: discord.abc.Messageable, **options: Any) -> list[discord.Message]:
    return [message async for message in place.history(**options)]


def _is_ours(is_it: Callable[[discord.Message], bool], message: discord.Message) -> bool:
    return message.author.bot and is_it(message)
