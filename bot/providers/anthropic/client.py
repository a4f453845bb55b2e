"""Claude over Anthropic's Messages API."""

import logging
from collections.abc import AsyncGenerator, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bot.private import fault_of_connection, secrets_in
from bot.providers.anthropic.messages import PROVIDER, Event, MessageAccumulator, Request, with_whole_text
from bot.providers.base import (
    CONNECT_TIMEOUT,
    DONE,
    NO_SUCH_ROUTE,
    REFUSING,
    LateClient,
    OpenRequest,
    WireChat,
    arriving_events,
    bound_length,
    never_connected,
    refuse_long_waits,
    retry_after,
)
from bot.providers.wordings import (
    LONGEST_HEARD,
    Service,
    assert_no_fragment,
    code_in,
    code_of,
    code_of_silence,
    count_in,
    refused_field,
    sentence_in,
    speaks_against_tools,
    window_in,
    without_input,
)
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode, Worded
from domain.strategies.window import estimate
from domain.tool_use import ChatResponse, ProviderEvent, RequestSent, ToolDefinition

if TYPE_CHECKING:
    import httpx2
    from anthropic import APIStatusError, AsyncAnthropic, AsyncStream

DEFAULT_MODEL: Final = "claude-sonnet-5-5"

OPTIONAL_FIELDS: Final = ("output_config", "thinking", "cache_control", "tool_choice")
"""Fields that a request can do without; each is left out once a server with this API has refused it by name."""

_TYPES: Final[Mapping[str, LLMErrorCode]] = {
    "authentication_error": LLMErrorCode.API_KEY_MISSING,
    "permission_error": LLMErrorCode.API_KEY_MISSING,
    "billing_error": LLMErrorCode.OUT_OF_CREDIT,
    "rate_limit_error": LLMErrorCode.RATE_LIMITED,
    "overloaded_error": LLMErrorCode.OVERLOADED,
    "timeout_error": LLMErrorCode.TIMEOUT,
    "request_too_large": LLMErrorCode.CONTEXT_EXCEEDED,
}

_TOO_LONG: Final = "exceed context limit"
"""The prompt together with the space for the answer is too long."""

logger = logging.getLogger(__name__)


class AnthropicChat(WireChat["AsyncAnthropic"]):
    """A ChatProvider. `timeout` is the longest silence on the connection in seconds, not the length of a reply.

    `supports_tools` None means yes until a server at `base_url` says otherwise.

    Raises:
        LLMError: API_KEY_MISSING, the key is blank.
    """

    provider = PROVIDER

    def __init__(
        self,
        *,
        api_key: str,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        supports_tools: bool | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        max_tokens: int = 4096,
        **options: Any,
    ) -> None:
        url_setting = "ANTHROPIC_BASE_URL" if base_url else ""
        name = Worded("The model's server") if base_url else "Anthropic"
        secrets = tuple(filter(None, (api_key.strip(), *secrets_in(base_url or ""))))
        service = Service(name, model, key_setting="ANTHROPIC_API_KEY", url_setting=url_setting, secrets=secrets)
        key = service.demand_key(api_key)
        # The SDK adds version and route itself; people used to other services write them, too.
        url = base_url.strip().rstrip("/").removesuffix("/messages").removesuffix("/v1") if base_url else None
        super().__init__(
            service,
            LateClient(lambda: service.open(partial(_open_client, key, url, timeout, max_retries))),
            options,
            supports_tools=supports_tools,
        )
        self._max_tokens = max_tokens
        self._elsewhere = base_url is not None
        self._refused_fields: set[str] = set()

    async def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]:
        """See Metered."""
        if tools and not self.supports_tools:
            raise self._service.error(LLMErrorCode.UNSUPPORTED_FEATURE)
        sent = OpenRequest(partial(estimate, messages, tools))
        yield RequestSent(self.model_name, sent.spent)
        with sent.watched(), self._errors_translated(messages):
            request, events = await self._send(messages, tools, call_tools=call_tools)
            reader = sent.reply = MessageAccumulator(
                self.model_name, request.prefix(), call_tools=call_tools, prompt_tokens=sent.prompt_tokens
            )
            async with events, aclosing(arriving_events(events.response)) as arrivals:
                async for arrived in arrivals:
                    await self._loop_yield.between_short_steps()  # many replies may arrive at the same moment, too
                    read = (piece for event in _events(arrived, events.response) for piece in reader.read(event))
                    for piece in with_whole_text(read):
                        yield piece
                    if reader.is_over:
                        break
            if not reader.whole:
                raise self._service.error(LLMErrorCode.CONNECTION_LOST)
            response = reader.response()
            _log(events, response)
            yield response

    async def check(self) -> str:
        """Ask the API about the model and report the answer to the operator in a sentence.

        Raises:
            LLMError: the key is refused, the model is unknown or retired, or the API cannot be reached.
        """
        from anthropic import APIStatusError

        try:
            with self._errors_translated():
                model = await (await self._client.get()).models.retrieve(self.model_name)
        except LLMError as error:
            cause = error.__cause__
            has_no_route = isinstance(cause, APIStatusError) and cause.status_code in NO_SUCH_ROUTE
            if not (self._elsewhere and has_no_route) or self.model_name in error.said:
                raise
            return f"{self._service.name} answers, but does not describe its models."
        lifecycle, name = getattr(model, "lifecycle", None), getattr(model, "display_name", None)
        if lifecycle == "retired":
            raise self._service.error(LLMErrorCode.UNKNOWN_MODEL)
        if lifecycle == "deprecated":
            end = f"on {model.retires_at:%Y-%m-%d}" if model.retires_at else "before long"
            return f"{model.id} answers, but it will be retired {end}: please choose another with LLM_MODEL."
        return f"{self.model_name} ({name}) is available." if name else f"{self.model_name} is available."

    async def _send(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], *, call_tools: bool
    ) -> tuple[Request, "AsyncStream[object]"]:
        """Send the request, and again without what the server refuses and can be left out."""
        client = await self._client.get()
        await self._loop_yield()
        from anthropic import APIStatusError

        keep_thinking, doubted, optional = True, set[str](), {*self._options, *(OPTIONAL_FIELDS * self._elsewhere)}
        while True:
            without = frozenset(self._refused_fields | doubted)
            request = Request(self.model_name, messages, tools, keep_thinking=keep_thinking, without=without)
            try:
                events = await self._send_once(client, request, without, call_tools=call_tools)
            except APIStatusError as error:
                if request.holds_thinking and _is_about_thinking(error):
                    logger.info("thinking in the history was refused, asking again without it")
                    logger.debug("%s", error.api_message)
                    keep_thinking = False
                elif field := _refused(error, optional - without):
                    self._leave_out({field})
                elif self._elsewhere and self._supports_tools is None and tools and _refuses_tools(error):
                    raise self._without_tools(error.api_message or "", messages) from error
                elif self._elsewhere and 0 < _told_window(error) // 2 < self._max_tokens:
                    self._max_tokens = _told_window(error) // 2  # what is kept free for the reply counts as well
                elif self._elsewhere and _is_unread(error) and optional - without:
                    doubted = optional - without
                elif _is_unread(error) and tools and await self._answers_without_tools(client, messages, without):
                    raise self._without_tools(_sentence_of(error), messages) from error
                else:
                    raise
            else:
                self._leave_out(doubted)
                return request, events

    async def _answers_without_tools(
        self, client: "AsyncAnthropic", messages: Sequence[PromptMessage], without: frozenset[str]
    ) -> bool:
        """Whether a request that was refused for a reason that we cannot read is answered without its tools."""
        from anthropic import APIStatusError

        if not self._elsewhere or self._supports_tools is not None:
            return False
        try:
            events = await self._send_once(
                client, Request(self.model_name, messages, (), without=without), without, call_tools=True
            )
        except APIStatusError:
            return False
        await events.close()
        return True

    def _leave_out(self, fields: set[str]) -> None:
        if fields:
            logger.warning("%s does not take %s: left out from now on", self.model_name, ", ".join(sorted(fields)))
            self._refused_fields |= fields

    async def _send_once(
        self, client: "AsyncAnthropic", request: Request, without: Container[str], *, call_tools: bool
    ) -> "AsyncStream[object]":
        """Send by the SDK's general `post`: `messages.create` first copies every block of a long history, which takes
        some ms.
        """
        from anthropic import AsyncStream
        from anthropic.types import Message

        fields = request.body(max_tokens=self._max_tokens, call_tools=call_tools)
        options = {name: value for name, value in self._options.items() if name not in without}
        return await client.post(
            f"{str(client.base_url).rstrip('/')}/v1/messages",  # whole, because the SDK is slow to join the two
            content=request.written({**fields, "stream": True, **options}),
            cast_to=Message,
            stream=True,
            stream_cls=AsyncStream[object],
        )

    def _failure(self, error: Exception) -> LLMError:
        from anthropic import APIStatusError

        wait = retry_after(error.response.headers) if isinstance(error, APIStatusError) else None
        said, window = _sentence_of(error), _told_window(error)
        counted = count_in(said, window) if window else 0
        return self._service.error(_error_code(error), wait, window=window, counted=counted, said=said)


def _error_code(error: Exception) -> LLMErrorCode:
    """The domain's code. A connection lost in mid-stream raises an exception of httpx2, not of the SDK."""
    import anthropic
    import httpx2

    if never_connected(error):
        return LLMErrorCode.CONNECTION_LOST
    match error:
        case anthropic.APIStatusError():
            return _status_code(error)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return LLMErrorCode.TIMEOUT
        case anthropic.APIConnectionError() | httpx2.TransportError():
            return LLMErrorCode.CONNECTION_LOST
        case _:
            return LLMErrorCode.API_CALL_FAILED


def _status_code(error: "APIStatusError") -> LLMErrorCode:
    """The code of an error, by its type first: an error in mid-stream has status 200. Other servers than Anthropic's
    have types for few errors, so what they say counts.
    """
    said = _sentence_of(error)
    if silent := code_of_silence(said):
        return silent
    if known := _TYPES.get(error.type or ""):
        return known
    if _TOO_LONG in said:
        return LLMErrorCode.CONTEXT_EXCEEDED
    return code_in(said) or code_of(error.status_code, said)


def _told_window(error: Exception) -> int:
    """The context window in tokens that an error names ("… 210000 tokens > 200000 maximum"); 0 if it names none, or is
    about something else.
    """
    if _error_code(error) is not LLMErrorCode.CONTEXT_EXCEEDED:
        return 0
    return window_in(_sentence_of(error))


def _sentence_of(error: Exception) -> str:
    """The sentence about the error of the API, or of a server, a proxy or a broken connection in its place."""
    from anthropic import APIStatusError

    if not isinstance(error, APIStatusError):
        return fault_of_connection(error)
    return (error.api_message or sentence_in(error.body))[:LONGEST_HEARD]


def _is_about_thinking(error: "APIStatusError") -> bool:
    """Whether the API rejects signed thinking in the history because the messages before it have changed."""
    message = _sentence_of(error)
    return "thinking" in message and ("signature" in message or "different conversation" in message)


def _refused(error: "APIStatusError", fields: Iterable[str]) -> str:
    """The first of the fields that the server refuses, or an empty string."""
    body = str(without_input(error.body))[:LONGEST_HEARD]  # FastAPI names the field beside its sentence
    return refused_field(f"{_sentence_of(error)} {body}", fields) if error.status_code in REFUSING else ""


def _is_unread(error: "APIStatusError") -> bool:
    """Whether the server refuses the request in another language than English: the reason may be a field."""
    is_unknown = error.status_code in REFUSING and _error_code(error) is LLMErrorCode.API_CALL_FAILED
    return is_unknown and not _sentence_of(error).isascii()


def _refuses_tools(error: "APIStatusError") -> bool:
    """Whether the server says that its model cannot use tools."""
    return error.status_code in REFUSING and speaks_against_tools(_sentence_of(error))


def _open_client(api_key: str, base_url: str | None, timeout: float, max_retries: int) -> "AsyncAnthropic":
    """A client over aiohttp, which reads a stream in little more than half the processor time of httpx2's own
    transport.
    """
    import httpx2
    from anthropic import AsyncAnthropic, DefaultAioHttpClient

    client = AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
        max_retries=max_retries,
        open_telemetry=False,
        http_client=DefaultAioHttpClient(event_hooks={"response": [refuse_long_waits, bound_length]}),
    )
    _ = client.messages  # the SDK imports the resource on first use, which takes a while
    return client


def _events(arrived: Iterable[tuple[str, Any]], response: "httpx2.Response") -> Iterator[Event]:
    """The events of the API among those that have arrived.

    Raises:
        anthropic.APIStatusError: the server has reported an error in mid-stream.
        ValueError: an event is not JSON.
    """
    from anthropic import APIStatusError

    for name, data in arrived:
        if data == DONE:
            return
        assert_no_fragment(data)
        if name == "error" or not isinstance(data, dict) or data.get("error"):
            raise APIStatusError("There is no reply.", response=response, body=data)
        if "type" in data:
            yield data


def _log(events: "AsyncStream[object]", response: ChatResponse) -> None:
    request_id = events.response.headers.get("request-id")
    logger.info("request %s: %s, %s", request_id, response.stop_reason, response.usage)
