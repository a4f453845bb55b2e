"""ZIP files and the XML parts in them: read in memory, bounded, and without document types."""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, fromstring

from bot.parsers.draft import MIB, ReadingLimits
from bot.parsers.encoding import decode_markup, without_doctype
from domain.errors import BookError, BookErrorCode, Worded

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, IndexError)


def unquoted(href: str) -> str:
    """A link, or a part of one, with percent-encoding decoded."""
    if "%" not in href:
        return href
    from urllib.parse import unquote  # 3 ms that hardly any book needs

    return unquote(href)


class Archive:
    """The members of a ZIP file by path; the total size of what is read is bounded."""

    def __init__(self, data: bytes, limits: ReadingLimits) -> None:
        """
        Raises:
            BookError: PARSE_FAILED, this is no ZIP file or its directory is broken.
        """
        self._left = limits.max_unpacked_bytes
        self._limit = limits.max_unpacked_bytes
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = {member.filename: member for member in self._zip.infolist()}
        except _DAMAGE as error:
            raise BookError(
                BookErrorCode.PARSE_FAILED,
                "This file is damaged: its archive cannot be opened. Please download or export it again.",
            ) from error
        self._folded = {name.casefold(): name for name in self._members}

    def find(self, path: str) -> str | None:
        """The member that a link points to, percent-encoded or not, ignoring case; None if there is none."""
        for wanted in (path, unquoted(path)):
            normal = posixpath.normpath(wanted).lstrip("/")
            if name := self._folded.get(normal.casefold()) or self._folded.get(wanted.casefold()):
                return name
        return None

    def first_with_extension(self, extension: str) -> str | None:
        """The first member with that suffix; None if there is none."""
        return next((name for name in self._members if name.lower().endswith(extension)), None)

    def holds_only(self, wanted: tuple[str, ...], besides: tuple[str, ...]) -> bool:
        """Whether some names end in one of `wanted`, and all others in one of `besides`."""
        names = [name.lower() for name in self._members]
        return any(name.endswith(wanted) for name in names) and all(name.endswith(wanted + besides) for name in names)

    @property
    def needs_password(self) -> bool:
        """Whether any member is encrypted by ZIP's own means."""
        return any(member.flag_bits & 0x1 for member in self._members.values())

    def read(self, path: str) -> bytes:
        """The content of a member.

        Raises:
            KeyError: there is no such member, or it is damaged.
            BookError: TOO_LARGE, the archive unpacks to more than is allowed.
        """
        member = self._members[path]
        self._left -= member.file_size
        if self._left < 0:
            raise BookError(
                BookErrorCode.TOO_LARGE,
                Worded(
                    "Unpacked, this file is larger than {most} MB. Please add a smaller edition.",
                    most=self._limit // MIB,
                ),
            )
        try:
            with self._zip.open(member) as content:
                return content.read(member.file_size)  # and not a byte more is unpacked, whatever follows
        except (*_DAMAGE, RuntimeError) as error:
            raise KeyError(path) from error


_DECLARATION = re.compile(r"<\?xml[^<>]*\?>\s*")
_DOCTYPE = "<!DOCTYPE"
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w{2,31};")


def xml_text(data: bytes) -> str:
    """An XML part as text for a parser, without its declaration and document type.

    Raises:
        ValueError: a document type remains after the first is removed, as if it had been hidden in it.
    """
    text = without_doctype(_DECLARATION.sub("", decode_markup(data).lstrip("\ufeff \t\r\n"), count=1))
    text = _NAMED_ENTITY.sub(_without_name, text)
    if _DOCTYPE in text:
        raise ValueError("more than one document type")
    return text


def _without_name(entity: re.Match[str]) -> str:
    """The character of an entity that HTML defines and XML does not, escaped so that it cannot become markup."""
    from html import escape, unescape  # 3 ms that hardly any book needs

    character = unescape(entity[0])
    return entity[0] if character == entity[0] else escape(character, quote=False)


def parse_xml(data: bytes) -> Element:
    """The root element.

    Raises:
        ValueError: this is not well-formed XML.
    """
    try:
        return fromstring(xml_text(data))  # noqa: S314 - document types, and with them entities, are gone
    except ParseError as error:
        raise ValueError(str(error)) from error


def local_name(element: Element) -> str:
    """The tag without its namespace."""
    return element.tag.rpartition("}")[2]


def descendants(element: Element, name: str) -> Iterator[Element]:
    """The elements with that local name below (or at) `element`, in document order, without ones nested in another of
    them.
    """
    waiting = [element]
    while waiting:
        found = waiting.pop()
        if local_name(found) == name:
            yield found
        else:
            waiting.extend(reversed(found))


def children(element: Element, name: str) -> Iterator[Element]:
    """The child elements of that local name."""
    return (found for found in element if local_name(found) == name)


def attribute(element: Element, name: str) -> str:
    """An attribute by its local name, empty if absent."""
    if name in element.attrib:
        return element.attrib[name]
    return next((value for key, value in element.attrib.items() if key.endswith(f"}}{name}")), "")


def text_of(element: Element) -> str:
    """All text in an element, on one line."""
    return " ".join("".join(element.itertext()).split())
