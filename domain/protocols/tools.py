"""The ports to what a model can call."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from domain.tool_use import ToolDefinition, ToolResult

ToolOutput = str | ToolResult
ToolHandler = Callable[[dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out a call. A plain string is JSON, and an object of the form {"error": …} is a failure."""

Dispatcher = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out the call of the tool of that name; never raises but on cancellation."""


class Toolbox(Protocol):
    """The tools of one turn, bound to one view of one book."""

    def get_definitions(self) -> list[ToolDefinition]: ...
    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher: ...
