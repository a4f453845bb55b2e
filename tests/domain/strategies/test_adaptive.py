"""A model that turns out to know no tools is handed passages in the very same turn."""

from collections.abc import AsyncGenerator, Sequence
from importlib.resources import files

import pytest

from domain.chat import PromptMessage, Prompts
from domain.errors import LLMError, LLMErrorCode
from domain.event import StrategyEvent, StrategyOutcome, UsageReported
from domain.ports import ChatProvider, Dispatcher, ToolOutput
from domain.strategies.always_retrieve import AdaptiveStrategy, AlwaysRetrieveStrategy
from domain.strategies.tool_use import NUDGE
from domain.strategies.window import ContextWindow
from domain.tool_use import ChatResponse, StopReason, TokenUsage, ToolDefinition, ToolResult
from tests.doubles.scripted_chat import ScriptedChat


class Strategy:
    """Says who it is, or fails."""

    def __init__(self, name: str, failure: LLMErrorCode | None = None) -> None:
        self.name = name
        self.failure = failure

    async def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        if self.failure:
            raise LLMError(self.failure, "No.")
        yield StrategyOutcome(messages=(PromptMessage("assistant", self.name),), calls={}, cut=False)


async def no_tools(name: str, args: dict[str, object]) -> ToolOutput:
    raise AssertionError(name)


async def chosen(failure: LLMErrorCode | None = None, *, supports_tools: bool = True) -> str:
    strategy = AdaptiveStrategy(Strategy("with tools", failure), Strategy("without"))
    provider = ScriptedChat("x", supports_tools=supports_tools)
    outcomes = [e async for e in strategy.execute(provider, [], [], no_tools) if isinstance(e, StrategyOutcome)]
    [outcome] = outcomes
    return outcome.text


async def test_by_what_the_model_is_known_to_do() -> None:
    assert await chosen() == "with tools"
    assert await chosen(LLMErrorCode.API_CALL_FAILED, supports_tools=False) == "without"


async def test_by_what_the_model_turns_out_to_do() -> None:
    assert await chosen(LLMErrorCode.UNSUPPORTED_FEATURE) == "without"


async def test_by_whether_the_tools_fit_into_the_models_window() -> None:
    window = ContextWindow()
    strategy = AdaptiveStrategy(Strategy("with tools", None), Strategy("without"), window)
    asked, tool = [PromptMessage("user", "Who?")], ToolDefinition("search_book", "It looks into the book. " * 400, {})

    async def chosen_now() -> str:
        events = strategy.execute(ScriptedChat("x"), asked, [tool], no_tools)
        [outcome] = [event async for event in events if isinstance(event, StrategyOutcome)]
        return outcome.text

    assert await chosen_now() == "with tools"
    window.overflowed(2_800, told=2_048)
    assert await chosen_now() == "without"
    assert await chosen() == "with tools"


async def test_any_other_failure_is_one() -> None:
    with pytest.raises(LLMError) as caught:
        await chosen(LLMErrorCode.OVERLOADED)
    assert caught.value.code is LLMErrorCode.OVERLOADED


async def without_tools(model: ScriptedChat) -> AsyncGenerator[StrategyEvent, None]:
    async def found(name: str, args: dict[str, object]) -> ToolOutput:
        return ToolResult("Hobb stole the lamp.")

    strategy = AlwaysRetrieveStrategy(Prompts.load(files("prompts")))
    async for event in strategy.execute(model, [PromptMessage("user", "Who?")], [], found):
        yield event


async def test_a_reply_that_is_no_answer_is_paid_for_without_tools_too() -> None:
    spent = TokenUsage(40, 2)
    model = ScriptedChat(ChatResponse(text="No.", usage=spent, stop_reason=StopReason.REFUSAL), supports_tools=False)
    events = []
    with pytest.raises(LLMError):
        async for event in without_tools(model):
            events.append(event)
    assert UsageReported(spent, "scripted-1") in events


async def test_an_empty_reply_is_asked_again_once_with_a_nudge_without_tools_too() -> None:
    model = ScriptedChat(ChatResponse(text=" "), "The keeper.", supports_tools=False)
    *_, outcome = [event async for event in without_tools(model)]
    assert isinstance(outcome, StrategyOutcome)
    assert outcome.text == "The keeper."
    [first], [second] = model.requests
    assert second.content == f"{first.content.rstrip()}\n\n{NUDGE}"


async def test_two_empty_replies_are_an_error_without_tools_too() -> None:
    model = ScriptedChat(ChatResponse(text=""), supports_tools=False)
    with pytest.raises(LLMError) as caught:
        [event async for event in without_tools(model)]
    assert caught.value.code is LLMErrorCode.EMPTY_REPLY
    assert len(model.requests) == 2
