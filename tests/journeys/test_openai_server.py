"""The whole brain over a chat completions server: keys become pages, and a model without tools is no dead end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.providers.openai.client import OpenAIChat
from domain.citations.keys import KEY_IN_GROUP
from domain.event import Answer, ToolCallFinished
from tests.doubles.openai_api import OpenAIDouble
from tests.doubles.script import Json, Reply, say
from tests.journeys.reading_room import ANN, ReadingRoom, reading_room


@asynccontextmanager
async def served(folder: Path, double: OpenAIDouble) -> AsyncIterator[ReadingRoom]:
    async with double as server:
        provider = OpenAIChat(model=server.model, api_key=server.api_key, base_url=server.base_url, max_retries=0)
        async with reading_room(folder, provider) as room:
            yield room
        await provider.aclose()


async def test_an_answer_is_cited_by_keys_and_checked_in_the_book(tmp_path: Path) -> None:
    async with served(tmp_path, OpenAIDouble()) as room:
        answer = await room.answer(await room.talk(), "Who put the lamp out for his brother?")
        text = await room.file.text()
    assert "(p. 3)" in answer.text
    assert "[s-" not in answer.text
    assert [text[c.start : c.end] for c in answer.citations] == [c.quote for c in answer.citations]


async def test_keys_that_were_never_given_become_no_page(tmp_path: Path) -> None:
    async with served(tmp_path, OpenAIDouble(lambda _: say("Hobb did it [s-deadbeef]."))) as room:
        answer = await room.answer(await room.talk(), "Who did it?")
    assert (answer.text, answer.citations) == ("Hobb did it.", ())


async def test_a_model_that_turns_out_to_know_no_tools_answers_in_the_same_turn(tmp_path: Path) -> None:
    double = OpenAIDouble(_reads_what_it_is_handed, knows_tools=False)
    async with served(tmp_path, double) as room:
        talk = await room.talk()
        first = await room.ask(talk, "Who put out the lamp?")
        second = await room.ask(talk, "And why did he?")
        total = await room.storage.usage.total_for_reader(ANN.id, datetime(2020, 1, 1, tzinfo=UTC))
        third = await room.ask(await room.talk(), "Who rowed Marta over?")
        turns = await room.storage.turns.get_by_conversation(talk.id)
    for events in (first, second, third):
        assert isinstance(events[-1], Answer), events[-1]
        assert events[-1].citations
        assert [event.tool_name for event in events if isinstance(event, ToolCallFinished)] == ["search_book"]
    refused, *answered = double.requests
    assert "tools" in refused
    assert not any("tools" in request for request in answered), "it is asked with tools once, not once a turn"
    assert len(answered) == 4, "one request a turn, and one for the query of the turn that has a past"
    assert total.usage == turns[0].usage + turns[1].usage
    assert turns[1].usage.input_tokens > turns[0].usage.input_tokens, "the query is on the reader's account too"


def _reads_what_it_is_handed(body: Json) -> Reply:
    prompt = body["messages"][-1]["content"]
    key = KEY_IN_GROUP.search(prompt)
    if key is None:
        assert "And why did he?" in prompt
        return say("Why did Hobb put out the lamp?")
    return say(f"It is written so [{key[0]}].")


@pytest.mark.parametrize("question", ["What is on page 2?", "Was steht auf Seite 2?"])
async def test_a_page_that_is_asked_for_is_read_for_a_model_without_tools(tmp_path: Path, question: str) -> None:
    def reads(body: Json) -> Reply:
        prompt = body["messages"][-1]["content"]
        [key] = KEY_IN_GROUP.findall(prompt[: prompt.index("Marta found a brass key")])[-1:]
        return say(f"Marta has a key, on page 2 [{key}].")

    async with served(tmp_path, OpenAIDouble(reads, knows_tools=False)) as room:
        events = await room.ask(await room.talk(), question)
    assert isinstance(events[-1], Answer), events[-1]
    assert events[-1].text == "Marta has a key, in the book (p. 2)."
    assert [event.tool_name for event in events if isinstance(event, ToolCallFinished)] == ["read_pages"]
