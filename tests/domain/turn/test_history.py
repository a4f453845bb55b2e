"""What of a history goes into a prompt."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chat import ChatMessage, MessageRole
from domain.conversation import Turn, TurnState
from domain.strategies.window import ContextWindow, estimate
from domain.tool_use import ToolInvocation
from domain.turn.history import FullHistoryStrategy, presentable, within_bound

USER, ASSISTANT, RESULT = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL_RESULT
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def turn(number: int, *roles: MessageRole, depends_to: int | None = None) -> list[ChatMessage]:
    return [
        ChatMessage(
            id=f"{number}.{at}",
            conversation_id="c",
            role=role,
            content=f"{role} {number}.{at}",
            created_at=NOW,
            turn_id=f"t{number}",
            depends_to=depends_to if role is not USER else None,
        )
        for at, role in enumerate(roles)
    ]


def searching(number: int, depends_to: int | None = None) -> list[ChatMessage]:
    return turn(number, USER, ASSISTANT, RESULT, ASSISTANT, depends_to=depends_to)


def test_a_short_history_goes_in_whole() -> None:
    history = searching(1) + searching(2)
    assert FullHistoryStrategy(20).build_context(history) == history


def test_the_cut_falls_only_before_a_readers_message() -> None:
    history = searching(1) + searching(2) + searching(3)
    kept = FullHistoryStrategy(10).build_context(history)
    assert [m.id for m in kept] == [m.id for m in searching(2) + searching(3)]


def test_the_newest_turn_is_kept_even_if_it_is_too_long_alone() -> None:
    long = turn(2, USER, *[ASSISTANT, RESULT] * 8, ASSISTANT)
    assert len(FullHistoryStrategy(4).build_context(searching(1) + long)) == len(long)


def test_no_history_is_no_context() -> None:
    assert FullHistoryStrategy().build_context([]) == []


@given(
    st.lists(st.sampled_from([(USER, ASSISTANT), (USER, USER, ASSISTANT, RESULT, RESULT, ASSISTANT)])),
    st.integers(1, 30),
)
def test_a_context_starts_with_a_reader_and_never_parts_a_call_from_its_result(
    shapes: list[tuple[MessageRole, ...]], most: int
) -> None:
    history = [m for number, roles in enumerate(shapes) for m in turn(number, *roles)]
    kept = FullHistoryStrategy(most).build_context(history)
    assert len(kept) <= most or len({m.turn_id for m in kept}) == 1
    assert not kept or kept[0].role is USER
    assert [m.id for m in kept] == [m.id for m in history][len(history) - len(kept) :]


def test_a_turn_that_depends_on_unread_text_is_left_out_whole() -> None:
    history = searching(1, depends_to=100) + searching(2, depends_to=500) + searching(3, depends_to=100)
    kept = within_bound(history, 200)
    assert {m.turn_id for m in kept} == {"t1", "t3"}


def test_within_the_bound_nothing_changes() -> None:
    history = searching(1, depends_to=100)
    assert within_bound(history, 100) == history


def calling(number: int) -> list[ChatMessage]:
    asked, call, *rest = searching(number)
    return [asked, replace(call, tool_invocations=(ToolInvocation("search_book", {}, "c"),)), *rest]


def grown(strategy: FullHistoryStrategy, turns: int) -> list[list[ChatMessage]]:
    """What goes in at each turn of a conversation in which every answer took a search."""
    history: list[ChatMessage] = []
    contexts = []
    for number in range(turns):
        contexts.append(strategy.build_context(history))
        history = (history + calling(number))[-40:]
    return contexts


def test_a_conversation_is_cut_in_steps_and_grows_again() -> None:
    contexts = grown(FullHistoryStrategy(20), 40)
    kept = [[m.id for m in context] for context in contexts]
    steps = [after[: len(before)] != before for before, after in pairwise(kept)]
    assert all(len(context) <= 20 for context in contexts)
    assert sum(steps) <= 10
    assert all(context[0].role is USER for context in contexts[1:])
    assert all(len({m.turn_id for m in context}) >= 3 for context in contexts[3:])


def test_what_old_turns_looked_up_goes_at_a_cut_and_what_they_said_stays() -> None:
    last = grown(FullHistoryStrategy(20), 7)[-1]
    assert [m.role for m in last] == [USER, ASSISTANT] * 3


def changes(strategy: FullHistoryStrategy, turns: Sequence[list[ChatMessage]]) -> int:
    """How often the history of a growing conversation, as it is read from storage, begins with another message."""
    read = [turns[max(at - strategy.reach, 0) : at] for at in range(1, len(turns))]
    kept = [strategy.build_context([message for turn in each for message in turn]) for each in read]
    return sum(before[0].id != after[0].id for before, after in pairwise(kept))


def test_a_talk_without_searches_is_cut_in_steps_too() -> None:
    assert changes(FullHistoryStrategy(20), [turn(number, USER, ASSISTANT) for number in range(40)]) <= 5


@pytest.mark.parametrize("words", [900, 400])
def test_a_window_that_one_search_or_two_fill_is_cut_in_steps_too(words: int) -> None:
    window = ContextWindow(4_000)
    found = [replace(m, content="word " * (words if m.role is RESULT else 55)) for m in searching(0)]
    turns = [[replace(m, id=f"{number}.{m.id}", turn_id=f"t{number}") for m in found] for number in range(40)]
    assert changes(FullHistoryStrategy(20, window), turns) <= 8


def test_failed_turns_take_no_room() -> None:
    strategy = FullHistoryStrategy(8)
    failed = [m for number in range(10, 30) for m in turn(number, USER)]
    history = searching(1) + searching(2) + failed
    assert strategy.build_context(history) == history


def test_questions_without_an_answer_drive_none_with_one_out_of_a_small_window() -> None:
    answered = [replace(m, content="word " * 50) for number in range(3) for m in turn(number, USER, ASSISTANT)]
    failed = [replace(m, content="what " * 90) for number in range(10, 55) for m in turn(number, USER)]
    window = ContextWindow(4_096)
    kept = FullHistoryStrategy(20, window).build_context([*answered, *failed])
    assert kept[: len(answered)] == answered
    newest = kept[len(answered) :]
    assert newest == failed[-len(newest) :]
    assert 0 < len(newest) < 15
    assert estimate([m.as_prompt() for m in kept]) <= window.history_tokens


def test_a_question_without_an_answer_is_forgotten_with_the_next_answer() -> None:
    talk = [turn(1, USER, ASSISTANT), turn(2, USER), turn(3, USER, ASSISTANT), turn(4, USER), turn(5, USER)]
    turns = [
        Turn(f"t{number}", "c", number, TurnState.FAILED if number in (2, 4, 5) else TurnState.ANSWERED, NOW)
        for number in range(1, 6)
    ]
    shown = presentable([message for each in talk for message in each], turns)
    assert [m.turn_id for m in shown] == ["t1", "t1", "t3", "t3", "t4", "t5"]


def test_a_small_window_cuts_earlier() -> None:
    window = ContextWindow(2_000)
    wordy = [replace(m, content="word " * 100) for number in range(5) for m in searching(number)]
    kept = FullHistoryStrategy(100, window).build_context(wordy)
    assert 0 < estimate([m.as_prompt() for m in kept]) <= window.history_tokens
