"""A name does not begin in a heading and end in the text below it."""

import pytest

from domain.library.names import name_phrases


@pytest.mark.parametrize("gap", ["\n\n", "\n \n", "\r\n\r\n"])
def test_a_heading_is_no_part_of_the_name_that_follows(gap: str) -> None:
    assert [" ".join(phrase) for phrase in name_phrases(f"I. The Arrival{gap}Marta Quill came.")][-1] == "Marta Quill"


def test_a_name_may_run_on_over_a_line() -> None:
    assert ["Marta", "Quill"] in list(name_phrases("Then came Marta\nQuill."))
