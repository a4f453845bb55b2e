"""The words of a book as rows of its file: a few stems in each, so that there are not many to write.

A row has its first stem, by which it is found, then all its stems, the written forms of each, how many places each form
has, and the ordinals of these places, form after form.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

from domain.library.search.index import MemoryIndex, WordForm
from storage.book_files.format import decode_numbers, decode_text, encode_numbers, encode_text, little_endian

STEMS_A_ROW = 16
"""With four, writing them takes half as long again; with thirty-two there is twice as much to read for one."""

FIND_ROW = "SELECT stems, forms, counts, positions FROM words WHERE first <= ? ORDER BY first DESC LIMIT 1"
ALL_ROWS = "SELECT stems, forms, counts, positions FROM words ORDER BY first"

_BETWEEN_FORMS = " "
_BETWEEN_STEMS = "\n"


@dataclass(frozen=True, slots=True)
class WordRow:
    """What a row holds: `forms` has an entry for each stem, `counts` one for each form, `positions` those of all."""

    stems: Sequence[str]
    forms: Sequence[Sequence[str]]
    counts: "array[int]"
    positions: "array[int]"

    @classmethod
    def decode(cls, stems: bytes, forms: bytes, counts: bytes, positions: bytes) -> "WordRow":
        """
        Raises:
            ValueError: the parts do not fit together.
        """
        groups = [group.split(_BETWEEN_FORMS) for group in decode_text(forms).split(_BETWEEN_STEMS)]
        row = cls(decode_text(stems).split(_BETWEEN_STEMS), groups, decode_numbers(counts), decode_numbers(positions))
        if (len(row.stems), sum(map(len, groups)), sum(row.counts)) != (
            len(groups),
            len(row.counts),
            len(row.positions),
        ):
            raise ValueError("a row of words does not fit together")
        return row

    def forms_of(self, stem: str) -> list[WordForm]:
        """The written forms of a stem, none if it is not in the row."""
        if stem not in self.stems:
            return []
        at = self.stems.index(stem)
        first = sum(map(len, self.forms[:at]))
        edges = pairwise(accumulate(self.counts[first : first + len(self.forms[at])], initial=sum(self.counts[:first])))
        return [WordForm(form, self.positions[slice(*edge)]) for form, edge in zip(self.forms[at], edges, strict=True)]


def encode_rows(index: MemoryIndex) -> Iterator[tuple[bytearray, ...]]:
    """The rows of all words, in the order of their stems.

    As bytearrays, which SQLite's module takes as they are; for bytes it first looks for adapters, as long again.
    """
    stems = index.stems()
    for start in range(0, len(stems), STEMS_A_ROW):
        group = stems[start : start + STEMS_A_ROW]
        places = [index.words[form] for form in chain.from_iterable(forms for _, forms in group)]
        yield (
            bytearray(encode_text(group[0][0])),
            bytearray(encode_text(_BETWEEN_STEMS.join([stem for stem, _ in group]))),
            bytearray(encode_text(_BETWEEN_STEMS.join([_BETWEEN_FORMS.join(forms) for _, forms in group]))),
            bytearray(encode_numbers(array("I", map(len, places)))),
            bytearray().join(map(little_endian, places)),
        )
