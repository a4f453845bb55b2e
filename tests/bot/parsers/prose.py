"""Prose to fill test books with: sentences of many words, no two paragraphs alike."""

_SENTENCES = (
    "The lamp burned low while the keeper wrote his page.",
    "Nobody on the island had seen the cart come over that night.",
    "She counted the posts twice, and both times there was one too many.",
    "It rained until the harbour wall shone like the back of a fish.",
    "He said that he would rather wait for the ebb than ask again.",
    "A letter lay on the table, and the clock had stopped beside it.",
    "They walked on without a word until the road turned to the sea.",
)


def paragraph(number: int, sentences: int = 5) -> str:
    """A paragraph; different numbers give different ones."""
    chosen = [_SENTENCES[(number + 3 * step) % len(_SENTENCES)] for step in range(sentences)]
    return f"Paragraph {number} begins here, as all things do. {' '.join(chosen)}"


def prose(first: int, paragraphs: int = 3) -> str:
    """Paragraphs with a blank line between them."""
    return "\n\n".join(paragraph(number) for number in range(first, first + paragraphs))
