"""get_current_datetime: now, anywhere, by an injected clock."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.tools.clock import DateTimeTool, zones_near

NOON = datetime(2026, 11, 21, 12, 30, 5, 999_999, tzinfo=UTC)


async def ask(**args: Any) -> dict[str, Any]:
    output = await DateTimeTool(lambda: NOON).as_dispatcher_entry()(args)
    assert isinstance(output, str)
    answer = json.loads(output)
    assert isinstance(answer, dict)
    return answer


async def test_the_answer_has_exactly_the_promised_keys() -> None:
    assert await ask(timezone="Asia/Tokyo") == {
        "datetime_iso": "2026-11-21T21:30:05+09:00",
        "date": "2026-11-21",
        "time": "21:30:05",
        "timezone": "Asia/Tokyo",
        "day_of_week": "Saturday",
        "unix_timestamp": 1795264205,
    }


async def test_the_day_is_that_of_the_zone() -> None:
    answer = await ask(timezone="Pacific/Kiritimati")
    assert (answer["date"], answer["day_of_week"]) == ("2026-11-22", "Sunday")


@pytest.mark.parametrize("args", [{}, {"timezone": None}, {"timezone": ""}, {"timezone": " "}])
async def test_without_a_zone_it_is_utc(args: dict[str, Any]) -> None:
    answer = await ask(**args)
    assert (answer["timezone"], answer["datetime_iso"]) == ("UTC", "2026-11-21T12:30:05+00:00")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Europe/Pariss", "Europe/Paris"),
        ("paris", "Europe/Paris"),
        ("america/new york", "America/New_York"),
        ("Asia/tokyo", "Asia/Tokyo"),
    ],
)
async def test_an_unknown_zone_is_answered_with_those_near(name: str, meant: str) -> None:
    error = (await ask(timezone=name))["error"]
    assert error.startswith(f"Unknown time zone {name!r}. Did you mean ")
    assert meant in error
    assert zones_near(name)[0] == meant


@pytest.mark.parametrize(
    "name", ["Europe", "../../etc/passwd", "/etc/passwd", "tzdata.zi", "a\0b", "\ud800", "x" * 5000, "Middle Earth"]
)
async def test_odd_names_are_unknown_zones(name: str) -> None:
    error = (await ask(timezone=name))["error"]
    assert error.startswith("Unknown time zone")
    assert len(error) < 250


@pytest.mark.parametrize("zone", [5, ["UTC"], True])
async def test_what_is_no_text_is_refused(zone: Any) -> None:
    assert "must be the name" in (await ask(timezone=zone))["error"]


async def test_by_default_the_clock_is_the_real_one() -> None:
    before = datetime.now(UTC)
    output = await DateTimeTool().as_dispatcher_entry()({})
    assert isinstance(output, str)
    stamp = json.loads(output)["unix_timestamp"]
    assert int(before.timestamp()) <= stamp <= datetime.now(UTC).timestamp()


@given(st.text(max_size=40))
async def test_no_zone_whatever_makes_it_raise(zone: str) -> None:
    assert await ask(timezone=zone)
