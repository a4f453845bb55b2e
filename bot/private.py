"""Keeps files and keys from other users of the machine, child processes and logs, and web servers from other pages.

The program's web servers accept requests that name the server in `Host` and, if present, in `Origin`. Both are compared
exactly, so that no web page can reach a server through a browser on the same machine: neither by a name that resolves
to it (DNS rebinding) nor from a page with the origin `null`.
"""

import ipaddress
import json
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

SECRETS = ("DISCORD_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MCP_TOKEN")
"""Environment variables with a secret of the settings."""
STORE_SECRETS = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GOOGLE_SERVICE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY", "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_TOKEN", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_CLIENT_SECRET",
)  # fmt: skip
"""The same for object stores; their library reads them once, when a store is opened."""
ADDRESSES = (
    "DATABASE_URL", "BOOKS_URL", "DISCORD_API_URL", "DISCORD_GATEWAY_URL", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
    "GUTENDEX_URL", "OPEN_METEO_URL", "OPEN_METEO_GEOCODING_URL", "MCP_SERVERS",
)  # fmt: skip
"""Environment variables with addresses, which may contain a secret."""
NETWORK_VARIABLES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that control how the SDKs reach their servers. They are not settings, but with a wrong value no
client can be made.
"""

_OTHERS = 0o077
_FILE, _FOLDER = 0o600, 0o700
_OURS = re.compile(
    r"marginalia\.db(?:-wal|-shm|-journal|\.lock|\.claim)?|books(?:-cache)?|health(?:\.new)?"
    r"|discord-commands\.(?:json|new)|logs?|\..*"
)
"""Names in a data folder that the program itself has made; a folder with anything else may be somebody else's."""

_LEAST_SECRET = 8
"""Characters; a shorter "secret" is a placeholder, and redacting it would damage words."""
_IN_ADDRESS = re.compile(r"://[^\s/?#]+(?=@)")
"""User and password in an address; a password that is not percent-encoded may contain an @."""
_USER = re.compile(r"(?:\b(?P<web>https?|wss?))?://(?P<user>[^\s/?#@:]*)(?::(?P<password>[^\s/?#]*))?@", re.IGNORECASE)
_ENDS_OF_NAMES = ("password", "passwd", "token", "key", "secret", "sig", "signature", "auth")
_NAMED = re.compile(
    rf"(?P<name>=(?:{'|'.join(f'(?<={end}=)' for end in _ENDS_OF_NAMES)})|\bBearer )(?P<value>[^\s&\"'@,;]+)",
    re.IGNORECASE,
)
"""A secret by the end of its name, in the query of an address or in a header. It is found by the sign before it, which
is rare: to try every name at every character takes six times as long, for each line of the log.
"""
_OF_DISCORD = re.compile(r"(?P<name>/(?:interactions|webhooks)/\d+/)[\w.-]{20,}")
"""The part of an address that lets anybody answer an interaction for a quarter of an hour."""
_FIELD = re.compile(r"(?P<name>[\"'](?:token|access_token|session_id)[\"']: ?[\"'])[^\"']+")
"""The same as a field of a gateway event."""
_GONE = "***"


def network_variables_set() -> str:
    """The names of the NETWORK_VARIABLES that are set, for a sentence."""
    return ", ".join(name for name in NETWORK_VARIABLES if os.environ.get(name) or os.environ.get(name.lower()))


def fault_of_network_variable(error: Exception) -> str:
    """What is wrong with one of them. For an address that cannot be parsed, only the type of the error: what looks like
    its port may be a password.
    """
    return str(error) if isinstance(error, OSError | ValueError | ImportError) else type(error).__name__


def fault_of_connection(error: BaseException) -> str:
    """The message of the system, TLS or a proxy about a connection, found below the SDKs' errors; empty if there is
    none.
    """
    from aiohttp import ClientHttpProxyError  # it takes a while to load

    if error.__cause__ and (below := fault_of_connection(error.__cause__)):
        return below
    if isinstance(error, ClientHttpProxyError):  # its own words have the proxy's address, with the password
        return f"{error.status} {error.message}, by the proxy"
    return str(error) if isinstance(error, OSError) and error.errno else ""


def keep_files_private() -> None:
    """Make every new file and folder of this process and its children private to the user, whatever the umask."""
    os.umask(_OTHERS)


def make_private(folder: Path) -> None:
    """Make a data folder private, in case an earlier version or another umask has created it."""
    for path in _ours(folder):
        with suppress(OSError):  # it belongs to another user
            wanted = _FOLDER if path.is_dir() else _FILE
            if path.stat().st_mode & _OTHERS:
                path.chmod(wanted)


def _ours(folder: Path) -> Iterator[Path]:
    if not folder.is_dir() or folder.is_symlink():
        return
    names = sorted(folder.iterdir())
    if names and all(_OURS.fullmatch(path.name) for path in names):
        yield folder
    for path in names:
        if path.name.startswith(("marginalia.db", "discord-commands.")) and path.is_file():
            yield path
        elif path.name in ("books", "books-cache") and path.is_dir():
            yield path
            yield from path.glob("*.book")


def forget_secrets() -> None:
    """Remove the secrets from the environment once they have been read, so that no child process receives them."""
    for name in (*SECRETS, *STORE_SECRETS):
        os.environ.pop(name, None)
    for name in ADDRESSES:
        if secrets_in(os.environ.get(name, "")):
            del os.environ[name]


def secrets_in(text: str) -> tuple[str, ...]:
    """The passwords and keys in addresses: as written, decoded, and as Basic authentication sends them."""
    written = [match["value"] for match in _NAMED.finditer(text)]
    sent = []
    for match in _USER.finditer(text):
        user, password = match["user"], match["password"] or ""
        if password or match["web"]:  # where there is no password, a web address has a key, and a database a name
            written.append(password or user)
            sent.append(b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode())
    return tuple(dict.fromkeys(filter(None, [*written, *map(unquote, written), *sent])))


def secrets_of_stores() -> tuple[str, ...]:
    """The environment's credentials for object stores, to be kept out of logs."""
    return tuple(filter(None, (os.environ.get(name, "") for name in STORE_SECRETS)))


def read_secret(path: Path) -> str:
    """The contents of a file with a secret, without the final line break and the mark that some editors put in front.

    Raises:
        OSError: the file cannot be read.
        UnicodeError: it is not text.
    """
    return path.read_text(encoding="utf-8-sig").strip()


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets, as they are or as Python and JSON write them in quotation marks."""
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            for written in (secret, repr(secret)[1:-1], ascii(secret)[1:-1], json.dumps(secret)[1:-1]):
                text = text.replace(written, _GONE)
    return text


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, passwords in addresses, and tokens of interactions."""
    text = without_secrets(text, secrets)
    text = _IN_ADDRESS.sub(f"://{_GONE}", text)
    for pattern in (_NAMED, _OF_DISCORD, _FIELD):
        text = pattern.sub(rf"\g<name>{_GONE}", text)
    return text


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
