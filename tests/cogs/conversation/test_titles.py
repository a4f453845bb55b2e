"""A thread gets one title after its first answer, and never over a person's own."""

import asyncio
import gc
import re
from functools import partial
from pathlib import Path

import pytest
from discord import Locale

from cogs.i18n import speech_for
from cogs.threads import TitleUpdates
from domain.conversation import UNTITLED, TitleSource
from domain.errors import LLMError, LLMErrorCode
from domain.turn.chat_with_book import Reader
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import Channel, DiscordDouble, Permission
from tests.doubles.discord_api.gateway import INTENT_CONTENT
from tests.waiting import eventually

RENAME = "PATCH /channels/{channel}"


@pytest.fixture
async def thread(room: Scene) -> Channel:
    known = {each.id for each in room.double.threads()}
    await room.ann.slash("conversations create", book=(await room.book()).id)
    await room.until(
        lambda: any(room.double.messages(each)[1:] for each in room.double.threads() if each.id not in known)
    )
    [opened] = [each for each in room.double.threads() if each.id not in known]
    return opened


async def test_the_model_names_the_thread_after_the_first_answer(room: Scene, thread: Channel) -> None:
    assert thread.name == "The Dark Lamp"
    room.model.say("Hobb put it out.", "“Who Put Out the Lamp.”", "Because of Lucian.")
    await room.ann.say(thread, "Who put out the lamp?")
    await room.until(lambda: thread.name == "Who Put Out the Lamp")
    conversation = await room.conversation(thread)
    assert (conversation.title, conversation.title_source) == ("Who Put Out the Lamp", TitleSource.MODEL)
    await room.ann.say(thread, "Why?")
    await room.until_delivered(2, thread)
    await asyncio.sleep(0.05)
    assert len(room.model.requests) == 3
    assert len(room.double.calls(RENAME)) == 1


async def test_it_goes_with_the_answer_it_was_made_of(room: Scene, thread: Channel) -> None:
    room.double.world.grant(room.double.guild, room.ben.user, Permission.MANAGE_MESSAGES)
    room.model.say("The sea keeps it.", "Secrets of the Sea")
    await room.ann.say(thread, "Who has the ring?")
    await room.until_delivered(1, thread)
    await room.until(lambda: thread.name == "Secrets of the Sea")
    await room.ben.delete(room.replies(thread)[0])
    await room.until(lambda: thread.name == "Who has the ring?")
    assert (await room.conversation(thread)).title == "Who has the ring?"


async def test_a_greeting_names_nothing_and_what_has_no_name_is_called_so_in_the_persons_language(
    room: Scene, thread: Channel
) -> None:
    conversation, ann = await room.conversation(thread), Reader(str(room.ann.id), "Ann")
    await room.app.chat.receive(conversation.id, "hi!", ann)
    assert (await room.conversation(thread)).title == UNTITLED
    room.ann.locale = "de"
    [found] = await room.ann.autocomplete("conversations delete", "conversation", "new")
    assert re.fullmatch(r"Neues Gespräch · The Dark Lamp · vor \d+ Minuten?", found["name"])
    await room.app.chat.receive(conversation.id, "Who put out the lamp?", ann)
    assert (await room.conversation(thread)).title == "Who put out the lamp?"


async def test_small_talk_leaves_the_thread_the_books_name_until_there_is_a_question(
    room: Scene, thread: Channel
) -> None:
    room.model.say("Good evening to you!", "-", "You're welcome.", "–", "Hobb put it out.", "Who Put It Out")
    for number, small_talk in enumerate(("Good evening, my friend!", "thanks"), start=1):
        await room.ann.say(thread, small_talk)
        await room.until_asked(2 * number)
        await room.until_delivered(number, thread)
    await room.ann.say(thread, "Who put out the lamp?")
    await room.until(lambda: thread.name == "Who Put It Out")
    assert len(room.double.calls(RENAME)) == 1
    assert (await room.conversation(thread)).title_source is TitleSource.MODEL


async def test_a_thread_that_begins_with_a_greeting_has_the_books_name(room: Scene) -> None:
    room.model.say("Hello!", "-")
    await room.ann.slash("chat", book=(await room.book()).id, message="hi")
    await room.until_asked(2)
    assert room.double.threads()[-1].name == "The Dark Lamp"


async def test_a_title_costs_whoever_asked(room: Scene, thread: Channel) -> None:
    asked = room.model.requests
    room.model.say("Hobb put it out.", "The lamp")
    await room.ann.say(thread, "Who put out the lamp?")
    await room.until(lambda: thread.name == "The lamp")
    [title_request] = [request for request in asked if "Give this conversation" in request[0].content]
    assert "Who put out the lamp?" in title_request[0].content
    assert "Hobb put it out." in title_request[0].content


async def test_a_persons_own_title_stays(room: Scene) -> None:
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    await asyncio.sleep(0.05)
    assert room.thread.name == "Talk"
    assert len(room.model.requests) == 1


async def test_a_title_chosen_meanwhile_stays(room: Scene, thread: Channel) -> None:
    release = asyncio.Event()

    def slowly(_: object) -> str:
        room.model.hold = release
        return "The model's title"

    room.model.say("Hobb put it out.", slowly)
    await room.ann.say(thread, "Who?")
    await room.until_asked(2)
    await room.ann.rename(thread, "Night reading")
    await eventually(partial(room.conversation, thread), lambda talk: talk.title_source is TitleSource.PERSON)
    release.set()
    await asyncio.sleep(0.1)
    assert thread.name == "Night reading"
    assert (await room.conversation(thread)).title == "Night reading"


@pytest.mark.parametrize("privileged", [INTENT_CONTENT, 0], ids=["read", "blank without the intent"])
async def test_a_person_who_renames_the_thread_renames_the_conversation(
    double: DiscordDouble, tmp_path: Path, privileged: int
) -> None:
    double.gateway.privileged = privileged
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await room.ann.rename(room.thread, "By hand")
        await eventually(room.conversation, lambda talk: talk.title == "By hand")
        assert (await room.conversation()).title_source is TitleSource.PERSON


@pytest.mark.parametrize("reply", [LLMError(LLMErrorCode.OVERLOADED, "Too busy."), " “.” "])
async def test_without_one_from_the_model_the_first_words_do(
    room: Scene, thread: Channel, reply: LLMError | str
) -> None:
    room.model.say("Hobb put it out.", reply)
    await room.ann.say(thread, "Who put out the lamp on the night of the ninth?")
    await room.until(lambda: thread.name == "Who put out the lamp on the night of the ninth?")
    assert (await room.conversation(thread)).title_source is TitleSource.AUTOMATIC


async def test_a_thread_that_was_renamed_too_often_keeps_its_name_and_is_answered(room: Scene, thread: Channel) -> None:
    for name in ("Once", "Twice"):
        assert room.double.rest.limits.take_rename(str(thread.id)) is None, name
    room.model.say("Hobb put it out.", "The lamp", "Because.")
    await room.ann.say(thread, "Who?")
    await room.until(lambda: any(call.status == 429 for call in room.double.calls(RENAME)))
    await room.ann.say(thread, "Why?")
    await room.until_said("Hobb put it out.", "Because.", thread=thread)
    assert thread.name == "The Dark Lamp"


async def test_a_title_tells_nothing_of_what_lies_ahead(room: Scene, thread: Channel) -> None:
    book = await room.book()
    await room.ann.slash("progress", book=book.id, page="1")
    room.model.say("I cannot say.", "Lucian drowned in 1887")
    await room.ann.say(thread, "What about the ferryman?")
    await room.until(lambda: thread.name != "The Dark Lamp")
    assert thread.name == "What about the ferryman?"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("https://example.org/the-dark-lamp/chapter-2", "The Dark Lamp"),
        ("Is it true what <https://example.org/lamps> says of him?", "Is it true what says of him?"),
    ],
)
async def test_an_address_names_no_thread(room: Scene, thread: Channel, asked: str, name: str) -> None:
    room.model.say("Yes.", LLMError(LLMErrorCode.OVERLOADED, "Too busy."))
    await room.ann.say(thread, asked)
    await room.until_delivered(1, thread)
    await room.until_asked(2)
    await asyncio.sleep(0.05)
    assert thread.name == name


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Is it ||Lucian Orchard|| who put the lamp out?", "Is it … who put the lamp out?"),
        ("||Lucian Orchard drowned||?", "The Dark Lamp"),
    ],
)
async def test_what_a_reader_has_covered_names_no_thread(room: Scene, thread: Channel, asked: str, name: str) -> None:
    """Everybody in the channel sees the names of its threads, and names have no covers."""
    room.model.say("Yes.", LLMError(LLMErrorCode.OVERLOADED, "Too busy."))
    await room.ann.say(thread, asked)
    await room.until_delivered(1, thread)
    await room.until(lambda: thread.name == name)
    await asyncio.sleep(0.05)
    assert thread.name == name
    title_request = room.model.requests[-1][-1].content
    assert "Lucian" not in title_request


async def test_a_title_names_nothing_that_somebody_else_who_reads_the_book_has_not_reached(
    room: Scene, thread: Channel
) -> None:
    moved = await room.ben.slash("progress", book=(await room.book()).id, page="1")
    await room.until(lambda: moved.messages)
    room.model.say("Lucian drowned.", "Lucian's brother")
    await room.ann.say(thread, "Who drowned?")
    await room.until(lambda: thread.name == "Who drowned?")
    assert (await room.conversation(thread)).title_source is TitleSource.AUTOMATIC


async def test_a_question_that_is_deleted_before_it_is_read_names_nothing(room: Scene, thread: Channel) -> None:
    room.model.say("Hobb put it out.", "-")
    asked = await room.ann.say(thread, "Who put out the lamp?")
    await room.until_asked(2)
    await room.until_delivered(1, thread)
    await room.ann.delete(asked)
    await eventually(partial(room.kept, thread), lambda kept: kept == ["Hobb put it out."])
    [turn] = await room.turns(thread)
    titles, conversation = TitleUpdates(room.app), await room.conversation(thread)
    titles.consider(
        conversation, room.state.bot.get_partial_messageable(thread.id), turn.id, speech_for(Locale.american_english)
    )
    await titles.idle()
    gc.collect()  # the loop logs what a task has failed with once it is collected, and the double refuses such lines
    assert len(room.model.requests) == 2
