"""What providers with a remote API share: JSON, server-sent events, waits and limits, and the base class."""

import asyncio
import codecs
import copy
import email.utils
import errno
import hashlib
import io
import json
import logging
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NoReturn, Protocol, Self, TypeVar

from pydantic_core import PydanticSerializationError, from_json, to_json

from bot.providers.wordings import Service, shortened, without_echo
from domain.book import encodable
from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import UNREADABLE_ARGUMENTS, ChatResponse, ProviderEvent, RequestSent, TokenUsage, ToolDefinition

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

_MOST_LEVELS = 100
"""No tool takes more than three. A value nested a thousand levels deep can be parsed, but not sent with the history."""
_NAME: Final = re.compile(r"(?:functions\.)?([a-zA-Z0-9_-]{1,64})")
"""A tool's name, within the decoration that open models and their templates add."""
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
CONNECT_TIMEOUT: Final = 5.0
"""Seconds to establish a connection."""
LONGEST_WAIT: Final = 20.0
"""Seconds that a request is delayed at the service's request; a longer wait is the reader's decision."""
NO_SUCH_ROUTE: Final = (404, 405, 501)
"""The status of servers that do not list models."""
LONGEST_ADVICE: Final = 24 * 3600.0
"""Seconds; nobody is told to wait longer than until tomorrow."""
REFUSING: Final = frozenset({400, 403, 404, 405, 422, 500, 501})
"""The status of a response that refuses a part of the request."""
LONGEST_REPLY: Final = 32_000_000
"""Bytes of a response, decompressed: twice what 200 tokens a second, in events of 400 bytes, make in three minutes."""
LONGEST_ERROR: Final = 4_000_000
"""Bytes of an error that are read."""
DONE: Final = "[DONE]"
"""The data of the event that marks the end of a stream."""
READ_OUT_S: Final = 0.1
"""Seconds spent on reading what follows the end of a stream."""
_UNMARKED: Final = ("{", "[", "<")
"""The first characters of a line that is JSON or HTML without a field in front."""
_FOR_OPERATORS: Final = frozenset({LLMErrorCode.API_CALL_FAILED, LLMErrorCode.CONNECTION_LOST, LLMErrorCode.NOT_LOADED})
"""Failures for which the words of the service, or of TLS, are logged: only these say what is to be done."""
_BESIDES: Final = frozenset({"", "id", "retry"})
"""Fields of events that say nothing about the reply; a line without a field before its colon is a comment."""


def encoded(value: Any) -> bytes:
    """A value as JSON in UTF-8, in a fifth of the time that `json` takes; the same value always gives the same bytes.

    Lone surrogates do not prevent sending, and numbers that JSON does not have become null.
    """
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:  # lone surrogates, or lists nested by the hundred
        whole = json.loads(encodable(json.dumps(value, ensure_ascii=False)), parse_constant=lambda constant: None)
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def read_arguments(written: str) -> dict[str, Any]:
    """The arguments as a JSON object, {} if nothing was written; anything else is returned under UNREADABLE_ARGUMENTS.

    A call with unreadable arguments is still a call: the model is told about it and corrects itself.
    """
    if not written.strip():
        return {}
    try:
        loaded = _loaded(written)
        loaded = _loaded(loaded) if isinstance(loaded, str) else loaded  # some servers encode them twice
        # Once more: lone surrogates and infinite numbers are written as escapes and digits, and appear once parsed.
        arguments = _loaded(encodable(json.dumps(loaded, ensure_ascii=False)))
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict) and not _is_deeper(arguments, _MOST_LEVELS):
        return arguments
    return {UNREADABLE_ARGUMENTS: encodable(written)}


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether objects and lists are nested deeper than this."""
    inside = [value]
    for _ in range(levels):
        inside = [item for each in inside for item in (each.values() if isinstance(each, dict) else each)]
        inside = [item for item in inside if isinstance(item, dict | list)]
    return bool(inside)


def _loaded(written: str) -> Any:
    return json.loads(written, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def is_complete_object(written: str) -> bool:
    """Whether a text is a complete JSON object, after which nothing can follow."""
    return written.rstrip().endswith("}") and UNREADABLE_ARGUMENTS not in read_arguments(written)


def tool_name(written: str) -> str:
    """The name of the tool in a call; a name that services would refuse in the history is reduced to a valid one."""
    name = _NAME.match(written)
    return name[1] if name else "unnamed"


def plain_id(written: str) -> str:
    """An id of letters, digits, '_' and '-'; another, as some servers make them, always gets the same replacement."""
    if _ID.fullmatch(written):
        return written
    return f"call_{hashlib.sha256(written.encode(errors='replace')).hexdigest()[:24]}"


SLICE_S = 0.001
"""Seconds; as much as short steps may take of a round. A round by itself costs a tenth of that."""


class LoopYield:
    """Lets one task pass in each iteration of the event loop.

    Building a request, or reading a reply, takes some milliseconds. If two hundred readers write at the same moment,
    the loop would do that two hundred times before anything else; with this, heartbeats, edits and other people's
    answers run in between.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._passed = -SLICE_S

    async def __call__(self) -> None:
        """Wait for this task's turn. What it does before its next await runs alone in its iteration."""
        async with self._lock:
            await asyncio.sleep(0)
            self._passed = time.perf_counter()

    async def between_short_steps(self) -> None:
        """The same, where a step takes microseconds: it waits only once all of them have had a slice of time."""
        if time.perf_counter() - self._passed > SLICE_S:
            await self()


def decoded(written: str) -> Any:
    """The value of a JSON text, in a third of the time that `json` takes.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return from_json(written)
    except ValueError:  # halves of characters, lists nested by the hundred, line breaks that nobody has escaped
        return json.loads(written, strict=False)


class EventDecoder:
    """Decodes a stream of server-sent events into their names and data: the value of its JSON, else the text itself.

    Not every server keeps to the format. A line that is a whole JSON object or list is an event, with or without the
    field in front and the blank line behind. Any other data ends with the next blank line.
    """

    def __init__(self) -> None:
        self._text = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
        self._line = list[str]()
        self._name = ""
        self._data: list[str] = []

    def feed(self, read: bytes) -> list[tuple[str, Any]]:
        """The events that are complete now and have not been returned before."""
        first, *others = self._text.decode(read).split("\n")
        self._line.append(first)
        if not others:
            return []
        lines = ["".join(self._line), *others[:-1]]
        self._line = [others[-1]]
        return [event for line in lines for event in self._take(line.lstrip("\ufeff"))]

    def end(self) -> list[tuple[str, Any]]:
        """The event that was not complete."""
        return self.feed(b"\n\n")

    def _take(self, line: str) -> Iterator[tuple[str, Any]]:
        field, _, value = line.partition(":")
        if not line:
            yield from self._finish()
        elif field == "event":
            self._name = value.strip()
        elif field in ("data", "error"):  # llama.cpp has had a field for errors
            self._name = "error" if field == "error" else self._name
            yield from self._add(value.removeprefix(" "))
        elif line.startswith(_UNMARKED) or (self._data and field not in _BESIDES):
            yield from self._add(line)

    def _add(self, data: str) -> Iterator[tuple[str, Any]]:
        bare = data.strip()
        if bare.startswith(DONE):
            yield from self._finish()
            yield "", DONE
            return
        self._data.append(data)
        if len(self._data) == 1 and bare.startswith(("{", "[")):
            with suppress(ValueError, RecursionError):  # it may go on in the next line
                value = decoded(data)
                yield self._name, value
                self._name, self._data = "", []

    def _finish(self) -> Iterator[tuple[str, Any]]:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        if not data.strip():  # some servers send these to keep the connection open
            return
        try:
            yield name, decoded(data)
        except (ValueError, RecursionError):
            yield name, data


async def arriving_events(response: "httpx2.Response") -> AsyncGenerator[list[tuple[str, Any]], None]:
    """The name and the data of a response's server-sent events; those that have arrived together are in one list.

    The SDKs pass on one event at a time, which takes longer than all the rest that is done with it. When many replies
    arrive at once, each read from the network has dozens of events.
    """
    decoder = EventDecoder()
    async with aclosing(response.aiter_bytes()) as reads:
        async for read in reads:
            if events := decoder.feed(read):
                yield events
    if events := decoder.end():
        yield events


async def read_out(arrivals: AsyncIterator[object]) -> None:
    """Read the rest of a response after DONE, so that its connection can be used again.

    Some servers do not end the response; its connection is then closed.
    """
    import httpx2

    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(READ_OUT_S):
            async for _ in arrivals:
                pass


class Closable(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class LateClient(Generic[C]):
    """An SDK's client, created at the first request and in a thread, because importing an SDK takes over a second.

    Connections belong to the event loop in which they were opened. In another loop, as in a script that calls
    asyncio.run more than once, new ones are opened.
    """

    def __init__(self, build: Callable[[], C]) -> None:
        self._build = build
        self._client: C | None = None
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self) -> C:
        self._settle_in()
        if self._client is not None:
            return self._client
        async with self._lock:
            if self._client is None:
                self._client = await asyncio.to_thread(self._build)
            return self._client

    async def close(self) -> None:
        """Close the connections; the next request would open new ones."""
        self._settle_in()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _settle_in(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._client, self._lock = loop, None, asyncio.Lock()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that a service asks for, in any of the three notations."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    if (seconds := _number(written := headers.get("retry-after", ""))) is not None:
        return seconds
    date = email.utils.parsedate_tz(written)
    return as_wait(email.utils.mktime_tz(date) - time.time()) if date else None


def _number(written: str | None) -> float | None:
    try:
        number = float(written or "")
    except ValueError:
        return None
    return None if math.isnan(number) else as_wait(number)


def as_wait(seconds: float) -> float:
    """A wait that a service asks for, in seconds, limited to what it can mean: none, or LONGEST_ADVICE at most."""
    return min(max(seconds, 0.0), LONGEST_ADVICE)


async def refuse_long_waits(response: "httpx2.Response") -> None:
    """A response hook that makes the SDK raise rather than sleep longer than LONGEST_WAIT."""
    if (retry_after(response.headers) or 0.0) > LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"


async def bound_length(response: "httpx2.Response") -> None:
    """A response hook that limits the length of a response, decompressed: one with an error, which may repeat the whole
    request, ends after LONGEST_ERROR; any other one fails after LONGEST_REPLY.
    """
    reads = response.aiter_bytes

    async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        length = 0
        async with aclosing(reads(chunk_size)) as arriving:
            async for read in arriving:
                length += len(read)
                if length > LONGEST_REPLY:  # with a number, so that the log and `check` show it
                    raise OSError(errno.EMSGSIZE, f"The reply is longer than {LONGEST_REPLY:,} bytes")
                yield read
                if response.is_error and length > LONGEST_ERROR:
                    break

    response.aiter_bytes = bounded  # type: ignore[method-assign]


def never_connected(error: BaseException) -> bool:
    """Whether an SDK's timeout occurred while connecting: then the service is unreachable rather than slow."""
    import httpx2

    return isinstance(error, httpx2.ConnectTimeout) or isinstance(error.__cause__, httpx2.ConnectTimeout)


class CountsTokens(Protocol):
    """Assembles a reply from its stream."""

    @property
    def used(self) -> TokenUsage | None:
        """The tokens of the reply as far as it has arrived, and of its request; None as long as nothing has."""


class OpenRequest:
    """A request until its reply is complete; `prompt_tokens` estimates its length, once.

    `reply` is set once the reply begins.
    """

    def __init__(self, prompt_tokens: Callable[[], int]) -> None:
        self.prompt_tokens = cache(prompt_tokens)
        self._is_refused = False
        self.reply: CountsTokens | None = None

    def spent(self) -> TokenUsage | None:
        """The tokens used so far: those of the prompt as soon as it is sent, unless the server refused it."""
        if self.reply and (used := self.reply.used):
            return used
        return None if self._is_refused else TokenUsage(self.prompt_tokens(), estimated=True)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note a failure. Where the server took too long, it has worked on the prompt nevertheless."""
        try:
            yield
        except LLMError as error:
            has_status = getattr(error.__cause__, "status_code", None) is not None
            self._is_refused = has_status or error.code is not LLMErrorCode.TIMEOUT
            raise


class WireChat(ABC, Generic[C]):
    """A ChatProvider without its API: subclasses add `metered_stream`, `check`, and the meaning of the SDK's errors.

    `options` are further fields of every request, in the service's terms; they override those of the provider.
    `supports_tools` None means yes until the server says otherwise.
    """

    provider: ClassVar[str]

    def __init__(
        self, service: Service, client: LateClient[C], options: dict[str, Any], *, supports_tools: bool | None
    ) -> None:
        self._service = service
        self._client = client
        self._options = options
        self._supports_tools = supports_tools
        self._loop_yield = LoopYield()

    @property
    def name(self) -> str:
        return self.provider

    @property
    def model_name(self) -> str:
        return self._service.model

    def with_options(self, **options: Any) -> Self:
        """The same provider on the same connection, with further fields in its requests."""
        twin = copy.copy(self)
        twin._options = {**self._options, **options}  # noqa: SLF001
        return twin

    @property
    def supports_tools(self) -> bool:
        return self._supports_tools is not False

    @abstractmethod
    async def check(self) -> str: ...

    @abstractmethod
    def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]: ...

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """See ChatProvider. Leaving the iteration early, or being cancelled in it, closes the connection."""
        async with aclosing(self.metered_stream(messages, tools, call_tools=call_tools)) as events:
            async for event in events:
                if not isinstance(event, RequestSent):
                    yield event

    @abstractmethod
    def _failure(self, error: Exception) -> LLMError:
        """The domain's error for one of the SDK, which has been imported by then."""

    def _without_tools(self, said: str, messages: Sequence[PromptMessage]) -> LLMError:
        """The error for a refusal of tools, which are not offered any more from now on."""
        reason = without_echo(shortened(said), messages)
        logger.warning("%s is taken to know no tools from now on: %s", self.model_name, reason)
        self._supports_tools = False
        return self._service.error(LLMErrorCode.UNSUPPORTED_FEATURE, said=said)

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return (await self.chat_with_tools(messages, ())).text or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        events = [event async for event in self.stream(messages, tools)]
        response = events[-1]
        assert isinstance(response, ChatResponse)
        return response

    async def warm_up(self) -> None:
        """Import the SDK before the first request."""
        with self._errors_translated():
            await self._client.get()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    @contextmanager
    def _errors_translated(self, messages: Sequence[PromptMessage] = ()) -> Iterator[None]:
        """Translate every failure of a request into LLMError; the original is chained, and logged for the operator.

        `messages` are those of the request. The log has none of their words at WARNING.
        """
        try:
            yield
        except LLMError:
            raise
        except Exception as error:
            failure = self._failure(error)
            logger.warning("%s: %s: %s", self.provider, failure.code, _nature(error))
            if failure.code in _FOR_OPERATORS and failure.said:
                logger.warning("%s said: %s", self.provider, without_echo(failure.said, messages))
            logger.debug("%s said: %s (%r)", self.provider, failure.said, error)
            raise failure from error


def _nature(error: Exception) -> str:
    """An SDK's error without its words."""
    details = {name: getattr(error, name, None) for name in ("status_code", "request_id")}
    return " ".join([type(error).__name__, *(f"{name}={value}" for name, value in details.items() if value)])
