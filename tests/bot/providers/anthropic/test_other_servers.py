"""Servers with Anthropic's API that are not Anthropic's: llama.cpp, LiteLLM, gateways."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.providers.anthropic.client import AnthropicChat
from domain.citations.keys import key_of
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, StopReason, ToolInvocation
from tests.bot.providers.talk import SEARCH, passage, reply, result, user

C = LLMErrorCode
Json = dict[str, Any]
SAID = (
    {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hobb."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
)


class Server:
    """Refuses what it is told to, in its own words, and answers the rest; it has no route for models."""

    def __init__(self) -> None:
        self.refusals: list[tuple[int, str | Json]] = []
        self.requests: list[Json] = []
        self.url = ""
        self.reply: tuple[Json, ...] = SAID
        self.names_events = True

    async def messages(self, request: web.Request) -> web.Response:
        self.requests.append(await request.json())
        if self.refusals:
            status, said = self.refusals.pop(0)
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
            return web.json_response(error if isinstance(said, str) else said, status=status)
        names = [f"event: {event['type']}\n" if self.names_events else "" for event in self.reply]
        data = [f"data: {json.dumps(event)}\n\n" for event in self.reply]
        events = "".join(name + each for name, each in zip(names, data, strict=True))
        return web.Response(text=events, content_type="text/event-stream")

    def chat(self, model: str = "hobb-7b", **options: Any) -> AnthropicChat:
        return AnthropicChat(api_key="k", model=model, base_url=self.url, max_retries=0, **options)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made, application = Server(), web.Application()
    application.router.add_post("/v1/messages", made.messages)
    async with TestServer(application) as listening:
        made.url = str(listening.make_url(""))
        yield made


async def test_a_missing_route_for_models_is_not_a_missing_model(server: Server) -> None:
    chat = server.chat()
    assert await chat.check() == "The model's server answers, but does not describe its models."
    await chat.aclose()


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("output_config: Extra inputs are not permitted", "output_config"),
        ("cache_control: Extra inputs are not permitted", "cache_control"),
        ("Unsupported parameter: 'thinking'", "thinking"),
    ],
)
async def test_a_field_that_a_server_refuses_is_left_out(server: Server, said: str, field: str) -> None:
    chat, server.refusals = server.chat("claude-sonnet-5-5"), [(400, said)]
    assert [(await chat.chat_with_tools([user("?")], [SEARCH])).text for _ in range(2)] == ["Hobb.", "Hobb."]
    assert [field in json.dumps(request) for request in server.requests] == [True, False, False]
    await chat.aclose()


async def test_fields_of_a_script_are_left_out_too_where_they_are_refused(server: Server) -> None:
    chat, server.refusals = server.chat(temperature=0.2), [(400, "temperature: Extra inputs are not permitted")]
    assert [await chat.chat([user("?")]) for _ in range(2)] == ["Hobb.", "Hobb."]
    assert ["temperature" in request for request in server.requests] == [True, False, False]
    await chat.aclose()


async def test_a_refusal_that_cannot_be_read_is_asked_again_without_fields_and_then_tools(server: Server) -> None:
    chat, server.refusals = server.chat("claude-sonnet-5-5"), [(400, "该模型不支持工具调用")] * 2
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert (caught.value.code, chat.supports_tools) == (C.UNSUPPORTED_FEATURE, False)
    assert [{"cache_control", "tools"} & request.keys() for request in server.requests] == [
        {"cache_control", "tools"},
        {"tools"},
        set(),
    ]
    server.refusals, again = [(400, "内容无法处理")] * 3, server.chat()
    with pytest.raises(LLMError) as caught:
        await again.chat_with_tools([user("?")], [SEARCH])
    assert (caught.value.code, again.supports_tools) == (C.API_CALL_FAILED, True)
    await chat.aclose()
    await again.aclose()


async def test_an_error_of_another_form_is_understood(server: Server) -> None:
    chat = server.chat("claude-sonnet-5-5")
    server.refusals = [(422, {"detail": [{"loc": ["body", "thinking"], "msg": "Extra inputs are not permitted"}]})]
    assert await chat.chat([user("?")]) == "Hobb."
    server.refusals = [(400, {"success": False, "errors": [{"code": 2001, "message": "There is no lamp."}]})]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.said) == (C.API_CALL_FAILED, "There is no lamp.")
    await chat.aclose()


async def test_events_without_names_are_read_by_their_type(server: Server) -> None:
    chat, server.names_events = server.chat(), False
    assert await chat.chat([user("?")]) == "Hobb."
    server.reply = (*SAID[:3], {"type": "error", "error": {"type": "overloaded_error", "message": "Too busy."}})
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is C.OVERLOADED
    await chat.aclose()


async def test_a_reply_is_complete_once_it_is_said_why_it_ended(server: Server) -> None:
    chat, server.reply = server.chat(), SAID[:-1]
    assert await chat.chat([user("?")]) == "Hobb."
    server.reply = SAID[:-2]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert caught.value.code is C.CONNECTION_LOST
    await chat.aclose()


async def test_a_server_whose_model_has_no_tools_is_asked_without_them(server: Server) -> None:
    chat, server.refusals = server.chat(), [(500, "tools param requires --jinja flag")]
    with pytest.raises(LLMError) as caught:
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert caught.value.code is LLMErrorCode.UNSUPPORTED_FEATURE
    assert not chat.supports_tools
    assert await chat.chat([user("?")]) == "Hobb."
    await chat.aclose()


async def test_tools_that_the_operator_has_turned_on_stay_on(server: Server) -> None:
    chat, server.refusals = server.chat(supports_tools=True), [(400, "this model does not support tools")]
    with pytest.raises(LLMError):
        await chat.chat_with_tools([user("?")], [SEARCH])
    assert chat.supports_tools
    assert (await chat.chat_with_tools([user("?")], [SEARCH])).text == "Hobb."
    assert ["tools" in request for request in server.requests] == [True, True]
    await chat.aclose()


@pytest.mark.parametrize(("model", "cites"), [("claude-sonnet-5-5", True), ("hobb-7b", False)])
async def test_passages_reach_models_of_other_makers_as_text(server: Server, model: str, cites: bool) -> None:
    chat, rabbit = server.chat(model), passage("The rabbit was white.", start=100)
    look = reply(ChatResponse(tool_invocations=[ToolInvocation("search_book", {"query": "rabbit"}, "a")]))
    await chat.chat_with_tools([user("?"), look, result("a", "", rabbit)], [SEARCH])
    [block] = server.requests[0]["messages"][-1]["content"]
    if cites:
        assert [part["type"] for part in block["content"]] == ["search_result"]
    else:
        assert f"[{key_of(rabbit.sentences[0])}] The rabbit was white." in block["content"]
    await chat.aclose()


@pytest.mark.parametrize(
    ("status", "said", "code", "window"),
    [
        (400, "request (5000 tokens) exceeds the available context size (4096 tokens)", C.CONTEXT_EXCEEDED, 4096),
        (400, "Cannot truncate prompt with n_keep (15028) >= n_ctx (4096)", C.CONTEXT_EXCEEDED, 4096),
        (400, "prompt too long; exceeded max context length by 1200 tokens", C.CONTEXT_EXCEEDED, 0),
        (500, "model failed to load, this may be due to resource limitations", C.NOT_LOADED, 0),
        (404, "No models loaded. Please load a model in the developer page.", C.NOT_LOADED, 0),
        (400, "Invalid model name passed in model=x", C.UNKNOWN_MODEL, 0),
        (404, "model: claude-x", C.UNKNOWN_MODEL, 0),
        (404, "File Not Found", C.UNKNOWN_ADDRESS, 0),
        (400, "No connected db.", C.API_KEY_MISSING, 0),
    ],
)
async def test_an_error_is_known_by_what_it_says(
    server: Server, status: int, said: str, code: LLMErrorCode, window: int
) -> None:
    chat, server.refusals = server.chat(max_tokens=512), [(status, said)]
    with pytest.raises(LLMError) as caught:
        await chat.chat([user("?")])
    assert (caught.value.code, caught.value.window) == (code, window)
    await chat.aclose()


async def test_calls_of_a_reply_that_is_said_to_have_just_ended_are_made(server: Server) -> None:
    chat, block = server.chat(), {"type": "tool_use", "id": "a", "name": "search_book", "input": {"query": "lamp"}}
    server.reply = (SAID[0], {"type": "content_block_start", "index": 0, "content_block": block}, *SAID[3:])
    response = await chat.chat_with_tools([user("?")], [SEARCH])
    assert response.tool_invocation == ToolInvocation("search_book", {"query": "lamp"}, "a")
    await chat.aclose()


async def test_room_for_a_reply_that_exceeds_the_window_becomes_less(server: Server) -> None:
    too_long = "This model's maximum context length is 4096 tokens. However, you requested 4096 output tokens."
    chat, server.refusals = server.chat(max_tokens=4_096), [(400, too_long)]
    assert [await chat.chat([user("?")]), await chat.chat([user("?")])] == ["Hobb.", "Hobb."]
    assert [request["max_tokens"] for request in server.requests] == [4_096, 2_048, 2_048]
    await chat.aclose()


async def test_counts_that_can_be_none_are_estimated(server: Server) -> None:
    chat, [start, *said, end, stop] = server.chat(), SAID
    unknown = {"input_tokens": -1, "output_tokens": -1, "cache_read_input_tokens": -1}
    server.reply = ({**start, "message": {"usage": unknown}}, *said, {**end, "usage": unknown}, stop)
    usage = (await chat.chat_with_tools([user("Who put the lamp out for his brother?")], [])).usage
    assert usage is not None
    assert usage.estimated
    assert usage.input_tokens > 5
    assert usage.output_tokens > 0
    assert usage.cache_read_tokens == 0
    await chat.aclose()


def _call(**changes: Any) -> Json:
    return {"type": "tool_use", "id": "c1", "name": "search_book", "input": {}, **changes}


def _block(block: Json, *deltas: Json, **where: int) -> list[Json]:
    begun = {"type": "content_block_start", **where, "content_block": block}
    return [begun, *({"type": "content_block_delta", **where, "delta": delta} for delta in deltas)]


WRITTEN: Json = {"type": "input_json_delta", "partial_json": '{"query": "Hobb"}'}
PLAIN: Json = {"type": "text", "text": ""}
ENDS = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}]


def _said(text: str | None) -> Json:
    return {"type": "text_delta", "text": text}


@pytest.mark.parametrize(
    "events",
    [
        [*_block({"type": "text"}, _said("Hobb."), index=0), *ENDS],
        [*_block(PLAIN, _said(None), _said("Hobb.")), *ENDS],
        [*_block(PLAIN, _said("Ho"), index=0), *_block(PLAIN, _said("bb."), index=0), *ENDS],
        [
            *_block({"type": "thinking"}, {"type": "thinking_delta", "thinking": "Who?"}),
            *_block(PLAIN, _said("Hobb.")),
            *ENDS,
        ],
        [*_block(PLAIN, _said("Hobb."), index=0)[1:], *ENDS],
        [*SAID[:5], {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}],
        [*SAID[:4], {"type": "message_delta", "delta": {"stop_reason": "stop"}}],
        [{"type": "message", "content": [{"type": "text", "text": "Hobb."}], "stop_reason": "end_turn", "usage": None}],
    ],
)
async def test_what_a_server_leaves_out_of_a_text_is_not_missed(server: Server, events: list[Json]) -> None:
    chat, server.reply = server.chat(), tuple(events)
    response = await chat.chat_with_tools([user("Who?")], [SEARCH])
    await chat.aclose()
    assert (response.text, response.stop_reason) == ("Hobb.", StopReason.END_TURN)


@pytest.mark.parametrize(
    "events",
    [
        _block(_call(), WRITTEN, index=0),
        _block(_call(id=""), WRITTEN, index=0) + _block(_call(id=None), WRITTEN, index=0),
        _block({"type": "tool_use", "name": "search_book"}, {**WRITTEN, "partial_json": {"query": "Hobb"}}),
        _block(_call(input='{"query": "Hobb"}'), index=0),
    ],
)
@pytest.mark.parametrize("reason", ["tool_use", "tool_calls"])
async def test_what_a_server_leaves_out_of_a_call_is_not_missed(
    server: Server, events: list[Json], reason: str
) -> None:
    chat = server.chat()
    server.reply = (*events, {"type": "message_delta", "delta": {"stop_reason": reason}})
    calls = (await chat.chat_with_tools([user("Who?")], [SEARCH])).tool_invocations or ()
    await chat.aclose()
    begun = sum(event["type"] == "content_block_start" for event in events)
    assert [call.arguments for call in calls] == [{"query": "Hobb"}] * begun
    assert len({call.tool_use_id for call in calls} - {""}) == begun


@pytest.mark.parametrize("end", [SAID[3:], ()])
async def test_what_a_model_writes_as_the_reader_is_no_part_of_its_answer(
    server: Server, end: tuple[Json, ...]
) -> None:
    pieces = ("<|eot", "_id|>", "\nWho?", "Tom")
    server.reply = (*SAID[:3], *({**SAID[2], "delta": {"type": "text_delta", "text": each}} for each in pieces), *end)
    chat = server.chat()
    response = await chat.chat_with_tools([user("?")], ())
    assert (response.text, response.stop_reason) == ("Hobb.", StopReason.END_TURN)
    await chat.aclose()


async def test_what_might_have_become_a_mark_is_part_of_the_answer(server: Server) -> None:
    server.reply = (*SAID[:3], {**SAID[2], "delta": {"type": "text_delta", "text": " [<"}}, *SAID[3:])
    chat = server.chat()
    assert (await chat.chat_with_tools([user("?")], ())).text == "Hobb. [<"
    await chat.aclose()


async def test_a_reply_in_one_piece_is_read(server: Server) -> None:
    async def whole(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(
            {"type": "message", "content": [_call(input={"query": "x"})], "stop_reason": "tool_use"}
        )

    application = web.Application()
    application.router.add_post("/v1/messages", whole)
    async with TestServer(application) as listening:
        server.url = str(listening.make_url(""))
        chat = server.chat()
        response = await chat.chat_with_tools([user("Who?")], [SEARCH])
        await chat.aclose()
    assert response.tool_invocations == (ToolInvocation("search_book", {"query": "x"}, "c1"),)
