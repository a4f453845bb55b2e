"""The tool servers of MCP_SERVERS, as far as possible without the SDK, which takes half a second to load: reads how to
reach them and which of their tools to use, and starts those that are programs.
"""

import asyncio
import logging
import os
import re
import shlex
import shutil
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from typing import Self
from urllib.parse import urlsplit

from dotenv import dotenv_values

from bot.private import secrets_in
from domain.errors import SettingsError

_NAME = re.compile(r"([a-zA-Z][a-zA-Z0-9_-]{0,23})(?:\[([^\[\]]*)\])?")
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)", re.DOTALL)
_OF_A_SECRET = re.compile(r"auth|cookie|cred|key|pass|secret|token", re.IGNORECASE)
"""In the name of a header or a variable whose value is a secret."""
_OPTIONS = ("header", "transport", "client_id", "client_secret", "issuer", "scope")

_PASSED_ON = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP USERNAME "
    "USERPROFILE"
    if os.name == "nt"
    else "HOME LOGNAME PATH SHELL TERM USER"
).split()
"""Variables of ours that a program sees."""

MOST_TOOLS = 100
"""Tools of all servers together; the book's own are added, and OpenAI accepts 128."""

LONGEST_LINE = 8_000_000
"""Bytes of one message from a server: a picture of the largest size fits in, or several of the usual ones."""

MOST_PARTS = 100_000
"""Quotation marks, commas and brackets of one message: the SDK checks each value several times, on the event loop.

At this limit that takes a tenth of a second. Quotation marks within a text do not count.
"""

GRACE_S = 0.5
"""How long a program may take to end by itself after its input was closed, as the protocol asks it to."""
_TERMINATION_S, _KILL_S = 0.2, 0.5
_LOOK_S = 0.01

_log = logging.getLogger(__name__)


def parts_of(message: bytes) -> int:
    """What of MOST_PARTS a message, or a piece of one, takes up."""
    return sum(map(message.count, (b'"', b",", b"{", b"["))) - message.count(b'\\"')


def oversized(length: int, parts: int) -> str:
    """Why a message is refused; empty if it is accepted."""
    if length > LONGEST_LINE:
        return f"it sent a message of more than {LONGEST_LINE:,} bytes"
    return f"it sent a message with more than {MOST_PARTS:,} parts" if parts > MOST_PARTS else ""


STARTING = "it is still starting"


class ServerUnavailableError(Exception):
    """A server cannot be reached now; the sentence is for the model."""


class ReportedError(Exception):
    """An error that a server reports for a call, in its own words."""


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The credentials for OAuth's client credentials grant."""

    client_id: str
    client_secret: str = field(repr=False)
    issuer: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A tool server: a `url`, or a `command` that communicates by standard input and output.

    A command sees the variables in `environment` and a few harmless ones of ours, such as PATH, but no keys. A URL is
    that of streamable HTTP, or of its predecessor with `legacy_sse`, and receives `headers` or the token that `oauth`
    yields. Only the tools in `tools` are used; empty means all. `secrets` must not be shown or logged.
    """

    name: str
    url: str = ""
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    oauth: ClientCredentials | None = None
    legacy_sse: bool = False
    tools: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False, compare=False)


class ServerProgram:
    """The running program of a tool server. It has a process group of its own, to which all belongs that it starts."""

    def __init__(self, name: str, process: Process) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.stdin, self.stdout = process.stdin, process.stdout
        self.has_answered = False
        """Whether it has sent a message of the protocol."""
        self._process = process
        self._is_stopped = False
        self._logging = asyncio.create_task(_log_all(process.stderr, name))

    @classmethod
    async def start(cls, address: ServerAddress) -> Self:
        """Start the command of an address.

        Raises:
            OSError: it cannot be started.
            ValueError: the command contains a null character.
        """
        command, *arguments = address.command
        if os.name == "nt":
            command = shutil.which(command) or command  # which finds npx.cmd
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | dict(address.environment)
        is_there = shutil.which(command, path=environment.get("PATH"))
        process = await asyncio.create_subprocess_exec(
            *(_ending_with_us() if is_there else ()),
            command,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        return cls(address.name, process)

    async def stop(self) -> None:
        """End the program and all that it started. If it has never answered, it is not given time to end by itself."""
        if self._is_stopped:  # its process number may belong to another program by now
            return
        self._is_stopped = True
        self.stdin.close()
        if not (self.has_answered and await self._ended(GRACE_S)):
            self._send(signal.SIGTERM)
            await self._ended(_TERMINATION_S)
        self._send(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
        if not await self._ended(_KILL_S):
            _log.warning("the program %s of a tool server cannot be ended", self._process.pid)
        self._logging.cancel()
        self._process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - what left the group may hold a pipe

    def _send(self, number: signal.Signals) -> None:
        try:
            if os.name == "nt":
                self._process.send_signal(number)
            else:
                os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # there is nobody left, or nobody of ours

    async def _ended(self, within: float) -> bool:
        """Whether the process ends within so many seconds. `Process.wait` waits for its pipes as well."""
        for _ in range(round(within / _LOOK_S)):
            if self._process.returncode is not None:
                return True
            await asyncio.sleep(_LOOK_S)
        return self._process.returncode is not None


@cache
def _ending_with_us() -> tuple[str, ...]:
    """The words before a command by which Linux kills it if we are killed; nobody else would tell it then.

    They come from util-linux; Busybox has a program of the same name that cannot do this.
    """
    found = shutil.which("setpriv") if sys.platform == "linux" else None
    has_it = found and os.path.basename(os.path.realpath(found)) == "setpriv"  # noqa: PTH119
    return (found, "--pdeathsig", "KILL", "--") if found and has_it else ()


async def _log_all(stderr: asyncio.StreamReader, name: str) -> None:
    """Log what a program writes on standard error, which a person's terminal shall not show."""
    while chunk := await stderr.read(4096):
        for line in chunk.decode(errors="replace").splitlines():
            _log.info("tool server %s says: %s", name, line)


def parse_servers(text: str, variables: Mapping[str, str | None] | None = None) -> tuple[ServerAddress, ...]:
    """Read the setting; blank means no servers. `${NAME}` stands for one of `variables`: the environment and `.env`.

    Raises:
        SettingsError: the sentence says which entry cannot be understood.
    """
    known = {**dotenv_values(".env"), **os.environ} if variables is None else variables
    addresses = tuple(_with_secrets(_address(entry, known), entry, known) for entry in _entries(text))
    names = [address.name for address in addresses]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"MCP_SERVERS names {name!r} twice. Give every server a name of its own.")
    return addresses


def secrets_of_servers(text: str) -> tuple[str, ...]:
    """The secrets in the setting; none if it cannot be read."""
    try:
        return tuple(secret for address in parse_servers(text) for secret in address.secrets)
    except SettingsError:
        return ()


def _with_secrets(address: ServerAddress, words: Sequence[str], known: Mapping[str, str | None]) -> ServerAddress:
    """The address with what it contains of secrets: values of variables, and what a name says is one."""
    found = [known.get(name) for name in _VARIABLE.findall(" ".join(words)) if name not in _PASSED_ON]
    given = (*address.headers, *address.environment)
    found += [word for name, value in given if _OF_A_SECRET.search(name) for word in (value, *value.split())]
    found += [address.oauth.client_secret] if address.oauth else []
    return replace(address, secrets=tuple(dict.fromkeys(filter(None, [*found, *secrets_in(address.url)]))))


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


def _address(words: Sequence[str], known: Mapping[str, str | None]) -> ServerAddress:
    label, given, first = words[0].partition("=")
    match = _NAME.fullmatch(label)
    if not given or match is None:
        raise SettingsError(
            f"MCP_SERVERS has an entry {words[0]!r}. Write name=URL or name=command, the name of at most 24 letters, "
            "digits, '_' and '-'; name[tool,tool]=… uses only these tools."
        )
    name, listed = match[1], match[2]
    tools = tuple(tool.strip() for tool in (listed or "").split(",") if tool.strip())
    if listed is not None and not tools:
        raise SettingsError(f"MCP_SERVERS names no tools of {name!r} between the brackets. Name some, or drop them.")
    rest = [first, *words[1:]] if first else list(words[1:])
    if rest and urlsplit(rest[0]).scheme in ("http", "https"):
        return _web_address(name, tools, rest[0], rest[1:], known)
    pairs = [match.groups() for match in takewhile(bool, map(_PAIR.fullmatch, rest)) if match]
    command = tuple(rest[len(pairs) :])
    if not command:
        raise SettingsError(f"MCP_SERVERS gives {name!r} neither a URL nor a command.")
    environment = tuple((key, _filled(value, known)) for key, value in pairs)
    return ServerAddress(name, command=command, environment=environment, tools=tools)


def _web_address(
    name: str, tools: tuple[str, ...], url: str, options: Sequence[str], known: Mapping[str, str | None]
) -> ServerAddress:
    headers: list[tuple[str, str]] = []
    given: dict[str, str] = {}
    for option in options:
        key, _, value = option.partition("=")
        if key not in _OPTIONS:
            expected = ", ".join(f"{each}=…" for each in _OPTIONS)
            raise SettingsError(f"MCP_SERVERS has {key!r} after the URL of {name!r}. Allowed there: {expected}.")
        filled = _filled(value, known)
        if key == "header":
            headers.append(_header(name, filled))
        else:
            given[key] = filled
    transport = given.pop("transport", "http")
    if transport not in ("http", "sse"):
        raise SettingsError(f"MCP_SERVERS gives {name!r} the transport {transport!r}. It is http or sse.")
    return ServerAddress(
        name,
        url=_filled(url, known),
        headers=tuple(headers),
        oauth=_credentials(name, given) if given else None,
        legacy_sse=transport == "sse",
        tools=tools,
    )


def _header(name: str, text: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(text)
    if match is None or not match[2].isprintable():
        raise SettingsError(f"MCP_SERVERS has a header of {name!r} that cannot be read. Write header='Name: value'.")
    return match[1], match[2].strip()


def _credentials(name: str, given: Mapping[str, str]) -> ClientCredentials:
    lacking = [key for key in ("client_id", "client_secret", "issuer") if not given.get(key)]
    if lacking:
        raise SettingsError(f"MCP_SERVERS gives {name!r} no {' and no '.join(lacking)}, which OAuth needs.")
    return ClientCredentials(given["client_id"], given["client_secret"], given["issuer"], given.get("scope", ""))


def _filled(text: str, known: Mapping[str, str | None]) -> str:
    """The text with the values of its variables."""

    def value(match: re.Match[str]) -> str:
        found = known.get(match[1])
        if not found:
            raise SettingsError(f"MCP_SERVERS names the variable {match[1]}, which is not set. Set it, or take it out.")
        return found

    return _VARIABLE.sub(value, text)
