"""The tables an EPUB carries: its contents and its list of printed pages, from EPUB 3's nav or EPUB 2's NCX."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from bot.parsers.archive import Archive, unquoted
from bot.parsers.encoding import decode_markup
from bot.parsers.epub.package import Package
from bot.parsers.markup import parse
from bot.parsers.xml_parts import attribute, children, descendants, parse_xml, text_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the book: a file of the archive and, within it, the id of an element (or none)."""

    path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents (`depth` 1 is outermost) or of the page list (`title` is the page's label)."""

    title: str
    target: Target
    depth: int


@dataclass(frozen=True, slots=True)
class EpubContents:
    chapters: tuple[Entry, ...]
    pages: tuple[Entry, ...]


def read_contents(archive: Archive, package: Package) -> EpubContents:
    """The tables of the nav document, and of the NCX where the nav has none; damaged tables count as absent."""
    nav = _from_nav(archive, package.nav.path) if package.nav else EpubContents((), ())
    if nav.chapters and nav.pages:
        return nav
    ncx = _from_ncx(archive, package.ncx.path) if package.ncx else EpubContents((), ())
    return EpubContents(nav.chapters or ncx.chapters, nav.pages or ncx.pages)


def _target(archive: Archive, base: str, href: str) -> Target | None:
    path, _, fragment = href.partition("#")
    found = archive.find(posixpath.join(posixpath.dirname(base), path)) if path else base
    return Target(found, unquoted(fragment)) if found else None


def _from_nav(archive: Archive, path: str) -> EpubContents:
    try:
        tree = parse(decode_markup(archive.read(path)))
    except KeyError:
        return EpubContents((), ())
    lists = {kind: nav for nav in tree.css("nav") for kind in (nav.attributes.get("epub:type") or "toc").split()}
    return EpubContents(
        tuple(_nav_entries(archive, path, lists["toc"])) if "toc" in lists else (),
        tuple(_nav_entries(archive, path, lists["page-list"])) if "page-list" in lists else (),
    )


def _nav_entries(archive: Archive, base: str, nav: "LexborNode") -> Iterator[Entry]:
    for link, depth in islice(_links(nav), _MOST_ENTRIES):
        title = " ".join(link.text(deep=True).split())
        if target := _target(archive, base, link.attributes.get("href") or ""):
            yield Entry(title, target, depth)


def _links(nav: "LexborNode") -> Iterator[tuple["LexborNode", int]]:
    """The links in document order, and in how many lists each stands; what is in a link is no link of its own."""
    waiting = [(nav.child, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node is None:
            continue
        waiting.append((node.next, depth))
        if node.tag == "a" and "href" in node.attributes:
            yield node, depth
        else:
            waiting.append((node.child, depth + (node.tag == "ol")))


def _from_ncx(archive: Archive, path: str) -> EpubContents:
    try:
        root = parse_xml(archive.read(path))
    except (ValueError, KeyError):
        return EpubContents((), ())
    maps = list(descendants(root, "navMap"))[:1]
    pages = (entry for target in descendants(root, "pageTarget") for entry in _ncx_entry(archive, path, target, 1))
    return EpubContents(
        tuple(entry for start in maps for entry in _nav_points(archive, path, start)),
        tuple(pages),
    )


def _nav_points(archive: Archive, base: str, start: Element) -> Iterator[Entry]:
    """The points in reading order, by a stack of our own: a hostile file nests them deeper than Python recurses."""
    stack = [(point, 1) for point in reversed(list(children(start, "navPoint")))]
    while stack:
        point, depth = stack.pop()
        yield from _ncx_entry(archive, base, point, depth)
        stack.extend((child, depth + 1) for child in reversed(list(children(point, "navPoint"))))


def _ncx_entry(archive: Archive, base: str, point: Element, depth: int) -> Iterator[Entry]:
    label = next((text_of(label) for label in children(point, "navLabel")), "") or attribute(point, "value")
    content = next(children(point, "content"), None)
    target = _target(archive, base, attribute(content, "src")) if content is not None else None
    if target is not None:
        yield Entry(label, target, depth)
