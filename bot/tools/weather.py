"""The current weather, from Open-Meteo: free, without a key."""

import asyncio
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from bot.private import fault_of_network_variable, network_variables_set
from domain.errors import SettingsError
from domain.ports import ToolHandler
from domain.tool_use import ToolDefinition
from domain.tools.registry import error_output, failure_output, to_json

# ISO 3166-2, without the country: US states and Canadian provinces, which people write by their postal codes.
_REGIONS = {
    "us": """al Alabama|ak Alaska|az Arizona|ar Arkansas|ca California|co Colorado|ct Connecticut|de Delaware
        |dc District of Columbia|fl Florida|ga Georgia|hi Hawaii|id Idaho|il Illinois|in Indiana|ia Iowa|ks Kansas
        |ky Kentucky|la Louisiana|me Maine|md Maryland|ma Massachusetts|mi Michigan|mn Minnesota|ms Mississippi
        |mo Missouri|mt Montana|ne Nebraska|nv Nevada|nh New Hampshire|nj New Jersey|nm New Mexico|ny New York
        |nc North Carolina|nd North Dakota|oh Ohio|ok Oklahoma|or Oregon|pa Pennsylvania|ri Rhode Island
        |sc South Carolina|sd South Dakota|tn Tennessee|tx Texas|ut Utah|vt Vermont|va Virginia|wa Washington
        |wv West Virginia|wi Wisconsin|wy Wyoming""",
    "ca": """ab Alberta|bc British Columbia|mb Manitoba|nb New Brunswick|nl Newfoundland and Labrador|ns Nova Scotia
        |nt Northwest Territories|nu Nunavut|on Ontario|pe Prince Edward Island|qc Quebec|sk Saskatchewan|yt Yukon""",
}
_COUNTRY_ALIASES = {
    "us": ("usa", "america", "united states of america"),
    "gb": ("uk", "great britain", "britain"),
    "nl": ("holland",),
    "cz": ("czech republic",),
    "ae": ("uae",),
    "tr": ("turkey",),
}
_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


class Place(BaseModel):
    """A place in the gazetteer; regions are ordered from the widest to the narrowest."""

    name: str
    latitude: float
    longitude: float
    country: str | None = None
    country_code: str | None = None
    admin1: str | None = None
    admin2: str | None = None
    admin3: str | None = None
    admin4: str | None = None

    @property
    def label(self) -> str:
        return ", ".join(dict.fromkeys(part for part in (self.name, self.admin1, self.country) if part))

    @property
    def surroundings(self) -> set[str]:
        """Every folded name of the regions around the place."""
        code = fold(self.country_code or "")
        names = {fold(name) for name in (self.country, self.admin1, self.admin2, self.admin3, self.admin4) if name}
        return names | {code, *_COUNTRY_ALIASES.get(code, ()), *_codes_of(fold(self.admin1 or ""), code)}


@dataclass(frozen=True, slots=True)
class Spelling:
    """One interpretation of the input: a name to look up, and the regions the place should be in.

    `strict` means that it is a guess, which counts only if all regions match.
    """

    name: str
    hints: tuple[str, ...] = ()
    strict: bool = False


def spellings(location: str) -> Iterator[Spelling]:
    """The interpretations of a location, the likeliest first; none of a blank one."""
    parts = [part.strip() for part in location.split(",") if part.strip()]
    if not parts:
        return
    name, hints = parts[0], tuple(parts[1:])
    yield Spelling(", ".join(parts), hints)
    if hints:
        yield Spelling(name, hints)
    words = name.split()
    for last in (1, 2):
        if len(words) > last:
            yield Spelling(" ".join(words[:-last]), (" ".join(words[-last:]), *hints), strict=True)


def choose(places: Sequence[Place], spelling: Spelling) -> Place | None:
    """The first of the places with the most matching regions."""
    if not places:
        return None
    best = max(places, key=lambda place: _fitting(place, spelling))
    return None if spelling.strict and _fitting(best, spelling) < len(spelling.hints) else best


def fold(text: str) -> str:
    """The text without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS).replace(".", ""))
    letters = "".join(letter if letter.isalnum() else " " for letter in plain if not unicodedata.combining(letter))
    return " ".join(letters.split())


def _fitting(place: Place, spelling: Spelling) -> int:
    names = place.surroundings
    return sum(_covered(fold(hint).split(), names) for hint in spelling.hints)


def _covered(words: list[str], names: set[str]) -> bool:
    """Whether the words consist of such names only ("texas usa")."""
    return not words or any(
        " ".join(words[:end]) in names and _covered(words[end:], names) for end in range(1, len(words) + 1)
    )


def _codes_of(region: str, country_code: str) -> list[str]:
    entries = (entry.strip().split(" ", 1) for entry in _REGIONS.get(country_code, "").split("|") if entry)
    return [code for code, name in entries if fold(name) == region]


GEOCODING_URL = "https://geocoding-api.open-meteo.com"
FORECAST_URL = "https://api.open-meteo.com"
LONGEST_LOCATION = 200
"""Characters; the longest place name in the world has 168."""

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
    """The weather is unavailable; the sentence is for the model."""


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
    """get_weather. `timeout` is in seconds, for both requests together.

    Without a `client` it creates its own, which `aclose` closes.

    Raises:
        SettingsError: a proxy or certificates that the environment names cannot be used.
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
        self._client = client or _new_client(timeout)
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
        """The current weather there.

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


def _new_client(timeout: float) -> httpx2.AsyncClient:
    try:
        return httpx2.AsyncClient(timeout=timeout)
    except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:  # an import: for socks5://
        if not (names := network_variables_set()):
            raise
        why = fault_of_network_variable(error)
        raise SettingsError(f"EXTRA_TOOLS has weather, which cannot be asked ({why}). Check {names}.") from error


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
