"""MCP_SERVERS: names with URLs or command lines, as an operator writes them."""

import pytest

from bot.mcp.addresses import ClientCredentials, ServerAddress, parse_servers
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
    assert parse_servers(text, {}) == addresses


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("f[a,b]=run", ServerAddress("f", command=("run",), tools=("a", "b"))),
        ("n[a]=http://h/mcp", ServerAddress("n", url="http://h/mcp", tools=("a",))),
        ("n=http://h/${KEY}", ServerAddress("n", url="http://h/k")),
        ("f=TOKEN=${KEY} run ${KEY}", ServerAddress("f", command=("run", "${KEY}"), environment=(("TOKEN", "k"),))),
        (
            "n=http://h header='Authorization: Bearer ${KEY}' header=X:1",
            ServerAddress("n", url="http://h", headers=(("Authorization", "Bearer k"), ("X", "1"))),
        ),
        ("n=http://h transport=sse", ServerAddress("n", url="http://h", legacy_sse=True)),
        (
            "n=http://h client_id=me client_secret=${KEY} issuer=https://auth scope='a b'",
            ServerAddress("n", url="http://h", oauth=ClientCredentials("me", "k", "https://auth", "a b")),
        ),
    ],
)
def test_an_entry_may_say_more(text: str, address: ServerAddress) -> None:
    assert parse_servers(text, {"KEY": "k"}) == (address,)


def test_secrets_are_not_shown_with_an_address() -> None:
    text = "a=http://h header=X:${KEY} client_id=i client_secret=${KEY} issuer=https://x; b=T=${KEY} run"
    assert "s3cret" not in repr(parse_servers(text, {"KEY": "s3cret"}))


def test_the_secrets_of_a_server_are_known_wherever_they_stand() -> None:
    text = (
        "a=https://ann:in-the-address@host/${PATH_KEY}?api_key=in-the-query header='Authorization: Bearer in-a-header' "
        "client_id=i client_secret=of-oauth issuer=https://x; b=FILES_TOKEN=of-the-files PLACE=/srv/notes run ${HOME}"
    )
    first, second = parse_servers(text, {"PATH_KEY": "in-the-path", "HOME": "/home/ann"})
    assert {"in-the-address", "in-the-path", "in-the-query", "in-a-header", "of-oauth"} < set(first.secrets)
    assert second.secrets == ("of-the-files",)
    assert parse_servers("a=run ${UNKNOWN}", {})[0].secrets == ()


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
        ("a[]=run", "names no tools of 'a'"),
        ("a[b=run", "Write name=URL"),
        ("a=http://h more", "has 'more' after the URL of 'a'"),
        ("a=http://h header=nothing", "has a header of 'a' that cannot be read"),
        ("a=http://h transport=pigeon", "gives 'a' the transport 'pigeon'"),
        ("a=http://h client_id=me", "gives 'a' no client_secret and no issuer"),
        ("a=http://h header='X: ${NOT_THERE}'", "names the variable NOT_THERE, which is not set"),
    ],
)
def test_an_entry_that_makes_no_sense_is_named(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        parse_servers(text, {})
