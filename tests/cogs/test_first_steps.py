"""What leads on from a card: a conversation, the contents, one's page, help, and questions that a press asks."""

from collections.abc import Sequence
from typing import Any

import discord
import pytest
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from cogs.cards import moved_card
from cogs.i18n import speech_for
from domain.book import PositionState, ReadingPosition
from domain.chat import ChatMessage
from tests.cogs.stage import Stage, embed_text, labels, text_of
from tests.sampling import a_few

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


QUESTION = "How do we first meet Marta?"


def asked_by(person: MemberActor, kept: Sequence[ChatMessage]) -> list[str]:
    return [each.content for each in kept if each.author_id == str(person.id)]


async def kept_in(stage: Stage, thread: ChannelHandle) -> Sequence[ChatMessage]:
    return await stage.app.storage.messages.get_by_conversation((await stage.conversation(thread)).id)


async def test_before_the_first_book_everything_says_how_to_get_one(stage: Stage) -> None:
    commands: tuple[tuple[str, dict[str, str]], ...] = (
        ("books list", {}),
        ("books info", {"book": "Dracula"}),
        ("chat", {"book": "Dracula"}),
        ("chat", {"book": "0" * 32}),
        ("club start", {"book": "Dracula"}),
        ("ask", {"question": "Who is Mina?"}),
        ("recap", {}),
    )
    empty = "The shelf is empty. Find a free book with /books find, or add your own with /books add."
    for command, options in commands:
        assert empty in text_of(await stage.ann.slash(stage.channel, command, **options)), command


async def test_before_the_first_book_a_mention_is_told_how_to_get_one(stage: Stage) -> None:
    own = stage.env.bot.user
    assert own is not None
    await stage.ann.send(stage.channel, f"{own.mention} hello, what can you do?")
    await stage.env.settle()
    told = stage.channel.last_message
    assert text_of(told).startswith("The shelf is empty. Find a free book with /books find")


async def test_from_a_file_to_the_first_answer_it_takes_a_command_and_a_press(stage: Stage) -> None:
    card = await added(stage)
    offered = labels(card)
    assert offered == ["Start reading", "Contents", "How does the book begin?", QUESTION, "How do we first meet Jonas?"]
    assert card.response is not None
    stage.model.say("She came on a Tuesday.")
    opened = await stage.ann.click(card.response, label=QUESTION)
    [thread] = stage.channel.threads
    assert opened.ephemeral
    assert thread.mention in text_of(opened)
    assert any("Tuesday" in message.content for message in thread.history())
    assert asked_by(stage.ann, await kept_in(stage, thread)) == [QUESTION]
    assert QUESTION not in buttons(card_of(thread))
    assert "How does the book begin?" in buttons(card_of(thread))
    assert labels(card) == offered  # for the next reader


async def test_after_start_reading_one_just_writes(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    opened = await stage.ann.click(card.response, label="Start reading")
    [thread] = stage.channel.threads
    assert thread.mention in text_of(opened)
    stage.model.say("She came on a Tuesday.")
    await stage.ann.send(thread, "When did Marta come?")
    assert any("Tuesday" in message.content for message in thread.history())


async def test_a_question_pressed_twice_is_asked_once_also_after_a_restart(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    for _ in range(2):
        await stage.ann.click(card.response, label=QUESTION)
    [thread] = stage.channel.threads
    await stage.restart()
    again = await stage.ann.click(card.response, label=QUESTION)
    assert f"continues here: {thread.mention}" in text_of(again)
    assert [each.id for each in stage.channel.threads] == [thread.id]
    assert asked_by(stage.ann, await kept_in(stage, thread)) == [QUESTION]


async def test_the_next_question_goes_into_the_same_thread_and_starting_anew_is_offered(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    await stage.ann.click(card.response, label=QUESTION)
    await stage.ann.click(card.response, label="How does the book begin?")
    [thread] = stage.channel.threads
    assert asked_by(stage.ann, await kept_in(stage, thread)) == [QUESTION, "How does the book begin?"]
    offered = await stage.ann.click(card.response, label="Start reading")
    assert "You've talked about “Tale” before." in text_of(offered)
    assert [each.id for each in stage.channel.threads] == [thread.id]


async def test_each_reader_who_presses_gets_a_thread_of_their_own(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    for reader in (stage.ann, stage.ben):
        await reader.click(card.response, label=QUESTION)
    owners = [(await stage.conversation(thread)).owner_id for thread in stage.channel.threads]
    assert owners == [str(stage.ann.id), str(stage.ben.id)]


async def test_questions_of_ask_and_clubs_are_no_conversation_to_go_on_with(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    await stage.ann.slash(stage.channel, "ask", question="Who is Jonas?")
    await stage.ann.click(card.response, label=QUESTION)
    [thread] = stage.channel.threads
    assert not (await stage.conversation(thread)).private


async def test_who_may_open_no_threads_here_is_told_so_and_nothing_is_kept(stage: Stage) -> None:
    rule = {stage.guild.default_role: discord.PermissionOverwrite(create_public_threads=False)}
    quiet = stage.guild.create_text_channel("quiet", overwrites=rule)  # type: ignore[arg-type]
    card = await stage.ann.slash(quiet, "books add", file=("tale.txt", STORY))
    assert card.response is not None
    told = await stage.ben.click(card.response, label=QUESTION)
    assert "“Create Public Threads”" in text_of(told)
    assert list(quiet.threads) == []
    assert await stage.conversations() == []


async def test_names_of_buttons_fit_however_long_the_question_is(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    parts = [part for row in card.response.components for part in row["components"]]
    assert all(len(part["custom_id"]) <= 100 for part in parts)
    assert all(len(part["label"]) <= 80 for part in parts)


async def test_a_card_of_a_book_that_is_gone_ends_in_a_sentence(stage: Stage) -> None:
    card = await added(stage)
    assert card.response is not None
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    await stage.app.shelf.take_off(book.id, by=str(stage.ann.id))
    told = await stage.ann.click(card.response, label=QUESTION)
    assert "isn't on the shelf any more" in text_of(told)
    assert stage.channel.threads == []


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
        "How does the book begin?",
        QUESTION,
        "How do we first meet Jonas?",
    ]
    stage.model.say("She came to the island.")
    await stage.restart()
    await stage.ben.click(message, label=QUESTION)
    assert any("came to the island" in each.content for each in thread.history())
    assert QUESTION in text_of(thread.history()[1])
    assert QUESTION not in buttons(card_of(thread))
    kept = await stage.app.storage.messages.get_by_conversation((await stage.conversation(thread)).id)
    [asked] = [each for each in kept if each.role == "user"]
    assert (asked.content, asked.author_id) == (QUESTION, str(stage.ben.id))


async def test_who_has_read_nothing_is_offered_no_questions(stage: Stage) -> None:
    await added(stage)
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="1")
    position = await stage.app.positions.get(str(stage.ann.id), book)
    questions = await stage.app.reading.first_questions(book, 0)
    assert position.read_to
    assert questions == []


@pytest.mark.parametrize(("field", "value"), a_few([("page", "1"), ("chapter", "1")], 1))
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


def spoilers(thread: ChannelHandle) -> str:
    return str(card_of(thread).embeds[0].fields[0].value)


async def test_the_card_says_how_far_its_owner_is_wherever_they_have_said_so(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book)
    unknown = spoilers(thread)
    assert "You haven't told me how far you've read" in unknown
    opened = await stage.ben.click(card_of(thread), label="Set my page")
    await stage.ben.submit_modal(opened, {"page": "1"})
    assert spoilers(thread) == unknown
    opened = await stage.ann.click(card_of(thread), label="Set my page")
    await stage.ann.submit_modal(opened, {"page": "1"})
    assert spoilers(thread).startswith("You're at page 1. I won't reveal anything after it. ")
    assert "\n-# In a group, I stop at the page the slowest reader has reached." in spoilers(thread)
    assert buttons(card_of(thread))[:2] == ["Set my page", "Help"]
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    assert spoilers(thread).startswith("You're at page 2.")
    await stage.ann.slash(stage.channel, "club start", book=book.id, sections=3)
    await stage.ann.slash(stage.channel, "club checkin", finished=True)
    assert spoilers(thread).startswith("You've finished the book")


async def test_the_card_shows_no_place_once_its_owner_is_erased(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    thread = await stage.chat(book)
    await stage.ben.send(thread, "Who is Hobb?")
    asked = await stage.ann.slash(stage.channel, "privacy")
    assert asked.response
    for _ in range(2):
        await stage.ann.click(asked.response, label="Erase it all")
    await stage.env.settle()
    assert spoilers(thread).startswith("I only go as far as you've read. Change that with /progress.")


async def test_the_card_shows_no_place_to_others_while_its_owner_hides_it(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    await stage.ann.slash(stage.channel, "club start", book=book.id, sections=3)
    thread = await stage.chat(book)
    assert spoilers(thread).startswith("You're at page 2.")
    await stage.ann.slash(stage.channel, "club board", hide=True)
    assert spoilers(thread).startswith("I only go as far as you've read. Change that with /progress.")
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="1")
    assert "page 1" not in spoilers(thread)
    assert "page 1" not in spoilers(await stage.chat(book, title="Another"))
    assert "You're at page 1" in text_of(await stage.ann.slash(thread, "progress"))
    await stage.ann.slash(stage.channel, "club board", hide=False)
    assert spoilers(thread).startswith("You're at page 1.")


async def test_a_card_stays_in_its_language_and_is_changed_only_where_it_says_something_else(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book)
    card = card_of(thread).embeds[0]
    for text in ("A conversation about a book", "Spoilers"):
        assert text in embed_text(card)
    german = speech_for(discord.Locale.german)
    conversation = await stage.conversation(thread)
    card.set_author(name=german("A conversation about a book"))
    pages = await (await stage.app.shelf.open(book)).pages()
    moved = moved_card(card, ReadingPosition(PositionState.FINISHED), conversation, book, pages)
    assert moved is not None
    assert str(moved.fields[0].value).startswith(german("You've finished the book, so I may talk about all of it."))
    assert moved_card(moved, ReadingPosition(PositionState.FINISHED), conversation, book, pages) is None
    await stage.ann.slash(stage.channel, "progress", book=book.id)
    assert card_of(thread).edited_at is None


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
