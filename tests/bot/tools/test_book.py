"""What a model gets from the tools over a book: short, in order, inside the reading budget, never a riddle."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.parsers.text.parser import read_plain
from bot.tools.book import book_toolbox
from bot.tools.results import joined
from domain.book import Book, BookText, Chapter, Page
from domain.library.view import READ_WORDS
from domain.ports import BookView
from domain.tool_use import ToolResult
from domain.tools.registry import as_result
from storage.book_files.files import SQLiteBookFiles

SHA = "7" * 64
TELLING = "The heron stood on the sluice gate at dawn, and Ines counted the herons."
FILLING = "Nothing else of any note happened on the marsh that day, so far as anybody remembers it now."


def marsh(chapters: int) -> BookText:
    """Chapters of 30 sentences, each with a page of its own, labelled i, ii and then A-1, A-2 …"""
    text, pages, parts = "", [], []
    for number in range(1, chapters + 1):
        start = len(text)
        told = [f"{TELLING} It was her day {number}." if at == 3 else FILLING for at in range(30)]
        text += f"Chapter {number}\n\n{' '.join(told)}\n\n"
        label = ("i", "ii")[number - 1] if number < 3 else f"A-{number - 2}"
        pages.append(Page(number, label, start, len(text)))
        parts.append(Chapter(number, f"Chapter {number}", start, len(text)))
    return BookText(text, tuple(pages), tuple(parts), "txt")


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[SQLiteBookFiles]:
    files = SQLiteBookFiles(tmp_path / "books")
    yield files
    await files.close()


async def view_of(files: SQLiteBookFiles, text: BookText, read_to: int | None = None) -> BookView:
    await files.write(SHA, text)
    length = len(text.text)
    about = Book("b", "local", SHA, "Marsh", "", "txt", len(text.pages), 1, 9, length, datetime.now(UTC))
    return (await files.open(about)).view(length if read_to is None else read_to)


class Model:
    """Calls tools as a model does, within one answer."""

    def __init__(self, view: BookView) -> None:
        self._dispatch = book_toolbox(view).build_dispatcher()

    async def call(self, name: str, /, **arguments: Any) -> ToolResult:
        return as_result(await self._dispatch(name, arguments))


@pytest.fixture
async def model(files: SQLiteBookFiles) -> Model:
    return Model(await view_of(files, marsh(6)))


async def test_phrasings_are_searched_together(model: Model) -> None:
    alone = await model.call("search_book", query="unheard of", top_k=3)
    assert alone.content == "Nothing in the book matches this query."
    also = await model.call("search_book", query="unheard of", also=["a bird on the sluice"], top_k=3)
    assert TELLING in also.passages[0].text


async def test_a_fifth_phrasing_is_left_out_and_the_model_told(model: Model) -> None:
    result = await model.call("search_book", query="unheard of", also=["no", "none", "nil", "null", "heron"])
    assert result.content == "Nothing in the book matches this query."
    result = await model.call("search_book", query="heron", also=["sluice", "gate", "dawn", "bird", "day"])
    assert result.note.startswith("Of the other phrasings only the first four were searched.")


async def test_hits_next_to_each_other_are_joined_and_nothing_is_lost(files: SQLiteBookFiles) -> None:
    view = await view_of(files, marsh(2))
    hits = await view.search(["the day on the marsh"], 9)
    runs = joined(hits)
    assert len(runs) < len(hits)
    assert {s for run in runs for s in run.sentences} == {s for hit in hits for s in hit.sentences}
    assert runs[0].score == hits[0].score
    for run in runs:
        assert (run.start, run.end) == (run.sentences[0].start, run.sentences[-1].end)
        assert len({passage.chapter for passage in hits if run.start <= passage.start < run.end}) == 1
    shown = await Model(view).call("search_book", query="the day on the marsh", top_k=9)
    assert shown.passages == tuple(runs)


async def test_a_hit_is_read_around_by_its_name_also_after_the_books_were_opened_anew(
    files: SQLiteBookFiles, tmp_path: Path
) -> None:
    found = await Model(await view_of(files, marsh(3))).call("search_book", query="heron", top_k=1)
    await files.close()
    hit = found.passages[0]
    wider = await Model(await view_of(SQLiteBookFiles(tmp_path / "books"), marsh(3))).call(
        "read_around", passage=hit.source, before=0, after=1
    )
    assert wider.passages[0].start == hit.start
    assert wider.passages[0].end > hit.end
    assert "[Page" in wider.content
    assert wider.passages[0].source in wider.content


@pytest.mark.parametrize("source", ["passage-0-999999", "passage-9-3", "passage-1", "the first", "passage-0-0"])
async def test_what_is_no_passage_is_refused_in_a_sentence(model: Model, source: str) -> None:
    result = await model.call("read_around", passage=source)
    assert result.is_error
    sentence = f"There's no passage {source!r} in what's been read so far; search the book again."
    assert json.loads(result.content) == {"error": sentence}


async def test_no_call_reads_more_than_is_read_at_once(files: SQLiteBookFiles) -> None:
    text = marsh(20)
    model = Model(await view_of(files, text))
    around = await model.call("read_around", passage=f"passage-0-{len(text.text)}", before=5, after=5)
    assert len(around.passages[0].text.split()) <= READ_WORDS
    pages = await model.call("read_pages", **{"from": "A-9", "to": "i"})
    assert READ_WORDS - 50 < len(" ".join(passage.text for passage in pages.passages).split()) <= READ_WORDS
    assert [passage.page for passage in pages.passages] == ["i", "ii", "A-1", "A-2", "A-3", "A-4"]
    stop = pages.passages[-1].last_page
    assert pages.note.startswith(f"At most 3,000 words are read at once; this stops on page {stop}: go on")


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("潮水退了以后灯塔看守走过沙滩。" * 2_000, 3_000),
        ("Ann said " + "…" * 90_000, 45_000),
        ("Ann " + "e" * 90_000, 45_000),
    ],
    ids=["a script without spaces", "signs", "one word without an end"],
)
async def test_what_has_few_spaces_or_words_is_no_shorter_for_that(
    files: SQLiteBookFiles, text: str, characters: int
) -> None:
    view = await view_of(files, read_plain(f"Chapter 1\n\n{text}"))
    pages = await Model(view).call("read_pages", **{"from": "1", "to": "900"})
    assert 0.8 * characters < sum(len(passage.text) for passage in pages.passages) < 1.2 * characters
    assert pages.note.startswith("At most 3,000 words are read at once")
    found = await Model(view).call("search_book", query="灯塔 Ann", top_k=1)
    assert found.passages[0].end - found.passages[0].start <= 1_800
    around = await Model(view).call("read_around", passage=f"passage-0-{len(text)}", before=5, after=5)
    assert around.passages[0].end - around.passages[0].start <= 1.2 * characters + 10 * 1_800


async def test_all_calls_of_an_answer_share_one_budget(files: SQLiteBookFiles) -> None:
    model = Model(await view_of(files, marsh(20)))
    first = await model.call("search_book", query="heron", top_k=1)
    assert first.note == "About 7,800 words of reading are left for this answer."
    for _ in range(3):
        await model.call("read_pages", **{"from": "i", "to": "A-18"})
    spent = await model.call("search_book", query="heron")
    assert spent.content == "The reading budget of this answer is used up: answer from what you have."
    assert spent.passages == ()


@pytest.mark.parametrize(
    ("first", "last", "pages"),
    [
        ("ii", "", ["ii"]),
        ("II", "a-1", ["ii", "A-1"]),
        ("A-2", "ii", ["ii", "A-1", "A-2"]),
        ("5", "999", ["A-3", "A-4"]),
    ],
)
async def test_pages_are_read_by_what_is_printed_on_them(model: Model, first: str, last: str, pages: list[str]) -> None:
    result = await model.call("read_pages", **{"from": first, "to": last})
    assert [passage.page for passage in result.passages] == pages


@pytest.mark.parametrize("label", ["xx", "A-99", "0", "-1", "12-15", "everything"])
async def test_a_page_that_is_not_there_is_a_sentence_with_those_that_are(model: Model, label: str) -> None:
    result = await model.call("read_pages", **{"from": label})
    assert result.is_error
    sentence = f"There's no page “{label}” in what's been read so far, only pages i to A-4."
    assert json.loads(result.content) == {"error": sentence}


async def test_a_long_table_of_contents_comes_in_parts(files: SQLiteBookFiles) -> None:
    model = Model(await view_of(files, marsh(250)))
    told, numbers = {"more": "from=1."}, []
    while "more" in told:
        first = int(told["more"].split("from=")[1].rstrip("."))
        result = await model.call("table_of_contents", **{"from": first})
        told = json.loads(result.content)
        assert len(result.content.split()) < 1_200
        assert told["total"] == 250
        assert told["budget"].endswith("words of reading are left for this answer.")
        numbers += [entry["number"] for entry in told["chapters"]]
    assert numbers == list(range(1, 251))


async def test_a_book_without_chapters_has_an_empty_table(files: SQLiteBookFiles) -> None:
    model = Model(await view_of(files, read_plain(f"{TELLING}\n")))
    told = json.loads((await model.call("table_of_contents")).content)
    assert (told["chapters"], told["total"]) == ([], 0)


async def test_mentions_are_told_by_chapter_with_the_first_and_the_last(model: Model) -> None:
    result = await model.call("count_mentions", term="Ines")
    assert result.note == (
        "“Ines” appears 6 times (1. Chapter 1: 1; 2. Chapter 2: 1; 3. Chapter 3: 1; "
        "4. Chapter 4: 1; 5. Chapter 5: 1; 6. Chapter 6: 1). About 7,900 words of reading are left for this "
        "answer. First and last place:"
    )
    assert [passage.page for passage in result.passages] == ["i", "A-4"]


async def test_so_far_is_said_only_of_a_part_of_the_book(files: SQLiteBookFiles) -> None:
    text = marsh(3)
    part = Model(await view_of(files, text, text.chapters[1].end))
    assert "“Ines” appears 2 times so far (" in (await part.call("count_mentions", term="Ines")).content
    assert (await part.call("count_mentions", term="Zanzibar")).content == "This hasn't appeared so far."
    assert (await part.call("find_phrase", text="over Zanzibar")).content == "No line like this has appeared so far."
    assert (await part.call("search_book", query="Zanzibar")).content == "Nothing read so far matches this query."
    assert (await part.call("who_is", name="Zora")).content == "Nobody with this name has appeared so far."
    whole = Model(await view_of(files, text))
    assert (await whole.call("count_mentions", term="Zanzibar")).content == "This hasn't appeared."
    assert (await whole.call("who_is", name="Zora")).content == "Nobody with this name has appeared."


async def test_who_somebody_is_is_told_without_the_preface(files: SQLiteBookFiles) -> None:
    story = " ".join(["Ines Crake rowed to the sluice and looked at the heron."] * 3)
    preface = "Ines Crake is drawn from life. Tobias Wren knew her well, and Tobias Wren has told me much."
    text = f"Ines Crake\n\nPreface\n\n{preface}\n\nChapter 1\n\n{story}\n"
    begins = (text.index("Preface"), text.index("Chapter 1"))
    chapters = (Chapter(1, "Preface", *begins), Chapter(2, "Chapter 1", begins[1], len(text)))
    book = BookText(text, (Page(1, "1", 0, len(text)),), chapters, "txt")
    model = Model(await view_of(files, book))
    told = await model.call("who_is", name="Ines Crake")
    assert told.summary == "3 mentions"
    assert "“Ines Crake” is mentioned 3 times (2. Chapter 1: 3)." in told.content
    assert (await model.call("who_is", name="Tobias Wren")).summary == "2 mentions", "he is nowhere else"


async def test_of_very_many_chapters_those_with_most_mentions_are_told(files: SQLiteBookFiles) -> None:
    result = await Model(await view_of(files, marsh(250))).call("count_mentions", term="heron")
    assert "; 40. Chapter 40: 1; 210 other chapters together: 210). About 7," in result.note


async def test_a_line_is_told_exact_or_similar(model: Model) -> None:
    exact = await model.call("find_phrase", text="IT WAS HER DAY 4")
    assert exact.note.startswith("1 exact, 0 similar.")
    near = await model.call("find_phrase", text="the heron stood by the old sluice gate at dawn and Ines counted it")
    assert near.note.startswith("0 exact, 5 similar.")
    none = await model.call("find_phrase", text="zeppelins over Zanzibar")
    assert none.content == "No line like this has appeared."
