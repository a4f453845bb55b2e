"""Chapters cut into pieces that a model can summarise in one go."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.book import Sentence
from domain.library.words import words_of
from domain.protocols import BookView

PIECE_WORDS = 6_000
"""Words of a piece: most chapters are one. About 9,000 tokens with the keys of the sentences."""

FRONT_WORDS = 300
"""Words from which on what stands before the first chapter is a prologue and no title page."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a chapter. `last`: nothing that has been read of the chapter comes after it.

    A piece that is not the last stays what it is, however far anybody reads on.
    """

    chapter: int
    title: str
    number: int
    sentences: tuple[Sentence, ...] = field(repr=False)
    words: int
    last: bool

    @property
    def key(self) -> str:
        """Names the piece among those of its book: "3", and "3.2" for a second piece."""
        return str(self.chapter) if self.number == 1 else f"{self.chapter}.{self.number}"

    @property
    def end(self) -> int:
        return self.sentences[-1].end

    def after(self, offset: int) -> tuple[Sentence, ...]:
        """Its sentences from an offset on."""
        return tuple(sentence for sentence in self.sentences if sentence.start >= offset)


async def pieces_of(view: BookView, chapter: int | None = None) -> list[Piece]:
    """All pieces of what has been read, or of one chapter.

    Raises:
        BookError: NOT_FOUND, the chapter has not been reached.
    """
    titles = {entry.number: entry.title for entry in await view.contents()}
    if chapter is not None:
        return await _pieces(view, chapter, titles)
    pieces = [piece for number in titles for piece in await _pieces(view, number, titles)]
    front = await _pieces(view, 0, titles) if view.read_to else []
    return pieces if titles and sum(piece.words for piece in front) < FRONT_WORDS else front + pieces


async def _pieces(view: BookView, chapter: int, titles: Mapping[int, str]) -> list[Piece]:
    passage = await view.read_chapter(chapter)
    cuts = await asyncio.to_thread(lambda: list(_cut(passage.sentences)))
    return [
        Piece(chapter, titles.get(chapter, ""), number, cut, words, number == len(cuts))
        for number, (cut, words) in enumerate(cuts, start=1)
    ]


def _cut(sentences: Sequence[Sentence]) -> Iterator[tuple[tuple[Sentence, ...], int]]:
    """Pieces and their numbers of words. Where one ends depends on what comes before that place alone."""
    piece: list[Sentence] = []
    total = 0
    for sentence in sentences:
        words = len(words_of(sentence.text))
        if piece and total + words > PIECE_WORDS:
            yield tuple(piece), total
            piece, total = [], 0
        piece.append(sentence)
        total += words
    if piece:
        yield tuple(piece), total
