"""A transport's stream of incoming messages, looked at on its way."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage

Item = SessionMessage | Exception


class Incoming:
    """Passes on each item as `look` returns it; `ended` is called when the reader has come to the end."""

    def __init__(
        self, stream: Any, look: Callable[[Item], Awaitable[Item]], ended: Callable[[], None] = lambda: None
    ) -> None:
        self._stream = stream
        self._look = look
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """What the SDK's own streams know of the sender of the last item."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Item:
        return await self._look(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._look(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._ended()
        return await self._stream.__aexit__(kind, error, trace)  # type: ignore[no-any-return]
