"""HTML: saved pages and Project Gutenberg's books."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.chapters import Heading
from bot.parsers.encoding import decode_document
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.markup import add_document, little_text, parse
from bot.parsers.text.contents import letters
from bot.parsers.text_builder import PARAGRAPH_GAP, TextBuilder
from domain.book import BookText

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

FORMAT = "html"
_MOST_LINKS = 5_000
_LONGEST_LINK = 200
_FEWEST_LINKS = 3
_NOTE = re.compile(r"\W*(?:\d+|\w|[*†‡§]+)\W*")
_AUTHOR_FIELDS = ("author", "dc.creator", "dcterms.creator", "citation_author")
_TITLE_FIELDS = ("dc.title", "dcterms.title", "citation_title")


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read an HTML or XHTML file.

    Raises:
        BookError: the file has no text or is too long.
    """
    tree = parse(decode_document(data))
    report(0.3)
    links = _inner_links(tree)
    axis = TextBuilder(limits)
    add_document(tree, axis, {target: target for target, _ in links})
    axis.close()
    report(0.8)
    fields = _meta_fields(tree)
    draft = BookDraft(
        FORMAT,
        axis.text,
        outlines=[axis.headings, linked_headings(links, axis)],
        page_marks=axis.page_marks,
        title=_first(fields, _TITLE_FIELDS) or _text_of(tree, "title"),
        author=_first(fields, _AUTHOR_FIELDS),
        language=_language(tree),
    )
    return assemble(draft, filename, limits)


def _inner_links(tree: "LexborHTMLParser") -> list[tuple[str, str]]:
    """Where the links of the page into itself lead, and what they say; those of notes and pages are numbers."""
    found: list[tuple[str, str]] = []
    for node in tree.css("a[href^='#']")[:_MOST_LINKS]:
        title = " ".join((little_text(node) or "").split())
        if 0 < len(title) <= _LONGEST_LINK and not _NOTE.fullmatch(title):
            found.append(((node.attributes.get("href") or "#")[1:], title))
    return found


def linked_headings(links: Sequence[tuple[str, str]], axis: TextBuilder) -> list[Heading]:
    """The headings that a linked table of contents names: its links lead onward, each to a line that says the same."""
    text, last = axis.text, -1
    found: list[Heading] = []
    for target, title in links:
        start = axis.anchors.get(target, -1)
        if start <= last:
            continue
        end = text.find(PARAGRAPH_GAP, start)
        said = letters(text[start : start + _LONGEST_LINK * 2])
        if letters(title) and said.startswith(letters(title)):
            last = start
            line_end = text.find("\n", start + len(title))
            stop = min(each for each in (end, line_end, len(text)) if each >= 0)
            found.append(Heading(start, stop, " ".join(text[start:stop].split())[: _LONGEST_LINK * 2], 1))
    return found if len(found) >= _FEWEST_LINKS else []


def _meta_fields(tree: "LexborHTMLParser") -> dict[str, str]:
    fields: dict[str, str] = {}
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").lower()
        fields.setdefault(name, " ".join((node.attributes.get("content") or "").split()))
    return fields


def _first(fields: dict[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


def _text_of(tree: "LexborHTMLParser", selector: str) -> str:
    node = tree.css_first(selector)
    return " ".join(node.text(deep=True).split()) if node else ""


def _language(tree: "LexborHTMLParser") -> str:
    root = tree.root
    return ((root.attributes.get("lang") or root.attributes.get("xml:lang")) if root else None) or ""
