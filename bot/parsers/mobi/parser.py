"""MOBI and AZW3 (Kindle) without DRM, unpacked to the parts and the contents of the EPUB they were made from.

A file has its text in the old form (one HTML document with byte offsets as links), in the new one (KF8: a skeleton for
each part, and fragments to insert), or in both; then the new one is read.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import BytesIO
from itertools import pairwise
from zipfile import ZipFile

from bot.parsers import epub as epub
from bot.parsers.draft import DEFAULT_LIMITS, ReadingLimits, Report, ignore_progress
from bot.parsers.mobi.container import ABSENT, Index, IndexEntry, MobiHeader, PalmDatabase, read_header, read_text
from bot.parsers.text import parser as text_parser
from domain.book import BookText
from domain.errors import BookError, BookErrorCode

FORMAT = "mobi"
_KF8_STARTS, _TITLE, _AUTHOR, _LANGUAGE = 121, 503, 100, 524
_MOST_ENTRIES = 20_000
_MOST_MOVED = 2**31
"""Bytes moved when inserting fragments; a book of 10 MB moves 300 million."""
_POSITION, _LABEL, _DEPTH, _PLACE = 1, 3, 4, 6
"""Tags of the index that is the table of contents."""
_FRAGMENT_COUNT, _EXTENT = 1, 6
"""Tags of the indexes of skeletons and of fragments."""
_TOC_REFERENCE = re.compile(rb"""<reference\b[^<>]{0,400}?\btype\s{0,9}=\s{0,9}["']?toc\b[^<>]*>""", re.IGNORECASE)
_FILE_POSITION = re.compile(rb"""\bfilepos\s*=\s*["']?(\d{1,10})""", re.IGNORECASE)
_LINK = re.compile(rb"""<a\b[^>]{0,200}?\bfilepos\s*=\s*["']?(\d{1,10})[^>]{0,200}>(.{1,400}?)</a>""", re.I | re.S)
_PAGE_BREAK = re.compile(rb"<mbp:pagebreak", re.IGNORECASE)
_TAG = re.compile(rb"<[^>]*>")
_XML_DECLARATION = re.compile(rb"\A\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the contents and the byte it points to."""

    title: str
    position: int
    depth: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A document, and the offset after its first byte range."""

    start: int
    content: bytes


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a Kindle book.

    Raises:
        BookError: the book is locked, damaged, without text or too large.
    """
    try:
        database = PalmDatabase(data)
        header = _best_header(database)
        if header.is_locked:
            raise _locked()
        content = read_text(database, header, limits, report)
        if not header.version and data[60:68] == b"TEXtREAd":
            return replace(text_parser.read(content, filename, limits=limits), format=FORMAT)
        parts, entries = _new_parts(database, header, content) or _old_parts(database, header, content)
        package = _package(header, parts, entries)
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            "This Kindle file is damaged: its text cannot be unpacked. Please download or export it again.",
        ) from error
    return replace(epub.read(package, filename, limits=limits, report=report), format=FORMAT)


def _locked() -> BookError:
    return BookError(
        BookErrorCode.DRM_PROTECTED,
        "This Kindle book is locked by its shop (DRM), so I cannot read it. Please add an edition without DRM, "
        "for example an EPUB from a shop that sells without it.",
    )


def _best_header(database: PalmDatabase) -> MobiHeader:
    """The header of the new part in a file that has both."""
    header = read_header(database)
    starts = next(iter(header.properties.get(_KF8_STARTS, ())), b"")
    base = int.from_bytes(starts) if len(starts) == 4 else ABSENT
    if header.version < 8 and base < len(database) and database[base][16:20] == b"MOBI":
        return read_header(database, base)
    return header


def _new_parts(database: PalmDatabase, header: MobiHeader, content: bytes) -> tuple[list[_Part], list[_Entry]] | None:
    """The parts of KF8 and the contents, or None if the file has none."""
    if header.skeletons == ABSENT:
        return None
    base = header.base
    fragments = [*Index(database, base + header.fragments).entries()] if header.fragments != ABSENT else []
    text = content[: _end_of_text(database, header, len(content))]
    parts = [*_assembled(text, Index(database, base + header.skeletons).entries(), fragments)]
    entries = [
        _Entry(title, int(fragments[row].label) + offset, depth)
        for title, depth, entry in _contents(database, header)
        if len(place := entry.values.get(_PLACE, ())) == 2
        for row, offset in [place]
        if row < len(fragments)
    ]
    return parts, entries


def _end_of_text(database: PalmDatabase, header: MobiHeader, length: int) -> int:
    """Where the first flow ends; style sheets and drawings are in the others."""
    if header.flows == ABSENT:
        return length
    record = database[header.base + header.flows]
    if record[:4] != b"FDST":
        return length
    return int(struct.unpack_from(">L", record, struct.unpack_from(">L", record, 4)[0] + 4)[0])


def _assembled(text: bytes, skeletons: Iterable[IndexEntry], fragments: Sequence[IndexEntry]) -> Iterator[_Part]:
    """Each skeleton with the following fragments inserted in their places."""
    used, moved = 0, 0
    for skeleton in skeletons:
        start, length = skeleton.value(_EXTENT), skeleton.value(_EXTENT, 1)
        part, at = bytearray(text[start : start + length]), start + length
        for fragment in fragments[used : used + skeleton.value(_FRAGMENT_COUNT)]:
            place = min(max(0, int(fragment.label) - start), len(part))
            size = fragment.value(_EXTENT, 1)
            moved += len(part) - place
            if moved > _MOST_MOVED:
                raise ValueError("fragments without end")
            part[place:place] = text[at : at + size]
            at += size
            used += 1
        yield _Part(start, bytes(part))


def _old_parts(database: PalmDatabase, header: MobiHeader, content: bytes) -> tuple[list[_Part], list[_Entry]]:
    """The one document, and the contents from the index, or else from the page that the book names as its contents."""
    entries = [_Entry(title, entry.value(_POSITION), depth) for title, depth, entry in _contents(database, header)]
    return [_Part(0, content)], entries or [*_linked_contents(content, header.encoding)]


def _linked_contents(content: bytes, encoding: str) -> Iterator[_Entry]:
    reference = _TOC_REFERENCE.search(content)
    at = _FILE_POSITION.search(reference[0]) if reference else None
    if at is None:
        return
    start = int(at[1])
    following = _PAGE_BREAK.search(content, start)
    for number, link in enumerate(_LINK.finditer(content, start, following.start() if following else len(content))):
        if number >= _MOST_ENTRIES:
            break
        title = " ".join(_TAG.sub(b" ", link[2]).decode(encoding, "replace").split())
        yield _Entry(title, int(link[1]), 1)


def _contents(database: PalmDatabase, header: MobiHeader) -> Iterator[tuple[str, int, IndexEntry]]:
    """The lines of the table of contents: title, depth from 1, and the index entry."""
    if header.contents == ABSENT:
        return
    index = Index(database, header.base + header.contents)
    for number, entry in enumerate(index.entries()):
        if number >= _MOST_ENTRIES:
            break
        if _LABEL in entry.values:
            title = index.string(entry.value(_LABEL)).decode(header.encoding, "replace")
            yield title, entry.value(_DEPTH) + 1, entry


def _package(header: MobiHeader, parts: Sequence[_Part], entries: Sequence[_Entry]) -> bytes:
    """An uncompressed EPUB of the parts, in memory."""
    entries = sorted(
        (entry for entry in entries if entry.title.strip()), key=lambda entry: (entry.position, entry.depth)
    )
    held, navigation = BytesIO(), []
    with ZipFile(held, "w") as archive:
        waiting = [*entries]
        for number, (part, following) in enumerate(pairwise([*parts, None])):
            assert part is not None
            own = [entry for entry in waiting if following is None or entry.position < following.start]
            waiting = waiting[len(own) :]
            navigation += [(entry, f"{number}.html#p{entry.position}") for entry in own]
            archive.writestr(f"{number}.html", _with_anchors(part, own, header.encoding))
        archive.writestr("contents.ncx", _ncx(navigation))
        archive.writestr("book.opf", _opf(header, len(parts)))
    return held.getvalue()


def _with_anchors(part: _Part, entries: Iterable[_Entry], encoding: str) -> str:
    """A part's markup with an anchor at each place that the contents point to, never within a tag."""
    content, pieces, done = part.content, [], 0
    for position in dict.fromkeys(entry.position for entry in entries):
        at = min(max(0, position - part.start), len(content))
        opening = content.rfind(b"<", done, at)
        if opening >= 0 and content.find(b">", opening, at) < 0:
            at = opening
        at = max(at, done)
        pieces += [content[done:at], b'<a id="p%d"></a>' % position]
        done = at
    whole = b"".join([*pieces, content[done:]])
    return _XML_DECLARATION.sub(b"", whole, count=1).decode(encoding, "replace")


def _ncx(navigation: Sequence[tuple[_Entry, str]]) -> str:
    pieces, depth = [], 0
    for entry, target in navigation:
        level = min(entry.depth, depth + 1)
        pieces.append("</navPoint>" * max(0, depth - level + 1))
        label = f"<navLabel><text>{escape(entry.title)}</text></navLabel>"
        pieces.append(f'<navPoint>{label}<content src="{target}"/>')
        depth = level
    return f"<ncx><navMap>{''.join(pieces)}{'</navPoint>' * depth}</navMap></ncx>"


def _opf(header: MobiHeader, count: int) -> str:
    items = "".join(f'<item id="i{n}" href="{n}.html" media-type="text/html"/>' for n in range(count))
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(count))
    fields = {
        "title": next(iter(header.text_properties(_TITLE)), "") or header.name,
        "creator": ", ".join(dict.fromkeys(header.text_properties(_AUTHOR))),
        "language": next(iter(header.text_properties(_LANGUAGE)), ""),
    }
    metadata = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items())
    ncx = '<item id="ncx" href="contents.ncx" media-type="application/x-dtbncx+xml"/>'
    manifest = f'<manifest>{items}{ncx}</manifest><spine toc="ncx">{spine}</spine>'
    return f"<package><metadata>{metadata}</metadata>{manifest}</package>"
