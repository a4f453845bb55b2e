"""The parts of a DOCX beside its body: styles, notes, and what the document says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from bot.readers.xml_parts import attribute, children, descendants, parse_xml, text_of

_NOTE_MARKS = ("separator", "continuationSeparator", "continuationNotice")
_DEEPEST = 6
_MOST_ANCESTORS = 50


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style means: a heading's level (0: none), the title, or a line of the contents."""

    level: int = 0
    is_title: bool = False
    is_contents: bool = False


@dataclass(frozen=True, slots=True)
class Properties:
    title: str = ""
    author: str = ""
    language: str = ""


def read_styles(part: bytes | None) -> dict[str, Style]:
    """Paragraph styles by id; a damaged part counts as absent."""
    found = {attribute(style, "styleId"): style for style in _elements(part, "style")}
    names = {identity: _value(style, "name").lower() for identity, style in found.items()}
    parents = {identity: _value(style, "basedOn") for identity, style in found.items()}
    levels = {identity: _own_level(names[identity], style) for identity, style in found.items()}
    return {
        identity: Style(
            level=_inherited_level(identity, levels, parents),
            is_title=name == "title",
            is_contents=name.startswith(("toc ", "table of figures")),
        )
        for identity, name in names.items()
    }


def outline_level(value: str) -> int:
    """Word counts outline levels from 0 and writes 9 for body text."""
    return int(value) + 1 if value.isdecimal() and int(value) < _DEEPEST else 0


def read_notes(part: bytes | None, kind: str) -> dict[str, str]:
    """Footnotes or endnotes (`kind` is "footnote" or "endnote") by id."""
    return {
        attribute(note, "id"): text_of(note)
        for note in _elements(part, kind)
        if attribute(note, "type") not in _NOTE_MARKS
    }


def read_properties(part: bytes | None) -> Properties:
    """Title, author and language as the document declares them."""
    declared = {
        name: text_of(element) for name in ("title", "creator", "language") for element in _elements(part, name)
    }
    return Properties(declared.get("title", ""), declared.get("creator", ""), declared.get("language", ""))


def _elements(part: bytes | None, name: str) -> list[Element]:
    if part is None:
        return []
    try:
        return list(descendants(parse_xml(part), name))
    except ValueError:
        return []


def _value(style: Element, name: str) -> str:
    return next((attribute(child, "val") for child in children(style, name)), "")


def _own_level(name: str, style: Element) -> int:
    if name.startswith("heading ") and name[8:].isdecimal():
        return min(int(name[8:]), _DEEPEST)
    return next((outline_level(attribute(level, "val")) for level in descendants(style, "outlineLvl")), 0)


def _inherited_level(identity: str, levels: Mapping[str, int], parents: Mapping[str, str]) -> int:
    """A style may go back to itself, or to thousands of others."""
    for _ in range(_MOST_ANCESTORS):
        if identity not in levels or levels[identity]:
            break
        identity = parents[identity]
    return levels.get(identity, 0)
