"""Renders a line of a model's Markdown for Discord, and makes text inert, so that nothing in it can be clicked.

The rule for links is short: there are none. An address in an answer, a quotation or a title is shown as text, whoever
wrote it. A book holds no links, and nobody can tell an address a reader asked for from one that a book, a nickname or
a tool's result has talked a model into.
"""

import html
import re
from functools import cached_property, lru_cache

ZERO_WIDTH = "\u200b"
HAIR_SPACE = "\u200a"
"""Used where a name may contain anything but white space."""

_TAGS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em"), "*"),
    **dict.fromkeys(("s", "del", "strike"), "~~"),
    "u": "__",
    "code": "`",
    **dict.fromkeys(("p", "div", "span", "sub", "center", "details", "summary"), ""),
}

_MARK = re.compile(r"[`\\$\[<&]|https?:")
"""A line without any of these is shown as it is."""
_CONSTRUCT = re.compile(
    r"""
    (?= [`\\$\[!<&] | https?: )
    (?:
      (?P<ticks> `+ )
    | (?P<formula> \\[(\[] )
    | \$\$ (?P<double> [^`$]+ ) \$\$
    | (?<![\w$]) \$ (?P<single> (?! [\s\d.,]+ \$ ) (?=[^$`]*[\\^_={]) [^\s$`] (?:[^$`]*[^\s$`])? ) \$ (?![\w$])
    | (?P<escape> (?: \\ [^\w\s(\[] )++ )
    | (?P<link> !? \[ )
    | < (?P<autolink> https?://[^\s<>]+ ) >
    | (?P<url> https?://[^\s<>`]+ )
    | < (?P<close>/?) (?P<tag> [A-Za-z]+ ) (?: \s[^<>]* )? /? >
    | (?P<entity> & (?: \#\d+ | \#[xX][0-9a-fA-F]+ | [A-Za-z]\w* ) ; )
    )
    """,
    re.VERBOSE,
)
"""What may be more than text. The ends of code, of formulas and of a link's words are looked up: a pattern would search
the rest of the line for each of a thousand beginnings.
"""
_TARGET = re.compile(
    r"""
    \( \s*+ (?: <[^<>]*+> | [^\s()<>]*+ (?: \([^\s()]*+\) [^\s()]*+ )?+ )
    (?: \s++ (?:"[^"]*+"|'[^']*+') )?+ \s*+ \)
    """,
    re.VERBOSE,
)
"""Where a link leads, and its title, behind its words."""
_BRACKET = re.compile(r"[\[\]\\]")
_LONGEST_FORMULA = 300
_TICKS = re.compile("`+")
_LIVE = re.compile(
    r"""
    (?=[:dD\]@<]) (?:
      : (?=//)                                    # of an address
    | (?i: discord (?:app)? \. [a-z]{2,4} ) (?=/)  # of an invitation, which needs no scheme
    | \] (?=\()                                   # of a link under other words
    | @ (?=everyone|here)
    | (?P<reach> < ) (?=\+?\d|[^\s<>@]{1,64}@)     # of a telephone number, a mail address
    | < (?=[@#/]|id:|[a-z]+:)                     # of a mention: somebody, a channel, a command
    )
    """,
    re.VERBOSE,
)
"""The first half of everything in a message that Discord turns into more than text."""
_COMMAND_THAT_DOES = re.compile(r"/(?=(?:books|chat|club|conversations|discuss|privacy|settings)\b)")
"""The first half of a command that does more than show something: commands in the bot's own words become links."""
_TURNED = re.compile("[\u202a-\u202e\u2066-\u2069]+")
"""Characters that reverse the following ones, and could make a page number another."""
_LIVE_IN_FILES = re.compile(r"<(?=[a-z/!?])|\](?=:)|\bwww(?=\.)|\b(?:mailto|xmpp)(?=:)", re.IGNORECASE)
"""The first half of what other programs turn into more than text: HTML, the target of a link, bare addresses."""
_FORMATTING = re.compile(r"([\\*`~|<>]|(?<![^\W_])_|_(?![^\W_]))")
"""Formatting characters; an underscore inside a word is none."""
_FENCE = re.compile("`{3,}")
_AFTER_URL = ".,;:!?'\"”’»*_~)"


def render_inline(line: str) -> str:
    """The line with links reduced to their words, and HTML and LaTeX made readable; inline code stays as it is.

    Addresses and mentions in it are active until the whole text is made `inert`.
    """
    if _MARK.search(line) is None:
        return line
    ends = _Ends(line)
    shown, at = [], 0
    while (found := _CONSTRUCT.search(line, at)) is not None:
        shown.append(line[at : found.start()])
        rendered, at = _rendered(found, ends)
        shown.append(rendered)
    return "".join([*shown, line[at:]])


class _Ends:
    """Where code, formulas and links of one line end. Looking them all up takes time by the line's length."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._next: dict[str, int] = {}
        self._targets: dict[int, re.Match[str] | None] = {}

    def of_code(self, start: int, ticks: int) -> int:
        """The index after the next run of exactly so many backticks, or `start` if there is none."""
        if self._last_runs.get(ticks, 0) < start:
            return start
        return next(run.end() for run in _TICKS.finditer(self._line, start) if len(run[0]) == ticks)

    def of_formula(self, start: int, closing: str) -> int | None:
        """Where a formula that begins at `start` is closed."""
        end = self._following(closing, start + 1)
        return end if 0 <= end <= start + _LONGEST_FORMULA and not 0 <= self._following("`", start) < end else None

    def of_link(self, start: int) -> re.Match[str] | None:
        """The target of a link whose words begin at `start`; it begins where they end."""
        closing = self._closings.get(start)
        if closing is None:
            return None
        if closing not in self._targets:
            self._targets[closing] = _TARGET.match(self._line, closing + 1)
        return self._targets[closing]

    def _following(self, mark: str, start: int) -> int:
        """Where the mark next occurs from `start` on, or -1. Each next `start` is a later one."""
        found = self._next.get(mark, 0)
        if 0 <= found < start:
            found = self._next[mark] = self._line.find(mark, start)
        return found

    @cached_property
    def _last_runs(self) -> dict[int, int]:
        """Where the last run of so many backticks begins."""
        return {len(run[0]): run.start() for run in _TICKS.finditer(self._line)}

    @cached_property
    def _closings(self) -> dict[int, int]:
        """The closing bracket of words that begin at an index: they may have brackets in them, but no deeper ones."""
        line = self._line
        if "](" not in line:
            return {}
        closings: dict[int, int] = {}
        after: int | None = None  # the closing bracket of what begins behind the mark
        after_next: int | None = None  # and of what begins behind the mark after it
        after_bracket: int | None = None  # and of what begins behind the next bracket
        bracket, following = "", len(line)
        for at in reversed([mark.start() for mark in _BRACKET.finditer(line)]):
            mark, before = line[at], after
            match mark:
                case "]":
                    after = at
                case "\\":
                    is_escape = line[at + 1 : at + 2] not in ("", "\n")
                    after = (after_next if following == at + 1 else after) if is_escape else None
                case _:
                    if after is not None:
                        closings[at + 1] = after
                    after = after_bracket if bracket == "]" else None
            if mark != "\\":
                bracket, after_bracket = mark, before
            after_next, following = before, at
        return closings


def inert(text: str, *, ours: bool = False) -> str:
    """The text in a form in which nothing can be clicked and nobody is notified; it looks the same.

    This includes code, because where Discord sees code depends on all the marks around it. A sentence of `ours` may
    name commands.
    """
    parted = _LIVE.sub(_parted, _TURNED.sub("", text))
    return parted if ours else _COMMAND_THAT_DOES.sub(_parted, parted)


def inert_in_files(text: str) -> str:
    """The same for a Markdown file, which may be opened in any program."""
    return _LIVE_IN_FILES.sub(_parted, inert(text))


def fenceless(text: str) -> str:
    """The text in a form that cannot end the code block it is put into."""
    return _FENCE.sub(lambda marks: ZERO_WIDTH.join(marks[0]), text)


def escape(text: str) -> str:
    """Text that Discord shows literally and that notifies nobody."""
    return inert(_FORMATTING.sub(r"\\\1", text).replace("@", "@" + ZERO_WIDTH))


def _parted(half: re.Match[str]) -> str:
    return half[0] + (HAIR_SPACE if half.lastgroup == "reach" else ZERO_WIDTH)


def _rendered(found: re.Match[str], ends: _Ends) -> tuple[str, int]:
    """What replaces a construct, and where the line goes on behind it."""
    line, start, end = found.string, found.start(), found.end()
    match found.lastgroup:
        case "ticks":
            closed = ends.of_code(end, end - start)
            # Discord would find the end on a later line, and show what is between as code, covers and all.
            return (line[start:closed], closed) if closed > end else ("\\`" * (end - start), end)
        case "formula":
            closing = ends.of_formula(end, "\\)" if found[0] == "\\(" else "\\]")
            return (found[0], end) if closing is None else (f"`{line[end:closing].strip()}`", closing + 2)
        case "link":
            target = ends.of_link(end)
            return (found[0], end) if target is None else (render_inline(line[end : target.start() - 1]), target.end())
        case "double" | "single" as formula:
            return f"`{found[formula].strip()}`", end
        case "autolink":
            return f"`{found['autolink']}`", end
        case "url":
            url = found["url"].rstrip(_AFTER_URL)
            return f"`{url}`{found['url'][len(url) :]}", end
        case "tag":
            return _tag(found[0], found["tag"].lower(), closing=bool(found["close"])), end
        case "entity":
            return _entity(found["entity"]), end
    return found[0], end


def _tag(whole: str, name: str, *, closing: bool) -> str:
    if name == "br":
        return "\n"
    if name == "sup":
        return "" if closing else "^"
    return _TAGS.get(name, whole)


@lru_cache(maxsize=256)
def _entity(entity: str) -> str:
    text = html.unescape(entity)
    return entity if text == entity else escape(text)


_COMMAND = re.compile(r"</([\w -]+):\d+>|`(/[\w -]+)`")


def as_compared(text: str) -> str:
    """A text as it is after posting: Discord removes outer white space, our client links commands."""
    return " ".join(_COMMAND.sub(lambda match: f"/{match[1]}" if match[1] else match[2], text).split())
