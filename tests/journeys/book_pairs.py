"""Books in pairs: the same up to where a reader is, different beyond in text, titles, pages, chapters and length."""

from dataclasses import dataclass
from typing import cast

from hypothesis import strategies as st

from domain.book import BookText, Chapter, Page

READ_WORDS = (
    "Ann",
    "Hobb",
    "lamp",
    "island",
    "kept",
    "the",
    "of",
    "night",
    "ferry",
    "was",
    "old",
    "1887",
    "Miss Crake",
)
UNREAD_WORDS = ("Lucian", "drowned", "brother", "1912", "Orchard", "wedding", "murder", "the", "Ann", "was", "of")

sentences = st.lists(st.sampled_from(READ_WORDS), min_size=2, max_size=12).map(lambda words: f"{' '.join(words)}. ")
unread_sentences = st.lists(st.sampled_from(UNREAD_WORDS), min_size=1, max_size=9).map(
    lambda words: f"{' '.join(words)}! "
)
paragraphs = st.lists(sentences, min_size=1, max_size=6).map(lambda each: "".join(each) + "\n\n")
endings = st.lists(unread_sentences, min_size=1, max_size=8).map("".join)


@dataclass(frozen=True)
class Unread:
    """What of a book lies beyond the bound."""

    text: str
    chapters: int
    pages: int


@dataclass(frozen=True)
class Pair:
    """Two books that are the same up to `read_to`."""

    read: str
    chapters: tuple[str, ...]
    starts: tuple[int, ...]
    page_length: int
    rest: tuple[Unread, Unread]

    @property
    def read_to(self) -> int:
        return len(self.read)

    def book(self, which: int) -> BookText:
        rest = self.rest[which]
        text = self.read + rest.text
        starts = [*self.starts, *_places(self.read_to, len(text), rest.chapters)]
        titles = [*self.chapters, *(f"Murder {which}.{number}" for number in range(rest.chapters))]
        # a title that goes on beyond the bound goes on in another way in each book
        titles = [
            text[at : at + len(title)] if at + len(title) > self.read_to else title
            for at, title in zip(starts, titles, strict=False)
        ]
        chapters = [
            Chapter(number, title, start, end)
            for number, (title, start, end) in enumerate(zip(titles, starts, [*starts[1:], len(text)], strict=False), 1)
            if start < end
        ]
        return BookText(
            text, tuple(self._pages(text, rest)), tuple(chapters), "txt", title="Lamps", author="A. Nonymous"
        )

    def _pages(self, text: str, rest: Unread) -> list[Page]:
        cuts = sorted({0, *range(0, self.read_to, self.page_length), *_places(self.read_to, len(text), rest.pages)})
        return [
            Page(number, str(number), start, end)
            for number, (start, end) in enumerate(zip(cuts, [*cuts[1:], len(text)], strict=True), 1)
        ]


def _places(start: int, end: int, count: int) -> list[int]:
    """`count` places behind `start`, evenly spread."""
    return sorted({start + 1 + (end - start - 1) * number // (count + 1) for number in range(count)} - {end})


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    read, titles, starts = "", [], []
    for number in range(draw(st.integers(1, 3))):
        titles.append(f"Chapter {number + 1}")
        starts.append(len(read))
        read += titles[-1] + "\n\n" + "".join(draw(st.lists(paragraphs, min_size=1, max_size=3)))
    cut = draw(st.integers(0, len(read)))
    kept = [(title, start) for title, start in zip(titles, starts, strict=True) if start < cut]
    rest = tuple(
        Unread(
            text=draw(st.sampled_from([" ", "", "\n\n", "x", ". ", "’s "])) + draw(endings) + end,
            chapters=draw(st.integers(0, 3)),
            pages=draw(st.integers(0, 4)),
        )
        for end in ("This is one end.", "And this is quite another one.")
    )
    if not draw(st.booleans()):
        kept = []
    return Pair(
        read[:cut],
        tuple(title for title, _ in kept),
        tuple(start for _, start in kept),
        draw(st.sampled_from([40, 90, 300])),
        cast(tuple[Unread, Unread], rest),
    )
