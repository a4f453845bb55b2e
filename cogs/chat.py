"""/chat, and opening threads for conversations, which other commands use as well."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import discord
from discord import ButtonStyle, app_commands
from discord.app_commands import Range
from discord.ext import commands
from discord.ui import View

from cogs import access
from cogs.access import assert_may_write_in, first_questions, resolve_conversation, visibility_of
from cogs.cards import clipped, conversation_card, day_of, plain, position_line, titled, welcome_buttons
from cogs.conversation.recovery import ANNOUNCING, WORK
from cogs.errors import DISCORD_ERRORS, Refusal, retry_transient, tell_kept
from cogs.i18n import Speech, speech_for_all, speech_of
from cogs.interactions import (
    acknowledge,
    action_button,
    action_menu,
    assert_fresh,
    confirmation,
    defer_if_slow,
    on_choice,
    on_press,
    reply,
    row,
)
from cogs.permissions import in_conversations, lacking_to_post
from cogs.removals import Removals
from cogs.rendering.inline import inert
from cogs.services import Conversing, ServingBot, server_of, shelf_of
from cogs.threads import (
    NAME_LENGTH,
    announced,
    assert_can_post,
    home_of,
    is_seen_by_more,
    lead_to,
    open_private_thread,
    open_public_thread,
    thread_name,
    thread_of,
    wake,
)
from domain.book import Book
from domain.conversation import Conversation
from domain.turn.chat_with_book import Reader
from domain.usage import Deed, PersonalPost
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

QUESTION_LENGTH = 4000
"""Characters of a first message, which is repeated in the thread in an embed."""

MOST_OFFERED = 25


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A question that has been kept, and the place in which it is to be answered."""

    place: discord.abc.Messageable
    conversation: Conversation
    question: str


class Opening:
    """Opens conversations for /chat, /conversations and the buttons that do the same."""

    def __init__(self, use_cases: UseCases, conversing: Conversing, removals: Removals) -> None:
        self._use_cases = use_cases
        self._conversing = conversing
        self._removals = removals
        self._order: WeakValueDictionary[tuple[int, str], asyncio.Lock] = WeakValueDictionary()

    async def start(
        self,
        interaction: discord.Interaction[Any],
        book: Book,
        *,
        title: str | None = None,
        message: str | None = None,
        private: bool = False,
    ) -> None:
        """Open a thread with a new conversation and answer the first message there, if any; works in direct messages
        too.

        Raises:
            Refusal: no such thread can be opened here, or the person has reached their limit.
            ConversationError: INVALID_STATE, the title is blank.
        """
        await self._answer(interaction, await self._open(interaction, book, title, message, private=private))

    async def read(self, interaction: discord.Interaction[Any], book: Book, question: str = "") -> None:
        """Lead whoever has pressed a button of a book's card to a conversation about it, and ask the question there.

        Who has talked about the book before goes on with the newest of these conversations, where the same question is
        not asked twice; without a question, they may choose. So it is no matter how often the button is pressed.

        Raises:
            Refusal, ConversationError: as `start` and `resume`.
        """
        async with self._order.setdefault((interaction.user.id, book.id), asyncio.Lock()):
            earlier = [each for each in await self.earlier(interaction, book) if _is_talk(each)]
            if earlier and not question:
                await offer(interaction, book, earlier)
                return
            if not earlier:
                asked = await self._open(interaction, book, None, question)
            else:
                is_new = not await self._was_asked(interaction, earlier[0], question)
                asked = await self._go_back(interaction, earlier[0], question if is_new else None)
        await self._answer(interaction, asked)

    async def earlier(self, interaction: discord.Interaction[Any], book: Book) -> Sequence[Conversation]:
        """The reader's own conversations on the book, newest first."""
        known = await self._use_cases.conversations.list_by_book(book.id)
        own = [each for each in known if each.owner_id == str(interaction.user.id)]
        return (await visibility_of(interaction).at_a_glance(own))[:MOST_OFFERED]

    async def _was_asked(
        self, interaction: discord.Interaction[Any], conversation: Conversation, question: str
    ) -> bool:
        known = await self._use_cases.transcripts.messages(conversation.id)
        return any((each.author_id, each.content) == (str(interaction.user.id), question) for each in known)

    async def _open(
        self,
        interaction: discord.Interaction[Any],
        book: Book,
        title: str | None,
        message: str | None,
        *,
        private: bool = False,
    ) -> KeptQuestion | None:
        if server_of(interaction) is None:
            return await self._open_direct(interaction, book, title, message)
        channel = home_of(interaction, private=private)
        await self._count(interaction)
        replied = interaction.response.is_done() or interaction.message is not None
        in_reply = not (private or replied or lacking_to_post(interaction)) and interaction.channel == channel
        if in_reply:
            interaction.extras[WORK] = ANNOUNCING, None
        defer_if_slow = await acknowledge(interaction, ephemeral=not in_reply)
        position = await self._position(interaction, book)
        async with self._new(interaction, book, title, message) as conversation:
            # Kept before there is a thread: from the moment on that it is bound, the question has its answer.
            asked = await self._keep(interaction, conversation, message)
            name = thread_name(conversation, book)
            async with announced(interaction, book, wanted=in_reply and defer_if_slow) as announcement:
                if private:
                    thread = await open_private_thread(channel, name, interaction.user)
                else:
                    thread = await open_public_thread(channel, name, announcement)
            bound = await self._bind(conversation, thread, private=private)
        await self._welcome(interaction, thread, bound, book, position, message)
        if defer_if_slow and not announcement:
            say = speech_of(interaction)
            text = say("Your conversation about “{title}”: {thread}", title=plain(book.title), thread=thread.mention)
            await _reply(interaction, text)
        elif not defer_if_slow:
            await lead_to(thread, interaction.user)
        await self._conversing.opened(thread, bound)
        return KeptQuestion(thread, bound, message or "") if asked else None

    async def _open_direct(
        self, interaction: discord.Interaction[Any], book: Book, title: str | None, message: str | None
    ) -> KeptQuestion | None:
        """Begin a conversation in direct messages, where it is the current one from now on."""
        assert_can_post(interaction)
        await self._count(interaction)
        answerable = await acknowledge(interaction, ephemeral=False)
        position = await self._position(interaction, book)
        async with self._new(interaction, book, title, message) as conversation:
            asked = await self._keep(interaction, conversation, message)
            place, bound = await self._conversing.make_current(interaction, conversation)
        card = conversation_card(bound, book, position, speech_of(interaction), reads_messages=True)
        view = await self._first_steps(interaction, bound, book, message)
        if answerable and interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
            await interaction.edit_original_response(content=None, embed=card, view=view)
        else:
            await _post(place, card, nonce=f"card:{interaction.id}", view=view)
            if answerable and interaction.message is not None and interaction.message.flags.ephemeral:
                await _reply(interaction, _talking_line(book.title, speech_of(interaction)))
        return KeptQuestion(place, bound, message or "") if asked else None

    async def _count(self, interaction: discord.Interaction[Any]) -> None:
        """Raises:
        Refusal: the person has reached their limit.
        """
        if wait := await self._use_cases.allowances.take(str(interaction.user.id), Deed.OPEN_CONVERSATION):
            raise Refusal(_too_many(self._use_cases.facts.limits.conversations_per_day, wait, speech_of(interaction)))

    async def resume(
        self,
        interaction: discord.Interaction[Any],
        conversation: Conversation,
        message: str | None = None,
        *,
        confirmed: bool = False,
    ) -> None:
        """Lead the reader back to the thread of a conversation, or into a new one if that is gone.

        A new thread that more people can see is opened only once they have `confirmed` it.

        Raises:
            Refusal: the person may not write in the thread, or it is locked; or a new one cannot be opened here.
        """
        await self._answer(interaction, await self._go_back(interaction, conversation, message, confirmed=confirmed))

    async def _go_back(
        self,
        interaction: discord.Interaction[Any],
        conversation: Conversation,
        message: str | None,
        *,
        confirmed: bool = False,
    ) -> KeptQuestion | None:
        server = server_of(interaction)
        if server is None:
            return await self._go_back_directly(interaction, conversation, message)
        defer_if_slow = await acknowledge(interaction, ephemeral=True)
        thread = await thread_of(server, conversation)
        if thread is not None:
            if message or thread.archived or thread.is_private():
                assert_may_write_in(interaction, conversation)
            await wake(thread, interaction.user, speech_of(interaction))
        elif not confirmed and is_seen_by_more(interaction, conversation):
            await _ask_to_move(interaction, conversation)
            return None
        else:
            thread, conversation = await self._reopen(interaction, conversation)
        asked = await self._keep(interaction, conversation, message)
        text = speech_of(interaction)(
            "“{title}” continues here: {thread}", title=plain(thread.name), thread=thread.mention
        )
        if defer_if_slow:
            await _reply(interaction, text)
        return KeptQuestion(thread, conversation, message or "") if asked else None

    async def _go_back_directly(
        self, interaction: discord.Interaction[Any], conversation: Conversation, message: str | None
    ) -> KeptQuestion | None:
        assert_can_post(interaction)
        answerable = await acknowledge(interaction, ephemeral=False)
        asked = await self._keep(interaction, conversation, message)
        place, bound = await self._conversing.make_current(interaction, conversation)
        if answerable:
            await _reply(interaction, _talking_line(bound.title, speech_of(interaction)))
        return KeptQuestion(place, bound, message or "") if asked else None

    @contextlib.asynccontextmanager
    async def _new(
        self, interaction: discord.Interaction[Any], book: Book, title: str | None, message: str | None
    ) -> AsyncIterator[Conversation]:
        """A new conversation, deleted again if it gets no thread."""
        conversation = await self._use_cases.conversations.create(
            book.id, title, first_message=message or "", owner_id=str(interaction.user.id)
        )
        try:
            yield conversation
        except BaseException:
            await self._use_cases.conversations.delete(conversation.id)
            raise

    async def _reopen(
        self, interaction: discord.Interaction[Any], conversation: Conversation
    ) -> tuple[discord.Thread, Conversation]:
        channel = home_of(interaction, private=conversation.private)
        book = await self._use_cases.shelf.get(conversation.book_id)
        position, name = await self._position(interaction, book), thread_name(conversation, book)
        if conversation.private:
            thread = await open_private_thread(channel, name, interaction.user)
        else:
            thread = await open_public_thread(channel, name)
        bound = await self._bind(conversation, thread, private=conversation.private)
        await self._welcome(interaction, thread, bound, book, position)
        return thread, bound

    async def _bind(self, conversation: Conversation, thread: discord.Thread, *, private: bool) -> Conversation:
        return await self._use_cases.conversations.bind(
            conversation.id,
            guild_id=str(thread.guild.id),
            channel_id=str(thread.parent_id),
            thread_id=str(thread.id),
            private=private,
        )

    async def _position(self, interaction: discord.Interaction[Any], book: Book) -> str:
        """Where the reader is in the book, as a sentence.

        Raises:
            BookError: INVALID_STATE, the book cannot be opened, which is better found out before there is a
            thread.
        """
        file = await self._use_cases.shelf.open(book)
        position = await self._use_cases.positions.get(str(interaction.user.id), book)
        return position_line(position, book, await file.pages(), speech_for_all(interaction))

    async def _welcome(
        self,
        interaction: discord.Interaction[Any],
        thread: discord.Thread,
        conversation: Conversation,
        book: Book,
        position: str,
        message: str | None = None,
    ) -> None:
        say, reads = speech_for_all(interaction), interaction.client.intents.message_content
        card = conversation_card(conversation, book, position, say, reads_messages=reads)
        view = await self._first_steps(interaction, conversation, book, message)
        await _post(thread, card, nonce=f"card:{thread.id}", view=view)

    async def _first_steps(
        self, interaction: discord.Interaction[Any], conversation: Conversation, book: Book, asked: str | None
    ) -> View:
        """The buttons of a conversation's card, without the question that was asked."""
        say = speech_for_all(interaction)
        questions = await first_questions(interaction, book, say)
        return welcome_buttons(conversation, [each for each in questions if each != asked], say)

    async def ask(self, interaction: discord.Interaction[Any], conversation: Conversation, question: str) -> None:
        """Ask a question in a conversation, for the person who has pressed a button there.

        Raises:
            Refusal: they may not write there.
        """
        if not conversation.is_direct:
            assert_may_write_in(interaction, conversation)
        if await self._keep(interaction, conversation, question):
            assert isinstance(interaction.channel, discord.abc.Messageable)
            await self._answer(interaction, KeptQuestion(interaction.channel, conversation, question))

    async def _keep(
        self, interaction: discord.Interaction[Any], conversation: Conversation, message: str | None
    ) -> bool:
        """Store a first message before anything else is done with it; returns whether there is one."""
        if not message or not message.strip():
            return False
        reader = Reader(str(interaction.user.id), interaction.user.display_name)
        kept = await self._use_cases.chat.receive(
            conversation.id, message, reader, external_id=f"command:{interaction.id}", written_at=interaction.created_at
        )
        return kept is not None

    async def _answer(self, interaction: discord.Interaction[Any], asked: KeptQuestion | None) -> None:
        """Repeat a message that was kept in its place, where nobody else would see it, and have it answered."""
        if asked is None:
            return
        question = discord.Embed(description=clipped(inert(asked.question.strip()), QUESTION_LENGTH))
        question.set_author(name=interaction.user.display_name, icon_url=interaction.user.display_avatar.url)
        posted = await _post(asked.place, question, nonce=f"ask:{interaction.id}")
        if posted is not None:
            where = (str(posted.id), str(posted.channel.id), str(interaction.user.id), asked.conversation.guild_id)
            name = interaction.user.display_name
            as_of = interaction.created_at
            await self._removals.note(PersonalPost(*where, name=name, words=True, as_of=as_of))
        await self._conversing.answer_in(asked.conversation, partial(tell_kept, interaction))


def _is_talk(conversation: Conversation) -> bool:
    """Whether it is one that somebody has begun to talk about a book: neither questions of /ask nor a club's."""
    return not conversation.is_aside and conversation.read_to is None


def _too_many(limit: int, wait: timedelta, say: Speech) -> str:
    return say(
        "You've opened {limit} conversations within a day, which is the limit for one person. You can open the "
        "next one {when}. The bot's operator sets this limit.",
        limit=limit,
        when=discord.utils.format_dt(discord.utils.utcnow() + wait, "R"),
    )


def _talking_line(title: str, say: Speech) -> str:
    return say("We're talking about “{title}” now. Just write here.", title=plain(title))


async def _ask_to_move(interaction: discord.Interaction[Any], conversation: Conversation) -> None:
    say = speech_of(interaction)
    question = say(
        "More people can see this channel than the one “{title}” was in. Continue here? They'll see what you "
        "ask from now on, and my answers may draw on what you said before.",
        title=plain(titled(conversation, say)),
    )
    view = confirmation("chat-move", conversation.id, say("Go on here"), say)
    await interaction.edit_original_response(content=question, view=view)


async def _post(
    thread: discord.abc.Messageable, embed: discord.Embed, *, nonce: str, view: View = discord.utils.MISSING
) -> discord.Message | None:
    """Post a card; a conversation can do without one, so errors are only logged."""
    try:
        return await retry_transient(partial(thread.send, embed=embed, nonce=nonce, view=view))
    except DISCORD_ERRORS as error:
        logger.warning("%s has to do without a card: %s", nonce, error)
        return None


async def _reply(interaction: discord.Interaction[Any], text: str) -> None:
    try:
        await interaction.edit_original_response(content=text, view=None)
    except DISCORD_ERRORS as error:
        logger.warning("a reply could not be given: %s", error)


async def offer(interaction: discord.Interaction[Any], book: Book, earlier: Sequence[Conversation]) -> None:
    """Let a reader choose whether to continue one of their earlier conversations on a book."""
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


class Chat(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases, opening: Opening) -> None:
        self._use_cases = use_cases
        self._opening = opening
        bot.handle(on_press("chat-new", self._start_anew), on_choice("chat-resume", self._take_up))
        bot.handle(on_press("chat-move", self._move))

    @app_commands.command(description="Talk about a book in its own thread")
    @in_conversations
    @app_commands.default_permissions(send_messages_in_threads=True)
    @app_commands.describe(
        book="The book",
        message="Your first question, answered right away",
        title="A title for the conversation",
        conversation="An earlier conversation to continue",
        private="Visible only to you and people who manage threads",
    )
    @app_commands.autocomplete(book=access.books, conversation=access.conversations)
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
            earlier := await defer_if_slow(interaction, self._opening.earlier(interaction, found))
        ):
            await offer(interaction, found, earlier)
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
    label, day = clipped(titled(conversation, say), 100), day_of(conversation.created_at, say)
    return discord.SelectOption(label=label, value=conversation.id, description=say("started {date}", date=day))
