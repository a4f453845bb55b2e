"""The whole brain with the real SDK, against a double that refuses what the API refuses."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.providers.anthropic.client import AnthropicChat
from domain.event import Answer, TextDelta
from domain.turn.chat_with_book import ChatWithBook
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Json, Reply, Thinking, say
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room


@dataclass(frozen=True)
class Wired:
    api: AnthropicDouble
    room: ReadingRoom


@pytest.fixture
async def wired(tmp_path: Path) -> AsyncIterator[Wired]:
    async with AnthropicDouble() as api:
        provider = AnthropicChat(api_key=api.api_key, base_url=api.base_url, timeout=1.0, max_retries=0)
        async with reading_room(tmp_path, provider) as room:
            yield Wired(api, room)
        await provider.aclose()


async def test_an_answer_is_cited_by_the_api_and_checked_in_the_book(wired: Wired) -> None:
    talk = await wired.room.talk()
    answer = await wired.room.answer(talk, "Who put the lamp out for his brother?")
    assert "(p. 3)" in answer.text
    text = await wired.room.file.text()
    assert [text[c.start : c.end] for c in answer.citations] == [c.quote for c in answer.citations]
    assert answer.citations


async def test_a_long_conversation_with_signed_thinking_is_accepted_turn_after_turn(wired: Wired) -> None:
    def thinking(body: Json) -> Reply:
        reply = honest_reply(prompt_of(body))
        return Reply((Thinking("hm"), *reply.parts))

    wired.api.handler = thinking
    talk = await wired.room.talk()
    for number in range(12):
        event = (await wired.room.ask(talk, f"Who put out the lamp, question {number}?", (ANN, BEN)[number % 2]))[-1]
        assert isinstance(event, Answer), event
    systems = {str(request["system"]) + str(request["tools"]) for request in wired.api.requests}
    assert len(systems) == 1, "the prefix that is cached and signed never changes"


async def test_after_a_stop_the_talk_goes_on(wired: Wired) -> None:
    wired.api.script(say("One. " * 200, pace=0.01), say("Two."))
    talk = await wired.room.talk()
    await wired.room.chat.receive(talk.id, "Tell me everything", ANN)
    async for event in wired.room.chat.answer(talk.id):
        if isinstance(event, TextDelta):
            wired.room.chat.stop(talk.id)
    assert isinstance(event, Answer)
    assert event.stopped
    assert (await wired.room.answer(talk, "And?")).text == "Two."


async def test_a_closed_chat_closes_the_line(wired: Wired) -> None:
    wired.api.script(say("One. " * 500, pace=0.02))
    talk = await wired.room.talk()
    await wired.room.chat.receive(talk.id, "Tell me", ANN)
    chat: ChatWithBook = wired.room.chat
    stream = chat.answer(talk.id)
    async for event in stream:
        if isinstance(event, TextDelta):
            break
    await stream.aclose()
    async with asyncio.timeout(30):
        await wired.api.hung_up.wait()
    kept = await wired.room.storage.messages.get_by_conversation(talk.id)
    assert [m.turn_id for m in kept] == [None], "the question waits to be asked again"
