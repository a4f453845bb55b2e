"""/recap, /who, /discuss and /ask: to one person at their own page, to a group at the lowest."""

import re

import discord
import pytest

from cogs.i18n import speech_for
from domain.book import Book, BookText, Chapter, Page, PositionState, ReadingPosition
from domain.clubs.manage import PlanRequest
from domain.errors import LLMError, LLMErrorCode, StorageError, StorageErrorCode
from domain.reading.companion import Asker
from tests.cogs.stage import Stage, labels, text_of
from tests.doubles.scripted_chat import ScriptedChat, call, calls
from tests.journeys.reading_room import tale

KEEPER = tale().text.index("III. The Keeper")


@pytest.fixture
def model() -> ScriptedChat:
    """Writes nothing that rests on the book."""
    return ScriptedChat("I know it by heart: Lucian drowned.")


async def at(stage: Stage, who: object, book: Book, read_to: int) -> None:
    position = ReadingPosition(PositionState.READING, read_to)
    await stage.app.storage.readers.set_position(str(who.id), book.id, position)  # type: ignore[attr-defined]


async def names(stage: Stage, typed: str = "") -> list[str]:
    return [each["name"] for each in await stage.ann.autocomplete(stage.channel, "who", "name", typed)]


class TestRecap:
    async def test_it_is_told_to_the_person_alone_up_to_their_page(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        await at(stage, stage.ben, book, 30)
        shown = await stage.ann.slash(stage.channel, "recap")
        assert shown.ephemeral
        assert "The Dark Lamp · up to p. 2" in text_of(shown)
        assert "The lamp had been dark on the night of the ninth. (p. 2)" in text_of(shown)
        assert "Hobb who" not in text_of(shown)
        assert "Lucian" not in text_of(shown)

    async def test_why_no_model_wrote_it_is_said(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."))
        told = text_of(await stage.ann.slash(stage.channel, "recap"))
        assert "⚠️ The model is overloaded. So here's what the book itself says." in told
        assert "The lamp had been dark" in told

    async def test_it_begins_where_it_is_asked_to(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        told = text_of(await stage.ann.slash(stage.channel, "recap", since="chapter 2"))
        assert "The Lamp" in told
        assert "Marta Quill came" not in told

    async def test_a_place_not_reached_is_refused_as_one_that_does_not_exist(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        unread = await stage.ann.slash(stage.channel, "recap", since="The Keeper", public=True)
        unknown = await stage.ann.slash(stage.channel, "recap", since="The Baker", public=True)
        assert unread.ephemeral
        assert text_of(unread) == text_of(unknown).replace("Baker", "Keeper")

    async def test_in_public_everybody_who_reads_the_book_counts(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, book.length)
        await at(stage, stage.ben, book, tale().text.index("II. The Lamp"))
        shown = await stage.ann.slash(stage.channel, "recap", public=True)
        assert not shown.ephemeral
        assert "Marta Quill came" in text_of(shown)
        assert "brass key" not in text_of(shown)
        assert f"Answering up to p. 1, as far as {stage.ben.mention} has read." in text_of(shown)

    async def test_who_has_not_begun_is_told_what_to_do(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, 0)
        for command, words in (("recap", {}), ("who", {"name": "Marta"})):
            told = text_of(await stage.ann.slash(stage.channel, command, **words))
            assert "nothing read yet" in told
            assert "You haven't started reading. Once you've read a few pages, set your page with" in told
            assert "past that point" not in told

    async def test_where_somebody_else_has_not_begun_it_can_be_told_alone(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, book.length)
        await at(stage, stage.ben, book, 0)
        told = text_of(await stage.ann.slash(stage.channel, "recap", public=True))
        assert "Without `public` I tell it to you alone." in told
        assert f"{stage.ben.mention} hasn't started reading" in told

    async def test_its_heading_says_where_it_begins_and_ends(self, stage: Stage) -> None:
        book = await stage.book()
        parts = ((KEEPER, "p. 2"), (KEEPER + 80, "from p. 2 to p. 3"), (book.length, "from p. 2 to the end"))
        for read_to, part in parts:
            await at(stage, stage.ann, book, read_to)
            told = text_of(await stage.ann.slash(stage.channel, "recap", since="chapter 2"))
            assert told.startswith(f"-# The Dark Lamp · {part}\n")
        told = text_of(await stage.ann.slash(stage.channel, "recap", since="2"))
        assert "-# The Dark Lamp · from p. 2 to the end" in told
        assert "Marta Quill came" not in told

    async def test_since_completes_the_number_of_a_page_to_words_up_to_ones_own(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        for typed in ("2", "page 2", "Seite 2"):
            offered = await stage.ann.autocomplete(stage.channel, "recap", "since", typed)
            assert offered[0] == {"name": "Page 2", "value": "page 2"}
        assert await stage.ann.autocomplete(stage.channel, "recap", "since", "3") == []
        told = text_of(await stage.ann.slash(stage.channel, "recap", since=offered[0]["value"]))
        assert told.startswith("-# The Dark Lamp · p. 2\n")

    async def test_since_completes_only_chapters_that_were_reached(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        offered = await stage.ann.autocomplete(stage.channel, "recap", "since", "")
        assert [each["name"] for each in offered] == ["Chapter 1: I. The Arrival", "Chapter 2: II. The Lamp"]
        told = await stage.ann.slash(stage.channel, "recap", since=offered[1]["value"])
        assert "The lamp had been dark" in text_of(told)


class TestWho:
    async def test_somebody_is_told_from_what_was_read(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        shown = await stage.ann.slash(stage.channel, "who", name="Marta")
        assert shown.ephemeral
        assert "**Marta** is mentioned 2 times, from p. 1 to p. 2." in text_of(shown)

    async def test_a_name_not_met_is_one_that_does_not_exist(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        unread = text_of(await stage.ann.slash(stage.channel, "who", name="Lucian"))
        assert "“Lucian” hasn't come up so far." in unread
        assert unread == text_of(await stage.ann.slash(stage.channel, "who", name="Zorro")).replace("Zorro", "Lucian")
        await at(stage, stage.ann, book, book.length)
        absent = text_of(await stage.ann.slash(stage.channel, "who", name="Zorro"))
        assert "“Zorro” doesn't appear in this book." in absent

    async def test_names_complete_only_once_they_are_met(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, 0)
        assert await names(stage) == []
        await at(stage, stage.ann, book, KEEPER)
        assert "Hobb" in await names(stage)
        assert await names(stage, "lu") == []
        await at(stage, stage.ann, book, book.length)
        assert await names(stage, "lu") == ["Lucian"]
        assert await names(stage, "zz") == []

    @pytest.mark.parametrize("title", ["Mr", "Mr."])
    async def test_a_name_is_offered_as_printed_with_and_without_its_full_stop(
        self, stage: Stage, title: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = f"Then {title} Varley came. They asked {title} Varley, and {title} Varley said no. "
        told = BookText(text, (Page(1, "1", 0, len(text)),), (), "txt", "The Ferry")
        monkeypatch.setattr("tests.cogs.stage.tale", lambda: told)
        book = await stage.book("The Ferry")
        await at(stage, stage.ann, book, book.length)
        for typed in ("mr v", "Mr. V", "varley"):
            assert f"{title} Varley" in await names(stage, typed), typed

    async def test_no_names_where_no_book_is_meant(self, stage: Stage) -> None:
        assert await names(stage) == []


class TestDiscuss:
    async def test_questions_are_for_all_and_rest_on_the_lowest_page(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, book.length)
        thread = await stage.chat(book)
        await at(stage, stage.ben, book, KEEPER)
        await stage.app.company.note_present((await stage.conversation(thread)).id, str(stage.ben.id))
        shown = await stage.ann.slash(thread, "discuss", count=5)
        assert not shown.ephemeral
        told = text_of(shown)
        assert "**1. " in told
        assert "(p. 1)" in told
        assert "(p. 3)" not in told
        assert "-# Answering up to p. 2, as far as" in told
        assert "has read." in told.split("\n")[-1]

    async def test_a_section_is_a_chapter_where_no_club_reads(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        told = text_of(await stage.ann.slash(stage.channel, "discuss", section="2"))
        assert "(p. 2)" in told
        assert "(p. 1)" not in told
        refused = await stage.ann.slash(stage.channel, "discuss", section="3")
        assert refused.ephemeral
        assert "There's no chapter “3” in what's been read so far." in text_of(refused)

    async def test_of_nothing_there_is_nothing_to_discuss(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, 0)
        assert "There's too little to discuss yet" in text_of(await stage.ann.slash(stage.channel, "discuss"))

    async def test_where_it_is_not_clear_which_book_is_meant_nobody_is_sent_to_an_option_it_does_not_have(
        self, stage: Stage
    ) -> None:
        for title in ("The Dark Lamp", "Another"):
            await stage.book(title)
        told = text_of(await stage.ann.slash(stage.channel, "discuss"))
        assert told == "Which book? Use this in a conversation's thread, or in the channel of a club."
        assert "with the `book` option" in text_of(await stage.ann.slash(stage.channel, "recap"))


class TestClub:
    """The channel of a club that reads the book in a section for each chapter."""

    async def club(self, stage: Stage) -> Book:
        await stage.book("Another Tale")
        book = await stage.book()
        start = stage.app.clock().date()
        clubs, channel = stage.app.clubs, str(stage.channel.id)
        request = PlanRequest(start, chapters=1)
        club = await clubs.start(book, str(stage.guild.id), channel, str(stage.ann.id), request)
        await clubs.join(club, str(stage.ben.id))
        await at(stage, stage.ann, book, book.length)
        await at(stage, stage.ben, book, KEEPER)
        return book

    async def test_its_book_is_meant_and_its_slowest_member_binds_and_is_named(self, stage: Stage) -> None:
        await self.club(stage)
        shown = await stage.ann.slash(stage.channel, "recap", public=True)
        assert "The lamp had been dark" in text_of(shown)
        assert "Lucian" not in text_of(shown)
        assert f"-# Answering up to p. 2, as far as <@{stage.ben.id}> has read." in text_of(shown)
        own = await stage.ann.slash(stage.channel, "recap")
        assert "Lucian" in text_of(own)

    async def test_who_has_hidden_their_position_is_not_named(self, stage: Stage) -> None:
        await self.club(stage)
        [club] = await stage.app.clubs.store.get_running(str(stage.guild.id))
        await stage.app.clubs.hide(club, str(stage.ben.id), hidden=True)
        told = text_of(await stage.ann.slash(stage.channel, "recap", public=True))
        assert "-# Answering only as far as everybody here has read." in told
        assert str(stage.ben.id) not in told

    async def test_questions_are_asked_about_a_section(self, stage: Stage) -> None:
        await self.club(stage)
        told = text_of(await stage.ann.slash(stage.channel, "discuss", section="2"))
        assert "(p. 2)" in told
        assert "(p. 1)" not in told
        assert "Not everybody has started section 3 yet." in text_of(
            await stage.ann.slash(stage.channel, "discuss", section="3")
        )
        assert "The plan has the sections 1 to 3." in text_of(
            await stage.ann.slash(stage.channel, "discuss", section="99")
        )
        offered = await stage.ann.autocomplete(stage.channel, "discuss", "section", "")
        assert [each["name"] for each in offered] == ["Section 1", "Section 2", "Section 3"]


class TestAsk:
    async def test_it_is_answered_at_ones_own_page_and_seen_by_oneself(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, KEEPER)
        await at(stage, stage.ben, book, 10)
        stage.model.say("Marta found a brass key under the stairs.")
        shown = await stage.ann.slash(stage.channel, "ask", question="What was under the stairs?")
        assert shown.ephemeral
        assert "**ann** asks: What was under the stairs?" in text_of(shown)
        assert "up to p. 2" in text_of(shown)
        assert "Marta found a brass key under the stairs." in text_of(shown)
        [conversation] = await stage.conversations()
        assert conversation.is_aside
        assert conversation.owner_id == str(stage.ann.id)
        sent = stage.model.requests[-1][-1]
        assert "has read to page 2" in sent.text

    async def test_its_turns_are_kept_together_and_are_the_askers_alone(self, stage: Stage) -> None:
        await stage.book()
        for question in ("Who is Hobb?", "And Marta?"):
            await stage.ann.slash(stage.channel, "ask", question=question)
        await stage.ben.slash(stage.channel, "ask", question="Who is Ben?")
        assert len(await stage.conversations()) == 2
        said = [message.text for message in stage.model.requests[1] if message.role == "user"]
        assert len(said) == 2, "the second question is asked with the first before it"
        manager = stage.member("mod", manage_threads=True, manage_guild=True)
        for member, own in ((stage.ann, True), (stage.ben, False), (manager, False)):
            listed = text_of(await member.slash(stage.channel, "conversations list"))
            assert ("Who is Hobb?" in listed) is own
            offered = await member.autocomplete(stage.channel, "conversations export", "conversation", "hobb")
            assert bool(offered) is own
        exported = await stage.ann.slash(stage.channel, "conversations export", conversation="Who is Hobb?")
        assert any(each and each.attachments for each in (exported.response, *exported.followups))

    async def test_erasure_takes_it_along(self, stage: Stage) -> None:
        await stage.book()
        await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?")
        assert "Who is Hobb?" in str(await stage.app.people.export(str(stage.ann.id)))
        await stage.app.people.erase(str(stage.ann.id))
        assert await stage.conversations() == []

    async def test_in_public_it_obeys_the_lowest(self, stage: Stage) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, book.length)
        thread = await stage.chat(book)
        await at(stage, stage.ben, book, KEEPER)
        await stage.app.company.note_present((await stage.conversation(thread)).id, str(stage.ben.id))
        shown = await stage.ann.slash(thread, "ask", question="Who was it?", public=True)
        assert not shown.ephemeral
        assert "has read to page 2" in stage.model.requests[-1][-1].text
        assert "-# Answering up to p. 2, as far as" in text_of(shown)

    async def test_sources_are_shown_to_whoever_sees_the_answer(self, stage: Stage) -> None:
        await stage.book()
        for public in (True, False):
            stage.model.say(calls(call("search_book", "t1", query="key")), "Marta found a brass key under the stairs.")
            shown = await stage.ann.slash(stage.channel, "ask", question="What was there?", public=public)
            assert "under the stairs (p. 2)." in text_of(shown)
            assert labels(shown) == ["Sources", "Try again"]
            if public:
                assert shown.response is not None
                seen = await stage.ben.click(shown.response, label="Sources")
                assert "brass key" in text_of(seen)
        turns = await stage.app.transcripts.turns((await stage.conversations())[0].id)
        assert [bool(turn.reply_ids) for turn in turns] == [True, True]

    async def test_a_failure_ends_in_a_sentence_and_is_not_asked_again(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."), "Here I am.")
        failed = await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?")
        assert "⚠️ The model is overloaded." in text_of(failed)
        answered = await stage.ann.slash(stage.channel, "ask", question="And Marta?")
        assert "Here I am." in text_of(answered)
        assert "Who is Hobb?" not in stage.model.requests[-1][-1].text

    @pytest.mark.parametrize("public", [True, False])
    async def test_a_failure_can_be_tried_again_in_its_own_message(self, stage: Stage, public: bool) -> None:
        await stage.book()
        busy = LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded.")
        stage.model.say(busy, busy, "Here I am.")
        failed = await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?", public=public)
        for _ in range(2):
            assert labels(failed) == ["Retry"]
            assert failed.response is not None
            again = await stage.ann.click(failed.response, label="Retry")
            assert again.followups == []
        assert "⚠️" not in text_of(failed)
        assert "**ann** asks: Who is Hobb?" in text_of(failed)
        assert "Here I am." in text_of(failed)
        assert labels(failed) == ["Try again"]
        [talk] = await stage.conversations()
        kept = [each.content for each in await stage.app.storage.messages.get_by_conversation(talk.id)]
        assert kept == ["Who is Hobb?", "Here I am."]

    async def test_a_failure_is_tried_again_by_its_asker_alone_and_after_a_restart(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."), "Here I am.")
        await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?", public=True)
        await stage.restart()
        failed = stage.channel.history()[-1]
        assert "Only the person who asked" in text_of(await stage.ben.click(failed, label="Retry"))
        assert "overloaded" in stage.channel.history()[-1].content
        await stage.ann.click(failed, label="Retry")
        assert "Here I am." in stage.channel.history()[-1].content

    async def test_one_whose_turn_could_not_be_kept_is_tried_again_all_the_same(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await stage.book()
        finish = stage.app.storage.turns.finish

        async def away(*_: object) -> None:
            monkeypatch.setattr(stage.app.storage.turns, "finish", finish)
            raise StorageError(StorageErrorCode.UNREACHABLE, "The database does not answer.")

        monkeypatch.setattr(stage.app.storage.turns, "finish", away)
        failed = await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?")
        assert "I can't get at my notes just now. Please try again in a minute." in text_of(failed)
        stage.model.say("Here I am.")
        assert failed.response is not None
        await stage.ann.click(failed.response, label="Retry")
        assert "Here I am." in text_of(failed)
        assert labels(failed) == ["Try again"]

    async def test_a_question_that_was_erased_meanwhile_is_not_tried_again(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."))
        failed = await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?")
        await stage.app.people.erase(str(stage.ann.id))
        assert failed.response is not None
        told = await stage.ann.click(failed.response, label="Retry")
        assert "This question is no longer available. Please ask it again." in text_of(told)
        assert len(stage.model.requests) == 1

    async def test_a_long_answer_is_split_or_comes_as_a_file(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say(" ".join(f"word{number}" for number in range(500)))
        shown = await stage.ann.slash(stage.channel, "ask", question="Tell me all.")
        assert shown.followups
        assert all(each.ephemeral for each in shown.followups)
        stage.model.say(" ".join(f"word{number}" for number in range(1_900)))
        shown = await stage.ann.slash(stage.channel, "ask", question="Tell me all.")
        assert shown.response is not None
        assert not shown.followups
        assert [each.filename for each in shown.response.attachments] == ["marginalia.md"]

    async def test_blank_questions_are_refused(self, stage: Stage) -> None:
        await stage.book()
        assert "What would you like to know" in text_of(await stage.ann.slash(stage.channel, "ask", question="  "))


async def test_german(stage: Stage) -> None:
    book = await stage.book()
    german = Asker(say=speech_for(discord.Locale.german))
    told = await stage.app.reading.who(book, KEEPER, "Marta", german)
    assert told.text.startswith("**Marta** kommt 2-mal vor, von S. 1 bis S. 2.")


class TestPairs:
    """Two servers have each a book; the books are the same up to where everybody is, and differ beyond."""

    TAILS = (
        "III. The Keeper\n\nIt was Hobb who had put the lamp out. He had done it for his brother Lucian.\n\n",
        "III. The Wedding Guest\n\nNobody had put it out, said Miss Orchard.\n\nIV. Murder\n\nAll died.\n\n",
    )

    async def surfaces(self, stage: Stage, which: int) -> list[str]:
        """All that is shown in a server, to everybody and to one, and what is offered while one types."""
        guild = stage.env.create_guild(f"Server {which}")
        channel = guild.create_text_channel("reading-room")
        ann, ben = (stage.member(name, guild) for name in ("ann", "ben"))
        book = await self.book(stage, which, str(guild.id))
        for person in (ann, ben):
            await at(stage, person, book, KEEPER)
        shown: list[str] = []
        for name, options in (
            ("recap", {}),
            ("recap", {"public": True}),
            ("recap", {"since": "#3"}),
            ("recap", {"since": "page 3", "public": True}),
            ("who", {"name": "Marta"}),
            ("who", {"name": "Hobb", "public": True}),
            ("who", {"name": "Lucian"}),
            ("discuss", {}),
            ("discuss", {"count": 5}),
            ("discuss", {"section": "3"}),
            ("ask", {"question": "Who did it?"}),
            ("ask", {"question": "Who did it?", "public": True}),
        ):
            shown.append(text_of(await ann.slash(channel, name, **options)))
        for command, option in (("who", "name"), ("recap", "since"), ("discuss", "section"), ("ask", "book")):
            for typed in ("", "l", "o", "3"):
                offered = await ann.autocomplete(channel, command, option, typed)
                shown.append(str([each["name"] for each in offered]))
        asked = [message.text for request in stage.model.requests for message in request]
        stage.model.requests.clear()
        return [*shown, *asked]

    async def book(self, stage: Stage, which: int, shelf: str) -> Book:
        text = f"{tale().text[:KEEPER]}{self.TAILS[which]}"
        heads = [head.start() for head in re.finditer(r"^(?:I|II|III|IV)\. .+$", text, re.MULTILINE)]
        spans = list(zip(heads, [*heads[1:], len(text)], strict=True))
        made = BookText(
            text,
            tuple(Page(number, str(number), start, end) for number, (start, end) in enumerate(spans, 1)),
            tuple(
                Chapter(number, text[start : text.index("\n", start)], start, end)
                for number, (start, end) in enumerate(spans, 1)
            ),
            "txt",
            title="The Dark Lamp",
        )
        sha256 = str(which) * 64
        await stage.files.write(sha256, made)
        facts = (len(made.pages), len(made.chapters), len(text.split()), len(text), stage.app.clock())
        book = Book(f"{which + 90:032x}", shelf, sha256, made.title, "", "txt", *facts)
        await stage.app.storage.books.save(book)
        return book

    async def test_they_differ_in_no_byte(self, stage: Stage) -> None:
        stage.model.say("Marta found a brass key under the stairs.")
        one, two = [await self.surfaces(stage, which) for which in (0, 1)]
        assert one == two
        assert "brass key" in "".join(one)
        assert not any(word in "".join(one) for word in ("Orchard", "brother", "Wedding", "Keeper"))


class TestAskAgain:
    async def test_one_turn_takes_the_place_of_another_in_the_same_message(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say("It was dark.")
        asked = await stage.ann.slash(stage.channel, "ask", question="Why?")
        assert "Try again" in labels(asked)
        stage.model.say("It was the ninth.")
        assert asked.response
        again = await stage.ann.click(asked.response, label="Try again")
        assert again.followups == []
        assert "It was the ninth." in text_of(asked)
        assert "It was dark." not in text_of(asked)
        assert "Try again" in labels(asked)
        [talk] = await stage.conversations()
        kept = [each.content for each in await stage.app.storage.messages.get_by_conversation(talk.id)]
        assert kept == ["Why?", "It was the ninth."]

    async def test_a_failure_leaves_the_answer_there_was(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say("It was dark.")
        asked = await stage.ann.slash(stage.channel, "ask", question="Why?")
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."))
        assert asked.response
        again = await stage.ann.click(asked.response, label="Try again")
        assert "the earlier answer stays. The model is overloaded." in text_of(again)
        assert "It was dark." in text_of(asked)
        [talk] = await stage.conversations()
        [turn] = await stage.app.storage.turns.get_by_conversation(talk.id)
        assert turn.state == "delivered"

    async def test_of_a_public_answer_it_is_the_askers_alone_and_stays_public(self, stage: Stage) -> None:
        await stage.book()
        stage.model.say("It was dark.")
        await stage.ann.slash(stage.channel, "ask", question="Why?", public=True)
        posted = stage.channel.history()
        shown = posted[-1]
        refused = await stage.ben.click(shown, label="Try again")
        assert "Only the person who asked" in text_of(refused)
        stage.model.say("It was the ninth.")
        await stage.ann.click(shown, label="Try again")
        assert "It was the ninth." in stage.channel.history()[-1].content
        assert len(stage.channel.history()) == len(posted)

    @pytest.mark.parametrize("first", ["Try again", "Retry"])
    async def test_in_public_the_new_answer_obeys_the_lowest_of_that_time(self, stage: Stage, first: str) -> None:
        book = await stage.book()
        await at(stage, stage.ann, book, book.length)
        thread = await stage.chat(book)
        stage.model.say(LLMError(LLMErrorCode.OVERLOADED, "Busy.") if first == "Retry" else "It was dark.")
        shown = await stage.ann.slash(thread, "ask", question="Who was it?", public=True)
        await at(stage, stage.ben, book, KEEPER)
        await stage.app.company.note_present((await stage.conversation(thread)).id, str(stage.ben.id))
        assert shown.response
        await stage.ann.click(shown.response, label=first)
        assert "has read to page 2" in stage.model.requests[-1][-1].text
        assert "-# Answering up to p. 2, as far as" in text_of(shown)
