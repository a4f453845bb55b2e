"""What would hold up the first answers is done before the first message."""

import asyncio
import gc
import re
import weakref
from collections.abc import Iterator

import pytest

from bot.cli.run import collect_when_idle, warm_up
from domain.citations import symbols
from domain.citations.page_numbers import without_typed_pages
from tests.doubles.scripted_chat import ScriptedChat


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


async def test_what_has_come_to_stay_is_not_looked_at_by_every_collection() -> None:
    before = gc.get_freeze_count()
    await warm_up(ScriptedChat("x"))
    assert gc.get_freeze_count() > before
    assert gc.get_freeze_count() > 10 * len(gc.get_objects())


class Circle:
    def __init__(self) -> None:
        self.itself = self


async def test_what_goes_in_circles_is_collected_once_nobody_waits() -> None:
    gc.disable()
    busy = True
    circle = weakref.ref(Circle())
    collecting = asyncio.create_task(collect_when_idle(lambda: busy, look_s=0.001))
    await asyncio.sleep(0.05)
    assert circle() is not None
    busy = False
    while circle() is not None:
        await asyncio.sleep(0.001)
    collecting.cancel()
    gc.enable()


async def test_every_pattern_by_which_answers_are_checked_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    one = symbols.lazily("[0-9]+")
    await warm_up(ScriptedChat("x"))
    with monkeypatch.context() as patch:
        patch.delattr(re, "compile")
        assert one.findall("3 of 12") == ["3", "12"]
        assert without_typed_pages("The lamp is out (p. 3).") == "The lamp is out."


async def test_many_may_ask_for_the_patterns_at_once() -> None:
    patterns = [symbols.lazily(f"[0-9]{{{least}}}") for least in range(1, 200)]
    await asyncio.gather(*(symbols.compile_patterns() for _ in range(8)))
    assert all(pattern.fullmatch("7" * least) for least, pattern in enumerate(patterns, start=1))
