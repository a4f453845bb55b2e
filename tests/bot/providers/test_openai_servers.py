"""What only some servers do: Ollama, vLLM, llama.cpp, OpenRouter and those who imitate them."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.providers.openai.client import OpenAIChat
from domain.chat import PromptMessage, Prompts
from domain.errors import LLMError, LLMErrorCode
from domain.event import DraftDiscarded, StrategyOutcome, UsageReported
from domain.strategies.always_retrieve import AdaptiveStrategy, AlwaysRetrieveStrategy
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from domain.strategies.window import estimate
from domain.tool_use import ChatResponse, StopReason, TextChunk, TokenUsage, ToolResult
from tests.bot.providers.talk import SEARCH, collected, reply, streamed_text, user
from tests.doubles.openai_api import OpenAIDouble
from tests.doubles.script import Call, Json, Verbatim, say

CALLED: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
C = LLMErrorCode
ENDED: Json = {"index": 0, "delta": {}, "finish_reason": "stop"}
SAID: Json = {"choices": [ENDED]}
COUNTED: Json = {"prompt_tokens": 90, "completion_tokens": 4}


@pytest.fixture
async def server() -> AsyncIterator[OpenAIDouble]:
    async with OpenAIDouble() as double:
        yield double


@pytest.fixture
async def chat(server: OpenAIDouble) -> AsyncIterator[OpenAIChat]:
    opened = OpenAIChat(model=server.model, api_key=server.api_key, base_url=server.base_url, max_retries=0)
    yield opened
    await opened.aclose()


def piece(arguments: object = None, name: str | None = None, **fields: Any) -> Json:
    """A piece of a call in a chunk of its own."""
    function = {"name": name, "arguments": arguments}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [{**fields, "function": function}]}}]}


def words(content: object) -> Json:
    return {"choices": [{"index": 0, "delta": {"content": content}}]}


async def replied(server: OpenAIDouble, chat: OpenAIChat, *chunks: Json) -> ChatResponse:
    server.script(Verbatim(chunks))
    events, response = await collected(chat.stream([user("?")], [SEARCH]))
    assert streamed_text(events) == (response.text or response.preamble)
    return response


FAN, GLOVES = '{"query": "fan"}', '{"query": "gloves"}'


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([piece(FAN, "search_book"), piece(GLOVES, "search_book")], id="no index, no id"),
        pytest.param([piece(FAN, "search_book", index=0), piece(GLOVES, "search_book", index=0)], id="index 0, no id"),
        pytest.param(
            [piece(FAN, "search_book", index=0, id="a"), piece(GLOVES, "search_book", index=0, id="b")],
            id="one index, two ids",
        ),
        pytest.param(
            [piece('{"query": ', "search_book"), piece('"fan"}'), piece(GLOVES, "search_book")],
            id="pieces, no index",
        ),
        pytest.param(
            [
                piece('{"query": ', "search_book", index=0, id="a"),
                piece('{"query": ', "search_book", index=1, id="b"),
                piece('"fan"}', "", index=0, id=""),
                piece('"gloves"}', "", index=1, id=""),
            ],
            id="interleaved, blank ids",
        ),
        pytest.param(
            [
                piece("", "search_book", index=0, id="a"),
                piece(FAN, "search_book", index=0, id="a"),
                piece(GLOVES, "search_book", index=1, id="b"),
            ],
            id="name and id in every piece",
        ),
        pytest.param(
            [piece({"query": "fan"}, "search_book", index=0), piece({"query": "gloves"}, "search_book", index=1)],
            id="arguments as an object",
        ),
    ],
)
async def test_two_calls_however_they_are_cut_up(server: OpenAIDouble, chat: OpenAIChat, chunks: list[Json]) -> None:
    response = await replied(server, chat, *chunks, CALLED)
    assert [call.arguments for call in response.tool_invocations] == [{"query": "fan"}, {"query": "gloves"}]
    assert len({call.tool_use_id for call in response.tool_invocations}) == 2


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("functions.search_book:0", "search_book"),
        ("search_book<|channel|>commentary", "search_book"),
        (None, "unnamed"),
        ("…", "unnamed"),
    ],
)
async def test_a_name_is_one_that_can_go_into_the_history(
    server: OpenAIDouble, chat: OpenAIChat, written: str | None, name: str
) -> None:
    response = await replied(server, chat, piece(FAN, written), CALLED)
    assert [call.tool_name for call in response.tool_invocations] == [name]


async def test_thinking_aloud_is_not_the_answer(server: OpenAIDouble, chat: OpenAIChat) -> None:
    aloud = [words("<think>Hobb? "), words("Yes.</think>\n\n"), words("It was "), words("Hobb.")]
    assert (await replied(server, chat, *aloud, SAID)).text == "It was Hobb."
    assert (await replied(server, chat, aside("Hobb?"), words("It was Hobb."), SAID)).text == "It was Hobb."


def aside(text: str, field: str = "reasoning_content") -> Json:
    return {"choices": [{"index": 0, "delta": {field: text, "content": None}}]}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_an_answer_that_a_server_takes_for_thinking_is_shown(
    server: OpenAIDouble, chat: OpenAIChat, field: str
) -> None:
    pieces = [aside("It was ", field), aside("Hobb.<|im_end|>", field)]
    assert (await replied(server, chat, *pieces, SAID)).text == "It was Hobb."
    pieces = [aside("Hobb? The user", field), aside(" asks.</thi", field), aside("nk>\nIt was Hobb.", field)]
    assert (await replied(server, chat, *pieces, SAID)).text == "It was Hobb."


async def test_thinking_without_an_answer_is_none(server: OpenAIDouble, chat: OpenAIChat) -> None:
    assert (await replied(server, chat, aside("Okay, it was Hobb."), SAID)).text == ""
    cut = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    assert (await replied(server, chat, aside("It was Hobb."), cut)).text == ""


@pytest.mark.parametrize("following", [words("Hobb did it."), piece(FAN, "search_book")])
async def test_a_server_that_has_told_thinking_from_what_follows_has_no_answer_in_it(
    server: OpenAIDouble, chat: OpenAIChat, following: Json
) -> None:
    await replied(server, chat, aside("It was Hobb."), following, SAID)
    assert (await replied(server, chat, aside("It was Hobb."), SAID)).text == ""


@pytest.mark.parametrize("ended", [[SAID], []])
async def test_what_a_model_writes_as_the_reader_is_no_part_of_the_answer(
    server: OpenAIDouble, chat: OpenAIChat, ended: list[Json]
) -> None:
    pieces = [
        words("It was Hobb.<|im"),
        words("_start|>us"),
        words("er\nWho else?"),
        words("<|im_end|>"),
        words("Tom."),
    ]
    response = await replied(server, chat, *pieces, *ended)
    assert (response.text, response.stop_reason) == ("It was Hobb.", StopReason.END_TURN)
    assert response.usage and response.usage.output_tokens


async def test_text_in_parts(server: OpenAIDouble, chat: OpenAIChat) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hobb."}]
    assert (await replied(server, chat, words(parts), SAID)).text == "Hobb."


@pytest.mark.parametrize("details", [None, []])
async def test_tokens_that_are_counted_in_odd_ways(server: OpenAIDouble, chat: OpenAIChat, details: object) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4.0, "prompt_tokens_details": details}
    assert (await replied(server, chat, words("Hobb."), {**SAID, "usage": usage})).usage == TokenUsage(9, 4)


async def test_a_reply_that_is_not_counted_is_estimated_beside_its_prompt(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 0}
    counted = (await replied(server, chat, words("Hobb and nobody else."), {**SAID, "usage": usage})).usage
    assert counted is not None
    assert (counted.input_tokens, counted.estimated) == (900, True)
    assert 3 < counted.output_tokens < 12


@pytest.mark.parametrize(
    ("last", "counted"),
    [
        ({**SAID, "x_groq": {"usage": COUNTED}}, TokenUsage(90, 4)),
        ({"choices": [{**ENDED, "usage": COUNTED}]}, TokenUsage(90, 4)),
        ({**SAID, "usage": {"input_tokens": 90, "output_tokens": 4}}, TokenUsage(90, 4)),
        ({**SAID, "usage": {**COUNTED, "total_tokens": 200}}, TokenUsage(90, 110)),
        ({**SAID, "usage": {**COUNTED, "prompt_cache_hit_tokens": 64}}, TokenUsage(90, 4, cache_read_tokens=64)),
    ],
    ids=["Groq", "Moonshot", "other names", "thinking only in the total", "DeepSeek"],
)
async def test_tokens_are_found_wherever_a_server_counts_them(
    server: OpenAIDouble, chat: OpenAIChat, last: Json, counted: TokenUsage
) -> None:
    usage = (await replied(server, chat, words("Hobb."), last)).usage
    assert usage == counted
    assert not usage.estimated


@pytest.mark.parametrize(
    "pieces",
    [
        [
            {"function_call": {"name": "search_book", "arguments": '{"que'}},
            {"function_call": {"arguments": 'ry": "fan"}'}},
        ],
        [{"tool_calls": {"index": 0, "id": "", "function": {"name": "search_book", "arguments": FAN}}}],
        [
            {
                "function_call": {"name": "search_book", "arguments": FAN},
                "tool_calls": [{"id": "a", "function": {"name": "search_book", "arguments": FAN}}],
            }
        ],
        [{"tool_calls": [{"id": "a", "name": "search_book", "arguments": FAN}]}],
        [{"tool_calls": [None]}, {"tool_calls": [{"id": "a", "function": {"name": "search_book", "arguments": FAN}}]}],
    ],
    ids=["the earlier field", "no list", "both fields", "no function", "nothing between"],
)
async def test_a_call_is_read_in_other_forms(server: OpenAIDouble, chat: OpenAIChat, pieces: list[Json]) -> None:
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": delta}]} for delta in pieces]
    end: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]}
    response = await replied(server, chat, *chunks, end)
    assert [(call.tool_name, call.arguments) for call in response.tool_invocations] == [
        ("search_book", {"query": "fan"})
    ]


async def test_a_whole_message_in_a_stream_is_a_reply(server: OpenAIDouble, chat: OpenAIChat) -> None:
    message = {"role": "assistant", "content": "It was Hobb."}
    whole: Json = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert (await replied(server, chat, whole)).text == "It was Hobb."


@pytest.mark.parametrize("choices", [[None], {"0": {}}, [{"delta": "Hm."}], [{"delta": None}], None])
async def test_what_has_another_shape_than_a_piece_is_passed_over(
    server: OpenAIDouble, chat: OpenAIChat, choices: object
) -> None:
    assert (await replied(server, chat, {"choices": choices}, words("It was Hobb."), SAID)).text == "It was Hobb."


async def test_a_message_that_repeats_the_pieces_at_the_end_is_not_said_twice(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    last: Json = {"choices": [{**ENDED, "message": {"role": "assistant", "content": "It was Hobb."}}]}
    assert (await replied(server, chat, words("It was"), words(" Hobb."), last)).text == "It was Hobb."


@pytest.mark.parametrize(
    "usage",
    [
        ["9"],
        None,
        {"prompt_tokens": "9", "completion_tokens": None},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": -1, "completion_tokens": -1, "total_tokens": -1},
        {"prompt_tokens": 1e400, "completion_tokens": math.nan},
        {"prompt_tokens": 10**30, "completion_tokens": 10**30},
    ],
)
async def test_where_nothing_is_counted_it_is_estimated_and_marked(
    server: OpenAIDouble, chat: OpenAIChat, usage: object
) -> None:
    counted = (await replied(server, chat, words("Hobb and nobody else."), {**SAID, "usage": usage})).usage
    assert counted is not None
    assert counted.estimated
    assert counted.input_tokens > 20
    assert 3 < counted.output_tokens < 12


@pytest.mark.parametrize("reason", ["error", "abort", "network_error"])
async def test_a_reply_the_server_gave_up_is_no_answer(server: OpenAIDouble, chat: OpenAIChat, reason: str) -> None:
    broken: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    with pytest.raises(LLMError) as caught:
        await replied(server, chat, words("It was Ho"), broken)
    assert caught.value.code is LLMErrorCode.CONNECTION_LOST


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("eos", StopReason.END_TURN),
        ("STOP", StopReason.END_TURN),
        ("stop_sequence", StopReason.END_TURN),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("content_filter: PROHIBITED_CONTENT", StopReason.REFUSAL),
    ],
)
async def test_why_a_reply_ended_is_understood_in_other_apis_words(
    server: OpenAIDouble, chat: OpenAIChat, told: str, reason: StopReason
) -> None:
    end: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": told}]}
    assert (await replied(server, chat, words("It was Hobb."), end)).stop_reason is reason
    called = await replied(server, chat, piece(FAN, "search_book", index=0, id="a"), end)
    assert bool(called.tool_invocations) is (reason is StopReason.END_TURN)


def ended(reason: str | None, prompt: int, written: int, **delta: str) -> Json:
    """A whole reply in one chunk, with what the server counted."""
    usage = {"prompt_tokens": prompt, "completion_tokens": written}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": usage}


async def sizes_until_answered(server: OpenAIDouble, chat: OpenAIChat, first: Json) -> list[int]:
    """The lengths of the requests of a turn with a long history, whose first reply has no words."""
    past = [each for n in range(20) for each in (user(f"{n}? {'why ' * 200}"), reply(ChatResponse(text="So. " * 200)))]
    server.script(Verbatim((first,)), say("Hobb."))

    async def dispatch(name: str, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult("")

    strategy = ToolUseRetrievalStrategy().execute(chat, [*past, user("Who?")], [SEARCH], dispatch)
    [outcome] = [event async for event in strategy if isinstance(event, StrategyOutcome)]
    assert outcome.messages[-1].content == "Hobb."
    return [len(str(request["messages"])) for request in server.requests]


@pytest.mark.parametrize(
    "silence",
    [ended("length", 4_095, 1), ended("length", 4_096, 0, role="assistant", content=""), ended(None, 6_100, 0)],
    ids=["Ollama", "LM Studio", "LM Studio, no reason"],
)
async def test_a_prompt_that_fills_the_window_in_silence_is_sent_again_with_less(
    server: OpenAIDouble, chat: OpenAIChat, silence: Json
) -> None:
    first, second = await sizes_until_answered(server, chat, silence)
    assert second < first * 0.8


@pytest.mark.parametrize(
    "silence",
    [ended("stop", 4_095, 1), ended("length", 4_000, 96, reasoning_content="Hm."), ended("length", 40, 0)],
    ids=["nothing to say", "only thoughts", "a short prompt"],
)
async def test_a_model_that_says_nothing_is_asked_once_more_with_all_of_it(
    server: OpenAIDouble, chat: OpenAIChat, silence: Json
) -> None:
    first, second = await sizes_until_answered(server, chat, silence)
    assert second >= first


async def test_a_server_that_does_not_heed_tool_choice_is_shown_no_tools(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    server.script(say(Call("search_book", {"query": "x"})), say("Hobb."), say("Lucian."))
    asked = [user("Who?")]
    first = (await collected(chat.stream(asked, [SEARCH], call_tools=False)))[1]
    second = (await collected(chat.stream(asked, [SEARCH], call_tools=False)))[1]
    assert (first.text, second.text) == ("Hobb.", "Lucian.")
    assert ["tools" in request for request in server.requests] == [True, False, False]
    assert first.usage is not None
    assert second.usage is not None
    assert first.usage.input_tokens > second.usage.input_tokens * 2, "both requests were paid for"


async def test_a_server_that_ignores_tools_in_silence_is_known_by_its_count(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    tools = [replace(SEARCH, name=f"tool_{number}", description="It looks into the book. " * 20) for number in range(8)]
    counted: Json = {**SAID, "usage": {"prompt_tokens": 12, "completion_tokens": 4}}
    server.script(Verbatim((words("It was the butler."), counted)))
    with pytest.raises(LLMError) as caught:
        await collected(chat.stream([user("Who?")], tools))
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
    assert not chat.supports_tools


async def test_a_count_of_less_than_the_messages_takes_no_tools_away(server: OpenAIDouble, chat: OpenAIChat) -> None:
    asked = [PromptMessage("system", "You read. " * 380), user("Hello!")]
    server.script(Verbatim((words("Good morning!"), {**SAID, "usage": {"prompt_tokens": 10, "completion_tokens": 4}})))
    with pytest.raises(LLMError):
        await collected(chat.stream(asked, MANY_TOOLS))
    assert chat.supports_tools, "a proxy that reports the same for every request"


MANY_TOOLS = [
    replace(SEARCH, name=f"tool_{number}", description="It looks into the book. " * 20) for number in range(8)
]
UNCOUNTED = Verbatim((words("It was the butler."), SAID))


async def test_a_server_that_ignores_tools_and_counts_nothing_is_doubted_and_then_known(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    server.script(UNCOUNTED, UNCOUNTED, UNCOUNTED)
    supports = []
    for _ in range(3):
        with pytest.raises(LLMError) as caught:
            await collected(chat.stream([user("Who?")], MANY_TOOLS))
        assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
        supports.append(chat.supports_tools)
    assert supports == [True, True, False]


@pytest.mark.parametrize(("per_estimated", "reads"), [(1.6, False), (0.75, True)])
async def test_a_count_that_may_be_of_the_messages_alone_is_told_by_the_next_one(
    server: OpenAIDouble, chat: OpenAIChat, per_estimated: float, *, reads: bool
) -> None:
    """Which of both it is, a small model that takes many tokens or a large one that takes few, the request shows that
    has the passages.
    """
    asked = [PromptMessage("system", "You read. " * 380), user("Who?")]

    def counted(*, tools: bool) -> Verbatim:
        tokens = estimate(asked, MANY_TOOLS if tools and reads else ()) * per_estimated
        return Verbatim(
            (words("It was Hobb."), {**SAID, "usage": {"prompt_tokens": round(tokens), "completion_tokens": 4}})
        )

    server.script(counted(tools=True), counted(tools=False), counted(tools=True))
    with pytest.raises(LLMError) as caught:
        await collected(chat.stream(asked, MANY_TOOLS))
    assert (caught.value.code, chat.supports_tools) == (LLMErrorCode.UNSUPPORTED_FEATURE, True)
    await chat.chat(asked)
    try:
        await collected(chat.stream(asked, MANY_TOOLS))
    except LLMError as error:
        assert error.code is LLMErrorCode.UNSUPPORTED_FEATURE
    assert chat.supports_tools == reads


async def test_a_model_that_has_called_a_tool_may_answer_without_one(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(Verbatim((piece(FAN, "search_book", index=0, id="a"), CALLED)), UNCOUNTED)
    await collected(chat.stream([user("Who?")], MANY_TOOLS))
    _, response = await collected(chat.stream([user("Thank you!")], MANY_TOOLS))
    assert response.text == "It was the butler."


async def test_passages_are_handed_over_in_the_turn_in_which_tools_were_ignored(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    server.script(UNCOUNTED, Verbatim((words("It was Hobb."), SAID)))
    strategy = AdaptiveStrategy(ToolUseRetrievalStrategy(), AlwaysRetrieveStrategy(Prompts.load(files("prompts"))))

    async def dispatch(name: str, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult("Hobb stole the lamp.")

    events = [event async for event in strategy.execute(chat, [user("Who?")], MANY_TOOLS, dispatch)]
    assert DraftDiscarded("It was the butler.") in events
    [outcome] = [event for event in events if isinstance(event, StrategyOutcome)]
    assert outcome.messages[-1].content == "It was Hobb."
    assert ["tools" in request for request in server.requests] == [True, False]
    ignored, answered = [event.usage for event in events if isinstance(event, UsageReported)]
    assert ignored.estimated, "the reply that is thrown away has been paid for as well"
    assert ignored.input_tokens > answered.input_tokens > 0


async def dispatched(name: str, arguments: dict[str, Any]) -> ToolResult:
    return ToolResult("Hobb stole the lamp.")


@pytest.mark.parametrize(
    "thinking",
    ["Was it Hobb?</think>", "Was it Hobb?[/THINK]", "Was it Hobb?<|end|><|channel|>final<|message|>", "Hm.<channel|>"],
)
async def test_thinking_is_taken_back_where_only_its_end_tells_that_it_was_it(
    server: OpenAIDouble, chat: OpenAIChat, thinking: str
) -> None:
    """The templates of some models write the first tag themselves."""
    written = f"{thinking}\n\nIt was."
    server.script(Verbatim((*(words(written[at : at + 3]) for at in range(0, len(written), 3)), SAID)))
    events = [event async for event in ToolUseRetrievalStrategy().execute(chat, [user("Who?")], [SEARCH], dispatched)]
    [at] = [at for at, event in enumerate(events) if isinstance(event, DraftDiscarded)]
    assert "".join(event.text for event in events[at:] if isinstance(event, TextChunk)) == "It was."
    assert isinstance(events[-1], StrategyOutcome)
    assert events[-1].messages[-1].content == "It was."


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>\n{"name": "search_book", "arguments": {"query": "fan"}}\n</tool_call>',
        "Let me look.\n\n<function=search_book>{}</function>",
        '[TOOL_CALLS][{"name": "search_book"}]',
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_book:0",
        '{"name": "search_book", "parameters": {"query": "fan"}}',
        '```json\n[{"type": "function", "name": "search_book", "arguments": {}}]\n```',
        '[search_book(query="fan")]',
        '<|tool_call|>[{"name": "search_book", "arguments": {"query": "fan"}}]',
        '<minimax:tool_call>\n<invoke name="search_book">',
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search_book">',
        "<start_function_call>call:search_book{query:<escape>fan<escape>}",
        '<TOOLCALL>[{"name": "search_book"}]</TOOLCALL>',
        '<|START_ACTION|>[{"tool_name": "search_book"}]<|END_ACTION|>',
        '<|channel|>commentary to=functions.search_book <|constrain|>json<|message|>{"query": "fan"}<|call|>',
        '```tool_code\nprint(search_book(query="fan"))\n```',
        'search_book\n{"query": "fan"}',
        'Let me look:\n\n```json\n{"arguments": {"query": "fan"}, "name": "search_book"}\n```',
        'Thought: I have to look.\nAction: search_book\nAction Input: {"query": "fan"}',
    ],
)
async def test_passages_are_handed_over_where_the_server_cannot_read_calls(
    server: OpenAIDouble, chat: OpenAIChat, written: str
) -> None:
    server.script(Verbatim((words(written), {**SAID, "usage": {"prompt_tokens": 900}})), say("It was Hobb."))
    strategy = AdaptiveStrategy(ToolUseRetrievalStrategy(), AlwaysRetrieveStrategy(Prompts.load(files("prompts"))))
    events = [event async for event in strategy.execute(chat, [user("Who?")], [SEARCH], dispatched)]
    assert DraftDiscarded(written) in events
    assert isinstance(events[-1], StrategyOutcome)
    assert events[-1].messages[-1].content == "It was Hobb."
    assert not chat.supports_tools


async def test_a_call_after_thinking_aloud_is_seen(server: OpenAIDouble, chat: OpenAIChat) -> None:
    called = "<|start|>assistant<|channel|>commentary to=functions.search_book <|constrain|>json<|message|>{}<|call|>"
    server.script(Verbatim((words(f"<|channel|>analysis<|message|>Hm.<|end|>{called}"), SAID)))
    with pytest.raises(LLMError) as caught:
        await collected(chat.stream([user("Who?")], [SEARCH]))
    assert caught.value.code is C.UNSUPPORTED_FEATURE


@pytest.mark.parametrize(
    "said",
    [
        '{"name": "Hobb", "age": 40}',
        "search_book finds it.",
        "wait(ing) for Hobb",
        "I looked with `search_book` (twice) and found no fan.",
        "<tools> is the element, and <function> another.",
    ],
)
async def test_code_that_calls_no_tool_is_an_answer(server: OpenAIDouble, chat: OpenAIChat, said: str) -> None:
    server.script(Verbatim((words(said), SAID)))
    _, response = await collected(chat.stream([user("Who?")], [SEARCH]))
    assert response.text == said


async def test_calls_that_share_an_index_and_an_id_are_two(server: OpenAIDouble, chat: OpenAIChat) -> None:
    pieces = [piece(each, "search_book", index=0, id="a") for each in ('{"query": ', '"fan"}', "", '{"query": "key"}')]
    server.script(Verbatim((*pieces, CALLED)))
    _, response = await collected(chat.stream([user("Who?")], [SEARCH]))
    assert [call.arguments for call in response.tool_invocations or ()] == [{"query": "fan"}, {"query": "key"}]


async def test_a_server_that_has_read_calls_keeps_its_tools_after_one_it_could_not_read(
    server: OpenAIDouble, chat: OpenAIChat
) -> None:
    server.script(Verbatim((piece(FAN, "search_book", index=0, id="a"), CALLED)))
    await collected(chat.stream([user("Who?")], [SEARCH]))
    server.script(Verbatim((words('<tool_call>{"name": search_book}'), SAID)))
    with pytest.raises(LLMError) as caught:
        await collected(chat.stream([user("Who?")], [SEARCH]))
    assert caught.value.code is C.UNSUPPORTED_FEATURE
    assert chat.supports_tools


async def test_tools_that_are_ignored_are_ignored_in_the_next_turn_too(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(UNCOUNTED, say("It was Hobb."), UNCOUNTED, say("Hobb, and why"), say("He was poor."))
    strategy = AdaptiveStrategy(ToolUseRetrievalStrategy(), AlwaysRetrieveStrategy(Prompts.load(files("prompts"))))

    async def dispatch(name: str, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult("Hobb stole the lamp.")

    async def turn(*talk: PromptMessage) -> Sequence[PromptMessage]:
        events = [event async for event in strategy.execute(chat, talk, MANY_TOOLS, dispatch)]
        [outcome] = [event for event in events if isinstance(event, StrategyOutcome)]
        return outcome.messages

    first = await turn(user("Who?"))
    second = await turn(user("Who?"), *first, user("Why?"))
    assert (first[-1].content, second[-1].content) == ("It was Hobb.", "He was poor.")


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, "<html>Not Found</html>"), (405, "{}"), (501, ""), (200, "<html>Welcome</html>"), (200, "[]"), (200, "{}")],
)
async def test_a_server_without_a_list_of_models_is_not_said_to_lack_the_model(status: int, body: str) -> None:
    async def models(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, content_type="text/html" if "<" in body else "application/json")

    application = web.Application()
    application.router.add_get("/v1/models", models)
    async with TestServer(application) as listening:
        chat = OpenAIChat(model="hobb-7b", base_url=str(listening.make_url("/v1")), max_retries=0)
        assert await chat.check() == "The model's server answers, but does not list its models."
        await chat.aclose()


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("models/hobb-7b", "hobb-7b is available."),  # Gemini
        ("hobb-7b:latest", "hobb-7b is available."),  # Ollama
        ("/models/hobb.gguf", "The model's server does not list hobb-7b, but answers to this name."),  # llama.cpp
    ],
)
async def test_a_model_is_not_missing_because_it_is_listed_by_another_name(listed: str, said: str) -> None:
    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": listed}]})

    async def completions(_: web.Request) -> web.Response:
        message = {"role": "assistant", "content": "Hello."}
        return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    application = web.Application()
    application.router.add_get("/v1/models", models)
    application.router.add_post("/v1/chat/completions", completions)
    async with TestServer(application) as listening:
        chat = OpenAIChat(model="hobb-7b", base_url=str(listening.make_url("/v1")), max_retries=0)
        assert await chat.check() == said
        await chat.aclose()


BLANK: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


async def test_a_blank_reply_of_a_server_that_always_streams_is_blank() -> None:
    async def completions(_: web.Request) -> web.Response:
        return web.Response(text=f"data: {json.dumps(BLANK)}\n\ndata: [DONE]\n\n", content_type="text/event-stream")

    application = web.Application()
    application.router.add_post("/v1/chat/completions", completions)
    async with TestServer(application) as listening:
        chat = OpenAIChat(model="hobb-7b", base_url=str(listening.make_url("/v1")), max_retries=0)
        assert await chat.chat([user("?")]) == ""
        await chat.aclose()


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, {"error": {"message": "This model's maximum context length is 4096 tokens."}}, C.CONTEXT_EXCEEDED),
        (500, {"error": {"message": "hobb does not support tools"}}, C.UNSUPPORTED_FEATURE),
        (400, {"error": {"message": "This server only streams."}}, None),
    ],
)
async def test_a_stream_without_a_word_is_asked_for_in_one_piece(status: int, body: Json, code: C | None) -> None:
    """LiteLLM ends a stream as if it were complete if the server behind it broke it off over a request."""
    asked: list[bool] = []

    async def completions(request: web.Request) -> web.Response:
        asked.append((await request.json())["stream"])
        if not asked[-1]:
            return web.json_response(body, status=status)
        return web.Response(text=f"data: {json.dumps(BLANK)}\n\ndata: [DONE]\n\n", content_type="text/event-stream")

    application = web.Application()
    application.router.add_post("/v1/chat/completions", completions)
    async with TestServer(application) as listening:
        chat = OpenAIChat(model="hobb-7b", base_url=str(listening.make_url("/v1")), max_retries=0)
        try:
            assert (await chat.chat_with_tools([user("?")], [SEARCH])).text == ""
        except LLMError as error:
            assert error.code is code
        else:
            assert code is None
        await chat.aclose()
    assert asked == [True, False]


async def test_a_connection_is_used_again_unless_the_server_leaves_its_stream_open() -> None:
    peers: list[object] = []
    leaves_open = asyncio.Event()

    async def completions(request: web.Request) -> web.StreamResponse:
        peers.append(request.transport)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for each in (words("Hobb."), SAID):
            await response.write(f"data: {json.dumps(each)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        if len(peers) == 2:
            await leaves_open.wait()
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", completions)
    async with TestServer(application) as listening:
        chat = OpenAIChat(model="hobb-7b", base_url=str(listening.make_url("/v1")), max_retries=0, timeout=60)
        async with asyncio.timeout(20):
            assert [await chat.chat([user("?")]) for _ in range(3)] == ["Hobb."] * 3
        leaves_open.set()
        await chat.aclose()
    assert [peer is peers[0] for peer in peers] == [True, True, False]
