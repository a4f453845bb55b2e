"""Titles by the model: of what the readers may know, on the account of whoever asked, and never a reason to fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot.app import App, open_app
from bot.settings import Settings
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Conversation
from domain.errors import LLMError, LLMErrorCode
from domain.spoilers.filter import hide
from domain.tool_use import ChatResponse, TokenUsage
from tests.doubles.scripted_chat import Reply, ScriptedChat

TALE = b"# One\n\nMara lit the lamp at dusk.\n\n# Two\n\nEzekiel drowned Barnaby in the quarry that winter.\n"
ASKED = ChatMessage("m", "c", MessageRole.USER, "Who lit the lamp?", datetime.now(UTC), author_id="ann")


@asynccontextmanager
async def a_talk(folder: Path, *replies: Reply) -> AsyncIterator[tuple[App, ScriptedChat, Conversation]]:
    model = ScriptedChat(*replies)
    async with open_app(Settings(_env_file=None, data_dir=folder), model) as app:  # type: ignore[call-arg]
        book = (await app.shelf.add(TALE, "tale.md")).book
        yield app, model, await app.conversations.create(book.id, owner_id="ann")


async def titled(app: App, talk: Conversation, asked: ChatMessage = ASKED, answer: str = "Mara did.") -> str | None:
    assert app.titles is not None
    return await app.titles(talk, asked, answer)


async def test_a_title_is_the_first_line_without_ornaments(tmp_path: Path) -> None:
    titles = {
        "The Lit Lamp": "The Lit Lamp",
        "“The Lit Lamp.”\nI hope it helps!": "The Lit Lamp",
        "## *The Lit Lamp*": "The Lit Lamp",
        ' "" ': None,
    }
    async with a_talk(tmp_path, *titles) as (app, _, talk):
        assert [await titled(app, talk) for _ in titles] == [*titles.values()]


async def test_a_title_names_no_page_that_the_reader_has_not_named(tmp_path: Path) -> None:
    lit, happens = replace(ASKED, content="Who lit the lamp?"), replace(ASKED, content="What happens on page 3?")
    said: tuple[tuple[ChatMessage, str, str | None], ...] = (
        (lit, "The lit lamp (p. 3)", "The lit lamp"),
        (lit, "The lamp on page 3", None),
        (happens, "What happens on page 3", "What happens on page 3"),
        (happens, "What happens on page 4", None),
    )
    async with a_talk(tmp_path, *(reply for _, reply, _ in said)) as (app, _, talk):
        for asked, reply, title in said:
            assert await titled(app, talk, asked) == title, reply


async def test_the_tokens_are_on_the_account_of_whoever_asked(tmp_path: Path) -> None:
    spent = TokenUsage(90, 4)
    async with a_talk(tmp_path, ChatResponse(text="The Lamp", usage=spent)) as (app, _, talk):
        await titled(app, talk)
        assert (await app.storage.usage.total_for_reader("ann", datetime(2020, 1, 1, tzinfo=UTC))).usage == spent


async def test_what_is_covered_in_the_answer_is_not_sent_along(tmp_path: Path) -> None:
    async with a_talk(tmp_path, "The Lamp") as (app, model, talk):
        await titled(app, talk, answer=f"Mara did. {hide('Ezekiel saw it.')}")
    [request] = model.requests
    assert "Mara did." in request[0].content
    assert "Ezekiel" not in request[0].content


async def test_a_title_that_tells_what_is_still_to_come_is_dropped(tmp_path: Path) -> None:
    unread = replace(ASKED, depends_to=TALE.index(b"# Two"))
    async with a_talk(tmp_path, "How Ezekiel Drowned Barnaby") as (app, _, talk):
        assert await titled(app, talk, unread) is None
        assert await titled(app, talk) == "How Ezekiel Drowned Barnaby"


async def test_a_model_that_stays_away_leaves_the_title_as_it_is(tmp_path: Path) -> None:
    async with a_talk(tmp_path, LLMError(LLMErrorCode.OVERLOADED, "Too much.")) as (app, _, talk):
        assert await titled(app, talk) is None
