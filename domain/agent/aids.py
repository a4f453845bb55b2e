"""What a turn lends to its tools, besides its view of the book."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from domain.agent.summaries import Digest
from domain.protocols import BookView, Toolbox


@dataclass(frozen=True, slots=True)
class Aids:
    """`digests` gives summaries of what has been read, or of one chapter; None where there is no model that writes.

    `propose` puts a page to the reader as their new position, for them to confirm; None where there is nobody to ask.
    """

    digests: Callable[[int | None], Awaitable[list[Digest]]] | None = None
    propose: Callable[[str], None] | None = None


NO_AIDS = Aids()


class MakeToolbox(Protocol):
    """Makes the tools of a turn."""

    def __call__(self, view: BookView, aids: Aids = NO_AIDS, /) -> Toolbox: ...
