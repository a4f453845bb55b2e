"""What books and people write is shown in a terminal, and never obeyed by it."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from bot import __main__ as main
from bot.cli.terminal import GuardedConsole, print_json, with_whole_references, without_terminal_sequences

ORDERS = (
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://evil.example\x1b\\the next chapter\x1b]8;;\x1b\\",
    "\x1b]0;a new title\x07",
    "\x9b2J\x9d52;c;c2VjcmV0\x9c",
    "one\rtwo\x08\x08\x0b\x0c",
    "txt.\u202eexe.gpj\u2066",
)


def shown(thing: object, *, terminal: bool = False, **options: bool) -> str:
    console = GuardedConsole()
    console.file = io.StringIO()
    if terminal:
        console.width, console._force_terminal = 20, True
    console.print(thing, **options)  # type: ignore[arg-type]
    return console.file.getvalue()


@pytest.mark.parametrize("text", ORDERS)
def test_orders_are_not_passed_on(text: str) -> None:
    table = Table("a")
    table.add_row(Text(text))
    for written in (shown(text, markup=False), shown(Text(text)), shown(table)):
        assert not set(written) & set(obeyed_everywhere())


def obeyed_everywhere() -> str:
    return "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)])) + "\u202e\u2066"


def test_lines_do_not_break_within_a_page_reference() -> None:
    told = shown(with_whole_references("Marta came at dusk (about p. 11)"), terminal=True, markup=False)
    assert told == "Marta came at dusk \n(about p. 11)\n"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_whatever_comes_can_be_written(text: str) -> None:
    left = without_terminal_sequences(text)
    assert left.encode().decode() == left
    assert not set(left) & set(obeyed_everywhere())
    assert [char for char in left if char.isalnum()] == [char for char in text if char.isalnum()]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_loses_no_letter_whatever_the_output_can_hold(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    said = {"text": "“Grüße” – 灯\udce9"}
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding, errors="replace"))
    print_json(said)
    line = output.getvalue()
    assert json.loads(line) == said
    assert line.count(b"\n") == 1


def test_json_is_in_letters_where_the_output_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, "utf-8"))
    print_json("“Grüße”")
    assert output.getvalue().decode() == '"“Grüße”"\n'


def test_words_are_no_pictures_and_brackets_no_styles() -> None:
    assert shown("a :warning: and [bold]loud[/nope]", markup=False) == "a :warning: and [bold]loud[/nope]\n"


def test_a_terminal_breaks_sentences_between_words_and_a_pipe_gets_them_whole() -> None:
    sentence = "You're at about page 4. I won't reveal anything after it."
    wrapped = shown(sentence, terminal=True, soft_wrap=True)
    assert wrapped.split() == sentence.split()
    assert max(map(len, wrapped.splitlines())) <= 20
    assert shown(sentence, soft_wrap=True) == f"{sentence}\n"
    address = "BOOKS_URL=s3://a-bucket/with/a/long/name"
    assert shown(address, terminal=True, soft_wrap=True) == f"{address}\n", "what is to be copied stays in one piece"


def test_a_stream_that_was_closed_before_the_start_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    main._open_missing_streams()
    with sys.stdin as given, sys.stdout as out:
        assert given.read() == ""
        print("to nobody", file=out)
