"""The port to the time."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Now, with a time zone."""
