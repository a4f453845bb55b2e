"""A loopback HTTP server that streams scripted replies, and breaks them off on demand."""

import argparse
import asyncio
import contextlib
import inspect
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Self

from aiohttp import web

from tests.doubles.script import Fault, Handler, Json, Reply, Step

UNDISTURBED = Reply(())


class ModelDouble(ABC):
    """A double of a model's API. Replies come from `script` first, in order, then from `handler`.

    `requests` are the JSON bodies received, refused ones included; `headers` those of the same requests.
    `hung_up` is set once a client has closed its connection before a reply was over.
    """

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[Json] = []
        self.headers: list[Mapping[str, str]] = []
        self.hung_up = asyncio.Event()
        self._script: deque[Step] = deque()
        self._runner: web.AppRunner | None = None
        self._url = ""

    @property
    def base_url(self) -> str:
        return self._url

    def script(self, *steps: Step) -> None:
        """Reply to the next requests with these, one each."""
        self._script.extend(steps)

    async def start(self, port: int = 0) -> None:
        """Serve on 127.0.0.1, by default at any free port."""
        app = web.Application(client_max_size=64 << 20)
        self.add_routes(app.router)
        # A handler whose client has gone is cancelled, as an event loop of the real service would notice too.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self._url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    @abstractmethod
    def add_routes(self, router: web.UrlDispatcher) -> None: ...

    async def next_step(self, body: Json) -> Step:
        if self._script:
            return self._script.popleft()
        step = self.handler(body)
        return await step if inspect.isawaitable(step) else step

    async def stream(
        self, request: web.Request, events: Sequence[bytes], *, overload: bytes, reply: Reply = UNDISTURBED
    ) -> web.StreamResponse:
        """Send the events of a reply, or as many of them as its fault lets through."""
        headers = {"content-type": "text/event-stream", "request-id": f"req_{len(self.requests)}"}
        response = web.StreamResponse(headers=headers)
        sent, rest = _struck(events, reply.fault)
        try:
            await response.prepare(request)
            for event in sent:
                if reply.pace:
                    await asyncio.sleep(reply.pace)
                await response.write(event)
            await self._strike(request, response, reply.fault, rest, overload)
            await response.write_eof()
        except (asyncio.CancelledError, ConnectionResetError):
            self.hung_up.set()
            raise
        return response

    async def _strike(
        self, request: web.Request, response: web.StreamResponse, fault: Fault | None, rest: bytes, overload: bytes
    ) -> None:
        if fault is Fault.CUT:
            await response.write(rest[: len(rest) // 2])
            await asyncio.sleep(0)
            assert request.transport is not None
            request.transport.abort()
        elif fault is Fault.STALL:
            await asyncio.Event().wait()
        elif fault is Fault.OVERLOAD:
            await response.write(overload)
        elif fault is Fault.GARBAGE:
            await response.write(b"event: content_block_delta\ndata: {no json\n\n")


def _struck(events: Sequence[bytes], fault: Fault | None) -> tuple[Sequence[bytes], bytes]:
    """The events before the fault, and the one it strikes: in the middle of the reply."""
    if fault is None:
        return events, b""
    if fault is Fault.NOTHING:
        return (), b""
    middle = (len(events) + 1) // 2
    return events[:middle], events[middle]


def pieces(text: str) -> list[str]:
    """A text as a model streams it: a few characters at a time, words with the space before them."""
    return re.findall(r"\s*\S{1,12}|\s+$", text)


def serve_from_command_line(double: ModelDouble) -> None:
    """Serve until the process is ended; the first line on standard output is the base URL."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port

    async def serve() -> None:
        await double.start(port)
        print(double.base_url, flush=True)  # noqa: T201
        await asyncio.Event().wait()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
