"""A book is written whole or not at all, in a process of its own if it is long, and nothing is left behind."""

import asyncio
import multiprocessing
import os
import resource
import signal
import sys
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from domain.book import Book, BookText, Chapter, Page
from domain.errors import BookError, StorageError, StorageErrorCode
from storage.book_files.files import WORTH_A_PROCESS, SQLiteBookFiles

SHA = "5" * 64
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse the name")
SEES_CHILDREN = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
LINE = "The tide went out at nine, and the lamp was dark. "


def a_text(characters: int) -> BookText:
    """Two chapters of half the text each, with half a surrogate pair and a letter outside the BMP in the second."""
    half = characters // 2
    text = (LINE * (half // len(LINE) + 1))[:half] + "\ud83d 🔦 " + LINE * (half // len(LINE))
    pages = (Page(1, "i", 0, half), Page(2, "1", half, len(text)))
    chapters = (Chapter(1, "Ebb \udc00", 0, half), Chapter(2, "Flood", half, len(text)))
    return BookText(text, pages, chapters, "txt", title="Tides", pages_estimated=True)


def a_book(text: BookText, sha256: str = SHA) -> Book:
    return Book("b", "local", sha256, "Tides", "", "txt", 2, 2, 9, len(text.text), datetime.now(UTC))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "books"


@pytest.fixture
def files(folder: Path) -> SQLiteBookFiles:
    return SQLiteBookFiles(folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("characters", [2_000, 2 * WORTH_A_PROCESS])
async def test_what_is_written_is_read_again_to_the_last_character(files: SQLiteBookFiles, characters: int) -> None:
    text, shares = a_text(characters), []
    await files.write(SHA, text, lambda stage, share: shares.append((stage, share)))
    opened = await files.open(a_book(text))
    assert await opened.text() == text.text
    assert (await opened.pages(), await opened.chapters()) == (text.pages, text.chapters)
    assert (await opened.view(len(text.text)).count_mentions("tide")).total == text.text.count("tide")
    assert (await opened.view(len(text.text)).cite(0, 10)).estimated
    assert shares[-1] == ("indexing", 1.0)
    assert shares == sorted(shares)


async def test_both_ways_write_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: SQLiteBookFiles, folder: Path
) -> None:
    text = a_text(20_000)
    await files.write(SHA, text)
    monkeypatch.setattr("storage.book_files.files.WORTH_A_PROCESS", 0)
    await SQLiteBookFiles(tmp_path / "elsewhere").write(SHA, text)
    assert (tmp_path / "elsewhere" / f"{SHA}.book").read_bytes() == (folder / f"{SHA}.book").read_bytes()


@pytest.mark.parametrize(("text", "words"), [("The tide—out at nine—turned.", 6), ("潮水在九点退去。", 7)])
async def test_a_book_has_as_many_words_as_can_be_searched(files: SQLiteBookFiles, text: str, words: int) -> None:
    book = BookText(text, (Page(1, "1", 0, len(text)),), (), "txt")
    assert await files.write(SHA, book) == words
    assert await files.write(SHA, book) == words, "it was there already"


@pytest.mark.parametrize("name", [b"b %?#", pytest.param(b"b\xff", marks=ON_LINUX)])
async def test_a_folder_may_have_any_name(tmp_path: Path, name: bytes) -> None:
    text, files = a_text(2_000), SQLiteBookFiles(tmp_path / os.fsdecode(name))
    await files.write(SHA, text)
    assert await (await files.open(a_book(text))).text() == text.text


async def test_a_book_that_is_there_is_left_alone(files: SQLiteBookFiles, folder: Path) -> None:
    await files.write(SHA, a_text(2_000))
    before = (folder / f"{SHA}.book").stat()
    await files.write(SHA, a_text(4_000))
    assert (folder / f"{SHA}.book").stat() == before


async def test_a_damaged_one_is_written_anew(files: SQLiteBookFiles, folder: Path) -> None:
    folder.mkdir()
    (folder / f"{SHA}.book").write_bytes(b"not a book")
    text = a_text(2_000)
    await files.write(SHA, text)
    assert await (await files.open(a_book(text))).text() == text.text


async def test_the_event_loop_goes_on_while_a_book_is_indexed(files: SQLiteBookFiles) -> None:
    writing = asyncio.create_task(files.write(SHA, a_text(10 * WORTH_A_PROCESS)))
    rounds = 0
    while not writing.done():
        await asyncio.sleep(0.001)
        rounds += 1
    await writing
    assert rounds > 20


@SEES_CHILDREN
async def test_nobody_waiting_any_more_ends_the_process_and_leaves_nothing(
    files: SQLiteBookFiles, folder: Path
) -> None:
    indexing = asyncio.Event()
    loop = asyncio.get_running_loop()

    def note(_stage: str, _share: float) -> None:
        loop.call_soon_threadsafe(indexing.set)

    earlier = children()
    writing = asyncio.create_task(files.write(SHA, a_text(20 * WORTH_A_PROCESS), note))
    await indexing.wait()
    assert children() > earlier
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert children() == earlier
    assert names(folder) == []
    await files.write(SHA, a_text(2_000))
    assert names(folder) == [f"{SHA}.book"]


@SEES_CHILDREN
async def test_the_copy_that_indexes_the_other_half_ends_with_it(
    files: SQLiteBookFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    kill_group = os.killpg

    def kill(group: int, number: int) -> None:
        killed.append(group)
        kill_group(group, number)

    monkeypatch.setattr(os, "killpg", kill)
    text = "The tide went out at nine.\n\n" * 200_000
    earlier = children()
    writing = asyncio.create_task(files.write(SHA, BookText(text, (Page(1, "1", 0, len(text)),), (), "txt")))
    [indexer] = await started_since(earlier)
    while not (copies := children(indexer)):
        await asyncio.sleep(0.001)
    assert {os.getpgid(copy) for copy in copies} == {indexer}
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert killed == [indexer]


@SEES_CHILDREN
async def test_a_process_that_is_killed_is_a_sentence_and_leaves_nothing(
    files: SQLiteBookFiles, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    earlier = children()

    def kill(*_: object) -> None:
        for child in children() - earlier:
            os.kill(child, signal.SIGKILL)

    with pytest.raises(StorageError, match="try again") as caught:
        await files.write(SHA, a_text(20 * WORTH_A_PROCESS), kill)
    assert caught.value.code is StorageErrorCode.WRITE_FAILED
    assert names(folder) == []
    assert "-9" in caplog.text


@SEES_CHILDREN
async def test_a_process_that_is_ready_for_a_book_is_the_one_that_indexes_it(files: SQLiteBookFiles) -> None:
    earlier = children()
    async with files.expecting(WORTH_A_PROCESS), files.expecting(WORTH_A_PROCESS):
        [ready] = await started_since(earlier)
        at_work: set[int] = set()
        await files.write(SHA, a_text(2 * WORTH_A_PROCESS), lambda *_: at_work.update(children() - earlier))
        assert at_work == {ready}
        assert children() == earlier


@SEES_CHILDREN
async def test_a_process_whose_book_does_not_come_ends(files: SQLiteBookFiles) -> None:
    earlier = children()
    with pytest.raises(ValueError, match="unreadable"):
        async with files.expecting(WORTH_A_PROCESS):
            assert await started_since(earlier)
            raise ValueError("unreadable")
    assert children() == earlier
    async with files.expecting(WORTH_A_PROCESS - 1):
        await asyncio.sleep(0.01)
        assert children() == earlier


async def started_since(earlier: set[int]) -> set[int]:
    while not children() - earlier:
        await asyncio.sleep(0.001)
    return children() - earlier


@pytest.mark.parametrize("characters", [2_000, 2 * WORTH_A_PROCESS])
async def test_a_folder_that_is_a_file_is_a_sentence(files: SQLiteBookFiles, folder: Path, characters: int) -> None:
    folder.write_text("in the way")
    with pytest.raises(StorageError, match="check that there is room"):
        await files.write(SHA, a_text(characters))


@pytest.mark.parametrize("characters", [2_000, 2 * WORTH_A_PROCESS])
def test_a_disk_that_is_full_is_a_sentence_and_leaves_nothing(folder: Path, characters: int) -> None:
    processes = multiprocessing.get_context("spawn")
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=write_on_a_full_disk, args=(folder, characters, there))
    process.start()
    said = here.recv()
    process.join()
    assert "check that there is room" in said
    assert "Errno" not in said
    assert names(folder) == []


def write_on_a_full_disk(folder: Path, characters: int, there: Connection) -> None:
    """To be run in a process of its own: no file of it and its children can grow beyond 4 KiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))
    try:
        asyncio.run(SQLiteBookFiles(folder).write(SHA, a_text(characters)))
    except StorageError as error:
        there.send(str(error.message))


async def test_what_killed_writers_left_is_swept_away(files: SQLiteBookFiles, folder: Path) -> None:
    folder.mkdir()
    (folder / f"{SHA}.abc.part").write_bytes(b"half a book")
    await files.write(SHA, a_text(2_000))
    assert names(folder) == [f"{SHA}.book"]


async def test_a_name_with_a_path_in_it_is_no_book(files: SQLiteBookFiles) -> None:
    with pytest.raises(BookError):
        await files.write("../outside", a_text(2_000))


def children(process: int = 0) -> set[int]:
    """The processes that one, or this one, has started and that still run."""
    listed = Path(f"/proc/{process or os.getpid()}/task/{process or os.getpid()}/children")
    return {int(each) for each in listed.read_text().split()}
