"""How much a person may use, how often they may do what costs others something, and what requests to models use."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from domain.book import ShelfLimits
from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.concurrency import to_the_end
from domain.conversation import Conversation
from domain.errors import LLMError, LLMErrorCode, MarginaliaError, Worded
from domain.event import StrategyEvent, UsageReported
from domain.ports import AllowanceRepository, ChatProvider, Clock, UsageRepository
from domain.records import LimitedAction, ServerSettings, UsageRecord
from domain.servers import ManageServers
from domain.strategies.window import events_of_reply, reply_text
from domain.tool_use import ChatResponse, ProviderEvent, RequestSent, RequestUsage, TokenUsage
from domain.turn.state import Emit, TurnDraft

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """The operator's limits on Discord; 0 is no limit. `shelf_mb` counts text; the last three are per person."""

    books_per_shelf: int = 0
    shelf_mb: int = 0
    adds_per_hour: int = 0
    conversations_per_day: int = 0
    turns_per_minute: int = 0

    @property
    def of_shelf(self) -> ShelfLimits:
        """Those of one shelf."""
        return ShelfLimits(self.books_per_shelf, self.shelf_mb)


class Allowances:
    """Counts each person's limited actions. Counts survive restarts and are shared by all nodes."""

    def __init__(self, counts: AllowanceRepository, limits: Limits, clock: Clock) -> None:
        self._counts = counts
        self._clock = clock
        self._most = {
            LimitedAction.ADD_BOOK: (limits.adds_per_hour, timedelta(hours=1)),
            LimitedAction.OPEN_CONVERSATION: (limits.conversations_per_day, timedelta(days=1)),
            LimitedAction.ASK: (limits.turns_per_minute, timedelta(minutes=1)),
        }

    async def take(self, person: str, action: LimitedAction, about: str = "") -> timedelta | None:
        """Count one more action; repeating it `about` the same thing, as after a crash, counts once.

        If it exceeds the limit it is not counted, and the result is how long to wait.
        """
        most, span = self._most[action]
        if not most:
            return None
        now = self._clock()
        again = await self._counts.take(person, action, most, span, now, about)
        return None if again is None else again - now

    def most(self, action: LimitedAction) -> int:
        """How often one person may do it; 0 is no limit."""
        return self._most[action][0]


class Quota:
    """What people may ask: the operator's limits, and the daily tokens that a server's managers allow there.

    A day is from midnight to midnight UTC; `daily_tokens` is per person, 0 for no limit.
    """

    def __init__(
        self,
        usage: UsageRepository,
        clock: Clock,
        daily_tokens: int = 0,
        *,
        allowances: Allowances | None = None,
        servers: ManageServers | None = None,
    ) -> None:
        self._usage = usage
        self._clock = clock
        self._daily_tokens = daily_tokens
        self._allowances = allowances
        self._servers = servers

    async def check(self, reader_id: str, conversation: Conversation, about: str = "") -> None:
        """Let the reader pass, and count the question; questions in the terminal are not counted.

        Asking again `about` the same question, as after a crash, counts once.

        Raises:
            LLMError: DAILY_LIMIT, SERVER_LIMIT, the day's tokens are used up; TURN_LIMIT, they ask too fast.
        """
        shown = conversation.place_id is not None or conversation.is_aside
        await self.check_writing(reader_id, conversation.guild_id, counts=shown, about=about)

    async def check_writing(self, reader_id: str, guild_id: str | None, *, counts: bool, about: str = "") -> None:
        """The same for what a model writes outside conversations.

        Raises:
            LLMError: as `check`.
        """
        await self._check_tokens(reader_id, guild_id)
        if self._allowances is not None and counts:
            await self._check_pace(self._allowances, reader_id, about)

    async def refused(self, people: Collection[str], guild_id: str | None) -> Collection[str]:
        """Those whose tokens for the day are used up; nobody, if that is everybody."""
        if len(people) == 1:
            return ()
        spent = {person for person in people if not await self._has_tokens(person, guild_id)}
        return spent if len(spent) < len(people) else ()

    async def _has_tokens(self, reader_id: str, guild_id: str | None) -> bool:
        try:
            await self._check_tokens(reader_id, guild_id)
        except LLMError:
            return False
        return True

    async def _check_tokens(self, reader_id: str, guild_id: str | None) -> None:
        await self._check_own(reader_id)
        if guild_id is not None:
            await self._check_server(reader_id, guild_id)

    async def _check_own(self, reader_id: str) -> None:
        if not self._daily_tokens:
            return
        used = (await self._usage.total_for_reader(reader_id, self._midnight)).tokens
        used += await self._usage.spent_before_erasure(reader_id, self._midnight)
        if used >= self._daily_tokens:
            message = Worded(
                "You've read a lot with me today: your {most:,} tokens for the day are used up. "
                "You get new ones in {time}; your question is kept until then. "
                "The bot's operator sets this limit.",
                most=self._daily_tokens,
                time=self._until_midnight,
            )
            raise LLMError(LLMErrorCode.DAILY_LIMIT, message)

    async def _check_server(self, reader_id: str, server_id: str) -> None:
        """Check the limits that a server has set itself."""
        settings = await self._servers.settings(server_id) if self._servers else ServerSettings()
        if most := settings.tokens_per_person:
            used = (await self._usage.total_in_guild(reader_id, server_id, self._midnight)).tokens
            used += await self._usage.spent_before_erasure(reader_id, self._midnight, server_id)
            self._assert_left(
                used, most, Worded("your {most:,} tokens for the day on this server are used up", most=most)
            )
        if most := settings.tokens_per_server:
            used = (await self._usage.total_for_guild(server_id, self._midnight)).tokens
            gone = Worded("this server's {most:,} tokens for the day are used up", most=most)
            self._assert_left(used, most, gone)

    def _assert_left(self, used: int, most: int, gone: Worded) -> None:
        if used >= most:
            message = Worded(
                "There's been a lot of reading today: {gone}. You get new ones in {time}; the "
                "question is kept until then. Somebody with the permission “Manage Server” can change the limit "
                "with /settings tokens.",
                gone=gone,
                time=self._until_midnight,
            )
            raise LLMError(LLMErrorCode.SERVER_LIMIT, message)

    async def _check_pace(self, allowances: Allowances, reader_id: str, about: str) -> None:
        if wait := await allowances.take(reader_id, LimitedAction.ASK, about):
            seconds, most = max(1, round(wait.total_seconds())), allowances.most(LimitedAction.ASK)
            message = Worded(
                "You have asked {questions} within a minute, which is the limit for one person. "
                "Please ask again in {time}; your question is kept until then. The bot's operator sets this limit.",
                questions=Worded("1 question") if most == 1 else Worded("{most} questions", most=most),
                time=Worded("1 second") if seconds == 1 else Worded("{seconds} seconds", seconds=seconds),
            )
            raise LLMError(LLMErrorCode.TURN_LIMIT, message, retry_after=wait.total_seconds())

    @property
    def _midnight(self) -> datetime:
        return self._clock().replace(hour=0, minute=0, second=0, microsecond=0)

    @property
    def _until_midnight(self) -> Worded:
        hours = 24 - self._clock().hour
        return Worded("about 1 hour") if hours == 1 else Worded("about {hours} hours", hours=hours)


NOTE_EVERY_S = 1.0
"""How often it is reported what an open request has used; each report takes a fifth of a millisecond of processor time.
"""

usage_log = logging.getLogger("marginalia.usage")
"""One line per request to a model, of turns and of everything else that models write, from which figures are made."""

Price = Callable[[str, str, TokenUsage], int | None]
"""The cost of a request in millionths of a US dollar, by provider, model and tokens; None if it is unknown."""


class UsageMeter:
    """Records usage at once: tokens are spent even if no answer results, or the process is killed."""

    def __init__(self, *, usage: UsageRepository, price: Price, clock: Clock, provider: str) -> None:
        self._usage = usage
        self._price = price
        self._clock = clock
        self._provider = provider

    async def record(self, spent: RequestUsage, conversation: Conversation, draft: TurnDraft, emit: Emit) -> None:
        """Charge the tokens of a request to the reader who wrote last."""
        if not spent.is_open:
            draft.usage += spent.usage
        last = draft.asked[-1]
        cost = await self.book(spent, last.author_id, conversation.server_id, conversation.id, last.created_at)
        if not spent.is_open:
            draft.log.add_cost(cost)
            emit(UsageReported(spent.usage, spent.model))

    async def book(
        self,
        spent: RequestUsage,
        reader_id: str,
        guild_id: str | None,
        conversation_id: str | None = None,
        asked_at: datetime | None = None,
    ) -> int | None:
        """Charge the tokens of a request to a reader; returns the cost in millionths of a US dollar, if known."""
        cost = self._price(self._provider, spent.model, spent.usage)
        if not spent.is_open:
            _log(spent, cost)
        await self._usage.record(
            UsageRecord(
                at=self._clock(),
                model=spent.model,
                usage=spent.usage,
                reader_id=reader_id,
                guild_id=guild_id,
                conversation_id=conversation_id,
                cost_microdollars=cost,
                asked_at=asked_at,
                request_id=spent.id,
            )
        )
        return cost


def _log(spent: RequestUsage, cost: int | None) -> None:
    fields = {
        "model": spent.model,
        "tokens_in": spent.usage.input_tokens,
        "tokens_cached": spent.usage.cache_read_tokens,
        "tokens_out": spent.usage.output_tokens,
        "cost_microdollars": cost or 0,
    }
    told = " ".join(f"{name}={value}" for name, value in fields.items())
    usage_log.debug("request %s", told, extra={"fields": fields})


Event = TypeVar("Event", bound=ProviderEvent | StrategyEvent)

Spent = Callable[[RequestUsage], Awaitable[None]]
"""Receives what each request uses: now and then while it is open, and all of it at its end."""


async def metered(events: AsyncGenerator[Event, None], spent: Spent) -> AsyncGenerator[Event, None]:
    """The events without those about usage, which `spent` receives.

    A request that fails, or is left or cancelled before its usage is reported, has used tokens as well. So has one
    whose process is killed, hence the reports while it is open.
    """
    request: _MeteredRequest | None = None
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, RequestSent):
                    if request:
                        await request.end()
                    request = _MeteredRequest(event, spent)
                elif isinstance(event, UsageReported):
                    ended, request = request, None
                    await to_the_end(ended.end(event.usage) if ended else spent(_unmetered(event)))
                else:
                    yield event
    finally:
        try:
            if request:
                await to_the_end(request.end())
        except MarginaliaError as error:  # why the request ended is more important
            logger.warning("the usage of an unfinished request was not recorded: %s", error)


def _unmetered(event: UsageReported) -> RequestUsage:
    return RequestUsage(uuid.uuid4().hex, event.model, event.usage)


class _MeteredRequest:
    """Reports what a request uses, from when it is sent to its end. The first report does not hold up the request."""

    def __init__(self, sent: RequestSent, spent: Spent) -> None:
        self._sent = sent
        self._spent = spent
        self._id = uuid.uuid4().hex
        self._noted: TokenUsage | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._begin_noting()

    async def end(self, reported: TokenUsage | None = None) -> None:
        """Report all it has used: as its server has reported, else as far as is known."""
        _, late = await asyncio.wait({self._noting}, timeout=NOTE_EVERY_S)
        for task in late:  # a database that has trouble does not keep the answer waiting twice
            task.cancel()
        if self._timer:
            self._timer.cancel()
        if usage := reported or self._sent.spent():
            await self._spent(RequestUsage(self._id, self._sent.model, usage))
        elif self._noted:  # it was refused late
            await self._report_so_far(TokenUsage())

    def _begin_noting(self) -> None:
        self._noting = asyncio.create_task(self._note())

    async def _note(self) -> None:
        try:
            usage = self._sent.spent()
            if usage and usage != self._noted:
                self._noted = usage
                await self._report_so_far(usage)
        except MarginaliaError as error:
            logger.info("what a request has used so far was not recorded: %s", error)
        self._timer = asyncio.get_running_loop().call_later(NOTE_EVERY_S, self._begin_noting)

    async def _report_so_far(self, usage: TokenUsage) -> None:
        await self._spent(RequestUsage(self._id, self._sent.model, usage, is_open=True))


async def complete_once(
    chat_provider: ChatProvider,
    spent: Spent,
    question: str,
    /,
    *,
    kind: PromptKind = PromptKind.TALK,
    data: Mapping[str, Any] | None = None,
) -> str:
    """The model's reply in words; blank if it declines or has nothing to say.

    `spent` receives the tokens used, also if there is no reply. `kind` and `data` are those of PromptMessage.

    Raises:
        LLMError: there was no reply; CONTEXT_EXCEEDED if the question does not fit into the model's window.
    """
    prompt, said = PromptMessage(MessageRole.USER, question, kind=kind, data=data), ""
    async with aclosing(metered(events_of_reply(chat_provider, [prompt]), spent)) as events:
        async for event in events:
            if isinstance(event, ChatResponse):
                said = reply_text(event)
    return said
