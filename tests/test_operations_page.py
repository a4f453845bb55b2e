"""What docs/operations.md says about the program is what the program does."""

import re
from pathlib import Path

import pytest

from bot.logs import STALE_AFTER_S, HealthFile
from bot.private import NETWORK_VARIABLES
from bot.settings import Settings, default_data_dir
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
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", PAGE_TEXT)) - {
        *("AF_INET", "AF_UNIX", "OLLAMA_CONTEXT_LENGTH"),
        *NETWORK_VARIABLES,
    }
    foreign = {name for name in named if name.lower() not in Settings.model_fields}
    assert not foreign


def test_the_numbers_of_health_are_those_of_the_program_and_of_the_image() -> None:
    every = (HealthFile.__init__.__kwdefaults__ or {})["every_s"]
    assert f"every {every:.0f} seconds" in WORDS
    assert f"not older than {STALE_AFTER_S:.0f} seconds" in WORDS
    assert f"> {STALE_AFTER_S:.0f})" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_a_blank_data_dir_is_the_volume_of_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    started_in, volume = re.findall(r"^(?:WORKDIR|VOLUME) (/\S*)$", image.rpartition("\nFROM ")[2], re.MULTILINE)
    root = tmp_path / started_in.lstrip("/")
    (tmp_path / volume.lstrip("/")).mkdir(parents=True)
    monkeypatch.chdir(root)
    assert root / default_data_dir() == tmp_path / volume.lstrip("/")


def test_the_unit_lets_the_processes_that_read_books_lock_themselves_in() -> None:
    [allowed] = re.findall(r"^SystemCallFilter=(.*)$", PAGE_TEXT, re.MULTILINE)
    assert {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"} < set(allowed.split())
    assert "\nSystemCallErrorNumber=EPERM\n" in PAGE_TEXT  # otherwise a call that is not allowed kills the process


def test_the_numbers_of_retries_are_those_of_the_code() -> None:
    *seconds, first, second, third, fourth = COME_BACK_AFTER_S
    minutes = [round(each / 60) for each in (first, second, third, fourth)]
    told = [f"{each:.0f} s" for each in seconds]
    assert f"(after {', '.join(told)}, {minutes[0]}, {minutes[1]}, {minutes[2]} and {minutes[3]} min)" in WORDS
    assert PAGE == 100
    assert f"the first hundred messages and the newest {READ_AT_MOST:,} are read" in WORDS
    assert f"the newest {ASLEEP_AT_MOST} of each server" in WORDS


TESTS = {
    "tests/journeys/test_faults.py": {
        "test_a_short_stumble_is_not_even_noticed": ["the model returns 429, 500 or 529 for a moment"],
        "test_the_advice_to_come_back_later_is_passed_on": ["the model keeps returning 429"],
        "test_a_model_that_stays_away_is_a_sentence_and_the_book_speaks_for_itself": [
            "the model keeps returning 500 or 529",
            "the account has no credit left",
            "the stream breaks off in a word",
            "the key or the address is wrong",
        ],
        "test_a_reply_that_trickles_for_ever_ends_with_the_turn": ["the stream stalls or trickles"],
        "test_a_dead_end_is_a_sentence_and_nothing_else": ["the model refuses"],
        "test_an_answer_cut_by_the_token_limit_is_kept_and_said_to_be_cut": [
            "the answer is cut off by the token limit"
        ],
        "test_wrong_calls_are_told_to_the_model_and_the_turn_goes_on": ["the model calls an unknown tool"],
        "test_a_tool_that_is_called_for_ever_ends_in_an_answer": ["the model never stops calling tools"],
    },
    "tests/bot/providers/openai/test_errors.py": {
        "test_a_server_that_refuses_tools_is_known_for_it": ["a server refuses tools"],
    },
    "tests/domain/strategies/test_tool_use.py": {
        "test_an_empty_reply_is_asked_again_once_with_a_nudge": ["the reply is empty"],
    },
    "tests/domain/strategies/test_window.py": {
        "test_a_reply_that_repeats_itself_without_end_is_left_and_marked_as_cut": ["the model repeats a piece of text"],
    },
    "tests/cogs/conversation/test_discord_faults.py": {
        "test_a_message_that_is_not_taken": ["429, 500, 502, 503 or a broken connection"],
        "test_a_limit_on_all_requests_is_waited_for": ["429 for all requests at once"],
        "test_an_outage_that_outlasts_our_patience_is_mended_by_the_next_start": ["Discord fails for ten minutes"],
        "test_whoever_asks_with_a_command_is_told_why_no_answer_comes": ["403, or an unknown channel"],
        "test_when_the_permission_is_back_the_answer_comes_at_once_and_once": [
            "the bot gets the permission to write back"
        ],
        "test_a_draft_that_somebody_deletes_is_written_anew": ["a message of the answer is deleted"],
        "test_a_thread_that_is_archived_under_the_answer_is_woken": ["the thread is archived"],
        "test_an_answer_that_discord_refuses_for_good_is_named_with_the_command_that_has_it": [
            "Discord permanently refuses"
        ],
    },
    "tests/cogs/conversation/test_backfill.py": {
        "test_its_name_is_taken_over_at_the_next_start": ["a thread is renamed"],
        "test_who_writes_in_a_thread_that_cannot_be_read_is_answered": ["a thread cannot be read after a start"],
        "test_a_session_that_goes_on_with_a_gap_reads_on": ["the gateway connection is lost"],
        "test_who_has_mentioned_it_in_the_channel_is_told_how_to_start_once": [
            "somebody mentioned the bot in a channel"
        ],
        "test_an_interrupted_turn_is_made_anew_in_the_message_that_stands": ["while an answer was being written"],
        "test_a_draft_of_it_becomes_the_answer": ["while an answer of several messages"],
    },
    "tests/cogs/conversation/test_out_of_sight.py": {
        "test_what_was_written_out_of_sight_is_answered": [
            "the bot may not see or not read a channel",
            "Discord loses a server for a while",
        ],
    },
    "tests/cogs/conversation/test_opening.py": {
        "test_an_interaction_that_has_expired_is_carried_out_all_the_same": ["an interaction has expired"],
        "test_an_acknowledgement_that_is_lost_is_said_again": ["an acknowledgement of a command"],
        "test_a_thread_whose_response_was_lost_is_archived": ["the response to the creation of a thread"],
    },
    "tests/cogs/conversation/test_answering.py": {
        "test_an_event_that_comes_twice_is_answered_once": ["events arrive twice"],
    },
    "tests/journeys/test_discord_chaos.py": {
        "test_killed_at_any_moment": ["a message was written before"],
    },
    "tests/journeys/test_killed_again.py": {
        "test_killed_at_any_moment": ["while an answer was being made again"],
        "test_a_chat_that_is_killed_while_its_thread_is_opened_is_opened_and_answered": ["during `/chat`"],
        "test_killed_while_a_book_is_added": ["during `/books add`"],
        "test_a_renaming_that_is_killed_reaches_the_thread": ["during `/conversations rename`"],
        "test_what_is_told_of_a_book_is_told_after_a_kill": ["during `/ask`, `/recap`, `/who` or `/discuss`"],
        "test_a_command_that_is_killed_twice_has_an_end": ["during any other command"],
        "test_what_a_killed_request_has_used_counts": ["while a model was writing anything"],
    },
    "tests/journeys/test_take_up.py": {
        "test_an_answer_that_nobody_saw_is_shown": ["in the terminal"],
    },
    "tests/journeys/test_bad_disks.py": {
        "test_a_chat_on_a_full_disk_says_so_and_goes_on_once_there_is_room": ["the disk is full"],
        "test_a_disk_that_may_only_be_read_is_a_sentence": ["the database or its folder is read-only"],
        "test_a_locked_database_is_waited_for_and_then_a_sentence": ["another program locks the database"],
        "test_a_database_that_is_none_is_left_as_it_is": ["the database is damaged"],
        "test_a_damaged_book_is_a_sentence_and_is_mended_by_adding_it_again": ["a book's file is missing or damaged"],
    },
    "tests/cogs/conversation/test_storage_faults.py": {
        "test_a_message_that_could_not_be_kept_is_taken_in_once_retry_is_pressed": [
            "the database is deleted or moved away"
        ],
    },
    "tests/cogs/conversation/test_database_away.py": {
        "test_what_is_written_meanwhile_is_answered_and_the_notice_goes": [
            "the shared database is unavailable when somebody writes"
        ],
        "test_a_question_that_is_edited_meanwhile_is_stored_as_it_says_last": [
            "the shared database is unavailable when somebody edits or deletes a message, a thread or a channel"
        ],
        "test_an_answer_that_was_being_made_is_made_again_in_its_place": [
            "the shared database fails while an answer is being made"
        ],
        "test_whoever_uses_a_command_a_menu_or_a_button_meanwhile_is_told_before_discord_gives_up": [
            "the shared database is unavailable when somebody uses a command, a menu or a button"
        ],
    },
    "tests/bot/client/test_shards.py": {
        "test_after_an_outage_each_node_has_what_it_had_and_only_a_dead_ones_shards_are_taken": [
            "the shared database is unavailable for a while, and comes back for one node before the others"
        ],
        "test_the_next_holder_goes_on_with_the_session": ["a node is stopped"],
    },
    "tests/journeys/test_cluster.py": {
        "test_no_message_is_lost_and_none_is_answered_twice": ["a node is killed, or hangs and recovers"],
    },
    "tests/storage/book_files/test_objects.py": {
        "test_while_the_store_does_not_answer_copies_are_read": ["the store does not answer"],
        "test_an_object_that_is_not_what_was_stored_is_a_sentence": [
            "a book's object in the store is missing or damaged"
        ],
    },
}
"""In each file of tests, a test and the beginnings of the lines of "What happens when …" that it is of."""


def test_every_line_of_its_troubles_is_a_test() -> None:
    tables = PAGE_TEXT.partition("## What happens when …")[2]
    lines = [row.split("|")[1].strip() for row in re.findall(r"^\|.*\|$", tables, re.MULTILINE)]
    told = [line for line in lines if line not in ("what happens", "when", "---")]
    beginnings = [beginning for tests in TESTS.values() for each in tests.values() for beginning in each]
    assert [line for line in told if not line.startswith(tuple(beginnings))] == []
    assert [beginning for beginning in beginnings if not any(line.startswith(beginning) for line in told)] == []


@pytest.mark.parametrize("file", TESTS)
def test_the_named_tests_exist(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert [name for name in TESTS[file] if f"def {name}(" not in text] == []
