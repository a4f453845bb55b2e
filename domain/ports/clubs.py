"""The ports to clubs: who reads what by which plan, what has been posted for them, and votes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from domain.clubs.plan import Club, Member, Post, PostState, Section, Vote


class ClubRepository(Protocol):
    """Clubs, each with its sections and members. A channel has one running club at most.

    Whatever changes a club lets it be looked at (`list_to_look_at`) at once, until `look_again` says otherwise: so
    nothing that follows from a change is forgotten in a crash.
    """

    async def create(self, club: Club) -> bool:
        """Insert; False, and nothing changed, where its channel has a running club."""
        ...

    async def get(self, club_id: str) -> Club | None:
        """The club, its members with their positions in its book."""
        ...

    async def get_running(self, guild_id: str) -> Sequence[Club]:
        """The clubs of a server that have not ended, oldest first."""
        ...

    async def get_by_book(self, book_id: str) -> Sequence[Club]:
        """Those that have not ended, oldest first."""
        ...

    async def get_by_reader(self, reader_id: str, book_id: str) -> Sequence[Club]:
        """The running clubs on a book in which somebody takes part."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Club | None:
        """The club, ended or not, one of whose sections has that conversation."""
        ...

    async def put_member(self, club_id: str, member: Member) -> None:
        """Insert or update all but the position; clubs that are gone are fine."""
        ...

    async def put_sections(self, club_id: str, sections: Sequence[Section]) -> None:
        """Update dates, conversations and threads, all or none; when they were opened is left alone."""
        ...

    async def claim_opening(self, club_id: str, number: int, now: datetime) -> bool:
        """Note that a section's thread is opened now; False: it has been before."""
        ...

    async def put_host(self, club_id: str, host_id: str) -> None: ...
    async def end(self, club_id: str, now: datetime) -> None: ...
    async def look_again(self, club_id: str, at: datetime | None) -> None:
        """Nothing is to be done for a club until then; None: until it changes."""
        ...

    async def list_to_look_at(self, now: datetime) -> Sequence[str]:
        """Ids of the clubs for which something may be to be done."""
        ...

    async def claim(self, club_id: str, key: str, now: datetime) -> Post:
        """The post of that key; where there is none yet it is CLAIMED now, before it is made.

        Raises:
            StorageError: LEASE_LOST, another process serves the server by now.
        """
        ...

    async def settle(self, club_id: str, key: str, state: PostState, message_id: str = "", shown: str = "") -> None:
        """Note what became of a claimed post. `shown` is what it shows, as far as one asks for that again."""
        ...

    async def get_posts(self, club_id: str) -> dict[str, Post]:
        """All posts of a club by their keys."""
        ...

    async def put_vote(self, vote: Vote) -> bool:
        """Insert or update; False, and nothing changed, for a new one whose channel has one that is not told of."""
        ...

    async def list_votes(self, now: datetime) -> Sequence[Vote]:
        """Votes that are to be posted, or whose end is to be told."""
        ...

    async def get_votes(self, channel_id: str) -> Sequence[Vote]:
        """Votes in a channel that are not told of yet."""
        ...
