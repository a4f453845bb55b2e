"""What docs/operations.md says about the program is what the program does."""

import re
from pathlib import Path

import pytest

from bot.logs import STALE_AFTER_S, HealthFile
from bot.settings import Settings
from cogs.conversation.backfill import ASLEEP_AT_MOST
from cogs.conversation.intake import PAGE, READ_AT_MOST
from cogs.conversation.worker import COME_BACK_AFTER_S
from domain.conversation import Turn, TurnState
from domain.event import TextDelta
from domain.turn.state import TurnLog
from tests.storage.values import MIDNIGHT

ROOT = Path(__file__).parents[1]
PAGE_TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE_TEXT.split())


def test_every_field_of_a_turns_line_is_explained_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    log = TurnLog()
    log.reach("prepared_ms")
    log.follow(TextDelta("word"))
    log.write(Turn("t", "c", 1, TurnState.ANSWERED, MIDNIGHT), "reader", "guild")
    written = set(caplog.records[0].__dict__["fields"])
    table = PAGE_TEXT.partition("| field | meaning |")[2].partition("\n\n")[0]
    explained = {name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert explained == written


def test_the_settings_it_names_are_there() -> None:
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", PAGE_TEXT)) - {"AF_INET", "AF_UNIX"}
    foreign = {name for name in named if name.lower() not in Settings.model_fields}
    assert not foreign


def test_the_numbers_of_health_are_those_of_the_program_and_of_the_image() -> None:
    every = (HealthFile.__init__.__kwdefaults__ or {})["every_s"]
    assert f"every {every:.0f} seconds" in WORDS
    assert f"not older than {STALE_AFTER_S:.0f} seconds" in WORDS
    assert f"> {STALE_AFTER_S:.0f})" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_so_are_those_of_patience() -> None:
    *seconds, first, second, third, fourth = COME_BACK_AFTER_S
    minutes = [round(each / 60) for each in (first, second, third, fourth)]
    told = [f"{each:.0f} s" for each in seconds]
    assert f"(after {', '.join(told)}, {minutes[0]}, {minutes[1]}, {minutes[2]} and {minutes[3]} min)" in WORDS
    assert PAGE == 100
    assert f"the first hundred messages and the newest {READ_AT_MOST:,} are read" in WORDS
    assert f"the newest {ASLEEP_AT_MOST} of each server" in WORDS
