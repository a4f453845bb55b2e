"""What the catalogue offers, and what becomes of a catalogue that is down, slow or out of its mind."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.downloads import BookHosts, GuardedDownloads
from bot.gutendex import GutendexCatalogue
from domain.book import OfferedBook
from domain.errors import DownloadError, DownloadErrorCode
from tests.doubles.book_host import LIMIT_MB, NOVEL, BookHostDouble


@pytest.fixture
async def host() -> AsyncIterator[BookHostDouble]:
    async with BookHostDouble() as double:
        yield double


def catalogue(host: BookHostDouble, url: str = "", seconds: float = 5.0) -> GutendexCatalogue:
    guard = GuardedDownloads(BookHosts.parse([host.place]), max_file_mb=LIMIT_MB)
    return GutendexCatalogue(url or host.url, guard, seconds=seconds)


async def test_a_book_is_offered_with_its_author_language_and_length_and_its_epub_before_its_text(
    host: BookHostDouble,
) -> None:
    host.catalogue = [host.offer("The Dark  Lamp", languages=["en", "la"])]
    assert await catalogue(host).find("dark lamp") == [
        OfferedBook(
            title="The Dark Lamp",
            author="M. Wick",
            languages=("en", "la"),
            url=f"{host.url}/ebooks/11.epub3.images",
            format="epub",
            words=len(NOVEL.encode()) // 6,
        )
    ]


async def test_a_book_with_a_text_alone_is_offered_as_that(host: BookHostDouble) -> None:
    texts = {"text/plain; charset=utf-8": f"{host.url}/ebooks/11.txt.utf-8", "text/plain": f"{host.url}/11.zip"}
    host.catalogue = [host.offer("A", formats=texts), host.offer("B", formats={"text/plain": f"{host.url}/11.zip"})]
    [found] = await catalogue(host).find("a")
    assert (found.title, found.format, found.url) == ("A", "txt", f"{host.url}/ebooks/11.txt.utf-8")


async def test_the_length_is_left_out_where_nobody_says(host: BookHostDouble) -> None:
    host.catalogue = [host.offer("A", number=99)]
    [found] = await catalogue(host).find("a")
    assert (found.words, found.size) == (None, None)


async def test_ten_are_offered_at_most_and_nothing_that_cannot_be_read(host: BookHostDouble) -> None:
    odd: list[Any] = [
        host.offer("Sound", media_type="Sound"),
        host.offer("Bare", formats={}),
        {"title": 5},
        None,
        "x",
        [],
    ]
    host.catalogue = [*odd, *(host.offer(f"Book {number}") for number in range(30))]
    found = await catalogue(host).find("book")
    assert [each.title for each in found] == [f"Book {number}" for number in range(10)]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("Carroll, Lewis", "Lewis Carroll"), ("Doyle, Arthur Conan, Sir", "Doyle, Arthur Conan, Sir"), ("Homer", "Homer")],
)
async def test_an_author_is_called_by_their_name(host: BookHostDouble, name: str, shown: str) -> None:
    host.catalogue = [host.offer("A", author=name)]
    assert [each.author for each in await catalogue(host).find("a")] == [shown]


@pytest.mark.parametrize(
    "reply",
    ["", "<html>", "[]", "{}", "null", '{"results": null}', '{"results": "x"}', "{" * 5_000, "\0", " " * (5 * 2**20)],
)
async def test_an_answer_that_makes_no_sense_is_a_sentence(host: BookHostDouble, reply: str) -> None:
    host.catalogue = reply
    with pytest.raises(DownloadError) as caught:
        await catalogue(host).find("a")
    assert caught.value.code is DownloadErrorCode.CATALOGUE_DOWN


async def test_a_catalogue_that_is_slow_or_not_there_is_a_sentence(host: BookHostDouble) -> None:
    host.catalogue = None
    for found in (
        catalogue(host, seconds=0.3),
        catalogue(host, "http://127.0.0.1:1"),
        catalogue(host, f"{host.url}/x"),
    ):
        with pytest.raises(DownloadError) as caught:
            await found.find("a")
        assert caught.value.code is DownloadErrorCode.CATALOGUE_DOWN


async def test_the_query_is_passed_on_on_one_line(host: BookHostDouble) -> None:
    host.catalogue = json.dumps({"results": []})
    assert await catalogue(host).find("  alice\n in & wonderland " + "x" * 500) == []
    assert host.asked == ["/books/"]
