"""What an answer looks like at every stage of its life."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cogs.rendering.answers import answer_text, draft_text, failure_text, source_pages, status_line
from cogs.rendering.calls import CallState, ShownCall
from cogs.rendering.splitting import MESSAGE_LIMIT, units
from domain.book import Citation
from domain.event import Answer, TurnFailed


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
    second = ShownCall(2, "read_pages", {"first": "3"})
    done = ShownCall(1, "search_book", {"query": "tea"}, CallState.DONE, "5 passages")
    assert status_line([]) == "-# 📖 reading …"
    assert status_line([first]) == '-# 🔎 search_book "white \\*rabbit\\*" …'
    assert status_line([first, second]) == '-# 🔎 read_pages "3" … (+1)'
    assert status_line([done]) == '-# 🔎 search_book "tea" · 5 passages'


def test_a_draft_carries_its_status_below() -> None:
    assert draft_text("", "-# …") == "-# …"
    assert draft_text("So far", "-# …") == "So far\n\n-# …"
    assert draft_text("So far") == "So far"


def test_an_answer_says_that_it_was_stopped_or_cut() -> None:
    assert answer_text(Answer("t", "Whole.")) == "Whole."
    assert answer_text(Answer("t", "Half", stopped=True)) == "Half\n\n-# ⏹ Stopped."
    assert answer_text(Answer("t", "Half", cut=True)).startswith("Half\n\n-# ✂ ")


def test_a_failure_keeps_what_was_written() -> None:
    failure = TurnFailed("t", "overloaded", "The model is {busy}. Try again.", "The rabbit")
    assert failure_text(failure) == "The rabbit\n\n⚠️ The model is {busy}. Try again."
    assert failure_text(failure, "Das Modell ist überlastet.").endswith("⚠️ Das Modell ist überlastet.")
    assert failure_text(TurnFailed("t", "x", "Sorry.")) == "⚠️ Sorry."


def test_a_note_stands_outside_a_block_of_code() -> None:
    assert answer_text(Answer("t", "```py\nx = 1", stopped=True)) == "```py\nx = 1\n```\n\n-# ⏹ Stopped."


def test_sources_show_page_chapter_and_quote() -> None:
    page = source_pages([citation(quote="Oh\n dear!*"), citation(page="9", last_page="10", chapter="")])[0]
    assert page == "**p. 3** · Down\n> Oh dear!\\*\n\n**pp. 9-10**\n> Oh dear!"
    assert source_pages([]) == ["This answer cites nothing from the book."]


def test_the_same_source_is_shown_once() -> None:
    assert source_pages([citation(), citation()])[0].count("Oh dear") == 1


@given(st.lists(st.builds(citation, quote=st.text(max_size=3000), page=st.text("0123", max_size=4)), max_size=40))
def test_sources_fit_into_messages(citations: list[Citation]) -> None:
    pages = source_pages(citations)
    assert all(0 < units(page) <= MESSAGE_LIMIT for page in pages)
