"""A request that is too long for the model is sent again with less, before anybody hears of it."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from domain.book import Passage, Sentence
from domain.chat import PromptKind, PromptMessage
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

C = LLMErrorCode
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

    def __init__(
        self, window: int, *, told: bool = False, mid_stream: bool = False, code: LLMErrorCode = C.CONTEXT_EXCEEDED
    ) -> None:
        super().__init__("So it was.")
        self._code = code
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
        raise LLMError(self._code, "Too long.", window=self._window if self._told else 0)


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


async def test_what_fails_for_no_known_reason_is_tried_once_more_no_longer_than_what_was_answered() -> None:
    model, window = Small(1_500, code=C.API_CALL_FAILED), ContextWindow()
    with pytest.raises(LLMError):  # nothing was answered yet: it need not be the length
        [e async for e in stream_within(window, model, TALK, newest=NEWEST)]
    [e async for e in stream_within(window, model, [SYSTEM, *turn(0)[:1], ASKED], newest=2)]
    [*_, response] = [e async for e in stream_within(window, model, TALK, newest=NEWEST)]
    assert isinstance(response, ChatResponse)
    assert [len(request) for request in model.requests] == [len(TALK), 3, len(TALK), 2]
    model = Small(0, code=C.API_CALL_FAILED)
    with pytest.raises(LLMError) as caught:
        [e async for e in stream_within(window, model, TALK, newest=NEWEST)]
    assert caught.value.code is C.API_CALL_FAILED
    assert len(model.requests) == 2


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


class Counting(ScriptedChat):
    """A model with a window of 4,096 tokens that takes more of them than we estimate; its server tells what it does."""

    def __init__(self, ratio: float, *, tells_window: bool, tells_count: bool, reports_usage: bool) -> None:
        super().__init__("So it was.")
        self._ratio = ratio
        self._tells_window = tells_window
        self._tells_count = tells_count
        self._reports_usage = reports_usage
        self.refused = 0

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        tokens = round(estimate(messages) * self._ratio)
        self.requests.append(list(messages))
        if tokens > 4_096:
            self.refused += 1
            raise LLMError(
                LLMErrorCode.CONTEXT_EXCEEDED,
                "Too long.",
                window=4_096 if self._tells_window else 0,
                counted=tokens if self._tells_count else 0,
            )
        yield ChatResponse("So.", usage=TokenUsage(tokens, 3) if self._reports_usage else None)


@pytest.mark.parametrize("ratio", [1.35, 1.8])
@pytest.mark.parametrize(
    ("tells_window", "tells_count", "reports_usage"),
    [(True, True, True), (True, True, False), (True, False, True), (True, False, False), (False, False, True)],
)
async def test_what_a_server_counts_corrects_what_is_estimated(
    ratio: float, *, tells_window: bool, tells_count: bool, reports_usage: bool
) -> None:
    """The window is used well, and after what it has learnt from one overflow there is no other."""
    model = Counting(ratio, tells_window=tells_window, tells_count=tells_count, reports_usage=reports_usage)
    known, talk = ContextWindow(), [SYSTEM]
    for number in range(40):
        talk += turn(number)
        events = [e async for e in stream_within(known, model, [*talk, ASKED], newest=len(talk))]
        assert isinstance(events[-1], ChatResponse)
        if number > 20:
            assert 1_400 < estimate(model.requests[-1]) * ratio < 3_900
    assert model.refused <= (1 if tells_window else 2)


async def test_a_server_that_counts_its_requests_never_has_to_refuse_one() -> None:
    model = Counting(1.8, tells_window=False, tells_count=False, reports_usage=True)
    known, talk = ContextWindow(4_096), [SYSTEM]
    for number in range(10):
        talk += turn(number)
        assert [e async for e in stream_within(known, model, [*talk, ASKED], newest=len(talk))]
    assert model.refused == 0


@pytest.mark.parametrize(("call_tools", "is_learnt"), [(True, True), (False, False)])
async def test_a_count_that_may_be_of_two_requests_teaches_nothing(*, call_tools: bool, is_learnt: bool) -> None:
    """Without calls, some servers are asked twice for one reply."""
    model = Counting(1.5, tells_window=False, tells_count=False, reports_usage=True)
    known, talk = ContextWindow(40_000), [SYSTEM, *turn(1), ASKED]
    before = known.prompt_tokens
    assert [e async for e in stream_within(known, model, talk, newest=len(talk) - 1, call_tools=call_tools)]
    assert (known.prompt_tokens < before) is is_learnt


async def test_a_count_that_is_far_off_is_forgotten_again() -> None:
    known = ContextWindow(4_096)
    before = known.prompt_tokens
    known.counted(2_000, 90_000)
    assert known.prompt_tokens > before / 4, "no model takes that many"
    for _ in range(40):
        known.counted(2_000, 2_000)
    assert known.prompt_tokens > before * 0.95


async def test_a_low_count_does_not_stretch_the_window() -> None:
    """Some servers count only what was not in their cache, others what they have left of a prompt."""
    known = ContextWindow(4_096)
    before = known.prompt_tokens
    known.counted(2_000, 40)
    known.counted(100, 600)
    assert known.prompt_tokens == before, "nor does one of a short request, to which the server has added something"


async def test_of_two_models_the_one_that_takes_more_tokens_counts() -> None:
    known = ContextWindow(4_096)
    for _ in range(20):
        known.counted(2_000, 3_000, "terse")
        known.counted(2_000, 2_000, "plain")
    assert known.prompt_tokens == round((4_096 - 512) / 1.5)


async def test_a_window_that_was_filled_in_silence_is_known_by_what_it_held() -> None:
    full = ChatResponse("", usage=TokenUsage(4_095, 1), stop_reason=StopReason.CONTEXT_EXCEEDED)
    model, known = ScriptedChat(full, "So it was."), ContextWindow()
    talk = [SYSTEM, *(message for number in range(12) for message in turn(number)), ASKED]
    events = [e async for e in stream_within(known, model, talk, newest=len(talk) - 1)]
    assert isinstance(events[-1], ChatResponse)
    assert known.prompt_tokens == 4_096 - 512


def test_unanswered_questions_go_before_anything_else() -> None:
    unanswered = [PromptMessage("user", "And the ferry? " * 50, kind=PromptKind.UNANSWERED)] * 9
    fitted = fit([SYSTEM, *PAST, *unanswered, ASKED], (), NEWEST + 9, estimate(TALK))
    assert fitted == TALK


def test_some_of_a_window_is_left_free_however_short_replies_are() -> None:
    assert ContextWindow(2_048, 60).prompt_tokens == 2_048 - 128
    assert ContextWindow(2_048, 600).prompt_tokens == 2_048 - 600


SENTENCE = "Hobb put out the lamp, and nobody on the island knew why he had done so. "
STUCK_ON = [SENTENCE, "\n", "No. ", "[s-1a2b3c4] ", SENTENCE * 6]


async def left_at(pieces: Sequence[str]) -> tuple[int, ChatResponse]:
    """How many pieces of a reply are read until it is left, or over; and the reply."""
    read = 0

    async def reply(*_: object, **__: object) -> AsyncGenerator[ProviderEvent, None]:
        nonlocal read
        for each in pieces:
            read += 1
            yield TextChunk(each)
        yield ChatResponse("".join(pieces))

    provider = ScriptedChat("")
    provider.stream = reply  # type: ignore[method-assign]
    events = [event async for event in stream_within(ContextWindow(), provider, [SYSTEM, ASKED], newest=1)]
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "".join(pieces[:read])
    assert isinstance(events[-1], ChatResponse)
    return read, events[-1]


@pytest.mark.parametrize("piece", STUCK_ON)
@pytest.mark.parametrize("length", [1, 3, 40, 700])
async def test_a_reply_that_repeats_itself_without_end_is_left_and_marked_as_cut(piece: str, length: int) -> None:
    text = "It was Hobb, as the keeper says. " + piece * (20_000 // len(piece))
    pieces = [text[at : at + length] for at in range(0, len(text), length)]
    read, response = await left_at(pieces)
    assert 4_000 < len("".join(pieces[:read])) < 6_000
    assert response.stop_reason is StopReason.MAX_TOKENS
    assert response.text == "".join(pieces[:read])


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE * 45,
        "All work and no play makes Jack a dull boy.\n" * 80,
        "".join(f"{number}. {SENTENCE}\n" for number in range(200)),
        "".join(f"{number} {SENTENCE * 7}\n" for number in range(30)),
        "".join(f"Verse {number}.\n{SENTENCE}\n" for number in range(200)),
    ],
    ids=["the same, not that often", "lines for a punishment", "a list", "a refrain", "verses"],
)
async def test_a_reply_that_is_to_repeat_itself_is_read_to_its_end(text: str) -> None:
    _, response = await left_at([text[at : at + 7] for at in range(0, len(text), 7)])
    assert (response.text, response.stop_reason) == (text, StopReason.END_TURN)


async def test_nothing_is_read_beyond_the_greatest_length_of_an_answer() -> None:
    read, response = await left_at([f"{number} lamps were dark. " for number in range(9_000)])
    assert 20_000 < len(response.text or "") < 21_000
    assert read < 2_000
    assert response.stop_reason is StopReason.MAX_TOKENS
