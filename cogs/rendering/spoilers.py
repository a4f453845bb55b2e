"""Hidden sentences, kept hidden where a text is cut into messages."""

from cogs.rendering.splitting import MESSAGE_LIMIT, split

MARK = "||"
"""What a leak gate puts around a sentence, never over the end of a line."""


def split_with_spoilers(text: str, limit: int = MESSAGE_LIMIT) -> list[str]:
    """The messages that show `text`; what a cut goes through is hidden on both sides of it."""
    if MARK not in text:
        return split(text, limit)
    messages, closed, hidden = split(text, limit - 2 * len(MARK)), list[str](), False
    for number, message in enumerate(messages):
        whole = MARK + message if hidden else message
        hidden = _is_open(whole) and _is_closed(messages[number + 1 :])
        closed.append(whole + MARK if hidden else whole)
    return closed


def _is_open(message: str) -> bool:
    return message.rsplit("\n", 1)[-1].count(MARK) % 2 == 1


def _is_closed(rest: list[str]) -> bool:
    return "".join(rest).split("\n", 1)[0].count(MARK) % 2 == 1
