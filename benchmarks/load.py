"""200 conversations answering at once in one process, over the real SDK, against a double of the API on loopback.

    python -m benchmarks.load [--conversations 200] [--rounds 2]

The double runs in a process of its own. Books are added meanwhile, to see what that costs the answers.
"""

import argparse
import asyncio
import contextlib
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median, quantiles

from benchmarks.heartbeat import Heartbeat
from bot.app import SAMPLE, App, open_app
from bot.settings import load_settings
from domain.agent.chat_with_book import Reader
from domain.event import Answer, TextDelta

QUESTION = "Where does Kit Varley lift his hat, and why?"


@contextlib.asynccontextmanager
async def double() -> AsyncIterator[str]:
    """The API's double in another process; yields its URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.doubles.anthropic_api", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


async def measure(conversations: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with double() as url:
            settings = load_settings(
                _env_file=None, data_dir=Path(folder), anthropic_api_key="sk-ant-double", anthropic_base_url=url
            )
            async with open_app(settings) as app:
                book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)).book
                talks = [(await app.conversations.create(book.id)).id for _ in range(conversations)]
                await ask(app, talks[0])  # loads the SDK and opens the connection
                alone = [await ask(app, talks[0]) for _ in range(10)]
                print(f"{'':26}{'answers':>8}{'lost':>6}{'median s':>10}{'p95 s':>8}{'worst gap ms':>14}{'p99 gap':>9}")
                report("one at a time", 10, alone, None)
                for number in range(rounds):
                    async with Heartbeat() as heart:
                        seconds = await asyncio.gather(*(ask(app, talk) for talk in talks))
                    report(f"{conversations} at once, round {number + 1}", conversations, seconds, heart)
                async with Heartbeat() as heart:
                    adding = [asyncio.create_task(add(app, number)) for number in range(10)]
                    seconds = await asyncio.gather(*(ask(app, talk) for talk in talks[:10]))
                    await asyncio.gather(*adding)
                report("10 while 10 books are added", 10, seconds, heart)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory {peak:.0f} MiB")


async def ask(app: App, talk: str) -> float | None:
    """Seconds from the message to its answer; None if there was none."""
    started = time.perf_counter()
    await app.chat.receive(talk, QUESTION, Reader("bench", "Bench"))
    event: object = None
    async for event in app.chat.answer(talk):
        if isinstance(event, TextDelta):
            pass
    return time.perf_counter() - started if isinstance(event, Answer) else None


async def add(app: App, number: int) -> None:
    words = f"CHAPTER {number}\n\n" + f"It was the {number}th book of the evening, and nobody had read it. " * 5_000
    await app.shelf.add(words.encode(), f"book-{number}.txt")


def report(name: str, asked: int, seconds: list[float | None], heart: Heartbeat | None) -> None:
    done = [each for each in seconds if each is not None]
    p95 = quantiles(done, n=20)[-1] if len(done) > 1 else float("nan")
    worst = f"{heart.worst_ms:14.1f}{quantiles(heart.gaps_ms, n=100)[-1]:9.1f}" if heart else ""
    print(f"{name:26}{len(done):8}{asked - len(done):6}{median(done):10.3f}{p95:8.3f}{worst}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.conversations, arguments.rounds))


if __name__ == "__main__":
    main()
