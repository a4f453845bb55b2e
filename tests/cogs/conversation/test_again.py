"""Try again and Answer again: one answer takes the place of another, and the old one stays until it does."""

import asyncio
from pathlib import Path

import pytest

from cogs.conversation import worker
from cogs.delivery import writer
from domain.conversation import TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, ToolInvocation
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble, Message

BUSY = LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded. Try again soon.")
OLD = "The lamp was dark."


def labels(message: Message) -> list[str]:
    return [button.label for button in message.buttons if button.label]


async def answered(room: Scene, question: str = "Why?", answer: str = OLD) -> tuple[Message, Message]:
    """A question and its answer."""
    before = len(room.replies())
    room.model.say(answer)
    asked = await room.ann.say(room.thread, question)
    await room.until(lambda: len(room.replies()) > before and labels(room.replies()[-1]) == ["Try again"])
    await room.until_delivered(len([*await room.turns()]))
    return asked, room.replies()[-1]


async def test_the_new_answer_stands_in_the_same_message_and_is_the_only_one_kept(room: Scene) -> None:
    _, first = await answered(room)
    await answered(room, "And then?", "It was lit.")
    room.model.say("An old man put it out.")
    await room.ann.click(first, label="Try again")
    await room.until(lambda: first.content == "An old man put it out." and labels(first) == ["Try again"])
    await room.until_delivered(2)
    assert room.said() == ["An old man put it out.", "It was lit."]
    assert await room.kept() == ["Why?", "An old man put it out.", "And then?", "It was lit."]
    room.model.say("Next.")
    await room.ann.say(room.thread, "More")
    await room.until(lambda: room.said()[-1] == "Next.")
    assert OLD not in "".join(message.content for message in room.model.requests[-1])


async def test_the_old_answer_stays_until_the_new_one_is_there(room: Scene) -> None:
    _, reply = await answered(room)
    hold = await room.hold()
    room.model.say("An old man, it was.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: labels(reply) == ["Stop"])
    assert reply.content.startswith(f"{OLD}\n\n-# ")
    assert await room.kept() == ["Why?", OLD]
    hold.set()
    await room.until(lambda: room.said() == ["An old man, it was."] and labels(reply) == ["Try again"])


async def test_nothing_stays_of_what_is_deleted_while_it_is_made_again(room: Scene) -> None:
    asked, reply = await answered(room)
    await room.hold()
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: labels(reply) == ["Stop"])
    room.double.world.delete(reply)
    await room.until(room.replies)  # what is being made is posted again
    await room.ann.delete(asked)
    await room.until_kept()
    await room.until(lambda: not room.replies())


async def test_the_old_tool_card_goes_with_its_answer(room: Scene) -> None:
    await room.ann.slash("verbose", channel=room.thread, mode="on")
    look = ChatResponse(tool_invocations=(ToolInvocation("search_book", {"queries": ["lamp"]}, "1"),))
    room.model.say(look, "I found nothing.")
    await room.ann.say(room.thread, "Why?")
    await room.until(lambda: len(room.replies()) == 2 and room.replies()[1].content == "I found nothing.")
    await room.until_delivered()
    card, reply = room.replies()
    other = ChatResponse(tool_invocations=(ToolInvocation("search_book", {"queries": ["island"]}, "2"),))
    room.model.say(other, "The island.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: reply.content == "The island." and "island" in "".join(card.embed_texts))
    assert room.replies() == [card, reply]
    await room.until_delivered()
    room.model.say("No lookup now.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: room.said() == ["No lookup now."])
    assert room.replies() == [reply]


async def test_a_failure_leaves_the_old_answer_and_says_why(room: Scene) -> None:
    _, reply = await answered(room)
    room.model.say(BUSY)
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: "earlier answer stays" in reply.content and labels(reply) == ["Try again"])
    assert reply.content.startswith(OLD)
    assert "The model is overloaded. Try again soon." in reply.content
    await room.until_delivered()
    assert await room.kept() == ["Why?", OLD]


async def test_stop_leaves_the_old_answer(room: Scene) -> None:
    _, reply = await answered(room)
    await room.hold()
    room.model.say("An old man, it was.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: labels(reply) == ["Stop"])
    await room.ann.click(reply, label="Stop")
    await room.until(lambda: reply.content == OLD and labels(reply) == ["Try again"])
    await room.until_delivered()


async def test_only_its_asker_has_it_answered_again(room: Scene) -> None:
    _, reply = await answered(room)
    pressed = await room.ben.click(reply, label="Try again")
    await room.until(lambda: pressed.messages)
    assert pressed.ephemeral
    assert "Only the person who asked" in pressed.text
    assert room.said() == [OLD]


async def test_two_presses_are_one(room: Scene) -> None:
    _, reply = await answered(room)
    hold = await room.hold()
    room.model.say("An old man. Yes.")
    presses = await asyncio.gather(*(room.ann.click(reply, label="Try again") for _ in range(2)))
    await room.until(lambda: any("already answering this again" in each.text for each in presses))
    hold.set()
    await room.until(lambda: reply.content == "An old man. Yes." and labels(reply) == ["Try again"])
    assert len(room.model.requests) == 2


async def test_an_edited_question_offers_to_be_answered_again(room: Scene) -> None:
    asked, reply = await answered(room)
    await room.ann.edit(asked, "Who?")
    await room.until(lambda: labels(reply) == ["Answer again"])
    assert reply.content == OLD
    room.model.say("An old man.")
    await room.ann.click(reply, label="Answer again")
    await room.until(lambda: reply.content == "An old man." and labels(reply) == ["Try again"])
    await room.until_delivered()
    assert await room.kept() == ["Who?", "An old man."]
    assert room.model.requests[-1][-1].content == "Who?"


async def test_an_edit_that_changes_no_words_offers_nothing(room: Scene) -> None:
    asked, reply = await answered(room)
    await room.ann.edit(asked, "Why? ")
    await answered(room, "And then?")
    assert labels(reply) == ["Try again"]


async def test_a_question_deleted_while_it_is_answered_again_leaves_nothing(room: Scene) -> None:
    asked, reply = await answered(room)
    await room.hold()
    room.model.say("An old man, it was.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: labels(reply) == ["Stop"])
    await room.ann.delete(asked)
    await room.until_kept()
    await room.until(lambda: room.replies() == [])


async def test_what_was_stopped_is_only_shown_again_however_long_that_takes(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.1,) * 3)
    monkeypatch.setattr(writer, "MOST_ATTEMPTS", 1)
    _, reply = await answered(room)
    await room.hold()
    room.model.say("An old man, it was.")
    await room.ann.click(reply, label="Try again")
    await room.until(lambda: labels(reply) == ["Stop"])
    asked = len(room.model.requests)
    room.double.fail("PATCH /channels/{channel}/messages/{message}", status=503, times=2)
    await room.ann.click(reply, label="Stop")
    await room.until(lambda: reply.content == OLD and labels(reply) == ["Try again"])
    await room.until_delivered()
    assert len(room.model.requests) == asked


async def test_after_a_restart_in_between_it_is_made_after_all(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        _, reply = await answered(room)
        await answered(room, "And then?", "It was lit.")
        await room.hold()
        room.model.say("An old man, it was.")
        await room.ann.click(reply, label="Try again")
        await room.until(lambda: labels(reply) == ["Stop"])
        assert reply.content.startswith(OLD)
    async with again(room, says="An old man.") as after:
        await after.until(lambda: after.said() == ["An old man.", "It was lit."])
        await after.until_delivered(2)
        assert [turn.state for turn in await after.turns()] == [TurnState.DELIVERED] * 2
        assert labels(reply) == ["Try again"]
        assert len(after.model.requests) == 1
    async with again(after) as later:
        later.model.say("Next.")
        await later.ann.say(later.thread, "More")
        await later.until(lambda: later.said() == ["An old man.", "It was lit.", "Next."])
        assert len(later.model.requests) == 1


async def test_a_restart_in_between_and_a_failure_leave_the_old_answer(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        _, reply = await answered(room)
        await room.hold()
        room.model.say("An old man, it was.")
        await room.ann.click(reply, label="Try again")
        await room.until(lambda: labels(reply) == ["Stop"])
    async with again(room, says=BUSY) as after:
        await after.until(lambda: "the earlier answer stays" in reply.content and labels(reply) == ["Try again"])
        assert reply.content.startswith(OLD)
        await after.until_delivered()
