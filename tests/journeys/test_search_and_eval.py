"""`marginalia search` and `marginalia eval`, run as a person or a script runs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.terminal import Terminal

BOOK = (
    "Chapter 1\r\n\r\nThe lamp was dark. Hobb’s brother had the key.\r\n" + "Nothing happened on the marsh. " * 200
) + "\r\n\r\nChapter 2\r\n\r\nA heron stood on the sluice gate,\r\nand Ines counted it.\r\n"
TEXT = BOOK.replace("\r\n", "\n")
WILD = [
    '"', "NEAR(lamp, 3)", "lamp AND NOT key", "Hobb's brother", "灯台", "🔦", "a-b:c*", "^lamp", "*", "", "  ",
    "lamp\x00heron", "lamp\x85heron", "lamp\u2028heron", "word " * 10_000, "\ufeff", "%s {} \\", "lamp\r",
]  # fmt: skip


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def place(words: str) -> list[int]:
    return [TEXT.index(words), TEXT.index(words) + len(words)]


async def test_passages_stand_in_the_book_where_they_say(terminal: Terminal) -> None:
    await terminal.run("books", "add", str(terminal.write("marsh.txt", BOOK)))
    text = (await terminal.run("books", "text", "marsh")).out
    ran = await terminal.run("search", "marsh", "Where did the heron stand?", "--json", "--top-k", "99999")
    [passages] = ran.objects
    fields = ["passage_id", "page", "last_page", "chapter", "start", "end", "score", "text"]
    assert all(list(passage) == fields for passage in passages)
    assert all(passage["text"] == text[passage["start"] : passage["end"]] for passage in passages)
    assert "and Ines counted it." in passages[0]["text"]
    assert [passage["score"] for passage in passages] == sorted((p["score"] for p in passages), reverse=True)


async def test_there_is_a_list_for_each_line_in_order_whatever_it_holds(terminal: Terminal) -> None:
    await terminal.run("books", "add", str(terminal.write("marsh.txt", BOOK)))
    queries = [line for wild in WILD for line in (wild, "sluice gate")]
    file = terminal.write("queries.txt", "\n".join(queries).encode() + b"\n\xff\xfe\nsluice gate")
    ran = await terminal.run("search", "marsh", "--queries", str(file), "--json", "--top-k", "1")
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.objects) == len(queries) + 2
    gate = ran.objects[-1]
    assert "sluice gate" in gate[0]["text"]
    assert all(found == gate for found in ran.objects[1::2])


@pytest.mark.parametrize("top_k", ["0", "-3", "many"])
async def test_a_number_of_passages_that_makes_no_sense_is_refused(terminal: Terminal, top_k: str) -> None:
    ran = await terminal.run("search", "marsh", "lamp", f"--top-k={top_k}")
    assert ran.code == 2
    assert "Invalid value for '--top-k'" in ran.err
    assert "Traceback" not in ran.err


def questions(terminal: Terminal, *rows: dict[str, Any] | str, start: str = "") -> str:
    terminal.write("marsh.txt", BOOK)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return str(terminal.write("questions.jsonl", start + "\n".join(lines)))


HERON = {"book": "marsh.txt", "question": "Where did the heron stand?", "spans": [place("A heron stood")]}


async def test_questions_are_measured_on_the_book_as_it_stands(terminal: Terminal) -> None:
    rows: tuple[dict[str, Any] | str, ...] = (
        {**HERON, "answer_spans": [place("sluice gate")]},
        "",
        {"book": "marsh.txt", "question": "Who had the key?", "spans": [place("Hobb’s brother had the key.")]},
        {"book": "marsh.txt", "question": "What is not there?", "spans": [], "answer_spans": None},
    )
    ran = await terminal.run("eval", questions(terminal, *rows, start="\ufeff"), "--json")
    assert ran.code == 0, ran.err
    report = ran.objects[0]
    assert report["books"]["marsh.txt"] == report["overall"]
    assert report["overall"]["questions"] == 3
    assert report["overall"]["recall@5"] == 66.67
    assert report["overall"]["answer@500w"] == 100.0


async def test_only_the_first_questions_and_a_table_for_people(terminal: Terminal) -> None:
    ran = await terminal.run("eval", questions(terminal, HERON, HERON), "--limit", "1")
    assert ran.code == 0, ran.err
    assert [line.split() for line in ran.out.splitlines()][:3] == [
        ["all", "marsh"],
        ["questions", "1", "1"],
        ["recall@1", "100", "100"],
    ]


async def test_a_file_without_questions_is_a_sentence(terminal: Terminal) -> None:
    ran = await terminal.run("eval", questions(terminal), "--json")
    assert ran.code == 1
    assert "There are no questions in" in ran.err


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"book": ', "Line 2 of"),
        ("[]", 'needs "book", "question" and "spans"'),
        ({**HERON, "spans": [[1]]}, "Line 2 of"),
        ({**HERON, "spans": "ab"}, "Line 2 of"),
        ('{"book": "marsh.txt", "question": "?", "spans": [[1e999, 2]]}', "Line 2 of"),
        ({**HERON, "book": "nowhere.txt"}, "cannot be read as UTF-8 text"),
    ],
)
async def test_what_is_no_question_is_a_sentence(terminal: Terminal, row: dict[str, Any] | str, says: str) -> None:
    ran = await terminal.run("eval", questions(terminal, HERON, row), "--json")
    assert ran.code == 1
    assert says in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
