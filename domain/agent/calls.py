"""Carrying out the tool calls of one reply, all at once."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence

from domain.agent.registry import as_result
from domain.event import ToolCallFinished
from domain.protocols import Dispatcher
from domain.tool_use import ToolInvocation, ToolResult

logger = logging.getLogger(__name__)


async def run_calls(
    calls: Sequence[ToolInvocation], dispatch: Dispatcher, number_of: Callable[[ToolInvocation], int]
) -> AsyncGenerator[tuple[ToolCallFinished, ToolResult], None]:
    """Run all calls concurrently and yield each as it ends. Closing the iterator cancels those still running."""

    async def run(call: ToolInvocation) -> tuple[ToolCallFinished, ToolResult]:
        started = time.perf_counter()
        result = await _dispatched(call, dispatch)
        milliseconds = round((time.perf_counter() - started) * 1000)
        finished = ToolCallFinished(
            call_id=call.tool_use_id,
            number=number_of(call),
            tool_name=call.tool_name,
            summary=result.summary or ("failed" if result.is_error else "done"),
            content=result.content,
            is_error=result.is_error,
            milliseconds=milliseconds,
            passages=result.passages,
        )
        return finished, result

    tasks = [asyncio.ensure_future(run(call)) for call in calls]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for pending in tasks:
            pending.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dispatched(call: ToolInvocation, dispatch: Dispatcher) -> ToolResult:
    """The call's result; a dispatcher that breaks its promise not to raise costs the call, not the turn."""
    try:
        return as_result(await dispatch(call.tool_name, call.arguments))
    except Exception as error:
        logger.exception("dispatcher raised for tool %s", call.tool_name)
        return ToolResult(json.dumps({"error": f"Tool error: {error or type(error).__name__}"}), is_error=True)
