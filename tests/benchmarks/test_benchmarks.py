"""Benchmarks run with the smallest sizes, and the page keeps what it has of those that do not run."""

import sys
from importlib.resources import files
from pathlib import Path

import pytest

from benchmarks import __main__ as everything
from benchmarks import cluster, discord, languages, library, matching, reading
from benchmarks.prose import book
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.discord_process import bot_process


async def test_searching_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    await library.measure(book(3_000), books=3, rounds=1)
    printed = capsys.readouterr().out
    assert "the same among 3" in printed
    assert "peak memory" in printed


async def test_adding_books_is_measured_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    await reading.measure(reading.made_books(6_000), rounds=1)
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1:4]] == ["made.txt", "made.epub", "made.pdf"]


async def test_an_answer_on_discord_is_seen_to_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discord, "PACE_S", 0.005)
    monkeypatch.setattr(discord, "BREATH_S", 0.0)
    figures = discord.Figures()
    async with (
        DiscordDouble() as double,
        discord.PunctualModel() as model,
        bot_process(tmp_path, double, model) as bot,
    ):
        await bot.start()
        reading = discord.Reading(double, model)
        await reading.open()
        await reading.ask(figures)
    assert 0 < figures.to_model[0] < 60_000
    assert figures.calls[0] >= 2


@pytest.mark.thorough
async def test_both_databases_are_measured(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ROUNDS", 1)
    monkeypatch.setattr(cluster, "CONVERSATIONS", 2)
    await cluster.measure(4, processes=[1])
    printed = capsys.readouterr().out
    assert "a whole turn, PostgreSQL" in printed
    assert "round trips" in printed


def test_more_forms_are_found_in_each_language_than_as_english(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["languages"])
    languages.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1] for row in rows] == ["de", "fr", "es", "it", "pt", "nl", "ru", "sv"]
    for _, _, _, forms, found, as_english in rows:
        assert int(as_english) < int(found) <= int(forms)


def test_a_benchmark_that_runs_again_leaves_the_others_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "performance.md"
    printing = everything.Benchmark("One", "none"), everything.Benchmark("Two", "none")
    monkeypatch.setattr(everything, "BENCHMARKS", dict(zip(("one", "two"), printing, strict=True)))
    monkeypatch.setattr(everything, "_run", lambda name, quick: f"## {name.title()}\n\nfirst\n")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--output", str(page)])
    everything.main()
    monkeypatch.setattr(everything, "_run", lambda name, quick: f"## {name.title()}\n\nagain\n")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "two", "--output", str(page)])
    everything.main()
    written = page.read_text(encoding="utf-8")
    assert written.index("## One\n\nfirst") < written.index("## Two\n\nagain")
    assert written.count("\n## ") == 2


def test_a_benchmark_that_fails_is_named_and_changes_nothing_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "performance.md"
    monkeypatch.setattr(everything, "_run", lambda name, quick: None)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "library", "--output", str(page)])
    with pytest.raises(SystemExit, match="library"):
        everything.main()
    assert not page.exists()


async def test_doubles_of_models_without_keys_are_faithful_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MOST", 24)
    sample = files("bot.sample").joinpath("return-on-the-ebb.md").read_text(encoding="utf-8")
    faithful, spliced = [await matching.measured(say, [sample]) for say in (matching.verbatim, matching.spliced)]
    assert float(str(faithful["cited %"])) > 90
    assert float(str(spliced["cited %"])) < 10
