"""/progress: how far a reader is in a book. Only people move a position, and only their own."""

from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import autocomplete
from cogs.cards import plain, position_line
from cogs.errors import Refusal
from cogs.finding import meant_book
from cogs.services import Services, ServingBot
from cogs.translation import Speech, speech_of
from domain.book import PositionState, ReadingPosition
from domain.library.positions import end_of_chapter, end_of_page
from domain.protocols import BookFile

LABEL_LENGTH = 100


class Progress(commands.Cog):
    def __init__(self, bot: ServingBot, services: Services) -> None:
        self._services = services

    @app_commands.command(description="How far you have read: nothing beyond it is told. Without options it is shown")
    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(
        book="The book; in a conversation's thread it may be left out",
        page="The last page you have read",
        chapter="The last chapter you have read",
        finished="You have read all of it",
        clear="Forget your position; the whole book is open then",
    )
    @app_commands.autocomplete(book=autocomplete.books, chapter=autocomplete.chapters)
    async def progress(
        self,
        interaction: discord.Interaction[Any],
        book: str | None = None,
        page: Range[str, 1, LABEL_LENGTH] | None = None,
        chapter: Range[str, 1, LABEL_LENGTH] | None = None,
        finished: bool | None = None,
        clear: bool | None = None,
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        found, say, reader = await meant_book(interaction, book), speech_of(interaction), str(interaction.user.id)
        file = await self._services.shelf.open(found)
        chosen = await _chosen(file, page, chapter, finished=bool(finished), clear=bool(clear), say=say)
        if chosen is not None:
            await self._services.readers.set_position(reader, found.id, chosen)
        position = await self._services.readers.get_position(reader, found.id)
        line = position_line(position, await file.pages(), say)
        await interaction.edit_original_response(content=f"**{plain(found.title)}**\n{line}")


async def _chosen(
    file: BookFile, page: str | None, chapter: str | None, *, finished: bool, clear: bool, say: Speech
) -> ReadingPosition | None:
    """The position that the options stand for; None where they only ask.

    Raises:
        Refusal: they contradict each other.
        BookError: NOT_FOUND, there is no such page or chapter.
    """
    if sum((page is not None, chapter is not None, finished, clear)) > 1:
        raise Refusal(say("Please use one of `page`, `chapter`, `finished` and `clear` at a time."))
    if page is not None:
        return ReadingPosition(PositionState.READING, end_of_page(await file.pages(), page))
    if chapter is not None:
        return ReadingPosition(PositionState.READING, end_of_chapter(await file.chapters(), chapter))
    if finished:
        return ReadingPosition(PositionState.FINISHED)
    return ReadingPosition() if clear else None
