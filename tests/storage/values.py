"""Values to put into a storage, with only what a test is about named."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.book import Book, Citation, Passage, Sentence
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Conversation, SystemPrompt, TitleSource, Turn, TurnState
from domain.tool_use import RawReply, TokenUsage, ToolDefinition, ToolInvocation
from storage.opening import Storage

MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return MIDNIGHT + timedelta(minutes=minutes)


def a_book(book_id: str = "alice", **changes: Any) -> Book:
    book = Book(
        id=book_id,
        shelf="local",
        sha256=f"hash of {book_id}",
        title="Alice's Adventures in Wonderland",
        author="Lewis Carroll",
        format="epub",
        page_count=196,
        chapter_count=12,
        word_count=26_500,
        length=144_000,
        created_at=MIDNIGHT,
    )
    return replace(book, **changes)


def a_conversation(conversation_id: str = "tea", book_id: str = "alice", **changes: Any) -> Conversation:
    return replace(Conversation(conversation_id, book_id, "Tea party", MIDNIGHT), **changes)


def a_question(message_id: str = "question", conversation_id: str = "tea", **changes: Any) -> ChatMessage:
    message = ChatMessage(
        message_id, conversation_id, MessageRole.USER, "Why is a raven like a writing desk?", MIDNIGHT
    )
    return replace(message, **changes)


def an_answer(message_id: str = "answer", conversation_id: str = "tea", **changes: Any) -> ChatMessage:
    message = ChatMessage(message_id, conversation_id, MessageRole.ASSISTANT, "Nobody knows (p. 97).", MIDNIGHT)
    return replace(message, **changes)


def a_passage(start: int = 100) -> Passage:
    sentences = (
        Sentence(start, start + 35, "“Why is a raven like a writing-desk?”"),
        Sentence(start + 36, start + 60, "Alice\nthought it over."),
    )
    return Passage(7, start, start + 60, "97", "98", "A Mad Tea-Party", sentences, score=0.5)


def everything_said() -> list[ChatMessage]:
    """A turn's messages with every field a message can have: a call with its preamble, its result, the answer."""
    raw = RawReply("anthropic", "model", [{"type": "thinking", "signature": "ab==", "n": 1.0}], "digest")
    call = an_answer(
        "call",
        content="Let me look.",
        tool_invocations=(ToolInvocation("search_book", {"query": "raven", "top_k": 2.5, "also": ["désk"]}, "use-1"),),
        usage=TokenUsage(1000, 20, 800, 100),
        raw=raw,
    )
    result = ChatMessage(
        "result",
        "tea",
        MessageRole.TOOL_RESULT,
        "two passages",
        MIDNIGHT,
        tool_use_id="use-1",
        is_error=True,
        passages=(a_passage(100), a_passage(400)),
        depends_to=460,
        duration_ms=12,
        summary="2 passages",
    )
    citation = Citation(100, 135, "“Why is a raven like a writing-desk?”", "97", "98", "A Mad Tea-Party", True)
    return [call, result, an_answer("answer", citations=(citation,), depends_to=460, note="", raw=raw)]


def everything_about_a_conversation() -> Conversation:
    return a_conversation(
        title_source=TitleSource.MODEL,
        owner_id="hatter",
        guild_id="1",
        channel_id="2",
        thread_id="3",
        private=True,
        shared=True,
        verbose=False,
        system_prompt=SystemPrompt(
            "You read with people.", (ToolDefinition("search_book", "Search", {"type": "object"}),)
        ),
        updated_at=at(5),
    )


async def furnish(storage: Storage) -> None:
    """A book and a conversation on it."""
    await storage.books.save(a_book())
    await storage.conversations.save(a_conversation())


async def hold_turn(
    storage: Storage, name: str, conversation_id: str = "tea", author_id: str = "hatter", **changes: Any
) -> Turn:
    """A question and its answer, as a whole turn; the ids of both messages begin with `name`."""
    question = a_question(f"{name}-question", conversation_id, author_id=author_id, **changes)
    assert await storage.messages.add_incoming(question)
    turn = await storage.turns.begin(conversation_id, [question.id], MIDNIGHT)
    answered = replace(turn, state=TurnState.ANSWERED, finished_at=at(1))
    await storage.turns.finish(answered, [an_answer(f"{name}-answer", conversation_id)])
    return answered


async def ids_of(storage: Storage, conversation_id: str = "tea") -> list[str]:
    return [message.id for message in await storage.messages.get_by_conversation(conversation_id)]


async def tables_with(storage: Storage, text: str) -> set[str]:
    """The tables in which a text stands."""
    found = set()
    for table, shape in (await storage.engine.tables()).items():
        is_in_it = " OR ".join(f'CAST("{column}" AS TEXT) LIKE ?' for column in shape.columns)
        if await storage.engine.read(f"SELECT 1 FROM {table} WHERE {is_in_it}", [f"%{text}%"] * len(shape.columns)):
            found.add(table)
    return found
