"""Numbers in words have a value in the languages in which books print them."""

import pytest

from domain.library.numerals import number_value


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        *(("fifty", 50), ("Fifty-ninth", 59), ("twentyone", 21), ("einundzwanzigsten", 21), ("achtundfünfzigstes", 58)),
        *(("vijftig", 50), ("negenenvijftig", 59), ("tweeëntwintig", 22), ("Drieëndertig", 33), ("cinquenta", 50)),
        *(("femtio", 50), ("femtionio", 59), ("halvtreds", 50), ("nioghalvtreds", 59), ("femti", 50), ("femtini", 59)),
        *(("ventisei", 26), ("vingt et unième", 21), ("двадцать первая", 21), ("廿", 20), ("卅八", 38), ("卌二", 42)),
    ],
)
def test_a_number_in_words_has_its_value(printed: str, value: int) -> None:
    assert number_value(printed) == value


@pytest.mark.parametrize("word", ["to", "ni", "sex", "en", "firs", "sexton", "fiftyish", "thirtysomething"])
def test_a_word_that_is_a_number_only_within_others_is_none(word: str) -> None:
    assert number_value(word) is None
