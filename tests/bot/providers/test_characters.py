"""A character that arrives in two pieces is one character."""

from hypothesis import given
from hypothesis import strategies as st

from bot.providers.streamed_text import WholeCharacters
from domain.book import encodable

HALVES = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=8)


@given(st.lists(HALVES))
def test_however_a_text_is_cut_up_it_comes_out_the_same(pieces: list[str]) -> None:
    characters = WholeCharacters()
    given_out = [characters.feed(piece) for piece in pieces] + [characters.end()]
    assert "".join(given_out) == encodable("".join(pieces))
    assert all(text.encode() or not text for text in given_out)
