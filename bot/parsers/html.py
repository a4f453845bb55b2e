"""HTML as text: pages, the documents of an EPUB, and what other formats are rewritten as."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from bot.parsers.archive import without_excess
from bot.parsers.draft import (
    MARK,
    Anchor,
    PageBreak,
    TextBuilder,
    collapse,
)
from bot.parsers.encoding import without_doctype
from bot.parsers.text.blocks import StyledLine
from bot.parsers.titles import LONGEST_TITLE

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


_BLOCK_NAMES = """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu ol p pre section summary table tbody text tfoot thead tr ul
"""
_UNSEEN_NAMES = """
    area audio base button canvas datalist defs desc embed epub:case head iframe input link map meta metadata nav
    noscript object param rp rt script select source style template textarea title track video
"""
_INLINE_NAMES = """
    a abbr acronym b bdi bdo big br cite code col colgroup del dfn em font g html i img image ins kbd label legend mark
    math nobr option picture q rb rbc rtc ruby s samp small span strike strong sub sup svg td th time tspan tt u var wbr
"""
_PAGE_MARK_CLASSES = "pagenum pageno page-number page_number pagenumber pagebreak newpage pb page"
_WRAPPING_NAMES = "toc landmarks page-list copyright-page imprint colophon cover loi lot navigation search contentinfo"
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_UNSEEN = frozenset(_UNSEEN_NAMES.split())
_ELEMENTS = _BLOCKS | _UNSEEN | frozenset(_INLINE_NAMES.split())
_RUBY = ("ruby", "rtc", "rbc", "rb")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PAGE_CLASSES = frozenset(_PAGE_MARK_CLASSES.split())
_WRAPPING_TYPES = frozenset(_WRAPPING_NAMES.split())
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_WIKI = re.compile(r"\b(?:mw-(?:editsection|jump-link|portlet|footer|cite-b)|printfooter|catlinks|noprint|licensetpl)")
_BLOCK_STYLE = re.compile(r"display\s*:\s*(?:block|list-item|flex|grid|table(?!-cell))", re.IGNORECASE)
_PAGE_LABEL = re.compile(r"[\[({\s]*(?:page|pg|p|s)?[.\s:_-]*([0-9]{1,5}|[ivxlcdm]{1,9})[\])}\s.]*", re.IGNORECASE)
"""How a mark says its page: "[Page 12]", "p. xii", "page_12"."""
_LONGEST_PAGE_MARK = 16
LONGEST_HEADING = 400
_LONGEST_LABEL = 64
_MOST_NODES_OF_LABEL = 64
_NOTE_NUMBER = re.compile(r"\w{1,3}|[*†‡§]{1,3}")
_VOID = "br|hr|img|col|wbr|meta|link|input|area|base|embed|source|track|param"
_SELF_CLOSED = re.compile(rf"<(?!(?:{_VOID})\b)([A-Za-z][^\s/<>]*+)([^<>]*)/>")
"""<a id="p12"/>, which HTML would read as the beginning of a link."""
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_SWALLOWING = re.compile(r"<(?P<end>/?)(?P<name>title|textarea|iframe|noembed|noframes)\b[^<>]*>", re.IGNORECASE)
"""Elements in which HTML reads everything up to their end as text."""


def is_element(name: str) -> bool:
    """Whether HTML, or the drawings in it, has an element of that name."""
    return name.lower() in _ELEMENTS


def parse(markup: str) -> "LexborHTMLParser":
    """The tree of a document; self-closed elements of XHTML are closed explicitly, for an HTML parser."""
    from selectolax.lexbor import LexborHTMLParser

    if "<!ENTITY" in markup:
        markup = without_doctype(markup)
    if "<![CDATA[" in markup:
        from html import escape

        end = markup.rfind("]]>") + 3
        markup = _CDATA.sub(lambda section: escape(section[1]), markup[:end]) + markup[end:]
    if "/>" in markup:
        markup = _SELF_CLOSED.sub(r"<\1\2></\1>", markup)
    return LexborHTMLParser(without_excess(_without_unclosed(markup), _BLOCKS))


def _without_unclosed(markup: str) -> str:
    """The markup without the beginning of a comment, title or the like that would contain all that follows."""
    if (start := markup.rfind("<!--")) > max(markup.rfind("-->"), markup.rfind("--!>")):
        markup = f"{markup[:start]}{markup[start + 4 :]}"
    last = {tag["name"].lower(): tag for tag in _SWALLOWING.finditer(markup)}
    never_closed = {tag.start() for tag in last.values() if not tag["end"]}
    return (
        _SWALLOWING.sub(lambda tag: "" if tag.start() in never_closed else tag[0], markup) if never_closed else markup
    )


def little_text(node: "LexborNode", longest: int = _LONGEST_LABEL) -> str | None:
    """The text in an element, or None if it is longer than a label: elements may be nested by the thousand."""
    text, waiting = "", [node.child]
    for _ in range(_MOST_NODES_OF_LABEL):
        if not waiting:
            return text.strip()
        if (inner := waiting.pop()) is None:
            continue
        waiting += [inner.next, inner.child]
        if inner.tag == "-text":
            text += collapse(inner.text_content or "")
            if len(text.strip()) > longest:
                return None
    return None


def add_document(
    tree: "LexborHTMLParser",
    builder: TextBuilder,
    anchors: Mapping[str, str] | None = None,
    page_labels: Mapping[str, str] | None = None,
) -> None:
    """Add the body of a document to the text.

    `anchors` names the places of element ids in the text; `page_labels` says which ids begin a printed page.
    """
    root = tree.body or tree.root
    if root is not None:
        _Walk(builder, anchors or {}, page_labels or {}, _Initials(root)).through(root)


_QUOTATION = "\"'“”„‘’‚«»‹›¡¿—–-"
_INITIAL = re.compile(rf"[{MARK}\s{_QUOTATION}]*(?P<letter>[^\W\d_])")
_NAMED_LETTER = re.compile(r"\b[^\W\d_]\b")
_WORDS_OF_A_LETTER = frozenset("aeioy")
"""Letters that are words in English or a Romance language; of others, the document shows it."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_REST_OF_WORD = re.compile(rf"[{MARK}\s]*(?P<rest>{_WORD.pattern})")
_MOST_PIECES_OF_INITIAL = 4


class _Initials:
    """Drop capitals: letters apart from the rest of their word, which the other words of the document tell."""

    def __init__(self, root: "LexborNode") -> None:
        self._root = root
        self._words: Counter[str] = Counter()
        self._words_of_a_letter = {*_WORDS_OF_A_LETTER}
        self._firsts: dict[str, str] = {}

    def begins_word(self, letter: str, text: str, *, is_close: bool = True) -> bool:
        """Whether a text goes on with the word that begins with the letter: "T" with "hat was", "A" not with "man".
        A word that is nowhere else in the document counts if the letter is close to it.
        """
        rest = self._rest_in(text) if letter.isupper() else ""
        if not rest:
            return False
        whole, known = self._words[letter.casefold() + rest], self._words[rest]
        if letter.casefold() in self._words_of_a_letter:
            return 0 < whole >= known
        return whole > 0 or (is_close and known == 1)

    def of_picture(self, named: str, text: str) -> str:
        """The letter that a picture in front of a text is, as its name says or as only one letter makes a word; empty
        if it is none.
        """
        possible = self._firsts.get(self._rest_in(text), "").upper()
        fitting = [letter for letter in named.upper() if self.begins_word(letter, text)]
        return fitting[0] if fitting else possible if len(possible) == 1 and self.begins_word(possible, text) else ""

    def _rest_in(self, text: str) -> str:
        """The letters a text begins with, in small ones, if they may go on with a word; empty if they begin one."""
        match = _REST_OF_WORD.match(text)
        rest = match["rest"] if match else ""
        if not rest.islower() and not rest.isupper():
            return ""
        if not self._words:
            written = Counter(_WORD.findall(self._root.text(deep=True)))
            self._words_of_a_letter.update(word for word in written if len(word) == 1 and word.islower())
            for word, times in written.items():
                self._words[word.casefold()] += times
            for word in self._words:
                self._firsts[word[1:]] = self._firsts.get(word[1:], "") + word[0]
        return rest.casefold()


class _Walk:
    """One pass over a tree, with an explicit stack: books contain tens of thousands of nested tags."""

    def __init__(
        self, builder: TextBuilder, anchors: Mapping[str, str], page_labels: Mapping[str, str], initials: _Initials
    ) -> None:
        self._builder = builder
        self._anchors = anchors
        self._page_labels = page_labels
        self._initials = initials
        self._pieces: list[str] = []
        self._marks: list[Anchor | PageBreak] = []
        self._heading = 0
        self._group_heading = 0
        self._preformatted = 0
        self._cell_due = False
        self._alternative = ""
        self._letters_of_picture: str | None = None
        self._initial_alone: tuple[str, list[Anchor | PageBreak]] | None = None
        self._ruby = 0

    def through(self, root: "LexborNode") -> None:
        open_elements: list[tuple[LexborNode, str]] = []
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            if tag == "-text":
                self._add_text(node.text_content or "")
            elif self._enter(node, tag) and (child := node.child) is not None:
                open_elements.append((node, tag))
                node = child
                continue
            else:
                self._leave(tag)
            node = node.next if open_elements else None
            while node is None and open_elements:
                parent, tag = open_elements.pop()
                self._leave(tag)
                node = parent.next if open_elements else None
        self._flush()
        self._release_initial()

    def _enter(self, node: "LexborNode", tag: str) -> bool:
        """Whether to read the children of a node."""
        if tag in _UNSEEN or tag[:1] in "-!":
            if tag != "rt":
                return False
            if node.parent is not None and node.parent.tag in _RUBY:
                self._add_reading(node)
                return False
        if tag == "ruby":
            self._ruby = len(self._pieces)
        if tag in _BLOCKS:
            self._open_block(tag)
        if (attributes := node.attributes) and not self._enter_marked(node, tag, attributes):
            return False
        if tag == "sup" and (number := self._raised(node)):
            self._pieces.append(number)
            return False
        if tag in ("td", "th"):
            self._cell_due = any(map(str.strip, self._pieces))
        elif tag == "br":
            self._pieces.append(" " if self._heading else "\n")
        return True

    def _enter_marked(self, node: "LexborNode", tag: str, attributes: Mapping[str, str | None]) -> bool:
        style = attributes.get("style") or ""
        if "hidden" in attributes or _HIDDEN_STYLE.search(style) or _WIKI.search(attributes.get("class") or ""):
            return False
        if tag not in _BLOCKS and self._pieces and _BLOCK_STYLE.search(style):
            self._pieces.append("\n")
        kinds = _kinds(attributes)
        if kinds and not _WRAPPING_TYPES.isdisjoint(kinds):
            return False
        identity = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if identity and identity in self._anchors:
            self._mark(Anchor(self._anchors[identity]))
        if identity and identity in self._page_labels:
            self._mark(PageBreak(self._page_labels[identity]))
            return not _reads_as_page_mark(node)
        if "pagebreak" in kinds or not _PAGE_CLASSES.isdisjoint((attributes.get("class") or "").split()):
            return self._enter_page_break(node, attributes)
        if tag == "a":
            return self._enter_link(node, kinds)
        if tag == "img":
            self._add_picture(attributes)
        return True

    def _enter_page_break(self, node: "LexborNode", attributes: Mapping[str, str | None]) -> bool:
        said = (attributes.get("title"), attributes.get("aria-label"), little_text(node), attributes.get("id"))
        texts = (text for text in said if text and len(text) <= _LONGEST_LABEL)
        label = next((match[1] for text in texts if (match := _PAGE_LABEL.fullmatch(text))), None)
        if label is None:
            return True
        self._mark(PageBreak(label))
        return not _reads_as_page_mark(node)

    def _enter_link(self, node: "LexborNode", kinds: list[str]) -> bool:
        """Separate a note's number from the word before it."""
        number = little_text(node)
        if number is None or not _NOTE_NUMBER.fullmatch(number):
            return True
        parent = node.parent
        raised = "noteref" in kinds or (parent is not None and parent.tag == "sup") or node.css_first("sup") is not None
        if raised:
            self._pieces.append(f"[{number}]")
        return not raised

    def _raised(self, node: "LexborNode") -> str:
        """A note's number apart from the word before it, or a power apart from its base; empty for anything else."""
        before = "".join(piece[-3:] for piece in self._pieces[-3:]).replace(MARK, "")[-2:]
        number = little_text(node) or ""
        is_fraction = node.next is not None and (node.next.text_content or "").lstrip()[:1] in ("/", "⁄")
        if not number.isdecimal() or len(number) > 3 or not before[-1:].strip() or is_fraction or node.css_first("a"):
            return ""
        if before[-1].isdecimal():
            return f"^{number}"
        return f"[{number}]" if before.strip() == before or not before[-1].isalpha() else ""

    def _add_reading(self, node: "LexborNode") -> None:
        """Record a reading, which small letters give for the words before them."""
        written = "".join(self._pieces[self._ruby :]).replace(MARK, "").strip()
        self._builder.add_reading(written[:_LONGEST_LABEL], little_text(node) or "")
        self._ruby = len(self._pieces)

    def _add_picture(self, attributes: Mapping[str, str | None]) -> None:
        """A drop capital is a letter of the text; a heading may consist of a picture."""
        alternative = " ".join((attributes.get("alt") or "").split())
        if len(alternative) == 1 and alternative.isalpha():
            self._pieces.append(alternative)
        elif self._heading:
            self._alternative = alternative
        elif not any(piece.strip(f"{MARK} ") for piece in self._pieces):
            source = attributes.get("src") or ""
            file = "" if source.startswith("data:") else posixpath.splitext(posixpath.basename(source))[0]
            said = f"{alternative} {attributes.get('title') or ''} {file}"[:LONGEST_HEADING]
            self._letters_of_picture = "".join(_NAMED_LETTER.findall(said.replace("_", " ")))

    def _add_text(self, text: str) -> None:
        text = text.replace(MARK, "") if self._preformatted else collapse(text.replace(MARK, ""))
        if self._cell_due and text.strip():
            self._pieces[-1] = self._pieces[-1].rstrip(" ")
            self._pieces.append(" | ")
            self._cell_due = False
        if self._pieces and self._pieces[-1][-1:] in ("\n", " ") and not self._preformatted:
            text = text.lstrip()
        if text:
            self._pieces.append(text)

    def _mark(self, mark: Anchor | PageBreak) -> None:
        self._pieces.append(MARK)
        self._marks.append(mark)

    def _open_block(self, tag: str) -> None:
        if self._heading and tag not in _HEADINGS:
            self._pieces.append(" ")
            return
        self._flush()
        if tag == "hgroup":
            self._group_heading = -1
        elif tag in _HEADINGS:
            self._heading = self._group_heading if self._group_heading > 0 else _HEADINGS[tag]
            self._group_heading = self._group_heading and self._heading
        elif tag == "p" and self._group_heading > 0:
            self._heading = self._group_heading
        elif tag == "pre":
            self._preformatted += 1

    def _leave(self, tag: str) -> None:
        if tag not in _BLOCKS or (self._heading and tag not in _HEADINGS and not self._group_heading):
            return
        self._flush()
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        elif tag == "hgroup":
            self._group_heading = 0

    def _flush(self) -> None:
        if self._pieces or self._alternative:
            self._add_block()
        self._heading, self._cell_due = 0, False

    def _add_block(self) -> None:
        text = "".join(self._pieces)
        if self._heading and self._alternative and not text.replace(MARK, "").strip():
            text = f"{self._alternative}{text}"
        is_heading = len(text) <= LONGEST_HEADING  # an unclosed one contains all the rest
        if not text.isspace() and (text := self._with_initial(text)):
            self._builder.add(text, self._marks, heading_level=self._heading if is_heading else 0)
        self._pieces, self._marks, self._alternative = [], [], ""

    def _with_initial(self, text: str) -> str:
        """A block with the letter before its first word; empty for a letter alone, which waits for the next block."""
        if not text.strip(f"{MARK} \n"):
            return text
        named, self._letters_of_picture = self._letters_of_picture, None
        if self._initial_alone:
            letter, marks = self._initial_alone
            if not self._heading and self._initials.begins_word(letter[-1], text, is_close=False):
                self._initial_alone, self._marks = None, [*marks, *self._marks]
                return f"{letter}{text.lstrip()}"
            self._release_initial()
        if self._heading or named is not None:
            letter = "" if self._heading or named is None else self._initials.of_picture(named, text)
            return f"{letter}{text.lstrip()}" if letter else text
        return self._with_own_initial(text)

    def _with_own_initial(self, text: str) -> str:
        """A block without the space behind a letter that is in an element of its own and begins the first word."""
        initial = _INITIAL.match(text)
        if initial is None:
            return text
        behind = text[initial.end() :]
        rest = behind.lstrip()
        if not rest.strip(MARK):
            self._initial_alone = (text.strip(), self._marks)
            return ""
        ends = accumulate(map(len, self._pieces[:_MOST_PIECES_OF_INITIAL]))
        is_apart = rest != behind and any(initial.end() <= end <= len(text) - len(rest) for end in ends)
        return f"{initial[0]}{rest}" if is_apart and self._initials.begins_word(initial["letter"], rest) else text

    def _release_initial(self) -> None:
        """Add a letter that has waited for a block, but is none of its words."""
        if self._initial_alone:
            self._builder.add(*self._initial_alone)
            self._initial_alone = None


def _kinds(attributes: Mapping[str, str | None]) -> list[str]:
    """The purposes of an element, in the vocabulary of EPUB."""
    declared = (attributes.get("epub:type"), attributes.get("role"))
    return [kind for words in declared if words for kind in words.replace("doc-", "").split()]


def _reads_as_page_mark(node: "LexborNode") -> bool:
    """Whether the whole text of an element is a page number."""
    text = little_text(node)
    return text is not None and len(text) <= _LONGEST_PAGE_MARK


_LINES = "p, div, center, td, dt, li, blockquote, b, strong, big, font"
_EMPHASIS = frozenset("b strong big font i em u span".split())  # noqa: SIM905
_LOOKS = ("class", "align", "style")


class _Look(NamedTuple):
    """What a line looks like: its tag and attributes, and what holds it; or that it opens a file, if it looks plain."""

    tag: str
    attributes: tuple[str, ...]
    emphasis: tuple[str, ...]
    holder: str
    opens_file: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether it has anything that plain paragraphs lack."""
        return any(self.attributes) or bool(self.emphasis) or self.holder == "center"


def styled_lines(trees: Iterable["LexborHTMLParser"]) -> Iterator[StyledLine]:
    """The lines of some documents with what they look like."""
    for tree in trees:
        is_first = True
        for node in tree.css(_LINES):
            line = little_text(node, LONGEST_TITLE)
            if line == "" or (node.tag in _EMPHASIS and not _is_broken_off(node)):
                continue
            look = _look(node)
            if is_first and not look.is_marked:
                look = look._replace(opens_file=True)
            is_first = False
            yield StyledLine(" ".join((line or "").split()), look, look.is_marked or look.opens_file)


def _is_broken_off(node: "LexborNode") -> bool:
    """Whether some emphasised words are a line, for which `<br>` breaks those around them."""
    beside = [_tag_beside(node, attribute) for attribute in ("prev", "next")]
    return "br" in beside and all(tag in ("br", "") or tag in _BLOCKS for tag in beside)


def _tag_beside(node: "LexborNode", direction: str) -> str:
    """The tag of what comes before or after a node and shows or breaks the line; empty if nothing does."""
    for _ in range(_MOST_NODES_OF_LABEL):
        node = getattr(node, direction)
        if node is None or node.tag == "br" or _shows(node):
            return node.tag or "" if node is not None else ""
    return ""


def _look(node: "LexborNode") -> _Look:
    nested, said = [node], little_text(node)
    while (inner := next(filter(_shows, nested[-1].iter(include_text=True)), None)) is not None and _wraps(inner, said):
        nested.append(inner)
    while (outer := nested[0].parent) is not None and _wraps(outer, said):
        nested.insert(0, outer)
    emphasis = sorted(f"{each.tag} {each.attributes.get('class') or ''}" for each in nested if each.tag in _EMPHASIS)
    attributes = tuple((node.attributes.get(name) or "") for name in _LOOKS)
    holder = outer.tag or "" if outer is not None and node.tag not in _EMPHASIS else ""
    return _Look(node.tag or "", attributes, tuple(emphasis), holder)


def _wraps(node: "LexborNode", said: str | None) -> bool:
    return node.tag in _EMPHASIS and little_text(node) == said


def _shows(node: "LexborNode") -> bool:
    """Whether a node has text; the mark of a page has none."""
    return bool((node.text_content or "").strip()) if node.tag == "-text" else little_text(node) != ""
