"""The bot in the browser, as somebody without a token gets to know it."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.book_host import BookHostDouble
from tests.doubles.chromium import chromium
from tests.journeys.browser_reader import BrowserReader, at_the_page, find_a_book, read_in_a_club
from tests.journeys.terminal import Terminal

QUESTION = "What did the flour and the crate hold?"


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[BrowserReader]:
    async with at_the_page(tmp_path) as reader:
        yield reader


@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed here")
async def test_ann_asks_looks_into_a_tool_call_says_how_far_she_is_and_ben_joins(ann: BrowserReader) -> None:
    await ann.sees("A conversation about a book")
    await ann.sees("Here it is:")

    await ann.write(QUESTION)
    card, answer = await ann.after(QUESTION)
    assert card.count("▸ 1") == 1
    assert "Show search 1" in card
    assert "search_book" in card
    assert "Result" not in card
    assert "p. " in answer

    await ann.press("Show search 1")
    await ann.sees("▾ 1 search_book")
    [opened, _] = await ann.after(QUESTION)
    assert '"query"' in opened
    assert "Result" in opened
    await ann.press("Hide search 1")
    assert await ann.after(QUESTION) == [card, answer]

    await ann.command("verbose")
    await ann.sees("This thread no longer shows how I look things up.")
    await ann.write("Who is Varley?")
    [uncarded] = await ann.after("Who is Varley?")
    assert "p. " in uncarded

    await ann.press("Sources")
    await ann.sees("Only you can see this")
    await ann.command("progress", {"chapter": ("1", "Sixty-Two Posts")})
    await ann.sees("I won't reveal anything after it")

    await ann.switch_to("Ben")
    await ann.write("I rather like Varley.")
    [hint] = await ann.after("I rather like Varley.", "when you mention me or reply to me.")
    assert "more than one of you here now" in hint


@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed here")
async def test_ann_and_ben_read_the_sample_novel_in_a_club(ann: BrowserReader) -> None:
    await read_in_a_club(ann)
    await ann.go_to("Section 1 · Return on the Ebb (Ann, Ben)")
    await ann.sees("This thread talks about “Return on the Ebb” up to about p. ")
    await ann.sees("(about p. ")


@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed here")
async def test_ann_finds_a_book_asks_at_one_press_says_how_far_she_is_and_sets_up_the_server(tmp_path: Path) -> None:
    async with BookHostDouble() as host:
        host.catalogue = [host.offer("The Dark Lamp")]
        async with at_the_page(tmp_path, GUTENDEX_URL=host.url, BOOK_HOSTS=host.place) as ann:
            await find_a_book(ann, "The Dark Lamp")
            await ann.press("How does the book begin?")
            await ann.sees("Your conversation about “The Dark Lamp”")
            await ann.press("Contents")
            await ann.sees("Format")
            await ann.command("settings show")
            await ann.sees("Who may add books")
            await ann.go_to("How does the book begin?")
            await ann.sees("It begins:")
            await ann.press("Set my page")
            await ann.fill_in("page", "1")
            await ann.sees("I won't reveal anything after it")


async def test_a_port_that_is_taken_is_said_to_be(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = await Terminal(tmp_path).run("preview", "--port", str(port))
    assert ran.code == 1
    assert f"could not bind port {port}. Without --port, one that is free is taken." in ran.err
