"""marginalia books, and what all commands say about names that people type."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.__main__ import app
from bot.settings import Settings
from domain.errors import LONGEST_QUOTED
from tests.sampling import a_few

ENDLESS = "x " * 50_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder a person is in, with DATA_DIR in it."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lamp(folder: Path) -> str:
    """The id of the only book, "The Dark Lamp"."""
    (folder / "lamp.txt").write_text("CHAPTER I\n\nThe ferryman would not take her money.\n")
    assert run("books", "add", "lamp.txt", "--title", "The Dark Lamp").exit_code == 0
    return run("books", "list").stdout.splitlines()[1].split()[0]


def run(*words: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, words, input=typed)


def test_the_list_says_whose_shelf_a_book_is_on(lamp: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert "server" not in run("books", "list").stdout
    assert run("books", "add", "lamp.txt", "--title", "The Lamp", "--server", "123456789012345678").exit_code == 0
    assert "(server" in run("books", "list").stdout
    assert "123456789012345678)" in run("books", "list").stdout


@pytest.mark.parametrize("part", ["e", "dark lamp", "the dark lamp."])
def test_a_part_of_a_title_removes_nothing_unless_a_person_says_yes(lamp: str, part: str) -> None:
    refused = run("books", "remove", part, "--yes")
    assert refused.exit_code == 1
    assert "The Dark Lamp" in run("books", "list").stdout
    assert "The Dark Lamp" in refused.output


def test_a_part_of_a_title_is_told_how_to_name_the_book(lamp: str) -> None:
    refused = run("books", "remove", "dark", "--yes").output
    assert f"“dark” is only a part of a title: “The Dark Lamp” ({lamp})." in refused
    assert "Give the whole title, or the id in brackets." in refused


@pytest.mark.parametrize("name", ["the dark LAMP", " The  Dark Lamp ", "lamp.txt", "an id"])
def test_a_book_named_in_full_is_removed_without_a_question(lamp: str, name: str) -> None:
    removed = run("books", "remove", lamp if name == "an id" else name, "--yes")
    assert removed.exit_code == 0
    assert removed.stdout == "Removed “The Dark Lamp”.\n"
    assert "empty" in run("books", "list").stdout


def test_where_nobody_can_be_asked_nothing_is_removed(lamp: str) -> None:
    assert "add --yes" in run("books", "remove", "dark", typed="y\n").output
    assert "The Dark Lamp" in run("books", "list").stdout


@pytest.mark.parametrize(
    ("words",),
    a_few(
        [
            (("books", "info", ENDLESS),),
            (("books", "remove", ENDLESS, "--yes"),),
            (("books", "restore", ENDLESS),),
            (("books", "add", ENDLESS),),
            (("books", "add", f"{'long/' * 700}name.txt"),),
            (("books", "text", "lamp", "--page", ENDLESS),),
            (("search", ENDLESS, "money"),),
            (("search", "lamp", "--queries", ENDLESS),),
            (("recap", "lamp", "--page", ENDLESS),),
            (("recap", "lamp", "--since", ENDLESS),),
            (("who", "lamp", ENDLESS),),
            (("discuss", "lamp", "--section", ENDLESS),),
            (("chat", ENDLESS),),
            (("chat", f"{ENDLESS}.txt"),),
            (("chat", "lamp", "--page", ENDLESS),),
            (("chat", "lamp", "--chapter", ENDLESS),),
            (("mcp", "--page", ENDLESS),),
            (("eval", ENDLESS),),
            (("backup", ENDLESS),),
        ],
        5,
    ),
    ids=lambda words: " ".join(word for word in words if len(word) < LONGEST_QUOTED),
)
def test_what_is_repeated_to_a_person_is_short(lamp: str, words: tuple[str, ...]) -> None:
    said = run(*words).output
    assert "went wrong" not in said
    assert 0 < len(said) < 3 * LONGEST_QUOTED


def test_a_title_may_be_anything_that_no_folder_is_called(lamp: str) -> None:
    assert "There's no book called “~nobody”" in run("chat", "~nobody").output
