"""Take the pictures of the README from the page of `marginalia preview`: `make pictures`. Needs a Chromium."""

import asyncio
import re
import tempfile
from pathlib import Path

from PIL import Image, ImageOps

from bot.app import SAMPLE
from bot.cli.run import QUESTIONS
from tests.doubles.book_host import BookHostDouble
from tests.journeys.browser_reader import MESSAGES, BrowserReader, at_the_page, find_a_book, read_in_a_club
from tests.test_pictures import AHEAD, FIRST

HERE = Path(__file__).parent
TITLE, AUTHOR = "Return on the Ebb", "Marginalia contributors"
WIDTH, HEIGHT, SCALE = 860, 2400, 1.5
"""The window is higher than what is to be seen in it."""
MARGIN = 12
COLOURS = 128
BACKGROUND = "#323339"
NEWEST = f"[...document.querySelectorAll({MESSAGES!r})].at(-1).scrollIntoView({{block: 'end'}})"
BOXES = f"[...document.querySelectorAll({MESSAGES!r})].map(each => each.getBoundingClientRect().toJSON())"
WORDS = f"[...document.querySelectorAll({MESSAGES!r})].map(each => each.innerText.trim())"
"""Kept beside each picture, so that a test can say when the bot would say something else."""
AS_ON_DISCORD = """
    document.activeElement.blur();
    document.querySelectorAll(".code-block").forEach(each => each.style.whiteSpace = "pre-wrap");
    document.querySelectorAll(".code-block code").forEach(each => each.style.minWidth = "0");
    document.querySelectorAll(".message-edited-compact").forEach(each => each.style.display = "none");
"""
"""Discord breaks long lines of code, where this page scrolls them, and has a place of its own for “(edited)”."""


NAMED = """
    (texts => {
        const numbers = new Set();
        for (let each; (each = texts.nextNode());)
            for (const [, number] of each.data.matchAll(/<@(\\d+)>/g)) numbers.add(number);
        const names = Object.fromEntries([...numbers].sort().map((number, at) => [number, ["Ann", "Ben"][at]]));
        texts.currentNode = texts.root;
        for (let each; (each = texts.nextNode());)
            each.data = each.data.replace(/<@(\\d+)>/g, (_, number) => `@${names[number]}`);
    })(document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT))
"""
"""Discord shows people by their names on cards, where this page has their numbers."""


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with at_the_page(Path(folder), WIDTH, HEIGHT, SCALE) as ann:
            await ann.page.click("#messages-toggle")
            first, *_ = QUESTIONS
            shown = 1 + len(await ann.after(first))
            await ann.press("Show quotation 1")
            await ann.sees("▾ 1")
            await save(ann, "thread", last=shown)

            await ann.command("verbose")
            await ann.command("progress", {"chapter": ("1", "Sixty-Two Posts")})
            await ann.write(AHEAD)
            await ann.after(AHEAD, "Try again")
            await save(ann, "progress", last=3)
    await take_club()
    await take_cards()


async def take_club() -> None:
    """A plan card after a check-in, and the thread of its first section."""
    with tempfile.TemporaryDirectory() as folder:
        async with at_the_page(Path(folder), WIDTH, HEIGHT, SCALE) as ann:
            await read_in_a_club(ann)
            await ann.page.click("#messages-toggle")
            await ann.page.evaluate(NAMED)
            await save(ann, "club", last=3)


async def take_cards() -> None:
    """A book that is found and added, its contents, the settings, and the sources of a first answer."""
    async with BookHostDouble() as host:
        text = f"{host.url}/ebooks/11.txt.utf-8"
        plain = re.sub(r"(?m)^#+ ", "", SAMPLE.read_text(encoding="utf-8"))  # another file than the one on the shelf
        host.files["/ebooks/11.txt.utf-8"] = ("text/plain; charset=utf-8", plain.encode())
        host.catalogue = [host.offer(TITLE, AUTHOR, formats={"text/plain; charset=utf-8": text})]
        with tempfile.TemporaryDirectory() as folder:
            settings = {"GUTENDEX_URL": host.url, "BOOK_HOSTS": host.place}
            async with at_the_page(Path(folder), WIDTH, HEIGHT, SCALE, **settings) as ann:
                await find_a_book(ann, TITLE)
                await ann.page.click("#messages-toggle")
                await save(ann, "book", last=2)
                await ann.press("Contents")
                await ann.sees("Format")
                await ann.page.evaluate(NAMED)
                await save(ann, "contents", last=1)
                await ann.command("settings show")
                await ann.sees("Who may add books")
                await save(ann, "settings", last=1)
                await ann.press(FIRST)
                await ann.sees("Your conversation about")
                await ann.go_to(FIRST)
                await ann.sees("Try again")
                await ann.press("Sources")
                await ann.sees("Only you can see this")
                await save(ann, "sources", last=1)


async def save(ann: BrowserReader, name: str, *, last: int) -> None:
    """The last messages, and nothing around them."""
    await ann.page.evaluate(AS_ON_DISCORD)
    await ann.rest()
    await ann.page.evaluate(NEWEST)
    await ann.rest()
    said = (await ann.page.evaluate(WORDS))[-last:]
    (HERE / f"{name}.txt").write_text("\n\n".join(said) + "\n", encoding="utf-8")
    boxes = (await ann.page.evaluate(BOXES))[-last:]
    left, top = boxes[0]["left"], boxes[0]["top"] - MARGIN
    right, bottom = max(each["right"] for each in boxes), boxes[-1]["bottom"]
    file = HERE / f"{name}.png"
    file.write_bytes(await ann.page.picture({"x": left, "y": top, "width": right - left, "height": bottom - top}))
    with Image.open(file) as taken:
        picture = taken.convert("RGB")
    wider = ImageOps.expand(picture, (0, 0, 0, int(MARGIN * SCALE)), BACKGROUND)
    wider.quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    asyncio.run(main())
