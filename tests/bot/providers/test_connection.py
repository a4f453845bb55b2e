import asyncio
from email.utils import formatdate
from time import time

import httpx2
import pytest

from bot.providers.base import LateClient, refuse_long_waits, retry_after


class Client:
    def __init__(self) -> None:
        self.open = True

    async def close(self) -> None:
        self.open = False


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, 24 * 3600.0),
        ({"retry-after": "9" * 30}, 24 * 3600.0),
        ({"retry-after": "Fri, 31 Dec 2999 23:59:59 GMT"}, 24 * 3600.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_how_long_a_service_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_wait_given_as_a_date() -> None:
    assert 50 < (retry_after({"retry-after": formatdate(time() + 60)}) or 0) <= 60


@pytest.mark.parametrize(("wait", "told"), [("20", None), ("21", "false"), ("inf", "false"), ("", None)])
async def test_the_sdk_is_told_not_to_sleep_through_long_waits(wait: str, told: str | None) -> None:
    response = httpx2.Response(429, headers={"retry-after": wait})
    await refuse_long_waits(response)
    assert response.headers.get("x-should-retry") == told


async def test_a_client_is_made_at_first_use_and_only_once() -> None:
    made: list[Client] = []

    def build() -> Client:
        made.append(Client())
        return made[-1]

    late = LateClient(build)
    await late.close()
    assert made == []
    assert await late.get() is await late.get()
    await late.close()
    assert [client.open for client in made] == [False]
    assert (await late.get()).open


def test_in_another_event_loop_there_is_another_client() -> None:
    late = LateClient(Client)

    async def used_twice() -> Client:
        assert await late.get() is await late.get()
        return await late.get()

    first, second = asyncio.run(used_twice()), asyncio.run(used_twice())
    assert first is not second
    asyncio.run(late.close())
    assert first.open
