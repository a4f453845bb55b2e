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


FAULTS = "tests/journeys/test_faults.py"
ON_DISCORD = "tests/cogs/conversation/test_discord_faults.py"
OPENING = "tests/cogs/conversation/test_opening.py"
BACKFILL = "tests/cogs/conversation/test_backfill.py"
DISKS = "tests/journeys/test_bad_disks.py"
KILLED = "tests/journeys/test_discord_chaos.py"
KILLED_AGAIN = "tests/journeys/test_killed_again.py"
AWAY = "tests/cogs/conversation/test_database_away.py"
NODES = "tests/journeys/test_cluster.py"
STAYS_AWAY = "test_a_model_that_stays_away_is_a_sentence_and_the_book_speaks_for_itself"

TESTS = {
    "the model returns 429, 500 or 529 for a moment": (FAULTS, "test_a_short_stumble_is_not_even_noticed"),
    "the model keeps returning 429": (FAULTS, "test_the_advice_to_come_back_later_is_passed_on"),
    "the model keeps returning 500 or 529": (FAULTS, STAYS_AWAY),
    "the account has no credit left": (FAULTS, STAYS_AWAY),
    "a server refuses tools": (
        "tests/bot/providers/openai/test_errors.py",
        "test_a_server_that_refuses_tools_is_known_for_it",
    ),
    "the stream breaks off in a word": (FAULTS, STAYS_AWAY),
    "the stream stalls or trickles": (FAULTS, "test_a_reply_that_trickles_for_ever_ends_with_the_turn"),
    "the reply is empty": (
        "tests/domain/strategies/test_tool_use.py",
        "test_an_empty_reply_is_asked_again_once_with_a_nudge",
    ),
    "the model refuses": (FAULTS, "test_a_dead_end_is_a_sentence_and_nothing_else"),
    "the answer is cut off by the token limit": (
        FAULTS,
        "test_an_answer_cut_by_the_token_limit_is_kept_and_said_to_be_cut",
    ),
    "the model calls an unknown tool": (FAULTS, "test_wrong_calls_are_told_to_the_model_and_the_turn_goes_on"),
    "the model never stops calling tools": (FAULTS, "test_a_tool_that_is_called_for_ever_ends_in_an_answer"),
    "429, 500, 502, 503 or a broken connection": (ON_DISCORD, "test_a_message_that_is_not_taken"),
    "429 for all requests at once": (ON_DISCORD, "test_a_limit_on_all_requests_is_waited_for"),
    "Discord fails for ten minutes": (
        ON_DISCORD,
        "test_an_outage_that_outlasts_our_patience_is_mended_by_the_next_start",
    ),
    "403, or an unknown channel": (ON_DISCORD, "test_whoever_asks_with_a_command_is_told_why_no_answer_comes"),
    "a thread is renamed": (BACKFILL, "test_its_name_is_taken_over_at_the_next_start"),
    "the bot gets the permission to write back": (
        ON_DISCORD,
        "test_when_the_permission_is_back_the_answer_comes_at_once_and_once",
    ),
    "a message of the answer is deleted": (ON_DISCORD, "test_a_draft_that_somebody_deletes_is_written_anew"),
    "the thread is archived": (ON_DISCORD, "test_a_thread_that_is_archived_under_the_answer_is_woken"),
    "Discord permanently refuses": (
        ON_DISCORD,
        "test_an_answer_that_discord_refuses_for_good_is_named_with_the_command_that_has_it",
    ),
    "an interaction has expired": (OPENING, "test_an_interaction_that_has_expired_is_carried_out_all_the_same"),
    "an acknowledgement of a command": (OPENING, "test_an_acknowledgement_that_is_lost_is_said_again"),
    "events arrive twice": (
        "tests/cogs/conversation/test_answering.py",
        "test_an_event_that_comes_twice_is_answered_once",
    ),
    "a thread cannot be read after a start": (BACKFILL, "test_who_writes_in_a_thread_that_cannot_be_read_is_answered"),
    "the gateway connection is lost": (BACKFILL, "test_a_session_that_goes_on_with_a_gap_reads_on"),
    "a message was written before": (KILLED, "test_killed_at_any_moment"),
    "while an answer was being written": (BACKFILL, "test_an_interrupted_turn_is_made_anew_in_the_message_that_stands"),
    "while an answer was being made again": (KILLED_AGAIN, "test_killed_at_any_moment"),
    "while an answer of several messages": (BACKFILL, "test_a_draft_of_it_becomes_the_answer"),
    "during `/chat message:`": (KILLED, "test_killed_at_any_moment"),
    "during `/books add`": (KILLED_AGAIN, "test_killed_while_a_book_is_added"),
    "in the terminal": ("tests/journeys/test_take_up.py", "test_an_answer_that_nobody_saw_is_shown"),
    "the disk is full": (DISKS, "test_a_chat_on_a_full_disk_says_so_and_goes_on_once_there_is_room"),
    "the database or its folder is read-only": (DISKS, "test_a_disk_that_may_only_be_read_is_a_sentence"),
    "another program locks the database": (DISKS, "test_a_locked_database_is_waited_for_and_then_a_sentence"),
    "the database is damaged": (DISKS, "test_a_database_that_is_none_is_left_as_it_is"),
    "the database is deleted or moved away": (
        "tests/cogs/conversation/test_storage_faults.py",
        "test_a_message_that_could_not_be_kept_is_taken_in_once_retry_is_pressed",
    ),
    "a book's file is missing or damaged": (
        DISKS,
        "test_a_damaged_book_is_a_sentence_and_is_mended_by_adding_it_again",
    ),
    "the shared database is unavailable when somebody writes": (
        AWAY,
        "test_what_is_written_meanwhile_is_answered_and_the_notice_goes",
    ),
    "the shared database is unavailable when somebody edits or deletes a message, a thread or a channel": (
        AWAY,
        "test_a_question_that_is_edited_meanwhile_is_stored_as_it_says_last",
    ),
    "the shared database fails while an answer is being made": (
        AWAY,
        "test_an_answer_that_was_being_made_is_made_again_in_its_place",
    ),
    "a node is stopped": ("tests/bot/client/test_shards.py", "test_the_next_holder_goes_on_with_the_session"),
    "a node is killed, or hangs and recovers": (NODES, "test_no_message_is_lost_and_none_is_answered_twice"),
    "a book's object in the store is missing or damaged": (
        "tests/storage/book_files/test_objects.py",
        "test_an_object_that_is_not_what_was_stored_is_a_sentence",
    ),
}
"""Beginnings of the lines of "What happens when …", and a test of each."""


def test_every_line_of_its_troubles_is_a_test() -> None:
    tables = PAGE_TEXT.partition("## What happens when …")[2]
    lines = [row.split("|")[1].strip() for row in re.findall(r"^\|.*\|$", tables, re.MULTILINE)]
    told = [line for line in lines if line not in ("what happens", "when", "---")]
    assert [line for line in told if not any(line.startswith(beginning) for beginning in TESTS)] == []
    assert [beginning for beginning in TESTS if not any(line.startswith(beginning) for line in told)] == []


@pytest.mark.parametrize(("file", "name"), sorted(set(TESTS.values())))
def test_it_is_there(file: str, name: str) -> None:
    assert re.search(rf"def {name}\(", (ROOT / file).read_text(encoding="utf-8"))
