"""A name does not begin in a heading and end in the text below it."""

import pytest

from domain.library.names import name_phrases


@pytest.mark.parametrize("gap", ["\n\n", "\n \n", "\r\n\r\n"])
def test_a_heading_is_no_part_of_the_name_that_follows(gap: str) -> None:
    assert [" ".join(phrase) for phrase in name_phrases(f"I. The Arrival{gap}Marta Quill came.")][-1] == "Marta Quill"


def test_a_name_may_run_on_over_a_line() -> None:
    assert ["Marta", "Quill"] in list(name_phrases("Then came Marta\nQuill."))


def test_a_title_has_its_full_stop_and_the_end_of_a_sentence_none() -> None:
    text = "Then Mr. Varley, Dr.\nSeward and Mrs Crake left St. Clare. Mr. is no name. Ann met Tom. Hobb came."
    found = [" ".join(phrase) for phrase in name_phrases(text)]
    assert found == ["Mr. Varley", "Dr. Seward", "Mrs Crake", "St. Clare", "Mr", "Ann", "Tom", "Hobb"]
