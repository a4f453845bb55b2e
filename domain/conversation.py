"""A conversation about one book, and its turns."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import accumulate

from domain.book import is_personal, one_line
from domain.errors import ConversationError, ConversationErrorCode
from domain.library.search.words import fold, words_of
from domain.spoilers.filter import without_covers
from domain.tool_use import TokenUsage, ToolDefinition

TITLE_LENGTH = 50
"""Characters of an automatic title; Discord allows thread names of 100."""

FEWEST_WORDS_OF_A_TITLE = 2
"""A greeting, an emoji or a lone question word names no conversation."""

UNTITLED = "New conversation"

_ADDRESS = re.compile(r"<?https?://\S+")

_LOOKS_AT_ONCE = 1_000
"""Names looked at before the event loop runs again: one or two milliseconds."""


class TitleSource(StrEnum):
    """Who chose the title: a weaker source never replaces a stronger one."""

    AUTOMATIC = "automatic"
    MODEL = "model"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """System text and tools of a conversation: rendered once and resent unchanged (prompt cache, signed thinking)."""

    system: str
    tools: tuple[ToolDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, bound to one book for good.

    Raises:
        ConversationError: INVALID_STATE, the title is blank.
    """

    id: str
    book_id: str
    title: str
    created_at: datetime
    title_source: TitleSource = TitleSource.AUTOMATIC
    owner_id: str = ""
    """The person who opened it; "" for nobody's: of a club, or of somebody who was erased."""
    guild_id: str | None = None
    """The key of its shelf: a server's id, or the key of a person's own shelf. None in the terminal."""
    channel_id: str | None = None
    """The channel of its thread; for a person's own conversation, the channel of their direct messages."""
    thread_id: str | None = None
    """The thread that shows it; in direct messages their channel, while it is the current conversation there."""
    private: bool = False
    shared: bool = False
    """Whether several people write in its thread, and the bot has ignored a message that was not addressed to it."""
    verbose: bool | None = None
    """Whether tool calls are shown; None where the reader's own default applies."""
    system_prompt: SystemPrompt | None = field(default=None, repr=False)
    updated_at: datetime | None = None
    """When a person last chose a title, or a title was taken back; None if neither has happened."""
    read_to: int | None = None
    """An offset beyond which nothing is told, however far its readers are; None for no such limit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", checked_title(self.title))

    @property
    def is_title_taken_back(self) -> bool:
        """Whether the title was withdrawn, as when the person whose words it contains is erased, and none was chosen
        since.
        """
        return self.title_source is TitleSource.AUTOMATIC and self.updated_at is not None

    @property
    def is_direct(self) -> bool:
        """Whether it is a person's conversation with the bot in direct messages."""
        return is_personal(self.guild_id)

    @property
    def is_aside(self) -> bool:
        """Whether it holds the questions that somebody asked privately with /ask. It has no thread."""
        return self.private and self.guild_id is not None and self.channel_id is None and self.thread_id is None

    @property
    def server_id(self) -> str | None:
        """The server it is in; None for direct messages and the terminal."""
        return None if self.is_direct else self.guild_id

    @property
    def place_id(self) -> str | None:
        """Its thread, or its channel of direct messages, even while another conversation is the current one there."""
        return self.channel_id if self.is_direct else self.thread_id

    def within(self, read_to: int | None) -> "Conversation":
        """The conversation limited to an offset, if one is given, or to its own limit if that is lower."""
        return replace(self, read_to=min((each for each in (read_to, self.read_to) if each is not None), default=None))

    def renamed(self, title: str) -> "Conversation":
        """The conversation with a title that a person has chosen."""
        return replace(self, title=title, title_source=TitleSource.PERSON)


def checked_title(title: str) -> str:
    """The title on one line without surrounding space.

    Raises:
        ConversationError: INVALID_STATE, the title is blank.
    """
    folded = one_line(title)
    if not folded:
        raise ConversationError(ConversationErrorCode.INVALID_STATE, "A conversation needs a title that is not blank.")
    return folded


def first_title(message: str) -> str:
    """The automatic title of a conversation that begins with this message; UNTITLED if it does not say enough."""
    says_enough = len(words_of(_telling(message))) >= FEWEST_WORDS_OF_A_TITLE
    return title_from(message) if says_enough else UNTITLED


def title_from(message: str) -> str:
    """An automatic title: the first words of a message, at most TITLE_LENGTH characters, cut at a word. Titles cannot
    have spoiler covers, so covered words are left out, and so are addresses, which say nothing.
    """
    folded = one_line(_telling(message))
    if len(folded) <= TITLE_LENGTH:
        return folded or UNTITLED
    head = folded[: TITLE_LENGTH - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:.-") + "…"


def _telling(message: str) -> str:
    return _ADDRESS.sub("", without_covers(message))


class ConversationNames:
    """The names of conversations, searched while somebody types. `ids` are the conversations, in the same order."""

    def __init__(self, ids: Sequence[str], names: Iterable[str]) -> None:
        self._ids = ids
        self._text = "\n".join(fold(name.replace("\n", " ")) for name in names)
        self._starts = [0, *accumulate(len(line) + 1 for line in self._text.split("\n"))]
        """Where each name begins in the text; the last one is where the text ends."""

    def __len__(self) -> int:
        return len(self._ids)

    async def find(self, words: Iterable[str], limit: int) -> list[str]:
        """The first `limit` conversations whose name contains every word, with or without its case and accents.

        The search skips to the next occurrence of each word, so a rare word makes it short.
        """
        wanted = sorted({fold(word) for word in words}, key=len, reverse=True)
        found: list[str] = []
        place, looks = 0, 0
        while place < len(self._ids) and len(found) < limit:
            nearest = self._nearest(wanted, place)
            if nearest == place:
                found.append(self._ids[place])
            place = nearest + (nearest == place)
            looks += 1
            if looks % _LOOKS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    def _nearest(self, words: Sequence[str], place: int) -> int:
        """`place` if that name has all words; otherwise a later one, before which no name has all of them."""
        for word in words:
            at = self._text.find(word, self._starts[place])
            if at < 0:
                return len(self._ids)
            if at >= self._starts[place + 1]:
                return bisect_right(self._starts, at, place) - 1
        return place


class TurnState(StrEnum):
    """RUNNING → ANSWERED → DELIVERED, or RUNNING → FAILED. A turn found RUNNING at start-up was interrupted."""

    RUNNING = "running"
    ANSWERED = "answered"
    DELIVERED = "delivered"
    FAILED = "failed"


WITH_AN_ANSWER = (TurnState.ANSWERED, TurnState.DELIVERED)
"""The states of a turn whose answer is complete, whether its readers have got it or not."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer to one or more readers' messages, in the making or made."""

    id: str
    conversation_id: str
    number: int
    """The turn's place in the conversation, from 1."""
    state: TurnState
    started_at: datetime
    finished_at: datetime | None = None
    error: str = ""
    model: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    reply_ids: tuple[str, ...] = ()
    """The Discord messages that show the answer."""
    trace_id: str | None = None
    """The Discord message that shows the tool calls."""
    stopped: bool = False
    told: bool = False
    """Of a failed turn: its readers have been told. Of an answered one: its readers know the answer, and it is being
    made again.
    """
    asked_by: str | None = None
    """The person who asked the question of a delivered turn, if the question was deleted."""
    expires_at: datetime | None = None
    """When the answer to a deleted question is deleted as well; None: it is kept for whoever asked."""

    @property
    def has_answer(self) -> bool:
        """Whether its answer is complete, delivered or not."""
        return self.state in WITH_AN_ANSWER

    @property
    def is_unsettled(self) -> bool:
        """Whether it is still running, or has failed and its readers have not been told."""
        return self.state is TurnState.RUNNING or (self.state is TurnState.FAILED and not self.told)
