"""A book indexed in memory, searched as a book file is."""

from functools import cached_property

from domain.library.view import BlockingView
from tests.domain.library.indexed import WordIndex


class MemoryBook(WordIndex):
    """A text as it stands, with all that can be asked of it."""

    @cached_property
    def reading(self) -> BlockingView:
        """All of it, as somebody sees it who has read it."""
        return BlockingView(self, self.layout)
