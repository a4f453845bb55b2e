import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import encodable
from domain.chat import WholeCharacters

HALVES = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=8)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Hobb", "Hobb"),
        ("Königin 🐇", "Königin 🐇"),
        ("a \ud83d\udc07", "a 🐇"),
        ("a \ud83d b", "a \ufffd b"),
        ("\udc07\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_side_by_side_are_a_character_and_a_lone_one_is_marked(text: str, whole: str) -> None:
    assert encodable(text) == whole


@given(st.lists(HALVES))
def test_however_a_text_is_cut_up_it_comes_out_the_same(pieces: list[str]) -> None:
    characters = WholeCharacters()
    given_out = [characters.feed(piece) for piece in pieces] + [characters.end()]
    assert "".join(given_out) == encodable("".join(pieces))
    assert all(text.encode() or not text for text in given_out)
