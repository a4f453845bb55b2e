"""Characters that come in halves: surrogates, which neither a request nor a database can carry alone."""

_FIRST_HALVES = ("\ud800", "\udbff")


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it: two halves side by side are their character, a lone one is a �."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class WholeCharacters:
    """A text that comes in pieces, some of which end in the middle of a character."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """What of the text is whole by now and was not given out before."""
        text = self._half + piece
        cut = len(text) - _ends_in_a_half(text)
        self._half = text[cut:]
        return encodable(text[:cut])

    def end(self) -> str:
        """What is left of a text that has come to its end."""
        half, self._half = self._half, ""
        return encodable(half)


def _ends_in_a_half(text: str) -> bool:
    first, last = _FIRST_HALVES
    return first <= text[-1:] <= last
