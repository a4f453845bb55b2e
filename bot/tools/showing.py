"""How pieces of the book are shown to a model, and how many of them."""

from collections.abc import Iterable

from domain.book import Citation, Passage, Sentence

WORD_BUDGET = 8_000
"""Words of the book that one answer may read: about 11,000 tokens, some 25 pages."""


class WordBudget:
    """What is left to read for one answer."""

    def __init__(self, words: int = WORD_BUDGET) -> None:
        self._left = words

    @property
    def left(self) -> int:
        """Words; never below zero."""
        return max(self._left, 0)

    @property
    def sentence(self) -> str:
        """What is left, told to the model."""
        return f"About {self.left // 100 * 100:,} words of reading are left for this answer."

    def spend(self, words: int) -> None:
        self._left -= words

    def take(self, passages: Iterable[Passage]) -> list[Passage]:
        """The passages there is room for; the last may go a little beyond."""
        taken = []
        for passage in passages:
            if not self.left:
                break
            self.spend(len(passage.text.split()))
            taken.append(passage)
        return taken


def labelled(passage: Passage) -> str:
    """A passage under a line that says where it stands."""
    pages = f"Page {passage.page}" if passage.page == passage.last_page else f"Pages {passage.page}-{passage.last_page}"
    where = " · ".join(part for part in (pages, passage.chapter, passage.source) if part)
    return f"[{where}]\n{passage.text}"


def passage_of(citation: Citation) -> Passage:
    """A cited span as a passage of one sentence."""
    sentence = Sentence(citation.start, citation.end, citation.quote)
    return Passage(0, citation.start, citation.end, citation.page, citation.last_page, citation.chapter, (sentence,))


def counted(number: int, noun: str) -> str:
    """ "1 place", "2 places"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
