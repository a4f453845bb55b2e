"""How the tests run: the same code gets the same verdict, on every machine."""

import gc
import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each worker begins with a share of the journeys, which mostly wait: at the end nobody waits for a slow one."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    journeys = [item for item in items if "journeys" in item.path.parts]
    others = [item for item in items if "journeys" not in item.path.parts]
    share = -(-len(others) // workers)
    items[:] = [
        item
        for number in range(workers)
        for item in (*journeys[number::workers], *others[number * share : (number + 1) * share])
    ]


def pytest_collection_finish() -> None:
    """What has been loaded by now stays: the collection of garbage need not go through all of it again and again."""
    gc.freeze()


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
