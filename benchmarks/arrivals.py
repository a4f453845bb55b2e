"""The double of the model's API, which also tells when requests reached it: GET /arrivals.

The moments are of the machine's monotonic clock, which all of its processes share.
"""

import time

from aiohttp import web

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.http import serve_from_command_line


class PunctualDouble(AnthropicDouble):
    """Keeps the moment of every request, before its body is read."""

    def __init__(self) -> None:
        super().__init__()
        self._arrivals: list[float] = []

    def add_routes(self, router: web.UrlDispatcher) -> None:
        super().add_routes(router)
        router.add_get("/arrivals", self._tell)
        router.add_post("/bare", self._bare)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        self._arrivals.append(time.monotonic())
        return await super()._messages(request)

    async def _bare(self, request: web.Request) -> web.Response:
        """A request that only keeps its moment: what the way itself takes."""
        self._arrivals.append(time.monotonic())
        await request.read()
        return web.Response()

    async def _tell(self, _: web.Request) -> web.Response:
        moments, self._arrivals = self._arrivals, []
        return web.json_response(moments)


if __name__ == "__main__":
    serve_from_command_line(PunctualDouble())
