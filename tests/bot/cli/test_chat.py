"""When earlier conversations began, as `marginalia chat` lists them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.cli.chat import day_and_time

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (datetime(2026, 3, 1, 0, 5, tzinfo=UTC), "today, 00:05"),
        (datetime(2026, 2, 28, 23, 55, tzinfo=UTC), "yesterday, 23:55"),
        (datetime(2026, 2, 27, 9, 30, tzinfo=UTC), "27 February 2026, 09:30"),
        (datetime(2025, 3, 1, 9, 30, tzinfo=UTC), "1 March 2025, 09:30"),
    ],
)
def test_a_moment_is_told_as_people_say_it(moment: datetime, told: str) -> None:
    assert day_and_time(moment, NOW) == told


def test_the_day_is_the_one_where_the_person_is() -> None:
    tokyo = timezone(timedelta(hours=9))
    begun = datetime(2026, 2, 28, 15, 5, tzinfo=UTC).astimezone(tokyo)
    assert day_and_time(begun, NOW.astimezone(tokyo)) == "today, 00:05"
