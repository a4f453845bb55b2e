"""What cogs are handed, and the bot as they know it."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

import discord
from discord.ext import commands
from discord.ui import DynamicItem

from cogs.i18n import Speech, speech_for
from domain.book import personal_shelf
from domain.conversation import Conversation
from domain.use_cases import UseCases


class Conversing(Protocol):
    """Whoever answers in threads."""

    async def opened(self, thread: discord.Thread, conversation: Conversation) -> None:
        """Take in what was written in a thread before it was bound to its conversation, and have it answered."""
        ...

    async def make_current(
        self, interaction: discord.Interaction[Any], conversation: Conversation
    ) -> tuple[discord.PartialMessageable, Conversation]:
        """Have a conversation continue in the direct messages an interaction comes from; these, and what it is now.

        What was written there before belongs to the conversation that was current, and is answered in it.
        """
        ...

    async def answer_in(self, conversation: Conversation, notify: "NotifyPrivately") -> None:
        """Answer what waits in the conversation; returns when the answer, or its failure, stands in its place.

        Failures of the model are shown there, never raised. `notify` is called where nothing can be.
        """
        ...


NotifyPrivately = Callable[[Sequence[str]], Awaitable[Callable[[], Awaitable[None]]]]
"""Tells one person, and them alone, that the bot may not write in the thread where they wait for an answer.

It is handed the permissions that are lacking, as far as they are known, and gives back what takes the words away again.
"""

Action = Callable[[discord.Interaction[Any], str], Awaitable[None]]
"""What a button or a menu does, with the argument that its custom_id carries or the value that was chosen."""


class RecentIds:
    """Knows again what it has met, as long as that is among the newest `size`."""

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._met: dict[int, None] = {}

    def is_new(self, number: int) -> bool:
        """Whether it is met for the first time."""
        if number in self._met:
            return False
        self._met[number] = None
        if len(self._met) > self._size:
            del self._met[next(iter(self._met))]
        return True


class Audit(Protocol):
    """The moderators' log: who removed, deleted, erased or changed what, and what went wrong; never anybody's words."""

    def note(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """Note what was done, without waiting until it is posted.

        `text` is marked with `later`; `values` name people by mentions, books by their titles in plain characters, and
        conversations by their ids or owners, as their titles may be somebody's words. Outside of servers nothing is
        noted.
        """
        ...

    def trouble(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """Note what went wrong; the same is not noted again for a while."""
        ...

    async def close(self) -> None:
        """Return once everything is noted."""
        ...


def note_deed(interaction: discord.Interaction[Any], text: str, /, **values: object) -> None:
    """Note in the moderators' log what a person has done; `{who}` in the text is that person."""
    bot = interaction.client
    assert isinstance(bot, ServingBot)
    bot.audit.note(server_of(interaction), text, who=interaction.user.mention, **values)


MEMBERSHIP_S = 60.0
"""How long it is taken for granted, for choices, that somebody is in a thread, or is not."""


class Memberships:
    """Who is in which private thread, as Discord has told lately. For choices alone: rights are asked for anew."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: OrderedDict[tuple[str, int], tuple[float, asyncio.Task[bool]]] = OrderedDict()

    def ask(self, thread_id: str, member_id: int, ask: Callable[[], Coroutine[Any, Any, bool]]) -> asyncio.Task[bool]:
        """Whether a member is in a thread, which `ask` finds out; nobody asks twice within MEMBERSHIP_S."""
        while self._known and next(iter(self._known.values()))[0] <= self._now() - MEMBERSHIP_S:
            self._known.popitem(last=False)
        key = (thread_id, member_id)
        if key not in self._known:
            self._known[key] = (self._now(), asyncio.create_task(ask()))
        return self._known[key][1]


class ServingBot(commands.Bot):
    """The bot as cogs know it.

    `handled` are the dynamic items that cogs have told it of, `forms` what it does with modals, by their actions.
    `at_work` are the tasks that carry out commands and actions now; they are cancelled, and waited for, before the bot
    goes. `carried_out` are the last interactions.
    """

    use_cases: UseCases
    audit: Audit
    memberships: Memberships
    handled: list[type[DynamicItem[Any]]]
    forms: dict[str, Action]
    at_work: dict[asyncio.Task[Any], discord.Interaction[Any]]
    carried_out: RecentIds

    def handle(self, *items: type[DynamicItem[Any]]) -> None:
        """Have dynamic items carry out the presses of their buttons."""
        self.add_dynamic_items(*items)
        self.handled += items

    def handle_form(self, action: str, act: Action) -> None:
        """Have an action carry out what people send in the modals that `cogs.interactions.form` makes of it."""
        self.forms[action] = act

    @property
    def serves_direct_messages(self) -> bool:
        """Whether direct messages are told to this client: Discord tells them to the first shard."""
        return not self.shard_id

    def direct_channel(self, channel_id: int) -> discord.PartialMessageable:
        """The channel of a person's direct messages, without asking Discord for it."""
        return self.get_partial_messageable(channel_id, type=discord.ChannelType.private)

    def thread_asleep(self, thread_id: int, guild_id: int) -> discord.PartialMessageable:
        """A thread that is not known to the client."""
        return self.get_partial_messageable(thread_id, guild_id=guild_id, type=discord.ChannelType.public_thread)

    def take_up(self, interaction: discord.Interaction[Any]) -> bool:
        """Count the current task among those at work, until it is done. False: the gateway has told it twice."""
        if not self.carried_out.is_new(interaction.id):
            return False
        task = asyncio.current_task()
        assert task is not None
        self.at_work[task] = interaction
        task.add_done_callback(self.at_work.pop)
        return True


def use_cases_of(interaction: discord.Interaction[Any]) -> UseCases:
    bot = interaction.client
    assert isinstance(bot, ServingBot)
    return bot.use_cases


async def direct_speech(use_cases: UseCases, person_id: str) -> Speech:
    """The language of a person's direct messages: that of the command by which they last began to talk."""
    known = await use_cases.people.locale(person_id)
    return speech_for(discord.Locale(known) if known in _LOCALES else discord.Locale.american_english)


_LOCALES = frozenset(locale.value for locale in discord.Locale)


def server_of(interaction: discord.Interaction[Any]) -> discord.Guild | None:
    """The server that an interaction belongs to; None in direct messages, and where only the person has the bot.

    Discord hands over a part of every server an interaction comes from, also of one that the bot is not in.
    """
    known = interaction.client.get_guild(interaction.guild_id or 0)
    by_person_alone = interaction.is_user_integration() and not interaction.is_guild_integration()
    return None if known is None or by_person_alone else interaction.guild


def shelf_of(interaction: discord.Interaction[Any]) -> str:
    """The key of the shelf that whoever uses a command or presses a button has before them.

    In a server it is the server's, which bears its id. Everywhere else it is the person's own, whoever's the message is
    whose button they press.
    """
    server = server_of(interaction)
    return personal_shelf(str(interaction.user.id)) if server is None else str(server.id)


def is_direct(interaction: discord.Interaction[Any]) -> bool:
    """Whether it comes from the direct messages of the person with the bot."""
    return interaction.guild_id is None and not interaction.context.private_channel


def is_guest(interaction: discord.Interaction[Any]) -> bool:
    """Whether the bot is here for the person alone, in a server or a channel that has not installed it.

    What it replies there is for them alone to see, and it can post nothing but replies.
    """
    return server_of(interaction) is None and not is_direct(interaction)
