"""People change and delete what they wrote; the answer follows, and the history stays in order."""

import asyncio
from typing import Any

import pytest

from cogs.conversation.cog import ConversationCog
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import TextChunk
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import PATIENCE_S, Message, Permission
from tests.doubles.scripted_chat import Reply
from tests.waiting import eventually

LONG = "The lamp on the island was dark that night, and nobody knew why; the keeper had not come back from the sea."


async def being_answered(room: Scene, *questions: str) -> list[Message]:
    """Questions, all in one turn, whose answer has begun to stand in the thread."""
    before = await room.hold()
    room.model.say("Hello.", _begun(room), _second(room))
    await room.ann.say(room.thread, "Hello")
    await room.until_asked(1)
    said = [await room.ann.say(room.thread, question) for question in questions]
    await eventually(room.history, lambda kept: len(kept) > len(questions))
    before.set()
    await room.until(lambda: room.said() and room.said()[-1].startswith(LONG[:30]))
    return said


def _begun(room: Scene) -> Reply:
    def reply(_: object) -> Reply:
        room.model.hold = asyncio.Event()
        return [TextChunk(LONG)]

    return reply


def _second(room: Scene) -> Reply:
    def reply(_: object) -> Reply:
        room.model.hold = None
        return "The second attempt."

    return reply


async def test_an_edited_question_is_answered_anew_in_the_same_message(room: Scene) -> None:
    [question] = await being_answered(room, "Who?")
    before, reply = room.replies()
    await room.ann.edit(question, "Why?")
    await room.until(
        lambda: (
            room.said() == ["Hello.", "The second attempt."]
            and [button.label for button in reply.buttons] == ["Try again"]
        )
    )
    assert room.replies() == [before, reply]
    await room.until_delivered(2)
    assert await room.kept() == ["Hello", "Hello.", "Why?", "The second attempt."]
    assert room.model.requests[-1][-1].content == "Why?"


async def test_a_title_and_the_name_of_the_thread_follow_while_it_is_being_answered(room: Scene) -> None:
    known = {each.id for each in room.double.threads()}
    before = await room.hold()
    book = await room.book()
    await room.ann.say(room.double.channel, "Does my neighbour Hobb know?", mention=room.double.bot)
    await room.until(lambda: "Which book is it about?" in room.double.said()[-1])
    await room.app.storage.conversations.delete((await room.conversation()).id)  # so that another one is opened
    await room.ann.select(room.double.messages()[-1], book.title)
    await room.until_asked(1)
    [thread] = [each for each in room.double.threads() if each.id not in known]
    assert thread.name == "Does my neighbour Hobb know?"
    question = next(each for each in room.double.messages() if "Hobb" in each.content)
    await room.ann.edit(question, f"<@{room.double.bot.id}> Has Marta seen him?")
    await room.until(lambda: thread.name == "Has Marta seen him?")
    assert (await room.conversation(thread)).title == "Has Marta seen him?"
    before.set()


async def test_a_deleted_question_is_answered_no_more_and_leaves_nothing(room: Scene) -> None:
    [question] = await being_answered(room, "Who?")
    await room.ann.delete(question)
    await room.until_said("Hello.")
    assert await room.kept() == ["Hello", "Hello."]
    assert len(await room.turns()) == 1


async def test_bulk_deletion_takes_questions_too(room: Scene) -> None:
    [question] = await being_answered(room, "Who?")
    question.channel.messages.pop(question.id)
    data = {"ids": [str(question.id)], "channel_id": str(room.thread.id), "guild_id": str(room.double.guild.id)}
    room.double.gateway.emit("MESSAGE_DELETE_BULK", data)
    await room.until_said("Hello.")
    assert await room.kept() == ["Hello", "Hello."]


async def test_other_questions_of_the_turn_are_answered_without_the_deleted_one(room: Scene) -> None:
    first, _ = await being_answered(room, "Who?", "Why?")
    await room.ann.delete(first)
    await room.until(lambda: room.said()[-1] == "The second attempt.")
    await room.until_delivered(2)
    assert await room.kept() == ["Hello", "Hello.", "Why?", "The second attempt."]


async def test_a_question_that_waits_is_asked_as_it_is_now(room: Scene) -> None:
    release = await room.hold()
    room.model.say("One.", "Two.")
    await room.ann.say(room.thread, "First?")
    await room.until_asked(1)
    second = await room.ann.say(room.thread, "Secnod?")
    await room.ann.edit(second, "Second?")
    third = await room.ann.say(room.thread, "Third?")
    await room.until_kept("First?", "Second?", "Third?")
    async with asyncio.TaskGroup() as heard:
        heard.create_task(room.state.bot.wait_for("raw_message_delete"))
        await asyncio.sleep(0)  # it listens
        await room.ann.delete(third)
    release.set()
    await room.until_said("One.", "Two.")
    await room.until_kept("First?", "One.", "Second?", "Two.")


async def test_an_edited_question_that_has_its_answer_is_kept_as_it_is_now(room: Scene) -> None:
    question = await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    await room.ann.edit(question, "Why?")
    await room.until_kept("Why?", "I do not know.")
    room.model.say("Next.")
    await room.ann.say(room.thread, "And?")
    await room.until_said("I do not know.", "Next.")
    assert [message.content for message in room.model.requests[-1] if message.role == "user"] == ["Why?", "And?"]


async def test_editing_a_question_that_failed_asks_it_again(room: Scene) -> None:
    room.model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."), "Hobb.")
    question = await room.ann.say(room.thread, "Whi?")
    await room.until_delivered()
    [reply] = room.replies()
    await room.ann.edit(question, "Who?")
    await room.until(lambda: room.said() == ["Hobb."] and [button.label for button in reply.buttons] == ["Try again"])
    assert room.replies() == [reply]
    await room.until_delivered()
    assert await room.kept() == ["Who?", "Hobb."]


@pytest.mark.parametrize("is_locked", [False, True])
async def test_who_may_no_longer_write_there_asks_nothing_by_editing(room: Scene, is_locked: bool) -> None:
    room.model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."), "Hobb.")
    question = await room.ann.say(room.thread, "Whi?")
    await room.until_delivered()
    if is_locked:
        room.double.world.update_channel(room.thread, room.ben.user, {"locked": True})
    else:
        room.double.world.forbid(room.double.channel, room.ann.user, Permission.SEND_MESSAGES_IN_THREADS)
    await room.ann.edit(question, "Who?")
    await room.until_kept("Who?")
    await asyncio.sleep(0.1)
    assert room.said() == ["⚠️ Too busy."]
    assert len(room.model.requests) == 1


async def test_deleting_a_question_that_failed_takes_the_sentence_with_it(room: Scene) -> None:
    room.model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."))
    question = await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    await room.ann.delete(question)
    await room.until_said()


async def test_a_preview_that_discord_adds_changes_nothing(room: Scene) -> None:
    [question] = await being_answered(room, "Who?")
    room.double.world.edit(question, {"embeds": [{"type": "rich", "description": "a page"}]})
    await asyncio.sleep(0.1)
    assert len(room.model.requests) == 2
    await room.ann.edit(question, "Why?")
    await room.until_said("Hello.", "The second attempt.")


async def test_many_edits_in_a_row_leave_one_answer_to_the_last(room: Scene) -> None:
    [question] = await being_answered(room, "Who?")
    room.model.say(_begun(room))
    for number in range(3):
        await room.ann.edit(question, f"Why {number}?")
        await asyncio.sleep(0.01 * number)
    room.model.say(_second(room))
    await room.ann.edit(question, "Why indeed?")
    await room.until_said("Hello.", "The second attempt.")
    await room.until_delivered(2)
    assert await room.kept() == ["Hello", "Hello.", "Why indeed?", "The second attempt."]


async def test_a_message_that_gets_its_words_by_an_edit_is_answered(room: Scene) -> None:
    """Whoever sends the mention by itself, by accident, goes on in the same message."""
    said = await room.ann.say(room.thread, "", mention=room.double.bot)
    await room.until_said("What would you like to know about the book?")
    await room.ann.edit(said, f"<@{room.double.bot.id}> who?")
    await room.until_said("What would you like to know about the book?", "I do not know.")
    assert await room.kept() == ["who?", "I do not know."]


async def test_in_company_a_message_that_gets_the_mention_by_an_edit_is_answered(room: Scene) -> None:
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered(1)
    said = await room.ben.say(room.thread, "was it Hob?")
    await room.until(lambda: len(room.said()) == 2)
    await room.ben.edit(said, "was it Hobb?")
    await room.ben.edit(said, f"<@{room.double.bot.id}> was it Hobb?")
    await room.until_delivered(2)
    await room.ben.edit(said, f"<@{room.double.bot.id}> was it Marta?")  # from now on it is a question like any other
    await room.until_kept("Who?", "I do not know.", "was it Marta?", "I do not know.")
    assert room.model.requests[1][-1].content == "was it Hobb?"


@pytest.mark.parametrize("place", ["channel", "thread"])
async def test_where_there_is_no_conversation_a_mention_that_comes_by_an_edit_is_replied_to_once(
    room: Scene, place: str
) -> None:
    where = await room.ann.start_thread("Our own") if place == "thread" else room.double.channel
    said = await room.ann.say(where, "who was it?")
    for words in ("who was it?", "who was Hobb?"):
        await room.ann.edit(said, f"<@{room.double.bot.id}> {words}")
        await room.until(lambda: room.said(where))
    await room.ann.say(where, "who was it?", mention=room.double.bot)
    await room.until(lambda: len(room.said(where)) > 1)
    assert [each.reference for each in room.replies(where)][-2:] == [said, room.double.messages(where)[-2]]


async def test_of_two_edits_at_once_the_last_is_answered(room: Scene) -> None:
    said = await room.ann.say(room.thread, "", mention=room.double.bot)
    await room.until(lambda: room.said())
    cog = room.state.bot.get_cog("ConversationCog")
    assert isinstance(cog, ConversationCog)
    async with cog._intake.order(room.thread.id):
        for words in ("who?", "why?"):
            await room.ann.edit(said, f"<@{room.double.bot.id}> {words}")
        await room.until(lambda: said.id in cog._edited and "why" in cog._edited[said.id].content)
        await asyncio.sleep(0.05)  # both wait
    await room.until_kept("why?", "I do not know.")


async def test_an_edit_that_is_heard_of_late_takes_no_newer_one_back(room: Scene) -> None:
    """As after an absence: the thread was read before the newest edit, and what was read is looked at after it."""
    question = await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    cog, bot = room.state.bot.get_cog("ConversationCog"), room.double.bot
    assert isinstance(cog, ConversationCog)
    await room.ann.edit(question, "When?")
    place = room.state.bot.get_partial_messageable(room.thread.id, guild_id=room.double.guild.id)
    read = await place.fetch_message(question.id)
    await room.ann.edit(question, "Where?")
    await room.until_kept("Where?", "I do not know.")
    await cog._corrections.edited(read, bot.id)
    assert await room.kept() == ["Where?", "I do not know."]


async def test_one_that_is_deleted_right_after_its_edit_is_not_answered(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await room.ann.say(room.thread, "", mention=room.double.bot)
    await room.until(lambda: room.said())
    cog = room.state.bot.get_cog("ConversationCog")
    assert isinstance(cog, ConversationCog)
    accept, looked_up = cog._corrections._accept, asyncio.Event()

    async def late(*args: Any) -> None:
        await room.ann.delete(said)
        await room.until(lambda: said.id not in cog._edited)
        await asyncio.sleep(0.1)  # the deletion finds no question
        await accept(*args)
        looked_up.set()

    monkeypatch.setattr(cog._corrections, "_accept", late)
    await room.ann.edit(said, f"<@{room.double.bot.id}> who?")
    async with asyncio.timeout(PATIENCE_S):
        await looked_up.wait()
    await room.until_kept()
    await room.until(lambda: len(room.said()) == 1)


async def test_an_edit_that_names_nobody_asks_nothing_and_makes_nobody_wait(room: Scene) -> None:
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered(1)
    said = await room.ben.say(room.thread, "Not me.")
    await room.until(lambda: len(room.said()) == 2)
    company, conversation = room.app.company, await room.conversation()
    await company.dismiss(conversation.id, str(room.ben.id))
    await room.ben.edit(said, "Not me!")
    await room.ann.say(room.thread, "Why?", mention=room.double.bot)
    await room.until_delivered(2)
    assert str(room.ben.id) not in await company.of(conversation.id)


@pytest.mark.parametrize("settings", [{"max_turns_per_minute": 2}])
async def test_each_wording_that_is_asked_counts_as_a_question(room: Scene) -> None:
    await room.hold()
    question = await room.ann.say(room.thread, "Who?")
    await room.until_asked(1)
    await room.ann.edit(question, "Why?")
    await room.until_asked(2)
    await room.ann.edit(question, "When?")
    await room.until(lambda: any("2 questions within a minute" in each for each in room.said()))
    assert len(room.model.requests) == 2
