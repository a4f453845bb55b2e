"""What every command shares: running async work, and turning failures into one sentence and an exit code."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import typer

from bot.app import App, open_app, open_toolbox
from bot.cli.terminal import GuardedConsole
from bot.logs import set_up_logs
from bot.parsers.sandbox.lockdown import hide_memory
from bot.private import forget_secrets, keep_files_private, make_private
from bot.settings import Settings, load_settings
from domain.errors import MarginaliaError

logger = logging.getLogger(__name__)

console = GuardedConsole()
errors = GuardedConsole(stderr=True)


def run_async(work: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
    """Run a command's work and leave with its exit code (None is 0).

    A failure the program knows becomes its sentence on standard error and exit code 1. The process's memory, which
    holds keys and what people write, is closed to other processes of the same user, and its files to other users.
    """
    keep_files_private()
    hide_memory()
    try:
        code = asyncio.run(work())
    except typer.Exit:
        raise
    except MarginaliaError as error:
        fail(error.message)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; say no more
        raise typer.Exit(0) from None
    except Exception as error:
        logger.exception("%s", error)
        fail("Something went wrong inside the program. LOG_LEVEL=DEBUG shows more; please report it.")
    if code:
        raise typer.Exit(code)


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error and leave with exit code 1."""
    errors.print(sentence, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(1)


@asynccontextmanager
async def opened() -> AsyncIterator[App]:
    """The program, opened with the settings of the environment, for work on books."""
    async with open_app(_settings()) as app:
        forget_secrets()
        yield app


@asynccontextmanager
async def opened_for_talk() -> AsyncIterator[App]:
    """As `opened`, with all the tools that the settings name; their servers take a moment to start."""
    settings = _settings()
    async with open_toolbox(settings) as tools, open_app(settings, None, tools, tools.missing) as app:
        forget_secrets()
        yield app


def _settings() -> Settings:
    """The settings, with the log as quiet as a person at a terminal wants it unless they ask for more."""
    settings = load_settings()
    level = settings.log_level if settings.log_level in ("DEBUG", "INFO") else "CRITICAL"
    set_up_logs(level, settings.log_format, settings.secrets)
    make_private(settings.data_dir)
    return settings
