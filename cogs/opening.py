"""Opening threads for conversations: for /chat, /conversations and the buttons that do the same."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import discord
from discord.ui import View

from cogs.access import assert_may_write_in, first_questions, visibility_of
from cogs.cards import conversation_card, earlier_menu, of_shared_names, plain, repeated, titled, welcome_buttons
from cogs.conversation.recovery import OPENING, WORK, tell_restarted
from cogs.errors import (
    DISCORD_ERRORS,
    TRANSIENT_ERRORS,
    Refusal,
    edit_reply,
    retry_transient,
    sentence_for,
    tell_kept,
    too_many_opened,
)
from cogs.i18n import Speech, speech_for_all, speech_of
from cogs.interactions import acknowledge, confirmation, defer_if_slow, reply
from cogs.permissions import lacking_to_post
from cogs.removals import Removals
from cogs.services import Conversing, server_of, use_cases_of
from cogs.threads import (
    announce,
    announced,
    assert_can_post,
    cards_in,
    home_of,
    is_in_private_thread,
    is_seen_by_more,
    open_private_thread,
    open_public_thread,
    show_in_list_of,
    thread_name,
    thread_of,
    wake,
    would_show_more,
)
from domain.book import Book
from domain.chat import ChatMessage, PlatformMessage
from domain.conversation import UNTITLED, Conversation
from domain.errors import MarginaliaError
from domain.library.progress import position_line
from domain.records import LimitedAction, PersonalPost
from domain.turn.chat_with_book import Reader
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

SAID = "said"
"""On an interaction: the message with the question, if that was said before a book was chosen."""

MOST_OFFERED = 25


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
        """Lead the person who pressed a button on a book's card to a conversation about the book, and ask the question
        there.

        Who has talked about the book before goes on with the newest of these conversations, where the same question is
        not asked twice; without a question, they may choose. So it is no matter how often the button is pressed. What
        was said here is asked nowhere where more people see it.

        Raises:
            Refusal, ConversationError: as `start` and `resume`.
        """
        async with self._order.setdefault((interaction.user.id, book.id), asyncio.Lock()):
            earlier = await self.earlier(interaction, book)
            if earlier and not question:
                await offer(interaction, book, earlier)
                return
            earlier = [each for each in earlier if not would_show_more(interaction, each)]
            if not earlier:
                private = bool(question) and is_in_private_thread(interaction)
                asked = await self._open(interaction, book, None, question, private=private)
            else:
                is_new = not await self._was_asked(interaction, earlier[0], question)
                asked = await self._go_back(interaction, earlier[0], question if is_new else None)
        await self._answer(interaction, asked)

    async def earlier(self, interaction: discord.Interaction[Any], book: Book) -> Sequence[Conversation]:
        """The conversations on the book that the reader has begun, newest first."""
        known = await self._use_cases.conversations.list_by_book(book.id)
        own = [each for each in known if each.owner_id == str(interaction.user.id) and _is_talk(each)]
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
    ) -> Conversation | None:
        """The new conversation, if its first message is to be answered."""
        if server_of(interaction) is None:
            return await self._open_direct(interaction, book, title, message)
        channel, conversation_id = home_of(interaction, private=private), uuid.uuid4().hex
        await defer_if_slow(interaction, self._count(interaction))
        replied = interaction.response.is_done() or interaction.message is not None
        in_reply = not (private or replied or lacking_to_post(interaction)) and interaction.channel == channel
        if in_reply:
            interaction.extras[WORK] = OPENING, conversation_id
        answerable = await acknowledge(interaction, ephemeral=not in_reply)
        position = await self._position(interaction, book)
        async with self._new(interaction, book, title, message, conversation_id) as conversation:
            # Kept before there is a thread: from the moment on that it is bound, the question has its answer.
            asked = await self._keep(interaction, conversation, message)
            name = thread_name(conversation, book)
            async with announced(interaction, book, wanted=in_reply and answerable) as announcement:
                if private:
                    thread = await open_private_thread(channel, name, interaction.user)
                else:
                    thread = await open_public_thread(channel, name, announcement)
        bound = await self._move_in(interaction, thread, replace(conversation, private=private), book, position, asked)
        if answerable and not announcement:
            say = speech_of(interaction)
            text = say("Your conversation about “{title}”: {thread}", title=plain(book.title), thread=thread.mention)
            await _reply(interaction, text)
        elif not answerable:
            await show_in_list_of(thread, interaction.user)
        await self._conversing.opened(thread, bound)
        return bound if asked else None

    async def go_on(self, interaction: discord.Interaction[Any], conversation_id: str | None) -> None:
        """Open a thread whose opening was interrupted by a kill of the process; if that has happened twice, say so."""
        conversation = await self._use_cases.conversations.find(conversation_id or "")
        channel = interaction.channel
        if conversation is None or not isinstance(channel, discord.TextChannel):
            await tell_restarted(interaction)
            return
        try:
            book = await self._use_cases.shelf.get(conversation.book_id)
            position = await self._position(interaction, book)
            asked = await self._use_cases.transcripts.questions_in(_id_of_question(interaction))
            announcement = await announce(interaction, book)
            thread = await open_public_thread(channel, thread_name(conversation, book), announcement)
            standing = await cards_in(thread, thread.guild.me.id)
            bound = await self._move_in(interaction, thread, conversation, book, position, asked, standing)
            await self._conversing.opened(thread, bound)
            await self._answer(interaction, bound if asked else None)
        except TRANSIENT_ERRORS:
            raise
        except (MarginaliaError, discord.HTTPException) as error:
            await edit_reply(interaction, content=sentence_for(error, speech_for_all(interaction)), embed=None)

    async def _open_direct(
        self, interaction: discord.Interaction[Any], book: Book, title: str | None, message: str | None
    ) -> Conversation | None:
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
        await self._repeat(interaction, place, bound, asked)
        return bound if asked else None

    async def _count(self, interaction: discord.Interaction[Any]) -> None:
        """Count that the person opens a conversation.

        Raises:
            Refusal: the person has reached their limit.
        """
        if wait := await self._use_cases.allowances.take(str(interaction.user.id), LimitedAction.OPEN_CONVERSATION):
            limit = self._use_cases.facts.limits.conversations_per_day
            raise Refusal(too_many_opened(limit, wait, speech_of(interaction)))

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
    ) -> Conversation | None:
        """The conversation, if something is to be answered in it."""
        server = server_of(interaction)
        if server is None:
            return await self._go_back_directly(interaction, conversation, message)
        answerable = await acknowledge(interaction, ephemeral=True)
        thread = await thread_of(server, conversation)
        is_lost = thread is None
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
        waiting = await self._use_cases.chat.waiting(conversation.id)
        text = speech_of(interaction)(
            "“{title}” continues here: {thread}", title=plain(thread.name), thread=thread.mention
        )
        if answerable:
            await _reply(interaction, text)
        if is_lost and not confirmed:
            asked = [each for each in waiting if each.author_id == str(interaction.user.id)]
        await self._repeat(interaction, thread, conversation, asked)
        return conversation if waiting else None

    async def _go_back_directly(
        self, interaction: discord.Interaction[Any], conversation: Conversation, message: str | None
    ) -> Conversation | None:
        assert_can_post(interaction)
        answerable = await acknowledge(interaction, ephemeral=False)
        asked = await self._keep(interaction, conversation, message)
        place, bound = await self._conversing.make_current(interaction, conversation)
        if answerable:
            title = (await self._use_cases.shelf.get(bound.book_id)).title if bound.title == UNTITLED else bound.title
            await _reply(interaction, _talking_line(title, speech_of(interaction)))
        await self._repeat(interaction, place, bound, asked)
        return bound if asked else None

    @contextlib.asynccontextmanager
    async def _new(
        self,
        interaction: discord.Interaction[Any],
        book: Book,
        title: str | None,
        message: str | None,
        conversation_id: str = "",
    ) -> AsyncIterator[Conversation]:
        """A new conversation, deleted again if it gets no thread."""
        conversation = await self._use_cases.conversations.create(
            book.id,
            title,
            first_message=message or "",
            owner_id=str(interaction.user.id),
            conversation_id=conversation_id,
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
        return thread, await self._move_in(interaction, thread, conversation, book, position, [])

    async def _move_in(
        self,
        interaction: discord.Interaction[Any],
        thread: discord.Thread,
        conversation: Conversation,
        book: Book,
        position: str,
        asked: Sequence[ChatMessage],
        standing: Sequence[discord.Message] = (),
    ) -> Conversation:
        """Post the card of a conversation and its first question in a new thread, and bind it to the thread, in this
        order: a bound conversation is answered after a kill, and the answer comes last. What stands is not repeated.
        """
        placed = replace(conversation, guild_id=str(thread.guild.id))
        try:
            if not any(each.components for each in standing):
                await self._welcome(interaction, thread, placed, book, position, asked[0].content if asked else None)
            if all(each.components for each in standing):
                await self._repeat(interaction, thread, placed, asked)
        finally:  # a stop may cut it short, and the thread would be nobody's
            bound = await self._use_cases.conversations.bind(
                conversation.id,
                guild_id=str(thread.guild.id),
                channel_id=str(thread.parent_id),
                thread_id=str(thread.id),
                private=conversation.private,
            )
        return bound

    async def _position(self, interaction: discord.Interaction[Any], book: Book) -> str:
        """Where the reader is in the book, as a sentence that others see.

        Raises:
            BookError: INVALID_STATE, the book cannot be opened, which is better found out before there is a
            thread.
        """
        file = await self._use_cases.shelf.open(book)
        position = await self._use_cases.positions.seen_by_others(str(interaction.user.id), book)
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
        """Ask a question in a conversation for the person who pressed a button there, if they may write there."""
        if asked := await self._keep(interaction, conversation, question):
            assert isinstance(interaction.channel, discord.abc.Messageable)
            await self._repeat(interaction, interaction.channel, conversation, asked)
            await self._answer(interaction, conversation)

    async def _keep(
        self, interaction: discord.Interaction[Any], conversation: Conversation, message: str | None
    ) -> list[ChatMessage]:
        """Store a first message before anything else is done with it, and return it; empty if there is none."""
        if not message or not message.strip():
            return []
        reader = Reader(str(interaction.user.id), interaction.user.display_name)
        said: discord.Message | None = interaction.extras.get(SAID)
        kept = await self._use_cases.chat.receive(
            conversation.id,
            message,
            reader,
            external_id=_id_of_question(interaction),
            written_at=interaction.created_at,
            said_in=PlatformMessage(str(said.id), str(said.channel.id)) if said else None,
        )
        if said:
            interaction.client.dispatch("question_shown", said)
        return [kept] if kept else []

    async def _repeat(
        self,
        interaction: discord.Interaction[Any],
        place: discord.abc.Messageable,
        conversation: Conversation,
        asked: Sequence[ChatMessage],
    ) -> None:
        """Repeat messages of one person that were kept in their place, where nobody else would see them."""
        if not asked:
            return
        author, name = asked[-1].author_id, asked[-1].author_name
        question = discord.Embed(description=repeated([each.content for each in asked]))
        question.set_author(name=name, icon_url=interaction.user.display_avatar.url)
        posted = await _post(place, question, nonce=f"ask:{interaction.id}")
        if posted is not None:
            where = (str(posted.id), str(posted.channel.id), author, conversation.guild_id)
            ids, as_of = tuple(each.id for each in asked), interaction.created_at
            await self._removals.note(PersonalPost(*where, name=name, repeats=ids, as_of=as_of))
            interaction.client.dispatch("question_shown", posted)

    async def _answer(self, interaction: discord.Interaction[Any], conversation: Conversation | None) -> None:
        if conversation is not None:
            await self._conversing.answer_in(conversation, partial(tell_kept, interaction))


def _id_of_question(interaction: discord.Interaction[Any]) -> str:
    """The id of a message that came with a command."""
    return f"command:{interaction.id}"


def _is_talk(conversation: Conversation) -> bool:
    """Whether it is one that somebody has begun to talk about a book: neither questions of /ask nor a club's."""
    return not conversation.is_aside and conversation.read_to is None


def _talking_line(title: str, say: Speech) -> str:
    return say("We're talking about “{title}” now. Just write here.", title=plain(title))


async def _ask_to_move(interaction: discord.Interaction[Any], conversation: Conversation) -> None:
    say, server = speech_of(interaction), server_of(interaction)
    title = plain(titled(conversation, say))
    if server and server.get_channel(int(conversation.channel_id or 0)):
        why = say("More people can see this channel than the one “{title}” was in.", title=title)
    else:
        why = say("The channel “{title}” was in is gone, and other people may see this one.", title=title)
    question = say(
        "Continue here? They'll see what you ask from now on, and my answers may draw on what you said before."
    )
    view = confirmation("chat-move", conversation.id, say("Go on here"), say, keep=say("Not here"))
    await interaction.edit_original_response(content=f"{why} {question}", view=view)


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
    text = say("You've talked about “{title}” before.", title=plain(book.title))
    alike, person = [each.id for each in of_shared_names(earlier, say)], str(interaction.user.id)
    asked = await defer_if_slow(interaction, use_cases_of(interaction).transcripts.last_questions(alike, person))
    await reply(interaction, content=text, view=earlier_menu(book, earlier, asked, say))
