"""How the tests run: the same code gets the same verdict, on every machine."""

import gc
import logging
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

gc.disable()  # until all is collected: what is loaded stays, so looking for garbage among it finds none
settings.register_profile("same", derandomize=True, deadline=None, max_examples=30)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


def pytest_configure(config: pytest.Config) -> None:
    """Each worker collects from another file on, and finds on the disk what another one has compiled."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if worker and config.args_source is config.ArgsSource.TESTPATHS:
        files = sorted(map(str, Path(__file__).parent.rglob("test_*.py")))
        first = len(files) * worker // WORKERS
        config.args[:] = files[first:] + files[:first]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each worker has its share of the tests that mostly wait, evenly among others: some keep the processor busy then,
    and at the end nobody waits for one.
    """
    items.sort(key=lambda item: item.path)
    slow = [item for item in items if _mostly_waits(item.path)]
    others = [item for item in items if not _mostly_waits(item.path)]
    share = -(-len(others) // WORKERS)
    items[:] = [
        item
        for number in range(WORKERS)
        for item in _mixed(slow[number::WORKERS], others[number * share : (number + 1) * share])
    ]


def _mixed(*parts: Sequence[pytest.Item]) -> list[pytest.Item]:
    """All items, each part in its order and spread over the whole length."""
    placed = [(at / len(part), number, at) for number, part in enumerate(parts) for at in range(len(part))]
    return [parts[number][at] for _, number, at in sorted(placed)]


@cache
def _mostly_waits(path: Path) -> bool:
    """Whether the file holds journeys, talks with Discord, or tries what the documents say in processes of its own."""
    return not {"journeys", "cogs"}.isdisjoint(path.parts) or path.parent == Path(__file__).parent


def pytest_collection_finish() -> None:
    """What has been loaded by now stays: the collection of garbage need not go through all of it again and again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """A command that is run within a test sets up the log for the whole process: put level and handlers back."""
    root = logging.getLogger()
    level, handlers = root.level, [*root.handlers]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


@pytest.fixture(autouse=True, scope="session")
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test keeps without saying where is kept apart from the books of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield
