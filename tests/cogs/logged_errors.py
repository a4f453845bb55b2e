"""What a test's log holds of errors, from its beginning to its end."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

TESTS = Path(__file__).parents[1]
_A_TESTS_OWN_TASK = re.compile(rf"Task exception was never retrieved\n.* defined at {re.escape(str(TESTS))}/")
PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")


def unexpected_errors(caplog: pytest.LogCaptureFixture, expected: Sequence[str] = ()) -> list[str]:
    """Those that do not begin as expected. `caplog.records` would be those of the current phase only.

    How a task of another test's own ended is left out: asyncio logs that whenever the task is collected.
    """
    records = [record for phase in PHASES for record in caplog.get_records(phase)]
    errors = [record.getMessage() for record in records if record.levelno >= logging.ERROR]
    return [error for error in errors if not (error.startswith(tuple(expected)) or _A_TESTS_OWN_TASK.match(error))]
