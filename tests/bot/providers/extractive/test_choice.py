"""The sentences that answer are chosen: by the question's words, and by signs of the kind of answer it wants."""

import re

import pytest

from bot.providers.extractive.planning import Choices, with_context
from bot.providers.extractive.question import Question, QuestionKind, analyse, as_printed, of_scene
from bot.providers.extractive.quotation import LONG, Choice, Confidence, gather
from bot.providers.extractive.scoring import MOST_PIECES, MOST_WORDS, WEIGHTS, Evidence, choose, features
from bot.providers.extractive.transcript import Transcript
from domain.book import Passage, Sentence
from domain.reading.recap import role_given


def passage(text: str, start: int = 0, chapter: str = "The Island") -> Passage:
    found = [Sentence(start + m.start(), start + m.end(), m[0]) for m in re.finditer(r"\S[^.?!]*[.?!]?", text)]
    return Passage(1, start, start + len(text), "1", "1", chapter, tuple(found))


def chosen(question: str, *texts: str) -> Choice:
    asked = analyse(question)
    passages = [passage(text, start=number * 10_000) for number, text in enumerate(texts)]
    return choose(evidence(asked, passages))


def evidence(question: Question, passages: list[Passage]) -> Evidence:
    return Evidence(question, gather([passages], question.language))


def first(question: str, *texts: str) -> str:
    """The best sentence alone."""
    asked = analyse(question)
    passages = [passage(text, start=number * 10_000) for number, text in enumerate(texts)]
    return choose(evidence(asked, passages), most=1).candidates[0].text


ISLAND = (
    "Marta Quill came to the island on a Tuesday in March. The ferryman was called Hobb. "
    "Hobb would not take money from her. He had lived on the island for thirty years. "
    "The lamp stood in a tower behind the church. There were ninety steps to the lamp. "
    "Nobody lit the lamp, because the oil had been sold. Marta was glad when she saw the tower. "
    "“Leave the lamp alone,” said Hobb. Was the lamp his? "
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who is the ferryman?", "The ferryman was called Hobb."),
        ("When did Marta come to the island?", "Marta Quill came to the island on a Tuesday in March."),
        ("Where did the lamp stand?", "The lamp stood in a tower behind the church."),
        ("How many steps are there to the lamp?", "There were ninety steps to the lamp."),
        ("How long had Hobb lived on the island?", "He had lived on the island for thirty years."),
        ("Why did nobody light the lamp?", "Nobody lit the lamp, because the oil had been sold."),
        ("How did Marta feel when she saw the tower?", "Marta was glad when she saw the tower."),
        ("What did Hobb say about the lamp?", "“Leave the lamp alone,” said Hobb."),
    ],
)
def test_each_kind_of_question_finds_its_sentence(question: str, answer: str) -> None:
    assert first(question, ISLAND) == answer


def manual(*lines: str) -> Passage:
    """Headings and sentences, each in a line of its own."""
    text = "\n".join(lines)
    found = [Sentence(m.start(), m.end(), m[0]) for m in re.finditer(r"[^\n]+", text)]
    return Passage(1, 0, len(text), "1", "1", "Work aloft", tuple(found))


def test_in_a_manual_what_stands_below_a_heading_is_about_it() -> None:
    lines = (
        "3.1. Eye splices",
        "Tuck the strands three times at least.",
        "3.2. Knots",
        "A knot is weaker than a splice.",
    )
    asked = analyse("What is an eye splice?")
    assert [row["headed"] for row in features(evidence(asked, [manual(*lines)]))] == [0.0, 1.0, 0.0, 0.0]
    story = manual(*lines, "He said that she had told him so, and they asked her mother.")
    assert not any(row["headed"] for row in features(evidence(asked, [story])))


TOWN = (
    "The brothers of Marta stood at the door of the church. She was furious with them for a week and would not eat. "
    "An old solicitor read the will to them in the evening. They had a quarrel over the house in the square."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Does Marta have siblings?", "The brothers of Marta stood at the door of the church."),
        ("Was she mad at them?", "She was furious with them for a week and would not eat."),
        ("Who is the lawyer?", "An old solicitor read the will to them in the evening."),
        ("What do they argue about?", "They had a quarrel over the house in the square."),
    ],
)
def test_a_word_of_today_finds_what_older_books_call_it(question: str, answer: str) -> None:
    assert first(question, TOWN) == answer


def test_who_does_something_is_found_by_what_those_who_do_it_are_called() -> None:
    told = "Ann Orme passed the light at noon. Old Bole, the keeper of the light, slept. Rain fell on Ann Orme."
    assert first("Who keeps the light?", told) == "Old Bole, the keeper of the light, slept."


ROPES = (
    "Wet the splice and turn the bight before you go on to the next one. A splice is a joint of two ropes. Go on. "
    "The old sailors, who had no other words for it, called such a loop of any rope a bight. "
    "The bight and the splice are pressed until they lie flat, and dried. One of them is enough."
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is a splice?", "A splice is a joint of two ropes."),
        (
            "what does bight mean",
            "The old sailors, who had no other words for it, called such a loop of any rope a bight.",
        ),
    ],
)
def test_what_a_thing_is_is_told_where_the_book_defines_it(question: str, answer: str) -> None:
    assert first(question, ROPES) == answer


@pytest.mark.parametrize(
    ("question", "other", "answer"),
    [
        (
            "How wide was the brass bell?",
            "One sailor saw the brass bell hang by its foot.",
            "The brass bell was about four yards across.",
        ),
        (
            "How much is Silas Kemp worth?",
            "The worth of Silas Kemp is two days of rain.",
            "Ned knew that Silas Kemp had two thousand pounds a year.",
        ),
        ("How old is the shy girl?", "Two days ago the shy girl slept.", "The shy girl was nearly sixteen."),
        ("How old is Hilda Tarr?", "Hilda Tarr has an old dog and two sons.", "Ned knew that Tarr was only fifty."),
        (
            "How old was Ned when he sailed?",
            "When two years were over Ned sailed home.",
            "At the age of seventeen my friend Ned sailed.",
        ),
        ("What does the bell cost?", "Two men carried the bell for money.", "The bell cost some ninety pounds."),
    ],
)
def test_a_number_counts_with_the_unit_that_is_asked_for(question: str, other: str, answer: str) -> None:
    assert first(question, f"{other} Gulls cried over the sea. {answer}") == answer


@pytest.mark.parametrize(
    ("question", "other", "answer"),
    [
        (
            "What is the name of Orme's brother?",
            "Orme told her brother in the evening that both Vane and Tarr were late.",
            "Nobody had asked whether her brother Silas slept.",
        ),
        (
            "Wie heißt Annas Tochter?",
            "Am Abend sahen Anna und ihre Tochter das Boot und den Strand.",
            "Bald rief Anna ihre Tochter Lotte, und dann sang Lotte.",
        ),
    ],
)
def test_a_relative_is_the_name_that_stands_with_the_word_for_it(question: str, other: str, answer: str) -> None:
    assert first(question, f"{other} Orme slept. {answer}") == answer


@pytest.mark.parametrize(
    ("question", "which"),
    [
        ("Where did Ned sleep at the end?", -1),
        ("where did ned sleep in the end", -1),
        ("Where did Ned sleep at the end of the book?", -1),
        ("Where did Ned sleep at the beginning?", 0),
        ("where did ned sleep at the very start of the story?", 0),
    ],
)
def test_where_in_the_book_something_is_told_is_no_word_of_it(question: str, which: int) -> None:
    nights = [f"Ned slept in the {place}." for place in ("barn", "mill", "boat", "inn", "loft", "tent", "yard")]
    assert analyse(question).query.lower() in ("ned sleep", "sleep ned")
    assert first(question, f"{' Gulls cried. '.join(nights)} They sat at the end of the pier.") == nights[which]


def test_a_sum_beside_a_name_is_not_surely_a_fortune() -> None:
    text = "Vane asked Silas Kemp for two hundred pounds. Gulls cried. Ned slept."
    assert chosen("How rich is Silas Kemp?", text).confidence is not Confidence.FIRM


def test_a_question_of_names_alone_is_answered_by_the_kind_of_answer() -> None:
    text = (
        "Marta Quill met Hobb. Hobb slept. Marta Quill saw Hobb. Marta Quill left. She was nearly sixteen. It rained."
    )
    assert first("How old is Marta Quill?", text) == "She was nearly sixteen."


def test_somebody_who_is_there_is_never_denied() -> None:
    spread = (
        "The oven was hot.",
        "A parrot sang.",
        "Snow fell on a sledge.",
        "Hobb had a fiddle.",
        "Marta owned nothing.",
    )
    asked = "Did Marta play the fiddle for the parrot on a sledge full of snow beside the hot oven?"
    assert chosen(asked, *(text + " It was so." for text in spread)).confidence is Confidence.NEAR


@pytest.mark.parametrize(("called", "is_there"), [("the White Hare", True), ("a white hare", False)])
def test_two_words_in_small_letters_are_a_name_if_the_book_writes_one(called: str, is_there: bool) -> None:
    text = f"She saw {called} run. It was late."
    told = chosen(as_printed("where on earth does the white hare make its bed", text), text)
    assert (told.confidence is not Confidence.NONE) == is_there


def test_nothing_is_sure_where_the_name_is_far_away() -> None:
    duel = "Two men fought a duel with rapiers at dawn, and the duel was fought to the end. Gulls cried. It grew dark."
    other = "Marta Quill came to the island. She was glad. Marta Quill slept. Marta Quill ate."
    assert chosen("Who did Marta fight a duel with?", duel, other).confidence is not Confidence.FIRM
    assert chosen("Who fought a duel with rapiers?", duel, other).confidence is Confidence.FIRM


def test_who_somebody_is_by_role_is_sure_only_with_a_name() -> None:
    told = "I was informed by my butler, an honest man. Gulls cried. It grew dark."
    assert not chosen("Who is the butler?", told).shows_it
    assert chosen("Who is the butler?", "The butler Merriman came in. Gulls cried. It grew dark.").shows_it


def test_a_stated_cause_comes_before_words_that_often_mean_something_else() -> None:
    text = "Hobb sold the brass lamp long since. It was late, for Hobb slept. Hobb sold the lamp owing to his debts."
    assert first("Why did Hobb sell the lamp?", text) == "Hobb sold the lamp owing to his debts."


def test_who_has_a_role_is_the_name_that_stands_with_it() -> None:
    text = (
        "The captain of the Heron slept. Gulls cried. On the Heron nobody loved Captain Grole. Ned cleaned the Heron."
    )
    assert first("Who is the captain of the Heron?", text) == "On the Heron nobody loved Captain Grole."


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "Wer hat den Schlüssel gefunden?",
            "Der Turm war alt. Hans fand den Schlüssel unter der Treppe. Es regnete.",
            "Hans fand den Schlüssel unter der Treppe.",
        ),
        (
            "Pourquoi le roi est-il triste ?",
            "Le roi avait un jardin. Le roi était triste parce que sa fille dormait. Le jardin était grand.",
            "Le roi était triste parce que sa fille dormait.",
        ),
        (
            "¿Cuántos hijos tenía el rey?",
            "El rey vivía lejos. El rey tenía siete hijos. Los hijos eran fuertes.",
            "El rey tenía siete hijos.",
        ),
    ],
)
def test_other_languages(question: str, text: str, answer: str) -> None:
    assert first(question, text) == answer


def test_scripts_without_spaces_are_compared_by_their_characters() -> None:
    sentences = ["老人住在灯塔里。", "国王有七个儿子。", "大海很平静。"]
    placed = [Sentence(at * 20, at * 20 + len(text), text) for at, text in enumerate(sentences)]
    found = choose(evidence(analyse("国王有几个儿子？"), [Passage(1, 0, 60, "1", "1", "", tuple(placed))]), most=1)
    assert found.candidates[0].text == "国王有七个儿子。"


def test_the_answer_may_stand_behind_the_words_of_the_question() -> None:
    found = chosen(
        "What happened when Marta lit the lamp?",
        "It was late. Marta lit the lamp at nine. At once a bell rang out at sea. Hobb slept through it all.",
    )
    assert "At once a bell rang out at sea." in [candidate.text for candidate in found.candidates]


def test_a_heading_is_never_quoted() -> None:
    found = chosen("Who stole the tarts?", "Who Stole The Tarts. The knave stole the tarts. The Trial")
    assert [candidate.text for candidate in found.candidates if candidate.is_heading] == []


def test_what_is_chosen_is_short_and_in_the_order_of_the_book() -> None:
    words = " ".join(f"lamp{number} shone over the island lamp" for number in range(5))
    found = chosen("Where is the lamp on the island?", *(f"The island lamp. {words}. " * 4 for _ in range(4)))
    assert sum(candidate.length for candidate in found.candidates) <= MOST_WORDS
    assert [candidate.start for candidate in found.candidates] == sorted(c.start for c in found.candidates)


def test_a_clear_answer_stands_alone() -> None:
    text = "The sea was calm. The ferryman Hobb found the brass key under the stairs. Gulls cried. It grew dark."
    assert len(chosen("Where did Hobb find the brass key?", text).candidates) == 1


def test_sentences_that_follow_each_other_are_one_piece() -> None:
    found = chosen("What was the lamp?", "The lamp was red. The lamp was low. The lamp was old. The lamp was new.")
    assert len(found.candidates) > MOST_PIECES
    assert len({candidate.run for candidate in found.candidates}) == 1


def test_long_sentences_are_quoted_in_part() -> None:
    long = "; ".join(
        f"and clause {number} tells of one more thing that nobody had asked for at all" for number in range(8)
    )
    found = chosen("Where was the key?", f"The key was under the stairs; {long}.")
    assert all(candidate.length <= 2 * LONG for candidate in found.candidates)
    assert found.candidates[0].text.startswith("The key was under the stairs")


@pytest.mark.parametrize(
    ("question", "confidence"),
    [
        ("Where did the lamp stand?", Confidence.FIRM),
        ("Which tower behind the church kept goats?", Confidence.NEAR),
        ("What do emperors pay for goats?", Confidence.NONE),
        ("Where did Zebulon stand?", Confidence.NONE),
    ],
)
def test_how_far_an_answer_can_be_relied_on(question: str, confidence: Confidence) -> None:
    assert chosen(question, ISLAND).confidence is confidence


def test_without_passages_there_is_nothing() -> None:
    assert chosen("Where is the lamp?") == Choice((), Confidence.NONE)


@pytest.mark.parametrize("question", ["Who is Hobb?", "Why was it dark?", "How many?", "How long?", "When?", "Where?"])
def test_every_feature_has_a_weight(question: str) -> None:
    measured = features(evidence(analyse(question), [passage(ISLAND)]))
    assert set().union(*measured) <= set(WEIGHTS)


def test_a_name_in_another_phrase_introduces_nobody() -> None:
    text = "Marta passed the window of Hobb’s room. The case of Hobb called for the doctor. Her brother Hobb sang."
    rows = features(evidence(analyse("Who is Hobb?"), [passage(f"{text} Hobb was one of those who never slept.")]))
    assert [row["introduced"] + row["role"] for row in rows] == [0.0, 0.0, 2.0, 1.0]


def test_a_name_alone_introduces_nobody() -> None:
    rows = features(evidence(analyse("Who is Hobb?"), [passage("Your name is Hobb. My name is Hobb, the smuggler.")]))
    assert [row["introduced"] for row in rows] == [0.0, 1.0]


def test_a_sentence_that_only_names_somebody_is_quoted_with_the_next() -> None:
    found = evidence(analyse("Who is Ann Quill?"), [passage("My name is Ann Quill. I mended clocks. It rained.")])
    shown = with_context(found, choose(found, most=1)).candidates
    assert [each.text for each in shown] == ["My name is Ann Quill.", "I mended clocks."]


@pytest.mark.parametrize(
    ("question", "others", "answer"),
    [
        ("What weapon did Hobb carry?", ["Hobb did carry a lantern.", "Hobb did carry on."], "Hobb had a cutlass."),
        ("What is Hobb's job?", ["Hobb's job was done.", "Hobb went home."], "Hobb was a carpenter in the town."),
        (
            "What illness did Marta have?",
            ["Marta did have a house.", "Marta rested."],
            "Marta had caught typhus there.",
        ),
    ],
)
def test_a_thing_of_the_sort_asked_for_is_found_by_another_word(question: str, others: list[str], answer: str) -> None:
    assert answer in [each.text for each in chosen(question, " ".join([*others, answer])).candidates]


def test_how_rich_somebody_is_is_told_by_a_sum_and_not_by_any_number() -> None:
    gossip = "Nobody loved Crake, who was rich, half as well as the two cousins of Crake did."
    assert first("How rich is Crake?", f"{gossip} He had ninety thalers.") == "He had ninety thalers."


def test_a_refrain_takes_the_place_of_no_other_sentence() -> None:
    refrain = "The old lamp, the old lamp, who lit the lamp?"
    told = chosen("Who lit the old lamp?", *[f"{refrain} It rained."] * 4, "Hobb had lit the old lamp.").candidates
    assert [each.text for each in told].count(refrain) == 1
    assert "Hobb had lit the old lamp." in [each.text for each in told]


def test_a_general_question_is_answered_only_if_half_of_its_words_stand_together() -> None:
    apart = "The oil was dear. " + ISLAND + "They had to buy a boat. " + ISLAND + "Bread was cheap."
    assert chosen("Where can one buy cheap oil?", apart).confidence is Confidence.NONE
    assert chosen("Where did they buy cheap oil?", apart).confidence is not Confidence.NONE
    assert chosen("Where can one buy cheap oil?", apart + " One could buy cheap oil in the harbour.").candidates


HARBOUR = "while the rain came down on the roofs of the harbour and the gulls sat in long rows along the old wall"


def test_where_nothing_is_sure_more_is_quoted() -> None:
    things = ("rope", "sail", "oar", "anchor", "net", "lamp")
    scenes = [" ".join(f"Hobb {did} the {thing}, {HARBOUR}." for did in ("saw", "held", "left")) for thing in things]
    found = chosen("What did Hobb tie to the post?", *scenes)
    assert found.confidence is not Confidence.FIRM
    assert MOST_WORDS < sum(candidate.length for candidate in found.candidates) <= MOST_WORDS * 4 / 3


def test_of_sentences_that_fit_the_space_goes_to_short_ones() -> None:
    ship, boat, barge = (
        f"The bell rang for the {each}, {HARBOUR}, and nobody spoke for an hour." for each in ("ship", "boat", "barge")
    )
    dead, poor, sick = (f"The bell rang for the {each}." for each in ("dead", "poor", "sick"))
    found = chosen("Why did the bell ring?", ship, dead, boat, poor, barge, sick)
    assert [candidate.text for candidate in found.candidates] == [ship, dead, poor]


def test_a_sentence_is_continued_by_its_neighbour_rather_than_by_one_elsewhere() -> None:
    scene = "Marta asked for the lamp. He gave her the lamp of the church."
    found = chosen("What did Hobb give Marta?", f"Hobb met Marta. {scene}", "Hobb and Marta ate.", "Hobb saw Marta.")
    runs = [candidate.run for candidate in found.candidates]
    assert max(runs.count(run) for run in runs) > 1


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How old is Hilda Tarr?", "Hilda Tarr sold her dogs after two years. Gulls cried."),
        ("How old is Hilda Tarr?", "They saw a body, thirty years of age. Hilda Tarr slept."),
        ("How tall are the tripods?", "The tripods stood a hundred yards off. Gulls cried."),
        (
            "Where is the treasure hidden?",
            "The treasure was hidden, as he had said to the boys, very well. Gulls cried.",
        ),
        ("Where does the Crown Hotel stand?", "They told me to go to the Crown Hotel. Gulls cried."),
        ("What is the name of Mr. Orme's house?", "Mr. Orme's house was full of Sundays. Gulls cried."),
        ("How many sails had the mill?", "The mill and its sails once stood alone. Gulls cried."),
        ("Why was the lamp dark?", "The lamp was dark, for dark is cheap, and so they wished to sleep. Gulls cried."),
        ("Who is Silas Kemp?", "Silas Kemp ran. Gulls cried."),
        ("What is Hilda's job?", "Hilda was the sister of his friend. Gulls cried."),
        ("Where is the money left?", "The money is left to her mother. Gulls cried."),
        ("What is gravity?", "Hilda nodded with great gravity. Gulls cried."),
        ("How much money has Silas Kemp?", "Silas Kemp asked for two hundred pounds of money. Gulls cried."),
        ("How much money has the curate?", "The curate asked for two hundred pounds of money. Gulls cried."),
        ("How old is Mr. Tarr?", "They spoke of Miss Tarr, who was only eight years old. Mr. Tarr slept."),
        ("How old is Hilda?", "The children, two girls of six years of age, were left with Hilda. Gulls cried."),
        ("How old is Hilda?", "Hilda has known him ever since he was four years old. Gulls cried."),
        ("How old is Hilda?", "Hilda loved Ned. He was nearly sixteen. Gulls cried."),
        ("How old is Hilda?", "Hilda spoke to Ned Kemp. Ned Kemp was nearly sixteen. Ned Kemp slept."),
        ("How many children has Hilda?", "Hilda was soon ready, and the three children went out. Gulls cried."),
        ("When did Hilda die?", "Hilda will die of it, and then he will be sorry. Gulls cried."),
        ("What does Hilda look like?", "Hilda saw his white face and red eyes. Gulls cried."),
        ("Who is Miss Tarr?", "Madame Tarr was the mother of five. Miss Tarr slept. Gulls cried."),
        ("Who is Hilda?", "He sent Hilda a pittance. Gulls cried."),
        (
            "What did Hilda steal?",
            "Hilda read on. I read her letter, and a soft feeling stole into my heart. Gulls cried.",
        ),
        ("Who killed Mr. Tarr?", "Mr. Tarr was dear to her. She was sure that he would kill more birds. Gulls cried."),
    ],
)
def test_a_sentence_without_the_kind_of_answer_is_not_surely_one(question: str, text: str) -> None:
    assert not chosen(question, text).shows_it


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is Hilda's job?", "Hilda was the nurse of the children."),
        ("How old is Hilda Tarr?", "Hilda Tarr was nearly sixteen."),
        ("How old is Hilda Tarr?", "She was nearly sixteen. Hilda Tarr slept."),
        ("How old is Hilda?", "Hilda was a stout, well-grown girl of fifteen."),
        ("How old is Mr. Tarr?", "Miss Tarr loved Mr. Tarr. He was a tall, grave man of five-and-twenty."),
        ("How old is Hilda?", "When Hilda was twelve years of age, her mother left the house."),
        ("How many children has Hilda?", "Hilda had three children."),
        ("What does Hilda look like?", "Hilda was white and pale."),
        ("When did Hilda die?", "Hilda died on the second day of May."),
        ("Who is Miss Tarr?", "Madame Tarr slept. Miss Tarr was the youngest daughter."),
        ("How tall are the tripods?", "The tripods were a hundred feet high."),
        ("Where is the treasure hidden?", "The treasure was hidden under the cross."),
        ("Where is Hobb?", "Hobb lay in the churchyard."),
        ("What is the name of Mr. Orme's house?", "Mr. Orme's house was called Fairlawn."),
        ("How many sails had the mill?", "The mill had four great sails."),
        ("Why was the lamp dark?", "The lamp was dark because the oil had been sold."),
        ("Who is Silas Kemp?", "Silas Kemp was the miller."),
        ("How much did a sack cost?", "A sack cost nine shillings."),
        ("Wie alt ist Anna?", "Anna war siebzehn Jahre alt."),
        ("What did Hobb take?", "Hobb took the key."),
    ],
)
def test_a_sentence_with_the_kind_of_answer_is_one(question: str, text: str) -> None:
    assert chosen(question, f"{text} Gulls cried.").shows_it


def test_a_sure_age_is_quoted_without_the_ages_of_others() -> None:
    text = "When Hilda was twelve years of age, she left. She loved Ned, a boy of five years of age."
    found = chosen("How old is Hilda?", text)
    assert [candidate.text for candidate in found.candidates] == ["When Hilda was twelve years of age, she left."]


def test_a_relative_is_surely_told_only_of_the_one_who_is_asked_about() -> None:
    others = "Ned loved his sister Ann, says Hilda. Hilda slept. Gulls cried. It grew dark."
    mine = "I loved my sister Ann, and Hilda. Gulls cried."
    assert chosen("Who is Hilda's sister?", mine).confidence is not Confidence.FIRM
    assert chosen("Who is Hilda's sister?", f"Hilda's sister Ann came. {others}").confidence is Confidence.FIRM


def test_somebody_of_the_same_name_with_another_title_is_somebody_else() -> None:
    text = "Madame Tarr was a widow with a dog. Monsieur and Madame Tarr met. Miss Tarr was the youngest daughter."
    assert first("Who is Miss Tarr?", text) == "Miss Tarr was the youngest daughter."
    assert first("Who is Madame Tarr?", text) == "Madame Tarr was a widow with a dog."
    assert first("Who is Tarr?", text) == "Madame Tarr was a widow with a dog."


def test_a_name_with_another_title_is_no_reason_to_find_nothing() -> None:
    assert chosen("Who is Miss Tarr?", "Madame Tarr was a widow. Gulls cried.").confidence is not Confidence.NONE


def test_a_line_is_known_among_a_part_of_the_candidates() -> None:
    asked = analyse("What does the oil had been sold mean?")
    candidates = gather([[passage(ISLAND)]], asked.language)
    whole, part = Evidence(asked, candidates), Evidence(asked, candidates[4:])
    line = next(at for at, each in enumerate(candidates) if "oil" in each.text)
    assert features(whole)[line]["verbatim"] == features(part)[line - 4]["verbatim"] > 1


@pytest.mark.parametrize(("chapter", "unknown"), [("The Queer Bridge", []), ("The Mill", ["Queer", "Bridge"])])
def test_a_story_is_known_by_its_title_alone(chapter: str, unknown: list[str]) -> None:
    question = "Where did the doctor die in The Queer Bridge?"
    found = passage("The doctor died in Bremen that winter. Nobody answered.", chapter=chapter)
    transcript = Transcript((question,), {"title": "", "author": "", "open": True}, handed_over=(found,))
    assert Choices(transcript, questions=1).unknown(analyse(question)) == unknown


KELBY = (
    "Marta went to Kelby in the spring. She was happy in Kelby. Hobb had never been in Kelby before, as he told Marta. "
    "“Kelby!” cried Hobb. Kelby lies between two steep hills, and its narrow streets run down to the river. "
    "Marta liked Hobb. They came near Kelby at noon, and Hobb ate there. Marta wore a red cloak, and had fair hair."
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Describe Kelby", QuestionKind.SCENE), ("What does Kelby look like?", QuestionKind.SCENE),
        ("What is Kelby like?", QuestionKind.SCENE), ("Beschreibe Kelby", QuestionKind.SCENE),
        ("Describe Marta", QuestionKind.WHO_IS), ("What does Marta look like?", QuestionKind.LOOKS),
        ("Who is the ferryman in Kelby?", QuestionKind.WHO), ("Where is Kelby?", QuestionKind.WHERE),
    ],
)  # fmt: skip
def test_what_a_place_is_like_is_no_question_of_a_person(question: str, kind: QuestionKind) -> None:
    assert of_scene(analyse(question), KELBY).kind is kind


def test_a_place_is_described_by_what_is_to_be_seen_there() -> None:
    asked = of_scene(analyse("Describe Kelby"), KELBY)
    assert "steep hills" in choose(evidence(asked, [passage(KELBY)]), most=1).candidates[0].text


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("I shall point out to my old friend Crake what he may have to endure.", True),
        ("He is the Hon. Crake Holmwood, only son of Lord Godalming.", True),
        ("A police inspector named Crake had been found drowned under a boat.", True),
        ("First of all was Hobb, whom Crake, the chief mate, had selected for his squire.", True),
        ("Crake was an honest, upright man.", True),
        ("Now I am married, Crake a solicitor, a partner, and rich.", True),
        ("Crake soll nämlich ein Mann vieler Verhältnisse sein.", True),
        ("Then the woman recognized Crake.", False),
        ("The man led Crake off in the direction of the town.", False),
        ("When the Professor saw Crake a smile came, and the old man rubbed his hands.", False),
        ("Crake guided the stranger through the streets.", False),
        ("And Crake kissed her brother and ran away.", False),
        ("After his interview with his wife Crake left for the coast.", False),
        ("Beneath her sympathy for her brother, Crake noticed her relief.", False),
        ("She came with her brother, Crake, and the dog.", True),
    ],
)
def test_what_somebody_is_stands_beside_their_name(text: str, is_told: bool) -> None:
    assert bool(role_given(r"\bCrake\b", text)) is is_told
