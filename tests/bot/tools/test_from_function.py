"""Functions as tools: named, described, called in the right place, and never raising."""

import asyncio
import dataclasses
import datetime as dt
import functools
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.tools.from_function import RESERVED_NAMES, Tool, ToolSignatureError
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import ToolRegistry, is_error


def get_weather(location: str, days: int = 1) -> str:
    """Get current weather for a location."""
    return f"Weather in {location}: sunny for {days}"


async def get_weather_slowly(location: str) -> str:
    """Get current weather for a location."""
    await asyncio.sleep(0)
    return f"Weather in {location}: sunny"


class Station:
    """A weather station."""

    def __init__(self, name: str = "Ulm") -> None:
        self.name = name

    def read(self, unit: str = "C") -> str:
        """Read the thermometer."""
        return f"{self.name}: 21 {unit}"

    async def __call__(self, unit: str = "C") -> str:
        """Read it from afar."""
        return self.read(unit)

    @staticmethod
    def kinds() -> list[str]:
        return ["a"]


async def run(tool: Tool, **args: Any) -> str:
    output = await tool.as_dispatcher_entry()(args)
    assert isinstance(output, str)
    return output


class TestTool:
    def test_name_description_function_and_schema_come_from_the_function(self) -> None:
        tool = Tool.from_function(get_weather)
        assert tool.name == "get_weather"
        assert tool.description == "Get current weather for a location."
        assert tool.function is get_weather
        assert tool.schema["required"] == ["location"]
        assert tool.definition == ToolDefinition(tool.name, tool.description, tool.schema)

    def test_it_is_frozen(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            Tool.from_function(get_weather).name = "other"  # type: ignore[misc]

    def test_without_a_docstring_the_name_has_to_do(self) -> None:
        def bare(x: int) -> int:
            return x

        assert Tool.from_function(bare).description == "Tool: bare"

    def test_the_description_is_all_that_stands_before_the_parameters(self) -> None:
        def find(what: str) -> str:
            """Find something
            in the house.

            Use it before you say that a thing is lost.

            Args:
                what: The thing.

            Returns:
                The room.
            """
            return what

        description = Tool.from_function(find).description
        assert description.startswith("Find something\nin the house.")
        assert description.endswith("Use it before you say that a thing is lost.")

    @pytest.mark.parametrize(
        ("function", "name", "description"),
        [
            (Station().read, "read", "Read the thermometer."),
            (Station(), "Station", "Read it from afar."),
            (Station.kinds, "kinds", "Tool: kinds"),
            (functools.partial(get_weather, days=2), "get_weather", "Get current weather for a location."),
            (functools.lru_cache(get_weather), "get_weather", "Get current weather for a location."),
        ],
    )
    async def test_methods_partials_and_callable_objects_are_functions_too(
        self, function: Any, name: str, description: str
    ) -> None:
        tool = Tool.from_function(function)
        assert (tool.name, tool.description) == (name, description)
        assert not is_error(await run(tool, **({"location": "Ulm"} if name == "get_weather" else {})))

    @pytest.mark.parametrize(
        ("function", "sentence"),
        [
            (lambda x: x, "a lambda cannot be a tool"),
            (Station, "pass a function"),
            ("get_weather", "pass a function"),
            (Station.read, "parameter 'self' has no type annotation; pass a bound method"),
            (len, "positional-only"),
        ],
    )
    def test_what_cannot_be_a_tool_is_refused_with_a_reason(self, function: Any, sentence: str) -> None:
        with pytest.raises(ToolSignatureError, match=sentence):
            Tool.from_function(function)

    @pytest.mark.parametrize("name", [*sorted(RESERVED_NAMES), "größe", "x" * 65])
    def test_names_that_are_reserved_or_unfit_are_refused(self, name: str) -> None:
        names: dict[str, Any] = {}
        exec(f"def {name}() -> str: return ''", names)
        with pytest.raises(ToolSignatureError, match="name"):
            Tool.from_function(names[name])


class TestCalling:
    async def test_text_is_the_result_as_it_is(self) -> None:
        assert await run(Tool.from_function(get_weather), location="Ulm", days="3") == "Weather in Ulm: sunny for 3"

    async def test_an_async_function_is_awaited_on_the_loop(self) -> None:
        async def where() -> str:
            return threading.current_thread().name

        assert await run(Tool.from_function(where)) == threading.current_thread().name
        assert await run(Tool.from_function(get_weather_slowly), location="Ulm") == "Weather in Ulm: sunny"

    async def test_a_synchronous_function_does_not_hold_up_the_loop(self) -> None:
        released = threading.Event()

        def blocking() -> str:
            return str(released.wait(30))

        async def release() -> None:
            released.set()

        result, _ = await asyncio.gather(run(Tool.from_function(blocking)), release())
        assert result == "True"

    async def test_a_thread_sees_the_callers_context(self) -> None:
        reader: ContextVar[str] = ContextVar("reader")

        def who() -> str:
            return reader.get()

        reader.set("Ada")
        assert await run(Tool.from_function(who)) == "Ada"

    async def test_more_hanging_functions_than_any_pool_has_places_leave_room_for_the_next(self) -> None:
        released = threading.Event()

        def hang() -> str:
            released.wait(30)
            return ""

        def quick() -> str:
            return "here"

        hanging = [asyncio.ensure_future(run(Tool.from_function(hang))) for _ in range(64)]
        assert await run(Tool.from_function(quick)) == "here"
        released.set()
        await asyncio.gather(*hanging)

    async def test_a_result_that_nobody_waits_for_any_more_is_dropped(self) -> None:
        released, ended = threading.Event(), threading.Event()

        def late() -> str:
            released.wait(30)
            ended.set()
            return ""

        registry = ToolRegistry()
        tool = Tool.from_function(late)
        registry.register(tool.definition, tool.as_dispatcher_entry())
        output = await registry.build_dispatcher(timeout=0.01)("late", {})
        assert output == '{"error": "late timed out after 0.01 s"}'
        released.set()
        assert await asyncio.to_thread(ended.wait, 30)
        await asyncio.sleep(0)

    async def test_a_plain_function_that_returns_an_awaitable_is_awaited(self) -> None:
        def handed_on(location: str) -> Any:
            return get_weather_slowly(location)

        assert await run(Tool.from_function(handed_on), location="Ulm") == "Weather in Ulm: sunny"


class Report(BaseModel):
    day: dt.date
    rain: Decimal


class TestResults:
    @pytest.mark.parametrize(
        ("value", "encoded"),
        [
            (None, None),
            (3, 3),
            ({"é": [1, 2]}, {"é": [1, 2]}),
            (Report(day=dt.date(2026, 11, 21), rain=Decimal("1.5")), {"day": "2026-11-21", "rain": "1.5"}),
            ([dt.datetime(2026, 11, 21, tzinfo=dt.UTC)], ["2026-11-21T00:00:00Z"]),
            ({"s": {1}}, {"s": [1]}),
            (float("nan"), None),
        ],
    )
    async def test_whatever_is_no_text_becomes_json(self, value: Any, encoded: Any) -> None:
        def tool() -> Any:
            return value

        assert json.loads(await run(Tool.from_function(tool))) == encoded

    async def test_a_tool_result_is_handed_on(self) -> None:
        result = ToolResult("text", summary="1 passage")

        def tool() -> ToolResult:
            return result

        assert await Tool.from_function(tool).as_dispatcher_entry()({}) is result

    async def test_what_a_generator_yields_is_a_list(self) -> None:
        def steps(upto: int) -> Iterator[int]:
            yield from range(upto)

        async def awaited(upto: int) -> AsyncIterator[int]:
            for step in range(upto):
                yield step

        assert await run(Tool.from_function(steps), upto=3) == "[0,1,2]"
        assert await run(Tool.from_function(awaited), upto=3) == "[0,1,2]"

    async def test_a_result_that_has_no_json_form_is_a_failure(self) -> None:
        def tool() -> Any:
            return object()

        assert is_error(await run(Tool.from_function(tool)))


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "sentence"),
        [
            (ValueError("no such place"), "no such place"),
            (RuntimeError("on fire"), "Tool error: on fire"),
            (StopIteration(), "Tool error: "),
            (SystemExit(1), "Tool error: 1"),
            (TimeoutError("too slow"), "Tool error: too slow"),
        ],
    )
    @pytest.mark.parametrize("is_async", [True, False])
    async def test_an_exception_is_told_to_the_model(self, error: BaseException, sentence: str, is_async: bool) -> None:
        def plain() -> str:
            raise error

        async def coroutine() -> str:
            raise error

        told = json.loads(await run(Tool.from_function(coroutine if is_async else plain)))["error"]
        assert told.startswith(sentence)

    @pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), GeneratorExit()])
    async def test_what_a_thread_raises_ends_nobody_who_waits_for_it(self, error: BaseException) -> None:
        def tool() -> str:
            raise error

        assert is_error(await run(Tool.from_function(tool)))

    async def test_arguments_that_do_not_fit_are_told_to_the_model(self) -> None:
        tool = Tool.from_function(get_weather)
        assert json.loads(await run(tool)) == {"error": "Missing required argument: location"}
        assert "Unknown argument: town" in await run(tool, location="Ulm", town="Ulm")

    @settings(deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from(["location", "days", "x"]),
            st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.binary(), st.lists, max_leaves=4),
        )
    )
    def test_no_arguments_whatever_make_it_raise(self, args: dict[str, Any]) -> None:
        output = asyncio.run(run(Tool.from_function(get_weather_slowly), **args))
        assert output.encode()


async def test_many_calls_of_one_tool_at_once_keep_apart() -> None:
    call = Tool.from_function(get_weather).as_dispatcher_entry()
    outputs = await asyncio.gather(*(call({"location": str(n)}) for n in range(50)))
    assert outputs == [f"Weather in {n}: sunny for 1" for n in range(50)]
