"""Session starts: no more in a day than Discord allows."""

from bot.client.client import AN_HOUR_AT_MOST, IdentifyLimit


class Time:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_few_need_no_wait() -> None:
    starts = IdentifyLimit(Time())
    for _ in range(AN_HOUR_AT_MOST - 1):
        starts.count()
    assert starts.wait() == 0


def test_too_many_wait_until_the_oldest_is_an_hour_old() -> None:
    time = Time()
    starts = IdentifyLimit(time)
    for _ in range(AN_HOUR_AT_MOST):
        starts.count()
        time.seconds += 10
    assert starts.wait() == 3600 - 10 * AN_HOUR_AT_MOST
    time.seconds = 3600
    assert starts.wait() == 0


def test_a_whole_day_of_restarts_stays_below_a_thousand() -> None:
    time, day, count = Time(), 24 * 3600, 0
    starts = IdentifyLimit(time)
    while time.seconds < day:
        time.seconds += max(1.0, starts.wait())
        starts.count()
        count += 1
    assert count < 1000
