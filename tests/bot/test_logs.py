"""Logs, for people and for machines."""

import json
import logging
import os
import runpy
from collections.abc import Iterator

import pytest

from bot import logs
from bot.logs import NODE, SHARD, set_up_logs


@pytest.fixture(autouse=True)
def root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers = []
    yield
    root.handlers, root.level = handlers, level


def test_lines_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "text", ())
    logging.getLogger("bot.client.client").info("online")
    logging.getLogger("bot.client.client").debug("too much")
    line = capsys.readouterr().err
    assert "INFO    bot.client.client: online" in line
    assert "too much" not in line


def test_objects_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("WARNING", "json", ())
    try:
        raise ValueError("no such thing")
    except ValueError:
        logging.getLogger("bot").exception("it went “wrong”\nbadly")
    [line] = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("ERROR", "bot", "it went “wrong”\nbadly")
    assert "ValueError: no such thing" in said["traceback"]


def test_what_other_programs_say_begins_no_line_and_gives_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("INFO", "text", ())
    said = "bad\x1b[2J\x9b1m\u202e\r\n2026-11-27 07:00:00 ERROR   bot: all is lost"
    logging.getLogger("bot").warning("tool server x: %s", said)
    try:
        raise ValueError(said)
    except ValueError:
        logging.getLogger("bot").exception("went wrong")
    first, second, *traceback = capsys.readouterr().err.split("\n")
    assert first.endswith(r"tool server x: bad\x1b[2J\x9b1m\u202e\r\n2026-11-27 07:00:00 ERROR   bot: all is lost")
    assert second.endswith("bot: went wrong")
    assert traceback[0].startswith("Traceback")
    assert not {"\x1b", "\x9b", "\u202e", "\r"} & {*"".join(traceback)}


def test_loud_libraries_are_kept_down_but_not_woken(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("ERROR", "text", ())
    logging.getLogger("httpx").warning("a request")
    set_up_logs("DEBUG", "text", ())
    logging.getLogger("httpx").info("a request")
    assert capsys.readouterr().err == ""


def test_lines_say_which_shard_of_which_node_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    token = SHARD.set(7)
    try:
        set_up_logs("INFO", "json", ())
        logging.getLogger("bot").info("online")
        set_up_logs("INFO", "text", ())
        logging.getLogger("bot").info("online")
    finally:
        SHARD.reset(token)
    for_machines, for_people = capsys.readouterr().err.splitlines()
    assert (json.loads(for_machines)["node"], json.loads(for_machines)["shard"]) == (NODE, 7)
    assert f"{NODE} shard 7 bot: online" in for_people


def test_a_node_has_a_name_of_its_own_where_processes_have_the_same_id_and_the_same_host() -> None:
    assert runpy.run_path(logs.__file__)["NODE"] != NODE


@pytest.mark.parametrize(("length", "lines"), [(100, 2_000), (30_000, 20)])
def test_nobody_waits_for_who_does_not_read(length: int, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write to a full pipe would never end, and these lines are several times what a pipe holds."""
    read, written = os.pipe()
    with os.fdopen(written, "w", encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        set_up_logs("INFO", "text", ())
        for number in range(lines):
            logging.getLogger("test").info("%d %s", number, "x" * length)
        os.set_blocking(read, False)
        before = os.read(read, 1_000_000).decode()
        logging.getLogger("test").info("again")
        *_, notice, last = os.read(read, 1_000_000).decode().splitlines()
    os.close(read)
    whole = sum(line.endswith("x" * length) for line in before.splitlines())
    assert f"{lines - whole} lines are missing here" in notice
    assert last.endswith("test: again")
