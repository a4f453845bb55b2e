import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import Passage, Sentence
from domain.citations.keys import KEY_GROUP, KEY_IN_GROUP, key_of, render

RABBIT = Sentence(100, 121, "The rabbit\nwas white.")
WATCH = Sentence(122, 145, "It took out a watch.")
PASSAGE = Passage(1, 100, 145, "12", "12", "Down the Hole", (RABBIT, WATCH))


def test_every_sentence_stands_behind_its_key_on_one_line() -> None:
    expected = f"[{key_of(RABBIT)}] The rabbit was white. [{key_of(WATCH)}] It took out a watch."
    assert render([PASSAGE]).splitlines() == ["(Down the Hole · passage-100-145)", expected]
    assert render([PASSAGE, PASSAGE]).count(expected) == 2
    assert render([]) == ""


def test_a_key_depends_on_the_place_and_on_nothing_else() -> None:
    assert key_of(RABBIT) == key_of(Sentence(100, 121, "told otherwise"))
    places = [Sentence(start, start + length, "") for start in range(300) for length in (5, 6, 7)]
    assert len({key_of(sentence) for sentence in places}) == len(places)


def test_keys_are_found_however_a_model_groups_them() -> None:
    a, b = key_of(RABBIT), key_of(WATCH)
    for group in (f"[{a}][{b}]", f"[{a}] [{b}]", f"[{a}, {b}]", f"[{a}; {b}]", f"[ {a} {b} ]", f"\n[{a},{b}]"):
        found = KEY_GROUP.search(f"It was white {group}.")
        assert found is not None
        assert KEY_IN_GROUP.findall(found[0]) == [a, b]
        assert KEY_GROUP.sub("", f"It was white {group}.") == "It was white."


def test_a_mistyped_key_is_still_known_for_one() -> None:
    assert KEY_GROUP.sub("", f"It was white [{key_of(RABBIT)[:-1]}].") == "It was white."


@pytest.mark.parametrize(
    "typed",
    [
        "({})",
        "(source: {})",
        "(see [{}])",
        "([{}])",
        "[source: {}]",
        "[{}, line 4]",
        "[{}†source]",
        "[[{}]]",
        "【{}】",
        "`{}`",
        "{}",
        "[{}",
        "[^{}]",
    ],
)
def test_keys_are_found_without_their_brackets_and_in_others(typed: str) -> None:
    text = f"It was white {typed.format(key_of(RABBIT))}. So."
    assert [KEY_IN_GROUP.findall(found[0]) for found in KEY_GROUP.finditer(text)] == [[key_of(RABBIT)]]
    assert KEY_GROUP.sub("", text) == "It was white. So."


@pytest.mark.parametrize(
    "typed",
    [
        "[s-]",
        "[s-0a1b2c3x]",
        "[S-0A1B2C3]",
        "[s‑0a1b2c3]",
        "[s-0123456789abcdef]",
        "(The Light · passage-1-22)",
        "passage-1-22",
        "(2. Supper at the Lamb · passage-189/271)",
        "[Ann · the whole book is open · 2026-11-24]",
    ],
)
def test_what_looks_like_a_key_is_none_of_the_answers_words(typed: str) -> None:
    assert KEY_GROUP.sub("", f"It was white {typed}.") == "It was white."


@given(st.text().filter(lambda text: "s-" not in text))
def test_text_without_keys_is_left_alone(text: str) -> None:
    assert KEY_GROUP.search(text) is None
