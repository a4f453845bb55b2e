"""Recaps, portraits and questions in the book's own sentences."""

import re
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.heartbeat import Heartbeat
from bot.app import SAMPLE
from bot.parsers.formats import read_book
from domain.book import Book, BookText, Chapter, Citation, Page
from domain.errors import BookError, in_english
from domain.library.names import NameCollector
from domain.library.search.words import fold
from domain.reading import portrait
from domain.reading.companion import Asker, ReadingCompanion, Told
from domain.reading.questions import DiscussionKind
from domain.reading.recap import MOST_RECENT, MOST_SENTENCES, quoted
from storage.book_files.files import SQLiteBookFiles
from tests.journeys.reading_room import tale, the_book

NOVEL_BOOK = read_book(SAMPLE.read_bytes(), SAMPLE.name)
NOVEL = NOVEL_BOOK.text
HALF = len(NOVEL) // 2
MOST_BUSY_MS = 100
"""Processor time of the event loop's thread without a pause."""
PARTS = ("filter", "valve", "handle", "screw", "hose", "lid", "tank", "seal")


@pytest.fixture
def text() -> BookText:
    return NOVEL_BOOK


@pytest.fixture
async def files(tmp_path: Path, text: BookText) -> AsyncIterator[SQLiteBookFiles]:
    files = SQLiteBookFiles(tmp_path)
    await files.write(the_book(text).sha256, text)
    yield files
    await files.close()


@pytest.fixture
def book(text: BookText) -> Book:
    return the_book(text)


@pytest.fixture
def companion(files: SQLiteBookFiles) -> ReadingCompanion:
    return ReadingCompanion(files=files, writer=None)


def quotes(text: str) -> list[str]:
    """The quotations of a text, each with its page behind it."""
    return [line.removeprefix("> ") for line in text.split("\n") if line.startswith(">")]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("Hobb looked up. “Come in,” he said.", "Hobb looked up. “Come in,” he said."),
        ("Hobb looked up and said: “Come in.", "Hobb looked up and said: “Come in. …”"),
        ("Come in, or go,” said Hobb at last.", "“… Come in, or go,” said Hobb at last."),
        ("Effi rief: »Komm herein.", "Effi rief: »Komm herein. …«"),
    ],
)
def test_what_is_said_in_a_quoted_sentence_has_both_its_marks(sentence: str, shown: str) -> None:
    assert quoted(Citation(0, len(sentence), sentence, "7", "7", ""), in_english) == f"> {shown} (p. 7)"


def stands_in(quote: str, read: str) -> bool:
    words = re.sub(r" \((?:about )?pp?\. [\d-]+\)$", "", quote).strip("… ")
    return fold(words) in fold(" ".join(read.split()))


async def test_a_recap_tells_what_was_read_with_pages_and_nothing_beyond(
    companion: ReadingCompanion, book: Book
) -> None:
    told = await companion.recap(book, HALF)
    lines = quotes(told.text)
    assert 6 <= len(lines) <= 24
    assert all(re.search(r"\(about pp?\. [\d-]+\)$", line) for line in lines)
    assert all(stands_in(line, NOVEL[:HALF]) for line in lines)
    assert [each.start for each in told.citations] == sorted(each.start for each in told.citations)
    assert max(each.end for each in told.citations) <= HALF
    assert told.citations[-1].start > HALF * 0.7, "it ends near where the reader is"


async def test_a_recap_begins_where_it_is_asked_to(companion: ReadingCompanion, book: Book, text: BookText) -> None:
    fifth = text.chapters[4]
    for place in ("chapter 5", "#5", fifth.title):
        told = await companion.recap(book, HALF, place)
        assert told.citations[0].start >= fifth.start
    page = next(page for page in text.pages if page.start > fifth.start)
    assert (await companion.recap(book, HALF, f"page {page.label}")).citations[0].start >= page.start
    assert await companion.recap(book, HALF, page.label) == await companion.recap(book, HALF, page.start)


@pytest.mark.parametrize("place", ["chapter 99", "page 9999", "the wedding", "  ", "p."])
async def test_a_place_that_was_not_reached_is_one_that_does_not_exist(
    companion: ReadingCompanion, book: Book, place: str
) -> None:
    with pytest.raises(BookError, match="read"):
        await companion.recap(book, HALF, place)
    with pytest.raises(BookError):
        await companion.discuss(book, HALF, place)


async def test_what_a_finished_book_lacks_is_not_in_the_book(companion: ReadingCompanion, book: Book) -> None:
    with pytest.raises(BookError, match=r"There's no chapter or page “chapter 99” in this book\."):
        await companion.recap(book, book.length, "chapter 99")


async def test_nothing_is_told_to_whoever_has_not_begun(companion: ReadingCompanion, book: Book) -> None:
    assert (await companion.recap(book, 0)).text == ""
    assert (await companion.discuss(book, 0)).questions == ()
    assert (await companion.who(book, 0, "Bole")).text == ""
    assert await companion.names(book, 0) == []


async def test_a_portrait_says_where_somebody_comes_in_and_what_is_told(
    companion: ReadingCompanion, book: Book
) -> None:
    told = await companion.who(book, HALF, "mrs ferrier")
    assert re.match(r"\*\*Mrs\. Ferrier\*\* is mentioned \d+ times, from about p\. \d+ to about p\. \d+\.", told.text)
    assert not re.search(r"\b(?:Mr|Mrs|Dr|St)\b(?!\.)", told.text)
    assert (await companion.who(book, HALF, "Mrs. Ferrier")).text == told.text
    assert "First mention:\n> " in told.text
    assert all(stands_in(line, NOVEL[:HALF]) for line in quotes(told.text))
    first = NOVEL.index("Mrs. Ferrier")
    assert told.citations[0].start <= first < told.citations[0].end


async def test_a_name_is_found_in_spite_of_a_slip(companion: ReadingCompanion, book: Book) -> None:
    assert "**Bole** is mentioned" in (await companion.who(book, HALF, "boel")).text
    assert "**Bole** is mentioned" in (await companion.who(book, HALF, "the boel")).text
    assert (await companion.who(book, HALF, "Anna Karenina")).text == ""


async def test_names_are_those_met_so_far(companion: ReadingCompanion, book: Book) -> None:
    few, more = await companion.names(book, len(NOVEL) // 12), await companion.names(book, HALF)
    assert {"Mrs. Nunn", "Bole"} <= {*more}
    assert len(few) < len(more)
    assert not [name for name in few if fold(name.split()[-1]) not in fold(NOVEL[: len(NOVEL) // 12])]


async def test_names_are_the_same_for_whoever_begins_at_a_point_kept_before(
    companion: ReadingCompanion, book: Book, files: SQLiteBookFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portrait, "SLICE", 1_000)
    monkeypatch.setattr(portrait, "STRIDE", 5_000)
    for place in (len(NOVEL), HALF, len(NOVEL) // 3, HALF + 1_234):
        alone = ReadingCompanion(files=files, writer=None)
        assert await companion.names(book, place) == await alone.names(book, place)


async def test_who_cannot_wait_for_all_names_gets_those_of_an_earlier_place(
    companion: ReadingCompanion, book: Book
) -> None:
    assert await companion.names(book, HALF, 0.0) == []
    known = await companion.names(book, HALF)
    assert await companion.names(book, len(NOVEL), 0.0) == known
    assert await companion.names(book, HALF - 1, 0.0) == []


def test_words_of_every_day_and_headings_are_no_names() -> None:
    text = "CHAPTER ONE\n\nThen he saw Anna. They said that Anna Berg and Lord Carr had come. Lord, what a Monday!"
    names = NameCollector()
    names.add(text)
    assert names.met() == ["Anna", "Anna Berg", "Lord Carr"]


@pytest.mark.parametrize("count", [1, 3, 5])
async def test_questions_rest_on_different_places_in_order(companion: ReadingCompanion, book: Book, count: int) -> None:
    found = (await companion.discuss(book, HALF, HALF // 4, count)).questions
    assert len(found) == count
    places = [each.citations[-1].start for each in found]
    assert places == sorted(set(places))
    assert all(place >= HALF // 4 for place in places)
    assert all(each.citations[-1].end <= HALF for each in found)
    assert all(each.page.startswith("about p") and each.quote in " ".join(NOVEL.split()) for each in found)


async def test_questions_are_worded_and_quote_what_they_are_about(companion: ReadingCompanion, book: Book) -> None:
    discussion = await companion.discuss(book, HALF, count=5)
    text = discussion.text()
    assert len(re.findall(r"^\*\*\d\. [A-Z].*\?\*\*$", text, re.MULTILINE)) == 5
    assert all(each.kind is not DiscussionKind.WRITTEN for each in discussion.questions)
    assert len(quotes(text)) >= 5


async def test_words_are_not_taken_for_those_of_somebody_they_speak_of(companion: ReadingCompanion, book: Book) -> None:
    parts = [await companion.discuss(book, book.length, since, 5) for since in range(0, book.length, book.length // 8)]
    asked = [each for part in parts for each in part.questions]
    said = [each for each in asked if each.kind is DiscussionKind.SAID and each.name]
    assert said
    for each in said:
        assert each.name.split()[-1] in re.sub("“[^”]*(?:”|$)|^[^“]*”", "", each.quote)


async def test_questions_name_people_as_the_book_prints_them(companion: ReadingCompanion, book: Book) -> None:
    parts = [await companion.discuss(book, book.length, since, 5) for since in range(0, book.length, book.length // 8)]
    names = {each.name for part in parts for each in part.questions}
    assert any(name.startswith(("Mr. ", "Mrs. ")) for name in names)
    assert not any(name.startswith(("Mr ", "Mrs ")) for name in names)


async def test_a_feeling_of_who_tells_the_story_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    lines = [f"Harker sent me to look for the {part}, and to my great delight I found it there." for part in PARTS]
    told = BookText(text := " ".join(lines), (Page(1, "1", 0, len(text)),), (), "txt", "The Find")
    files = SQLiteBookFiles(tmp_path)
    await files.write(the_book(told).sha256, told)
    discussion = await ReadingCompanion(files=files, writer=None).discuss(the_book(told), len(text), count=1)
    await files.close()
    assert [(each.kind, each.name) for each in discussion.questions] == [(DiscussionKind.FEELING, "")]


async def test_a_book_that_explains_something_is_asked_about_in_different_ways(tmp_path: Path) -> None:
    lines = [f"The {part} of the pump has to be cleaned with water and dried before it is put back." for part in PARTS]
    manual = BookText(text := " ".join(lines), (Page(1, "1", 0, len(text)),), (), "txt", "The Pump")
    files = SQLiteBookFiles(tmp_path)
    await files.write(the_book(manual).sha256, manual)
    discussion = await ReadingCompanion(files=files, writer=None).discuss(the_book(manual), len(text), count=4)
    await files.close()
    asked = re.findall(r"^\*\*\d\. (.*)\*\*$", discussion.text(), re.MULTILINE)
    assert len({*asked}) == 4


async def test_a_portrait_is_in_the_askers_language(companion: ReadingCompanion, book: Book) -> None:
    told = await companion.who(book, HALF, "Bole", Asker(say=lambda text, /, **_: text.upper()))
    assert "FIRST MENTION:" in told.text


class TestTale:
    """Three chapters of two sentences."""

    @pytest.fixture
    def text(self) -> BookText:
        return tale()

    async def test_of_a_short_text_all_is_told(self, companion: ReadingCompanion, book: Book) -> None:
        told = await companion.recap(book, book.length)
        assert "Marta Quill came to the island on a Tuesday in March. (p. 1)" in told.text
        assert "drowned in 1887" in told.text

    async def test_what_is_read_by_half_is_told_by_half(self, companion: ReadingCompanion, book: Book) -> None:
        end = tale().text.index("The lamp had been")
        told = await companion.recap(book, end)
        assert "Marta" in told.text
        assert "lamp had" not in told.text
        assert "Keeper" not in told.text


class TestPreface:
    """A preface that names two people, of whom one is in the story."""

    @pytest.fixture
    def text(self) -> BookText:
        preface = "The Keeper is drawn from life, as Tobias Wren told me, and Tobias Wren never lied about the lamps."
        story = "The Keeper came down the stair at dusk. He lit the great lamp. The Keeper saw nobody on the island."
        text = f"Preface\n\n{preface}\n\nI\n\n{story}\n\nII\n\n{story}\n"
        starts = (0, text.index("I\n\nThe"), text.index("II\n\nThe"), len(text))
        titles = ("Preface", "I", "II")
        chapters = [Chapter(n, title, starts[n - 1], starts[n]) for n, title in enumerate(titles, start=1)]
        return BookText(text, (Page(1, "1", 0, len(text)),), tuple(chapters), "txt", title="The Lamps")

    async def test_who_is_in_the_story_is_told_from_the_story(self, companion: ReadingCompanion, book: Book) -> None:
        told = await companion.who(book, book.length, "Keeper")
        assert "is mentioned 4 times" in told.text
        assert "drawn from life" not in told.text

    async def test_who_is_only_in_the_preface_is_told_from_there(self, companion: ReadingCompanion, book: Book) -> None:
        told = await companion.who(book, book.length, "Tobias Wren")
        assert told.text.startswith("**Tobias Wren** is mentioned 2 times, all in one place (p. 1).")

    async def test_so_far_is_said_only_of_a_part_of_the_book(self, companion: ReadingCompanion, text: BookText) -> None:
        book, heading = the_book(text), "What we know so far:"
        assert heading in (await companion.who(book, text.chapters[1].end, "Keeper")).text
        assert heading not in (await companion.who(book, book.length, "Keeper")).text


class TestFrontMatter:
    """A contents page that names somebody, a dedication, a half-title, one chapter, and a part of the next novel."""

    FRONT = "The Dark Lamp\n\nContents\n\nThe Keeper's Diary 4.\n\nThe Widow Ode's Letter 9.\n\n"
    CHAPTERS = (
        ("Dedication", "To all the keepers of the northern lights."),
        ("The Dark Lamp", ""),
        ("I", "The Keeper came down the stair at dusk and lit the great lamp of the island. The Keeper saw nobody."),
        (
            "Excerpt from The Skerries",
            "A widow rowed out to the skerries before the thaw and never looked back at land.",
        ),
        ("Colophon", "This edition was set by the Keeper Press in the spring of the year after."),
    )

    @pytest.fixture
    def text(self) -> BookText:
        text, chapters = self.FRONT, []
        for number, (title, body) in enumerate(self.CHAPTERS, start=1):
            start = len(text)
            text += f"{title}\n\n{body}\n\n"
            chapters.append(Chapter(number, title, start, len(text)))
        return BookText(text, (Page(1, "1", 0, len(text)),), tuple(chapters), "txt", title="The Dark Lamp")

    async def test_it_is_not_told_as_the_story(self, companion: ReadingCompanion, book: Book) -> None:
        told = await companion.recap(book, book.length)
        assert "lit the great lamp" in told.text
        for each in ("Dedication", "northern lights", "skerries", "Colophon", "edition"):
            assert each not in told.text

    async def test_nobody_is_met_there(self, companion: ReadingCompanion, book: Book) -> None:
        told = await companion.who(book, book.length, "Keeper")
        assert "Diary 4." not in told.text
        assert "is mentioned 3 times" in told.text, "without the contents"
        assert (await companion.who(book, book.length, "Ode")).text == ""


class TestUnevenChapters:
    """Thirty chapters, of which the last three are long."""

    @pytest.fixture
    def text(self) -> BookText:
        text, chapters = "", []
        for number in range(1, 31):
            start = len(text)
            days = range(1, 12 if number < 28 else 800)
            text += f"Chapter {number}\n\n"
            text += "".join(f"On day {day} the keeper of light {number} rowed out to the skerries. " for day in days)
            chapters.append(Chapter(number, f"Chapter {number}", start, len(text)))
        return BookText(text, (Page(1, "1", 0, len(text)),), tuple(chapters), "txt", title="The Lights")

    async def test_of_a_whole_book_no_chapter_is_told_more_than_another(
        self, companion: ReadingCompanion, book: Book
    ) -> None:
        told = self._lights(await companion.recap(book, book.length))
        assert len(told) == len({*told}) == MOST_SENTENCES
        assert max(later - earlier for earlier, later in pairwise([0, *told, 31])) <= 3, "they are spread over the book"

    async def test_of_a_book_in_the_middle_the_last_chapters_are_told_most(
        self, companion: ReadingCompanion, book: Book
    ) -> None:
        told = self._lights(await companion.recap(book, book.length - 100))
        assert told[-MOST_RECENT:] == [28] * 4 + [29] * 4 + [30] * 4
        assert len(told) == MOST_SENTENCES

    async def test_from_a_place_on_a_whole_book_is_told_evenly(self, companion: ReadingCompanion, book: Book) -> None:
        told = self._lights(await companion.recap(book, book.length, "chapter 29"))
        assert told == [29] * 6 + [30] * 6

    def _lights(self, told: Told) -> list[int]:
        return [int(number) for number in re.findall(r"of light (\d+)", told.text)]


class TestManyChapters:
    """A thousand short chapters, in each of which the same person speaks."""

    @pytest.fixture
    def text(self) -> BookText:
        text, chapters = "", []
        for number in range(1, 1_001):
            start = len(text)
            text += f"Day {number}\n\nMarta Quill said to the keeper that {number} gulls had come. The keeper wept.\n\n"
            chapters.append(Chapter(number, f"Day {number}", start, len(text)))
        return BookText(text, (Page(1, "1", 0, len(text)),), tuple(chapters), "txt", title="The Gulls")

    async def test_other_tasks_run_while_they_are_read(self, companion: ReadingCompanion, book: Book) -> None:
        async with Heartbeat() as heart:
            found = await companion.discuss(book, book.length)
            told = await companion.who(book, book.length, "Marta Quill")
        assert found.questions
        assert "is mentioned 1000 times" in told.text
        assert max(heart.busy_ms) < MOST_BUSY_MS

    async def test_the_pauses_for_others_are_as_long_as_the_text(
        self, companion: ReadingCompanion, book: Book, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pauses: list[float] = []
        monkeypatch.setattr("domain.reading.portrait.time.sleep", pauses.append)
        assert await companion.names(book, book.length) == ["Marta Quill"]
        assert sum(pauses) == pytest.approx(portrait.PAUSE_S * book.length / portrait.SLICE, rel=0.1)
