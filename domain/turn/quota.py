"""How much a person may use in a day."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from domain.conversation import Conversation
from domain.errors import LLMError, LLMErrorCode
from domain.event import UsageReported
from domain.ports import Clock, UsageRepository
from domain.tool_use import TokenUsage
from domain.turn.state import TurnDraft
from domain.usage import UsageRecord


class Quota:
    """A limit of tokens per person and day (midnight to midnight UTC); 0 means none."""

    def __init__(self, usage: UsageRepository, clock: Clock, daily_tokens: int = 0) -> None:
        self._usage = usage
        self._clock = clock
        self._daily_tokens = daily_tokens

    async def check(self, reader_id: str) -> None:
        """Let the reader pass.

        Raises:
            LLMError: DAILY_LIMIT, the day's tokens are used up.
        """
        if not self._daily_tokens:
            return
        now = self._clock()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        used = (await self._usage.total_for_reader(reader_id, midnight)).tokens
        if used >= self._daily_tokens:
            hours = 24 - now.hour
            raise LLMError(
                LLMErrorCode.DAILY_LIMIT,
                f"You have read a lot with me today: your {self._daily_tokens:,} tokens for the day are used up. "
                f"There will be new ones in about {hours} {'hour' if hours == 1 else 'hours'}; "
                "your question is kept until then.",
            )


Price = Callable[[str, str, TokenUsage], int | None]
"""Provider, model and tokens of a request to its cost in millionths of a US dollar, None where that is unknown."""


class UsageMeter:
    """Keeps what was used at once: it is spent even if no answer comes of it."""

    def __init__(self, *, usage: UsageRepository, price: Price, clock: Clock, provider: str) -> None:
        self._usage = usage
        self._price = price
        self._clock = clock
        self._provider = provider

    async def record(self, event: UsageReported, conversation: Conversation, draft: TurnDraft) -> None:
        """Book the tokens of a request on the reader who wrote last."""
        draft.usage += event.usage
        cost = self._price(self._provider, event.model, event.usage)
        draft.log.add_cost(cost)
        await self._usage.record(
            UsageRecord(
                at=self._clock(),
                model=event.model,
                usage=event.usage,
                reader_id=draft.asked[-1].author_id,
                guild_id=conversation.server_id,
                conversation_id=conversation.id,
                cost_microdollars=cost,
            )
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator allows on a server; 0 is no limit. `shelf_mb` is text; the last two are per person."""

    books_per_shelf: int = 0
    shelf_mb: int = 0
    adds_per_hour: int = 0
    conversations_per_day: int = 0


class SlidingWindow:
    """Counts what each person does, and says when they may again. It forgets when the program ends."""

    def __init__(self, most: int, span: timedelta, now: Callable[[], float] = time.monotonic) -> None:
        """`most` times within `span`; 0 is no limit."""
        self._most = most
        self._span_s = span.total_seconds()
        self._now = now
        self._times: dict[str, deque[float]] = {}

    def take(self, person: str) -> timedelta | None:
        """Count one more. Where it would be too many, it is not counted; then, how long until it would not be."""
        if self._most == 0:
            return None
        now = self._now()
        times = self._times.setdefault(person, deque())
        while times and times[0] <= now - self._span_s:
            times.popleft()
        if len(times) >= self._most:
            return timedelta(seconds=times[0] + self._span_s - now)
        times.append(now)
        return None
