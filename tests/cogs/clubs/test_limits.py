"""What clubs show fits into what Discord takes, however long titles are and however many take part."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import discord
from hypothesis import given
from hypothesis import strategies as st

from cogs.clubs import cards
from cogs.clubs.cards import ClubScene
from cogs.i18n import Speech, speech_for
from domain.book import Book, Chapter, Page, PositionState, ReadingPosition
from domain.clubs.manage import ClubBook
from domain.clubs.plan import Club, Member, Stretch, ThreadGate, Vote, dated

NOW = datetime(2026, 3, 1, tzinfo=UTC)
wild = st.one_of(
    st.text(max_size=400),
    st.sampled_from(["", "_*" * 150, "@everyone", "Ä" * 300, "😀" * 200, "<@&1>", "a;b", "[x](https://e.example)"]),
)


@st.composite
def scenes(draw: st.DrawFn) -> ClubScene:
    """Clubs of every size on books with wild titles and labels."""
    count = draw(st.integers(1, 50))
    label = draw(st.sampled_from(["", "1" * 30, "xii", "😀" * 20, "_*" * 20]))
    parts = [Stretch(10 * number, 10 * number + 10) for number in range(count)]
    title = draw(wild)
    chapters = tuple(Chapter(n + 1, draw(wild) if n < 3 else title, 10 * n, 10 * n + 10) for n in range(count))
    pages = tuple(Page(n + 1, f"{n + 1}{label}", 10 * n, 10 * n + 10) for n in range(count))
    book = Book(
        "0" * 32, "1", "a" * 64, draw(wild), "", "txt", count, count, 1, 10 * count, NOW,
        pages_estimated=draw(st.booleans()),
    )  # fmt: skip
    position = st.builds(ReadingPosition, st.just(PositionState.READING), st.integers(0, 10 * count))
    members = tuple(
        Member(str(10**19 + n), NOW, draw(position) if n < 5 else ReadingPosition(), hidden=n % 7 == 3)
        for n in range(draw(st.integers(0, 120)))
    )
    sections = [
        replace(each, opened_at=NOW, thread_id=str(10**19), private=each.number % 2 == 0)
        for each in dated(parts, date(2026, 1, 1), 7)
    ]
    club = Club(
        "f" * 16, book.id, "1", "2", "3", draw(st.sampled_from(ThreadGate)), NOW, book.length, tuple(sections), members,
        role_id=str(10**19), ended_at=draw(st.sampled_from([None, NOW])),
    )  # fmt: skip
    return ClubScene(club, ClubBook(book, pages, chapters), NOW)


speeches = st.sampled_from([speech_for(discord.Locale.american_english), speech_for(discord.Locale.german)])


@given(scenes(), speeches, st.booleans())
def test_what_a_club_shows_is_what_discord_takes(scene: ClubScene, say: Speech, is_own: bool) -> None:
    """One test: making up a club takes most of its time."""
    cards_are_embeds(scene, say, bound=scene.club.length if is_own else None)
    names_and_lines_fit(scene, say)


def cards_are_embeds(scene: ClubScene, say: Speech, bound: int | None) -> None:
    for card in (cards.plan_card(scene, say, bound=bound, reached=bound), cards.board_card(scene, say)):
        assert len(card) <= 6_000
        assert 0 < len(card.title or "…") <= 256
        assert 0 < len(card.description or "") <= 4_096
        assert len(card.fields) <= 25
        assert all(0 < len(field.value or "") <= 1_024 and 0 < len(field.name or "") <= 256 for field in card.fields)


def names_and_lines_fit(scene: ClubScene, say: Speech) -> None:
    for section in scene.club.sections[:3]:
        assert 0 < len(cards.section_name(section, scene.book.book.title, say)) <= 100
        assert 0 < len(cards.event_name(scene, section, say)) <= 100
        assert 0 < len(cards.event_text(scene, section, say)) <= 1_000
        assert len(cards.opening_line(scene, section, say)) + len(cards.how_to_ask(say, reads_messages=True)) < 2_000
        assert len(cards.reminder(scene, section, say)) <= 2_000
        buttons = [
            *cards.plan_buttons(scene.club, say).children,
            *cards.section_buttons(scene.club, section, say).children,
        ]
        assert all(len(button.custom_id or "") <= 100 for button in buttons if isinstance(button, discord.ui.Button))
        assert all(len(button.label or "") <= 80 for button in buttons if isinstance(button, discord.ui.Button))


@given(st.lists(wild, max_size=12).map(";".join), speeches)
def test_a_poll_has_answers_of_the_length_discord_takes(typed: str, say: Speech) -> None:
    choices = cards.poll_choices(typed)
    assert all(0 < len(each.encode("utf-16-le", "surrogatepass")) // 2 <= 55 for each in choices)
    assert len(set(choices)) == len(choices)
    assert len(say("What shall we read next?")) <= 300
    vote = Vote("v", "1", "2", "3", tuple(choices[:10]), NOW, NOW + timedelta(days=1))
    for votes in ([1] * len(vote.choices), [0] * len(vote.choices), list(range(len(vote.choices)))):
        assert 0 < len(cards.result_line(vote, votes, say)) <= 2_000
