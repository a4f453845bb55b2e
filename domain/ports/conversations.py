"""The ports to what the database keeps of people: conversations, positions, usage, and who may work on them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from domain.book import ReadingPosition
from domain.chat import ChatMessage
from domain.conversation import Conversation, TitleSource, Turn
from domain.leases import HeldLease
from domain.usage import Deed, Erasure, PersonalPost, Removal, ServerSettings, UsageRecord, UsageTotal


class ConversationRepository(Protocol):
    """Conversations. Those on a book that is off its shelf are kept, and not seen until the book is back."""

    async def save(self, conversation: Conversation) -> None:
        """Insert or update."""
        ...

    async def get(self, conversation_id: str) -> Conversation | None: ...
    async def get_by_thread(self, thread_id: str) -> Conversation | None: ...
    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        """Those on a server's shelf, or on a person's own; newest first."""
        ...

    async def find_in_guild(
        self, guild_id: str, words: Sequence[str], limit: int, book_id: str | None = None
    ) -> Sequence[Conversation]:
        """The newest in whose title, book's title or date (YYYY-MM-DD) each word occurs, without system prompts.

        Case does not matter; where a word has other signs than letters and figures of ASCII, some may not fit.
        """
        ...

    async def release_thread(self, thread_id: str) -> None:
        """Let the conversation that is shown there, if any, be shown there no more; also one on a removed book."""
        ...

    async def list_current_direct(self, limit: int) -> Sequence[Conversation]:
        """Those that are current in direct messages, at most `limit`, the last that were written in first."""
        ...

    async def delete(self, conversation_id: str) -> None:
        """With its messages and turns. Unknown ids are fine."""
        ...

    async def update_read_to(self, conversation_id: str, read_to: int | None) -> None:
        """Say beyond which offset nothing is told in it; `save` leaves that alone. Unknown ids are fine."""
        ...

    async def note_gone(self, guild_id: str, place_id: str, at: datetime) -> int:
        """The thread or the channel of this id was found deleted; how many conversations were in it."""
        ...

    async def note_found(self, conversation_id: str) -> None:
        """Its thread is there, or it has a new one."""
        ...

    async def update_title(self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON) -> bool:
        """Rename; nothing else of the conversation is written. Unknown ids are fine.

        False, and nothing changed, where the title it has comes from a stronger source: only a person replaces what a
        person or a model chose.

        Raises:
            ConversationError: INVALID_STATE, the title is blank.
        """
        ...


class ChatMessageRepository(Protocol):
    """Messages in the order a model is to see them: turn by turn, those without a turn last."""

    async def save(self, message: ChatMessage) -> None:
        """Insert or update."""
        ...

    async def save_batch(self, messages: Sequence[ChatMessage]) -> None:
        """All or none."""
        ...

    async def add_incoming(self, message: ChatMessage) -> bool:
        """Insert a reader's message; False, and nothing changed, if its `external_id` is known already."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Sequence[ChatMessage]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[ChatMessage]:
        """Those of the newest `turns` turns, and all that wait; as quick in a conversation of years as in a new one.

        Turns that failed do not count; those among the newest come along.
        """
        ...

    async def get_by_external_id(self, external_id: str) -> ChatMessage | None: ...
    async def get_newest_external_id(self, conversation_id: str) -> str | None:
        """The largest number among the ids of messages that are known there, erased ones included."""
        ...

    async def note_known(self, conversation_id: str, external_id: str) -> None:
        """Take a platform's id, and all that are smaller, as known there: what came before it belongs elsewhere."""
        ...

    async def list_authors(self, conversation_id: str) -> Sequence[str]:
        """Who has written there, the bot and its tools left out."""
        ...

    async def get_last_written(self, reader_id: str, book_id: str, *, but: str) -> datetime | None:
        """When somebody last wrote in any conversation about a book; the message of that `external_id` left out."""
        ...

    async def note_present(self, conversation_id: str, reader_id: str, at: datetime | None = None) -> None:
        """Remember that somebody writes in its thread, now or at that moment, though not to the bot.

        For conversations that are gone nothing is remembered.
        """
        ...

    async def note_absent(self, conversation_id: str, reader_id: str, since: datetime) -> None:
        """Remember that somebody reads along no more, until they write again after that."""
        ...

    async def list_people(self, conversation_id: str, since: datetime | None = None) -> Sequence[str]:
        """Who reads along, as far as is known: whoever opened it, and all who have written in its thread since then, to
        the bot or not; without those who are absent.
        """
        ...

    async def list_questions(self, conversation_id: str, limit: int) -> Sequence[ChatMessage]:
        """The newest messages of readers that came from the platform, newest first."""
        ...

    async def list_waiting(self) -> Sequence[str]:
        """The conversations in which a reader's message waits for its turn."""
        ...

    async def delete(self, message_id: str) -> None: ...
    async def delete_by_conversation(self, conversation_id: str) -> None: ...


class TurnRepository(Protocol):
    """Turns, each change one transaction together with the messages it concerns."""

    async def begin(self, conversation_id: str, message_ids: Sequence[str], now: datetime) -> Turn:
        """Open the next turn for these readers' messages and give them to it.

        Messages that were deleted meanwhile are passed over.

        Raises:
            ConversationError: NOT_FOUND, the conversation is gone; INVALID_STATE, a message is in another turn or
                conversation, or none of them is left.
        """
        ...

    async def finish(self, turn: Turn, messages: Sequence[ChatMessage] = ()) -> None:
        """Write the turn's new state and the messages it brought forth, all or none.

        `reply_ids` and `trace_id` that are empty here leave what `update_delivery` has written.

        Raises:
            ConversationError: NOT_FOUND, the turn is gone (its conversation was deleted, its question taken back).
        """
        ...

    async def get(self, turn_id: str) -> Turn | None: ...
    async def get_by_conversation(self, conversation_id: str) -> Sequence[Turn]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[Turn]:
        """The newest ones, in order; turns that failed do not count and come along."""
        ...

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that brought no answer: its readers' messages wait again and the turn is gone.

        Unknown ids are fine.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        ...

    async def forget_question(self, message_id: str, expires_at: datetime) -> Turn | None:
        """Erase a reader's message, of which only its Discord id is kept, and a title that was made from it.

        None: it waited, or others asked in its turn, too, and the turn goes on without it. Else the turn is given back
        as it was. One that was delivered loses its calls and results; its answer stays until then, and its asker may
        keep it. Any other is gone, with its answer.
        """
        ...

    async def reword_question(self, message_id: str, text: str) -> None:
        """Keep the new words of a reader's answered message, and of a title that was made of the old ones."""
        ...

    async def keep_answer(self, turn_id: str) -> bool:
        """Let an answer stay whose question is gone; False: it is gone, too."""
        ...

    async def drop_answer(self, turn_id: str) -> bool:
        """Erase an answer whose question is gone, onto the list of removals; False: there is none."""
        ...

    async def drop_expired(self, before: datetime) -> int:
        """As `drop_answer`, for all that were to go before then; how many there were."""
        ...

    async def list_expiring(self) -> Sequence[Turn]:
        """Turns without their question whose answers go unless somebody keeps them."""
        ...

    async def begin_again(self, turn_id: str) -> Turn | None:
        """Note that an answered turn is being answered anew: until it is shown again, its answer is not delivered.

        None: it is gone, or has no answer.
        """
        ...

    async def supersede(self, turn_id: str, turn: Turn, messages: Sequence[ChatMessage]) -> None:
        """Put a turn with its answer in the place of another, which goes with all but its readers' messages.

        `turn` is new; `messages` are those readers' and what it brought forth. All or none.

        Raises:
            ConversationError: NOT_FOUND, the turn to be replaced is gone.
        """
        ...

    async def update_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None: ...
    async def list_undelivered(self) -> Sequence[Turn]:
        """Turns that are RUNNING or ANSWERED, and FAILED ones of which nobody was told, oldest first.

        At start-up these are the ones that were interrupted.
        """
        ...


class ReaderRepository(Protocol):
    """What is kept about a person: positions in books, and preferences.

    Whoever has opted out has no position as long as that lasts: they bind nobody.
    """

    async def get_position(self, reader_id: str, book_id: str) -> ReadingPosition: ...
    async def set_position(self, reader_id: str, book_id: str, position: ReadingPosition) -> None:
        """UNSET forgets the position."""
        ...

    async def lowest_position(self, book_id: str) -> int | None:
        """The offset of the reader who is least far in a book; None where nobody is underway in it."""
        ...

    async def get_verbose(self, reader_id: str) -> bool | None: ...
    async def set_verbose(self, reader_id: str, verbose: bool) -> None: ...
    async def get_locale(self, reader_id: str) -> str | None: ...
    async def set_locale(self, reader_id: str, locale: str) -> None: ...
    async def is_opted_out(self, reader_id: str) -> bool: ...
    async def set_opted_out(self, reader_id: str, opted_out: bool) -> None:
        """Leave somebody out, or take them in again. Their clubs are looked at anew: it may open a section there."""
        ...


class UsageRepository(Protocol):
    """What requests to models used. It outlives conversations and, without their names, readers."""

    async def record(self, record: UsageRecord) -> None: ...
    async def total_for_reader(self, reader_id: str, since: datetime) -> UsageTotal: ...
    async def total_for_guild(self, guild_id: str, since: datetime) -> UsageTotal: ...
    async def total_in_guild(self, reader_id: str, guild_id: str, since: datetime) -> UsageTotal:
        """What one reader has used in one server."""
        ...

    async def total_for_conversation(self, conversation_id: str) -> UsageTotal: ...
    async def spent_before_erasure(self, reader_id: str, at: datetime, guild_id: str = "") -> int:
        """Tokens used on that day, anywhere or in one server, before the person had themselves erased."""
        ...


class AllowanceRepository(Protocol):
    """How often each person has done lately what may be done only so often.

    People are known here by a salted hash of their ids, for a day at most, so that nobody has more for erasing what is
    kept about them.
    """

    async def take(
        self, person: str, deed: Deed, most: int, span: timedelta, now: datetime, about: str = ""
    ) -> datetime | None:
        """Note that a person does it once more; None. What is done again `about` the same is noted once.

        Where they have done it `most` times within `span` (a day at most), nothing is noted; then, when they may again.
        """
        ...


class ServerRepository(Protocol):
    """What those who manage a server have chosen for it."""

    async def get(self, server_id: str) -> ServerSettings:
        """The defaults, where nothing was chosen."""
        ...

    async def update(self, server_id: str, change: Callable[[ServerSettings], ServerSettings]) -> ServerSettings:
        """Change the settings in one transaction, and return what they are now; `change` may be called again."""
        ...

    async def delete(self, server_id: str) -> None:
        """Forget them. Unknown ids are fine."""
        ...

    async def is_greeted(self, server_id: str) -> bool:
        """Whether the bot has introduced itself there."""
        ...

    async def greets_since(self) -> datetime:
        """When the database came to the first version that greets servers which it was invited to while offline."""
        ...

    async def set_greeted(self, server_id: str, greeted: bool) -> None: ...
    async def all(self) -> Mapping[str, ServerSettings]:
        """The settings of each server that has chosen something, by the server's id."""
        ...


class PrivacyRepository(Protocol):
    """Everything that is kept about one person, where the bot has shown them, and what is to be removed there."""

    async def export(self, reader_id: str) -> dict[str, Any]:
        """All of it, ready for JSON."""
        ...

    async def erase(self, reader_id: str) -> Erasure:
        """Erase it at once and for good; what is left stays valid for those it belongs to.

        Positions and preferences go. So do conversations that are theirs alone, and elsewhere the turns they wrote in,
        whole, with the answers. Usage and books stay without their name. A message that is erased is still recognised
        by `add_incoming`, so that it is not answered a second time. What showed them on Discord is in the list of
        removals from that moment on. What they have used today still counts today.
        """
        ...

    async def note_posts(self, posts: Iterable[PersonalPost]) -> None:
        """Remember messages of the bot's own that show people; those that are known are fine."""
        ...

    async def forget_posts(self, message_id: str) -> None:
        """A message is gone from Discord; one that repeats a question is left to `take_repeated`."""
        ...

    async def take_repeated(self, message_id: str) -> str | None:
        """The `external_id` of the question that a message of the bot's repeated, which is gone from Discord."""
        ...

    async def forget_posts_in(self, channel_id: str) -> None:
        """A channel or thread is gone, and its messages with it."""
        ...

    async def list_removals(self) -> Sequence[Removal]:
        """What is still to be removed, oldest first; what was refused comes again after a day."""
        ...

    async def list_removals_for(self, reader_id: str) -> Sequence[Removal]:
        """What is still to be removed on somebody's wish, the refused as well."""
        ...

    async def removed(self, removal: Removal) -> None:
        """It has been done."""
        ...

    async def refused(self, removal: Removal) -> None:
        """Discord does not let us."""
        ...


class RetentionRepository(Protocol):
    """Erases what is not to be kept any longer, for good. What is still at work is left alone."""

    async def erase_conversations(self, idle_since: datetime) -> int:
        """Conversations in which nothing was written since then, and nothing waits; how many there were."""
        ...

    async def erase_unopened(self, before: datetime) -> int:
        """Conversations begun on Discord before then for which no thread came to be; how many there were."""
        ...

    async def erase_gone(self, before: datetime) -> int:
        """Conversations whose thread or channel was found deleted before then; how many there were."""
        ...

    async def erase_tool_calls(self, before: datetime) -> int:
        """Calls and results of turns that ended before then; how many results. Questions and answers stay."""
        ...

    async def erase_notes(self, before: datetime) -> None:
        """Removals that were noted before then and could not be done, and what was used on other days than today."""
        ...

    async def list_servers(self) -> Sequence[str]:
        """The ids of the servers something is kept of."""
        ...

    async def note_left(self, guild_ids: Iterable[str]) -> None:
        """The bot is not in these servers any more; of those of which that is known, since when stays as it is."""
        ...

    async def note_back(self, guild_ids: Iterable[str]) -> None:
        """The bot is in these servers."""
        ...

    async def note_to_erase(self, guild_id: str) -> None:
        """A server is to be erased, whether the bot is there or not."""
        ...

    async def list_left(self, before: datetime | None) -> Sequence[str]:
        """The servers that were left before then, and those to be erased at once; only these where there is no time."""
        ...

    async def erase_server(self, guild_id: str) -> None:
        """Erase all that is kept of a server: books, conversations, positions in its books. Files of books stay."""
        ...


class LeaseRepository(Protocol):
    """Leases, each with one holder at a time, by the clock of the database.

    Raises (all methods): StorageError.
    """

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        """Take a lease that nobody holds. None: somebody does, the same holder included."""
        ...

    async def renew(self, holder: str, seconds: float) -> Collection[tuple[str, int]]:
        """Hold on to all that this holder still has; the name and the epoch of each."""
        ...

    async def release(self, lease: HeldLease) -> None:
        """Give a lease back; one that somebody else holds by now is left alone."""
        ...

    async def list_held(self, prefix: str) -> Collection[str]:
        """The names with that beginning that somebody holds now."""
        ...

    async def get_note(self, name: str) -> str:
        """What was noted under a name; empty where nothing was."""
        ...

    async def set_note(self, name: str, note: str) -> None: ...
