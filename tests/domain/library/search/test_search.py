"""What a search returns: whole sentences, none twice, best first, the same whatever stands beyond the bound."""

from functools import cache
from importlib.resources import files
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import BookText, Page
from domain.library.search.query import MAX_RESULTS, PASSAGE_WORDS
from domain.library.search.words import words_of
from domain.library.view import BlockingView
from tests.domain.library.indexed import reading_of

NOVEL = (files("bot.sample") / "return-on-the-ebb.md").read_text(encoding="utf-8")
BEGINNING = NOVEL[:15_000]
QUERIES = st.text(max_size=60) | st.lists(st.sampled_from(words_of(NOVEL)), max_size=12).map(" ".join)


@cache
def novel() -> BlockingView:
    return reading_of(NOVEL)


@given(st.lists(QUERIES, max_size=5), st.integers(-2, 80))
def test_passages_are_runs_of_the_book_best_first_and_none_overlaps(queries: list[str], top_k: int) -> None:
    passages = novel().search(queries, top_k)
    assert len(passages) <= max(0, min(top_k, MAX_RESULTS))
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    assert all(one.end <= other.start or other.end <= one.start for one, other in combinations(passages, 2))
    for passage in passages:
        assert [NOVEL[sentence.start : sentence.end] for sentence in passage.sentences] == [
            sentence.text for sentence in passage.sentences
        ]
        assert len(passage.sentences) == 1 or len(words_of(passage.text)) <= PASSAGE_WORDS


@given(QUERIES)
def test_a_query_searched_twice_is_searched_once(query: str) -> None:
    assert novel().search([query, query], 5) == novel().search([query], 5)


def test_a_second_phrasing_finds_what_the_first_has_no_words_for() -> None:
    text = "The heron stood on the gate. " + "Rain fell on the marsh. " * 100 + "Ines rowed home by lamplight."
    both = reading_of(text).search(["heron", "lamplight"], 2)
    assert {"heron" in passage.text for passage in both} == {True, False}
    assert any("lamplight" in passage.text for passage in both)


def test_of_two_places_the_one_both_phrasings_mean_goes_first() -> None:
    filling = "Rain fell on the marsh all day long and into the night. " * 200
    text = f"A heron was sold. {filling}A heron stood on the sluice. {filling}The sluice was shut."
    assert "stood on the sluice" in reading_of(text).search(["heron", "sluice"], 1)[0].text


@pytest.mark.parametrize("query", ["pocketbook", "pocket-book", "pocket book"])
def test_a_word_with_a_hyphen_is_found_as_one_as_two_and_as_printed(query: str) -> None:
    text = f"A book. {'Rain fell on the marsh. ' * 200}He lost his pocket-book. {'It rained. ' * 200}A pocket."
    assert "pocket-book" in reading_of(text).search([query], 1)[0].text


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("colour", "color"),
        ("grey", "gray"),
        ("travelled", "traveled"),
        ("travelling", "travel"),
        ("theatres", "theater"),
        ("realised", "realize"),
        ("waggons", "wagon"),
        ("jail", "gaol"),
        ("neighbor", "neighbours"),
        ("fifty", "50"),
        ("12", "twelve"),
        ("8", "8th"),
    ],
)
def test_a_word_is_found_as_it_is_spelt_elsewhere(printed: str, typed: str) -> None:
    text = f"{'Rain fell on the marsh. ' * 200}And then it was {printed}. {'It rained. ' * 200}"
    book = reading_of(text)
    assert printed in book.search([typed], 1)[0].text
    assert book.missing_words(typed) == {}
    assert book.count_mentions(printed).total == 1


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("می\u200cدرخشید", "می\u200cدرخشید"),
        ("می\u200cدرخشید", "می درخشید"),
        ("پرنده\u200cای", "پرنده"),
        ("پرنده\u200cها", "پرنده\u200cای"),
        ("क्\u200dया", "क्या"),
        ("क्षेत्र", "क्\u200cषेत्र"),
    ],
)
def test_a_word_is_found_however_its_letters_are_kept_apart(printed: str, typed: str) -> None:
    text = f"{'باران بر رودخانه. बारिश हुई. ' * 200}\n\n{printed}.\n\n{'باران بر رودخانه. बारिश हुई. ' * 200}"
    assert printed in reading_of(text).search([typed], 1)[0].text


def test_a_name_has_one_spelling() -> None:
    text = f"{'The sky was grey. ' * 20}{'It rained. ' * 200}Mr. Gray came. {'Gray wept. ' * 5}"
    assert "Gray" in reading_of(text).search(["Who is Gray?"], 1)[0].text
    assert "sky" in reading_of(text).search(["gray sky"], 1)[0].text


@pytest.mark.parametrize("typed", ["filled", "flour", "rize"])
def test_words_that_only_look_alike_are_not_taken_for_each_other(typed: str) -> None:
    assert reading_of("The four filed past, and none would rise.").search([typed], 1) == []


@pytest.mark.parametrize("query", ['"', "NEAR(lamp", "lamp AND", "^lamp*", "title:lamp", "lamp OR", "-lamp", "(lamp)"])
def test_nothing_in_a_query_is_a_command(query: str) -> None:
    plain = novel().search([" ".join(words_of(query))], 3)
    assert novel().search([query], 3) == plain


@given(st.integers(0, len(BEGINNING) - 1), QUERIES)
def test_what_has_not_been_read_changes_nothing(read_to: int, query: str) -> None:
    other = BEGINNING[:read_to] + "The lamp and the keeper drowned. " * 3
    bounded = reading_of(without_chapters(BEGINNING), read_to).search([query], 5)
    assert all(passage.end <= read_to for passage in bounded)
    assert [(p.start, p.end, p.score) for p in bounded] == [
        (p.start, p.end, p.score) for p in reading_of(without_chapters(other), read_to).search([query], 5)
    ]


def without_chapters(text: str) -> BookText:
    """Where chapters are found may depend on the rest of the text."""
    return BookText(text, (Page(1, "1", 0, len(text)),), (), "txt")
