"""What requests to the model use, booked on the reader they were made for."""

from collections.abc import Callable

from domain.agent.draft import Draft
from domain.conversation import Conversation
from domain.event import UsageReported
from domain.protocols import Clock, UsageRepository
from domain.tool_use import TokenUsage
from domain.usage import UsageRecord

Price = Callable[[str, str, TokenUsage], int | None]
"""Provider, model and tokens of a request to its cost in millionths of a US dollar, None where that is unknown."""


class Expenses:
    """Keeps what was used at once: it is spent even if no answer comes of it."""

    def __init__(self, *, usage: UsageRepository, price: Price, clock: Clock, provider: str) -> None:
        self._usage = usage
        self._price = price
        self._clock = clock
        self._provider = provider

    async def record(self, event: UsageReported, conversation: Conversation, draft: Draft) -> None:
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
                guild_id=conversation.guild_id,
                conversation_id=conversation.id,
                cost_microdollars=cost,
            )
        )
