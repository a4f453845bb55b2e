"""A cache of tool results, for tools that are slow or metered and give everybody the same result."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from domain.ports import Dispatcher, ToolOutput
from domain.tool_use import ToolResult
from domain.tools.registry import is_error

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
