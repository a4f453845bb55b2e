"""A question that stands elsewhere than in its conversation's thread follows each message that shows it: what somebody
said before they chose a book, and what the bot repeats of it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from operator import not_
from pathlib import Path
from typing import Any

import pytest

from domain.errors import LLMError, LLMErrorCode
from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_deletions import (
    asked_to_keep,
    in_storage,
    until_in_storage,
    until_not_in_storage,
)
from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Interaction, Message, Permission
from tests.doubles.scripted_chat import call, calls
from tests.sampling import a_few
from tests.waiting import eventually

HOBB, MARTA = "Does my neighbour Hobb know?", "What has Marta seen?"

Ask = Callable[[Scene], Awaitable[None]]
Deletion = Callable[[Scene, Message], Awaitable[None]]


async def one(room: Scene, message: Message) -> None:
    room.double.world.delete(message)


async def in_bulk(room: Scene, message: Message) -> None:
    message.channel.messages.pop(message.id)
    data = {"ids": [str(message.id)], "channel_id": str(message.channel.id), "guild_id": str(room.double.guild.id)}
    room.double.gateway.emit("MESSAGE_DELETE_BULK", data)


@dataclass
class Asked:
    """A question with the messages that show it, and the reply to it."""

    original: Message
    repetition: Message
    reply: Message


async def offered(room: Scene, text: str, place: Channel | None = None) -> tuple[Message, Message]:
    """What Ann says where there is no book, and the menu below it."""
    where = place or room.double.channel
    said = await room.ann.say(where, text, mention=room.double.bot)
    await room.until(lambda: room.double.messages(where)[-1].reference is said)
    return said, room.double.messages(where)[-1]


def repetitions(room: Scene, text: str, thread: Channel | None = None) -> list[Message]:
    return [each for each in room.double.messages(thread or room.thread) if text in each.embed_texts]


async def asked(room: Scene, text: str = HOBB, place: Channel | None = None) -> Asked:
    """Said in a channel, and answered in the thread that Ann has about the book."""
    turns = len(await room.turns())
    said, offer = await offered(room, text, place)
    await room.ann.select(offer, (await room.book()).title)
    await room.until_delivered(turns + 1)
    await room.until(lambda: offer.deleted)
    return Asked(said, repetitions(room, text)[-1], room.replies()[-1])


async def until_only(room: Scene, *texts: str) -> None:
    """Until these are the questions that are stored."""
    await eventually(room.history, lambda kept: [each.content for each in kept if each.author_id] == list(texts))


@pytest.mark.parametrize(
    ("shown", "delete"),
    a_few([("original", in_bulk), ("original", one), ("repetition", one), ("repetition", in_bulk)], 2),
)
async def test_deleting_either_takes_back_the_question(room: Scene, shown: str, delete: Deletion) -> None:
    first, second = await asked(room), await asked(room, MARTA)
    await delete(room, getattr(first, shown))
    await asked_to_keep(room, first.reply)
    await room.until(lambda: first.repetition.id not in room.thread.messages)
    assert await in_storage(room, "Hobb") == set()
    assert await in_storage(room, str(first.original.id)) == set()
    assert repetitions(room, MARTA) == [second.repetition]
    await until_only(room, MARTA)


@pytest.mark.parametrize("shown", a_few(["original", "repetition"], 1))
async def test_of_two_questions_said_before_either_book_was_chosen_it_is_the_one(room: Scene, shown: str) -> None:
    said = [await offered(room, text) for text in (HOBB, MARTA)]
    title = (await room.book()).title
    for count, (_, offer) in enumerate(said, start=1):
        await room.ann.select(offer, title)
        await room.until_delivered(count)
    shows = {"original": said[0][0], "repetition": repetitions(room, HOBB)[0]}
    room.double.world.delete(shows[shown])
    await until_only(room, MARTA)
    await room.until(lambda: repetitions(room, HOBB) == [])
    assert len(repetitions(room, MARTA)) == 1


async def test_an_edit_is_followed_everywhere(room: Scene) -> None:
    question = await asked(room, "Whi was it?")
    await room.ann.edit(question.original, f"<@{room.double.bot.id}> Who was it?")
    await until_only(room, "Who was it?")
    await room.until(lambda: question.repetition.embed_texts[0] == "Who was it?")
    await room.until(lambda: "Answer again" in [each.label for each in question.reply.buttons])
    assert question.repetition.embeds[0]["author"]["name"] == room.ann.user.name.capitalize()


@pytest.mark.parametrize("change", ["deletion", "edit"])
async def test_it_is_followed_in_an_archived_thread_too(room: Scene, change: str) -> None:
    question = await asked(room)
    await room.ann.archive(room.thread)
    if change == "deletion":
        await room.ann.delete(question.original)
        await room.until(lambda: question.repetition.deleted)
    else:
        await room.ann.edit(question.original, f"<@{room.double.bot.id}> Who was it?")
        await room.until(lambda: repetitions(room, "Who was it?"))


async def test_an_edit_that_leaves_no_words_deletes_it(room: Scene) -> None:
    question = await asked(room)
    await room.ann.edit(question.original, f"<@{room.double.bot.id}>")
    await asked_to_keep(room, question.reply)
    await room.until(lambda: question.repetition.deleted)
    assert await in_storage(room, "Hobb") == set()


async def test_an_edit_to_other_things_than_words_changes_nothing(room: Scene) -> None:
    question = await asked(room)
    before = len(room.double.calls("PATCH /channels/{channel}/messages/{message}"))
    room.double.world.edit(question.original, {"embeds": [{"title": "A preview"}]})
    await one_more(room)
    assert len(room.double.calls("PATCH /channels/{channel}/messages/{message}")) == before
    await until_only(room, HOBB, "And?")


async def one_more(room: Scene) -> None:
    """A question and its answer in the thread: by then all that was said before is heard."""
    turns = len(await room.turns())
    await room.ann.say(room.thread, "And?")
    await room.until_delivered(turns + 1)


async def test_it_is_so_in_a_thread_of_its_own_too(room: Scene) -> None:
    """The first thread about a book is opened by the choice."""
    known = {each.id for each in room.double.threads()}
    ben = room.ben
    said = await ben.say(room.double.channel, HOBB, mention=room.double.bot)
    await room.until(lambda: room.double.messages()[-1].reference is said)
    await ben.select(room.double.messages()[-1], (await room.book()).title)
    await room.until(lambda: any(each.id not in known for each in room.double.threads()))
    [thread] = [each for each in room.double.threads() if each.id not in known]
    await room.until_delivered(1, thread)
    await ben.delete(said)
    await asked_to_keep(room, room.replies(thread)[-1])
    await room.until(lambda: repetitions(room, HOBB, thread) == [])
    assert await in_storage(room, "Hobb") == set()


async def test_of_two_questions_pressed_within_a_moment_it_is_the_one(room: Scene) -> None:
    talk, asks = await room.conversation(), (HOBB, MARTA)
    await asyncio.gather(
        *(room.ann.slash("chat", book=talk.book_id, conversation=talk.id, message=each) for each in asks)
    )
    await until_questions(room, {*asks})
    room.double.world.delete(repetitions(room, HOBB)[0])
    await until_only(room, MARTA)
    assert len(repetitions(room, MARTA)) == 1


async def until_questions(room: Scene, texts: set[str]) -> None:
    await eventually(
        room.history, lambda kept: {each.content for each in kept if each.author_id and each.turn_id} == texts
    )
    await room.until(lambda: all(repetitions(room, each) for each in texts))


async def by_command(room: Scene) -> None:
    talk = await room.conversation()
    await room.ann.slash("chat", book=talk.book_id, conversation=talk.id, message=HOBB)


async def by_the_card_of_a_thread(room: Scene) -> None:
    card = next(each for each in room.double.messages(room.thread) if each.buttons)
    await room.ann.click(card, label="How does the book begin?")


async def by_the_card_of_a_book(room: Scene) -> None:
    added = await room.ann.slash("books add", file=room.double.file("lamp.txt", b"The keeper was Hobb. " * 300))
    await room.until(lambda: added.messages and added.message.buttons)
    known = {each.id for each in room.double.threads()}
    await room.ann.click(added.message, label="How does the book begin?")
    await room.until(lambda: len(room.double.threads()) > len(known))
    [room.thread] = [each for each in room.double.threads() if each.id not in known]


@pytest.mark.parametrize(
    ("ask", "delete"),
    a_few(product([by_command, by_the_card_of_a_thread, by_the_card_of_a_book], [one, in_bulk]), 3),
)
async def test_deleting_a_message_that_repeats_the_question_deletes_the_question(
    room: Scene, ask: Ask, delete: Deletion
) -> None:
    await ask(room)
    await room.until_delivered()
    [kept] = [each for each in await room.history() if each.author_id]
    await delete(room, repetitions(room, kept.content)[0])
    await asked_to_keep(room, room.replies()[-1])
    await until_only(room)


@pytest.mark.parametrize("label", ["Try again", "Retry"])
async def test_an_answer_that_is_made_again_changes_nothing_of_it(room: Scene, label: str) -> None:
    failure = LLMError(LLMErrorCode.OVERLOADED, "Too busy.")
    room.model.say(failure if label == "Retry" else "One.", "Two.")
    question = await asked(room)
    await room.ann.click(question.reply, label=label)
    await room.until(lambda: "Two." in question.reply.content)
    await room.until_delivered()
    await room.ann.delete(question.original)
    await asked_to_keep(room, question.reply)
    await room.until(lambda: question.repetition.deleted)
    await until_only(room)


@pytest.mark.parametrize("shown", a_few(["original", "repetition"], 1))
async def test_one_that_is_being_answered_is_answered_no_more(room: Scene, shown: str) -> None:
    before = await room.hold()
    said, offer = await offered(room, HOBB)
    await room.ann.select(offer, (await room.book()).title)
    await room.until_asked(1)
    await room.until(lambda: repetitions(room, HOBB))
    room.double.world.delete(said if shown == "original" else repetitions(room, HOBB)[0])
    await until_only(room)
    before.set()
    await room.until_said()
    assert await room.turns() == []


async def test_whoever_is_left_out_takes_back_what_they_asked_before(room: Scene) -> None:
    question = await asked(room)
    await room.app.people.leave_out(str(room.ann.id), left_out=True)
    await room.ann.edit(question.original, f"<@{room.double.bot.id}> Who was it?")
    await room.ann.delete(question.original)
    await until_only(room)
    await room.until(lambda: question.repetition.deleted)


@pytest.mark.parametrize(
    ("shown", "place"),
    a_few([("original", "channel"), ("original", "thread"), ("repetition", "thread"), ("repetition", "channel")], 2),
)
async def test_a_deletion_while_the_bot_was_away_is_found(
    double: DiscordDouble, tmp_path: Path, shown: str, place: str
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        where = await room.ann.start_thread("Our own") if place == "thread" else None
        question = await asked(room, HOBB, where)
        await asked(room, MARTA)
    double.world.delete(getattr(question, shown))
    async with again(room) as after:
        await asked_to_keep(after, question.reply)
        await after.until(lambda: question.repetition.id not in after.thread.messages)
        await until_only(after, MARTA)


async def test_an_edit_while_the_bot_was_away_is_found(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        question = await asked(room, "Whi was it?")
    await room.ann.edit(question.original, f"<@{double.bot.id}> Who was it?")
    async with again(room) as after:
        await until_only(after, "Who was it?")
        await after.until(lambda: question.repetition.embed_texts[0] == "Who was it?")


async def test_an_edit_whose_repetition_a_kill_has_left_as_it_was_is_repeated(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        question = await asked(room, "Whi was it?")
        before = question.repetition.embeds
        await room.ann.edit(question.original, f"<@{double.bot.id}> Who was it?")
        await room.until(lambda: repetitions(room, "Who was it?"))
    double.world.edit(question.repetition, {"embeds": before})
    async with again(room) as after:
        await after.until(lambda: repetitions(after, "Who was it?"))
        await until_only(after, "Who was it?")


async def test_a_channel_that_cannot_be_read_back_loses_nothing(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await asked(room)
    double.world.forbid(double.channel, double.bot, Permission.READ_MESSAGE_HISTORY)
    async with again(room) as after:
        await after.until(lambda: double.calls("GET /channels/{channel}/messages/{message}")[-1].status == 403)
        await one_more(after)
        await until_only(after, HOBB, "And?")


@pytest.mark.parametrize("change", ["deletion", "edit"])
async def test_what_happens_between_the_choice_and_the_storing_is_followed(
    room: Scene, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    said, offer = await offered(room, "Whi was it?")
    genuine = room.app.chat.receive

    async def late(*args: Any, **options: Any) -> Any:
        async with asyncio.TaskGroup() as heard:
            event = "raw_message_delete" if change == "deletion" else "raw_message_edit"
            heard.create_task(room.state.bot.wait_for(event, check=lambda seen: seen.message_id == said.id))
            await asyncio.sleep(0)
            if change == "deletion":
                await room.ann.delete(said)
            else:
                await room.ann.edit(said, f"<@{room.double.bot.id}> Who was it?")
        return await genuine(*args, **options)

    monkeypatch.setattr(room.app.chat, "receive", late)
    await room.ann.select(offer, (await room.book()).title)
    await room.until(lambda: offer.deleted)
    await until_only(room, *([] if change == "deletion" else ["Who was it?"]))
    await room.until(lambda: not repetitions(room, "Whi was it?"))


async def in_direct_messages(room: Scene, ann: Actor, *questions: str) -> list[Message]:
    """Asked before a book was chosen, each, and answered; returns what was said."""
    text = b"The keeper of the lamp was called Hobb. " * 200
    added = await ann.slash("books add", channel=ann.direct_channel, file=room.double.file("lamp.txt", text))
    await room.until(lambda: added.messages and added.message.buttons)
    said = [await ann.direct(each) for each in questions]
    for question, message in zip(questions, said, strict=True):
        offer = await below(room, message)
        await ann.select(offer, "Lamp")
        await room.until(partial(repetitions, room, question, ann.direct_channel))
    return said


async def below(room: Scene, message: Message) -> Message:
    """What the bot says below a message."""

    def found() -> list[Message]:
        return [each for each in room.double.messages(message.channel) if each.reference is message]

    await room.until(found)
    return found()[0]


async def test_in_direct_messages_too(double: DiscordDouble, tmp_path: Path) -> None:
    ann = double.stranger("ann")
    async with scene(double, tmp_path) as room:
        said = await in_direct_messages(room, ann, HOBB, MARTA)
        await ann.delete(said[0])
        await room.until(lambda: not repetitions(room, HOBB, ann.direct_channel))
        await until_stored(room, ann, MARTA)
        double.world.delete(repetitions(room, MARTA, ann.direct_channel)[0])
        await until_stored(room, ann)


async def until_stored(room: Scene, person: Actor, *texts: str) -> None:
    export = partial(room.app.people.export, str(person.id))
    await eventually(export, lambda copy: [each["content"] for each in copy["messages"]] == [*texts])


async def test_in_direct_messages_what_happened_while_the_bot_was_away(double: DiscordDouble, tmp_path: Path) -> None:
    ann = double.stranger("ann")
    async with scene(double, tmp_path) as room:
        said = await in_direct_messages(room, ann, HOBB, MARTA)
        await until_stored(room, ann, HOBB, MARTA)
    await ann.delete(said[0])
    await ann.edit(said[1], "What has she seen?")
    async with again_without_thread(room) as after:
        await until_stored(after, ann, "What has she seen?")
        await after.until(lambda: not repetitions(after, HOBB, ann.direct_channel))
        await after.until(lambda: repetitions(after, "What has she seen?", ann.direct_channel))


@asynccontextmanager
async def again_without_thread(room: Scene) -> AsyncIterator[Scene]:
    room.thread = room.double.channel
    async with again(room) as after:
        yield after


async def test_one_repetition_of_several_questions_takes_all_of_them_along(room: Scene) -> None:
    room.model.hold = asyncio.Event()
    await room.ann.say(room.thread, "First?")
    await room.until_asked(1)
    await room.ann.say(room.thread, HOBB)
    await until_only(room, "First?", HOBB)
    conversation = await room.conversation()
    await room.ann.delete_channel(room.thread)
    await eventually(partial(room.app.conversations.in_thread, str(room.thread.id)), not_)
    await room.ann.slash("chat", book=conversation.book_id, conversation=conversation.id)
    await room.until(lambda: room.double.threads())
    [room.thread] = room.double.threads()
    await room.until(lambda: repetitions(room, f"First?\n\n{HOBB}"))
    room.double.world.delete(repetitions(room, f"First?\n\n{HOBB}")[0])
    await until_only(room)
    room.model.hold.set()


async def test_what_was_repeated_just_before_a_kill_is_known_after_it(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        question = await asked(room)
        await room.app.storage.engine.write("DELETE FROM shown_questions WHERE repeated = 1")
        await room.app.storage.engine.write("DELETE FROM posts WHERE words = 1")
        [kept] = [each for each in await room.history() if each.author_id]
    async with again(room) as after:
        await eventually(partial(after.app.transcripts.repetitions, kept.id))
        double.world.delete(question.repetition)
        await until_only(after)


async def test_who_takes_a_copy_of_what_is_stored_is_told_where_it_stands(room: Scene) -> None:
    question = await asked(room)
    copied = (await room.app.people.export(str(room.ann.id)))["questions_shown_in"]
    assert {(each["message_id"], each["repeated"]) for each in copied} == {
        (str(question.original.id), 0),
        (str(question.repetition.id), 1),
    }


async def with_their_channel(room: Scene, message: Message) -> None:
    await room.ben.delete_channel(message.channel)


OWN, QUOTED = "Is that so?", "My neighbour is just like Hobb"


async def answered(room: Scene) -> Message:
    """An answer to Ben that says so."""
    room.model.say(f"{QUOTED}.")
    thread = await room.chat(await room.book(), title="Ben's")
    await room.ben.say(thread, "Who is like whom?", mention=room.double.bot)
    await room.until_delivered(1, thread)
    return room.replies(thread)[-1]


async def asked_about(room: Scene) -> Message:
    """A message of Ben's that Ann has asked about by the menu, and that was looked up in the book."""
    return await asked_about_this(room, await room.ben.say(room.double.channel, QUOTED))


async def asked_about_this(room: Scene, said: Message) -> Message:
    room.model.say(calls(call("find_phrase", text=QUOTED)), "I do not know.")
    await room.ann.submit(await room.ann.menu("Ask about this", said), question=OWN)
    await until_in_storage(room, "I do not know")
    assert await in_storage(room, "neighbour") == {"chat_messages", "conversations"}
    assert await room.app.storage.engine.read("SELECT 1 FROM chat_messages WHERE role = 'tool_result'")
    return said


def is_answered(asked: Interaction) -> bool:
    return "I do not know." in asked.text


async def until_unquoted(room: Scene) -> None:
    """Until nothing is stored of what was quoted, but the question and its answer are."""
    await until_not_in_storage(room, "neighbour")
    [aside] = [each for each in await room.app.conversations.of_reader(str(room.ann.id)) if each.is_aside]
    assert [each.content for each in await room.app.transcripts.messages(aside.id)] == [OWN, "I do not know."]
    assert aside.title == OWN


class TestQuotations:
    """What somebody has written is quoted in the question of whoever asks about it."""

    @pytest.mark.parametrize("delete", a_few([one, with_their_channel, in_bulk], 2))
    async def test_it_goes_with_the_message_and_the_question_stays(self, room: Scene, delete: Deletion) -> None:
        await delete(room, await asked_about(room))
        await until_unquoted(room)

    async def test_it_stays_while_the_message_says_so(self, room: Scene) -> None:
        said = await asked_about(room)
        await room.ben.edit(said, f"{QUOTED}, I think")
        await asyncio.sleep(0.1)
        assert await in_storage(room, "neighbour")
        await room.ben.edit(said, "Never mind")
        await until_unquoted(room)

    async def test_what_is_covered_in_the_message_is_not_quoted_and_may_stay_there(self, room: Scene) -> None:
        covered = f"{QUOTED} or ||Lucian|| perhaps"
        said = await asked_about_this(room, await room.ben.say(room.double.channel, covered))
        assert not await in_storage(room, "Lucian")
        await room.ben.edit(said, f"{covered}, I think")
        await asyncio.sleep(0.1)
        assert await in_storage(room, "neighbour")
        await room.ben.edit(said, "Never ||mind||")
        await until_unquoted(room)

    @pytest.mark.parametrize("delete", a_few([in_bulk, one], 1))
    async def test_so_it_goes_with_an_answer(self, room: Scene, delete: Deletion) -> None:
        answer = await answered(room)
        await asked_about_this(room, answer)
        await delete(room, answer)
        await until_unquoted(room)

    async def test_an_answer_that_is_deleted_while_the_bot_was_away_is_found(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            answer = await answered(room)
            await asked_about_this(room, answer)
        await one(room, answer)
        async with again(room) as after:
            await until_unquoted(after)

    async def test_of_an_answer_that_the_asker_alone_sees_it_stays(self, room: Scene) -> None:
        room.model.say(f"{QUOTED}.")
        alone = await room.ann.slash("ask", question="Who is like whom?")
        await room.until(lambda: QUOTED in alone.text)
        assert alone.original
        asked = await room.ann.submit(await room.ann.menu("Ask about this", alone.original), question=OWN)
        await room.until(lambda: QUOTED in asked.text)
        await asyncio.sleep(0.1)
        [aside] = [each for each in await room.app.conversations.of_reader(str(room.ann.id)) if each.is_aside]
        question = (await room.app.transcripts.messages(aside.id))[-2].content
        assert OWN in question
        assert QUOTED in question

    async def test_it_goes_when_its_author_is_erased(self, room: Scene) -> None:
        await asked_about(room)
        [copied] = (await room.app.people.export(str(room.ben.id)))["questions_shown_in"]
        assert copied["channel_id"] == str(room.double.channel.id)
        await room.app.people.erase(str(room.ben.id))
        await until_unquoted(room)

    async def test_it_goes_while_the_answer_is_being_made(self, room: Scene) -> None:
        room.model.say("I do not know.")
        go_on = await room.hold()
        said = await room.ben.say(room.double.channel, QUOTED)
        asking = asyncio.create_task(
            room.ann.submit(await room.ann.menu("Ask about this", said), question=OWN)  # waits for the answer's place
        )
        await room.until_asked(1)
        await room.ben.delete(said)
        go_on.set()
        await asking
        await until_in_storage(room, "I do not know")
        await until_unquoted(room)

    @pytest.mark.parametrize("delete", [one, with_their_channel])
    async def test_a_deletion_while_the_bot_was_away_is_found(
        self, double: DiscordDouble, tmp_path: Path, delete: Deletion
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            said = await asked_about(room)
        await delete(room, said)
        async with again(room) as after:
            await until_unquoted(after)

    async def test_it_stays_where_nobody_tells_of_the_message(self, room: Scene) -> None:
        """In a conversation between people, where only the asker has the bot."""
        room.ann.install()
        book = replace(await room.book(), id="c" * 32, shelf=f"person:{room.ann.id}")
        await room.app.storage.books.save(book)
        said = await room.ben.say(room.ann.private_channel(room.ben), QUOTED)
        asked = await room.ann.submit(await room.ann.menu("Ask about this", said), question=OWN)
        await room.until(lambda: is_answered(asked))
        assert QUOTED in asked.text
        await asyncio.sleep(0.1)
        assert await in_storage(room, "neighbour")

    async def test_nobody_has_the_bot_repeat_them_elsewhere(self, room: Scene) -> None:
        """A form that no client of Discord's would send names a message of the bot, or none at all."""
        book, [card] = (await room.book()).id, [each for each in room.double.messages(room.thread) if each.embed_texts]
        before = card.embed_texts
        for named in (f"{card.id}:{room.ben.id}", "²:³", "x:1"):
            form = f"fill:ask-about:{named}:{book}"
            forged = await room.ben.forge_modal(card, form, question="Said who?", passage="I, Ben.")
            await room.until(partial(is_answered, forged))
        assert (await room.app.transcripts.shown_in(str(room.thread.id), 9)).keys() <= {str(card.id)}
        await room.ann.say(room.thread, "Are you there?")
        await room.until_delivered(1)
        await asyncio.sleep(0.1)
        assert card.embed_texts == before
