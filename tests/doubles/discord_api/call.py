"""A REST request, read once, kept for the log."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import BodyPartReader, web

from tests.doubles.discord_api.entities import Json


@dataclass(slots=True, eq=False)
class Call:
    """`route` is "POST /channels/{channel}/messages"; times are seconds of the double's clock; `status` 0: dropped."""

    route: str
    path: str
    params: dict[str, str]
    query: dict[str, str]
    payload: Any
    files: dict[str, bytes]
    filenames: dict[str, str]
    token: str
    started: float
    finished: float | None = None
    status: int | None = None
    effects: list[str] = field(default_factory=list)

    def number(self, name: str) -> int:
        """A path parameter that is an id; 0, which is nobody's, where it is none."""
        text = self.params[name]
        return int(text) if text.isdigit() else 0

    @property
    def method(self) -> str:
        return self.route.split(" ", 1)[0]


Endpoint = Callable[[Call], Awaitable[Json | list[Json] | None]]
"""Answers with a body, or None for 204."""


async def read_call(route: str, request: web.Request, now: float) -> Call:
    payload, files, names = await _read_body(request)
    return Call(
        route=route,
        path=request.path,
        params=dict(request.match_info),
        query=dict(request.query),
        payload=payload,
        files=files,
        filenames=names,
        token=request.headers.get("Authorization", ""),
        started=now,
    )


async def _read_body(request: web.Request) -> tuple[Any, dict[str, bytes], dict[str, str]]:
    if not request.content_type.startswith("multipart/"):
        body = await request.read()
        return (json.loads(body) if body else {}), {}, {}
    payload: Any = {}
    files: dict[str, bytes] = {}
    names: dict[str, str] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            payload = json.loads(data)
        else:
            files[part.name or ""] = data
            names[part.name or ""] = part.filename or ""
    return payload, files, names
