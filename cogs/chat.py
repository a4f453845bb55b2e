"""/chat: open a conversation about a book, or take one up again."""

from collections.abc import Sequence
from typing import Any

import discord
from discord import ButtonStyle, app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import autocomplete
from cogs.access import resolve_conversation, visibility_of
from cogs.cards import clipped, plain
from cogs.errors import Refusal
from cogs.i18n import Speech, speech_of
from cogs.interactions import defer_if_slow, reply
from cogs.opening import QUESTION_LENGTH, Opening
from cogs.services import ServingBot, shelf_of
from cogs.threads import NAME_LENGTH
from cogs.views import action_button, action_menu, assert_fresh, on_choice, on_press, row
from domain.book import Book
from domain.conversation import Conversation
from domain.use_cases import UseCases

MOST_OFFERED = 25


class Chat(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening) -> None:
        self._use_cases = use_cases
        self._opening = opening
        bot.handle(on_press("chat-new", self._start_anew), on_choice("chat-resume", self._take_up))
        bot.handle(on_press("chat-move", self._move))

    @app_commands.command(description="Talk about a book in its own thread")
    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages_in_threads=True)
    @app_commands.describe(
        book="The book",
        message="Your first question, answered right away",
        title="A title for the conversation",
        conversation="An earlier conversation to continue",
        private="Visible only to you and people who manage threads",
    )
    @app_commands.autocomplete(book=autocomplete.books, conversation=autocomplete.conversations)
    async def chat(
        self,
        interaction: discord.Interaction[Any],
        book: str,
        message: Range[str, 1, QUESTION_LENGTH] | None = None,
        title: Range[str, 1, NAME_LENGTH] | None = None,
        conversation: str | None = None,
        private: bool | None = None,
    ) -> None:
        found = await defer_if_slow(interaction, self._use_cases.shelf.find(book, shelf=shelf_of(interaction)))
        if conversation is not None:
            await self._resume(interaction, found, conversation, message)
        elif {message, title, private} == {None} and (
            earlier := await defer_if_slow(interaction, self._earlier(interaction, found))
        ):
            await self._offer(interaction, found, earlier)
        else:
            await self._opening.start(interaction, found, title=title, message=message, private=bool(private))

    async def _resume(
        self, interaction: discord.Interaction[Any], book: Book, reference: str, message: str | None
    ) -> None:
        if not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True)
        conversation = await resolve_conversation(interaction, reference)
        if conversation.book_id != book.id:
            raise Refusal(
                speech_of(interaction)("That conversation is about another book. Please choose that book instead.")
            )
        await self._opening.resume(interaction, conversation, message)

    async def _earlier(self, interaction: discord.Interaction[Any], book: Book) -> Sequence[Conversation]:
        """The reader's own conversations on the book, newest first."""
        known = await self._use_cases.conversations.list_by_book(book.id)
        own = [each for each in known if each.owner_id == str(interaction.user.id)]
        return (await visibility_of(interaction).at_a_glance(own))[:MOST_OFFERED]

    async def _offer(self, interaction: discord.Interaction[Any], book: Book, earlier: Sequence[Conversation]) -> None:
        say = speech_of(interaction)
        menu = action_menu(
            "chat-resume",
            "",
            options=[_option(each, say) for each in earlier],
            placeholder=say("Continue with …"),
        )
        anew = action_button("chat-new", book.id, label=say("Start a new one"), style=ButtonStyle.primary)
        text = say("You've talked about “{title}” before.", title=plain(book.title))
        await reply(interaction, content=text, view=row(menu, anew))

    async def _start_anew(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        book = await defer_if_slow(
            interaction, self._use_cases.shelf.get(book_id, shelf=shelf_of(interaction)), thinking=False
        )
        await self._opening.start(interaction, book)

    async def _take_up(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        await interaction.response.defer()
        await self._opening.resume(interaction, await resolve_conversation(interaction, conversation_id))

    async def _move(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        conversation = await resolve_conversation(interaction, conversation_id)
        await self._opening.resume(interaction, conversation, confirmed=True)


def _option(conversation: Conversation, say: Speech) -> discord.SelectOption:
    started = say("started {date}", date=f"{conversation.created_at:%Y-%m-%d}")
    return discord.SelectOption(label=clipped(conversation.title, 100), value=conversation.id, description=started)
