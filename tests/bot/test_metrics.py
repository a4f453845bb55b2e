"""The figures for Prometheus say what the log lines of turns say."""

import asyncio
import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.metrics import LEVELS, TURN_LOG, Metrics, serving_metrics
from domain.conversation import Turn, TurnState
from domain.errors import SettingsError
from domain.records import UsageRecord
from domain.tool_use import RequestUsage, TokenUsage
from domain.turn.quota import UsageMeter
from domain.turn.state import TurnLog
from storage.book_files.objects import CachedBookFiles, open_store
from storage.opening import open_storage
from tests.doubles.ports import held_port
from tests.postgres import an_emptied_database
from tests.storage.book_files.test_files import a_text
from tests.storage.values import MIDNIGHT


@pytest.fixture
def port() -> Iterator[int]:
    with held_port() as port:
        yield port


async def figures(port: int) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
        text = await answer.text()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def log_turn(state: TurnState, error: str = "") -> None:
    log = TurnLog()
    log.reach("prepared_ms")
    log.write(Turn("t", "c", 1, state, MIDNIGHT, error=error, usage=TokenUsage(10, 3, 4)), "hatter", None)


class Nowhere:
    """Records no usage."""

    async def record(self, spent: UsageRecord) -> None: ...


async def test_turns_are_counted_by_state_with_their_failures(port: int) -> None:
    async with serving_metrics("127.0.0.1", port):
        log_turn(TurnState.ANSWERED)
        log_turn(TurnState.FAILED, "timeout")
        told = await figures(port)
    assert told["marginalia_turns_total", "answered"] == 1
    assert told["marginalia_turns_total", "failed"] == 1
    assert told["marginalia_failures_total", "timeout"] == 1
    assert told["marginalia_turn_seconds_count", "prepare"] == 2
    assert told["marginalia_turn_seconds_count", "total"] == 2
    assert told["marginalia_shards_connected",] == 0


async def test_tokens_and_cost_of_each_request_are_counted_once_whatever_it_was_for(port: int) -> None:
    usage: Any = Nowhere()
    meter = UsageMeter(usage=usage, price=lambda *_: 2_500, clock=lambda: MIDNIGHT, provider="x")
    async with serving_metrics("127.0.0.1", port):
        await meter.book(RequestUsage("recap", "model", TokenUsage(10), is_open=True), "hatter", None)
        for request in ("recap", "title"):
            await meter.book(RequestUsage(request, "model", TokenUsage(10, 3, 4)), "hatter", None)
        log_turn(TurnState.ANSWERED)  # its requests are counted each
        told = await figures(port)
    assert told["marginalia_tokens_total", "input"] == 20
    assert told["marginalia_tokens_total", "output"] == 6
    assert told["marginalia_tokens_total", "cache_read"] == 8
    assert told["marginalia_cost_dollars_total",] == pytest.approx(0.005)


async def test_the_log_is_no_louder_for_being_counted(caplog: pytest.LogCaptureFixture, port: int) -> None:
    before = [(log.level, list(log.handlers)) for log in LEVELS]
    async with serving_metrics("127.0.0.1", port):
        pass
    assert [(log.level, log.handlers) for log in LEVELS] == before


async def test_shards_and_the_database_are_asked_for_when_they_are_told(port: int) -> None:
    connected = 3
    async with serving_metrics("127.0.0.1", port) as metrics:
        metrics.watch_shards(4, lambda: connected)
        metrics.watch_database(lambda: connected == 0)
        told = await figures(port)
        assert (told["marginalia_shards_connected",], told["marginalia_database_away",]) == (3, 0)
        connected = 0
        told = await figures(port)
        assert (told["marginalia_shards_connected",], told["marginalia_database_away",]) == (0, 1)
        assert told["marginalia_shards",] == 4


async def test_a_loop_that_was_blocked_is_seen(port: int) -> None:
    async with serving_metrics("127.0.0.1", port):
        await asyncio.sleep(0.15)
        time.sleep(0.4)
        while (lag := (await figures(port))["marginalia_event_loop_lag_seconds",]) < 0.2:
            await asyncio.sleep(0.02)
    assert lag < 5


async def test_a_loop_that_stands_still_is_seen_while_it_does(port: int) -> None:
    async with serving_metrics("127.0.0.1", port) as metrics:
        await asyncio.sleep(0.15)
        time.sleep(0.4)
        assert (metrics.registry.get_sample_value("marginalia_event_loop_lag_seconds") or 0) > 0.2


async def test_the_book_cache_is_read_when_it_is_told(tmp_path: Path, port: int) -> None:
    books = {letter: letter * 64 for letter in "abc"}
    with an_emptied_database() as url:
        async with await open_storage(url) as storage, serving_metrics("127.0.0.1", port) as metrics:
            store = open_store(f"file://{tmp_path}/store")
            files = CachedBookFiles(tmp_path / "one", store=store, objects=storage.book_objects, cache_mb=0)
            for name in books.values():
                await files.write(name, a_text(400))
            other = CachedBookFiles(tmp_path / "two", store=store, objects=storage.book_objects, cache_mb=0)
            metrics.watch_book_cache(other.cache_figures)
            for _ in range(3):
                await other.provide(books["a"])
            await other.provide(books["b"])
            told = await figures(port)
            [kept] = (tmp_path / "two").glob("*.book")
    assert told["marginalia_book_cache_reads_total", "hit"] == 2
    assert told["marginalia_book_cache_reads_total", "miss"] == 2
    assert told["marginalia_book_cache_evictions_total",] == 1
    assert told["marginalia_book_cache_bytes",] == kept.stat().st_size


async def test_a_port_that_is_taken_is_a_setting_to_be_mended() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SettingsError, match="METRICS_PORT"):
            async with serving_metrics("127.0.0.1", taken.getsockname()[1]):
                pass


def test_without_metrics_nothing_listens_to_turns() -> None:
    assert not any(isinstance(handler, logging.Handler) for handler in TURN_LOG.handlers)


def test_the_dashboard_and_the_alerts_ask_for_figures_that_there_are() -> None:
    folder = Path(__file__).parents[2] / "docs" / "monitoring"
    asked = {
        name
        for file in ("grafana.json", "alerts.yaml")
        for name in re.findall(r"marginalia_\w+", (folder / file).read_text(encoding="utf-8"))
    }
    json.loads((folder / "grafana.json").read_text(encoding="utf-8"))
    served = {family.name for family in Metrics().registry.collect()}
    assert {re.sub("_(total|bucket|count|sum)$", "", name) for name in asked} <= served
