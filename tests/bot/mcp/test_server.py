"""Books over the Model Context Protocol: the tools and pages of a shelf, never beyond the bound, on every transport."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, cast

import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters, types
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.server.subscriptions import ResourcesListChanged
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from bot.mcp import server as server_module
from bot.mcp.books import OpenBooks, chapter_addresses
from bot.mcp.server import book_server
from bot.tools.book import BOOK_TOOLS
from domain.book import Book, ContentsEntry, PositionState, ReadingPosition
from domain.library.addressing import find_chapter
from domain.library.shelf import Bookshelf
from storage.opening import Storage
from tests.bot.mcp.conftest import PAGES, PagesReader
from tests.journeys.forked import Forked
from tests.journeys.terminal import Terminal


def bounded(books: OpenBooks, page: str) -> Client:
    return Client(book_server(OpenBooks(shelf=books.shelf, readers=books.readers, reader_id="terminal", page=page)))


END_OF_FIRST = ReadingPosition(PositionState.READING, len(PAGES[0]) + 1)
WAY_ON = re.compile(r"stops (?:on|at the end of) p\. (\d+)\. .* read_pages with from=(\d+)\.")
LAMP: dict[str, Any] = {"book": "The Lamp"}
EVERY_CALL: list[tuple[str, dict[str, Any]]] = [
    ("list_books", {}),
    ("search_book", LAMP | {"query": "missing boat"}),
    ("read_pages", LAMP | {"from": "1", "to": "3"}),
    ("read_around", LAMP | {"passage": "passage-0-32"}),
    ("table_of_contents", LAMP),
    ("find_phrase", LAMP | {"text": "seven boats"}),
    ("count_mentions", LAMP | {"term": "lamp"}),
    ("story_so_far", LAMP),
    ("who_is", LAMP | {"name": "Mara"}),
    ("who_is", LAMP),
    ("who_is", LAMP | {"chapter": "1"}),
    ("set_position", LAMP | {"page": "2"}),
]


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    return text_of(result), result.is_error


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


class TestTools:
    async def test_the_tools_are_those_of_a_conversation_with_a_book_argument(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {"list_books", *(definition.name for definition in BOOK_TOOLS)}
        search = listed["search_book"]
        assert search.input_schema["required"] == ["book", "query"]
        assert next(iter(search.input_schema["properties"])) == "book"
        assert search.annotations is not None
        assert search.annotations.read_only_hint

    async def test_the_books_are_listed_with_how_far_they_may_be_read(self, books: OpenBooks, book: Book) -> None:
        async with Client(book_server(books)) as client:
            listed = json.loads((await call(client, "list_books"))[0])
        assert listed == {"books": [{"id": book.id, "title": "The Lamp", "author": "A. Writer", "open_to": "the end"}]}

    async def test_a_book_is_named_by_title_or_id_and_answers_from_its_pages(
        self, books: OpenBooks, book: Book
    ) -> None:
        async with Client(book_server(books)) as client:
            by_title, _ = await call(client, "search_book", book="the lamp", query="missing boat")
            by_id, _ = await call(client, "search_book", book=book.id, query="missing boat")
            pages, _ = await call(client, "read_pages", book=book.id, **{"from": "2"})
            contents, _ = await call(client, "table_of_contents", book=book.id)
            phrase, _ = await call(client, "find_phrase", book=book.id, text="seven boats")
            count, _ = await call(client, "count_mentions", book=book.id, term="lamp")
        assert by_title == by_id
        assert "Pages 2-3 · The Keeper" in by_title
        assert "one was missing" in pages
        assert "The Keeper" in contents
        assert "seven boats" in phrase
        assert "2 times" in count

    @pytest.mark.parametrize(
        ("tool", "arguments", "sentence"),
        [
            ("search_book", {"query": "x"}, "Missing required argument: book"),
            ("search_book", LAMP, "Missing required argument: query"),
            ("search_book", {"book": "Moby Dick", "query": "x"}, "There's no book called “Moby Dick”"),
            ("search_book", {"book": 3, "query": "x"}, "book must be a text"),
            (
                "search_book",
                LAMP | {"query": "x", "top_k": 21},
                "top_k must be a whole number from 1 to 20",
            ),
            ("search_book", LAMP | {"query": "x", "also": ["y", 1]}, "also must be a list of texts"),
            ("search_book", LAMP | {"query": "x", "also": ["y" * 9_000] * 5}, "also may have at most 4 entries"),
            (
                "search_book",
                LAMP | {"query": "x", "page": 9},
                "Unknown argument: page. Known: book, query",
            ),
            ("search_book", LAMP | {"query": "x", "top_k": "many"}, "top_k must be a whole number"),
            ("read_pages", LAMP | {"from": "99"}, "99"),
        ],
    )
    async def test_what_cannot_be_done_is_said_to_the_model(
        self, books: OpenBooks, tool: str, arguments: dict[str, Any], sentence: str
    ) -> None:
        async with Client(book_server(books)) as client:
            text, failed = await call(client, tool, **arguments)
        assert failed
        assert sentence in text

    async def test_what_is_repeated_to_the_model_is_short(self, books: OpenBooks) -> None:
        endless = "x " * 25_000  # a request that is longer still is refused as a whole
        async with Client(book_server(books, positions=True)) as client:
            for tool, arguments in EVERY_CALL:
                for name in arguments:
                    said, _ = await call(client, tool, **arguments | {name: endless})
                    assert len(said) < 1_000, (tool, name, len(said), said[:80])
                said, _ = await call(client, tool, **arguments, **{endless: 1})
                assert len(said) < 1_000, tool
            for refused in (client.call_tool(endless), client.get_prompt(endless), client.read_resource(endless)):
                with pytest.raises(MCPError) as caught:
                    await refused
                assert len(caught.value.message) < 1_000

    async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            with pytest.raises(MCPError, match="Unknown tool: 'burn_book'") as refusal:
                await client.call_tool("burn_book", LAMP)
        assert refusal.value.code == types.INVALID_PARAMS

    @pytest.mark.parametrize("arguments", EVERY_CALL, ids=lambda arguments: arguments[0])
    async def test_what_comes_back_is_structured_as_the_tool_says(
        self, books: OpenBooks, arguments: tuple[str, dict[str, Any]]
    ) -> None:
        tool, given = arguments
        async with Client(book_server(books, positions=True)) as client:
            listed = {each.name: each for each in (await client.list_tools()).tools}
            result = await client.call_tool(tool, given)
        schema = listed[tool].output_schema
        assert schema is not None
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(result.structured_content)
        assert not result.is_error

    async def test_every_tool_is_called_by_the_test_above(self, books: OpenBooks) -> None:
        async with Client(book_server(books, positions=True)) as client:
            listed = {each.name for each in (await client.list_tools()).tools}
        assert listed == {tool for tool, _ in EVERY_CALL}

    async def test_passages_are_data_and_text(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            result = await client.call_tool("find_phrase", LAMP | {"text": "seven boats"})
        content = cast(dict[str, Any], result.structured_content)
        (passage,) = content["passages"]
        assert content["note"] == "1 exact, 0 similar."
        assert (passage["page"], passage["chapter"], passage["estimated"]) == ("2", "The Keeper", False)
        assert passage["text"] in text_of(result)

    async def test_no_word_of_budgets(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            for tool, arguments in EVERY_CALL[:-1]:
                result = await client.call_tool(tool, arguments)
                told = text_of(result) + json.dumps(result.structured_content)
                assert "budget" not in told
                assert "left for this answer" not in told

    async def test_pages_that_are_estimated_say_so(self, books: OpenBooks, book: Book, storage: Storage) -> None:
        await storage.books.save(replace(book, pages_estimated=True))
        async with Client(book_server(books)) as client:
            found = await client.call_tool("read_pages", {"book": book.id, "from": "2"})
            contents = await client.call_tool("table_of_contents", {"book": book.id})
        assert text_of(found).startswith("[about p. 2 · The Keeper")
        assert cast(dict[str, Any], found.structured_content)["passages"][0]["estimated"] is True
        assert cast(dict[str, Any], contents.structured_content)["estimated"] is True

    async def test_reading_says_where_it_stopped_and_how_to_go_on(
        self, shelf: Bookshelf, storage: Storage, parser: PagesReader
    ) -> None:
        parser.texts = [f"Page {n} has words. " + "So many words. " * 500 for n in range(1, 9)]
        await shelf.add(b"Long", "Long")
        books = OpenBooks(shelf=shelf, readers=storage.readers, reader_id="terminal")
        read: list[str] = []
        async with Client(book_server(books)) as client:
            first = "1"
            while first:
                result = await client.call_tool("read_pages", {"book": "Long", "from": first, "to": "8"})
                content = cast(dict[str, Any], result.structured_content)
                read += [passage["page"] for passage in content["passages"]]
                way_on = WAY_ON.search(content["note"])
                assert way_on is None or way_on[1] == read[-1]
                assert way_on is not None or read[-1] == "8"
                first = way_on[2] if way_on else ""
        assert list(dict.fromkeys(read)) == [str(number) for number in range(1, 9)]

    async def test_a_page_too_long_to_be_read_at_once_is_read_on_from_its_middle(
        self, shelf: Bookshelf, storage: Storage, parser: PagesReader
    ) -> None:
        page = " ".join(f"Sentence {number} is one of very many on this endless page." for number in range(400))
        parser.texts = [page]
        await shelf.add(b"Endless", "Endless")
        books = OpenBooks(shelf=shelf, readers=storage.readers, reader_id="terminal")
        async with Client(book_server(books)) as client:
            result = await client.call_tool("read_pages", {"book": "Endless", "from": "1"})
            note = cast(dict[str, Any], result.structured_content)["note"]
            way_on = re.search(r"stops on p\. 1\. .* read_around with passage=(passage-\d+-\d+), after=5", note)
            assert way_on
            more = await client.call_tool("read_around", {"book": "Endless", "passage": way_on[1], "after": 5})
        last = re.findall(r"Sentence (\d+)", text_of(result))[-1]
        assert f"Sentence {int(last) + 1} " in text_of(more)


class TestBound:
    async def test_nothing_beyond_the_page_is_shown_by_any_tool_or_resource(self, books: OpenBooks, book: Book) -> None:
        async with bounded(books, "2") as client:
            answers = [
                await call(client, "search_book", book=book.id, query="who is the lamp keeper grandfather"),
                await call(client, "read_pages", book=book.id, **{"from": "1", "to": "3"}),
                await call(client, "table_of_contents", book=book.id),
                await call(client, "find_phrase", book=book.id, text="her own grandfather"),
                await call(client, "count_mentions", book=book.id, term="grandfather"),
            ]
            assert "This stops on p. 2, as far as the book is open." in str(answers[1])
            listed = json.loads((await call(client, "list_books"))[0])
            page = await read(client, f"book://{book.id}/pages/2")
            with pytest.raises(MCPError, match="in what's been read so far"):
                await read(client, f"book://{book.id}/pages/3")
        assert not [text for text, _ in answers if "own grandfather" in text]
        assert "seven boats" in answers[1][0]
        assert "seven boats" in page
        assert listed["books"][0]["open_to"] == "page 2"

    async def test_without_a_page_it_is_where_the_reader_is_now(
        self, books: OpenBooks, book: Book, storage: Storage
    ) -> None:
        async with Client(book_server(books)) as client:
            open_before, _ = await call(client, "read_pages", book=book.id, **{"from": "3"})
            await storage.readers.set_position("terminal", book.id, END_OF_FIRST)
            closed_now, failed = await call(client, "read_pages", book=book.id, **{"from": "3"})
        assert "grandfather" in open_before
        assert failed
        assert "grandfather" not in closed_now

    async def test_of_a_page_not_read_to_its_end_only_what_was_read_is_shown(
        self, books: OpenBooks, book: Book, storage: Storage
    ) -> None:
        middle = len(PAGES[0]) + 1 + PAGES[1].index(" There")
        await storage.readers.set_position("terminal", book.id, ReadingPosition(PositionState.READING, middle))
        async with Client(book_server(books)) as client:
            page = await read(client, f"book://{book.id}/pages/2")
        assert page == "Mara counted the boats."

    async def test_a_page_beyond_the_last_is_the_whole_book(self, books: OpenBooks, book: Book) -> None:
        async with bounded(books, "100") as client:
            text, failed = await call(client, "read_pages", book=book.id, **{"from": "3"})
            listed = json.loads((await call(client, "list_books"))[0])
        assert not failed
        assert "grandfather" in text
        assert listed["books"][0]["open_to"] == "the end"

    async def test_of_pages_with_gaps_those_before_the_number_are_open(
        self, shelf: Bookshelf, storage: Storage, parser: PagesReader
    ) -> None:
        parser.labels = ["xii", "1", "9"]
        await shelf.add(b"Gaps", "Gaps")
        books = OpenBooks(shelf=shelf, readers=storage.readers, reader_id="terminal", page="5")
        async with Client(book_server(books)) as client:
            listed = json.loads((await call(client, "list_books"))[0])
        assert listed["books"][0]["open_to"] == "page 1"

    async def test_a_book_without_a_page_of_that_label_stays_shut(self, books: OpenBooks, book: Book) -> None:
        async with bounded(books, "xii") as client:
            text, failed = await call(client, "search_book", book=book.id, query="lamp")
            listed = json.loads((await call(client, "list_books"))[0])
        assert failed
        assert "There's no page 'xii' in this book" in text
        assert "There's no page 'xii' in this book" in listed["books"][0]["problem"]


class TestPositions:
    async def test_without_leave_no_client_moves_a_position(self, books: OpenBooks, book: Book) -> None:
        async with Client(book_server(books)) as client:
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("set_position", {"book": book.id, "page": "1"})

    async def test_each_client_has_a_position_of_its_own(self, books: OpenBooks, book: Book, storage: Storage) -> None:
        await storage.readers.set_position(
            "terminal", book.id, ReadingPosition(PositionState.READING, len(PAGES[0]) + 1)
        )
        server = book_server(books, positions=True)
        ann, ben = (types.Implementation(name=name, version="1") for name in ("ann's desk", "ben"))
        async with Client(server, client_info=ann) as hers, Client(server, client_info=ben) as his:
            moved = await hers.call_tool("set_position", {"book": book.id, "page": "2"})
            open_to_her = json.loads((await call(hers, "list_books"))[0])["books"][0]["open_to"]
            open_to_him = json.loads((await call(his, "list_books"))[0])["books"][0]["open_to"]
            finished = await his.call_tool("set_position", {"book": book.id, "finished": True})
        assert moved.structured_content == {"open_to": "page 2"}
        assert (open_to_her, open_to_him) == ("page 2", "page 1")
        assert finished.structured_content == {"open_to": "the end"}
        assert (await storage.readers.get_position("terminal", book.id)) == END_OF_FIRST

    async def test_no_client_moves_beyond_the_page_that_was_given_at_the_start(
        self, books: OpenBooks, book: Book
    ) -> None:
        async with Client(book_server(replace(books, page="1"), positions=True)) as client:
            result = await client.call_tool("set_position", {"book": book.id, "finished": True})
        assert result.structured_content == {"open_to": "page 1"}

    @pytest.mark.parametrize("place", [{}, {"page": "2", "finished": True}, {"page": "the end"}, {"page": "99"}])
    async def test_what_is_no_place_moves_nothing(
        self, books: OpenBooks, book: Book, place: dict[str, Any], storage: Storage
    ) -> None:
        async with Client(book_server(books, positions=True)) as client:
            _, failed = await call(client, "set_position", book=book.id, **place)
            listed = json.loads((await call(client, "list_books"))[0])
        assert failed
        assert listed["books"][0]["open_to"] == "the end"


class TestResources:
    async def test_every_book_is_a_resource_with_its_contents(self, books: OpenBooks, book: Book) -> None:
        async with Client(book_server(books)) as client:
            resource, *chapters = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
            contents = await read(client, resource.uri)
            texts = [await read(client, chapter.uri) for chapter in chapters]
            given = (await client.read_resource(chapters[0].uri)).contents
        assert {each.mime_type for each in (resource, *chapters, *templates, *given)} == {"text/plain"}
        assert (resource.title, resource.uri) == ("The Lamp", f"book://{book.id}")
        assert [template.uri_template for template in templates] == [
            "book://{book}/chapters/{chapter}",
            "book://{book}/pages/{page}",
        ]
        assert [chapter.title for chapter in chapters] == ["The Lamp: 1. Dusk", "The Lamp: 2. The Keeper"]
        assert texts == [PAGES[0] + "\n", "\n".join(PAGES[1:]) + "\n"]
        assert [each.size for each in (resource, *chapters)] == [len(text.encode()) for text in (contents, *texts)]
        assert contents.splitlines() == ["The Lamp by A. Writer", "", "1. Dusk (p. 1)", "2. The Keeper (p. 2)"]

    async def test_a_chapter_is_a_resource_as_far_as_it_has_been_read(self, books: OpenBooks, book: Book) -> None:
        async with bounded(books, "2") as client:
            chapter = (await client.list_resources()).resources[-1]
            text = await read(client, chapter.uri)
        assert chapter.description == "p. 2, as far as it has been read"
        assert text == PAGES[1] + "\n"
        async with bounded(books, "1") as client:
            assert [each.title for each in (await client.list_resources()).resources] == [
                "The Lamp",
                "The Lamp: 1. Dusk",
            ]
            with pytest.raises(MCPError, match="There's no chapter 2 in what's been read of “The Lamp” so far"):
                await read(client, f"book://{book.id}/chapters/2")

    def test_chapters_are_addressed_by_their_printed_numbers(self) -> None:
        def line(number: int, printed: str, title: str, level: int = 2) -> ContentsEntry:
            return ContentsEntry(number, title, level, "1", "1", 100, finished=True, printed=printed)

        contents = [
            line(1, "", "Preface", 1),
            line(2, "I", "Chapter I"),
            line(3, "II", "Chapter II"),
            line(4, "1", "1. The Lamp"),
            line(5, "III", "Chapter III"),
        ]
        addresses = chapter_addresses(contents)
        assert addresses == {1: "#1", 2: "#2", 3: "II", 4: "#4", 5: "III"}
        assert all(find_chapter(contents, addresses[entry.number]) is entry for entry in contents)
        assert chapter_addresses([line(1, "", "Dusk"), line(2, "", "Dawn")]) == {1: "1", 2: "2"}

    async def test_many_resources_come_page_by_page_each_once(
        self, books: OpenBooks, shelf: Bookshelf, book: Book
    ) -> None:
        for number in range(40):
            await shelf.add(f"Book {number}".encode(), f"Book {number}")
        async with Client(book_server(books)) as client:
            page = await client.list_resources()
            found, sizes = list(page.resources), [len(page.resources)]
            while page.next_cursor:
                page = await client.list_resources(cursor=page.next_cursor)
                found += page.resources
                sizes.append(len(page.resources))
        assert sizes == [50, 50, 23]
        assert len({resource.uri for resource in found}) == 41 * 3

    @pytest.mark.parametrize("cursor", ["nonsense", "gone:3", "", "x:y"])
    async def test_a_cursor_that_is_none_is_refused(self, books: OpenBooks, book: Book, cursor: str) -> None:
        async with Client(book_server(books)) as client:
            for listing in (
                client.list_resources,
                client.list_tools,
                client.list_prompts,
                client.list_resource_templates,
            ):
                with pytest.raises(MCPError, match="cursor is not valid") as refusal:
                    await listing(cursor=cursor)
                assert refusal.value.code == types.INVALID_PARAMS

    async def test_a_book_that_is_added_is_told_of(
        self, books: OpenBooks, shelf: Bookshelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server_module, "LOOK_EVERY_S", 0.01)
        heard: asyncio.Queue[IncomingMessage] = asyncio.Queue()

        async def hear(message: IncomingMessage) -> None:
            heard.put_nowait(message)

        server = book_server(books)
        async with Client(server, mode="legacy", message_handler=hear) as old, Client(server) as new:
            assert old.server_capabilities.resources == types.ResourcesCapability(subscribe=False, list_changed=True)
            async with new.listen(resources_list_changed=True) as changes:
                await call(old, "list_books")
                await asyncio.sleep(0.05)
                await shelf.add(b"Another", "Another")
                assert isinstance(await asyncio.wait_for(heard.get(), 10), types.ResourceListChangedNotification)
                assert isinstance(await asyncio.wait_for(anext(aiter(changes)), 10), ResourcesListChanged)

    async def test_pages_that_are_estimated_are_named_as_such(
        self, books: OpenBooks, book: Book, storage: Storage
    ) -> None:
        await storage.books.save(replace(book, pages_estimated=True))
        async with bounded(books, "2") as client:
            contents = await read(client, f"book://{book.id}")
            listed = json.loads((await call(client, "list_books"))[0])
        assert contents.splitlines()[2:] == ["1. Dusk (about p. 1)", "2. The Keeper (about p. 2)"]
        assert listed["books"][0]["open_to"] == "about page 2"

    async def test_a_page_reads_as_it_stands_in_the_book(self, books: OpenBooks) -> None:
        async with Client(book_server(books)) as client:
            assert await read(client, "book://The%20Lamp/pages/1") == PAGES[0] + "\n"

    @pytest.mark.parametrize(
        "uri", ["book://nowhere", "book://nowhere/pages/1", "file:///etc/passwd", "book://x/y/z/1"]
    )
    async def test_what_is_not_there_is_refused_with_a_sentence(self, books: OpenBooks, uri: str) -> None:
        async with Client(book_server(books)) as client:
            with pytest.raises(MCPError, match=r"There('s| is) no") as refusal:
                await read(client, uri)
        assert refusal.value.code == types.INVALID_PARAMS


async def test_a_database_that_fails_is_said_in_a_sentence(books: OpenBooks, storage: Storage) -> None:
    async with Client(book_server(books)) as client:
        await storage.close()
        with pytest.raises(MCPError, match="The database ") as refusal:
            await client.list_resources()
    assert refusal.value.code == types.INTERNAL_ERROR


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_message_of_any_length_is_refused_at_once(books: OpenBooks, mode: str) -> None:
    long = "lamp " * 20_000
    async with Client(book_server(books), mode=mode) as client:
        for asked in (
            client.call_tool("search_book", LAMP | {"query": long}),
            client.call_tool(long, {}),
            client.read_resource(f"book://The%20Lamp/pages/{long.replace(' ', '')}"),
            client.get_prompt("who_is", {"book": "The Lamp", "name": long}),
            client.complete(types.PromptReference(name="recap"), {"name": "chapter", "value": long}),
        ):
            with pytest.raises(MCPError, match="it is longer than 65,536 bytes") as refusal:
                await asked
            assert refusal.value.code == types.INVALID_PARAMS
        text, failed = await call(client, "search_book", book="The Lamp", query="missing boat " * 3_000)
    assert not failed
    assert "one was missing" in text


@pytest.fixture
def environment(tmp_path: Path, book: Book) -> dict[str, str]:
    """What the program needs to find the books of this test, and no settings of the machine."""
    root = str(Path(__file__).parents[3])
    return {"DATA_DIR": str(tmp_path), "PYTHONPATH": root, "LLM_PROVIDER": "extractive", "PATH": os.environ["PATH"]}


class Serving:
    """The program, which serves HTTP, in a process of its own."""

    def __init__(self, process: Forked, said: IO[bytes]) -> None:
        self.process = process
        self._said = said

    @property
    def said(self) -> str:
        """What it has said on standard error."""
        return os.pread(self._said.fileno(), 2**20, 0).decode()

    async def url(self) -> str:
        """Its address, which is the end of its first line."""
        while "\n" not in self.said:
            assert self.process.is_alive, self.said
            await asyncio.sleep(0.01)
        return self.said.splitlines()[0].split()[-1]

    async def interrupt(self) -> int:
        """As Ctrl-C does; the exit code."""
        os.kill(self.process.pid, signal.SIGINT)
        return await self.process.end()


@asynccontextmanager
async def serving(environment: dict[str, str], folder: Path, *arguments: str) -> AsyncIterator[Serving]:
    with TemporaryFile() as said, Path(os.devnull).open("r+b") as nothing:
        arguments = ("mcp", "--http", "--port", "0", *arguments)
        program = Serving(Forked(arguments, environment, folder, (nothing, nothing, said)), said)
        try:
            yield program
        finally:
            if program.process.is_alive:
                await program.interrupt()


@pytest.fixture
async def served(environment: dict[str, str], tmp_path: Path) -> AsyncIterator[str]:
    """The address of the program, which serves HTTP on loopback."""
    async with serving(environment, tmp_path) as program:
        yield await program.url()


class TestTransports:
    """The program itself, in a process of its own."""

    async def test_a_client_starts_it_in_a_project_whose_settings_are_not_its_own(
        self, environment: dict[str, str], book: Book, tmp_path: Path
    ) -> None:
        (project := tmp_path / "project").mkdir()
        (project / ".env").write_text("DATABASE_URL=sqlite:///app.db\nDATA_DIR=uploads\nLOG_FORMAT=pretty\n")
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "bot", "mcp", "--page", "2"], env=environment, cwd=project
        )
        async with Client(program) as client:
            found, failed = await call(client, "search_book", book="The Lamp", query="missing boat")
            hidden, _ = await call(client, "search_book", book="The Lamp", query="keeper grandfather")
        assert not failed
        assert "one was missing" in found
        assert "grandfather" not in hidden
        assert [path.name for path in project.iterdir()] == [".env"]

    async def test_http_on_loopback(self, environment: dict[str, str], book: Book, tmp_path: Path) -> None:
        async with serving(environment, tmp_path) as program:
            url = await program.url()
            assert url.startswith("http://127.0.0.1:")
            async with Client(url) as client:
                text, failed = await call(client, "find_phrase", book="The Lamp", text="seven boats")
            code = await program.interrupt()
            assert "Traceback" not in program.said
        assert not failed
        assert "seven boats" in text
        assert code in (0, 130)

    async def test_a_port_that_is_taken_is_said_in_a_sentence(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            ran = await Terminal(tmp_path).run("mcp", "--http", "--port", str(port), **environment)
        assert ran.code == 1
        assert f"Port {port} cannot be used" in ran.err

    async def test_a_host_that_is_not_there_is_said_in_a_sentence(self, tmp_path: Path) -> None:
        options = ("mcp", "--http", "--host", "nowhere.invalid")
        ran = await Terminal(tmp_path).run(*options, MCP_TOKEN="a secret of some length")
        assert ran.code == 1
        assert "nowhere.invalid cannot be used: " in ran.err
        assert "Unknown error" not in ran.err

    async def test_a_broken_line_gets_an_error_reply_a_blank_one_none_and_the_next_message_its_answer(
        self, environment: dict[str, str], book: Book, tmp_path: Path
    ) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "mcp", env=environment, cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        half = (
            '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_books","arguments":{"a":"\\ud800"}}}'
        )
        listed = '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":[1,2]}'
        process.stdin.write(f'\ufeff{half}\r\n\r\nno json\n{{"jsonrpc":"2.0","id":9}}\n{listed}\n'.encode())
        replies = [json.loads(await process.stdout.readline()) for _ in range(4)]
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        initialize = {"jsonrpc": "2.0", "id": 8, "method": "initialize", "params": hello}
        process.stdin.write(json.dumps(initialize).encode() + b"\n")
        answer = json.loads(await process.stdout.readline())
        process.stdin.close()
        _, said = await process.communicate()
        assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [
            (7, types.INVALID_REQUEST),
            (None, types.PARSE_ERROR),
            (9, types.INVALID_REQUEST),
            (10, types.INVALID_REQUEST),
        ]
        assert ["half a character" in reply["error"]["message"] for reply in replies] == [True, False, False, False]
        assert (answer["id"], answer["result"]["serverInfo"]["name"]) == (8, "marginalia")
        assert f"Serving 1 book from {tmp_path}" in said.decode()

    async def test_what_was_asked_before_the_end_of_a_list_of_requests_is_answered(
        self, environment: dict[str, str], book: Book, tmp_path: Path
    ) -> None:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        search = {"name": "search_book", "arguments": {"book": book.title, "query": "lamp"}}
        asked = [("initialize", hello), ("tools/call", search), ("tools/call", {"name": "list_books"})]
        lines = [{"jsonrpc": "2.0", "id": at, "method": name, "params": sent} for at, (name, sent) in enumerate(asked)]
        lines.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        ran = await Terminal(tmp_path).run("mcp", stdin="\n".join(map(json.dumps, lines)), **environment)
        replies = {reply["id"]: reply for reply in map(json.loads, ran.out.splitlines())}
        assert ran.code == 0
        assert [set(replies[at]) for at in range(3)] == [{"jsonrpc", "id", "result"}] * 3

    @pytest.mark.parametrize("leaving", ["the client stops reading", "ctrl-c"])
    async def test_it_ends_without_a_word_although_its_standard_input_stays_open(
        self, environment: dict[str, str], tmp_path: Path, leaving: str
    ) -> None:
        asked, ask = os.pipe()
        answer, answered = os.pipe()
        with TemporaryFile() as said, os.fdopen(ask, "wb", buffering=0) as client:
            with os.fdopen(asked, "rb") as given, os.fdopen(answered, "wb") as out:
                process = Forked(["mcp"], environment, tmp_path, (given, out, said))
            with os.fdopen(answer, "rb") as answers:
                client.write(b"no json\n")
                assert await asyncio.to_thread(answers.readline), "it is at work"
                if leaving == "ctrl-c":
                    os.kill(process.pid, signal.SIGINT)
                    code = await asyncio.wait_for(process.end(), 30)
            if leaving != "ctrl-c":
                client.write(b"no json\n")
                code = await asyncio.wait_for(process.end(), 30)
            words = os.pread(said.fileno(), 2**20, 0).decode()
        assert code == (130 if leaving == "ctrl-c" else 0)
        assert words.splitlines() == [f"Serving 1 book from {tmp_path} on standard input and output"]

    @pytest.mark.parametrize("version", [types.LATEST_PROTOCOL_VERSION, "2025-11-25", "2025-06-18"])
    async def test_half_a_character_over_http_is_refused_in_every_version_of_the_protocol(
        self, served: str, version: str
    ) -> None:
        """In the newest one each request says who asks; in older ones a session is begun first."""
        async with create_mcp_http_client() as http:
            headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
            about: dict[str, Any] = {}
            if version in MODERN_PROTOCOL_VERSIONS:
                headers |= {"mcp-method": "tools/call", "mcp-name": "find_phrase"}
                about = {
                    "io.modelcontextprotocol/protocolVersion": version,
                    "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            else:
                hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
                begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
                begun = await http.post(served, json=begin, headers=headers)
                headers["mcp-session-id"] = begun.headers["mcp-session-id"]
                ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                await http.post(served, json=ready, headers=headers)

            async def ask(number: int, arguments: dict[str, str]) -> dict[str, Any]:
                params = {"name": "find_phrase", "arguments": LAMP | arguments} | ({"_meta": about} if about else {})
                body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                reply = await http.post(
                    served, content=json.dumps(body), headers=headers | {"content-type": "application/json"}
                )
                lines = [line[5:] for line in reply.text.splitlines() if line.startswith("data:")]
                said: dict[str, Any] = json.loads(lines[-1] if lines else reply.text)
                return said

            refused, answered = await ask(7, {"text": "half \ud800"}), await ask(8, {"text": "seven boats"})
        assert "error" in refused, refused
        assert refused["error"]["code"] in (types.INVALID_REQUEST, types.PARSE_ERROR, types.INVALID_PARAMS)
        assert "result" in answered
        assert "seven boats" in json.dumps(answered["result"])

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_over_http_a_client_hears_of_a_book_that_is_added(
        self, served: str, shelf: Bookshelf, mode: Literal["auto", "legacy"]
    ) -> None:
        heard: asyncio.Queue[IncomingMessage] = asyncio.Queue()

        async def hear(message: IncomingMessage) -> None:
            heard.put_nowait(message)

        async with Client(served, mode=mode, message_handler=hear) as client, AsyncExitStack() as stack:
            await call(client, "list_books")
            changes = None
            if mode == "auto":
                assert client.protocol_version == types.LATEST_PROTOCOL_VERSION
                changes = await stack.enter_async_context(client.listen(resources_list_changed=True))
            await asyncio.sleep(0.2)
            await shelf.add(b"Another", "Another")
            if changes is not None:
                assert isinstance(await asyncio.wait_for(anext(aiter(changes)), 20), ResourcesListChanged)
            else:
                assert isinstance(await asyncio.wait_for(heard.get(), 20), types.ResourceListChangedNotification)

    async def test_a_page_that_is_none_ends_the_program_with_a_sentence(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        ran = await Terminal(tmp_path).run("mcp", "--page", "abc", **environment)
        assert ran.code == 1
        assert ran.err == "--page takes the number or label of one page, such as 80 or xii, and not “abc”.\n"

    async def test_a_port_is_for_http(self, environment: dict[str, str], tmp_path: Path) -> None:
        ran = await Terminal(tmp_path).run("mcp", "--port", "9000", **environment)
        assert (ran.code, ran.err) == (1, "--port and --host are for HTTP. Add --http, or leave them out.\n")

    async def test_another_address_than_loopback_needs_a_token(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        ran = await Terminal(tmp_path).run("mcp", "--http", "--host", "0.0.0.0", **environment)
        assert ran.code == 1
        assert "Set MCP_TOKEN to a long secret" in ran.err

    async def test_over_http_nobody_is_let_in_without_the_token_or_under_another_name(
        self, environment: dict[str, str], book: Book, tmp_path: Path
    ) -> None:
        environment["MCP_TOKEN"] = "open sesame"
        token = {"Authorization": "Bearer open sesame"}
        tried = [{}, {"Authorization": "Bearer open"}, token | {"Host": "evil.example"}, token]
        async with serving(environment, tmp_path) as program, create_mcp_http_client() as client:
            url = await program.url()
            told = [(await client.post(url, json={}, headers=headers)).status_code for headers in tried]
        assert told == [401, 401, 421, 400]  # the last one is let in, and says that this is no message

    async def test_ctrl_c_ends_it_at_once_though_a_client_keeps_its_stream_open(
        self, environment: dict[str, str], book: Book, tmp_path: Path
    ) -> None:
        environment["MCP_TOKEN"] = "open sesame"
        with_token = create_mcp_http_client(headers={"Authorization": "Bearer open sesame"})
        async with serving(environment, tmp_path, "--host", "::1") as program, with_token, AsyncExitStack() as stack:
            client = Client(streamable_http_client(await program.url(), http_client=with_token), mode="legacy")
            await stack.enter_async_context(client)
            await call(client, "list_books")
            async with asyncio.timeout(20):  # it is a fifth of a second; a loaded machine has its time
                assert await program.interrupt() in (0, 130)
            assert "Traceback" not in program.said
