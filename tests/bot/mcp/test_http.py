"""Who may speak to the MCP server over HTTP: its own address and port, and the token where one is set."""

import pytest
from starlette.datastructures import Headers

from bot.mcp.server import AccessCheck

LOOPBACK = AccessCheck("127.0.0.1", 8765)


def refusal(gate: AccessCheck, **headers: str) -> int | None:
    """The status that a request with these headers gets; None if it is let in."""
    refused = gate.refusal(Headers({"host": "127.0.0.1:8765"} | headers))
    return refused.status_code if refused else None


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_its_own_names_are_let_in(host: str) -> None:
    assert refusal(LOOPBACK, host=host) is None
    assert refusal(LOOPBACK, host=host, origin=f"http://{host}") is None


@pytest.mark.parametrize(
    "host",
    [
        "", "127.0.0.1", "localhost", "localhost:80", "localhost:87650", "localhost:8765:8765", "localhost:",
        "evil.example:8765", "localhost.evil.example:8765", "evil.example@localhost:8765",
        "localhost:8765@evil.example", "127.0.0.1:8765/", "[::2]:8765",
        "localhost:8765 ", "localhost:08765", "127.0.0.2:8765", "localhost:876²",
    ],
)  # fmt: skip
def test_other_hosts_are_not(host: str) -> None:
    assert refusal(LOOPBACK, host=host) == 421


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example", "http://localhost:1", "http://localhost", "http://user@localhost:8765", "null", "",
        "localhost:8765", "http://localhost:8765.evil.example", "https://localhost:8765", "file://localhost:8765", "http://localhost:8765/",
        "http://localhost:8765.evil.example", "https://localhost:8765",
    ],
)  # fmt: skip
def test_other_origins_are_not(origin: str) -> None:
    assert refusal(LOOPBACK, origin=origin) == 403


def test_two_hosts_are_none() -> None:
    twice = Headers(raw=[(b"host", b"localhost:8765"), (b"host", b"evil.example")])
    refused = LOOPBACK.refusal(twice)
    assert refused is not None
    assert refused.status_code == 421


def test_on_an_address_of_its_own_only_that_one_is_let_in() -> None:
    gate = AccessCheck("192.0.2.7", 80, "secret")
    let_in = {"authorization": "Bearer secret"}
    assert refusal(gate, host="192.0.2.7", **let_in) is None
    assert refusal(gate, host="192.0.2.7:80", **let_in) is None
    assert refusal(gate, host="127.0.0.1:80", **let_in) == 421


def test_on_all_addresses_any_name_with_the_port_is_let_in_with_the_token() -> None:
    gate = AccessCheck("0.0.0.0", 8765, "secret")
    assert refusal(gate, host="books.example:8765", authorization="Bearer secret") is None
    assert refusal(gate, host="books.example:8765") == 401
    assert refusal(gate, host="books.example", authorization="Bearer secret") == 421
    assert refusal(gate, host="a@books.example:8765", authorization="Bearer secret") == 421


@pytest.mark.parametrize("given", ["", "secret", "Bearer", "Bearer ", "Bearer secrets", "Basic secret"])
def test_without_the_token_nobody_is_let_in(given: str) -> None:
    headers = {"authorization": given} if given else {}
    assert refusal(AccessCheck("127.0.0.1", 8765, "secret"), **headers) == 401


def test_the_token_lets_in() -> None:
    assert refusal(AccessCheck("127.0.0.1", 8765, "secret"), authorization="bearer secret") is None
