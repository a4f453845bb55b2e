"""The loop: ask, call, hand back, until there is an answer."""

import asyncio
import json
from typing import Any

import pytest

from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import (
    DraftDiscarded,
    StrategyEvent,
    StrategyOutcome,
    ToolCallFinished,
    ToolCallStarted,
    UsageReported,
)
from domain.ports import Dispatcher
from domain.strategies.tool_use import NUDGE, ToolUseRetrievalStrategy
from domain.tool_use import (
    ChatResponse,
    RawReply,
    StopReason,
    TextChunk,
    TokenUsage,
    ToolDefinition,
    ToolResult,
)
from domain.tools.registry import ToolRegistry
from tests.doubles.scripted_chat import ScriptedChat, call, calls

SEARCH = ToolDefinition("search_book", "Search.", {"type": "object", "properties": {}})
QUESTION = PromptMessage("user", "Who is Ann?")


def dispatcher(**tools: Any) -> Dispatcher:
    registry = ToolRegistry()
    for name, handler in tools.items():
        registry.register(ToolDefinition(name, name, {"type": "object", "properties": {}}), handler)
    return registry.build_dispatcher()


async def found(_: dict[str, Any]) -> ToolResult:
    return ToolResult("Ann is the keeper.", depends_to=40, summary="1 passage")


async def play(
    provider: ScriptedChat, dispatch: Dispatcher | None = None, *, max_rounds: int = 3
) -> tuple[list[StrategyEvent], StrategyOutcome]:
    strategy = ToolUseRetrievalStrategy(max_rounds=max_rounds)
    events = [
        e async for e in strategy.execute(provider, [QUESTION], [SEARCH], dispatch or dispatcher(search_book=found))
    ]
    outcome = events[-1]
    assert isinstance(outcome, StrategyOutcome)
    return events, outcome


async def test_an_answer_in_words_ends_the_loop() -> None:
    provider = ScriptedChat("Ann is the keeper.")
    events, outcome = await play(provider)
    assert outcome.text == "Ann is the keeper."
    assert "".join(e.text for e in events if isinstance(e, TextChunk)) == "Ann is the keeper."
    assert len(provider.requests) == 1


async def test_a_result_goes_back_to_the_model_with_the_id_of_its_call() -> None:
    provider = ScriptedChat(calls(call("search_book", "t1", query="Ann")), "The keeper.")
    _, outcome = await play(provider)
    asked = provider.requests[1]
    assert [m.role for m in asked] == ["user", "assistant", "tool_result"]
    assert asked[1].tool_invocations == (call("search_book", "t1", query="Ann"),)
    assert (asked[2].tool_use_id, asked[2].content) == ("t1", "Ann is the keeper.")
    assert [m.role for m in outcome.messages] == ["assistant", "tool_result", "assistant"]


async def test_of_hundreds_of_calls_in_one_reply_only_the_first_are_carried_out() -> None:
    many = [call("search_book", f"t{number}", query="Ann") for number in range(300)]
    provider = ScriptedChat(calls(*many), "The keeper.")
    events, outcome = await play(provider)
    assert [event.call_id for event in events if isinstance(event, ToolCallStarted)] == [f"t{n}" for n in range(32)]
    assert provider.requests[1][1].tool_invocations == tuple(many[:32])
    assert len(provider.requests[1]) == 1 + 1 + 32
    assert outcome.text == "The keeper."


async def test_calls_of_one_reply_run_at_the_same_time_and_keep_their_order() -> None:
    both_here = asyncio.Barrier(2)

    async def slow(_: dict[str, Any]) -> str:
        await both_here.wait()
        await asyncio.sleep(0.02)
        return '"slow"'

    async def quick(_: dict[str, Any]) -> str:
        await both_here.wait()
        return '"quick"'

    provider = ScriptedChat(calls(call("slow", "a"), call("quick", "b")), "Done.")
    events, outcome = await play(provider, dispatcher(slow=slow, quick=quick))
    assert [e.tool_name for e in events if isinstance(e, ToolCallStarted)] == ["slow", "quick"]
    assert [e.tool_name for e in events if isinstance(e, ToolCallFinished)] == ["quick", "slow"]
    assert [m.tool_use_id for m in outcome.messages if m.role == "tool_result"] == ["a", "b"]


async def test_calls_without_an_id_or_with_the_same_one_get_ids_of_their_own() -> None:
    twice = calls(call("search_book", query="a"), call("search_book", "x"), call("search_book", "x"))
    _, outcome = await play(ScriptedChat(twice, "Done."))
    ids = [invocation.tool_use_id for invocation in outcome.messages[0].tool_invocations or ()]
    assert len(set(ids)) == 3
    assert all(ids)
    assert ids == [m.tool_use_id for m in outcome.messages[1:4]]


async def test_a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on() -> None:
    async def broken(_: dict[str, Any]) -> str:
        raise RuntimeError("the index is on fire")

    provider = ScriptedChat(calls(call("search_book", "t1")), "I could not look it up.")
    events, outcome = await play(provider, dispatcher(search_book=broken))
    finished = next(e for e in events if isinstance(e, ToolCallFinished))
    assert finished.is_error
    assert provider.requests[1][2].is_error
    assert "on fire" in json.loads(provider.requests[1][2].content)["error"]
    assert outcome.text == "I could not look it up."


async def test_a_dispatcher_that_raises_costs_the_call_and_not_the_turn() -> None:
    async def raising(name: str, arguments: dict[str, Any]) -> str:
        raise OSError("gone")

    _, outcome = await play(ScriptedChat(calls(call("search_book", "t1")), "Never mind."), raising)
    assert outcome.text == "Never mind."


async def test_after_the_last_round_the_model_has_to_answer_without_calls() -> None:
    endless = calls(call("search_book", query="more"))
    provider = ScriptedChat(endless, endless, lambda _: "Enough." if not provider.allowed_calls[-1] else endless)
    events, outcome = await play(provider, max_rounds=2)
    assert provider.allowed_calls == [True, True, False]
    assert sum(isinstance(e, ToolCallStarted) for e in events) == 2
    assert outcome.text == "Enough."


async def test_a_model_that_calls_for_ever_ends_in_an_error() -> None:
    with pytest.raises(LLMError) as caught:
        await play(ScriptedChat(calls(call("search_book"))), max_rounds=1)
    assert caught.value.code is LLMErrorCode.EMPTY_REPLY


async def test_an_empty_reply_is_asked_again_once_with_a_nudge() -> None:
    provider = ScriptedChat(ChatResponse(text="  "), "The keeper.")
    _, outcome = await play(provider)
    assert provider.requests[1][-1].content == NUDGE
    assert outcome.text == "The keeper."
    assert [m.content for m in outcome.messages] == ["The keeper."], "a nudge is not part of the conversation"


@pytest.mark.parametrize(("reason", "told"), [(None, "Please ask again."), (StopReason.MAX_TOKENS, "allow it more.")])
async def test_two_empty_replies_are_an_error(reason: StopReason | None, told: str) -> None:
    with pytest.raises(LLMError, match=told) as caught:
        await play(ScriptedChat(ChatResponse(text="", stop_reason=reason)))
    assert caught.value.code is LLMErrorCode.EMPTY_REPLY


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (StopReason.REFUSAL, LLMErrorCode.REFUSED),
        (StopReason.CONTEXT_EXCEEDED, LLMErrorCode.CONTEXT_EXCEEDED),
    ],
)
async def test_dead_ends_are_errors_with_a_sentence(reason: StopReason, code: LLMErrorCode) -> None:
    with pytest.raises(LLMError) as caught:
        await play(ScriptedChat(ChatResponse(text="I will", stop_reason=reason)))
    assert caught.value.code is code
    assert caught.value.message.endswith(".")


async def test_an_answer_cut_short_is_kept_and_marked() -> None:
    _, outcome = await play(ScriptedChat(ChatResponse(text="Ann is", stop_reason=StopReason.MAX_TOKENS)))
    assert outcome.cut
    assert outcome.text == "Ann is"


async def test_a_paused_reply_is_handed_back_as_it_is_and_goes_on() -> None:
    raw = RawReply("scripted", "scripted-1", [{"type": "server_tool_use"}])
    provider = ScriptedChat(ChatResponse(text="Wait", stop_reason=StopReason.PAUSE, raw=raw), " here it is.")
    _, outcome = await play(provider)
    assert provider.requests[1][-1].raw == raw
    assert outcome.text == " here it is."


async def test_text_that_came_along_with_calls_is_not_the_answer() -> None:
    provider = ScriptedChat(calls(call("search_book", "t1"), preamble="Let me look."), "The keeper.")
    events, outcome = await play(provider)
    assert DraftDiscarded("Let me look.") in events
    assert outcome.messages[0].content == "Let me look."


async def test_tokens_of_every_request_are_reported() -> None:
    usage = TokenUsage(100, 10)
    first = ChatResponse(tool_invocations=[call("search_book", "t1")], usage=usage)
    events, _ = await play(ScriptedChat(first, ChatResponse(text="Done.", usage=usage)))
    assert [e for e in events if isinstance(e, UsageReported)] == [UsageReported(usage, "scripted-1")] * 2


async def test_closing_the_stream_cancels_the_calls_that_run() -> None:
    cancelled = asyncio.Event()

    async def endless(_: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "{}"

    strategy = ToolUseRetrievalStrategy()
    stream = strategy.execute(
        ScriptedChat(calls(call("search_book", "t1"))), [QUESTION], [SEARCH], dispatcher(search_book=endless)
    )
    async for event in stream:
        if isinstance(event, ToolCallStarted):
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            break
    assert cancelled.is_set()
