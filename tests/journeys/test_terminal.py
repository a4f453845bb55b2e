"""A person at a terminal, from the first start to the last book removed."""

import asyncio
import codecs
import contextlib
import fcntl
import json
import os
import re
import signal
import struct
import termios
from pathlib import Path

import pytest

from bot.cli.chat import EXAMPLE_QUESTIONS
from tests.journeys.forked import Forked
from tests.journeys.terminal import Ran, Terminal

TALE = """THE DARK LAMP

CHAPTER I. The Arrival

Marta Quill came to the island on a Tuesday in March. The ferryman, old Hobb, would not take her money.

CHAPTER II. The Key

The lamp had been dark on the night of the ninth. Marta found a brass key under the stairs.

CHAPTER III. The Keeper

It was Hobb who had put the lamp out. He had done it for his brother Lucian, who drowned in 1887.
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


async def test_with_nothing_on_standard_input_an_example_reading_is_played(terminal: Terminal) -> None:
    ran = await terminal.run("start")
    assert ran.code == 0, ran.err
    assert ran.out.count("› ") == 3
    assert "p. " in ran.out
    assert "Return on the Ebb" in ran.out


async def test_piped_lines_are_questions_answered_in_order(terminal: Terminal) -> None:
    ran = await terminal.run("chat", stdin="Who drives the cart?\n\nWho is Hilda Crake?\nquit\nIgnored?\n")
    assert ran.code == 0, ran.err
    assert ran.out.index("Who drives the cart?") < ran.out.index("Who is Hilda Crake?")
    assert "Varley" in ran.out
    assert "bookbinders" in ran.out
    assert "Ignored?" not in ran.out


async def test_somebody_is_meant_for_as_long_as_the_talk_is_about_them(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    asked = ("Who is Hobb?", "Is he old?", "What would he not take?", "Where is he?", "Did he put the lamp out?")
    last = ("Did he drown?", "Does he have a brother?")
    ran = await terminal.run("chat", str(path), "--json", stdin="\n".join([*asked, *last]))
    assert ran.code == 0, ran.err
    queries = [each["arguments"].get("query", "") for each in ran.objects if each["event"] == "tool_call_started"]
    assert "brother Hobb" in queries


async def test_who_says_again_where_they_are_is_answered_and_not_asked_to_confirm_it(terminal: Terminal) -> None:
    asked = "Who is Varley? I'm on page 5.\nI'm on p. 5, who drives the cart?\nI'm on page 6, who drives the cart?\n"
    ran = await terminal.run("chat", "--page", "5", "--json", stdin=asked)
    *answered, asked_to_confirm = [each["text"] for each in ran.objects if each["event"] == "answer"]
    assert len(answered) == 2
    assert all("The man who drove the cart was called Kit Varley" in text for text in answered)
    assert "Varley" not in asked_to_confirm
    [proposed] = [each for each in ran.objects if each["event"] == "position_proposed"]
    assert proposed["page"] == "6"
    asked = "/progress chapter 2\nI've finished chapter two. Who drives the cart?\nI've read chapter 3, who is he?\n"
    ran = await terminal.run("chat", "--json", stdin=asked)
    answered, asked_to_confirm = [each["text"] for each in ran.objects if each["event"] == "answer"]
    assert "The man who drove the cart was called Kit Varley" in answered
    assert "Varley" not in asked_to_confirm


async def test_json_prints_an_object_per_event_and_one_answer_per_question(terminal: Terminal) -> None:
    ran = await terminal.run("chat", "--json", stdin="Who drives the cart?\n")
    assert ran.code == 0, ran.err
    names = [each["event"] for each in ran.objects]
    assert names[:2] == ["conversation", "turn_started"]
    assert names.count("answer") == 1
    assert {"tool_call_started", "tool_call_finished", "text_delta"} <= set(names)
    answer = ran.objects[-1]
    assert answer["text"] == "".join(each["text"] for each in ran.objects if each["event"] == "text_delta").strip()
    assert answer["citations"][0]["quote"]


async def test_verbose_shows_the_calls_and_their_results(terminal: Terminal) -> None:
    ran = await terminal.run("chat", "--verbose", stdin="Who drives the cart?\n")
    assert "▸ 1 search_book" in ran.out
    assert "passage-" in ran.out


async def test_a_conversation_goes_on_where_it_was_left(terminal: Terminal) -> None:
    first = await terminal.run("chat", "--json", stdin="Who drives the cart?\n")
    talk = first.objects[0]["id"]
    second = await terminal.run("chat", "--conversation", talk, "--json", stdin="And who is the landlady?\n")
    assert second.code == 0, second.err
    assert second.objects[0]["id"] == talk
    assert second.objects[0]["title"] == "Who drives the cart?"


async def test_a_book_is_added_listed_read_searched_and_removed(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    added = await terminal.run("books", "add", str(path), "--title", "The Dark Lamp", "--author", "A. N. Onym")
    assert added.code == 0, added.err
    assert "Added “The Dark Lamp” by A. N. Onym" in added.err
    assert "1 page, 3 chapters, " in added.err
    assert added.err.count("\n") == 1, "a progress bar leaves no line where there is no terminal"

    again = await terminal.run("books", "add", str(path))
    assert again.code == 0
    assert "already" in again.err

    [book] = json.loads((await terminal.run("books", "list", "--json")).out)
    assert (book["title"], book["format"], book["chapters"]) == ("The Dark Lamp", "txt", 3)

    text = (await terminal.run("books", "text", "The Dark Lamp")).out
    assert text == TALE
    assert (await terminal.run("books", "text", "dark lamp", "--page", "1")).out in text

    [hits] = (await terminal.run("search", "The Dark Lamp", "Who put out the lamp?", "--json", "--top-k", "2")).objects
    assert hits
    assert set(hits[0]) == {"passage_id", "page", "last_page", "chapter", "start", "end", "score", "text"}
    assert text[hits[0]["start"] : hits[0]["end"]] == hits[0]["text"]
    assert "about p. " in (await terminal.run("search", "The Dark Lamp", "Who put out the lamp?")).out

    removed = await terminal.run("books", "remove", "The Dark Lamp", "--yes")
    assert removed.code == 0
    assert json.loads((await terminal.run("books", "list", "--json")).out) == []
    assert list((terminal.folder / "data" / "books").glob("*.book")) == []


async def test_a_book_is_added_to_the_shelf_of_a_server(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    refused = await terminal.run("books", "add", str(path), "--server", "readers")
    assert refused.code == 1
    assert "the id of a Discord server" in refused.err

    for server in ("101234567890123456", "101234567890123457"):
        added = await terminal.run("books", "add", str(path), "--title", "Tale", "--server", server)
        assert added.code == 0, added.err
        assert "Added “Tale”" in added.err
    books = json.loads((await terminal.run("books", "list", "--json")).out)
    assert {book["shelf"] for book in books} == {"101234567890123456", "101234567890123457"}


@pytest.mark.parametrize("command", [["search"], ["books", "add"], ["mcp"], []])
async def test_help_names_what_to_type_and_not_how_it_is_programmed(terminal: Terminal, command: list[str]) -> None:
    shown = (await terminal.run(*command, "--help")).out
    options = shown.partition("Options")[2].partition("Commands")[0]
    assert "Show this message and exit." in options
    assert not re.search(r"<\w+.*?>", shown)


async def test_a_path_is_added_and_opened_at_once(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    ran = await terminal.run("chat", str(path), stdin="Who found a brass key?\n")
    assert ran.code == 0, ran.err
    assert "Marta" in ran.out


async def test_many_queries_are_answered_in_one_run_whatever_they_hold(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    await terminal.run("books", "add", str(path), "--title", "Tale")
    queries = ['"', "NEAR(", "lamp AND NOT", "Hobb's brother", "灯台", "🔦", "a-b:c*", "", "word " * 10_000, "lamp"]
    ran = await terminal.run("search", "Tale", "--queries", "-", "--json", stdin="\n".join(queries) + "\n")
    assert ran.code == 0, ran.err
    assert len(ran.objects) == len(queries)
    assert ran.objects[-1]


async def test_a_reader_on_a_page_is_shown_nothing_beyond_it(terminal: Terminal) -> None:
    ran = await terminal.run("chat", "--json", "--page", "5", stdin="Who is Edwin Orchard?\nWho took volume twelve?\n")
    assert ran.code == 0, ran.err
    told = [each for each in ran.objects if each["event"] != "turn_started"]
    shown = json.dumps([{k: v for k, v in each.items() if k != "arguments"} for each in told], ensure_ascii=False)
    assert "Daniel" not in shown
    assert "Marlby" not in shown


async def test_progress_is_told_and_set_within_a_chat(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    lines = (
        "/progress\n/progress chapter 2\nWho drowned?\n/progress page 99\n/progress finished\nWho drowned in 1887?\n"
    )
    ran = await terminal.run("chat", str(path), stdin=lines)
    first, rest = ran.out.split("› /progress chapter 2")
    second, third = rest.split("› /progress finished")
    assert "You haven't told me how far you've read" in first
    assert "You're at about page 1" in second
    assert "Lucian" not in second
    assert "There's no page 99 in this book" in second
    assert "You've finished the book" in third
    assert "Lucian" in third
    assert ran.code == 1, "one order could not be followed"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["books", "add", "nowhere.epub"], "no file"),
        (["books", "add", "."], "folder"),
        (["books", "add", "empty.txt"], "empty"),
        (["books", "add", "novel.mobi"], "This Kindle file is damaged"),
        (["books", "add", "broken.pdf"], "PDF"),
        (["chat", "No Such Book"], "no book called"),
        (["chat", "missing.epub"], "There is no file missing.epub. There's no book called"),
        (["chat", "~nobody/missing.epub"], "There is no file ~nobody/missing.epub."),
        (["chat", "/"], "/ is a folder. Name the files in it."),
        (["chat", "/dev/null"], "is not a file that can hold a book"),
        (["chat", "--conversation", "nope"], "conversation"),
        (["chat", "--page", "9999"], "page"),
        (["books", "text", "No Such Book"], "no book called"),
        (["books", "remove", "No Such Book", "--yes"], "no book called"),
        (["search", "No Such Book", "x"], "no book called"),
        (["search", "Return on the Ebb", " "], "Say what to look for."),
        (["who", "Return on the Ebb", ""], "Say whom you mean."),
    ],
)
async def test_bad_input_is_a_sentence_and_an_exit_code(terminal: Terminal, arguments: list[str], says: str) -> None:
    terminal.write("empty.txt", "")
    terminal.write("novel.mobi", b"\0" * 60 + b"BOOKMOBI" * 20)
    terminal.write("broken.pdf", b"%PDF-1.7\nnothing of a PDF follows")
    assert_refused(await terminal.run(*arguments), says)


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"HISTORY_MESSAGES": "lots"}, "HISTORY_MESSAGES"),
        ({"DATABASE_URL": "oracle://x"}, "DATABASE_URL"),
        ({"DATA_DIR": "/dev/null/data"}, "set DATA_DIR, or DATABASE_URL, to a place where this user may write"),
        ({"LLM_PROVIDER": "anthropic"}, "ANTHROPIC_API_KEY"),
    ],
)
async def test_bad_settings_are_a_sentence_and_an_exit_code(
    terminal: Terminal, environment: dict[str, str], says: str
) -> None:
    assert_refused(await terminal.run("chat", stdin="Hello\n", **environment), says)


async def test_a_line_of_the_settings_file_that_cannot_be_read_is_told_once(terminal: Terminal) -> None:
    terminal.write(".env", 'no setting\nHISTORY_MESSAGES=30\nMCP_SERVERS="notes=http://127.0.0.1:9/mcp\n')
    ran = await terminal.run("books", "list")
    assert ran.code == 0
    assert [line.split(":")[0] for line in ran.err.splitlines()] == [
        "Line 1 of .env is ignored",
        "Line 3 of .env is ignored",
    ]


async def test_no_network_is_a_sentence_and_an_exit_code(terminal: Terminal) -> None:
    nowhere = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    ran = await terminal.run("chat", stdin="Who drives the cart?\n", **nowhere)
    assert ran.code != 0
    assert "Traceback" not in ran.out + ran.err
    assert "The model's server could not be reached" in ran.out
    assert "p. " in ran.out.partition("Meanwhile, here's what the book says:")[2]
    assert ran.err == ""


def assert_refused(ran: Ran, says: str) -> None:
    assert ran.code not in (0, None)
    assert "Traceback" not in ran.err
    assert says in ran.err
    assert ran.err.strip().endswith((".", "…"))


async def test_a_terminal_that_is_closed_leaves_no_tool_server_behind(terminal: Terminal, tmp_path: Path) -> None:
    """A program that never answers would not notice by itself."""
    server = f"dead=sh -c 'echo $$ > {tmp_path}/pid; trap \"\" TERM HUP; sleep 1000; sleep 1000'"
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as typed, os.fdopen(write_end, "wb"), Path(os.devnull).open("w+b") as nothing:
        environment = terminal.environment(MCP_SERVERS=server)
        process = Forked(["chat", "--new"], environment, terminal.folder, (typed, nothing, nothing))
        async with asyncio.timeout(60):
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
                await asyncio.sleep(0.01)
            os.kill(process.pid, signal.SIGHUP)
            assert await process.end() == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_person_types_in_a_narrow_window_and_comes_back_later(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    typed = ["Who found a brass key?", "/verbose perhaps", "/usr/bin/env", "\x1b[A", "/help"]
    first = await typed_in(terminal, ["chat", str(path), "--new", "--verbose"], typed)
    for told in (
        '{"query": "found brass key',
        "Type /verbose on or /verbose off.",
        "There is no command /usr/bin/env.",
    ):
        assert told in " ".join(first.split())
    assert "the last answer" in " ".join(first.split()), "/help"
    assert first.count("▸ 1 search_book") == 1, "nothing else was a question"
    assert max(map(len, first.splitlines())) <= NARROW
    again = await typed_in(terminal, ["chat", str(path)], ["1", "/sources", "/retry"])
    sources, retried = " ".join(again.split()).partition("› /sources")[2].split("› /retry")
    assert "p. 1 · Chapter II. The Key: Marta found a brass key under the stairs." in sources
    assert "“Marta found a brass key under the stairs.”" in retried


async def test_whoever_leaves_in_the_ordinary_way_has_not_failed(terminal: Terminal) -> None:
    shown = await typed_in(terminal, ["chat"], ["/progress page 4000", "quit"], "", code=0)
    assert "There's no page 4000 in this book" in " ".join(shown.split())


async def test_a_conversation_without_a_word_is_none_to_continue(terminal: Terminal) -> None:
    await typed_in(terminal, ["start"], [])
    second = await typed_in(terminal, ["chat"], ["hello"])
    assert "Continue which one?" not in second
    third = await typed_in(terminal, ["chat"], [""])
    assert "Continue which one?" in " ".join(third.split())
    assert third.count("New conversation") == 1, "the one with a greeting"
    assert re.search(r"New conversation +(?:to|yester)day, \d\d:\d\d", third)


@pytest.mark.parametrize(("lines", "leaving"), [(["quit"], ""), ([], "\x04")])
async def test_whoever_leaves_at_the_list_of_conversations_begins_none(
    terminal: Terminal, lines: list[str], leaving: str
) -> None:
    await typed_in(terminal, ["chat"], ["hello"])
    shown = await typed_in(terminal, ["chat"], lines, leaving)
    assert " ".join(shown.split()).endswith(" ".join(["press Enter for a new one:", *lines]))


async def test_a_narrow_window_shows_ids_and_titles_whole(terminal: Terminal) -> None:
    path = terminal.write("tale.txt", TALE)
    await terminal.run("books", "add", str(path), "--title", "The Lamp of Innisfallen", "--author", "A. Nonymous")
    [book] = json.loads((await terminal.run("books", "list", "--json")).out)
    shown = (await terminal.run("books", "list", COLUMNS=str(NARROW))).out.splitlines()
    assert [line.rstrip() for line in shown[1:]] == [f"{book['id'][:8]}  The Lamp of Innisfallen"]


async def test_whoever_starts_it_in_a_terminal_is_told_what_to_ask(terminal: Terminal) -> None:
    shown = " ".join((await typed_in(terminal, ["start"], [EXAMPLE_QUESTIONS[0]])).split())
    assert f"Ask something, for example: {EXAMPLE_QUESTIONS[0]} ›" in shown
    assert "on Friday the twenty-sixth" in shown


@pytest.mark.parametrize("leaving", ["\x04", signal.SIGINT])
async def test_a_person_who_leaves_at_a_question_is_let_go_and_nothing_is_done(
    terminal: Terminal, leaving: str | signal.Signals
) -> None:
    await terminal.run("books", "add", str(terminal.write("tale.txt", TALE)), "--title", "The Dark Lamp")
    shown = await typed_in(terminal, ["books", "remove", "The Dark Lamp"], [], leaving)
    assert "Something went wrong" not in shown
    assert "The Dark Lamp" in (await terminal.run("books", "list")).out


NARROW = 40


async def typed_in(
    terminal: Terminal,
    arguments: list[str],
    lines: list[str],
    leaving: str | signal.Signals = "\x04",
    *,
    code: int | None = None,
) -> str:
    """What is in a narrow window once the lines were typed in it, each at a prompt, and Ctrl-D after them. `code` is
    the exit code that is expected; None: any.
    """
    window, inside = os.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, NARROW, 0, 0))
    shown, at, came, decoder = "", 0, asyncio.Event(), codecs.getincrementaldecoder("utf-8")()

    def read() -> None:
        nonlocal shown
        with contextlib.suppress(OSError):  # nobody has the window open any more
            shown += _ESCAPES.sub("", decoder.decode(os.read(window, 65536)))
        came.set()

    asyncio.get_running_loop().add_reader(window, read)
    with os.fdopen(inside, "r+b", buffering=0) as end:
        environment = terminal.environment(COLUMNS=str(NARROW), TERM="xterm")
        process = Forked(arguments, environment, terminal.folder, (end, end, end))
    try:
        async with asyncio.timeout(60):
            for line in [*(f"{line}\r" for line in lines), *([leaving] if leaving else [])]:
                while not re.search(r"(› |: |\] )$", shown[at:]):
                    came.clear()
                    await came.wait()
                at = len(shown)
                if isinstance(line, signal.Signals):
                    os.kill(process.pid, line)
                else:
                    os.write(window, line.encode())
            assert await process.end() == code or code is None
    finally:
        asyncio.get_running_loop().remove_reader(window)
        os.close(window)
    return shown.replace("\r\n", "\n").replace("\r", "\n")


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
