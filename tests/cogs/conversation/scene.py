"""The real bot on the loopback Discord, with a book on the shelf and people in the room."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bot.app import App
from domain.book import Book
from domain.chat import ChatMessage
from domain.conversation import Conversation, Turn, TurnState
from storage.book_files.files import SQLiteBookFiles
from tests.bot.online import Online, online
from tests.doubles.discord_api import Channel, DiscordDouble, Message, MessageType
from tests.doubles.discord_api.entities import as_read
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.reading_room import tale
from tests.waiting import eventually


def done_with(turns: Sequence[Turn], count: int) -> bool:
    return len(turns) == count and all(turn.told or turn.state is TurnState.DELIVERED for turn in turns)


class Scene:
    """`ann` and `ben` are readers; `thread` is Ann's, bound to a conversation about "The Dark Lamp"."""

    def __init__(self, double: DiscordDouble, state: Online, folder: Path) -> None:
        self.double = double
        self.state = state
        self.folder = folder
        self.ann, self.ben = double.user("ann"), double.user("ben")
        self.thread: Channel

    @property
    def app(self) -> App:
        return self.state.app

    @property
    def model(self) -> ScriptedChat:
        return self.state.model

    async def prepare(self, **options: Any) -> None:
        """Put the book on the shelf and open the thread."""
        await self.until(lambda: self.double.commands.commands.get(0))
        self.thread = await self.chat(await self.book(), **options)

    async def book(self) -> Book:
        shelf = str(self.double.guild.id)
        if known := await self.app.storage.books.list(shelf):
            return known[0]
        text, files = tale(), SQLiteBookFiles(self.folder / "books")
        await files.write("a" * 64, text)
        await files.close()
        counts = (3, 3, len(text.text.split()), len(text.text), self.app.clock())
        book = Book("b" * 32, shelf, "a" * 64, text.title, text.author, "txt", *counts)
        await self.app.storage.books.save(book)
        return book

    async def chat(self, book: Book, **options: Any) -> Channel:
        """The thread that Ann's /chat opens."""
        known = {thread.id for thread in self.double.threads()}
        await self.ann.slash("chat", book=book.id, title=options.pop("title", "Talk"), **options)
        await self.until(lambda: any(self._is_welcome(each) for each in self._new_messages(known)))
        [opened] = [thread for thread in self.double.threads() if thread.id not in known]
        await self.conversation(opened)
        return opened

    def _new_messages(self, known: set[int]) -> list[Message]:
        opened = [thread for thread in self.double.threads() if thread.id not in known]
        return [message for thread in opened for message in self.double.messages(thread)]

    def _is_welcome(self, message: Message) -> bool:
        return any("/progress" in text for text in message.embed_texts)

    def replies(self, thread: Channel | None = None) -> list[Message]:
        """What the bot has posted in a thread after its welcome."""
        kinds = (MessageType.DEFAULT, MessageType.REPLY)
        shown = self.double.messages(thread or self.thread)
        mine = [each for each in shown if each.author is self.double.bot and each.type in kinds]
        return [each for each in mine if not self._is_welcome(each)]

    def said(self, thread: Channel | None = None) -> list[str]:
        return [as_read(reply.content) for reply in self.replies(thread)]

    async def until(self, condition: Callable[[], object]) -> None:
        await self.double.until(condition)

    async def until_said(self, *texts: str, thread: Channel | None = None) -> None:
        """Until the bot's messages in the thread are exactly these."""
        await self.until(lambda: self.said(thread) == list(texts))

    async def until_delivered(self, count: int = 1, thread: Channel | None = None) -> None:
        """Until that many turns of the thread's conversation are done with."""
        await eventually(partial(self.turns, thread), lambda turns: done_with(turns, count))

    async def conversation(self, thread: Channel | None = None) -> Conversation:
        """That of a thread, which has its card a moment before its conversation."""
        found = await eventually(partial(self._bound_to, thread or self.thread))
        assert found
        return found

    async def _bound_to(self, thread: Channel) -> Conversation | None:
        return await self.app.storage.conversations.get_by_thread(str(thread.id))

    async def turns(self, thread: Channel | None = None) -> list[Turn]:
        return list(await self.app.storage.turns.get_by_conversation((await self.conversation(thread)).id))

    async def history(self, thread: Channel | None = None) -> list[ChatMessage]:
        return list(await self.app.storage.messages.get_by_conversation((await self.conversation(thread)).id))

    async def kept(self, thread: Channel | None = None) -> list[str]:
        """What is kept of the talk, in order."""
        return [message.content for message in await self.history(thread)]

    async def until_kept(self, *texts: str) -> None:
        """Until what is kept of the talk is exactly this: the bot has heard all that was said, edited or deleted."""
        await eventually(self.kept, lambda kept: kept == list(texts))

    async def hold(self) -> asyncio.Event:
        """Let the model stop after its first word from now on; set the event to let it go on."""
        self.model.hold = asyncio.Event()
        return self.model.hold

    async def until_asked(self, requests: int) -> None:
        """Until the model has got that many requests in all."""
        await self.until(lambda: len(self.model.requests) >= requests)


@asynccontextmanager
async def scene(double: DiscordDouble, folder: Path, **settings: Any) -> AsyncIterator[Scene]:
    """The bot online, for the length of the block, on a Discord that lets it write again sooner than the real one."""
    double.rest.limits.shorten(0.2)
    async with online(double, folder, **settings) as state:
        yield Scene(double, state, folder)


@asynccontextmanager
async def again(before: Scene, **settings: Any) -> AsyncIterator[Scene]:
    """The bot of a scene that has ended, started anew on what it kept."""
    async with online(before.double, before.folder, **settings) as state:
        after = Scene(before.double, state, before.folder)
        after.thread = before.thread
        yield after
