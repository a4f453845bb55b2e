"""The small Model Context Protocol server over streamable HTTP on loopback."""

import base64
import uuid
from typing import Any, Self
from urllib.parse import unquote

from aiohttp import web

from tests.doubles.mcp_server import answer


class McpHttpDouble:
    """Keeps sessions. `methods` are those it was asked for.

    `restart` forgets all sessions; one that is `forgetful` knows none in a call; one that is `down` refuses everything,
    and with `needed` whatever does not come with these headers.
    """

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.down = False
        self.forgetful = False
        self.needed: dict[str, str] = {}
        self.client: tuple[str, str] | None = None
        """The id and secret of the one client; with these it is an authorization server too, and wants its tokens."""
        self.token_requests: list[dict[str, str]] = []
        self.tokens: set[str] = set()
        self.methods: list[str] = []
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/mcp", self._post)
        app.router.add_delete("/mcp", self._delete)
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self._resource)
        app.router.add_get("/.well-known/oauth-authorization-server", self._issuer)
        app.router.add_post("/token", self._token)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/mcp"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def issuer(self) -> str:
        return self.base_url.removesuffix("/mcp")

    def restart(self) -> None:
        self.sessions.clear()

    async def _resource(self, request: web.Request) -> web.Response:
        """RFC 9728: whose tokens this server takes."""
        return web.json_response({"resource": self.base_url, "authorization_servers": [self.issuer]})

    async def _issuer(self, request: web.Request) -> web.Response:
        """RFC 8414: where the tokens are to be had."""
        told: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "response_types_supported": ["code"],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }
        return web.json_response(told)

    async def _token(self, request: web.Request) -> web.Response:
        """RFC 6749, 4.4: a token for the client's own id and secret."""
        form = {key: str(value) for key, value in (await request.post()).items()}
        self.token_requests.append(form)
        scheme, _, pair = request.headers.get("Authorization", "").partition(" ")
        given = tuple(map(unquote, base64.b64decode(pair).decode().split(":", 1))) if scheme == "Basic" else ()
        if given != self.client or form.get("grant_type") != "client_credentials":
            return web.json_response({"error": "invalid_client"}, status=401)
        token = uuid.uuid4().hex
        self.tokens.add(token)
        return web.json_response({"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def _lets_in(self, request: web.Request) -> bool:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return self.client is None or token in self.tokens

    async def _post(self, request: web.Request) -> web.Response:
        if not self._lets_in(request):
            metadata = f"{self.issuer}/.well-known/oauth-protected-resource/mcp"
            return web.Response(status=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{metadata}"'})
        if any(request.headers.get(name) != value for name, value in self.needed.items()):
            return web.Response(status=401)
        if self.down:
            return web.Response(status=503)
        message = await request.json()
        self.methods.append(message.get("method", ""))
        headers = {}
        if message.get("method") == "initialize":
            headers["mcp-session-id"] = uuid.uuid4().hex
            self.sessions.add(headers["mcp-session-id"])
        elif not self._knows(request, message["method"]):
            return web.Response(status=404)
        reply = answer(message)
        return web.json_response(reply, headers=headers) if reply else web.Response(status=202, headers=headers)

    def _knows(self, request: web.Request, method: str) -> bool:
        forgotten = self.forgetful and method == "tools/call"
        return request.headers.get("mcp-session-id") in self.sessions and not forgotten

    async def _delete(self, request: web.Request) -> web.Response:
        self.sessions.discard(request.headers.get("mcp-session-id", ""))
        return web.Response(status=204)
