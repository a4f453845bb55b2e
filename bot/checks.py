"""What `marginalia check` looks at: the database, the data folder, the model. Discord has a file of its own."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from bot.app import open_provider
from bot.settings import Settings
from domain.errors import MarginaliaError
from storage import open_storage

MODEL_PATIENCE_S = 30.0
FAULTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; where `ok` is False, `sentence` says what to do."""

    subject: str
    sentence: str
    ok: bool = True


async def findings(settings: Settings) -> AsyncIterator[Finding]:
    """All findings, each as soon as it is there."""
    model = " ".join(dict.fromkeys((settings.provider, settings.model)))
    yield Finding("Settings", f"answers by {model}, data in {settings.data_dir}")
    yield await check_data_folder(settings.data_dir)
    yield await check_database(settings.storage_url)
    yield await check_model(settings)
    if not settings.discord_token:
        yield Finding("Discord", "DISCORD_TOKEN is not set, so Marginalia runs in the terminal only: marginalia chat")
        return
    from bot.discord_checks import check_discord  # discord.py takes a while to load

    async for finding in check_discord(settings):
        yield finding


async def check_data_folder(folder: Path) -> Finding:
    try:
        await asyncio.to_thread(_write_something, folder)
    except OSError as error:
        sentence = (
            f"{folder} cannot be written to ({error.strerror}). Please give the bot's user the right, or set DATA_DIR."
        )
        return Finding("Data folder", sentence, ok=False)
    return Finding("Data folder", f"{folder} can be written to")


def _write_something(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"here")


async def check_database(url: str) -> Finding:
    try:
        async with await open_storage(url) as storage:
            faults = await storage.integrity_check()
    except MarginaliaError as error:
        return Finding("Database", error.message, ok=False)
    if faults:
        shown = "; ".join(faults[:FAULTS_SHOWN])
        return Finding("Database", f"It is damaged ({shown}). Please restore it from a backup.", ok=False)
    return Finding("Database", f"{url} opens, and nothing in it is damaged")


async def check_model(settings: Settings) -> Finding:
    try:
        provider = open_provider(settings)
        try:
            async with asyncio.timeout(MODEL_PATIENCE_S):
                return Finding("Model", await provider.check())
        finally:
            await provider.aclose()
    except MarginaliaError as error:
        return Finding("Model", error.message, ok=False)
    except TimeoutError:
        sentence = f"No answer within {MODEL_PATIENCE_S:.0f} seconds. Please check the network and the base URL."
        return Finding("Model", sentence, ok=False)
