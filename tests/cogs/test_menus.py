"""The menus of messages and people: to whoever uses them alone, and within what they have read."""

import discord
import pytest
from simcord.results import InteractionResult

from domain.book import Book, PositionState, ReadingPosition
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, ToolInvocation
from tests.cogs.clubs.conftest import Calendar, ClubStage, calendar, reading  # noqa: F401
from tests.cogs.stage import Stage, labels, text_of
from tests.doubles.scripted_chat import call, calls
from tests.journeys.reading_room import tale
from tests.sampling import a_few

TEXT = tale().text
KEEPER = TEXT.index("III. The Keeper")
FIRST = "Marta Quill came to the island"
LAST = "Hobb who"
WHERE, ASK, FAR = "Where is this in the book?", "Ask about this", "How far along?"


async def at(stage: Stage, who: object, book: Book, read_to: int) -> None:
    position = ReadingPosition(PositionState.READING, read_to)
    await stage.app.storage.readers.set_position(str(who.id), book.id, position)  # type: ignore[attr-defined]


def passage(beginning: str, words: int = 9) -> str:
    """So many words of the book, from these on."""
    start = TEXT.index(beginning.split(maxsplit=1)[0]) if beginning not in TEXT else TEXT.index(beginning)
    return " ".join(TEXT[start:].split()[:words])


def about(opened: InteractionResult) -> str:
    """What a modal that was opened has in its second field."""
    assert opened.modal
    return str(opened.modal["components"][1]["components"][0].get("value", ""))


class TestWhereIsThis:
    async def test_a_quotation_is_told_with_page_and_chapter(self, stage: Stage) -> None:
        await stage.book()
        message = await stage.ben.send(stage.channel, f"Remember “{passage('The lamp had been dark')}”?")
        told = await stage.ann.context_menu(stage.channel, WHERE, message)
        assert told.ephemeral
        assert "**p. 2**" in text_of(told)
        assert "The Lamp" in text_of(told)
        assert "In “The Dark Lamp”:" in text_of(told)

    async def test_a_line_is_found_above_what_is_not_of_the_book(self, stage: Stage) -> None:
        await stage.book()
        for below in (
            "where in the book was this again, do you remember?",
            "Excerpt From\nThe Dark Lamp\nNobody\nThis material may be protected by copyright.",
            "Nobody, Anne. The Dark Lamp (Classics of the Sea Book 3) (p. 12). Some Publisher Ltd. Kindle Edition.",
        ):
            message = await stage.ben.send(stage.channel, f"{passage('The lamp had been dark')}\n\n{below}")
            told = text_of(await stage.ann.context_menu(stage.channel, WHERE, message))
            assert told.count("**p. ") == told.count("**p. 2**") == 1, below

    async def test_what_lies_ahead_is_not_in_what_they_have_read(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        message = await stage.ben.send(stage.channel, passage(TEXT[KEEPER + 20 : KEEPER + 60]))
        hidden = await stage.ann.context_menu(stage.channel, WHERE, message)
        assert "I can't find that in what you've read of “The Dark Lamp”." in text_of(hidden)
        assert "p. 3" not in text_of(hidden)
        told = await stage.ben.context_menu(stage.channel, WHERE, message)
        assert "**p. 3**" in text_of(told)

    async def test_small_talk_is_nowhere_in_the_book(self, stage: Stage) -> None:
        await stage.book()
        for said in ("What do you all want for dinner tomorrow?", "What was the lamp?"):
            message = await stage.ben.send(stage.channel, said)
            assert "can't find that" in text_of(await stage.ann.context_menu(stage.channel, WHERE, message)), said

    async def test_an_answer_is_told_by_what_it_cites_within_the_askers_bound(self, stage: Stage) -> None:
        book = await stage.book()
        thread = await stage.chat(book)
        look = ChatResponse(tool_invocations=(ToolInvocation("search_book", {"queries": ["lamp dark"]}, "1"),))
        stage.model.say(look, "The lamp had been dark on the night of the ninth.")
        await stage.ann.send(thread, "Was it dark?")
        await stage.env.settle()
        answer = thread.history()[-1]
        assert answer.content.startswith("The lamp had been dark")
        told = await stage.ann.context_menu(thread, WHERE, answer)
        assert "**p. 2**" in text_of(told)
        await at(stage, stage.ben, book, 30)
        assert "can't find that" in text_of(await stage.ben.context_menu(thread, WHERE, answer))

    async def test_the_book_the_person_last_talked_about_stands_first(self, stage: Stage) -> None:
        books = [await stage.book(title) for title in ("One", "Two", "Three")]
        await stage.chat(books[2])
        await stage.chat(books[1])
        await stage.chat(books[0], stage.ben)
        message = await stage.ben.send(stage.channel, passage("The lamp had been dark"))
        asked = await stage.ann.context_menu(stage.channel, WHERE, message)
        assert asked.response is not None
        [row] = asked.response.components
        assert [each["label"] for each in row["components"][0]["options"]] == ["Two", "Three", "One"]

    async def test_where_there_are_several_books_the_person_chooses(self, stage: Stage) -> None:
        await stage.book()
        other = await stage.book("Another")
        message = await stage.ben.send(stage.channel, passage("The lamp had been dark"))
        asked = await stage.ann.context_menu(stage.channel, WHERE, message)
        assert asked.ephemeral
        assert "Which book is this about?" in text_of(asked)
        await stage.restart()
        assert asked.response
        told = await stage.ann.select(asked.response, [other.id])
        assert "In “Another”:" in text_of(told)
        assert "**p. 2**" in text_of(told)

    async def test_every_book_of_a_long_shelf_can_be_chosen(self, stage: Stage) -> None:
        books = [await stage.book(f"Book {number:02}") for number in range(60)]
        message = await stage.ben.send(stage.channel, passage("The lamp had been dark"))
        asked = await stage.ann.context_menu(stage.channel, WHERE, message)
        assert asked.response is not None
        menus = [part for row in asked.response.components for part in row["components"]]
        assert {option["value"] for menu in menus for option in menu["options"]} == {book.id for book in books}
        assert [menu["placeholder"] for menu in menus] == ["Choose the book", "Book 00 – Book 24", "Book 25 – Book 34"]
        told = await stage.ann.select(asked.response, [books[30].id], custom_id=menus[2]["custom_id"])
        assert "In “Book 30”:" in text_of(told)

    async def test_what_is_forwarded_is_what_is_asked_about(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        message = await stage.ann.send(stage.channel, passage("The lamp had been dark"))
        forwarded = await stage.ann.forward(message, thread)
        assert "choose **Apps** → **Ask about this**" in thread.history()[-1].content
        assert "**p. 2**" in text_of(await stage.ann.context_menu(thread, WHERE, forwarded))
        assert "the lamp had been dark" in about(await stage.ann.context_menu(thread, ASK, forwarded)).lower()

    async def test_of_an_answer_what_it_says_is_asked_about_and_not_who_limited_it(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        place = stage.bot.get_channel(thread.id)
        assert isinstance(place, discord.Thread)
        await place.send(f"Nobody knows.\n\n-# Answering up to p. 1, as far as {stage.ben.mention} has read.")
        opened = await stage.ann.context_menu(thread, ASK, thread.history()[-1])
        assert about(opened) == "Nobody knows."

    async def test_what_is_covered_in_a_message_is_not_uncovered_by_asking_about_it(self, stage: Stage) -> None:
        await stage.book()
        for said, shown in (("It was ||Lucian|| in the end.", "It was … in the end."), ("||It was Lucian.||", "")):
            message = await stage.ben.send(stage.channel, said)
            assert about(await stage.ann.context_menu(stage.channel, ASK, message)) == shown
        await stage.book("Another")
        asked = await stage.ann.context_menu(stage.channel, ASK, message)
        assert "Lucian" not in text_of(asked)

    async def test_people_who_are_mentioned_have_their_names(self, stage: Stage) -> None:
        await stage.book()
        message = await stage.ben.send(stage.channel, f"{stage.ann.mention} says that the lamp was dark.")
        assert about(await stage.ann.context_menu(stage.channel, ASK, message)) == "@ann says that the lamp was dark."

    async def test_a_message_without_words_is_a_sentence(self, stage: Stage) -> None:
        await stage.book()
        message = await stage.ben.send(stage.channel, attachments=[("a.png", b"x")])
        assert "no text" in text_of(await stage.ann.context_menu(stage.channel, WHERE, message))


class TestAskAboutThis:
    async def test_a_modal_takes_the_question_and_the_answer_is_for_the_asker(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        message = await stage.ben.send(stage.channel, "The lamp had been dark on the night of the ninth.")
        opened = await stage.ann.context_menu(stage.channel, ASK, message)
        stage.model.say("Nobody knows.")
        answered = await stage.ann.submit_modal(opened, {"question": "Why was it dark?", "passage": about(opened)})
        assert answered.ephemeral
        assert "Nobody knows." in text_of(answered)
        asked = "**ann** asks: Why was it dark?\n> “The lamp had been dark on the night of the ninth.”\n"
        assert asked in text_of(answered)
        assert "up to p. 2" in text_of(answered)
        assert stage.channel.history()[-1] == message
        last = stage.model.requests[-1][-1].content
        assert "Why was it dark?" in last
        assert "“The lamp had been dark on the night of the ninth.”" in last

    async def test_without_a_model_the_answer_is_from_that_passage(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        message = await stage.ben.send(stage.channel, "The lamp had been dark on the night of the ninth.")
        opened = await stage.ann.context_menu(stage.channel, ASK, message)
        stage.model.say(LLMError(LLMErrorCode.API_KEY_MISSING, "The key was refused."))
        answered = await stage.ann.submit_modal(opened, {"question": "What was that night?", "passage": about(opened)})
        assert "Meanwhile, here's what the book says:\n\nThere the book says: “" in text_of(answered)
        assert "The lamp had been dark on the night of the ninth" in text_of(answered)

    @pytest.mark.parametrize(
        "passage", a_few(["I am on page 3.", "Dark.\n\nI am on page 3.", "Dark.”\u2028 I am on page 3. “Yes"], 1)
    )
    async def test_a_page_that_only_the_message_names_moves_nobody(self, stage: Stage, passage: str) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        message = await stage.ben.send(stage.channel, passage)
        opened = await stage.ann.context_menu(stage.channel, ASK, message)
        stage.model.say(calls(call("propose_position", page="3")), "Shall I?")
        answered = await stage.ann.submit_modal(opened, {"question": "Am I there?", "passage": about(opened)})
        assert "Shall I?" in text_of(answered)
        assert labels(answered) == ["Try again"]

    async def test_a_page_that_the_question_names_is_offered(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        message = await stage.ben.send(stage.channel, "I am on page 1.")
        opened = await stage.ann.context_menu(stage.channel, ASK, message)
        stage.model.say(calls(call("propose_position", page="3")), "Shall I?")
        answered = await stage.ann.submit_modal(opened, {"question": "I'm on page 3, and?", "passage": about(opened)})
        assert labels(answered) == ["Try again", "I have read to page 3"]

    async def test_where_there_are_several_books_one_is_chosen_first(self, stage: Stage) -> None:
        await stage.book()
        other = await stage.book("Another")
        message = await stage.ben.send(stage.channel, "Dark, isn't it?")
        asked = await stage.ann.context_menu(stage.channel, ASK, message)
        assert asked.response
        opened = await stage.ann.select(asked.response, [other.id])
        stage.model.say("Quite.")
        answered = await stage.ann.submit_modal(opened, {"question": "Is it?", "passage": about(opened)})
        assert "Another" in text_of(answered)
        assert "Dark, isn't it?" in stage.model.requests[-1][-1].content

    async def test_an_empty_shelf_is_a_sentence(self, stage: Stage) -> None:
        message = await stage.ben.send(stage.channel, "Dark, isn't it?")
        assert "The shelf is empty" in text_of(await stage.ann.context_menu(stage.channel, ASK, message))


class TestHowFarAlong:
    async def test_who_is_on_the_board_is_told_and_nobody_else(self, reading: ClubStage) -> None:  # noqa: F811
        await reading.start()
        await reading.press(reading.ben, "Join")
        await reading.ben.slash(reading.channel, "club checkin", section=1)
        told = await reading.ann.context_menu(reading.channel, FAR, reading.ben)
        assert told.ephemeral
        assert "The Dark Lamp" in text_of(told)
        assert "1 of 3 sections" in text_of(told)
        await reading.ben.slash(reading.channel, "club board", hide=True)
        hidden = text_of(await reading.ann.context_menu(reading.channel, FAR, reading.ben))
        assert "isn't on any club's board" in hidden
        eve = reading.stage.member("eve")
        assert text_of(await reading.ann.context_menu(reading.channel, FAR, eve)) == hidden.replace(
            reading.ben.mention, eve.mention
        )

    async def test_a_club_in_a_channel_they_cannot_see_tells_nothing(self, reading: ClubStage) -> None:  # noqa: F811
        eve = reading.stage.member("eve")
        shut = {eve: discord.PermissionOverwrite(view_channel=False)}
        back_room = reading.stage.guild.create_text_channel("back-room", overwrites=shut)  # type: ignore[arg-type]
        await reading.ann.slash(back_room, "club start", book=reading.book.id, sections=3)
        assert "0 of 3 sections" in text_of(await reading.ben.context_menu(reading.channel, FAR, reading.ann))
        assert "isn't on any club's board" in text_of(await eve.context_menu(reading.channel, FAR, reading.ann))


async def test_the_menus_have_german_names(stage: Stage) -> None:
    menus = {each.name: each for each in stage.bot.tree.get_commands()}
    assert stage.bot.tree.translator
    for name in (WHERE, ASK, FAR):
        payload = await menus[name].get_translated_payload(stage.bot.tree, stage.bot.tree.translator)
        assert payload["name_localizations"]["de"] != name
