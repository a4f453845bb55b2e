"""Direct messages: one conversation is current in them, every message there is for the bot, and no server is needed."""

import asyncio
from dataclasses import replace
from functools import partial
from operator import not_
from pathlib import Path
from typing import Any

import pytest

from domain.book import personal_shelf
from domain.conversation import Conversation
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import TextChunk
from tests.bot.online import Online, online
from tests.doubles.discord_api import Actor, DiscordDouble, Interaction, Message
from tests.journeys.reading_room import TALE, tale, the_book
from tests.waiting import eventually

BUSY = LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded. Try again soon.")


class Reader:
    """A person and their direct messages."""

    def __init__(self, double: DiscordDouble, bot: Online, person: Actor) -> None:
        self.double = double
        self.bot = bot
        self.person = person
        self.place = person.direct_channel

    async def add(self, title: str) -> str:
        """Put a book on their own shelf; its id."""
        text, app, number = tale(), self.bot.app, f"{title.encode().hex():0<32}"
        shelf = personal_shelf(str(self.person.id))
        book = replace(the_book(text), id=number, shelf=shelf, sha256=2 * number, title=title)
        await app.book_files.write(book.sha256, text)
        await app.storage.books.save(book)
        return book.id

    async def choices(self) -> list[dict[str, str]]:
        return await self.person.autocomplete("chat", "book", "", channel=self.place)

    async def chat(self, book_id: str, **options: Any) -> Conversation:
        used = await self.person.slash("chat", channel=self.place, book=book_id, **options)
        await self.double.until(lambda: used.messages)
        return await self.current()

    async def current(self) -> Conversation:
        found = await self.bot.app.conversations.in_thread(str(self.place.id))
        assert found is not None
        return found

    async def says(self, text: str, answer: str) -> None:
        """Write, and read the answer."""
        self.bot.model.say(answer)
        await self.person.say(self.place, text)
        await self.heard(answer)

    async def heard(self, answer: str) -> None:
        await self.double.until(lambda: any(answer in said for said in self.double.said(self.place)))

    async def questions(self, conversation: Conversation) -> list[str]:
        messages = await self.bot.app.transcripts.messages(conversation.id)
        return [each.content for each in messages if each.author_id]


@pytest.fixture
def ann(double: DiscordDouble, bot: Online) -> Reader:
    return Reader(double, bot, double.stranger("ann"))


async def test_a_book_is_talked_about_without_any_server(ann: Reader) -> None:
    conversation = await ann.chat(await ann.add("The Lamp"))
    assert conversation.guild_id == personal_shelf(str(ann.person.id))
    await ann.says("Who keeps it?", "The keeper does.")
    await ann.says("And who else?", "Nobody else.")
    assert await ann.questions(conversation) == ["Who keeps it?", "And who else?"]


async def test_a_first_question_is_answered_at_once_and_repeated_where_it_is_read(ann: Reader) -> None:
    ann.bot.model.say("The keeper does.")
    await ann.chat(await ann.add("The Lamp"), message="Who keeps it?")
    await ann.heard("The keeper does.")
    assert any("Who keeps it?" in text for each in ann.double.messages(ann.place) for text in each.embed_texts)


async def test_who_takes_no_direct_messages_is_told_so_and_answered_once_they_do(ann: Reader) -> None:
    book_id = await ann.add("The Lamp")
    ann.bot.model.say("The keeper does.")
    ann.double.fail("POST /channels/*/messages", status=403, code=50007, times=99)
    used = await ann.person.slash("chat", channel=ann.place, book=book_id, message="Who keeps it?")
    await ann.double.until(lambda: "If you've turned off direct messages, please allow them." in used.text)
    ann.double.rest.faults.clear()
    await ann.heard("The keeper does.")


async def test_one_command_and_one_press_lead_to_the_first_answer(ann: Reader) -> None:
    added = await ann.person.slash(
        "books add", channel=ann.place, file=ann.double.file("tale.txt", TALE.encode()), title="The Lamp"
    )
    await ann.double.until(lambda: added.messages and added.message.buttons)
    ann.bot.model.say("It begins with a lamp.")
    pressed = await ann.person.click(added.message, label="How does the book begin?")
    await ann.heard("It begins with a lamp.")
    assert "Just write here" in pressed.text  # the reply is the card, and nothing is said twice
    assert "The Lamp" in added.text
    await ann.person.click(added.message, label="How does the book begin?")
    await ann.says("Who keeps it?", "The keeper does.")
    assert await ann.questions(await ann.current()) == ["How does the book begin?", "Who keeps it?"]


async def test_start_reading_begins_a_conversation_in_direct_messages_too(ann: Reader) -> None:
    added = await ann.person.slash(
        "books add", channel=ann.place, file=ann.double.file("tale.txt", TALE.encode()), title="The Lamp"
    )
    await ann.double.until(lambda: added.messages and added.message.buttons)
    pressed = await ann.person.click(added.message, label="Start reading")
    await used_says(ann.double, pressed, "Just write here")
    await ann.says("Who keeps it?", "The keeper does.")


async def test_chat_switches_and_what_is_written_belongs_to_the_current_one(ann: Reader) -> None:
    lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
    first = await ann.chat(lamp)
    await ann.says("About the lamp?", "It is a lamp.")
    second = await ann.chat(boat)
    assert second.id != first.id
    await ann.says("About the boat?", "It is a boat.")
    again = await ann.chat(lamp, conversation=first.id)
    assert again.id == first.id
    await ann.says("And the lamp again?", "Still a lamp.")
    assert await ann.questions(first) == ["About the lamp?", "And the lamp again?"]
    assert await ann.questions(second) == ["About the boat?"]


async def test_who_returns_to_a_conversation_without_a_title_reads_its_books(ann: Reader) -> None:
    lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
    first = await ann.chat(lamp)
    await ann.chat(boat)
    used = await ann.person.slash("chat", channel=ann.place, book=lamp, conversation=first.id)
    await used_says(ann.double, used, "We're talking about “The Lamp” now. Just write here.")


async def test_conversations_are_listed_renamed_exported_and_deleted(ann: Reader) -> None:
    conversation = await ann.chat(await ann.add("The Lamp"))
    await ann.says("Who keeps it?", "The keeper does.")
    steps: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("conversations rename", {"title": "At sea"}, "It's now called “At sea”"),
        ("conversations list", {}, "the one we're in"),
        ("verbose", {"mode": "on"}, "show you how I look things up"),
        ("conversations delete", {}, "Delete “At sea”?"),
    )
    for command, options, told in steps:
        used = await ann.person.slash(command, channel=ann.place, **options)
        await used_says(ann.double, used, told)
    exported = await ann.person.slash("conversations export", channel=ann.place)
    await ann.double.until(lambda: exported.messages and exported.message.attachments)
    assert "Who keeps it?" in exported.message.attachments[0].data.decode()
    await ann.person.click(used.message, label="Delete it")
    await used_says(ann.double, used, "Deleted")
    assert await ann.bot.app.conversations.find(conversation.id) is None
    await ann.person.say(ann.place, "Are you there?")
    await ann.heard("Which book is it about?")


async def test_what_is_asked_before_there_is_a_conversation_is_answered_once_its_book_is_chosen(ann: Reader) -> None:
    lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
    await choose(ann, lamp, "Who keeps it?")
    first = await ann.current()
    assert (first.book_id, await ann.questions(first)) == (lamp, ["Who keeps it?"])
    await ann.says("And who else?", "Nobody else.")
    await ann.chat(boat)
    asked = await ann.person.slash("conversations delete", channel=ann.place)
    await used_says(ann.double, asked, "Delete")
    await ann.person.click(asked.message, label="Delete it")
    await used_says(ann.double, asked, "Deleted")
    await choose(ann, lamp, "Who put it out?")
    assert await ann.questions(await ann.current()) == ["Who keeps it?", "And who else?", "Who put it out?"]


async def test_what_asks_nothing_before_there_is_a_conversation_is_promised_no_answer(ann: Reader) -> None:
    await ann.add("The Lamp")
    book = ann.double.file("novel.epub", b"...")
    for files, told in (((book,), "use /books add with the file."), ((), "Which book shall we talk about? Choose it")):
        await ann.person.say(ann.place, "", files=files)
        await ann.heard(told)
    assert not any("I'll answer you" in each for each in ann.double.said(ann.place))


async def choose(ann: Reader, book: str, question: str) -> None:
    """Ask where there is no conversation, and choose the book that it is about."""
    await ann.person.say(ann.place, question)

    def offers() -> list[Message]:
        return [each for each in ann.double.messages(ann.place) if "Which book" in each.content]

    await ann.double.until(offers)
    [offer] = offers()
    ann.bot.model.say(f"About “{question}”.")
    await ann.person.select(offer, book)
    await ann.heard(f"About “{question}”.")
    await ann.double.until(lambda: not offers())


async def test_another_book_is_talked_about_once_the_current_one_is_removed(ann: Reader) -> None:
    lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
    await ann.chat(lamp)
    asked = await ann.person.slash("books remove", channel=ann.place, book=lamp)
    await used_says(ann.double, asked, "Remove “The Lamp”")
    await ann.person.click(asked.message, label="Remove it")
    await used_says(ann.double, asked, "Removed")
    assert (await ann.chat(boat)).book_id == boat
    await ann.says("About the boat?", "It is a boat.")


async def test_an_empty_list_has_no_pages(ann: Reader) -> None:
    listed = await ann.person.slash("conversations list", channel=ann.place)
    await used_says(ann.double, listed, "You have no conversations yet.")
    assert "page" not in listed.text


async def test_who_has_no_book_yet_is_told_how_to_begin(ann: Reader) -> None:
    await ann.person.say(ann.place, "Hello?")
    await ann.heard("Find a free one with /books find, or add your own with /books add")


async def test_help_speaks_of_direct_messages_there(ann: Reader) -> None:
    told = await ann.person.slash("help", channel=ann.place)
    await used_says(ann.double, told, "in our direct messages")


async def test_a_german_is_answered_in_german(ann: Reader) -> None:
    ann.person.locale = "de"
    book = await ann.add("The Lamp")
    await used_says(ann.double, await ann.person.slash("help", channel=ann.place), "Lesen mit Marginalia")
    await ann.person.say(ann.place, "Wer ist Hobb?")
    await ann.heard("Um welches Buch geht es?")
    await ann.chat(book)
    await ann.person.say(ann.place, "", files=(ann.double.file("bild.png", b"..."),))
    await ann.heard("Ich lese nur Text")


async def test_a_german_who_has_used_a_server_only_is_told_in_german_how_to_begin(ann: Reader) -> None:
    ann.double.world.join(ann.double.guild, ann.person.user)
    ann.person.locale = "de"
    used = await ann.person.slash("help", channel=ann.double.channel)
    await used_says(ann.double, used, "Lesen mit Marginalia")
    await ann.person.say(ann.place, "Hallo?")
    await ann.heard("Lass uns zusammen ein Buch lesen.")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Hallo!", "Lass uns zusammen ein Buch lesen."),
        ("Hi, was kannst du so?", "Lass uns zusammen ein Buch lesen."),
        ("Hello!", "Let's read a book together."),
        ("Can you read Die Verwandlung?", "Let's read a book together."),
        ("Qui est Emma ?", "Let's read a book together."),
    ],
)
async def test_who_has_used_no_command_yet_is_told_how_to_begin_in_the_language_of_their_message(
    ann: Reader, written: str, told: str
) -> None:
    await ann.person.say(ann.place, written)
    await ann.heard(told)


async def test_a_command_tells_the_language_better_than_the_message(ann: Reader) -> None:
    ann.person.locale = "en-US"
    await ann.person.slash("help", channel=ann.place)
    await ann.person.say(ann.place, "Was kannst du?")
    await ann.heard("Let's read a book together.")


async def test_a_message_is_read_without_the_message_content_intent(double: DiscordDouble, tmp_path: Path) -> None:
    double.gateway.privileged = 0
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        ann = Reader(double, state, double.stranger("ann"))
        await ann.chat(await ann.add("The Lamp"))
        await ann.says("Who keeps it?", "The keeper does.")


async def test_an_edited_question_and_a_deleted_one_are_taken_in(ann: Reader) -> None:
    conversation = await ann.chat(await ann.add("The Lamp"))
    await ann.says("Who kepes it?", "The keeper does.")
    asked = next(each for each in ann.double.messages(ann.place) if each.content == "Who kepes it?")
    await ann.person.edit(asked, "Who keeps it?")
    await eventually(partial(ann.questions, conversation), lambda found: found == ["Who keeps it?"])
    await ann.person.delete(asked)
    await eventually(partial(ann.questions, conversation), not_)


async def test_what_was_written_while_the_bot_was_away_is_answered_once_and_where_it_belongs(
    double: DiscordDouble, tmp_path: Path
) -> None:
    person = double.stranger("ann")
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        ann = Reader(double, state, person)
        await person.say(ann.place, "Is anybody there?")
        await ann.heard("Find a free one with /books find, or add your own with /books add")
        lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
        await ann.chat(lamp)
        await ann.says("About the lamp?", "It is a lamp.")
        second = await ann.chat(boat)
    await person.say(ann.place, "What did I miss?")
    async with online(double, tmp_path) as state:
        ann = Reader(double, state, person)
        state.model.say("You missed a boat.")
        await ann.heard("You missed a boat.")
        assert await ann.questions(second) == ["What did I miss?"]
        assert sum("It is a lamp." in said for said in double.said(ann.place)) == 1


async def test_what_was_changed_while_the_bot_was_away_is_found_in_earlier_conversations_too(
    double: DiscordDouble, tmp_path: Path
) -> None:
    person = double.stranger("ann")
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        ann = Reader(double, state, person)
        lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
        first = await ann.chat(lamp)
        await ann.says("About the lamp?", "It is a lamp.")
        await ann.says("And its keeper?", "He keeps it.")
        await ann.chat(boat)
        await ann.says("About the boat?", "It is a boat.")
    deleted, edited = (
        each for each in double.messages(ann.place) if each.content in ("About the lamp?", "And its keeper?")
    )
    await person.delete(deleted)
    await person.edit(edited, "And his name?")
    async with online(double, tmp_path) as state:
        await eventually(
            partial(Reader(double, state, person).questions, first), lambda found: found == ["And his name?"]
        )


async def test_a_switch_leaves_what_was_missed_to_the_conversation_it_was_written_in(
    double: DiscordDouble, tmp_path: Path
) -> None:
    """Nobody can know in which order a new session tells things."""
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        ann = Reader(double, state, double.stranger("ann"))
        lamp, boat = await ann.add("The Lamp"), await ann.add("The Boat")
        first = await ann.chat(lamp)
        state.bot.cogs["ConversationCog"]._intake.forget_session()  # type: ignore[attr-defined]
        missed = double.world.post
        emit, double.gateway.emit = double.gateway.emit, lambda *_, **__: None  # type: ignore[method-assign]
        missed(ann.place, ann.person.user, "Missed by the gateway")
        double.gateway.emit = emit  # type: ignore[method-assign]
        state.model.say("Not lost.")
        await ann.chat(boat)
        await ann.heard("Not lost.")
        assert await ann.questions(first) == ["Missed by the gateway"]


async def test_buttons_of_one_person_do_nothing_for_another(ann: Reader) -> None:
    """A custom_id says all there is to know, and may be sent from anywhere."""
    double, ben = ann.double, ann.double.stranger("ben")
    conversation = await ann.chat(await ann.add("The Lamp"))
    await ann.says("Who keeps it?", "The keeper does.")
    [turn] = await ann.bot.app.transcripts.turns(conversation.id)
    names = [
        f"do:{action}:{argument}"
        for action, argument in (
            ("sources", f"{turn.id}:1"),
            ("retry", turn.id),
            ("stop", turn.id),
            ("again", conversation.id),
            ("talk-delete", conversation.id),
            ("chat-new", conversation.book_id),
            ("chat-move", conversation.id),
            ("book-remove", conversation.book_id),
        )
    ]
    own = double.world.post(ben.direct_channel, double.bot, "a message of the bot's")
    elsewhere = double.world.post(double.channel, double.bot, "another")
    cleo = double.user("cleo")
    for person, message in ((ben, own), (cleo, elsewhere)):
        for name in names:
            message.components = [{"type": 1, "components": [{"type": 2, "label": "x", "style": 2, "custom_id": name}]}]
            pressed = await person.click(message, custom_id=name)
            await used_says(double, pressed, "")
            assert pressed.ephemeral, name
            assert "keeper" not in pressed.text
            assert "Lamp" not in pressed.text
    assert [each.id for each in await ann.bot.app.storage.books.list(None)] == [conversation.book_id]
    assert await ann.bot.app.conversations.find(conversation.id) == await ann.current()
    assert await ann.bot.app.conversations.in_guild(personal_shelf(str(ben.id))) == []


async def test_ids_of_others_conversations_open_nothing(ann: Reader) -> None:
    conversation = await ann.chat(await ann.add("The Lamp"))
    ben = Reader(ann.double, ann.bot, ann.double.stranger("ben"))
    own = await ben.add("The Boat")
    forged: tuple[tuple[str, dict[str, Any]], ...] = (
        ("chat", {"book": own, "conversation": conversation.id}),
        ("chat", {"book": conversation.book_id}),
        ("conversations rename", {"title": "mine", "conversation": conversation.id}),
        ("conversations delete", {"conversation": conversation.id}),
        ("conversations export", {"conversation": conversation.id}),
        ("conversations create", {"book": conversation.book_id}),
        ("progress", {"book": conversation.book_id}),
    )
    for command, options in forged:
        used = await ben.person.slash(command, channel=ben.place, **options)
        await used_says(ann.double, used, "")
        assert "Lamp" not in used.text, command
        assert not used.message.attachments
    assert await ann.bot.app.conversations.in_guild(personal_shelf(str(ben.person.id))) == []


async def test_where_only_the_person_has_it_chat_leads_to_direct_messages(double: DiscordDouble, bot: Online) -> None:
    ann = double.stranger("ann")
    ann.install()
    reader = Reader(double, bot, ann)
    book = await reader.add("The Lamp")
    guild = double.add_guild("Elsewhere", with_bot=False)
    double.world.join(guild, ann.user)
    [place] = guild.channels.values()
    for _ in range(2):
        used = await ann.slash("chat", channel=place, book=book)
        await used_says(double, used, f"Use /chat in a direct message to me: <@{double.bot.id}>")
        assert used.ephemeral
        await reader.chat(book)  # so that the second time there is one to offer
    assert double.messages(place) == []


async def used_says(double: DiscordDouble, used: Interaction, text: str) -> None:
    await double.until(lambda: used.messages and text in used.text)


async def test_erasing_takes_the_persons_shelf_and_what_the_bot_said_to_them(ann: Reader) -> None:
    await ann.chat(await ann.add("The Lamp"), message="Who keeps it?")
    await ann.says("And who else?", "Nobody else.")
    await eventually(partial(ann.bot.app.storage.engine.read, "SELECT 1 FROM turns WHERE state <> 'delivered'"), not_)
    shown = await ann.person.slash("privacy", channel=ann.place)
    assert "Erase this server's data" not in [each.label for each in shown.messages[0].buttons]
    await ann.person.click(shown.messages[0], label="Erase it all")
    await ann.person.click(shown.messages[0], label="Erase it all")
    await ann.double.until(lambda: "Erased" in shown.text and "I'm removing" not in shown.text)
    assert "I couldn't remove" not in shown.text
    assert await ann.bot.app.shelf.list(personal_shelf(str(ann.person.id))) == []
    left = [each for each in ann.double.messages(ann.place) if each.author is ann.double.bot]
    said = "\n".join(text for each in left for text in (each.content, *each.embed_texts))
    assert not [each for each in ("Who keeps it?", "Nobody else.", str(ann.person.id)) if each in said]


async def shown_with(ann: Reader, label: str) -> Message:
    """The message of hers that has such a button, once it is there."""
    found: list[Message] = []

    def look() -> bool:
        own = [each for each in ann.double.messages(ann.place) if each.author is ann.double.bot]
        found[:] = [each for each in own if any(button.label == label for button in each.buttons)]
        return bool(found)

    await ann.double.until(look)
    return found[-1]


async def test_the_owner_stops_an_answer_and_what_was_written_stays(ann: Reader) -> None:
    await ann.chat(await ann.add("The Lamp"))
    ann.bot.model.hold = asyncio.Event()
    ann.bot.model.say(
        [
            TextChunk("The keeper does, as far as anybody there knows, and nobody has ever seen him away from it,"),
            TextChunk(" or his wife."),
        ]
    )
    await ann.person.say(ann.place, "Who keeps it?")
    await ann.heard("The keeper does")
    await ann.person.click(await shown_with(ann, "Stop"), label="Stop")
    stopped = await shown_with(ann, "Try again")
    assert stopped.content.startswith("The keeper does")
    assert "Stopped." in stopped.content
    ann.bot.model.hold = None
    await ann.says("And who else?", "Nobody else.")


async def test_the_owner_has_a_failed_answer_made_again_also_after_a_restart(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with online(double, tmp_path) as before:
        await double.until(lambda: double.commands.commands.get(0))
        ann = Reader(double, before, double.stranger("ann"))
        await ann.chat(await ann.add("The Lamp"))
        before.model.say(BUSY)
        await ann.person.say(ann.place, "Who keeps it?")
        failed = await shown_with(ann, "Retry")
    async with online(double, tmp_path) as after:
        ann = Reader(double, after, ann.person)
        after.model.say("The keeper does.")
        await ann.person.click(failed, label="Retry")
        await ann.heard("The keeper does.")
        assert await ann.questions(await ann.current()) == ["Who keeps it?"]
        assert not any(button.label == "Retry" for each in double.messages(ann.place) for button in each.buttons)


async def test_the_card_says_how_far_one_is_as_soon_as_one_has_said_so(ann: Reader) -> None:
    def spoilers() -> str:
        cards = [each for each in ann.double.messages(ann.place) if any(b.label == "Set my page" for b in each.buttons)]
        return "\n".join(cards[-1].embed_texts)

    await ann.chat(await ann.add("The Lamp"))
    await ann.says("Who keeps it?", "The keeper does.")
    assert "You haven't told me how far you've read" in spoilers()
    [card] = [each for each in ann.double.messages(ann.place) if any(b.label == "Set my page" for b in each.buttons)]
    await ann.person.submit(await ann.person.click(card, label="Set my page"), page="1")
    await ann.double.until(lambda: "You're at page 1. I won't reveal anything after it." in spoilers())
    assert "You haven't told me" not in spoilers()
