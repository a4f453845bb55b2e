"""The small Model Context Protocol server over streamable HTTP on loopback."""

import uuid
from typing import Self

from aiohttp import web

from tests.doubles.mcp_server import answer


class McpHttpDouble:
    """Keeps sessions. `methods` are those it was asked for.

    `restart` forgets all sessions; one that is `forgetful` knows none in a call; one that is `down` refuses everything,
    and with `needed` whatever does not come with these headers.
    """

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.down = False
        self.forgetful = False
        self.needed: dict[str, str] = {}
        self.methods: list[str] = []
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/mcp", self._post)
        app.router.add_delete("/mcp", self._delete)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/mcp"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def restart(self) -> None:
        self.sessions.clear()

    async def _post(self, request: web.Request) -> web.Response:
        if any(request.headers.get(name) != value for name, value in self.needed.items()):
            return web.Response(status=401)
        if self.down:
            return web.Response(status=503)
        message = await request.json()
        self.methods.append(message.get("method", ""))
        headers = {}
        if message.get("method") == "initialize":
            headers["mcp-session-id"] = uuid.uuid4().hex
            self.sessions.add(headers["mcp-session-id"])
        elif not self._knows(request, message["method"]):
            return web.Response(status=404)
        reply = answer(message)
        return web.json_response(reply, headers=headers) if reply else web.Response(status=202, headers=headers)

    def _knows(self, request: web.Request, method: str) -> bool:
        forgotten = self.forgetful and method == "tools/call"
        return request.headers.get("mcp-session-id") in self.sessions and not forgotten

    async def _delete(self, request: web.Request) -> web.Response:
        self.sessions.discard(request.headers.get("mcp-session-id", ""))
        return web.Response(status=204)
