"""Any model behind a chat completions API: OpenAI's own, Ollama, vLLM, llama.cpp, OpenRouter."""

import json
import logging
import re
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from difflib import get_close_matches
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from bot.private import secrets_in
from bot.providers.base import (
    CONNECT_TIMEOUT,
    DONE,
    NO_SUCH_ROUTE,
    LateClient,
    OpenRequest,
    WireChat,
    arriving_events,
    bound_length,
    encoded,
    read_out,
    refuse_long_waits,
    retry_after,
)
from bot.providers.openai.stream import PROVIDER, SIGNED, CompletionAccumulator, ToolUse
from bot.providers.wordings import Service, assert_no_fragment, shortened
from domain.chat import MessageRole, PromptMessage, repair_history
from domain.errors import LLMError, LLMErrorCode, SettingsError, Worded
from domain.strategies.always_retrieve import content_of
from domain.strategies.window import estimate
from domain.tool_use import (
    ChatResponse,
    Media,
    MediaKind,
    ProviderEvent,
    RequestSent,
    ToolDefinition,
    ToolInvocation,
)

if TYPE_CHECKING:
    import httpx2
    from openai import APIError, AsyncOpenAI, AsyncStream

    from bot.providers.openai.errors import AcceptedForm

logger = logging.getLogger(__name__)

Wire = dict[str, Any]

_SEES = re.compile(r"(?:^|/)(?:gpt-4o|gpt-4\.1|gpt-5|o3|o4)(?!.*audio)")
"""OpenAI's models that accept pictures. Models on other servers are unknown, and would fail if they do not."""

_OF_TOOLS = "(What the tools above returned besides text:)"
"""The API accepts pictures and sounds only in a user's message."""

_NO_KEY: Final = "none"
"""Sent to servers that need no key."""
_NAMED: Final = 5
"""Models of a server that are named where it does not have the one that is set."""
UNSTREAMED: Final = ("application/json", "text/html")
"""Kinds of content that servers and proxies send in place of a stream, with the status of a success."""

_EVENT: Final = re.compile(r"^data:", re.MULTILINE)

UNREADABLE: Final = (AttributeError, TypeError, ValueError)
"""What the SDK raises for a list of models that is none: a page of HTML, or JSON of another shape."""


def build_request(
    model: str, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], *, call_tools: bool
) -> dict[str, Any]:
    """The request's fields."""
    request: dict[str, Any] = {
        "model": model,
        "messages": list(_media_last(_wire_messages(messages, model))),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
        if not call_tools:
            request["tool_choice"] = "none"
    return request


def _wire_messages(messages: Sequence[PromptMessage], model: str) -> Iterator[Wire]:
    """The messages with one system message in front: the templates of many open models support no other."""
    system = "\n\n".join(message.content for message in messages if message.role == "system" and _says(message))
    if system:
        yield {"role": "system", "content": system}
    for message in repair_history(message for message in messages if message.role != "system"):
        if message.role == MessageRole.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": message.tool_use_id, "content": content_of(message)}
            if parts := [part for media in message.media if (part := _media_part(media, model))]:
                yield {"role": "user", "content": [{"type": "text", "text": _OF_TOOLS}, *parts]}
        elif message.tool_invocations:
            content, thinking = message.content if _says(message) else None, _thinking(message, model)
            signed = thinking.pop(SIGNED, {})
            calls = [_call(call, signed.get(call.tool_use_id)) for call in message.tool_invocations]
            yield {"role": "assistant", "content": content, "tool_calls": calls, **thinking}
        elif _says(message):
            yield {"role": message.role, "content": message.text}


def _media_last(messages: Iterator[Wire]) -> Iterator[Wire]:
    """The messages, with a round's pictures and sounds after all its results, because nothing may be between those."""
    held: list[Wire] = []
    for message in messages:
        if message["role"] == "user" and isinstance(message["content"], list):
            held.append(message)
            continue
        if message["role"] != "tool":
            yield from held
            held = []
        yield message
    yield from held


def _media_part(media: Media, model: str) -> Wire | None:
    """The content part for a model that accepts such media; None for other and unknown models."""
    if media.kind is MediaKind.IMAGE and _SEES.search(model):
        return {"type": "image_url", "image_url": {"url": f"data:image/{media.subtype};base64,{media.data}"}}
    if media.kind is MediaKind.AUDIO and media.subtype in ("wav", "mp3") and "audio" in model:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": media.subtype}}
    return None


def _says(message: PromptMessage) -> bool:
    return bool(message.content.strip())


def _thinking(message: PromptMessage, model: str) -> Wire:
    """What was kept of the thinking that led to a message's calls, if it was this model's. It is sent only to servers
    that want it (AcceptedForm).
    """
    raw = message.raw
    return {**raw.blocks[0]} if raw and (raw.provider, raw.model) == (PROVIDER, model) else {}


def _call(call: ToolInvocation, signed: Wire | None) -> Wire:
    function = {"name": call.tool_name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    wire = {"id": call.tool_use_id, "type": "function", "function": function}
    return {**wire, SIGNED: signed} if signed else wire


def _tool(tool: ToolDefinition) -> Wire:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


class OpenAIChat(WireChat["AsyncOpenAI"]):
    """A ChatProvider. `timeout` is the longest silence on the connection in seconds, not the length of a reply.

    `supports_tools` None means yes until the server says otherwise. A key is required only without a `base_url`. A
    user and password in that are sent by Basic authentication instead of a key.

    Raises:
        LLMError: API_KEY_MISSING.
        SettingsError: there is a key as well as a user in the address.
    """

    provider = PROVIDER

    def __init__(
        self,
        *,
        model: str,
        api_key: str = "",
        base_url: str | None = None,
        supports_tools: bool | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        max_tokens: int = 0,
        **options: Any,
    ) -> None:
        service = Service(
            name=Worded("The model's server") if base_url else "OpenAI",
            model=model,
            key_setting="OPENAI_API_KEY",
            url_setting="OPENAI_BASE_URL" if base_url else "",
            secrets=tuple(filter(None, (api_key.strip(), *secrets_in(base_url or "")))),
        )
        key = api_key.strip() or _NO_KEY if base_url else service.demand_key(api_key)
        url, headers = _without_user(_rooted(base_url)) if base_url else (None, {})
        if headers and api_key.strip():
            raise SettingsError(
                "OPENAI_BASE_URL has a user and password in it, and OPENAI_API_KEY is set: only one of them can be "
                "sent. Take the other out."
            )
        build = partial(_open_client, key, url, headers, timeout, max_retries)
        super().__init__(service, LateClient(lambda: service.open(build)), options, supports_tools=supports_tools)
        self._elsewhere = base_url is not None
        self._heeds_tool_choice = True
        self._max_tokens = max_tokens
        self._tool_use = ToolUse()
        self._tells_ends = False

    @cached_property
    def _form(self) -> "AcceptedForm":
        """Created late, because its module imports the SDK."""
        from bot.providers.openai.errors import AcceptedForm

        return AcceptedForm(self._max_tokens)

    async def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]:
        """See Metered."""
        if tools and not self.supports_tools:
            raise self._service.error(LLMErrorCode.UNSUPPORTED_FEATURE)
        sent = OpenRequest(partial(estimate, messages, tools))
        yield RequestSent(self.model_name, sent.spent)
        with sent.watched(), self._errors_translated(messages):
            try:
                async with aclosing(self._reply(messages, tools, sent, call_tools=call_tools)) as pieces:
                    async for piece in pieces:
                        yield piece
            except Exception as error:
                from bot.providers.openai.errors import botched_call, is_about_template, refuses_tools, sentence_of

                against_tools = refuses_tools(error) or (not self._tool_use.is_known and is_about_template(error))
                if tools and self._supports_tools is None and against_tools:
                    raise self._without_tools(sentence_of(error), messages) from error
                if tools and (botched_call(error) or await self._answers_without_tools(error, messages)):
                    raise self._service.error(LLMErrorCode.UNSUPPORTED_FEATURE, said=sentence_of(error)) from error
                raise

    async def _answers_without_tools(self, error: Exception, messages: Sequence[PromptMessage]) -> bool:
        """Whether a request that was refused for an unknown reason is answered without its tools."""
        from openai import APIError

        from bot.providers.openai.errors import NEEDED, sentence_of, without

        if self._supports_tools is not None or not self._form.doubted(error, ["tools"]):
            return False
        sent = self._form.applied(build_request(self.model_name, messages, (), call_tools=True))
        bare = without(sent, self._form.doubted(error, sent) - NEEDED)
        try:
            async with aclosing(self._read_once(bare, CompletionAccumulator())) as pieces:
                await anext(pieces, None)
        except (APIError, LLMError):
            return False
        if self._form.proves({"tools"}, error):
            self._without_tools(sentence_of(error), messages)
        return True

    async def _reply(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        sent: OpenRequest,
        *,
        call_tools: bool,
    ) -> AsyncGenerator[ProviderEvent, None]:
        """One reply, asked for a second time without tools if the model calls some though told not to."""
        offered = tools if call_tools or self._heeds_tool_choice else ()
        tokens = sent.prompt_tokens() if offered or not tools else estimate(messages)
        reader = sent.reply = CompletionAccumulator(self.model_name, call_tools=call_tools, prompt_tokens=tokens)
        request = build_request(self.model_name, messages, offered, call_tools=call_tools)
        async with aclosing(self._read(request, reader)) as pieces:
            async for piece in pieces:
                yield piece
        if offered and reader.disobeyed:  # Ollama, for one, does not know tool_choice
            logger.info("%s calls tools though told not to: when it may not, it is shown none from now on", self.name)
            self._heeds_tool_choice = False
            reader = CompletionAccumulator(call_tools=call_tools, spent=reader.usage, prompt_tokens=estimate(messages))
            sent.reply = reader
            request = build_request(self.model_name, messages, (), call_tools=call_tools)
            async with aclosing(self._read(request, reader)) as pieces:
                async for piece in pieces:
                    yield piece
        self._tool_use.note(called=reader.called, closed=reader.closed_thinking)
        for piece in reader.end(may_be_answer=not self._tool_use.closes_thinking):
            if isinstance(piece, ChatResponse) and self._ignores_tools(messages, tools, piece):
                yield piece
                raise self._service.error(LLMErrorCode.UNSUPPORTED_FEATURE)
            yield piece

    def _ignores_tools(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], response: ChatResponse
    ) -> bool:
        """Whether the reply was made without the tools; if that is certain, the model is taken to know none."""
        is_open = self._supports_tools is None
        ignored, is_certain = self._tool_use.judge(messages, tools, response, is_open=is_open)
        if is_certain and is_open:
            self._supports_tools = False
            logger.warning("%s is taken to know no tools from now on: it ignores them", self.model_name)
        return ignored

    async def _read(self, request: Wire, reader: CompletionAccumulator) -> AsyncGenerator[ProviderEvent, None]:
        """Send the request and read the reply. If it is refused, be it in the stream, as LM Studio does, it is sent
        again in another form; if the reason is unknown, once without all it can do without.
        """
        from openai import APIError

        from bot.providers.openai.errors import NEEDED, botched_call, without

        request, doubted, refusal = {**request, **self._options}, set[str](), None
        was_botched = False
        while True:
            sent, has_said = without(self._form.applied(request), doubted), False
            try:
                async with aclosing(self._read_once(sent, reader)) as pieces:
                    async for piece in pieces:
                        has_said = True
                        yield piece
                break
            except APIError as error:
                may_try_again = botched_call(error) and not was_botched
                was_botched = was_botched or may_try_again
                if not has_said and (may_try_again or self._takes_other_form(error, request, sent, doubted)):
                    continue
                doubted = self._form.doubted(error, sent) - NEEDED
                if has_said or refusal or not doubted:
                    raise
                refusal = error
        self._form.accept(sent)
        if refusal and self._form.proves(doubted, refusal):
            self._form.leave_out(doubted, self.model_name)

    def _takes_other_form(self, refusal: "APIError", request: Wire, sent: Wire, doubted: set[str]) -> bool:
        """Whether the request can be sent again in another form, which this refusal or another one has shown."""
        from bot.providers.openai.errors import without

        self._form.learn(refusal, sent)
        return without(self._form.applied(request), doubted) != sent

    async def _read_once(self, sent: Wire, reader: CompletionAccumulator) -> AsyncGenerator[ProviderEvent, None]:
        """Send the request, and read the reply.

        A stream that ends before it has begun is no answer: llama-cpp-python does that to a request that is too long,
        and LiteLLM makes a reply without a word of it. Asked without a stream, they say so. A server that then gives
        no known reason has broken off.
        """
        import httpx2
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        from bot.providers.openai.errors import as_chunk, refuses_tools

        chunks = await self._send(sent)
        has_begun = has_ended = False
        try:
            async with chunks, aclosing(self._arriving(chunks.response, reader)) as arriving:
                async for chunk in arriving:
                    has_ended = chunk == DONE
                    has_begun = has_begun or not has_ended
                    for piece in reader.read(chunk):
                        yield piece
            in_order = has_ended and not self._tells_ends
            self._tells_ends = reader.close(in_order=in_order) or self._tells_ends
        except (APIConnectionError, httpx2.TransportError) as error:
            if has_begun or isinstance(error, APITimeoutError | httpx2.TimeoutException):
                raise
        if not has_begun or reader.is_blank:
            try:
                body = await self._ask_in_one_piece(sent)
            except APIStatusError as error:
                reader.withdraw()
                if self._failure(error).code is not LLMErrorCode.API_CALL_FAILED or refuses_tools(error):
                    raise
                if not has_begun:
                    raise self._service.error(LLMErrorCode.CONNECTION_LOST) from error
            else:
                for piece in reader.read(as_chunk(body, chunks.response.request)):
                    yield piece
        if not reader.whole:
            raise self._service.error(LLMErrorCode.CONNECTION_LOST)

    async def _arriving(
        self, response: "httpx2.Response", reader: CompletionAccumulator
    ) -> AsyncGenerator[object, None]:
        """The chunks of a reply until it is over, and DONE if the server says so; a reply in one piece is one chunk."""
        from bot.providers.openai.errors import as_chunk, is_error

        if response.headers.get("content-type", "").startswith(UNSTREAMED):
            text = (await response.aread()).decode(errors="replace")
            if not _EVENT.search(text):  # else it is a stream under a wrong name
                yield as_chunk(text, response.request)
                return
        async with aclosing(arriving_events(response)) as arrivals:
            async for arrived in arrivals:
                await self._loop_yield.between_short_steps()  # many replies may arrive at the same moment, too
                for name, data in arrived:
                    if data == DONE:
                        yield DONE
                        await read_out(arrivals)
                        return
                    assert_no_fragment(data)
                    yield as_chunk(data, response.request) if is_error(name, data) else data
                    if reader.is_over:
                        return

    async def _ask_in_one_piece(self, sent: Wire) -> object:
        client = await self._client.get()
        kept = {name: value for name, value in sent.items() if name != "stream_options"}
        body = await client.post("/chat/completions", content=encoded({**kept, "stream": False}), cast_to=object)
        streams_anyway = isinstance(body, str) and _EVENT.search(body)
        return {"choices": [{"message": {}}]} if streams_anyway else body

    async def check(self) -> str:
        """Ask the server for its models and tell the operator in a sentence whether ours is among them.

        Other servers than OpenAI's accept names that they do not list: llama.cpp lists a file, OpenRouter no variants
        ("x:online"). They are asked for a word.

        Raises:
            LLMError: the key is refused, the server out of reach, or the model unknown to it: `said` names its own.
        """
        from openai import APIStatusError

        try:
            with self._errors_translated():
                listed = {model.id async for model in (await self._client.get()).models.list()}
        except LLMError as error:
            cause = error.__cause__
            missing = isinstance(cause, APIStatusError) and cause.status_code in NO_SUCH_ROUTE
            missing = missing or isinstance(cause, UNREADABLE)
            if not (self._elsewhere and missing):
                raise
            listed = set()
        if {self.model_name, f"{self.model_name}:latest", f"models/{self.model_name}"} & listed:
            return f"{self.model_name} is available."
        if self._elsewhere and not listed:
            return f"{self._service.name} answers, but does not list its models."
        try:
            if not self._elsewhere:
                raise self._service.error(LLMErrorCode.UNKNOWN_MODEL)
            await self.chat([PromptMessage(MessageRole.USER, "Please say hello.")])
        except LLMError as error:
            if error.code is LLMErrorCode.UNKNOWN_MODEL and listed:
                near = ", ".join(get_close_matches(self.model_name, listed, _NAMED, cutoff=0.0))
                error.said = "; ".join(filter(None, (error.said, shortened(f"it has {near}"))))
            raise
        return f"{self._service.name} does not list {self.model_name}, but answers to this name."

    async def _send(self, sent: Wire) -> "AsyncStream[object]":
        """Not by chat.completions.create: building typed chunks takes most of the time a chunk costs."""
        client = await self._client.get()
        await self._loop_yield()
        from openai import AsyncStream

        return await client.post(
            "/chat/completions",
            content=encoded(sent),
            cast_to=object,
            stream=True,
            stream_cls=AsyncStream[object],
        )

    def _failure(self, error: Exception) -> LLMError:
        from openai import APIStatusError

        from bot.providers.openai.errors import error_code, sentence_of, told_count, told_wait, told_window

        advised = retry_after(error.response.headers) if isinstance(error, APIStatusError) else None
        wait = told_wait(error) if advised is None else advised
        code, said = error_code(error), sentence_of(error)
        if code is not LLMErrorCode.CONTEXT_EXCEEDED:
            return self._service.error(code, wait, said=said)
        return self._service.error(code, wait, window=told_window(error), counted=told_count(error), said=said)


def _rooted(base_url: str) -> str:
    """The address as the SDK needs it: servers print theirs without the version, examples have the route in it."""
    address = base_url.strip().rstrip("/").removesuffix("/chat/completions")
    return address if urlsplit(address).path else f"{address}/v1"


def _without_user(url: str) -> tuple[str, dict[str, str]]:
    """The address without its user and password, and the header with them; aiohttp accepts no address with them."""
    parts = urlsplit(url)
    user, found, host = parts.netloc.rpartition("@")
    if not found:
        return url, {}
    name, _, password = user.partition(":")
    said = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {said}"}


def _open_client(
    api_key: str, base_url: str | None, headers: Mapping[str, str], timeout: float, max_retries: int
) -> "AsyncOpenAI":
    """A client over aiohttp, which reads a stream in little more than half the time of httpx2's own transport."""
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    return AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        default_headers=headers,
        timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
        max_retries=max_retries,
        http_client=DefaultAioHttpClient(event_hooks={"response": [refuse_long_waits, bound_length]}),
    )
