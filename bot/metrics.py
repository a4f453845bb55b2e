"""Metrics for Prometheus: turns and their stages, tokens and cost, failures, rate limits, the event loop, shards."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import aiohttp
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import start_http_server
from prometheus_client.registry import Collector

from domain.errors import SettingsError
from storage.book_files.files import CacheFigures

TURN_LOG, USAGE_LOG = logging.getLogger("marginalia.turns"), logging.getLogger("marginalia.usage")
LEVELS = {TURN_LOG: logging.INFO, USAGE_LOG: logging.DEBUG}
"""The loggers whose lines are counted, and the levels of these lines."""

SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0)

STAGES = {"prepare": "prepared_ms", "first_text": "first_text_ms", "tools": "tools_ms", "total": "total_ms"}
"""Stages of a turn, and the fields of its log line with their times since the turn began."""

TOKENS = {"input": "tokens_in", "cache_read": "tokens_cached", "output": "tokens_out"}

LAG_EVERY_S = 0.1
LAG_SPAN_S = 15.0
"""The worst value of so many seconds is reported, so that a scrape every quarter of a minute misses none."""

TOO_MANY_REQUESTS = 429


class BookCacheFigures(Collector):
    """The figures of the book cache, as they are when Prometheus asks; zeros until `read` is set."""

    def __init__(self) -> None:
        self.read: Callable[[], CacheFigures] = CacheFigures

    def collect(self) -> Iterator[Metric]:
        figures = self.read()
        reads = CounterMetricFamily(
            "marginalia_book_cache_reads", "Reads of books, by whether the node had a copy.", labels=["result"]
        )
        reads.add_metric(["hit"], figures.hits)
        reads.add_metric(["miss"], figures.misses)
        yield reads
        yield CounterMetricFamily(
            "marginalia_book_cache_evictions", "Copies deleted to make room.", value=figures.evictions
        )
        yield GaugeMetricFamily("marginalia_book_cache_bytes", "Size of the copies on the disk.", value=figures.size)


class Metrics(logging.Handler):
    """Counts what the log lines of turns and of requests to models say, whether or not these lines are written."""

    def __init__(self) -> None:
        super().__init__()
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self._turns = Counter("marginalia_turns", "Turns that ended, by their state.", ["state"], registry=registry)
        self._seconds = Histogram(
            "marginalia_turn_seconds",
            "Seconds from the beginning of a turn to the end of a stage; `tools` is the time spent in tools.",
            ["stage"],
            buckets=SECONDS,
            registry=registry,
        )
        self._tokens = Counter("marginalia_tokens", "Tokens of models.", ["kind"], registry=registry)
        self._cost = Counter("marginalia_cost_dollars", "What models cost, as far as known.", registry=registry)
        self._failures = Counter("marginalia_failures", "Turns that failed, by reason.", ["code"], registry=registry)
        self._limits = Counter("marginalia_rate_limits", "Requests that Discord put off.", registry=registry)
        self._lag = Gauge(
            "marginalia_event_loop_lag_seconds",
            f"The longest the event loop was busy in the last {LAG_SPAN_S:.0f} seconds.",
            registry=registry,
        )
        self._worst_lag, self._looked_at = 0.0, time.monotonic()
        self._lag.set_function(self._lag_so_far)
        self._book_cache = BookCacheFigures()
        registry.register(self._book_cache)
        self._shards = Gauge("marginalia_shards", "Shards of all nodes together.", registry=registry)
        self._connected = Gauge(
            "marginalia_shards_connected", "Shards that are connected to Discord from here.", registry=registry
        )
        self._database = Gauge(
            "marginalia_database_away", "1 while the database of several nodes does not answer.", registry=registry
        )

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = getattr(record, "fields", {})
        if record.name == USAGE_LOG.name:
            self._count_request(fields)
        elif "state" in fields:
            self._count_turn(fields)

    def _count_request(self, fields: dict[str, Any]) -> None:
        for kind, field in TOKENS.items():
            self._tokens.labels(kind).inc(fields[field])
        self._cost.inc(fields["cost_microdollars"] / 1_000_000)

    def _count_turn(self, fields: dict[str, Any]) -> None:
        self._turns.labels(fields["state"]).inc()
        for stage, field in STAGES.items():
            if field in fields:
                self._seconds.labels(stage).observe(fields[field] / 1000)
        if fields["error"]:
            self._failures.labels(fields["error"]).inc()

    def watch_shards(self, count: int, connected: Callable[[], int]) -> None:
        """Report how many shards there are, and how many of them are connected here whenever the metrics are read."""
        self._shards.set(count)
        self._connected.set_function(connected)

    def watch_database(self, is_away: Callable[[], bool]) -> None:
        """Report whether the database is away, whenever the metrics are read."""
        self._database.set_function(is_away)

    def watch_book_cache(self, figures: Callable[[], CacheFigures]) -> None:
        """Export the figures of the book cache, read at each scrape."""
        self._book_cache.read = figures

    def trace(self) -> aiohttp.TraceConfig:
        """The trace configuration for a Discord client, which counts its rate limits."""
        config = aiohttp.TraceConfig()

        async def count(_: aiohttp.ClientSession, __: SimpleNamespace, ended: aiohttp.TraceRequestEndParams) -> None:
            if ended.response.status == TOO_MANY_REQUESTS:
                self._limits.inc()

        config.on_request_end.append(count)
        return config

    async def measure_lag(self) -> None:
        """Measure, until cancelled, how much longer than requested a short sleep of the event loop takes."""
        worst: list[tuple[float, float]] = []
        while True:
            before = time.monotonic()
            await asyncio.sleep(LAG_EVERY_S)
            now = time.monotonic()
            worst = [(at, lag) for at, lag in worst if now - at < LAG_SPAN_S]
            worst.append((now, max(0.0, now - before - LAG_EVERY_S)))
            self._worst_lag, self._looked_at = max(lag for _, lag in worst), now

    def _lag_so_far(self) -> float:
        """The worst lag, or that of the sleep which has not ended: a loop that stands still cannot measure itself."""
        return max(self._worst_lag, time.monotonic() - self._looked_at - LAG_EVERY_S)


@asynccontextmanager
async def serving_metrics(host: str, port: int) -> AsyncIterator[Metrics]:
    """Serve the metrics at http://host:port/metrics during the block.

    Raises:
        SettingsError: the address cannot be used.
    """
    metrics = Metrics()
    try:
        server, thread = start_http_server(port, host, metrics.registry)
    except OSError as error:
        raise SettingsError(
            f"METRICS_PORT: {host}:{port} cannot be used ({error.strerror}); choose another port or METRICS_HOST."
        ) from error
    before = {log: log.level for log in LEVELS}
    for log, level in LEVELS.items():
        log.addHandler(metrics)
        log.setLevel(level)
    measuring = asyncio.create_task(metrics.measure_lag(), name="event loop lag")
    try:
        yield metrics
    finally:
        measuring.cancel()
        await asyncio.gather(measuring, return_exceptions=True)
        for log, level in before.items():
            log.removeHandler(metrics)
            log.setLevel(level)
        await asyncio.to_thread(server.shutdown)
        server.server_close()
        thread.join()
