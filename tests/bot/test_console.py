"""What a turn looks like in a terminal."""

from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime
from io import StringIO
from typing import cast

from rich.console import Console

from bot.console import ConsoleChat
from domain.agent.chat_with_book import ChatWithBook
from domain.conversation import Conversation
from domain.event import Answer, PositionProposed, TextDelta, TurnEvent, TurnStarted

TALK = Conversation("t", "b", "Talk", datetime(2026, 1, 1, tzinfo=UTC))


class Played:
    """A chat in which these events happen."""

    def __init__(self, *events: TurnEvent) -> None:
        self._events = events

    async def receive(self, *args: object) -> None: ...

    async def delivered(self, *args: object) -> None: ...

    async def answer(self, conversation_id: str) -> AsyncGenerator[TurnEvent, None]:
        for event in self._events:
            yield event


async def screen(*lines: str, events: tuple[TurnEvent, ...] = (), verbose: bool = False, as_json: bool = False) -> str:
    """What is on the screen after these lines were typed."""
    moved: list[str] = []

    async def move(order: str) -> str:
        moved.append(order)
        return f"Moved: {order!r}."

    async def typed() -> AsyncIterator[str]:
        for line in lines:
            yield line

    out = Console(file=StringIO(), width=200)
    chat = cast(ChatWithBook, Played(*events))
    await ConsoleChat(chat, TALK, out, move=move, verbose=verbose, as_json=as_json).run(typed())
    return cast(StringIO, out.file).getvalue()


async def test_what_discord_would_cover_is_left_out() -> None:
    text = "She came. ||It was Lucian.|| She paid.\n\n-# A part is hidden."
    shown = await screen("Who?", events=(TurnStarted("1"), TextDelta(text), Answer("1", text)))
    assert "She came. ▒▒▒ (hidden) She paid." in shown
    assert "Lucian" not in shown
    assert "\nA part is hidden." in shown


async def test_a_proposed_position_says_how_to_accept_it() -> None:
    shown = await screen("I am on page 80", events=(PositionProposed("80", "terminal"), Answer("1", "Shall I?")))
    assert "Have you read to page 80? Then type: /progress page 80" in shown


async def test_progress_is_an_order_and_no_question() -> None:
    shown = await screen("/progress page 12", "/Progress", "/progressive rock")
    assert "Moved: 'page 12'." in shown
    assert "Moved: ''." in shown
    assert "rock" not in shown


async def test_verbose_names_claims_without_a_reference() -> None:
    answer = Answer("1", "Ann kept the light.", uncited=("Ann kept the light.",))
    assert "without a reference: Ann kept the light." in await screen("Who?", events=(answer,), verbose=True)
    assert "without a reference" not in await screen("Who?", events=(answer,))
