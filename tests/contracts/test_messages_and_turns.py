"""What every storage promises about messages, their order, and the turns that hold them."""

import asyncio
from dataclasses import replace

import pytest

from domain.chat import MessageRole, PlatformMessage
from domain.conversation import UNTITLED, TitleSource, TurnState
from domain.errors import ConversationError, ConversationErrorCode, StorageError
from domain.records import PersonalPost, Removal, RemovalKind
from domain.tool_use import TokenUsage
from storage.opening import Storage
from tests.storage.values import (
    MIDNIGHT,
    a_conversation,
    a_question,
    an_answer,
    at,
    everything_said,
    furnish,
    hold_turn,
    ids_of,
)


@pytest.fixture(autouse=True)
async def furnished(storage: Storage) -> None:
    await furnish(storage)


class TestMessages:
    async def test_messages_come_back_as_they_went(self, storage: Storage) -> None:
        question = a_question(author_id="hatter", author_name="The Hatter", note="[p. 12]", external_id="900")
        await storage.messages.save_batch([question, *everything_said()])
        assert await storage.messages.get_by_conversation("tea") == [question, *everything_said()]
        assert await storage.messages.get_by_external_id("900") == question

    async def test_order_is_that_of_writing_whatever_the_clock_says(self, storage: Storage) -> None:
        for name, minutes in [("c", 3), ("a", 1), ("b", 2)]:
            await storage.messages.save(a_question(name, created_at=at(minutes)))
        assert await ids_of(storage) == ["c", "a", "b"]

    async def test_a_batch_is_written_whole_or_not_at_all(self, storage: Storage) -> None:
        with pytest.raises(StorageError):
            await storage.messages.save_batch([a_question("good"), a_question("bad", conversation_id="nobody")])
        assert await ids_of(storage) == []

    async def test_saving_again_updates_and_keeps_the_place(self, storage: Storage) -> None:
        await storage.messages.save_batch([a_question("first"), a_question("second")])
        await storage.messages.save(a_question("first", content="Edited"))
        first, second = await storage.messages.get_by_conversation("tea")
        assert (first.id, first.content, second.id) == ("first", "Edited", "second")

    async def test_an_event_that_comes_twice_is_known(self, storage: Storage) -> None:
        assert await storage.messages.add_incoming(a_question("once", external_id="900"))
        assert not await storage.messages.add_incoming(a_question("twice", content="again", external_id="900"))
        assert await storage.messages.get_by_conversation("tea") == [a_question("once", external_id="900")]

    async def test_an_event_that_comes_twice_at_once_is_known(self, storage: Storage) -> None:
        copies = [a_question(f"copy-{n}", external_id="900") for n in range(20)]
        taken = await asyncio.gather(*(storage.messages.add_incoming(copy) for copy in copies))
        assert sum(taken) == 1
        assert len(await ids_of(storage)) == 1

    async def test_messages_without_external_id_are_never_taken_for_each_other(self, storage: Storage) -> None:
        assert await storage.messages.add_incoming(a_question("one"))
        assert await storage.messages.add_incoming(a_question("two"))

    async def test_it_is_known_when_somebody_last_wrote_about_a_book(self, storage: Storage) -> None:
        last_written = storage.messages.get_last_written
        assert await last_written("hatter", "alice", but="2") is None
        for minute in (1, 2):
            await storage.messages.add_incoming(
                a_question(f"at {minute}", external_id=str(minute), author_id="hatter", created_at=at(minute))
            )
        await storage.messages.add_incoming(a_question("unnumbered", author_id="alice", created_at=at(3)))
        assert await last_written("hatter", "alice", but="") == at(2)
        assert await last_written("hatter", "alice", but="2") == at(1)
        assert await last_written("alice", "alice", but="2") == at(3)
        assert await last_written("hatter", "looking-glass", but="") is None

    async def test_the_newest_of_the_known_messages_is_the_one_with_the_largest_number(self, storage: Storage) -> None:
        assert await storage.messages.get_newest_external_id("tea") is None
        for number in ("900", "1001", "99"):
            await storage.messages.add_incoming(a_question(number, external_id=number, author_id="hatter"))
        await storage.messages.add_incoming(a_question("from elsewhere"))
        assert await storage.messages.get_newest_external_id("tea") == "1001"
        await storage.privacy.erase("hatter")
        assert await storage.messages.get_newest_external_id("tea") == "1001"

    async def test_of_a_long_conversation_the_newest_turns_and_what_waits_can_be_had_alone(
        self, storage: Storage
    ) -> None:
        for number in range(5):
            await hold_turn(storage, f"turn-{number}")
        for name in ("one", "two"):
            await storage.messages.add_incoming(a_question(name))
        everything = await storage.messages.get_by_conversation("tea")
        newest = [message for message in everything if message.id.startswith(("turn-3", "turn-4", "one", "two"))]
        assert list(await storage.messages.get_recent("tea", 2)) == newest
        assert list(await storage.messages.get_recent("tea", 99)) == list(everything)
        assert [message.id for message in await storage.messages.get_recent("tea", 0)] == ["one", "two"]
        assert await storage.turns.get_recent("tea", 2) == (await storage.turns.get_by_conversation("tea"))[-2:]

    async def test_a_question_that_is_forgotten_takes_its_turn_along_and_is_known_all_the_same(
        self, storage: Storage
    ) -> None:
        await storage.messages.add_incoming(a_question("why", external_id="12"))
        turn = await storage.turns.begin("tea", ["why"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.ANSWERED), [an_answer("because")])
        gone = await storage.turns.forget_question("why", at(60))
        assert gone is not None
        assert gone.id == turn.id
        assert await storage.messages.get_by_conversation("tea") == []
        assert await storage.turns.get(turn.id) is None
        assert await storage.messages.get_newest_external_id("tea") == "12"
        assert not await storage.messages.add_incoming(a_question("again", external_id="12"))
        assert await storage.turns.forget_question("why", at(60)) is None

    async def test_of_a_turn_that_was_delivered_the_answer_stays_until_it_is_time(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation(guild_id="1", thread_id="2", title=a_question().content))
        await storage.messages.add_incoming(a_question("why", author_id="hatter"))
        turn = await storage.turns.begin("tea", ["why"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED), everything_said())
        await storage.turns.update_delivery(turn.id, ["3", "4"], "5")
        before = await storage.turns.forget_question("why", at(60))
        assert before is not None
        assert (before.reply_ids, before.trace_id) == (("3", "4"), "5")
        [answer] = await storage.messages.get_by_conversation("tea")
        assert (answer.id, answer.raw) == ("answer", None)
        [left] = await storage.turns.list_expiring()
        assert (left.asked_by, left.expires_at, left.trace_id) == ("hatter", at(60), None)
        assert await storage.turns.begin_again(turn.id) is None, "its question is gone"
        assert await storage.turns.list_expiring() == [left]
        titled = await storage.conversations.get("tea")
        assert titled is not None
        assert titled.title == UNTITLED
        removals = {(each.kind, each.message_id) for each in await storage.privacy.list_removals()}
        assert removals == {(RemovalKind.MESSAGE, "5"), (RemovalKind.THREAD_NAME, "")}
        assert await storage.turns.drop_expired(at(60)) == 0
        assert await storage.turns.drop_expired(at(61)) == 1
        assert await storage.turns.get(turn.id) is None
        assert {"3", "4"} < {each.message_id for each in await storage.privacy.list_removals()}

    async def test_an_answer_that_is_kept_stays(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation(guild_id="1", thread_id="2"))
        turn = replace(await hold_turn(storage, "first"), state=TurnState.DELIVERED, reply_ids=("3",))
        assert not await storage.turns.keep_answer(turn.id)
        assert not await storage.turns.drop_answer(turn.id)
        await storage.turns.finish(turn)
        await storage.turns.forget_question("first-question", at(60))
        assert await storage.turns.keep_answer(turn.id)
        assert await storage.turns.drop_expired(at(61)) == 0
        assert await storage.turns.list_expiring() == []
        assert await storage.turns.drop_answer(turn.id)
        assert [each.message_id for each in await storage.privacy.list_removals()] == ["3"]

    async def test_new_words_are_kept_and_the_title_that_was_made_of_the_old_follows(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation(guild_id="1", thread_id="2", title=a_question().content))
        await hold_turn(storage, "first")
        await storage.turns.reword_question("first-question", "Who stole the tarts?")
        assert (await storage.messages.get_by_conversation("tea"))[0].content == "Who stole the tarts?"
        titled = await storage.conversations.get("tea")
        assert titled is not None
        assert titled.title == "Who stole the tarts?"
        assert [each.name for each in await storage.privacy.list_removals()] == ["Who stole the tarts?"]

    @pytest.mark.parametrize(("source", "stays"), [(TitleSource.MODEL, False), (TitleSource.PERSON, True)])
    async def test_a_title_that_a_model_made_goes_with_the_first_question(
        self, storage: Storage, source: TitleSource, stays: bool
    ) -> None:
        await storage.conversations.save(a_conversation(guild_id="1", thread_id="2", title_source=source))
        for name in ("first", "second"):
            await hold_turn(storage, name)
        await storage.turns.forget_question("second-question", at(60))
        assert (await storage.conversations.get("tea")).title == "Tea party"  # type: ignore[union-attr]
        await storage.turns.forget_question("first-question", at(60))
        assert ((await storage.conversations.get("tea")).title == "Tea party") is stays  # type: ignore[union-attr]

    async def test_a_turn_that_others_asked_stays_when_one_question_is_forgotten(self, storage: Storage) -> None:
        for name in ("why", "who"):
            await storage.messages.add_incoming(a_question(name))
        turn = await storage.turns.begin("tea", ["why", "who"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.ANSWERED), [an_answer("because")])
        assert await storage.turns.forget_question("why", at(60)) is None
        assert [message.id for message in await storage.messages.get_by_conversation("tea")] == ["who", "because"]

    async def test_a_turn_that_supersedes_another_has_its_place_and_its_question(self, storage: Storage) -> None:
        for name in ("one", "two", "three"):
            await hold_turn(storage, name)
        first, second, third = await storage.turns.get_by_conversation("tea")
        held = await storage.turns.begin_again(second.id)
        assert held is not None
        assert (held.id, held.state, held.number, held.told) == (second.id, TurnState.ANSWERED, 2, True)
        [asked] = [m for m in await storage.messages.get_by_conversation("tea") if m.turn_id == second.id][:1]
        new = replace(held, id="new", model="m", usage=TokenUsage(5, 7), reply_ids=("1", "2"), trace_id="3", told=False)
        for _ in range(2):  # a commit whose answer was lost is done again
            await storage.turns.supersede(second.id, new, [replace(asked, note="[p. 2]"), an_answer("better")])
        turns = await storage.turns.get_by_conversation("tea")
        assert [(turn.id, turn.number) for turn in turns] == [(first.id, 1), ("new", 2), (third.id, 3)]
        assert turns[1] == replace(new, number=2)
        history = await storage.messages.get_by_conversation("tea")
        assert [m.id for m in history if m.turn_id == "new"] == [asked.id, "better"]
        assert [m.turn_id for m in history if m.turn_id == second.id] == []
        assert next(m for m in history if m.id == asked.id).note == "[p. 2]"
        assert [turn.id for turn in await storage.turns.list_undelivered()].count("new") == 1

    async def test_what_is_gone_or_has_no_answer_cannot_be_answered_again(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question("why"))
        turn = await storage.turns.begin("tea", ["why"], MIDNIGHT)
        assert await storage.turns.begin_again(turn.id) is None
        assert await storage.turns.begin_again("nobody") is None
        with pytest.raises(ConversationError) as caught:
            await storage.turns.supersede("nobody", replace(turn, id="new"), [an_answer("late")])
        assert caught.value.code is ConversationErrorCode.NOT_FOUND
        assert await storage.turns.get("new") is None

    async def test_authors_are_those_who_have_written(self, storage: Storage) -> None:
        await hold_turn(storage, "first")
        await storage.messages.add_incoming(a_question("another", author_id="alice"))
        await storage.messages.add_incoming(a_question("and more", author_id="hatter"))
        assert set(await storage.messages.list_authors("tea")) == {"hatter", "alice"}
        assert await storage.messages.list_authors("croquet") == []

    async def test_people_are_authors_and_those_who_write_to_each_other(self, storage: Storage) -> None:
        await hold_turn(storage, "first")
        for _ in range(2):
            await storage.messages.note_present("tea", "dormouse")
        await storage.messages.note_present("gone", "dormouse")
        assert sorted(await storage.messages.list_people("tea")) == ["dormouse", "hatter"]
        assert await storage.messages.list_authors("tea") == ["hatter"]
        await storage.conversations.delete("tea")
        assert await storage.messages.list_people("tea") == []

    async def test_whoever_opened_it_or_wrote_long_ago_or_is_absent_reads_along_no_more(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation(owner_id="queen", created_at=at(1)))
        await storage.messages.add_incoming(a_question("old", author_id="hatter", created_at=at(2)))
        await storage.messages.note_present("tea", "dormouse", at(3))
        assert sorted(await storage.messages.list_people("tea")) == ["dormouse", "hatter", "queen"]
        assert sorted(await storage.messages.list_people("tea", at(1))) == ["dormouse", "hatter", "queen"]
        assert sorted(await storage.messages.list_people("tea", at(2))) == ["dormouse", "hatter"]
        assert await storage.messages.list_people("tea", at(4)) == []
        await storage.messages.note_present("tea", "dormouse", at(5))
        assert await storage.messages.list_people("tea", at(4)) == ["dormouse"]

    async def test_who_is_absent_is_back_once_they_write(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question("one", author_id="hatter", created_at=at(1)))
        await storage.messages.note_present("tea", "dormouse", at(1))
        for person in ("hatter", "dormouse", "stranger"):
            await storage.messages.note_absent("tea", person, at(2))
        await storage.messages.note_absent("gone", "hatter", at(2))
        assert await storage.messages.list_people("tea") == []
        await storage.messages.add_incoming(a_question("two", author_id="hatter", created_at=at(3)))
        assert await storage.messages.list_people("tea") == ["hatter"]
        await storage.messages.note_present("tea", "dormouse", at(3))
        assert sorted(await storage.messages.list_people("tea")) == ["dormouse", "hatter"]

    async def test_a_conversation_is_listed_while_a_message_waits_in_it(self, storage: Storage) -> None:
        await hold_turn(storage, "first")
        assert await storage.messages.list_waiting() == []
        await storage.messages.add_incoming(a_question("one"))
        await storage.messages.add_incoming(a_question("two"))
        assert await storage.messages.list_waiting() == ["tea"]
        await storage.turns.begin("tea", ["one", "two"], MIDNIGHT)
        assert await storage.messages.list_waiting() == []

    async def test_deleting_leaves_the_others_in_order(self, storage: Storage) -> None:
        await storage.messages.save_batch([a_question(name) for name in "abcd"])
        await storage.messages.delete("b")
        await storage.messages.delete("b")
        await storage.messages.save(a_question("e"))
        assert await ids_of(storage) == ["a", "c", "d", "e"]

    async def test_deleting_by_conversation_leaves_other_conversations(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation("croquet"))
        await hold_turn(storage, "tea")
        await hold_turn(storage, "croquet", "croquet")
        await storage.messages.save(a_question("waiting"))
        await storage.messages.delete_by_conversation("tea")
        assert await ids_of(storage) == []
        assert not await storage.turns.get_by_conversation("tea")
        assert await ids_of(storage, "croquet") == ["croquet-question", "croquet-answer"]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "\x00",
            "a\x00b",
            "\ufdd00 \ufdd0e \ufdd0\x00",
            "naïve 兔子 🐇",
            "half a pair \ud83d",
            "'; DROP TABLE books",
        ],
    )
    async def test_any_text_can_be_kept(self, storage: Storage, text: str) -> None:
        await storage.messages.save(a_question(content=text))
        (kept,) = await storage.messages.get_by_conversation("tea")
        assert kept.content == text.replace("\ud83d", "\ufffd")

    async def test_the_newest_questions_of_a_place_are_those_of_its_conversations(self, storage: Storage) -> None:
        """A thread has one conversation, and its channel more; direct messages have had several."""
        for name, place in (("tea", "dm"), ("rose", "dm"), ("hole", "thread")):
            channel, thread = ("channel", place) if place == "thread" else (place, None)
            await storage.conversations.save(a_conversation(name, channel_id=channel, thread_id=thread))
            await storage.messages.save(a_question(name, conversation_id=name, external_id=f"9{len(name)}{name}"))
        await storage.messages.save_batch([a_question("unsent", conversation_id="rose"), *everything_said()])

        async def asked_in(place: str, limit: int = 9) -> list[str]:
            return [each.id for each in await storage.messages.list_questions(place, limit)]

        assert await asked_in("dm") == ["rose", "tea"]
        assert await asked_in("dm", 1) == ["rose"]
        assert await asked_in("thread") == ["hole"]
        assert await asked_in("elsewhere") == []


class TestShownQuestions:
    """Questions that messages show which bear other ids."""

    SAID = PlatformMessage("11", "channel")

    @pytest.fixture(autouse=True)
    async def asked(self, storage: Storage) -> None:
        """One question that was said elsewhere, and another; a message of the bot repeats each."""
        await storage.conversations.save(a_conversation(guild_id="1", channel_id="channel", thread_id="thread"))
        why = a_question("why", author_id="hatter", external_id="command:12", content="Why?")
        who = a_question("who", author_id="hatter", external_id="command:13", content="Who?")
        assert await storage.messages.add_incoming(why, MIDNIGHT, self.SAID)
        assert await storage.messages.add_incoming(who, MIDNIGHT)
        assert await storage.privacy.note_posts([repeats("14", "why"), repeats("15", "who")])

    async def in_message(self, storage: Storage, message_id: str) -> list[str]:
        return [each.id for each in await storage.messages.list_questions_in(message_id)]

    @pytest.mark.parametrize(
        ("message_id", "questions"),
        [
            ("command:12", ["why"]),
            ("11", ["why"]),
            ("14", ["why"]),
            ("command:13", ["who"]),
            ("15", ["who"]),
            ("12", []),
            ("16", []),
        ],
    )
    async def test_each_is_found_by_every_message_that_shows_it(
        self, storage: Storage, message_id: str, questions: list[str]
    ) -> None:
        assert await self.in_message(storage, message_id) == questions

    async def test_one_message_may_repeat_several(self, storage: Storage) -> None:
        await storage.privacy.note_posts([repeats("16", "who", "why")])
        assert await self.in_message(storage, "16") == ["why", "who"]
        assert await storage.messages.list_repetitions("who") == [
            PlatformMessage("15", "thread"),
            PlatformMessage("16", "thread"),
        ]

    async def test_one_that_is_not_taken_in_is_shown_nowhere(self, storage: Storage) -> None:
        again = a_question("again", author_id="hatter", external_id="command:12")
        assert not await storage.messages.add_incoming(again, MIDNIGHT, PlatformMessage("21", "channel"))
        await storage.privacy.erase("dormouse", at(5))
        late = a_question("late", author_id="dormouse", external_id="command:22")
        assert not await storage.messages.add_incoming(late, MIDNIGHT, PlatformMessage("22", "channel"))
        assert await storage.messages.list_shown_in("channel", 9) == {"11": "Why?"}

    async def test_the_newest_of_a_channel_are_listed_with_the_words(self, storage: Storage) -> None:
        assert await storage.messages.list_shown_in("channel", 9) == {"11": "Why?"}
        assert await storage.messages.list_shown_in("thread", 9) == {"14": "Why?", "15": "Who?"}
        assert await storage.messages.list_shown_in("thread", 1) == {"15": "Who?"}
        await storage.turns.reword_question("who", "Whom?")
        assert await storage.messages.list_shown_in("thread", 1) == {"15": "Whom?"}

    async def test_channels_are_listed_where_something_was_said_before(self, storage: Storage) -> None:
        assert await storage.messages.list_channels_before("1") == ["channel"]
        assert await storage.messages.list_channels_before("2") == []

    async def test_of_many_channels_they_are_the_last(self, storage: Storage) -> None:
        for number in range(201):
            asked = a_question(f"m{number}", author_id="hatter", external_id=f"command:{100 + number}")
            assert await storage.messages.add_incoming(asked, MIDNIGHT, PlatformMessage("21", f"channel {number}"))
        listed = await storage.messages.list_channels_before("1")
        assert listed == [f"channel {number}" for number in reversed(range(1, 201))]

    async def test_with_the_question_goes_what_repeats_it_and_nothing_else(self, storage: Storage) -> None:
        await storage.turns.forget_question("why", at(60))
        assert await storage.privacy.list_removals() == [Removal(RemovalKind.MESSAGE, "thread", "14", "1")]
        assert [await self.in_message(storage, each) for each in ("11", "14", "15")] == [[], [], ["who"]]
        assert await storage.messages.list_channels_before("1") == []

    async def test_what_repeats_it_too_late_is_removed(self, storage: Storage) -> None:
        await storage.turns.forget_question("why", at(60))
        assert await storage.privacy.note_posts([repeats("16", "why", "who")])
        assert not await storage.privacy.note_posts([repeats("17", "why")])
        assert {each.message_id for each in await storage.privacy.list_removals()} == {"14", "17"}

    async def test_another_answer_changes_nothing_of_it(self, storage: Storage) -> None:
        turn = await storage.turns.begin("tea", ["why"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED), [an_answer("because")])
        held = await storage.turns.begin_again(turn.id)
        assert held is not None
        [asked] = [each for each in await storage.messages.get_by_conversation("tea") if each.id == "why"]
        await storage.turns.supersede(turn.id, replace(held, id="new"), [asked, an_answer("better")])
        assert [await self.in_message(storage, each) for each in ("11", "14")] == [["why"], ["why"]]

    async def test_a_deleted_message_may_be_forgotten_and_its_question_is_known_all_the_same(
        self, storage: Storage
    ) -> None:
        await storage.privacy.forget_posts("14")
        assert await self.in_message(storage, "14") == ["why"]

    async def test_whoever_is_erased_takes_them_along(self, storage: Storage) -> None:
        shown = (await storage.privacy.export("hatter"))["questions_shown_in"]
        assert [(each["message_id"], each["channel_id"], each["repeated"]) for each in shown] == [
            ("11", "channel", 0),
            ("14", "thread", 1),
            ("15", "thread", 1),
        ]
        await storage.privacy.erase("hatter")
        assert [await self.in_message(storage, each) for each in ("11", "14", "15")] == [[], [], []]
        kinds = {each.message_id: each.kind for each in await storage.privacy.list_removals() if each.message_id}
        assert kinds == {"14": RemovalKind.MESSAGE, "15": RemovalKind.MESSAGE}  # what they said is theirs to delete

    async def test_what_a_question_quotes_goes_with_the_person_who_wrote_it(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation("aside", guild_id="1", title="Is it? > “It ticks”"))
        asked = a_question("quoting", "aside", author_id="alice", content="Is it?\n\n> “It ticks”")
        assert await storage.messages.add_incoming(asked, MIDNIGHT, PlatformMessage("31", "channel", "dormouse"))
        assert await self.in_message(storage, "31") == ["quoting"]
        [copied] = (await storage.privacy.export("dormouse"))["questions_shown_in"]
        assert copied["message_id"] == "31"
        await storage.privacy.erase("dormouse")
        [kept] = await storage.messages.get_by_conversation("aside")
        found = await storage.conversations.get("aside")
        assert found is not None
        assert (kept.content, found.title) == ("Is it?", "Is it?")
        assert await self.in_message(storage, "31") == []

    @pytest.mark.parametrize("end", ["deleted", "idle", "gone", "server"])
    async def test_a_conversation_that_ends_takes_them_along(self, storage: Storage, end: str) -> None:
        turn = await storage.turns.begin("tea", ["why", "who"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED, finished_at=at(1)), [an_answer("because")])
        match end:
            case "deleted":
                await storage.conversations.delete("tea")
            case "idle":
                assert await storage.retention.erase_conversations(at(2)) == 1
            case "gone":
                await storage.conversations.note_gone("1", "thread", MIDNIGHT)
                assert await storage.retention.erase_gone(at(2)) == 1
            case _:
                await storage.retention.erase_server("1")
        assert await storage.messages.list_shown_in("thread", 9) == {}
        assert (await storage.privacy.export("hatter"))["questions_shown_in"] == []


@pytest.mark.parametrize(
    ("place", "server", "stays"),
    [("channel", "1", False), ("thread", "1", True), ("channel", "2", True), ("parent", "1", False)],
)
async def test_an_answer_to_a_command_is_forgotten_with_its_channel_or_the_channel_of_its_thread(
    storage: Storage, place: str, server: str, *, stays: bool
) -> None:
    await storage.conversations.save(a_conversation(guild_id="1", channel_id="parent", thread_id="channel"))
    await storage.conversations.save(a_conversation("aside", guild_id="1", private=True, owner_id="hatter"))
    await storage.messages.save_batch(
        [a_question(author_id="hatter"), a_question("asked", "aside", author_id="hatter")]
    )
    for talk, question in (("tea", "question"), ("aside", "asked")):
        turn = await storage.turns.begin(talk, [question], MIDNIGHT)
        said = an_answer(f"answer to {question}", talk)
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED, finished_at=at(1)), [said])
        await storage.turns.update_delivery(turn.id, [f"shows {question}"], None)
    await storage.privacy.note_posts(
        [PersonalPost(f"shows {each}", "channel", "hatter") for each in ("asked", "question")]
    )
    await storage.turns.forget_asides_in(server, place)
    assert len(await storage.messages.get_by_conversation("aside")) == 1 + stays
    assert len(await storage.messages.get_by_conversation("tea")) == 2
    await storage.privacy.forget_posts_in(place)
    assert bool((await storage.privacy.export("hatter"))["shown_in"]) is (place == "thread")


def repeats(message_id: str, *questions: str) -> PersonalPost:
    return PersonalPost(message_id, "thread", "hatter", "1", "The Hatter", repeats=questions)


class TestTurns:
    async def test_a_turn_takes_the_messages_that_are_named(self, storage: Storage) -> None:
        for name in ("first", "second", "later"):
            await storage.messages.add_incoming(a_question(name))
        turn = await storage.turns.begin("tea", ["first", "second"], at(7))
        assert (turn.number, turn.state, turn.started_at) == (1, TurnState.RUNNING, at(7))
        assert await storage.turns.get(turn.id) == turn
        taken = {each.id: each.turn_id for each in await storage.messages.get_by_conversation("tea")}
        assert taken == {"first": turn.id, "second": turn.id, "later": None}

    async def test_a_message_is_taken_once(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        results = await asyncio.gather(
            *(storage.turns.begin("tea", ["question"], MIDNIGHT) for _ in range(5)), return_exceptions=True
        )
        errors = [result for result in results if isinstance(result, ConversationError)]
        assert [error.code for error in errors] == [ConversationErrorCode.INVALID_STATE] * 4
        assert len(await storage.turns.get_by_conversation("tea")) == 1

    async def test_a_turn_that_cannot_begin_leaves_no_trace(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation("croquet"))
        await storage.messages.add_incoming(a_question("here"))
        await storage.messages.add_incoming(a_question("elsewhere", "croquet"))
        with pytest.raises(ConversationError):
            await storage.turns.begin("tea", ["here", "elsewhere"], MIDNIGHT)
        assert not await storage.turns.get_by_conversation("tea")
        assert [each.turn_id for each in await storage.messages.get_by_conversation("tea")] == [None]

    async def test_messages_deleted_meanwhile_are_passed_over(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question("left"))
        turn = await storage.turns.begin("tea", ["left", "deleted"], MIDNIGHT)
        assert [each.turn_id for each in await storage.messages.get_by_conversation("tea")] == [turn.id]
        with pytest.raises(ConversationError) as refused:
            await storage.turns.begin("tea", ["deleted"], MIDNIGHT)
        assert refused.value.code is ConversationErrorCode.INVALID_STATE

    async def test_a_turn_needs_its_conversation(self, storage: Storage) -> None:
        with pytest.raises(ConversationError) as refused:
            await storage.turns.begin("nobody", ["question"], MIDNIGHT)
        assert refused.value.code is ConversationErrorCode.NOT_FOUND

    async def test_the_end_of_a_turn_is_kept_with_its_messages(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        turn = await storage.turns.begin("tea", ["question"], MIDNIGHT)
        done = replace(
            turn, state=TurnState.ANSWERED, finished_at=at(1), model="m", usage=TokenUsage(5, 6, 7, 8), stopped=True
        )
        await storage.turns.finish(done, everything_said())
        assert await storage.turns.get(turn.id) == done
        said = [replace(message, turn_id=turn.id) for message in everything_said()]
        assert await storage.messages.get_by_conversation("tea") == [a_question(turn_id=turn.id), *said]

    async def test_the_end_of_a_turn_is_written_whole_or_not_at_all(self, storage: Storage) -> None:
        turn = await hold_turn(storage, "first", external_id="900")
        failed = replace(turn, state=TurnState.FAILED)
        with pytest.raises(StorageError):
            await storage.turns.finish(failed, [an_answer("good"), an_answer("bad", external_id="900")])
        assert await storage.turns.get(turn.id) == turn
        assert await ids_of(storage) == ["first-question", "first-answer"]

    async def test_a_failed_turn_keeps_its_question(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        turn = await storage.turns.begin("tea", ["question"], MIDNIGHT)
        failed = replace(turn, state=TurnState.FAILED, error="The model is busy.", finished_at=at(1))
        await storage.turns.finish(failed)
        assert await storage.turns.get(turn.id) == failed
        assert [each.turn_id for each in await storage.messages.get_by_conversation("tea")] == [turn.id]

    async def test_a_turn_whose_conversation_was_deleted_cannot_end(self, storage: Storage) -> None:
        turn = await hold_turn(storage, "first")
        await storage.conversations.delete("tea")
        with pytest.raises(ConversationError) as refused:
            await storage.turns.finish(turn, [an_answer()])
        assert refused.value.code is ConversationErrorCode.NOT_FOUND

    async def test_retry_lets_the_question_wait_again(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        turn = await storage.turns.begin("tea", ["question"], MIDNIGHT)
        await storage.turns.finish(replace(turn, state=TurnState.FAILED), [an_answer("partial")])
        await storage.messages.add_incoming(a_question("later"))
        await storage.turns.reopen(turn.id)
        await storage.turns.reopen(turn.id)
        assert await storage.turns.get(turn.id) is None
        assert await storage.messages.get_by_conversation("tea") == [a_question(), a_question("later")]

    async def test_a_turn_that_has_its_answer_is_not_undone(self, storage: Storage) -> None:
        turn = await hold_turn(storage, "first")
        with pytest.raises(ConversationError) as refused:
            await storage.turns.reopen(turn.id)
        assert refused.value.code is ConversationErrorCode.INVALID_STATE
        assert await ids_of(storage) == ["first-question", "first-answer"]

    async def test_messages_stand_turn_by_turn_and_those_that_wait_last(self, storage: Storage) -> None:
        for name in ("one", "two", "three"):
            await storage.messages.add_incoming(a_question(name))
        first = await storage.turns.begin("tea", ["one"], MIDNIGHT)
        second = await storage.turns.begin("tea", ["two"], MIDNIGHT)
        await storage.messages.add_incoming(a_question("four"))
        await storage.turns.finish(second, [an_answer("two-call"), an_answer("two-answer")])
        await storage.turns.finish(first, [an_answer("one-answer")])
        expected = ["one", "one-answer", "two", "two-call", "two-answer", "three", "four"]
        assert await ids_of(storage) == expected

    async def test_numbers_go_on_after_a_turn_was_undone(self, storage: Storage) -> None:
        for name in ("one", "two"):
            await storage.messages.add_incoming(a_question(name))
        undone = await storage.turns.begin("tea", ["one"], MIDNIGHT)
        await storage.turns.begin("tea", ["two"], MIDNIGHT)
        await storage.turns.reopen(undone.id)
        again = await storage.turns.begin("tea", ["one"], MIDNIGHT)
        assert again.number == 3
        assert await ids_of(storage) == ["two", "one"]

    async def test_delivery_is_not_undone_by_the_end_of_the_turn(self, storage: Storage) -> None:
        turn = await hold_turn(storage, "first")
        await storage.turns.update_delivery(turn.id, ["901", "902"], "903")
        await storage.turns.finish(replace(turn, state=TurnState.DELIVERED))
        delivered = replace(turn, state=TurnState.DELIVERED, reply_ids=("901", "902"), trace_id="903")
        assert await storage.turns.get(turn.id) == delivered

    async def test_undelivered_turns_are_those_whose_readers_do_not_know_how_they_ended(self, storage: Storage) -> None:
        turns = {}
        for minutes, state in [(4, "running"), (3, "failed"), (2, "answered"), (1, "delivered")]:
            await storage.messages.add_incoming(a_question(state))
            turns[state] = await storage.turns.begin("tea", [state], at(minutes))
            await storage.turns.finish(replace(turns[state], state=TurnState(state)))
        listed = await storage.turns.list_undelivered()
        assert [turn.id for turn in listed] == [turns["answered"].id, turns["failed"].id, turns["running"].id]
        ordered = await storage.turns.get_by_conversation("tea")
        assert [turn.number for turn in ordered] == [1, 2, 3, 4]

    async def test_a_shard_is_told_of_what_is_unfinished_in_its_servers(self, storage: Storage) -> None:
        servers = {str(number << 22): number % 4 for number in range(8)} | {"person:hatter": 0, None: 0, "": 0}
        for place, guild in enumerate(servers):
            await storage.conversations.save(
                replace(a_conversation(f"talk-{place:02}"), guild_id=guild, thread_id=None)
            )
            await storage.messages.add_incoming(a_question(f"waits-{place}", conversation_id=f"talk-{place:02}"))
            await storage.messages.add_incoming(a_question(f"runs-{place}", conversation_id=f"talk-{place:02}"))
            await storage.turns.begin(f"talk-{place:02}", [f"runs-{place}"], at(place))
        for number in range(4):
            expected = [f"talk-{place:02}" for place, shard in enumerate(servers.values()) if shard == number]
            assert sorted(await storage.messages.list_waiting((number, 4))) == expected
            assert [turn.conversation_id for turn in await storage.turns.list_undelivered((number, 4))] == expected

    async def test_a_failure_that_was_told_is_done_with(self, storage: Storage) -> None:
        await storage.messages.add_incoming(a_question())
        turn = await storage.turns.begin("tea", ["question"], MIDNIGHT)
        told = replace(turn, state=TurnState.FAILED, told=True)
        await storage.turns.finish(told)
        assert await storage.turns.list_undelivered() == []
        assert await storage.turns.get(turn.id) == told

    async def test_a_message_cannot_be_in_a_turn_of_another_conversation(self, storage: Storage) -> None:
        await storage.conversations.save(a_conversation("croquet"))
        turn = await hold_turn(storage, "first")
        with pytest.raises(StorageError):
            await storage.messages.save(a_question("stray", "croquet", turn_id=turn.id))

    async def test_roles_are_the_three(self, storage: Storage) -> None:
        await storage.messages.save_batch([a_question(role, role=role) for role in MessageRole])
        with pytest.raises(StorageError):
            await storage.messages.save(a_question("system", role="system"))


async def test_failed_turns_do_not_count_among_the_newest(storage: Storage) -> None:
    for number in range(6):
        await storage.messages.add_incoming(a_question(f"q{number}"))
        turn = await storage.turns.begin("tea", [f"q{number}"], MIDNIGHT)
        state = TurnState.ANSWERED if number in (0, 2) else TurnState.FAILED
        await storage.turns.finish(replace(turn, state=state), [])
    assert [m.id for m in await storage.messages.get_recent("tea", 1)] == ["q2", "q3", "q4", "q5"]
    assert len(await storage.turns.get_recent("tea", 1)) == 4
    assert [m.id for m in await storage.messages.get_recent("tea", 2)] == ["q0", "q1", "q2", "q3", "q4", "q5"]
    assert len(await storage.messages.get_recent("tea", 3)) == len(await storage.turns.get_recent("tea", 3)) == 6
