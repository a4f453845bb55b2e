"""Many who start at once do not hold up the others."""

import asyncio

from bot.providers.base import LoopYield


async def test_between_two_that_pass_everybody_else_has_a_round() -> None:
    loop_yield = LoopYield()
    order: list[str] = []

    async def passing(name: str) -> None:
        await loop_yield()
        order.append(name)

    async def living(rounds: int) -> None:
        for _ in range(rounds):
            order.append(".")
            await asyncio.sleep(0)

    await asyncio.gather(*(passing(name) for name in "abc"), living(12))
    assert [name for name in order if name != "."] == ["a", "b", "c"]
    between = "".join(order).split("a")[1].split("c")[0]
    assert all(part for part in between.split("b")), order
