"""XML parts of EPUB and DOCX files, parsed without document types: no entity can be declared, so none can explode."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, fromstring

from bot.parsers.encoding import decode_markup, without_doctype

_DECLARATION = re.compile(r"<\?xml[^<>]*\?>\s*")
_DOCTYPE = "<!DOCTYPE"
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w{2,31};")


def xml_text(data: bytes) -> str:
    """An XML part as text that a parser can take, without its declaration and document type.

    Raises:
        ValueError: a document type is left when the first has gone, as if it had been hidden in it.
    """
    text = without_doctype(_DECLARATION.sub("", decode_markup(data).lstrip("\ufeff \t\r\n"), count=1))
    text = _NAMED_ENTITY.sub(_without_name, text)
    if _DOCTYPE in text:
        raise ValueError("more than one document type")
    return text


def _without_name(entity: re.Match[str]) -> str:
    """The character of an entity that HTML knows and XML does not, without making markup of it."""
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
    """The elements of that local name below (or at) `element`, in document order, but none within another of them."""
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
