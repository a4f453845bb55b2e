"""What the bot asks of a model apart from a talk: one way for queries, summaries and titles, and all of it booked."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    RequestSent,
    RequestUsage,
    StopReason,
    TextChunk,
    TokenUsage,
    ToolDefinition,
)
from domain.turn import quota
from domain.turn.quota import complete_once
from tests.doubles.scripted_chat import Reply, ScriptedChat

SPENT = TokenUsage(100, 5)


async def asked(*replies: Reply) -> tuple[str, list[RequestUsage]]:
    booked: list[RequestUsage] = []

    async def book(spent: RequestUsage) -> None:
        booked.append(spent)

    return await complete_once(ScriptedChat(*replies), book, "A title, please."), booked


async def test_the_answer_comes_back_and_its_tokens_are_told() -> None:
    answer, booked = await asked(ChatResponse(text="The White Rabbit", usage=SPENT))
    assert answer == "The White Rabbit"
    assert [(each.model, each.usage, each.is_open) for each in booked] == [("scripted-1", SPENT, False)]


@pytest.mark.parametrize("reason", [StopReason.REFUSAL, StopReason.END_TURN])
async def test_a_refusal_or_an_empty_reply_is_an_empty_answer_that_was_paid_for(reason: StopReason) -> None:
    answer, booked = await asked(ChatResponse(text="", usage=SPENT, stop_reason=reason))
    assert answer == ""
    assert booked
    assert all(each.usage == SPENT for each in booked)


async def test_a_model_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(LLMError) as caught:
        await asked(LLMError(LLMErrorCode.CONNECTION_LOST, "The line broke."))
    assert caught.value.code is LLMErrorCode.CONNECTION_LOST


async def test_a_reply_that_would_not_come_to_an_end_is_left() -> None:
    answer, _ = await asked([*[TextChunk("The Lamp, ")] * 9_000, ChatResponse(text="The Lamp, " * 9_000)])
    assert 4_000 <= len(answer) < 5_000


class Watched(ScriptedChat):
    """A model whose requests tell what they have used: the words that have come, or nothing if it was refused."""

    used: TokenUsage | None = TokenUsage(900, 1, estimated=True)

    async def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]:
        yield RequestSent(self.model_name, lambda: self.used)
        async with aclosing(self.stream(messages, tools, call_tools=call_tools)) as events:
            async for event in events:
                yield event


class Book:
    """Keeps what requests have used, as far as it is known of each."""

    def __init__(self) -> None:
        self.records: list[RequestUsage] = []
        self.counted: dict[str, RequestUsage] = {}
        self._changed = asyncio.Condition()

    async def note(self, spent: RequestUsage) -> None:
        async with self._changed:
            self.records.append(spent)
            self.counted[spent.id] = spent
            self._changed.notify_all()

    async def has(self, usage: TokenUsage) -> None:
        """Wait until a request is known to have used that."""
        async with self._changed:
            await self._changed.wait_for(lambda: usage in [each.usage for each in self.counted.values()])


@pytest.fixture
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "NOTE_EVERY_S", 0.01)


@pytest.mark.usefixtures("_often")
@pytest.mark.parametrize("end", ["reply", "left", "refused"])
async def test_what_an_open_request_has_used_is_known_before_its_end(end: str) -> None:
    model, book = Watched(ChatResponse("So it was.", usage=SPENT)), Book()
    model.hold = asyncio.Event()
    asking = asyncio.create_task(complete_once(model, book.note, "What was it?"))
    await book.has(TokenUsage(900, 1))
    model.used = TokenUsage(900, 2, estimated=True)
    await book.has(model.used)
    if end == "reply":
        model.hold.set()
        await asking
        assert [*book.counted.values()] == [RequestUsage(book.records[0].id, "scripted-1", SPENT)]
    else:
        model.used = None if end == "refused" else TokenUsage(900, 3, estimated=True)
        asking.cancel()
        await asyncio.wait({asking})
        assert [each.usage for each in book.counted.values()] == [model.used or TokenUsage()]
    [used] = book.counted.values()
    assert used.is_open == (end == "refused"), "only what was used is told as a request's usage"
    known = len(book.records)
    await asyncio.sleep(0.05)
    assert len(book.records) == known, "a request that has ended is not noted any more"


async def test_a_request_counts_from_the_moment_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "NOTE_EVERY_S", 3_600)  # a second note would never come
    model, book = Watched(ChatResponse("So it was.", usage=SPENT)), Book()
    model.hold = asyncio.Event()
    asking = asyncio.create_task(complete_once(model, book.note, "What was it?"))
    await book.has(TokenUsage(900, 1))
    asking.cancel()
    await asyncio.wait({asking})


async def test_a_database_that_does_not_answer_holds_no_answer_up() -> None:
    """The note of an open request may wait for ever; the last record is written all the same, and stays the last."""
    model, is_noted, is_left = Watched(ChatResponse("So it was.", usage=SPENT)), asyncio.Event(), asyncio.Event()
    model.hold, records = is_noted, list[RequestUsage]()

    async def note(spent: RequestUsage) -> None:
        if spent.is_open:
            is_noted.set()
            try:
                await asyncio.Event().wait()
            finally:
                is_left.set()
        records.append(spent)

    assert await complete_once(model, note, "What was it?") == "So it was."
    await is_left.wait()
    assert [each.usage for each in records] == [SPENT]
