"""A line of a model's Markdown, made into what Discord renders; and text in which nothing can be clicked.

The rule for links is short: there are none. An address in an answer, a quotation or a title is shown as text, whoever
wrote it. A book holds no links, and nobody can tell an address a reader asked for from one that a book, a nickname or
a tool's result has talked a model into.
"""

import html
import re
from typing import Protocol

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

_CONSTRUCT = re.compile(
    r"""
    (?= [`\\$\[!<&] | https?: )
    (?:
      (?P<ticks>`+)
    | \\\( (?P<round> [^`]{1,300}? ) \\\)
    | \\\[ (?P<square> [^`]{1,300}? ) \\\]
    | \$\$ (?P<double> [^`$]+ ) \$\$
    | (?<![\w$]) \$ (?P<single> (?! [\s\d.,]+ \$ ) (?=[^$`]*[\\^_={]) [^\s$`] (?:[^$`]*[^\s$`])? ) \$ (?![\w$])
    | (?P<escape> \\ [^\w\s] )
    | !? \[ (?P<text> (?: [^\[\]\\] | \\. | \[[^\[\]]*\] )* ) \]
      \( \s*+ (?P<target> <[^<>]*+> | [^\s()<>]*+ (?: \([^\s()]*+\) [^\s()]*+ )?+ )
      (?: \s++ (?:"[^"]*+"|'[^']*+') )?+ \s*+ \)
    | < (?P<autolink> https?://[^\s<>]+ ) >
    | (?P<url> https?://[^\s<>`]+ )
    | < (?P<close>/?) (?P<tag> [A-Za-z]+ ) (?: \s[^<>]* )? /? >
    | (?P<entity> & (?: \#\d+ | \#[xX][0-9a-fA-F]+ | [A-Za-z]\w* ) ; )
    )
    """,
    re.VERBOSE,
)
_TICKS = re.compile("`+")
_LIVE = re.compile(
    r"""
      : (?=//)                                    # of an address
    | (?i: discord (?:app)? \. [a-z]{2,4} ) (?=/)  # of an invitation, which needs no scheme
    | \] (?=\()                                   # of a link under other words
    | @ (?=everyone|here)
    | (?P<reach> < ) (?=\+?\d|[^\s<>@]{1,64}@)     # of a telephone number, a mail address
    | < (?=[@#/]|id:|[a-z]+:)                     # of a mention: somebody, a channel, a command
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
    last_run = {len(run[0]): run.start() for run in _TICKS.finditer(line)}
    shown, at = [], 0
    while (found := _CONSTRUCT.search(line, at)) is not None:
        shown.append(line[at : found.start()])
        at = found.end()
        if ticks := found["ticks"]:
            is_code = last_run[len(ticks)] > found.start()
            end = _end_of_code(line, at, len(ticks)) if is_code else at
            shown.append(line[found.start() : end])
            at = end
        else:
            shown.append(_rendered(found))
    return "".join([*shown, line[at:]])


def _end_of_code(line: str, start: int, ticks: int) -> int:
    """The index after the next run of exactly so many backticks, which exists."""
    return next(run.end() for run in _TICKS.finditer(line, start) if len(run[0]) == ticks)


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


def _rendered(match: re.Match[str]) -> str:
    groups = match.groupdict()
    for name in ("round", "square", "double", "single"):
        if groups[name] is not None:
            return f"`{groups[name].strip()}`"
    if groups["text"] is not None:
        return render_inline(groups["text"])
    if groups["autolink"] is not None:
        return f"`{groups['autolink']}`"
    if groups["url"] is not None:
        url = groups["url"].rstrip(_AFTER_URL)
        return f"`{url}`{groups['url'][len(url) :]}"
    if groups["tag"] is not None:
        return _tag(match[0], groups["tag"].lower(), closing=bool(groups["close"]))
    if groups["entity"] is not None:
        return _entity(groups["entity"])
    return match[0]


def _tag(whole: str, name: str, *, closing: bool) -> str:
    if name == "br":
        return "\n"
    if name == "sup":
        return "" if closing else "^"
    return _TAGS.get(name, whole)


def _entity(entity: str) -> str:
    text = html.unescape(entity)
    return entity if text == entity else escape(text)


class Say(Protocol):
    """Translates an English text with {placeholders} into the reader's language."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def in_english(text: str, /, **values: object) -> str:
    return text.format(**values)


_COMMAND = re.compile(r"</([\w -]+):\d+>|`(/[\w -]+)`")


def as_compared(text: str) -> str:
    """A text as it is after posting: Discord removes outer white space, our client links commands."""
    return " ".join(_COMMAND.sub(lambda match: f"/{match[1]}" if match[1] else match[2], text).split())
