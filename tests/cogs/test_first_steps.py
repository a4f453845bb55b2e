"""What leads on from a card: a conversation, the contents, one's page, help, and questions that a press asks."""

from typing import Any

import discord
import pytest
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from tests.cogs.stage import Stage, labels, text_of

STORY = (
    "CHAPTER 1\n\nMarta came to the island on a Tuesday. “You are late,” said Jonas. Marta said nothing. "
    "“Come,” said Jonas, and Marta went with him. Jonas looked at the sea. Marta thought of home.\n\n"
    "CHAPTER 2\n\nMarta put the lamp out. “Why?” asked Jonas.\n\n" + "The sea was grey that day. " * 300
).encode()


def card_of(thread: ChannelHandle) -> discord.Message:
    return next(message for message in thread.history() if message.components)


def buttons(message: discord.Message) -> list[str]:
    return [
        part.label or ""
        for row in message.components
        for part in getattr(row, "children", ())
        if isinstance(part, discord.Button)
    ]


async def added(stage: Stage, **options: Any) -> InteractionResult:
    return await stage.ann.slash(stage.channel, "books add", file=("tale.txt", STORY), **options)


async def test_from_a_file_to_the_first_answer_it_takes_a_command_a_press_and_a_question(stage: Stage) -> None:
    card = await added(stage)
    assert labels(card) == ["Start reading", "Contents"]
    assert card.response is not None
    opened = await stage.ann.click(card.response, label="Start reading")
    [thread] = stage.channel.threads
    assert thread.mention in text_of(opened)
    stage.model.say("She came on a Tuesday.")
    await stage.ann.send(thread, "When did Marta come?")
    assert any("Tuesday" in message.content for message in thread.history())
    assert labels(card) == ["Start reading", "Contents"]  # for the next reader


async def test_contents_are_shown_as_far_as_whoever_presses_has_read(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    shown = await stage.ann.click(card.response, label="Contents")
    assert shown.ephemeral
    assert "CHAPTER 2" in text_of(shown).upper()


async def test_a_new_thread_offers_three_questions_and_a_press_asks_one(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    await stage.ann.click(card.response, label="Start reading")
    [thread] = stage.channel.threads
    message = card_of(thread)
    assert buttons(message) == [
        "Set my page",
        "Help",
        "How is Marta introduced?",
        "How is Jonas introduced?",
        "What happens on page 1?",
    ]
    stage.model.say("She came to the island.")
    await stage.restart()
    await stage.ben.click(message, label="How is Marta introduced?")
    assert any("came to the island" in each.content for each in thread.history())
    assert "How is Marta introduced?" in text_of(thread.history()[1])
    assert "How is Marta introduced?" not in buttons(card_of(thread))
    kept = await stage.app.storage.messages.get_by_conversation((await stage.conversation(thread)).id)
    [asked] = [each for each in kept if each.role == "user"]
    assert (asked.content, asked.author_id) == ("How is Marta introduced?", str(stage.ben.id))


async def test_who_has_read_nothing_is_offered_no_questions(stage: Stage) -> None:
    await added(stage)
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="1")
    position = await stage.app.positions.get(str(stage.ann.id), book)
    questions = await stage.app.reading.first_questions(book, 0)
    assert position.read_to
    assert questions == []


@pytest.mark.parametrize(("field", "value"), [("page", "1"), ("chapter", "1")])
async def test_ones_page_is_set_in_a_modal_also_after_a_restart(stage: Stage, field: str, value: str) -> None:
    await added(stage)
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    thread = await stage.chat(book)
    opened = await stage.ben.click(card_of(thread), label="Set my page")
    await stage.restart()
    told = await stage.ben.submit_modal(opened, {field: value})
    assert told.ephemeral
    assert "I won't reveal anything after it" in text_of(told)
    assert (await stage.app.positions.get(str(stage.ben.id), book)).read_to
    assert not (await stage.app.positions.get(str(stage.ann.id), book)).read_to


async def test_a_modal_that_says_nothing_or_a_page_there_is_not_ends_in_a_sentence(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    opened = await stage.ann.click(card_of(thread), label="Set my page")
    assert "either the page or the chapter" in text_of(await stage.ann.submit_modal(opened, {}))
    opened = await stage.ann.click(card_of(thread), label="Set my page")
    assert "no page" in text_of(await stage.ann.submit_modal(opened, {"page": "9999"})).lower()


async def test_help_is_a_press_away(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    shown = await stage.ann.click(card_of(thread), label="Help")
    assert shown.ephemeral
    assert "Getting started" in text_of(shown)
