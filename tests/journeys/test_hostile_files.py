"""Hostile files cost whoever adds them a sentence, and nobody else anything: in the terminal and on Discord."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

import pytest
from aiohttp import web

from storage.opening import open_storage
from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Interaction, Message
from tests.journeys.discord_process import BotProcess
from tests.journeys.hostile.file import WORDS, HostileFile
from tests.journeys.hostile.files import HOSTILE_NAMES, UPLOADED_NAMES, refused_files, survived_files
from tests.journeys.reading_room import TALE
from tests.journeys.terminal import Ran, Terminal

MOST_MEMORY_MIB = 500
OURS = re.compile(r"[0-9a-f]{64}\.book|marginalia\.db(-wal|-shm|\.lock)?|discord-commands\.json")
SENTENCE = re.compile(r"[A-Z].*[.…]", re.DOTALL)
MAX_UPLOAD_MB = "3"
EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 4
"""One file in so many is uploaded: what reads them is the same as in the terminal, where all of them are tried."""
TOO_LARGE = HostileFile("more than may be uploaded", "large.txt", WORDS.encode() * 45_000, "3 MB")


class Trap:
    """A server that nobody must call."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.calls.append(request.path)
        return web.Response(text="gotcha")


@pytest.fixture
async def trap() -> AsyncIterator[Trap]:
    trap, app = Trap(), web.Application()
    app.router.add_route("*", "/{path:.*}", trap.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    trap.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield trap
    await runner.cleanup()


async def assert_nothing_left(folder: Path, trap: Trap, books: int) -> None:
    """Nobody was called, the database is sound, and DATA_DIR holds as many books as were added, and nothing else."""
    assert trap.calls == []
    kept = {path.name for path in (folder / "data").rglob("*") if path.is_file()}
    assert [name for name in kept if not OURS.fullmatch(name)] == []
    assert len([name for name in kept if name.endswith(".book")]) == books
    assert {path.name for path in folder.iterdir()} <= {"data", "files"}
    async with await open_storage(f"sqlite:///{folder / 'data' / 'marginalia.db'}") as storage:
        assert await storage.integrity_check() == []


# In the terminal


async def add(folder: Path, files: Sequence[tuple[str, bytes]]) -> Ran:
    """Add the files in one go."""
    places = []
    for number, (name, data) in enumerate(files):
        place = folder / "files" / str(number)
        place.mkdir(parents=True)
        (place / name).write_bytes(data)
        places.append(str(place / name))
    return await Terminal(folder).run("books", "add", *places, MAX_UPLOAD_MB=MAX_UPLOAD_MB)


def assert_sentences(ran: Ran, count: int) -> list[str]:
    """One line for each file, which is a sentence, and nothing else."""
    assert ran.out == ""
    assert not re.search(r"Traceback|went wrong|[\x00-\x08\x0b-\x1f\x7f-\x9f]", ran.err), ran.err
    lines = [line for line in ran.err.splitlines() if line.strip()]
    assert len(lines) == count, ran.err
    assert all(SENTENCE.search(line) for line in lines)
    return lines


async def test_files_that_are_no_books_are_refused_in_the_terminal(tmp_path: Path, trap: Trap) -> None:
    files = [*refused_files(), TOO_LARGE]
    ran = await add(tmp_path, [(file.filename, file.data) for file in files])
    lines = assert_sentences(ran, len(files))
    told = {file.kind: line for file, line in zip(files, lines, strict=True)}
    assert {file.kind: line for file, line in zip(files, lines, strict=True) if file.says not in line} == {}, told
    assert ran.code == 1
    await assert_nothing_left(tmp_path, trap, books=0)


async def test_whatever_else_comes_does_no_harm_in_the_terminal(tmp_path: Path, trap: Trap) -> None:
    files = [(file.filename, file.data) for file in survived_files(trap.url)]
    ran = await add(tmp_path, files)
    lines = assert_sentences(ran, len(files))
    added = [line for line in lines if line.startswith("Added “")]
    assert len(added) > len(files) / 2
    await assert_nothing_left(tmp_path, trap, books=len(added))


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be called this there")
async def test_names_of_files_are_names_and_nothing_else_in_the_terminal(tmp_path: Path, trap: Trap) -> None:
    files = [(name, f"{number}. {WORDS}".encode()) for number, name in enumerate(HOSTILE_NAMES)]
    assert_sentences(await add(tmp_path, files), len(files))
    listed = await Terminal(tmp_path).run("books", "list")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", listed.out)
    assert "loud[red]" in listed.out.lower()
    await assert_nothing_left(tmp_path, trap, books=len(files))


async def test_what_is_no_file_ends_in_a_sentence_in_the_terminal(tmp_path: Path, trap: Trap) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    paths = {
        "pipe.txt": "not a file",
        "/dev/zero": "not a file",
        "/proc": "folder",
        "n" * 9_000: "too long",
        "/dev/tty": "",
    }
    ran = await Terminal(tmp_path).run("books", "add", *paths)
    lines = assert_sentences(ran, len(paths))
    assert [line for line, says in zip(lines, paths.values(), strict=True) if says not in line or len(line) > 700] == []
    (tmp_path / "pipe.txt").unlink()
    await assert_nothing_left(tmp_path, trap, books=0)


# On Discord


@pytest.fixture
def environment() -> dict[str, str]:
    return {"MAX_UPLOAD_MB": MAX_UPLOAD_MB, "MAX_TURNS_PER_MINUTE": "0"}


class Library:
    """Eve adds hostile files; Ben talks with his book meanwhile."""

    def __init__(self, discord: DiscordDouble) -> None:
        self.discord = discord
        self.eve, self.ben = discord.user("eve"), discord.user("ben")
        self.thread: Channel

    async def open(self) -> None:
        await self.discord.until(lambda: self.discord.commands.commands.get(0))
        await self.upload(self.ben, "lamp.txt", TALE.encode())
        [book] = await self.ben.autocomplete("chat", "book", "lamp")
        await self.ben.slash("chat", book=book["value"], title="Talk")
        await self.discord.until(lambda: self.discord.threads() and self.discord.messages(self.discord.threads()[0]))
        [self.thread] = self.discord.threads()

    async def upload(self, who: Actor, name: str, data: bytes) -> str:
        """What the uploader reads in the end."""
        interaction = await who.slash("books add", file=self.discord.file(name, data))
        await self.discord.until(lambda: is_over(interaction))
        return said(interaction)

    async def upload_all(self, files: Iterable[HostileFile]) -> dict[str, str]:
        return {file.kind: await self.upload(self.eve, file.filename, file.data) for file in files}

    async def talk_until(self, is_over: Callable[[], bool]) -> int:
        """Ask until something is over; how many answers came meanwhile."""
        count = 0
        while not is_over():
            await self.answer("Who put the lamp out for his brother?")
            count += 1
        return count

    async def answer(self, question: str) -> Message:
        before = len(self.answers)
        await self.ben.say(self.thread, question)
        await self.discord.until(lambda: len(self.answers) > before)
        return self.answers[-1]

    @property
    def answers(self) -> list[Message]:
        mine = [each for each in self.discord.messages(self.thread) if each.author is self.discord.bot]
        return [each for each in mine if "(about p. " in each.content]


def is_over(interaction: Interaction) -> bool:
    """Whether the bot has said the last of it: a card, or a sentence."""
    return any(each.embeds or ("░" not in each.content and "█" not in each.content) for each in interaction.messages)


def said(interaction: Interaction) -> str:
    authors = [str(embed.get("author", {}).get("name", "")) for each in interaction.messages for embed in each.embeds]
    return "\n".join([interaction.text, *authors])


def peak_memory_mib(pid: int) -> float:
    """The most memory that a process has ever held, without that of the processes it started."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024  # type: ignore[index]


async def test_hostile_uploads_end_in_a_sentence_while_others_are_answered(
    tmp_path: Path, bot: BotProcess, discord: DiscordDouble, trap: Trap
) -> None:
    library = Library(discord)
    await bot.start()
    await library.open()
    refused, survived = [TOO_LARGE, *refused_files()][::EVERY], [*survived_files(trap.url)][::EVERY]
    async with asyncio.TaskGroup() as group:
        uploading = [group.create_task(library.upload_all(files)) for files in (refused, survived)]
        answers = await library.talk_until(lambda: all(each.done() for each in uploading))
    told = uploading[0].result()
    assert {file.kind: told[file.kind] for file in refused if file.says not in told[file.kind]} == {}
    everything = told | uploading[1].result()
    assert {kind: text for kind, text in everything.items() if not SENTENCE.search(text) or "went wrong" in text} == {}
    assert answers > 3
    assert peak_memory_mib(bot.pid) < MOST_MEMORY_MIB
    added = {kind for kind, text in everything.items() if "Added to the shelf" in text}
    assert added <= {file.kind for file in survived}
    assert await bot.stop() == 0
    assert "Traceback" not in bot.output
    assert discord.violations == []
    await assert_nothing_left(tmp_path, trap, books=len(added) + 1)


async def test_names_of_uploads_are_names_and_nothing_else(
    tmp_path: Path, bot: BotProcess, discord: DiscordDouble, trap: Trap
) -> None:
    library = Library(discord)
    await bot.start()
    await library.open()
    for number, name in enumerate(UPLOADED_NAMES):
        text = await library.upload(library.eve, name, f"{number}. {WORDS}".encode())
        assert "Added to the shelf" in text, name
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]|://|\]\(|@everyone|<@1>", text), text
    assert await bot.stop() == 0
    assert "Traceback" not in bot.output
    assert discord.violations == []
    await assert_nothing_left(tmp_path, trap, books=len(UPLOADED_NAMES) + 1)
