"""The commands in the context menus of messages and people: ask about a message, find it in the book, see a reader's
page.
"""

import re
from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from cogs.access import EMPTY_SHELF, bound_conversation
from cogs.cards import BOOKS_IN_A_MENU, books_menu, clipped, clipped_words, plain
from cogs.clubs.cards import bar_line
from cogs.conversation.intake import whole_text
from cogs.errors import Refusal
from cogs.i18n import later, speech_of
from cogs.interactions import Field, defer_if_slow, form, in_time, on_choice, reply, row, written_in
from cogs.permissions import sees_club
from cogs.reading import ReadingCog
from cogs.rendering.answers import page_name
from cogs.services import ServingBot, is_guest, server_of, shelf_of
from domain.book import Book, Citation
from domain.chat import PlatformMessage, quoting
from domain.ports import BookView
from domain.spoilers.filter import without_covers
from domain.use_cases import UseCases

ASK, WHERE = "ask-about", "where"
"""The actions of the modal and of the menus of books."""

LONGEST_PASSAGE = 1_000
LONGEST_QUESTION = 400
MENUS = 5
"""Discord's limit for menus under a message."""
SPAN_END = 70
"""Characters of the first and of the last title, in the placeholder of a further menu."""
MOST_PLACES = 5
LEAST_WORDS, LEAST_OF_A_LINE = 3, 5
"""Words in a quotation that is searched by itself, and in a line, which need not be of the book."""
ALIKE = 0.7
"""How similar a message must be to a place in the book to be reported; below that, something is always found by
chance.
"""
QUOTE_SHOWN = 300

_QUOTED = re.compile(r"[“„»«\"]([^“”„»«\"]+)[”“«»\"]")
_ANSWER = re.compile(r"do:(?:sources|redo):(\w+)")


class ContextMenus(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases, reading: ReadingCog) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._reading = reading
        reach: dict[str, Any] = {
            "allowed_contexts": app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
            "allowed_installs": app_commands.AppInstallationType(guild=True, user=True),
        }
        at_home: dict[str, Any] = {
            "allowed_contexts": app_commands.AppCommandContext(guild=True, dm_channel=False, private_channel=False),
            "allowed_installs": app_commands.AppInstallationType(guild=True, user=False),
        }
        self._menus = (
            app_commands.ContextMenu(name=later("Ask about this"), callback=self._ask_about, **reach),
            app_commands.ContextMenu(name=later("Where is this in the book?"), callback=self._where_is, **reach),
            app_commands.ContextMenu(name=later("How far along?"), callback=self._how_far, **at_home),
        )
        bot.handle(on_choice(ASK, self._ask_about_chosen), on_choice(WHERE, self._where_chosen))
        bot.handle_form(ASK, self._answer)

    async def cog_load(self) -> None:
        for menu in self._menus:
            self._bot.tree.add_command(menu)

    # A question

    async def _ask_about(self, interaction: discord.Interaction[Any], message: discord.Message) -> None:
        said, text = _said(message), without_covers(_text_of(interaction, message))  # a form covers nothing
        text = text if any(map(str.isalnum, text)) else ""
        book = await in_time(self._book_here(interaction))
        if book is None:
            await self._offer_books(interaction, ASK, text, said)
        else:
            await self._open_form(interaction, f"{said}{book.id}", text)

    async def _ask_about_chosen(self, interaction: discord.Interaction[Any], chosen: str) -> None:
        await self._open_form(interaction, chosen, _quoted_in(interaction))

    async def _open_form(self, interaction: discord.Interaction[Any], about: str, text: str) -> None:
        """`about` is the id of the book, after those of the message and its author."""
        say = speech_of(interaction)
        fields = (
            Field("question", say("Your question"), required=True, length=LONGEST_QUESTION, is_long=True),
            Field(
                "passage",
                say("What it is about"),
                length=LONGEST_PASSAGE,
                is_long=True,
                default=clipped(text, LONGEST_PASSAGE),
            ),
        )
        await interaction.response.send_modal(form(ASK, about, title=say("Ask about this"), fields=fields))

    async def _answer(self, interaction: discord.Interaction[Any], about: str) -> None:
        """Answer what was written in the modal as /ask does: at the person's own position, privately."""
        written = written_in(interaction)
        question, passage = written.get("question", ""), written.get("passage", "")
        # Quoted, so that nobody takes it for the person's own words.
        marked = passage if _QUOTED.search(passage) else f"“{passage}”"
        asked = quoting(question, marked) if question and passage else question
        quoted = _said_in(interaction, about) if asked != question else None
        await self._reading.answer(interaction, asked, _book_id(about), quoted=quoted)
        if quoted and not is_guest(interaction):  # elsewhere nobody tells whether the message has changed meanwhile
            place = interaction.client.get_partial_messageable(int(quoted.channel_id), guild_id=interaction.guild_id)
            interaction.client.dispatch("question_shown", place.get_partial_message(int(quoted.message_id)))

    # Where it is

    async def _where_is(self, interaction: discord.Interaction[Any], message: discord.Message) -> None:
        cited = await defer_if_slow(interaction, self._cited_by(interaction, message))
        if cited is not None:
            await self._tell_places(interaction, *cited)
            return
        text = _text_of(interaction, message)
        book = await defer_if_slow(interaction, self._book_here(interaction))
        if book is None:
            await self._offer_books(interaction, WHERE, text)
        else:
            await self._look_up(interaction, book, text)

    async def _where_chosen(self, interaction: discord.Interaction[Any], chosen: str) -> None:
        book = await defer_if_slow(
            interaction, self._use_cases.shelf.get(_book_id(chosen), shelf=shelf_of(interaction))
        )
        await self._look_up(interaction, book, _quoted_in(interaction))

    async def _look_up(self, interaction: discord.Interaction[Any], book: Book, text: str) -> None:
        if not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True, thinking=True)
        file = await self._use_cases.shelf.open(book)
        view = file.view(await self._own_bound(interaction, book))
        found = await _places(_phrases(text), view) or await _places(_lines(text), view)
        await self._tell_places(interaction, book, found)

    async def _cited_by(
        self, interaction: discord.Interaction[Any], message: discord.Message
    ) -> tuple[Book, list[Citation]] | None:
        """What an answer of the bot cites, as far as the person has read; None if it cites nothing."""
        names = (part.custom_id or "" for line in message.components for part in getattr(line, "children", ()))
        turn_id = next((match[1] for match in map(_ANSWER.match, names) if match), None)
        if turn_id is None or message.author != interaction.client.user:
            return None
        stored = await self._use_cases.transcripts.turn(turn_id)
        if stored is None or stored.conversation.guild_id != shelf_of(interaction):
            return None
        book = await self._use_cases.shelf.get(stored.conversation.book_id, shelf=shelf_of(interaction))
        bound = await self._own_bound(interaction, book)
        cited = stored.citations
        return (book, [each for each in cited if each.end <= bound]) if cited else None

    async def _tell_places(self, interaction: discord.Interaction[Any], book: Book, found: list[Citation]) -> None:
        say = speech_of(interaction)
        title = plain(clipped(book.title, 200))
        if not found:
            text = say("I can't find that in what you've read of “{title}”.", title=title)
        else:
            places = []
            for each in sorted(found, key=lambda each: each.start)[:MOST_PLACES]:
                where = page_name(each.page, say, estimated=each.estimated)
                chapter = f" · {plain(clipped(each.chapter, 100))}" if each.chapter else ""
                places.append(f"**{where}**{chapter}\n> {plain(clipped(each.quote, QUOTE_SHOWN))}")
            text = "\n".join([say("In “{title}”:", title=title), *places])
        await reply(interaction, content=text)

    # How far somebody is

    async def _how_far(self, interaction: discord.Interaction[Any], person: discord.Member | discord.User) -> None:
        lines = await defer_if_slow(interaction, self._bars(interaction, person))
        nobody = speech_of(interaction)("{who} isn't on any club's board here, so I can't say.", who=person.mention)
        await reply(interaction, content="\n".join(lines) or nobody)

    async def _bars(self, interaction: discord.Interaction[Any], person: discord.abc.User) -> list[str]:
        """How far a person is in each club whose board has them, of those whose channel is to be seen by who asks."""
        server, say, now = server_of(interaction), speech_of(interaction), self._use_cases.clubs.now()
        lines: list[str] = []
        if server is None:
            return lines
        for club in await self._use_cases.clubs.store.get_running(str(server.id)):
            member = club.member(str(person.id))
            if member is None or member.hidden or not sees_club(interaction, club):
                continue
            book = await self._use_cases.shelf.get(club.book_id)
            is_paused = member.reader_id not in {each.reader_id for each in club.active(now)}
            lines.append(f"**{plain(clipped(book.title, 200))}**\n{bar_line(club, member, say, is_paused=is_paused)}")
        return lines

    # Which book

    async def _book_here(self, interaction: discord.Interaction[Any]) -> Book | None:
        """The book of the thread or of the channel's club, else the only one there is; None if it is not clear.

        Raises:
            Refusal: there is none.
        """
        shelf = self._use_cases.shelf
        if conversation := await bound_conversation(interaction):
            return await shelf.get(conversation.book_id, shelf=shelf_of(interaction))
        if server := server_of(interaction):
            running = await self._use_cases.clubs.store.get_running(str(server.id))
            here = [club for club in running if club.channel_id == str(interaction.channel_id)]
            if len(here) == 1:
                return await shelf.get(here[0].book_id, shelf=shelf_of(interaction))
        books = await shelf.list(shelf_of(interaction))
        if not books:
            raise Refusal(speech_of(interaction)(EMPTY_SHELF))
        return books[0] if len(books) == 1 else None

    async def _offer_books(self, interaction: discord.Interaction[Any], action: str, text: str, said: str = "") -> None:
        """Let the person choose a book; the message carries what the choice is about."""
        say = speech_of(interaction)
        books = await defer_if_slow(interaction, self._last_talked_about_first(interaction))
        likely, others = books[:BOOKS_IN_A_MENU], books[BOOKS_IN_A_MENU : BOOKS_IN_A_MENU * MENUS]
        menus = [books_menu(action, said, likely, say("Choose the book"), say)]
        others.sort(key=lambda book: book.title.casefold())
        for at in range(0, len(others), BOOKS_IN_A_MENU):
            part = others[at : at + BOOKS_IN_A_MENU]
            span = f"{clipped(part[0].title, SPAN_END)} – {clipped(part[-1].title, SPAN_END)}"
            menus.append(books_menu(action, f"{at}:{said}", part, span, say))
        quoted = "\n".join(f"> {line}" for line in clipped_words(text, LONGEST_PASSAGE).splitlines())
        question = say("Which book is this about?")
        await reply(interaction, content=f"{question}\n{quoted}", view=row(*menus))

    async def _last_talked_about_first(self, interaction: discord.Interaction[Any]) -> list[Book]:
        """The books on the shelf; first those the person has begun to talk about, the latest one at the top."""
        talks = await self._use_cases.conversations.in_guild(shelf_of(interaction))
        own = [*dict.fromkeys(each.book_id for each in talks if each.owner_id == str(interaction.user.id))]
        books = await self._use_cases.shelf.list(shelf_of(interaction))
        return sorted(books, key=lambda book: own.index(book.id) if book.id in own else len(own))

    async def _own_bound(self, interaction: discord.Interaction[Any], book: Book) -> int:
        return (await self._use_cases.positions.get(str(interaction.user.id), book)).bound(book.length)


def _book_id(chosen: str) -> str:
    """The id in what was chosen, after what tells menus of one message apart."""
    return chosen.rpartition(":")[2]


def _said(message: discord.Message) -> str:
    """The ids of a message and of its author, before that of a book; empty for one that its reader alone can see, of
    which Discord tells nothing more.
    """
    return "" if message.flags.ephemeral else f"{message.id}:{message.author.id}:"


def _said_in(interaction: discord.Interaction[Any], about: str) -> PlatformMessage | None:
    """The message of a person that was chosen."""
    *_, message_id, author_id, _ = ["", "", *about.split(":")]
    ids = (message_id, str(interaction.channel_id), author_id)
    return PlatformMessage(*ids) if all(map(str.isdecimal, ids)) else None


def _text_of(interaction: discord.Interaction[Any], message: discord.Message) -> str:
    """The words of a message, or of those that are forwarded in it, with names for mentions; of the bot's own messages
    without the small print.

    Raises:
        Refusal: there are none.
    """
    own = interaction.client.user
    text = whole_text(message, own.id if own else 0)
    if message.author == own:
        text = "\n".join(line for line in text.splitlines() if not line.startswith("-# ")).strip()
    if not text:
        raise Refusal(speech_of(interaction)("There's no text in this message that I could read."))
    return text


def _quoted_in(interaction: discord.Interaction[Any]) -> str:
    """The quotations in the chosen message."""
    lines = interaction.message.content.splitlines() if interaction.message else []
    return "\n".join(line[2:] for line in lines if line.startswith("> "))


async def _places(phrases: Sequence[str], view: BookView) -> list[Citation]:
    """Where each of these phrases is most alike, each place once."""
    found: list[Citation] = []
    for phrase in phrases:
        hits = [hit for hit in await view.find_phrase(phrase, limit=MOST_PLACES) if hit.similarity >= ALIKE]
        best = max((hit.similarity for hit in hits), default=0.0)
        found += [hit.citation for hit in hits if hit.similarity == best]
    return list(dict.fromkeys(found))


def _lines(text: str) -> list[str]:
    """What to search of a message that is not found as a whole: people write below what they paste, and e-readers put
    there what it is from.
    """
    lines = [line for line in text.splitlines() if len(line.split()) >= LEAST_OF_A_LINE]
    return lines[:MOST_PLACES]


def _phrases(text: str) -> list[str]:
    """What to search of a message: its quotations, or all of it if there are none."""
    text = clipped(text, LONGEST_PASSAGE)
    blocks = [line.lstrip("> ") for line in text.splitlines() if line.startswith(">")]
    quoted = [part for part in [*_QUOTED.findall(text), *blocks] if len(part.split()) >= LEAST_WORDS]
    return quoted[:MOST_PLACES] or [text]
