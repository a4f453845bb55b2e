"""The words of many sentences at once are those of each by itself."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.library.search.words import with_hyphens, words_of, words_of_each

APOSTROPHES = st.lists(
    st.sampled_from(["'", "’", "s", "t", "ll", "RE", "x", "_", "é", " ", "rock", "\n"]), max_size=12
).map("".join)
LETTERS = st.text(
    st.sampled_from(string.ascii_letters + string.punctuation + " \n\0\x1f\u00a0éßЖא“”’—…½²_"), max_size=40
)
ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(st.lists(APOSTROPHES | LETTERS | ANYTHING, max_size=6))
@example(["rock'd's", "x's's's", "'tis don't'", "don", "'t", "a'sb _'s O’Neill’s"])
@example(["What is\0in here?", "And here?"])
@example(["half a \ud83d character"])
@example(["कि 灯 e\u0301 l’homme", "plain"])
def test_they_are_the_same(sentences: list[str]) -> None:
    assert list(words_of_each(sentences)) == [words_of(sentence) for sentence in sentences]


def test_no_sentences_have_none() -> None:
    assert list(words_of_each([])) == []


@pytest.mark.parametrize("count", [49, 50, 51, 5_000])
def test_however_many_signs_there_are(count: int) -> None:
    signs = [chr(code) for code in range(0x2190, 0x2190 + count * 3) if not chr(code).isalnum()][:count]
    sentence = " Hobb ".join(signs)
    assert list(words_of_each([sentence, "lamp"])) == [words_of(sentence), ["lamp"]]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("He took the Pain-killer.", "Who took the Pain-killer?"),
        ("Painkiller or pain-killer, he took it.", "Who took the painkiller?"),
        ("The pain, killer of all.", "Who took the painkiller?"),
    ],
)
def test_a_word_gets_the_hyphen_that_a_text_always_gives_it(told: str, shown: str) -> None:
    assert with_hyphens("Who took the painkiller?", told) == shown
