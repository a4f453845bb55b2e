"""The date and time now, in any time zone."""

import asyncio
import difflib
import zoneinfo
from datetime import UTC, datetime
from typing import Any

from domain.ports import Clock, ToolHandler
from domain.tool_use import ToolDefinition
from domain.tools.registry import error_output, failure_output, to_json

_SUGGESTIONS = 5
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _now() -> datetime:
    return datetime.now(UTC)


class DateTimeTool:
    """get_current_datetime."""

    TOOL_DEFINITION = ToolDefinition(
        "get_current_datetime",
        "Get the date and time in the real world right now. Use it whenever an answer depends on what day or hour it "
        "is for the reader, never for the time in the book.",
        {
            "type": "object",
            "properties": {
                "timezone": {
                    "type": "string",
                    "description": "An IANA time zone such as Europe/Paris; UTC when left out.",
                }
            },
            "required": [],
            "additionalProperties": False,
        },
    )

    def __init__(self, clock: Clock = _now) -> None:
        self._clock = clock

    def as_dispatcher_entry(self) -> ToolHandler:
        """A handler that never raises."""

        async def call(args: dict[str, Any]) -> str:
            try:
                return await self._answer(args.get("timezone"))
            except Exception as error:  # noqa: BLE001 - whatever goes wrong is a result
                return failure_output(self.TOOL_DEFINITION.name, error)

        return call

    def get_current_datetime(self, timezone: str = "UTC") -> dict[str, Any]:
        """The current date and time there.

        Raises:
            LookupError: there is no such time zone.
        """
        now = self._clock().astimezone(_zone(timezone))
        return {
            "datetime_iso": now.isoformat(timespec="seconds"),
            "date": now.date().isoformat(),
            "time": now.strftime("%H:%M:%S"),
            "timezone": timezone,
            "day_of_week": _DAYS[now.weekday()],
            "unix_timestamp": int(now.timestamp()),
        }

    async def _answer(self, timezone: object) -> str:
        if timezone is not None and not isinstance(timezone, str):
            return error_output("timezone must be the name of an IANA time zone, such as Europe/Paris")
        name = (timezone or "").strip() or "UTC"
        try:
            return to_json(self.get_current_datetime(name))
        except LookupError:
            near = await asyncio.to_thread(zones_near, name)  # it lists a folder of 600 files
            hint = f"Did you mean {' or '.join(near)}?" if near else "Use an IANA name such as Europe/Paris."
            return error_output(f"Unknown time zone {name[:50]!r}. {hint}")


def zones_near(name: str) -> list[str]:
    """Time zones that may have been meant: the same city first, then similar spellings."""
    zones = sorted(zoneinfo.available_timezones())
    wanted = _plain(name)
    same_city = [zone for zone in zones if _plain(zone).rsplit("/", 1)[-1] == wanted.rsplit("/", 1)[-1]]
    by_spelling = {_plain(zone): zone for zone in zones}
    alike = [by_spelling[match] for match in difflib.get_close_matches(wanted[:50], by_spelling, n=_SUGGESTIONS)]
    return list(dict.fromkeys([*same_city, *alike]))[:_SUGGESTIONS]


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (LookupError, ValueError, OSError) as error:  # odd names: paths, folders, other files of the database
        raise LookupError(name) from error
