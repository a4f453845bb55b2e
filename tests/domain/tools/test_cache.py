"""The cache's promises: fresh enough, small enough, never a failure, one flight for the same call."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from domain.ports import ToolOutput
from domain.tool_use import ToolResult
from domain.tools.registry import CachingDispatcher, ToolResultCache


class FakeClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class CountingTool:
    """A dispatcher that counts its calls, and waits where it is told to."""

    def __init__(self, output: ToolOutput = '{"ok": true}', *, gate: asyncio.Event | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.output = output
        self.gate = gate
        self.cancelled = 0

    async def __call__(self, name: str, args: dict[str, Any]) -> ToolOutput:
        self.calls.append((name, args))
        try:
            if self.gate:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.output


def caching(inner: CountingTool, *tools: str) -> CachingDispatcher:
    return CachingDispatcher(inner=inner, cache=ToolResultCache(), cached_tools=set(tools))


class TestCache:
    def test_the_order_of_arguments_does_not_matter(self) -> None:
        cache = ToolResultCache()
        cache.put("t", {"a": 1, "b": {"c": 2, "d": 3}}, "kept")
        assert cache.get("t", {"b": {"d": 3, "c": 2}, "a": 1}) == "kept"

    @pytest.mark.parametrize(("tool", "args"), [("u", {"a": 1}), ("t", {"a": "1"}), ("t", {"a": True}), ("t", {})])
    def test_another_tool_or_other_arguments_are_another_entry(self, tool: str, args: dict[str, Any]) -> None:
        cache = ToolResultCache()
        cache.put("t", {"a": 1}, "kept")
        assert cache.get(tool, args) is None

    def test_entries_expire_after_the_default_time(self) -> None:
        clock = FakeClock()
        cache = ToolResultCache(clock=clock)
        cache.put("t", {}, "kept")
        clock.now += 299.9
        assert cache.get("t", {}) == "kept"
        clock.now += 0.1
        assert cache.get("t", {}) is None
        assert len(cache) == 0

    def test_a_tool_may_have_a_time_of_its_own(self) -> None:
        clock = FakeClock()
        cache = ToolResultCache(default_ttl=10, tool_ttls={"get_weather": 600.0, "never": 0}, clock=clock)
        for tool in ("get_weather", "other", "never"):
            cache.put(tool, {}, "kept")
        assert cache.get("never", {}) is None
        clock.now += 599
        assert cache.get("get_weather", {}) == "kept"
        assert cache.get("other", {}) is None

    def test_the_least_recently_used_entry_makes_room(self) -> None:
        cache = ToolResultCache(max_size=2)
        cache.put("t", {"n": 1}, "1")
        cache.put("t", {"n": 2}, "2")
        cache.get("t", {"n": 1})
        cache.put("t", {"n": 3}, "3")
        assert [cache.get("t", {"n": n}) for n in (1, 2, 3)] == ["1", None, "3"]
        assert len(cache) == 2

    def test_putting_again_replaces_and_refreshes(self) -> None:
        cache = ToolResultCache(max_size=2)
        for n, text in ((1, "old"), (2, "2"), (1, "new"), (3, "3")):
            cache.put("t", {"n": n}, text)
        assert [cache.get("t", {"n": n}) for n in (1, 2, 3)] == ["new", None, "3"]

    def test_room_for_none_keeps_nothing(self) -> None:
        cache = ToolResultCache(max_size=0)
        cache.put("t", {}, "x")
        assert len(cache) == 0
        with pytest.raises(ValueError, match="max_size"):
            ToolResultCache(max_size=-1)

    def test_invalidate_forgets_one_and_clear_forgets_all(self) -> None:
        cache = ToolResultCache()
        for n in (1, 2, 3):
            cache.put("t", {"n": n}, str(n))
        cache.invalidate("t", {"n": 1})
        cache.invalidate("t", {"n": 99})
        assert [cache.get("t", {"n": n}) for n in (1, 2)] == [None, "2"]
        cache.clear()
        assert len(cache) == 0

    @pytest.mark.parametrize("args", [{"x": object()}, {"x": {1}}, {1: "int key"}, {1: 2, "1": 3}, {"x": float("nan")}])
    def test_arguments_json_cannot_tell_apart_are_not_kept(self, args: dict[Any, Any]) -> None:
        cache = ToolResultCache()
        cache.put("t", args, "x")
        cache.invalidate("t", args)
        assert cache.get("t", args) is None
        assert len(cache) == 0


class TestCachingDispatcher:
    async def test_a_cached_tool_runs_once_and_any_other_every_time(self) -> None:
        inner = CountingTool()
        dispatch = caching(inner, "get_weather")
        for _ in range(3):
            assert await dispatch("get_weather", {"location": "Ulm"}) == '{"ok": true}'
            await dispatch("get_current_datetime", {})
        assert [name for name, _ in inner.calls].count("get_weather") == 1
        assert [name for name, _ in inner.calls].count("get_current_datetime") == 3

    async def test_a_whole_tool_result_is_kept(self) -> None:
        result = ToolResult("text", summary="1 passage")
        dispatch = caching(CountingTool(result), "t")
        assert await dispatch("t", {}) is result
        assert await dispatch("t", {}) is result

    @pytest.mark.parametrize("failure", ['{"error": "down"}', ToolResult("down", is_error=True)])
    async def test_failures_are_never_kept(self, failure: ToolOutput) -> None:
        inner = CountingTool(failure)
        dispatch = caching(inner, "t")
        assert await dispatch("t", {}) == failure
        inner.output = '{"ok": true}'
        assert await dispatch("t", {}) == '{"ok": true}'
        assert len(inner.calls) == 2

    async def test_what_depends_on_a_position_is_kept_for_the_readers_who_are_there(self) -> None:
        """With the book tools, each view of the book has a dispatcher of its own; the cache may be the same."""
        ahead, behind = (
            CountingTool(ToolResult(text, depends_to=end)) for text, end in (("It was Lucian.", 900), ("Nothing.", 10))
        )
        cache = ToolResultCache()
        of_one, of_other = (CachingDispatcher(inner, cache, {"search_book"}) for inner in (ahead, behind))
        for _ in range(2):
            assert await of_one("search_book", {"query": "who"}) == ahead.output
            assert await of_other("search_book", {"query": "who"}) == behind.output
        assert len(ahead.calls) == len(behind.calls) == 1
        assert len(cache) == 0
        for forget in (cache.clear, lambda: cache.invalidate("search_book", {"query": "who"})):
            before = len(ahead.calls)
            forget()
            await of_one("search_book", {"query": "who"})
            await of_one("search_book", {"query": "who"})
            assert len(ahead.calls) == before + 1

    async def test_arguments_that_have_no_json_form_pass_through(self) -> None:
        inner = CountingTool()
        dispatch = caching(inner, "t")
        strange = {"x": object()}
        await dispatch("t", strange)
        await dispatch("t", strange)
        assert inner.calls == [("t", strange)] * 2

    async def test_an_exception_of_the_inner_dispatcher_is_not_kept(self) -> None:
        calls: list[int] = []

        async def inner(name: str, args: dict[str, Any]) -> str:
            calls.append(1)
            raise OSError("down")

        dispatch = CachingDispatcher(inner, ToolResultCache(), {"t"})
        outcomes = await asyncio.gather(*(dispatch("t", {}) for _ in range(3)), return_exceptions=True)
        assert [str(outcome) for outcome in outcomes] == ["down"] * 3
        with pytest.raises(OSError, match="down"):
            await dispatch("t", {})
        assert len(calls) == 2


class TestOneFlight:
    async def test_the_same_call_at_the_same_time_is_made_once(self) -> None:
        gate = asyncio.Event()
        inner = CountingTool(gate=gate)
        dispatch = caching(inner, "t")
        waiters = [asyncio.ensure_future(dispatch("t", {"q": 1})) for _ in range(5)]
        other = asyncio.ensure_future(dispatch("t", {"q": 2}))
        await asyncio.sleep(0.01)
        gate.set()
        assert set(await asyncio.gather(*waiters, other)) == {'{"ok": true}'}
        assert sorted(json.dumps(args) for _, args in inner.calls) == ['{"q": 1}', '{"q": 2}']

    async def test_a_failing_flight_reaches_everyone_who_waits_and_nobody_later(self) -> None:
        gate = asyncio.Event()
        inner = CountingTool('{"error": "down"}', gate=gate)
        dispatch = caching(inner, "t")
        waiters = [asyncio.ensure_future(dispatch("t", {})) for _ in range(3)]
        await asyncio.sleep(0)
        gate.set()
        assert await asyncio.gather(*waiters) == ['{"error": "down"}'] * 3
        inner.output = "{}"
        assert await dispatch("t", {}) == "{}"

    async def test_one_who_stops_waiting_takes_nothing_from_the_others(self) -> None:
        gate = asyncio.Event()
        inner = CountingTool(gate=gate)
        dispatch = caching(inner, "t")
        first, second = (asyncio.ensure_future(dispatch("t", {})) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.wait({first})
        gate.set()
        assert await second == '{"ok": true}'
        assert first.cancelled()
        assert len(inner.calls) == 1

    async def test_when_nobody_waits_any_more_the_flight_ends_and_the_next_call_is_a_new_one(self) -> None:
        gate = asyncio.Event()
        inner = CountingTool(gate=gate)
        dispatch = caching(inner, "t")
        only = asyncio.ensure_future(dispatch("t", {}))
        await asyncio.sleep(0.01)
        only.cancel()
        await asyncio.wait({only})
        again = asyncio.ensure_future(dispatch("t", {}))
        await asyncio.sleep(0.01)
        gate.set()
        assert await again == '{"ok": true}'
        assert inner.cancelled == 1
        assert len(inner.calls) == 2

    @pytest.mark.parametrize("forget", [lambda cache: cache.invalidate("t", {}), lambda cache: cache.clear()])
    async def test_what_was_begun_before_it_was_to_be_forgotten_is_neither_joined_nor_kept(
        self, forget: Callable[[ToolResultCache], None]
    ) -> None:
        gate = asyncio.Event()
        inner = CountingTool('"old"', gate=gate)
        cache = ToolResultCache()
        dispatch = CachingDispatcher(inner, cache, {"t"})
        before = asyncio.ensure_future(dispatch("t", {}))
        await asyncio.sleep(0.01)
        forget(cache)
        after = asyncio.ensure_future(dispatch("t", {}))
        await asyncio.sleep(0.01)
        assert len(inner.calls) == 2
        gate.set()
        await asyncio.gather(before, after)
        assert len(cache) == 1

    async def test_a_flight_that_lands_after_all_was_forgotten_leaves_nothing(self) -> None:
        gate = asyncio.Event()
        cache = ToolResultCache()
        flight = asyncio.ensure_future(CachingDispatcher(CountingTool(gate=gate), cache, {"t"})("t", {}))
        await asyncio.sleep(0.01)
        cache.clear()
        gate.set()
        await flight
        assert len(cache) == 0
