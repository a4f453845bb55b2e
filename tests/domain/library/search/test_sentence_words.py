"""Words: the same for many sentences at once as for each by itself, and the same in all forms."""

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.library.search.words import name_pattern, stem_of, with_hyphens, words_of, words_of_each

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


@pytest.mark.parametrize(
    "forms",
    [
        "family families",
        "supply supplies supplied supplying",
        "tie ties tied tying",
        "prize prizes",
        "box boxes boxed",
        "kiss kisses kissing",
        "add adds added adding",
        "puff puffed puffing",
        "hop hops hopped hopping",
        "hope hopes hoped hoping",
        "wound wounds",
        "thought thoughts think",
        "wicked wickedly wickedness",
        "useful usefulness",
        "witness witnesses witnessed",
        "hurry hurried hurriedly",
        "go goes went",
        "child children child's",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem_of(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("words", ["hoped hopped", "pan pane", "prince princess", "add ad", "series serious"])
def test_words_that_only_look_alike_have_stems_of_their_own(words: str) -> None:
    assert len({stem_of(word) for word in words.split()}) == len(words.split())


@pytest.mark.parametrize(
    ("name", "found"),
    [("Mr Crake", ["Mr. Crake", "Mr Crake"]), ("Ann", ["Ann", "Ann"]), ("Ann C.", ["Ann C."]), ("O'Hara", [])],
)
def test_a_name_is_found_in_full_and_in_no_longer_word(name: str, found: list[str]) -> None:
    text = "Mr. Crake met Ann, not Joann or Annie. AMr Crake was Mr Crake, xAnn C.; Ann C. wrote O'Haras."
    assert re.findall(name_pattern(name), text) == found
