"""Books over the Model Context Protocol: the tools and pages of a shelf, never beyond the bound, on every transport."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, types

from bot.mcp.server import OpenBooks, book_server
from bot.tools.book import BOOK_TOOLS
from domain.book import Book, BookText, Chapter, Page, PositionState, ReadingPosition
from domain.library.shelf import Bookshelf
from domain.ports import Progress
from storage import Storage, open_storage
from storage.book_files.files import SQLiteBookFiles
from tests.storage.values import MIDNIGHT

PAGES = (
    "The lamp on the pier was lit at dusk.\n\nNobody knew who lit it.",
    "Mara counted the boats. There were seven boats, and one was missing.",
    "The lamp keeper was her own grandfather all along.",
)


class PagesReader:
    """A BookParser for a book that is one page a line."""

    async def expect(self, filename: str) -> None:
        """It is always ready."""

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        pages, start = [], 0
        for number, text in enumerate(PAGES, 1):
            pages.append(Page(number, str(number), start, start + len(text) + 1))
            start += len(text) + 1
        chapters = (Chapter(1, "Dusk", 0, pages[0].end), Chapter(2, "The Keeper", pages[1].start, pages[2].end))
        return BookText("\n".join(PAGES) + "\n", tuple(pages), chapters, "txt", filename, "A. Writer")


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    async with await open_storage(f"sqlite:///{tmp_path / 'marginalia.db'}") as opened:
        yield opened


@pytest.fixture
async def shelf(storage: Storage, tmp_path: Path) -> AsyncIterator[Bookshelf]:
    files = SQLiteBookFiles(tmp_path / "books")
    yield Bookshelf(reader=PagesReader(), files=files, books=storage.books, clock=lambda: MIDNIGHT)
    await files.close()


@pytest.fixture
async def book(shelf: Bookshelf) -> Book:
    return (await shelf.add(b"The Lamp", "The Lamp")).book


@pytest.fixture
def books(shelf: Bookshelf, storage: Storage, book: Book) -> OpenBooks:
    return OpenBooks(shelf=shelf, readers=storage.readers, reader_id="terminal")


def bounded(books: OpenBooks, page: str) -> Client:
    return Client(book_server(OpenBooks(shelf=books.shelf, readers=books.readers, reader_id="terminal", page=page)))


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text, result.is_error


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


class TestTools:
    async def test_they_are_the_book_tools_told_which_book(self, books: OpenBooks) -> None:
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
            ("search_book", {"book": "The Lamp"}, "Missing required argument: query"),
            ("search_book", {"book": "Moby Dick", "query": "x"}, "There is no book called “Moby Dick”"),
            ("search_book", {"book": 3, "query": "x"}, "book must be a title or an id"),
            ("search_book", {"book": "The Lamp", "query": "x", "top_k": "many"}, "top_k must be a whole number"),
            ("read_pages", {"book": "The Lamp", "from": "99"}, "99"),
            ("burn_book", {"book": "The Lamp"}, "Unknown tool"),
        ],
    )
    async def test_what_cannot_be_done_is_said_to_the_model(
        self, books: OpenBooks, tool: str, arguments: dict[str, Any], sentence: str
    ) -> None:
        async with Client(book_server(books)) as client:
            text, failed = await call(client, tool, **arguments)
        assert failed
        assert sentence in text


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
            listed = json.loads((await call(client, "list_books"))[0])
            page = await read(client, f"book://{book.id}/pages/2")
            with pytest.raises(MCPError, match="not among the pages that have been read"):
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
            end_of_first = ReadingPosition(PositionState.READING, len(PAGES[0]) + 1)
            await storage.readers.set_position("terminal", book.id, end_of_first)
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

    async def test_a_book_without_such_a_page_stays_shut(self, books: OpenBooks, book: Book) -> None:
        async with bounded(books, "40") as client:
            text, failed = await call(client, "search_book", book=book.id, query="lamp")
            listed = json.loads((await call(client, "list_books"))[0])
        assert failed
        assert "This book has no page '40'" in text
        assert "This book has no page '40'" in listed["books"][0]["problem"]


class TestResources:
    async def test_every_book_is_a_resource_with_its_contents(self, books: OpenBooks, book: Book) -> None:
        async with Client(book_server(books)) as client:
            (resource,) = (await client.list_resources()).resources
            (template,) = (await client.list_resource_templates()).resource_templates
            contents = await read(client, resource.uri)
        assert (resource.title, resource.uri) == ("The Lamp", f"book://{book.id}")
        assert template.uri_template == "book://{book}/pages/{page}"
        assert contents.splitlines() == ["The Lamp by A. Writer", "", "1. Dusk (p. 1)", "2. The Keeper (p. 2)"]

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
            with pytest.raises(MCPError, match="There is no") as refusal:
                await read(client, uri)
        assert refusal.value.code == types.INVALID_PARAMS


@pytest.fixture
def environment(tmp_path: Path, book: Book) -> dict[str, str]:
    """What the program needs to find the books of this test, and no settings of the machine."""
    root = str(Path(__file__).parent.parent.parent)
    return {"DATA_DIR": str(tmp_path), "PYTHONPATH": root, "LLM_PROVIDER": "extractive", "PATH": os.environ["PATH"]}


class TestTransports:
    """The program itself, in a process of its own."""

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    async def test_standard_input_and_output(
        self, environment: dict[str, str], book: Book, tmp_path: Path, mode: str
    ) -> None:
        program = StdioServerParameters(
            command=sys.executable, args=["-m", "bot", "mcp", "--page", "2"], env=environment, cwd=tmp_path
        )
        async with Client(program, mode=mode) as client:
            found, failed = await call(client, "search_book", book="The Lamp", query="missing boat")
            hidden, _ = await call(client, "search_book", book="The Lamp", query="keeper grandfather")
        assert not failed
        assert "one was missing" in found
        assert "grandfather" not in hidden

    async def test_http_on_loopback(self, environment: dict[str, str], book: Book, tmp_path: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "mcp", "--http", "--port", "0",
            env=environment, cwd=tmp_path, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr is not None
        url = (await process.stderr.readline()).decode().split()[-1]
        try:
            assert url.startswith("http://127.0.0.1:")
            async with Client(url) as client:
                text, failed = await call(client, "find_phrase", book="The Lamp", text="seven boats")
        finally:
            process.send_signal(signal.SIGINT)
            remaining = await process.stderr.read()
            code = await process.wait()
        assert not failed
        assert "seven boats" in text
        assert b"Traceback" not in remaining
        assert code in (0, 130)

    async def test_a_port_that_is_taken_is_said_in_a_sentence(
        self, environment: dict[str, str], tmp_path: Path
    ) -> None:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "mcp", "--http", "--port", str(port),
                env=environment, cwd=tmp_path, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            _, said = await process.communicate()
        assert process.returncode == 1
        assert f"Port {port} cannot be used" in said.decode()
