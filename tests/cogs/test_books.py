"""/books, as readers and those who manage the guild meet it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.cogs.stage import Stage, labels, text_of
from tests.sampling import a_few

TALE = b"# The Tin Whistle\n\n## One\n\nPip found a whistle. He blew it.\n\n## Two\n\nNobody came but the fox.\n"


async def test_a_file_is_read_and_shelved_and_the_card_says_what_it_is(stage: Stage) -> None:
    added = await stage.ann.slash(stage.channel, "books add", file=("whistle.md", TALE), author="P. Fox")
    card = text_of(added)
    assert not added.ephemeral
    for fact in ("Added to the shelf", "The Tin Whistle", "P. Fox", "MARKDOWN", "1 page", "Chapters", "Took"):
        assert fact in card, fact
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    assert (book.title, book.author, book.added_by) == ("The Tin Whistle", "P. Fox", str(stage.ann.id))


@pytest.mark.parametrize(
    ("typed", "shown"),
    a_few(
        [
            ("\u202eexe.emma\u202c\u200b", "exe.emma"),
            ("Two\nlines", "Two lines"),
            ("\u200b", "The Tin Whistle"),
            ("مرحبا 👩‍🚀", "مرحبا 👩‍🚀"),
        ],
        2,
    ),
)
async def test_a_title_turns_nothing_around_and_is_not_invisible(stage: Stage, typed: str, shown: str) -> None:
    await stage.ann.slash(stage.channel, "books add", file=("whistle.md", TALE), title=typed)
    [book] = await stage.app.shelf.list(str(stage.guild.id))
    assert book.title == shown


async def test_the_same_file_again_changes_nothing(stage: Stage) -> None:
    await stage.ann.slash(stage.channel, "books add", file=("whistle.md", TALE))
    again = await stage.ben.slash(stage.channel, "books add", file=("whistle.md", TALE))
    assert "already on the shelf" in text_of(again)
    assert len(await stage.app.shelf.list(str(stage.guild.id))) == 1


async def test_a_file_that_is_no_book_ends_in_a_sentence(stage: Stage) -> None:
    refused = await stage.ann.slash(stage.channel, "books add", file=("photo.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 99))
    assert "This is a picture" in text_of(refused)
    assert await stage.app.shelf.list(str(stage.guild.id)) == []


class TestSmallUploads:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"max_upload_mb": 1}

    async def test_a_file_that_is_too_large_is_refused_before_it_is_fetched(self, stage: Stage) -> None:
        refused = await stage.ann.slash(stage.channel, "books add", file=("big.txt", b"x" * (2**20 + 1)))
        assert refused.ephemeral
        assert not refused.deferred
        assert "This file is 1.1 MB and the limit is 1 MB" in text_of(refused)


async def test_the_list_has_pages_that_turn(stage: Stage) -> None:
    for number in range(1, 13):
        await stage.book(f"Book {number:02}")
    listed = await stage.ann.slash(stage.channel, "books list")
    assert listed.ephemeral
    assert "Book 12" in text_of(listed)
    assert "Book 02" not in text_of(listed)
    assert "12 books · page 1 of 2" in text_of(listed)
    assert labels(listed) == ["Next ▶"]
    assert listed.response
    await stage.ann.click(listed.response, label="Next ▶")
    assert "Book 02" in text_of(listed)
    assert labels(listed) == ["◀ Back"]


async def test_an_empty_shelf_says_how_to_fill_it(stage: Stage) -> None:
    listed = await stage.ann.slash(stage.channel, "books list")
    assert "/books add" in text_of(listed)


async def test_pages_still_turn_after_a_restart(stage: Stage) -> None:
    for number in range(1, 13):
        await stage.book(f"Book {number:02}")
    listed = await stage.ann.slash(stage.channel, "books list")
    await stage.restart()
    assert listed.response
    await stage.ann.click(listed.response, label="Next ▶")
    assert "page 2 of 2" in text_of(listed)


async def test_info_shows_contents_and_no_title_ahead_of_the_reader(stage: Stage) -> None:
    book = await stage.book()
    shown = text_of(await stage.ann.slash(stage.channel, "books info", book=book.id))
    assert "\nIII. The Keeper · p. 3" in shown
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="1")
    shown = text_of(await stage.ann.slash(stage.channel, "books info", book=book.id))
    assert "I. The Arrival" in shown
    assert "The Lamp\n" not in shown
    assert "The Keeper" not in shown
    assert "2 more chapters ahead of you" in shown


async def test_who_added_a_book_removes_it_after_hearing_what_goes_with_it(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    thread = await stage.chat(book)
    asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
    assert "Remove “The Dark Lamp”" in text_of(asked)
    assert "1 conversation" in text_of(asked)
    assert asked.response
    await stage.ann.click(asked.response, label="Remove it")
    assert "Removed" in text_of(asked)
    assert await stage.app.shelf.list(str(stage.guild.id)) == []
    assert await stage.conversations() == []
    assert "this conversation has ended" in thread.history()[-1].content


async def test_a_book_that_nobody_talked_about_is_removed_without_a_count(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    asked = text_of(await stage.ann.slash(stage.channel, "books remove", book=book.id))
    assert "off the shelf at once, with any conversations about it." in asked
    assert "0" not in asked


async def test_a_thread_that_cannot_be_closed_does_not_keep_a_book(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    thread = await stage.chat(book)
    stage.env.inject_error("POST", f"/channels/{thread.id}/messages", status=403, code=50013)
    asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
    assert asked.response
    await stage.ann.click(asked.response, label="Remove it")
    assert "Removed" in text_of(asked)


async def test_a_book_can_be_kept_after_all(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
    assert asked.response
    await stage.ann.click(asked.response, label="Keep it")
    assert "Nothing changed" in text_of(asked)
    assert labels(asked) == []
    assert await stage.app.shelf.get(book.id) == book


async def test_others_are_told_why_they_may_not_remove_a_book(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    refused = await stage.ben.slash(stage.channel, "books remove", book=book.id)
    assert refused.ephemeral
    assert f"Only <@{stage.ann.id}>, who added this book" in text_of(refused)
    assert "Manage Server" in text_of(refused)


async def test_who_manages_the_guild_may_remove_any_book(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    cat = stage.member("cat", manage_guild=True)
    asked = await cat.slash(stage.channel, "books remove", book=book.id)
    assert asked.response
    await cat.click(asked.response, label="Remove it")
    assert "Removed" in text_of(asked)


class TestRestoring:
    async def _removed_by_a_manager(self, stage: Stage) -> tuple[Any, Any, Any]:
        """A book with Ben's conversation, which somebody who manages the server has removed."""
        book = await stage.book(added_by=str(stage.ann.id))
        thread = await stage.chat(book, stage.ben, title="Of Ben")
        cat = stage.member("cat", manage_guild=True)
        asked = await cat.slash(stage.channel, "books remove", book=book.id)
        assert asked.response
        await cat.click(asked.response, label="Remove it")
        return book, thread, cat

    async def test_with_others_conversations_it_takes_manage_server(self, stage: Stage) -> None:
        book = await stage.book(added_by=str(stage.ann.id))
        await stage.chat(book, stage.ben, title="Of Ben")
        refused = text_of(await stage.ann.slash(stage.channel, "books remove", book=book.id))
        assert "“Manage Server”" in refused
        assert "Of Ben" not in refused
        assert await stage.app.shelf.list(str(stage.guild.id)) == [book]

    async def test_with_a_conversation_others_have_written_in_it_takes_manage_server(self, stage: Stage) -> None:
        book = await stage.book(added_by=str(stage.ann.id))
        thread = await stage.chat(book, title="Of Ann")
        await stage.ben.send(thread, f"<@{stage.bot.user.id}> who is Hobb?")  # type: ignore[union-attr]
        await stage.env.settle()
        refused = await stage.ann.slash(stage.channel, "books remove", book=book.id)
        assert "“Manage Server”" in text_of(refused)

    async def test_with_a_club_of_others_it_takes_manage_server(self, stage: Stage) -> None:
        book = await stage.book(added_by=str(stage.ann.id))
        await stage.ann.slash(stage.channel, "club start", book=book.id)
        assert "Remove “The Dark Lamp”" in text_of(await stage.ann.slash(stage.channel, "books remove", book=book.id))
        await stage.ben.slash(stage.channel, "club join")
        refused = await stage.ann.slash(stage.channel, "books remove", book=book.id)
        assert "“Manage Server”" in text_of(refused)
        assert await stage.app.clubs.store.get_by_book(book.id)

    async def test_it_leaves_the_list_at_once_and_comes_back_with_its_conversations(self, stage: Stage) -> None:
        book, thread, cat = await self._removed_by_a_manager(stage)
        assert await stage.app.shelf.list(str(stage.guild.id)) == []
        assert "“The Dark Lamp” was removed from the shelf" in thread.history()[-1].content
        assert "The shelf is empty" in text_of(await stage.ann.slash(stage.channel, "chat", book=book.id))
        assert "Of Ben" not in text_of(await stage.ben.slash(stage.channel, "conversations list"))
        back = await cat.slash(stage.channel, "books restore", book=book.id)
        assert back.ephemeral
        assert "“The Dark Lamp” is back on the shelf" in text_of(back)
        assert await stage.app.shelf.list(str(stage.guild.id)) == [book]
        assert "Of Ben" in text_of(await stage.ben.slash(stage.channel, "conversations list"))
        assert thread.history()[-1].content == "“The Dark Lamp” is back on the shelf, so this conversation goes on."
        stage.model.say("Hobb.")
        await stage.ben.send(thread, "Who is Hobb?")
        assert thread.history()[-1].content.startswith("Hobb.")

    async def test_a_manager_is_told_that_there_is_no_such_book(self, stage: Stage) -> None:
        _, _, cat = await self._removed_by_a_manager(stage)
        told = text_of(await cat.slash(stage.channel, "books restore", book="The Lost Lamp"))
        assert told == "No such book was removed in the last 7 days. /books list shows what's on the shelf."

    async def test_who_would_bring_back_what_is_there_already_is_told_so(self, stage: Stage) -> None:
        book, _, cat = await self._removed_by_a_manager(stage)
        await cat.slash(stage.channel, "books restore", book=book.id)
        for person, reference in ((cat, book.id), (stage.ben, "the dark lamp")):
            told = await person.slash(stage.channel, "books restore", book=reference)
            assert text_of(told) == "“The Dark Lamp” is already on the shelf."

    async def test_whoever_may_not_bring_it_back_hears_of_nothing_there(self, stage: Stage) -> None:
        book, _, cat = await self._removed_by_a_manager(stage)
        for person in (stage.ann, stage.ben):
            refused = text_of(await person.slash(stage.channel, "books restore", book=book.title))
            unknown = text_of(await person.slash(stage.channel, "books restore", book="Nothing of the kind"))
            assert refused == unknown
            assert await person.autocomplete(stage.channel, "books restore", "book", "") == []
        offered = await cat.autocomplete(stage.channel, "books restore", "book", "lamp")
        assert [choice["value"] for choice in offered] == [book.id]
        assert await stage.app.shelf.list(str(stage.guild.id)) == []

    async def test_who_removed_their_own_book_brings_it_back(self, stage: Stage) -> None:
        book = await stage.book(added_by=str(stage.ann.id))
        asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
        assert asked.response
        await stage.ann.click(asked.response, label="Remove it")
        assert "is back on the shelf" in text_of(await stage.ann.slash(stage.channel, "books restore", book=book.title))

    async def test_another_manager_brings_it_back_too(self, stage: Stage) -> None:
        book, _, _ = await self._removed_by_a_manager(stage)
        dan = stage.member("dan", manage_guild=True)
        assert "is back on the shelf" in text_of(await dan.slash(stage.channel, "books restore", book=book.id))

    async def test_another_server_cannot_bring_it_back(self, stage: Stage) -> None:
        book, _, _ = await self._removed_by_a_manager(stage)
        elsewhere = stage.env.create_guild("Rivals")
        channel = elsewhere.create_text_channel("general")
        eve = stage.member("eve", elsewhere, manage_guild=True)
        assert "No such book was removed" in text_of(await eve.slash(channel, "books restore", book=book.id))
        assert await eve.autocomplete(channel, "books restore", "book", "") == []

    async def test_what_one_cannot_see_is_not_counted(self, stage: Stage) -> None:
        book = await stage.book(added_by=str(stage.ann.id))
        await stage.chat(book, stage.ben, title="Secret", private=True)
        await stage.chat(book, stage.ben, title="Open")
        cat = stage.member("cat", manage_guild=True)
        asked = text_of(await cat.slash(stage.channel, "books remove", book=book.id))
        assert "1 conversation you can see" in asked
        assert "2" not in asked


async def test_a_right_that_was_lost_before_the_button_is_pressed_counts(stage: Stage) -> None:
    book = await stage.book(added_by=str(stage.ann.id))
    asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
    await stage.app.storage.books.save(replace(book, added_by="somebody else"))
    assert asked.response
    pressed = await stage.ann.click(asked.response, label="Remove it")
    assert "Only" in text_of(pressed)
    assert await stage.app.shelf.list(str(stage.guild.id))


async def test_another_guild_sees_nothing_of_the_shelf(stage: Stage) -> None:
    book = await stage.book("Ours")
    elsewhere = stage.env.create_guild("Rivals")
    channel = elsewhere.create_text_channel("general")
    eve = stage.member("eve", elsewhere, manage_guild=True)
    assert "Ours" not in text_of(await eve.slash(channel, "books list"))
    assert await eve.autocomplete(channel, "books info", "book", "Our") == []
    for command in ("books info", "books remove", "chat"):
        refused = await eve.slash(channel, command, book=book.id)
        assert "The shelf is empty" in text_of(refused), command
        assert "Ours" not in text_of(refused)
    assert await stage.app.shelf.get(book.id) == book


async def test_books_are_offered_by_title_and_author(stage: Stage) -> None:
    await stage.book("The Dark Lamp")
    await stage.book("Another Tale")
    offered = await stage.ann.autocomplete(stage.channel, "books info", "book", "lamp")
    assert [choice["name"] for choice in offered] == ["The Dark Lamp · A. Nonymous"]
    assert len(await stage.ann.autocomplete(stage.channel, "books info", "book", "nonym")) == 2


async def test_accents_and_apostrophes_need_not_be_typed_as_the_book_has_them(stage: Stage) -> None:
    typed_for = {
        "Les Misérables": "miserables",
        "Alice’s Adventures in Wonderland": "alice's",
        "Gulliver's Travels": "GULLIVER’S",
        "Götz von Berlichingen": "gotz von",
    }
    books = [await stage.book(title) for title in typed_for]
    for book in books:
        typed = typed_for[book.title]
        offered = await stage.ann.autocomplete(stage.channel, "books info", "book", typed)
        assert [choice["value"] for choice in offered] == [book.id]
        assert await stage.app.shelf.find(typed, shelf=book.shelf) == book
        await stage.chat(book, title=f"About {book.title}")
        [found] = await stage.ann.autocomplete(stage.channel, "conversations export", "conversation", typed)
        assert book.title in found["name"]


async def test_no_more_is_offered_than_discord_shows(stage: Stage) -> None:
    for number in range(30):
        await stage.book(f"Book {number}")
    assert len(await stage.ann.autocomplete(stage.channel, "chat", "book", "")) == 25


async def test_who_types_a_title_of_several_books_is_led_to_the_list_without_ids(stage: Stage) -> None:
    for title in ("Emma", "EMMA"):
        await stage.book(title)
    shown = text_of(await stage.ann.slash(stage.channel, "books info", book="emma"))
    assert shown == "Several books fit that. Please choose one from the list as you type."
    assert await stage.ann.autocomplete(stage.channel, "chat", "conversation", "", book="emma") == []


async def test_books_of_one_title_and_author_are_told_apart_where_one_is_chosen(stage: Stage) -> None:
    await stage.book("Emma")
    other = replace(await stage.book("Emma "), title="Emma", format="epub", page_count=412, pages_estimated=True)
    await stage.app.storage.books.save(other)
    await stage.book()
    offered = await stage.ann.autocomplete(stage.channel, "chat", "book", "")
    assert sorted(each["name"] for each in offered) == [
        "Emma · EPUB · about 412 pages · A. Nonymous",
        "Emma · TXT · 3 pages · A. Nonymous",
        "The Dark Lamp · A. Nonymous",
    ]
