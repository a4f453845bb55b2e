"""The brain over a real database and a real book file; only the model is a script."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from bot.providers.extractive.client import ExtractiveChat
from bot.tools.book import book_toolbox
from domain.book import Book, BookText, Chapter, Page
from domain.chat import Prompts
from domain.conversation import Conversation
from domain.event import Answer, TurnEvent
from domain.library.progress import SharedBounds
from domain.library.summaries import ChapterSummaries
from domain.ports import BookFile, ChatProvider
from domain.spoilers.detector import SpoilerChecks
from domain.strategies.always_retrieve import AdaptiveStrategy, AlwaysRetrieveStrategy
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from domain.tools.registry import MakeToolbox
from domain.turn.chat_with_book import ChatWithBook, Reader
from domain.turn.conversations import Company, ManageConversations
from domain.turn.history import FullHistoryStrategy
from domain.turn.preparer import BoundBooks, SystemPrompts, TurnPreparer, TurnTools
from domain.turn.quota import Quota, UsageMeter
from domain.turn.runner import FallbackAnswerer, TurnRunner
from storage.book_files.files import SQLiteBookFiles
from storage.opening import Storage, open_storage
from tests.sqlite import lay_out

ANN = Reader("ann", "Ann")
BEN = Reader("ben", "Ben")

CHAPTERS = {
    "I. The Arrival": (
        "Marta Quill came to the island on a Tuesday in March. The ferryman, old Hobb, would not take money."
    ),
    "II. The Lamp": "The lamp had been dark on the night of the ninth. Marta found a brass key under the stairs.",
    "III. The Keeper": (
        "It was Hobb who had put the lamp out. He had done it for his brother Lucian, who drowned in 1887."
    ),
}

TALE = "\n\n\n".join(f"CHAPTER {number}\n\n{body}" for number, body in enumerate(CHAPTERS.values(), start=1))
"""The same as a text file."""


def tale() -> BookText:
    """Three chapters, a page each; who did it stands in the last."""
    text, pages, chapters = "", [], []
    for number, (title, body) in enumerate(CHAPTERS.items(), start=1):
        start = len(text)
        text += f"{title}\n\n{body}\n\n"
        pages.append(Page(number, str(number), start, len(text)))
        chapters.append(Chapter(number, title, start, len(text)))
    return BookText(text, tuple(pages), tuple(chapters), "txt", title="The Dark Lamp", author="A. Nonymous")


def the_book(text: BookText) -> Book:
    """The text as a book on a shelf."""
    return Book(
        "tale",
        "local",
        "a" * 64,
        text.title,
        text.author,
        "txt",
        len(text.pages),
        len(text.chapters),
        len(text.text.split()),
        len(text.text),
        datetime.now(UTC),
        pages_estimated=text.pages_estimated,
    )


def shared_bounds(storage: Storage) -> SharedBounds:
    return SharedBounds(readers=storage.readers, clubs=storage.clubs, clock=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class ReadingRoom:
    storage: Storage
    chat: ChatWithBook
    manage: ManageConversations
    book: Book
    file: BookFile

    async def talk(self, owner: Reader = ANN) -> Conversation:
        return await self.manage.create(self.book.id, owner_id=owner.id)

    async def ask(self, talk: Conversation, question: str, reader: Reader = ANN) -> list[TurnEvent]:
        await self.chat.receive(talk.id, question, reader)
        return [event async for event in self.chat.answer(talk.id)]

    async def answer(self, talk: Conversation, question: str, reader: Reader = ANN) -> Answer:
        event = (await self.ask(talk, question, reader))[-1]
        assert isinstance(event, Answer), event
        return event


@asynccontextmanager
async def reading_room(
    folder: Path,
    provider: ChatProvider,
    *,
    turn_timeout: float = 300.0,
    tool_timeout: float = 5.0,
    daily_tokens: int = 0,
    max_rounds: int = 3,
    text: BookText | None = None,
    toolbox: MakeToolbox = book_toolbox,
) -> AsyncIterator[ReadingRoom]:
    now: Callable[[], datetime] = lambda: datetime.now(UTC)  # noqa: E731
    prompts = Prompts.load(files("prompts"))
    lay_out(folder / "room.db")
    async with await open_storage(f"sqlite:///{folder / 'room.db'}") as storage:
        book_files = SQLiteBookFiles(folder / "books")
        text = text or tale()
        book = the_book(text)
        await book_files.write(book.sha256, text)
        await storage.books.save(book)
        spoilers = SpoilerChecks(book_files)
        summaries = ChapterSummaries(
            texts=storage.derived_texts,
            prompts=prompts,
            spoilers=spoilers,
            clock=now,
            model=provider.model_name,
            seconds=tool_timeout / 2,
        )
        manage = ManageConversations(books=storage.books, conversations=storage.conversations, clock=now)
        meter = UsageMeter(usage=storage.usage, price=lambda *_: 1, clock=now, provider=provider.name)
        bound_books = BoundBooks(
            books=storage.books,
            files=book_files,
            bounds=shared_bounds(storage),
            clock=now,
        )
        preparer = TurnPreparer(
            books=bound_books,
            tools=TurnTools(
                toolbox,
                meter=meter,
                summaries=summaries,
                timeout=tool_timeout,
            ),
            system_prompts=SystemPrompts(prompts, storage.conversations),
            context=FullHistoryStrategy(),
            turns=storage.turns,
            quota=Quota(storage.usage, now, daily_tokens),
            spoilers=spoilers,
        )

        async def model_of(_: Conversation) -> ChatProvider:
            return provider

        runner = TurnRunner(
            preparer=preparer,
            model_of=model_of,
            strategy=AdaptiveStrategy(ToolUseRetrievalStrategy(max_rounds=max_rounds), AlwaysRetrieveStrategy(prompts)),
            turns=storage.turns,
            meter=meter,
            fallback=FallbackAnswerer(ExtractiveChat(), ToolUseRetrievalStrategy(), book_toolbox),
            clock=now,
            turn_timeout=turn_timeout,
        )
        chat = ChatWithBook(
            books=bound_books,
            preparer=preparer,
            runner=runner,
            manage=manage,
            company=Company(messages=storage.messages, clock=now, lasts=timedelta(days=30)),
            messages=storage.messages,
            turns=storage.turns,
            clock=now,
        )
        try:
            yield ReadingRoom(storage, chat, manage, book, await book_files.open(book))
        finally:
            await book_files.close()
