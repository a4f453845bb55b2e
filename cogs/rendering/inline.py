"""A line of a model's Markdown, made into what Discord renders of a line."""

import html
import re
from collections.abc import Callable
from urllib.parse import urlsplit

LinkRule = Callable[[str], bool]
"""Whether a link to this address may be clicked."""

ZERO_WIDTH = "\u200b"

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
    (?= [`\\$\[!<&@] | https?: )
    (?:
      (?P<code> (?P<ticks>`+) (?!`) .+? (?<!`) (?P=ticks) (?!`) )
    | \\\( (?P<round> [^`]{1,300}? ) \\\)
    | \\\[ (?P<square> [^`]{1,300}? ) \\\]
    | \$\$ (?P<double> [^`$]+ ) \$\$
    | (?<![\w$]) \$ (?P<single> (?! [\s\d.,]+ \$ ) (?=[^$`]*[\\^_={]) [^\s$`] (?:[^$`]*[^\s$`])? ) \$ (?![\w$])
    | (?P<escape> \\ [^\w\s] )
    | !? \[ (?P<text> (?: [^\[\]\\] | \\. | \[[^\[\]]*\] )* ) \]
      \( \s* (?P<target> <[^<>]*> | [^\s()<>]* (?: \([^\s()]*\) [^\s()]* )? ) (?: \s+ (?:"[^"]*"|'[^']*') )? \s* \)
    | < (?P<autolink> https?://[^\s<>]+ ) >
    | (?P<url> https?://[^\s<>`]+ )
    | < (?P<close>/?) (?P<tag> [A-Za-z]+ ) (?: \s[^<>]* )? /? >
    | (?P<entity> & (?: \#\d+ | \#[xX][0-9a-fA-F]+ | [A-Za-z]\w* ) ; )
    | (?P<mass> @ (?= everyone\b | here\b ) )
    | (?P<mention> <@[!&]? (?=\d) )
    )
    """,
    re.VERBOSE,
)
_FORMATTING = re.compile(r"([\\*`~|<>]|(?<![^\W_])_|_(?![^\W_]))")
"""What formats; an underscore inside a word does not."""
_AFTER_URL = ".,;:!?'\"”’»*_~)"


def no_links(_: str) -> bool:
    """A book holds no links, so an answer about it has none that may be clicked."""
    return False


def render_inline(line: str, allow_link: LinkRule = no_links) -> str:
    """The line with links reduced to what `allow_link` lets pass, mentions defused, HTML and LaTeX made readable.

    Inline code is left as it is.
    """

    def replace(match: re.Match[str]) -> str:
        return _rendered(match, allow_link)

    return _CONSTRUCT.sub(replace, line)


def escape(text: str) -> str:
    """Text that Discord shows letter for letter and that notifies nobody."""
    return _FORMATTING.sub(r"\\\1", text).replace("@", "@" + ZERO_WIDTH)


def _rendered(match: re.Match[str], allow_link: LinkRule) -> str:
    groups = match.groupdict()
    for name in ("round", "square", "double", "single"):
        if groups[name] is not None:
            return f"`{groups[name].strip()}`"
    if groups["text"] is not None:
        return _link(groups["text"], groups["target"].strip("<>"), allow_link)
    if groups["autolink"] is not None:
        return _address(groups["autolink"], allow_link)
    if groups["url"] is not None:
        return _bare_address(groups["url"], allow_link)
    if groups["tag"] is not None:
        return _tag(match[0], groups["tag"].lower(), closing=bool(groups["close"]))
    if groups["entity"] is not None:
        return _entity(groups["entity"])
    if groups["mass"] is not None or groups["mention"] is not None:
        return match[0] + ZERO_WIDTH
    return match[0]


def _link(text: str, target: str, allow_link: LinkRule) -> str:
    label = render_inline(text, no_links)
    if _is_address(target) and allow_link(target):
        return f"[{label}]({target})" if label else target
    return label


def _address(url: str, allow_link: LinkRule) -> str:
    return url if allow_link(url) else f"`{url}`"


def _bare_address(text: str, allow_link: LinkRule) -> str:
    url = text.rstrip(_AFTER_URL)
    return _address(url, allow_link) + text[len(url) :]


def _is_address(target: str) -> bool:
    return urlsplit(target).scheme in ("http", "https")


def _tag(whole: str, name: str, *, closing: bool) -> str:
    if name == "br":
        return "\n"
    if name == "sup":
        return "" if closing else "^"
    return _TAGS.get(name, whole)


def _entity(entity: str) -> str:
    text = html.unescape(entity)
    if text == entity:
        return entity
    return escape(text) + (ZERO_WIDTH if text == "<" else "")
