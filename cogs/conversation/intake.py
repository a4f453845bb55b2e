"""Accepts the messages of a conversation's thread: in order, once each, and only those meant for the bot."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from weakref import WeakValueDictionary

import discord

from cogs.access import EMPTY_SHELF
from cogs.cards import is_repeated_in
from cogs.conversation.buttons import tells_of_waiting
from cogs.errors import hint, remove_notice, retry_transient
from cogs.i18n import Speech, speech_at
from cogs.interactions import not_here
from cogs.threads import take_over_name
from domain.conversation import Conversation
from domain.errors import StorageError
from domain.turn.chat_with_book import Reader
from domain.use_cases import UseCases

TALK_ABOUT = "talk-about"
"""The action of the menu of books that is offered below a message outside any conversation."""
ORDINARY = frozenset({discord.MessageType.default, discord.MessageType.reply})

_TOKEN = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|\#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|(?P<command>/[^:<>]+):\d+)>"
)
"""Markup that Discord shows as a name: the mention of a user, a role, a channel or a command, and a server's emoji."""
_TO_SOMEBODY = re.compile(r"\s*(?:<@[!&]?\d+>|@everyone\b|@here\b)")
"""The beginning of a message to somebody else, who may be called into the thread by it."""
_AFTER_A_NAME = r"[\s,:;\u2013\u2014-]*"
"""What stands between the bot's name and the question: "@Marginalia, who …"."""

_ASKING = re.compile(r"/(?:ask\b\s*|(?P<kept>(?:discuss|recap|who)\b\s*))(?:(?:question|name):)?", re.IGNORECASE)
"""The beginning of a command for questions that was sent as a message: what follows it is a question."""
_DOING = re.compile(r"(?i)/(?:books|chat|club|conversations|help|privacy|progress|settings|usage|verbose)(?![\w/])")
"""The beginning of a command that does something else."""

PAGE = 100
"""Messages per request."""
READ_AT_MOST = 5_000
"""The most messages of a busy thread that are read after an absence, besides the first page."""
LONG_TEXT = "message.txt"
"""The file that Discord's clients make of a text that is too long for one message."""
BOOK_ENDINGS = (
    *(".epub", ".mobi", ".azw", ".azw3", ".prc", ".fb2", ".fb2.zip", ".fbz", ".pdf", ".docx", ".odt", ".rtf"),
    *(".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".text"),
)
"""The ends of the names of files that can be added as books."""


def is_from_a_person(message: discord.Message) -> bool:
    """Not from a bot or a webhook, and not one of Discord's system messages ("Ann has renamed the thread")."""
    return not message.author.bot and message.webhook_id is None and message.type in ORDINARY


def is_named(message: discord.Message, bot_id: int) -> bool:
    """Whether its words mention the bot or its role; a reply alone may notify, and so mention, whom it answers."""
    return bot_id in message.raw_mentions or _own_role(message) in message.raw_role_mentions


def mentions(message: discord.Message, bot_id: int) -> bool:
    """Whether it notifies the bot or its role, as a reply to one of its messages may."""
    return any(user.id == bot_id for user in message.mentions) or _own_role(message) in message.raw_role_mentions


def replies_to(message: discord.Message, bot_id: int) -> bool:
    if message.type is not discord.MessageType.reply or message.reference is None:
        return False
    answered = message.reference.resolved
    return isinstance(answered, discord.Message) and answered.author.id == bot_id


def message_text(message: discord.Message, bot_id: int) -> str:
    """The text without the mention of the bot or a command that asks, and with names for other mentions, whose words
    are joined by no-break spaces. Blank if there is none.
    """
    names = {user.id: "\xa0".join(user.display_name.split()) for user in message.mentions}
    own_role = _own_role(message)

    def as_shown(match: re.Match[str]) -> str:
        if match["user"]:
            return "" if int(match["user"]) == bot_id else f"@{names.get(int(match['user']), '…')}"
        if match["role"]:
            return "" if int(match["role"]) == own_role else f"@{_role_name(message, int(match['role']))}"
        if match["channel"]:
            return f"#{_channel_name(message, int(match['channel']))}"
        return f":{match['emoji']}:" if match["emoji"] else match["command"]

    address = re.match(rf"\s*<(?:@!?{bot_id}|@&{own_role})>{_AFTER_A_NAME}", message.content)
    text = _TOKEN.sub(as_shown, message.content[address.end() if address else 0 :]).strip()
    asking = _ASKING.match(text)
    return f"{asking['kept'] or ''}{text[asking.end() :]}".strip() if asking else text


def whole_text(message: discord.Message, bot_id: int) -> str:
    """The same, with the messages that are forwarded in it."""
    return "\n".join([message_text(message, bot_id), *(each.content for each in message.message_snapshots)]).strip()


def _own_role(message: discord.Message) -> int:
    """The id of the role that Discord made for the bot, which people mention by mistake; 0 if there is none."""
    role = message.guild.self_role if message.guild else None
    return role.id if role else 0


def _role_name(message: discord.Message, role_id: int) -> str:
    role = message.guild.get_role(role_id) if message.guild else None
    return role.name if role else "…"


def _channel_name(message: discord.Message, channel_id: int) -> str:
    channel = message.guild.get_channel_or_thread(channel_id) if message.guild else None
    return channel.name if channel else "…"


Thread = discord.Thread | discord.PartialMessageable
"""A thread, or direct messages; a partial thread is archived, or unknown to the client."""


class IntakeResult(Enum):
    """What became of a message."""

    ASKED = auto()
    """It waits for its answer."""
    KNOWN = auto()
    """It was accepted before."""
    OVERHEARD = auto()
    """It is meant for others."""
    FIRST_OVERHEARD = auto()
    """It is the first message in this thread that is probably meant for others: people are now told how to ask."""
    WORDLESS = auto()
    """It is meant for the bot and has no text."""
    COMMAND = auto()
    """It is a command that was sent as a message, so nothing is done."""
    NOT_HERE = auto()
    """It is meant for the bot, but in a channel where the bot may not be used."""
    UNREADABLE = auto()
    """It is meant for the bot, but Discord does not show the bot its text."""


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The result of reading a thread. `asked`: a message is waiting for an answer.

    `deleted` are the ids of questions and answers that are gone, `edited` the messages of questions, or those that
    repeat them, with other words.
    """

    asked: bool = False
    deleted: tuple[int, ...] = ()
    edited: tuple[discord.Message, ...] = ()


class MessageIntake:
    """Takes in messages, each once. `bot_id` is the bot's own id.

    `reads_messages` False: Discord delivers the text of messages only if they mention or reply to the bot.
    """

    def __init__(self, use_cases: UseCases, *, reads_messages: bool) -> None:
        self._use_cases = use_cases
        self._reads_messages = reads_messages
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._up_to_date: set[int] = set()
        self._read_from: dict[int, int] = {}
        """By thread that could not be read to the end: the message after which to continue, whatever was accepted
        since.
        """

    def order(self, channel_id: int) -> asyncio.Lock:
        """A lock, held while a message of the channel is accepted, so that messages are accepted in the order of
        arrival.
        """
        return self._locks.setdefault(channel_id, asyncio.Lock())

    def forget_session(self) -> None:
        """Messages may have been missed in any thread."""
        self._up_to_date.clear()

    def note_new_thread(self, thread_id: int) -> None:
        """Nothing can have been missed in a thread that was opened during this session."""
        self._up_to_date.add(thread_id)

    def lose_sight(self, thread_ids: Iterable[int]) -> None:
        """Messages may be missed in these threads."""
        self._up_to_date.difference_update(thread_ids)

    def note_missed(self, thread_id: int) -> None:
        """A message was written in a thread of ours that belonged to no conversation at the time."""
        self._up_to_date.discard(thread_id)

    def has_read(self, thread_id: int) -> bool:
        """Whether all messages there have been accepted; ask while holding the `order`."""
        return thread_id in self._up_to_date

    def is_readable(self, message: discord.Message) -> bool:
        """Whether Discord tells the bot what a message says; if it does, one without a text says nothing."""
        return self._reads_messages or message.guild is None or bool(message.content)

    async def accept(self, message: discord.Message, conversation: Conversation, bot_id: int) -> IntakeResult:
        """Take in a message.

        Raises:
            StorageError: it could not be stored.
        """
        author = str(message.author.id)
        if await self.leaves_out(message.author):
            return IntakeResult.OVERHEARD
        text = message_text(message, bot_id)
        addressed = message.guild is None or await self.is_for_bot(message, bot_id)
        if addressed and not self.is_readable(message):
            return IntakeResult.UNREADABLE
        if not addressed and (not self._reads_messages or await self._is_company(conversation, author)):
            await self._use_cases.company.note_present(conversation.id, author)
            return await self._leave_to_others(conversation)
        if not addressed and _TO_SOMEBODY.match(message.content):
            return IntakeResult.OVERHEARD
        if not text or _DOING.match(text):
            return IntakeResult.COMMAND if text else IntakeResult.WORDLESS
        if not await self._may_answer_in(message, conversation):
            return IntakeResult.NOT_HERE
        reader = Reader(author, message.author.display_name)
        kept = await self._use_cases.chat.receive(
            conversation.id, text, reader, external_id=str(message.id), written_at=message.created_at
        )
        return IntakeResult.KNOWN if kept is None else IntakeResult.ASKED

    async def is_for_bot(self, message: discord.Message, bot_id: int) -> bool:
        """Whether a message in a server is addressed to the bot. Replies to what it has posted for a club, such as the
        questions to discuss, are for the members.

        Raises:
            StorageError: it could not be looked up.
        """
        if is_named(message, bot_id):
            return True
        if not mentions(message, bot_id) and not replies_to(message, bot_id):
            return False
        server, replied = message.guild, message.reference
        clubs = self._use_cases.clubs.store
        return not (server and replied and await clubs.has_posted(str(server.id), str(replied.message_id)))

    async def hint_for(self, result: IntakeResult, message: discord.Message, say: Speech, bot_id: int) -> str:
        """What to reply to a message besides its answer, if it has one; empty if there is nothing to say."""
        if result is IntakeResult.ASKED:
            return "\n".join(await self._hints_about_unread(message, say, bot_id))
        return _hint_for(result, message, say, bot_id)

    async def how_to_start(self, message: discord.Message, say: Speech, bot_id: int, *, has_books: bool) -> str:
        """The reply to somebody who addresses the bot where there is no conversation."""
        unread = await self._hints_about_unread(message, say, bot_id)
        start = say(EMPTY_SHELF) if message.guild else _how_to_read_alone(say)
        if has_books:
            start = _which_book(say, asks=bool(message_text(message, bot_id)))
        return "\n".join([*unread, start])

    async def _hints_about_unread(self, message: discord.Message, say: Speech, bot_id: int) -> list[str]:
        """The small print for files of a message, or of the one that it replies to, which are not read."""
        hints = [await self._hint_about_reply(message, say, bot_id)]
        if message.attachments:
            hints.append(
                f"-# {text_in_files(message, say) or say('I only read what you write, not what is attached.')}"
            )
        return [*filter(None, hints)]

    async def _hint_about_reply(self, message: discord.Message, say: Speech, bot_id: int) -> str:
        """The hint for a reply to a message that is neither an answer nor a question, and so is not read."""
        replied = message.reference if message.type is discord.MessageType.reply else None
        if replied is None or replies_to(message, bot_id):
            return ""
        with suppress(StorageError):
            if not await self._use_cases.transcripts.questions_in(str(replied.message_id)):
                return say(
                    "-# I don't read the message you're replying to. To ask about it, open its menu and choose "
                    "**Apps** → **Ask about this**."
                )
        return ""

    async def leaves_out(self, author: discord.abc.User) -> bool:
        """Whether they have opted out, so that nothing they write is stored or answered."""
        return await self._use_cases.people.is_left_out(str(author.id))

    async def catch_up(
        self,
        thread: Thread,
        conversation: Conversation,
        bot_id: int,
        *,
        before: discord.abc.Snowflake | None = None,
    ) -> CaughtUp:
        """Take in what was written in a thread while the bot was away, and find out what was changed there.

        Call it while holding the channel's `order`. Messages that are no questions are skipped silently, but if people
        began to write among themselves, they are told how to ask. A name that a person has given the thread meanwhile
        becomes the conversation's title.

        Raises:
            StorageError: something could not be stored.
            DISCORD_ERRORS: Discord refuses, or has trouble.
        """
        if thread.id in self._up_to_date:
            return CaughtUp()
        newest = await self._use_cases.transcripts.newest_external_id(conversation.id)
        known = self._read_from.setdefault(thread.id, int(newest or 0))
        shown = await self._shown_in(thread.id)
        replies = {int(each) for each in await self._use_cases.transcripts.reply_ids(conversation.id, PAGE)}
        asked = False
        page, written = await retry_transient(partial(_between, thread, known, before))
        last = known if before is None else min(known, before.id - 1)  # the page has nothing after that
        first = page[0].id if len(page) == PAGE else thread.id  # it may have continued in another thread before
        changed = await self._changed(page, (first, last), conversation, bot_id)
        if any(message.author.id == bot_id for message in page):
            gone = {*replies, *shown} - {message.id for message in page}
            gone = {each for each in gone if first <= each and (before is None or each < before.id)}
            changed = replace(changed, deleted=(*changed.deleted, *sorted(gone)))
        changed = replace(changed, edited=(*changed.edited, *self._reworded(page, shown, bot_id)))
        for message in written:
            result = await self.accept(message, conversation, bot_id) if is_from_a_person(message) else None
            asked |= result is IntakeResult.ASKED
            if result is IntakeResult.FIRST_OVERHEARD:
                await hint(message, _hint_for(result, message, await speech_at(self._use_cases, message), bot_id))
            conversation = replace(conversation, shared=conversation.shared or result is IntakeResult.FIRST_OVERHEARD)
        await take_over_name(written, conversation, self._use_cases.conversations)
        self._up_to_date.add(thread.id)
        del self._read_from[thread.id]
        for message in page:  # it no longer applies: everything that was asked is accepted
            if message.author.id == bot_id and tells_of_waiting(message):
                await remove_notice(message)
        return replace(changed, asked=asked)

    async def look_at(self, channel: discord.abc.Messageable, channel_id: int, bot_id: int) -> CaughtUp:
        """Find out what was changed of questions that were said in a channel before their books were chosen.

        Raises:
            StorageError: it could not be found out.
            DISCORD_ERRORS: Discord refuses, or has trouble.
        """
        shown = await self._shown_in(channel_id)
        page = await retry_transient(partial(newest_page, channel))
        if not page and shown:  # so it is, too, where the bot may not read the history, which Discord says of a message
            with suppress(discord.NotFound):
                await retry_transient(partial(channel.fetch_message, max(shown)))
        oldest = page[-1].id if len(page) == PAGE else 0
        gone = {each for each in shown if each >= oldest} - {message.id for message in page}
        return CaughtUp(deleted=tuple(sorted(gone)), edited=self._reworded(page, shown, bot_id))

    async def _shown_in(self, channel_id: int) -> dict[int, str]:
        """The messages there that show questions under other ids, with the words of these."""
        shown = await self._use_cases.transcripts.shown_in(str(channel_id), PAGE)
        return {int(number): words for number, words in shown.items()}

    def _reworded(
        self, page: Sequence[discord.Message], known: Mapping[int, str], bot_id: int
    ) -> tuple[discord.Message, ...]:
        """The messages whose words differ from the stored ones."""

        def says_it(message: discord.Message, words: str) -> bool:
            if message.author.id == bot_id:
                return is_repeated_in(message, [words])
            is_known = message.edited_at is None or not self.is_readable(message)
            return is_known or message_text(message, bot_id) == words

        return tuple(each for each in page if each.id in known and not says_it(each, known[each.id]))

    async def _changed(
        self, page: Sequence[discord.Message], span: tuple[int, int], conversation: Conversation, bot_id: int
    ) -> CaughtUp:
        """Questions between two ids that should be in a page and are gone or have other words.

        If the page has no message of the bot, it may be empty because the bot may not read the history.
        """
        first, last = span
        if first > last or not any(message.author.id == bot_id for message in page):
            return CaughtUp()
        there = {message.id for message in page}
        questions = await self._use_cases.transcripts.questions(conversation.place_id or "", PAGE)
        numbered = {each.external_id or "": each for each in questions}
        kept = {int(number): each.content for number, each in numbered.items() if number.isdecimal()}
        kept = {number: words for number, words in kept.items() if first <= number <= last}
        gone = tuple(each for each in kept if each not in there)
        return CaughtUp(deleted=gone, edited=self._reworded(page, kept, bot_id))

    async def _may_answer_in(self, message: discord.Message, conversation: Conversation) -> bool:
        """Whether the server's managers allow the bot in the thread's channel."""
        if conversation.server_id is None or message.guild is None:
            return True
        channel = message.guild.get_channel(int(conversation.channel_id or 0))
        ids = (message.channel.id, conversation.channel_id, channel.category_id if channel else None)
        return await self._use_cases.servers.may_be_used_in(conversation.server_id, [str(each) for each in ids])

    async def _is_company(self, conversation: Conversation, author: str) -> bool:
        """Whether anybody but the author writes in the thread."""
        return conversation.shared or bool({*await self._use_cases.transcripts.authors(conversation.id)} - {author})

    async def _leave_to_others(self, conversation: Conversation) -> IntakeResult:
        if conversation.shared or not self._reads_messages:
            return IntakeResult.OVERHEARD
        await self._use_cases.conversations.share(conversation.id)
        return IntakeResult.FIRST_OVERHEARD


async def _between(
    thread: Thread, known: int, before: discord.abc.Snowflake | None
) -> tuple[list[discord.Message], list[discord.Message]]:
    """The newest page of messages, and those newer than `known`, oldest first.

    If those do not fit into a page: the first page of them, and the newest.
    """
    page = [message async for message in thread.history(before=before, limit=PAGE, oldest_first=False)][::-1]
    if len(page) < PAGE or page[0].id <= known:
        return page, [message for message in page if message.id > known]
    pages = thread.history(after=discord.Object(known), before=before, limit=PAGE, oldest_first=True)
    first = [message async for message in pages]
    newest = thread.history(after=first[-1], before=before, limit=READ_AT_MOST, oldest_first=False)
    return page, first + [message async for message in newest][::-1]


async def newest_page(channel: discord.abc.Messageable) -> list[discord.Message]:
    """The newest messages of a channel, the newest first."""
    return [message async for message in channel.history(limit=PAGE)]


def _hint_for(result: IntakeResult, message: discord.Message, say: Speech, bot_id: int) -> str:
    match result:
        case IntakeResult.WORDLESS | IntakeResult.COMMAND:
            return on_no_question(message, say, bot_id) or _on_wordless(message, say)
        case IntakeResult.UNREADABLE:
            return say("I can't read this message. Mention me in it, then I can.")
        case IntakeResult.NOT_HERE:
            return not_here(say)
        case IntakeResult.FIRST_OVERHEARD:
            return say("There's more than one of you here now, so I'll only answer when you mention me or reply to me.")
        case _:
            return ""


def on_no_question(message: discord.Message, say: Speech, bot_id: int) -> str:
    """What to say to what asks nothing, whatever the book: a command that was sent as a message, a forwarded message,
    or files alone; empty for others.
    """
    if text := message_text(message, bot_id):
        return _on_command(text, say)
    if message.message_snapshots:
        return say(
            "I don't read forwarded messages on their own. To ask about this one, open its menu and choose **Apps** → "
            "**Ask about this**."
        )
    return text_in_files(message, say)


def _on_command(text: str, say: Speech) -> str:
    if (command := _DOING.match(text)) is None:
        return ""
    return say(
        "That came as a message, so nothing has happened. Choose {command} from the list that Discord shows while you "
        "type it.",
        command=command[0].lower(),
    )


def _which_book(say: Speech, *, asks: bool) -> str:
    """The reply where there are books to choose from below it, to somebody who has no conversation there yet."""
    if asks:
        return say("Which book is it about? Choose it here, and I'll answer you. If it isn't listed, start with /chat.")
    return say("Which book shall we talk about? Choose it here. If it isn't listed, start with /chat.")


def _how_to_read_alone(say: Speech) -> str:
    """The reply to direct messages from somebody whose own shelf is empty."""
    return say(
        "Let's read a book together. Find a free one with /books find, or add your own with /books add. Then start "
        "with /chat, and write to me again."
    )


def text_in_files(message: discord.Message, say: Speech) -> str:
    """What to say about attached files, which are not read here: long texts, and books; empty for others."""
    names = [each.filename.lower() for each in message.attachments]
    if LONG_TEXT in names:
        return say(
            "Discord made a file of your long text, and I don't open files here. Please send it in messages of up to "
            "2,000 characters."
        )
    if any(each.endswith(BOOK_ENDINGS) for each in names):
        return say("I only read text here. To add a book, use /books add with the file.")
    return ""


def _on_wordless(message: discord.Message, say: Speech) -> str:
    if message.attachments or message.stickers or message.poll:
        return say("I only read text. What would you like to know?")
    return say("What would you like to know about the book?")
