"""EPUB 2 and 3: the files of the spine in reading order, chapters and pages by the book's own tables."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from bot.parsers.archive import Archive
from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.chapters import Heading, is_bare_label, is_label
from bot.parsers.encoding import decode_markup
from bot.parsers.epub.contents import Entry, EpubContents, read_contents
from bot.parsers.epub.package import Item, Package, open_package
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.markup import add_document, parse
from bot.parsers.text_builder import PARAGRAPH_GAP, Anchor, PageBreak, TextBuilder
from bot.parsers.titles import one_line, with_subtitle
from domain.book import BookText
from domain.errors import BookError, BookErrorCode

FORMAT = "epub"
_LONGEST_NAME = 60


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read an EPUB; a chapter that is missing or damaged costs a warning, not the book.

    Raises:
        BookError: the book is locked, damaged, without text or too large.
    """
    archive = Archive(data, limits)
    package = open_package(archive)
    contents = read_contents(archive, package)
    axis = TextBuilder(limits)
    lost = [*package.missing, *_read_spine(archive, package, contents, axis, report)]
    draft = BookDraft(
        FORMAT,
        axis.text,
        outlines=[[*_headings(contents.chapters, axis)], axis.headings],
        page_marks=axis.page_marks,
        title=package.title,
        author=package.author,
        language=package.language,
        warnings=_warnings(lost),
    )
    return assemble(draft, filename, limits)


def _read_spine(
    archive: Archive, package: Package, contents: EpubContents, axis: TextBuilder, report: Report
) -> list[str]:
    """Add the documents of the spine to the axis; the paths of those that cannot be read are returned."""
    anchors = _by_file((entry, _place(entry)) for entry in contents.chapters)
    labels = _by_file((entry, entry.title) for entry in contents.pages)
    documents = _documents(package)
    lost: list[str] = []
    for position, item in enumerate(documents):
        report(position / len(documents))
        try:
            markup = decode_markup(archive.read(item.path))
        except KeyError:
            lost.append(item.path)
            continue
        axis.mark(Anchor(item.path))
        if label := labels[item.path].get(""):
            axis.mark(PageBreak(label))
        add_document(parse(markup), axis, anchors[item.path], labels[item.path])
    axis.close()
    if documents and len(lost) == len(documents):
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            "This EPUB is damaged: none of its chapters can be read. Please download or export it again.",
        )
    return lost


def _documents(package: Package) -> Sequence[Item]:
    every = [item for item in package.spine if item.is_document]
    return [item for item in every if item != package.nav and item.path not in package.wrapping] or every


def _by_file(named: Iterable[tuple[Entry, str]]) -> defaultdict[str, dict[str, str]]:
    """For each file, what its element ids mean."""
    result: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for entry, meaning in named:
        result[entry.target.path].setdefault(entry.target.fragment, meaning)
    return result


def _place(entry: Entry) -> str:
    """The name of an entry's place on the axis."""
    path, fragment = entry.target.path, entry.target.fragment
    return f"{path}#{fragment}" if fragment else path


def _headings(chapters: Sequence[Entry], axis: TextBuilder) -> Iterator[Heading]:
    """The chapters of the contents at their places; of several that begin at one place, the innermost."""
    places: dict[int, Entry] = {}
    for entry in chapters:
        start = axis.anchors.get(_place(entry), axis.anchors.get(entry.target.path))
        if start is not None and start < axis.length:
            places[start] = entry
    elements = {heading.start: heading for heading in axis.headings}
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
    return [f"{len(lost)} parts of this EPUB are missing or damaged ({names}), so their text is not in the book."]
