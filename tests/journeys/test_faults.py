"""Whatever goes wrong at the model ends in time, in an answer or a sentence, and the next message is answered.

The real SDK, against a double that breaks off as a service does and refuses a history that is not in order.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.providers.anthropic.client import AnthropicChat
from domain.book import PositionState, ReadingPosition
from domain.errors import LLMError, LLMErrorCode
from domain.event import NOTHING_WRITTEN, Answer, ToolCallFinished, ToolCallStarted, TurnFailed, TurnStarted
from domain.strategies.window import estimate
from domain.tool_use import ChatResponse, TokenUsage
from domain.turn import runner
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.script import Call, Failure, Fault, Reply, Stop, Text, say
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.forked import OFFER_S
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room
from tests.sampling import a_few

TURN_TIMEOUT = 300.0

QUESTION = "Who put the lamp out for his brother?"
SEARCH = say("Let me look.", Call("search_book", {"query": "lamp"}))


@pytest.fixture(autouse=True)
def most_of_the_time_for_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: replies of the double need little of a turn's time."""
    monkeypatch.setattr(runner, "SHARE_FOR_AN_OFFER", 0.9)


@asynccontextmanager
async def wired(
    folder: Path, *, retries: int = 0, silence: float = 2.0, turn_timeout: float = TURN_TIMEOUT
) -> AsyncIterator[tuple[AnthropicDouble, ReadingRoom]]:
    async with AnthropicDouble() as api:
        provider = AnthropicChat(api_key=api.api_key, base_url=api.base_url, timeout=silence, max_retries=retries)
        try:
            await provider.warm_up()
            async with reading_room(folder, provider, turn_timeout=turn_timeout) as room:
                yield api, room
        finally:
            await provider.aclose()


STAYS_AWAY = [
    pytest.param([Failure(401)], "api_key_missing", id="key refused"),
    pytest.param([Failure(404, message="model: claude-x")], "unknown_model", id="no such model"),
    pytest.param([Failure(404, message="Not Found")], "unknown_address", id="no such address"),
    pytest.param([Failure(429)], "rate_limited", id="429"),
    pytest.param([Failure(429, retry_after="90")], "rate_limited", id="429, come back in 90 s"),
    pytest.param([Failure(402)], "out_of_credit", id="402"),
    pytest.param([Failure(500)], "api_call_failed", id="500"),
    pytest.param([Failure(529)], "overloaded", id="529"),
    pytest.param([say("Half a wo", fault=Fault.OVERLOAD)], "overloaded", id="overloaded in the stream"),
    pytest.param([say("Half a wo", fault=Fault.CUT)], "connection_lost", id="cut in a word"),
    pytest.param([say("Half a wo", fault=Fault.EARLY_END)], "connection_lost", id="ends early"),
    pytest.param([say("Half a wo", fault=Fault.STALL)], "timeout", id="stalls"),
    pytest.param([say(fault=Fault.NOTHING)], "connection_lost", id="empty body"),
    pytest.param([say("Half a wo", fault=Fault.GARBAGE)], "api_call_failed", id="garbage in the stream"),
    pytest.param([SEARCH, Failure(529)], "overloaded", id="529 after a search"),
    pytest.param([SEARCH, say("Half a wo", fault=Fault.CUT)], "connection_lost", id="cut after a search"),
]

DEAD_ENDS = [
    pytest.param([say(""), say("")], "empty_reply", id="twice nothing"),
    pytest.param([say("No.", stop=Stop.REFUSAL)], "refused", id="refusal"),
]


@pytest.mark.parametrize(("steps", "code"), a_few(STAYS_AWAY, 4))
async def test_a_model_that_stays_away_is_a_sentence_and_the_book_speaks_for_itself(
    tmp_path: Path, steps: list[Reply | Failure], code: str
) -> None:
    async with wired(tmp_path) as (api, room):
        failure = await fails(api, room, steps, code)
        assert "It was Hobb who had put the lamp out." in failure.offer
        assert "(p. 3)" in failure.offer
        text = await room.file.text()
        assert [text[each.start : each.end] for each in failure.citations] == [each.quote for each in failure.citations]
        assert failure.citations


@pytest.mark.parametrize(("steps", "code"), DEAD_ENDS)
async def test_a_dead_end_is_a_sentence_and_nothing_else(
    tmp_path: Path, steps: list[Reply | Failure], code: str
) -> None:
    async with wired(tmp_path) as (api, room):
        assert not (await fails(api, room, steps, code)).offer


@pytest.mark.parametrize(
    "step",
    [say("Too", stop=Stop.CONTEXT), Failure(400, message="prompt is too long: 9 tokens > 8 maximum")],
    ids=["context exceeded", "too long"],
)
async def test_what_does_not_fit_is_tried_again_with_less(tmp_path: Path, step: Reply | Failure) -> None:
    async with wired(tmp_path) as (api, room):
        api.script(step, say("Here I am."))
        assert (await room.answer(await room.talk(), QUESTION)).text == "Here I am."


async def fails(api: AnthropicDouble, room: ReadingRoom, steps: list[Reply | Failure], code: str) -> TurnFailed:
    """Ask while the model goes through these steps, then again: the turn fails, and the next is answered."""
    api.script(*steps, say("Here I am."))
    talk = await room.talk()
    ending = (await room.ask(talk, QUESTION))[-1]
    assert isinstance(ending, TurnFailed), ending
    assert ending.code == code
    assert ending.message.endswith(".")
    assert (await room.answer(talk, "Hello again?")).text == "Here I am."
    return ending


async def test_the_advice_to_come_back_later_is_passed_on(tmp_path: Path) -> None:
    async with wired(tmp_path, retries=2) as (api, room):
        api.script(Failure(429, retry_after="90"))
        ending = (await room.ask(await room.talk(), QUESTION))[-1]
        assert isinstance(ending, TurnFailed)
        assert ending.retry_after == 90
        assert len(api.requests) == 1, "nobody waits for that long without being asked"


async def test_a_short_stumble_is_not_even_noticed(tmp_path: Path) -> None:
    async with wired(tmp_path, retries=2) as (api, room):
        api.script(Failure(529), Failure(429, retry_after="0.1"), say("Here I am."))
        assert (await room.answer(await room.talk(), QUESTION)).text == "Here I am."


async def test_a_reply_that_trickles_for_ever_ends_with_the_turn(tmp_path: Path) -> None:
    async with wired(tmp_path, turn_timeout=OFFER_S + 6.0) as (api, room):
        failure = await fails(api, room, [say("And so on. " * 500, pace=0.4)], "timeout")
        assert failure.partial.startswith("And so on.")
        assert "Hobb" in failure.offer


async def test_a_tool_that_is_called_for_ever_ends_in_an_answer(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        api.handler = lambda body: say("Enough.") if body.get("tool_choice") else SEARCH
        events = await room.ask(await room.talk(), QUESTION)
        assert isinstance(events[-1], Answer)
        assert events[-1].text == "Enough."
        assert sum(isinstance(event, ToolCallFinished) for event in events) == 3


async def test_an_answer_cut_by_the_token_limit_is_kept_and_said_to_be_cut(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        api.script(say("The lamp was", stop=Stop.LENGTH), say("dark."))
        talk = await room.talk()
        answer = await room.answer(talk, QUESTION)
        assert (answer.text, answer.cut) == ("The lamp was", True)
        assert (await room.answer(talk, "Go on")).text == "dark."


async def test_a_call_cut_by_the_token_limit_is_not_run(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        cut = Reply((Text("I will look."), Call("search_book", '{"query": "la')), Stop.LENGTH)
        api.script(cut, say("Here I am."))
        talk = await room.talk()
        events = await room.ask(talk, QUESTION)
        assert not any(isinstance(event, ToolCallFinished) for event in events)
        assert isinstance(events[-1], Answer)
        assert events[-1].cut
        assert (await room.answer(talk, "Go on")).text == "Here I am."


async def test_wrong_calls_are_told_to_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        wrong = [Call("no_such_tool", {"x": 1}), Call("search_book", {}), Call("search_book", "[1, 2]")]
        api.script(say(*wrong), say("I could not look."), say("Here I am."))
        talk = await room.talk()
        events = await room.ask(talk, QUESTION)
        assert [event.is_error for event in events if isinstance(event, ToolCallFinished)] == [True] * 3
        assert isinstance(events[-1], Answer)
        assert (await room.answer(talk, "Hello?")).text == "Here I am."


async def test_what_the_book_says_meanwhile_ends_where_the_reader_does(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        end = (await room.file.pages())[1].end
        await room.storage.readers.set_position(ANN.id, room.book.id, ReadingPosition(PositionState.READING, end))
        failure = await fails(api, room, [Failure(529)], "overloaded")
        assert "It was Hobb" not in failure.offer
        assert all(citation.end <= end for citation in failure.citations)


async def test_where_the_book_says_nothing_about_it_nothing_is_offered(tmp_path: Path) -> None:
    async with wired(tmp_path) as (api, room):
        api.script(Failure(529))
        ending = (await room.ask(await room.talk(), "What does a zeppelin weigh?"))[-1]
        assert isinstance(ending, TurnFailed)
        assert (ending.offer, ending.citations) == ("", ())


DOWN = LLMError(LLMErrorCode.API_CALL_FAILED, "Down.")


async def test_each_question_to_a_model_that_is_down_is_answered_by_the_book_for_itself(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat(DOWN)) as room:
        talk = await room.talk()
        first, second = [(await room.ask(talk, question))[-1] for question in ("Who came on a Tuesday?", WHERE)]
    assert isinstance(first, TurnFailed)
    assert isinstance(second, TurnFailed)
    assert "Tuesday" in first.offer
    assert "brass key" in second.offer
    assert "Tuesday" not in second.offer


WHERE = "Where was the brass key found?"


async def test_a_question_beyond_the_daily_limit_takes_no_room_in_the_history(tmp_path: Path) -> None:
    model = ScriptedChat(ChatResponse(text="It was dark.", usage=TokenUsage(90, 20)))
    async with reading_room(tmp_path, model, daily_tokens=100) as room:
        talk = await room.talk()
        await room.answer(talk, "Was it dark?")
        for number in range(12):
            refused = (await room.ask(talk, f"And the ferry {number}?"))[-1]
            assert isinstance(refused, TurnFailed)
            assert refused.code == "daily_limit"
        await room.answer(talk, WHERE, BEN)
    assert len(model.requests) == 2, "no model was asked beyond the limit"
    told = [message.content for message in model.requests[-1][1:]]
    unanswered = [f"And the ferry {number}?" for number in range(12)]
    assert told == ["Was it dark?", "It was dark.", *unanswered, WHERE], "what was said of the limit is left out"


async def test_without_tools_old_lookups_take_no_room_in_the_history(tmp_path: Path) -> None:
    model = ScriptedChat("It was dark.", supports_tools=False)
    async with reading_room(tmp_path, model) as room:
        talk = await room.talk()
        for night in range(11):
            await room.answer(talk, f"Was it dark in night {night}?")
    asked = [message.content for message in model.requests[-1] if message.role == "user"]
    assert asked[:-1] == [f"Was it dark in night {night}?" for night in range(10)], "twenty messages"
    assert model.requests[-1][:-1] == model.requests[-2][:-1], "the query is asked for where the conversation ends"


async def test_an_answer_in_place_of_a_query_is_not_searched_for(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("It was dark. " * 20, supports_tools=False)) as room:
        talk = await room.talk()
        await room.answer(talk, "Was it dark?")
        [search] = [event for event in await room.ask(talk, WHERE) if isinstance(event, ToolCallStarted)]
    assert search.arguments["query"] == WHERE


async def test_a_question_that_failed_is_not_searched_for_with_the_next_one(tmp_path: Path) -> None:
    model = ScriptedChat("It was dark.", supports_tools=False)
    async with reading_room(tmp_path, model) as room:
        talk = await room.talk()
        await room.answer(talk, "Was it dark?")
        model.say(DOWN)
        await room.ask(talk, "And the ferry?")
        model.say("Under the stairs.")
        await room.answer(talk, WHERE)
    query, answer = model.requests[-2:]
    assert "ferry" not in "".join(message.text for message in query)
    assert "ferry" in answer[-1].text, "the model is still told that it was asked"


@pytest.mark.parametrize("knows_tools", a_few([True, False], 1))
async def test_unanswered_questions_crowd_nothing_out_and_go_where_room_is_short(
    tmp_path: Path, *, knows_tools: bool
) -> None:
    model = ScriptedChat("It was dark.", supports_tools=knows_tools)
    async with reading_room(tmp_path, model) as room:
        talk = await room.talk()
        await room.answer(talk, "Was it dark?")
        await room.chat.receive(talk.id, "And the ferry?", ANN)
        async for event in room.chat.answer(talk.id):
            if isinstance(event, TurnStarted):
                room.chat.stop(talk.id)
        model.say(DOWN)
        for _ in range(12):
            await room.ask(talk, "What of the ferry? " + "aye " * 240, BEN)
        model.say("Under the stairs.")
        await room.answer(talk, WHERE)
        *past, last = [message for message in model.requests[-1] if message.role in ("user", "assistant")]
        assert [message.content for message in past[:2]] == ["Was it dark?", "It was dark."]
        assert all(NOTHING_WRITTEN not in message.content for message in past)
        told = "\n".join(message.text for message in (*past, last) if message.role == "user")
        assert told.count("[Ann · ") == 3, "also by whom the question was that was stopped at once"
        assert told.count("[Ben · ") == 12
        model.say(lambda messages: "So." if estimate(messages) < 2_400 else LLMError(LLMErrorCode.CONTEXT_EXCEEDED, ""))
        assert (await room.answer(talk, WHERE)).text == "So."
