"""What a turn looks like in a terminal."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import UTC, datetime
from io import StringIO
from typing import cast

import pytest
from rich.console import Console

from bot.cli.console import DETAIL_LINES, ConsoleChat, Orders, position_fields
from domain.book import Binding, BindingKind, Citation, PositionState, ReadingPosition
from domain.conversation import Conversation
from domain.errors import BookError, BookErrorCode
from domain.event import (
    Answer,
    ApprovalAsked,
    PositionProposed,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEvent,
    TurnFailed,
    TurnStarted,
)
from domain.spoilers.filter import hide
from domain.turn.chat_with_book import ChatWithBook, Reader
from domain.turn.state import Decision

TALK = Conversation("t", "b", "Talk", datetime(2026, 1, 1, tzinfo=UTC))


class Played:
    """A chat in which these events happen."""

    def __init__(self, *events: TurnEvent) -> None:
        self._events = events

    async def receive(self, *args: object) -> None: ...

    async def delivered(self, *args: object) -> None: ...

    async def answer(self, conversation_id: str) -> AsyncGenerator[TurnEvent, None]:
        for event in self._events:
            yield event


async def no_move(order: str) -> tuple[ReadingPosition, str]:
    raise AssertionError(order)


async def screen(*lines: str, events: tuple[TurnEvent, ...] = (), verbose: bool = False, as_json: bool = False) -> str:
    """What is on the screen after these lines were typed."""
    moved: list[str] = []

    async def move(order: str) -> tuple[ReadingPosition, str]:
        moved.append(order)
        if order == "nowhere":
            raise BookError(BookErrorCode.NOT_FOUND, "There is no such page.")
        return ReadingPosition(PositionState.FINISHED), f"Moved: {order!r}."

    async def typed() -> AsyncIterator[str]:
        for line in lines:
            yield line

    out = Console(file=StringIO(), width=200)
    chat = cast(ChatWithBook, Played(*events))
    await ConsoleChat(chat, TALK, out, orders=Orders(move), verbose=verbose, as_json=as_json).run(typed())
    return cast(StringIO, out.file).getvalue()


async def test_leaving_works_with_a_stroke_too() -> None:
    assert await screen("/quit", "/nonsense") == ""


async def test_a_failure_is_told_with_the_words_of_the_models_server() -> None:
    failed = TurnFailed(
        "1", "api_call_failed", "OpenAI could not carry out the request.", said="[b]The flux[/b] is out."
    )
    shown = await screen("Who?", events=(TurnStarted("1"), failed))
    assert "OpenAI could not carry out the request. Reported: [b]The flux[/b] is out." in shown


async def test_what_discord_would_cover_is_left_out() -> None:
    text = f"She came. {hide('It was Lucian.')} She paid."
    shown = await screen("Who?", events=(TurnStarted("1"), TextDelta(text), Answer("1", text)))
    assert "She came. ▒▒▒ (hidden) She paid." in shown
    assert "Lucian" not in shown
    assert "\nI've hidden part of this answer" in shown


async def test_missing_tools_are_named_once_in_help_and_when_they_are_back() -> None:
    states = iter([{"notes": "it is still starting"}] * 3 + [{}])

    async def missing() -> Mapping[str, str]:
        return next(states)

    async def typed() -> AsyncIterator[str]:
        for line in ("One?", "Two?", "/help", "Three?"):
            yield line

    out = Console(file=StringIO(), width=200)
    chat = cast(ChatWithBook, Played(TextDelta("An answer."), Answer("1", "An answer.")))
    await ConsoleChat(chat, TALK, out, orders=Orders(no_move), missing=missing, verbose=False, as_json=False).run(
        typed()
    )
    shown = cast(StringIO, out.file).getvalue()
    first, rest = shown.split("An answer.", 1)
    assert first == "The tools of notes are missing: it is still starting.\n"
    assert rest.count("The tools of notes are missing: it is still starting.") == 1, "in /help"
    assert "chat FILE\nThe tools of notes are missing" in rest
    assert rest.count("The tools of notes are here now.") == 1


async def test_a_proposed_position_says_how_to_accept_it() -> None:
    shown = await screen("I am on page 80", events=(PositionProposed("80", "terminal"), Answer("1", "Shall I?")))
    assert "Have you read to page 80? Then type: /progress page 80" in shown


async def test_progress_is_an_order_and_no_question() -> None:
    shown = await screen("/progress page 12", "/Progress", "/progressive rock")
    assert "Moved: 'page 12'." in shown
    assert "Moved: ''." in shown
    assert "rock" not in shown


async def test_verbose_names_claims_without_a_reference() -> None:
    answer = Answer("1", "Ann kept the light.", uncited=("Ann kept the light.",))
    assert "1 sentence cites nothing" in await screen("Who?", events=(answer,), verbose=True)
    assert "cites nothing" not in await screen("Who?", events=(answer,))


@pytest.mark.parametrize(
    ("binding", "line"),
    [
        (Binding("7", 9, "5", name="Ben"), "Answering up to p. 5, as far as Ben has read."),
        (Binding("", 9, "", kind=BindingKind.HIDDEN), "Answering only as far as everybody here has read."),
        (Binding("", 9, "5", kind=BindingKind.SECTION, section=2), "Answering up to p. 5, the end of section 2."),
        (Binding("7", 0, "", name="Ben"), "Ben hasn't started reading, so I won't reveal anything here yet."),
        (Binding("7", 0, ""), "Another reader hasn't started reading, so I won't reveal anything here yet."),
        (Binding("", 0, "", kind=BindingKind.ENDED), "Not everybody had started reading when the club ended, so I"),
    ],
)
async def test_who_or_what_binds_an_answer_is_named_below_it(binding: Binding, line: str) -> None:
    assert line in await screen("Who?", events=(Answer("1", "Ann kept the light.", binding=binding),))


async def test_in_json_a_position_has_its_state_and_a_refusal_is_an_object_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert await screen("/progress finished", "/progress nowhere", as_json=True) == ""
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told == [
        {"event": "progress", "state": "finished", "read_to": None, "text": "Moved: 'finished'."},
        {"event": "refused", "text": "There is no such page."},
    ]


def test_the_three_states_of_a_position_are_three_in_json() -> None:
    reading = ReadingPosition(PositionState.READING, 0)
    assert position_fields(ReadingPosition()) == {"state": "unset", "read_to": None}
    assert position_fields(reading) == {"state": "reading", "read_to": 0}
    assert position_fields(ReadingPosition(PositionState.FINISHED)) == {"state": "finished", "read_to": None}


class Asked(Played):
    """Remembers what was put to the model."""

    def __init__(self, *events: TurnEvent) -> None:
        super().__init__(*events)
        self.questions: list[str] = []

    async def receive(self, *args: object) -> None:
        self.questions.append(str(args[1]))


async def typing(*lines: str, events: tuple[TurnEvent, ...] = ()) -> tuple[str, list[str]]:
    """The screen after these lines, and what of them went to the model."""

    async def move(order: str) -> tuple[ReadingPosition, str]:
        return ReadingPosition(), order

    async def typed() -> AsyncIterator[str]:
        for line in lines:
            yield line

    out, asked = Console(file=StringIO(), width=200), Asked(*events)
    await ConsoleChat(cast(ChatWithBook, asked), TALK, out, orders=Orders(move), verbose=False, as_json=False).run(
        typed()
    )
    return cast(StringIO, out.file).getvalue(), asked.questions


CITED = Answer("1", "She came (p. 3).", (Citation(0, 9, "She came at last.", "3", "3", "The Lamp"),))


async def test_slash_commands_never_go_to_the_model() -> None:
    orders = ["/help", "/verbose", "/verbose maybe", "/sources", "/retry", "/nonsense", "/", "/who-knows?", "\x1b[A"]
    orders += ["\ufeff/HELP me", "  /Sources\tnow"]
    shown, asked = await typing(*orders, "Who \x1b[Dcame?", events=(CITED,))
    assert asked == ["Who came?"], "nor what arrow keys type"
    for told in (
        "/retry: ask",
        "you'll see what is looked up",
        "no answer yet",
        "You haven't asked anything yet",
        "no command /nonsense",
        "no command /.",
        "no command /who-knows?.",
        "Type /verbose on or /verbose off.",
    ):
        assert told in shown


async def test_recaps_portraits_and_questions_are_asked_for_with_what_is_typed_behind_them() -> None:
    asked: list[tuple[str, str]] = []

    async def read(command: str, about: str) -> None:
        asked.append((command, about))

    async def lines() -> AsyncIterator[str]:
        for line in ("/recap", "/RECAP chapter 2", "/who  Mr. Varley", "/who", "/discuss 3"):
            yield line

    out = Console(file=StringIO(), width=200)
    chat = cast(ChatWithBook, Played())
    await ConsoleChat(chat, TALK, out, orders=Orders(no_move, read), verbose=False, as_json=False).run(lines())
    assert asked == [("/recap", ""), ("/recap", "chapter 2"), ("/who", "Mr. Varley"), ("/discuss", "3")]
    assert "Say whom you mean: /who NAME." in cast(StringIO, out.file).getvalue()


async def test_japanese_and_chinese_keyboards_type_commands_too() -> None:
    shown, asked = await typing("／ｈｅｌｐ", "、sources", "・ＨＥＬＰ", "／ｖｅｒｂｏｓｅ　ｏｎ", "／ｎｏｎｅ")
    assert not asked
    assert shown.count("/retry: ask") == 2
    assert "you'll see what" in shown
    assert "no command /none." in shown
    _, asked = await typing("、ｗｈｙ so late?", "・誰？", "／quit", "Too late?")
    assert asked == ["、ｗｈｙ so late?", "・誰？"], "what only looks like one goes to the model as it was typed"


async def test_a_question_that_begins_with_a_slash_is_told_how_to_be_asked() -> None:
    shown, asked = await typing("/etc/passwd is mentioned where?")
    assert "no command /etc/passwd. /help lists the commands. If this is a question, begin it with a word" in shown
    assert not asked


async def test_retry_asks_again_and_sources_shows_what_the_answer_rests_on() -> None:
    shown, asked = await typing("Who came?", "/retry", "/sources", events=(CITED,))
    assert asked == ["Who came?"] * 2
    assert shown.rstrip().endswith("p. 3 · The Lamp: She came at last.")


async def test_sources_that_follow_each_other_are_one() -> None:
    sentences = ((0, "She came.", "3"), (11, "It was dark.", "3"), (90, "A tide.", "3"), (98, "So?", "4"))
    cited = [Citation(start, start + len(said), said, page, page, "The Lamp") for start, said, page in sentences]
    shown, _ = await typing("Who came?", "/sources", events=(Answer("1", "She came (p. 3).", tuple(cited)),))
    assert shown.rstrip().splitlines()[-3:] == [
        "p. 3 · The Lamp: She came. It was dark.",
        "p. 3 · The Lamp: A tide.",
        "p. 4 · The Lamp: So?",
    ]


async def test_verbose_shows_arguments_and_results_of_calls_until_it_is_off() -> None:
    call = ToolCallStarted("c", 1, "search_book", {"query": "lamp", "top_k": 3})
    done = ToolCallFinished("c", 1, "search_book", "1 passage", "The lamp was dark.", is_error=False, milliseconds=4)
    shown, _ = await typing("/verbose on", "Who?", "/verbose off", "Who?", events=(call, done, CITED))
    assert shown.count('{"query": "lamp", "top_k": 3}') == shown.count("The lamp was dark.") == 1


async def test_a_long_result_fills_no_more_of_a_terminal_than_its_first_lines() -> None:
    long = ToolCallFinished("c", 1, "search_book", "1 passage", "It rained. " * 500, is_error=False, milliseconds=4)

    async def typed() -> AsyncIterator[str]:
        yield "Who?"

    out = Console(file=StringIO(), width=60, force_terminal=True)
    chat = cast(ChatWithBook, Played(long, CITED))
    await ConsoleChat(chat, TALK, out, orders=Orders(no_move), verbose=True, as_json=False).run(typed())
    shown = cast(StringIO, out.file).getvalue()
    assert sum("It rained." in line for line in shown.splitlines()) == DETAIL_LINES
    assert re.search(r"… \d+ more lines", shown)
    assert shown.count("It rained.") < 100


@pytest.mark.parametrize(("typed", "allowed"), [(True, True), (False, False), (None, False)])
async def test_a_tool_that_may_change_something_is_shown_and_asked_for(typed: bool | None, allowed: bool) -> None:
    decided: list[bool] = []

    class Deciding(Played):
        def decide(self, conversation_id: str, approval_id: str, reader: Reader, *, allowed: bool) -> Decision:
            decided.append(allowed)
            return Decision.TAKEN

    async def confirm(question: str) -> bool:
        return bool(typed)

    async def lines() -> AsyncIterator[str]:
        yield "Note it."

    async def move(order: str) -> tuple[ReadingPosition, str]:
        raise AssertionError("nobody moves")

    asked = ApprovalAsked("1", "terminal", "notes_add", {"text": "a note"})
    out = Console(file=StringIO(), width=200)
    chat = cast(ChatWithBook, Deciding(TurnStarted("1"), asked, Answer("1", "Done.")))
    asks = None if typed is None else confirm
    await ConsoleChat(chat, TALK, out, orders=Orders(move), confirm=asks, verbose=False, as_json=False).run(lines())
    shown = cast(StringIO, out.file).getvalue()
    assert 'notes_add {"text": "a note"}' in shown
    assert decided == [allowed]
    assert ("I can't ask you while the input is piped" in shown) == (typed is None)
