"""EPUB 2 and 3: the files of the spine in reading order, with chapters and pages from the book's own tables."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from bot.parsers.archive import (
    Archive,
    attribute,
    authors,
    children,
    damaged_epub,
    descendants,
    first_text,
    package_path,
    parse_xml,
    refuse_locked,
    text_of,
    unquoted,
)
from bot.parsers.assembly import assemble
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    PARAGRAPH_GAP,
    Anchor,
    BookDraft,
    PageBreak,
    PicturesOnlyError,
    ReadingLimits,
    Report,
    TextBuilder,
    check_length,
    ignore_progress,
)
from bot.parsers.encoding import decode_markup
from bot.parsers.headings import Heading, is_bare_label, is_label
from bot.parsers.html import add_document, little_text, parse, styled_lines
from bot.parsers.text.blocks import FEWEST_HEADINGS, styled_titles
from bot.parsers.text.contents import letters
from bot.parsers.titles import one_line, with_subtitle
from domain.book import BookText
from domain.errors import BookError, BookErrorCode, Worded

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from bot.parsers.ocr import TextRecogniser
    from bot.parsers.pdf.document import PdfLine


_DOCUMENT_TYPES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_PAGE_ENDINGS = (".xhtml", ".html", ".htm", ".xht")
_DOCUMENT_ENDINGS = (*_PAGE_ENDINGS, ".xml", ".svg")
_MOST_FALLBACKS = 5
_LONGEST_WRAPPING = 2_000
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
        title=first_text(root, "title"),
        author=authors(root),
        language=first_text(root, "language"),
    )


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


_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the book: a file in the archive and, optionally, the id of an element in it."""

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
    """The tables of the nav document, and those of the NCX that the nav lacks; damaged tables count as missing."""
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
    """The links in document order, each with the number of lists around it; links within links are ignored."""
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
    """The points in reading order. It uses an explicit stack, because hostile files nest deeper than
    Python recurses.
    """
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


FORMAT = "epub"
_LITTLE_TEXT = 500
_FEWEST_LETTERS = 25
"""Letters per picture, below which a book of little text is a book of pictures."""
_MOST_PICTURES = 5_000
_SOURCES = ("src", "xlink:href", "href")
_LONGEST_NAME = 60
_FILE = re.compile(r"(?:section|part|split|file|page|text|document|untitled|html|index)[\W_]*\d*", re.IGNORECASE)


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read an EPUB; a chapter that is missing or damaged costs a warning, not the book.

    Raises:
        BookError: the book is locked, damaged, without text or too large.
    """
    archive = Archive(data, limits)
    package = open_package(archive)
    contents = read_contents(archive, package)
    builder = TextBuilder(limits)
    documents = _documents(archive, package, limits)
    lost = [*package.missing, *_read_spine(archive, documents, contents, builder, report)]
    pictures = len(_pictures(archive, package)) if builder.length < _LITTLE_TEXT else 0
    if pictures * _FEWEST_LETTERS > builder.length:
        raise PicturesOnlyError(
            Worded(
                "The pages of this EPUB are pictures ({pictures:,} of them), and there is no text in it. "
                "Please add another edition, one with text.",
                pictures=pictures,
            ),
            pictures,
        )
    styled = _styled(archive, documents, contents, builder)
    is_unnamed = (builder.headings or styled) and _are_files(contents.chapters, builder)
    draft = BookDraft(
        FORMAT,
        builder.text,
        outlines=[builder.headings] if is_unnamed else [[*_headings(contents.chapters, builder)], builder.headings],
        styled=styled,
        page_marks=builder.page_marks,
        readings=builder.readings,
        title=package.title,
        author=package.author,
        language=package.language,
        warnings=_warnings(lost),
    )
    return assemble(draft, filename, limits)


def read_pictures(
    data: bytes,
    recogniser: "TextRecogniser",
    filename: str = "",
    *,
    limits: ReadingLimits = DEFAULT_LIMITS,
    report: Report = ignore_progress,
) -> BookText:
    """Read an EPUB whose pages are pictures by text recognition; each picture is a page.

    Raises:
        BookError: as for `read`, and NO_TEXT if no picture has words.
    """
    from bot.parsers.pdf.document import PdfDocument, PdfPage
    from bot.parsers.pdf.parser import read_recognised

    archive = Archive(data, limits)
    package = open_package(archive)
    pictures = _pictures(archive, package)
    pages: list[PdfPage] = []
    for path in pictures:
        lines = _recognised(archive, path, recogniser)
        pages.append(PdfPage(str(len(pages) + 1), lines, is_picture=True))
        check_length(sum(len(line.text) for line in lines), limits)
        report(len(pages) / len(pictures))
    document = PdfDocument(tuple(pages), title=package.title, author=package.author, language=package.language)
    return read_recognised(document, FORMAT, filename, limits)


def _recognised(archive: Archive, path: str, recogniser: "TextRecogniser") -> tuple["PdfLine", ...]:
    try:
        picture = recogniser.picture_of(archive.read(path))
    except KeyError:
        return ()
    return recogniser.lines(picture) if picture else ()


def _pictures(archive: Archive, package: Package) -> list[str]:
    """The paths of the pictures in the book's documents, in reading order."""
    found: dict[str, None] = {}
    documents = [item for item in package.spine if item.is_document]
    for item, tree in _trees(archive, documents):
        for node in tree.css("img, image")[:_MOST_PICTURES]:
            source = next((node.attributes[name] for name in _SOURCES if node.attributes.get(name)), "") or ""
            if path := archive.find(posixpath.join(posixpath.dirname(item.path), source)) if source else None:
                found[path] = None
    return list(found)


def _read_spine(
    archive: Archive, documents: Sequence[Item], contents: EpubContents, builder: TextBuilder, report: Report
) -> list[str]:
    """Add the documents to the text; returns the paths of unreadable ones."""
    anchors = _by_file((entry, _place(entry)) for entry in contents.chapters)
    labels = _by_file((entry, entry.title) for entry in contents.pages)
    lost: list[str] = []
    for position, item in enumerate(documents):
        report(position / len(documents))
        try:
            markup = decode_markup(archive.read(item.path))
        except KeyError:
            lost.append(item.path)
            continue
        builder.mark(Anchor(item.path))
        if label := labels[item.path].get(""):
            builder.mark(PageBreak(label))
        add_document(parse(markup), builder, anchors[item.path], labels[item.path])
    builder.close()
    if documents and len(lost) == len(documents):
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            "This EPUB is damaged: none of its chapters can be read. Please download or export it again.",
        )
    return lost


def _styled(archive: Archive, documents: Sequence[Item], contents: EpubContents, builder: TextBuilder) -> list[Heading]:
    """The titles in a book that has neither contents with names nor heading elements."""
    is_listed = len(contents.chapters) >= FEWEST_HEADINGS and not _are_files(contents.chapters, builder)
    if is_listed or len(builder.headings) >= FEWEST_HEADINGS:
        return []
    return styled_titles(styled_lines(tree for _, tree in _trees(archive, documents)), builder.text)


def _are_files(chapters: Sequence[Entry], builder: TextBuilder) -> bool:
    """Whether contents mostly name files ("Section 3", "book-12") rather than what stands there."""
    files = 0
    for entry in chapters:
        start = builder.anchors.get(_place(entry), builder.anchors.get(entry.target.path, 0))
        title, said = letters(entry.title), letters(builder.text[start : start + _LONGEST_NAME])
        name = posixpath.basename(entry.target.path)
        is_file = title in map(letters, (name, posixpath.splitext(name)[0]))
        files += (is_file or bool(_FILE.fullmatch(entry.title))) and not said.startswith(title)
    return files * 10 > len(chapters) * 7


def _trees(archive: Archive, items: Iterable[Item]) -> Iterator[tuple[Item, "LexborHTMLParser"]]:
    """The documents that can be read."""
    for item in items:
        with suppress(KeyError):
            yield item, parse(decode_markup(archive.read(item.path)))


def _documents(archive: Archive, package: Package, limits: ReadingLimits) -> Sequence[Item]:
    """The documents of the spine, without the contents and other wrapping, unless there is prose in it."""
    every = [item for item in package.spine if item.is_document]
    wrapping = [item for item in every if item == package.nav or item.path in package.wrapping]
    kept = {item for item, tree in _trees(archive, wrapping) if _has_prose(tree, limits)}
    return [item for item in every if item not in wrapping or item in kept] or every


def _has_prose(tree: "LexborHTMLParser", limits: ReadingLimits) -> bool:
    builder = TextBuilder(limits)
    add_document(tree, builder)
    linked = sum(len(little_text(link) or "") for link in tree.css("a[href]"))
    return builder.length - linked > _LONGEST_WRAPPING


def _by_file(named: Iterable[tuple[Entry, str]]) -> defaultdict[str, dict[str, str]]:
    """For each file, the meaning of its element ids."""
    result: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for entry, meaning in named:
        result[entry.target.path].setdefault(entry.target.fragment, meaning)
    return result


def _place(entry: Entry) -> str:
    """The name of an entry's place in the text."""
    path, fragment = entry.target.path, entry.target.fragment
    return f"{path}#{fragment}" if fragment else path


def _headings(chapters: Sequence[Entry], builder: TextBuilder) -> Iterator[Heading]:
    """The chapters of the contents at their places; of several that begin at one place, the innermost."""
    places: dict[int, Entry] = {}
    for entry in chapters:
        start = builder.anchors.get(_place(entry), builder.anchors.get(entry.target.path))
        if start is not None and start < builder.length:
            places[start] = entry
    elements = {heading.start: heading for heading in builder.headings}
    for start, entry in sorted(places.items()):
        element = elements.get(start)
        below = elements.get(element.end + len(PARAGRAPH_GAP)) if element else None
        if element and below and below.start not in places and is_bare_label(entry.title) and not is_label(below.title):
            yield Heading(start, below.end, with_subtitle(entry.title, below.title), entry.depth)
        else:
            yield Heading(start, element.end if element else start, entry.title, entry.depth)


def _warnings(lost: Sequence[str]) -> list[str]:
    if not lost:
        return []
    names = ", ".join(one_line(path.rpartition("/")[2])[:_LONGEST_NAME] for path in lost[:3])
    return [
        Worded(
            "{count} parts of this EPUB are missing or damaged ({names}), so their text is not in the book.",
            count=len(lost),
            names=names,
        )
    ]
