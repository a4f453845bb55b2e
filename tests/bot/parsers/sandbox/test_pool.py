"""A hostile file costs its uploader a sentence, and nobody else anything."""

import asyncio
import gc
import logging
import subprocess
import time
from typing import Any

import pytest

from bot.client.checks import check_sandbox
from bot.parsers.sandbox import pool
from bot.parsers.sandbox.pool import SandboxedParser
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.ports import BookParser
from tests.bot.parsers.builders import archive, epub, pdf
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph, prose

_NOVEL = f"Chapter 1\n\n{prose(1, 9)}\n\nChapter 2\n\n{prose(20, 9)}".encode()
_SLOW = b"<dd><p><b>x</b>" * 600_000


async def refused(reader: SandboxedParser, data: bytes, filename: str = "a.epub") -> BookError:
    with pytest.raises(BookError) as error:
        await reader.read(data, filename)
    return error.value


async def test_a_book_is_read_in_another_process_and_progress_is_told() -> None:
    reader: BookParser = SandboxedParser()
    told: list[tuple[str, float]] = []
    book = check(await reader.read(_NOVEL, "../folder/a_novel.txt", lambda *step: told.append(step)))
    assert titles(book) == ["Chapter 1", "Chapter 2"]
    assert book.title == "A Novel"
    assert {stage for stage, _ in told} == {"reading"}
    assert all(0 <= share <= 1 for _, share in told)


async def test_every_library_a_format_needs_is_found_by_the_worker() -> None:
    reader = SandboxedParser()
    files = {
        "a.epub": epub({"a.xhtml": f"<p>{paragraph(1)}</p>"}),
        "a.pdf": pdf([[paragraph(1)[:60]]]),
        "a.md": f"# One\n\n{prose(1)}".encode(),
        "a.txt": paragraph(1).replace("keeper", "kéeper").encode("latin-1"),
    }
    for name, data in files.items():
        assert "begins here" in check(await reader.read(data, name)).text


async def test_errors_are_the_readers_own() -> None:
    error = await refused(SandboxedParser(), archive({"a": "b"}), "a.zip")
    assert error.code is BookErrorCode.UNSUPPORTED_FORMAT
    assert "unpack it" in error.message


async def test_empty_and_too_large_files_start_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert (await refused(SandboxedParser(), b"")).code is BookErrorCode.PARSE_FAILED
    error = await refused(SandboxedParser(max_file_mb=1), b"x" * 1_000_001)
    assert error.code is BookErrorCode.TOO_LARGE
    assert "1 MB" in error.message


async def test_a_zip_bomb_is_refused_unopened() -> None:
    bomb = bytearray(epub({"a.xhtml": f"<p>{paragraph(1)}</p>"}))
    directory = bomb.index(b"PK\x01\x02", bomb.rindex(b"OPS/a.xhtml") - 60)
    bomb[directory + 24 : directory + 28] = (2**31).to_bytes(4, "little")
    error = await refused(SandboxedParser(), bytes(bomb))
    assert error.code is BookErrorCode.TOO_LARGE
    assert "Unpacked" in error.message


async def test_memory_is_bounded() -> None:
    error = await refused(SandboxedParser(memory_mb=120), b"<p>word</p>" * 1_000_000, "a.html")
    assert error.code in (BookErrorCode.TOO_LARGE, BookErrorCode.PARSE_FAILED)


async def test_time_is_bounded_and_others_are_not_kept_waiting() -> None:
    reader = SandboxedParser(seconds=4.0)
    slow = asyncio.ensure_future(refused(reader, _SLOW, "a.html"))
    assert (await reader.read(_NOVEL, "a.txt")).chapters
    assert (await slow).code is BookErrorCode.TIMED_OUT


async def test_a_worker_that_hangs_without_using_its_time_is_ended_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_instead(monkeypatch, "import time; time.sleep(30)")
    async with asyncio.timeout(20):
        assert (await refused(SandboxedParser(seconds=0.5), _NOVEL)).code is BookErrorCode.TIMED_OUT


async def test_giving_up_ends_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _recorded_workers(monkeypatch)
    reading = asyncio.ensure_future(SandboxedParser().read(_SLOW, "a.html"))
    while not started:
        await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert started[0].poll() is not None


async def test_no_more_workers_than_allowed_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = SandboxedParser(workers=2)
    reading = most = 0
    run = pool.WorkerProcess.run

    def counted(*arguments: Any) -> BookText:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        try:
            return run(*arguments)
        finally:
            reading -= 1

    monkeypatch.setattr(pool.WorkerProcess, "run", counted)
    await asyncio.gather(*(reader.read(_NOVEL, "a.txt") for _ in range(6)))
    assert most == 2


async def test_from_the_second_book_on_a_worker_waits_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _recorded_workers(monkeypatch)
    reader = SandboxedParser()
    await reader.read(_NOVEL, "a.txt")
    assert len(started) == 1
    await reader.read(_NOVEL, "b.txt")
    assert [process.poll() is None for process in started] == [False, False, True]
    assert (await reader.read(_NOVEL, "c.txt")).title == "C"
    assert [process.poll() is None for process in started] == [False, False, False, True]
    del reader
    gc.collect()
    assert all(process.poll() is not None for process in started)


async def test_a_worker_starts_while_its_file_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _recorded_workers(monkeypatch)
    reader = SandboxedParser()
    for name in ("a.epub", "a.txt", "a file"):
        await reader.expect(name)
    assert (await reader.read(_NOVEL, "a.txt")).chapters
    assert len(started) == 1


async def test_a_worker_that_waited_and_died_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _recorded_workers(monkeypatch)
    reader = SandboxedParser()
    for name in ("a.txt", "b.txt"):
        await reader.read(_NOVEL, name)
    started[-1].kill()
    started[-1].wait()
    assert (await reader.read(_NOVEL, "c.txt")).chapters


async def test_a_worker_waits_no_longer_than_a_while() -> None:
    spare = pool.SpareWorker(idle_seconds=0.2)
    for _ in range(2):
        with spare.take() as worker:
            worker.kill()
        spare.refill("txt")
    waiting = spare._waiting
    assert waiting is not None
    assert await asyncio.to_thread(waiting.wait, 30) != 0


async def test_the_event_loop_goes_on_meanwhile() -> None:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - before)

    watching = asyncio.ensure_future(watch())
    await SandboxedParser().read(_NOVEL * 60, "a.txt")
    watching.cancel()
    assert longest < 0.5  # a reader on the loop would take it for good while it reads


async def test_a_worker_is_told_nothing_but_the_file(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    _run_instead(monkeypatch, "import os, sys; print(dict(os.environ), 'in', os.getcwd(), file=sys.stderr)")
    assert (await refused(SandboxedParser(), _NOVEL)).code is BookErrorCode.PARSE_FAILED
    assert " in /" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("import sys; sys.exit('Call me Ishmael.')", "ended with code 1"),
        (
            "import json, struct, sys; told = json.dumps({'code': 'parse_failed', 'message': 'Sorry.', "
            "'kind': 'ValueError', 'detail': 'ValueError: Call me Ishmael.'}).encode(); "
            "sys.stdout.buffer.write(struct.pack('>cQ', b'E', len(told)) + told)",
            "ValueError",
        ),
    ],
)
async def test_words_of_a_file_that_breaks_its_worker_are_not_in_the_log(
    script: str, kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    _run_instead(monkeypatch, script)
    assert (await refused(SandboxedParser(), _NOVEL)).code is BookErrorCode.PARSE_FAILED
    said = {record.levelno: record.getMessage() for record in caplog.records if record.name == pool.__name__}
    assert kind in said[logging.WARNING]
    assert "Ishmael" not in said[logging.WARNING]
    assert "Ishmael" in said[logging.DEBUG]


@pytest.mark.parametrize(
    "script",
    [
        "import os; os.abort()",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import sys; sys.stdout.buffer.write(b'x' * 100)",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'T', 2**60))",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'E', 2) + b'{}')",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'T', 2) + b'ok')",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'P', 3) + b'one')",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'P', 400) + b'1' * 400)",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'P', 50_000) + b'[' * 50_000)",
        "import struct, sys; sys.stdout.buffer.write(struct.pack('>cQ', b'E', 50_000) + b'[' * 50_000)",
    ],
)
async def test_a_worker_that_is_not_itself_any_more_is_a_damaged_file(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_instead(monkeypatch, script)
    error = await refused(SandboxedParser(), _NOVEL)
    assert error.code is BookErrorCode.PARSE_FAILED
    assert error.message.endswith(".")


async def test_a_worker_killed_from_outside_does_not_speak_ill_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_instead(monkeypatch, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    said = (await refused(SandboxedParser(), _NOVEL)).message
    assert "interrupted" in said
    assert "damaged" not in said


async def test_running_out_of_processor_time_is_running_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    _run_instead(monkeypatch, "import os, signal; os.kill(os.getpid(), signal.SIGXCPU)")
    assert (await refused(SandboxedParser(), _NOVEL)).code is BookErrorCode.TIMED_OUT


def _run_instead(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(pool, "_BOOT", script)


def _recorded_workers(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    started: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return started


async def test_the_check_says_what_killed_the_process_that_it_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_PROBE", "import signal; signal.raise_signal(signal.SIGSYS)")
    found = await check_sandbox()
    assert not found.ok
    assert "it was killed by SIGSYS" in found.sentence
