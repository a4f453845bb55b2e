"""Scripted trouble: a request that fails, whether or not it took effect."""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from tests.doubles.discord_api.errors import ApiError


class Moment(StrEnum):
    """When the trouble strikes: before anything happened, or after it took effect and before the answer left."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(slots=True)
class Fault:
    """Strikes `times` requests to `route` after letting `skip` of them pass.

    `status` 0 drops the connection without an answer.
    """

    route: str
    status: int
    code: int = 0
    message: str = ""
    moment: Moment = Moment.BEFORE
    skip: int = 0
    times: int = 1
    retry_after: float = 0.1
    is_global: bool = False
    holds: bool = False
    """The answer never leaves; the connection stays open."""
    through_proxy: bool = True
    """False leaves out the Via header, as Cloudflare does for an address it has banned."""

    def error(self) -> ApiError:
        return ApiError(self.status, self.code, self.message or f"scripted {self.status}")


class Faults:
    """The faults still to come."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault)

    def clear(self) -> None:
        self._waiting.clear()

    @property
    def all_struck(self) -> bool:
        return not self._waiting

    def strike(self, route: str) -> Fault | None:
        """The fault for this request, used up by it."""
        for fault in self._waiting:
            if not fnmatchcase(route, fault.route):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self._waiting.remove(fault)
            return fault
        return None
