"""The services cogs share, and the bot's base class."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Any, Protocol

import discord
from discord.ext import commands
from discord.ui import DynamicItem

from domain.book import personal_shelf
from domain.concurrency import Shard
from domain.conversation import Conversation
from domain.errors import StorageError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

STORE_AGAIN_AFTER_S = (3.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""When to try again what could not be stored; after that, the next start finds most of it on Discord."""
MEMBERSHIP_S = 60.0
"""How long autocomplete trusts a known answer to whether somebody is in a thread."""
MEMBERSHIPS_AT_ONCE = 10
"""Requests of autocomplete under way, for all people together: Discord allows a bot fifty in a second, and answers need
some of them.
"""


class Conversing(Protocol):
    """Answers in threads."""

    async def opened(self, thread: discord.Thread, conversation: Conversation) -> None:
        """Take in what was written in a thread before it was bound to its conversation, and have it answered."""
        ...

    async def make_current(
        self, interaction: discord.Interaction[Any], conversation: Conversation
    ) -> tuple[discord.PartialMessageable, Conversation]:
        """Continue a conversation in the direct messages of an interaction; returns both.

        What was written there before belongs to the previous conversation, and is answered in it.
        """
        ...

    async def answer_in(self, conversation: Conversation, notify: "NotifyPrivately") -> None:
        """Answer what is waiting in the conversation; returns when the answer, or its failure, is posted.

        Failures of the model are posted, never raised. `notify` is called if nothing can be posted.
        """
        ...

    def standing_still(
        self, conversations: Sequence[Conversation], erasing: str | None
    ) -> AbstractAsyncContextManager[None]:
        """Post nothing in these conversations during the block, which erases a person, or everybody (None), from them.

        At its end turns that run there are taken back, and what is shown of the erased goes.
        """
        ...


NotifyPrivately = Callable[[Sequence[str]], Awaitable[Callable[[], Awaitable[None]]]]
"""Tells one person, and them alone, that the bot may not write in the thread where they wait for an answer.

It receives the missing permissions, as far as they are known, and returns what deletes the message again.
"""

Action = Callable[[discord.Interaction[Any], str], Awaitable[None]]
"""What a button or a menu does, with the argument in its custom_id or the chosen value."""


class RecentIds:
    """Remembers the newest `size` ids."""

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._met: dict[int, None] = {}

    def add(self, number: int) -> None:
        self._met[number] = None
        if len(self._met) > self._size:
            del self._met[next(iter(self._met))]

    def is_new(self, number: int) -> bool:
        """Whether it is seen for the first time; it is remembered then."""
        is_new = number not in self
        self.add(number)
        return is_new

    def __contains__(self, number: int) -> bool:
        return number in self._met

    def known(self) -> tuple[int, ...]:
        """All remembered ids, the newest last."""
        return tuple(self._met)


class Audit(Protocol):
    """The moderators' log: who removed, deleted, erased or changed what, and failures; never anybody's words."""

    def note(self, guild: discord.Guild | None, text: str, also: str = "", /, **values: object) -> None:
        """Record an action without waiting until it is posted; `also` is another channel that is to have it.

        `text` is marked with `later`; `values` name people by mentions, books by their titles in plain characters, and
        conversations by their ids or owners, because their titles may be somebody's words. Nothing is recorded outside
        servers.
        """
        ...

    def trouble(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """Record a failure; the same one is not recorded again for a while."""
        ...

    async def close(self) -> None:
        """Return once everything is recorded."""
        ...


def record_action(interaction: discord.Interaction[Any], text: str, also: str = "", /, **values: object) -> None:
    """Record in the moderators' log what a person has done; `{who}` in the text is that person. See Audit.note."""
    bot_of(interaction).audit.note(server_of(interaction), text, also, who=interaction.user.mention, **values)


class Memberships:
    """Caches who is in which private thread. Only for autocomplete: permissions are always checked with Discord."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: OrderedDict[tuple[str, int], tuple[float, asyncio.Task[bool]]] = OrderedDict()
        self._under_way = 0

    def ask(
        self, thread_id: str, member_id: int, ask: Callable[[], Coroutine[Any, Any, bool]]
    ) -> asyncio.Task[bool] | None:
        """Whether a member is in a thread; `ask` finds out, at most once per MEMBERSHIP_S.

        None: it is not known, and MEMBERSHIPS_AT_ONCE others are being found out.
        """
        while self._known and next(iter(self._known.values()))[0] <= self._now() - MEMBERSHIP_S:
            self._known.popitem(last=False)
        key = (thread_id, member_id)
        if key not in self._known:
            if self._under_way == MEMBERSHIPS_AT_ONCE:
                return None
            self._under_way += 1
            self._known[key] = (self._now(), asyncio.create_task(ask()))
            self._known[key][1].add_done_callback(self._found_out)
        return self._known[key][1]

    def _found_out(self, task: asyncio.Task[bool]) -> None:
        self._under_way -= 1


class StorageRetries:
    """Retries work that failed because the database was away: from time to time, and as soon as it is back."""

    def __init__(self) -> None:
        self._database_is_back = asyncio.Event()
        self._tasks: set[asyncio.Task[object]] = set()
        self._is_closed = False

    def wake(self) -> None:
        """The database answers again."""
        self._database_is_back.set()
        self._database_is_back = asyncio.Event()

    def begin(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Do it in the background, until `close`."""
        if self._is_closed:
            return
        task = asyncio.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def now_or_later(self, work: Callable[[], Awaitable[None]], about: str) -> None:
        """Do work; if the database fails, retry it in the background. `about` tells operators which work it is."""
        try:
            await work()
        except StorageError as error:
            logger.warning("%s is stored later: %s", about, error)
            self.begin(partial(self.until_stored, work, about))

    async def until_stored(self, work: Callable[[], Awaitable[object]], about: str) -> bool:
        """Wait, then try work, until it succeeds; False if it never does."""
        for wait in STORE_AGAIN_AFTER_S:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._database_is_back.wait(), wait)
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - nobody waits for this task: it can only be tried again
                logger.warning("%s cannot be stored yet: %r", about, error)
            else:
                return True
        return False

    async def close(self) -> None:
        """Leave the rest for the next start."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class ServingBot(commands.Bot):
    """The base class of the bot, with what cogs use of it.

    An event whose handler cannot store what happened is handled again once the database is back. Messages are not:
    their handler tells their authors, and tries again itself.
    """

    use_cases: UseCases
    storage_retries: StorageRetries
    audit: Audit
    memberships: Memberships
    handled: list[type[DynamicItem[Any]]]
    """The dynamic items that cogs have registered."""
    forms: dict[str, Action]
    """The handlers of modals, by action."""
    continuations: dict[str, Callable[[discord.Interaction[Any], Any], Awaitable[None]]]
    """What goes on with a reply that a kill has interrupted, by action; it is given the arguments noted for that, or
    None if it was given them once before.
    """
    at_work: dict[asyncio.Task[Any], discord.Interaction[Any]]
    """The running tasks of commands and actions, which are cancelled and awaited when the bot stops."""
    carried_out: RecentIds
    """The latest interactions."""

    def handle(self, *items: type[DynamicItem[Any]]) -> None:
        """Register dynamic items for presses of their buttons."""
        self.add_dynamic_items(*items)
        self.handled += items

    def handle_form(self, action: str, act: Action) -> None:
        """Register an action for the modals that `cogs.interactions.form` makes."""
        self.forms[action] = act

    async def on_database_back(self) -> None:
        """The database answers again, after it was away."""
        self.storage_retries.wake()

    def _schedule_event(
        self, coro: Callable[..., Coroutine[Any, Any, Any]], event_name: str, *args: Any, **kwargs: Any
    ) -> asyncio.Task[None]:
        handler = coro if event_name == "on_message" else partial(self._handle, coro, event_name)
        return super()._schedule_event(handler, event_name, *args, **kwargs)

    async def _handle(self, handler: Callable[..., Awaitable[None]], event: str, *args: Any) -> None:
        await self.storage_retries.now_or_later(partial(handler, *args), event)

    @property
    def shard(self) -> Shard:
        """The shard that this client serves: the only one, if there are no others."""
        return (self.shard_id or 0, self.shard_count or 1)

    def serves(self, guild_id: str) -> bool:
        """Whether this client receives the events of a server. What is in no server belongs to the first shard."""
        number, count = self.shard
        return (int(guild_id if guild_id.isdecimal() else 0) >> 22) % count == number

    @property
    def serves_direct_messages(self) -> bool:
        """Whether this client receives direct messages: Discord sends them to the first shard."""
        return not self.shard_id

    def direct_channel(self, channel_id: int) -> discord.PartialMessageable:
        """The channel of a person's direct messages, without asking Discord for it."""
        return self.get_partial_messageable(channel_id, type=discord.ChannelType.private)

    def thread_asleep(self, thread_id: int, guild_id: int) -> discord.PartialMessageable:
        """A thread that is not in the client's cache."""
        return self.get_partial_messageable(thread_id, guild_id=guild_id, type=discord.ChannelType.public_thread)

    def take_up(self, interaction: discord.Interaction[Any]) -> bool:
        """Count the current task among the running ones until it is done. False: Discord has sent the event twice."""
        if not self.carried_out.is_new(interaction.id):
            return False
        task = asyncio.current_task()
        assert task is not None
        self.at_work[task] = interaction
        task.add_done_callback(self.at_work.pop)
        return True


def bot_of(interaction: discord.Interaction[Any]) -> ServingBot:
    bot = interaction.client
    assert isinstance(bot, ServingBot)
    return bot


def use_cases_of(interaction: discord.Interaction[Any]) -> UseCases:
    return bot_of(interaction).use_cases


def server_of(interaction: discord.Interaction[Any]) -> discord.Guild | None:
    """The server of an interaction; None in direct messages, and where only the person has installed the bot.

    Discord sends a partial guild with every interaction, even for a server that the bot is not in.
    """
    known = interaction.client.get_guild(interaction.guild_id or 0)
    by_person_alone = interaction.is_user_integration() and not interaction.is_guild_integration()
    return None if known is None or by_person_alone else interaction.guild


def is_absent(interaction: discord.Interaction[Any]) -> bool:
    """Whether a server has installed the commands without the bot, and the person has not installed it either.

    This happens with an install link that asks for `applications.commands` alone, the default of new applications.
    """
    server_id = interaction.guild_id
    if server_id is None or interaction.client.get_guild(server_id) is not None:
        return False
    return interaction.is_guild_integration() and not interaction.is_user_integration()


def shelf_of(interaction: discord.Interaction[Any]) -> str:
    """The key of the shelf of the person who uses a command or presses a button.

    In a server it is the server's id. Everywhere else it is the person's own shelf, whoever the message with the
    button was for.
    """
    server = server_of(interaction)
    return personal_shelf(str(interaction.user.id)) if server is None else str(server.id)


def is_direct(interaction: discord.Interaction[Any]) -> bool:
    """Whether it comes from the direct messages of the person with the bot."""
    return interaction.guild_id is None and not interaction.context.private_channel


def is_guest(interaction: discord.Interaction[Any]) -> bool:
    """Whether only the person has installed the bot, in a server or a channel that has not.

    Its replies are private there, and it can post nothing but replies.
    """
    return server_of(interaction) is None and not is_direct(interaction)
