"""Which names of a book are persons', and who has none."""

import pytest

from domain.library.names import NameCollector
from domain.reading.portrait import people_among

TEXT = """Count Crake came to Harwich in May. "Wait," said Hobb. Then the Count asked Hobb for the key. He went on to
Harwich, where a Norseman sold him the Petrel, and the Petrel left Harwich. The Ferryman said to the Count that Mrs.
Hobb was in Harwich. "Your Grace, Mr. Hobb waits, and Marta, who has the key," said the Ferryman. Another Norseman,
a Norseman of Harwich, was on the Petrel. Hobb laughed. Marta wept. Your Grace knew Marta. The Captain laughed. That
was Captain Vane. Madam Ottilie, who was Ottilie Vane, wept. Silas Vane was her son. Silas laughed. "Come, my dear
Wendel," said Hobb. So Wendel."""


def names_in(text: str) -> list[str]:
    collector = NameCollector()
    collector.add(text)
    return collector.met()


def test_places_peoples_ships_and_addresses_are_no_persons() -> None:
    others = {"Harwich", "Norseman", "Petrel", "Grace"}
    assert others <= {*names_in(TEXT)}
    assert others.isdisjoint(people_among(TEXT))
    assert {"Ferryman", "Marta", "Hobb"} <= people_among(TEXT).keys()


def test_who_is_only_spoken_to_is_somebody() -> None:
    assert "Wendel" in people_among(TEXT)


def test_one_name_stands_for_all_of_the_same_person() -> None:
    people = people_among(TEXT)
    assert {"Count Crake", "Captain Vane"} <= people.keys()
    assert {"Count", "Captain", "Vane", "Silas Vane"}.isdisjoint(people)


def test_a_name_that_the_text_joins_is_that_of_one_person() -> None:
    people = people_among("Madam Ottilie wept. Mrs. Vane, who was Ottilie Vane, laughed. Mrs. Vane sat. " * 3)
    assert len({"Madam Ottilie", "Mrs. Vane"} & people.keys()) == 1


def test_a_married_couple_is_two() -> None:
    assert [*people_among("Mr. Hobb said no. Mrs. Hobb said yes. " * 3)] == ["Mr. Hobb", "Mrs. Hobb"]
    assert [*people_among("Herr Hobb said no. Frau Hobb said yes. " * 3)] == ["Frau Hobb", "Herr Hobb"]


def test_two_people_whose_names_meet_once_are_two() -> None:
    apart = "He asked Marta for it. He answered Silas. " * 40
    assert {"Marta", "Silas"} <= people_among(f"{apart} With Marta Silas came.").keys()


def test_who_is_told_of_by_a_title_alone_is_counted_by_it() -> None:
    """The name that follows the title once is not how the book calls him."""
    text = "It was Count Crake. " + "The Count looked at Hobb. Then the Count asked Hobb. " * 10
    assert people_among(text)["Count Crake"] == "Count"


def test_a_title_that_the_name_only_sometimes_has_is_no_other_person() -> None:
    text = "He saw the Emperor. Then the Emperor said yes. He was the Emperor Karel. " * 3 + "Karel laughed."
    assert len({"Emperor", "Karel", "Emperor Karel"} & people_among(text).keys()) == 1


def test_somebody_rare_beside_the_others_is_left_out() -> None:
    text = 'Then Marta laughed. "No," said Marta. ' * 100 + "Once Hobb laughed."
    assert [*people_among(text)] == ["Marta"]


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ('"No," said the curate. "Why?" the curate asked. ', "the curate"),
        ("„Nein“, sagte der Vater. „Nie“, rief der Vater. ", "der Vater"),
        ("« Non », dit le pharmacien. « Si », répondit le pharmacien. ", "le pharmacien"),
        ('"No," said the Queen. "Why?" the Queen asked. ', "the Queen"),
    ],
)
def test_who_speaks_without_a_name_is_called_what_they_are(text: str, who: str) -> None:
    assert people_among(text * 3) == {who: who.split()[1]}


@pytest.mark.parametrize("text", ['"No," said the other. ', '"No," said the old man. ', "He said the word. "])
def test_anybody_is_nobody(text: str) -> None:
    assert people_among(text * 5) == {}


def test_in_a_play_the_speakers_are_persons() -> None:
    text = "[He looks at Algernon.] Algernon. I said so. Lane. Yes, sir. Algernon. Did you hear Lane? " * 3
    assert [*people_among(text)] == ["Algernon", "Lane"]


@pytest.mark.parametrize("name", ["Natásha", "Gieshübler", "Thénardier", "O’Brien"])
def test_a_name_with_an_accent_is_one(name: str) -> None:
    text = f"Then {name} laughed. He saw {name}, and {name} was there. " * 5
    assert names_in(text) == [name]
    assert [*people_among(text)] == [name]


def test_a_name_whose_second_word_is_also_a_word_is_one_with_the_first() -> None:
    text = "Then Father Brown laughed. It was brown. He saw Father Brown, and Father Brown said no. " * 5
    assert [*people_among(text)] == ["Father Brown"]


def test_a_book_that_names_nobody_has_nobody() -> None:
    assert people_among("") == people_among("It rained all day, and nobody came. ") == {}


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("-- Нет, -- сказал Вронин. Он видел Вронина. Вронин вышел. ", ["Вронин"]),
        ("道士听说。行者道：“不去。”八戒笑道：“去。”那人道：“好。”", ["行者", "八戒"]),
        ("「いや」と迷亭君が云う。主人は黙る。「そう」と主人は答えた。", ["迷亭", "主人"]),
        ("Es regnet. WAGNER: Nein. MARTHE (allein): Ja! CHOR: Nie. BUCH II: Nichts. ", ["Wagner", "Marthe"]),
    ],
)
def test_people_of_books_in_other_scripts_and_forms_are_told_by_how_they_speak(text: str, who: list[str]) -> None:
    assert [*people_among(text * 5)] == who


def test_a_name_that_is_also_a_word_is_one_where_the_word_is_rare() -> None:
    text = "I asked Miles for it. Then Miles laughed. It was only with Miles, said Miles. " * 5 + "It was ten miles."
    assert [*people_among(text)] == ["Miles"]
    assert "Miles" not in people_among(text + "Ten miles. " * 20)


def test_a_word_with_an_article_is_no_title_of_the_word_that_follows_it() -> None:
    text = "Then Cosette laughed. " * 20 + "Ils vont dans la Rue Petit. La Rue est longue. Le Petit est le Petit. " * 6
    assert [*people_among(text)] == ["Cosette"]


def test_two_people_with_one_patronymic_are_two() -> None:
    text = "-- Да, -- сказал Петр Петрович. -- Нет, -- сказал Илья Петрович. "
    assert [*people_among(text * 3)] == ["Илья Петрович", "Петр Петрович"]


def test_a_god_who_is_called_upon_is_nobody() -> None:
    assert "Gott" not in people_among("„Gott, hilf“, sagte Effi. Da sah Effi, dass Gott, der alles sah, half. " * 10)


def test_who_others_are_with_and_whose_hand_is_told_of_is_somebody() -> None:
    text = "A letter came to Mina. He walked with Mina. He took Mina's hand. It was far from Harwich to the sea. " * 5
    assert [*people_among(text)] == ["Mina"]


def test_a_russian_name_is_one_in_all_its_cases() -> None:
    text = "-- Да, -- сказала Катерина Ивановна. -- Нет, -- заметила Катерины Ивановны. Вот Порфирий встал. "
    text += "-- Да, -- сказал Порфирий. -- Так, -- сказал Порфирия. "
    assert {*people_among(text * 3)} == {"Порфирий", "Катерина Ивановна"}


def test_what_always_goes_on_in_the_same_words_is_nobody() -> None:
    stamp = "It said “Return on the ebb”, and Hobb laughed. There was *Return on the ebb* again, and Hobb wept. "
    assert [*people_among(stamp * 3)] == ["Hobb"]


def test_an_initial_is_no_name() -> None:
    assert "Mr. D" not in people_among("Mr. D. Hobb laughed, and Mr. D. wept. Ann saw Mr. D. Hobb and laughed. " * 4)
