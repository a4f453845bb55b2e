"""What every ChatProvider promises, tried on each of them; then what those over the wire promise when it fails."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from domain.book import Passage
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.ports import ChatProvider
from domain.tool_use import StopReason, ToolInvocation
from tests.bot.providers.talk import SEARCH, collected, passage, reply, result, streamed_text, system, user
from tests.contracts.chat_providers import BENCHES, PROVIDERS, Bench
from tests.contracts.provider_cases import case
from tests.doubles.ports import held_port
from tests.doubles.script import Call, Failure, Fault, Stop, say

RABBIT = passage("The White Rabbit carried a fan.", "Its gloves were of white kid.", start=100)
QUEEN = passage("The Queen had one way of settling difficulties.", start=900, chapter="The Croquet Ground")
ASKED = [system(), user("What did the White Rabbit carry?")]


@pytest.fixture(params=PROVIDERS)
async def provider(request: pytest.FixtureRequest) -> AsyncIterator[ChatProvider]:
    async with PROVIDERS[request.param]() as chat:
        assert chat.name == request.param
        yield chat


@pytest.fixture(params=BENCHES)
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    async with BENCHES[request.param]() as opened:
        yield opened


async def failure_of(chat: ChatProvider) -> LLMError:
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools(ASKED, [SEARCH])
    assert caught.value.message.endswith(".")
    return caught.value


async def looked_up(
    chat: ChatProvider, *, content: str = "", found: Sequence[Passage] = (), is_error: bool = False
) -> list[PromptMessage]:
    """A conversation in which the model has asked for something and got this."""
    response = await chat.chat_with_tools(ASKED, [SEARCH])
    assert response.tool_invocation is not None
    call_id = response.tool_invocation.tool_use_id
    return [*ASKED, reply(response), result(call_id, content, *found, is_error=is_error)]


async def test_a_model_has_a_name_and_says_whether_it_uses_tools(provider: ChatProvider) -> None:
    assert provider.model_name
    assert provider.supports_tools


@case("plain")
async def test_with_tools_it_looks_things_up(provider: ChatProvider) -> None:
    response = await provider.chat_with_tools(ASKED, [SEARCH])
    assert response.text is None
    assert response.stop_reason is StopReason.TOOL_USE
    for call in response.tool_invocations:
        assert call.tool_name == SEARCH.name
        assert call.arguments["query"]
        assert call.tool_use_id


@case("plain")
async def test_it_answers_from_what_was_found(provider: ChatProvider) -> None:
    talk = await looked_up(provider, found=[RABBIT, QUEEN])
    response = await provider.chat_with_tools(talk, [SEARCH])
    assert "carried a fan" in (response.text or "")
    assert response.stop_reason is StopReason.END_TURN


@case("tool errors")
@pytest.mark.parametrize("is_error", [False, True])
async def test_it_answers_though_nothing_was_found(provider: ChatProvider, is_error: bool) -> None:
    talk = await looked_up(provider, content="Nothing was found.", is_error=is_error)
    assert ((await provider.chat_with_tools(talk, [SEARCH])).text or "").strip()


async def test_it_can_be_checked(provider: ChatProvider) -> None:
    assert (await provider.check()).endswith(".")


async def test_a_check_names_the_model(bench: Bench) -> None:
    chat = bench.open()
    assert chat.model_name in await chat.check()


@case("empty tools")
async def test_without_tools_it_answers_in_words(provider: ChatProvider) -> None:
    response = await provider.chat_with_tools(ASKED, [])
    assert (response.text or "").strip()
    assert await provider.chat(ASKED) == response.text


async def test_where_calls_are_forbidden_it_answers_in_words(provider: ChatProvider) -> None:
    _, response = await collected(provider.stream(ASKED, [SEARCH], call_tools=False))
    assert (response.text or "").strip()


@case("streaming")
async def test_what_is_streamed_is_the_answer(provider: ChatProvider) -> None:
    talk = await looked_up(provider, found=[RABBIT])
    events, response = await collected(provider.stream(talk, [SEARCH]))
    assert streamed_text(events) == response.text


@case("long history")
async def test_a_long_history_is_taken_as_it_is(provider: ChatProvider) -> None:
    talk = [system()]
    for number in range(60):
        call = ToolInvocation(SEARCH.name, {"query": f"rabbit {number}"}, f"call_{number}")
        talk += [
            user(f"And then, for the {number}th time?"),
            PromptMessage("assistant", "", tool_invocations=[call]),
            result(call.tool_use_id, "", passage(f"Sentence {number}.", start=number * 100)),
            PromptMessage("assistant", f"This came {number}th."),
        ]
    talk += [user("One asks."), user("Another asks: what did the Rabbit carry?")]
    assert (await provider.chat_with_tools(talk, [SEARCH])).tool_invocations


@case("several tools at once")
async def test_several_results_at_once_in_any_order(provider: ChatProvider) -> None:
    calls = [ToolInvocation(SEARCH.name, {"query": word}, word) for word in ("rabbit", "queen", "duchess")]
    results = [
        result("queen", "", QUEEN),
        result("duchess", "No such thing.", is_error=True),
        result("rabbit", "", RABBIT),
    ]
    talk = [*ASKED, PromptMessage("assistant", "", tool_invocations=calls), *results]
    response = await provider.chat_with_tools(talk, [SEARCH])
    assert "carried a fan" in (response.text or "")


@case("cancellation in mid-stream")
async def test_being_cancelled_leaves_it_ready_for_the_next_question(provider: ChatProvider) -> None:
    talk = await looked_up(provider, found=[RABBIT])
    begun = asyncio.Event()

    async def listen() -> None:
        async for _ in provider.stream(talk, [SEARCH]):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await provider.chat_with_tools(talk, [SEARCH])).text


@case("several tools at once")
async def test_several_calls_at_once(bench: Bench) -> None:
    wanted = [Call("search_book", {"query": "fan"}, "a"), Call("search_book", {"query": "gloves"}, "b")]
    bench.double.script(say("Two things.", *wanted), say("Both."))
    chat = bench.open()
    response = await chat.chat_with_tools(ASKED, [SEARCH])
    assert response.preamble == "Two things."
    assert response.tool_invocations == (
        ToolInvocation("search_book", {"query": "fan"}, "a"),
        ToolInvocation("search_book", {"query": "gloves"}, "b"),
    )
    results = [result("b", "No such thing.", is_error=True), result("a", "", RABBIT)]
    assert (await chat.chat_with_tools([*ASKED, reply(response), *results], [SEARCH])).text == "Both."


@case("empty tools")
async def test_no_tools_are_mentioned_where_there_are_none(bench: Bench) -> None:
    await bench.open().chat_with_tools(ASKED, [])
    assert not {"tools", "tool_choice"} & set(bench.double.requests[0])


async def test_an_empty_reply_is_an_empty_text(bench: Bench) -> None:
    bench.double.script(say())
    response = await bench.open().chat_with_tools(ASKED, [SEARCH])
    assert (response.text, response.stop_reason) == ("", StopReason.END_TURN)


async def test_a_reply_that_ran_out_of_room_keeps_its_text(bench: Bench) -> None:
    bench.double.script(say("So far", Call("search_book", {"query": "something long"}), stop=Stop.LENGTH))
    response = await bench.open().chat_with_tools(ASKED, [SEARCH])
    assert (response.text, response.stop_reason) == ("So far", StopReason.MAX_TOKENS)


@case("tool errors")
@pytest.mark.parametrize("written", ["not json", "[]"])
async def test_a_call_that_cannot_be_read_is_handed_on_as_such(bench: Bench, written: str) -> None:
    bench.double.script(say(Call("search_book", written, "a")), say("Sorry."))
    chat = bench.open()
    response = await chat.chat_with_tools(ASKED, [SEARCH])
    assert [call.unreadable for call in response.tool_invocations] == [written]
    talk = [*ASKED, reply(response), result("a", "Write a JSON object.", is_error=True)]
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Sorry."


async def test_a_character_that_is_cut_in_two_comes_whole(bench: Bench) -> None:
    bench.double.script(say("elevenchars\ud83d\udc07"))
    events, response = await collected(bench.open().stream(ASKED))
    assert streamed_text(events) == response.text == "elevenchars🐇"


async def test_half_a_character_closes_no_conversation(bench: Bench) -> None:
    arguments = {"query": "\ud83d rabbit"}
    bench.double.script(
        say("Half \ud83d a one.", Call("search_book", arguments, "a")), say("Here."), say("Still here.")
    )
    chat = bench.open()
    response = await chat.chat_with_tools(ASKED, [SEARCH])
    assert [call.arguments for call in response.tool_invocations] == [{"query": "\ufffd rabbit"}]
    talk = [*ASKED, reply(response), result("a", "Nothing.")]
    assert (await chat.chat_with_tools(talk, [SEARCH])).text == "Here."
    assert await chat.chat([*talk, user("And what did \udc07 the Queen carry?")]) == "Still here."


async def test_usage_is_reported(bench: Bench) -> None:
    usage = (await bench.open().chat_with_tools(ASKED, [SEARCH])).usage
    assert usage is not None
    assert usage.input_tokens > 50
    assert usage.output_tokens > 0


@case("the socket closes")
async def test_being_cancelled_in_mid_stream_closes_the_line(bench: Bench) -> None:
    bench.double.script(say("Once upon a time there was", fault=Fault.STALL))
    begun = asyncio.Event()

    async def listen() -> None:
        async for _ in bench.open(timeout=60.0).stream(ASKED):
            begun.set()

    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await bench.double.hung_up.wait()


@case("the socket closes")
async def test_turning_away_in_mid_stream_closes_the_line(bench: Bench) -> None:
    bench.double.script(say("Once upon a time there was", fault=Fault.STALL))
    events = bench.open(timeout=60.0).stream(ASKED)
    await anext(events)
    await events.aclose()
    await bench.double.hung_up.wait()


@case("cut stream")
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault.CUT, LLMErrorCode.CONNECTION_LOST),
        (Fault.EARLY_END, LLMErrorCode.CONNECTION_LOST),
        (Fault.NOTHING, LLMErrorCode.CONNECTION_LOST),
        (Fault.OVERLOAD, LLMErrorCode.OVERLOADED),
        (Fault.STALL, LLMErrorCode.TIMEOUT),
        (Fault.GARBAGE, LLMErrorCode.API_CALL_FAILED),
    ],
)
async def test_a_stream_that_breaks_off_is_no_answer(bench: Bench, fault: Fault, code: LLMErrorCode) -> None:
    bench.double.script(say("Once upon a time there was a Rabbit", fault=fault))
    assert (await failure_of(bench.open(timeout=0.3))).code is code


@case("rate limit")
async def test_a_wait_that_is_too_long_is_not_waited_for(bench: Bench) -> None:
    bench.double.script(Failure(429, retry_after="240"))
    error = await failure_of(bench.open(max_retries=2))
    assert (error.code, error.retry_after) == (LLMErrorCode.RATE_LIMITED, 240.0)
    assert "in 4 minutes" in error.message
    assert len(bench.double.requests) == 1


@case("rate limit")
async def test_a_short_wait_is_waited_for(bench: Bench) -> None:
    bench.double.script(Failure(429, retry_after="0.01"), say("Here."))
    assert await bench.open(max_retries=1).chat(ASKED) == "Here."
    assert len(bench.double.requests) == 2


@case("rate limit")
async def test_too_many_requests_without_advice(bench: Bench) -> None:
    bench.double.script(Failure(429))
    error = await failure_of(bench.open())
    assert (error.code, error.retry_after) == (LLMErrorCode.RATE_LIMITED, None)


@case("overload")
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, LLMErrorCode.API_CALL_FAILED),
        (402, LLMErrorCode.OUT_OF_CREDIT),
        (413, LLMErrorCode.CONTEXT_EXCEEDED),
        (500, LLMErrorCode.API_CALL_FAILED),
        (503, LLMErrorCode.OVERLOADED),
        (529, LLMErrorCode.OVERLOADED),
    ],
)
async def test_an_answer_that_is_none(bench: Bench, status: int, code: LLMErrorCode) -> None:
    bench.double.script(*[Failure(status)] * 3)
    error = await failure_of(bench.open())
    assert error.code is code
    assert error.__cause__ is not None


@case("bad key")
async def test_a_key_that_is_refused(bench: Bench) -> None:
    error = await failure_of(bench.open(api_key="wrong"))
    assert error.code is LLMErrorCode.API_KEY_MISSING
    assert "API_KEY" in error.message


@case("unknown model")
async def test_a_model_nobody_knows(bench: Bench) -> None:
    error = await failure_of(bench.open(model="claude-sonnet-4-5-20250514"))
    assert error.code is LLMErrorCode.UNKNOWN_MODEL
    assert "LLM_MODEL" in error.message
    assert "claude-sonnet-4-5-20250514" in error.message


async def test_a_server_that_is_not_there(bench: Bench) -> None:
    with held_port() as port:
        chat = bench.open(base_url=f"http://127.0.0.1:{port}")
        assert (await failure_of(chat)).code is LLMErrorCode.CONNECTION_LOST


async def test_further_fields_go_into_the_request(bench: Bench) -> None:
    chat = bench.open().with_options(max_tokens=17)
    await chat.chat(ASKED)
    assert bench.double.requests[0]["max_tokens"] == 17
