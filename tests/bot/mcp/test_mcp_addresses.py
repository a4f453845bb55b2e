"""MCP_SERVERS: names with URLs or command lines, as an operator writes them."""

import pytest

from bot.mcp.addresses import ServerAddress, parse_servers
from domain.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("", ()),
        ("  ; ;\n", ()),
        ("notes=http://127.0.0.1:8080/mcp", (ServerAddress("notes", url="http://127.0.0.1:8080/mcp"),)),
        ("n=https://x.example/mcp?a=b&c=d", (ServerAddress("n", url="https://x.example/mcp?a=b&c=d"),)),
        ("files=uvx files /srv", (ServerAddress("files", command=("uvx", "files", "/srv")),)),
        ("files= uvx files", (ServerAddress("files", command=("uvx", "files")),)),
        ("f=run '/srv/my notes' \"a;b\" #1", (ServerAddress("f", command=("run", "/srv/my notes", "a;b", "#1")),)),
        (
            "f=KEY='a b' B=2 run --x=1",
            (ServerAddress("f", command=("run", "--x=1"), environment=(("KEY", "a b"), ("B", "2"))),),
        ),
        (
            "a=run;b=http://h/mcp ;\n c=run 2",
            (
                ServerAddress("a", command=("run",)),
                ServerAddress("b", url="http://h/mcp"),
                ServerAddress("c", command=("run", "2")),
            ),
        ),
    ],
)
def test_entries_are_read(text: str, addresses: tuple[ServerAddress, ...]) -> None:
    assert parse_servers(text) == addresses


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("http://127.0.0.1/mcp", "Write name=URL or name=command"),
        ("uvx files", "Write name=URL or name=command"),
        ("my files=uvx files", "Write name=URL or name=command"),
        ("ä=uvx", "Write name=URL or name=command"),
        ("a=", "gives 'a' neither a URL nor a command"),
        ("a=KEY=1", "gives 'a' neither a URL nor a command"),
        ("a=run; a=http://h/mcp", "names 'a' twice"),
        ("a=run 'oops", "Check its quotation marks"),
    ],
)
def test_an_entry_that_makes_no_sense_is_named(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        parse_servers(text)
