"""Chapters are found as the book prints them, in the part that is named."""

import pytest

from domain.book import Chapter
from domain.errors import BookError
from domain.library.addressing import (
    end_of_chapter,
    find_chapter,
    is_counted,
    is_matter,
    last_chapter,
    with_descendants,
)
from domain.library.numerals import number_value


def book(*lines: tuple[str, str, int]) -> tuple[Chapter, ...]:
    """Chapters by title, printed number and level, ten characters each."""
    return tuple(
        Chapter(number, title, 10 * number, 10 * number + 10, level, printed)
        for number, (title, printed, level) in enumerate(lines, start=1)
    )


PLAIN = book(
    ("Prologue", "", 1), ("Chapter I. Dusk", "I", 1), ("Chapter II. Dawn", "II", 1), ("Chapter V. Noon", "V", 1)
)
PARTED = book(
    ("Book One: 1805", "One", 1),
    ("Chapter I", "I", 2),
    ("Chapter II", "II", 2),
    ("Book Two: 1806", "Two", 1),
    ("Chapter I", "I", 2),
    ("Chapter II", "II", 2),
    ("Chapter III", "III", 2),
)
LETTERS = book(("Letter 1", "1", 1), ("Letter 2", "2", 1), ("Chapter 1", "1", 1), ("Chapter 2", "2", 1))
GERMAN = book(("Erstes Kapitel", "Erstes", 1), ("Zweites Kapitel", "Zweites", 1))


NOVELS = book(
    ("The Ferry", "", 1), ("Chapter I", "I", 2), ("Chapter II", "II", 2),
    ("The Mill", "", 1), ("Chapter I", "I", 2), ("Chapter II", "II", 2),
    ("The Mill Again", "", 1), ("Chapter I", "I", 2), ("Chapter II", "II", 2),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("The Mill", 3), ("chapter 2 of The Mill", 5), ("The Mill, chapter II", 5), ("the mill again 2", 8),
        ("part 2 chapter 1", 4), ("part 2", 3), ("third part, chapter 2", 8), ("The Ferry chapter 1", 1),
    ],
)  # fmt: skip
def test_a_part_without_a_number_is_called_by_its_title_or_its_place(name: str, at: int) -> None:
    assert find_chapter(NOVELS, name) is NOVELS[at]


SERIALS = {
    "volumes": book(*((f"Volume {n} Chapter {c}: The Ford", str(c), 1) for n in (1, 2) for c in (1, 2, 3))),
    "parts": book(*((f"Chapter {c}: The Ford (Part {n})", str(c), 1) for c in (1, 2) for n in (1, 2, 3))),
}


@pytest.mark.parametrize(
    ("serial", "name", "at"),
    [
        ("volumes", "volume 2 chapter 1", 3), ("volumes", "vol. 1, ch. 3", 2), ("volumes", "chapter 2 of volume 2", 4),
        ("volumes", "part 2 chapter 3", 5), ("volumes", "volume two, chapter two", 4),
        ("parts", "chapter 1 part 2", 1), ("parts", "part 3 of chapter 2", 5), ("parts", "chapter 2, part one", 3),
    ],
)  # fmt: skip
def test_a_chapter_whose_title_names_its_volume_or_part_is_found_by_both(serial: str, name: str, at: int) -> None:
    assert find_chapter(SERIALS[serial], name) is SERIALS[serial][at]


@pytest.mark.parametrize("name", ["volume 4 chapter 1", "chapter 3 part 4", "volume 1 chapter 4"])
@pytest.mark.parametrize("serial", SERIALS)
def test_a_volume_or_part_that_no_title_names_has_no_chapters(serial: str, name: str) -> None:
    assert find_chapter(SERIALS[serial], name) is None


NESTED = book(
    ("Volume I", "I", 1), ("Book I", "I", 2), ("Chapter I", "I", 3), ("Book II", "II", 2), ("Chapter I", "I", 3),
    ("Volume II", "II", 1), ("Book I", "I", 2), ("Chapter I", "I", 3), ("Book II", "II", 2), ("Chapter I", "I", 3),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("volume 2 book 1", 6), ("book 1 of volume 2", 6), ("book 2 in volume 1", 3), ("volume 2 book 2 chapter 1", 9),
        ("chapter 1 of book 2 of volume 1", 4),
    ],
)  # fmt: skip
def test_an_address_begins_with_its_outermost_part_or_its_innermost(name: str, at: int) -> None:
    assert find_chapter(NESTED, name) is NESTED[at]


@pytest.mark.parametrize("name", ["chapter 9 of The Mill", "chapter of The Mill", "The Mill and more", "part 4"])
def test_what_no_titled_part_holds_is_not_there(name: str) -> None:
    assert find_chapter(NOVELS, name) is None


@pytest.mark.parametrize("name", ["5", "V", "chapter 5", "Chapter V", "chapter five", "kapitel 5", "noon", "#4"])
def test_a_number_is_the_one_that_is_printed(name: str) -> None:
    assert find_chapter(PLAIN, name) is PLAIN[3]


@pytest.mark.parametrize("name", ["page 30", "p. 30", "Seite 30", "Seiten 30", "S. 30", "página 30", "страница 30"])
def test_a_page_is_no_chapter(name: str) -> None:
    numbered = book(*((f"Chapter {number}", str(number), 1) for number in range(1, 31)))
    assert find_chapter(numbered, name) is None


def test_what_is_not_printed_is_not_there() -> None:
    assert find_chapter(PLAIN, "4") is None
    assert find_chapter(PLAIN, "prologue") is PLAIN[0]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("book 2 chapter 2", 6),
        ("Book Two, Chapter II", 6),
        ("chapter 2 of book one", 3),
        ("second book, first chapter", 5),
        ("chapter 3", 7),
        ("book 2", 4),
        ("Book Two", 4),
    ],
)
def test_the_part_is_named_where_numbers_begin_again(name: str, number: int) -> None:
    found = find_chapter(PARTED, name)
    assert found is not None
    assert found.number == number


@pytest.mark.parametrize("name", ["2", "chapter 2", "II"])
def test_the_part_is_asked_for_where_it_is_not_named(name: str) -> None:
    with pytest.raises(BookError, match="Name the part too"):
        find_chapter(PARTED, name)


def test_the_last_chapter_stands_in_front_of_the_back_matter() -> None:
    chapters = book(
        ("Part 1", "1", 1), ("Chapter 1", "1", 2), ("Part 2", "2", 1), ("Chapter 2", "2", 2), ("Epilogue", "", 1),
        ("Acknowledgements", "", 1), ("About the Author", "", 1),
    )  # fmt: skip
    assert [last_chapter(chapters, word) for word in ("chapter", "Kapitel", "part", "story")] == [
        chapters[3], chapters[3], chapters[2], chapters[4],
    ]  # fmt: skip
    tales = book(("The Story of Ann", "", 1), ("The Ford", "", 1))
    assert last_chapter(tales, "story") is tales[1]


def test_a_part_ends_with_its_last_chapter() -> None:
    assert end_of_chapter(PARTED, "book one") == PARTED[2].end
    assert [each.number for each in with_descendants(PARTED, PARTED[3])] == [4, 5, 6, 7]


TALES = book(
    ("Preface", "", 1), ("A Book of Tales", "", 1), ("The Ferry", "", 2), ("I", "I", 3), ("The Mill", "", 2),
    ("I", "I", 3),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at"),
    [("first story", 2), ("story 2", 4), ("second tale", 4), ("zweite Geschichte", 4), ("2. Märchen", 4)],
)
def test_stories_are_counted_without_what_is_none(name: str, at: int) -> None:
    assert find_chapter(TALES, name) is TALES[at]
    assert find_chapter(TALES, "third story") is None
    assert find_chapter(book(("Story One", "One", 1), ("Story Two", "Two", 1)), "story 2") is not None


def test_letters_and_chapters_of_one_number_are_told_apart() -> None:
    assert find_chapter(LETTERS, "2") is LETTERS[3]
    assert find_chapter(LETTERS, "letter 2") is LETTERS[1]


@pytest.mark.parametrize("name", ["2", "zweites kapitel", "Kapitel 2", "chapter two"])
def test_numbers_in_words_are_numbers(name: str) -> None:
    assert find_chapter(GERMAN, name) is GERMAN[1]


def test_chapters_known_by_their_places() -> None:
    assert is_counted(GERMAN)
    assert not is_counted(PLAIN)
    assert is_counted(book(("The Golden Bird", "", 1), ("Hans in Luck", "", 1)))


VOLUMES = book(
    ("Volume I", "I", 1), ("Chapter I", "I", 2), ("Volume II", "II", 1), ("Chapter I", "I", 2), ("Epilogue", "", 1),
    ("Chapter I", "I", 2),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("part 2 chapter 1", 4),
        ("second part, chapter I", 4),
        ("part II", 3),
        ("epilogue chapter 1", 6),
        ("epilogue", 5),
    ],
)
def test_a_part_may_be_called_otherwise_than_the_book_calls_it(name: str, number: int) -> None:
    found = find_chapter(VOLUMES, name)
    assert found is not None
    assert found.number == number


def test_a_misprinted_number_is_the_one_between_its_neighbours() -> None:
    chapters = book(*((f"{number} Kapitel", number, 1) for number in ("Dreißigstes", "Einunddreißgstes", "32.")))
    assert find_chapter(chapters, "Kapitel 31") is chapters[1]


def test_an_act_that_has_no_scenes_is_found_by_its_name() -> None:
    play = book(("Characters", "", 1), ("Act I", "I", 1), ("Act II", "II", 1))
    assert find_chapter(play, "act 2") is play[2]
    assert find_chapter(play, "volume 2") is None
    assert find_chapter(play, "Akt 2") is play[2], "in whatever language somebody asks"


def test_what_has_neither_acts_nor_volumes_has_no_first_one() -> None:
    scenes = book(("Night", "", 1), ("Before the Gate", "", 1))
    assert find_chapter(scenes, "chapter 2") is find_chapter(scenes, "part 2") is scenes[1]
    assert find_chapter(scenes, "Akt 1") is find_chapter(scenes, "volume 1") is None


def test_an_epilogue_is_no_second_part() -> None:
    books = book(("Book One", "ONE", 1), ("Chapter I", "I", 2), ("Book Two", "TWO", 1), ("Chapter I", "I", 2),
                 ("Second Epilogue", "SECOND", 1), ("Chapter I", "I", 2))  # fmt: skip
    assert find_chapter(books, "part 2") is books[2]


@pytest.mark.parametrize("printed", ["א ב ג ד ה ו", "الأول الثاني الثالث الرابع الخامس السادس", "Α Β Γ Δ Ε ΣΤ"])
def test_numbers_in_letters_of_another_script_count_on(printed: str) -> None:
    chapters = book(("Part", "", 1), *((f"Word {number}", number, 2) for number in printed.split()))
    assert find_chapter(chapters, "5") is chapters[5]
    assert find_chapter(chapters, printed.split()[4]) is chapters[5]


def test_sections_with_numbers_of_two_levels_are_no_chapters() -> None:
    chapters = book(("1. One", "1", 1), ("1.1. A", "1.1", 2), ("1.2. B", "1.2", 2), ("2. Two", "2", 1))
    assert find_chapter(chapters, "2") is chapters[3]


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("dix", 10), ("DIX", 10), ("XIX", 19), ("dix-sept", 17), ("décimo primeiro", 11), ("decimo terzo", 13),
        ("primus", 1), ("elfte", 11), ("tolvte", 12), ("twintigste", 20), ("dwudziesta pierwsza", 21), ("třetí", 3),
        ("двадцять перша", 21), ("İKİNCİ", 2), ("tizenegyedik", 11), ("toinen", 2), ("ΠΡΩΤΟΣ", 1), ("δέκατο τρίτο", 13),
        ("първа", 1), ("sedmo", 7), ("بیست و یکم", 21), ("שלישית", 3), ("الأول", 1), ("الحادي عشر", 11),
        ("الثالث والعشرون", 23), ("पाँचवाँ", 5), ("п'ятий", 5), ("дев’ята", 9),
    ],
)  # fmt: skip
def test_numbers_in_words_have_their_value(printed: str, value: int) -> None:
    assert number_value(printed) == value


@pytest.mark.parametrize("first", ["1er", "1re", "Ier", "IER", "Ire", "Iᵉʳ", "1st", "1º", "1.ª", "1-я", "1ste", "1ο"])
def test_ordinal_numbers_in_figures_have_their_value(first: str) -> None:
    assert number_value(first) == 1
    assert [number_value(each) for each in ("IIe", "2ème", "3rd", "XIXe", "21st", "VIE", "DE", "4e10")] == [
        2, 2, 3, 19, 21, None, None, None
    ]  # fmt: skip


def test_what_is_story_is_told_from_what_is_not() -> None:
    assert all(map(is_matter, ("CONTENTS.", "Danksagung", "About the Author", "Preface to the Second Edition")))
    assert all(map(is_matter, ("Excerpt from Tide", "Sneak Peek: Tide", "Leseprobe aus »Ebbe«")))
    assert all(map(is_matter, ("Epigraph", "Dramatis Personæ", "Characters", "Zueignung", "Appendix A. The Maps")))
    assert all(map(is_matter, ("A Conversation with Ida Orr", "Über die Übersetzerin", "À propos de l’auteur")))
    assert all(map(is_matter, ("Sobre la autora", "Acerca del autor", "Agradecimentos", "Ringraziamenti", "L’autrice")))
    assert all(map(is_matter, ("Dankwoord", "Om författaren", "Podziękowania", "O autorce", "Об авторе", "Подяка")))
    assert all(
        map(is_matter, ("Köszönetnyilvánítás", "Yazar Hakkında", "訳者あとがき", "作者简介", "작가의 말", "תודות"))
    )
    assert not any(
        map(is_matter, ("Sobre héroes y tumbas", "Over de brug", "Tack och farväl", "O autobusie", "Índices"))
    )
    assert not any(map(is_matter, ("The Note", "Prologue", "Indexed", "A Preface", "Einleitungen ins Leben")))
    assert not any(map(is_matter, ("Notes from the Harbour", "Notebook", "Covered Bridge", "The Index")))


@pytest.mark.parametrize(
    ("part", "chapter", "first", "second"),
    [
        ("Theil", "Capitel", "erster", "zweites"), ("Część", "Rozdział", "pierwsza", "drugi"),
        ("Частина", "Розділ", "перша", "другий"), ("Kısım", "Bölüm", "birinci", "ikinci"),
        ("Μέρος", "Κεφάλαιο", "πρώτο", "δεύτερο"), ("חלק", "פרק", "ראשון", "שני"),
        ("القسم", "الفصل", "الأول", "الثاني"),
    ],
)  # fmt: skip
def test_chapters_are_found_by_the_words_of_their_language(part: str, chapter: str, first: str, second: str) -> None:
    chapters = book((f"{part} {first}", first, 1), (f"{chapter} {first}", first, 2), (f"{chapter} {second}", second, 2))
    assert find_chapter(chapters, f"{chapter.upper()} 2") is chapters[2]
    assert find_chapter(chapters, f"{second} {chapter}") is chapters[2]
    assert find_chapter(chapters, f"{part} 1") is chapters[0]
