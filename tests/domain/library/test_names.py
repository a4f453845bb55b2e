"""Names, told from other words by how a book uses them."""

import pytest

from domain.library.names import NameRecognizer, acronyms_among, printed_name

FILLER = "Der Garten war groß, und das Haus stand am Weg, und die Frau ging in die Küche. " * 500


def names_in_book(text: str) -> frozenset[str]:
    recognizer = NameRecognizer()
    recognizer.add(text)
    return recognizer.names()


def test_in_german_a_name_may_have_an_article_and_a_noun_none() -> None:
    told = "Effi lachte. Da rief Effi nach Hulda. Effi kam, und Hulda ging mit Effi. Hulda hatte gute Laune. " * 5
    names = names_in_book(f"{FILLER}{told}Da kam die Effi, und die Hulda kam auch.")
    assert {"effi", "hulda"} <= names
    assert "laune" not in names
    assert "garten" not in names


def test_in_german_who_stands_beside_titles_has_a_name() -> None:
    told = "Da kam Herr Samsa. Dann sprach er mit Frau Samsa, und Herr Samsa ging. Es war die Schuld von Herrn Samsa. "
    assert "samsa" in names_in_book(FILLER + told * 2)


def test_in_german_the_name_with_an_s_is_no_other_name() -> None:
    told = "Effi lachte, und Effi ging. Das war Effis Haus. Effis Mutter stand vor Effis Haus, und sie sah Effi. " * 3
    assert not {"effis"} & names_in_book(FILLER + told)


def test_a_misprint_in_small_letters_takes_no_name_away() -> None:
    book = "Да, Раскольников молчал, и Раскольников ушел. " * 100
    assert "раскольников" in names_in_book(f"{book} Потом раскольников вернулся. Он увидел, что Заметов пришел.")
    assert "ушел" not in names_in_book(book)


def test_names_behind_a_shortened_word_are_names() -> None:
    told = "On vit arriver d’Artagnan, et l'on dit qu'Emma aimait d'Artagnan. Il dit : 'Entrez !' Elle entra."
    assert names_in_book(told) == {"artagnan", "emma"}


def test_an_initial_or_a_short_title_ends_no_sentence() -> None:
    told = "Then T. J. Eckleburg came with M. Charcellay to St. Clare, and it was cold."
    assert {"eckleburg", "charcellay", "clare", "st clare"} <= names_in_book(told)
    assert not names_in_book("They lived with Hobb’s son. Then Hobb’s Court was sold.") & {"s court"}
    assert not names_in_book("He hasn’t. Oh, it is I. Then they won’t. Oh, yes.") & {"oh", "then"}


@pytest.mark.parametrize(
    ("text", "is_acronym"),
    [
        ("We start QEMU, and QEMU runs.", True),
        ("We run `qemu-img` and qemu-system in QEMU, see /usr/bin/qemu or qemu.org.", True),
        ("Then he cried QEMU, and Qemu came. Qemu laughed.", False),
        ("A qemu is a bird. You know what a QEMU is: a qemu.", False),
        ("He told us QEMU IS A BIRD, and so it is.", False),
        ("it ends\nQEMU\n\nand begins", False),
        ("QEMU. I do not know. QEMU. But you do.", False),
        ("", False),
    ],
)
def test_an_acronym_is_a_word_that_sentences_have_in_capitals_and_seldom_otherwise(text: str, is_acronym: bool) -> None:
    assert acronyms_among({"QEMU", "API"}, text) == ({"QEMU"} if is_acronym else set())


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("Natasha", "Natásha"),
        ("anna pavlovna", "Anna Pávlovna"),
        ("Mr Jose", "Mr. José"),
        ("Hobb", "Hobb"),
    ],
)
def test_a_name_is_printed_with_the_accents_of_the_book(typed: str, printed: str) -> None:
    assert printed_name(typed, "Then Natásha’s aunt, Anna Pávlovna, and Mr. José came in.") == printed
