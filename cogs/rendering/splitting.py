"""Splitting text into messages: at the best boundary, with code blocks closed and reopened, nothing lost or repeated.

Where a piece is cut depends on the text up to that cut and one character more. A growing text therefore keeps all its
pieces but the last, and a streaming answer changes only its last message.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.spoilers.filter import has_hidden, spans

MESSAGE_LIMIT = 2000
"""Discord's limit, in characters; counted here in UTF-16 units, the strictest way."""

FENCE = "```"
CLOSING = "\n" + FENCE
_OPENER = re.compile(r"[ \t]*```([^`\n]{0,40})")
_CLOSER = re.compile(r"[ \t]*```[ \t]*")
_SENTENCE_END = re.compile(r"(?:[.!?…][\"'”’»)\]]*(?=\s)|[。！？])")
_OF_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
"""Characters that take two units in UTF-16, such as emoji."""
_JOINERS = "\u200d\ufe0e\ufe0f\u20e3"
"""What belongs to the character before it: the joiner of emoji, the selectors of their form, the frame of a key."""
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


@dataclass(frozen=True, slots=True)
class MessagePart:
    """The text of one message; `opened` and `closed` are what a cut inside a code block put around it."""

    opened: str
    body: str
    closed: str

    @property
    def text(self) -> str:
        return self.opened + self.body + self.closed


class _Line(NamedTuple):
    """A whole line at `[start, end)`, without its line break, and the fences open before and after it."""

    start: int
    end: int
    before: str | None
    after: str | None


def split(text: str, limit: int = MESSAGE_LIMIT) -> list[str]:
    """The messages that show `text`, each of at most `limit` characters and none blank."""
    return [piece.text for piece in pieces(text, limit)]


def pieces(text: str, limit: int = MESSAGE_LIMIT) -> list[MessagePart]:
    found: list[MessagePart] = []
    rest, fence = text.lstrip("\n"), None
    length = len(rest.rstrip())
    while length > 0:
        opened = f"{fence}\n" if fence else ""
        head = _take(rest, limit - units(opened))
        lines = _lines(rest, len(head), fence)
        fenced = fence is not None or any(line.after for line in lines)
        room = limit - units(opened) - (len(CLOSING) if fenced else 0)
        if length <= room and units(body := rest[:length]) <= room:
            found.append(MessagePart(opened, body, CLOSING if _fence_at_end(body, fence) else ""))
            break
        stop = len(_take(rest, room))
        while lines and lines[-1].end > stop:
            lines.pop()
        cut, skip, after = _best_cut(rest, stop, fence, lines)
        found.append(MessagePart(opened, rest[:cut], CLOSING if after else ""))
        rest, fence, length = rest[skip:], after, length - skip
    return [piece for piece in found if piece.body.strip()]


def closed_code(text: str) -> str:
    """The text with an open code block closed at its end, so that something else may follow."""
    return text + CLOSING if _fence_at_end(text, None) else text


def units(text: str) -> int:
    """Length in UTF-16 units."""
    if text.isascii():
        return len(text)
    try:
        return len(text.encode("utf-16-le")) // 2
    except UnicodeEncodeError:  # half a character: none of these is encoded
        return len(text) + len(_OF_TWO_UNITS.findall(text))


def _take(text: str, room: int) -> str:
    """The longest prefix of `text` of at most `room` units, at least one character."""
    head = text[:room]
    excess = units(head) - room
    while excess > 0:
        head = head[: -max(1, excess // 2)]
        excess = units(head) - room
    return head or text[:1]


def _lines(text: str, stop: int, fence: str | None) -> list[_Line]:
    """The complete lines of `text` before or at `stop`, that is, those whose line break is visible."""
    lines, start = [], 0
    while (end := text.find("\n", start, stop + 1)) >= 0:
        after = _next_fence(text[start:end], fence)
        lines.append(_Line(start, end, fence, after))
        start, fence = end + 1, after
    return lines


def _next_fence(line: str, fence: str | None) -> str | None:
    if FENCE not in line:
        return fence
    if fence is not None:
        return None if _CLOSER.fullmatch(line) else fence
    opener = _OPENER.fullmatch(line)
    return FENCE + opener[1].strip() if opener else None


def _fence_at_end(body: str, fence: str | None) -> str | None:
    """The code block that is open after the whole text; one that only begins in the last line is empty."""
    *whole, last = body.split("\n")
    for line in whole:
        fence = _next_fence(line, fence)
    return fence and _next_fence(last, fence)


def _best_cut(text: str, stop: int, fence: str | None, lines: Sequence[_Line]) -> tuple[int, int, str | None]:
    """Where the piece ends, where the next begins, and the code block that is open between them."""
    half = stop // 2
    late = lines[bisect_left(lines, half, key=lambda line: line.end) :]
    for candidates in (_paragraphs(text, late), _before_blocks(late), _open_lines(late), _code_lines(late, stop)):
        if (line := next(candidates, None)) is not None:
            return _cut_after(text, line)
    inside = lines[-1].after if lines else fence
    begin = lines[-1].end + 1 if lines else 0
    if (cut := _within_line(text, max(begin, half), stop, in_code=inside is not None)) is not None:
        return cut, _skip_blanks(text, cut, in_code=inside is not None), inside
    if line := next(_open_lines(lines), None) or next(_code_lines(lines, stop), None):
        return _cut_after(text, line)
    cut = _whole_character(text, stop)
    return cut, cut, inside


def _paragraphs(text: str, lines: Sequence[_Line]) -> Iterator[_Line]:
    """Lines before an empty one, the last of them first, as everything below."""
    return (line for line in _open_lines(lines) if text.startswith("\n\n", line.end))


def _before_blocks(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Lines before a code block."""
    return (line for line, after in _pairs(lines) if line.end and line.after is None and after.after is not None)


def _open_lines(lines: Sequence[_Line]) -> Iterator[_Line]:
    return (line for line in reversed(lines) if line.after is None and line.end > 0)


def _code_lines(lines: Sequence[_Line], stop: int) -> Iterator[_Line]:
    """Lines within a code block except its first and last, so that no piece shows an empty block."""
    return (
        line
        for line, after in _pairs(lines)
        if line.before is not None and line.after is not None and after.after is not None and after.end <= stop
    )


def _pairs(lines: Sequence[_Line]) -> Iterator[tuple[_Line, _Line]]:
    """Each line and the one after it."""
    return ((lines[at - 1], lines[at]) for at in range(len(lines) - 1, 0, -1))


def _cut_after(text: str, line: _Line) -> tuple[int, int, str | None]:
    if line.after is not None:
        return line.end, line.end + 1, line.after
    skip = line.end
    while skip < len(text) and text[skip] == "\n":
        skip += 1
    return line.end, skip, None


def _within_line(text: str, least: int, stop: int, *, in_code: bool) -> int | None:
    """The end of the last sentence, else of the last word, that ends in `[least, stop]`."""
    if not in_code:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, least, stop + 1) if match.end() <= stop]
        if ends:
            return ends[-1]
    for at in range(stop, max(least, 1) - 1, -1):
        if text[at].isspace() and not text[at - 1].isspace():
            return at
    return None


def _skip_blanks(text: str, cut: int, *, in_code: bool) -> int:
    if in_code:
        return cut
    while cut < len(text) and text[cut].isspace():
        cut += 1
    return cut


def _whole_character(text: str, stop: int) -> int:
    """The last index up to `stop` that is not inside a grapheme."""
    at = stop
    while at > 0 and _continues(text, at):
        at -= 1
    return at or stop


def _continues(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it."""
    char, previous = text[at], text[at - 1]
    if char in _JOINERS or previous == "\u200d" or ord(char) in _SKIN_TONES or unicodedata.combining(char):
        return True
    if ord(char) not in _FLAG_LETTERS:
        return False
    letters = 0
    while letters < at and ord(text[at - 1 - letters]) in _FLAG_LETTERS:
        letters += 1
    return letters % 2 == 1


MARK = "||"
"""Discord covers what is between two of these, but never across the end of a line."""

_BARS = re.compile(r"\|(?=\|)")
"""The first of two bars, which Discord would take for the beginning of a cover."""


def with_covers(text: str) -> str:
    """An answer with its hidden spans as Discord covers them."""
    if not has_hidden(text):
        return text
    return "\n".join(map(_covered, text.split("\n")))


def _covered(line: str) -> str:
    """Without code where anything is covered: what is between two backticks is shown as it is."""
    line = line.replace("`", "'") if has_hidden(line) else line
    return "".join(_cover(span.text) if span.is_hidden else _BARS.sub("| ", span.text) for span in spans(line))


def _cover(text: str) -> str:
    """Cover a text. Bars within it would pair with those of the cover; a backslash at its end would escape the last
    one.
    """
    return f"{MARK}{text.replace(MARK, '//').rstrip(chr(92))}{MARK}"


def split_with_spoilers(text: str) -> list[str]:
    """The messages that show `text`; a hidden span that is cut is hidden on both sides of the cut."""
    if MARK not in text:
        return split(text)
    messages, closed, hidden = split(text, MESSAGE_LIMIT - 2 * len(MARK)), list[str](), False
    for number, message in enumerate(messages):
        whole = MARK + message if hidden else message
        hidden = _is_open(whole) and _is_closed(messages[number + 1 :])
        closed.append(whole + MARK if hidden else whole)
    return closed


def _is_open(message: str) -> bool:
    return message.rsplit("\n", 1)[-1].count(MARK) % 2 == 1


def _is_closed(rest: list[str]) -> bool:
    return "".join(rest).split("\n", 1)[0].count(MARK) % 2 == 1


def headed(heading: str, messages: Sequence[str]) -> list[str]:
    """Messages with a heading above the first one, in a message of its own where that has no room for it."""
    first = f"{heading}\n{messages[0]}" if messages else heading
    return [first, *messages[1:]] if units(first) <= MESSAGE_LIMIT else [heading, *messages]
