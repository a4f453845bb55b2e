"""HTML: saved pages and Project Gutenberg's books."""

from typing import TYPE_CHECKING

from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.encoding import decode_document
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.markup import add_document, parse
from bot.parsers.text_builder import TextBuilder
from domain.book import BookText

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

FORMAT = "html"
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
    axis = TextBuilder(limits)
    add_document(tree, axis)
    axis.close()
    report(0.8)
    fields = _meta_fields(tree)
    draft = BookDraft(
        FORMAT,
        axis.text,
        outlines=[axis.headings],
        page_marks=axis.page_marks,
        title=_first(fields, _TITLE_FIELDS) or _text_of(tree, "title"),
        author=_first(fields, _AUTHOR_FIELDS),
        language=_language(tree),
    )
    return assemble(draft, filename, limits)


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
