"""Markdown: headings and readable text, without the marks."""

import re
from collections.abc import Sequence
from html import unescape
from typing import TYPE_CHECKING, Any

from bot.parsers.assembly import assemble
from bot.parsers.draft import DEFAULT_LIMITS, BookDraft, ReadingLimits, Report, TextBuilder, collapse, ignore_progress
from bot.parsers.encoding import decode
from bot.parsers.headings import Heading, is_label
from bot.parsers.html import divides_into_chapters
from bot.parsers.text.blocks import reads_as_title
from domain.book import BookText

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


FORMAT = "markdown"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|author|lang|language)[ \t]*:(.*)$", re.MULTILINE | re.IGNORECASE)
_PLAIN = re.compile(r"[^\\`*_\[\]<>&!~|]*")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<[/!?]?[A-Za-z][^<>]*>", re.DOTALL)
_BOLD = re.compile(r"(\*\*|__)[^*_\n]{1,90}\1")
_HARD_BREAK = "  \n"
_CELL_GAP = " | "


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a Markdown file (CommonMark and tables); the title is the front matter's or that of a lone first heading.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    fields, body = _front_matter(text.replace("\r\n", "\n"))
    builder = TextBuilder(limits)
    bold = _add_blocks(body, builder)
    report(0.8)
    draft = BookDraft(
        FORMAT,
        builder.text,
        outlines=[builder.headings],
        styled=bold if divides_into_chapters(builder.text, bold) else (),
        title=fields.get("title", "") or _own_title(builder.headings),
        author=fields.get("author", ""),
        language=fields.get("lang", "") or fields.get("language", ""),
        warnings=warnings,
    )
    return assemble(draft, filename, limits)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    fields = {name.lower(): value.strip().strip("\"'") for name, value in _FIELD.findall(match[1])}
    return fields, text[match.end() :]


def _own_title(headings: Sequence[Heading]) -> str:
    outermost = [heading for heading in headings if heading.level == 1]
    lone = len(outermost) == 1 and outermost[0].start == 0 and not is_label(outermost[0].title)
    return outermost[0].title if lone else ""


def _add_blocks(body: str, builder: TextBuilder) -> list[Heading]:
    """Add the text. The result is the lines that are wholly bold, which may be titles."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    references: dict[str, Any] = {}
    heading = 0
    cells: list[str] | None = None
    bold: list[Heading] = []
    for token in parser.parse(body, references):
        if token.type == "heading_open":
            heading = int(token.tag[1])
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close":
            builder.add(_CELL_GAP.join(filter(None, cells or ())))
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(_inline_text(parser, token.content, references))
        elif token.type == "inline":
            said = _inline_text(parser, token.content, references)
            start = builder.add(said, heading_level=heading)
            if _BOLD.fullmatch(token.content) and (reads_as_title(said) or is_label(said)):
                bold.append(Heading(start, builder.length, said, 1))
            heading = 0
        elif token.type in ("fence", "code_block"):
            builder.add(token.content)
        elif token.type == "html_block":
            builder.add(unescape(_TAG.sub("", token.content)))
    return bold


def _inline_text(parser: "MarkdownIt", content: str, references: dict[str, Any]) -> str:
    """The text of inline Markdown; most paragraphs have no marks and need no parser."""
    if _PLAIN.fullmatch(content) and _HARD_BREAK not in content:
        return collapse(content)
    tokens: list[Token] = []
    parser.inline.parse(content, parser, references, tokens)
    return "\n".join(map(collapse, "".join(map(_token_text, tokens)).split("\n")))


def _token_text(token: "Token") -> str:
    match token.type:
        case "text" | "code_inline" | "text_special":
            return token.content
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "html_inline" if token.content.lower().startswith("<br"):
            return "\n"
        case _:
            return ""
