"""No entity can be declared in what we parse, however the declaration is brought in."""

import pytest

from bot.parsers.xml_parts import parse_xml, text_of

SUBSET = "[<!ENTITY told 'TOLD'>]"


def test_a_document_type_is_taken_away_with_all_that_it_declares() -> None:
    with pytest.raises(ValueError, match="undefined entity"):
        parse_xml(f"<!DOCTYPE r {SUBSET}><r>&told;</r>".encode())


@pytest.mark.parametrize(
    "document",
    [
        f"<!DOC<!DOCTYPE x>TYPE r {SUBSET}><r>&told;</r>",
        f"<!DOCTYPE x><!DOC<!DOCTYPE x>TYPE r {SUBSET}><r>&told;</r>",
        f"&LT;!DOCTYPE r {SUBSET.replace('<', '&LT;').replace('>', '&GT;')}&GT;<r>&told;</r>",
        f"<!DOCTYPE r SYSTEM 'a>b' {SUBSET}><r>&told;</r>",
        "<!DOCTYPE r [<!ENTITY x ']>'><!ENTITY told 'TOLD'>]><r>&told;</r>",
    ],
)
def test_none_comes_back_by_hiding(document: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_xml(document.encode())


def test_the_names_that_html_gives_to_characters_are_characters() -> None:
    root = parse_xml(b"<r>caf&eacute;&nbsp;&AMP;&LT;b&GT; &amp;amp;</r>")
    assert text_of(root) == "café &<b> &amp;"
