"""The ports to stored books and to what models wrote about them."""

from collections.abc import Sequence
from typing import Protocol

from domain.book import Book, DerivedText


class BookRepository(Protocol):
    """Books on shelves."""

    async def save(self, book: Book) -> None:
        """Insert or update.

        Raises:
            BookError: ALREADY_EXISTS, its shelf holds the same file under another id.
        """
        ...

    async def get(self, book_id: str) -> Book | None: ...
    async def get_by_hash(self, shelf: str, sha256: str) -> Book | None: ...
    async def list(self, shelf: str | None = None) -> Sequence[Book]:
        """Newest first; all shelves when none is named."""
        ...

    async def count_by_hash(self, sha256: str) -> int:
        """How many shelves hold this file."""
        ...

    async def delete(self, book_id: str) -> None:
        """With its conversations, messages and positions. Unknown ids are fine."""
        ...


class DerivedTextRepository(Protocol):
    """Texts a model wrote about books; they go with their book."""

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        """The text of that kind and key that depends on most of the book, yet on nothing beyond `read_to`."""
        ...

    async def put(self, text: DerivedText) -> None:
        """Insert, or replace the one of the same kind, key and `depends_to`."""
        ...
