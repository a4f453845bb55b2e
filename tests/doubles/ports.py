"""Ports of this machine for a test, held so that no test beside it is given the same one meanwhile."""

import contextlib
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def held_port() -> Iterator[int]:
    """A port where nobody listens; a server that reuses addresses, as asyncio's do, can still be opened there."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
