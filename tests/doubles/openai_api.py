"""A strict double of a chat completions API on loopback, for the real SDK to talk to.

    async with OpenAIDouble() as api:
        api.script(say(Call("search_book", {"query": "rabbit"})), say("A white one."))
        chat = OpenAIChat(model=api.model, api_key=api.api_key, base_url=api.base_url)

Without a script the small honest model of `honest_model.py` replies. Passages reach it as sentences behind keys, and
it cites by repeating the keys. Run as a module, `python -m tests.doubles.openai_api --port 4011`, it serves on.
"""

import json
import re
import uuid
from collections.abc import Iterator, Sequence

from aiohttp import web

from tests.doubles.honest_model import Finding, Prompt, honest_reply, last_line
from tests.doubles.http import ModelDouble, pieces, serve_from_command_line
from tests.doubles.openai_rules import Refused, check
from tests.doubles.script import Call, Cite, Failure, Handler, Json, Part, Reply, Stop, Text, Verbatim

_STOPS = {
    Stop.END: "stop",
    Stop.TOOLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.REFUSAL: "content_filter",
    Stop.PAUSE: "pause",
    Stop.CONTEXT: "context",
    Stop.UNKNOWN: "something_new",
    Stop.NONE: None,
}
_PASSAGE = re.compile(r"^\((?:.* · )?(\S+)\)\n(.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"\[(s-[0-9a-f]+)\] (.*?)(?= \[s-|$)")


class OpenAIDouble(ModelDouble):
    """Serves POST /v1/chat/completions (streamed only) and GET /v1/models to whoever brings `api_key`.

    With `knows_tools` False it refuses requests with tools as a server does whose model has not learnt any; with
    `counts_tokens` False it reports no usage, as some servers do.
    """

    api_key = "sk-double"
    model = "double-1"

    def __init__(self, handler: Handler | None = None, *, knows_tools: bool = True, counts_tokens: bool = True) -> None:
        super().__init__(handler or (lambda body: honest_reply(prompt_of(body))))
        self._knows_tools = knows_tools
        self._counts_tokens = counts_tokens

    @property
    def base_url(self) -> str:
        return f"{super().base_url}/v1"

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/chat/completions", self._completions)
        router.add_get("/v1/models", self._models)

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_key(request)
            body = await request.json()
            self.requests.append(body)
            self.headers.append(dict(request.headers))
            self._check_model(body)
            check(body)
            if not body.get("stream"):
                raise Refused("This double only streams.")
        except Refused as refusal:
            return _error(Failure(refusal.status, refusal.code or "", refusal.message))
        step = await self.next_step(body)
        if isinstance(step, Failure):
            return _error(step)
        if isinstance(step, Verbatim):
            return await self.stream(request, [_event(event) for event in step.events], overload=b"")
        usage = _usage(body, step) if self._counts_tokens and _wants_usage(body) else None
        events = list(_events(body, step, usage))
        overload = _event({"error": {"message": "The server is overloaded.", "type": "server_error", "code": 503}})
        return await self.stream(request, events, overload=overload, reply=step)

    async def _models(self, request: web.Request) -> web.Response:
        try:
            self._check_key(request)
        except Refused as refusal:
            return _error(Failure(refusal.status, refusal.code or "", refusal.message))
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "double"}
        return web.json_response({"object": "list", "data": [model]})

    def _check_key(self, request: web.Request) -> None:
        if request.headers.get("authorization") != f"Bearer {self.api_key}":
            raise Refused("Incorrect API key provided.", 401, "invalid_api_key")

    def _check_model(self, body: Json) -> None:
        if body.get("model") != self.model:
            raise Refused(f"The model '{body.get('model')}' does not exist.", 404, "model_not_found")
        if "tools" in body and not self._knows_tools:
            raise Refused(f"{self.model} does not support tools")


def prompt_of(body: Json) -> Prompt:
    """A request as the small honest model sees it."""
    messages = body["messages"]
    asked_at = max(place for place, message in enumerate(messages) if message["role"] == "user")
    since = messages[asked_at + 1 :]
    closed = body.get("tool_choice") == "none"
    return Prompt(
        question=last_line(messages[asked_at]["content"]),
        tools=() if closed else tuple(tool["function"]["name"] for tool in body.get("tools", ())),
        answered=bool(since),
        findings=tuple(
            Finding(source, tuple(sentence for _, sentence in _SENTENCE.findall(line)))
            for message in since
            if message["role"] == "tool"
            for source, line in _PASSAGE.findall(message["content"])
        ),
    )


def _keys(body: Json, cites: Sequence[Cite]) -> str:
    """The keys that a model which cites these sentences repeats."""
    passages = {
        source: [key for key, _ in _SENTENCE.findall(line)]
        for message in body["messages"]
        if message["role"] == "tool"
        for source, line in _PASSAGE.findall(message["content"])
    }
    return "".join(f" [{key}]" for cite in cites for key in passages[cite.source][cite.first : cite.last])


def _events(body: Json, reply: Reply, usage: Json | None) -> Iterator[bytes]:
    head = {"id": f"chatcmpl-{uuid.uuid4().hex[:12]}", "object": "chat.completion.chunk", "created": 0}

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**head, "model": body["model"], "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    calls = [part for part in reply.parts if isinstance(part, Call)]
    for piece in pieces("".join(_text(part, body) for part in reply.parts)):
        yield chunk({"content": piece})
    for index, call in enumerate(calls):
        cut = reply.stopped is Stop.LENGTH and call is calls[-1]
        for delta in _call_deltas(call, cut=cut):
            yield chunk({"tool_calls": [{"index": index, **delta}]})
    yield chunk({}, _STOPS[reply.stopped])
    if usage is not None:
        yield _event({**head, "model": body["model"], "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _text(part: Part, body: Json) -> str:
    if not isinstance(part, Text):
        return ""
    said = part.text.rstrip()
    return f"{said}{_keys(body, part.cites)}{part.text[len(said) :]}"


def _call_deltas(call: Call, *, cut: bool) -> Iterator[Json]:
    written = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    half = len(written) // 2
    call_id = call.id or f"call_{uuid.uuid4().hex[:12]}"
    yield {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
    for piece in (written[:half],) if cut else (written[:half], written[half:]):
        yield {"function": {"arguments": piece}}


def _wants_usage(body: Json) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


def _usage(body: Json, reply: Reply) -> Json:
    asked, said = len(json.dumps(body)) // 4, len(repr(reply.parts)) // 4
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _error(failure: Failure) -> web.Response:
    error = {"message": failure.message, "type": "invalid_request_error", "param": None, "code": failure.kind or None}
    headers = {"retry-after": failure.retry_after} if failure.retry_after else {}
    return web.json_response({"error": error}, status=failure.status, headers=headers)


if __name__ == "__main__":
    serve_from_command_line(OpenAIDouble())
