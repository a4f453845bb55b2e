"""The sentences that say most of a stretch of text."""

from domain.book import Sentence
from domain.library.search.sentences import split_sentences
from domain.library.summaries import most_salient, opening_of, salient_sentences, weights_of

TEXT = (
    "Chapter One. The keeper of the lamp lived alone on the island for forty years. “Do come in and have some tea,” "
    "she said to the boy. It rained a little in the afternoon of that day. Every night the keeper carried oil up to "
    "the lamp on the island. Then the boy went home again by the other road. The lamp never failed while the keeper "
    "had oil."
)


def sentences() -> list[Sentence]:
    return [Sentence(start, end, TEXT[start:end]) for start, end in split_sentences(TEXT)]


def test_the_opening_is_the_first_sentence_that_is_more_than_a_heading() -> None:
    opening = opening_of(sentences())
    assert opening is not None
    assert opening.text.startswith("The keeper of the lamp")
    assert opening_of([Sentence(0, 3, "No.")]) is None


def test_the_sentences_whose_words_come_up_most_are_chosen_and_stand_in_order() -> None:
    chosen = salient_sentences(sentences(), 3)
    assert [sentence.text.split()[0] for sentence in chosen] == ["The", "Every", "The"]
    assert chosen == sorted(chosen, key=lambda sentence: sentence.start)


def test_narration_goes_before_talk() -> None:
    talk, act = "“The keeper of the lamp is on the island,” he said.", "The keeper of the lamp went to the island once."
    first = Sentence(0, 9, "It was a day like any other day.")
    assert salient_sentences([first, Sentence(10, 60, talk), Sentence(61, 99, act)], 2)[1].text == act


def test_nothing_is_chosen_of_nothing() -> None:
    assert salient_sentences([], 3) == salient_sentences(sentences(), 0) == []


def test_of_a_few_the_one_is_chosen_that_has_to_do_with_the_rest() -> None:
    whole = sentences()
    [chosen] = most_salient(whole[-3:], 1, weights_of(whole))
    assert chosen.text.startswith("Every night the keeper carried oil")


def test_a_heading_tells_nothing_however_often_its_words_come_up() -> None:
    heading = Sentence(0, 8, "The lamp")
    assert most_salient([heading], 1, weights_of([heading] * 9)) == []


def test_a_line_of_a_list_of_characters_tells_nothing() -> None:
    assert opening_of([Sentence(0, 43, "John Worthing, J.P.: Mr. George Alexander.")]) is None
