"""The registry's promises: tools by name, and calls that may fail but never raise."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import BookError, BookErrorCode
from domain.ports import Dispatcher, ToolHandler, ToolOutput
from domain.tool_use import UNREADABLE_ARGUMENTS, ToolDefinition, ToolResult
from domain.tools.registry import ToolRegistry, as_result, error_output, is_error, to_json


def definition(name: str = "echo", *required: str) -> ToolDefinition:
    return ToolDefinition(name, f"Does {name}.", {"type": "object", "properties": {}, "required": list(required)})


async def never() -> str:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    return await future


async def echo(args: dict[str, Any]) -> str:
    return json.dumps(args)


def dispatcher_of(handler: ToolHandler, *required: str, timeout: float | None = 5, max_retries: int = 0) -> Dispatcher:
    registry = ToolRegistry()
    registry.register(definition("tool", *required), handler)
    return registry.build_dispatcher(timeout=timeout, max_retries=max_retries)


def raising(error: BaseException) -> ToolHandler:
    async def handler(args: dict[str, Any]) -> str:
        raise error

    return handler


def error_of(output: ToolOutput) -> str:
    assert isinstance(output, str)
    (key, sentence) = json.loads(output).popitem()
    assert key == "error"
    return cast(str, sentence)


class TestRegistering:
    def test_definitions_come_in_the_order_of_registration(self) -> None:
        registry = ToolRegistry()
        for name in ("c", "a", "b"):
            registry.register(definition(name), echo)
        assert [tool.name for tool in registry.get_definitions()] == ["c", "a", "b"]
        assert len(registry) == 3
        assert "a" in registry
        assert "x" not in registry

    def test_a_name_is_given_once(self) -> None:
        registry = ToolRegistry()
        registry.register(definition(), echo)
        with pytest.raises(ValueError, match="'echo' is registered already"):
            registry.register(definition(), echo)

    @pytest.mark.parametrize("name", ["", "two words", "x" * 65, "naïve", "line\n"])
    def test_a_name_no_provider_accepts_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="no tool name"):
            ToolRegistry().register(definition(name), echo)

    def test_deregistering_frees_the_name(self) -> None:
        registry = ToolRegistry()
        registry.register(definition(), echo)
        registry.deregister("echo")
        assert len(registry) == 0
        with pytest.raises(KeyError):
            registry.deregister("echo")

    @pytest.mark.parametrize(("timeout", "retries"), [(0, 0), (-1, 0), (1, -1)])
    def test_senseless_limits_are_refused(self, timeout: float, retries: int) -> None:
        with pytest.raises(ValueError, match="must"):
            ToolRegistry().build_dispatcher(timeout=timeout, max_retries=retries)


class TestDispatching:
    async def test_the_result_is_handed_back_as_it_is(self) -> None:
        assert await dispatcher_of(echo)("tool", {"x": 1}) == '{"x": 1}'

    async def test_a_tool_result_passes_through_whole(self) -> None:
        result = ToolResult("text", depends_to=7, summary="1 passage")

        async def handler(args: dict[str, Any]) -> ToolResult:
            return result

        assert await dispatcher_of(handler)("tool", {}) is result

    async def test_tools_registered_or_removed_later_do_not_concern_the_snapshot(self) -> None:
        registry = ToolRegistry()
        registry.register(definition("early"), echo)
        dispatch = registry.build_dispatcher()
        registry.register(definition("late"), echo)
        registry.deregister("early")
        assert not is_error(await dispatch("early", {}))
        assert is_error(await dispatch("late", {}))

    async def test_an_unknown_tool_is_named_together_with_the_known_ones(self) -> None:
        assert error_of(await dispatcher_of(echo)("toool", {})) == "Unknown tool: 'toool'. Known: tool"
        assert error_of(await ToolRegistry().build_dispatcher()("x", {})) == "Unknown tool: 'x'. Known: none"

    async def test_a_missing_required_argument_is_named(self) -> None:
        dispatch = dispatcher_of(echo, "query")
        assert error_of(await dispatch("tool", {"top_k": 3})) == "Missing required argument: query"
        assert await dispatch("tool", {"query": ""}) == '{"query": ""}', "empty is not missing"

    @pytest.mark.parametrize("junk", [None, [], "text", 3])
    async def test_arguments_that_are_no_object_are_refused(self, junk: Any) -> None:
        assert "must be a JSON object" in error_of(await dispatcher_of(echo)("tool", junk))

    async def test_what_the_model_garbled_never_reaches_the_tool(self) -> None:
        garbled = {UNREADABLE_ARGUMENTS: '{"query": "whi'}
        assert "not readable as a JSON object" in error_of(await dispatcher_of(echo)("tool", garbled))

    async def test_the_callers_arguments_are_never_changed(self) -> None:
        async def greedy(args: dict[str, Any]) -> str:
            args["list"].clear()
            return "{}"

        args = {"list": [1, 2]}
        await dispatcher_of(greedy)("tool", args)
        assert args == {"list": [1, 2]}

    async def test_anything_else_a_handler_returns_becomes_json(self) -> None:
        async def handler(args: dict[str, Any]) -> str:
            return cast(str, args["value"])

        dispatch = dispatcher_of(handler)
        assert await dispatch("tool", {"value": {"é": [1, None]}}) == '{"é": [1, null]}'
        assert "not JSON serializable" in error_of(await dispatch("tool", {"value": {1, 2}}))
        assert "not JSON compliant" in error_of(await dispatch("tool", {"value": float("nan")}))

    async def test_many_calls_may_run_at_once(self) -> None:
        async def handler(args: dict[str, Any]) -> str:
            await asyncio.sleep(0)
            return json.dumps(args)

        dispatch = dispatcher_of(handler)
        outputs = await asyncio.gather(*(dispatch("tool", {"n": n}) for n in range(50)))
        assert outputs == [json.dumps({"n": n}) for n in range(50)]

    async def test_the_handler_sees_the_callers_context(self) -> None:
        reader: ContextVar[str] = ContextVar("reader")

        async def handler(args: dict[str, Any]) -> str:
            return to_json(reader.get())

        reader.set("Ada")
        assert await dispatcher_of(handler)("tool", {}) == '"Ada"'


class TestFailures:
    @pytest.mark.parametrize(
        ("raised", "sentence"),
        [
            (ValueError(), "Tool error: ValueError"),
            (RuntimeError("disk on fire"), "Tool error: disk on fire"),
            (KeyError("x"), "Tool error: 'x'"),
            (ZeroDivisionError(), "Tool error: ZeroDivisionError"),
            (ExceptionGroup("two things", [OSError("a")]), "Tool error: two things (1 sub-exception)"),
            (asyncio.CancelledError(), "Tool error: the tool cancelled itself"),
        ],
    )
    async def test_an_exception_is_a_result_and_is_logged_with_its_traceback(
        self, raised: BaseException, sentence: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert error_of(await dispatcher_of(raising(raised))("tool", {})) == sentence
        assert [(record.levelno, record.exc_info is not None) for record in caplog.records] == [(logging.ERROR, True)]

    @pytest.mark.parametrize(
        "error",
        [ValueError("There is no page 900 yet."), BookError(BookErrorCode.NOT_FOUND, "There is no page 900 yet.")],
    )
    async def test_a_refusal_speaks_for_itself_and_alarms_nobody(
        self, error: Exception, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert error_of(await dispatcher_of(raising(error))("tool", {})) == "There is no page 900 yet."
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]

    async def test_a_tool_cannot_end_the_program(self) -> None:
        assert "tried to end the program" in error_of(await dispatcher_of(raising(SystemExit(3)))("tool", {}))

    async def test_a_panic_that_is_no_exception_is_a_result_too(self) -> None:
        class PanicError(BaseException):
            """As libraries written in Rust raise it."""

        assert error_of(await dispatcher_of(raising(PanicError("oh")))("tool", {})) == "Tool error: PanicError: oh"

    async def test_a_synchronous_handler_is_a_failure_not_a_crash(self) -> None:
        def handler(args: dict[str, Any]) -> str:
            return "{}"

        assert error_of(await dispatcher_of(cast(ToolHandler, handler))("tool", {})).startswith("Tool error: ")

    async def test_cancelling_the_turn_cancels_the_tool(self) -> None:
        started, cleaned = asyncio.Event(), asyncio.Event()

        async def handler(args: dict[str, Any]) -> str:
            started.set()
            try:
                return await never()
            finally:
                cleaned.set()

        call = asyncio.ensure_future(dispatcher_of(handler)("tool", {}))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert cleaned.is_set(), "the tool has tidied up before the turn ends"


def forever(counter: list[int]) -> Callable[[dict[str, Any]], Awaitable[str]]:
    async def handler(args: dict[str, Any]) -> str:
        counter.append(1)
        return await never()

    return handler


class TestTimeouts:
    async def test_a_slow_tool_is_stopped_and_the_sentence_says_when(self) -> None:
        attempts: list[int] = []
        output = await dispatcher_of(forever(attempts), timeout=0.01)("tool", {})
        assert error_of(output) == "tool timed out after 0.01 s"
        assert len(attempts) == 1

    async def test_each_retry_is_one_more_attempt(self) -> None:
        attempts: list[int] = []
        output = await dispatcher_of(forever(attempts), timeout=0.01, max_retries=2)("tool", {})
        assert error_of(output) == "tool timed out after 0.01 s (3 attempts)"
        assert len(attempts) == 3

    async def test_a_retry_may_succeed(self) -> None:
        attempts: list[int] = []

        async def second_time_lucky(args: dict[str, Any]) -> str:
            attempts.append(args.pop("x"))
            if len(attempts) == 1:
                raise TimeoutError
            return "{}"

        assert await dispatcher_of(second_time_lucky, timeout=None, max_retries=5)("tool", {"x": 1}) == "{}"
        assert attempts == [1, 1], "the retry sees the arguments as the model gave them"

    async def test_the_tools_own_timeout_counts_as_one_and_is_never_blank(self) -> None:
        blank = await dispatcher_of(raising(TimeoutError()), timeout=None)("tool", {})
        worded = await dispatcher_of(raising(TimeoutError("waiting for rain")), timeout=None)("tool", {})
        assert error_of(blank) == "tool timed out"
        assert error_of(worded) == "tool timed out waiting for rain"

    async def test_a_timeout_of_the_tools_own_is_not_said_to_be_ours(self) -> None:
        assert error_of(await dispatcher_of(raising(TimeoutError()), timeout=30)("tool", {})) == "tool timed out"

    async def test_only_timeouts_are_retried(self) -> None:
        attempts: list[int] = []

        async def broken(args: dict[str, Any]) -> str:
            attempts.append(1)
            raise OSError("refused")

        await dispatcher_of(broken, max_retries=3)("tool", {})
        assert len(attempts) == 1

    async def test_a_tool_that_swallows_its_cancellation_still_times_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domain.tools.registry._CLEANUP_S", 0.01)
        release = asyncio.Event()

        async def stubborn(args: dict[str, Any]) -> str:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "{}"

        assert error_of(await dispatcher_of(stubborn, timeout=0.01)("tool", {})) == "tool timed out after 0.01 s"
        release.set()

    async def test_a_result_given_after_the_time_was_up_does_not_count(self) -> None:
        async def late(args: dict[str, Any]) -> str:
            try:
                return await never()
            except asyncio.CancelledError:
                return '{"late": true}'

        assert is_error(await dispatcher_of(late, timeout=0.01)("tool", {}))


class TestResults:
    @pytest.mark.parametrize(
        ("output", "failed"),
        [
            ('{"error": "no"}', True),
            ('{"error": null, "x": 1}', True),
            ('{"errors": "no"}', False),
            ('["error"]', False),
            ('"error"', False),
            ('{"error": ', False),
            ('{"a": {"error": "inside"}}', False),
            ("[" * 100_000 + '"error"', False),
            ("plain text", False),
            ("", False),
        ],
    )
    def test_a_string_is_a_failure_if_it_is_an_object_with_an_error(self, output: str, failed: bool) -> None:
        assert as_result(output) == ToolResult(output, is_error=failed)
        assert is_error(output) is failed

    def test_a_tool_result_says_itself_what_it_is(self) -> None:
        failed = ToolResult('{"fine": 1}', is_error=True)
        assert as_result(failed) is failed

    @settings(deadline=None)
    @given(st.text(alphabet=st.characters(exclude_categories=[])))
    def test_an_error_is_always_an_error_and_always_utf8(self, sentence: str) -> None:
        output = error_output(sentence)
        assert is_error(output)
        assert output.encode("utf-8")
