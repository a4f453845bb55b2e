"""Sentences: all of the text but the space between them, wherever one begins to look, and however much at once."""

from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.library.search import sentences
from domain.library.search.sentences import MAX_SENTENCE, questions_in, split_sentences

WORDS = ["Mr.", "I", "Hobb", "lamp", "no.", "etc.", "The", "he", "é.", "U.S.A.", "x" * 50, "word " * 30]
SIGNS = [" ", "  ", " " * 50, "\n", "\n\n", ".\n\n", ".", "...", "." * 90, "!", "?", "。", "”", "“"]
TEXTS = st.lists(st.sampled_from(WORDS + SIGNS), max_size=150).map("".join)


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(TEXTS)
def test_sentences_contain_all_of_the_text_except_white_space(text: str) -> None:
    spans = split_sentences(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert not any(text[end:start].strip() for end, start in zip(edges[::2], edges[1::2], strict=True))
    assert all(0 < end - start <= MAX_SENTENCE for start, end in spans)
    assert not any(text[start].isspace() or text[end - 1].isspace() for start, end in spans)


@given(TEXTS)
def test_splitting_from_any_sentence_on_finds_the_same_sentences(text: str) -> None:
    spans = split_sentences(text)
    for number, (start, _) in enumerate(spans[:20]):
        assert split_sentences(text, start) == spans[number:]


@given(TEXTS, st.sampled_from([100, 400, 1_500]))
@example(f"{'word ' * 300}. He said. {'. ' * 400}", 400)
def test_sentences_are_the_same_however_much_is_looked_at_at_once(text: str, characters: int) -> None:
    whole = split_sentences(text)
    with patch.object(sentences, "_AT_ONCE", characters):
        assert split_sentences(text) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He came. She went!", ["He came.", "She went!"]),
        ("“Who is it?” he asked. Nobody.", ["“Who is it?” he asked.", "Nobody."]),
        ("Mr. Hobb and Mrs. Hobb. They left.", ["Mr. Hobb and Mrs. Hobb.", "They left."]),
        ("It was no. 7, they said. No. He said so.", ["It was no. 7, they said.", "No.", "He said so."]),
        ("By J. R. Hobb. It was I. He knew.", ["By J. R. Hobb.", "It was I.", "He knew."]),
        ("Kranz und »E. v. I.« Dann kam er.", ["Kranz und »E. v. I.« Dann kam er."]),
        (
            "Er ritt zu Herrn v. I. (Keithstraße) und zu Frau v. Crampas. Es regnete.",
            ["Er ritt zu Herrn v. I. (Keithstraße) und zu Frau v. Crampas.", "Es regnete."],
        ),
        ("In Roe v. Wade. It was you and I. He left.", ["In Roe v. Wade.", "It was you and I.", "He left."]),
        ("A heading\n\nA paragraph", ["A heading", "A paragraph"]),
        ("灯が暗い。誰も知らない。", ["灯が暗い。", "誰も知らない。"]),
        ("The end . . . of it", ["The end . . . of it"]),
        (" \n ", []),
    ],
)
def test_where_they_end(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who is Hobb, and where does he live?", ["Who is Hobb?", "where does he live?"]),
        ("who is hobb and where does he live", ["who is hobb?", "where does he live?"]),
        ("list the characters and tell me who Hobb is", ["list the characters?", "tell me who Hobb is?"]),
        ("wer ist hobb und wo wohnt er", ["wer ist hobb?", "wo wohnt er?"]),
        ("who is Hobb and Vane", ["who is Hobb and Vane"]),
        ("where and when was he born", ["where and when was he born"]),
        ("I know who he is and what he did", ["I know who he is and what he did"]),
        ("Who says “he came and what then”?", ["Who says “he came and what then”?"]),
    ],
)
def test_several_questions_in_one_sentence_are_told_apart(text: str, parts: list[str]) -> None:
    assert list(questions_in(text)) == parts
