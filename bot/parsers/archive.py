"""ZIP files and the markup in them: read in memory, bounded, and without document types; the package of an EPUB."""

import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        """Open the archive in these bytes.

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
        self._by_name: dict[str, list[str]] = {}
        self._folded = {name.casefold(): name for name in self._members}

    def find(self, path: str) -> str | None:
        """The member that a link points to, percent-encoded or not, ignoring case; None if there is none."""
        for wanted in (path, unquoted(path)):
            normal = posixpath.normpath(wanted).lstrip("/")
            if name := self._folded.get(normal.casefold()) or self._folded.get(wanted.casefold()):
                return name
        return None

    def find_misplaced(self, path: str) -> str | None:
        """The member that a wrong link most likely means: one with backslashes, with a place within the file, or
        with the wrong folder; None if several have the name.
        """
        if not self._by_name:
            for member in self._members:
                self._by_name.setdefault(member.rpartition("/")[2].casefold(), []).append(member)
        plain = re.split("[#?]", unquoted(path).replace("\\", "/"), maxsplit=1)[0]
        found = self._by_name.get(plain.rpartition("/")[2].casefold() or "/", [])
        return found[0] if len(found) == 1 else None

    def with_extension(self, *extensions: str) -> list[str]:
        """The members with one of these suffixes."""
        return [name for name in self._members if name.lower().endswith(extensions)]

    def first_with_extension(self, extension: str) -> str | None:
        """The first member with that suffix; None if there is none."""
        return next(iter(self.with_extension(extension)), None)

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
_BARE_AMPERSAND = re.compile(r"&(?!\w{1,32};|#\d{1,8};|#x[0-9A-Fa-f]{1,8};)")
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w{2,31};")


def xml_text(data: bytes) -> str:
    """An XML part as text for a parser, without its declaration and document type.

    Raises:
        ValueError: a document type remains after the first is removed, as if it had been hidden in it.
    """
    text = without_doctype(_DECLARATION.sub("", decode_markup(data).lstrip("\ufeff \t\r\n"), count=1))
    if "&" in text:
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
    """The root element; a bare ampersand is read as one.

    Raises:
        ValueError: this is not well-formed XML.
    """
    try:
        return fromstring(_BARE_AMPERSAND.sub("&amp;", xml_text(data)))  # noqa: S314 - no document types
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


_FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_RIGHTS_FILES = ("META-INF/rights.xml", "META-INF/license.lcpl", "META-INF/sinf.xml")
_NO_TEXTS = (".otf", ".ttf", ".ttc", ".woff", ".woff2", ".dfont", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".mp3")


def refuse_locked(archive: Archive) -> None:
    """Raise DRM_PROTECTED or ENCRYPTED if an EPUB's texts are locked; fonts that are locked do no harm."""
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
    return any(_locks_text(entry) for entry in descendants(root, "EncryptedData"))


def _locks_text(entry: Element) -> bool:
    methods = [attribute(method, "Algorithm") for method in children(entry, "EncryptionMethod")]
    places = [unquoted(attribute(place, "URI")).lower() for place in descendants(entry, "CipherReference")]
    is_text = not places or not all(place.endswith(_NO_TEXTS) for place in places)
    return is_text and any(method not in _FONT_OBFUSCATION for method in methods)


_PACKAGE_TYPE = "application/oebps-package+xml"


def package_path(archive: Archive) -> str:
    """The path of an EPUB's package document.

    Raises:
        BookError: PARSE_FAILED, there is none.
    """
    container = archive.find("META-INF/container.xml")
    if container is not None:
        try:
            root = parse_xml(archive.read(container))
        except (ValueError, KeyError):
            root = None
        rootfiles = list(descendants(root, "rootfile")) if root is not None else []
        for rootfile in sorted(rootfiles, key=lambda each: attribute(each, "media-type") != _PACKAGE_TYPE):
            if path := archive.find(attribute(rootfile, "full-path")):
                return path
    if path := archive.first_with_extension(".opf"):
        return path
    raise damaged_epub()


def first_text(root: Element, name: str) -> str:
    """The text of the first element of that name that has any; empty if there is none."""
    return next((text for element in descendants(root, name) if (text := text_of(element))), "")


def _main_title(root: Element) -> str:
    """The title of an EPUB that is called its main one, or else the first: a series or an edition may have one, too."""
    kinds = _refined(root, "title-type")
    titles = {kinds.get(attribute(title, "id"), ""): text_of(title) for title in descendants(root, "title")}
    return titles.get("main") or first_text(root, "title")


def _refined(root: Element, name: str) -> Mapping[str, str]:
    """What an EPUB's metadata say about the elements with certain ids: the role of a person, the type of a title."""
    metas = (meta for meta in descendants(root, "meta") if attribute(meta, "property") == name)
    return {attribute(meta, "refines").lstrip("#"): text_of(meta) for meta in metas}


def authors(root: Element) -> str:
    """The creators who wrote an EPUB: those with the role "aut", or else all."""
    refined = _refined(root, "role")
    creators = [(text_of(creator), _role(creator, refined)) for creator in descendants(root, "creator")]
    names = [name for name, role in creators if role in ("", "aut")] or [name for name, _ in creators]
    return ", ".join(dict.fromkeys(filter(None, names)))


def _role(creator: Element, refined: Mapping[str, str]) -> str:
    return attribute(creator, "role") or refined.get(attribute(creator, "id"), "")


def damaged_epub() -> BookError:
    """The error for an EPUB without a usable package document."""
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This EPUB is damaged: its table of contents cannot be read. Please download or export it again.",
    )


_DOCUMENT_TYPES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_PAGE_ENDINGS = (".xhtml", ".html", ".htm", ".xht")
_DOCUMENT_ENDINGS = (*_PAGE_ENDINGS, ".xml", ".svg")
_MOST_FALLBACKS = 5
_WRAPPING_REFERENCES = ("cover", "toc", "copyright-page")


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book: its path in the archive, its type and its purpose."""

    path: str
    media_type: str
    properties: tuple[str, ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether it is a page of text, by its type or else by its name: many books declare wrong types."""
        return self.media_type in _DOCUMENT_TYPES or self.path.lower().endswith(_PAGE_ENDINGS)

    @property
    def is_document(self) -> bool:
        """Whether it may have text if it is in the spine."""
        return self.is_page or self.path.lower().endswith(_DOCUMENT_ENDINGS)


@dataclass(frozen=True, slots=True)
class Package:
    """`spine` is in reading order, ending with files outside the reading flow (notes, mostly).

    `wrapping` are paths of covers, contents and copyright pages; `missing` are files in the spine that do not exist.
    With `is_fixed`, each file is a page as it is printed.
    """

    spine: tuple[Item, ...]
    nav: Item | None
    ncx: Item | None
    wrapping: frozenset[str]
    missing: tuple[str, ...]
    is_fixed: bool
    title: str
    author: str
    language: str


def open_package(archive: Archive) -> Package:
    """Read the package document.

    Raises:
        BookError: DRM_PROTECTED, or PARSE_FAILED if there is no usable one.
    """
    refuse_locked(archive)
    path = package_path(archive)
    try:
        root = parse_xml(archive.read(path))
    except (ValueError, KeyError) as error:
        raise damaged_epub() from error
    return _package(archive, path, root)


def _package(archive: Archive, path: str, root: Element) -> Package:
    folder = posixpath.dirname(path)
    manifest = {attribute(entry, "id"): entry for entry in descendants(root, "item")}
    items = {name: item for name, entry in manifest.items() if (item := _item(archive, folder, entry))}
    spine = next(descendants(root, "spine"), None)
    order = _resolved(_reading_order(spine), manifest, items)
    if not items:  # as in HTMLZ, which has a page and what a library knows about it
        items = {path: Item(path, "") for path in archive.with_extension(*_PAGE_ENDINGS)}
        order = list(items)
    ncx = items.get(attribute(spine, "toc")) if spine is not None else None
    return Package(
        spine=tuple({items[name].path: items[name] for name in order if name in items}.values()),
        nav=next((item for item in items.values() if "nav" in item.properties), None),
        ncx=ncx or next((item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None),
        wrapping=frozenset(_wrapping(archive, folder, root)),
        missing=tuple(attribute(manifest[name], "href") for name in order if name in manifest and name not in items),
        is_fixed=any(map(_is_fixed, descendants(root, "meta"))),
        title=_main_title(root),
        author=authors(root),
        language=first_text(root, "language"),
    )


def _is_fixed(meta: Element) -> bool:
    """Whether metadata say that pages have a fixed layout, in the way of EPUB 3 or of Kindle."""
    layout = attribute(meta, "property") == "rendition:layout" and text_of(meta) == "pre-paginated"
    return layout or (attribute(meta, "name") == "fixed-layout" and attribute(meta, "content").lower() == "true")


def _item(archive: Archive, folder: str, entry: Element) -> Item | None:
    href = attribute(entry, "href")
    path = archive.find(posixpath.join(folder, href)) or archive.find_misplaced(href)
    if path is None:
        return None
    media_type = attribute(entry, "media-type").lower().partition(";")[0].strip()
    return Item(path, media_type, tuple(attribute(entry, "properties").split()))


def _resolved(order: Sequence[str], manifest: Mapping[str, Element], items: Mapping[str, Item]) -> list[str]:
    """The ids of the spine, each as its fallback if it is no document. If some are unknown, the pages that the spine
    does not name follow.
    """
    known = {attribute(entry, "href"): name for name, entry in manifest.items()}
    known = {name.casefold(): name for name in manifest} | known | {name: name for name in manifest}
    named = [known.get(name) or known.get(name.casefold(), "") for name in order]
    rest = [] if order and all(named) else [name for name, item in items.items() if item.is_page]
    return list(dict.fromkeys([*(_fallback(name, manifest, items) for name in named if name), *rest]))


def _fallback(name: str, manifest: Mapping[str, Element], items: Mapping[str, Item]) -> str:
    """The first document of a chain of fallbacks; the name itself if there is none."""
    instead = name
    for _ in range(_MOST_FALLBACKS):
        if instead not in items or items[instead].is_document:
            break
        instead = attribute(manifest[instead], "fallback")
    return instead if instead in items else name


def _reading_order(spine: Element | None) -> list[str]:
    references = list(children(spine, "itemref")) if spine is not None else []
    in_flow = [attribute(entry, "idref") for entry in references if attribute(entry, "linear") != "no"]
    aside = [attribute(entry, "idref") for entry in references if attribute(entry, "linear") == "no"]
    return [*in_flow, *aside]


def _wrapping(archive: Archive, folder: str, root: Element) -> Iterator[str]:
    """Whole files that EPUB 2's guide calls cover, contents or copyright page; places inside files do not count."""
    for reference in descendants(root, "reference"):
        href = attribute(reference, "href")
        path = archive.find(posixpath.join(folder, href)) if "#" not in href else None
        if path and attribute(reference, "type").lower() in _WRAPPING_REFERENCES:
            yield path


_UNNESTED_NAMES = """
    a area base body br col colgroup dd dt embed h1 h2 h3 h4 h5 h6 head hr html img input li link meta nobr p param
    source tbody td tfoot th thead tr track wbr
"""
_VALUE = r"""=\s*+(?:"[^"]*+"|'[^']*+')"""
_TAG = re.compile(rf"""<(/?[A-Za-z][^\s/<>]*+)((?:[^"'>=]++|{_VALUE}|[="'])*+)>?""")
_ATTRIBUTE = re.compile(rf"{_VALUE}|[^\s/=]++|=")
_DEEPEST = 512
"""As deep as browsers nest elements. The library's time grows with the square of the depth."""
_MOST_ATTRIBUTES = 512
"""The same holds for the attributes of an element."""
_UNNESTED = frozenset(_UNNESTED_NAMES.split())
"""Elements that end where the next one begins, or with what contains them, though not in drawings and formulas."""


def without_excess(markup: str, blocks: Collection[str]) -> str:
    """HTML that the library reads in linear time: elements nested too deeply lose their tags, or become paragraphs if
    they are `blocks`, and elements with too many attributes lose these.
    """
    too_deep, is_crowded = _excesses(markup)
    if too_deep or is_crowded:
        return _TAG.sub(lambda tag: _plainer(tag, too_deep, blocks), markup)
    return markup


def _excesses(markup: str) -> tuple[set[str], bool]:
    """The elements without which nothing in a document is too deep, and whether any has too many attributes.

    Elements that are never closed count as nested.
    """
    depth: Counter[str] = Counter()
    deepest: Counter[str] = Counter()
    before_ruby: list[int] = []
    is_crowded = False
    for tag, attributes in _TAG.findall(markup):
        name = tag.lower()
        is_crowded = is_crowded or _are_too_many(attributes)
        if name == "ruby":
            before_ruby.append(depth["rt"])
        elif name == "/ruby" and before_ruby:  # readings end with it
            depth["rt"] = before_ruby.pop()
        if name[0] != "/":
            if name not in _UNNESTED or depth["svg"] or depth["math"]:
                depth[name] = now = depth[name] + 1
                if now > deepest[name]:
                    deepest[name] = now
        elif depth[name[1:]]:
            depth[name[1:]] -= 1
    room, too_deep = _DEEPEST, set(deepest)
    for name in sorted(deepest, key=lambda name: deepest[name]):
        room -= deepest[name]
        if room < 0:
            break
        too_deep.discard(name)
    return too_deep, is_crowded


def _are_too_many(attributes: str) -> bool:
    return len(attributes) > 2 * _MOST_ATTRIBUTES and len(_ATTRIBUTE.findall(attributes)) > 2 * _MOST_ATTRIBUTES


def _plainer(tag: re.Match[str], too_deep: set[str], blocks: Collection[str]) -> str:
    name = tag[1].lower().lstrip("/")
    if name in too_deep:
        return "<p>" if name in blocks else ""
    return f"<{tag[1]}>" if _are_too_many(tag[2]) else tag[0]
