"""The weather now, from Open-Meteo: free, without a key."""

import asyncio
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from bot.tools.places import Place, choose, spellings
from domain.ports import ToolHandler
from domain.tool_use import ToolDefinition
from domain.tools.registry import error_output, failure_output, to_json

GEOCODING_URL = "https://geocoding-api.open-meteo.com"
FORECAST_URL = "https://api.open-meteo.com"
LONGEST_LOCATION = 200
"""Characters; the longest place name there is has 168."""

_KM_PER_MILE = 1.609344

# WMO code table 4677 as far as Open-Meteo uses it.
_CONDITIONS = {
    0: "Clear sky",
    1: "Mainly clear",
    2: "Partly cloudy",
    3: "Overcast",
    45: "Fog",
    48: "Depositing rime fog",
    51: "Light drizzle",
    53: "Moderate drizzle",
    55: "Dense drizzle",
    56: "Light freezing drizzle",
    57: "Dense freezing drizzle",
    61: "Slight rain",
    63: "Moderate rain",
    65: "Heavy rain",
    66: "Light freezing rain",
    67: "Heavy freezing rain",
    71: "Slight snowfall",
    73: "Moderate snowfall",
    75: "Heavy snowfall",
    77: "Snow grains",
    80: "Slight rain showers",
    81: "Moderate rain showers",
    82: "Violent rain showers",
    85: "Slight snow showers",
    86: "Heavy snow showers",
    95: "Thunderstorm",
    96: "Thunderstorm with slight hail",
    99: "Thunderstorm with heavy hail",
}


class WeatherError(Exception):
    """No weather can be given; the sentence is for the model."""


class _Geocoding(BaseModel):
    results: list[Place] = []


class _Current(BaseModel):
    temperature_2m: float
    relative_humidity_2m: float
    weather_code: int
    wind_speed_10m: float


class _Forecast(BaseModel):
    current: _Current


_Reply = TypeVar("_Reply", bound=BaseModel)


class WeatherTool:
    """get_weather. `timeout` is in seconds, for finding the place and asking for its weather together.

    Without a `client` it makes one of its own, which `aclose` closes.
    """

    TOOL_DEFINITION = ToolDefinition(
        "get_weather",
        "Get the weather in a real place right now: temperature, conditions, humidity and wind. Use it only when "
        "somebody asks about the weather outside, never about the weather in the book; name Open-Meteo as the source.",
        {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "A town by name, with its state or country where there are several: "
                    "Paris, or Springfield, Illinois.",
                }
            },
            "required": ["location"],
            "additionalProperties": False,
        },
    )

    def __init__(
        self,
        client: httpx2.AsyncClient | None = None,
        *,
        geocoding_url: str = GEOCODING_URL,
        forecast_url: str = FORECAST_URL,
        timeout: float = 10.0,
    ) -> None:
        self._client = client or httpx2.AsyncClient(timeout=timeout)
        self._owns_client = client is None
        self._geocoding_url = geocoding_url.rstrip("/")
        self._forecast_url = forecast_url.rstrip("/")
        self._timeout = timeout

    async def aclose(self) -> None:
        if self._owns_client:
            await self._client.aclose()

    def as_dispatcher_entry(self) -> ToolHandler:
        """A handler that never raises."""

        async def call(args: dict[str, Any]) -> str:
            try:
                return to_json(await self.get_weather(_location_in(args)))
            except WeatherError as error:
                return error_output(str(error))
            except Exception as error:  # noqa: BLE001 - whatever goes wrong is a result
                return failure_output(self.TOOL_DEFINITION.name, error)

        return call

    async def get_weather(self, location: str) -> dict[str, Any]:
        """The weather there now.

        Raises:
            WeatherError: there is no such place, or the service gives no usable answer in time.
        """
        try:
            async with asyncio.timeout(self._timeout):
                place = await self._find(location)
                return _report(place, await self._weather_at(place))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise WeatherError("Weather service timed out") from error
        except httpx2.HTTPError as error:
            raise WeatherError("Weather service could not be reached") from error

    async def _find(self, location: str) -> Place:
        for spelling in spellings(location):
            query = {"name": spelling.name, "count": 10, "language": "en", "format": "json"}
            found = await self._ask(f"{self._geocoding_url}/v1/search", query, _Geocoding)
            if place := choose(found.results, spelling):
                return place
        raise WeatherError(f"No place called {location!r} was found")

    async def _weather_at(self, place: Place) -> _Current:
        wanted = ",".join(_Current.model_fields)
        query = {"latitude": place.latitude, "longitude": place.longitude, "current": wanted}
        return (await self._ask(f"{self._forecast_url}/v1/forecast", query, _Forecast)).current

    async def _ask(self, url: str, query: dict[str, Any], kind: type[_Reply]) -> _Reply:
        response = await self._client.get(url, params=query)
        if response.status_code != httpx2.codes.OK:
            raise WeatherError(f"Weather service error: {response.status_code}")
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise WeatherError("Weather service sent an answer that cannot be read") from error


def _location_in(args: dict[str, Any]) -> str:
    location = args.get("location")
    if location is None or (isinstance(location, str) and not location.strip(" ,\t\r\n")):
        raise WeatherError("Missing required argument: location")
    if not isinstance(location, str):
        raise WeatherError("location must be the name of a place")
    if len(location) > LONGEST_LOCATION:
        raise WeatherError(f"location is too long: a place has at most {LONGEST_LOCATION} characters")
    return location.strip()


def _report(place: Place, current: _Current) -> dict[str, Any]:
    code = current.weather_code
    return {
        "location_name": place.label,
        "temperature_c": round(current.temperature_2m, 1),
        "temperature_f": round(current.temperature_2m * 9 / 5 + 32, 1),
        "conditions": _CONDITIONS.get(code, f"Unknown conditions (code {code})"),
        "humidity_percent": round(current.relative_humidity_2m),
        "wind_speed_kmh": round(current.wind_speed_10m, 1),
        "wind_speed_mph": round(current.wind_speed_10m / _KM_PER_MILE, 1),
    }
