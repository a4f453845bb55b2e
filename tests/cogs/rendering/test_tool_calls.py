"""Tool calls are one line each, open at a press, and never more than a message takes."""

import re
from datetime import UTC, datetime
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogs.i18n import speech_for
from cogs.rendering.tool_calls import (
    PAGE_SIZE,
    ButtonStyle,
    CallState,
    CardState,
    Colour,
    ShownCall,
    calls_of,
    first_state,
    headline,
    page_count,
    page_id,
    read_press,
    render_card,
    state_of_page,
    toggle_id,
    trace_id,
)
from domain.chat import ChatMessage, MessageRole
from domain.event import ToolCallFinished, ToolCallStarted
from domain.spoilers.filter import COVERED
from domain.tool_use import ToolInvocation
from tests.doubles.discord_api.component_limits import component_problems
from tests.doubles.discord_api.message_limits import message_problems

TURN = "0123456789abcdef0123456789abcdef"
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def call(number: int = 1, **parts: Any) -> ShownCall:
    standing: dict[str, Any] = {
        "arguments": {"query": "white rabbit"},
        "state": CallState.DONE,
        "summary": "5 passages",
        "content": "p. 3: the Rabbit actually took a watch out",
        "milliseconds": 12,
    }
    return ShownCall(number=number, tool_name="search_book", **standing | parts)


calls = st.lists(
    st.builds(
        lambda name, arguments, state, summary, content: {
            "tool_name": name,
            "arguments": arguments,
            "state": state,
            "summary": summary,
            "content": content,
        },
        st.text(max_size=80),
        st.dictionaries(st.text(max_size=30), st.one_of(st.text(max_size=3000), st.integers()), max_size=5),
        st.sampled_from(CallState),
        st.text(max_size=200),
        st.text(alphabet="a🐇`*\n@", max_size=40).map(lambda text: text * 300),
    ),
    max_size=35,
).map(lambda parts: [ShownCall(number=number, **each) for number, each in enumerate(parts, start=1)])


def test_a_call_is_one_line() -> None:
    card = render_card(TURN, [call()], CardState())
    assert card.embeds[0].description == '▸ 1 search_book "white rabbit" · 5 passages · 12 ms'
    assert card.embeds[0].colour == Colour.DONE
    assert [button.label for button in card.buttons] == ["Show search 1", "Show everything"]


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("5 passages", "5 Textstellen"),
        ("no places", "keine Stellen"),
        ("2 pages", "2 Seiten"),
        ("page 12 proposed", "Seite 12 vorgeschlagen"),
        ("", "fertig"),
        ("not mentioned", "nicht genannt"),
        ("4 chapters, 2 without a summary yet", "4 Kapitel, 2 noch ohne Zusammenfassung"),
        ("a pageant of donetsk", "a pageant of donetsk"),
    ],
)
def test_what_came_of_it_is_said_in_the_language_of_its_readers(summary: str, said: str) -> None:
    card = render_card(TURN, [call(summary=summary)], CardState(), speech_for(discord.Locale.german))
    assert card.embeds[0].description.split(" · ")[1] == said


def test_an_open_call_shows_arguments_and_result() -> None:
    card = render_card(TURN, [call(), call(2)], CardState().toggled(2))
    folded, opened = (embed.description for embed in card.embeds)
    assert "watch" not in folded
    assert opened.startswith("▾ 2 ")
    assert '"query": "white rabbit"' in opened
    assert "watch out" in opened
    assert [button.label for button in card.buttons][:2] == ["Show search 1", "Hide search 2"]


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        ({"name": "Hobb"}, "Show person 1"),
        ({}, "Show people 1"),
        ({"name": "", "chapter": "2"}, "Show people 1"),
    ],
)
def test_a_button_says_whether_it_shows_a_person_or_the_list_of_people(arguments: dict[str, str], label: str) -> None:
    card = render_card(TURN, [ShownCall(1, "who_is", arguments, CallState.DONE)], CardState())
    assert card.buttons[0].label == label


def test_other_arguments_follow_by_name() -> None:
    shown = headline(call(arguments={"query": "a", "top_k": 3, "also": [], "page": None}), "▸")
    assert shown.startswith('▸ 1 search_book "a" top_k=3 ·')


def test_a_failed_call_opens_by_itself_and_is_red() -> None:
    failed = call(2, state=CallState.FAILED, summary="", content="no such page")
    state = first_state([call(), failed])
    card = render_card(TURN, [call(), failed], state)
    assert state.is_open(2)
    assert not state.is_open(1)
    assert card.embeds[1].colour == Colour.FAILED
    assert "· failed ·" in card.embeds[1].description
    assert card.buttons[1].style is ButtonStyle.RED


def test_a_running_call_says_so() -> None:
    running = call(state=CallState.RUNNING, summary="", content="", milliseconds=0)
    card = render_card(TURN, [running], CardState().toggled(1))
    assert card.embeds[0].description.startswith('⏳ 1 search_book "white rabbit" …')
    assert "Result" not in card.embeds[0].description


def test_what_is_cut_says_how_much_is_missing() -> None:
    card = render_card(TURN, [call(content="x" * 50_000)], CardState().toggled(1))
    shown = card.embeds[0].description
    missing = re.search(r"… ([\d,]+) more characters under “Show everything”", shown)
    assert missing
    assert shown.count("x") + int(missing[1].replace(",", "")) == 50_000


def test_content_cannot_break_out_of_its_block() -> None:
    card = render_card(TURN, [call(content="```\n@everyone **bold**")], CardState().toggled(1))
    assert card.embeds[0].description.count("```") == 4


@given(calls, st.integers(0, 4), st.integers(0, 1023))
def test_every_card_is_a_message_discord_takes(calls: list[ShownCall], page: int, mask: int) -> None:
    for state in (state_of_page(calls, page), CardState(state_of_page(calls, page).page, mask)):
        card = render_card(TURN, calls, state)
        embeds = [{"description": embed.description, "color": int(embed.colour)} for embed in card.embeds]
        assert list(message_problems({"embeds": embeds}, {})) == []
        rows: list[dict[str, Any]] = [
            {"type": 1, "components": []} for _ in range(1 + max(b.row for b in card.buttons))
        ]
        for button in card.buttons:
            part = {"type": 2, "style": int(button.style), "label": button.label, "custom_id": button.custom_id}
            rows[button.row]["components"].append(part)
        assert list(component_problems("components", rows)) == []


@given(calls, st.integers(0, 4))
def test_there_is_an_embed_for_every_call(calls: list[ShownCall], page: int) -> None:
    state = state_of_page(calls, page)
    shown = calls[state.page * PAGE_SIZE :][:PAGE_SIZE]
    assert len(render_card(TURN, calls, state).embeds) == len(shown)


def test_more_calls_than_a_message_shows_are_turned_to() -> None:
    many = [call(number) for number in range(1, 26)]
    assert page_count(many) == 3
    assert first_state(many).page == 2
    card = render_card(TURN, many, CardState(page=1))
    assert card.embeds[0].description.startswith("▸ 11 ")
    earlier, later = card.buttons[10:12]
    assert (earlier.label, later.label) == ("◀ Earlier", "Later ▶")
    pressed = read_press(later.custom_id)
    assert pressed
    assert pressed.after(many) == CardState(page=2)
    assert render_card(TURN, many, CardState(page=2)).buttons[6].disabled


@pytest.mark.parametrize("number", [1, 10, 11, 37, 1000])
def test_a_button_knows_all_it_needs(number: int) -> None:
    many = [call(each) for each in range(1, number + 1)]
    state = CardState(page=(number - 1) // PAGE_SIZE, mask=0b101)
    pressed = read_press(toggle_id("t" * 64, state, number))
    assert pressed
    assert pressed.turn_id == "t" * 64
    assert pressed.after(many) == state.toggled(number)
    assert pressed.after(many).toggled(number) == state
    assert len(toggle_id("t" * 64, CardState(999_999, 1023), 9_999_999)) <= 100


def test_the_other_buttons() -> None:
    wanted = read_press(trace_id(TURN, CardState()))
    assert wanted
    assert wanted.wants_trace
    turned = read_press(page_id(TURN, CardState(), 7))
    assert turned
    assert turned.after([call()]) == CardState(page=0)
    assert not turned.wants_trace
    assert read_press("do:retry:1") is None


def test_calls_are_the_same_as_they_happened_and_as_they_were_kept() -> None:
    started = ToolCallStarted("c1", 1, "search_book", {"query": "tea"})
    finished = ToolCallFinished("c1", 1, "search_book", "2 passages", "the tea-party", False, 8)
    happened = ShownCall.started(started).finished(finished)
    kept = [
        message(MessageRole.USER, "tea?"),
        message(
            MessageRole.ASSISTANT,
            "",
            tool_invocations=(
                ToolInvocation("search_book", {"query": "tea"}, "c1"),
                ToolInvocation("read_pages", {"first": "3"}, "c2"),
            ),
        ),
        message(MessageRole.TOOL_RESULT, "the tea-party", tool_use_id="c1", summary="2 passages", duration_ms=8),
        message(MessageRole.ASSISTANT, "At tea.", turn_id="another"),
        message(
            MessageRole.ASSISTANT,
            "",
            tool_invocations=(ToolInvocation("search_book", {"query": "hatter"}, "c3"),),
            turn_id="a third",
        ),
    ]
    first, interrupted = calls_of(kept, TURN)
    assert first == happened
    assert (interrupted.number, interrupted.state) == (2, CallState.FAILED)


@pytest.mark.parametrize("is_error", [True, False])
def test_a_result_repeats_nothing_of_what_is_covered(is_error: bool) -> None:
    asked = ToolInvocation("look_up", {"what": "Hobb’s End"}, "c1", covered={"what": COVERED})
    result = message(MessageRole.TOOL_RESULT, "Nothing about Hobb’s End.", tool_use_id="c1", is_error=is_error)
    [kept] = calls_of([message(MessageRole.ASSISTANT, "", tool_invocations=(asked,)), result], TURN)
    assert "Hobb" not in repr((kept.arguments, kept.content))


def message(role: MessageRole, content: str, **parts: Any) -> ChatMessage:
    standing: dict[str, Any] = {"id": f"m{content}{role}", "conversation_id": "c", "created_at": NOW, "turn_id": TURN}
    return ChatMessage(role=role, content=content, **standing | parts)


@pytest.mark.parametrize(
    ("count", "rows"), [(1, [2]), (4, [5]), (5, [5, 1]), (7, [5, 3]), (10, [5, 5, 1]), (12, [5]), (13, [3, 3])]
)
def test_the_buttons_take_no_more_rows_than_they_need(count: int, rows: list[int]) -> None:
    made = [call(number) for number in range(1, count + 1)]
    card = render_card(TURN, made, first_state(made))
    placed = [button.row for button in card.buttons]
    assert [placed.count(row) for row in sorted(set(placed))] == rows
