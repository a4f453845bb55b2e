"""Keeps files and keys from those they are no business of: other users of the machine, child processes, logs."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

SECRETS = ("DISCORD_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MCP_TOKEN")
"""Variables of the environment that hold a secret; DATABASE_URL may."""

_OTHERS = 0o077
_FILE, _FOLDER = 0o600, 0o700
_OURS = re.compile(
    r"marginalia\.db(?:-wal|-shm|-journal|\.lock|\.claim)?|books(?:-cache)?|health(?:\.new)?|commands.*|logs?|\..*"
)
"""Names in a data folder that the program itself has made; a folder with other things may be somebody else's, too."""

_LEAST_SECRET = 8
"""Characters; a shorter one is a placeholder, and would be taken out of words."""
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")
"""User and password in an address."""
_OF_DISCORD = re.compile(r"(?<=/)((?:interactions|webhooks)/\d+)/[\w.-]{20,}")
"""The part of an address that lets anybody answer an interaction for a quarter of an hour."""
_GONE = "***"


def keep_files_private() -> None:
    """Let every file and folder that this process and its children make be this user's alone, whatever the umask."""
    os.umask(_OTHERS)


def make_private(folder: Path) -> None:
    """Take the rights of others from a data folder that an earlier version, or another umask, has made."""
    for path in _ours(folder):
        with suppress(OSError):  # another user's, which is theirs to close
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
        if path.name.startswith("marginalia.db") and path.is_file():
            yield path
        elif path.name == "books" and path.is_dir():
            yield path
            yield from path.glob("*.book")


def forget_secrets() -> None:
    """Take the secrets out of the environment, once they have been read: no child process is told them."""
    for name in SECRETS:
        os.environ.pop(name, None)
    if redacted(os.environ.get("DATABASE_URL", "")) != os.environ.get("DATABASE_URL", ""):
        del os.environ["DATABASE_URL"]


def read_secret(path: Path) -> str:
    """What a file with a secret holds, without the line break at its end.

    Raises:
        OSError: the file cannot be read.
    """
    return path.read_text(encoding="utf-8").strip()


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, passwords in addresses, and tokens of interactions."""
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            text = text.replace(secret, _GONE)
    return _OF_DISCORD.sub(rf"\1/{_GONE}", _IN_ADDRESS.sub(_GONE, text))
