"""MOBI and AZW3 files: the records of a Palm database, their headers, and the unpacked text.

Every number in a file comes from a stranger: records are cut out by checked offsets, and everything unpacked is
bounded. `struct.error`, `IndexError` and `ValueError` all mean that a file is damaged.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bot.parsers.draft import MIB, ReadingLimits, Report
from domain.errors import BookError, BookErrorCode, Worded

ABSENT = 0xFFFFFFFF
"""A header's value for a record that does not exist."""
_RECORDS_AT = 76
_MOST_TEXT_RECORDS = 65_535
_UNPACKED_RECORD = 2**16
"""Bytes of text in one record; real files have 4,096."""
_UNPACKED_PHRASES = 64 * MIB
_PLAIN, _PALMDOC, _HUFF = 1, 2, 0x4448
_UTF_8 = 65_001
_HAS_EXTH = 0x40
_SHORTEST_WITH_TRAILERS = 0xE4
_DEEPEST_PHRASE = 32
_LITERALS = re.compile(rb"[\x00\x09-\x7f]+")


class PalmDatabase:
    """The records of a Palm database."""

    def __init__(self, data: bytes) -> None:
        count = struct.unpack_from(">H", data, _RECORDS_AT)[0]
        entries = struct.unpack_from(f">{2 * count}L", data, _RECORDS_AT + 2)
        self._offsets = [*entries[::2], len(data)]
        self._data = data

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        if not 0 <= number < len(self):
            raise IndexError(f"no record {number}")
        return self._data[self._offsets[number] : self._offsets[number + 1]]


@dataclass(frozen=True, slots=True)
class MobiHeader:
    """The contents of a book's record 0. Numbers of other records count from `base`, or are `ABSENT`."""

    base: int
    compression: int
    text_records: int
    is_locked: bool
    encoding: str
    version: int
    trailers: int
    huff: int
    huff_count: int
    contents: int
    fragments: int
    skeletons: int
    flows: int
    name: str
    properties: Mapping[int, Sequence[bytes]] = field(repr=False)

    def text_properties(self, kind: int) -> list[str]:
        """The texts of the EXTH header with a number, such as the names of several authors."""
        return [value.decode(self.encoding, "replace").strip("\0 ") for value in self.properties.get(kind, ())]


def read_header(database: PalmDatabase, base: int = 0) -> MobiHeader:
    """The header in record `base`; that of a plain PalmDOC has only the first values."""
    record = database[base]
    compression, text_records, encryption = struct.unpack_from(">H6xH2xH", record)
    length = struct.unpack_from(">L", record, 20)[0] if record[16:20] == b"MOBI" else 0

    def number(offset: int, absent: int = ABSENT) -> int:
        known = offset + 4 <= 16 + length
        return int(struct.unpack_from(">L", record, offset)[0]) if known else absent

    encoding = "utf-8" if number(28, 0) == _UTF_8 else "cp1252"
    name_at, name_length = number(84, 0), number(88, 0)
    version = number(36, 0)
    return MobiHeader(
        base=base,
        compression=compression,
        text_records=text_records,
        is_locked=encryption != 0,
        encoding=encoding,
        version=version,
        trailers=number(240, 0) & 0xFFFF if length >= _SHORTEST_WITH_TRAILERS else 0,
        huff=number(112),
        huff_count=number(116, 0),
        contents=number(244),
        fragments=number(248) if version >= 8 else ABSENT,
        skeletons=number(252) if version >= 8 else ABSENT,
        flows=number(192) if version >= 8 else ABSENT,
        name=record[name_at : name_at + name_length].decode(encoding, "replace") if length else "",
        properties=_properties(record[16 + length :]) if number(128, 0) & _HAS_EXTH else {},
    )


def _properties(block: bytes) -> dict[int, list[bytes]]:
    """The records of the EXTH header by their number."""
    found: dict[int, list[bytes]] = {}
    if block[:4] != b"EXTH":
        return found
    at = 12
    for _ in range(struct.unpack_from(">L", block, 8)[0]):
        if at + 8 > len(block):
            break
        kind, length = struct.unpack_from(">LL", block, at)
        found.setdefault(kind, []).append(block[at + 8 : at + length])
        at += max(8, length)
    return found


def read_text(database: PalmDatabase, header: MobiHeader, limits: ReadingLimits, report: Report) -> bytes:
    """The text of a book, unpacked.

    Raises:
        BookError: TOO_LARGE.
    """
    unpack = _unpacker(database, header)
    pieces, left = [], limits.max_unpacked_bytes
    count = min(header.text_records, _MOST_TEXT_RECORDS, len(database) - header.base - 1)
    for number in range(1, count + 1):
        piece = unpack(_without_trailers(database[header.base + number], header.trailers))
        left -= len(piece)
        if left < 0:
            raise BookError(
                BookErrorCode.TOO_LARGE,
                Worded(
                    "Unpacked, this file is larger than {most} MB. Please add a smaller edition.",
                    most=limits.max_unpacked_bytes // MIB,
                ),
            )
        pieces.append(piece)
        report(number / count * 0.5)
    return b"".join(pieces)


def _unpacker(database: PalmDatabase, header: MobiHeader) -> Callable[[bytes], bytes]:
    if header.compression == _PLAIN:
        return bytes
    if header.compression == _PALMDOC:
        return unpack_palmdoc
    if header.compression == _HUFF:
        first = header.base + header.huff
        phrases = [database[number] for number in range(first + 1, first + header.huff_count)]
        return HuffUnpacker(database[first], phrases).unpack
    raise ValueError("an unknown compression")


def _without_trailers(record: bytes, trailers: int) -> bytes:
    """A text record without its trailing entries, whose lengths are in the last bytes."""
    for _ in range((trailers >> 1).bit_count()):
        size = 0
        for byte in record[-4:]:
            size = (0 if byte & 0x80 else size << 7) | byte & 0x7F
        record = record[: max(0, len(record) - size)]
    if trailers & 1 and record:
        record = record[: max(0, len(record) - (record[-1] & 3) - 1)]
    return record


def unpack_palmdoc(packed: bytes) -> bytes:
    """Unpack a record compressed by PalmDOC: literals, blanks joined with a letter, and copies of earlier text."""
    out = bytearray()
    at = 0
    while at < len(packed):
        if run := _LITERALS.match(packed, at):
            out += run[0]
            at = run.end()
            continue
        byte = packed[at]
        if byte <= 8:
            out += packed[at + 1 : at + 1 + byte]
            at += 1 + byte
        elif byte >= 0xC0:
            out += bytes((0x20, byte ^ 0x80))
            at += 1
        else:
            pair = int.from_bytes(packed[at : at + 2])
            distance, length = pair >> 3 & 0x7FF, (pair & 7) + 3
            at += 2
            if not 0 < distance <= len(out):
                continue
            start = len(out) - distance
            repeated = out[start:] * (length // distance + 1)
            out += repeated[:length]
    return bytes(out)


class HuffUnpacker:
    """Unpacks Huffman codes for phrases (HUFF), which may be packed themselves (CDIC)."""

    def __init__(self, huff: bytes, dictionaries: list[bytes]) -> None:
        if huff[:4] != b"HUFF":
            raise ValueError("no Huffman table")
        short_at, long_at = struct.unpack_from(">LL", huff, 8)
        self._short = struct.unpack_from(">256L", huff, short_at)
        bounds = struct.unpack_from(">64L", huff, long_at)  # for codes of 1 to 32 bits, the lowest and the highest
        self._lowest, self._highest = [0], [0]
        for bits, lowest, highest in zip(range(1, 33), bounds[::2], bounds[1::2], strict=True):
            self._lowest.append(lowest << (32 - bits))
            self._highest.append((highest + 1 << (32 - bits)) - 1)
        self._phrases: list[bytes] = []
        self._unpacked: list[bool] = []
        self._room = _UNPACKED_PHRASES
        for dictionary in dictionaries:
            self._add(dictionary)

    def _add(self, dictionary: bytes) -> None:
        if dictionary[:4] != b"CDIC":
            raise ValueError("no dictionary")
        total, bits = struct.unpack_from(">LL", dictionary, 8)
        count = min(1 << min(bits, 16), total - len(self._phrases))
        for offset in struct.unpack_from(f">{max(0, count)}H", dictionary, 16):
            length = struct.unpack_from(">H", dictionary, 16 + offset)[0]
            self._phrases.append(dictionary[18 + offset : 18 + offset + (length & 0x7FFF)])
            self._unpacked.append(bool(length & 0x8000))

    def unpack(self, packed: bytes, depth: int = 0) -> bytes:
        """A record, or a phrase `depth` phrases deep."""
        if depth > _DEEPEST_PHRASE or len(packed) > _UNPACKED_RECORD:
            raise ValueError("phrases that hold each other, or a record too long")
        out = bytearray()
        bits, left = int.from_bytes(packed + bytes(4)), len(packed) * 8
        window = left + 32
        while left > 0:
            code = bits >> (window - 32) & 0xFFFFFFFF
            length, highest = self._length_of(code)
            left -= length
            window -= length
            if left < 0:
                break
            out += self._phrase(highest - code >> (32 - length), depth)
            if len(out) > _UNPACKED_RECORD:
                raise ValueError("a record without end")
        return bytes(out)

    def _length_of(self, code: int) -> tuple[int, int]:
        """The bits of a code, and the highest code of that length."""
        entry = self._short[code >> 24]
        length = entry & 0x1F
        if not entry & 0x80:
            while 0 < length <= 32 and code < self._lowest[length]:
                length += 1
            if not 0 < length <= 32:
                raise ValueError("a code of no length")
            return length, self._highest[length]
        if not length:
            raise ValueError("a code of no length")
        return length, ((entry >> 8) + 1 << (32 - length)) - 1

    def _phrase(self, number: int, depth: int) -> bytes:
        if not self._unpacked[number]:
            self._phrases[number] = self.unpack(self._phrases[number], depth + 1)
            self._room -= len(self._phrases[number])
            if self._room < 0:
                raise ValueError("phrases without end")
            self._unpacked[number] = True
        return self._phrases[number]


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
    """An index with `start` as first record; its strings are in separate records."""

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
        """The values of an entry: the bits of a control byte say which tags have values, and how many, or that their
        length in bytes follows.
        """
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
    """A number with seven bits per byte, whose last byte has the eighth bit set; and where it ends."""
    value = 0
    for place in range(at, min(at + 5, len(data))):
        value = value << 7 | data[place] & 0x7F
        if data[place] & 0x80:
            return value, place + 1
    raise ValueError("a number without end")
