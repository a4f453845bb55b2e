"""What leads on from a card: a conversation, the book's contents, one's page, help, and questions to begin with."""

from typing import Any

import discord
from discord.ext import commands
from discord.ui import Button, View

from cogs.access import bound_conversation
from cogs.basics import help_card
from cogs.cards import book_card, plain, position_line
from cogs.chat import Opening
from cogs.errors import Refusal
from cogs.i18n import speech_of
from cogs.interactions import Field, buttons_of, change, defer_if_slow, form, on_press, reply, row, written_in
from cogs.services import ServingBot, shelf_of
from domain.book import Book
from domain.use_cases import UseCases


class FirstSteps(commands.Cog):
    """Carries out the buttons of the cards of books and conversations."""

    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening) -> None:
        self._use_cases = use_cases
        self._opening = opening
        bot.handle(
            on_press("read", self._read),
            on_press("contents", self._contents),
            on_press("page", self._ask_page),
            on_press("help", self._help),
            on_press("first", self._ask),
        )
        bot.handle_form("page", self._set_page)

    async def _read(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        """Open a conversation about the book, for whoever presses."""
        book = await self._book(interaction, book_id)
        if not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True, thinking=True)
        await self._opening.start(interaction, book)

    async def _contents(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        card = await defer_if_slow(interaction, self._contents_card(interaction, book_id))
        await reply(interaction, embed=card)

    async def _contents_card(self, interaction: discord.Interaction[Any], book_id: str) -> discord.Embed:
        book = await self._use_cases.shelf.get(book_id, shelf=shelf_of(interaction))
        position = await self._use_cases.positions.get(str(interaction.user.id), book)
        file = await self._use_cases.shelf.open(book)
        chapters, pages = await file.chapters(), await file.pages()
        return book_card(book, chapters, pages, position.bound(book.length), speech_of(interaction))

    async def _ask_page(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        say = speech_of(interaction)
        fields = (
            Field("page", say("The last page you've read"), placeholder=say("for example 42")),
            Field("chapter", say("Or the last chapter you've read"), placeholder=say("its number or title")),
        )
        await interaction.response.send_modal(form("page", book_id, title=say("How far have you read?"), fields=fields))

    async def _set_page(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        """Move the position of whoever sends the modal, and of nobody else."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        say, reader, written = speech_of(interaction), str(interaction.user.id), written_in(interaction)
        page, chapter = written.get("page", ""), written.get("chapter", "")
        if bool(page) == bool(chapter):
            raise Refusal(say("Please fill in either the page or the chapter."))
        book, positions = await self._book(interaction, book_id), self._use_cases.positions
        position = await (
            positions.set_page(reader, book, page) if page else positions.set_chapter(reader, book, chapter)
        )
        line = position_line(position, book, await (await self._use_cases.shelf.open(book)).pages(), say)
        await interaction.edit_original_response(content=f"**{plain(book.title)}**\n{line}")

    async def _help(self, interaction: discord.Interaction[Any], _: str) -> None:
        reads = interaction.client.intents.message_content
        card = help_card(speech_of(interaction), reads_messages=reads, missing=tuple(self._use_cases.missing_tools()))
        await reply(interaction, embed=card)

    async def _ask(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Ask what stands on the button that was pressed, and take that away; the others stay."""
        custom_id = f"do:first:{argument}"
        conversation = await defer_if_slow(interaction, bound_conversation(interaction), thinking=False)
        if conversation is None or conversation.id != argument.partition(":")[0]:
            raise Refusal(speech_of(interaction)("This button belongs to a conversation that isn't in this place now."))
        assert interaction.message is not None
        question = next(each.label for each in buttons_of(interaction.message) if each.custom_id == custom_id)
        left = [each for each in buttons_of(interaction.message) if each.custom_id != custom_id]
        await change(interaction, view=row(*map(_again, left)))
        await self._opening.ask(interaction, conversation, question or "")

    async def _book(self, interaction: discord.Interaction[Any], book_id: str) -> Book:
        return await self._use_cases.shelf.get(book_id, shelf=shelf_of(interaction))


def _again(shown: discord.Button) -> Button[View]:
    """A button as it stands, to be shown once more; questions have a row of their own."""
    button: Button[View] = Button(label=shown.label, custom_id=shown.custom_id, style=shown.style)
    button.row = int((shown.custom_id or "").startswith("do:first:"))
    return button
