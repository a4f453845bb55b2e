"""What an EPUB says about itself: the files to read and their order, who wrote it, and whether it is locked."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from bot.parsers.archive import Archive
from bot.parsers.xml_parts import attribute, children, descendants, parse_xml, text_of
from domain.errors import BookError, BookErrorCode

_DOCUMENT_TYPES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_RIGHTS_FILES = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_WRAPPING_REFERENCES = ("cover", "toc", "copyright-page")


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book: its path in the archive, its type and what it is for."""

    path: str
    media_type: str
    properties: tuple[str, ...] = ()

    @property
    def is_document(self) -> bool:
        return self.media_type in _DOCUMENT_TYPES


@dataclass(frozen=True, slots=True)
class Package:
    """`spine` is in reading order, with what is outside the reading flow (notes, mostly) at its end.

    `wrapping` are paths of covers, contents and copyright pages; `missing` are files the spine names in vain.
    """

    spine: tuple[Item, ...]
    nav: Item | None
    ncx: Item | None
    wrapping: frozenset[str]
    missing: tuple[str, ...]
    title: str
    author: str
    language: str


def open_package(archive: Archive) -> Package:
    """Read the package document.

    Raises:
        BookError: DRM_PROTECTED, or PARSE_FAILED where there is nothing to go by.
    """
    refuse_locked(archive)
    path = _package_path(archive)
    try:
        root = parse_xml(archive.read(path))
    except (ValueError, KeyError) as error:
        raise _damaged() from error
    return _package(archive, path, root)


def refuse_locked(archive: Archive) -> None:
    """Raise DRM_PROTECTED or ENCRYPTED if the texts are locked; obfuscated fonts are harmless."""
    if archive.needs_password:
        raise BookError(
            BookErrorCode.ENCRYPTED, "This EPUB is locked with a password. Please add a copy that opens without one."
        )
    if any(archive.find(name) for name in _RIGHTS_FILES) or _texts_are_encrypted(archive):
        raise BookError(
            BookErrorCode.DRM_PROTECTED,
            "This book is locked by its shop (DRM), so I cannot read it. Please add an edition without DRM.",
        )


def _texts_are_encrypted(archive: Archive) -> bool:
    path = archive.find("META-INF/encryption.xml")
    if path is None:
        return False
    try:
        root = parse_xml(archive.read(path))
    except (ValueError, KeyError):
        return True
    methods = [
        attribute(method, "Algorithm")
        for entry in descendants(root, "EncryptedData")
        for method in children(entry, "EncryptionMethod")
    ]
    return any(method not in _FONT_OBFUSCATION for method in methods)


def _package_path(archive: Archive) -> str:
    container = archive.find("META-INF/container.xml")
    if container is not None:
        try:
            root = parse_xml(archive.read(container))
        except (ValueError, KeyError):
            root = None
        for rootfile in descendants(root, "rootfile") if root is not None else ():
            if path := archive.find(attribute(rootfile, "full-path")):
                return path
    if path := archive.first_with_extension(".opf"):
        return path
    raise _damaged()


def _damaged() -> BookError:
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This EPUB is damaged: its list of contents cannot be read. Please download or export it again.",
    )


def _package(archive: Archive, path: str, root: Element) -> Package:
    folder = posixpath.dirname(path)
    manifest = {attribute(entry, "id"): entry for entry in descendants(root, "item")}
    items = {name: item for name, entry in manifest.items() if (item := _item(archive, folder, entry))}
    spine = next(descendants(root, "spine"), None)
    order = _reading_order(spine) or [name for name, item in items.items() if item.is_document]
    ncx = items.get(attribute(spine, "toc")) if spine is not None else None
    return Package(
        spine=tuple(dict.fromkeys(items[name] for name in order if name in items)),
        nav=next((item for item in items.values() if "nav" in item.properties), None),
        ncx=ncx or next((item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None),
        wrapping=frozenset(_wrapping(archive, folder, root)),
        missing=tuple(attribute(manifest[name], "href") for name in order if name in manifest and name not in items),
        title=_first_text(root, "title"),
        author=_authors(root),
        language=_first_text(root, "language"),
    )


def _item(archive: Archive, folder: str, entry: Element) -> Item | None:
    path = archive.find(posixpath.join(folder, attribute(entry, "href")))
    if path is None:
        return None
    return Item(path, attribute(entry, "media-type").lower(), tuple(attribute(entry, "properties").split()))


def _reading_order(spine: Element | None) -> list[str]:
    references = list(children(spine, "itemref")) if spine is not None else []
    in_flow = [attribute(entry, "idref") for entry in references if attribute(entry, "linear") != "no"]
    aside = [attribute(entry, "idref") for entry in references if attribute(entry, "linear") == "no"]
    return [*in_flow, *aside]


def _wrapping(archive: Archive, folder: str, root: Element) -> Iterator[str]:
    """Whole files that EPUB 2's guide calls cover, contents or copyright page; a place inside a file is not meant."""
    for reference in descendants(root, "reference"):
        href = attribute(reference, "href")
        path = archive.find(posixpath.join(folder, href)) if "#" not in href else None
        if path and attribute(reference, "type").lower() in _WRAPPING_REFERENCES:
            yield path


def _first_text(root: Element, name: str) -> str:
    return next((text for element in descendants(root, name) if (text := text_of(element))), "")


def _authors(root: Element) -> str:
    """The creators who wrote the book: those with the role "aut", or else all."""
    refined = {
        attribute(meta, "refines").lstrip("#"): text_of(meta)
        for meta in descendants(root, "meta")
        if attribute(meta, "property") == "role"
    }
    creators = [(text_of(creator), _role(creator, refined)) for creator in descendants(root, "creator")]
    names = [name for name, role in creators if role in ("", "aut")] or [name for name, _ in creators]
    return ", ".join(dict.fromkeys(filter(None, names)))


def _role(creator: Element, refined: Mapping[str, str]) -> str:
    return attribute(creator, "role") or refined.get(attribute(creator, "id"), "")
