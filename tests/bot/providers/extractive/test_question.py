"""Questions are taken apart: what they want, which words carry them, whom they name."""

import pytest

from bot.providers.extractive.language import Language, language_of, stem, stems_of
from bot.providers.extractive.question import QuestionKind, analyse, as_printed, asked_in
from bot.providers.extractive.transcript import as_meant
from bot.providers.extractive.wording import answer_queries, in_known_words, other_phrasings
from domain.library.search.words import length_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who is Tom Liddiard?", QuestionKind.WHO_IS),
        ("Who’s the keeper?", QuestionKind.WHO_IS),
        ("Can you tell me who Tom is please", QuestionKind.WHO_IS),
        ("who is van helsing", QuestionKind.WHO_IS),
        ("who is always laughing", QuestionKind.WHO),
        ("Who put out the lamp?", QuestionKind.WHO),
        ("Which ship did Tom sail on?", QuestionKind.NAMED),
        ("Who is Walton writing to?", QuestionKind.WHO),
        ("To whom was the parcel addressed?", QuestionKind.WHO),
        ("When did she cross?", QuestionKind.WHEN),
        ("On what date does she first cross to Scarrow?", QuestionKind.WHEN),
        ("Where was the cap found?", QuestionKind.WHERE),
        ("How many posts are there?", QuestionKind.HOW_MANY),
        ("In how many books has she found it?", QuestionKind.HOW_MANY),
        ("How long is the causeway?", QuestionKind.HOW_LONG),
        ("How old is Hilda?", QuestionKind.HOW_LONG),
        ("Why did the sons leave?", QuestionKind.WHY),
        ("For what reason was he sent away?", QuestionKind.WHY),
        ("What happened after the storm?", QuestionKind.HAPPENED),
        ("How did the king feel about his sons?", QuestionKind.FELT),
        ("What did Tom say at the inquiry?", QuestionKind.SAID),
        ("How did he open the lock?", QuestionKind.HOW),
        ("What is in the crate?", QuestionKind.WHAT),
        ("Who is Hobb's younger brother?", QuestionKind.WHO),
        ("What is the name of Hobb's brother?", QuestionKind.WHO),
        ("Who is Hobb's patron?", QuestionKind.WHO),
        ("Wie heißt Effis Tochter?", QuestionKind.WHO),
        ("Wie heißt Effi?", QuestionKind.NAMED),
        ("How rich is Hobb?", QuestionKind.HOW_MUCH),
        ("What did the horse cost?", QuestionKind.HOW_MUCH),
        ("What amount of money did they find?", QuestionKind.HOW_MUCH),
        ("What is the reason for the fight?", QuestionKind.WHY),
        ("What height is the tower?", QuestionKind.HOW_LONG),
        ("Whereabouts is the mill?", QuestionKind.WHERE),
        ("Did he cry when she left?", QuestionKind.OTHER),
        ("Wer ist Hans?", QuestionKind.WHO_IS),
        ("woran ist Hans gestorben?", QuestionKind.HAPPENED),
        ("Wer hat den Schlüssel gefunden?", QuestionKind.WHO),
        ("Warum ging er fort?", QuestionKind.WHY),
        ("Wie viele Söhne hatte der König?", QuestionKind.HOW_MANY),
        ("Où habite la reine ?", QuestionKind.WHERE),
        ("Pourquoi le roi est-il triste ?", QuestionKind.WHY),
        ("¿Cuántos hijos tenía el rey?", QuestionKind.HOW_MANY),
        ("¿Dónde vive la reina?", QuestionKind.WHERE),
        ("国王有几个儿子？", QuestionKind.HOW_MANY),
        ("誰が灯台を守りましたか", QuestionKind.WHO),
    ],
)
def test_what_kind_of_answer_is_wanted(text: str, kind: QuestionKind) -> None:
    assert analyse(text).kind is kind


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Tell me about the lamp, please", "lamp"),
        ("What does the book say about the bishop?", "bishop"),
        ("Why did Mr. Bole count the volumes?", "Bole count volumes"),
        ("What happened in the story after the storm?", "storm"),
        ("Why?", "Why?"),
        ("Give me a quote about death", "death"),
        ("are there any good lines on the sea?", "sea"),
        ("show me all quotes by the keeper", "keeper"),
        ("Zitate über die Freiheit", "Freiheit"),
        ("frases sobre la libertad", "libertad"),
        ("Welche Farbe hatte das Kleid der Königin?", "Farbe Kleid Königin"),
        ("Qu’est-ce que l’homme donne à la reine ?", "homme donne reine"),
    ],
)
def test_the_words_that_carry_it(text: str, query: str) -> None:
    assert analyse(text).query == query


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What is Hobb like?", "Hobb"),
        ("what role does Hobb play in the story", "Hobb"),
        ("Describe Hobb's personality, please.", "Hobb"),
        ("What was Dr. Bole's backstory?", "Bole"),
        ("Why is Mr. Bole so important?", "Bole"),
        ("What kind of man is Bole?", "Bole"),
        ("give me a character analysis of Ann Hobb", "Ann Hobb"),
        ("What do we know about Hobb so far?", "Hobb"),
        ("Beschreibe Innstetten", "Innstetten"),
        ("What is Mr. Hobb's job?", "Hobb"),
        ("What does Ann Hobb do for a living?", "Ann Hobb"),
        ("What is Hobb's profession?", "Hobb"),
        ("Was ist Gieshübler von Beruf?", "Gieshübler"),
        ("Was macht Crampas beruflich?", "Crampas"),
        ("Welche Rolle spielt Effi im Roman?", "Effi"),
        ("Décris-moi Emma", "Emma"),
        ("¿Cómo es Sancho?", "Sancho"),
    ],
)
def test_what_somebody_is_like_is_also_who_they_are(text: str, name: str) -> None:
    question = analyse(text)
    assert (question.kind, " ".join(question.name_words), question.query) == (QuestionKind.WHO_IS, name, name)


@pytest.mark.parametrize("text", ["What is the sea like?", "Describe the lamp", "What does Hobb look like?"])
def test_what_a_thing_or_a_face_is_like_is_not(text: str) -> None:
    assert analyse(text).kind is QuestionKind.LOOKS


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("What's the relationship between Ann and Hobb?", "Ann Hobb"),
        ("How is Ann related to Hobb?", "Ann Hobb"),
        ("What does the lamp symbolise?", "lamp"),
        ("What is the significance of the crucifix?", "crucifix"),
        ("What role does the old beacon play?", "old beacon"),
        ("Was ist die Beziehung zwischen Ann und Hobb?", "zwischen Ann Hobb"),
    ],
)
def test_words_about_a_story_are_not_searched_for_in_it(text: str, query: str) -> None:
    assert analyse(text).query == query


def test_a_particle_belongs_to_its_verb() -> None:
    """Wherever it stands; without one, a verb is itself alone."""
    apart, together = analyse("Who put the old lamp out?"), analyse("Who put out the old lamp?")
    assert apart.terms == together.terms
    assert [term.particle for term in apart.terms] == ["out", "", ""]
    assert [term.word for term in analyse("Who gave the boat away?").terms] == ["gave", "boat"]
    assert not any(term.particle for term in analyse("Where did he put the lamp?").terms)


@pytest.mark.parametrize(
    ("text", "told", "other"),
    [
        ("wann wacht hans auf", "Hans wachte am Morgen langsam auf.", "Hans wachte bei ihr."),
        ("wann wacht hans auf", "Er war aufgewacht.", "Er ging auf und ab."),
        ("Warum zieht Hans aus?", "Hans zog endlich aus.", "Hans zog den Wagen."),
        ("wo singt hans", "Hans hat gesungen.", "Hans sah die Sänfte."),
        ("wo trage ich das ein", "Das wird dort eingetragen.", "Das trug er."),
        ("wer hat das Fenster geputzt", "Sie putzten es.", "Der Pudel fiel ab."),
        ("Was ist in der nacht?", "In dieser Nacht kam er.", "Er ging nach Hause."),
    ],
)
def test_a_german_verb_is_the_same_in_all_its_forms(text: str, told: str, other: str) -> None:
    term = max(analyse(text).terms, key=lambda term: term.strength_in(stems_of(told, Language.GERMAN)))
    assert term.strength_in(stems_of(told, Language.GERMAN)) == 1.0
    assert term.strength_in(stems_of(other, Language.GERMAN)) < 0.5


def test_a_german_verb_is_looked_for_in_its_forms() -> None:
    assert "singen singt sang gesungen Hans" in other_phrasings(analyse("wo singt Hans"))
    assert any("ausgezogen" in phrasing for phrasing in other_phrasings(analyse("Warum zieht Hans aus?")))
    assert "erwachen erwacht Hans" in other_phrasings(analyse("wann wacht Hans auf"))


def test_names_are_told_by_their_capitals() -> None:
    assert analyse("Where did Kit Varley drive Hilda’s crate?").name_words == ["Kit", "Varley", "Hilda’s"]


ANN = "“Come,” said Ann Marsh. So Ann went to the rose garden, and the rose was red. Then Ann and Will slept."
RUSSELL = (
    "They liked Lady Russell, and Lady Russell liked the Halls. No hal was named but Mr. Hall’s hal, said Russell."
)
EFFI = (
    "»Ja«, sagte Effi, und dann lachte Effi wieder. Da sah Annie auf, und Annie weinte. Als die Mutter kam, "
    "lief Annie fort. Die Tochter der Mutter blieb, und der Hund bellte. Eine Tochter ist ein Glück."
)


@pytest.mark.parametrize(
    ("typed", "told", "printed"),
    [
        ("who is ann's brother will", ANN, "who is Ann's brother will"),
        ("where did ann marsh find the rose", ANN, "where did Ann Marsh find the rose"),
        ("Is ann there, and am I?", ANN, "Is Ann there, and am I?"),
        ("Who is Tom, and who is ann?", ANN, "Who is Tom, and who is ann?"),
        ("wie heißt effis tochter", EFFI, "wie heißt Effis tochter"),
        ("who is anns brother", ANN, "who is Ann's brother"),
        ("where are the roses", ANN, "where are the roses"),
        ("WHERE DID ANN MARSH FIND THE ROSE?", ANN, "where did Ann Marsh find the rose?"),
        ("who is an marsh", ANN, "who is an Marsh"),
        ("who is lady russel", RUSSELL, "who is lady Russell"),
        ("what is the hal like", RUSSELL, "what is the hal like"),
        ("who is ann", "", "who is ann"),
    ],
)
def test_names_typed_small_or_large_are_those_of_the_book(typed: str, told: str, printed: str) -> None:
    assert as_printed(typed, told) == printed


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who is Hobb?", Language.ENGLISH),
        ("Wer ist der Mann im Turm?", Language.GERMAN),
        ("Où est la clef de la tour ?", Language.FRENCH),
        ("¿Dónde está la llave del rey?", Language.SPANISH),
        ("Hobb", Language.ENGLISH),
    ],
)
def test_languages_are_told_by_their_little_words(text: str, language: Language) -> None:
    assert language_of(text) is language


def test_forms_of_a_word_are_the_same_word() -> None:
    assert stem("gefunden", Language.GERMAN) == stem("gefundenen", Language.GERMAN)
    assert stem("reyes", Language.SPANISH) == stem("rey", Language.SPANISH)
    assert stems_of("L’homme aimait", Language.FRENCH) == (
        stem("homme", Language.FRENCH),
        stem("aimer", Language.FRENCH),
    )


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("J. Harker?", Language.ENGLISH),
        ("en un lugar de la mancha", Language.SPANISH),
        ("wann heiratet effi", Language.GERMAN),
        ("wer is der chef", Language.GERMAN),
        ("danke!", Language.GERMAN),
        ("bonjour", Language.FRENCH),
        ("quien es Huck", Language.SPANISH),
        ("Personenliste", Language.GERMAN),
        ("índice", Language.SPANISH),
        ("¿Es bueno?", Language.SPANISH),
        ("tu es sûr ?", Language.FRENCH),
        ("hä?", Language.GERMAN),
        ("Who was in the Walküre?", Language.ENGLISH),
    ],
)
def test_short_questions_and_remarks_tell_their_language(text: str, language: Language) -> None:
    assert language_of(text) is language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("wer sagt the children of the night", Language.GERMAN),
        ("was trinkt alice?", Language.GERMAN),
        ("kennst du Hobb?", Language.GERMAN),
        ("¿conoces a Hobb?", Language.SPANISH),
        ("que significa what music they make", Language.SPANISH),
        ("qui dit it is not down in any map", Language.FRENCH),
        ("El Dorado, what is that?", Language.ENGLISH),
        ("what does “wer ist der Mann” mean", Language.ENGLISH),
    ],
)
def test_the_first_words_of_a_question_tell_its_language(text: str, language: Language) -> None:
    assert asked_in(text) is language


def test_words_of_two_languages_are_in_that_of_the_talk() -> None:
    assert asked_in("was will hans", Language.GERMAN) is Language.GERMAN
    assert asked_in("was will there", Language.ENGLISH) is Language.ENGLISH


@pytest.mark.parametrize(
    ("text", "names"),
    [("Who is Will?", {"will"}), ("May", {"may"}), ("Will Tom come?", {"tom"}), ("may he see Tom", {"tom"})],
)
def test_a_little_word_with_a_capital_is_a_name(text: str, names: set[str]) -> None:
    assert analyse(text).names == names


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("<@1> @everyone whats the dog called https://example.com/x", "what's the dog called"),
        ("who is <https://example.com/Zeppelin> Varley", "who is   Varley"),
        ("who is [Varley](https://example.com/zeppelin)", "who is [Varley"),
        ("</progress:1> <t:1618953630:R> who :smile: is at 10:30:15", "who   is at 10:30:15"),
        ("who is it ```py\nprint(1)\n``` here", "who is it   here"),
        ("```who is it", ""),
        ("WHY DID HE RUN AWAY", "why did he run away"),
        ("VARLEY?", "VARLEY?"),
        ("who is R. M. Renfield", "who is R. M. Renfield"),
        ("wher does it say that", "where does it say that"),
        ("Whats the dog called", "What's the dog called"),
        ("Wheres Varley", "Where's Varley"),
        ("whos the guy with Guy Varley", "who's the man with Guy Varley"),
        ("who is it" + "?!" * 900, "who is it?!?!?!?! ?!?!?!?!"),
        ("who says it" + "?" * 900 + "\n> I did.", "who says it???????? ?????\n> I did."),
    ],
)
def test_a_message_is_read_as_it_is_meant(typed: str, meant: str) -> None:
    assert as_meant(typed) == meant


@pytest.mark.parametrize("mark", ["!", "? ", "👍", "\u0301", "!\n", "> "])
def test_many_marks_are_no_matter_to_any_wording(mark: str) -> None:
    text = as_meant(mark * 1_000 + "ok" + mark * 1_000)
    assert length_of(text) <= 1
    assert len(text) <= 50


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("How rich is Hobb?", '"thousand a year" income'),
        ("How much money does Hobb have?", '"thousand a year" income'),
        ("Where does Hobb live?", "live house home estate village town lodgings"),
        ("Where was the cap found?", ""),
    ],
)
def test_an_answer_is_also_looked_for_by_words_that_it_may_have(text: str, query: str) -> None:
    first, with_names = (*answer_queries(analyse(text)), "", "")[:2]
    assert (first, with_names) == (query, f"Hobb {query}" if query else "")


def test_a_word_that_the_book_lacks_gives_way_to_those_it_may_have_where_little_else_is_asked() -> None:
    missing: dict[str, list[str]] = {"siblings": []}
    assert in_known_words(analyse("Does Tom have siblings?"), missing) == "Tom brother sister"
    assert not in_known_words(analyse("Does Tom have siblings?"), {})
    assert not in_known_words(analyse("Where did Tom hide from his siblings?"), missing)


@pytest.mark.parametrize("text", ["What country is Hobb from?", "Which year did Hobb sail?", "What town is Hobb in?"])
def test_the_measure_or_the_sort_of_place_that_is_wanted_weighs_little(text: str) -> None:
    assert next(term.word for term in analyse(text).terms if term.weight == 1.0) == "Hobb"


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("hello, who is Lucy?", "who is Lucy?"),
        ("Thanks! how does it end?", "how does it end?"),
        ("Hola, ¿quién es Sancho?", "¿quién es Sancho?"),
        ("ok and Lucy?", "and Lucy?"),
        ("yo who tf is Lucy lol", "who is Lucy"),
        ("what the hell happened to Lucy?", "what happened to Lucy?"),
        ("idk who Arthur is", "who Arthur is"),
        ("why tho", "why"),
        ("Who is Fr. Brown?", "Who is Fr. Brown?"),
        ("lol", "lol"),
        ("Hm, interesting. So why did he leave?", "So why did he leave?"),
        ("Gut, und wer ist Hans?", "und wer ist Hans?"),
        ("Well done", "Well done"),
        ("Hi, how are you?", "Hi, how are you?"),
        ("Hello, said the cat", "Hello, said the cat"),
    ],
)
def test_a_greeting_before_a_question_is_no_part_of_it(message: str, meant: str) -> None:
    assert as_meant(message) == meant


def test_what_is_there_instead_is_no_word_of_the_answer() -> None:
    assert analyse("what do they use instead of lamps").query == "use lamps"
