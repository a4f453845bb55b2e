"""A reader writes, the book answers: the whole way through the brain."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.book import PositionState, ReadingPosition
from domain.chat import PromptMessage
from domain.citations.keys import KEY_IN_GROUP, key_of
from domain.conversation import UNTITLED, TitleSource, TurnState
from domain.errors import BookError, ConversationError, LLMError, LLMErrorCode
from domain.event import Answer, TextDelta, ToolCallFinished, TurnEvent, TurnFailed, TurnStarted
from domain.spoilers.filter import COVERED, hide
from domain.strategies.always_retrieve import as_provider
from domain.tool_use import ChatResponse, StopReason, TextChunk, TokenUsage, ToolDefinition
from tests.doubles.scripted_chat import Reply, ScriptedChat, call, calls
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room

SEARCH = calls(call("search_book", "t1", query="Who put out the lamp?"))


def citing(messages: object) -> Reply:
    """An answer that rests on the first sentence the last search brought."""
    assert isinstance(messages, list)
    passage = messages[-1].passages[0]
    return f"It stands there [{key_of(passage.sentences[-1])}]."


async def test_a_question_is_looked_up_answered_cited_and_kept(tmp_path: Path) -> None:
    provider = ScriptedChat(SEARCH, citing)
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        events = await room.ask(talk, "Who put out the lamp?")
        answer = events[-1]
        assert isinstance(events[0], TurnStarted)
        assert isinstance(answer, Answer)
        assert answer.text == "".join(e.text for e in events if isinstance(e, TextDelta))
        citation = answer.citations[0]
        assert answer.text == f"It stands there ({citation.reference})."
        assert (await room.file.text())[citation.start : citation.end] == citation.quote
        kept = await room.storage.messages.get_by_conversation(talk.id)
        assert [m.role for m in kept] == ["user", "assistant", "tool_result", "assistant"]
        assert kept[-1].content == answer.text
        assert kept[-1].citations == answer.citations


class OwnChat:
    """A provider of one's own, which sees nothing of a message but its words."""

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return "I don't know."

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        said = messages[-1].content
        if messages[-1].role == "user":
            assert said.startswith("[Ann · ")
            return calls(call("search_book", query=said.splitlines()[-1]))
        key = re.search(r"\[(s-\w+)\] It was Hobb", said)
        assert key
        return ChatResponse(f"It was Hobb [{key[1]}].")


async def test_a_provider_of_ones_own_looks_up_and_cites(tmp_path: Path) -> None:
    async with reading_room(tmp_path, as_provider(OwnChat())) as room:
        talk = await room.talk()
        for question in ("Who put out the lamp?", "Who again put out the lamp?"):
            answer = (await room.ask(talk, question))[-1]
            assert isinstance(answer, Answer)
            assert answer.text == "It was Hobb (p. 3)."


async def test_execute_is_the_stream_drained(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("Good morning.")) as room:
        talk = await room.talk()
        assert await room.chat.execute(talk.id, "Hello") == "Good morning."


async def test_execute_raises_what_the_model_failed_with(tmp_path: Path) -> None:
    broken = LLMError(LLMErrorCode.RATE_LIMITED, "Too many at once. Try again in a minute.")
    async with reading_room(tmp_path, ScriptedChat(broken)) as room:
        talk = await room.talk()
        with pytest.raises(LLMError) as caught:
            await room.chat.execute(talk.id, "Hello")
        assert caught.value.code is LLMErrorCode.RATE_LIMITED


async def test_an_unknown_conversation_is_refused_before_anything_is_kept(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        with pytest.raises(ConversationError):
            await room.chat.receive("nope", "Hello", ANN)


async def test_the_next_turn_sees_the_last_one_with_its_calls_and_results(tmp_path: Path) -> None:
    provider = ScriptedChat(SEARCH, citing, "As I said.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.ask(talk, "Who put out the lamp?")
        await room.ask(talk, "Who again?")
        request = provider.requests[-1]
        assert [m.role for m in request] == ["system", "user", "assistant", "tool_result", "assistant", "user"]
        assert request[2].tool_invocations
        assert request[3].passages


async def test_system_text_and_tools_never_change_in_a_conversation(tmp_path: Path) -> None:
    provider = ScriptedChat("One.", "Two.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.ask(talk, "a")
        await room.storage.books.save(replace(room.book, title="Another Title"))
        await room.ask(talk, "b")
        assert provider.requests[0][0] == provider.requests[1][0]


async def test_the_reader_is_named_in_front_of_the_message_and_nowhere_else(tmp_path: Path) -> None:
    provider = ScriptedChat("Hello.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.ask(talk, "Good evening")
        system, asked = provider.requests[0]
        assert "Ann" not in system.content
        assert asked.text.startswith("[Ann · the whole book is open · ")
        assert asked.text.endswith("]\nGood evening")


async def test_nothing_beyond_the_position_reaches_the_model(tmp_path: Path) -> None:
    everything = calls(
        call("search_book", "1", query="Who put out the lamp for Lucian Hobb?"),
        call("read_pages", "2", **{"from": "1", "to": "3"}),
        call("read_pages", "3", **{"from": "3"}),
        call("table_of_contents", "4"),
        call("find_phrase", "5", text="his brother Lucian, who drowned in 1887"),
        call("count_mentions", "6", term="Lucian"),
    )
    provider = ScriptedChat(everything, "I do not know yet.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        pages = await room.file.pages()
        position = ReadingPosition(PositionState.READING, pages[1].end)
        await room.storage.readers.set_position(ANN.id, room.book.id, position)
        await room.ask(talk, "Who put out the lamp?")
        sent = repr(provider.requests[1][2:])
        for secret in ("Keeper", "1887", "brother", "It was Hobb", "drowned"):
            assert secret not in sent.replace("his brother Lucian, who drowned in 1887", "")
        assert "has read to page 2" in provider.requests[0][1].text


async def test_the_lowest_position_of_the_people_in_a_conversation_binds_it(tmp_path: Path) -> None:
    provider = ScriptedChat("One.", calls(call("read_pages", "1", **{"from": "1", "to": "3"})), "Two.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        pages = await room.file.pages()
        await room.storage.readers.set_position(ANN.id, room.book.id, ReadingPosition(PositionState.FINISHED))
        at_one = ReadingPosition(PositionState.READING, pages[0].end)
        await room.storage.readers.set_position(BEN.id, room.book.id, at_one)
        await room.ask(talk, "Hello", ANN)
        await room.ask(talk, "What comes next?", BEN)
        assert "has read to page 1" in provider.requests[1][-1].text
        assert "brass key" not in repr(provider.requests[2][1:])


async def test_who_wrote_long_ago_binds_the_conversation_still(tmp_path: Path) -> None:
    provider = ScriptedChat("Yes.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.ask(talk, "Hello", BEN)
        for number in range(15):
            await room.ask(talk, f"And {number}?", ANN)
        pages = await room.file.pages()
        at_one = ReadingPosition(PositionState.READING, pages[0].end)
        await room.storage.readers.set_position(BEN.id, room.book.id, at_one)
        await room.ask(talk, "And now?", ANN)
        assert "has read to page 1" in provider.requests[-1][-1].text
        assert "Hello" not in [message.content for message in provider.requests[-1]], "that is too long ago"


async def test_what_was_said_at_a_higher_position_is_left_out_at_a_lower_one(tmp_path: Path) -> None:
    provider = ScriptedChat(SEARCH, "It was Hobb.", "I cannot say.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.ask(talk, "Who put out the lamp?")
        pages = await room.file.pages()
        await room.storage.readers.set_position(
            ANN.id, room.book.id, ReadingPosition(PositionState.READING, pages[0].end)
        )
        await room.ask(talk, "And now?")
        assert [m.role for m in provider.requests[-1]] == ["system", "user"]


async def test_what_the_model_knows_by_heart_is_hidden_before_it_is_shown(tmp_path: Path) -> None:
    provider = ScriptedChat("Marta found a key. It was for Lucian. He had done it for his brother. That is all.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        pages = await room.file.pages()
        position = ReadingPosition(PositionState.READING, pages[1].end)
        await room.storage.readers.set_position(ANN.id, room.book.id, position)
        events = await room.ask(talk, "Who did it?")
        answer = events[-1]
        assert isinstance(answer, Answer)
        covers = [hide("It was for Lucian."), hide("He had done it for his brother.")]
        hidden = f"Marta found a key. {covers[0]} {covers[1]} That is all."
        assert answer.text == "".join(e.text for e in events if isinstance(e, TextDelta)) == hidden
        assert (await room.storage.messages.get_by_conversation(talk.id))[-1].content == answer.text


async def test_what_is_said_of_the_book_without_a_page_is_named(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat(SEARCH, "Hobb was the keeper of the lamp. Shall I go on?")) as room:
        answer = await room.answer(await room.talk(), "Who put out the lamp?")
        assert answer.uncited == ("Hobb was the keeper of the lamp.",)


async def test_messages_that_arrive_during_a_turn_join_the_next_one(tmp_path: Path) -> None:
    provider = ScriptedChat("First answer.", "Second answer.")
    provider.hold = asyncio.Event()
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.chat.receive(talk.id, "one", ANN)
        first = asyncio.create_task(drained(room, talk.id))
        while not provider.requests:
            await asyncio.sleep(0.005)
        await room.chat.receive(talk.id, "two", ANN)
        await room.chat.receive(talk.id, "three", BEN)
        second = asyncio.create_task(drained(room, talk.id))
        third = asyncio.create_task(drained(room, talk.id))
        provider.hold.set()
        endings = [events[-1] for events in await asyncio.gather(first, second, third) if events]
        assert [e.text for e in endings if isinstance(e, Answer)] == ["First answer.", "Second answer."]
        assert [m.content for m in provider.requests[1] if m.role == "user"] == ["one", "two", "three"]
        kept = await room.storage.messages.get_by_conversation(talk.id)
        assert [m.content for m in kept] == ["one", "First answer.", "two", "three", "Second answer."]


async def test_conversations_do_not_wait_for_each_other(tmp_path: Path) -> None:
    provider = ScriptedChat("Done.")
    async with reading_room(tmp_path, provider) as room:
        slow, quick = await room.talk(), await room.talk()
        provider.hold = asyncio.Event()
        await room.chat.receive(slow.id, "slow", ANN)
        waiting = asyncio.create_task(drained(room, slow.id))
        while not provider.requests:
            await asyncio.sleep(0.005)
        held, provider.hold = provider.hold, None
        answer = await room.answer(quick, "quick")
        assert answer.text == "Done."
        held.set()
        await waiting


async def test_the_same_message_twice_is_one_message(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("Once.")) as room:
        talk = await room.talk()
        assert await room.chat.receive(talk.id, "Hi", ANN, external_id="77")
        assert await room.chat.receive(talk.id, "Hi", ANN, external_id="77") is None
        assert len([e async for e in room.chat.answer(talk.id) if isinstance(e, Answer)]) == 1
        assert [e async for e in room.chat.answer(talk.id)] == []


async def test_stop_keeps_what_was_written_and_the_talk_goes_on(tmp_path: Path) -> None:
    said = "Ann kept the light. Nobody else on the island knew how that was done, and she never told them."
    provider = ScriptedChat(SEARCH, [TextChunk(said)], "Go on.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.chat.receive(talk.id, "Tell me", ANN)
        events = []
        async for event in room.chat.answer(talk.id):
            events.append(event)
            if isinstance(event, ToolCallFinished):
                provider.hold = asyncio.Event()
            if isinstance(event, TextDelta):
                assert room.chat.stop(talk.id)
        ending = events[-1]
        assert isinstance(ending, Answer)
        assert ending.stopped
        assert said.startswith(ending.text)
        assert ending.text
        provider.hold = None
        assert (await room.answer(talk, "Go on")).text == "Go on."
        roles = [m.role for m in provider.requests[-1]]
        assert roles == ["system", "user", "assistant", "tool_result", "assistant", "user"]


async def test_a_withdrawn_turn_leaves_no_trace_and_its_message_waits_again(tmp_path: Path) -> None:
    provider = ScriptedChat("Ann kept the light.")
    provider.hold = asyncio.Event()
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        message = await room.chat.receive(talk.id, "Tell me", ANN)
        assert message
        running = asyncio.create_task(drained(room, talk.id))
        while not provider.requests:
            await asyncio.sleep(0.005)
        assert room.chat.withdraw(talk.id)
        await asyncio.gather(running, return_exceptions=True)
        assert await room.storage.turns.get_by_conversation(talk.id) == []
        await room.storage.messages.save(replace(message, content="Tell me more"))
        provider.hold = None
        await drained(room, talk.id)
        assert provider.requests[-1][-1].content == "Tell me more"


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded. Try again soon."), "overloaded"),
        (ChatResponse(text="", stop_reason=StopReason.REFUSAL), "refused"),
        (ChatResponse(text=""), "empty_reply"),
    ],
)
async def test_a_failure_is_a_sentence_and_the_next_message_is_answered(
    tmp_path: Path, failure: LLMError | ChatResponse, code: str
) -> None:
    provider = ScriptedChat(failure)
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        ending = (await room.ask(talk, "Who?"))[-1]
        assert isinstance(ending, TurnFailed)
        assert ending.code == code
        assert ending.message.endswith(".")
        provider.say("Hobb.")
        assert (await room.answer(talk, "Who then?")).text == "Hobb."
        asked = [m.content for m in provider.requests[-1] if m.role == "user"]
        assert asked == (["Who then?"] if code == "refused" else ["Who?", "Who then?"])


async def test_a_refusal_of_a_model_without_tools_is_a_sentence(tmp_path: Path) -> None:
    provider = ScriptedChat(ChatResponse(text="No.", stop_reason=StopReason.REFUSAL), supports_tools=False)
    async with reading_room(tmp_path, provider) as room:
        ending = (await room.ask(await room.talk(), "Who?"))[-1]
    assert isinstance(ending, TurnFailed)
    assert ending.code == "refused"


async def test_a_failed_turn_can_be_tried_again(tmp_path: Path) -> None:
    provider = ScriptedChat(LLMError(LLMErrorCode.TIMEOUT, "Too slow."), "Hobb.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        failed = (await room.ask(talk, "Who?"))[-1]
        assert isinstance(failed, TurnFailed)
        await room.storage.turns.reopen(failed.turn_id)
        events = await drained(room, talk.id)
        assert isinstance(events[-1], Answer)
        kept = await room.storage.messages.get_by_conversation(talk.id)
        assert [m.content for m in kept] == ["Who?", "Hobb."]


async def test_a_turn_that_takes_too_long_ends_and_says_so(tmp_path: Path) -> None:
    provider = ScriptedChat("Ann kept the light.")
    provider.hold = asyncio.Event()
    async with reading_room(tmp_path, provider, turn_timeout=0.3) as room:
        ending = (await room.ask(await room.talk(), "Who?"))[-1]
        assert isinstance(ending, TurnFailed)
        assert ending.code == "timeout"


async def test_an_unforeseen_fault_is_a_sentence_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fault(_: object) -> Reply:
        raise ZeroDivisionError

    async with reading_room(tmp_path, ScriptedChat(fault)) as room:
        ending = (await room.ask(await room.talk(), "Who?"))[-1]
        assert isinstance(ending, TurnFailed)
        assert "ZeroDivisionError" not in ending.message
        assert "ZeroDivisionError" in caplog.text


async def test_a_book_whose_file_is_gone_is_a_sentence(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        talk = await room.talk()
        (tmp_path / "books" / f"{room.book.sha256}.book").unlink()
        ending = (await room.ask(talk, "Who?"))[-1]
        assert isinstance(ending, TurnFailed)
        assert "add it again" in ending.message.lower()


async def test_a_model_without_tools_is_handed_passages_and_its_keys_resolve(tmp_path: Path) -> None:
    def keyed(messages: object) -> Reply:
        assert isinstance(messages, list)
        found = KEY_IN_GROUP.search(messages[-1].content)
        assert found
        return f"There [{found[0]}]."

    provider = ScriptedChat(keyed, "the dark lamp and Hobb", keyed, supports_tools=False)
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        first = await room.answer(talk, "Who put out the lamp?")
        assert first.citations
        second = await room.ask(talk, "And why did he?")
        assert isinstance(second[-1], Answer)
        searched = next(e for e in second if isinstance(e, ToolCallFinished))
        assert searched.tool_name == "search_book"
        assert "And why did he?" in provider.requests[1][-1].content, "the query is reformulated from the conversation"
        assert provider.requests[1][:-1] == provider.requests[2][:-1], "a server with one slot goes on from there"
        assert not any(provider.allowed_calls)
        assert all(m.role in ("system", "user", "assistant") for request in provider.requests for m in request)


async def test_tokens_are_booked_on_the_reader_who_asked(tmp_path: Path) -> None:
    usage = TokenUsage(1_000, 50)
    async with reading_room(tmp_path, ScriptedChat(ChatResponse(text="Hi.", usage=usage))) as room:
        talk = await room.talk()
        await room.ask(talk, "Hello", BEN)
        total = await room.storage.usage.total_for_reader(BEN.id, datetime(2020, 1, 1, tzinfo=UTC))
        assert (total.usage, total.cost_microdollars) == (usage, 1)
        turn = (await room.storage.turns.get_by_conversation(talk.id))[0]
        assert turn.usage == usage


async def test_every_turn_is_one_line_in_the_log_without_a_word_of_what_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "marginalia.turns")
    reply = ChatResponse(text="Hobb did.", usage=TokenUsage(90, 20))
    async with reading_room(tmp_path, ScriptedChat(SEARCH, reply)) as room:
        talk = await room.talk()
        await room.answer(talk, "Who put out the lamp?")
    [line] = [record for record in caplog.records if record.name == "marginalia.turns"]
    fields = line.__dict__["fields"]
    assert (fields["conversation"], fields["state"], fields["reader"]) == (talk.id, "answered", "ann")
    assert (fields["tokens_in"], fields["tokens_out"], fields["calls"], fields["cost_microdollars"]) == (90, 20, 1, 1)
    assert fields["prepared_ms"] <= fields["first_text_ms"] <= fields["total_ms"]
    assert "lamp" not in line.getMessage()
    assert "Hobb" not in line.getMessage()


async def test_a_reader_who_has_used_up_the_day_is_told_kindly_and_others_go_on(tmp_path: Path) -> None:
    reply = ChatResponse(text="Hi.", usage=TokenUsage(90, 20))
    async with reading_room(tmp_path, ScriptedChat(reply), daily_tokens=100) as room:
        talk, other = await room.talk(), await room.talk(BEN)
        await room.answer(talk, "One")
        ending = (await room.ask(talk, "Two"))[-1]
        assert isinstance(ending, TurnFailed)
        assert ending.code == "daily_limit"
        assert "100 tokens" in ending.message
        assert (await room.answer(other, "Mine", BEN)).text == "Hi."


async def test_after_a_crash_interrupted_turns_wait_again_and_finished_ones_stay_to_be_delivered(
    tmp_path: Path,
) -> None:
    async with reading_room(tmp_path, ScriptedChat("Hobb.")) as room:
        done, cut_off = await room.talk(), await room.talk()
        await room.answer(done, "Who?")
        message = await room.chat.receive(cut_off.id, "Who?", ANN)
        assert message
        await room.storage.turns.begin(cut_off.id, [message.id], message.created_at)
    async with reading_room(tmp_path, ScriptedChat("Hobb.")) as room:
        assert await room.chat.recover(done.id) == []
        [interrupted] = await room.chat.recover(cut_off.id)
        assert await room.chat.recover(cut_off.id) == []
        assert await room.storage.turns.get(interrupted.id) is None
        [undelivered] = await room.storage.turns.list_undelivered()
        assert undelivered.conversation_id == done.id
        await room.chat.delivered(undelivered.id, ["1"])
        assert await room.storage.turns.list_undelivered() == []
        events = await drained(room, cut_off.id)
        assert isinstance(events[-1], Answer)
        states = [t.state for t in await room.storage.turns.get_by_conversation(done.id)]
        assert states == [TurnState.DELIVERED]


async def test_a_conversation_is_named_after_its_first_message(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("Hobb.")) as room:
        talk = await room.talk()
        assert talk.title == UNTITLED
        await room.ask(talk, "Who put out the lamp on the night of the ninth, and was it for money?")
        titled = await room.manage.get(talk.id)
        assert titled.title == "Who put out the lamp on the night of the ninth…"
        assert titled.title_source is TitleSource.AUTOMATIC


async def test_a_persons_own_title_stays(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("Hobb.")) as room:
        talk = await room.manage.create(room.book.id, "Evening reading")
        await room.ask(talk, "Who?")
        assert (await room.manage.get(talk.id)).title == "Evening reading"
        assert (await room.manage.rename(talk.id, "Night  reading ")).title == "Night reading"
        with pytest.raises(ConversationError):
            await room.manage.rename(talk.id, "  ")


async def test_a_deleted_book_takes_its_conversations_along(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("Hobb.")) as room:
        talk = await room.talk()
        await room.ask(talk, "Who?")
        await room.storage.books.delete(room.book.id)
        with pytest.raises(ConversationError):
            await room.manage.get(talk.id)
        assert await room.storage.messages.get_by_conversation(talk.id) == []
        with pytest.raises(BookError):
            await room.manage.create(room.book.id)


async def drained(room: ReadingRoom, conversation_id: str) -> list[TurnEvent]:
    return [event async for event in room.chat.answer(conversation_id)]


async def test_what_the_model_knows_by_heart_shows_in_no_call_either(tmp_path: Path) -> None:
    secret = call("search_book", "t1", query="lamp", also=["Lucian, who drowned in 1887"])
    provider = ScriptedChat(calls(secret, call("count_mentions", "t2", term="Lucian"), preamble="Is it Lucian?"), "No.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        pages = await room.file.pages()
        position = ReadingPosition(PositionState.READING, pages[1].end)
        await room.storage.readers.set_position(ANN.id, room.book.id, position)
        events = await room.ask(talk, "Who did it?")
        kept = await room.storage.messages.get_by_conversation(talk.id)
        assert "Lucian" not in repr(events)
        [first, second] = next(message.tool_invocations for message in kept if message.tool_invocations)
        assert first.shown_arguments == {"query": "lamp", "also": [COVERED]}
        assert second.shown_arguments == {"term": COVERED}
        assert (first.arguments, second.arguments) == (secret.arguments, {"term": "Lucian"})
        assert sum(isinstance(event, ToolCallFinished) and not event.is_error for event in events) == 2


@pytest.mark.parametrize("asked", ["Who?", "On which page?"])
async def test_keys_and_page_numbers_that_nothing_stands_behind_are_no_answer(tmp_path: Path, asked: str) -> None:
    said = {"Who?": "[s-0000000] (p. 99)", "On which page?": "99."}
    async with reading_room(tmp_path, ScriptedChat(said[asked])) as room:
        failed = (await room.ask(await room.talk(), asked))[-1]
        assert isinstance(failed, TurnFailed)
        assert failed.code == "empty_reply"
        assert failed.message.startswith("The model answered with nothing but a page or a source")
        assert failed.partial == ""


async def test_the_book_speaks_for_itself_where_the_model_named_only_a_page(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("99.")) as room:
        failed = (await room.ask(await room.talk(), "On which page was the brass key found?"))[-1]
        assert isinstance(failed, TurnFailed)
        assert "brass key" in failed.offer
        assert "99" not in failed.offer
        assert failed.citations


@pytest.mark.parametrize(
    ("then", "said", "shown"),
    [
        ("How old is he?", "59.", "59."),
        ("How many boxes are there?", "50.", "50."),
        ("And in which year?", "1911.", "1911."),
        ("Wie alt ist er?", "59.", "59."),
        ("And the next one?", "59.", ""),
        ("Are you sure?", "Yes, it is 59.", "Yes, it is …."),
        ("What number was it?", "59.", ""),
        ("How old is he, and on which page?", "59.", ""),
        ("How far in is that?", "59.", ""),
    ],
)
async def test_a_page_that_was_asked_for_before_is_not_asked_for_with_another_number(
    tmp_path: Path, then: str, said: str, shown: str
) -> None:
    provider = ScriptedChat("I cannot say.")
    async with reading_room(tmp_path, provider) as room:
        talk = await room.talk()
        await room.answer(talk, "On which page is Hobb named first?")
        provider.say(said)
        ending = (await room.ask(talk, then))[-1]
        assert (ending.text if isinstance(ending, Answer) else "") == shown


async def test_pages_that_a_tool_of_the_book_tells_make_no_other_number_one(tmp_path: Path) -> None:
    said = "It has 3 chapters on 3 pages. Hobb is 59."
    async with reading_room(tmp_path, ScriptedChat(calls(call("table_of_contents", "t1")), said)) as room:
        answer = (await room.ask(await room.talk(), "How long is the book, and how old is Hobb?"))[-1]
        assert isinstance(answer, Answer)
        assert answer.text == said
