"""The life of a club: who takes part, who runs it, and how far its conversations may go."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from domain.book import Book
from domain.clubs.manage import ManageClubs, PlanRequest
from domain.clubs.plan import Club, ThreadGate
from domain.errors import ClubError
from domain.library.progress import ManagePositions, SharedBounds
from storage.book_files.files import SQLiteBookFiles
from storage.opening import open_storage
from tests.journeys.reading_room import tale, the_book


@dataclass
class Hosting:
    """A club of Ann's on a book of three chapters; each call takes a second."""

    clubs: ManageClubs
    book: Book
    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def clock(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    async def start(self, channel_id: str = "c", **request: object) -> Club:
        plan = PlanRequest(date(2026, 3, 1), **{"sections": 3, **request})  # type: ignore[arg-type]
        return await self.clubs.start(self.book, "g", channel_id, "ann", plan)


@pytest.fixture
async def hosting(tmp_path: Path) -> AsyncIterator[Hosting]:
    text = tale()
    book, files = the_book(text), SQLiteBookFiles(tmp_path)
    await files.write(book.sha256, text)
    async with await open_storage("sqlite:///:memory:") as storage:
        await storage.books.save(book)
        bounds = SharedBounds(readers=storage.readers, clubs=storage.clubs, clock=lambda: club.now)
        clubs = ManageClubs(
            clubs=storage.clubs,
            books=storage.books,
            files=files,
            positions=ManagePositions(readers=storage.readers, files=files, bounds=bounds),
            conversations=storage.conversations,
            clock=lambda: club.clock(),
        )
        club = Hosting(clubs, book)
        yield club
    await files.close()


def active(club: Club, hosting: Hosting) -> list[str]:
    return [each.reader_id for each in club.active(hosting.now)]


async def test_a_check_in_makes_a_member_and_ends_a_pause(hosting: Hosting) -> None:
    club = await hosting.clubs.check_in(await hosting.start(), "ben", page="1")
    assert active(club, hosting) == ["ann", "ben"]
    hosting.now += timedelta(days=30)
    assert active(club, hosting) == []
    club = await hosting.clubs.check_in(club, "ben")
    assert active(club, hosting) == ["ben"]
    [_, ben] = club.members
    assert ben.reached(club.length) == club.sections[0].end, "the position stays"


async def test_there_is_the_end_of_the_section_and_of_the_last_one_the_end_of_the_book(hosting: Hosting) -> None:
    club, section = await hosting.clubs.there(await hosting.start(gate=ThreadGate.DATE), "ann")
    assert section == club.sections[0]
    assert (await hosting.clubs.there(club, "ann"))[1] is None
    hosting.now += timedelta(days=60)
    for number in (2, 3):
        club, section = await hosting.clubs.there(club, "ann")
        assert section == club.sections[number - 1]
    assert club.members[0].position.state == "finished"


async def test_the_host_stays_until_they_leave_and_who_joins_an_empty_club_runs_it(hosting: Hosting) -> None:
    club = await hosting.start()
    for reader in ("ben", "eve"):
        club = await hosting.clubs.join(club, reader)
    club = await hosting.clubs.leave(club, "ben")
    assert (club.host_id, [each.reader_id for each in club.taking_part]) == ("ann", ["ann", "eve"])
    club = await hosting.clubs.leave(club, "ann")
    assert club.host_id == "eve"
    club = await hosting.clubs.leave(club, "eve")
    club = await hosting.clubs.join(club, "ben")
    assert (club.host_id, [each.reader_id for each in club.taking_part]) == ("ben", ["ben"])


async def test_the_club_of_the_channel_is_meant_else_the_only_one_that_is_seen(hosting: Hosting) -> None:
    here, there = await hosting.start("here"), await hosting.start("there")
    assert (await hosting.clubs.in_channel("g", "there", lambda _: True)).id == there.id
    assert (await hosting.clubs.in_channel("g", "there", lambda _: False)).id == there.id
    assert (await hosting.clubs.in_channel("g", "else", lambda club: club.id == here.id)).id == here.id
    for sees in (True, False):
        with pytest.raises(ClubError):
            await hosting.clubs.in_channel("g", "else", lambda _, sees=sees: sees)  # type: ignore[misc]


async def test_a_club_is_found_by_its_channel_and_book(hosting: Hosting) -> None:
    club = await hosting.start("here")
    await hosting.start("there")
    found = await hosting.clubs.reading_in("g", "here", hosting.book.id)
    assert found is not None
    assert found.id == club.id
    assert await hosting.clubs.reading_in("g", "here", "another") is None
    assert await hosting.clubs.reading_in("g", "else", hosting.book.id) is None


async def test_the_conversation_of_a_public_section_follows_the_slowest_until_the_club_ends(hosting: Hosting) -> None:
    async def bound() -> int | None:
        await hosting.clubs.limit(club)
        return (await hosting.clubs.conversation_of(club, club.sections[0], "Section 1")).read_to

    club = await hosting.start()
    first = await hosting.clubs.conversation_of(club, club.sections[0], "Section 1")
    club = await hosting.clubs.get(club.id)
    assert club.sections[0].conversation_id == first.id
    assert await bound() == 0
    club = await hosting.clubs.check_in(club, "ann", section=3)
    assert await bound() == club.sections[0].end, "never beyond the section"
    club = await hosting.clubs.join(club, "ben")
    assert await bound() == 0
    club = await hosting.clubs.end(await hosting.clubs.leave(club, "ben"))
    assert await bound() == 0


@pytest.mark.parametrize(
    ("private", "ready", "follows"), [(True, True, False), (True, False, True), (False, True, True)]
)
async def test_the_conversation_of_a_private_section_stays_open_to_its_end(
    hosting: Hosting, private: bool, ready: bool, follows: bool
) -> None:
    club = await hosting.clubs.check_in(await hosting.start(), "ann", section=3)
    await hosting.clubs.conversation_of(club, club.sections[0], "Section 1")
    club = await hosting.clubs.get(club.id)
    await hosting.clubs.limit(club)
    await hosting.clubs.change(club, club.sections[0], private=private, ready=ready)
    club = await hosting.clubs.join(club, "ben")
    await hosting.clubs.limit(club)
    known = await hosting.clubs.conversation_of(club, club.sections[0], "Section 1")
    expected = club.bound_of(club.sections[0], hosting.now) if follows else club.sections[0].end
    assert known.read_to == expected


async def test_without_a_number_there_are_as_many_sections_as_is_usual(hosting: Hosting) -> None:
    assert len((await hosting.start(sections=None)).sections) == 3
