"""/books: the guild's shelf."""

import asyncio
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import autocomplete
from cogs.acknowledging import change, in_time, reply
from cogs.adding import add_book
from cogs.cards import PAPER, book_card, book_facts, clipped, plain
from cogs.errors import Refusal
from cogs.permissions import may_remove_book
from cogs.services import Services, ServingBot, shelf_of
from cogs.threads import close_thread, thread_of
from cogs.translation import speech_in, speech_of
from cogs.views import assert_fresh, confirmation, page_asked, page_of, page_turner
from domain.book import Book
from domain.conversation import Conversation

TITLE_LENGTH = 200
UPLOADS_AT_ONCE = 2
"""Files held in memory, with the text that comes of them: as many as are read at once. Who comes later waits."""


@app_commands.guild_only()
@app_commands.default_permissions(send_messages=True)
class Books(commands.GroupCog, group_name="books", group_description="The books of this server"):
    def __init__(self, bot: ServingBot, services: Services) -> None:
        self._services = services
        self._room = asyncio.Semaphore(UPLOADS_AT_ONCE)
        bot.actions |= {"books-page": self._turn_page, "book-remove": self._remove}

    @app_commands.command(description="Add a book: EPUB, PDF, DOCX, HTML, Markdown or plain text")
    @app_commands.describe(
        file="The file", title="Its title, where the file's own is not good", author="Its author, likewise"
    )
    async def add(
        self,
        interaction: discord.Interaction[Any],
        file: discord.Attachment,
        title: Range[str, 1, TITLE_LENGTH] | None = None,
        author: Range[str, 1, TITLE_LENGTH] | None = None,
    ) -> None:
        await add_book(interaction, self._services, file, title or "", author or "", self._room)

    @app_commands.command(name="list", description="The books on the shelf")
    async def list_books(self, interaction: discord.Interaction[Any]) -> None:
        embed, view = await in_time(interaction, self._page(interaction, 1))
        await reply(interaction, embed=embed, view=view or discord.utils.MISSING)

    @app_commands.command(description="A book's contents and state")
    @app_commands.describe(book="The book")
    @app_commands.autocomplete(book=autocomplete.books)
    async def info(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        found = await self._services.shelf.find(book, shelf=shelf_of(interaction))
        position = await self._services.readers.get_position(str(interaction.user.id), found.id)
        file = await self._services.shelf.open(found)
        chapters, pages = await file.chapters(), await file.pages()
        card = book_card(found, chapters, pages, position.bound(found.length), speech_of(interaction))
        await interaction.followup.send(embed=card, ephemeral=True)

    @app_commands.command(description="Take a book off the shelf, with its conversations")
    @app_commands.describe(book="The book")
    @app_commands.autocomplete(book=autocomplete.books)
    async def remove(self, interaction: discord.Interaction[Any], book: str) -> None:
        await interaction.response.defer(ephemeral=True)
        found, say = await self._removable(interaction, book), speech_of(interaction)
        talks = await self._services.conversations.list_by_book(found.id)
        goes = say.counted(
            len(talks),
            "With it goes {number} conversation, its messages, and how far each reader has read.",
            "With it go {number} conversations, their messages, and how far each reader has read.",
        )
        question = say("Remove “{title}” from the shelf?", title=plain(found.title))
        view = confirmation("book-remove", found.id, say("Remove it"), say)
        await interaction.edit_original_response(content=f"{question}\n{goes}", view=view)

    async def _remove(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        found, say = await self._removable(interaction, book_id), speech_of(interaction)
        talks = await self._services.conversations.list_by_book(found.id)
        for talk in talks:
            self._services.chat.withdraw(talk.id)
            await self._services.chat.settle(talk.id)
        await self._services.shelf.remove(found.id)
        done = say("“{title}” is off the shelf.", title=plain(found.title))
        await interaction.edit_original_response(content=done, view=None)
        await self._close_threads(interaction, found, list(talks))

    async def _close_threads(
        self, interaction: discord.Interaction[Any], book: Book, talks: list[Conversation]
    ) -> None:
        assert interaction.guild is not None
        say = speech_in(interaction.guild)
        farewell = say("“{title}” was taken off the shelf, so this conversation is over.", title=plain(book.title))
        for talk in talks:
            if thread := await thread_of(interaction.guild, talk):
                await close_thread(thread, farewell)

    async def _removable(self, interaction: discord.Interaction[Any], reference: str) -> Book:
        book, say = await self._services.shelf.find(reference, shelf=shelf_of(interaction)), speech_of(interaction)
        if not may_remove_book(book, interaction.user, interaction.permissions):
            who = f"<@{book.added_by}>" if book.added_by.isdecimal() else say("whoever added it")
            raise Refusal(
                say(
                    "Only {who}, who added this book, or somebody with the permission “Manage Server” can remove it.",
                    who=who,
                )
            )
        return book

    async def _turn_page(self, interaction: discord.Interaction[Any], argument: str) -> None:
        _, number = page_asked(argument)
        embed, view = await in_time(interaction, self._page(interaction, number), thinking=False)
        await change(interaction, embed=embed, view=view)

    async def _page(
        self, interaction: discord.Interaction[Any], number: int
    ) -> tuple[discord.Embed, discord.ui.View | None]:
        say = speech_of(interaction)
        books = await self._services.shelf.list(shelf_of(interaction))
        page = page_of(books, number)
        lines = [f"**{clipped(plain(book.title), 200)}**{_by(book)}\n-# {book_facts(book, say)}" for book in page.items]
        embed = discord.Embed(title=say("The shelf"), colour=PAPER)
        embed.description = "\n".join(lines) or say("The shelf is empty. Add a book with /books add.")
        if books:
            total = say.counted(len(books), "{number} book", "{number} books")
            embed.set_footer(text=total + " · " + say("page {page} of {pages}", page=page.number, pages=page.count))
        return embed, page_turner("books-page", "", page, say)


def _by(book: Book) -> str:
    return f" · {clipped(plain(book.author), 100)}" if book.author else ""
