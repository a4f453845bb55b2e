"""A strict double of Anthropic's Messages API on loopback, for the real SDK to talk to.

    async with AnthropicDouble() as api:
        api.script(say("Let me look.", Call("search_book", {"query": "rabbit"})), say("A white one."))
        chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url)
        ...
        assert api.requests[0]["tool_choice"] == {"type": "none"}

Without a script the small honest model of `honest_model.py` replies; any function of the request can take its place as
`handler`. Run as a module, `python -m tests.doubles.anthropic_api --port 4010`, it serves until it is stopped.
"""

import json
import uuid
from collections.abc import Iterator, Sequence

from aiohttp import web

from tests.doubles.anthropic_models import MODELS, Model, Refused, bad
from tests.doubles.anthropic_rules import checked, long_form, search_results, signature
from tests.doubles.anthropic_usage import PromptCache, tokens_of
from tests.doubles.honest_model import Finding, Prompt, honest_reply, last_line
from tests.doubles.http import ModelDouble, pieces, serve_from_command_line
from tests.doubles.script import Call, Cite, Failure, Handler, Json, Part, Reply, Stop, Text, Thinking, Verbatim

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_STOPS = {
    Stop.END: "end_turn",
    Stop.TOOLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.REFUSAL: "refusal",
    Stop.PAUSE: "pause_turn",
    Stop.CONTEXT: "model_context_window_exceeded",
    Stop.UNKNOWN: "something_new",
    Stop.NONE: None,
}


class AnthropicDouble(ModelDouble):
    """Serves POST /v1/messages (streamed only) and GET /v1/models/{id} to whoever brings `api_key`."""

    api_key = "sk-ant-double"

    def __init__(self, handler: Handler | None = None) -> None:
        super().__init__(handler or (lambda body: honest_reply(prompt_of(body))))
        self._cache = PromptCache()
        self._paused: list[list[Json]] = []

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/messages", self._messages)
        router.add_get("/v1/models/{id}", self._model)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_headers(request)
            body = await request.json()
            self.requests.append(body)
            self.headers.append(dict(request.headers))
            resumed = self._resumes(body)
            model, messages = checked(body, may_end_with_assistant=resumed)
            if not body.get("stream"):
                raise bad("stream: this double only streams")
            if (tokens := tokens_of(body)) > model.max_input_tokens:
                raise bad(f"prompt is too long: {tokens} tokens > {model.max_input_tokens} maximum")
        except Refused as refusal:
            return _error(Failure(refusal.status, refusal.kind, refusal.message))
        step = await self.next_step(body)
        if isinstance(step, Failure):
            return _error(step)
        if isinstance(step, Verbatim):
            return await self.stream(request, [_event(event["type"], event) for event in step.events], overload=b"")
        blocks = _blocks(step.parts, body, messages)
        if step.stopped is Stop.PAUSE:
            self._paused.append(blocks)
        events = _events(body["model"], blocks, step, self._cache.usage(body, messages))
        overload = _event("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})
        return await self.stream(request, list(events), overload=overload, reply=step)

    async def _model(self, request: web.Request) -> web.Response:
        try:
            self._check_headers(request)
        except Refused as refusal:
            return _error(Failure(refusal.status, refusal.kind, refusal.message))
        model = MODELS.get(request.match_info["id"])
        if model is None:
            return _error(Failure(404, message=f"model: {request.match_info['id']}"))
        return web.json_response(_model_info(model))

    def _check_headers(self, request: web.Request) -> None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.headers.get("x-api-key", bearer) != self.api_key:
            raise Refused(401, "authentication_error", "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            raise bad("anthropic-version: header is required")

    def _resumes(self, body: Json) -> bool:
        """Whether the request goes on with a reply that had paused: only then may an assistant have the last word."""
        messages = body.get("messages") or [{}]
        return messages[-1].get("role") == "assistant" and messages[-1].get("content") in self._paused


def prompt_of(body: Json) -> Prompt:
    """A request as the small honest model sees it; notes on results are nothing to quote from."""
    messages = [(message["role"], long_form(message["content"], "content")) for message in body["messages"]]
    words = [
        (place, block["text"])
        for place, (role, blocks) in enumerate(messages)
        for block in blocks
        if role == "user" and block["type"] == "text"
    ]
    asked_at, question = words[-1]
    since = [{"role": role, "content": blocks} for role, blocks in messages[asked_at + 1 :]]
    closed = body.get("tool_choice") == {"type": "none"}
    return Prompt(
        question=last_line(question),
        tools=() if closed else tuple(tool["name"] for tool in body.get("tools", ())),
        answered=bool(since),
        findings=tuple(
            Finding(result["source"], tuple(block["text"] for block in result["content"]))
            for result in search_results(since)
            if result["source"] != "note"
        ),
    )


def _blocks(parts: Sequence[Part], body: Json, messages: list[Json]) -> list[Json]:
    """The reply's content as a client is to echo it."""
    blocks: list[Json] = []
    for part in parts:
        if isinstance(part, Thinking):
            before = [*messages, {"role": "assistant", "content": blocks}]
            signed = signature(body, before, part.text)
            blocks.append({"type": "thinking", "thinking": part.text, "signature": signed})
        elif isinstance(part, Call):
            call_id = part.id or f"toolu_{uuid.uuid4().hex[:12]}"
            arguments = dict(part.arguments) if not isinstance(part.arguments, str) else part.arguments
            blocks.append({"type": "tool_use", "id": call_id, "name": part.tool, "input": arguments})
        else:
            blocks.append({"type": "text", "text": part.text, **_citations(part, search_results(messages))})
    return blocks


def _citations(part: Text, results: list[Json]) -> Json:
    return {"citations": [_citation(cite, results) for cite in part.cites]} if part.cites else {}


def _citation(cite: Cite, results: list[Json]) -> Json:
    index = next(place for place, result in enumerate(results) if result["source"] == cite.source)
    return {
        "type": "search_result_location",
        "source": cite.source,
        "title": results[index]["title"],
        "search_result_index": index,
        "start_block_index": cite.first,
        "end_block_index": cite.last,
        "cited_text": "".join(block["text"] for block in results[index]["content"][cite.first : cite.last]),
    }


def _events(model: str, blocks: list[Json], reply: Reply, usage: Json) -> Iterator[bytes]:
    message: Json = {
        "id": f"msg_{uuid.uuid4().hex[:12]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _event("message_start", {"message": message})
    yield _event("ping", {})
    for index, block in enumerate(blocks):
        yield _event("content_block_start", {"index": index, "content_block": _empty(block)})
        cut = reply.stopped is Stop.LENGTH and block is blocks[-1]
        for delta in _deltas(block, cut=cut):
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    delta = {"stop_reason": _STOPS[reply.stopped], "stop_sequence": None, "stop_details": None}
    yield _event("message_delta", {"delta": delta, "usage": {"output_tokens": tokens_of(blocks) + 1}})
    yield _event("message_stop", {})


def _empty(block: Json) -> Json:
    """A block as it stands at its start."""
    blank = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: blank.get(key, value) for key, value in block.items() if key != "citations"}


def _deltas(block: Json, *, cut: bool) -> Iterator[Json]:
    if block["type"] == "text":
        for piece in pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
        for citation in block.get("citations", ()):
            yield {"type": "citations_delta", "citation": citation}
    elif block["type"] == "thinking":
        for piece in pieces(block["thinking"]):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        written = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        half = len(written) // 2
        for piece in (written[:half],) if cut else (written[:half], written[half:]):
            yield {"type": "input_json_delta", "partial_json": piece}


def _event(kind: str, data: Json) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _error(failure: Failure) -> web.Response:
    kind = failure.kind or _KINDS.get(failure.status, "api_error")
    error = {"type": "error", "error": {"type": kind, "message": failure.message}}
    headers = {"retry-after": failure.retry_after} if failure.retry_after else {}
    return web.json_response(error, status=failure.status, headers={"request-id": "req_failed", **headers})


def _model_info(model: Model) -> Json:
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": model.lifecycle,
        "retires_at": model.retires_at,
        "max_input_tokens": model.max_input_tokens,
        "max_tokens": model.max_tokens,
    }


if __name__ == "__main__":
    serve_from_command_line(AnthropicDouble())
