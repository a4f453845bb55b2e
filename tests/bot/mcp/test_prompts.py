"""What an MCP client may have filled in, completed, logged, told of progress and cancelled."""

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client, MCPError, types

from bot.mcp import server as server_module
from bot.mcp.books import OpenBooks
from bot.mcp.server import book_server
from domain.book import Book
from tests.bot.mcp.conftest import PAGES, PagesReader

PROMPTS = {
    "recap": {"book": "The Lamp"},
    "who_is": {"book": "The Lamp", "name": "Mara"},
    "discuss": {"book": "The Lamp", "chapter": "1"},
    "ask": {"book": "The Lamp", "question": "Which boat was missing?"},
}
SECRET = "her own grandfather"


def text_of(result: types.GetPromptResult) -> str:
    (message,) = result.messages
    assert isinstance(message.content, types.TextContent)
    return message.content.text


async def completed(client: Client, prompt: str, name: str, typed: str, **known: str) -> list[str]:
    reference = types.PromptReference(type="ref/prompt", name=prompt)
    result = await client.complete(reference, {"name": name, "value": typed}, known or None)
    return result.completion.values


class TestPrompts:
    async def test_prompts_are_listed_with_their_arguments(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(listed) == set(PROMPTS)
        assert [(each.name, each.required) for each in listed["who_is"].arguments or ()] == [
            ("book", True),
            ("name", True),
        ]

    @pytest.mark.parametrize("name", PROMPTS)
    async def test_each_says_how_far_the_book_is_open_and_brings_along_what_it_says(
        self, books: OpenBooks, book: Book, name: str
    ) -> None:
        async with Client(book_server(replace(books, page="2"))) as client:
            text = text_of(await client.get_prompt(name, PROMPTS[name]))
        assert f"I am reading “The Lamp” ({book.id}). It is open to: page 2." in text
        assert any(sentence in text for sentence in ("lit at dusk", "Mara counted the boats", "one was missing"))
        assert SECRET not in text

    @pytest.mark.parametrize(
        ("name", "arguments", "sentence"),
        [
            ("sing", {}, "There is no prompt 'sing'"),
            ("ask", {"book": "The Lamp"}, "Missing required argument: question"),
            ("ask", {"book": "The Lamp", "question": "  "}, "Missing required argument: question"),
            ("recap", {"book": "Moby Dick"}, "There's no book called “Moby Dick”"),
            ("recap", {"book": "The Lamp", "chapter": "9"}, "There's no chapter “9” in this book"),
        ],
    )
    async def test_what_cannot_be_filled_in_is_said(
        self, books: OpenBooks, name: str, arguments: dict[str, str], sentence: str
    ) -> None:
        async with Client(book_server(books)) as client:
            with pytest.raises(MCPError) as refusal:
                await client.get_prompt(name, arguments)
        assert refusal.value.code == types.INVALID_PARAMS
        assert sentence in refusal.value.message


@pytest.fixture
def with_a_preface(parser: PagesReader) -> None:
    """The book prints no number over what comes first, and the number one over the second chapter."""
    parser.printed = ("", "I")


class TestPrintedNumbers:
    """A chapter is called by the number that the book prints wherever a client meets it."""

    async def test_what_is_completed_is_what_prompts_and_resources_take(
        self, with_a_preface: None, books: OpenBooks, book: Book
    ) -> None:
        async with Client(book_server(books)) as client:
            chapters = await completed(client, "recap", "chapter", "", book="The Lamp")
            assert chapters == ["#1", "I"]
            first, second = [
                text_of(await client.get_prompt("discuss", {"book": "The Lamp", "chapter": each})) for each in chapters
            ]
            uris = [f"book://{book.id}/chapters/{quote(each)}" for each in chapters]
            preface, chapter = [(await client.read_resource(uri)).contents[0] for uri in uris]
        assert "lit at dusk" in first and "grandfather" not in first
        assert "grandfather" in second and "lit at dusk" not in second
        assert "lit at dusk" in str(preface) and "grandfather" in str(chapter)

    async def test_the_contents_have_the_form_that_is_published(self, with_a_preface: None, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:  # which checks this
            result = await client.call_tool("table_of_contents", {"book": "The Lamp"})
        assert result.structured_content is not None
        assert [each.get("number") for each in result.structured_content["chapters"]] == [None, "I"]


@pytest.fixture
def named(parser: PagesReader) -> None:
    """The book has somebody's name inside its sentences."""
    parser.texts = (PAGES[0], "They asked Mara and Dr. Orr about it. What Mara had counted were boats.", PAGES[2])


class TestCompletion:
    async def test_books_chapters_pages_and_names_are_completed(self, named: None, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            assert await completed(client, "recap", "book", "la") == ["The Lamp"]
            assert await completed(client, "recap", "chapter", "", book="The Lamp") == ["1", "2"]
            assert await completed(client, "who_is", "name", "ma", book="The Lamp") == ["Mara"]
            assert await completed(client, "who_is", "name", "dr o", book="The Lamp") == ["Dr. Orr"]
            template = types.ResourceTemplateReference(type="ref/resource", uri="book://{book}/pages/{page}")
            pages = await client.complete(template, {"name": "page", "value": ""}, {"book": "The Lamp"})
        assert pages.completion.values == ["1", "2", "3"]

    async def test_the_only_book_need_not_be_named(self, named: None, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            assert await completed(client, "who_is", "name", "m") == ["Mara"]

    async def test_nothing_is_completed_from_what_has_not_been_read(self, named: None, books: OpenBooks) -> None:
        async with Client(book_server(replace(books, page="1"))) as client:
            assert await completed(client, "who_is", "name", "m") == []
            assert await completed(client, "recap", "chapter", "") == ["1"]

    async def test_what_nobody_knows_completes_to_nothing(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            assert await completed(client, "ask", "question", "w") == []
            assert await completed(client, "recap", "chapter", "", book="Moby") == []
            with pytest.raises(MCPError, match="There is no prompt 'sing'"):
                await completed(client, "sing", "book", "")


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
class TestLogging:
    async def test_a_client_hears_of_calls_at_the_level_it_wants_and_no_word_of_the_book(
        self, books: OpenBooks
    ) -> None:
        heard: list[types.LoggingMessageNotificationParams] = []

        async def hear(params: types.LoggingMessageNotificationParams) -> None:
            heard.append(params)

        async with Client(book_server(books), mode="legacy", logging_callback=hear) as client:
            await client.call_tool("search_book", {"book": "The Lamp", "query": "boat"})
            await client.call_tool("search_book", {"book": "Moby Dick", "query": "whale"})
            assert [each.level for each in heard] == ["warning"]
            await client.set_logging_level("debug")
            await client.call_tool("find_phrase", {"book": "The Lamp", "text": PAGES[1]})
        assert [each.level for each in heard] == ["warning", "info"]
        assert "find_phrase: 1 place" in str(heard[1].data)
        assert "boats" not in str([each.data for each in heard])


class TestLongCalls:
    async def test_progress_is_told_and_a_call_can_be_cancelled(
        self, books: OpenBooks, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server_module, "BEAT_S", 0.01)
        beats: asyncio.Queue[float] = asyncio.Queue()
        ended = asyncio.Event()

        async def slow(self: OpenBooks) -> list[Any]:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return []

        async def beat(progress: float, total: float | None, message: str | None) -> None:
            beats.put_nowait(progress)

        async with Client(book_server(books), mode="legacy") as client:
            monkeypatch.setattr(OpenBooks, "list", slow)
            call = asyncio.create_task(client.call_tool("list_books", {}, progress_callback=beat))
            told = [await asyncio.wait_for(beats.get(), 10) for _ in range(3)]
            call.cancel()
            await asyncio.wait_for(ended.wait(), 10)
        assert told == sorted(told)
