"""What has happened so far, told in the book's own sentences: all chapters, and no more than fits."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.replies import _ROOM
from bot.providers.extractive.wording import PHRASES
from tests.bot.providers.extractive.reading import Turn, book_text, reading

SAY = PHRASES[Language.ENGLISH]


def chapters(count: int, *, padding: str = "") -> dict[str, str]:
    """In each chapter two sentences about Marta and the lamp, and others whose words never come up again."""
    return {f"{at}. The Night Number {at}": _chapter(at, padding) for at in range(1, count + 1)}


def _chapter(at: int, padding: str) -> str:
    once = [f"{' '.join(f'w{at}x{line}y{word}' for word in range(8)).capitalize()}." for line in range(16)]
    marta = f"Marta and old Hobb carried oil up to the lamp{padding}. Marta and old Hobb left the lamp{padding}."
    return " ".join([*once[:4], marta, *once[4:]])


async def told(folder: Path, of: dict[str, str], question: str = "What happens so far?") -> Turn:
    async with reading(folder, of) as talk:
        return await talk.ask(question)


def titles(turn: Turn) -> list[str]:
    return re.findall(r"^\*\*(.+)\*\*$", turn.text, re.MULTILINE)


@pytest.mark.parametrize("question", ["What has happened so far?", "What happens so far?", "Summarise the book"])
async def test_every_chapter_is_told_of_by_the_sentence_that_has_to_do_with_the_story(
    tmp_path: Path, question: str
) -> None:
    book = chapters(7)
    turn = await told(tmp_path, book, question)
    assert turn.text.startswith(f"{SAY.no_summary} {SAY.telling}")
    assert titles(turn) == list(book)
    assert len(turn.citations) == 7
    assert all("Marta" in citation.quote for citation in turn.citations)


async def test_of_few_chapters_more_is_told(tmp_path: Path) -> None:
    turn = await told(tmp_path, chapters(2))
    assert len(titles(turn)) == 2
    assert len(turn.citations) == 6


async def test_of_many_chapters_those_are_told_of_that_there_is_room_for_evenly_chosen(tmp_path: Path) -> None:
    book = chapters(40, padding=" and on" * 12)
    turn = await told(tmp_path, book)
    shown = [[*book].index(title) for title in titles(turn)]
    assert SAY.telling_some.format(len(shown)) in turn.text
    assert (shown[0], shown[-1]) == (0, 39)
    gaps = [later - earlier for earlier, later in pairwise(shown)]
    assert max(gaps) - min(gaps) <= 1
    assert all("Marta" in citation.quote for citation in turn.citations)
    assert sum(len(citation.quote) for citation in turn.citations) <= _ROOM


async def test_what_is_quoted_stands_in_the_book_word_for_word_on_its_page(tmp_path: Path) -> None:
    text = book_text(chapters(5)).text
    turn = await told(tmp_path, chapters(5))
    assert all(text[citation.start : citation.end] == citation.quote for citation in turn.citations)
    assert [citation.page for citation in turn.citations] == ["1", "2", "3", "4", "5"]
    assert turn.text.count("(p. ") == 5


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Summarise The Night Number 3", ["3. The Night Number 3"]),
        ("what happens in part 4?", ["4. The Night Number 4"]),
        ("what happens in act 9?", []),
        ("Summarise chapters 2 to 4", [*chapters(5)][1:4]),
        ("What happens in chapters 2 and 5?", [*chapters(5)][1::3]),
        ("Fasse die Kapitel 2 bis 4 zusammen.", [*chapters(5)][1:4]),
        ("Summarise everything up to this point", [*chapters(5)]),
        ("Can you explain chapter 3 to me?", ["3. The Night Number 3"]),
        ("Give me a good quote from the book", [*chapters(5)]),
    ],
)
async def test_chapters_are_told_of_by_title_and_number_and_the_book_where_none_is_meant(
    tmp_path: Path, question: str, shown: list[str]
) -> None:
    turn = await told(tmp_path, chapters(5), question)
    assert titles(turn) == shown
    assert shown or turn.text == SAY.no_chapter


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Summarise Marta", "> W"),
        ("Summarise the Perpetua", "*Perpetua*"),
        ("What’s the plot of Hamlet?", SAY.off_topic),
    ],
)
async def test_a_summary_of_what_is_no_chapter_is_looked_up(tmp_path: Path, question: str, said: str) -> None:
    turn = await told(tmp_path, chapters(5), question)
    assert said in turn.text
    assert SAY.no_summary not in turn.text


@pytest.mark.parametrize("question", ["What happened in this chapter?", "Fasse das letzte Kapitel zusammen."])
async def test_the_last_chapter_is_told_of_when_it_is_asked_for(tmp_path: Path, question: str) -> None:
    book = chapters(7) | {"Appendix": "Here are some notes about the ship and the lamp, and what they cost in all."}
    turn = await told(tmp_path, book, question)
    assert titles(turn) == list(book)[-2:-1]


async def test_what_only_announces_something_tells_nothing_of_a_story(tmp_path: Path) -> None:
    book = {title: text.replace("lamp.", "lamp:\n\n") for title, text in chapters(2).items()}
    turn = await told(tmp_path, book)
    assert len(titles(turn)) == 2
    assert "lamp:" not in turn.text


async def test_a_play_begins_with_its_first_act_and_not_with_its_cast(tmp_path: Path) -> None:
    cast = "Lane: Mr. F. Kinsey Peile.\n\nMerriman: Mr. Frank Dyall.\n\n" * 8
    act = "“TOM!”\n\nThe room was empty, and somebody was playing the piano. " + "Lane came in with the tea. " * 6
    async with reading(tmp_path, {"London: A Theatre": cast, "First Act": act}, ["", "First"]) as talk:
        turn = await talk.ask("How does it start?")
    assert "“TOM!” The room was empty" in turn.text
    assert "Peile" not in turn.text


async def test_half_a_sentence_of_a_broken_line_is_not_told_where_there_are_whole_ones(tmp_path: Path) -> None:
    book = {
        t: f"{text}\n\nThe old captain walked along the harbour with the lamp and\n\n"
        for t, text in chapters(2).items()
    }
    turn = await told(tmp_path, book)
    assert len(titles(turn)) == 2
    assert "lamp and" not in turn.text


async def test_a_name_is_first_mentioned_where_the_story_does_and_not_in_a_title(tmp_path: Path) -> None:
    book = {"1. Dusk": "It was a cold night on the harbour.", "2. The Curate": "There stood the curate with his lamp."}
    turn = await told(tmp_path, book, "When is the curate first mentioned?")
    assert "There stood the curate" in turn.text
    assert len(turn.citations) == 1


async def test_a_book_without_chapters_is_told_of_where_its_last_one_is_asked_for(tmp_path: Path) -> None:
    turn = await told(tmp_path, {"": _chapter(1, "")}, "What happened in the last chapter?")
    assert "Marta" in turn.text


async def test_a_russian_novel_with_french_in_it_is_not_answered_in_french(tmp_path: Path) -> None:
    story = "Князь стоял у окна и смотрел на море. Она сказала: «C’est la vie, mon cher, et je suis à vous.» " * 20
    turn = await told(tmp_path, {"1. Окно": story}, "Князь?")
    assert "«" not in turn.text.split("Князь")[0]
    assert not any(
        turn.text.startswith(lead) for lead in (PHRASES[Language.FRENCH].likely, PHRASES[Language.FRENCH].near)
    )


async def test_a_number_that_is_a_part_by_its_place_is_told_by_its_chapters(tmp_path: Path) -> None:
    tales = {
        "To a Friend": "For Marta.",
        "A Book of Tales": "",
        "The Ferry": "Hobb rowed.",
        "The Mill": "Marta ground.",
    }
    async with reading(tmp_path, tales, part="A Book of Tales") as talk:
        turn = await talk.ask("What happens in chapter 2?")
        assert turn.text.splitlines()[0] == SAY.which_inner.format(2, 2)
        assert [line.split(" (")[0] for line in turn.text.splitlines()[1:]] == ["* The Ferry", "* The Mill"]
        assert "Hobb rowed." in (await talk.ask("What happens in chapter 3?")).text


@pytest.mark.parametrize(
    ("question", "opens"),
    [("How does book two begin?", "In May she came back"), ("Wie endet Teil 2?", "Nobody has seen her since")],
)
async def test_a_part_begins_and_ends_with_its_chapters(tmp_path: Path, question: str, opens: str) -> None:
    book = {
        "Book One": "Marta left the island on a Monday. Hobb kept the lamp alone.",
        "Book Two": "A heading.",
        "Chapter I": f"In May she came back with a trunk of books. {_chapter(1, '')}",
        "Chapter II": f"{_chapter(2, '')} Nobody has seen her since.",
    }
    async with reading(tmp_path, book, ["ONE", "TWO", "I", "II"], part="Book Two") as talk:
        turn = await talk.ask(question)
    assert opens in turn.citations[-1 if "endet" in question else 0].quote
