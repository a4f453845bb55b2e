"""Words a book does not have, and what it has that is spelt like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.library.indexed import reading_of

TEXT = "Old Helsing met Quincey by the tower. Must Quincey go? Nobody must. WAIT, said Helsing. Then Renfield came."


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("Helsing and the tower", {}),
        ("Helsng", {"Helsng": ["Helsing"]}),
        ("Quincy’s tower", {"Quincy": ["Quincey"]}),
        ("renfeld", {"renfeld": ["Renfield"]}),
        ("Qiuncey", {"Qiuncey": ["Quincey"]}),
        ("zeppelin", {"zeppelin": []}),
        ("Tower", {"Tower": []}),
        ("Musk", {"Musk": []}),
        ("Wart", {"Wart": []}),
        ("towar", {"towar": ["tower"]}),
        ("bye", {"bye": []}),
        ("Renk", {"Renk": []}),
        ("", {}),
    ],
)
def test_a_missing_word_is_told_with_the_names_it_may_be_meant_for(asked: str, missing: dict[str, list[str]]) -> None:
    assert reading_of(TEXT).missing_words(asked) == missing


def test_no_name_is_a_word_that_every_text_has() -> None:
    assert reading_of("Then Lucy asked the Count, What and What.").missing_words("Whta") == {"Whta": []}


@pytest.mark.parametrize(("asked", "meant"), [("Lusy", ["Lucy"]), ("Rose", []), ("Hope", []), ("risy", [])])
def test_a_short_name_is_meant_only_where_it_sounds_alike(asked: str, meant: list[str]) -> None:
    assert reading_of("In Rome he met Lucy. To rise was a hope Lucy had.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize(("asked", "meant"), [("Fin", ["Finn"]), ("Ahb", ["Ahab"]), ("Bob", []), ("fin", [])])
def test_a_name_of_three_letters_may_be_a_longer_one(asked: str, meant: list[str]) -> None:
    assert reading_of("There Ahab met Finn, and Rob sat by.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize("asked", ["willoby", "Willoby", "Wiloughby", "Willowby"])
def test_a_name_is_meant_that_is_spelt_as_it_is_heard(asked: str) -> None:
    told = "In May Willoughby came, and Willoughby sang. All liked Willoughby."
    assert reading_of(told).missing_words(asked) == {asked: ["Willoughby"]}


HARKER = "Jonathan Harker met Jane Bennet, and John sat by. Will Jane come? The Cheshire Cat saw a cat, and Mr. Drew."


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Jon Harker", {"Jon": ["Jonathan", "John"]}),
        ("jon harker", {"jon": ["Jonathan"]}),
        ("J. Harker", {"J": ["Jonathan"]}),
        ("Nathan Harker", {"Nathan": ["Jonathan"]}),
        ("Jain Bennet", {"Jain": ["Jane"]}),
        ("the Cheshire Catt", {"Catt": ["Cat"]}),
        ("Jon", {"Jon": ["John"]}),
        ("Jonathan Gandalf", {"Gandalf": []}),
        ("Mr. Dew", {"Dew": ["Drew"]}),
        ("Mr. Jonson", {"Jonson": []}),
    ],
)
def test_a_part_of_a_name_is_known_by_what_stands_beside_the_other(asked: str, meant: dict[str, list[str]]) -> None:
    assert reading_of(HARKER).missing_words(asked) == meant


def test_a_part_of_a_name_is_not_offered_in_the_capitals_of_a_heading() -> None:
    assert reading_of(f"JONATHAN HARKER\n\n{HARKER}").missing_words("Jon Harker") == {"Jon": ["Jonathan", "John"]}


def test_the_other_part_of_a_name_counts_only_where_it_has_been_read() -> None:
    assert reading_of(HARKER, read_to=len("Jonathan ")).missing_words("Jain Bennet") == {"Jain": [], "Bennet": []}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Ani", ["Annie"]),
        ("Jo", ["Joe"]),
        ("Rodolf", ["Rodolphe"]),
        ("Quinsy", ["Quincey"]),
        ("Liddia", ["Lydia"]),
        ("Omais", ["Homais"]),
        ("bochamp", ["Beauchamp"]),
        ("Расколников", ["Раскольников"]),
        ("Nemo", []),
        ("liddia", ["Lydia"]),
        ("Frodo", []),
    ],
)
def test_a_name_is_known_by_its_sound(asked: str, meant: list[str]) -> None:
    text = "There Annie and Joe met Rodolphe, Quincey, Lydia and Homais; Freda met Nina, Beauchamp and Раскольников."
    assert reading_of(text).missing_words(asked) == {asked: meant}


def test_a_title_is_no_name_and_a_word_that_opens_sentences_is_none() -> None:
    reading = reading_of("Mrs. Penn met Quincey Morris. Hurry, said Mrs. Penn; they hurry. Hurry on.")
    assert reading.missing_words("Moris and Harry Potter") == {"Moris": ["Morris"], "Harry": [], "Potter": []}


def test_a_name_behind_its_title_is_known_with_one_error_more() -> None:
    often = "Then Father Brown came in. " * 10
    assert reading_of(often).missing_words("Who is Father Braun?") == {"Braun": ["Brown"]}
    assert reading_of("Father Brown came.").missing_words("Who is Father Braun?") == {"Braun": []}
    assert reading_of(often).missing_words("Who is Braun?") == {"Braun": []}


def test_a_name_may_also_be_a_word() -> None:
    reading = reading_of("Then Bill came, and Bill paid the bill. It was a mill. Mills are loud. A mills.")
    assert reading.missing_words("Bil Mils") == {"Bil": ["Bill"], "Mils": []}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Vanhelsing", ["Helsing"]),
        ("Mockturtle", ["Turtle"]),
        ("Vangogh", []),
        ("vanhelsing", ["Helsing"]),
        ("mockturtles", []),
    ],
)
def test_a_name_may_be_typed_as_one_word(asked: str, meant: list[str]) -> None:
    assert reading_of("Here Van Helsing met the Mock Turtle.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("hosue", ["house"]),
        ("housr", ["house"]),
        ("hause", ["house"]),
        ("houses", []),
        ("rented", []),
        ("restde", ["rested"]),
    ],
)
def test_an_ordinary_word_is_another_only_by_a_slip(asked: str, meant: list[str]) -> None:
    assert reading_of("He rested in the house.").missing_words(asked).get(asked, []) == meant


def test_a_name_further_on_is_not_told() -> None:
    met = reading_of(TEXT, read_to=TEXT.index("Must"))
    assert met.missing_words("Renfeld") == {"Renfeld": []}
    assert met.missing_words("Renfield") == {"Renfield": []}
    assert met.missing_words("nobodi") == {"nobodi": []}


@given(st.text(max_size=60))
def test_whatever_is_asked_words_of_the_book_are_not_missing(asked: str) -> None:
    missing = reading_of(TEXT).missing_words(f"{asked} Helsing tower")
    assert not {"Helsing", "tower"} & missing.keys()
    assert all(spelt in TEXT for found in missing.values() for spelt in found)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("lizzie", ["Lizzy"]),
        ("lizie", ["Lizzy"]),
        ("lucie", ["Lucy"]),
        ("beckie", ["Becky"]),
        ("griffin", ["Gryphon"]),
        ("fedala", ["Fedallah"]),
        ("burg", ["Bourgh"]),
        ("harry", []),
        ("max", []),
    ],
)
def test_a_small_word_is_a_name_that_sounds_the_same(asked: str, meant: list[str]) -> None:
    text = "There Lizzy, Lucy and Becky met Fedallah, and the Gryphon met Lady de Bourgh, Mary and Mark."
    assert reading_of(text).missing_words(asked) == {asked: meant}


def test_letters_tell_more_than_the_sound() -> None:
    reading = reading_of("There Bingley and the Bingleys met Tanner and Thatcher.")
    assert reading.missing_words("bingly") == {"bingly": ["Bingley", "Bingleys"]}
    assert reading.missing_words("thacher")["thacher"][0] == "Thatcher"


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("father maple", {"maple": ["Mapple"]}),
        ("father mapel", {"mapel": ["Mapple", "maple"]}),
        ("the march hair", {"hair": ["Hare"]}),
        ("the maple", {}),
        ("red hair", {}),
        ("march wind", {"wind": []}),
    ],
)
def test_a_word_is_a_name_where_only_the_name_stands(asked: str, missing: dict[str, list[str]]) -> None:
    told = "There Father Mapple sat under a maple. Then Father Mapple saw the March Hare. It had red hair."
    text = f"{told} It was the March Hare."
    assert reading_of(text).missing_words(asked) == missing


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("indian joe", {"indian": ["Injun"]}),
        ("Indian Joe", {"Indian": ["Injun"]}),
        ("indian village", {"village": []}),
        ("young joe", {}),
        ("inner joe", {}),
    ],
)
def test_a_name_that_often_stands_beside_another_may_have_other_letters(
    asked: str, missing: dict[str, list[str]]
) -> None:
    text = f"{'There Injun Joe ran. ' * 10} The Indian slept in an inner room. He was young."
    assert reading_of(text).missing_words(asked) == missing
    assert not reading_of("There Injun Joe met an Indian.").missing_words("Indian Joe")


@pytest.mark.parametrize(("asked", "meant"), [("piano", ["pianoforte"]), ("plan", []), ("Piano", [])])
def test_a_word_may_be_short_for_a_longer_one(asked: str, meant: list[str]) -> None:
    assert reading_of("A planet shone on the pianoforte.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize(("asked", "missing"), [("painkiller", {}), ("Painkiller", {}), ("notable", {"notable": []})])
def test_a_word_with_a_hyphen_may_be_typed_without(asked: str, missing: dict[str, list[str]]) -> None:
    assert reading_of("Was he not able to take the Pain-killer? The pain killed him.").missing_words(asked) == missing
