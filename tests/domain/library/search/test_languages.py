"""Words are searched by their stems in the language of the book, however they are typed."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.parsers.text.parser import read_plain
from domain.book import BookText, Chapter, Page
from domain.library.search.languages import LANGUAGES, book_language, language_code, language_name
from storage.book_files.format import find_analyzer
from tests.domain.library.indexed import reading_of

FILLING = {
    "ca": "Aquell dia no va passar res i tothom se'n va anar a dormir.",
    "cs": "Ten den se nic nestalo a všichni šli spát.",
    "da": "Den dag skete der ikke noget, og alle gik i seng.",
    "de": "An diesem Tag geschah nichts, und alle gingen zu Bett.",
    "el": "Εκείνη τη μέρα δεν έγινε τίποτα και όλοι πήγαν για ύπνο.",
    "en": "On that day nothing happened, and all of them went to bed.",
    "es": "Aquel día no pasó nada y todos se fueron a la cama.",
    "fi": "Sinä päivänä ei tapahtunut mitään, ja kaikki menivät nukkumaan.",
    "fr": "Ce jour-là il ne se passa rien et tout le monde alla se coucher.",
    "hu": "Azon a napon nem történt semmi, és mindenki lefeküdt aludni.",
    "it": "Quel giorno non accadde nulla e tutti andarono a letto.",
    "nl": "Op die dag gebeurde er niets en iedereen ging naar bed.",
    "no": "Den dagen skjedde det ikke noe, og alle gikk til sengs etter hvert, jeg også.",
    "pl": "Tego dnia nic się nie stało i wszyscy poszli już spać.",
    "pt": "Naquele dia não aconteceu nada e todos foram para a cama.",
    "ro": "În ziua aceea nu s-a întâmplat nimic și toți s-au dus la culcare.",
    "ru": "В тот день ничего не случилось, и все они пошли спать.",
    "sv": "Den dagen hände ingenting och alla gick och lade sig.",
    "tr": "O gün hiçbir şey olmadı ve herkes yatmak için odasına gitti.",
}

FORMS = [
    ("de", "Die Königinnen schlossen die Häuser.", "Königinnen"),
    ("de", "Die Königin stand am Haus.", "Häusern"),
    ("de", "Er ging über die Brücke in die Straße.", "Bruecke"),
    ("de", "Er ging über die Bruecke in die Strasse.", "Brücken"),
    ("de", "Er ging über die Brücke in die Straße.", "Strassen"),
    ("de", "Er ging über die Brücke in die Straße.", "brucke"),
    ("de", "Die Königin stand am Haus.", "Königinnen"),
    ("de", "Sie fragte nach dem dunklen Weg.", "fragen"),
    ("it", "Il postino aprì la chiave e la lettera.", "chiavi"),
    ("pt", "Ele cantou uma canção no jardim.", "canções"),
    ("nl", "Hij luisterde naar het paard bij de oude brief.", "luisteren"),
    ("nl", "Hij luisterde naar het paard bij de oude brief.", "paarden"),
    ("nl", "Hij luisterde naar het paard bij de oude brief.", "brieven"),
    ("sv", "Hon sökte nyckeln till slottet.", "nyckel"),
    ("fr", "La porte était fermée à clef.", "fermées"),
    ("fr", "La porte était fermée à clef.", "fermee"),
    ("fr", "Les chevaux couraient dans l'herbe.", "cheval"),
    ("fr", "Elle aimait l’ombre.", "ombres"),
    ("es", "Cantaba canciones a la luna.", "cantaban"),
    ("es", "Cantaba una canción a la luna.", "canciones"),
    ("es", "Cantaba una canción a la luna.", "CANCION"),
    ("it", "Le finestre erano aperte.", "finestra"),
    ("pt", "As janelas estavam abertas.", "janela"),
    ("nl", "De sleutel lag op tafel.", "sleutels"),
    ("ru", "Мальчик увидел звезду над лесом.", "звёзды"),
    ("sv", "Hästarna stod vid vägen.", "häst"),
    ("fi", "Talossa oli kaunis puutarha.", "taloissa"),
    ("hu", "A házakban égett a lámpa.", "házak"),
    ("tr", "Irmakta bir kayık vardı.", "ırmak"),
    ("el", "Τα παιδιά έτρεχαν στους δρόμους.", "δρόμος"),
]


def surrounded(line: str, language: str) -> str:
    return "\n\n".join([*[FILLING[language]] * 40, line, *[FILLING[language]] * 40])


@pytest.mark.parametrize(("language", "line", "query"), FORMS)
def test_another_form_of_a_word_is_found(language: str, line: str, query: str) -> None:
    text = surrounded(line, language)
    first = reading_of(text).search([query], 1)[0]
    assert first.start <= text.index(line) < first.end


@pytest.mark.parametrize("language", FILLING)
def test_the_language_is_told_from_the_text(language: str) -> None:
    assert book_language(a_book(FILLING[language])) == language


@pytest.mark.parametrize(
    "text", ["", "1 2 3", "那天什么也没有发生。", "Zxqv wvut.", "Чоловік не знав, що робити, але він пішов до неї."]
)
def test_other_languages_are_not_taken_for_one_with_a_stemmer(text: str) -> None:
    assert book_language(a_book(text)) == ""


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("ger", "de"),
        ("German", "de"),
        ("pt_BR", "pt"),
        ("nb-NO", "no"),
        ("", ""),
        ("zh", ""),
    ],
)
def test_languages_are_declared_in_many_ways(declared: str, code: str) -> None:
    assert language_code(declared) == code


def test_what_the_file_declares_counts_unless_the_text_is_plainly_another() -> None:
    assert book_language(a_book("Stockholm! Uppsala! Lund!", "sv")) == "sv"
    assert book_language(a_book(FILLING["de"] * 5, "en")) == "de"
    assert book_language(a_book("", "de")) == "de"


def test_a_preface_in_another_language_does_not_count() -> None:
    preface, story = FILLING["en"] * 30, FILLING["de"] * 40
    text = f"{preface}{story}"
    chapters = (Chapter(1, "Eins", len(preface), len(text)),)
    assert book_language(BookText(text, (Page(1, "1", 0, len(text)),), chapters, "txt")) == "de"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_an_analyzer(language: str) -> None:
    analyzer = find_analyzer(language)
    assert language_name(language)
    assert analyzer.stop_words
    assert all(analyzer.stem(word) for word in ("a", "Straße", "книга", "كتاب", "किताब", "x’s", "İ", "ё"))


@given(st.sampled_from([*LANGUAGES, ""]), st.text(min_size=1, max_size=12))
def test_no_word_is_too_odd_for_a_stemmer(language: str, word: str) -> None:
    analyzer = find_analyzer(language)
    assert isinstance(analyzer.stem(word), str)
    assert analyzer.spelling(analyzer.spelling(word)) == analyzer.spelling(word) or language == "de"


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("Auf der Zugbrücke lag der Zug von Schnee.", "Brücken"),
        ("Der Apfelbaum war ein alter Baum.", "Apfel"),
        ("Der Liebesbrief war kein langer Brief.", "Liebe"),
        ("Im Garten vor dem Schloss war Licht.", "Schlossgarten"),
        ("Im Garten vor dem Schloß war Licht.", "Schloßgärten"),
    ],
)
def test_parts_of_german_compounds_are_found(line: str, query: str) -> None:
    text = surrounded(line, "de")
    first = reading_of(text).search([query], 1)[0]
    assert first.start <= text.index(line) < first.end


def test_a_word_that_is_there_is_not_looked_for_in_compounds() -> None:
    text = f"{surrounded('Der Zug fuhr über die Brücke.', 'de')}\n\n{surrounded('Die Zugbrücke war oben.', 'de')}"
    passages = reading_of(text).search(["Brücke"], 10)
    assert not any("Zugbrücke" in passage.text for passage in passages)


@pytest.mark.parametrize(
    ("text", "term", "count"),
    [
        ("Die Brücke war alt, und die Bruecke war nicht neu. Brücken sind es nicht.", "Brücke", 2),
        ("Die Brücke war alt, und die Bruecke war nicht neu. Brücken sind es nicht.", "Bruecke", 2),
        ("Elle était fermée, et il était fermé, mais pas elles.", "fermee", 1),
    ],
)
def test_a_form_is_counted_however_it_is_spelt(text: str, term: str, count: int) -> None:
    assert reading_of(text * 3).count_mentions(term).total == 3 * count


def test_a_line_is_found_without_its_accents() -> None:
    text = surrounded("La porte fermée grinçait près de l’église.", "fr")
    [hit] = reading_of(text).find_phrase("la porte fermee grincait pres de l'eglise", 1)
    assert hit.exact


READ = ("fermer", "Brücke", "Zug", "war", "der", "und", "cantar", "la", "Baum", "nicht")
UNREAD = ("fermée", "Zugbrücke", "Bruecke", "Apfelbaum", "cantó", "Baumes", "fermees")


@example("es", ["fermer"], ["fermees"], "fermee")
@given(
    st.sampled_from(["de", "fr", "es"]),
    st.lists(st.sampled_from(READ), min_size=1, max_size=30),
    st.lists(st.sampled_from(UNREAD), max_size=10),
    st.sampled_from(READ + UNREAD + ("fermee", "brucke", "canto", "Apfel")),
)
def test_what_is_found_does_not_depend_on_what_is_unread(
    language: str, read: list[str], unread: list[str], query: str
) -> None:
    head = " ".join(read) + ".\n\n"
    alone, more = (a_book(head + " ".join(rest) + ".", language) for rest in (["Ende"], unread))
    found = [reading_of(book, len(head), language) for book in (alone, more)]
    assert found[0].search([query], 5) == found[1].search([query], 5)
    assert found[0].count_mentions(query) == found[1].count_mentions(query)
    assert found[0].find_phrase(query, 5) == found[1].find_phrase(query, 5)


def test_a_reading_is_not_cut_by_words_that_are_unread() -> None:
    """ "わがはい" stands in the part that is read, and a longer word that begins with it only behind that part."""
    read = "吾輩は猫である。\n"
    readings = (("わがはい", "吾輩"), ("わがはいは", "吾輩派"))
    book = replace(read_plain(read + "吾輩派は帰った。"), readings=readings)
    assert reading_of(book, len(read)).search(["わがはいは"], 1)


def a_book(text: str, language: str = "") -> BookText:
    return BookText(text, (Page(1, "1", 0, len(text)),), (), "txt", language=language)


def test_japanese_words_are_found_by_their_reading() -> None:
    sentences = [
        "吾輩は猫である。",
        "書生というものを見た。",
        "だんだん暗くなっただけだ。",
        "何も起らない一日であった。",
    ]
    readings = (("わがはい", "吾輩"), ("しょせい", "書生"))
    reading = reading_of(replace(read_plain("\n".join(sentences)), readings=readings))
    found = reading.search(["しょせいをみた"], 1)
    assert "書生" in found[0].text
    assert "吾輩" in reading.search(["わがはいは誰か"], 1)[0].text
    assert "だんだん" in reading.search(["だんだん"], 1)[0].text
