"""Which requests the program's web servers accept: those that name the server in `Host` and, if present, in `Origin`.

Both are compared exactly, so that no web page can reach the server through a browser on the same machine: neither by a
name that resolves to it (DNS rebinding) nor from a page with the origin `null`.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::([1-9][0-9]{0,4}))?")
_DEFAULT_PORT = 80


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is refused: the status of the response, and a sentence."""

    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class OwnAddress:
    """The address and port that a server has bound."""

    host: str
    port: int

    def refusal(self, hosts: Sequence[str], origins: Sequence[str]) -> Refused | None:
        """The response to a request with these headers; None if they name this server."""
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return Refused(421, "The Host header does not match this server.")
        if len(origins) > 1 or (origins and not self._is_our_origin(origins[0])):
            return Refused(403, "The Origin header does not match this server.")
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None or int(match[2] or _DEFAULT_PORT) != self.port:
            return False
        name = match[1].lower()
        if is_loopback(self.host):
            return name in _LOOPBACK_NAMES or name == self.host
        # Bound to all addresses, the server cannot know the names by which it is reached; there the token protects it.
        return _is_any(self.host) or name in (self.host.lower(), f"[{self.host.lower()}]")

    def _is_our_origin(self, origin: str) -> bool:
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme == "http" and self._is_ours(host)


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
