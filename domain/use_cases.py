"""Everything that a front end can have done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from domain.library.progress import ManagePositions
from domain.library.shelf import Bookshelf
from domain.people import ManagePeople
from domain.ports import Clock
from domain.turn.chat_with_book import ChatWithBook
from domain.turn.conversations import ManageConversations
from domain.turn.quota import Limits
from domain.turn.titles import TitleWriter
from domain.turn.transcripts import Transcripts


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What front ends tell people about the program, and the limits they keep themselves.

    `daily_tokens` is per person, 0 for no limit; `verbose_default` holds where neither a conversation nor its reader
    has chosen.
    """

    provider: str
    model: str
    max_upload_mb: int
    daily_tokens: int
    verbose_default: bool
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The brain, as front ends know it. `titles` is None where no model writes.

    `missing_tools` names the tool servers that cannot be reached now, and why.
    """

    chat: ChatWithBook
    conversations: ManageConversations
    transcripts: Transcripts
    shelf: Bookshelf
    positions: ManagePositions
    people: ManagePeople
    titles: TitleWriter | None
    clock: Clock
    facts: Facts
    missing_tools: Callable[[], Mapping[str, str]] = dict
