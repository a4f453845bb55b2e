"""What every command shares: running async work, and turning failures into one sentence and an exit code."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console

from bot.app import App, open_app
from bot.settings import load_settings
from bot.toolbox import open_toolbox
from domain.errors import MarginaliaError

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def run_async(work: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
    """Run a command's work and leave with its exit code (None is 0).

    A failure the program knows becomes its sentence on standard error and exit code 1.
    """
    try:
        code = asyncio.run(work())
    except MarginaliaError as error:
        fail(error.message)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; say no more
        raise typer.Exit(0) from None
    if code:
        raise typer.Exit(code)


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error and leave with exit code 1."""
    errors.print(sentence, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(1)


@asynccontextmanager
async def opened() -> AsyncIterator[App]:
    """The program, opened with the settings of the environment, for work on books."""
    async with open_app(load_settings()) as app:
        yield app


@asynccontextmanager
async def opened_for_talk() -> AsyncIterator[App]:
    """As `opened`, with all the tools that the settings name; their servers take a moment to start."""
    settings = load_settings()
    async with open_toolbox(settings) as toolbox, open_app(settings, toolbox=toolbox) as app:
        yield app
