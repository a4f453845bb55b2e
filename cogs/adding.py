"""Adding a book from an attachment, with its progress in the reply."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import discord

from cogs.cards import added_card, clipped, plain
from cogs.errors import Refusal
from cogs.patience import TROUBLE
from cogs.services import Services, shelf_of
from cogs.translation import Speech, later, speech_of

EDIT_EVERY_S = 1.5
"""Discord takes some five edits in five seconds; the card at the end must not have to wait for one."""
MEBIBYTE = 2**20
BAR = 12
"""Characters of the progress bar."""

STAGES = {"reading": later("Reading"), "indexing": later("Indexing")}


class ProgressReport:
    """Shows how far long work is, in the reply that says so. `update` may be called from any thread."""

    def __init__(self, interaction: discord.Interaction[Any], name: str) -> None:
        self._interaction = interaction
        self._name = name
        self._latest = (STAGES["reading"], 0.0)

    def update(self, stage: str, share: float) -> None:
        self._latest = (STAGES.get(stage, stage), share)

    @contextlib.asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Keep the reply up to date for the length of the block."""
        task = asyncio.create_task(self._show())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _show(self) -> None:
        say, shown = speech_of(self._interaction), ""
        while True:
            line = progress_line(self._name, *self._latest, say)
            if line != shown:
                with contextlib.suppress(*TROUBLE):
                    await self._interaction.edit_original_response(content=line)
                shown = line
            await asyncio.sleep(EDIT_EVERY_S)


def progress_line(name: str, stage: str, share: float, say: Speech) -> str:
    done = round(min(max(share, 0.0), 1.0) * BAR)
    return f"{say(stage)} {clipped(plain(name), 200)} `{'█' * done}{'░' * (BAR - done)}` {share:.0%}"


async def add_book(
    interaction: discord.Interaction[Any],
    services: Services,
    file: discord.Attachment,
    title: str,
    author: str,
    room: asyncio.Semaphore,
) -> None:
    """Read, index and shelve an attachment, once there is room for its bytes; the reply ends as a card.

    Raises:
        Refusal: the file is too large, or Discord does not hand it out.
        BookError, StorageError: with a sentence.
    """
    say = speech_of(interaction)
    if file.size > services.max_upload_mb * MEBIBYTE:
        raise Refusal(
            say(
                "This file has {size:.0f} MB, and {limit} MB is the most I take. Is there a smaller edition?",
                size=file.size / MEBIBYTE,
                limit=services.max_upload_mb,
            )
        )
    await interaction.response.defer(thinking=True)
    started = time.perf_counter()
    report = ProgressReport(interaction, file.filename)
    try:
        async with report.shown(), room:
            await services.shelf.expect(file.filename)
            added = await services.shelf.add(
                await _download(file, say),
                file.filename,
                shelf=shelf_of(interaction),
                title=title,
                author=author,
                added_by=str(interaction.user.id),
                progress=report.update,
            )
    except Exception:
        with contextlib.suppress(*TROUBLE):
            await interaction.delete_original_response()  # how far it had come says nothing any more
        raise
    card = added_card(added, time.perf_counter() - started, say)
    await interaction.edit_original_response(content=None, embed=card)


async def _download(file: discord.Attachment, say: Speech) -> bytes:
    try:
        return await file.read()
    except (discord.HTTPException, OSError) as error:
        raise Refusal(say("Discord did not hand out the file. Please attach it again.")) from error
