"""Follow-ups are made to stand on their own."""

import pytest

from bot.providers.extractive.question import QuestionKind, analyse
from bot.providers.extractive.transcript import in_context


@pytest.mark.parametrize(
    ("before", "answer", "text", "query"),
    [
        ("Who is Hilda’s sister?", "", "What about her brother?", {"brother", "Hilda’s"}),
        ("Wie heißt Hildas Mutter?", "", "Und ihr Mann?", {"Mann", "Hildas"}),
        ("What did the fisherman's wife want?", "", "What about Tom?", {"Tom", "want"}),
        ("How many sisters has Hilda?", "", "and Tom?", {"Tom", "sisters"}),
        ("How old is Hilda?", "", "And Tom?", {"Tom", "old"}),
        ("How old is Hilda?", "", "what about tom", {"tom", "old"}),
        ("Where was the cap found?", "", "Who found it?", {"found", "cap"}),
        ("Who put out the lamp?", "“It was Hobb who put it out.” (p. 3)", "Why did he do it?", {"Hobb", "put", "lamp"}),
        ("Why did Marta leave the island?", "", "Where did she go?", {"go", "Marta"}),
        ("Where was the cap found?", "", "why?", {"cap", "found"}),
        ("Why was Marta in prison?", "", "For how long?", {"long", "prison", "Marta"}),
        ("¿Quién es Marta?", "", "¿Y dónde vive?", {"vive", "Marta"}),
        ("¿Quién es Marta?", "", "¿Dónde está la torre?", {"torre"}),
        ("¿Quién es Marta?", "", "¿Dónde vive?", {"vive", "Marta"}),
        ("¿Quién es Marta?", "", "¿Hay dragones?", {"dragones"}),
        ("Who is Hobb?", "", "And where is the lighthouse?", {"lighthouse"}),
        ("Wo wohnt Hans?", "", "Warum ist er dort?", {"Hans", "wohnt"}),
        ("Who is Hobb?", "", "How tall is the lighthouse?", {"tall", "lighthouse"}),
        ("Wer ist Hobb?", "", "wo steht das kleine haus?", {"steht", "kleine", "haus"}),
        ("Wer ist Hobb?", "", "Warum tut Marta das?", {"tut", "Marta"}),
        ("Wer ist Hobb?", "", "Und wer hat das gesagt?", {"gesagt", "Hobb"}),
        ("Qui est Hobb ?", "", "Où habite le vieux lapin ?", {"habite", "vieux", "lapin"}),
        ("Who is Hobb?", "", "How many boats were there?", {"boats"}),
        ("Where is the lighthouse?", "", "Who lived there?", {"lived", "lighthouse"}),
        ("Who is Hobb?", "", "What did Marta give him?", {"Marta", "give"}),
        ("Who is Hobb?", "", "What did the ferryman say he wanted?", {"ferryman", "say", "wanted"}),
        ("Who is Hobb?", "", "Does it say anything about a bishop?", {"bishop"}),
        ("What does he eat?", "“Hobb ate a gull.” (p. 3) “So Hobb ate.” (p. 4)", "Is he dead?", {"dead", "Hobb"}),
        ("Does Hobb have a wife?", "", "and children?", {"children", "Hobb"}),
        ("Who is Hobb’s father?", "“My father,” said Tom. (p. 3)", "Why did he die?", {"die", "father", "Hobb’s"}),
        ("Who is Hilda’s father?", "", "How old is she?", {"old", "Hilda’s"}),
        ("Who found Hobb?", "", "no, I mean the ferryman", {"found", "Hobb", "ferryman"}),
        ("Where does Hobb live?", "", "sorry, I meant Tom", {"live", "Tom"}),
        ("Wo wohnt Hobb?", "", "nein, ich meine Hilda", {"wohnt", "Hilda"}),
        ("Où habite Hobb ?", "", "non, je veux dire Hilda", {"habite", "Hilda"}),
        ("Where does Hobb live?", "", "no, the ferryman", {"live", "Hobb", "ferryman"}),
    ],
)
def test_what_is_left_out_is_borrowed(before: str, answer: str, text: str, query: set[str]) -> None:
    assert {term.word for term in in_context(text, analyse(before), answer).terms} == query


def test_what_is_borrowed_weighs_less() -> None:
    terms = in_context("Who found it?", analyse("Where was the cap?")).terms
    assert {term.word: term.weight for term in terms} == {"found": 1.0, "cap": 0.5}


def test_a_name_that_a_pronoun_stands_for_weighs_nearly_as_much_as_one_of_the_question() -> None:
    terms = in_context("How did he die?", analyse("What happened to Hobb?")).terms
    assert {term.word: term.weight for term in terms} == {"die": 1.0, "Hobb": 0.9}


def test_of_a_question_with_a_new_subject_the_rest_weighs_nearly_as_much() -> None:
    terms = in_context("And Tom?", analyse("Who killed Hilda?")).terms
    assert {term.word: term.weight for term in terms} == {"Tom": 1.0, "killed": 0.9}


def test_somebody_s_father_is_remembered_through_several_questions() -> None:
    before = in_context("and his father?", analyse("Who is Hobb?"))
    for text in ("Why did he die?", "Where is he buried?"):
        before = in_context(text, before)
        assert {"father", "Hobb"} < {term.word for term in before.terms}


def test_a_subject_alone_is_asked_the_same() -> None:
    assert in_context("And Tom?", analyse("How many pencils has Hilda?")).kind is QuestionKind.HOW_MANY


def test_a_short_question_is_in_the_language_of_the_talk() -> None:
    before = analyse("Wo wohnt der alte König?")
    assert in_context("Hans?", before).language is before.language
    assert in_context("Who is Hans?", before).language is not before.language


def test_without_a_past_a_question_stands_as_it_is() -> None:
    assert in_context("Who found it?", None) == analyse("Who found it?")


def test_who_is_meant_stays_the_same_when_it_was_asked_whom_they_met() -> None:
    before = in_context("Who does she marry?", analyse("Who is Hilda?"))
    answer = "“Ben was happy, and Ben laughed.” (p. 3)"
    assert {term.word for term in in_context("Is she rich?", before, answer).terms} == {"rich", "Hilda"}
    assert {term.word for term in in_context("Is he rich?", before, answer).terms} == {"rich", "Hilda", "Ben"}
