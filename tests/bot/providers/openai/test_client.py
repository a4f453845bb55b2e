"""Chat completions over the wire: the real SDK talks to a strict double on loopback."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from bot.providers.openai.client import OpenAIChat
from domain.citations.keys import key_of
from domain.errors import LLMError, LLMErrorCode, SettingsError
from domain.tool_use import StopReason, TextBlockEnd, TextChunk, TokenUsage, ToolInvocation
from tests.bot.providers.talk import SEARCH, collected, passage, reply, result, user
from tests.doubles.openai_api import OpenAIDouble
from tests.doubles.script import Call, Cite, Failure, Stop, Text, Verbatim, say

RABBIT = passage("The rabbit was white.", "It took a watch out of its pocket.", start=100)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIDouble]:
    async with OpenAIDouble() as double:
        yield double


@pytest.fixture
async def chat(server: OpenAIDouble) -> AsyncIterator[OpenAIChat]:
    opened = open_chat(server)
    yield opened
    await opened.aclose()


def open_chat(server: OpenAIDouble, **changes: object) -> OpenAIChat:
    settings: dict[str, object] = {"model": server.model, "api_key": server.api_key, "base_url": server.base_url}
    return OpenAIChat(**{**settings, "max_retries": 0, **changes})  # type: ignore[arg-type]


async def test_a_model_cites_by_repeating_keys(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(
        say("Let me look.", Call("search_book", {"query": "rabbit"}, "a")),
        say(Text("It was white", (Cite(RABBIT.source, 0, 1),)), "."),
    )
    calls = await chat.chat_with_tools([user("What colour?")], [SEARCH])
    talk = [user("What colour?"), reply(calls), result("a", "", RABBIT)]
    events, answer = await collected(chat.stream(talk, [SEARCH]))
    assert answer.text == f"It was white [{key_of(RABBIT.sentences[0])}]."
    assert events[-1] == TextBlockEnd()
    assert all(isinstance(event, TextChunk) for event in events[:-1])
    assert len(events) > 3


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop.END, StopReason.END_TURN),
        (Stop.LENGTH, StopReason.MAX_TOKENS),
        (Stop.REFUSAL, StopReason.REFUSAL),
        (Stop.UNKNOWN, StopReason.OTHER),
        (Stop.TOOLS, StopReason.OTHER),
    ],
)
async def test_why_the_model_stopped(server: OpenAIDouble, chat: OpenAIChat, stop: Stop, reason: StopReason) -> None:
    server.script(say("So far.", stop=stop))
    response = await chat.chat_with_tools([user("Go on.")], [SEARCH])
    assert (response.text, response.stop_reason) == ("So far.", reason)


async def test_calls_count_though_the_server_says_stop(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(say(Call("search_book", {"query": "x"}), stop=Stop.END))
    response = await chat.chat_with_tools([user("?")], [SEARCH])
    assert response.stop_reason is StopReason.TOOL_USE
    assert response.tool_invocations


async def test_a_call_nobody_allowed_is_not_handed_on(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(say("Well.", Call("search_book", {"query": "x"})))
    _, response = await collected(chat.stream([user("?")], [SEARCH], call_tools=False))
    assert (response.text, response.stop_reason) == ("Well.", StopReason.OTHER)


async def test_a_server_that_counts_no_tokens() -> None:
    async with OpenAIDouble(counts_tokens=False) as server:
        chat = open_chat(server)
        usage = (await chat.chat_with_tools([user("?")], [])).usage
        assert usage is not None
        assert usage.estimated
        await chat.aclose()


@pytest.mark.parametrize("supports_tools", [None, True])
async def test_a_server_whose_model_knows_no_tools(supports_tools: bool | None) -> None:
    async with OpenAIDouble(knows_tools=False) as server:
        chat = open_chat(server, supports_tools=supports_tools)
        assert chat.supports_tools
        with pytest.raises(LLMError) as caught:
            await chat.chat_with_tools([user("?")], [SEARCH])
        learnt = supports_tools is None
        assert caught.value.code is (LLMErrorCode.UNSUPPORTED_FEATURE if learnt else LLMErrorCode.API_CALL_FAILED)
        assert chat.supports_tools is not learnt
        assert await chat.chat([user("?")])
        await chat.aclose()


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "registry.ollama.ai/library/gemma:latest does not support tools"),
        (404, "No endpoints found that support tool use."),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (500, "Unsupported param: tools"),
    ],
)
async def test_the_ways_servers_say_that_they_know_no_tools(
    server: OpenAIDouble, chat: OpenAIChat, status: int, message: str
) -> None:
    server.script(Failure(status, message=message))
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
    assert not chat.supports_tools


async def test_a_model_said_to_know_no_tools_is_not_asked_to(server: OpenAIDouble) -> None:
    with pytest.raises(LLMError) as caught:
        await open_chat(server, supports_tools=False).chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
    assert server.requests == []


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Failure(400, "context_length_exceeded"), LLMErrorCode.CONTEXT_EXCEEDED),
        (Failure(400, message="the request exceeds the available context size"), LLMErrorCode.CONTEXT_EXCEEDED),
        (Failure(400, "model_not_found"), LLMErrorCode.UNKNOWN_MODEL),
        (Failure(429, "insufficient_quota"), LLMErrorCode.OUT_OF_CREDIT),
        (Failure(403), LLMErrorCode.API_KEY_MISSING),
    ],
)
async def test_what_the_server_answers_in_place_of_a_reply(
    server: OpenAIDouble, chat: OpenAIChat, failure: Failure, code: LLMErrorCode
) -> None:
    server.script(failure)
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("Hello")])
    assert caught.value.code is code


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/chat/completions/"])
async def test_an_address_may_be_written_as_servers_print_it(server: OpenAIDouble, path: str) -> None:
    chat = open_chat(server, base_url=server.base_url.removesuffix("/v1") + path, api_key=server.api_key)
    assert await chat.check() == "double-1 is available."
    await chat.aclose()


async def test_checking_the_model(server: OpenAIDouble, chat: OpenAIChat) -> None:
    assert await chat.check() == "double-1 is available."
    other = open_chat(server, model="other-1")
    with pytest.raises(LLMError, match="no model called other-1") as caught:
        await other.check()
    assert caught.value.code is LLMErrorCode.UNKNOWN_MODEL
    assert caught.value.said.endswith("; it has double-1")
    await other.aclose()


async def test_a_model_openai_itself_does_not_list(server: OpenAIDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    chat = OpenAIChat(model="other-1", api_key=server.api_key)
    with pytest.raises(LLMError, match="OpenAI has no model called other-1") as caught:
        await chat.check()
    assert caught.value.code is LLMErrorCode.UNKNOWN_MODEL
    assert caught.value.said == "it has double-1"
    await chat.aclose()


async def test_a_key_is_needed_for_openai_itself_only() -> None:
    with pytest.raises(LLMError, match="OPENAI_API_KEY") as caught:
        OpenAIChat(model="m")
    assert caught.value.code is LLMErrorCode.API_KEY_MISSING
    assert OpenAIChat(model="m", base_url="http://localhost:11434/v1").model_name == "m"


class OpenAIBehindAProxy(OpenAIDouble):
    """It lets in whoever says the name and the password of a person."""

    def _check_key(self, request: web.Request) -> None:
        said = request.headers.get("authorization", "")
        assert said == f"Basic {b64encode(b'ann:open@sesame').decode()}"


async def test_a_user_and_password_in_the_address_are_said_by_basic_authentication() -> None:
    async with OpenAIBehindAProxy() as server:
        address = server.base_url.replace("://", "://ann:open%40sesame@")
        chat = open_chat(server, base_url=address, api_key="")
        assert await chat.check() == "double-1 is available."
        server.script(say("White."))
        _, answer = await collected(chat.stream([user("What colour?")]))
        assert answer.text == "White."
        await chat.aclose()


class RepeatingOpenAI(OpenAIDouble):
    """It refuses everybody, and repeats what it was sent."""

    def _check_key(self, request: web.Request) -> None:
        said = {"error": {"message": f"Refused: {request.headers['authorization']}", "code": "invalid_api_key"}}
        raise web.HTTPUnauthorized(text=json.dumps(said), content_type="application/json")


@pytest.mark.parametrize("user", ["ann:open%40sesame", "open-sesame"])
async def test_a_server_that_repeats_the_password_is_not_repeated(user: str) -> None:
    async with RepeatingOpenAI() as server:
        chat = open_chat(server, base_url=server.base_url.replace("://", f"://{user}@"), api_key="")
        with pytest.raises(LLMError) as refused:
            await chat.check()
        assert refused.value.said == "Refused: Basic ***"
        await chat.aclose()


@pytest.mark.parametrize("user", ["ann:open-sesame", "ann", ""])
def test_a_key_beside_a_user_in_the_address_is_refused_in_a_sentence(user: str) -> None:
    with pytest.raises(SettingsError, match="only one of them can be sent") as refused:
        OpenAIChat(model="m", api_key="k", base_url=f"https://{user}@host/v1")
    assert "sesame" not in refused.value.message


async def test_calls_that_share_an_index_and_calls_without_an_id(server: OpenAIDouble, chat: OpenAIChat) -> None:
    """As some servers stream them: whole calls at once, all of them number 0, or none of them named."""

    def call(name: str, call_id: str | None) -> dict[str, object]:
        function = {"name": "search_book", "arguments": json.dumps({"query": name})}
        return {"index": 0, "id": call_id, "type": "function", "function": function}

    server.script(
        Verbatim(
            (
                {"choices": [{"index": 0, "delta": {"tool_calls": [call("fan", "a"), call("gloves", "b")]}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            )
        )
    )
    response = await chat.chat_with_tools([user("?")], [SEARCH])
    assert response.tool_invocations == (
        ToolInvocation("search_book", {"query": "fan"}, "a"),
        ToolInvocation("search_book", {"query": "gloves"}, "b"),
    )
    server.script(
        Verbatim(
            (
                {"choices": [{"index": 0, "delta": {"tool_calls": [call("fan", None)]}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            )
        )
    )
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).tool_invocations[0].tool_use_id.startswith("call_")


async def test_a_refusal_in_words_of_its_own(server: OpenAIDouble, chat: OpenAIChat) -> None:
    server.script(
        Verbatim(
            (
                {"choices": [{"index": 0, "delta": {"refusal": "I would rather not."}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}},
            )
        )
    )
    response = await chat.chat_with_tools([user("?")], [])
    assert (response.text, response.stop_reason) == ("I would rather not.", StopReason.REFUSAL)
    assert response.usage == TokenUsage(9, 4)
