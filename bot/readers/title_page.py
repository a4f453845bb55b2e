"""What a text says of itself before its first chapter: "WAR AND PEACE / By Leo Tolstoy"."""

import re
from collections.abc import Sequence

from bot.readers.plain_blocks import Block, blocks_of
from bot.readers.titles import calm

_READ = 3_000
_LONGEST_LINE = 120
_MOST_TITLE_BLOCKS = 4
_CREDITS = re.compile(
    r"(?:produced by|e-?text prepared|transcribed|an anonymous volunteer|html version).*", re.IGNORECASE
)
_BY_NAME = re.compile(r"(?:written by|by|von|par|por|di|door|av):?\s+(?P<name>[^\W\d_].{1,80})", re.IGNORECASE)
_NAME = re.compile(r"(?:[^\W\d_][\w.’'-]*\s+){1,3}[^\W\d_][\w.’'-]+")


def read_title_page(front: str) -> tuple[str, str]:
    """Title and author, or empty strings where they are not plain to see.

    `front` is the text before the first chapter. Plain to see is a title with a line "by …" under it, or a front of
    short lines only, the first of which is then the title.
    """
    blocks = [block for block in blocks_of(front[:_READ]) if not _CREDITS.match(block.text)]
    if not blocks or not _fits_a_title_page(blocks[0]):
        return "", ""
    if named := _byline(blocks):
        return named
    if not front or not all(map(_fits_a_title_page, blocks)):
        return "", ""
    name = blocks[1].text if len(blocks) > 1 else ""
    return calm(blocks[0].text), name if _NAME.fullmatch(name) and name != name.upper() else ""


def _byline(blocks: Sequence[Block]) -> tuple[str, str] | None:
    for at, block in enumerate(blocks[1 : _MOST_TITLE_BLOCKS + 1], start=1):
        if not _fits_a_title_page(block):
            return None
        title = _title(blocks[:at])
        if match := _BY_NAME.fullmatch(block.text):
            return title, calm(match["name"])
        if block.text.casefold().rstrip(":") == "by" and at + 1 < len(blocks):
            return title, calm(blocks[at + 1].text)
    return None


def _title(blocks: Sequence[Block]) -> str:
    """The first block, and the next where it goes on: "Frankenstein; / or, the Modern Prometheus"."""
    first, *others = (block.text for block in blocks)
    goes_on = others and (first[-1] in ";:," or others[0].casefold().startswith(("or,", "or ")))
    return calm(f"{first} {others[0]}" if goes_on else first)


def _fits_a_title_page(block: Block) -> bool:
    return block.is_short and len(block.text) <= _LONGEST_LINE
