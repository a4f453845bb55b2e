"""Getting started: the greeting in a server, /help and /usage, and the next steps that cards offer."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands
from discord.ui import Button, View

from cogs.access import assert_may_post, bound_conversation
from cogs.cards import INK, book_card, moved_card, place_of, plain, usage_line
from cogs.conversation.intake import TALK_ABOUT, message_text
from cogs.errors import DISCORD_ERRORS, Refusal, is_away, remove_notice, retry_transient
from cogs.i18n import Speech, later, speech_for_all, speech_in, speech_of, speeches_in_all_languages
from cogs.interactions import (
    Field,
    buttons_of,
    change,
    defer_if_slow,
    form,
    on_choice,
    on_press,
    reply,
    row,
    written_in,
)
from cogs.opening import SAID, Opening
from cogs.permissions import everywhere, in_conversations, manages_shelf, may_change, missing
from cogs.reading import ReadingCog
from cogs.services import ServingBot, is_direct, is_guest, server_of, shelf_of
from cogs.threads import cards_in
from domain.book import Book, ReadingPosition
from domain.conversation import Conversation
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

OWN_LANGUAGE = later("-# I speak English, too: /settings language sets the language of what everybody here reads.")
LATELY = timedelta(days=30)
ON, OFF = "on", "off"
MOST_CARDS = 5
"""Cards that are brought up to date, the newest first, when a reader's position moves."""
CLOCKS_DIFFER = timedelta(seconds=5)
"""How much Discord's clock may differ from ours."""


class FirstWords(commands.Cog):
    """Introduces the bot once to a server that it joins."""

    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._bot = bot
        self._servers = use_cases.servers
        self._greeting: set[int] = set()
        self._known: set[int] | None = None

    @commands.Cog.listener()
    async def on_connect(self) -> None:
        """A new session: Discord is about to list the servers the bot is in."""
        self._known = None

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Greet servers that invited the bot while it was offline."""
        guilds = {str(guild.id): guild for guild in self._bot.guilds}
        self._known = {guild.id for guild in guilds.values()}
        joined = {id: guild.me.joined_at for id, guild in guilds.items() if guild.me and guild.me.joined_at}
        try:
            new = await self._servers.ungreeted(joined)
        except MarginaliaError as error:
            logger.warning("it cannot be looked up in which servers the bot is new: %s", error)
            return
        for server_id in new:
            await self.on_guild_join(guilds[server_id])

    @commands.Cog.listener()
    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server is back after an outage or, as Discord may report it, the bot has joined it."""
        if self._known is not None and guild.id not in self._known:
            await self.on_guild_join(guild)

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        place = first_channel(guild)
        if place is None or guild.id in self._greeting:
            return
        self._greeting.add(guild.id)
        try:
            if not await self._servers.is_greeted(str(guild.id)):
                await retry_transient(partial(place.send, first_words(speech_in(guild)), nonce=f"hello:{guild.id}"))
                await self._servers.note_greeted(str(guild.id))
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            if is_away(error):
                raise
            logger.warning("the bot has not introduced itself in server %s: %s", guild.id, error)
        finally:
            self._greeting.discard(guild.id)

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """A server that invites the bot again is greeted again."""
        if self._known is not None:
            self._known.discard(guild.id)
        try:
            await self._servers.note_greeted(str(guild.id), greeted=False)
        except MarginaliaError as error:
            if is_away(error):
                raise
            logger.warning("it was not noted that the bot has left server %s: %s", guild.id, error)


def first_channel(guild: discord.Guild) -> discord.TextChannel | None:
    """The channel for the greeting: the one for system messages, or the first other one in which the bot may write.

    A bot that may write everywhere writes neither among the rules nor among the announcements.
    """
    preferred = [guild.system_channel] if guild.system_channel else []
    others = [each for each in guild.text_channels if each != guild.rules_channel and not each.is_news()]
    channels = [*preferred, *sorted(others, key=lambda each: (each.position, each.id))]
    writing = ("view_channel", "send_messages")
    return next((each for each in channels if not missing(each.permissions_for(guild.me), writing)), None)


def first_words(say: Speech) -> str:
    """Three lines: what this is, how to begin, and what can be set; then a line in each other language that the bot
    speaks it, because only some servers can tell Discord their language.
    """
    lines = [
        say(
            "👋 I read books with you. I answer from the book's own pages, cite the page, and never spoil what "
            "you haven't read."
        ),
        say(
            "To start, find a free book with /books find or add your own with /books add. Then talk about it "
            "with /chat."
        ),
        say(
            "If you manage this server, use /settings to choose where I may be used, who may add books and how "
            "much I may use a day."
        ),
    ]
    languages = [each(OWN_LANGUAGE) for each in speeches_in_all_languages()]
    return "\n".join([*lines, *(each for each in languages if each != say(OWN_LANGUAGE))])


class Help(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="How to read a book with me")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    async def help(self, interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message(embed=_help_for(interaction, self._use_cases), ephemeral=True)


def _help_for(interaction: discord.Interaction[Any], use_cases: UseCases) -> discord.Embed:
    return help_card(
        speech_of(interaction),
        reads_messages=interaction.client.intents.message_content,
        is_private=server_of(interaction) is None,
        missing=tuple(use_cases.missing_tools()),
    )


def help_card(
    say: Speech, *, reads_messages: bool, is_private: bool = False, missing: Sequence[str] = ()
) -> discord.Embed:
    """The card of /help. `missing` are the tool servers that cannot be reached now.

    `is_private` is where no server has the bot: in direct messages, and wherever only the person has installed it.
    """
    card = discord.Embed(title=say("Reading with Marginalia"), colour=INK)
    card.description = say("I answer from the book's own pages, cite the page, and never spoil what you haven't read.")
    reading = [
        say("`/books find` gets a free book, `/books add` adds your own, and `/books list` shows the shelf."),
        say("`/chat` begins a conversation about a book in our direct messages; use it again to switch to another.")
        if is_private
        else say("`/chat` opens a thread about a book. Ask your questions there; use `/chat` again to continue later."),
        say("`/progress` tells me how far you've read. Only you can change it."),
    ]
    card.add_field(name=say("Getting started"), value="\n".join(reading), inline=False)
    talking = [
        _how_to_ask(say, reads_messages=reads_messages, is_private=is_private),
        say("Edit a question, and **Answer again** is below its answer; delete it to take it back."),
        say("**Stop**, **Sources** and **Try again** are below the answers; `/verbose` shows how I found them."),
    ]
    where = say("In our direct messages") if is_private else say("In a thread")
    card.add_field(name=where, value="\n".join(talking), inline=False)
    along = [
        say("`/recap` tells what has happened so far, `/who` who somebody is, and `/ask` answers you alone."),
        say("On a server, `/club` plans reading together, and `/discuss` finds questions to talk about."),
    ]
    card.add_field(name=say("While you read"), value="\n".join(along), inline=False)
    keeping = [
        say("`/conversations` lists, renames, exports and deletes them."),
        say("`/usage` shows what it costs, `/privacy` what I store about you."),
    ]
    card.add_field(name=say("Your conversations"), value="\n".join(keeping), inline=False)
    if missing:
        names = say.listed(missing)
        sentence = say("I can't reach these right now, so I'll answer without them: {names}.", names=names)
        card.add_field(name=say("Not available right now"), value=sentence, inline=False)
    return card


def _how_to_ask(say: Speech, *, reads_messages: bool, is_private: bool) -> str:
    if is_private:
        return say("Just write. I answer every message.")
    if reads_messages:
        return say("If you're alone in a thread, just write. In a group, mention me or reply to me.")
    return say("Mention me or reply to me: I can't read other messages here.")


class Usage(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="Your tokens and cost, and the server's if you manage it")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    async def usage(self, interaction: discord.Interaction[Any]) -> None:
        card = await defer_if_slow(interaction, self._card(interaction))
        await reply(interaction, embed=card)

    async def _card(self, interaction: discord.Interaction[Any]) -> discord.Embed:
        say, reader, people = speech_of(interaction), str(interaction.user.id), self._use_cases.people
        midnight, lately = self._periods()
        today = await people.usage(reader, midnight)
        card = discord.Embed(title=say("Usage"), colour=INK)
        card.add_field(name=say("You, today"), value=usage_line(today, say), inline=False)
        month = await people.usage(reader, lately)
        card.add_field(name=say("You, last 30 days"), value=usage_line(month, say), inline=False)
        if limit := self._use_cases.facts.daily_tokens:
            left = say("{left:,} of {limit:,} tokens", left=max(0, limit - today.tokens), limit=limit)
            card.add_field(name=say("Left today"), value=left, inline=False)
        server = server_of(interaction)
        if server is not None and manages_shelf(interaction):
            await self._add_server(card, str(server.id), say, midnight, lately)
        model = self._use_cases.facts.model if self._use_cases.has_model else say("the built-in answerer")
        card.set_footer(text=f"{model} · " + say("days start at midnight UTC"))
        return card

    async def _add_server(
        self, card: discord.Embed, server_id: str, say: Speech, midnight: datetime, lately: datetime
    ) -> None:
        people = self._use_cases.people
        today, month = await people.usage_in_guild(server_id, midnight), await people.usage_in_guild(server_id, lately)
        card.add_field(name=say("This server, today"), value=usage_line(today, say), inline=False)
        card.add_field(name=say("This server, last 30 days"), value=usage_line(month, say), inline=False)

    def _periods(self) -> tuple[datetime, datetime]:
        now = self._use_cases.clock()
        return now.replace(hour=0, minute=0, second=0, microsecond=0), now - LATELY


class Verbose(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="Show how I find answers: in this thread, or for you everywhere else")
    @in_conversations
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(mode="Leave empty to toggle")
    @app_commands.choices(mode=[app_commands.Choice(name="on", value=ON), app_commands.Choice(name="off", value=OFF)])
    async def verbose(self, interaction: discord.Interaction[Any], mode: str | None = None) -> None:
        text, in_thread = await defer_if_slow(interaction, self._switch(interaction, mode))
        await reply(interaction, content=text, ephemeral=not in_thread)

    async def _switch(self, interaction: discord.Interaction[Any], mode: str | None) -> tuple[str, bool]:
        """Switch it; returns what to say, and whether it affects everybody in the thread.

        Raises:
            Refusal: the thread belongs to others.
        """
        conversation = await bound_conversation(interaction)
        say = speech_of(interaction) if conversation is None else speech_for_all(interaction)
        reader = str(interaction.user.id)
        server = server_of(interaction)
        default = await self._use_cases.shows_calls(reader, str(server.id) if server else None)
        if conversation is None:
            chosen = not default if mode is None else mode == ON
            await self._use_cases.people.set_verbose(reader, chosen)
            text = _shown_line(chosen, say, is_new=chosen != default)
        else:
            assert_may_post(interaction)
            _assert_may_switch(interaction, conversation)
            now = default if conversation.verbose is None else conversation.verbose
            chosen = not now if mode is None else mode == ON
            await self._use_cases.conversations.show_calls(conversation.id, chosen)
            line = _shown_line if conversation.is_direct else _thread_line
            text = line(chosen, say, is_new=chosen != now)
        return text, conversation is not None


def _assert_may_switch(interaction: discord.Interaction[Any], conversation: Conversation) -> None:
    """Refuse a person who neither opened the thread nor may manage threads there.

    Raises:
        Refusal: they may not.
    """
    if not conversation.owner_id.isdecimal() or may_change(interaction, conversation):
        return
    raise Refusal(
        speech_of(interaction)(
            "Only {who}, who opened this thread, or somebody with the permission “Manage Threads” can change "
            "this here. Elsewhere, /verbose changes it for you.",
            who=f"<@{conversation.owner_id}>",
        )
    )


def _shown_line(chosen: bool, say: Speech, *, is_new: bool) -> str:
    if chosen:
        on = say("From now on I'll show you how I look things up.")
        return on if is_new else say("I show you how I look things up already.")
    off = say("I won't show you how I look things up.")
    return off if is_new else say("I don't show you how I look things up anyway.")


def _thread_line(chosen: bool, say: Speech, *, is_new: bool) -> str:
    if chosen:
        on = say("This thread now shows how I look things up.")
        return on if is_new else say("This thread shows how I look things up already.")
    off = say("This thread no longer shows how I look things up.")
    return off if is_new else say("This thread doesn't show how I look things up anyway.")


class FirstSteps(commands.Cog):
    """Carries out the buttons on the cards of books and conversations."""

    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening, reading: ReadingCog) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._opening = opening
        self._reading = reading
        bot.handle(
            on_press("read", self._read),
            on_press("begin", self._begin),
            on_press("contents", self._contents),
            on_press("page", self._ask_page),
            on_press("help", self._help),
            on_press("first", self._ask),
            on_choice(TALK_ABOUT, self._talk_about),
        )
        bot.handle_form("page", self._set_page)

    async def _read(self, interaction: discord.Interaction[Any], book_id: str, question: str = "") -> None:
        """Lead whoever presses to a conversation about the book, and ask the question there."""
        await interaction.response.defer(ephemeral=not is_direct(interaction), thinking=True)
        await self._opening.read(interaction, await self._book(interaction, book_id), question)

    async def _begin(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Ask what stands on the button that was pressed, of the book whose card it is on."""
        book_id, question = argument.rpartition(":")[0], _label_of(interaction, f"do:begin:{argument}")
        if is_guest(interaction):
            await self._reading.answer(interaction, question, book_id)
        else:
            await self._read(interaction, book_id, question)

    async def _talk_about(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        """Ask what was said outside of conversations in one about the chosen book, for the person who said it."""
        offer, own = interaction.message, interaction.client.user
        said = offer.reference.resolved if offer and offer.reference else None
        question = ""
        if isinstance(said, discord.Message):
            if said.author.id != interaction.user.id:
                raise Refusal(speech_of(interaction)("Only the person who asked can choose the book."))
            question = message_text(said, own.id if own else 0)
            interaction.extras[SAID] = said
        await self._read(interaction, book_id, question)
        if offer is not None:
            await remove_notice(offer)

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
        """Set the position of the person who sends the modal."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        say, reader, written = speech_of(interaction), str(interaction.user.id), written_in(interaction)
        page, chapter = written.get("page", ""), written.get("chapter", "")
        if bool(page) == bool(chapter):
            raise Refusal(say("Please fill in either the page or the chapter."))
        book, positions = await self._book(interaction, book_id), self._use_cases.positions
        await (positions.set_page(reader, book, page) if page else positions.set_chapter(reader, book, chapter))
        self._bot.dispatch("position_moved", reader, book.id)
        line = await place_of(reader, book, positions, say)
        await interaction.edit_original_response(content=f"**{plain(book.title)}**\n{line}")

    @commands.Cog.listener()
    async def on_position_moved(self, reader_id: str, book_id: str) -> None:
        """Update the position on the cards of the conversations about a book that the reader has opened."""
        known = await self._use_cases.conversations.list_by_book(book_id)
        if own := [each for each in known if each.owner_id == reader_id and self._place_of(each)]:
            book = await self._use_cases.shelf.get(book_id)
            await self._show(await self._use_cases.positions.seen_by_others(reader_id, book), book, own)

    @commands.Cog.listener()
    async def on_owner_erased(self, conversations: Sequence[Conversation]) -> None:
        """Take the position of somebody who had their data erased from the cards of what they have opened."""
        for each in conversations:
            if not each.is_direct and self._place_of(each):
                await self._show(None, await self._use_cases.shelf.get(each.book_id), [each])

    async def _show(self, position: ReadingPosition | None, book: Book, conversations: Sequence[Conversation]) -> None:
        """Show a position on the cards of conversations; None for one that nobody else may see."""
        pages = await (await self._use_cases.shelf.open(book)).pages()
        moved = partial(moved_card, position=position, book=book, pages_of_book=pages)
        for conversation in conversations[:MOST_CARDS]:
            try:
                if place := self._place_of(conversation):
                    await self._update_card(conversation, place, moved)
            except DISCORD_ERRORS as error:
                logger.info("the card of conversation %s stays as it is: %s", conversation.id, error)

    def _place_of(self, conversation: Conversation) -> discord.abc.Messageable | None:
        """Where a conversation is shown now; None for archived threads, which a look would not be worth."""
        if conversation.thread_id is None:
            return None
        if conversation.is_direct:
            return self._bot.direct_channel(int(conversation.thread_id))
        thread = self._bot.get_channel(int(conversation.thread_id))
        return thread if isinstance(thread, discord.Thread) else None

    async def _update_card(
        self, conversation: Conversation, place: discord.abc.Messageable, moved: Callable[..., discord.Embed | None]
    ) -> None:
        own, page = self._bot.user, f"do:page:{conversation.book_id}"
        assert own is not None
        began = conversation.created_at - CLOCKS_DIFFER if conversation.is_direct else None
        for message in await retry_transient(partial(cards_in, place, own.id, began)):
            is_card = any(each.custom_id == page for each in buttons_of(message))
            if is_card and (card := moved(message.embeds[0], conversation=conversation)):
                await retry_transient(partial(message.edit, embed=card))
                return

    async def _help(self, interaction: discord.Interaction[Any], _: str) -> None:
        await reply(interaction, embed=_help_for(interaction, self._use_cases))

    async def _ask(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Ask the question on the button that was pressed, and remove that button; the others stay."""
        custom_id = f"do:first:{argument}"
        conversation = await defer_if_slow(interaction, bound_conversation(interaction), thinking=False)
        if conversation is None or conversation.id != argument.partition(":")[0]:
            raise Refusal(speech_of(interaction)("This button belongs to a conversation that isn't open here now."))
        assert_may_post(interaction)
        assert interaction.message is not None
        question = _label_of(interaction, custom_id)
        left = [each for each in buttons_of(interaction.message) if each.custom_id != custom_id]
        await change(interaction, view=row(*map(_again, left)))
        await self._opening.ask(interaction, conversation, question)

    async def _book(self, interaction: discord.Interaction[Any], book_id: str) -> Book:
        return await self._use_cases.shelf.get(book_id, shelf=shelf_of(interaction))


def _label_of(interaction: discord.Interaction[Any], custom_id: str) -> str:
    """What stands on the button that was pressed."""
    shown = buttons_of(interaction.message) if interaction.message else []
    return next((each.label or "" for each in shown if each.custom_id == custom_id), "")


def _again(shown: discord.Button) -> Button[View]:
    """A copy of a button for an edited message; questions have a row of their own."""
    button: Button[View] = Button(label=shown.label, custom_id=shown.custom_id, style=shown.style)
    button.row = int((shown.custom_id or "").startswith("do:first:"))
    return button
