"""A person at the page of `marginalia preview`, with a browser, a mouse and a keyboard."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.doubles.chromium import Page, browsing
from tests.journeys.forked import Forked
from tests.journeys.terminal import Terminal

STARTED_S = 120.0
MESSAGES = "#channel-message-list > *"
AT_REST = "window.simcordPreview?.ready && !window.simcordPreview.awaitingRevision"


@dataclass(frozen=True)
class BrowserReader:
    """`said` is what the preview writes, which says where its pages are."""

    page: Page
    said: asyncio.StreamReader

    async def go_to(self, place: str) -> None:
        """Open the page of a channel or thread, once the preview has said where it is."""
        await self.open(await asyncio.wait_for(_announced(self.said, re.escape(place)), STARTED_S))

    async def open(self, url: str) -> None:
        await self.page.go(url)
        await self.rest()

    async def write(self, text: str) -> None:
        """Send a message in the thread; returns when the bot has come to rest."""
        await self.rest()
        await self.page.click("#channel-composer-input")
        await self.page.type(text)
        await self.page.press("Enter")
        await self.rest()

    async def command(self, name: str, options: Mapping[str, tuple[str, str]] | None = None) -> None:
        """Use a slash command. An option is what is typed, and the suggestion then chosen."""
        await self.rest()
        await self.page.click("#channel-composer-input")
        await self.page.type(f"/{name}")
        await self.page.click(".command-entry", f"/{name}")
        for option, (typed, suggestion) in (options or {}).items():
            is_there = await self.page.evaluate(
                f"!!document.querySelector('.command-option-input[data-option={option}]')"
            )
            if not is_there:  # one that is required is
                await self.page.click(".command-ghost")
                await self.page.click(".command-suggestion", option)
            await self.page.click(f".command-option-input[data-option={option}]")
            await self.page.type(typed)
            if suggestion:
                await self.page.click(".command-suggestion", suggestion)
        await self.page.click("#send-message")
        await self.rest()

    async def press(self, label: str) -> None:
        """Press the newest button of that label under a message."""
        await self.rest()
        await self.page.click(".component-button", label)
        await self.rest()

    async def choose(self, option: str) -> None:
        """Choose from the newest menu under a message."""
        await self.rest()
        await self.page.click(".select-trigger")
        await self.page.click(".select-option", option)
        await self.rest()

    async def fill_in(self, field: str, text: str) -> None:
        """Write into a line of the form that is open, and send it."""
        await self.page.click(f".modal-field[data-custom-id='{field}'] :is(input, textarea)")
        await self.page.type(text)
        await self.page.click(".modal-dialog button[type=submit]")
        await self.rest()

    async def switch_to(self, name: str) -> None:
        """Be the other reader."""
        await self.page.evaluate(
            f"(picker => {{ picker.value = [...picker.options].find(each => each.text === '{name}').value; "
            "picker.dispatchEvent(new Event('change')); })(document.getElementById('viewer-picker'))"
        )
        await self.rest()

    async def sees(self, text: str) -> None:
        """Wait until a text stands in a message."""
        await self.page.until_text(MESSAGES, text)

    async def after(self, question: str, ending: str = "Try again") -> list[str]:
        """The messages after a question, once the last of them ends so; an answer ends with its button."""
        shown = f"[...document.querySelectorAll('{MESSAGES}')].map(each => each.innerText.trim())"
        await self.page.until(
            f"(shown => shown.some(each => each.endsWith({json.dumps(question)})) && "
            f"!shown.join().includes('⏳') && shown.at(-1).endsWith({json.dumps(ending)}))({shown})"
        )
        said = [str(each) for each in await self.page.evaluate(shown)]
        asked = max(place for place, each in enumerate(said) if each.endswith(question))
        return said[asked + 1 :]

    async def rest(self) -> None:
        """Wait until the page shows what has come of the last thing done; it takes nothing else until then."""
        await asyncio.sleep(0.1)
        await self.page.until(AT_REST)


async def read_in_a_club(ann: BrowserReader) -> None:
    """Ann begins a club on the sample novel, Ben joins, and both have read the first section."""
    await ann.go_to("#reading-room")
    await ann.command("club start", {"book": ("Return", "Return on the Ebb")})
    await ann.sees("A club is reading")
    await ann.switch_to("Ben")
    await ann.press("Join")
    await ann.press("I'm there")
    await ann.sees("1 of 2 is there")
    await ann.switch_to("Ann")
    await ann.press("I'm there")
    await ann.sees("2 of 2 are there")


async def find_a_book(ann: BrowserReader, title: str) -> None:
    """Ann looks for a book in the catalogue and adds it."""
    await ann.go_to("#reading-room")
    await ann.command("books find", {"query": (title, "")})
    await ann.sees("Found in Project Gutenberg's catalogue")
    await ann.choose(title)
    await ann.sees("Added to the shelf")


@asynccontextmanager
async def at_the_page(
    folder: Path, width: int = 1100, height: int = 1000, scale: float = 1.0, **settings: str
) -> AsyncIterator[BrowserReader]:
    """`marginalia preview` in a process of its own, with these settings, and a person who has opened its page."""
    reading, writing = map(os.fdopen, os.pipe(), ("rb", "wb"))
    with writing, Path(os.devnull).open("rb") as nothing, os.fdopen(os.dup(2), "wb") as errors:
        process = Forked(["preview"], Terminal(folder).environment(**settings), folder, (nothing, writing, errors))
    said = asyncio.StreamReader()
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(said), reading)
    try:
        url = await asyncio.wait_for(_announced(said), STARTED_S)
        async with browsing(width, height, scale) as page:
            reader = BrowserReader(page, said)
            await reader.open(url)
            yield reader
    finally:
        os.kill(process.pid, signal.SIGTERM)
        await process.end()
        pipe.close()


async def _announced(said: asyncio.StreamReader, place: str = "") -> str:
    """The address in the next line of the preview that names the place."""
    while line := await said.readline():
        if found := re.search(rf"{place}.*?(http://\S+)", line.decode()):
            return found[1]
    raise AssertionError("the preview ended without a word of its address")
