"""A request that is too long for the model is sent again with less, before anybody hears of it."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from domain.book import Passage, Sentence
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import DraftDiscarded, UsageReported
from domain.strategies.window import ContextWindow, estimate, fit, stream_within
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    StopReason,
    TextChunk,
    TokenUsage,
    ToolDefinition,
    ToolInvocation,
)
from tests.doubles.scripted_chat import ScriptedChat

SYSTEM = PromptMessage("system", "You read. " * 20)
ASKED = PromptMessage("user", "Who put out the lamp? " * 10, note="[Ann · has read to page 2 · 2026-01-01]")


def passage(number: int, sentences: int = 8) -> Passage:
    made = tuple(Sentence(at * 90, at * 90 + 80, "The lamp was dark that night. " * 3) for at in range(sentences))
    return Passage(number, 0, made[-1].end, "1", "1", "The Lamp", made)


def looked_up(number: int, passages: int = 5) -> list[PromptMessage]:
    call = ToolInvocation("search_book", {"query": "lamp"}, f"call_{number}")
    found = tuple(passage(at) for at in range(passages))
    return [
        PromptMessage("assistant", "", tool_invocations=[call]),
        PromptMessage("tool_result", "", tool_use_id=call.tool_use_id, passages=found),
    ]


def turn(number: int) -> list[PromptMessage]:
    return [
        PromptMessage("user", f"Question {number}?"),
        *looked_up(number),
        PromptMessage("assistant", "It was so. " * 9),
    ]


PAST = [message for number in range(6) for message in turn(number)]
TALK = [SYSTEM, *PAST, ASKED]
NEWEST = len(TALK) - 1


def test_what_fits_is_sent_as_it_is() -> None:
    assert fit(TALK, (), NEWEST, 0) == TALK
    assert fit(TALK, (), NEWEST, estimate(TALK)) == TALK
    assert fit(TALK, (), NEWEST, 100 * estimate(TALK)) == TALK


def test_old_results_go_first_then_old_turns_then_passages() -> None:
    plain = [m for m in TALK if m.role != "tool_result" and not m.tool_invocations]
    assert fit(TALK, (), NEWEST, estimate(plain)) == plain
    fewer = fit(TALK, (), NEWEST, estimate(plain) - 1)
    assert fewer == [SYSTEM, *plain[9:]]
    now = [*TALK, *looked_up(9)]
    least = fit(now, (), NEWEST, estimate([SYSTEM, ASKED]) + 400)
    assert [m.role for m in least] == ["system", "user", "assistant", "tool_result"]
    assert 0 < len(least[-1].passages) < 5
    assert least[1] == ASKED


def test_old_turns_go_in_steps() -> None:
    """While a conversation grows, its oldest question changes seldom, so that most requests begin like the last one."""
    plain = [m for m in PAST if m.role != "tool_result" and not m.tool_invocations]
    talks = [[SYSTEM, *(plain * 5)[: 2 * turns], ASKED] for turns in range(8, 30)]
    budget = estimate(talks[0])
    numbered = [[replace(m, content=f"{at} {m.content}") for at, m in enumerate(talk[:-1])] + [ASKED] for talk in talks]
    begins = [fit(talk, (), len(talk) - 1, budget)[1].content for talk in numbered]
    assert len(set(begins)) <= len(talks) / 3
    assert all(estimate(fit(talk, (), len(talk) - 1, budget)) <= budget for talk in numbered)


@pytest.mark.parametrize("budget", [1, 100, 500, 2_000])
def test_the_question_and_its_note_go_never(budget: int) -> None:
    fitted = fit([*TALK, *looked_up(9)], (), NEWEST, budget)
    assert ASKED in fitted
    assert SYSTEM in fitted


SPENT = TokenUsage(900, 3)


class Small(ScriptedChat):
    """A model with a window: whatever is longer is refused, or breaks off in the middle."""

    def __init__(self, window: int, *, told: bool = False, mid_stream: bool = False) -> None:
        super().__init__("So it was.")
        self._window = window
        self._told = told
        self._mid_stream = mid_stream

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        if estimate(messages) <= self._window:
            async for event in super().stream(messages, tools, call_tools=call_tools):
                yield event
            return
        self.requests.append(list(messages))
        if self._mid_stream:
            yield TextChunk("So it")
            yield ChatResponse("So it", usage=SPENT, stop_reason=StopReason.CONTEXT_EXCEEDED)
            return
        raise LLMError(LLMErrorCode.CONTEXT_EXCEEDED, "Too long.", window=self._window if self._told else 0)


@pytest.mark.parametrize("told", [True, False])
async def test_an_overflow_is_tried_again_with_less_and_remembered(told: bool) -> None:
    model, window = Small(1_500, told=told), ContextWindow()
    for _ in range(2):
        events = [e async for e in stream_within(window, model, TALK, newest=NEWEST)]
        assert isinstance(events[-1], ChatResponse)
        assert events[-1].text == "So it was."
    assert window.prompt_tokens
    assert estimate(model.requests[-1]) <= 1_500
    assert model.requests[-2:-1] == [model.requests[-1]], "the second time it fits at once"


async def test_what_was_said_of_an_answer_that_did_not_fit_is_taken_back() -> None:
    events = [e async for e in stream_within(ContextWindow(), Small(1_500, mid_stream=True), TALK, newest=NEWEST)]
    assert DraftDiscarded("So it") in events
    assert UsageReported(SPENT, "scripted-1") in events, "its tokens are spent all the same"
    assert isinstance(events[-1], ChatResponse)
    assert events[-1].text == "So it was."


async def test_where_not_even_the_question_fits_it_says_so() -> None:
    with pytest.raises(LLMError) as caught:
        [e async for e in stream_within(ContextWindow(), Small(20), TALK, newest=NEWEST)]
    assert caught.value.code is LLMErrorCode.CONTEXT_EXCEEDED


def test_some_of_a_window_is_left_free_however_short_replies_are() -> None:
    assert ContextWindow(2_048, 60).prompt_tokens == 2_048 - 128
    assert ContextWindow(2_048, 600).prompt_tokens == 2_048 - 600
