"""What every storage promises to a person who asks for their data, or asks to be forgotten."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain.book import PositionState, ReadingPosition
from domain.chat import ChatMessage
from domain.clubs.plan import Club, Member, Stretch, ThreadGate, Vote, dated
from domain.conversation import UNTITLED, TitleSource, TurnState
from domain.errors import ConversationError
from domain.records import Erasure, OpenReply, PersonalPost, PostingPlace, Removal, RemovalKind, UsageRecord
from domain.tool_use import TokenUsage
from storage.opening import Storage
from tests.storage.values import MIDNIGHT, a_book, a_conversation, a_question, an_answer, at, hold_turn, ids_of


@pytest.fixture(autouse=True)
async def company(storage: Storage) -> None:
    """The Hatter owns `tea`, where the Dormouse writes as well, and `alone`; the Dormouse owns `nap`."""
    await storage.books.save(a_book(added_by="hatter", filename="alice.epub"))
    await storage.conversations.save(a_conversation("tea", owner_id="hatter", thread_id="t1"))
    await storage.conversations.save(a_conversation("alone", owner_id="hatter", thread_id="t2"))
    await storage.conversations.save(a_conversation("nap", owner_id="dormouse", title_source=TitleSource.PERSON))
    await hold_turn(storage, "tea-1", "tea", "hatter", author_name="The Hatter", external_id="1")
    await hold_turn(storage, "tea-2", "tea", "dormouse")
    await hold_turn(storage, "alone-1", "alone", "hatter")
    await hold_turn(storage, "nap-1", "nap", "hatter")
    await hold_turn(storage, "nap-2", "nap", "dormouse")
    await storage.messages.add_incoming(a_question("tea-waiting", "tea", author_id="hatter", external_id="2"))
    for reader in ("hatter", "dormouse"):
        await storage.readers.set_verbose(reader, True)
        await storage.readers.set_position(reader, "alice", ReadingPosition(PositionState.READING, 7))
        await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(10, 1), reader, "g", "tea", 5))
        await storage.messages.note_present("nap", reader)
    club = Club(
        "club", "alice", "1", "2", "hatter", ThreadGate.DATE, MIDNIGHT, 10, dated([Stretch(0, 10)], MIDNIGHT.date(), 7),
        (Member("hatter", MIDNIGHT, checked_in_at=at(3), hidden=True), Member("dormouse", at(1))),
    )  # fmt: skip
    await storage.clubs.create(club)
    await storage.clubs.put_vote(Vote("vote", "1", "2", "hatter", ("Emma", "Dracula"), MIDNIGHT, at(60)))


class TestExport:
    async def test_preferences_are_among_it(self, storage: Storage) -> None:
        await storage.readers.set_locale("hatter", "de")
        await storage.readers.set_opted_out("hatter", True)
        kept = await storage.privacy.export("hatter")
        assert (kept["language"], kept["left_out"]) == ("de", True)

    async def test_that_somebody_is_to_be_left_out_outlives_their_data(self, storage: Storage) -> None:
        await storage.readers.set_verbose("hatter", True)
        await storage.readers.set_opted_out("hatter", True)
        await storage.privacy.erase("hatter")
        assert await storage.readers.is_opted_out("hatter")
        assert await storage.readers.get_verbose("hatter") is None

    async def test_all_of_one_person_and_nothing_of_another(self, storage: Storage) -> None:
        kept = await storage.privacy.export("hatter")
        assert [message["content"] for message in kept["messages"]] == [a_question().content] * 4
        assert [each["id"] for each in kept["conversations"]] == ["tea", "alone"]
        assert [(each["book_id"], each["state"], each["read_to"]) for each in kept["positions"]] == [
            ("alice", "reading", 7)
        ]
        assert [(each["id"], each["filename"]) for each in kept["books_added"]] == [("alice", "alice.epub")]
        assert [each["input_tokens"] for each in kept["usage"]] == [10]
        assert [each["conversation_id"] for each in kept["present_in"]] == ["nap"]
        assert kept["verbose"] is True
        [club], [vote] = kept["clubs"], kept["votes"]
        assert (club["host"], club["hidden"], club["checked_in_at"][:16]) == (1, 1, "2026-11-21T00:03")
        assert json.loads(vote["choices"]) == ["Emma", "Dracula"]
        assert "dormouse" not in json.dumps(kept)

    async def test_what_began_in_one_moment_comes_in_the_order_of_writing_also_once_changed(
        self, storage: Storage
    ) -> None:
        began = ["tea", "alone", *(f"later {number}" for number in range(9, 0, -1))]
        for each in began[2:]:
            await storage.conversations.save(a_conversation(each, owner_id="hatter"))
        for each in ("tea", "later 5"):
            await storage.conversations.save(a_conversation(each, owner_id="hatter", title="Another"))
        kept = await storage.privacy.export("hatter")
        assert [each["id"] for each in kept["conversations"]] == began

    async def test_what_they_wait_for_is_among_it_without_the_key_to_the_reply(self, storage: Storage) -> None:
        about = '{"arguments": {"question": "Why is a raven like a writing desk?"}}'
        await storage.open_replies.note(OpenReply("9", "hatter", "1", "2", "a key", about, MIDNIGHT))
        kept = await storage.privacy.export("hatter")
        assert [each["about"] for each in kept["replies_in_the_making"]] == [about]
        assert "a key" not in json.dumps(kept)

    @pytest.mark.parametrize("stranger", ["nobody", ""])
    async def test_a_stranger_gets_nothing(self, storage: Storage, stranger: str) -> None:
        kept = await storage.privacy.export(stranger)
        assert kept.pop("reader_id") == stranger
        assert not any(kept.values())


class TestRemovedBooks:
    async def test_who_removed_a_book_is_told_so_and_forgotten_on_their_wish(self, storage: Storage) -> None:
        book = await storage.books.get("alice")
        assert book is not None
        await storage.books.save(replace(book, removed_at=at(9), removed_by="hatter"))
        kept = await storage.privacy.export("hatter")
        assert [each["id"] for each in kept["books_removed"]] == ["alice"]
        assert kept["messages"]
        await storage.privacy.erase("hatter")
        [removed] = await storage.books.list_removed()
        assert removed.removed_by == ""
        assert (await storage.privacy.export("hatter"))["messages"] == []


class TestErasure:
    async def test_nothing_of_the_person_is_left(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        kept = await storage.privacy.export("hatter")
        assert kept.pop("reader_id") == "hatter"
        assert len(kept.pop("to_be_removed")) == 2
        assert not any(kept.values())
        assert await storage.conversations.get("alone") is None
        book = await storage.books.get("alice")
        assert book is not None
        assert book.added_by == ""

    async def test_a_club_goes_on_with_the_others(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        club = await storage.clubs.get("club")
        assert club is not None
        assert (club.host_id, [each.reader_id for each in club.members]) == ("dormouse", ["dormouse"])
        assert await storage.clubs.list_to_look_at(MIDNIGHT) == ["club"]
        await storage.privacy.erase("dormouse")
        club = await storage.clubs.get("club")
        assert club is not None
        assert (club.host_id, club.members) == ("", ())

    async def test_others_keep_theirs_in_a_history_that_is_valid(self, storage: Storage) -> None:
        before = await storage.privacy.export("dormouse")
        await storage.privacy.erase("hatter")
        assert await ids_of(storage, "tea") == ["tea-2-question", "tea-2-answer"]
        assert await ids_of(storage, "nap") == ["nap-2-question", "nap-2-answer"]
        after = await storage.privacy.export("dormouse")
        [club] = after["clubs"]
        assert club.pop("host") != before["clubs"][0].pop("host")  # the club is theirs now
        assert after | {"messages": [], "clubs_hosted": []} == before | {"messages": [], "clubs_hosted": []}
        assert [each["content"] for each in after["messages"]] == [each["content"] for each in before["messages"]]
        assert (await storage.usage.total_for_guild("g", MIDNIGHT)).requests == 2

    async def test_a_title_made_from_their_words_goes_and_one_chosen_by_another_stays(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        tea, nap = await storage.conversations.get("tea"), await storage.conversations.get("nap")
        assert tea is not None
        assert nap is not None
        assert (tea.title, tea.title_source, tea.owner_id) == (UNTITLED, TitleSource.AUTOMATIC, "")
        assert (nap.title, nap.title_source, nap.owner_id) == ("Tea party", TitleSource.PERSON, "dormouse")

    async def test_a_turn_of_two_goes_as_a_whole(self, storage: Storage) -> None:
        for author in ("hatter", "dormouse"):
            await storage.messages.add_incoming(a_question(f"both-{author}", "nap", author_id=author))
        turn = await storage.turns.begin("nap", ["both-hatter", "both-dormouse"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED), [an_answer("both-answer", "nap")])
        await storage.privacy.erase("hatter")
        assert await ids_of(storage, "nap") == ["nap-2-question", "nap-2-answer"]

    @pytest.mark.parametrize(
        ("state", "told"),
        [
            (TurnState.RUNNING, False),
            (TurnState.ANSWERED, False),
            (TurnState.FAILED, False),
            pytest.param(TurnState.FAILED, True, id="they know that it failed"),
        ],
    )
    async def test_whom_a_turn_of_two_has_told_nothing_waits_again(
        self, storage: Storage, state: TurnState, told: bool
    ) -> None:
        for author in ("hatter", "dormouse"):
            await storage.messages.add_incoming(a_question(f"both-{author}", "nap", author_id=author))
        turn = await storage.turns.begin("nap", ["both-hatter", "both-dormouse"], MIDNIGHT)
        if state is not TurnState.RUNNING:
            said = [an_answer("both-answer", "nap")] if state is TurnState.ANSWERED else []
            await storage.turns.finish(replace(turn, state=state, told=told), said)
        await storage.privacy.erase("hatter")
        kept = [each for each in await storage.messages.get_by_conversation("nap") if each.id.startswith("both")]
        assert [(each.id, each.turn_id) for each in kept] == ([] if told else [("both-dormouse", None)])

    async def test_what_showed_it_is_on_the_list_of_removals(self, storage: Storage) -> None:
        first = (await storage.turns.get_by_conversation("tea"))[0]
        await storage.turns.update_delivery(first.id, ["901", "902"], "903")
        assert await storage.privacy.erase("hatter") == Erasure(messages=4, conversations=1)
        book = (await storage.books.get("alice")).title  # type: ignore[union-attr]
        assert set(await storage.privacy.list_removals()) == {
            Removal(RemovalKind.MESSAGE, "t1", "901", None, "hatter"),
            Removal(RemovalKind.MESSAGE, "t1", "902", None, "hatter"),
            Removal(RemovalKind.MESSAGE, "t1", "903", None, "hatter"),
            Removal(RemovalKind.THREAD_NAME, "t1", "", None, "hatter", book),
            Removal(RemovalKind.THREAD, "t2", "", None, "hatter", book),
        }

    async def test_messages_with_their_words_go_and_those_that_mention_them_lose_the_name(
        self, storage: Storage
    ) -> None:
        await storage.privacy.note_posts(
            [
                PersonalPost("1", "c", "hatter", "g"),
                PersonalPost("2", "c", "hatter", "g", "The Hatter", repeats=("tea-1-question",)),
                PersonalPost("2", "c", "dormouse", "g"),
                PersonalPost("3", "c", "dormouse", "g"),
                PersonalPost("4", "c", "", "g", thread_id="t1"),
            ]
        )
        await storage.privacy.note_posts([PersonalPost("2", "c", "hatter", "g")])
        assert [each["message_id"] for each in (await storage.privacy.export("hatter"))["shown_in"]] == ["1", "2"]
        await storage.privacy.erase("hatter")
        messages = {each.message_id: each for each in await storage.privacy.list_removals() if each.message_id}
        assert messages == {
            "1": Removal(RemovalKind.MENTION, "c", "1", "g", "hatter"),
            "2": Removal(RemovalKind.MESSAGE, "c", "2", "g", "hatter", "The Hatter"),
            "4": Removal(RemovalKind.MESSAGE, "c", "4", "g", "hatter"),
        }
        assert [each["message_id"] for each in (await storage.privacy.export("dormouse"))["shown_in"]] == ["2", "3"]

    async def test_places_are_remembered_with_every_time_the_oldest_first_until_they_are_forgotten(
        self, storage: Storage
    ) -> None:
        places = [PostingPlace("t1", "g", at(1)), PostingPlace("dm", None, at(2)), PostingPlace("t1", "g", at(3))]
        for each in (*reversed(places), places[0]):
            await storage.privacy.note_place(each)
        assert await storage.privacy.list_places() == places
        await storage.privacy.note_place(PostingPlace("t2", "g", at(4)), forget_before=at(3))
        assert await storage.privacy.list_places() == [places[2], PostingPlace("t2", "g", at(4))]

    async def test_posts_that_are_gone_are_forgotten(self, storage: Storage) -> None:
        await storage.privacy.note_posts([PersonalPost(each, "c" if each < "3" else "d", "hatter") for each in "1234"])
        await storage.privacy.forget_posts("1")
        await storage.privacy.forget_posts_in("d")
        assert [each["message_id"] for each in (await storage.privacy.export("hatter"))["shown_in"]] == ["2"]

    async def test_a_removal_is_there_until_it_is_done(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        first, second = await storage.privacy.list_removals()
        await storage.privacy.removed(first)
        await storage.privacy.refused(second)
        assert await storage.privacy.list_removals() == []
        assert await storage.privacy.list_removals_for("hatter") == [replace(second, refused=True)]
        assert await storage.privacy.list_removals_for("") == []
        assert second.link == f"https://discord.com/channels/@me/{second.channel_id}"

    async def test_their_club_goes_to_somebody_who_still_takes_part_and_its_card_is_drawn_anew(
        self, storage: Storage
    ) -> None:
        await storage.clubs.put_member("club", Member("dormouse", at(1), left_at=at(5)))
        await storage.clubs.put_member("club", Member("hare", at(2)))
        await storage.clubs.look_again("club", None)
        await storage.privacy.erase("hatter")
        club = await storage.clubs.get("club")
        assert club is not None
        assert (club.host_id, [each.reader_id for each in club.members]) == ("hare", ["dormouse", "hare"])
        assert list(await storage.clubs.list_to_look_at(at(10))) == ["club"]

    async def test_of_what_tells_threads_names_only_that_of_their_threads_goes(self, storage: Storage) -> None:
        told = [PersonalPost(f"told-{thread}", "c", "", "g", thread_id=thread) for thread in ("t1", "t2", "t3")]
        await storage.privacy.note_posts(told)
        await storage.privacy.erase("hatter")
        gone = {each.message_id for each in await storage.privacy.list_removals() if each.channel_id == "c"}
        assert gone == {"told-t1", "told-t2"}

    async def test_what_becomes_of_one_message_is_no_matter_to_others_of_its_channel(self, storage: Storage) -> None:
        await storage.privacy.note_posts([PersonalPost(number, "c", "hatter", "g") for number in "456"])
        await storage.privacy.erase("hatter")

        async def listed() -> list[str]:
            return [each.message_id for each in await storage.privacy.list_removals() if each.channel_id == "c"]

        first, second, third = [each for each in await storage.privacy.list_removals() if each.channel_id == "c"]
        await storage.privacy.removed(first)
        assert await listed() == [second.message_id, third.message_id]
        await storage.privacy.refused(second)
        assert await listed() == [third.message_id]

    async def test_the_tokens_of_the_day_are_not_given_back(self, storage: Storage) -> None:
        now = datetime.now(UTC)
        for reader in ("hatter", "dormouse"):
            await storage.usage.record(UsageRecord(now, "model", TokenUsage(100, 10), reader, "g"))
        await storage.privacy.erase("hatter")
        await storage.usage.record(UsageRecord(now, "model", TokenUsage(1, 1), "hatter"))
        await storage.privacy.erase("hatter")
        assert await storage.usage.spent_before_erasure("hatter", now) == 112
        assert await storage.usage.spent_before_erasure("dormouse", now) == 0
        assert await storage.usage.spent_before_erasure("hatter", now + timedelta(days=1)) == 0
        assert await storage.usage.spent_before_erasure("hatter", now, "g") == 110
        assert await storage.usage.spent_before_erasure("hatter", now, "other") == 0
        kept = await storage.engine.read("SELECT person FROM spent_tokens")
        assert not any("hatter" in row["person"] for row in kept)

    async def test_an_erased_message_that_is_seen_again_is_not_answered_again(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        for external_id in ("1", "2"):
            seen_again = a_question(f"again-{external_id}", "tea", author_id="hatter", external_id=external_id)
            assert not await storage.messages.add_incoming(seen_again)

    async def test_a_turn_under_way_is_gone_and_cannot_bring_it_back(self, storage: Storage) -> None:
        turn = await storage.turns.begin("tea", ["tea-waiting"], at(2))
        await storage.privacy.erase("hatter")
        assert await storage.turns.get(turn.id) is None
        with pytest.raises(ConversationError, match="was deleted before it was answered"):
            await storage.turns.finish(replace(turn, state=TurnState.ANSWERED), [an_answer("late", "tea")])

    async def test_nobody_is_not_everybody_without_a_name(self, storage: Storage) -> None:
        nameless: ChatMessage = a_question("nameless", "nap", author_id="")
        await storage.messages.add_incoming(nameless)
        assert await storage.privacy.erase("") == Erasure()
        assert "nameless" in await ids_of(storage, "nap")


class TestWhatComesLate:
    """What was begun before somebody was erased, and ends after, is erased as it comes in."""

    async def test_a_post_that_shows_them_as_they_were_goes_on_the_list_of_removals(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        before, after = datetime.now(UTC) - timedelta(seconds=9), datetime.now(UTC) + timedelta(seconds=9)
        late = PersonalPost("7", "c", "hatter", "g", "The Hatter", as_of=before)
        assert not await storage.privacy.note_posts([late, PersonalPost("7", "c", "dormouse", "g", as_of=before)])
        assert Removal(RemovalKind.MENTION, "c", "7", "g", "hatter", "The Hatter") in (
            await storage.privacy.list_removals()
        )
        assert (await storage.privacy.export("hatter"))["shown_in"] == []
        assert (await storage.privacy.export("dormouse"))["shown_in"] != []
        assert await storage.privacy.note_posts([PersonalPost("8", "c", "hatter", as_of=after)])
        assert (await storage.privacy.export("hatter"))["shown_in"] != []

    async def test_a_message_with_the_name_that_a_thread_was_given_before_goes(self, storage: Storage) -> None:
        async def may_stand(message_id: str, thread_id: str, name: str) -> bool:
            return await storage.privacy.note_posts([PersonalPost(message_id, "c", "", "g", name, thread_id)])

        book = (await storage.books.get("alice")).title  # type: ignore[union-attr]
        assert await may_stand("4", "t1", "Of hats")
        await storage.privacy.erase("hatter")
        assert not await may_stand("5", "t1", "Of hats")
        assert not await may_stand("6", "t2", "Of hats")  # a conversation that is gone
        assert await may_stand("7", "t1", book)
        assert await may_stand("8", "t1", "")  # the message that the thread was opened with
        removed = {each.message_id for each in await storage.privacy.list_removals() if each.message_id}
        assert removed == {"4", "5", "6"}

    async def test_times_of_the_platform_are_compared_with_its_clock_and_our_own_with_ours(
        self, storage: Storage
    ) -> None:
        """The platform is an hour behind."""
        there = datetime.now(UTC) - timedelta(hours=1)
        await storage.privacy.erase("hatter", there)
        moment = there + timedelta(minutes=1)
        assert await storage.privacy.note_posts([PersonalPost("1", "c", "hatter", as_of=moment)])
        assert not await storage.privacy.note_posts([PersonalPost("2", "c", "hatter", as_of=moment, as_of_turn=True)])
        said = a_question("said", "tea", author_id="hatter", external_id="77")
        assert await storage.messages.add_incoming(said, moment)

    async def test_a_message_they_wrote_before_is_not_kept_and_counts_as_known(self, storage: Storage) -> None:
        before = datetime.now(UTC) - timedelta(seconds=1)
        await storage.privacy.erase("hatter")
        late = a_question("late", "tea", author_id="hatter", external_id="77")
        assert not await storage.messages.add_incoming(late, before)
        assert not await storage.messages.add_incoming(late, datetime.now(UTC) + timedelta(seconds=1))
        assert "late" not in await ids_of(storage, "tea")
        news = a_question("news", "tea", author_id="hatter", external_id="78")
        assert await storage.messages.add_incoming(news, datetime.now(UTC) + timedelta(seconds=1))

    async def test_tokens_of_a_request_under_way_are_counted_without_their_name(self, storage: Storage) -> None:
        began = datetime.now(UTC)
        await storage.privacy.erase("hatter")
        ended = datetime.now(UTC)
        await storage.usage.record(UsageRecord(began, "model", TokenUsage(7, 3), "hatter", "g"))
        await storage.usage.record(UsageRecord(ended, "model", TokenUsage(4, 1), "hatter", "g", asked_at=began))
        assert (await storage.privacy.export("hatter"))["usage"] == []
        assert await storage.usage.spent_before_erasure("hatter", began, "g") == 15

    async def test_a_request_that_is_open_while_they_are_erased_counts_once_and_without_their_name(
        self, storage: Storage
    ) -> None:
        began = datetime.now(UTC)
        so_far = UsageRecord(began, "model", TokenUsage(7, 1), "hatter", "g", asked_at=began, request_id="1")
        await storage.usage.record(so_far)
        await storage.privacy.erase("hatter")
        at_the_end = replace(so_far, at=datetime.now(UTC), usage=TokenUsage(7, 5))
        for record in (at_the_end, at_the_end, replace(at_the_end, asked_at=None)):
            await storage.usage.record(record)
            assert (await storage.privacy.export("hatter"))["usage"] == []
            assert await storage.usage.spent_before_erasure("hatter", began, "g") == 12
            assert (await storage.usage.total_for_guild("g", began)).usage == TokenUsage(7, 5)

    async def test_a_title_is_not_made_of_a_question_that_is_gone(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        update = storage.conversations.update_title
        assert not await update("tea", "Of hats", TitleSource.MODEL, "tea-1-question")
        assert await update("tea", "Of naps", TitleSource.MODEL, "tea-2-question")

    async def test_a_conversation_that_is_gone_is_not_brought_back_by_a_change(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        assert await storage.conversations.change("alone", lambda it: replace(it, shared=True)) is None
        assert await storage.conversations.get("alone") is None

    async def test_what_is_on_the_list_already_can_be_erased_again(self, storage: Storage) -> None:
        for _ in range(2):
            await storage.privacy.note_posts([PersonalPost("5", "c", "hatter", "g")])
            await storage.privacy.erase("hatter")
            [removal] = [each for each in await storage.privacy.list_removals() if each.message_id == "5"]
            await storage.privacy.refused(removal)
        await storage.privacy.note_posts([PersonalPost("5", "c", "hatter", "g")])
        await storage.privacy.erase("hatter")
        assert "5" in {each.message_id for each in await storage.privacy.list_removals()}

    async def test_what_they_wrote_before_and_is_taken_in_after_it_is_not_kept(self, storage: Storage) -> None:
        add, before = storage.messages.add_incoming, datetime.now(UTC)
        await storage.privacy.erase("hatter")
        late = a_question("late", "nap", author_id="hatter", external_id="77")
        assert not await add(late, before)
        assert await storage.messages.get_newest_external_id("nap") == "77", "its id alone is known"
        assert not await add(late), "seen again, it is known"
        assert await add(a_question("other", "nap", author_id="dormouse", external_id="78"), before)
        assert await add(a_question("new", "nap", author_id="hatter", external_id="79"), datetime.now(UTC))
        assert [each for each in await ids_of(storage, "nap") if not each.startswith("nap-")] == ["other", "new"]

    async def test_a_conversation_that_was_made_for_such_a_message_goes_with_it_and_no_other(
        self, storage: Storage
    ) -> None:
        before = datetime.now(UTC)
        await storage.privacy.erase("hatter")
        for conversation_id, thread_id in (("empty", None), ("another", None), ("shown", "t3")):
            await storage.conversations.save(a_conversation(conversation_id, thread_id=thread_id))
        for number, conversation_id in enumerate(("empty", "shown", "nap"), 90):
            late = a_question(f"late-{number}", conversation_id, author_id="hatter", external_id=str(number))
            assert not await storage.messages.add_incoming(late, before)
        known = a_question("known", "another", author_id="dormouse", external_id="91")
        assert not await storage.messages.add_incoming(known, before), "a message that was taken in before is no other"
        mine = a_question("mine", "another", author_id="dormouse", external_id="99")
        assert await storage.messages.add_incoming(mine, before)
        there = [each for each in ("empty", "another", "shown", "nap") if await storage.conversations.get(each)]
        assert there == ["another", "shown", "nap"]

    async def test_that_somebody_was_erased_is_known_for_a_day_and_without_their_name(self, storage: Storage) -> None:
        await storage.privacy.erase("hatter")
        [row] = await storage.engine.read("SELECT person FROM erasures WHERE at <> ''")
        assert "hatter" not in row["person"]
        long_ago = (datetime.now(UTC) - timedelta(days=2)).isoformat(timespec="microseconds")
        await storage.engine.write("UPDATE erasures SET at = ?", [long_ago])
        await storage.retention.erase_notes(datetime.now(UTC) - timedelta(days=30))
        assert await storage.engine.read("SELECT person FROM erasures") == []
