"""Tool servers that want a token: asked for with the client's own id and secret, of whoever issues them."""

from collections.abc import AsyncIterator

import pytest

from bot.mcp.addresses import parse_servers
from bot.mcp.tools import open_mcp_tools
from tests.bot.mcp.test_tools import call, until
from tests.doubles.mcp_http import McpHttpDouble

CLIENT = ("marginalia", "open:sesame and more")


@pytest.fixture
async def server() -> AsyncIterator[McpHttpDouble]:
    async with McpHttpDouble() as double:
        double.client = CLIENT
        yield double


def setting(server: McpHttpDouble, **changes: str) -> str:
    given = {"client_id": CLIENT[0], "client_secret": "${SECRET}", "issuer": server.issuer, **changes}
    options = " ".join(f"{key}={value}" for key, value in given.items())
    return f"far={server.base_url} {options}"


async def test_a_token_is_asked_for_and_sent_along(server: McpHttpDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", CLIENT[1])
    async with open_mcp_tools(parse_servers(setting(server, scope="read")), timeout=5) as tools:
        await tools.tried()
        assert (await call(tools, "far_add", a=2, b=3)).content == "5"
        assert tools.missing() == {}
    [request] = server.token_requests
    assert request["grant_type"] == "client_credentials"
    assert request["scope"] == "read"
    assert "client_secret" not in request


async def test_a_token_that_is_taken_back_is_replaced(server: McpHttpDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", CLIENT[1])
    async with open_mcp_tools(parse_servers(setting(server)), timeout=5) as tools:
        await tools.tried()
        assert (await call(tools, "far_echo", text="one")).content == "one"
        server.tokens.clear()
        assert (await call(tools, "far_echo", text="two")).content == "two"
    assert len(server.token_requests) == 2


async def test_who_is_not_known_is_missing_and_it_is_said_why(
    server: McpHttpDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "shibboleth")
    async with open_mcp_tools(parse_servers(setting(server)), timeout=5) as tools:
        await tools.tried()
        await until(lambda: "far" in tools.missing() and bool(server.token_requests))
        told = tools.missing()["far"]
    assert told == "no token was issued for the client_id and client_secret that MCP_SERVERS gives it"
    assert "tools/list" not in server.methods


async def test_a_token_of_another_issuer_is_not_asked_for(
    server: McpHttpDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", CLIENT[1])
    async with open_mcp_tools(parse_servers(setting(server, issuer="https://elsewhere.example")), timeout=5) as tools:
        await tools.tried()
        await until(lambda: "far" in tools.missing())
    assert server.token_requests == []
