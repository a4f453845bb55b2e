"""/books find and /books fetch: books from elsewhere, on the shelf in one command and one choice."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from simcord.results import InteractionResult

from domain.book import personal_shelf
from tests.bot.online import online
from tests.cogs.stage import Stage, text_of
from tests.doubles.book_host import BookHostDouble
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.pointing import pointed_at
from tests.sampling import a_few


@pytest.fixture
async def host() -> AsyncIterator[BookHostDouble]:
    async with BookHostDouble() as double:
        yield double


@pytest.fixture
def settings(host: BookHostDouble) -> dict[str, Any]:
    return {"gutendex_url": host.url, "book_hosts": f"{host.place},gutenberg.org", "max_upload_mb": 1}


def options(shown: InteractionResult) -> list[dict[str, Any]]:
    assert shown.response is not None
    [row] = shown.response.components
    return list(row["components"][0]["options"])


async def titles(stage: Stage) -> list[str]:
    return [book.title for book in await stage.app.shelf.list(None)]


async def test_a_book_is_found_chosen_and_added(stage: Stage, host: BookHostDouble) -> None:
    host.catalogue = [host.offer("The Dark Lamp"), host.offer("Faust", "Goethe, Johann Wolfgang von", 12)]
    found = await stage.ann.slash(stage.channel, "books find", query="dark lamp")
    assert found.ephemeral
    assert [each["label"] for each in options(found)] == ["The Dark Lamp", "Faust"]
    assert options(found)[0]["description"] == "M. Wick · English · about 56 words"
    assert found.response
    added = await stage.ann.select(found.response, [options(found)[0]["value"]])
    assert not added.ephemeral
    for fact in ("Added to the shelf", "The Dark Lamp", "M. Wick", "EPUB"):
        assert fact in text_of(added), fact
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    assert (book.format, book.added_by) == ("epub", str(stage.ann.id))
    assert "/ebooks/11.epub3.images" in host.asked


async def test_a_menu_is_chosen_from_after_a_restart(stage: Stage, host: BookHostDouble) -> None:
    host.catalogue = [host.offer("The Dark Lamp")]
    found = await stage.ann.slash(stage.channel, "books find", query="dark lamp")
    await stage.restart()
    assert found.response
    await stage.ann.select(found.response, [options(found)[0]["value"]])
    assert await titles(stage) == ["The Dark Lamp"]


async def test_a_search_without_results_says_so(stage: Stage) -> None:
    found = await stage.ann.slash(stage.channel, "books find", query="**zzz**")
    assert "nothing for “\\*\\*zzz\\*\\*”" in text_of(found)


async def test_a_catalogue_out_of_its_mind_is_a_sentence(stage: Stage, host: BookHostDouble) -> None:
    host.catalogue = "<html>"
    found = await stage.ann.slash(stage.channel, "books find", query="lamp")
    assert "an answer I can't read" in text_of(found)


class TestOff:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"gutendex_url": ""}

    async def test_the_search_is_off_where_the_operator_names_no_catalogue(self, stage: Stage) -> None:
        found = await stage.ann.slash(stage.channel, "books find", query="lamp")
        assert found.ephemeral
        assert "turned off" in text_of(found)


async def test_a_book_is_fetched_from_its_address(stage: Stage, host: BookHostDouble) -> None:
    address = f"{host.url}/ebooks/11.txt.utf-8"
    added = await stage.ann.slash(stage.channel, "books fetch", url=address, title="Lamp", author="Wick")
    assert "Added to the shelf" in text_of(added)
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    assert (book.title, book.author, book.format, book.filename) == ("Lamp", "Wick", "txt", "11.txt.utf-8")


@pytest.mark.parametrize(
    ("address", "sentence"),
    a_few(
        [
            ("https://evil.example/book.epub", "I'm not allowed to download from evil"),
            ("http://www.gutenberg.org/book.epub", "by https"),
            ("https://127.0.0.1/book.epub", "I'm not allowed to download from 127"),
            ("https://2130706433/", "I'm not allowed to download"),
            ("nonsense", "isn't the address"),
            ("{host}/led-away", "not allowed to download from there"),
            ("{host}/endless", "larger than 1 MB"),
            ("{host}/bomb", "larger than 1 MB"),
            ("{host}/broken", "broke off"),
            ("{host}/missing", "no file at this address"),
            ("{host}/photo", "image/png"),
            ("{host}/page", "a web page, not a book"),
            ("{host}/nothing.txt", "This file is empty"),
        ],
        3,
    ),
)
async def test_what_is_no_book_is_a_sentence_and_nothing_is_stored(
    stage: Stage, host: BookHostDouble, address: str, sentence: str
) -> None:
    host.leads["/led-away"] = "http://169.254.169.254/latest/meta-data/"
    host.files |= {"/photo": ("image/png", b"\x89PNG"), "/page": ("text/html", b"<html>"), "/nothing.txt": ("", b"  ")}
    refused = await stage.ann.slash(stage.channel, "books fetch", url=address.format(host=host.url))
    assert sentence in text_of(refused)
    assert await titles(stage) == []
    assert not [*stage.app.settings.data_dir.glob("books/*")]


class TestLimits:
    @pytest.fixture
    def settings(self, host: BookHostDouble) -> dict[str, Any]:
        return {"gutendex_url": host.url, "book_hosts": host.place, "max_adds_per_hour": 1}

    async def test_downloads_count_among_the_books_a_person_may_add(self, stage: Stage, host: BookHostDouble) -> None:
        await stage.ann.slash(stage.channel, "books fetch", url=f"{host.url}/ebooks/11.txt.utf-8")
        host.asked.clear()
        refused = await stage.ann.slash(stage.channel, "books fetch", url=f"{host.url}/ebooks/11.epub3.images")
        assert "within an hour" in text_of(refused)
        assert host.asked == []


async def test_in_direct_messages_it_goes_on_the_persons_own_shelf_in_their_language(
    host: BookHostDouble, tmp_path: Path
) -> None:
    host.catalogue = [host.offer("The Dark Lamp", languages=["en", "la"])]
    async with DiscordDouble() as double:
        with pointed_at(double):
            async with online(double, tmp_path, gutendex_url=host.url, book_hosts=host.place) as bot:
                ann = double.stranger("ann")
                ann.install()
                ann.locale = "de"
                found = await ann.slash("books find", channel=ann.direct_channel, query="lamp")
                await double.until(lambda: "Project Gutenberg" in found.text)
                [option] = found.message.components[0]["components"][0]["options"]
                assert option["description"] == "M. Wick · Englisch, Latein · etwa 56 Wörter"
                chosen = await ann.select(found.message, option["value"])
                await double.until(lambda: "The Dark Lamp" in chosen.text)
                [book] = await bot.app.shelf.list(None)
                assert book.shelf == personal_shelf(str(ann.id))
        assert double.violations == []
