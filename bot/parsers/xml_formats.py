"""FB2 and ODT: XML formats rewritten as HTML and parsed as such.

The markup is rewritten tag by tag, without a tree, so that files that are not quite well-formed can be read as well.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from typing import ClassVar

from bot.parsers.archive import Archive
from bot.parsers.assembly import assemble
from bot.parsers.draft import DEFAULT_LIMITS, BookDraft, ReadingLimits, Report, TextBuilder, ignore_progress
from bot.parsers.encoding import decode_document, without_doctype
from bot.parsers.html import add_document, parse, styled_lines
from bot.parsers.text.blocks import FEWEST_HEADINGS, styled_titles
from domain.book import BookText
from domain.errors import BookError, BookErrorCode, Worded

_TAG = re.compile(r"<(?P<end>/?)(?:(?P<space>[\w.-]++):)?(?P<name>[A-Za-z][\w.-]*+)(?P<attributes>[^<>]*+)>")
_BINARY = re.compile(r"<binary\b[^<>]*>[^<]*")
_DEEPEST_HEADING = 6
_MOST_BLANKS = 100
_MOST_DIGITS = 4
_LONGEST_STYLE = 2_000
_SEEN = re.compile(
    r"(?:parent-style-name|text-align|text-transform|text-underline-style|fo:font-(?:size|style|weight|variant))"
    r'="[^"]{1,40}"'
)


class _Rewriter:
    """Writes HTML for the tags of a format: by tables, or by a method for complicated ones."""

    START: ClassVar[dict[str, str]] = {}
    END: ClassVar[dict[str, str]] = {}
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self.out: list[str] = []
        self._left_out: list[str] = []

    def rewrite(self, markup: str) -> str:
        at = 0
        for tag in _TAG.finditer(markup):
            if not self._left_out:
                self.out.append(markup[at : tag.start()])
            at = tag.end()
            attributes = tag["attributes"]
            name = f"svg:{tag['name']}" if tag["space"] == "svg" else tag["name"]
            if tag["end"]:
                self._close(name)
            else:
                self._open(name, attributes)
                if attributes.endswith("/"):
                    self._close(name)
        self.finish()
        return "".join(self.out)

    def finish(self) -> None:
        """Write what still waits at the end of the file."""

    def start(self, name: str, attributes: str) -> None:
        self.out.append(self.START.get(name, ""))

    def end(self, name: str) -> None:
        self.out.append(self.END.get(name, ""))

    def _open(self, name: str, attributes: str) -> None:
        if name in self.LEFT_OUT or (self._left_out and name == self._left_out[0]):
            self._left_out.append(name)
        elif not self._left_out:
            self.start(name, attributes)

    def _close(self, name: str) -> None:
        if self._left_out:
            if name == self._left_out[-1]:
                self._left_out.pop()
        elif name not in self.LEFT_OUT:
            self.end(name)


def _attribute(attributes: str, name: str) -> str:
    found = re.search(rf"""(?:^|[\s:]){name}\s*=\s*(?:"([^"]*)"|'([^']*)')""", attributes)
    return unescape(found[1] or found[2] or "") if found else ""


_KEPT = ("p", "table", "tr", "td", "th", "sup", "sub", "li")


class _FictionBook(_Rewriter):
    """FictionBook: sections are nested, and a title's level is the depth of its section; notes have no headings."""

    START: ClassVar[dict[str, str]] = {
        **{name: f"<{name}>" for name in _KEPT},
        "subtitle": "<p>",
        "stanza": "<p>",
        "text-author": "<p>",
        "date": "<p>",
        "strong": "<b>",
        "emphasis": "<em>",
        "cite": "<blockquote>",
        "epigraph": "<blockquote>",
    }
    END: ClassVar[dict[str, str]] = {
        **{name: markup.replace("<", "</") for name, markup in START.items()},
        "v": "<br>",
        "empty-line": "<p></p>",
    }
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["description", "stylesheet", "binary"])

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._in_title = False
        self._in_notes = False
        self._link_ends: list[str] = []

    def start(self, name: str, attributes: str) -> None:
        if name == "body":
            self._in_notes = bool(_attribute(attributes, "name"))
        elif name == "section":
            self._depth += 1
        elif name == "title":
            self.out.append("<hgroup>" if not self._in_notes and not self._in_title else "")
            self._in_title = not self._in_notes
        elif name == "p" and self._in_title:
            self.out.append(f"<h{self._level()}>")
        elif name == "a":
            self._start_link(_attribute(attributes, "type") == "note")
        else:
            super().start(name, attributes)

    def end(self, name: str) -> None:
        if name == "section":
            self._depth = max(0, self._depth - 1)
        elif name == "title":
            self.out.append("</hgroup>" if self._in_title else "")
            self._in_title = False
        elif name == "p" and self._in_title:
            self.out.append(f"</h{self._level()}>")
        elif name == "a":
            self.out.append(self._link_ends.pop() if self._link_ends else "")
        else:
            super().end(name)

    def _level(self) -> int:
        return min(max(1, self._depth + 1), _DEEPEST_HEADING)

    def _start_link(self, is_note: bool) -> None:
        self.out.append("<sup><a href='#'>" if is_note else "")
        self._link_ends.append("</a></sup>" if is_note else "")


_ASIDE = ("note-body", "text-box", "custom-shape")


class _OpenDocument(_Rewriter):
    """OpenDocument: paragraphs, headings by outline level, the pages of the last layout, and notes and text boxes after
    their paragraph.
    """

    START: ClassVar[dict[str, str]] = {
        "list-item": "<li>",
        "table": "<table>",
        "table-row": "<tr>",
        "line-break": "<br>",
        "tab": " ",
    }
    END: ClassVar[dict[str, str]] = {
        "list-item": "</li>",
        "table": "</table>",
        "table-row": "</tr>",
        "span": "</span>",
    }
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(
        [
            "annotation",
            "tracked-changes",
            "table-of-content",
            "alphabetical-index",
            "svg:title",
            "svg:desc",
            "math",
            "binary-data",
            "forms",
            "ruby-text",
            "automatic-styles",
            "font-face-decls",
            "note-citation",
        ]
    )

    def __init__(self, looks: Mapping[str, str]) -> None:
        """`looks` says by which styles paragraphs and spans look alike."""
        super().__init__()
        self.pages = 1
        self._looks = looks
        self._notes: list[str] = []
        self._note_count = 0
        self._aside: list[tuple[str, list[str]]] = []
        self._heading = 0
        self._cells = 0

    def start(self, name: str, attributes: str) -> None:
        if name in ("p", "h") and (self._aside or self._cells):
            self.out.append(" ")
        elif name == "table-cell":
            self._cells += 1
            self.out.append("<td>")
        elif name == "h":
            level = _attribute(attributes, "outline-level")[:_MOST_DIGITS]
            self._heading = min(max(1, int(level) if level.isdecimal() else 1), _DEEPEST_HEADING)
            self.out.append(f"<h{self._heading}>")
        elif name in ("p", "span"):
            style = _attribute(attributes, "style-name")
            look = "".join(filter(str.isalnum, self._looks.get(style, style)))
            self.out.append(f'<{name} class="{look}">')
        elif name == "s":
            blanks = _attribute(attributes, "c")[:_MOST_DIGITS]
            self.out.append(" " * min(int(blanks) if blanks.isdecimal() else 1, _MOST_BLANKS))
        elif name == "soft-page-break":
            self.pages += 1
            self.out.append(f'<span class="pagebreak" title="{self.pages}"></span>')
        elif name in _ASIDE:
            mark = ""
            if name == "note-body":
                self._note_count += 1
                mark = f"[{self._note_count}]"
                self.out.append(mark)
            self._aside.append((name, self.out))
            self.out = [f"<p>{mark} "]
        else:
            super().start(name, attributes)

    def end(self, name: str) -> None:
        if name in _ASIDE:
            if self._aside and self._aside[-1][0] == name:
                self._end_aside()
        elif name == "table-cell":
            self._cells = max(0, self._cells - 1)
            self.out.append("</td>")
        elif name in ("p", "h") and not self._aside and not self._cells:
            self.out.append(f"</h{self._heading}>" if name == "h" and self._heading else "</p>")
            self._heading = 0
            self._add_notes()
        else:
            super().end(name)
            if name == "table" and not self._aside and not self._cells:
                self._add_notes()

    def finish(self) -> None:
        while self._aside:
            self._end_aside()
        self._add_notes()

    def _end_aside(self) -> None:
        """Keep a note or a box for the end of the paragraph that it belongs to."""
        self._notes.append(f"{''.join(self.out)}</p>")
        self.out = self._aside.pop()[1]

    def _add_notes(self) -> None:
        self.out += self._notes
        self._notes = []


_AUTHOR = re.compile(r"<(?:[\w.-]+:)?author\b")
_MOST_AUTHORS = 20


def _fb2_name(author: str) -> str:
    names = (_words(_first(author, part)) for part in ("first-name", "middle-name", "last-name"))
    return " ".join(filter(None, names)) or _words(_first(author, "nickname"))


def read_fb2(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a FictionBook, also one in a ZIP file of its own.

    Raises:
        BookError: the file is damaged, has no text or is too long.
    """
    if data.startswith(b"PK"):
        archive = Archive(data, limits)
        data = _member(archive, archive.first_with_extension(".fb2") or "", "FB2")
    markup = _BINARY.sub("", without_doctype(decode_document(data)))
    head = markup[: markup.find("</title-info>")] if "</title-info>" in markup else ""
    authors = (_fb2_name(each.partition("author>")[0]) for each in _AUTHOR.split(head, _MOST_AUTHORS)[1:])
    draft = BookDraft(
        "fb2",
        "",
        title=_words(_first(head, "book-title")),
        author=", ".join(filter(None, authors)),
        language=_words(_first(head, "lang")),
    )
    return _read(_FictionBook().rewrite, markup, draft, filename, limits, report)


def read_odt(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read an OpenDocument text, also a flat one (FODT); its pages are those of the last layout, if it says.

    Raises:
        BookError: the document is locked, damaged, without text or too long.
    """
    if not data.startswith(b"PK"):
        whole = without_doctype(decode_document(data))
        start = max(0, whole.find("<office:body"))
        return _read_office(whole[start:], whole[:start], filename, limits, report)
    archive = Archive(data, limits)
    manifest = archive.find("META-INF/manifest.xml")
    if archive.needs_password or (manifest and b"encryption-data" in _member(archive, manifest, "ODT")):
        raise BookError(
            BookErrorCode.ENCRYPTED,
            "This document is locked with a password. Please save it without one and add that.",
        )
    content = without_doctype(decode_document(_member(archive, archive.find("content.xml") or "", "ODT")))
    meta_name = archive.find("meta.xml")
    meta = decode_document(_member(archive, meta_name, "ODT")) if meta_name else ""
    return _read_office(content, meta, filename, limits, report)


def _read_office(content: str, meta: str, filename: str, limits: ReadingLimits, report: Report) -> BookText:
    draft = BookDraft(
        "odt",
        "",
        title=_words(_first(meta, "title")),
        author=_words(_first(meta, "initial-creator") or _first(meta, "creator")),
        language=_words(_first(meta, "language")),
    )
    rewriter = _OpenDocument(_looks(meta) | _looks(content))

    def rewrite(source: str) -> str:
        body = rewriter.rewrite(source)
        return f'<span class="pagebreak" title="1"></span>{body}' if rewriter.pages > 1 else body

    return _read(rewrite, content, draft, filename, limits, report)


def _looks(markup: str) -> dict[str, str]:
    """What the styles of a document look like, by name: a program makes several that differ in nothing to be seen."""
    found: dict[str, str] = {}
    for style in markup.split("<style:style ")[1:]:
        attributes = style[: style.find("</style:style>")][:_LONGEST_STYLE]
        found[_attribute(attributes, "name")] = " ".join(_SEEN.findall(attributes))
    return found


def _read(
    rewrite: Callable[[str], str], markup: str, draft: BookDraft, filename: str, limits: ReadingLimits, report: Report
) -> BookText:
    """The book of a draft whose text is still markup."""
    html = rewrite(markup)
    report(0.3)
    builder = TextBuilder(limits)
    tree = parse(f"<body>{html}</body>")
    add_document(tree, builder)
    builder.close()
    report(0.8)
    styled = styled_titles(styled_lines([tree]), builder.text) if len(builder.headings) < FEWEST_HEADINGS else ()
    whole = replace(draft, text=builder.text, outlines=[builder.headings], styled=styled, page_marks=builder.page_marks)
    return assemble(whole, filename, limits)


def _member(archive: Archive, name: str, kind: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError as error:
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            Worded(
                "This {kind} file is damaged: its text cannot be read. Please download or export it again.", kind=kind
            ),
        ) from error


def _first(markup: str, name: str) -> str:
    """The contents of the first element with that local name."""
    start = re.search(rf"<(?:[\w.-]+:)?{name}\b[^<>]*(?<!/)>", markup)
    if start is None:
        return ""
    end = re.compile(rf"</(?:[\w.-]+:)?{name}\s*>").search(markup, start.end())
    return markup[start.end() : end.start()] if end else ""


def _words(markup: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", markup[:2_000])).split())
