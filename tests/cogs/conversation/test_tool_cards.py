"""Verbose on: one message of embeds per turn, opened and folded by buttons that always work."""

import asyncio
from pathlib import Path

from domain.tool_use import ChatResponse
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble, Message, MessageFlag
from tests.doubles.scripted_chat import ScriptedChat, call, calls


def searches(count: int) -> ChatResponse:
    return calls(*(call("search_book", f"call-{number}", query=f"lamp {number}") for number in range(1, count + 1)))


async def verbose(room: Scene) -> None:
    switched = await room.ann.slash("verbose", channel=room.thread, mode="on")
    assert "now shows how I look things up" in switched.text


def shown(room: Scene) -> tuple[Message, Message]:
    """The card and the answer."""
    card, answer = room.replies()
    return card, answer


async def asked(room: Scene, count: int = 1) -> tuple[Message, Message]:
    await verbose(room)
    room.model.say(searches(count), "I found nothing.")
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until_delivered()
    return shown(room)


async def test_calls_are_folded_to_a_line_each_above_the_answer(room: Scene) -> None:
    card, answer = await asked(room, 2)
    assert card.id < answer.id
    assert [text.split(" · ")[0] for text in card.embed_texts] == [
        '▸ 1 search_book "lamp 1"',
        '▸ 2 search_book "lamp 2"',
    ]
    assert card.content == ""
    assert MessageFlag.SUPPRESS_NOTIFICATIONS in card.flags
    assert answer.content == "I found nothing."
    [turn] = await room.turns()
    assert (turn.trace_id, turn.reply_ids) == (str(card.id), (str(answer.id),))


async def test_a_call_is_opened_and_folded_again(room: Scene) -> None:
    card, _ = await asked(room, 2)
    await room.ben.click(card, label="Show search 2")
    assert card.embed_texts[0].startswith("▸ 1")
    assert card.embed_texts[1].startswith("▾ 2")
    assert "**Arguments**" in card.embed_texts[1]
    assert "The lamp had been dark" in card.embed_texts[1]
    await room.ann.click(card, label="Hide search 2")
    assert card.embed_texts[1].startswith("▸ 2")


async def test_a_call_is_opened_after_a_restart_and_a_year_later(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        card, _ = await asked(room)
    double.advance(365 * 24 * 3600)
    async with again(room) as after:
        await after.ann.click(card, label="Show search 1")
        assert "The lamp had been dark" in card.embed_texts[0]


async def test_more_than_ten_calls_are_turned_to(room: Scene) -> None:
    card, _ = await asked(room, 13)
    assert len(card.embeds) == 3
    await room.ann.click(card, label="Show search 12")
    assert card.embed_texts[1].startswith("▾ 12")
    await room.ann.click(card, label="◀ Earlier")
    assert len(card.embeds) == 10
    await room.ann.click(card, label="Show search 3")
    assert card.embed_texts[2].startswith("▾ 3")


async def test_the_full_trace_is_a_file(room: Scene) -> None:
    card, _ = await asked(room, 2)
    pressed = await room.ben.click(card, label="Show everything")
    assert pressed.ephemeral
    [file] = pressed.message.attachments
    assert file.filename == "trace.md"
    assert file.data.decode().count("## ") == 2


async def test_a_call_that_fails_opens_by_itself(room: Scene) -> None:
    await verbose(room)
    room.model.say(calls(call("read_pages", first="99", last="99")), "There is no such page.")
    await room.ann.say(room.thread, "What is on page 99?")
    await room.until_delivered()
    card, _ = shown(room)
    assert card.embed_texts[0].startswith("▾ 1 read_pages")


async def test_calls_are_posted_as_they_happen_and_can_be_opened_meanwhile(room: Scene) -> None:
    await verbose(room)
    release = asyncio.Event()

    def slow(_: object) -> str:
        room.model.hold = release
        return "I found nothing."

    room.model.say(searches(1), slow)
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until(lambda: any(each.embed_texts and "passage" in each.embed_texts[0] for each in room.replies()))
    await room.until(lambda: any(button.label == "Stop" for each in room.replies() for button in each.buttons))
    card, answer = shown(room)
    assert [button.label for button in answer.buttons] == ["Stop"]
    await room.ann.click(card, label="Show search 1")
    assert card.embed_texts[0].startswith("▾ 1")
    release.set()
    await room.until_delivered()
    assert card.embed_texts[0].startswith("▾ 1")
    assert shown(room) == (card, answer)
    assert answer.content == "I found nothing."


async def test_a_trace_that_is_gone_says_so(room: Scene) -> None:
    card, _ = await asked(room)
    await room.app.storage.conversations.delete((await room.conversation()).id)
    pressed = await room.ann.click(card, label="Show search 1")
    assert pressed.ephemeral
    assert "no longer available" in pressed.text


async def test_verbose_off_leaves_nothing_but_the_answer(room: Scene) -> None:
    room.model.say(searches(3), "I found nothing.")
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until_delivered()
    assert room.said() == ["I found nothing."]
    assert room.replies()[0].embeds == []


async def test_a_readers_own_default_counts_where_nothing_is_chosen(room: Scene) -> None:
    await room.ann.slash("verbose", mode="on")
    room.model.say(searches(1), "I found nothing.")
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until_delivered()
    assert [bool(reply.embeds) for reply in room.replies()] == [True, False]


async def test_what_a_model_says_on_the_way_to_a_call_does_not_push_the_card_down(room: Scene) -> None:
    await verbose(room)
    preamble = "Let me look that up in the book, it must be somewhere in the second chapter."
    invocations = calls(call("search_book", query="lamp"), preamble=preamble)
    room.model.say(invocations, "I found nothing.")
    await room.ann.say(room.thread, "What of the lamp?")
    await room.until_delivered()
    card, answer = shown(room)
    assert card.id < answer.id
    assert answer.content == "I found nothing."


async def test_no_view_is_kept_in_memory(room: Scene) -> None:
    assert isinstance(room.model, ScriptedChat)
    await asked(room, 3)
    store = room.state.bot._connection._view_store
    assert not store._views
    assert not store._synced_message_views
