"""/recap, /who, /discuss and /ask: what a book says, up to the person's page or up to the lowest page of a group."""

import io
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Range
from discord.ext import commands

from cogs import access
from cogs.access import MOST_CHOICES, matching, resolve_book
from cogs.cards import asked_line, clipped, plain
from cogs.conversation.buttons import (
    ASK_AGAIN,
    ASK_RETRY,
    RECAP,
    Buttons,
    ask_again_button,
    ask_retry_button,
    move_buttons,
    sources_button,
    view_of,
)
from cogs.conversation.recovery import TELLING, WORK, tell_restarted
from cogs.delivery.turn_messages import messages_of
from cogs.errors import PLACE, Refusal, delete_replies, edit_reply, sentence_for
from cogs.i18n import Speech, english_name, speech_for_all, speech_in, speech_of
from cogs.interactions import defer_if_slow, on_press
from cogs.permissions import everywhere, in_servers
from cogs.progress import Scope, club_here, extent_line, own_bound, scope_here, scope_of
from cogs.rendering.answers import answer_note, beginning_of, binding_note, failure_note, kept_note, nothing_read
from cogs.rendering.inline import inert_in_files
from cogs.rendering.splitting import headed
from cogs.services import ServingBot, server_of, shelf_of
from domain.book import Book
from domain.chat import ChatMessage, PlatformMessage
from domain.citations.keys import in_language
from domain.conversation import Conversation, TurnState
from domain.errors import BookError, LLMError
from domain.event import Answer, TurnFailed
from domain.library.names import typed_name
from domain.reading.companion import Asker
from domain.reading.portrait import not_met
from domain.reading.questions import MOST_QUESTIONS
from domain.reading.recap import page_named
from domain.turn.chat_with_book import Reader
from domain.use_cases import Asked, UseCases

MOST_MESSAGES = 5
"""Messages in one reply; a longer reply is a file. Discord allows no more than five follow-ups where only the person
has installed the bot.
"""

FILE_NAME = "marginalia.md"
LONGEST_QUESTION = 1_500
LONGEST_NAME = 100
NAMES_S = 0.1
"""How long somebody who types waits for the names of a long book; later ones are offered at the next letter."""
SEEN_BY_ALL = "seen by all"
"""On an interaction: whether its reply was acknowledged publicly."""
BEFORE = "before"
"""On a press: the ids of the messages with the result before; several are followed by the new one, one is replaced."""

_describe = partial(
    app_commands.describe,
    book="The book; not needed in a conversation's thread",
    public="Show it to everybody here, up to the page the slowest reader has reached",
)


class ReadingCog(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._tellings: dict[str, Callable[..., Awaitable[None]]] = {
            "recap": self._tell_recap,
            "who": self._tell_who,
            "discuss": self._tell_questions,
            "ask": self._ask,
        }
        bot.handle(
            on_press(RECAP, self._recap_pressed),
            on_press(ASK_AGAIN, self._ask_again),
            on_press(ASK_RETRY, self._retry),
        )
        bot.continuations[TELLING] = self._go_on

    # The commands

    @app_commands.command(description="What has happened so far, up to your page")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    @_describe(since="The chapter or page to begin at, for example “page 30”")
    async def recap(
        self,
        interaction: discord.Interaction[Any],
        book: str | None = None,
        since: Range[str, 1, LONGEST_NAME] | None = None,
        public: bool = False,
    ) -> None:
        await self._recap(interaction, book, since, public=public)

    @app_commands.command(description="Who somebody is, as far as you've read")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    @_describe(name="A name you've met in the book")
    async def who(
        self,
        interaction: discord.Interaction[Any],
        name: Range[str, 1, LONGEST_NAME],
        book: str | None = None,
        public: bool = False,
    ) -> None:
        async def prepare() -> tuple[Scope, str]:
            return await scope_here(interaction, book, public=public), name

        await self._tell(interaction, "who", prepare(), public=public)

    @app_commands.command(description="Questions to discuss, each with a quotation from the book")
    @in_servers
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(
        section="Only this section or chapter; the last chapters if left empty", count="How many questions, 1 to 5"
    )
    async def discuss(
        self,
        interaction: discord.Interaction[Any],
        section: Range[str, 1, LONGEST_NAME] | None = None,
        count: Range[int, 1, MOST_QUESTIONS] = 3,
    ) -> None:
        async def prepare() -> tuple[Scope, int, int, int]:
            return *await self._stretch(interaction, section), count

        await self._tell(interaction, "discuss", prepare(), public=True)

    @app_commands.command(description="Ask about the book, up to your page; only you see the answer")
    @everywhere
    @app_commands.default_permissions(send_messages=True)
    @_describe(question="What you want to know")
    async def ask(
        self,
        interaction: discord.Interaction[Any],
        question: Range[str, 1, LONGEST_QUESTION],
        book: str | None = None,
        public: bool = False,
    ) -> None:
        await self.answer(interaction, question, book, public=public)

    async def answer(
        self,
        interaction: discord.Interaction[Any],
        question: str,
        book: str | None,
        *,
        quoted: PlatformMessage | None = None,
        public: bool = False,
    ) -> None:
        """Answer a question in reply to the interaction by which it was asked; `quoted` is the message it quotes."""
        if not question.strip():
            raise Refusal(speech_of(interaction)("What would you like to know about the book?"))

        async def prepare() -> tuple[Any, ...]:
            scope, name = await scope_here(interaction, book, public=public), interaction.user.display_name
            return scope, question, name, "", *(astuple(quoted) if quoted else ())

        await self._tell(interaction, "ask", prepare(), public=public)

    # What is offered while somebody types

    @recap.autocomplete("book")
    @who.autocomplete("book")
    @ask.autocomplete("book")
    async def _books(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        return await access.books(interaction, typed)

    @who.autocomplete("name")
    async def _names(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        """Names met so far, none beyond the person's position."""
        try:
            book = await self._book_meant(interaction)
            read_to = await own_bound(interaction, book)
            names = await self._use_cases.reading.names(book, read_to, NAMES_S)
        except (BookError, Refusal):
            return []
        begin = [name for name in names if typed_name(name).startswith(typed_name(typed))]
        return matching(typed.replace(".", ""), ((name, name) for name in dict.fromkeys([*begin, *names])))

    @discuss.autocomplete("section")
    async def _sections(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        """Sections of the channel's club, by number alone; without a club, chapters."""
        club, say = await club_here(interaction), speech_of(interaction)
        if club is None:
            return await self._chapters_read(interaction, typed)
        numbers = (each.number for each in club.sections)
        return matching(typed, ((say("Section {number}", number=number), str(number)) for number in numbers))

    @recap.autocomplete("since")
    async def _beginnings(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        """The page whose number is typed, and chapters, as far as the person has read."""
        beginnings = await self._page_read(interaction, typed) + await self._chapters_read(interaction, typed)
        return beginnings[:MOST_CHOICES]

    async def _page_read(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        if (label := page_named(typed)) is None:
            return []
        try:
            book = await self._book_meant(interaction)
            await self._use_cases.reading.place(book, await own_bound(interaction, book), f"page {label}")
        except (BookError, Refusal):
            return []
        return [app_commands.Choice(name=speech_of(interaction)("Page {page}", page=label), value=f"page {label}")]

    async def _chapters_read(self, interaction: discord.Interaction[Any], typed: str) -> access.Choices:
        """Chapters that the person has reached."""
        try:
            book = await self._book_meant(interaction)
            read_to = await own_bound(interaction, book)
            chapters = await (await self._use_cases.shelf.open(book)).chapters()
        except (BookError, Refusal):
            return []
        return await access.chapter_choices(chapters, read_to, typed, speech_of(interaction), reached=True)

    async def _book_meant(self, interaction: discord.Interaction[Any]) -> Book:
        """The book that is already chosen, else the channel's."""
        club = await club_here(interaction)
        chosen = getattr(interaction.namespace, "book", None)
        return await resolve_book(interaction, chosen or (club.book_id if club else None))

    # How far

    async def _stretch(self, interaction: discord.Interaction[Any], section: str | None) -> tuple[Scope, int, int]:
        """What to discuss: how far it may be told, where it begins and where it ends."""
        scope, reading = await scope_here(interaction, None, public=True), self._use_cases.reading
        if section is None:
            return scope, await reading.lately(scope.book, scope.read_to), scope.read_to
        if scope.club is None:
            return scope, *await reading.stretch(scope.book, scope.read_to, section)
        say = speech_of(interaction)
        number = section.strip().lstrip("#")
        if not number.isdecimal():
            raise Refusal(say("Give the section's number. /club plan shows the numbers."))
        part = scope.club.section(int(number[:6]))
        if part.start >= scope.read_to:
            raise Refusal(say("Not everybody has started section {number} yet.", number=part.number))
        return scope, part.start, min(part.end, scope.read_to)

    # What is shown

    async def _recap(
        self, interaction: discord.Interaction[Any], book: str | None, since: str | None, *, public: bool
    ) -> None:
        async def prepare() -> tuple[Scope, int]:
            scope = await scope_here(interaction, book, public=public)
            reading = self._use_cases.reading
            return scope, await reading.place(scope.book, scope.read_to, since) if since else 0

        await self._tell(interaction, "recap", prepare(), public=public)

    async def _recap_pressed(self, interaction: discord.Interaction[Any], book_id: str) -> None:
        await self._recap(interaction, book_id, None, public=False)

    async def _tell(
        self,
        interaction: discord.Interaction[Any],
        kind: str,
        work: Coroutine[Any, Any, tuple[Any, ...]],
        *,
        public: bool = False,
    ) -> None:
        """Acknowledge a wish, and tell what it asks for.

        `work` looks up how far that may go, and what else is needed for it, which a start continues with after a kill;
        its refusal is told privately.
        """
        scope, *arguments = await defer_if_slow(interaction, work)
        interaction.extras[WORK] = TELLING, [kind, scope.book.id, scope.public, arguments]
        if not interaction.response.is_done():
            shown = public and server_of(interaction) is not None
            await interaction.response.defer(ephemeral=not shown, thinking=True)
            interaction.extras[SEEN_BY_ALL] = shown
        await self._tellings[kind](interaction, scope, *arguments)

    async def _go_on(self, interaction: discord.Interaction[Any], noted: Any) -> None:
        """Tell what a kill has interrupted; if that has happened before, or it is too late, say so."""
        if noted is None or interaction.is_expired():
            await tell_restarted(interaction)
            return
        kind, book_id, public, arguments = noted
        interaction.extras[SEEN_BY_ALL] = interaction.extras[PLACE] is not None
        try:
            book, club = await self._use_cases.shelf.get(book_id), await club_here(interaction)
            scope = await scope_of(interaction, book, club, public=public)
            await self._tellings[kind](interaction, scope, *arguments)
        except Exception as error:  # noqa: BLE001 - nobody else tells it
            say = speech_for_all(interaction) if public else speech_of(interaction)
            await edit_reply(interaction, content=sentence_for(error, say))

    async def _tell_recap(self, interaction: discord.Interaction[Any], scope: Scope, start: int) -> None:
        if start:
            scope = replace(scope, since=await self._use_cases.positions.page_at(scope.book, start + 1))
        told = await self._use_cases.reading.recap(scope.book, scope.read_to, start, _asker(interaction, scope))
        say = _speech(interaction, scope)
        nothing = say("There's too little to recap yet. Read on a bit first.")
        await self._show(interaction, scope, told.text, told.trouble, nothing)

    async def _tell_who(self, interaction: discord.Interaction[Any], scope: Scope, name: str) -> None:
        told = await self._use_cases.reading.who(scope.book, scope.read_to, name, _asker(interaction, scope))
        say, shown = _speech(interaction, scope), plain(clipped(name, LONGEST_NAME))
        nothing = not_met(shown, say, is_complete=scope.book.is_all_before(scope.read_to))
        await self._show(interaction, scope, told.text, told.trouble, nothing)

    async def _tell_questions(
        self, interaction: discord.Interaction[Any], scope: Scope, since: int, end: int, count: int
    ) -> None:
        say, asker = _speech(interaction, scope), _asker(interaction, scope)
        end = min(end, scope.read_to)  # somebody may have gone back since a kill
        discussion = await self._use_cases.reading.discuss(scope.book, end, since, count, asker)
        text = discussion.text(say) or say("There's too little to discuss yet. Read on a bit first.")
        await self._show(interaction, scope, text, discussion.trouble, "")

    async def _ask(
        self, interaction: discord.Interaction[Any], scope: Scope, question: str, name: str, known: str = "", *ids: str
    ) -> None:
        """Answer a question; `known` is its id if it was asked before, `ids` are the fields of the quoted message."""
        reader, question_id = Reader(str(interaction.user.id), name), known or f"ask:{interaction.id}"
        when, quoted = interaction.created_at, PlatformMessage(*ids) if ids else None
        bound = scope.read_to if scope.public else None
        asked = await self._answered_before(question_id) or await self._use_cases.questions.ask(
            scope.book, reader, question, external_id=question_id, written_at=when, quoted=quoted, read_to=bound
        )
        await self._show_answer(interaction, scope, asked, question, name, question_id)

    async def _answered_before(self, question_id: str) -> Asked | None:
        """The answer that was made for a question, if a kill or Discord has kept it from being shown."""
        kept = await self._use_cases.transcripts.question(question_id)
        stored = await self._use_cases.transcripts.turn(kept.turn_id) if kept and kept.turn_id else None
        return Asked(stored.conversation, stored.answer) if stored and stored.is_answered else None

    async def _ask_again(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        """Answer a question of /ask again for its asker; the new answer replaces the one above the button."""
        say, stored = speech_of(interaction), await self._use_cases.transcripts.turn(turn_id)
        if stored is None or not stored.is_answered:
            raise Refusal(say("This answer is no longer available, so it can't be made again."))
        question = stored.messages[0]
        interaction.extras[BEFORE] = stored.turn.reply_ids
        scope = await self._pressed(interaction, stored.conversation, question)
        reader = Reader(str(interaction.user.id), interaction.user.display_name)
        read_to = scope.read_to if scope.public else None
        asked = await self._use_cases.questions.ask_again(stored.turn, reader, read_to=read_to)
        if isinstance(asked.ending, TurnFailed):
            note = kept_note(say.failure(asked.ending.code, asked.ending.message), say)
            await interaction.followup.send(note, ephemeral=True)
        else:
            await self._show_answer(interaction, scope, asked, question.content, reader.name)

    async def _retry(self, interaction: discord.Interaction[Any], question_id: str) -> None:
        """Answer a question of /ask that has failed, for its asker, in the message that says so."""
        chat, transcripts = self._use_cases.chat, self._use_cases.transcripts
        question = await transcripts.question(question_id)
        conversation = await self._use_cases.conversations.find(question.conversation_id) if question else None
        if question is None or conversation is None:
            raise Refusal(speech_of(interaction)("This question is no longer available. Please ask it again."))
        stored = await transcripts.turn(question.turn_id) if question.turn_id else None
        interaction.extras[BEFORE] = stored.turn.reply_ids if stored else ()
        scope = await self._pressed(interaction, conversation, question)
        running = chat.running(conversation.id)
        if running is not None and question.id in running.asked:
            raise Refusal(speech_of(interaction)("I'm already answering this question, or have answered it."))
        if stored is not None and stored.turn.state is TurnState.FAILED:
            await transcripts.reopen(stored.turn.id)
        await self._ask(interaction, scope, question.content, interaction.user.display_name, question_id)

    async def _pressed(
        self, interaction: discord.Interaction[Any], conversation: Conversation, question: ChatMessage
    ) -> Scope:
        """Acknowledge the press of a button below an answer of /ask; returns how far to answer its question.

        Raises:
            Refusal: it is not theirs, or was not asked by /ask here.
        """
        say = speech_of(interaction)
        if conversation.guild_id != shelf_of(interaction) or not conversation.is_aside:
            raise Refusal(say("This answer is no longer available, so it can't be made again."))
        if question.author_id != str(interaction.user.id):
            raise Refusal(say("Only the person who asked can have this answered again."))
        public = interaction.message is not None and not interaction.message.flags.ephemeral
        work = scope_here(interaction, conversation.book_id, public=public)
        scope = await defer_if_slow(interaction, work, thinking=False)
        if not interaction.response.is_done():
            await interaction.response.defer()
        interaction.extras[SEEN_BY_ALL] = public
        return scope

    async def _show_answer(
        self,
        interaction: discord.Interaction[Any],
        scope: Scope,
        asked: Asked,
        question: str,
        name: str,
        question_id: str = "",
    ) -> None:
        """Show an answer; a failure can be tried again by the question's id."""
        say, ending = _speech(interaction, scope), asked.ending
        if isinstance(ending, Answer):
            text = in_language(ending.text, ending.citations, say)
            note = answer_note(replace(ending, binding=None), say)
            sources = sources_button(ending.turn_id, say) if ending.citations else ()
            again = ask_again_button(ending.turn_id, say)
            buttons: Buttons = sources + again + move_buttons(ending.turn_id, asked.proposals, say)
        else:
            note = failure_note(ending, say.failure(ending.code, ending.message), say)
            text = in_language(ending.partial, asked.citations, say)
            buttons = ask_retry_button(question_id, say)
        heading = asked_line(name, question, say)
        shown = await self._send(interaction, scope, text, note, heading=heading, buttons=buttons)
        seen = interaction.extras.get(BEFORE, ()) if scope.public else ()  # goes with the answer, if that is deleted
        is_stored = await self._use_cases.questions.told(asked, tuple(dict.fromkeys((*seen, *shown))))
        if scope.public and not is_stored:  # its conversation was deleted while it was being posted
            await delete_replies(interaction, shown)

    async def _show(
        self, interaction: discord.Interaction[Any], scope: Scope, text: str, trouble: LLMError | None, nothing: str
    ) -> None:
        """Show a text, else `nothing`; where nothing has been read, what to do about that."""
        say, note = _speech(interaction, scope), ""
        text = text or (nothing if scope.read_to else nothing_read(say, by_asker=scope.binding is None))
        if trouble is not None:
            note = f"-# ⚠️ {say.error(trouble)} " + say("So here's what the book itself says.")
        await self._send(interaction, scope, text, note)

    async def _send(
        self,
        interaction: discord.Interaction[Any],
        scope: Scope,
        text: str,
        note: str = "",
        *,
        heading: str = "",
        buttons: Buttons = (),
    ) -> tuple[str, ...]:
        """Send the reply to an acknowledged interaction, in as many messages as necessary; returns their ids."""
        say = _speech(interaction, scope)
        heading = "\n".join(filter(None, (heading, extent_line(scope, say))))
        bound = binding_note(scope.binding, say) if scope.binding else ""
        messages = headed(heading, messages_of(text, "\n".join(filter(None, (note, bound)))))
        if len(messages) <= (1 if interaction.is_expired() else MOST_MESSAGES):  # no more can follow it then
            return await _post(interaction, scope, messages, None, buttons)
        whole = discord.File(io.BytesIO(inert_in_files(f"{text}\n").encode()), FILE_NAME)
        return await _post(interaction, scope, [beginning_of(messages[0], say)], whole, buttons)


async def _post(
    interaction: discord.Interaction[Any],
    scope: Scope,
    messages: Sequence[str],
    file: discord.File | None,
    buttons: Buttons,
) -> tuple[str, ...]:
    """Post the messages, the first one in place of the progress notice; file and buttons go with the last.

    If the reply had to be acknowledged privately it says so, and the public messages follow it.
    """
    apart = len(interaction.extras.get(BEFORE, ())) > 1
    if apart:
        await interaction.edit_original_response(view=None)
    elif scope.public and not interaction.extras.get(SEEN_BY_ALL):
        apart, say = True, _speech(interaction, scope)
        await interaction.edit_original_response(content=say("Here it is, for everybody:"))
    view = view_of(buttons) if buttons else discord.utils.MISSING
    posted: list[str] = []
    for number, message in enumerate(messages, start=1):
        is_last = number == len(messages)
        shown = view if is_last else discord.utils.MISSING
        files = [file] if file and is_last else discord.utils.MISSING
        sent: discord.Message
        if number == 1 and not apart:
            sent = await edit_reply(interaction, content=message, view=shown, attachments=files)
        else:
            sent = await interaction.followup.send(
                message, ephemeral=not scope.public, wait=True, view=shown, files=files
            )
        posted.append(str(sent.id))
    return tuple(posted)


def _speech(interaction: discord.Interaction[Any], scope: Scope) -> Speech:
    """The language of its readers: everybody there, or the person."""
    server = server_of(interaction) if scope.public else None
    return speech_of(interaction) if server is None else speech_in(server)


def _asker(interaction: discord.Interaction[Any], scope: Scope) -> Asker:
    server = server_of(interaction)
    locale = server.preferred_locale if server is not None and scope.public else interaction.locale
    shelf = None if server is None else str(server.id)
    return Asker(str(interaction.user.id), shelf, english_name(locale), _speech(interaction, scope))
