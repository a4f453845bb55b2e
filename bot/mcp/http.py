"""The MCP server over HTTP: who may speak to it, and how it comes to its end."""

import asyncio
import hmac
import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import SettingsError

PATH = "/mcp"
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Gate:
    """Whom the server listens to: requests to its own address and port, with the token where one is set.

    `Host` and `Origin` are checked so that no web page can reach the server by way of a browser on this machine.
    """

    host: str
    port: int
    token: str = ""

    def refusal(self, headers: Headers) -> Response | None:
        """The answer to a request that is not let in; None for one that is."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return PlainTextResponse("The Host header does not name this server.", 421)
        if len(origins) > 1 or (origins and not self._is_ours_too(origins[0])):
            return PlainTextResponse("The Origin header does not name this server.", 403)
        if self.token and not self._has_token(headers):
            refused = {"WWW-Authenticate": 'Bearer realm="marginalia"'}
            return PlainTextResponse("This server needs its token: Authorization: Bearer …", 401, refused)
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None or int(match[2] or 80) != self.port:
            return False
        name = match[1].lower()
        if is_loopback(self.host):
            return name in _LOOPBACK_NAMES or name == self.host
        # On all addresses at once the server cannot know by which names it is reached; there the token keeps the gate.
        return _is_any(self.host) or name in (self.host.lower(), f"[{self.host.lower()}]")

    def _is_ours_too(self, origin: str) -> bool:
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme in ("http", "https") and self._is_ours(host)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())


@dataclass(frozen=True, slots=True)
class GatedApp:
    """An application behind the gate."""

    app: ASGIApp
    gate: Gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self.gate.refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
            return
        await self.app(scope, receive, send)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


async def serve_http(server: Server[Any], host: str, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve streamable HTTP until the program is stopped; `ready` is told the address.

    Raises:
        SettingsError: the address is not loopback, and there is no token.
        OSError: the address or the port cannot be used.
    """
    if not token and not is_loopback(host):
        raise SettingsError(
            f"On {host} anybody in the network could read your books. Set MCP_TOKEN to a long secret, which clients "
            "then send as “Authorization: Bearer …”, or leave --host out."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    bound = listener.getsockname()[1]
    # The gate checks Host and Origin, exactly; the SDK's own check would let every port and user part through.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = GatedApp(server.streamable_http_app(transport_security=unchecked), Gate(host, bound, token))
    # Clients keep their streams open for good, so that nothing is gained by waiting for them at the end.
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=0)
    ready(f"http://{f'[{host}]' if ':' in host else host}:{bound}{PATH}")
    await uvicorn.Server(config).serve(sockets=[listener])
    await asyncio.sleep(0)  # it raises again the signal that stopped it: take that here, not while the books are closed
