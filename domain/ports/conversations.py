"""The ports for what the database keeps of people and servers: conversations, positions, settings."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from domain.book import ReadingPosition
from domain.chat import ChatMessage, PlatformMessage
from domain.concurrency import ALL, Shard
from domain.conversation import Conversation, TitleSource, Turn
from domain.records import (
    Erasure,
    OpenReply,
    PersonalPost,
    PostingPlace,
    Removal,
    ServerSettings,
)


class ConversationRepository(Protocol):
    """Conversations. Those on a removed book are kept, but invisible until the book is restored."""

    async def save(self, conversation: Conversation) -> None:
        """Insert or update."""
        ...

    async def change(self, conversation_id: str, change: Callable[[Conversation], Conversation]) -> Conversation | None:
        """Change one in one transaction, and return what it is now; `change` may be called again.

        None: it is gone, and stays so.
        """
        ...

    async def get(self, conversation_id: str) -> Conversation | None: ...
    async def get_by_thread(self, thread_id: str) -> Conversation | None: ...
    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        """Those on a server's shelf, or on a person's own; newest first."""
        ...

    async def get_by_reader(self, reader_id: str) -> Sequence[Conversation]:
        """Those that somebody owns, or wrote in, also where their book has been removed."""
        ...

    async def find_in_guild(
        self, guild_id: str, words: Sequence[str], limit: int, book_id: str | None = None
    ) -> Sequence[Conversation]:
        """The newest ones in whose title, book title or date (YYYY-MM-DD) each word occurs, without system prompts.

        Case is ignored in every language.
        """
        ...

    async def make_current(self, conversation_id: str, guild_id: str, channel_id: str) -> Conversation | None:
        """Move a conversation to these direct messages in place of the one there, in one step; None: it is unknown."""
        ...

    async def list_current_direct(self, limit: int) -> Sequence[Conversation]:
        """Those that are current in direct messages, at most `limit`, the most recently used first."""
        ...

    async def delete(self, conversation_id: str, reader_id: str = "") -> Sequence[Removal]:
        """Delete with its messages and turns. Unknown ids are ignored.

        The messages in which /ask has shown its answers to everybody are on the list of removals then, at the request
        of that reader, and are returned.
        """
        ...

    async def update_read_to(self, conversation_id: str, read_to: int | None) -> None:
        """Set the offset beyond which nothing is told in it; `save` does not change that. Unknown ids are ignored."""
        ...

    async def note_gone(self, guild_id: str, place_id: str, at: datetime) -> int:
        """Record that the thread or channel with this id is gone; return how many conversations were in it."""
        ...

    async def note_found(self, conversation_id: str) -> None:
        """Record that its thread exists, or that it has a new one."""
        ...

    async def update_title(
        self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON, made_of: str | None = None
    ) -> bool:
        """Rename it and write nothing else. Unknown ids are ignored, and so is a title `made_of` a deleted message.

        False, and nothing changed, if the current title comes from a stronger source: only a person replaces what a
        person or a model chose.

        Raises:
            ConversationError: INVALID_STATE, the title is blank.
        """
        ...


class ChatMessageRepository(Protocol):
    """Messages in the order in which a model sees them: turn by turn, then those without a turn."""

    async def save(self, message: ChatMessage) -> None:
        """Insert or update."""
        ...

    async def save_batch(self, messages: Sequence[ChatMessage]) -> None:
        """All or none."""
        ...

    async def add_incoming(
        self, message: ChatMessage, written_at: datetime | None = None, said_in: PlatformMessage | None = None
    ) -> bool:
        """Insert a reader's message; False, and nothing changed, if its `external_id` is known.

        A message is not inserted either if its author was erased after `written_at`; it is known from then on.
        `said_in` is where its author wrote it, if it is known by another id, or the message that it quotes.
        """
        ...

    async def get_by_conversation(self, conversation_id: str) -> Sequence[ChatMessage]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[ChatMessage]:
        """The messages of the newest `turns` turns, and all waiting ones; no slower in a long conversation.

        Failed turns do not count; those among the newest are included.
        """
        ...

    async def get_by_external_id(self, external_id: str) -> ChatMessage | None: ...
    async def list_questions_in(self, message_id: str) -> Sequence[ChatMessage]:
        """The readers' messages that a message of the platform is, or shows under another id, in order."""
        ...

    async def list_shown_in(self, channel_id: str, limit: int) -> Mapping[str, str]:
        """The newest messages of a channel that show questions under other ids, with the words of one of these."""
        ...

    async def list_repetitions(self, message_id: str) -> Sequence[PlatformMessage]:
        """The bot's own messages that repeat a reader's message."""
        ...

    async def list_channels_before(self, guild_id: str) -> Sequence[str]:
        """The channels of a server that `add_incoming` was told of as `said_in`, the last 200 of them."""
        ...

    async def get_newest_external_id(self, conversation_id: str) -> str | None:
        """The largest message id known there, those of erased messages included."""
        ...

    async def note_known(self, conversation_id: str, external_id: str) -> None:
        """Treat a platform's id and all smaller ones as known there: earlier messages belong elsewhere."""
        ...

    async def list_authors(self, conversation_id: str) -> Sequence[str]:
        """Who has written there, apart from the bot and its tools."""
        ...

    async def get_last_written(self, reader_id: str, book_id: str, *, but: str) -> datetime | None:
        """When somebody last wrote in any conversation about a book, but for the message with that `external_id`."""
        ...

    async def note_present(self, conversation_id: str, reader_id: str, at: datetime | None = None) -> None:
        """Record that somebody writes in its thread, now or at that time, though not to the bot. Deleted conversations
        are ignored.
        """
        ...

    async def note_absent(self, conversation_id: str, reader_id: str, since: datetime) -> None:
        """Record that somebody no longer reads along, until they write again later."""
        ...

    async def list_people(self, conversation_id: str, since: datetime | None = None) -> Sequence[str]:
        """Who reads along, as far as is known: the opener and everybody who has written in its thread since, to the
        bot or not, without those recorded as absent.
        """
        ...

    async def list_questions(self, place_id: str, limit: int) -> Sequence[ChatMessage]:
        """The newest messages of readers in a thread's conversation, or in all those of direct messages, newest
        first.
        """
        ...

    async def list_waiting(self, shard: Shard = ALL) -> Sequence[str]:
        """The conversations of a shard with a reader's message that waits for its turn."""
        ...

    async def delete(self, message_id: str) -> None: ...
    async def delete_by_conversation(self, conversation_id: str) -> None: ...


class TurnRepository(Protocol):
    """Turns. Each change is one transaction, together with the messages it affects."""

    async def begin(self, conversation_id: str, message_ids: Sequence[str], now: datetime) -> Turn:
        """Open the next turn for these readers' messages. Messages deleted meanwhile are skipped.

        Raises:
            ConversationError: NOT_FOUND, the conversation is gone; INVALID_STATE, a message belongs to another
            turn or conversation, or none of them is left.
        """
        ...

    async def finish(self, turn: Turn, messages: Sequence[ChatMessage] = ()) -> None:
        """Write the turn's new state and the messages it produced, all or none.

        An empty `reply_ids` or `trace_id` keeps what `update_delivery` has written.

        Raises:
            ConversationError: NOT_FOUND, the turn is gone (its conversation or its question was deleted).
        """
        ...

    async def get(self, turn_id: str) -> Turn | None: ...
    async def get_by_conversation(self, conversation_id: str) -> Sequence[Turn]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[Turn]:
        """The newest ones, in order; failed turns do not count but are included."""
        ...

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that has no answer: its readers' messages wait again, and the turn is deleted. Unknown ids are
        ignored.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        ...

    async def forget_question(self, message_id: str, expires_at: datetime) -> Turn | None:
        """Erase a reader's message, except for its Discord id, and a title made from it.

        None: the message was waiting, or others asked in its turn as well, and the turn goes on without it. Otherwise
        the turn is returned as it was: a delivered turn loses its calls and results, while its answer stays until the
        returned time and its asker may keep it; any other turn is deleted with its answer.
        """
        ...

    async def find_shown(self, message_id: str, channel_id: str, guild_id: str | None) -> str | None:
        """The id of the delivered turn whose answer a message of the platform shows, in a thread or as a reply."""
        ...

    async def forget_answer(self, turn_id: str, message_id: str) -> bool:
        """Delete an answer of which a message was deleted on the platform, with what was looked up for it.

        The question stays, as one without an answer; nobody waits for it. The answer's other messages are on the list
        of removals then. False: that message does not show the turn, or the turn is not delivered.
        """
        ...

    async def forget_asides_in(self, guild_id: str, place_id: str) -> None:
        """As `forget_answer`, for what /ask has answered in a thread or channel, or in threads of that channel."""
        ...

    async def reword_question(self, message_id: str, text: str) -> None:
        """Replace the words of a reader's message, and of a title made from them. Unknown ids are ignored."""
        ...

    async def keep_answer(self, turn_id: str) -> bool:
        """Keep an answer whose question was deleted; False: the answer is gone as well."""
        ...

    async def drop_answer(self, turn_id: str) -> bool:
        """Erase an answer whose question was deleted, and list it for removal; False: there is none."""
        ...

    async def drop_expired(self, before: datetime) -> int:
        """As `drop_answer`, for all answers that expired before then; return how many there were."""
        ...

    async def list_expiring(self) -> Sequence[Turn]:
        """Turns without a question whose answers expire unless somebody keeps them."""
        ...

    async def begin_again(self, turn_id: str) -> Turn | None:
        """Record that an answered turn is being answered again: until it is shown, its answer counts as not delivered.

        None: it is gone, or has no answer.
        """
        ...

    async def supersede(self, turn_id: str, turn: Turn, messages: Sequence[ChatMessage]) -> None:
        """Replace a turn by one with a new answer; the old turn is deleted with everything but its readers' messages.

        `turn` is new; `messages` are those readers' and the ones it produced. All or none.

        Raises:
            ConversationError: NOT_FOUND, the turn to be replaced is gone.
        """
        ...

    async def update_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None: ...
    async def list_undelivered(self, shard: Shard = ALL) -> Sequence[Turn]:
        """Turns of a shard that are RUNNING or ANSWERED, and FAILED ones nobody was told about, oldest first.

        At start-up these are the interrupted ones.
        """
        ...


class ReaderRepository(Protocol):
    """Positions in books and preferences of each person.

    People who have opted out have no position as long as they do, and so limit nobody.
    """

    async def get_position(self, reader_id: str, book_id: str) -> ReadingPosition: ...
    async def set_position(self, reader_id: str, book_id: str, position: ReadingPosition) -> None:
        """UNSET forgets the position."""
        ...

    async def is_in_club(self, reader_id: str, book_id: str) -> bool:
        """Whether somebody takes part in a running club on a book."""
        ...

    async def list_positions(self, book_id: str) -> Sequence[tuple[int, str]]:
        """The offset and the id of each reader in the middle of a book, the slowest first."""
        ...

    async def get_verbose(self, reader_id: str) -> bool | None: ...
    async def set_verbose(self, reader_id: str, verbose: bool) -> None: ...
    async def get_locale(self, reader_id: str) -> str | None: ...
    async def set_locale(self, reader_id: str, locale: str) -> None: ...
    async def is_opted_out(self, reader_id: str) -> bool: ...
    async def list_opted_out(self) -> Collection[str]: ...
    async def set_opted_out(self, reader_id: str, opted_out: bool) -> None:
        """Opt somebody out or in again. Their clubs become due, because a section may open now."""
        ...


class ServerRepository(Protocol):
    """What the managers of a server have chosen for it."""

    async def get(self, server_id: str) -> ServerSettings:
        """A server's settings; the defaults where it has chosen nothing."""
        ...

    async def update(self, server_id: str, change: Callable[[ServerSettings], ServerSettings]) -> ServerSettings:
        """Change the settings in one transaction and return the new ones; `change` may be called again."""
        ...

    async def delete(self, server_id: str) -> None:
        """Forget them. Unknown ids are ignored."""
        ...

    async def is_greeted(self, server_id: str) -> bool:
        """Whether the bot has introduced itself there."""
        ...

    async def greets_since(self) -> datetime:
        """When the database was migrated to the first version that greets servers it was invited to while offline."""
        ...

    async def set_greeted(self, server_id: str, greeted: bool) -> None: ...
    async def all(self) -> Mapping[str, ServerSettings]:
        """The settings of each server that has chosen any, by the server's id."""
        ...


class PrivacyRepository(Protocol):
    """Everything kept about one person, where the bot has shown them, and what remains to be removed there."""

    async def export(self, reader_id: str) -> dict[str, Any]:
        """All of it, ready for JSON."""
        ...

    async def erase(self, reader_id: str, written_before: datetime | None = None) -> Erasure:
        """Erase it at once and for good; the rest stays valid for the people it belongs to.

        Positions and preferences are deleted, and so are conversations that are theirs alone and, elsewhere, the turns
        they wrote in, whole, with the answers. Usage and books stay without their name. `add_incoming` still
        recognises an erased message, so that it is not answered again; it refuses messages that were written before
        `written_before` by the platform's clock (default: now). Messages that showed them on Discord are on the list
        of removals from that moment on. Today's usage still counts today.
        """
        ...

    async def note_posts(self, posts: Iterable[PersonalPost]) -> bool:
        """Remember messages of the bot that show people; known ones are ignored.

        False: a person in one of them was erased after its `as_of`, or the questions that it repeats are gone; the
        message is on the list of removals now.
        """
        ...

    async def note_place(self, place: PostingPlace, forget_before: datetime | None = None) -> None:
        """Remember where the bot is about to post, and forget places noted before a time."""
        ...

    async def list_places(self) -> Sequence[PostingPlace]:
        """Where the bot has been about to post, oldest first."""
        ...

    async def forget_posts(self, message_id: str) -> None:
        """A message is gone from Discord. Which question it repeated stays known."""
        ...

    async def forget_posts_in(self, channel_id: str) -> None:
        """A thread is gone with its messages, or a channel with its threads."""
        ...

    async def list_removals(self) -> Sequence[Removal]:
        """What remains to be removed, oldest first; refused removals come up again after a day."""
        ...

    async def list_removals_for(self, reader_id: str) -> Sequence[Removal]:
        """What remains to be removed at somebody's request, refused removals included."""
        ...

    async def removed(self, removal: Removal) -> None:
        """The removal is done."""
        ...

    async def refused(self, removal: Removal) -> None:
        """Discord refused the removal."""
        ...


class OpenReplyRepository(Protocol):
    """Replies that are being made, or were by a process that was killed. `note` returns False for one that is known."""

    async def note(self, reply: OpenReply) -> bool: ...
    async def list(self) -> Sequence[OpenReply]: ...
    async def take(self, reply: OpenReply, about: str, lease: str, epoch: int) -> bool:
        """Continue somebody else's reply, with a new `about`. False: it is gone, or another process has taken it."""
        ...

    async def forget(self, reply_id: str) -> None: ...


class RetentionRepository(Protocol):
    """Erases for good whatever need not be kept any longer, except for what is in use."""

    async def erase_conversations(self, idle_since: datetime) -> int:
        """Delete conversations in which nothing was written since then and nothing waits; return how
        many there were.
        """
        ...

    async def erase_unopened(self, before: datetime) -> int:
        """Delete conversations started on Discord before then that never got a thread; return how many there were."""
        ...

    async def erase_gone(self, before: datetime) -> int:
        """Delete conversations whose thread or channel was found gone before then; return how many there were."""
        ...

    async def erase_tool_calls(self, before: datetime) -> int:
        """Delete calls and results of turns that ended before then; return how many results. Questions and answers
        stay.
        """
        ...

    async def erase_notes(self, before: datetime) -> None:
        """Delete notes of removals and replies that could not be done since then, and what counts for a day only."""
        ...

    async def list_servers(self) -> Sequence[str]:
        """The ids of the servers with data."""
        ...

    async def note_left(self, guild_ids: Iterable[str]) -> None:
        """The bot is no longer in these servers; for those known to be left, the time stays."""
        ...

    async def note_back(self, guild_ids: Iterable[str]) -> None:
        """The bot is in these servers."""
        ...

    async def note_to_erase(self, guild_id: str) -> None:
        """Mark a server for erasure, whether the bot is there or not."""
        ...

    async def list_left(self, before: datetime | None) -> Sequence[str]:
        """The servers that were left before then, and those to be erased at once; only the latter if
        no time is given.
        """
        ...

    async def erase_server(self, guild_id: str) -> None:
        """Erase all data of a server: books, conversations, positions in its books. The files of books stay."""
        ...
