"""EPUB 2 and 3: the files of the spine in reading order, with chapters and pages from the book's own tables."""

import posixpath
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise, zip_longest
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from bot.parsers.archive import (
    Archive,
    Item,
    Package,
    attribute,
    children,
    descendants,
    open_package,
    parse_xml,
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
from bot.parsers.titles import letters, one_line, with_subtitle
from domain.book import BookText
from domain.errors import BookError, BookErrorCode, Worded

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from bot.parsers.ocr import TextRecogniser
    from bot.parsers.pdf.document import PdfLine


_LONGEST_WRAPPING = 2_000
_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    """A file in the archive, or "" if it is not there, and, optionally, the id of an element in it."""

    path: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents (`depth` 1 is outermost) or of the page list (`title` is the page's label).

    A part may have no place but that of its first chapter: EPUB 3 writes "<span>Part One</span>", without a link.
    """

    title: str
    target: Target
    depth: int
    has_own_place: bool = True


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


def _target(archive: Archive, base: str, href: str) -> Target:
    path, _, fragment = href.partition("#")
    found = archive.find(posixpath.join(posixpath.dirname(base), path)) if path else base
    return Target(found or "", unquoted(fragment))


def _from_nav(archive: Archive, path: str) -> EpubContents:
    try:
        tree = parse(decode_markup(archive.read(path)))
    except KeyError:
        return EpubContents((), ())
    lists = {kind: nav for nav in tree.css("nav") for kind in (nav.attributes.get("epub:type") or "toc").split()}
    return EpubContents(
        _nav_entries(archive, path, lists["toc"]) if "toc" in lists else (),
        _nav_entries(archive, path, lists["page-list"]) if "page-list" in lists else (),
    )


def _nav_entries(archive: Archive, base: str, nav: "LexborNode") -> tuple[Entry, ...]:
    lines = (
        (" ".join(node.text(deep=True).split()), node.attributes.get("href"), depth) for node, depth in _lines(nav)
    )
    return _with_places((title, _target(archive, base, href) if href else None, depth) for title, href, depth in lines)


def _with_places(lines: Iterable[tuple[str, Target | None, int]]) -> tuple[Entry, ...]:
    """The lines of a table, each with its place."""
    entries: list[Entry] = []
    waiting: list[tuple[str, int]] = []
    for title, target, depth in islice(lines, _MOST_ENTRIES):
        while waiting and waiting[-1][1] >= depth:
            waiting.pop()
        above = entries[-1] if entries else None
        if target is None:
            waiting.append((title, depth))
            continue
        if above and above.target == target and above.depth < depth and letters(above.title) != letters(title):
            entries[-1] = replace(above, has_own_place=False)
        entries += (Entry(name, target, outer, has_own_place=False) for name, outer in waiting)
        waiting.clear()
        entries.append(Entry(title, target, depth))
    return tuple(entries)


def _lines(nav: "LexborNode") -> Iterator[tuple["LexborNode", int]]:
    """The links, and the names that are none, in document order, each with the number of lists around it; links within
    links are ignored.
    """
    waiting = [(nav.child, 0)]
    while waiting:
        node, depth = waiting.pop()
        if node is None:
            continue
        waiting.append((node.next, depth))
        if node.tag == "a" or _is_name(node):
            yield node, depth
        else:
            waiting.append((node.child, depth + (node.tag == "ol")))


def _is_name(node: "LexborNode") -> bool:
    return node.tag == "span" and node.parent is not None and node.parent.tag == "li" and node.css_first("a") is None


def _from_ncx(archive: Archive, path: str) -> EpubContents:
    try:
        root = parse_xml(archive.read(path))
    except (ValueError, KeyError):
        return EpubContents((), ())
    points = (line for start in [*descendants(root, "navMap")][:1] for line in _nav_points(archive, path, start))
    pages = (_ncx_line(archive, path, target, 1) for target in descendants(root, "pageTarget"))
    return EpubContents(_with_places(points), _with_places(pages))


def _nav_points(archive: Archive, base: str, start: Element) -> Iterator[tuple[str, Target | None, int]]:
    """The points in reading order. It uses an explicit stack, because hostile files nest deeper than
    Python recurses.
    """
    stack = [(point, 1) for point in reversed(list(children(start, "navPoint")))]
    while stack:
        point, depth = stack.pop()
        yield _ncx_line(archive, base, point, depth)
        stack.extend((child, depth + 1) for child in reversed(list(children(point, "navPoint"))))


def _ncx_line(archive: Archive, base: str, point: Element, depth: int) -> tuple[str, Target | None, int]:
    label = next((text_of(label) for label in children(point, "navLabel")), "") or attribute(point, "value")
    content = next(children(point, "content"), None)
    return label, _target(archive, base, attribute(content, "src")) if content is not None else None, depth


FORMAT = "epub"
_LITTLE_TEXT = 500
_FEWEST_LETTERS = 25
"""Letters per picture, below which a book of little text is a book of pictures."""
_MOST_PICTURES = 5_000
_SOURCES = ("src", "xlink:href", "href")
_LONGEST_NAME = 60
_LINE = re.compile(r"\S[^\n]*")
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
    if package.is_fixed and not contents.pages:
        numbers = (Entry(str(number), Target(item.path, ""), 1) for number, item in enumerate(package.spine, start=1))
        contents = replace(contents, pages=tuple(numbers))
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
    anchors = _by_file((entry, _place(entry)) for entry in contents.chapters if entry.has_own_place)
    labels = _by_file((entry, entry.title) for entry in contents.pages)
    parts: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in contents.chapters:
        if not entry.has_own_place and not entry.target.fragment:
            parts[entry.target.path].append(entry)
    lost: list[str] = []
    for position, item in enumerate(documents):
        report(position / len(documents))
        try:
            markup = decode_markup(archive.read(item.path))
        except KeyError:
            lost.append(item.path)
            continue
        tree = parse(markup)
        opening = letters(tree.body.text(deep=True)[:_LITTLE_TEXT]) if parts[item.path] and tree.body else ""
        for part in parts[item.path]:
            _add_part(part, opening, builder)
        builder.mark(Anchor(item.path))
        if label := labels[item.path].get(""):
            builder.mark(PageBreak(label))
        add_document(tree, builder, anchors[item.path], labels[item.path])
    builder.close()
    if documents and len(lost) == len(documents):
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            "This EPUB is damaged: none of its chapters can be read. Please download or export it again.",
        )
    return lost


def _add_part(part: Entry, opening: str, builder: TextBuilder) -> None:
    """Mark where a part begins that has no place of its own; its name becomes text where neither the heading before
    nor the opening of its file (only letters) says it.
    """
    last, name = builder.headings[-1:], letters(part.title)
    if last and last[0].end == builder.length and letters(last[0].title) == name:
        builder.anchors.setdefault(_place(part), last[0].start)
    elif name not in opening:
        builder.mark(Anchor(_place(part)))
        builder.add(part.title, heading_level=part.depth)


def _styled(archive: Archive, documents: Sequence[Item], contents: EpubContents, builder: TextBuilder) -> list[Heading]:
    """The titles in a book that has neither contents with names nor heading elements."""
    is_listed = len(contents.chapters) >= FEWEST_HEADINGS and not _are_files(contents.chapters, builder)
    if is_listed or len(builder.headings) >= FEWEST_HEADINGS:
        return []
    return styled_titles(styled_lines(tree for _, tree in _trees(archive, documents)), builder.text)


def _are_files(chapters: Sequence[Entry], builder: TextBuilder) -> bool:
    """Whether contents mostly name files ("Section 3", "book-12"), or the book again, rather than what stands there."""
    nameless = 0
    titles = Counter(letters(entry.title) for entry in chapters)
    for entry in chapters:
        start = builder.anchors.get(_place(entry), builder.anchors.get(entry.target.path, 0))
        title, said = letters(entry.title), letters(builder.text[start : start + _LONGEST_NAME])
        name = posixpath.basename(entry.target.path)
        is_file = title in map(letters, (name, posixpath.splitext(name)[0])) or bool(_FILE.fullmatch(entry.title))
        nameless += (is_file or titles[title] * 2 > len(chapters) > 1) and not said.startswith(title)
    return nameless * 10 > len(chapters) * 7


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
    place = f"{path}#{fragment}" if fragment else path
    return place if entry.has_own_place else f"{place}<{entry.title}"


def _headings(chapters: Sequence[Entry], builder: TextBuilder) -> Iterator[Heading]:
    """The chapters of the contents at their places. A part and its first chapter may begin at one place; of others that
    do, the last counts.
    """
    places: dict[int, list[Entry]] = {}
    for entry, start in _with_starts(chapters, builder):
        places[start] = _innermost(places.get(start, []), entry)
    elements = {heading.start: heading for heading in builder.headings}
    below = {
        heading.start: following
        for heading in builder.headings
        if (following := elements.get(heading.end + len(PARAGRAPH_GAP))) and following.start not in places
    }
    for place, (*outer, entry) in sorted(places.items()):
        start = place
        for part in outer:
            if (element := elements.get(start)) and letters(element.title).endswith(letters(part.title)):
                yield Heading(start, element.end, part.title, part.depth)
                start = element.end + len(PARAGRAPH_GAP)
        if start > place and start in places:
            continue  # there is nothing between the part and what begins next
        element, following = elements.get(start), below.get(start)
        if following and is_bare_label(entry.title) and not is_label(following.title):
            yield Heading(start, following.end, with_subtitle(entry.title, following.title), entry.depth)
        else:
            end = element.end if element else _end_of_title(builder.text, start, entry.title)
            yield Heading(start, end, entry.title, entry.depth)


def _end_of_title(text: str, start: int, title: str) -> int:
    """Where the line ends that says a title, perhaps below its number; the start if neither of two lines does."""
    for line in islice(_LINE.finditer(text, start), 2):
        if letters(line[0]) == letters(title):
            return line.end()
        if not is_bare_label(line[0]):
            break
    return start


def _innermost(above: Sequence[Entry], entry: Entry) -> list[Entry]:
    """An entry with those around it that begin at the same place."""
    outer = [each for each in above if each.depth < entry.depth]
    return outer if outer and letters(outer[-1].title) == letters(entry.title) else [*outer, entry]


def _with_starts(chapters: Sequence[Entry], builder: TextBuilder) -> Iterator[tuple[Entry, int]]:
    """The entries that begin somewhere in the text. One whose element or file is not there begins at the next line that
    says the same, or with the file if it is the first in it: programs that convert books lose names of files and ids.
    """
    anchors, length, last = builder.anchors, builder.length, 0
    files = {entry.target.path: start for entry in chapters if (start := anchors.get(entry.target.path)) is not None}
    ends = dict(pairwise([*sorted(set(files.values())), length]))
    is_whole = all(_place(entry) in anchors for entry in chapters)
    said = {} if is_whole else _lines_said(builder.text)
    opened: dict[str, int] = {}
    for entry in chapters:
        path = entry.target.path
        start = anchors.get(_place(entry))
        if start is None:
            file = files.get(path)
            lines = said.get(letters(entry.title), ())
            at = bisect_left(lines, max(last, file or 0))
            is_said = at < len(lines) and (file is None or lines[at] < ends[file])
            is_first = entry.depth > opened.get(path, 0)
            start = lines[at] if is_said else file if is_first else None
        if start is not None and start < length:
            opened.setdefault(path, entry.depth)
            last = start + 1
            yield entry, start


def _lines_said(text: str) -> dict[str, list[int]]:
    """Where each short line stands, also together with the next one, by its letters."""
    said: defaultdict[str, list[int]] = defaultdict(list)
    lines = [line for line in _LINE.finditer(text) if len(line[0]) <= _LONGEST_NAME]
    for line, following in zip_longest(lines, lines[1:]):
        said[letters(line[0])].append(line.start())
        if following and following.start() - line.end() <= len(PARAGRAPH_GAP):
            said[letters(line[0]) + letters(following[0])].append(line.start())
    return said


def _warnings(lost: Sequence[str]) -> list[str]:
    if not lost:
        return []
    names = ", ".join(one_line(path.rpartition("/")[2])[:_LONGEST_NAME] for path in lost[:3])
    if len(lost) == 1:
        return [
            Worded(
                "A part of this EPUB is missing or damaged ({names}), so its text is not in the book.",
                names=names,
            )
        ]
    return [
        Worded(
            "{count} parts of this EPUB are missing or damaged ({names}), so their text is not in the book.",
            count=len(lost),
            names=names,
        )
    ]
