"""What readers of different languages are told."""

from datetime import UTC, datetime, timedelta

import discord

from cogs.i18n import speech_for
from cogs.permissions import permission_names
from domain.errors import BookError, BookErrorCode, Worded, listed

GERMAN = speech_for(discord.Locale.german)
ENGLISH = speech_for(discord.Locale.british_english)


def test_a_text_is_said_in_the_readers_language() -> None:
    assert GERMAN("Deleted “{title}”.", title="Alice") == "„Alice“ ist gelöscht."
    assert ENGLISH("Deleted “{title}”.", title="Alice") == "Deleted “Alice”."


def test_a_language_without_a_catalogue_is_english() -> None:
    assert speech_for(discord.Locale.japanese)("The shelf") == "The shelf"


def test_values_are_never_taken_for_placeholders() -> None:
    assert ENGLISH("Deleted “{title}”.", title="{0} {title}") == "Deleted “{0} {title}”."


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert ENGLISH.counted(12_345, "{number:,} token", "{number:,} tokens") == "12,345 tokens"
    assert GERMAN.counted(12_345, "{number:,} token", "{number:,} tokens") == "12.345 Token"
    assert GERMAN("{seconds:.1f} s", seconds=1.5) == "1,5 s"


def test_one_is_not_many() -> None:
    assert GERMAN.counted(1, "{number} book", "{number} books") == "1 Buch"
    assert GERMAN.counted(0, "{number} book", "{number} books") == "0 Bücher"


def test_a_list_has_an_and_before_its_last_part() -> None:
    assert ENGLISH.listed(["“Alice”", "“Emma”"]) == "“Alice” and “Emma”"
    assert GERMAN.listed(["a", "b", "c"]) == "a, b und c"
    assert GERMAN.listed(["Help"]) == "Help"
    assert ENGLISH.listed([]) == ""


def test_dates_are_written_as_the_reader_writes_them() -> None:
    moment = datetime(2026, 11, 5, 14, 5, tzinfo=UTC)
    american, japanese = speech_for(discord.Locale.american_english), speech_for(discord.Locale.japanese)
    assert american.day(moment) == "November 5, 2026"
    assert [ENGLISH.day(moment), japanese.day(moment)] == ["5 November 2026"] * 2
    assert GERMAN.day(moment) == "5. November 2026"
    assert american.minute(moment) == "November 5, 2026, 2:05\u202fPM UTC"
    assert GERMAN.minute(moment) == "5. November 2026, 14:05 UTC"


def test_what_was_lately_is_said_to_be_hours_ago() -> None:
    now = datetime.now(UTC)
    assert ENGLISH.ago(now - timedelta(hours=3, minutes=5)) == "3 hours ago"
    assert GERMAN.ago(now - timedelta(minutes=2)) == "vor 2 Minuten"
    assert ENGLISH.ago(now - timedelta(days=2)) == ""


def test_a_long_list_ends_in_how_many_more_there_are() -> None:
    people = [f"<@{number:018}>" for number in range(10_000)]
    for speech, rest in ((ENGLISH, " and "), (GERMAN, " und noch ")):
        named, word, more = speech.listed(people).partition(rest)
        shown = named.split(", ")
        assert word + more == f"{rest}{len(people) - len(shown)}{' more' if speech is ENGLISH else ''}"
        assert shown == people[: len(shown)]
        assert 800 < len(speech.listed(people)) < 950


def test_a_failure_keeps_its_full_sentence_in_every_language() -> None:
    sentence = "Unpacked, this file is larger than {most} MB. Please add a smaller edition."
    error = BookError(BookErrorCode.TOO_LARGE, Worded(sentence, most=50))
    assert ENGLISH.error(error) == "Unpacked, this file is larger than 50 MB. Please add a smaller edition."
    assert GERMAN.error(error) == "Entpackt ist diese Datei größer als 50 MB. Bitte füge eine kleinere Ausgabe hinzu."


def test_a_failure_that_no_catalogue_has_is_told_by_its_gist() -> None:
    error = BookError(BookErrorCode.TOO_LARGE, "This file is larger than the sky.")
    assert ENGLISH.error(error) == "This file is larger than the sky."
    assert GERMAN.error(error) == "Diese Datei ist zu groß. Gibt es eine kleinere Ausgabe?"


def test_titles_and_permissions_stand_in_the_languages_own_quotation_marks() -> None:
    titles = listed([Worded("“{title}”", title=each) for each in ("Emma", "Effi Briest", "Persuasion")])
    sentence = Worded(
        "There's no book called “{reference}” on the shelf, only {titles}.", reference="Ema", titles=titles
    )
    told = GERMAN.error(BookError(BookErrorCode.NOT_FOUND, sentence))
    assert told == "Im Regal steht kein Buch namens „Ema“, nur „Emma“, „Effi Briest“ und „Persuasion“."
    assert permission_names(["embed_links"], GERMAN) == "„Links einbetten“"


def test_a_list_of_any_length_is_told_in_every_language() -> None:
    hosts = [f"books-{number}.example" for number in range(5_000)]
    sentence = Worded("I can download books from {places}.", places=listed(hosts))
    assert sentence == f"I can download books from {', '.join(hosts[:-1])} and {hosts[-1]}."
    german = GERMAN.sentence(sentence)
    assert german == f"Bücher darf ich von {', '.join(hosts[:-1])} und {hosts[-1]} herunterladen."
