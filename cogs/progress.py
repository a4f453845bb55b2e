"""/progress: how far a reader is in a book. Only people move a position, and only their own."""

from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import access
from cogs.access import resolve_book
from cogs.cards import plain, position_line
from cogs.errors import Refusal
from cogs.i18n import speech_of
from cogs.permissions import everywhere
from cogs.services import ServingBot
from domain.book import Book, ReadingPosition
from domain.use_cases import UseCases

LABEL_LENGTH = 100


class Progress(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="Tell me how far you've read, so I don't spoil anything; or see where you are")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(
        book="The book; not needed in a conversation's thread",
        page="The last page you've read",
        chapter="The last chapter you've read",
        finished="You've finished the book",
        clear="Forget your page; I may then talk about the whole book",
    )
    @app_commands.autocomplete(book=access.books, chapter=access.chapters)
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
        found, say, reader = await resolve_book(interaction, book), speech_of(interaction), str(interaction.user.id)
        if sum((page is not None, chapter is not None, bool(finished), bool(clear))) > 1:
            raise Refusal(say("Please use only one of `page`, `chapter`, `finished` and `clear`."))
        position = await self._moved(reader, found, page, chapter, finished=bool(finished), clear=bool(clear))
        interaction.client.dispatch("position_moved", reader, found.id)
        file = await self._use_cases.shelf.open(found)
        line = position_line(position, found, await file.pages(), say)
        await interaction.edit_original_response(content=f"**{plain(found.title)}**\n{line}")

    async def _moved(
        self, reader: str, book: Book, page: str | None, chapter: str | None, *, finished: bool, clear: bool
    ) -> ReadingPosition:
        """The position after what the options ask for; without any, as it is.

        Raises:
            BookError: NOT_FOUND, there is no such page or chapter.
        """
        positions = self._use_cases.positions
        if page is not None:
            return await positions.set_page(reader, book, page)
        if chapter is not None:
            return await positions.set_chapter(reader, book, chapter)
        if finished:
            return await positions.finish(reader, book)
        return await (positions.clear(reader, book) if clear else positions.get(reader, book))
