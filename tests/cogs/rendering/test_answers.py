"""What is said around an answer."""

from typing import Any

import discord
from hypothesis import given
from hypothesis import strategies as st

from cogs.i18n import speech_for
from cogs.rendering.answers import answer_note, approval_note, failure_note, source_pages, status_line, with_note
from cogs.rendering.splitting import MESSAGE_LIMIT, units
from cogs.rendering.tool_calls import CallState, ShownCall
from domain.book import Citation, Surroundings
from domain.event import Answer, ApprovalAsked, TurnFailed


def citation(**parts: Any) -> Citation:
    standing: dict[str, Any] = {
        "start": 0,
        "end": 9,
        "quote": "Oh dear!",
        "page": "3",
        "last_page": "3",
        "chapter": "Down",
    }
    return Citation(**standing | parts)


def test_the_status_says_what_is_being_done() -> None:
    first = ShownCall(1, "search_book", {"query": "white *rabbit*"})
    second = ShownCall(2, "read_pages", {"first": "3", "last": "5"})
    done = ShownCall(1, "search_book", {"query": "tea"}, CallState.DONE, "5 passages")
    assert status_line([]) == "-# 📖 reading …"
    assert status_line([first]) == '-# 🔎 search_book "white \\*rabbit\\*" …'
    assert status_line([first, second]) == '-# 🔎 read_pages "3" … (+1)'
    assert status_line([done]) == '-# 🔎 search_book "tea" · 5 passages'
    assert status_line([done], speech_for(discord.Locale.german)) == '-# 🔎 search_book "tea" · 5 Textstellen'


def test_no_argument_of_a_call_is_pushed_out_of_sight_by_a_long_one() -> None:
    short = approval_note(ApprovalAsked("a", "7", "notes_save", {"text": "Tea at six.", "folder": "Tea"}))
    assert short.endswith('{"text": "Tea at six.", "folder": "Tea"}\n```')
    long = {"text": '"Tea" \\ ' * 2_000, "to": [{"all": "😀" * 900}, "everybody@example.org"], "delete": True}
    note = approval_note(ApprovalAsked("a", "7", "notes_save", long))
    for part in ('"text": ', '"to": [{"all": ', "everybody@", '"delete": true', "characters in full"):
        assert part in note
    assert units(note) < MESSAGE_LIMIT
    crowd = {f"note {number}": "" for number in range(500)}
    assert "That isn't all of it: 7" in approval_note(ApprovalAsked("a", "7", "notes_save", crowd | {"delete": True}))


def test_a_note_stands_below_the_text() -> None:
    assert with_note("", "-# …") == "-# …"
    assert with_note("So far", "-# …") == "So far\n\n-# …"
    assert with_note("So far", "") == "So far"
    assert with_note("```py\nx = 1", "-# …") == "```py\nx = 1\n```\n\n-# …"


def test_an_answer_says_that_it_was_stopped_or_cut() -> None:
    assert answer_note(Answer("t", "Whole.")) == ""
    assert answer_note(Answer("t", "Half", stopped=True)) == "-# ⏹ Stopped."
    assert answer_note(Answer("t", "Half", cut=True)).startswith("-# ✂ ")


def test_a_failure_is_a_sentence() -> None:
    failure = TurnFailed("t", "overloaded", "The model is {busy}. Try again.", "The rabbit")
    assert failure_note(failure) == "⚠️ The model is {busy}. Try again."
    assert failure_note(failure, "Das Modell ist überlastet.") == "⚠️ Das Modell ist überlastet."


def test_sources_show_page_chapter_and_quote() -> None:
    page = source_pages([citation(quote="Oh\n dear!*"), citation(page="9", last_page="10", chapter="")])[0]
    assert page == "**p. 3** · Down\n> Oh dear!\\*\n\n**pp. 9-10**\n> Oh dear!"
    assert source_pages([]) == ["This answer cites nothing from the book."]


def test_sources_beyond_the_readers_page_are_only_counted() -> None:
    ahead = [citation(quote="He did it!", start=40, end=49), citation(quote="She saw it!", start=60, end=70)]
    [page] = source_pages([citation(), *ahead], read_to=20)
    assert page == "**p. 3** · Down\n> Oh dear!\n\n-# 2 more from pages you haven't read yet"
    assert source_pages(ahead, read_to=20) == ["All the sources of this answer are on pages you haven't read yet."]


def test_the_lines_around_a_source_are_shown_with_it() -> None:
    cited = citation(quote="Oh dear!")
    [page] = source_pages([cited], around={cited: Surroundings("She *ran*.", "It was late.")})
    assert page == "**p. 3** · Down\n> She \\*ran\\*. **Oh dear!** It was late."


def test_sources_that_follow_each_other_on_a_page_are_shown_together() -> None:
    one, two, other = (
        citation(quote="Oh dear!"),
        citation(quote="It was late."),
        citation(quote="So late.", page="4", last_page="4"),
    )
    lines = {
        one: Surroundings("She ran.", "It was late."),
        two: Surroundings("Oh dear!", "So late."),
        other: Surroundings("It was late.", "He slept."),
    }
    assert source_pages([one, two, other], around=lines)[0].split("\n\n") == [
        "**p. 3** · Down\n> She ran. **Oh dear! It was late.** So late.",
        "**p. 4** · Down\n> It was late. **So late.** He slept.",
    ]


def test_the_same_source_is_shown_once() -> None:
    assert source_pages([citation(), citation()])[0].count("Oh dear") == 1


@given(st.lists(st.builds(citation, quote=st.text(max_size=3000), page=st.text("0123", max_size=4)), max_size=40))
def test_sources_fit_into_messages(citations: list[Citation]) -> None:
    pages = source_pages(citations)
    assert all(0 < units(page) <= MESSAGE_LIMIT for page in pages)
