"""An answer streams in, spills over, settles: by one path."""

import asyncio
import threading

import pytest

from cogs.delivery.message_group import Delivery, MessagePayload
from cogs.delivery.turn_messages import FIRST_WORDS, AnswerMessage, messages_of
from cogs.delivery.writer import SENDS, ChannelWriter
from domain.concurrency import LONG_ANSWER
from tests.cogs.delivery.fakes import FakeChannel, FakeClock
from tests.domain.turn.passages import cite

PARAGRAPH = "Alice was beginning to get very tired of sitting by her sister on the bank. " * 8


@pytest.fixture
def answer(writer: ChannelWriter) -> AnswerMessage:
    return AnswerMessage(writer, "turn")


async def settled(answer: AnswerMessage, clock: FakeClock, text: str, note: str = "") -> Delivery:
    task = asyncio.create_task(answer.settle(text, note, view="sources"))
    await clock.advance(60)
    return await task


async def test_the_status_line_becomes_the_answer(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show("", "-# 🔎 search_book …", view="stop")
    await clock.advance(2)
    assert channel.contents == ["-# 🔎 search_book …"]
    delivery = await settled(answer, clock, "Into the hole (p. 3).")
    assert list(channel.shown.values()) == [MessagePayload("Into the hole (p. 3).", view="sources")]
    assert delivery.message_ids == ("1",)


async def test_a_few_letters_are_not_worth_a_notification(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show("x" * (FIRST_WORDS - 1))
    await clock.advance(5)
    assert channel.requests == []
    answer.show("x" * FIRST_WORDS)
    await clock.advance(0)
    assert channel.kinds == ["send"]


async def test_a_short_answer_is_shown_whole(answer: AnswerMessage, channel: FakeChannel, clock: FakeClock) -> None:
    answer.show("No.")
    await settled(answer, clock, "No.")
    assert channel.contents == ["No."]


async def test_a_streaming_answer_touches_only_its_last_message(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    text = ""
    for number in range(12):
        text += f"{number}: {PARAGRAPH}\n\n"
        answer.show(text, view="stop")
        await clock.advance(2)
    delivery = await settled(answer, clock, text)
    assert len(delivery.message_ids) == len(channel.shown) == 4
    newest = 0
    for request in channel.requests:
        if request.kind == "send":
            newest += 1
        elif request.body and request.body.view:
            assert request.message_id == str(newest)
    assert [body.view for body in channel.shown.values()] == [None, None, None, "sources"]
    assert "".join("".join(channel.contents).split()) == "".join(text.split())


async def test_an_answer_that_shrinks_takes_its_messages_back(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show(PARAGRAPH * 5)
    await clock.advance(5)
    assert len(channel.shown) == 2
    answer.show("", "-# 🔎 search_book …")
    await clock.advance(5)
    assert channel.contents == ["-# 🔎 search_book …"]


async def test_what_was_written_stays_above_the_failure(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    await settled(answer, clock, "The rabbit\n```py\nx", note="⚠️ The model is busy.")
    assert channel.contents == ["The rabbit\n```py\nx\n```\n\n⚠️ The model is busy."]


async def test_the_text_is_rendered_for_discord(answer: AnswerMessage, channel: FakeChannel, clock: FakeClock) -> None:
    await settled(answer, clock, "#### Part\n[site](https://x.y) @everyone")
    assert channel.contents == ["**Part**\nsite @\u200beveryone"]


async def test_an_answer_is_never_blank(answer: AnswerMessage, channel: FakeChannel, clock: FakeClock) -> None:
    assert (await settled(answer, clock, " \n")).delivered
    assert channel.contents == ["…"]


async def test_after_a_restart_the_same_messages_are_used(
    writer: ChannelWriter, answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show(PARAGRAPH * 5, view="stop")
    await clock.advance(5)
    again = AnswerMessage(writer, "turn", standing=answer.message_ids)
    delivery = await settled(again, clock, PARAGRAPH * 5)
    assert delivery.message_ids == answer.message_ids
    assert channel.kinds.count("send") == 2


async def test_what_was_shown_of_an_answer_can_be_left_for_another_to_use(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    channel.hold()
    answer.show(PARAGRAPH, view="stop")
    await clock.advance(1)
    leaving = asyncio.create_task(answer.leave())
    await clock.advance(1)
    assert not leaving.done()
    channel.released.set()
    await clock.advance(1)
    assert await leaving == ("1",)
    answer.show("never")
    await clock.advance(9)
    assert channel.kinds == ["send"]


async def test_what_was_shown_of_an_answer_can_be_taken_back(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show(PARAGRAPH * 5)
    await clock.advance(9)
    assert len(channel.shown) == 2
    removing = asyncio.create_task(answer.remove())
    await clock.advance(1)
    assert (await removing).message_ids == ()
    assert channel.shown == {}


async def test_a_long_answer_is_whole(answer: AnswerMessage, writer: ChannelWriter, channel: FakeChannel) -> None:
    text = "".join(f"{number}. {PARAGRAPH}" for number in range(LONG_ANSWER // len(PARAGRAPH) + 1)).strip()
    assert len(messages_of(text)) <= SENDS
    assert (await answer.settle(text)).delivered
    assert channel.contents == messages_of(text)


async def test_an_answer_that_is_erased_while_it_is_made_into_messages_is_never_posted(
    writer: ChannelWriter, channel: FakeChannel
) -> None:
    making, erased = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def say(text: str, /, **values: object) -> str:
        loop.call_soon_threadsafe(making.set)
        erased.wait()
        return text.format(**values)

    answer = AnswerMessage(writer, "turn", say=say)
    text = PARAGRAPH * (LONG_ANSWER // len(PARAGRAPH) + 1)
    settling = asyncio.create_task(answer.settle(text, cited=[await cite(0, 10)]))
    await making.wait()
    answer.erase()
    erased.set()
    assert (await settling).message_ids == ()
    assert channel.requests == []


async def test_an_answer_that_was_erased_goes_and_none_comes_in_its_place(
    answer: AnswerMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    answer.show("It was the Hatter. " * 5)
    await clock.advance(2)
    assert len(channel.contents) == 1
    channel.hold()
    answer.erase()
    task = asyncio.create_task(answer.settle("It was the Hatter's watch."))
    await clock.breathe()
    channel.released.set()
    await clock.advance(60)
    assert (await task).message_ids == ()
    assert channel.contents == []


async def test_nothing_that_was_shown_is_nothing_to_leave(answer: AnswerMessage, channel: FakeChannel) -> None:
    assert await answer.leave() == ()
    assert channel.requests == []
