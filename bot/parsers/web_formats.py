"""Books as the web has them: HTML pages, among them Project Gutenberg's, and Markdown without its marks."""

import re
import tomllib
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bot.parsers.assembly import assemble
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    BookDraft,
    ReadingLimits,
    Report,
    TextBuilder,
    collapse,
    ignore_progress,
)
from bot.parsers.encoding import decode, decode_document
from bot.parsers.headings import Heading, is_bare_label, is_label
from bot.parsers.html import LONGEST_HEADING, add_document, is_element, little_text, parse, styled_lines
from bot.parsers.text.blocks import FEWEST_HEADINGS, divides_into_chapters, styled_titles
from bot.parsers.titles import letters, reads_as_title, with_subtitle
from domain.book import BookText

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token
    from selectolax.lexbor import LexborHTMLParser

    Rule = Callable[[StateBlock, int, int, bool], bool]


HTML, MARKDOWN = "html", "markdown"

_MOST_LINKS = 5_000
_FEWEST_LINKS = 3
_NOTE = re.compile(r"\W*(?:\d+|(?![IVXLC])\w|[*†‡§]+)\W*")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_AUTHOR_FIELDS = ("author", "dc.creator", "dcterms.creator", "citation_author")
_AUTHOR = "a[rel='author'], a.authorlink, #header-author-text"
_AUTHOR_IN_WORD = re.compile(r"<o:Author>([^<]{1,200})</o:Author>")
_LONGEST_HEAD = 100_000
_SITE_JOINTS = (" - ", " | ", " – ", " — ", " · ")
_TITLE_FIELDS = ("dc.title", "dcterms.title", "citation_title")

# Markdown, and the front matter that programs put above it.
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+{3}[ \t]*\n(.{1,20000}?)\n\+{3}[ \t]*(?:\n|\Z)", re.DOTALL)
"""Front matter as Hugo and Zola write it."""
_TITLE_BLOCK = re.compile(r"\A(?:%(?P<title>.*(?:\n[ \t]+\S.*)*)\n)%(?P<author>.*(?:\n[ \t]+\S.*)*)(?:\n%.*)?(?:\n|\Z)")
"""Title, author and perhaps a date as Pandoc writes them, each behind a percent sign."""
_FIELD = re.compile(
    r"^(title|author|lang|language)[ \t]*:[ \t]*(?:[|>][+-]?[ \t]*)?"
    r"(?:\n(?=[ \t-])[ \t]*(?:-[ \t]+)?(?:name:[ \t]*)?)?(.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""The value is behind the name, or in the next line as the first of a list or of a block."""
_AUTHORS = re.compile(
    r"^authors?[ \t]*:[ \t]*((?:\n[ \t]*-[ \t][^\n]+){2,}|\[[^\[\]\n]*\]$)", re.MULTILINE | re.IGNORECASE
)
_LISTED_NAME = re.compile(r"(?:\n[ \t]*-[ \t]+(?:name:)?|[\[,])([^\n,\[\]]+)")
_FRONT_MATTER_LINE = re.compile(r"[ \t#-].*|\w[\w .-]{0,60}:.*|")
_PLAIN = re.compile(r"[^\\`*_\[\]<>&!~|]*")
_ANGLES = re.compile(r"<([A-Za-z][\w-]*+)([^<>=]*+)>")
_CELL = re.compile(r"<t[rdh]\b", re.IGNORECASE)
_TABLE = re.compile(r"<table\b", re.IGNORECASE)
_BOLD = re.compile(r"(\*\*|__)[^*_\n]{1,90}\1")
_NOTE_LINK = re.compile(r"(?<!!)\[\[([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\](?![(\[])")
"""A link between notes: "[[Lock]]" or, as it is to be shown, "[[Lock|the lock]]"."""
_ONLY_IN_THE_EDITOR = re.compile(
    r"^%%(?:[^%]|%(?!%)){1,5000}%%[ \t]*$"
    r"|!\[\[[^\[\]\n]{1,200}\.(?:png|jpe?g|gif|webp|svg|pdf)(?:\|[^\[\]\n]{0,200})?\]\]",
    re.MULTILINE | re.IGNORECASE,
)
"""What notes show to their author alone, or as a picture: "%% check this %%", "![[map.png|300]]"."""
_SPAN = re.compile(r"\[([^\[\]\n]{0,400})\]\{[^{}\n]{1,400}\}")
_ATTRIBUTES = re.compile(r"^(#{1,6} [^\n{]*)\{[#.][^{}\n]{1,400}\}[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^:{3,}(?:[ \t]*[\w{][^\n]*)?$", re.MULTILINE)
_HARD_BREAK = "  \n"
_CELL_GAP = " | "
_COLUMN = re.compile(r"(?<!\\)\|")
_DEEPEST = 20
"""As deep as quotes and lists are nested; what is deeper is read line by line. The parser's time grows with it."""
_DEEP_MARKS = re.compile(r"^[ \t>]*+((?:(?:[-*+]|\d{1,9}[.)])[ \t][ \t>]*+)*+)", re.MULTILINE)
_DEFINITION = re.compile(r"\[(?P<label>[^\[\]]{1,999})\]:\s*(?P<target>\S*)")
_LINK_TARGET = re.compile(r"[^/:#@?<]*(?:[/:#@?<]|\.[A-Za-z])")


def read_html(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read an HTML or XHTML file.

    Raises:
        BookError: the file has no text or is too long.
    """
    markup = decode_document(data)
    tree = parse(markup)
    report(0.3)
    links = _inner_links(tree)
    builder = TextBuilder(limits)
    add_document(tree, builder, {target: target for target, _ in links})
    builder.close()
    report(0.8)
    fields = _meta_fields(tree)
    draft = BookDraft(
        HTML,
        builder.text,
        outlines=[builder.headings, _linked_headings(links, builder)],
        styled=styled_titles(styled_lines([tree]), builder.text) if len(builder.headings) < FEWEST_HEADINGS else (),
        page_marks=builder.page_marks,
        readings=builder.readings,
        title=_first(fields, _TITLE_FIELDS) or _without_site(_text_of(tree, "title"), _text_of(tree, "h1")),
        author=_first(fields, _AUTHOR_FIELDS) or _text_of(tree, _AUTHOR) or _author_in_word(markup),
        language=_language(tree),
    )
    return assemble(draft, filename, limits)


def _inner_links(tree: "LexborHTMLParser") -> list[tuple[str, str]]:
    """The targets and texts of a page's links into itself, without the numbers of notes and pages."""
    found: list[tuple[str, str]] = []
    for node in tree.css("a[href^='#']")[:_MOST_LINKS]:
        title = " ".join((little_text(node, LONGEST_HEADING) or "").split())
        if 0 < len(title) <= LONGEST_HEADING and not _NOTE.fullmatch(title):
            found.append(((node.attributes.get("href") or "#")[1:], title))
    return found


def _linked_headings(links: Sequence[tuple[str, str]], builder: TextBuilder) -> list[Heading]:
    """The headings named by a linked table of contents: its links lead onward, each to a line with the same text."""
    text, last = builder.text, -1
    found: list[Heading] = []
    for target, title in links:
        start = builder.anchors.get(target, -1)
        if start <= last:
            continue
        said = letters(text[start : start + LONGEST_HEADING * 2])
        if letters(title) and said.startswith(letters(title)):
            last = start
            found.append(_heading_named(text, start, title))
    return found if len(found) >= _FEWEST_LINKS else []


def _heading_named(text: str, start: int, title: str) -> Heading:
    """The heading at a place: as many of its lines as the link names."""
    named, stop, lines = len(letters(title)), start, []
    for line in _LINE.finditer(text, start):
        lines.append(line[0].strip())
        stop = line.end()
        if len(letters("".join(lines))) >= named:
            break
    first, rest = lines[0], " ".join(lines[1:])
    said = with_subtitle(first, rest) if rest and is_bare_label(first) else f"{first} {rest}"
    return Heading(start, stop, " ".join(said.split())[: LONGEST_HEADING * 2], 1)


def _meta_fields(tree: "LexborHTMLParser") -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").lower()
        fields.setdefault(name, []).append(" ".join((node.attributes.get("content") or "").split()))
    return fields


def _first(fields: dict[str, list[str]], names: tuple[str, ...]) -> str:
    known = next((fields[name] for name in names if any(fields.get(name, ()))), [])
    return ", ".join(dict.fromkeys(filter(None, known)))


def _text_of(tree: "LexborHTMLParser", selector: str) -> str:
    node = tree.css_first(selector)
    return " ".join(node.text(deep=True).split()) if node else ""


def _without_site(title: str, heading: str) -> str:
    """A page's title without what a site adds to its first heading: "Fog - ann - Archive" is "Fog"."""
    added = title.removeprefix(heading)
    return heading if heading and added != title and added[:3] in _SITE_JOINTS else title


def _author_in_word(markup: str) -> str:
    """The author as a word processor writes it, in a comment for itself."""
    if found := _AUTHOR_IN_WORD.search(markup, 0, _LONGEST_HEAD):
        from html import unescape  # 3 ms that hardly any book needs

        return unescape(found[1])
    return ""


def _language(tree: "LexborHTMLParser") -> str:
    """The language that the document, or else its body, is in."""
    nodes = (node for node in (tree.root, tree.body) if node is not None)
    said = (node.attributes.get(name) for node in nodes for name in ("lang", "xml:lang"))
    return next(filter(None, said), "")


def read_markdown(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a Markdown file (CommonMark and tables); the title is the front matter's or that of a lone first heading.

    Raises:
        BookError: the file is not text, has none, or is too long.
    """
    text, warnings = decode(data)
    fields, body = _front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    body = _NOTE_LINK.sub(lambda link: link[2] or link[1], body) if "[[" in body else body
    body = _ONLY_IN_THE_EDITOR.sub("", body) if "%%" in body or "![[" in body else body
    body = _without_attributes(body) if "{#" in body or "{." in body else body
    builder = TextBuilder(limits)
    bold = _add_blocks(body, builder)
    report(0.8)
    draft = BookDraft(
        MARKDOWN,
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
    """The fields at the beginning, and the text after them; text between two lines is no front matter."""
    if block := _TITLE_BLOCK.match(text):
        return {name: " ".join(value.split()) for name, value in block.groupdict().items()}, text[block.end() :]
    if (table := _TOML.match(text)) and (fields := _table_fields(table[1])):
        return fields, text[table.end() :]
    match = _FRONT_MATTER.match(text)
    if match is None or not match[1].strip() or not all(map(_FRONT_MATTER_LINE.fullmatch, match[1].split("\n"))):
        return {}, text
    fields = {name.lower(): value.strip().strip("\"'") for name, value in _FIELD.findall(match[1])}
    if listed := _AUTHORS.search(match[1]):
        fields["author"] = ", ".join(name.strip().strip("\"'") for name in _LISTED_NAME.findall(listed[1]))
    return fields, text[match.end() :]


def _table_fields(toml: str) -> dict[str, str]:
    """The fields of front matter in TOML; empty if it is none."""
    try:
        table = tomllib.loads(toml)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    table.setdefault("author", table.get("authors", ""))
    lists = {name: ", ".join(map(str, value)) for name, value in table.items() if isinstance(value, list)}
    return {name: value for name, value in (table | lists).items() if isinstance(value, str)}


def _without_attributes(body: str) -> str:
    """The text without the classes and names that Pandoc gives to headings, to words, and to divisions."""
    return _FENCE.sub("", _ATTRIBUTES.sub(r"\1", _SPAN.sub(r"\1", body)))


def _own_title(headings: Sequence[Heading]) -> str:
    outermost = [heading for heading in headings if heading.level == 1]
    lone = len(outermost) == 1 and outermost[0].start == 0 and not is_label(outermost[0].title)
    return outermost[0].title if lone else ""


def _add_blocks(body: str, builder: TextBuilder) -> list[Heading]:
    """Add the text. The result is the lines that are wholly bold, which may be titles."""
    blocks = _Blocks(body, builder)
    blocks.add_all()
    return blocks.bold


class _Blocks:
    """Takes the parser's tokens in order, and adds their text."""

    def __init__(self, body: str, builder: TextBuilder) -> None:
        self.bold: list[Heading] = []
        self._body = body
        self._lines = body.split("\n")
        self._builder = builder
        self._parser = _parser()
        self._references: dict[str, Any] = {}
        self._heading = self._columns = 0
        self._cells: list[str] | None = None

    def add_all(self) -> None:
        for token in self._parser.parse(self._body, self._references):
            if token.type == "inline":
                self._add_inline(token)
            elif token.type == "heading_open":
                self._heading = int(token.tag[1])
            elif token.type in ("fence", "code_block"):
                for block in _deep_blocks(token.content) if token.level >= _DEEPEST else [token.content]:
                    self._builder.add(block)
            elif token.type == "html_block":
                _add_html(token.content, self._builder)
            else:
                self._lay_out_table(token.type)

    def _lay_out_table(self, kind: str) -> None:
        if kind == "table_open":
            self._columns = 0
        elif kind == "tr_open":
            self._cells = []
        elif kind == "tr_close" and self._cells is not None:
            self._builder.add(_CELL_GAP.join(filter(None, self._cells)))
            self._columns, self._cells = self._columns or len(self._cells), None

    def _add_inline(self, token: "Token") -> None:
        if self._cells is not None:
            self._cells.append(self._text(token.content))
            if len(self._cells) == self._columns and token.map:
                surplus = _surplus_cells(self._lines[token.map[0]], self._columns)
                self._cells += map(self._text, surplus)
        elif token.level > _DEEPEST:
            for block in _deep_blocks(token.content):
                self._builder.add(self._text(block))
        else:
            said = self._text(token.content)
            start = self._builder.add(said, heading_level=self._heading)
            if _BOLD.fullmatch(token.content) and (reads_as_title(said) or is_label(said)):
                self.bold.append(Heading(start, self._builder.length, said, 1))
            self._heading = 0

    def _text(self, content: str) -> str:
        return _inline_text(self._parser, content, self._references)


def _parser() -> "MarkdownIt":
    """A parser of blocks that leaves no text out, except for marks."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import blockquote, list_block, reference

    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _DEEPEST}).enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    ends = ["paragraph", "reference", "blockquote"]
    parser.block.ruler.at("blockquote", _unless_deep(blockquote), {"alt": [*ends, "list"]})
    parser.block.ruler.at("list", _unless_deep(list_block), {"alt": ends})

    def define(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
        """Take a line for the target of links if it has one: "[^1]: Ibid." is a note."""
        said = _DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start])
        is_text = said and (said["label"][0] == "^" or not _LINK_TARGET.match(said["target"]))
        return not is_text and reference(state, start, end, silent)

    parser.block.ruler.at("reference", define)
    return parser


def _unless_deep(rule: "Rule") -> "Rule":
    """The rule, which matches nothing at the greatest depth: the parser would drop what is deeper."""
    return lambda state, start, end, silent: state.level < _DEEPEST and rule(state, start, end, silent)


def _deep_blocks(content: str) -> list[str]:
    """The blocks of what is nested too deeply to be parsed, without the marks of quotes and lists."""
    return _DEEP_MARKS.sub(lambda marks: "\n\n" if marks[1] else "", content).split("\n\n")


def _surplus_cells(line: str, columns: int) -> list[str]:
    """The cells of a row beyond those that its table's head has."""
    cells = _COLUMN.split(line.strip(" \t>").strip("|"))
    return [cell.strip() for cell in cells[columns:]]


def _add_html(markup: str, builder: TextBuilder) -> None:
    markup = _ANGLES.sub(_kept_angles, markup)
    is_cut = _CELL.search(markup) and not _TABLE.search(markup)  # a blank line ends a block within a table
    add_document(parse(f"<table>{markup}" if is_cut else markup), builder)


def _kept_angles(tag: re.Match[str]) -> str:
    """Words between angle brackets, as some books write thoughts, which are no HTML."""
    return tag[0] if is_element(tag[1]) else escape(tag[0])


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
        case "html_inline" if (tag := _ANGLES.fullmatch(token.content)) and not is_element(tag[1]):
            return token.content
        case _:
            return ""
