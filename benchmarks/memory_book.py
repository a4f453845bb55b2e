"""A book indexed in memory, searched as a book file is."""

from functools import cached_property

from domain.library.view import Reading
from tests.domain.library.indexed import WordIndex


class MemoryBook(WordIndex):
    """A text as it stands, with all that can be asked of it."""

    @cached_property
    def reading(self) -> Reading:
        """All of it, as somebody sees it who has read it."""
        return Reading(self, self.layout)
