"""A double of Open-Meteo on loopback: its gazetteer finds names, not "town, country", as the real one does."""

import asyncio
import unicodedata
from typing import Any, Self

from aiohttp import web

ULM = {
    "id": 1, "name": "Ulm", "latitude": 48.39841, "longitude": 9.99155, "elevation": 482.0, "feature_code": "PPL",
    "country_code": "DE", "country": "Germany", "admin1": "Baden-Wurttemberg", "timezone": "Europe/Berlin",
}  # fmt: skip
TROMSO = {
    "id": 2, "name": "Tromsø", "latitude": 69.6489, "longitude": 18.95508, "country_code": "NO", "country": "Norway",
    "admin1": "Troms", "admin2": "Tromsø",
}  # fmt: skip
TROMSO_FARM = {"id": 3, "name": "Tromsø", "latitude": 60.1, "longitude": 19.9, "country_code": "FI", "country": "Åland"}
WHITE_PLAINS_NC = {
    "id": 4, "name": "White Plains", "latitude": 36.44541, "longitude": -80.63395, "country_code": "US",
    "country": "United States", "admin1": "North Carolina",
}  # fmt: skip
WHITE_PLAINS_NY = {
    "id": 5, "name": "White Plains", "latitude": 41.03399, "longitude": -73.76291, "country_code": "US",
    "country": "United States", "admin1": "New York",
}  # fmt: skip
LIMERICK_PA = {
    "id": 6, "name": "Limerick", "latitude": 40.23093, "longitude": -75.52212, "country_code": "US",
    "country": "United States", "admin1": "Pennsylvania",
}  # fmt: skip
LIMERICK_IE = {
    "id": 7, "name": "Limerick", "latitude": 52.66472, "longitude": -8.62306, "country_code": "IE",
    "country": "Ireland", "admin1": "Munster",
}  # fmt: skip
PLACES = (ULM, TROMSO_FARM, TROMSO, WHITE_PLAINS_NC, WHITE_PLAINS_NY, LIMERICK_PA, LIMERICK_IE)

CURRENT = {
    "time": "2026-11-21T14:00",
    "interval": 900,
    "temperature_2m": 22.5,
    "relative_humidity_2m": 52,
    "weather_code": 2,
    "wind_speed_10m": 16.1,
}


class OpenMeteoDouble:
    """Serves GET /v1/search and /v1/forecast. `requests` are the paths and queries received.

    `failing` maps a path to what happens there in place of an answer: a status, a body, or "hang".
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.failing: dict[str, int | bytes | str] = {}
        self.current: dict[str, Any] = dict(CURRENT)
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/v1/search", self._search)
        app.router.add_get("/v1/forecast", self._forecast)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def searches(self) -> list[str]:
        return [query["name"] for path, query in self.requests if path == "/v1/search"]

    async def _search(self, request: web.Request) -> web.StreamResponse:
        if failure := await self._struck(request):
            return failure
        if "name" not in request.query:
            return _bad("Parameter 'name' is required.")
        wanted = _folded(request.query["name"])
        found = [place for place in PLACES if len(wanted) > 1 and _folded(str(place["name"])).startswith(wanted)]
        listed = {"results": found[: int(request.query.get("count", 10))]} if found else {}
        return web.json_response({**listed, "generationtime_ms": 0.5})

    async def _forecast(self, request: web.Request) -> web.StreamResponse:
        if failure := await self._struck(request):
            return failure
        latitude = float(request.query["latitude"])
        if not -90 <= latitude <= 90:
            return _bad(f"Latitude must be in range of -90 to 90°. Given: {latitude}.")
        wanted = request.query["current"].split(",")
        if unknown := [name for name in wanted if name not in CURRENT]:
            return _bad(f"Cannot initialize SurfacePressureAndHeightVariable from invalid String value {unknown[0]}.")
        current = {key: value for key, value in self.current.items() if key in ("time", "interval", *wanted)}
        return web.json_response(
            {"latitude": latitude, "longitude": float(request.query["longitude"]), "current": current}
        )

    async def _struck(self, request: web.Request) -> web.StreamResponse | None:
        self.requests.append((request.path, dict(request.query)))
        match self.failing.get(request.path):
            case None:
                return None
            case int(status):
                return web.json_response({"error": True, "reason": "out of order"}, status=status)
            case bytes(body):
                return web.Response(body=body, content_type="application/json")
            case "cut":
                assert request.transport is not None
                request.transport.abort()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


def _bad(reason: str) -> web.Response:
    return web.json_response({"error": True, "reason": reason}, status=400)


def _folded(name: str) -> str:
    """The real gazetteer knows names without their accents, too."""
    plain = unicodedata.normalize("NFKD", name.casefold().replace("ø", "o"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))
