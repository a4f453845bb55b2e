"""The tools a model may call: stored by name, dispatched so that a call can fail but never break a turn.

Here is also what a turn provides to them, besides its view of the book, and a cache of results, for tools that are slow
or metered and give everybody the same result.
"""

import asyncio
import copy
import json
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from domain.book import encodable
from domain.errors import MarginaliaError, shortened
from domain.event import Approval
from domain.library.summaries import Digest
from domain.ports import BookView, Dispatcher, Toolbox, ToolHandler, ToolOutput
from domain.tool_use import UNREADABLE_ARGUMENTS, ToolDefinition, ToolResult

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names that every provider accepts; a name has to match as a whole."""

_CLEANUP_S = 1.0
"""The time a cancelled handler has for cleaning up before it is abandoned."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Services for the tools of a turn; each is None where it is not available.

    `digests` returns summaries of what has been read, or of one chapter. `propose` suggests a page or a chapter
    (neither: the end of the book) as new position to the reader who wrote it, and says whether anybody did; `approve`
    asks a reader whether a tool may be called with these arguments.
    """

    digests: Callable[[int | None], Awaitable[list[Digest]]] | None = None
    propose: Callable[[str, str], bool] | None = None
    approve: Callable[[str, dict[str, Any]], Awaitable[Approval]] | None = None


NO_CONTEXT = ToolContext()


class MakeToolbox(Protocol):
    """Makes the tools of a turn."""

    def __call__(self, view: BookView, context: ToolContext = NO_CONTEXT, /) -> Toolbox: ...


class ToolRegistry:
    """Tools by name, in the order they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[ToolDefinition, ToolHandler]] = {}
        self._untimed: set[str] = set()

    def register(self, definition: ToolDefinition, handler: ToolHandler, *, timed: bool = True) -> None:
        """Add a tool. One that is not `timed` manages its own time: a dispatcher sets no limit on it.

        Raises:
            ValueError: the name is taken, or invalid for some provider.
        """
        if definition.name in self._tools:
            raise ValueError(f"a tool named {definition.name!r} is registered already")
        if not TOOL_NAME.fullmatch(definition.name):
            raise ValueError(f"{definition.name!r} is no tool name: use 1 to 64 letters, digits, '_' and '-'")
        self._tools[definition.name] = (definition, handler)
        if not timed:
            self._untimed.add(definition.name)

    def deregister(self, name: str) -> None:
        """Remove a tool.

        Raises:
            KeyError: there is none of that name.
        """
        del self._tools[name]
        self._untimed.discard(name)

    def get_definitions(self) -> list[ToolDefinition]:
        return [definition for definition, _ in self._tools.values()]

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher:
        """A dispatcher for the tools registered so far; later changes do not affect it.

        `timeout` is in seconds, per attempt (None: no limit); `max_retries` is the number of further attempts after a
        timeout.

        Raises:
            ValueError: `timeout` is not positive, or `max_retries` is negative.
        """
        if timeout is not None and timeout <= 0:
            raise ValueError("timeout must be more than 0 seconds, or None for no limit")
        if max_retries < 0:
            raise ValueError("max_retries must not be negative")
        return _RegistryDispatcher(dict(self._tools), timeout, max_retries + 1, frozenset(self._untimed))


@dataclass(frozen=True, slots=True)
class _RegistryDispatcher:
    tools: Mapping[str, tuple[ToolDefinition, ToolHandler]]
    timeout: float | None
    attempts: int
    untimed: frozenset[str] = frozenset()
    left_behind: set[asyncio.Task[ToolOutput]] = field(default_factory=set)

    async def __call__(self, name: str, args: dict[str, Any]) -> ToolOutput:
        if name not in self.tools:
            return error_output(f"Unknown tool: {shortened(name)!r}. Known: {', '.join(self.tools) or 'none'}")
        definition, handler = self.tools[name]
        if complaint := _complaint(definition, args):
            return error_output(complaint)
        timeout = None if name in self.untimed else self.timeout
        for _ in range(self.attempts):
            try:
                return _checked(await self._bounded(_run(handler, args), timeout))
            except TimeoutError as error:
                failure = self._timed_out(name, error)
            except Exception as error:  # noqa: BLE001 - whatever a tool does wrong is a result, never the turn's end
                return failure_output(name, error)
        return failure

    async def _bounded(self, call: Coroutine[Any, Any, ToolOutput], timeout: float | None) -> ToolOutput:  # noqa: ASYNC109
        """The result of `call`, or TimeoutError when its time is up, even if it ignores its cancellation."""
        task = asyncio.create_task(call)
        try:
            done, _ = await asyncio.wait({task}, timeout=timeout)
        except asyncio.CancelledError:
            await self._abandon(task)
            raise
        if not done:
            await self._abandon(task)
            raise TimeoutError(f"after {timeout:g} s")
        if task.cancelled():
            raise RuntimeError("the tool cancelled itself")
        failure = task.exception()
        if failure is not None and not isinstance(
            failure, Exception
        ):  # a panic in a library written in another language
            raise RuntimeError(f"{type(failure).__name__}: {failure}") from failure
        return task.result()

    async def _abandon(self, task: asyncio.Task[ToolOutput]) -> None:
        task.cancel()
        self.left_behind.add(task)  # the event loop itself keeps only a weak reference
        task.add_done_callback(self._bury)
        await asyncio.wait({task}, timeout=_CLEANUP_S)

    def _bury(self, task: asyncio.Task[ToolOutput]) -> None:
        self.left_behind.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.warning("a tool failed while it was being cancelled", exc_info=error)

    def _timed_out(self, name: str, error: TimeoutError) -> str:
        tries = f" ({self.attempts} attempts)" if self.attempts > 1 else ""
        sentence = " ".join(f"{name} timed out {error}".split()) + tries
        _log.warning("tool %s", sentence)
        return error_output(sentence)


async def _run(handler: ToolHandler, args: dict[str, Any]) -> ToolOutput:
    try:
        # A copy: the arguments are part of the history, and a retry must see them unchanged.
        return await handler(copy.deepcopy(args))
    except SystemExit as error:
        raise RuntimeError(f"the tool tried to end the program (exit {error.code!r})") from error


def _complaint(definition: ToolDefinition, args: object) -> str | None:
    """An obvious mistake in arguments, in words; the tool itself checks the rest."""
    if not isinstance(args, dict):
        return f"The arguments of {definition.name} must be a JSON object, not {type(args).__name__}"
    if UNREADABLE_ARGUMENTS in args:
        return f"The arguments of {definition.name} were not readable as a JSON object. Please make the call again."
    for required in definition.parameters.get("required", ()):
        if required not in args:
            return f"Missing required argument: {required}"
    return None


def _checked(output: object) -> ToolOutput:
    if isinstance(output, ToolResult):
        content = encodable(output.content)
        return output if content == output.content else replace(output, content=content)
    return encodable(output) if isinstance(output, str) else to_json(output)


def failure_output(name: str, error: BaseException) -> str:
    """The result that tells the model how a tool failed.

    A MarginaliaError or ValueError speaks for itself; anything else is a fault and logged with its traceback.
    """
    own_words = str(error)
    if isinstance(error, ValueError | MarginaliaError) and own_words:
        _log.info("tool %s refused: %s", name, type(error).__name__)
        _log.debug("it said: %s", own_words, exc_info=error)  # it may repeat the question
        return error_output(own_words)
    _log.error("tool %s failed", name, exc_info=error)
    return error_output(f"Tool error: {own_words or type(error).__name__}")


def error_output(sentence: str) -> str:
    """A result that is a failure: `{"error": sentence}`."""
    return to_json({"error": sentence})


def to_json(value: object) -> str:
    """JSON as models read it: no escapes but the needed ones, and always encodable as UTF-8.

    Raises:
        TypeError, ValueError: the value has no JSON form.
    """
    return encodable(json.dumps(value, ensure_ascii=False, allow_nan=False))


def as_result(output: ToolOutput) -> ToolResult:
    """What a tool returned, as a ToolResult; a string that is a JSON object with an "error" key is a failure."""
    if isinstance(output, ToolResult):
        return output
    return ToolResult(output, is_error=_is_error_json(output))


def is_error(output: ToolOutput) -> bool:
    return as_result(output).is_error


def _is_error_json(output: str) -> bool:
    if '"error"' not in output:
        return False
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value


_Key = tuple[str, str]


class ToolResultCache:
    """Results by tool and arguments; the least recently used one is dropped when it is full.

    Times to live are in seconds and counted from `put`; `tool_ttls` overrides the default by tool name.

    Raises:
        ValueError: `max_size` is negative.
    """

    def __init__(
        self,
        default_ttl: float = 300.0,
        tool_ttls: Mapping[str, float] | None = None,
        max_size: int = 256,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_size < 0:
            raise ValueError("max_size must not be negative")
        self._default_ttl = default_ttl
        self._tool_ttls = dict(tool_ttls or {})
        self._max_size = max_size
        self._clock = clock
        self._entries: OrderedDict[_Key, tuple[float, ToolOutput]] = OrderedDict()
        self.generation = 0
        """Increases when anything is invalidated: results of calls begun earlier are not cached."""

    def get(self, tool: str, args: Mapping[str, Any]) -> ToolOutput | None:
        key = cache_key(tool, args)
        if key is None or key not in self._entries:
            return None
        expires, output = self._entries[key]
        if self._clock() >= expires:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return output

    def put(self, tool: str, args: Mapping[str, Any], output: ToolOutput) -> None:
        """Store a result; arguments that JSON cannot represent are ignored."""
        key = cache_key(tool, args)
        if key is None:
            return
        self._entries[key] = (self._clock() + self._tool_ttls.get(tool, self._default_ttl), output)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_size:
            self._entries.popitem(last=False)

    def invalidate(self, tool: str, args: Mapping[str, Any]) -> None:
        """Remove a result; a missing one is ignored."""
        self.generation += 1
        if key := cache_key(tool, args):
            self._entries.pop(key, None)

    def clear(self) -> None:
        self.generation += 1
        self._entries.clear()

    def emptied(self) -> "ToolResultCache":
        """An empty cache with the same times and size."""
        return ToolResultCache(self._default_ttl, self._tool_ttls, self._max_size, self._clock)

    def __len__(self) -> int:
        return len(self._entries)


def cache_key(tool: str, args: Mapping[str, Any]) -> tuple[str, str] | None:
    """The tool and its arguments in a canonical spelling; None if JSON cannot represent them."""
    try:
        text = json.dumps(args, sort_keys=True, separators=(",", ":"))
        return (tool, text) if json.loads(text) == args else None
    except (TypeError, ValueError, RecursionError):
        return None


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[ToolOutput]
    generation: int
    waiting: int = 0


class CachingDispatcher:
    """A dispatcher that answers the calls of `cached_tools` from a cache if it can.

    Identical calls at the same time run once. Failures reach all callers and are never cached. Results that depend on
    a position in a book are kept by this dispatcher alone: another one, with the same cache, may be for readers who
    have not come as far, or for another book.
    """

    def __init__(self, inner: Dispatcher, cache: ToolResultCache, cached_tools: Collection[str]) -> None:
        self._inner = inner
        self._cache = cache
        self._cached_tools = frozenset(cached_tools)
        self._flights: dict[_Key, _Flight] = {}
        self._of_book, self._generation = cache.emptied(), cache.generation

    async def __call__(self, name: str, args: dict[str, Any]) -> ToolOutput:
        key = cache_key(name, args) if name in self._cached_tools else None
        if key is None:
            return await self._inner(name, args)
        kept = self._cache.get(name, args)
        if kept is None and self._generation == self._cache.generation:
            kept = self._of_book.get(name, args)
        return kept if kept is not None else await self._join(key, name, args)

    async def _join(self, key: _Key, name: str, args: dict[str, Any]) -> ToolOutput:
        flight = self._flights.get(key)
        generation = self._cache.generation
        if flight is None or flight.generation != generation:
            work = asyncio.create_task(self._fly(name, args, generation))
            flight = self._flights[key] = _Flight(work, generation)
        flight.waiting += 1
        try:
            # Shielded: a caller that stops waiting must not cancel the result for the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                self._land(key, flight)

    def _land(self, key: _Key, flight: _Flight) -> None:
        flight.task.cancel()  # does nothing to one that has ended
        if self._flights.get(key) is flight:
            del self._flights[key]

    async def _fly(self, name: str, args: dict[str, Any], generation: int) -> ToolOutput:
        output = await self._inner(name, args)
        if not is_error(output) and generation == self._cache.generation:
            if isinstance(output, ToolResult) and output.depends_to is not None:
                self._put_of_book(name, args, output)
            else:
                self._cache.put(name, args, output)
        return output

    def _put_of_book(self, name: str, args: dict[str, Any], output: ToolResult) -> None:
        if self._generation != self._cache.generation:  # something was invalidated, perhaps one of these
            self._of_book.clear()
            self._generation = self._cache.generation
        self._of_book.put(name, args, output)
