"""Page numbers that a model types are true, or they go, and the sentence stays a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.citations.page_numbers import TypedPages


def pages(*, estimated: bool = False) -> TypedPages:
    made = TypedPages(estimated=estimated)
    made.learn(["12", "13", "xii"])
    return made


@pytest.mark.parametrize(
    "text",
    [
        "Ann stays (p. 12) and leaves (pp. 12-13).",
        "On page 12 she stays; pages 12 and 13 say so, and so do p. 13 and pp. 12–13.",
        "It stands in the preface, on page xii.",
        "Auf Seite 12 bleibt sie (S. 13).",
        "En la página 13, a pagina 12.",
        "She turned the page. In 1912 I liked that page I read.",
        "Her page boy paid 42 pounds.",
    ],
)
def test_what_was_given_or_is_no_page_is_left_alone(text: str) -> None:
    assert pages().check(text) == text


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann leaves (p. 99).", "Ann leaves."),
        ("Ann leaves [see pages 40–42].", "Ann leaves."),
        ("Ann leaves (pp. 12-99) today.", "Ann leaves today."),
        ("(Chapter 3, p. 42) Ann leaves.", "(Chapter 3) Ann leaves."),
        ("On page 42, Ann leaves.", "In the book, Ann leaves."),
        ("The key she finds on page 42 is brass.", "The key she finds in the book is brass."),
        ("It is on page 42.", "It is in the book."),
        ("Page 42 says so.", "A page says so."),
        ("See p. 42.", "See a page."),
        ("Pages 40–42 and pp. 3, 7 and 9 say so.", "Some pages and some pages say so."),
        ("Auf Seite 42 geht sie (S. 42).", "Auf Seite … geht sie."),
        ("Das steht auf S. 42.", "Das steht auf S. …."),
        ("En la página 42 se va.", "En la página … se va."),
    ],
)
def test_what_was_not_given_goes_and_the_sentence_stays(typed: str, shown: str) -> None:
    assert pages().check(typed) == shown


@pytest.mark.parametrize(
    "typed",
    [
        *("(p.\u200b 99)", "(p. 9\u20609)", "(\u202ap.\u00ad 99\u202c)", "(p.  99)", "(p.&nbsp;99)", "(p. &#57;9)"),
        *("(ｐ. ９９)", "(p․ 99)", "(p. ⑨)", "(p. Ⅸ)", "(P. IX)", "(PAGE 99)", "(p 99)", "(pp99)", "(p\\. 99)"),
        *("(p. **99**)", "(**p.** 99)", "(p. `99`)", "(p. 12**9**)", "(p. <b>99</b>)", "(||p. 99||)", "(p. 12`9`)"),
        *("(p. 12, 99)", "(p. 12; 99)", "(p. 12 / p. 99)", "(p. 12 or 99)", "(pp. 12, 13, 99)", "(p. 99 ff.)"),
    ],
)
def test_no_disguise_makes_a_page_true(typed: str) -> None:
    assert pages().check(f"Ann leaves {typed}.") == "Ann leaves."


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("**Page 42** says so.", "**A page** says so."),
        ("Page **42** says so.", "A page says so."),
        ("It is on page *42*, *I think*.", "It is in the book, *I think*."),
        ("It is **on page 12** and `p. 13`, not (p.&#32;12).", "It is **on page 12** and `p. 13`, not (p.&#32;12)."),
        ("Ann stays (p. 12, 13; **12**), p. 12².", "Ann stays (p. 12, 13; **12**), p. 12²."),
    ],
)
def test_emphasis_stays_whole(typed: str, shown: str) -> None:
    assert pages().check(typed) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann stays (p. 12).", "Ann stays (about p. 12)."),
        ("Ann stays (about p. 12), about page 13.", "Ann stays (about p. 12), about page 13."),
        ("On page 12 she stays.", "Around page 12 she stays."),
        ("Page 12 says so.", "About page 12 says so."),
        ("Auf Seite 12.", "Auf ca. Seite 12."),
        ("On page 42 she leaves.", "In the book she leaves."),
    ],
)
def test_where_pages_are_estimated_it_says_so(typed: str, shown: str) -> None:
    assert pages(estimated=True).check(typed) == shown


def test_pages_that_a_text_names_may_be_repeated() -> None:
    made = TypedPages()
    made.learn_from("What happens on page 42? [Ann · has read to page 7 · 2026-01-01]")
    made.learn_listed('{"title": "The End (p. 9)", "page": "xi"}')
    text = "On page 42 and page 7; chapter 3 begins on page xi."
    assert made.check(text) == text
    assert made.check("On page 2026.") == "In the book."
    assert made.check("The End (p. 9)") == "The End"


@given(st.text(alphabet="page 12.S()[]On,-–\nxi", max_size=60))
def test_no_number_that_was_not_given_is_left_behind_a_word_for_page(text: str) -> None:
    checked = TypedPages().check(text)
    assert not any(
        f"({word}{number})" in checked for word in ("p. ", "pp. ", "S. ", "page ") for number in ("1", "2", "12")
    )
    assert checked == text or len(checked) <= len(text) + text.count("p") * 10 + text.count("P") * 10
