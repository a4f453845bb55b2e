"""Everything that a front end can have done."""

from dataclasses import dataclass

from domain.library.progress import ManagePositions
from domain.library.shelf import Bookshelf
from domain.people import ManagePeople
from domain.ports import Clock
from domain.turn.chat_with_book import ChatWithBook
from domain.turn.conversations import ManageConversations
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The brain, as front ends know it. `titles` is None where no model writes."""

    chat: ChatWithBook
    conversations: ManageConversations
    transcripts: Transcripts
    shelf: Bookshelf
    positions: ManagePositions
    people: ManagePeople
    titles: TitleWriter | None
    clock: Clock
    facts: Facts
