"""One line in the log for every turn: who, how much, how long; never what was said."""

import logging
import time

from domain.conversation import Turn
from domain.event import TextDelta, ToolCallFinished, TurnEvent

logger = logging.getLogger("marginalia.turns")


class TurnLog:
    """Times the stages of a turn, in milliseconds since it began."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._stages: dict[str, int] = {}
        self._cost = 0
        self._tools_ms = 0
        self._calls = 0

    def reach(self, stage: str) -> None:
        """Note the first time that a stage is reached."""
        self._stages.setdefault(stage, self._elapsed())

    def follow(self, event: TurnEvent) -> None:
        """Learn from an event what it tells of the course of the turn."""
        match event:
            case TextDelta():
                self.reach("first_text_ms")
            case ToolCallFinished(milliseconds=milliseconds):
                self._calls += 1
                self._tools_ms += milliseconds

    def add_cost(self, microdollars: int | None) -> None:
        self._cost += microdollars or 0

    def write(self, turn: Turn, reader_id: str, guild_id: str | None) -> None:
        """Write the line, at INFO."""
        fields = {
            "turn": turn.id,
            "conversation": turn.conversation_id,
            "reader": reader_id,
            "guild": guild_id,
            "state": turn.state.value,
            "error": turn.error,
            "model": turn.model,
            "tokens_in": turn.usage.input_tokens,
            "tokens_cached": turn.usage.cache_read_tokens,
            "tokens_out": turn.usage.output_tokens,
            "cost_microdollars": self._cost,
            "calls": self._calls,
            "tools_ms": self._tools_ms,
            **self._stages,
            "total_ms": self._elapsed(),
        }
        told = " ".join(f"{name}={value}" for name, value in fields.items() if value not in ("", None))
        logger.info("turn %s", told, extra={"fields": fields})

    def _elapsed(self) -> int:
        return round((time.perf_counter() - self._began) * 1000)
