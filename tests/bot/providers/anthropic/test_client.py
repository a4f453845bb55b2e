"""Claude over the wire: the real SDK talks to a strict double on loopback."""

import asyncio
import json
from dataclasses import asdict, replace

import pytest

from bot.providers.anthropic.client import DEFAULT_MODEL, AnthropicChat
from bot.providers.anthropic.messages import with_whole_text
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import (
    UNREADABLE_ARGUMENTS,
    CitationMark,
    RawReply,
    StopReason,
    TextBlockEnd,
    TextChunk,
    TokenUsage,
    ToolInvocation,
)
from tests.bot.providers.talk import SEARCH, collected, passage, reply, result, system, user
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.script import Call, Cite, Failure, Fault, Stop, Text, Thinking, Verbatim, say

LOOKING = PromptMessage("assistant", "Looking.", tool_invocations=[ToolInvocation("search_book", {"query": "x"}, "a")])
RABBIT = passage("The rabbit was white.", "It took a watch out of its pocket.", start=100)


async def test_a_round_of_calls_and_a_cited_answer_is_accepted_by_the_api(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(
        say("Let me look.", Thinking("two things to find"), Call("search_book", {"query": "rabbit"}, "a")),
        say("It was ", Text("white", (Cite(RABBIT.source, 0, 1),)), "."),
    )
    asked = [system(), user("What colour is the rabbit?")]
    calls = await claude.chat_with_tools(asked, [SEARCH])
    asked += [reply(calls), result("a", "unused where passages go", RABBIT)]
    events, answer = await collected(claude.stream(asked, [SEARCH]))

    assert calls.tool_invocations == (ToolInvocation("search_book", {"query": "rabbit"}, "a"),)
    assert (calls.text, calls.preamble) == (None, "Let me look.")
    assert answer.text == "It was white."
    assert [*with_whole_text(events)] == [
        TextChunk("It was "),
        TextBlockEnd(),
        TextChunk("white"),
        CitationMark(RABBIT.source, 0, 1, "The rabbit was white."),
        TextBlockEnd(),
        TextChunk("."),
        TextBlockEnd(),
    ]


async def test_a_stored_reply_is_echoed_byte_for_byte(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say(Thinking("hm"), "Found ", Call("search_book", {"query": "x"}, "a")), say("Done."))
    calls = await claude.chat_with_tools([user("Who?")], [SEARCH])
    assert calls.raw is not None
    stored = RawReply(**json.loads(json.dumps(asdict(calls.raw))))
    await claude.chat_with_tools([user("Who?"), replace(reply(calls), raw=stored), result("a", "none")], [SEARCH])
    assert api.requests[1]["messages"][1]["content"] == calls.raw.blocks
    assert [block["type"] for block in calls.raw.blocks] == ["thinking", "text", "tool_use"]


async def test_usage_counts_the_whole_prompt_and_the_cached_part_of_it(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    asked = [system("You read a book with someone. " * 200), user("Who is the rabbit?")]
    api.script(say("A herald."), say("A herald."))
    first = (await claude.chat_with_tools(asked, [SEARCH])).usage
    second = (await claude.chat_with_tools(asked, [SEARCH])).usage
    assert first is not None
    assert second is not None
    assert first.cache_write_tokens > 1000
    assert first.input_tokens == second.input_tokens == second.cache_read_tokens
    assert first.output_tokens > 1


async def test_only_the_last_part_of_a_growing_conversation_is_read_anew(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    asked = [system("You read a book with someone. " * 200), user("Who is the rabbit?")]
    api.script(say("A herald. " * 50), say("The Queen's."))
    answer = await claude.chat_with_tools(asked, [SEARCH])
    asked += [reply(answer), user("Whose?")]
    usage = (await claude.chat_with_tools(asked, [SEARCH])).usage
    assert usage is not None
    assert usage.cache_read_tokens > 1000
    assert usage.input_tokens - usage.cache_read_tokens < 300


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop.END, StopReason.END_TURN),
        (Stop.LENGTH, StopReason.MAX_TOKENS),
        (Stop.REFUSAL, StopReason.REFUSAL),
        (Stop.PAUSE, StopReason.PAUSE),
        (Stop.CONTEXT, StopReason.CONTEXT_EXCEEDED),
        (Stop.UNKNOWN, StopReason.OTHER),
    ],
)
async def test_why_the_model_stopped(
    api: AnthropicDouble, claude: AnthropicChat, stop: Stop, reason: StopReason
) -> None:
    api.script(say("So far.", stop=stop))
    response = await claude.chat_with_tools([user("Go on.")], [SEARCH])
    assert (response.text, response.stop_reason) == ("So far.", reason)


async def test_a_paused_reply_is_taken_up_where_it_stopped(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say("One moment.", stop=Stop.PAUSE), say("Here."))
    paused = await claude.chat_with_tools([user("Look.")], [SEARCH])
    assert (await claude.chat_with_tools([user("Look."), reply(paused)], [SEARCH])).text == "Here."


async def test_a_call_that_was_cut_off_is_dropped_and_the_text_kept(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say("I will look", Call("search_book", {"query": "a long one"}), stop=Stop.LENGTH), say("Yes."))
    cut = await claude.chat_with_tools([user("Look.")], [SEARCH])
    assert (cut.text, cut.stop_reason, cut.tool_invocations) == ("I will look", StopReason.MAX_TOKENS, ())
    assert await claude.chat([user("Look."), reply(cut), user("And?")]) == "Yes."


@pytest.mark.parametrize("written", ["[1, 2]", '"rabbit"', '{"query": rabbit}', "null"])
async def test_a_call_without_a_json_object_is_handed_on_as_unreadable(
    api: AnthropicDouble, claude: AnthropicChat, written: str
) -> None:
    api.script(say(Call("search_book", written, "a")), say("Sorry."))
    calls = await claude.chat_with_tools([user("Look.")], [SEARCH])
    assert calls.tool_invocation == ToolInvocation("search_book", {UNREADABLE_ARGUMENTS: written}, "a")
    assert calls.tool_invocation.unreadable == written
    answer = await claude.chat_with_tools(
        [user("Look."), reply(calls), result("a", "Send a JSON object.", is_error=True)], [SEARCH]
    )
    assert answer.text == "Sorry."


async def test_a_call_without_arguments(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say(Call("table_of_contents", "")))
    assert (await claude.chat_with_tools([user("Chapters?")], [SEARCH])).tool_invocations[0].arguments == {}


async def test_thinking_that_no_longer_fits_is_left_out_without_asking_twice(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say(Thinking("t"), "One."), say(Thinking("t"), "Two."), say("Three."))
    first = await claude.chat_with_tools([user("1?")], [])
    second = await claude.chat_with_tools([user("1?"), reply(first), user("2?")], [])
    await claude.chat_with_tools([user("2?"), reply(second), user("3?")], [])
    assert len(api.requests) == 3
    assert [block["type"] for block in api.requests[1]["messages"][1]["content"]] == ["thinking", "text"]
    assert [block["type"] for block in api.requests[2]["messages"][1]["content"]] == ["text"]


async def test_citations_that_no_longer_count_right_are_left_out(api: AnthropicDouble, claude: AnthropicChat) -> None:
    calls_a = [user("1?"), LOOKING, result("a", "", RABBIT)]
    api.script(say(Text("White.", (Cite(RABBIT.source, 0, 1),))), say("Yes."), say("No."))
    answer = await claude.chat_with_tools(calls_a, [SEARCH])
    await claude.chat_with_tools([*calls_a, reply(answer), user("Sure?")], [SEARCH])
    await claude.chat_with_tools([user("1?"), reply(answer), user("Sure?")], [SEARCH])
    assert "citations" in api.requests[1]["messages"][3]["content"][0]
    assert "citations" not in api.requests[2]["messages"][1]["content"][0]


async def test_thinking_the_api_refuses_is_taken_out_of_the_whole_history(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say(Thinking("t"), "One."), say("Two."))
    first = await claude.chat_with_tools([user("1?")], [])
    assert first.raw is not None
    forged = replace(
        first.raw, blocks=[{**first.raw.blocks[0], "signature": "of another account"}, *first.raw.blocks[1:]]
    )
    answer = await claude.chat([user("1?"), replace(reply(first), raw=forged), user("2?")])
    assert answer == "Two."
    assert len(api.requests) == 3
    assert api.requests[2]["messages"][1]["content"] == [{"type": "text", "text": "One."}]


async def test_a_reply_of_another_model_is_sent_in_its_neutral_form(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say("Yes."))
    raw = RawReply("anthropic", "claude-haiku-5-5", [{"type": "text", "text": "raw"}])
    await claude.chat([user("1?"), replace(LOOKING, raw=raw), result("a", "none"), user("2?")])
    assert api.requests[0]["messages"][1]["content"] == [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "a", "name": "search_book", "input": {"query": "x"}},
    ]


async def test_calls_of_another_service_are_taken_whatever_their_ids_are(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say("Yes."))
    calls = [ToolInvocation("search_book", {"query": "x"}, f"functions.search_book:{number}") for number in (0, 1)]
    looking = PromptMessage("assistant", "", tool_invocations=calls)
    results = [result(call.tool_use_id, f"Found by {call.tool_use_id}.") for call in calls]
    assert await claude.chat([user("1?"), looking, *results, user("2?")]) == "Yes."


async def test_a_call_that_could_not_go_into_the_history_is_one_of_no_tool(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say(Call("…", {"query": "x"}, "not an id!")), say("Sorry."))
    calls = await claude.chat_with_tools([user("Look.")], [SEARCH])
    [call] = calls.tool_invocations
    assert call.tool_name == "unnamed"
    told = result(call.tool_use_id, "Unknown tool.", is_error=True)
    assert await claude.chat([user("Look."), reply(calls), told]) == "Sorry."


async def test_settings_that_suit_the_model(api: AnthropicDouble) -> None:
    models = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")
    for model in models:
        chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url, model=model)
        await chat.chat([user("Hello")])
        await chat.aclose()
    settings = [(body.get("thinking"), body.get("output_config")) for body in api.requests]
    assert settings == [
        ({"type": "between_tools"}, {"effort": "medium"}),
        ({"type": "disabled"}, None),
        (None, None),
    ]


async def test_options_are_passed_to_the_api_and_win(api: AnthropicDouble, claude: AnthropicChat) -> None:
    twin = claude.with_options(max_tokens=17, output_config={"effort": "low"}, metadata={"user_id": "reader"})
    await twin.chat([user("Hello")])
    await claude.chat([user("Hello")])
    assert [body["max_tokens"] for body in api.requests] == [17, 4096]
    assert api.requests[0]["output_config"] == {"effort": "low"}
    assert api.requests[0]["metadata"] == {"user_id": "reader"}


async def test_calls_can_be_forbidden_while_the_tools_stay_in_the_prompt(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(say("No more looking."))
    await collected(claude.stream([user("Well?")], [SEARCH], call_tools=False))
    assert api.requests[0]["tool_choice"] == {"type": "none"}
    assert [tool["name"] for tool in api.requests[0]["tools"]] == ["search_book"]


async def test_a_call_nobody_allowed_is_not_handed_on(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say("Well, ", Call("search_book", {"query": "x"})))
    _, response = await collected(claude.stream([user("Well?")], [SEARCH], call_tools=False))
    assert (response.text, response.stop_reason) == ("Well, ", StopReason.OTHER)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Failure(400), LLMErrorCode.API_CALL_FAILED),
        (Failure(400, message="prompt is too long: 3 tokens > 2 maximum"), LLMErrorCode.CONTEXT_EXCEEDED),
        (
            Failure(400, message="input length and `max_tokens` exceed context limit: 8 + 4 > 9"),
            LLMErrorCode.CONTEXT_EXCEEDED,
        ),
        (Failure(400, message="Your credit balance is too low to access the API."), LLMErrorCode.OUT_OF_CREDIT),
        (Failure(402), LLMErrorCode.OUT_OF_CREDIT),
        (Failure(403), LLMErrorCode.API_KEY_MISSING),
        (Failure(413), LLMErrorCode.CONTEXT_EXCEEDED),
        (Failure(500), LLMErrorCode.API_CALL_FAILED),
        (Failure(503, kind="a proxy's own word"), LLMErrorCode.OVERLOADED),
        (Failure(504), LLMErrorCode.TIMEOUT),
        (Failure(529), LLMErrorCode.OVERLOADED),
    ],
)
async def test_what_the_api_answers_in_place_of_a_reply(
    api: AnthropicDouble, claude: AnthropicChat, failure: Failure, code: LLMErrorCode
) -> None:
    api.script(failure)
    with pytest.raises(LLMError) as caught:
        await claude.chat([user("Hello")])
    assert caught.value.code is code
    assert caught.value.__cause__ is not None


async def test_an_event_that_is_not_json(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say("Once upon a time", fault=Fault.GARBAGE))
    with pytest.raises(LLMError) as caught:
        await claude.chat([user("Hello")])
    assert caught.value.code is LLMErrorCode.API_CALL_FAILED


async def test_a_stream_that_ends_without_a_reason_was_cut(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(say("So", stop=Stop.NONE))
    with pytest.raises(LLMError) as caught:
        await claude.chat([user("Hello")])
    assert caught.value.code is LLMErrorCode.CONNECTION_LOST


def test_a_key_is_needed_at_once() -> None:
    with pytest.raises(LLMError, match="ANTHROPIC_API_KEY") as caught:
        AnthropicChat(api_key=" ")
    assert caught.value.code is LLMErrorCode.API_KEY_MISSING


async def test_checking_the_model(api: AnthropicDouble) -> None:
    async def checked(model: str) -> str:
        chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url, model=model)
        try:
            return await chat.check()
        finally:
            await chat.aclose()

    assert await checked(DEFAULT_MODEL) == "claude-sonnet-5-5 (Claude Sonnet 5 5) is available."
    assert "will be retired on 2026-11-30" in await checked("claude-sonnet-4-5-20250929")
    for unusable in ("claude-sonnet-4-5-20250514", "claude-opus-4-20250514"):
        with pytest.raises(LLMError, match=f"{unusable}.*LLM_MODEL") as caught:
            await checked(unusable)
        assert caught.value.code is LLMErrorCode.UNKNOWN_MODEL


async def test_what_is_not_known_yet_is_passed_over_and_echoed(api: AnthropicDouble, claude: AnthropicChat) -> None:
    api.script(
        Verbatim(
            (
                {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}},
                {"type": "something_new", "detail": 1},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "future", "data": "x"}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "future_delta", "data": "y"}},
                {"type": "content_block_stop", "index": 0},
                {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Hello."}},
                {"type": "content_block_stop", "index": 1},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
                {"type": "message_stop"},
            )
        )
    )
    events, response = await collected(claude.stream([user("Hello")]))
    assert events == [TextChunk("Hello."), TextBlockEnd()]
    assert response.raw is not None
    assert response.raw.blocks == [{"type": "future", "data": "x"}, {"type": "text", "text": "Hello."}]
    assert (response.text, response.usage) == ("Hello.", TokenUsage(3, 7))


async def test_a_server_that_only_speaks_like_the_api_may_count_no_tokens(
    api: AnthropicDouble, claude: AnthropicChat
) -> None:
    api.script(
        Verbatim(
            (
                {"type": "message_start", "message": {"id": "m", "usage": {}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hello."}},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": None},
                {"type": "message_stop"},
            )
        )
    )
    _, response = await collected(claude.stream([user("Hello, who are you, and what do you read?")]))
    assert response.text == "Hello."
    assert response.usage is not None
    assert response.usage.estimated
    assert response.usage.input_tokens > 5
    assert response.usage.output_tokens > 0


async def test_two_requests_at_once_share_one_client(api: AnthropicDouble, claude: AnthropicChat) -> None:
    await claude.warm_up()
    assert await asyncio.gather(claude.chat([user("1?")]), claude.chat([user("2?")]))


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v1/messages"])
async def test_an_address_may_end_in_the_version(api: AnthropicDouble, path: str) -> None:
    claude = AnthropicChat(api_key=api.api_key, base_url=api.base_url + path, max_retries=0)
    assert DEFAULT_MODEL in await claude.check()
    await claude.aclose()
