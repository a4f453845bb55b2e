"""Requests to Discord that go on after a global rate limit, whoever met it.

discord.py closes a gate to all requests while the one that met the limit waits for its end. If that one is cancelled
meanwhile, as the showing of typing is when an answer stands, the gate stays closed for ever and the bot is silent.
"""

import asyncio
from typing import Any

from discord.http import HTTPClient, Route

WINDOW_S = 1.0
"""Discord counts fifty requests in a second. Who comes too early meets the limit again, and closes the gate again."""


def keep_requests_going(http: HTTPClient) -> None:
    """Open the gate of this client again where a request is cancelled while it is closed."""
    request = http.request

    async def steady_request(route: Route, **parts: Any) -> Any:
        try:
            return await request(route, **parts)
        except asyncio.CancelledError:
            gate = http._global_over  # noqa: SLF001
            if not gate.is_set():
                asyncio.get_running_loop().call_later(WINDOW_S, gate.set)
            raise

    http.request = steady_request  # type: ignore[method-assign]
