"""A message in a thread is answered there: once, in order, in what stands already."""

import asyncio

import pytest

from cogs.conversation import presenter
from domain.conversation import TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, StopReason, TextChunk
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import MessageFlag, Permission
from tests.doubles.scripted_chat import call, calls

BUSY = LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded. Try again soon.")


async def test_a_message_is_answered_without_a_mention(room: Scene) -> None:
    room.model.say("Hobb put it out.")
    asked = await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said("Hobb put it out.")
    await room.until_delivered()
    [turn] = await room.turns()
    assert turn.reply_ids == (str(room.replies()[0].id),)
    question, answer = await room.history()
    assert (question.author_id, question.author_name, question.external_id) == (str(room.ann.id), "Ann", str(asked.id))
    assert answer.content == "Hobb put it out."
    assert room.thread.typing_times
    assert MessageFlag.SUPPRESS_NOTIFICATIONS not in room.replies()[0].flags


async def test_the_status_line_becomes_the_answer(room: Scene) -> None:
    release = asyncio.Event()
    room.model.say(calls(call("search_book", query="lamp")), lambda _: _held(room, release, "The lamp was dark."))
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until(lambda: room.replies() and "search_book" in room.replies()[0].content)
    assert [button.label for button in room.replies()[0].buttons] == ["Stop"]
    release.set()
    await room.until_said("The lamp was dark.")
    assert len(room.double.messages(room.thread)) == 4
    assert room.replies()[0].embeds == []


def _held(room: Scene, release: asyncio.Event, text: str) -> str:
    room.model.hold = release
    return text


async def test_messages_that_come_meanwhile_join_the_next_turn(room: Scene) -> None:
    release = await room.hold()
    room.model.say("First answer.", "Second answer.")
    await room.ann.say(room.thread, "One?")
    await room.until_asked(1)
    await room.ann.say(room.thread, "Two?")
    await room.ann.say(room.thread, "Three?")
    await room.until_kept("One?", "Two?", "Three?")
    release.set()
    await room.until_said("First answer.", "Second answer.")
    assert await room.kept() == ["One?", "First answer.", "Two?", "Three?", "Second answer."]


async def test_two_threads_do_not_wait_for_each_other(room: Scene) -> None:
    other = await room.chat(await room.book())
    release = await room.hold()
    await room.ann.say(room.thread, "One?")
    await room.until_asked(1)
    room.model.hold = None
    room.model.say("Meanwhile.")
    await room.ann.say(other, "Two?")
    await room.until_said("Meanwhile.", thread=other)
    assert room.said() == []
    release.set()
    await room.until(lambda: room.said())


async def test_an_event_that_comes_twice_is_answered_once(room: Scene) -> None:
    await room.ann.say(room.thread, "Who?")
    await room.until_said("I do not know.")
    room.double.gateway.replay = 4
    room.double.gateway.reconnect()
    await room.until(lambda: room.double.gateway.resumes == 1)
    room.model.say("Next.")
    await room.ann.say(room.thread, "And then?")
    await room.until_said("I do not know.", "Next.")
    assert len(room.model.requests) == 2


async def test_a_failure_is_a_sentence_and_retry_answers_the_same_message(room: Scene) -> None:
    room.model.say(BUSY, "Hobb.")
    await room.ann.say(room.thread, "Who?")
    await room.until_said("⚠️ The model is overloaded. Try again soon.")
    await room.until_delivered()
    [failed] = room.replies()
    assert [button.label for button in failed.buttons] == ["Retry"]
    await room.ann.click(failed, label="Retry")
    await room.until(lambda: room.said() == ["Hobb."] and [button.label for button in failed.buttons] == ["Try again"])
    assert room.replies() == [failed]
    await room.until_delivered()
    assert await room.kept() == ["Who?", "Hobb."]


async def test_a_retry_while_another_question_is_taken_back_leaves_no_failure_standing(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave, leaving, go = presenter.TurnPresenter.leave, asyncio.Event(), asyncio.Event()

    async def held(shown: presenter.TurnPresenter) -> presenter.PostedMessages:
        posted = await leave(shown)
        leaving.set()
        await go.wait()
        return posted

    room.model.say(BUSY)
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    [failed] = room.replies()
    release = await room.hold()
    room.model.say("Hobb did it, for his brother.")
    other = await room.ann.say(room.thread, "Why?")
    await room.until(lambda: len(room.replies()) == 2)
    monkeypatch.setattr(presenter.TurnPresenter, "leave", held)
    await room.ann.edit(other, "And why?")
    await leaving.wait()
    await room.ann.click(failed, label="Retry")
    await room.until(lambda: not room.state.bot.at_work)
    go.set()
    release.set()
    await room.until_said("Hobb did it, for his brother.")
    assert room.replies() == [failed]


async def test_what_had_been_written_stays_above_the_failure(room: Scene) -> None:
    room.model.say([TextChunk("The lamp was put out by an old man from the island, and "), _cut()], "The lamp.")
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: room.said() and "⚠️" in room.said()[0])
    [shown] = room.said()
    assert shown.startswith("The lamp was put out by an old man from the island, and\n\n⚠️ ")


def _cut() -> ChatResponse:
    return ChatResponse(text="", stop_reason=StopReason.REFUSAL)


async def test_an_old_retry_button_says_that_it_is_late(room: Scene) -> None:
    room.model.say(BUSY, "Hobb.")
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    [turn] = await room.turns()
    await room.app.storage.turns.reopen(turn.id)
    pressed = await room.ann.click(room.replies()[0], label="Retry")
    await room.until(lambda: pressed.messages)
    assert pressed.ephemeral
    assert "already answering" in pressed.text


async def test_retry_is_for_those_who_asked_and_those_who_manage_threads(room: Scene) -> None:
    room.model.say(BUSY)
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    pressed = await room.ben.click(room.replies()[0], label="Retry")
    await room.until(lambda: pressed.messages)
    assert pressed.ephemeral
    assert "Only the people who asked" in pressed.text
    assert len(room.model.requests) == 1


async def test_a_long_answer_is_several_messages(room: Scene) -> None:
    text = "\n\n".join(f"{number}. {'The lamp was dark on that night. ' * 12}".strip() for number in range(12))
    room.model.say(text)
    await room.ann.say(room.thread, "Tell me all.")
    await room.until(lambda: len(room.replies()) == 3)
    await room.until_delivered()
    [turn] = await room.turns()
    assert turn.reply_ids == tuple(str(reply.id) for reply in room.replies())
    assert "".join("".join(room.said()).split()) == "".join(text.split())


async def test_a_slow_model_is_seen_to_be_at_work(room: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presenter, "STATUS_AFTER_S", 0.05)
    release = await room.hold()
    await room.ann.say(room.thread, "Who?")
    await room.until_said("-# 📖 reading …")
    release.set()
    await room.until_said("I do not know.")


async def test_a_sentence_is_hidden_in_the_message_as_in_the_answer(room: Scene) -> None:
    note = "-# A part of this answer is hidden, as it seems to name something that comes later than you have read."
    room.model.say(f"He came by night. ||Hobb had put it out.||\n\n{note}")
    await room.ann.say(room.thread, "Who?")
    await room.until_said(f"He came by night. ||Hobb had put it out.||\n\n{note}")


async def test_a_deleted_conversation_is_not_answered_and_does_no_harm(room: Scene) -> None:
    release = await room.hold()
    await room.ann.say(room.thread, "Who?")
    await room.until_asked(1)
    asked = await room.ann.slash("conversations delete", channel=room.thread)
    await room.until(lambda: asked.messages)
    await room.ann.click(asked.message, label="Delete it")
    await room.until(lambda: "Deleted" in asked.text)
    release.set()
    assert await room.app.storage.turns.list_undelivered() == []


async def test_a_deleted_thread_leaves_its_question_to_the_next(room: Scene) -> None:
    release = await room.hold()
    conversation = await room.conversation()
    await room.ann.say(room.thread, "Who?")
    await room.until_asked(1)
    await room.ann.delete_channel(room.thread)
    while (await room.app.storage.conversations.get(conversation.id)).thread_id:  # type: ignore[union-attr]
        await asyncio.sleep(0.01)
    release.set()
    while await room.app.storage.turns.get_by_conversation(conversation.id):
        await asyncio.sleep(0.01)
    [waiting] = await room.app.storage.messages.get_by_conversation(conversation.id)
    assert waiting.content == "Who?"
    await room.ann.slash("chat", book=conversation.book_id, conversation=conversation.id)
    await room.until(lambda: room.double.threads())
    [thread] = room.double.threads()
    await room.until_said("", "I do not know.", thread=thread)
    assert room.replies(thread)[0].embed_texts == ["Who?"]


async def test_a_deleted_channel_leaves_its_question_to_the_next(room: Scene) -> None:
    release = await room.hold()
    conversation = await room.conversation()
    await room.ann.say(room.thread, "Who?")
    await room.until_asked(1)
    await room.ann.delete_channel(room.double.channel)
    while (await room.app.storage.conversations.get(conversation.id)).thread_id:  # type: ignore[union-attr]
        await asyncio.sleep(0.01)
    release.set()
    other = room.double.world.add_channel(room.double.guild, "other")
    asked = await room.ann.slash("chat", channel=other, book=conversation.book_id, conversation=conversation.id)
    await room.until(lambda: asked.messages)
    await room.ann.click(asked.message, label="Go on here")
    await room.until(lambda: room.double.threads())
    await room.until_said("I do not know.", thread=room.double.threads()[0])


async def test_an_archived_thread_wakes_up(room: Scene) -> None:
    await room.ann.archive(room.thread)
    await room.ann.say(room.thread, "Who?")
    await room.until_said("I do not know.")
    assert not room.thread.archived


async def test_turns_that_end_are_delivered_whatever_discord_does_meanwhile(room: Scene) -> None:
    post = "POST /channels/{channel}/messages"
    room.double.fail(post, status=503)
    room.double.drop(post, took_effect=True)
    room.double.fail(post, status=429)
    await room.ann.say(room.thread, "Who?")
    await room.until_said(
        "I do not know.",
    )
    await room.until_delivered()
    assert [turn.state for turn in await room.turns()] == [TurnState.DELIVERED]


async def test_when_the_model_stays_away_the_book_speaks_and_the_question_may_be_asked_again(room: Scene) -> None:
    room.model.say(BUSY)
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until(lambda: room.replies() and room.replies()[0].buttons)
    [told] = room.replies()
    failure, meanwhile, *book = told.content.split("\n\n")
    assert failure == f"⚠️ {BUSY.message}"
    assert meanwhile == "Meanwhile, here's what the book says:"
    assert book == ["“It was Hobb who had put the lamp out.” (p. 3)"]
    room.model.say("Hobb did.")
    await room.ann.click(told, label="Retry")
    await room.until_said("Hobb did.")


async def test_where_the_bot_may_not_write_the_log_names_what_it_lacks(
    room: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    room.double.world.forbid(room.double.channel, room.double.bot, Permission.SEND_MESSAGES_IN_THREADS)
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: f"in thread {room.thread.id} the bot lacks send_messages_in_threads" in caplog.text)
    assert room.said() == []
