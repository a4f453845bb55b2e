"""Conversations outside their turns: creating, listing, naming, binding and deleting them, and who reads along."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from string import Template

from domain.chat import ChatMessage, PromptKind
from domain.citations.page_numbers import named_pages, without_typed_pages
from domain.conversation import UNTITLED, Conversation, TitleSource, first_title, title_from
from domain.errors import BookError, BookErrorCode, ConversationError, ConversationErrorCode, MarginaliaError
from domain.library.progress import SharedBounds
from domain.ports import (
    BookRepository,
    ChatMessageRepository,
    ChatProvider,
    Clock,
    ConversationRepository,
)
from domain.records import Removal
from domain.spoilers.detector import SpoilerChecks
from domain.spoilers.filter import spans, without_covers
from domain.tool_use import RequestUsage
from domain.turn.quota import UsageMeter, complete_once

logger = logging.getLogger(__name__)

TITLE_WITHIN_S = 30.0
ANSWER_SHOWN = 2_000
"""Characters of the answer that are sent along: its beginning says what it is about."""
_NO_TITLE = ("-", "–", "—")
"""What the model answers where a title would say nothing."""
_QUOTATION_MARKS = "\"'“”„‚‘’«»`*_# "


class ManageConversations:
    """The life of a conversation outside its turns."""

    def __init__(self, *, books: BookRepository, conversations: ConversationRepository, clock: Clock) -> None:
        self._books = books
        self._conversations = conversations
        self._clock = clock

    async def create(
        self,
        book_id: str,
        title: str | None = None,
        *,
        first_message: str = "",
        owner_id: str = "",
        conversation_id: str = "",
    ) -> Conversation:
        """Start a conversation on a book. Without a title, it gets one from its first message.

        Raises:
            BookError: NOT_FOUND.
            ConversationError: INVALID_STATE, the title is blank.
        """
        conversation = Conversation(
            id=conversation_id or uuid.uuid4().hex,
            book_id=book_id,
            title=first_title(first_message) if title is None else title,
            created_at=self._clock(),
            title_source=TitleSource.AUTOMATIC if title is None else TitleSource.PERSON,
            owner_id=owner_id,
        )
        return await self._opened(conversation)

    async def aside(self, book_id: str, shelf: str, owner_id: str) -> Conversation:
        """The conversation with somebody's private questions about a book, created on first use.

        Raises:
            BookError: NOT_FOUND.
        """
        known = [each for each in await self._conversations.get_by_book(book_id) if each.is_aside]
        if own := next((each for each in known if each.owner_id == owner_id and each.guild_id == shelf), None):
            return own
        conversation = Conversation(
            id=uuid.uuid4().hex,
            book_id=book_id,
            title=UNTITLED,
            created_at=self._clock(),
            owner_id=owner_id,
            guild_id=shelf,
            private=True,
        )
        return await self._opened(conversation)

    async def _opened(self, conversation: Conversation) -> Conversation:
        if await self._books.get(conversation.book_id) is None:
            raise BookError(BookErrorCode.NOT_FOUND, "That book isn't on the shelf any more.")
        await self._conversations.save(conversation)
        return conversation

    async def get(self, conversation_id: str) -> Conversation:
        """The conversation.

        Raises:
            ConversationError: NOT_FOUND.
        """
        return _found(await self._conversations.get(conversation_id))

    async def _change(self, conversation_id: str, change: Callable[[Conversation], Conversation]) -> Conversation:
        """Change a stored conversation, and return it as it is then.

        Raises:
            ConversationError: NOT_FOUND.
        """
        return _found(await self._conversations.change(conversation_id, change))

    async def find(self, conversation_id: str) -> Conversation | None:
        """The conversation; None if it no longer exists."""
        return await self._conversations.get(conversation_id)

    async def in_thread(self, thread_id: str) -> Conversation | None:
        """The conversation bound to a thread; None if there is none."""
        return await self._conversations.get_by_thread(thread_id)

    async def in_guild(self, guild_id: str) -> Sequence[Conversation]:
        """All conversations on the shelf of a server, or of a person, newest first."""
        return await self._conversations.get_by_guild(guild_id)

    async def find_in_guild(
        self, guild_id: str, words: Sequence[str], limit: int, book_id: str | None = None
    ) -> Sequence[Conversation]:
        """The newest ones on a shelf in whose name each word occurs, without their system prompts."""
        return await self._conversations.find_in_guild(guild_id, words, limit, book_id)

    async def current_in_direct_messages(self, limit: int) -> Sequence[Conversation]:
        """Those that are current in direct messages, at most `limit`, the most recently used first."""
        return await self._conversations.list_current_direct(limit)

    async def of_reader(self, reader_id: str) -> Sequence[Conversation]:
        """All conversations in which there may be something of a reader's."""
        return await self._conversations.get_by_reader(reader_id)

    async def list_by_book(self, book_id: str) -> Sequence[Conversation]:
        """All conversations on a book, newest first."""
        return await self._conversations.get_by_book(book_id)

    async def rename(self, conversation_id: str, title: str) -> Conversation:
        """Give a conversation a title that a person chose.

        Raises:
            ConversationError: NOT_FOUND, or INVALID_STATE for a blank title.
        """
        now = self._clock()
        return await self._change(conversation_id, lambda it: replace(it.renamed(title), updated_at=now))

    async def rename_with_thread(self, conversation_id: str, name: str, when: datetime) -> Conversation:
        """Give a conversation the name that a person gave its thread at that time, unless a title was chosen since, or
        taken back.

        Raises:
            ConversationError: NOT_FOUND, or INVALID_STATE for a blank name.
        """
        conversation = await self.get(conversation_id)
        if when <= (conversation.updated_at or conversation.created_at):
            return conversation
        return await self.rename(conversation_id, name)

    async def title_by_model(self, conversation_id: str, title: str, question: ChatMessage) -> None:
        """Give a conversation a title that a model made from a question, unless a person has chosen one. UNTITLED takes
        back a title from the first words.

        Nothing changes if the question no longer exists.
        """
        source = TitleSource.AUTOMATIC if title == UNTITLED else TitleSource.MODEL
        await self._conversations.update_title(conversation_id, title, source, question.id)

    async def title_after(self, conversation_id: str, message: ChatMessage) -> None:
        """Name a conversation without a title after a message that says enough for one, if that still exists."""
        conversation = await self.get(conversation_id)
        is_untitled = conversation.title == UNTITLED and conversation.title_source is TitleSource.AUTOMATIC
        if is_untitled and (title := first_title(message.content)) != UNTITLED:
            await self._conversations.update_title(conversation_id, title, TitleSource.AUTOMATIC, message.id)

    async def bind(
        self, conversation_id: str, *, guild_id: str, channel_id: str, thread_id: str, private: bool
    ) -> Conversation:
        """Show a conversation in this thread from now on.

        Raises:
            ConversationError: NOT_FOUND.
        """
        bound = await self._change(
            conversation_id,
            lambda it: replace(it, guild_id=guild_id, channel_id=channel_id, thread_id=thread_id, private=private),
        )
        await self._conversations.note_found(conversation_id)
        return bound

    async def make_current(self, conversation_id: str, *, shelf: str, channel_id: str) -> Conversation:
        """Continue a conversation in a person's direct messages, where one is current at a time.

        Raises:
            ConversationError: NOT_FOUND.
        """
        return _found(await self._conversations.make_current(conversation_id, shelf, channel_id))

    async def note_gone(self, guild_id: str, place_id: str) -> int:
        """Record that a thread or a channel is gone; return how many conversations were in it.

        They can be resumed elsewhere; after a while they are erased.
        """
        return await self._conversations.note_gone(guild_id, place_id, self._clock())

    async def note_found(self, conversation_id: str) -> None:
        """The thread of a conversation is there."""
        await self._conversations.note_found(conversation_id)

    async def unbind(self, thread_id: str) -> Conversation | None:
        """Keep a conversation whose thread is gone, so that it can be resumed in another. None: there is none."""
        conversation = await self._conversations.get_by_thread(thread_id)
        if conversation is None:
            return None
        return await self._conversations.change(conversation.id, lambda it: replace(it, thread_id=None))

    async def show_calls(self, conversation_id: str, verbose: bool) -> Conversation:
        """Choose whether tool calls are shown in a conversation, whatever its readers' own defaults.

        Raises:
            ConversationError: NOT_FOUND.
        """
        return await self._change(conversation_id, lambda it: replace(it, verbose=verbose))

    async def share(self, conversation_id: str) -> Conversation:
        """Record that several people write in its thread, so that not every message is for the bot.

        Raises:
            ConversationError: NOT_FOUND.
        """
        return await self._change(conversation_id, lambda it: replace(it, shared=True))

    async def delete(self, conversation_id: str, reader_id: str = "") -> Sequence[Removal]:
        """Delete a conversation with its messages, at the request of a reader. Returns what of it everybody still sees
        outside of its thread; that is on the list of removals.

        Raises:
            ConversationError: NOT_FOUND.
        """
        await self.get(conversation_id)
        return await self._conversations.delete(conversation_id, reader_id)


def _found(conversation: Conversation | None) -> Conversation:
    if conversation is None:
        raise ConversationError(
            ConversationErrorCode.NOT_FOUND,
            "That conversation doesn't exist any more. Choose another one, or start a new one.",
        )
    return conversation


class Company:
    """Knows who reads along in a conversation; the lowest of their positions limits what is told there.

    These are its opener and everybody who wrote in its thread within `lasts` (None: ever), unless they have left
    since.
    """

    def __init__(self, *, messages: ChatMessageRepository, clock: Clock, lasts: timedelta | None) -> None:
        self._messages = messages
        self._clock = clock
        self._lasts = lasts

    async def of(self, conversation_id: str) -> Sequence[str]:
        """The ids of those who read along."""
        since = self._clock() - self._lasts if self._lasts is not None else None
        return await self._messages.list_people(conversation_id, since)

    async def note_present(self, conversation_id: str, reader_id: str) -> None:
        """Record that somebody writes in the thread, though not to the bot."""
        await self._messages.note_present(conversation_id, reader_id, self._clock())

    async def dismiss(self, conversation_id: str, reader_id: str) -> None:
        """Stop counting somebody who has left, or whom the owner has released, until they write again."""
        await self._messages.note_absent(conversation_id, reader_id, self._clock())


class TitleWriter:
    """Makes a title from a first question and its answer, charged to the person who asked."""

    def __init__(
        self,
        *,
        provider: ChatProvider,
        prompt: Template,
        books: BookRepository,
        bounds: SharedBounds,
        spoilers: SpoilerChecks,
        meter: UsageMeter,
    ) -> None:
        self._provider = provider
        self._prompt = prompt
        self._books = books
        self._bounds = bounds
        self._spoilers = spoilers
        self._meter = meter

    async def __call__(self, conversation: Conversation, question: ChatMessage, answer: str) -> str | None:
        """The title, UNTITLED if the question is small talk; None if there is no usable one. Never raises."""
        try:
            async with asyncio.timeout(TITLE_WITHIN_S):
                title = await self._ask(conversation, question, answer)
                return title if title and not await self._spoils(title, conversation, question) else None
        except (MarginaliaError, TimeoutError) as error:
            logger.info("no title for conversation %s: %s", conversation.id, error)
            return None

    async def _ask(self, conversation: Conversation, question: ChatMessage, answer: str) -> str:
        open_part = "".join(span.text for span in spans(answer) if not span.is_hidden)[:ANSWER_SHOWN]
        asked = without_covers(question.content)
        prompt = self._prompt.substitute(question=asked, answer=open_part)
        spent = partial(self._record, conversation, question)
        data = {"question": asked, "answer": open_part}
        title = await complete_once(self._provider, spent, prompt, kind=PromptKind.TITLE, data=data)
        first_line = title.strip().split("\n", 1)[0].strip(_QUOTATION_MARKS).rstrip(".")
        if first_line in _NO_TITLE:
            return UNTITLED
        pages = {*named_pages(first_line)}
        if pages - {*named_pages(asked)}:
            return ""
        title = first_line if pages else without_typed_pages(first_line)
        return title_from(title) if title else ""

    async def _record(self, conversation: Conversation, question: ChatMessage, spent: RequestUsage) -> None:
        asker, place = question.author_id, conversation.server_id
        await self._meter.book(spent, asker, place, conversation.id, question.created_at)

    async def _spoils(self, title: str, conversation: Conversation, question: ChatMessage) -> bool:
        """Whether it names what is beyond the position of the readers (`depends_to` of a question), or of anybody else
        who reads the book: everybody who sees the channel sees a thread's title.
        """
        book = await self._books.get(conversation.book_id)
        if book is None or question.depends_to is None or title == UNTITLED:
            return False
        positions = [read_to for read_to, _ in await self._bounds.positions(book)]
        read_to = min([question.depends_to, *positions])
        tells = self._spoilers.check(book, read_to, f"{book.title}\n{book.author}\n{without_covers(question.content)}")
        return tells is not None and await tells(title)
