"""The REST face: authentication, latency, scripted faults, rate limits, and the log; endpoints only do their work."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tests.doubles.discord_api.call import Call, Endpoint, read_call
from tests.doubles.discord_api.entities import Json
from tests.doubles.discord_api.errors import ApiError, not_found, unauthorized
from tests.doubles.discord_api.faults import Fault, Faults, Moment
from tests.doubles.discord_api.ratelimits import RateLimits, Verdict

WITHOUT_LIMITS = ("POST /interactions/", "/webhooks/")
"""Interaction endpoints are no part of the bot's global limit, and need no authorization but their own token."""

VIA = {"Via": "1.1 google"}


class Rest:
    """Runs endpoints as Discord's front does."""

    def __init__(
        self, token: str, now: Callable[[], float], latency: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        self._authorization = f"Bot {token}"
        self._now = now
        self._latency = latency
        self._changed = changed
        self.faults = Faults()
        self.limits = RateLimits(now)
        self.log: list[Call] = []
        self._under_way: set[asyncio.Task[Any]] = set()

    def mount(self, app: web.Application, prefix: str, endpoints: Mapping[str, Endpoint]) -> None:
        for route, endpoint in endpoints.items():
            method, path = route.split(" ", 1)
            app.router.add_route(method, prefix + path, self._handler(route, endpoint))
        app.router.add_route("*", prefix + "/{rest:.*}", self._handler("* unknown", _unknown))

    async def close(self) -> None:
        """Answer no request any more. aiohttp's own end trips over handlers that end when it stops waiting for them."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _handler(self, route: str, endpoint: Endpoint) -> Callable[[web.Request], "asyncio.Future[web.Response]"]:
        async def handle(request: web.Request) -> web.Response:
            task = asyncio.current_task()
            assert task
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
            call = await read_call(route, request, self._now())
            self.log.append(call)
            await asyncio.sleep(self._latency() / 2)
            response = await self._answer(call, endpoint)
            call.finished, call.status = self._now(), response.status if response else 0
            self._changed()
            await asyncio.sleep(self._latency() / 2)
            if response is None:
                assert request.transport
                request.transport.abort()
                return web.Response(status=499)
            return response

        return handle  # type: ignore[return-value]

    async def _answer(self, call: Call, endpoint: Endpoint) -> web.Response | None:
        """The response, or None for a connection that breaks."""
        fault = self.faults.strike(call.route)
        if fault is not None and fault.moment is Moment.BEFORE:
            return _struck(fault)
        verdict = self._limit(call)
        if verdict.retry_after is not None:
            return _limited(verdict.retry_after, verdict.headers, is_global=verdict.is_global)
        try:
            self._authorize(call)
            body = await endpoint(call)
        except RenameLimited as limited:
            return _limited(limited.retry_after, verdict.headers, is_global=False)
        except ApiError as error:
            return _json(error.status, error.body(), verdict.headers)
        if fault is not None:
            if fault.holds:
                await asyncio.Event().wait()
            return _struck(fault)
        return web.Response(status=204, headers=verdict.headers) if body is None else _json(200, body, verdict.headers)

    def _authorize(self, call: Call) -> None:
        if not _on_its_own_token(call.route) and call.token != self._authorization:
            raise unauthorized()

    def _limit(self, call: Call) -> Verdict:
        if call.route.startswith("POST /interactions/"):
            return Verdict({})
        majors = (call.params.get(name) for name in ("channel", "guild", "app", "token"))
        major = "+".join(each for each in majors if each)
        return self.limits.take(call.route, major, counts_globally=not _on_its_own_token(call.route))


class RenameLimited(Exception):
    """A channel was renamed too often."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"renamed too often, wait {retry_after:.1f} s")
        self.retry_after = retry_after


def _on_its_own_token(route: str) -> bool:
    return any(part in route for part in WITHOUT_LIMITS)


async def _unknown(call: Call) -> None:
    raise not_found()


def _struck(fault: Fault) -> web.Response | None:
    if not fault.status:
        return None
    if fault.status == 429:
        headers = VIA if fault.through_proxy else {}
        return _limited(fault.retry_after, {}, is_global=fault.is_global, via=headers)
    return _json(fault.status, fault.error().body(), {})


def _limited(
    retry_after: float, headers: Mapping[str, str], *, is_global: bool, via: Mapping[str, str] = VIA
) -> web.Response:
    body = {"message": "You are being rate limited.", "retry_after": round(retry_after, 3), "global": is_global}
    return _json(429, body, {**headers, **via, "Retry-After": str(max(1, round(retry_after)))})


def _json(status: int, body: Json | list[Json], headers: Mapping[str, str]) -> web.Response:
    """discord.py reads a body as JSON only under exactly this content type."""
    return web.Response(
        status=status, body=json.dumps(body).encode(), headers={**headers, "Content-Type": "application/json"}
    )
