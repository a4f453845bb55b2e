"""Any typed function as a tool: its signature is the schema, its docstring the description."""

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pydantic_core

from bot.tools.signature import ToolSignatureError, definition_of, docstring_of, signature_of
from domain.ports import ToolHandler, ToolOutput
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import TOOL_NAME, failure_output

RESERVED_NAMES = frozenset({"help", "exit", "quit", "print", "input"})
"""Words a person types to a program, and builtins that talk to a terminal: as tools they would be taken for those."""

_OURS = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""What ends the call itself, and is no failure of the function."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function and what a model is told about it."""

    name: str
    description: str
    function: Callable[..., Any]
    schema: dict[str, Any]

    @classmethod
    def from_function(cls, func: Callable[..., Any]) -> "Tool":
        """Derive everything from a function, bound method, partial or callable object.

        Raises:
            ToolSignatureError: its name or one of its parameters cannot be told to a model.
        """
        name = _name_of(func)
        description = (docstring_of(func).description or "").strip() or f"Tool: {name}"
        return cls(name, description, func, signature_of(func).schema)

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(self.name, self.description, self.schema)

    def as_dispatcher_entry(self) -> ToolHandler:
        """The function behind a handler that never raises: every failure is told to the model.

        Arguments are checked and converted ("3" becomes 3), synchronous functions run in a thread of their own, and
        a result that is no text becomes JSON.
        """
        signature = signature_of(self.function)

        async def call(args: dict[str, Any]) -> ToolOutput:
            try:
                return _encoded(await _called(self.function, signature.bind(args)))
            except _OURS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a tool does wrong is a result
                return failure_output(self.name, error)

        return call


def _name_of(function: Callable[..., Any]) -> str:
    if inspect.isclass(function) or not callable(function):
        raise ToolSignatureError(f"{function!r} cannot be a tool: pass a function")
    definition = definition_of(function)
    name = str(definition.__name__ if definition.__name__ != "__call__" else type(function).__name__)
    if name == "<lambda>":
        raise ToolSignatureError("a lambda cannot be a tool: it has no name to call it by, so write it as a def")
    if name in RESERVED_NAMES:
        raise ToolSignatureError(f"{name} cannot be a tool: the name is reserved, so choose another")
    if not TOOL_NAME.fullmatch(name):
        raise ToolSignatureError(f"{name} cannot be a tool: names are 1 to 64 ASCII letters, digits, '_' and '-'")
    return name


async def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    result = function(**arguments) if is_async else await _in_thread(function, arguments)
    if inspect.isasyncgen(result):
        return [item async for item in result]
    return await result if inspect.isawaitable(result) else result


def _called_whole(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """The function's result; a generator works only while it is read, so that is done here too."""
    result = function(**arguments)
    return list(result) if inspect.isgenerator(result) else result


async def _in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """The function's result, computed in a daemon thread that sees the caller's context variables.

    Not the loop's own pool: a function that hangs would take one of its few places for good, and keep the program
    from ending.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not outcome.done():  # the caller may have stopped waiting
            outcome.set_result((value, error))

    def run() -> None:
        try:
            value, error = context.run(_called_whole, function, arguments), None
        except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
            value, error = None, raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name=f"tool {definition_of(function).__name__}", daemon=True).start()
    value, error = await outcome
    if error is None:
        return value
    # What would end the caller is, from in there, meant for nobody out here.
    raise RuntimeError(f"{type(error).__name__} {error}") if isinstance(error, _OURS) else error


def _encoded(value: Any) -> ToolOutput:
    return value if isinstance(value, str | ToolResult) else pydantic_core.to_json(value, inf_nan_mode="null").decode()
