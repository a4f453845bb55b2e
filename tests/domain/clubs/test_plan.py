"""The plan of a club: sections of whole chapters, dates, who is active, what opens, how far the public may look."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import Chapter, Page, PositionState, ReadingPosition
from domain.clubs.plan import (
    Club,
    Member,
    Stretch,
    ThreadGate,
    dated,
    divide,
    grouped,
    moved,
    stretches,
    usual_number,
)

START = date(2026, 3, 1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FINISHED = ReadingPosition(PositionState.FINISHED)


def at(read_to: int) -> ReadingPosition:
    return ReadingPosition(PositionState.READING, read_to)


def club(*positions: ReadingPosition, gate: ThreadGate = ThreadGate.EVERYONE, sections: int = 4) -> Club:
    """A book of 100 characters a section; members a, b, c … joined at the start."""
    parts = [Stretch(100 * number, 100 * number + 100) for number in range(sections)]
    members = [Member("abcdefgh"[number], NOON, position) for number, position in enumerate(positions)]
    return Club("club", "book", "1", "2", "a", gate, NOON, 100 * sections, dated(parts, START, 7), tuple(members))


def opened(reading: Club, *numbers: int) -> Club:
    sections = [replace(each, opened_at=NOON) if each.number in numbers else each for each in reading.sections]
    return replace(reading, sections=tuple(sections))


class TestDividing:
    @given(st.lists(st.integers(1, 50), min_size=1, max_size=9), st.data())
    def test_the_sections_are_as_even_as_chapters_allow(self, lengths: list[int], data: st.DataObject) -> None:
        count = data.draw(st.integers(1, len(lengths)))
        ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
        units = [Stretch(start, end) for start, end in pairwise(ends)]
        parts = divide(units, count)
        assert [parts[0].start, *(each.end for each in parts)][-1] == ends[-1]
        assert len(parts) == count
        assert all(before.end == after.start for before, after in pairwise(parts))
        best = min(
            sum((ends[end] - ends[start]) ** 2 for start, end in pairwise([0, *cuts, len(lengths)]))
            for cuts in combinations(range(1, len(lengths)), count - 1)
        )
        assert sum((each.end - each.start) ** 2 for each in parts) == best

    def test_a_book_of_thousands_of_chapters_takes_a_moment(self) -> None:
        units = [Stretch(at * 10, at * 10 + 10) for at in range(5_000)]
        assert {each.end - each.start for each in divide(units, 50)} == {1_000}

    def test_chapters_are_put_together_by_number(self) -> None:
        units = [Stretch(at, at + 1) for at in range(7)]
        assert grouped(units, 3) == [Stretch(0, 3), Stretch(3, 6), Stretch(6, 7)]

    def test_how_many_there_usually_are(self) -> None:
        assert [usual_number(words, 40) for words in (500, 100_000, 600_000)] == [4, 5, 12]
        assert usual_number(100_000, 3) == 3


class TestStretches:
    def test_front_and_back_matter_is_in_none(self) -> None:
        titles = ("Dedication", "Translator’s Preface", "Prologue", "I. The Keeper", "Notes", "Epilogue", "Index")
        chapters = [Chapter(at + 1, title, at * 10, at * 10 + 10) for at, title in enumerate(titles)]
        assert stretches(chapters, []) == ([Stretch(at, at + 10) for at in (20, 30, 40, 50)], True)

    def test_a_book_of_nothing_but_matter_keeps_it(self) -> None:
        chapters = [Chapter(1, "Introduction", 0, 10), Chapter(2, "Notes", 10, 20)]
        assert stretches(chapters, []) == ([Stretch(0, 10), Stretch(10, 20)], True)

    def test_the_heading_of_a_part_goes_with_its_first_chapter(self) -> None:
        chapters = [
            Chapter(1, "Part One", 0, 8),
            Chapter(2, "1", 8, 900, 2),
            Chapter(3, "2", 900, 2_000, 2),
            Chapter(4, "Part Two", 2_000, 2_008),
            Chapter(5, "3", 2_008, 3_000, 2),
        ]
        assert stretches(chapters, [])[0] == [Stretch(0, 900), Stretch(900, 2_000), Stretch(2_000, 3_000)]

    def test_a_part_with_words_of_its_own_is_read_by_itself(self) -> None:
        chapters = [
            Chapter(1, "Part One", 0, 600),
            Chapter(2, "1", 600, 2_000, 2),
            Chapter(3, "2", 2_000, 3_000, 2),
        ]
        assert stretches(chapters, [])[0] == [Stretch(0, 600), Stretch(600, 2_000), Stretch(2_000, 3_000)]

    def test_an_empty_page_is_no_section(self) -> None:
        pages = [Page(1, "1", 0, 10), Page(2, "2", 10, 10), Page(3, "3", 10, 20)]
        assert stretches([], pages) == ([Stretch(0, 10), Stretch(10, 20)], False)

    def test_a_book_without_chapters_is_divided_by_pages(self) -> None:
        pages = [Page(1, "1", 0, 10), Page(2, "2", 10, 20)]
        assert stretches([Chapter(1, "All of it", 0, 20)], pages) == ([Stretch(0, 10), Stretch(10, 20)], False)


class TestWhoBinds:
    def test_the_lowest_of_the_active_binds_what_is_public(self) -> None:
        assert club(at(250), at(120), FINISHED).lowest(NOON) == 120

    def test_who_has_not_said_how_far_they_are_has_not_begun(self) -> None:
        assert club(at(250), ReadingPosition()).lowest(NOON) == 0

    def test_who_lets_two_due_dates_pass_is_paused_until_they_check_in(self) -> None:
        reading = club(at(250), at(50))
        second_over = datetime(2026, 3, 16, tzinfo=UTC)
        just_before = second_over - timedelta(seconds=1)
        assert [each.reader_id for each in reading.active(just_before)] == ["a", "b"]
        assert [each.reader_id for each in reading.active(second_over)] == ["a"]
        assert reading.lowest(second_over) == 250
        back = replace(reading.members[1], checked_in_at=second_over)
        assert replace(reading, members=(reading.members[0], back)).lowest(second_over) == 50

    def test_dates_that_passed_before_somebody_joined_count(self) -> None:
        late = NOON + timedelta(days=40)
        reading = club(at(400), at(0))
        joined = replace(reading, members=(reading.members[0], replace(reading.members[1], joined_at=late)))
        assert joined.lowest(late) == 400

    def test_all_who_are_furthest_behind_are_named(self) -> None:
        assert [each.reader_id for each in club(at(50), at(120), at(50)).slowest(NOON)] == ["a", "c"]

    def test_where_all_are_paused_the_lowest_of_them_binds(self) -> None:
        assert club(at(30), at(20)).lowest(NOON + timedelta(days=60)) == 20

    def test_where_nobody_takes_part_nothing_is_told(self) -> None:
        assert club().lowest(NOON) == 0

    def test_who_has_left_binds_nobody(self) -> None:
        reading = club(at(250), at(50))
        left = replace(reading.members[1], left_at=NOON)
        assert replace(reading, members=(reading.members[0], left)).lowest(NOON) == 250


class TestGates:
    def test_with_everyone_a_section_opens_once_all_who_are_active_are_there(self) -> None:
        assert [each.number for each in club(at(250), at(100)).to_open(NOON)] == [1]
        assert club(at(250), at(99)).to_open(NOON) == []
        assert [each.number for each in opened(club(at(250), at(210)), 1).to_open(NOON)] == [2]

    def test_who_is_left_out_neither_holds_it_up_nor_binds_it(self) -> None:
        reading = club(at(150), at(0))
        assert (reading.to_open(NOON), reading.lowest(NOON)) == ([], 0)
        ann, ben = reading.members
        without = replace(reading, members=(ann, replace(ben, left_out=True)))
        assert [each.number for each in without.to_open(NOON)] == [1]
        assert without.lowest(NOON) == 150
        assert without.member("b") is None

    def test_it_opens_for_nobody_where_nobody_is_active(self) -> None:
        assert club().to_open(NOON) == []
        assert club(at(0)).to_open(NOON + timedelta(days=60)) == []

    def test_with_a_date_it_opens_on_the_day_it_is_due(self) -> None:
        reading = club(at(0), gate=ThreadGate.DATE)
        due = datetime(2026, 3, 8, tzinfo=UTC)
        assert reading.to_open(due - timedelta(seconds=1)) == []
        assert [each.number for each in reading.to_open(due)] == [1]
        assert len(reading.to_open(due + timedelta(days=14))) == 3

    def test_open_ones_open_at_once(self) -> None:
        assert len(club(at(0), gate=ThreadGate.OPEN).to_open(NOON)) == 4

    def test_a_thread_seen_by_all_is_bound_by_all_who_are_active(self) -> None:
        reading = club(at(250), at(120), gate=ThreadGate.DATE)
        section = reading.sections[1]
        assert reading.bound_of(replace(section, private=True), NOON) == 200
        assert reading.bound_of(section, NOON) == 120
        assert reading.bound_of(reading.sections[0], NOON) == 100


class TestHosts:
    def test_the_host_stays_as_long_as_they_take_part(self) -> None:
        reading = replace(club(at(0), at(0)), host_id="b")
        assert reading.host == "b"
        ann, ben = reading.members
        assert replace(reading, members=(ann, replace(ben, left_at=NOON))).host == "a"
        assert replace(reading, members=()).host == "b"


class TestCurrentSections:
    def test_with_everyone_it_is_the_first_unopened_one_whatever_the_date(self) -> None:
        late = NOON + timedelta(days=90)
        assert [opened(club(at(0)), *numbers).current(late).number for numbers in ((), (1,), (1, 2, 3, 4))] == [1, 2, 4]

    @pytest.mark.parametrize("gate", [ThreadGate.DATE, ThreadGate.OPEN])
    def test_with_dates_it_is_the_next_one_due_until_its_day_has_passed(self, gate: ThreadGate) -> None:
        over = datetime(2026, 3, 9, tzinfo=UTC)
        moments = (NOON, over - timedelta(seconds=1), over, NOON + timedelta(days=90))
        assert [club(at(0), gate=gate).current(moment).number for moment in moments] == [1, 1, 2, 4]


class TestDates:
    def test_one_is_reminded_on_the_day_before(self) -> None:
        reading = club(at(0))
        due = datetime(2026, 3, 8, tzinfo=UTC)
        moments = [due + timedelta(hours=hours) for hours in (-24.01, -24, -0.01, 0)]
        assert [[each.number for each in reading.to_remind(moment)] for moment in moments] == [[], [1], [1], []]

    def test_only_coming_dates_move(self) -> None:
        now = datetime(2026, 3, 16, tzinfo=UTC)
        days = [due.day for due in moved(club(), 3, now).values()]
        assert days == [8, 15, 25, 1]

    def test_once_all_have_passed_those_of_what_is_left_are_counted_from_now(self) -> None:
        now = datetime(2026, 6, 1, 12, tzinfo=UTC)
        assert [due.isoformat() for due in moved(club(at(150), at(0)), 7, now).values()] == [
            "2026-03-08",
            "2026-06-08",
            "2026-06-15",
            "2026-06-22",
        ]
        behind = club(FINISHED, at(250))
        assert [due.month for due in moved(behind, 7, now).values()] == [3, 3, 6, 6]
        assert moved(club(FINISHED, FINISHED), 7, now) == {}
        assert [due.month for due in moved(club(), 7, now).values()] == [6, 6, 6, 6]

    @pytest.mark.parametrize(
        ("reading", "due"),
        [
            (club(at(150), at(120)), 2),
            (club(at(350), at(0)), 1),
            (club(FINISHED, FINISHED), 1),
            (club(), 1),
        ],
    )
    def test_the_next_one_due_is_one_that_is_left_to_read(self, reading: Club, due: int) -> None:
        section = reading.next_due(NOON)
        assert section is not None
        assert section.number == due
        assert reading.next_due(NOON + timedelta(days=90)) is None

    def test_it_is_looked_at_again_when_something_is_due(self) -> None:
        assert club().next_look(NOON) == datetime(2026, 3, 7, tzinfo=UTC)
        assert club().next_look(NOON + timedelta(days=90)) is None


class TestBeingThere:
    def test_the_first_section_not_read_and_none_beyond_the_clubs_own(self) -> None:
        reading = club(at(0), at(0))
        member = reading.members[0]
        there = reading.where_there_is(member, NOON)
        assert there is not None
        assert there.number == 1
        assert reading.where_there_is(replace(member, position=at(100)), NOON) is None
        on = opened(reading, 1).where_there_is(replace(member, position=at(100)), NOON)
        assert on is not None
        assert on.number == 2

    def test_who_has_never_taken_part_begins_at_the_first(self) -> None:
        there = opened(club(at(300)), 1, 2, 3).where_there_is(None, NOON)
        assert there is not None
        assert there.number == 1
