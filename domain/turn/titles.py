"""Titles of conversations, by the model that answers in them."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from string import Template

from domain.chat import ChatMessage, PromptKind
from domain.conversation import Conversation, title_from
from domain.errors import MarginaliaError
from domain.event import UsageReported
from domain.ports import BookRepository, ChatProvider, Clock, ReaderRepository, UsageRepository
from domain.spoilers.detector import SpoilerChecks
from domain.spoilers.filter import spans
from domain.strategies.window import complete_once
from domain.tool_use import TokenUsage
from domain.usage import UsageRecord

logger = logging.getLogger(__name__)

PATIENCE_S = 30.0
ANSWER_SHOWN = 2_000
"""Characters of the answer that are sent along: what it is about stands at its beginning."""

_QUOTATION_MARKS = "\"'“”„‚‘’«»`*_# "


class TitleWriter:
    """Makes a title of a first question and its answer, on the account of whoever asked."""

    def __init__(
        self,
        *,
        provider: ChatProvider,
        prompt: Template,
        books: BookRepository,
        readers: ReaderRepository,
        spoilers: SpoilerChecks,
        usage: UsageRepository,
        price: Callable[[str, str, TokenUsage], int | None],
        clock: Clock,
    ) -> None:
        self._provider = provider
        self._prompt = prompt
        self._books = books
        self._readers = readers
        self._spoilers = spoilers
        self._usage = usage
        self._price = price
        self._clock = clock

    async def __call__(self, conversation: Conversation, question: ChatMessage, answer: str) -> str | None:
        """The title; None where none comes that could be used. Never raises."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                title = await self._ask(conversation, question, answer)
                return title if title and not await self._spoils(title, conversation, question) else None
        except (MarginaliaError, TimeoutError) as error:
            logger.info("no title for conversation %s: %s", conversation.id, error)
            return None

    async def _ask(self, conversation: Conversation, question: ChatMessage, answer: str) -> str:
        open_part = "".join(span.text for span in spans(answer) if not span.is_hidden)[:ANSWER_SHOWN]
        prompt = self._prompt.substitute(question=question.content, answer=open_part)
        spent = partial(self._record, conversation, question)
        data = {"question": question.content, "answer": open_part}
        title = await complete_once(self._provider, spent, prompt, kind=PromptKind.TITLE, data=data)
        first_line = title.strip().split("\n", 1)[0].strip(_QUOTATION_MARKS).rstrip(".")
        return title_from(first_line) if first_line else ""

    async def _record(self, conversation: Conversation, question: ChatMessage, spent: UsageReported) -> None:
        await self._usage.record(
            UsageRecord(
                at=self._clock(),
                model=spent.model,
                usage=spent.usage,
                reader_id=question.author_id,
                guild_id=conversation.server_id,
                conversation_id=conversation.id,
                cost_microdollars=self._price(self._provider.name, spent.model, spent.usage),
            )
        )

    async def _spoils(self, title: str, conversation: Conversation, question: ChatMessage) -> bool:
        """Whether it names what lies beyond where the readers were (`depends_to` of a question says where that is), or
        beyond anybody else who is reading the book: a thread's title is seen by all who see the channel."""
        book = await self._books.get(conversation.book_id)
        if book is None or question.depends_to is None:
            return False
        lowest = await self._readers.lowest_position(book.id)
        read_to = question.depends_to if lowest is None else min(question.depends_to, lowest)
        tells = self._spoilers.check(book, read_to, f"{book.title}\n{book.author}\n{question.content}")
        return tells is not None and await tells(title)
