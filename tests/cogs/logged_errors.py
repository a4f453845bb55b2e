"""What a test's log holds of errors, from its beginning to its end."""

import logging
from collections.abc import Sequence
from typing import Literal

import pytest

PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")


def unexpected_errors(caplog: pytest.LogCaptureFixture, expected: Sequence[str] = ()) -> list[str]:
    """Those that do not begin as expected. `caplog.records` would be those of the current phase only."""
    records = [record for phase in PHASES for record in caplog.get_records(phase)]
    errors = [record.getMessage() for record in records if record.levelno >= logging.ERROR]
    return [error for error in errors if not error.startswith(tuple(expected))]
