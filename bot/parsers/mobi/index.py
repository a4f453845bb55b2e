"""The indexes of MOBI and AZW3 files: tables of labelled entries with numbered values (INDX, TAGX and CNCX records)."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from bot.parsers.mobi.container import PalmDatabase

_MOST_RECORDS = 4_096
_MOST_ENTRIES = 100_000
_MOST_VALUES = 256


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An entry's label and, by the number of their tag, its values."""

    label: bytes
    values: Mapping[int, tuple[int, ...]]

    def value(self, tag: int, place: int = 0, default: int = 0) -> int:
        """One of the values of a tag, or `default` where there is none."""
        values = self.values.get(tag, ())
        return values[place] if place < len(values) else default


@dataclass(frozen=True, slots=True)
class _Tag:
    number: int
    values: int
    mask: int
    ends_byte: bool


class Index:
    """An index whose first record is `start`; its strings are in records of their own."""

    def __init__(self, database: PalmDatabase, start: int) -> None:
        head = database[start]
        self._database = database
        self._records = min(struct.unpack_from(">L", head, 24)[0], _MOST_RECORDS)
        self._start = start
        self._tags, self._control_bytes = _tags(head)

    def entries(self) -> Iterator[IndexEntry]:
        """The entries in their order."""
        left = _MOST_ENTRIES
        for number in range(self._start + 1, self._start + 1 + self._records):
            record = self._database[number]
            table, count = struct.unpack_from(">LL", record, 20)
            count = min(count, left)
            left -= count
            starts = [*struct.unpack_from(f">{count}H", record, table + 4), table]
            for start, end in pairwise(starts):
                yield self._entry(record[start:end])

    def string(self, offset: int) -> bytes:
        """The string at an offset that an entry's value gives."""
        record = self._database[self._start + 1 + self._records + (offset >> 16)]
        length, at = _number(record, offset & 0xFFFF)
        return record[at : at + length]

    def _entry(self, entry: bytes) -> IndexEntry:
        after_label = 1 + entry[0]
        return IndexEntry(entry[1:after_label], self._values(entry, after_label))

    def _values(self, entry: bytes, start: int) -> dict[int, tuple[int, ...]]:
        """A control byte's bits say which tags have values, and how many; or that their length in bytes follows."""
        at, control = start + self._control_bytes, start
        waiting: list[tuple[_Tag, int, int]] = []
        for tag in self._tags:
            if tag.ends_byte:
                control += 1
                continue
            bits = entry[control] & tag.mask
            if bits and bits == tag.mask and tag.mask.bit_count() > 1:
                length, at = _number(entry, at)
                waiting.append((tag, 0, length))
            elif bits:
                waiting.append((tag, bits // (tag.mask & -tag.mask), 0))
        found: dict[int, tuple[int, ...]] = {}
        for tag, count, length in waiting:
            values: list[int] = []
            end = at + length
            while len(values) < (count * tag.values if count else _MOST_VALUES) and (count or at < end):
                value, at = _number(entry, at)
                values.append(value)
            found[tag.number] = tuple(values)
        return found


def _tags(head: bytes) -> tuple[list[_Tag], int]:
    at = struct.unpack_from(">L", head, 4)[0]
    if head[at : at + 4] != b"TAGX":
        raise ValueError("no table of tags")
    length, control_bytes = struct.unpack_from(">LL", head, at + 4)
    numbers = head[at + 12 : at + min(length, 1_024)]
    quadruples = (numbers[place : place + 4] for place in range(0, len(numbers) - 3, 4))
    tags = [_Tag(number, values, mask, bool(ends)) for number, values, mask, ends in quadruples]
    return tags, control_bytes


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the last of which has its eighth bit set; and where it ends."""
    value = 0
    for place in range(at, min(at + 5, len(data))):
        value = value << 7 | data[place] & 0x7F
        if data[place] & 0x80:
            return value, place + 1
    raise ValueError("a number without end")
