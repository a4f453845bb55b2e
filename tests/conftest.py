"""How the tests run: the same code gets the same verdict, on every machine."""

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """A command that is run within a test sets up the log for the whole process: put its level back."""
    level = logging.getLogger().level
    yield
    logging.getLogger().setLevel(level)
