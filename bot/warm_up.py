"""What is done ahead of the first message, because it would hold up everybody's answers if it were done then."""

import asyncio
import gc
from collections.abc import Callable
from contextlib import suppress

from bot.prices import cost_in_microdollars
from bot.providers.base import WireChat
from domain.citations.page_numbers import without_typed_pages
from domain.errors import LLMError
from domain.ports import ChatProvider
from domain.tool_use import TokenUsage

COLLECTIONS = (2_000, 3, 7_000)
"""What the garbage collector waits for. The second figure bounds a look at what is not quite new to a few milliseconds;
with 10 it takes 20 when 200 answers are under way. The last makes it look at everything once in some ten thousand
answers: with 200 under way such a look takes 0.07 s, and `collect_when_idle` mostly comes first."""

IDLE_LOOK_S = 120.0


async def warm_up(provider: ChatProvider) -> None:
    """Load the model's SDK and its prices, and spare the garbage collector what has come to stay.

    A full collection stops the event loop for as long as it takes to look at every object there is: a tenth of a second
    with an SDK in memory, most of it for objects that will never go.
    """
    if isinstance(provider, WireChat):
        with suppress(LLMError):  # the first request will tell
            await provider.warm_up()
    await asyncio.to_thread(without_typed_pages, "on page 1")  # makes its patterns
    await asyncio.to_thread(cost_in_microdollars, provider.name, provider.model_name, TokenUsage())
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def collect_when_idle(is_busy: Callable[[], bool], *, look_s: float = IDLE_LOOK_S) -> None:
    """Look at all objects every `look_s` seconds, until cancelled, unless somebody would have to wait for it."""
    while True:
        await asyncio.sleep(look_s)
        if not is_busy():
            gc.collect()
