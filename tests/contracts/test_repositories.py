"""What every storage promises about books, conversations, readers, usage and derived texts."""

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from domain.book import DerivedText, PositionState, ReadingPosition
from domain.conversation import TitleSource, TurnState
from domain.errors import BookError, BookErrorCode, ConversationError, StorageError, StorageErrorCode
from domain.records import OpenReply, PersonalPost, Removal, RemovalKind, UsageRecord, UsageTotal
from domain.tool_use import TokenUsage
from storage.opening import Storage
from tests.storage.values import (
    MIDNIGHT,
    a_book,
    a_conversation,
    a_question,
    at,
    everything_about_a_conversation,
    furnish,
    hold_turn,
    ids_of,
)


class TestBooks:
    async def test_a_book_comes_back_as_it_went(self, storage: Storage) -> None:
        book = a_book(pages_estimated=True, added_by="dodo")
        await storage.books.save(book)
        assert await storage.books.get("alice") == book
        assert await storage.books.get("nobody") is None

    async def test_saving_again_updates(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        await storage.books.save(a_book(title="Alice"))
        assert [book.title for book in await storage.books.list()] == ["Alice"]

    async def test_saving_again_keeps_what_hangs_on_the_book(self, storage: Storage) -> None:
        await furnish(storage)
        await storage.books.save(a_book(title="Alice"))
        assert await storage.conversations.get("tea") == a_conversation()

    async def test_a_shelf_holds_a_file_once_and_several_shelves_may_hold_it(self, storage: Storage) -> None:
        await storage.books.save(a_book(sha256="same"))
        await storage.books.save(a_book("elsewhere", shelf="guild", sha256="same"))
        with pytest.raises(BookError, match="on the shelf already: Alice") as refused:
            await storage.books.save(a_book("twin", sha256="same"))
        assert refused.value.code is BookErrorCode.ALREADY_EXISTS
        assert await storage.books.count_by_hash("same") == 2
        assert await storage.books.count_by_hash("other") == 0

    async def test_a_file_is_found_on_its_own_shelf_only(self, storage: Storage) -> None:
        await storage.books.save(a_book(sha256="same"))
        assert await storage.books.get_by_hash("local", "same") == a_book(sha256="same")
        assert await storage.books.get_by_hash("guild", "same") is None

    async def test_lists_are_newest_first_and_by_shelf(self, storage: Storage) -> None:
        for book_id, shelf, minutes in [("old", "a", 1), ("new", "a", 3), ("other", "b", 2), ("same minute", "a", 3)]:
            await storage.books.save(a_book(book_id, shelf=shelf, created_at=at(minutes)))
        assert [book.id for book in await storage.books.list("a")] == ["same minute", "new", "old"]
        assert [book.id for book in await storage.books.list()] == ["same minute", "new", "other", "old"]
        assert not await storage.books.list("c")

    async def test_a_book_takes_with_it_all_that_hangs_on_it(self, storage: Storage) -> None:
        await furnish(storage)
        turn = await hold_turn(storage, "first", external_id="900")
        await storage.readers.set_position("hatter", "alice", ReadingPosition(PositionState.READING, 5))
        await storage.derived_texts.put(DerivedText("alice", "summary", "1", 9, "She falls.", "model", MIDNIGHT))
        await storage.books.delete("alice")
        await storage.books.delete("alice")
        assert await storage.conversations.get("tea") is None
        assert await ids_of(storage) == []
        assert await storage.messages.get_by_external_id("900") is None
        assert await storage.turns.get(turn.id) is None
        assert await storage.readers.get_position("hatter", "alice") == ReadingPosition()
        await storage.books.save(a_book())
        assert await storage.derived_texts.get("alice", "summary", "1", 9) is None

    async def test_a_book_off_its_shelf_is_not_seen_nor_are_its_conversations_and_nothing_is_lost(
        self, storage: Storage
    ) -> None:
        await furnish(storage)
        await storage.conversations.save(a_conversation(guild_id="g", thread_id="3"))
        book = await storage.books.get("alice")
        assert book is not None
        removed = replace(book, removed_at=at(5), removed_by="duchess")
        await storage.books.save(removed)
        assert await storage.books.get("alice") is None
        assert [each.id for each in await storage.books.list()] == [
            each.id for each in await storage.books.list("local")
        ]
        assert "alice" not in [each.id for each in await storage.books.list()]
        assert await storage.conversations.get("tea") is None
        assert await storage.conversations.get_by_thread("3") is None
        assert not await storage.conversations.get_by_book("alice")
        assert not await storage.conversations.get_by_guild("g")
        assert list(await storage.books.list_removed()) == [removed]
        assert list(await storage.books.list_removed("local")) == [removed]
        assert not await storage.books.list_removed("elsewhere")
        assert await storage.books.get_by_hash("local", book.sha256) == removed
        assert await storage.books.count_by_hash(book.sha256) == 1
        await storage.books.save(book)
        assert await storage.books.get("alice") == book
        assert await storage.conversations.get_by_thread("3") == a_conversation(guild_id="g", thread_id="3")

    async def test_the_books_removed_last_come_first(self, storage: Storage) -> None:
        for name, minutes in [("first", 1), ("last", 3), ("second", 2)]:
            await storage.books.save(a_book(name, sha256=name, removed_at=at(minutes), removed_by="duchess"))
        assert [each.id for each in await storage.books.list_removed()] == ["last", "second", "first"]

    async def test_shelves_are_counted_that_hold_a_file_as_another_format(self, storage: Storage) -> None:
        await storage.books.save(a_book(sha256="same", format="txt"))
        assert await storage.books.count_by_hash("same", unlike="txt") == 0
        assert await storage.books.count_by_hash("same", unlike="markdown") == 1

    async def test_moments_come_back_with_their_zone(self, storage: Storage) -> None:
        tokyo = timezone(timedelta(hours=9))
        await storage.books.save(a_book(created_at=MIDNIGHT.astimezone(tokyo)))
        book = await storage.books.get("alice")
        assert book is not None
        assert book.created_at == MIDNIGHT
        assert book.created_at.tzinfo is not None


class TestConversations:
    async def test_a_conversation_comes_back_as_it_went(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        conversation = everything_about_a_conversation()
        await storage.conversations.save(conversation)
        assert await storage.conversations.get("tea") == conversation
        assert await storage.conversations.get_by_thread("3") == conversation
        assert await storage.conversations.get_by_thread("4") is None

    @pytest.mark.parametrize("verbose", [None, True, False])
    async def test_not_set_is_not_off(self, storage: Storage, verbose: bool | None) -> None:
        await storage.books.save(a_book())
        await storage.conversations.save(a_conversation(verbose=verbose))
        kept = await storage.conversations.get("tea")
        assert kept is not None
        assert kept.verbose is verbose

    async def test_saving_again_keeps_the_messages(self, storage: Storage) -> None:
        await furnish(storage)
        await hold_turn(storage, "first")
        await storage.conversations.save(a_conversation(thread_id="3"))
        assert await ids_of(storage) == ["first-question", "first-answer"]

    async def test_lists_are_newest_first(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        await storage.books.save(a_book("snark"))
        for name, book, guild, minutes in [("a", "alice", "g", 1), ("b", "snark", "g", 3), ("c", "alice", "h", 2)]:
            await storage.conversations.save(a_conversation(name, book, guild_id=guild, created_at=at(minutes)))
        assert [each.id for each in await storage.conversations.get_by_book("alice")] == ["c", "a"]
        assert [each.id for each in await storage.conversations.get_by_guild("g")] == ["b", "a"]
        assert not await storage.conversations.get_by_guild("nowhere")

    async def test_a_conversation_needs_its_book(self, storage: Storage) -> None:
        with pytest.raises(StorageError) as refused:
            await storage.conversations.save(a_conversation(book_id="nobody"))
        assert refused.value.code is StorageErrorCode.NOT_FOUND

    async def test_two_conversations_cannot_share_a_thread(self, storage: Storage) -> None:
        await furnish(storage)
        await storage.conversations.save(a_conversation(thread_id="3"))
        with pytest.raises(StorageError):
            await storage.conversations.save(a_conversation("other", thread_id="3"))

    async def test_renaming_touches_nothing_but_the_title(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        conversation = everything_about_a_conversation()
        await storage.conversations.save(conversation)
        await storage.conversations.update_title("tea", "  The   Mad Hatter ")
        await storage.conversations.update_title("nobody", "fine")
        renamed = replace(conversation, title="The Mad Hatter", title_source=TitleSource.PERSON)
        assert await storage.conversations.get("tea") == renamed
        with pytest.raises(ConversationError):
            await storage.conversations.update_title("tea", "   ")

    async def test_a_title_gives_way_only_to_one_of_a_stronger_source(self, storage: Storage) -> None:
        await furnish(storage)
        update = storage.conversations.update_title
        assert await update("tea", "By the model", TitleSource.MODEL)
        assert not await update("tea", "Again by the model", TitleSource.MODEL)
        assert await update("tea", "By a person")
        assert not await update("tea", "By the model", TitleSource.MODEL)
        assert await update("tea", "By a person again")
        assert not await update("nobody", "fine")
        kept = await storage.conversations.get("tea")
        assert kept is not None
        assert (kept.title, kept.title_source) == ("By a person again", TitleSource.PERSON)

    async def test_half_an_emoji_in_a_title_does_no_harm(self, storage: Storage) -> None:
        await furnish(storage)
        await storage.conversations.update_title("tea", "Tea \ud83c")
        kept = await storage.conversations.get("tea")
        assert kept is not None
        assert kept.title == "Tea \ufffd"

    async def test_deleting_takes_messages_and_turns_along(self, storage: Storage) -> None:
        await furnish(storage)
        turn = await hold_turn(storage, "first")
        await storage.conversations.delete("tea")
        await storage.conversations.delete("tea")
        assert await storage.conversations.get("tea") is None
        assert await ids_of(storage) == []
        assert await storage.turns.get(turn.id) is None
        assert await storage.books.get("alice") == a_book()


class TestPublicAnswers:
    """What /ask has answered for everybody stands in no thread of its own."""

    @pytest.fixture(autouse=True)
    async def asked(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        for name, thread in (("aside", None), ("talk", "t")):
            await storage.conversations.save(
                a_conversation(name, owner_id="hatter", guild_id="1", thread_id=thread, private=True)
            )
            turn = await hold_turn(storage, name, name)
            await storage.turns.finish(replace(turn, state=TurnState.DELIVERED, reply_ids=(f"{name}-1", f"{name}-2")))
        posts = ("aside-1", "aside-2", "talk-1", "other")
        await storage.privacy.note_posts([PersonalPost(each, "channel", "hatter", "1") for each in posts])

    async def test_they_are_to_be_removed_with_the_conversation(self, storage: Storage) -> None:
        removals = await storage.conversations.delete("aside", "hatter")
        assert set(removals) == {
            Removal(RemovalKind.MESSAGE, "channel", each, "1", "hatter") for each in ("aside-1", "aside-2")
        }
        assert set(await storage.privacy.list_removals_for("hatter")) == set(removals)
        assert await storage.conversations.get("aside") is None

    async def test_those_of_a_thread_go_with_the_thread(self, storage: Storage) -> None:
        assert await storage.conversations.delete("talk", "hatter") == []
        assert await storage.conversations.delete("nothing", "hatter") == []
        assert await storage.privacy.list_removals() == []

    async def test_if_one_is_deleted_the_other_messages_of_the_answer_are_to_be_removed(self, storage: Storage) -> None:
        [turn] = await storage.turns.get_by_conversation("aside")
        assert not await storage.turns.forget_answer(turn.id, "no-part-of-it")
        assert await storage.turns.forget_answer(turn.id, "aside-1")
        assert await storage.privacy.list_removals() == [Removal(RemovalKind.MESSAGE, "channel", "aside-2", "1")]


class TestDirectMessages:
    async def test_the_current_ones_are_listed_the_last_written_in_first(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        for name, thread in (("quiet", "1"), ("busy", "2"), ("left", None)):
            await storage.conversations.save(
                a_conversation(name, guild_id=f"person:{name}", channel_id="9", thread_id=thread)
            )
        await storage.conversations.save(a_conversation("server", guild_id="7", thread_id="3"))
        await storage.messages.save(a_question("hello", "busy"))
        assert [each.id for each in await storage.conversations.list_current_direct(5)] == ["busy", "quiet"]
        assert [each.id for each in await storage.conversations.list_current_direct(1)] == ["busy"]

    async def test_whoever_looks_finds_one_there_while_they_change_places(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        for name, thread in (("old", "9"), ("new", None)):
            await storage.conversations.save(a_conversation(name, guild_id="person:1", thread_id=thread))
        turns = asyncio.create_task(self._take_turns(storage))
        while not turns.done():
            assert await storage.conversations.get_by_thread("9") is not None
        await turns
        assert await storage.conversations.make_current("nobody", "person:1", "9") is None
        there, left = await storage.conversations.get_by_thread("9"), await storage.conversations.get("old")
        assert there and (there.id, there.channel_id, there.private) == ("new", "9", True)
        assert left and left.thread_id is None

    @staticmethod
    async def _take_turns(storage: Storage) -> None:
        for _ in range(10):
            for name in ("old", "new"):
                moved = await storage.conversations.make_current(name, "person:1", "9")
                assert moved and (moved.id, moved.thread_id) == (name, "9")

    async def test_what_came_before_a_known_id_is_known(self, storage: Storage) -> None:
        await furnish(storage)
        await storage.messages.note_known("tea", "900000000000000000")
        await storage.messages.note_known("tea", "900000000000000000")
        assert await storage.messages.get_newest_external_id("tea") == "900000000000000000"
        await storage.messages.note_known("there is none", "900000000000000001")


class TestReaders:
    async def test_a_position_is_one_reader_s_in_one_book(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        await storage.books.save(a_book("snark"))
        position = ReadingPosition(PositionState.READING, 1234)
        await storage.readers.set_position("hatter", "alice", position)
        assert await storage.readers.get_position("hatter", "alice") == position
        assert await storage.readers.get_position("hatter", "snark") == ReadingPosition()
        assert await storage.readers.get_position("dormouse", "alice") == ReadingPosition()

    async def test_the_three_states_are_three(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        for position in [
            ReadingPosition(PositionState.READING, 0),
            ReadingPosition(PositionState.FINISHED),
            ReadingPosition(),
        ]:
            await storage.readers.set_position("hatter", "alice", position)
            assert await storage.readers.get_position("hatter", "alice") == position

    async def test_the_least_far_is_found_among_those_who_are_underway(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        await storage.readers.set_position("hatter", "alice", ReadingPosition(PositionState.FINISHED))
        assert await storage.readers.list_positions("alice") == []
        for reader, read_to in (("alice", 30), ("dormouse", 20)):
            await storage.readers.set_position(reader, "alice", ReadingPosition(PositionState.READING, read_to))
        assert await storage.readers.list_positions("alice") == [(20, "dormouse"), (30, "alice")]

    async def test_a_position_needs_its_book(self, storage: Storage) -> None:
        with pytest.raises(StorageError):
            await storage.readers.set_position("hatter", "nobody", ReadingPosition(PositionState.FINISHED))

    async def test_a_language_is_kept_beside_other_preferences(self, storage: Storage) -> None:
        assert await storage.readers.get_locale("hatter") is None
        await storage.readers.set_verbose("hatter", True)
        await storage.readers.set_locale("hatter", "de")
        assert await storage.readers.get_locale("hatter") == "de"
        assert await storage.readers.get_verbose("hatter") is True

    async def test_somebody_is_left_out_from_when_they_say_so_to_when_they_undo_it(self, storage: Storage) -> None:
        assert not await storage.readers.is_opted_out("hatter")
        for choice in (True, True, False):
            await storage.readers.set_opted_out("hatter", choice)
            assert await storage.readers.is_opted_out("hatter") is choice
            assert [*await storage.readers.list_opted_out()] == ["hatter"] * choice

    async def test_who_is_left_out_holds_nobody_back_as_long_as_that_lasts(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        here = ReadingPosition(PositionState.READING, 7)
        await storage.readers.set_position("hatter", "alice", here)
        await storage.readers.set_opted_out("hatter", True)
        assert await storage.readers.get_position("hatter", "alice") == ReadingPosition()
        assert await storage.readers.list_positions("alice") == []
        await storage.readers.set_opted_out("hatter", False)
        assert await storage.readers.get_position("hatter", "alice") == here
        assert await storage.readers.list_positions("alice") == [(7, "hatter")]

    async def test_verbose_is_unset_until_it_is_set(self, storage: Storage) -> None:
        assert await storage.readers.get_verbose("hatter") is None
        for choice in (True, False):
            await storage.readers.set_verbose("hatter", choice)
            assert await storage.readers.get_verbose("hatter") is choice
        assert await storage.readers.get_verbose("dormouse") is None


class TestUsage:
    async def test_totals_by_reader_and_guild(self, storage: Storage) -> None:
        one = TokenUsage(100, 10, 80, 5)
        for minutes, reader, guild, conversation, cost in [
            (0, "hatter", "g", "tea", 30),
            (1, "hatter", "g", "tea", None),
            (2, "hatter", "h", "croquet", 50),
            (3, "dormouse", "g", "tea", 70),
        ]:
            await storage.usage.record(UsageRecord(at(minutes), "model", one, reader, guild, conversation, cost))
        usage = storage.usage
        assert await usage.total_for_reader("hatter", at(0)) == UsageTotal(3, TokenUsage(300, 30, 240, 15), 80, 1)
        assert await usage.total_for_reader("hatter", at(2)) == UsageTotal(1, one, 50, 0)
        assert await usage.total_for_guild("g", at(1)) == UsageTotal(2, one + one, 70, 1)
        assert await usage.total_in_guild("hatter", "g", at(0)) == UsageTotal(2, one + one, 30, 1)
        assert await usage.total_in_guild("hatter", "g", at(1)) == UsageTotal(1, one, 0, 1)
        assert await usage.total_for_reader("nobody", at(0)) == UsageTotal()

    async def test_a_total_says_whether_any_of_it_was_estimated(self, storage: Storage) -> None:
        await storage.usage.record(UsageRecord(at(0), "model", TokenUsage(100, 10), "hatter"))
        assert not (await storage.usage.total_for_reader("hatter", at(0))).usage.estimated
        await storage.usage.record(UsageRecord(at(1), "model", TokenUsage(50, 5, estimated=True), "hatter"))
        assert (await storage.usage.total_for_reader("hatter", at(0))).usage.estimated

    async def test_the_last_record_of_a_request_counts(self, storage: Storage) -> None:
        so_far, all_of_it = TokenUsage(100, 1, estimated=True), TokenUsage(90, 10, 80, 5)
        of_tea = UsageRecord(at(0), "model", so_far, "hatter", "g", "tea", 5, request_id="1")
        other = replace(of_tea, usage=TokenUsage(7, 1), request_id="2")
        await storage.usage.record(of_tea)
        await storage.usage.record(other)
        assert (await storage.usage.total_for_reader("hatter", at(0))).usage.estimated
        await storage.usage.record(replace(of_tea, at=at(1), usage=all_of_it, cost_microdollars=6))
        total = UsageTotal(2, TokenUsage(97, 11, 80, 5), 11)
        for found in (
            await storage.usage.total_for_reader("hatter", at(0)),
            await storage.usage.total_for_guild("g", at(0)),
        ):
            assert (found, found.usage.estimated) == (total, False)

    async def test_a_request_that_has_used_nothing_after_all_is_not_counted(self, storage: Storage) -> None:
        refused = UsageRecord(at(0), "model", TokenUsage(100, 1, estimated=True), "hatter", request_id="1")
        await storage.usage.record(refused)
        await storage.usage.record(replace(refused, usage=TokenUsage()))
        assert await storage.usage.total_for_reader("hatter", at(0)) == UsageTotal()

    async def test_what_was_spent_stays_spent_without_its_conversation(self, storage: Storage) -> None:
        await furnish(storage)
        await storage.usage.record(UsageRecord(at(0), "model", TokenUsage(100, 10), "hatter", None, "tea"))
        await storage.conversations.delete("tea")
        assert (await storage.usage.total_for_reader("hatter", at(0))).tokens == 110


class TestDerivedTexts:
    async def test_nothing_is_given_that_depends_on_more_than_was_read(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        early = DerivedText("alice", "story so far", "", 100, "She falls.", "model", MIDNIGHT)
        late = replace(early, depends_to=200, text="She falls and drinks.")
        for text in (late, early):
            await storage.derived_texts.put(text)
        get = storage.derived_texts.get
        assert await get("alice", "story so far", "", 99) is None
        assert await get("alice", "story so far", "", 100) == early
        assert await get("alice", "story so far", "", 199) == early
        assert await get("alice", "story so far", "", 500) == late
        assert await get("alice", "summary", "", 500) is None
        assert await get("alice", "story so far", "1", 500) is None

    async def test_a_better_text_takes_the_place_of_the_old(self, storage: Storage) -> None:
        await storage.books.save(a_book())
        text = DerivedText("alice", "summary", "3", 100, "She falls.", "small", MIDNIGHT)
        better = replace(text, text="She falls, slowly.", model="large", created_at=at(3))
        await storage.derived_texts.put(text)
        await storage.derived_texts.put(better)
        assert await storage.derived_texts.get("alice", "summary", "3", 100) == better


class TestOpenReplies:
    REPLY = OpenReply("9", "dodo", "guild", "room", "key", '{"action": "reading"}', MIDNIGHT, "shard/1", 7)

    async def test_a_reply_is_kept_until_it_stands(self, storage: Storage) -> None:
        assert await storage.open_replies.note(self.REPLY)
        assert not await storage.open_replies.note(replace(self.REPLY, epoch=8))
        assert await storage.open_replies.list() == [self.REPLY]
        await storage.open_replies.forget("9")
        assert await storage.open_replies.list() == []

    async def test_of_several_processes_only_one_takes_it(self, storage: Storage) -> None:
        await storage.open_replies.note(self.REPLY)
        takers = [storage.open_replies.take(self.REPLY, "{}", "shard/1", epoch) for epoch in range(8, 14)]
        taken = await asyncio.gather(*takers)
        assert sum(taken) == 1
        assert await storage.open_replies.list() == [replace(self.REPLY, about="{}", epoch=8 + taken.index(True))]
