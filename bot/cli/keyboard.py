"""The keyboard: lines that are waited for without blocking anybody, and Ctrl-C."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager


@contextlib.contextmanager
def signal_handler(handler: Callable[[], object], *signals: signal.Signals) -> Iterator[None]:
    """Have signals call `handler` for the length of the block."""
    loop = asyncio.get_running_loop()
    try:
        for number in signals:
            loop.add_signal_handler(number, handler)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def interrupts(handler: Callable[[], object]) -> AbstractContextManager[None]:
    """Send Ctrl-C to `handler` for a while."""
    return signal_handler(handler, signal.SIGINT)


async def in_daemon_thread(read: Callable[[], str]) -> str:
    """What `read` returns, without its thread keeping the program alive when nobody types any more."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def settle(set_it: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the line any more
            loop.call_soon_threadsafe(lambda: None if line.done() else set_it())

    def run() -> None:
        try:
            text = read()
        except Exception as error:  # noqa: BLE001 - raised again where it is awaited
            failure = error
            settle(lambda: line.set_exception(failure))
        else:
            settle(lambda: line.set_result(text))

    threading.Thread(target=run, daemon=True).start()
    return await line
