"""After a crash or an outage: answers that were made but not delivered, turns that were interrupted, and replies to
commands that were left open.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Collection, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import discord

from cogs.conversation.buttons import turn_shown_by, turn_traced_by
from cogs.conversation.presenter import PostedMessages, ThreadContext, TurnPresenters
from cogs.delivery.turn_messages import messages_of
from cogs.errors import (
    DISCORD_ERRORS,
    EXPIRED,
    PLACE,
    TRANSIENT_ERRORS,
    edit_reply,
    find_reply,
    retry_transient,
)
from cogs.i18n import speech_for_all, speech_of
from cogs.rendering.answers import answer_note
from cogs.rendering.inline import as_compared
from cogs.rendering.tool_calls import calls_of
from cogs.services import ServingBot, is_direct, is_guest, use_cases_of
from domain.book import Binding
from domain.chat import ChatMessage, MessageRole
from domain.citations.matching import uncited_in
from domain.concurrency import CURRENT_LEASE, HeldLease, Shard, is_lease_lost
from domain.conversation import Conversation, Turn, TurnState
from domain.errors import MarginaliaError
from domain.event import Answer
from domain.library.progress import proposals_in
from domain.ports import OpenReplyRepository
from domain.records import OpenReply
from domain.turn.history import StoredTurn
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

LOOKED_AT = 100
"""Messages after the oldest unanswered one: one request's worth."""
NOTE_S = 0.3
"""How long a command waits until the note of its reply is stored."""
END_AFTER_S = (0.0, 5.0, 20.0, 60.0, 300.0)
"""When a start tries to end an interrupted reply, while Discord has trouble."""
WORK = "work"
"""In the extras of an interaction: `(action, arguments for JSON)`, if the next process can continue the command."""
OPENING = "opening"
"""The action of a reply that the thread of a new conversation starts from; both have the same id."""
TELLING = "telling"
"""The action of a reply that says something about a book. It is complete as soon as it has any text."""
BEGAN = "began"
"""In the extras of an interaction of an earlier process: when that process began to work on it."""


@dataclass(slots=True)
class ThreadPosts:
    """The bot's own messages in a thread, by the turn that their buttons name. `plain` are those without such buttons,
    by their text, except the ones that a turn is known to have posted.
    """

    replies: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    traces: dict[str, str] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)

    def of(self, turn_id: str) -> PostedMessages:
        return PostedMessages(tuple(self.replies.get(turn_id, ())), self.traces.get(turn_id))

    def others_than(self, known: Iterable[str]) -> set[str]:
        """The turns other than these that have posted something."""
        return {*self.replies, *self.traces} - set(known)


async def find_posts(place: ThreadContext, since: int | None, recorded: Collection[str]) -> ThreadPosts:
    """What the bot has posted in a thread after the message with the id `since`, or lately if that is None; empty if
    the bot may not read the thread. `recorded` are the ids of messages that turns are known to have posted.

    Raises:
        TRANSIENT_ERRORS: Discord has trouble; continuing without a look might post something twice.
    """
    posts, thread = ThreadPosts(), place.thread
    try:
        for message in await retry_transient(partial(_page, thread, since)):
            if message.author.id == place.own_id:
                _note(posts, message, recorded)
    except (discord.Forbidden, discord.NotFound) as fault:
        logger.warning("what stands in thread %s could not be read: %s", thread.id, fault)
    return posts


async def _page(thread: discord.abc.Messageable, since: int | None) -> list[discord.Message]:
    """Oldest first."""
    if since is None:
        return [message async for message in thread.history(limit=LOOKED_AT)][::-1]
    after = discord.Object(since)
    return [message async for message in thread.history(after=after, limit=LOOKED_AT, oldest_first=True)]


def _note(posts: ThreadPosts, message: discord.Message, recorded: Collection[str]) -> None:
    names = list(_button_names(message))
    shown = next(filter(None, map(turn_shown_by, names)), None)
    traced = next(filter(None, map(turn_traced_by, names)), None)
    if shown:
        posts.replies[shown].append(str(message.id))
    elif traced:
        posts.traces.setdefault(traced, str(message.id))
    elif str(message.id) not in recorded:
        posts.plain.setdefault(as_compared(message.content), str(message.id))


def _button_names(message: discord.Message) -> Iterator[str]:
    for row in message.components:
        if isinstance(row, discord.ActionRow):
            yield from (part.custom_id for part in row.children if part.custom_id)


@dataclass(frozen=True, slots=True)
class ClearedUp:
    """What was found in a conversation: what interrupted turns have posted in the thread, the turns that were being
    answered again, and whether all other finished answers are delivered now.
    """

    leftover: PostedMessages
    again: tuple[str, ...]
    is_tidy: bool


class Recovery:
    """Finishes what was interrupted in a conversation, before anything new is answered there."""

    def __init__(self, use_cases: UseCases, presenters: TurnPresenters) -> None:
        self._use_cases = use_cases
        self._presenters = presenters

    async def clear_up(self, conversation: Conversation, place: ThreadContext) -> ClearedUp:
        """Deliver finished answers, and let interrupted questions wait again."""
        await self._use_cases.chat.withhold(conversation.id)
        history = await self._use_cases.transcripts.messages(conversation.id)
        turns = await self._use_cases.transcripts.turns(conversation.id)
        posts = await self._find_posts(place, history, turns)
        answered = [turn for turn in turns if turn.state is TurnState.ANSWERED]
        unseen = [turn for turn in answered if not turn.told]
        delivered = [await self._deliver(turn, conversation, place, history, posts) for turn in unseen]
        interrupted = await self._use_cases.chat.recover(conversation.id)
        gone = {turn.id for turn in interrupted}
        leftover = await self._orphans(posts, [turn.id for turn in turns if turn.id not in gone])
        for turn in interrupted:
            leftover += PostedMessages(turn.reply_ids, turn.trace_id)
        return ClearedUp(leftover, tuple(turn.id for turn in answered if turn.told), all(delivered))

    async def _orphans(self, posts: ThreadPosts, known: Sequence[str]) -> PostedMessages:
        """What is left of deleted turns; direct messages may contain messages of other conversations too."""
        orphans = [each for each in posts.others_than(known) if not await self._use_cases.transcripts.turn(each)]
        return sum(map(posts.of, orphans), PostedMessages())

    async def show_again(
        self,
        stored: StoredTurn,
        shown: PostedMessages,
        conversation: Conversation,
        place: ThreadContext,
        remark: str,
    ) -> bool:
        """Show an answer as it was before it was to be made again, with a remark below; returns whether that worked.

        `shown` are the messages that show it now, if that may have changed.
        """
        turn = replace(stored.turn, reply_ids=shown.replies, trace_id=shown.trace) if shown else stored.turn
        return await self._deliver(turn, conversation, place, stored.messages, ThreadPosts(), remark)

    async def _find_posts(
        self, place: ThreadContext, history: Sequence[ChatMessage], turns: Sequence[Turn]
    ) -> ThreadPosts:
        """What has been posted after the oldest unfinished message."""
        done = {turn.id for turn in turns if turn.state is TurnState.DELIVERED or turn.told}
        questions = [message for message in history if message.role is MessageRole.USER and message.turn_id not in done]
        ids = [message.external_id for message in questions if message.external_id]
        # A question that came with a command has no message of its own, so there is nothing to look after.
        after_all = [int(each) for each in ids] if all(each.isdecimal() for each in ids) else []
        recorded = {each for turn in turns for each in turn.reply_ids}
        return await find_posts(place, min(after_all, default=None), recorded) if ids else ThreadPosts()

    async def _deliver(
        self,
        turn: Turn,
        conversation: Conversation,
        place: ThreadContext,
        history: Sequence[ChatMessage],
        posts: ThreadPosts,
        remark: str = "",
    ) -> bool:
        """Post an answer from storage, in the messages that exist for it already."""
        said = [message for message in history if message.turn_id == turn.id]
        asked = [message for message in said if message.role is MessageRole.USER]
        text = said[-1].content
        binding = await self._binding(conversation, asked, said[-1].depends_to)
        uncited = await uncited_in(text)
        answer = Answer(turn.id, text, said[-1].citations, stopped=turn.stopped, uncited=uncited, binding=binding)
        leftover = PostedMessages(turn.reply_ids, turn.trace_id) + posts.of(turn.id)
        verbose = bool(leftover.trace) or await self._presenters.is_verbose(
            conversation, [each.author_id for each in asked]
        )
        note = answer_note(answer, place.say, verbose=verbose)
        messages = messages_of(text, note, cited=answer.citations, say=place.say)
        leftover += _unmarked(messages, leftover, posts)
        presenter = self._presenters.make(
            turn.id,
            place,
            seed=asked[0].id,
            verbose=verbose,
            leftover=leftover,
            calls=calls_of(history, turn.id) if verbose else (),
        )
        presenter.remark = remark
        for proposal in proposals_in(said):
            presenter.follow(proposal)
        presenter.follow(answer)
        return await self._presenters.conclude(presenter, place)

    async def _binding(
        self, conversation: Conversation, asked: Sequence[ChatMessage], depends_to: int | None
    ) -> Binding | None:
        """Who or what kept an answer from going further; None if nothing did, or somebody has moved since."""
        people = await self._use_cases.company.of(conversation.id)
        book = await self._use_cases.shelf.get(conversation.book_id)
        askers = [each.author_id for each in asked]
        found = await self._use_cases.positions.binding(people, askers, book, conversation)
        return found if found and found.read_to == depends_to else None


def _unmarked(messages: Sequence[str], known: PostedMessages, posts: ThreadPosts) -> PostedMessages:
    """Posted parts of an answer that were not recorded, identified by their text."""
    texts = map(as_compared, messages)
    found = {posts.plain[text] for text in texts if text in posts.plain} - {*known.replies}
    return PostedMessages(tuple(found))


class OpenReplies:
    """Stores which replies to commands are still being made. After the process is killed, the next one ends them.

    Commands in `ServingBot.continuations` are continued, once; the replies to others say that the bot was restarted.
    """

    def __init__(self, bot: ServingBot, replies: OpenReplyRepository) -> None:
        self._bot = bot
        self._replies = replies
        self._own: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def note(self, interaction: discord.Interaction[Any], hidden: bool) -> None:
        """Store that somebody is waiting for a reply, without waiting long if storage is slow.

        After a takeover Discord may repeat an interaction that the process before was answering. Its note stays as it
        is: `end_interrupted` goes on with it.
        """
        if str(interaction.id) in self._own:
            return
        lease = CURRENT_LEASE.get()
        is_open = not hidden and not is_guest(interaction)
        reply = OpenReply(
            id=str(interaction.id),
            reader_id=str(interaction.user.id),
            guild_id=str(interaction.guild_id) if interaction.guild_id else None,
            channel_id=str(interaction.channel_id) if is_open else None,
            token=interaction.token,
            about=json.dumps(_about(interaction)),
            began_at=discord.utils.utcnow(),
            lease=lease.name if lease else "",
            epoch=lease.epoch if lease else 0,
        )
        self._own[reply.id] = self._begin(self._note(reply))
        await asyncio.wait([self._own[reply.id]], timeout=NOTE_S)

    async def _note(self, reply: OpenReply) -> None:
        try:
            if not await self._replies.note(reply):
                del self._own[reply.id]
        except MarginaliaError as error:
            logger.warning("that somebody waits for reply %s is not noted: %s", reply.id, error)

    def ended(self, interaction: discord.Interaction[Any]) -> None:
        """Delete the note of a reply that nobody is waiting for any more. Returns at once."""
        noted = self._own.get(str(interaction.id))
        if noted and not self.is_for_others(interaction):
            self._begin(self._forget(str(interaction.id), noted))

    def is_for_others(self, interaction: discord.Interaction[Any]) -> bool:
        """Whether another process, which may have taken over from this one, has to end the reply to an interaction."""
        return is_lease_lost() and str(interaction.id) in self._own

    async def _forget(self, reply_id: str, noted: asyncio.Task[None]) -> None:
        await noted
        try:
            await self._replies.forget(reply_id)
            del self._own[reply_id]
        except MarginaliaError as error:  # the next start sees that the reply stands
            logger.warning("the note of reply %s stays: %s", reply_id, error)

    async def end_interrupted(self) -> None:
        """End the replies that a killed process has left open.

        Raises:
            StorageError: the database is away.
        """
        lease = CURRENT_LEASE.get()
        for reply in await self._replies.list():
            if reply.id in self._own or not is_left(reply, lease, self._bot.shard):
                continue
            about = json.loads(reply.about)
            once = json.dumps(about | {"arguments": None})
            if await self._replies.take(reply, once, lease.name if lease else "", lease.epoch if lease else 0):
                self._own[reply.id] = self._begin(asyncio.sleep(0))
                self._begin(self._end(reply, about))

    async def _end(self, reply: OpenReply, about: dict[str, Any]) -> None:
        interaction, task = _made_again(self._bot, reply, about), asyncio.current_task()
        assert task is not None
        self._bot.at_work[task] = interaction
        task.add_done_callback(self._bot.at_work.pop)
        try:
            for wait in END_AFTER_S:
                await asyncio.sleep(wait)
                try:
                    return await self._end_once(interaction, about)
                except TRANSIENT_ERRORS as error:
                    logger.info("reply %s is ended later: %s", reply.id, error)
        except DISCORD_ERRORS as error:
            logger.warning("reply %s cannot be ended: %s", reply.id, error)
        except Exception:  # nobody waits for this task
            logger.exception("reply %s cannot be ended", reply.id)
        finally:
            self.ended(interaction)

    async def _end_once(self, interaction: discord.Interaction[Any], about: dict[str, Any]) -> None:
        shown = await _shown(interaction)
        if shown is not None and await _is_whole(shown, about["action"], interaction):
            return
        if act := self._bot.continuations.get(about["action"]):
            await act(interaction, about["arguments"])
        else:
            await tell_restarted(interaction)

    async def settle(self) -> None:
        """Return when all notes are written."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="open replies")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def tell_restarted(interaction: discord.Interaction[Any]) -> None:
    """Tell whoever waits for the reply to an interaction of an earlier process that it has not been carried out."""
    say = speech_of(interaction) if interaction.extras[PLACE] is None else speech_for_all(interaction)
    text = say("I was restarted in the middle of this. If it isn't done, please try again.")
    await edit_reply(interaction, content=text, embed=None)


def _about(interaction: discord.Interaction[Any]) -> dict[str, Any]:
    action, arguments = interaction.extras.get(WORK, ("", None))
    installs = [interaction.is_guild_integration(), interaction.is_user_integration()]
    return {
        "locale": interaction.locale.value,
        "installs": [number for number, is_there in enumerate(installs) if is_there],
        "context": 0 if interaction.guild_id else 1 if is_direct(interaction) else 2,
        "action": action,
        "arguments": arguments,
    }


def _made_again(bot: ServingBot, reply: OpenReply, about: dict[str, Any]) -> discord.Interaction[Any]:
    """An interaction of an earlier process, rebuilt as an acknowledged one. It has no channel if only the person sees
    the reply, and the person has no name.
    """
    user = {"id": reply.reader_id, "username": "", "discriminator": "0000", "avatar": None}  # 0000: not to be cached
    payload: dict[str, Any] = {
        "id": reply.id,
        "application_id": str(bot.application_id),
        "type": discord.InteractionType.application_command.value,
        "token": reply.token,
        "version": 1,
        "attachment_size_limit": 0,
        "locale": about["locale"],
        "context": about["context"],
        "authorizing_integration_owners": dict.fromkeys(about["installs"], reply.guild_id or reply.reader_id),
        "user": user,
    }
    if reply.guild_id:
        payload |= {"guild_id": reply.guild_id, "member": {"user": user, "roles": [], "flags": 0}}
    made = discord.Interaction[Any](data=payload, state=bot._connection)  # type: ignore[arg-type]  # noqa: SLF001
    made.response._response_type = discord.InteractionResponseType.deferred_channel_message  # noqa: SLF001
    place_id = int(reply.channel_id or 0)
    place: Any = bot.get_channel(place_id) or bot.get_partial_messageable(place_id)
    made.channel = place  # the library fetches no reply without one
    made.extras[BEGAN] = reply.began_at
    made.extras[PLACE] = int(reply.channel_id) if reply.channel_id else None
    return made


async def _shown(interaction: discord.Interaction[Any]) -> discord.Message | None:
    """The reply as Discord shows it; None if it does not."""
    try:
        return await interaction.original_response()
    except discord.NotFound:
        return None
    except discord.HTTPException as error:
        if error.code not in EXPIRED:
            raise
        return await find_reply(interaction)


async def _is_whole(reply: discord.Message, action: str, interaction: discord.Interaction[Any]) -> bool:
    """Whether a reply is complete. One that announces a thread is complete once the thread has its conversation."""
    if action == OPENING:
        return await use_cases_of(interaction).conversations.in_thread(str(reply.id)) is not None
    return bool(reply.embeds) or not (_is_empty(reply) or action not in ("", TELLING))


def _is_empty(message: discord.Message) -> bool:
    return message.flags.loading or not (message.content or message.embeds or message.attachments or message.components)


def is_left(reply: OpenReply, lease: HeldLease | None, shard: Shard) -> bool:
    """Whether the process that makes a reply is gone, and this one is to end it."""
    if lease is None:
        return True
    if reply.lease == lease.name:
        return reply.epoch < lease.epoch
    number, count = shard  # notes of shards that are not there any more belong to the first
    kind = lease.name.rpartition("/")[0]
    return number == 0 and reply.lease not in {f"{kind}/{each}" for each in range(count)}
