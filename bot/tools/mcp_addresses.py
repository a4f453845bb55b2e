"""Where tool servers are, as an operator writes it in a setting.

    notes=http://127.0.0.1:8080/mcp; files=TOKEN=secret uvx some-file-server "/srv/my notes"

Each entry gives a name and either a URL or a command line; variables for the command stand in front of it, as in a
shell.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import urlsplit

from domain.errors import SettingsError

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,23}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A tool server: a `url` of streamable HTTP, or a `command` that talks on standard input and output.

    A command sees the variables in `environment` and a few harmless ones of ours, such as PATH, but no keys.
    """

    name: str
    url: str = ""
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


def parse_servers(text: str) -> tuple[ServerAddress, ...]:
    """Read the setting; blank means no servers.

    Raises:
        SettingsError: the sentence says which entry cannot be understood.
    """
    addresses = tuple(_address(entry) for entry in _entries(text))
    names = [address.name for address in addresses]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"MCP_SERVERS names {name!r} twice. Give every server a name of its own.")
    return addresses


def _entries(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";")
    lexer.whitespace_split = True
    lexer.commenters = ""
    entry: list[str] = []
    try:
        for word in [*lexer, ";"]:
            if word.strip(";"):
                entry.append(word)
            elif entry:
                yield entry
                entry = []
    except ValueError as error:
        raise SettingsError(f"MCP_SERVERS cannot be read: {error}. Check its quotation marks.") from error


def _address(words: Sequence[str]) -> ServerAddress:
    name, given, first = words[0].partition("=")
    if not given or not _NAME.fullmatch(name):
        raise SettingsError(
            f"MCP_SERVERS has an entry {words[0]!r}. Write name=URL or name=command, the name of at most 24 letters, "
            "digits, '_' and '-'."
        )
    rest = [first, *words[1:]] if first else list(words[1:])
    if len(rest) == 1 and urlsplit(rest[0]).scheme in ("http", "https"):
        return ServerAddress(name, url=rest[0])
    variables = list(takewhile(_VARIABLE.fullmatch, rest))
    command = tuple(rest[len(variables) :])
    if not command:
        raise SettingsError(f"MCP_SERVERS gives {name!r} neither a URL nor a command.")
    return ServerAddress(name, command=command, environment=tuple(_pair(variable) for variable in variables))


def _pair(variable: str) -> tuple[str, str]:
    name, _, value = variable.partition("=")
    return name, value
