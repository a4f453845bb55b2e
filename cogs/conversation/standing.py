"""What stands in a thread of turns that did not come to their end: told by the buttons under it."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import discord

from cogs.conversation.buttons import turn_shown_by, turn_traced_by
from cogs.conversation.screen import Leftover
from cogs.patience import persistently

logger = logging.getLogger(__name__)

LOOKED_AT = 100
"""Messages after the oldest unanswered one: what Discord gives out in one request."""


@dataclass(slots=True)
class Standing:
    """The bot's own messages, by the turn their buttons name; `plain` are those without such buttons, by their text."""

    replies: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    traces: dict[str, str] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)

    def of(self, turn_id: str) -> Leftover:
        return Leftover(tuple(self.replies.get(turn_id, ())), self.traces.get(turn_id))

    def of_others_than(self, known: Iterable[str]) -> Leftover:
        """What is left of turns that there are no more."""
        gone = {*self.replies, *self.traces} - set(known)
        return sum((self.of(turn_id) for turn_id in gone), Leftover())


async def look_around(thread: discord.Thread, since: int | None) -> Standing:
    """What the bot has posted in the thread after the message of that id, else last; nothing, where it may not look.

    Raises:
        PASSING: Discord has trouble; to go on without having looked might say something twice.
    """
    standing = Standing()
    try:
        for message in await persistently(partial(_page, thread, since)):
            if message.author.id == thread.guild.me.id:
                _note(standing, message)
    except (discord.Forbidden, discord.NotFound) as fault:
        logger.warning("what stands in thread %s could not be read: %s", thread.id, fault)
    return standing


async def _page(thread: discord.Thread, since: int | None) -> list[discord.Message]:
    """Oldest first."""
    if since is None:
        return [message async for message in thread.history(limit=LOOKED_AT)][::-1]
    after = discord.Object(since)
    return [message async for message in thread.history(after=after, limit=LOOKED_AT, oldest_first=True)]


def _note(standing: Standing, message: discord.Message) -> None:
    names = list(_button_names(message))
    shown = next(filter(None, map(turn_shown_by, names)), None)
    traced = next(filter(None, map(turn_traced_by, names)), None)
    if shown:
        standing.replies[shown].append(str(message.id))
    elif traced:
        standing.traces.setdefault(traced, str(message.id))
    else:
        standing.plain.setdefault(folded(message.content), str(message.id))


def folded(text: str) -> str:
    """A text as it is compared: Discord takes away space at its ends."""
    return " ".join(text.split())


def _button_names(message: discord.Message) -> Iterator[str]:
    for row in message.components:
        if isinstance(row, discord.ActionRow):
            yield from (part.custom_id for part in row.children if part.custom_id)
