"""What every storage promises of clubs, their posts and votes."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

import pytest

from domain.book import PositionState, ReadingPosition
from domain.clubs.plan import Club, Member, PostState, Stretch, ThreadGate, Vote, dated
from storage.opening import Storage
from storage.sql.database import Row, Value
from tests.storage.values import MIDNIGHT, a_book, a_conversation, at

MEMBERS = (Member("ann", MIDNIGHT), Member("ben", at(1)))


def a_club(club_id: str = "club", channel_id: str = "7", members: Sequence[Member] = MEMBERS) -> Club:
    parts = [Stretch(0, 50_000), Stretch(50_000, 144_000)]
    return Club(
        club_id, "alice", "1", channel_id, "ann", ThreadGate.DATE, MIDNIGHT, 144_000,
        dated(parts, date(2026, 11, 21), 7), tuple(members), role_id="9", events=True,
    )  # fmt: skip


@pytest.fixture(autouse=True)
async def shelf(storage: Storage) -> None:
    await storage.books.save(a_book())


async def kept(storage: Storage, club_id: str = "club") -> Club:
    found = await storage.clubs.get(club_id)
    assert found is not None
    return found


class TestClubs:
    async def test_a_club_comes_back_as_it_was(self, storage: Storage) -> None:
        assert await storage.clubs.create(a_club())
        assert await kept(storage) == a_club()

    async def test_members_come_with_their_positions_in_its_book(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        position = ReadingPosition(PositionState.READING, 51_000)
        await storage.readers.set_position("ben", "alice", position)
        assert [each.position for each in (await kept(storage)).members] == [ReadingPosition(), position]

    async def test_who_is_left_out_takes_no_part_and_the_club_is_looked_at(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        for left_out, there in ((True, ["ann"]), (False, ["ann", "ben"])):
            await storage.clubs.look_again("club", None)
            await storage.readers.set_opted_out("ben", left_out)
            assert [each.reader_id for each in (await kept(storage)).taking_part] == there
            assert list(await storage.clubs.list_to_look_at(at(10))) == ["club"]
        await storage.clubs.end("club", at(5))
        await storage.clubs.look_again("club", None)
        await storage.readers.set_opted_out("ben", True)
        assert list(await storage.clubs.list_to_look_at(at(10))) == []

    async def test_it_is_known_who_takes_part_in_one_that_runs(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        assert await storage.readers.is_in_club("ben", "alice")
        assert not await storage.readers.is_in_club("cas", "alice")
        assert not await storage.readers.is_in_club("ben", "emma")
        await storage.readers.set_opted_out("ben", True)
        assert not await storage.readers.is_in_club("ben", "alice")
        await storage.readers.set_opted_out("ben", False)
        await storage.clubs.put_member("club", replace(MEMBERS[1], left_at=at(2)))
        assert not await storage.readers.is_in_club("ben", "alice")
        await storage.clubs.end("club", at(5))
        assert not await storage.readers.is_in_club("ann", "alice")

    async def test_a_channel_has_one_running_club(self, storage: Storage) -> None:
        assert await storage.clubs.create(a_club())
        assert not await storage.clubs.create(a_club("second"))
        assert await storage.clubs.get("second") is None
        assert await storage.clubs.create(a_club("elsewhere", "8"))
        await storage.clubs.end("club", at(5))
        assert await storage.clubs.create(a_club("third"))
        assert (await kept(storage)).ended_at == at(5)
        assert [each.id for each in await storage.clubs.get_running("1")] == ["elsewhere", "third"]
        assert [each.id for each in await storage.clubs.get_by_book("alice")] == ["elsewhere", "third"]

    async def test_several_are_read_at_once_each_with_its_own_sections_and_members(
        self, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clubs = [a_club(str(number), str(number), [Member(f"host {number}", MIDNIGHT)]) for number in range(5)]
        for each in clubs:
            await storage.clubs.create(each)
        asked, read = [], storage.engine.read

        async def counted(sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
            asked.append(sql)
            return await read(sql, parameters)

        monkeypatch.setattr(storage.engine, "read", counted)
        assert list(await storage.clubs.get_running("1")) == clubs
        assert len(asked) == 3

    async def test_members_join_check_in_and_leave(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        await storage.clubs.put_member("club", replace(MEMBERS[1], left_at=at(9), checked_in_at=at(3), hidden=True))
        await storage.clubs.put_member("club", Member("cas", at(4)))
        await storage.clubs.put_member("no such club", Member("cas", at(4)))
        club = await kept(storage)
        assert [each.reader_id for each in club.taking_part] == ["ann", "cas"]
        assert club.members[1] == replace(MEMBERS[1], left_at=at(9), checked_in_at=at(3), hidden=True)
        assert [each.id for each in await storage.clubs.get_by_reader("cas", "alice")] == ["club"]
        assert await storage.clubs.get_by_reader("ben", "alice") == []

    async def test_a_section_is_opened_once(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        assert await storage.clubs.claim_opening("club", 1, at(2))
        assert not await storage.clubs.claim_opening("club", 1, at(3))
        assert not await storage.clubs.claim_opening("club", 3, at(3))
        [first, second] = (await kept(storage)).sections
        assert (first.opened_at, second.opened_at) == (at(2), None)

    async def test_dates_and_threads_change_and_the_opening_stays(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        await storage.conversations.save(a_conversation("talk"))
        await storage.clubs.claim_opening("club", 1, at(2))
        first = replace(
            a_club().sections[0], due=date(2027, 1, 1), conversation_id="talk", thread_id="5", private=True, ready=True
        )
        await storage.clubs.change_sections("club", lambda each: first if each.number == 1 else each)
        assert (await kept(storage)).sections[0] == replace(first, opened_at=at(2))
        found = await storage.clubs.get_by_conversation("talk")
        assert found is not None
        assert found.id == "club"
        await storage.conversations.delete("talk")
        assert (await kept(storage)).sections[0].conversation_id is None

    async def test_a_section_whose_thread_was_deleted_has_none(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        first, *others = a_club().sections
        await storage.clubs.change_sections(
            "club", lambda each: replace(each, thread_id="5") if each.number == 1 else each
        )
        assert await storage.clubs.forget_thread("another", "5") is None
        assert await storage.clubs.forget_thread(a_club().guild_id, "6") is None
        assert await storage.clubs.forget_thread(a_club().guild_id, "5") == "club"
        assert (await kept(storage)).sections == (replace(first, ready=True), *others)
        assert await storage.clubs.list_to_look_at(at(3)) == ["club"]

    async def test_it_goes_with_its_book(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        await storage.clubs.claim("club", "card", MIDNIGHT)
        await storage.books.delete("alice")
        assert await storage.clubs.get("club") is None
        assert await storage.clubs.get_posts("club") == {}
        assert (await storage.clubs.claim("club", "card", at(1))).state is PostState.GONE

    async def test_it_is_looked_at_after_every_change_until_it_is_told_when_next(self, storage: Storage) -> None:
        async def due() -> list[str]:
            return list(await storage.clubs.list_to_look_at(at(10)))

        clubs = storage.clubs
        await clubs.create(a_club())
        assert await due() == ["club"]
        await clubs.look_again("club", at(11))
        assert await due() == []
        await clubs.look_again("club", at(10))
        assert await due() == ["club"]
        changes: list[Callable[[], Awaitable[object]]] = [
            lambda: clubs.put_member("club", MEMBERS[0]),
            lambda: clubs.put_host("club", "ben"),
            lambda: clubs.change_sections("club", lambda each: replace(each, thread_id=f"{each.number}")),
            lambda: clubs.claim_opening("club", 1, at(2)),
            lambda: clubs.forget_thread("1", "1"),
            lambda: clubs.look_at_all(),
            lambda: clubs.end("club", at(3)),
        ]
        for change in changes:
            await clubs.look_again("club", None)
            assert await due() == []
            await change()
            assert await due() == ["club"]
        assert (await kept(storage)).host_id == "ben"


class TestPosts:
    async def test_a_post_is_claimed_before_it_is_made_and_done_after(self, storage: Storage) -> None:
        await storage.clubs.create(a_club())
        claimed = await storage.clubs.claim("club", "remind/1", at(1))
        assert (claimed.state, claimed.is_new, claimed.claimed_at) == (PostState.CLAIMED, True, at(1))
        again = await storage.clubs.claim("club", "remind/1", at(2))
        assert (again.state, again.is_new, again.claimed_at) == (PostState.CLAIMED, False, at(1))
        await storage.clubs.settle("club", "remind/1", PostState.DONE, "77", "what it shows")
        done = await storage.clubs.claim("club", "remind/1", at(3))
        assert (done.state, done.is_new, done.message_id, done.shown) == (PostState.DONE, False, "77", "what it shows")
        assert await storage.clubs.get_posts("club") == {"remind/1": done}
        assert [await storage.clubs.has_posted(*each) for each in (("1", "77"), ("1", "78"), ("2", "77"))] == [
            True, False, False,
        ]  # fmt: skip
        await storage.clubs.forget("club", ["remind/1", "remind/2"])
        assert (await storage.clubs.claim("club", "remind/1", at(4))).is_new


class TestVotes:
    async def test_a_vote_is_there_until_its_end_is_told(self, storage: Storage) -> None:
        vote = Vote("vote", "1", "7", "ann", ("Emma", "Dracula"), MIDNIGHT, at(60))
        assert await storage.clubs.put_vote(vote)
        assert not await storage.clubs.put_vote(replace(vote, id="second"))
        assert list(await storage.clubs.list_votes(at(1))) == [vote]
        posted = replace(vote, message_id="55")
        assert await storage.clubs.put_vote(posted)
        assert list(await storage.clubs.list_votes(at(59))) == []
        assert list(await storage.clubs.list_votes(at(60))) == [posted]
        await storage.clubs.put_vote(replace(posted, told=True))
        assert list(await storage.clubs.list_votes(at(99))) == []
        assert await storage.clubs.put_vote(replace(vote, id="next"))
        assert await storage.clubs.put_vote(replace(vote, id="elsewhere", channel_id="8"))


async def test_how_far_a_conversation_may_go_is_kept_apart_from_the_rest(storage: Storage) -> None:
    await storage.conversations.save(a_conversation("talk"))
    await storage.conversations.update_read_to("talk", 4_000)
    await storage.conversations.save(a_conversation("talk", title="Renamed"))
    found = await storage.conversations.get("talk")
    assert found is not None
    assert (found.title, found.read_to) == ("Renamed", 4_000)
