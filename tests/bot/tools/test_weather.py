"""get_weather: the right place, the promised keys, and a sentence for everything that can go wrong."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.weather import WeatherTool
from domain.errors import SettingsError
from tests.doubles.open_meteo import LIMERICK_IE, LIMERICK_PA, TROMSO, WHITE_PLAINS_NC, WHITE_PLAINS_NY, OpenMeteoDouble


@pytest.fixture
async def service() -> AsyncIterator[OpenMeteoDouble]:
    async with OpenMeteoDouble() as double:
        yield double


@pytest.fixture
async def tool(service: OpenMeteoDouble) -> AsyncIterator[WeatherTool]:
    weather = WeatherTool(geocoding_url=service.base_url, forecast_url=f"{service.base_url}/", timeout=5)
    yield weather
    await weather.aclose()


async def ask(tool: WeatherTool, **args: Any) -> dict[str, Any]:
    output = await tool.as_dispatcher_entry()(args)
    assert isinstance(output, str)
    answer = json.loads(output)
    assert isinstance(answer, dict)
    return answer


async def test_the_weather_has_exactly_the_promised_keys(tool: WeatherTool) -> None:
    assert await ask(tool, location="Ulm") == {
        "location_name": "Ulm, Baden-Wurttemberg, Germany",
        "temperature_c": 22.5,
        "temperature_f": 72.5,
        "conditions": "Partly cloudy",
        "humidity_percent": 52,
        "wind_speed_kmh": 16.1,
        "wind_speed_mph": 10.0,
    }


async def test_a_code_nobody_knows_is_named(tool: WeatherTool, service: OpenMeteoDouble) -> None:
    service.current["weather_code"] = 42
    assert (await ask(tool, location="Ulm"))["conditions"] == "Unknown conditions (code 42)"


@pytest.mark.parametrize(
    ("location", "place", "searches"),
    [
        ("Tromso", "Tromsø, Åland", ["Tromso"]),
        ("Tromso, Norway", "Tromsø, Troms, Norway", ["Tromso, Norway", "Tromso"]),
        ("Tromsø Norway", "Tromsø, Troms, Norway", ["Tromsø Norway", "Tromsø"]),
        ("Limerick, Ireland", "Limerick, Munster, Ireland", ["Limerick, Ireland", "Limerick"]),
        ("Limerick, PA, USA", "Limerick, Pennsylvania, United States", ["Limerick, PA, USA", "Limerick"]),
        ("White Plains NY", "White Plains, New York, United States", ["White Plains NY", "White Plains"]),
        ("white plains, north carolina", "White Plains, North Carolina, United States", None),
        ("White Plains North Carolina", "White Plains, North Carolina, United States", None),
    ],
)
async def test_places_are_found_as_people_write_them(
    tool: WeatherTool, service: OpenMeteoDouble, location: str, place: str, searches: list[str] | None
) -> None:
    assert (await ask(tool, location=location))["location_name"] == place
    if searches is not None:
        assert service.searches == searches


async def test_the_weather_asked_for_is_that_of_the_place_found(tool: WeatherTool, service: OpenMeteoDouble) -> None:
    for location, place in {
        "Tromso, Norway": TROMSO,
        "White Plains NY": WHITE_PLAINS_NY,
        "White Plains NC": WHITE_PLAINS_NC,
        "Limerick, Ireland": LIMERICK_IE,
        "Limerick, Pennsylvania": LIMERICK_PA,
    }.items():
        await ask(tool, location=location)
        path, query = service.requests[-1]
        assert path == "/v1/forecast"
        assert (query["latitude"], query["longitude"]) == (str(place["latitude"]), str(place["longitude"]))


async def test_an_unknown_place_is_named_after_a_few_tries(tool: WeatherTool, service: OpenMeteoDouble) -> None:
    assert await ask(tool, location="Xanadu the Lost City, Nowhere") == {
        "error": "No place called 'Xanadu the Lost City, Nowhere' was found"
    }
    assert len(service.searches) <= 4


@pytest.mark.parametrize("args", [{}, {"location": ""}, {"location": "  , "}, {"location": None}])
async def test_a_missing_location_is_said_without_asking_anybody(
    tool: WeatherTool, service: OpenMeteoDouble, args: dict[str, Any]
) -> None:
    assert await ask(tool, **args) == {"error": "Missing required argument: location"}
    assert not service.requests


@pytest.mark.parametrize("location", [5, ["Ulm"], {"name": "Ulm"}, True, "x" * 201])
async def test_a_location_that_is_no_name_is_refused(tool: WeatherTool, location: Any) -> None:
    assert (await ask(tool, location=location))["error"].startswith("location ")


@pytest.mark.parametrize("path", ["/v1/search", "/v1/forecast"])
@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (500, "Weather service error: 500"),
        (429, "Weather service error: 429"),
        (302, "Weather service error: 302"),
        (b"<html>", "Weather service sent an answer that cannot be read"),
        (b'{"results": 3, "current": {"temperature_2m": null}}', "Weather service sent an answer that cannot be read"),
        (b"\xff\xfe", "Weather service sent an answer that cannot be read"),
        ("cut", "Weather service could not be reached"),
    ],
)
async def test_every_failure_of_the_service_has_its_sentence(
    tool: WeatherTool, service: OpenMeteoDouble, path: str, failure: int | bytes | str, sentence: str
) -> None:
    service.failing[path] = failure
    assert await ask(tool, location="Ulm") == {"error": sentence}


@pytest.mark.parametrize("path", ["/v1/search", "/v1/forecast"])
async def test_a_service_that_does_not_answer_is_given_up(service: OpenMeteoDouble, path: str) -> None:
    service.failing[path] = "hang"
    tool = WeatherTool(geocoding_url=service.base_url, forecast_url=service.base_url, timeout=0.05)
    assert await ask(tool, location="Ulm") == {"error": "Weather service timed out"}
    await tool.aclose()


async def test_a_service_that_is_not_there_is_a_result_too(service: OpenMeteoDouble) -> None:
    tool = WeatherTool(geocoding_url="http://127.0.0.1:1")
    assert await ask(tool, location="Ulm") == {"error": "Weather service could not be reached"}
    await tool.aclose()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "/no/such.pem"),
        ("ALL_PROXY", "socks://127.0.0.1:1080"),
        ("ALL_PROXY", "socks5://127.0.0.1:1080"),
        ("HTTPS_PROXY", "http://me:secret#@proxy:8080"),
    ],
)
def test_an_environment_without_a_way_out_is_a_setting(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=rf"EXTRA_TOOLS has weather, .* Check .*{name}") as caught:
        WeatherTool()
    assert "secret" not in str(caught.value)


async def test_many_may_ask_at_once(tool: WeatherTool) -> None:
    answers = await asyncio.gather(*(ask(tool, location=name) for name in ["Ulm", "Limerick, Ireland"] * 10))
    assert [answer["location_name"].split(",")[0] for answer in answers] == ["Ulm", "Limerick"] * 10


async def test_a_client_of_somebody_else_stays_open() -> None:
    async with httpx2.AsyncClient() as client:
        await WeatherTool(client).aclose()
        assert not client.is_closed


_json = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3)


@given(st.dictionaries(st.sampled_from(["location", "x"]), _json))
def test_no_arguments_whatever_make_it_raise(args: dict[str, Any]) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={})

    async def call() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(refuse)) as client:
            assert "error" in await ask(WeatherTool(client), **args)

    asyncio.run(call())
