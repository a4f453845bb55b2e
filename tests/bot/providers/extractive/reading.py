"""Small invented books that are really indexed, and turns played on them as a conversation plays them."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.providers.extractive.client import ExtractiveChat
from bot.tools.book import book_toolbox
from domain.book import Book, BookText, Chapter, Citation, Page
from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.citations.resolver import compose
from domain.event import StrategyOutcome, ToolCallStarted
from domain.ports import BookView, Dispatcher
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from storage.book_files.files import SQLiteBookFiles


@dataclass(frozen=True)
class Turn:
    """What a reader got to see, and how it came about."""

    text: str
    written: str
    citations: tuple[Citation, ...]
    calls: tuple[ToolCallStarted, ...]

    @property
    def tools(self) -> list[str]:
        return [call.tool_name for call in self.calls]

    @property
    def query(self) -> str:
        return str(self.calls[0].arguments["query"])


@dataclass
class Talk:
    """A conversation on a book; every turn sees those before it."""

    view: BookView
    is_open: bool = True
    page: str | None = None
    place: dict[str, str] = field(default_factory=dict)
    past: list[PromptMessage] = field(default_factory=list)
    dispatch: Dispatcher | None = None

    async def ask(self, *messages: str, by: Sequence[str] = ()) -> Turn:
        """The answer to messages that came together, `by` these people if there are several."""
        tools = book_toolbox(self.view)
        said = [*(m.content for m in self.past if m.role == "user"), *messages]
        talk = [ChatMessage("1", "1", MessageRole.USER, words, datetime.now(UTC)) for words in said]
        composition = compose(self.view.book, self.view, talk, None)
        notes = [f"[{name}]" for name in by] or [""] * len(messages)
        asked = [PromptMessage("user", each, note=note) for each, note in zip(messages, notes, strict=True)]
        about = self.view.book
        book = {"title": about.title, "author": about.author, "open": self.is_open}
        book |= {"page": self.page, "place": self.place}
        calls: list[ToolCallStarted] = []
        added: Sequence[PromptMessage] = ()
        turn = ToolUseRetrievalStrategy().execute(
            ExtractiveChat(),
            [PromptMessage("system", "You read a book with someone.", data=book), *self.past, *asked],
            tools.get_definitions(),
            self.dispatch or tools.build_dispatcher(),
        )
        async for event in turn:
            await composition.follow(event)
            match event:
                case ToolCallStarted():
                    calls.append(event)
                case StrategyOutcome():
                    added = event.messages
        await composition.finish()
        self.past += [*asked, *added[:-1], PromptMessage("assistant", composition.text)]
        return Turn(composition.text, added[-1].content, tuple(composition.citations), tuple(calls))


def book_text(chapters: dict[str, str], numbers: Sequence[str] = (), part: str = "") -> BookText:
    """Chapters with a page each, and with these printed numbers; those behind the one called `part` are in it."""
    text = ""
    pages: list[Page] = []
    parts: list[Chapter] = []
    for number, (title, body) in enumerate(chapters.items(), start=1):
        start = len(text)
        text += f"{title}\n\n{body.strip()}\n\n"
        pages.append(Page(number, str(number), start, len(text)))
        printed = numbers[number - 1] if numbers else ""
        parent = part if part in [each.title for each in parts] else ""
        parts.append(Chapter(number, title, start, len(text), 2 if parent else 1, printed, parent))
    return BookText(text, tuple(pages), tuple(parts), "txt", title="A Small Book")


@asynccontextmanager
async def opened_view(
    folder: Path, chapters: dict[str, str], numbers: Sequence[str] = (), read_to: int | None = None, part: str = ""
) -> AsyncIterator[BookView]:
    """A book of these chapters, open up to an offset, or all of it."""
    book = book_text(chapters, numbers, part)
    digest = hashlib.sha256(book.text.encode()).hexdigest()
    files = SQLiteBookFiles(folder)
    await files.write(digest, book)
    count, words = len(book.chapters), len(book.text.split())
    kept = Book(digest, "local", digest, book.title, "", "txt", count, count, words, len(book.text), datetime.now(UTC))
    try:
        yield (await files.open(kept)).view(len(book.text) if read_to is None else read_to)
    finally:
        await files.close()


@asynccontextmanager
async def reading(
    folder: Path,
    chapters: dict[str, str],
    numbers: Sequence[str] = (),
    read_to: int | None = None,
    part: str = "",
    **talk: Any,
) -> AsyncIterator[Talk]:
    """A talk on a book of these chapters, with these printed numbers; those behind the one called `part` are in it."""
    async with opened_view(folder, chapters, numbers, read_to, part) as view:
        yield Talk(view, **talk)
