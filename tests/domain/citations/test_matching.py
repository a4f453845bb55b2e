"""A sentence that repeats the book is found in it; one that only sounds like it is not."""

import pytest

from domain.book import Passage, Sentence
from domain.citations.matching import PassageMatcher, leads_elsewhere

SENTENCES = (
    "Marta Quill came to the island in the spring of 1911 with a brass key in her pocket.",
    "She had never seen the lamp at the top of the tower burning.",
    "Hobb told the harbour master that Lucian had not put the lamp out on purpose.",
    "Nobody believed him.",
    "It had been there before him.",
    "Before the storm she almost always counted the seven lamps in the window if her father was away.",
)


def passage() -> Passage:
    at, sentences = 0, []
    for text in SENTENCES:
        sentences.append(Sentence(at, at + len(text), text))
        at += len(text) + 1
    return Passage(1, 0, at - 1, "12", "12", "The Lamp", tuple(sentences))


def found(sentence: str) -> list[int]:
    matcher = PassageMatcher()
    matcher.learn(passage())
    return [SENTENCES.index(each.text) for each in matcher.match(sentence)]


@pytest.mark.parametrize(
    ("sentence", "at"),
    [
        ("Marta Quill came to the island in the spring of 1911 with a brass key in her pocket.", [0]),
        ("Marta came to the island in the spring of 1911.", [0]),
        ("* **Marta** came to the island, with a brass key in her pocket", [0]),
        ("The book says that Hobb told the harbour master that Lucian had not put the lamp out.", [2]),
        ("Marta had never seen the lamp at the top of the tower burning.", [1]),
        ("It had been there before him.", [4]),
        ("Hobb told the harbor master that Lucian had not put the lamp out.", [2]),
        ("Before the storm she almost always counted the 7 lamps in the window.", [5]),
        ("Before the storm she almost always counted the seven lamps", [5]),
        ("Hobb told the harbour master Lucian had not put the lamp out on purpose. Nobody believed him.", [2, 3]),
    ],
)
def test_what_the_book_says_is_found(sentence: str, at: list[int]) -> None:
    assert found(sentence) == at


@pytest.mark.parametrize(
    "sentence",
    [
        "Lucian came to the island in the spring of 1911 with a brass key in his pocket.",
        "Marta Quill came to the island in the spring of 1912 with a brass key in her pocket.",
        "Marta Quill came to the island in the spring of 1911 with a stolen brass key in her pocket.",
        "She had seen the lamp at the top of the tower burning.",
        "Hobb told the harbour master that Lucian had put the lamp out on purpose.",
        "The harbour master told Hobb that Lucian had not put the lamp out on purpose.",
        "Marta never came to the island in the spring of 1911.",
        "After the storm she almost always counted the seven lamps.",
        "Before the storm she almost always counted the 6 lamps.",
        "Before the storm she counted the seven lamps in the window.",
        "Before the storm he counted the seven lamps in the window.",
        "Before the storm she always counted the seven lamps in the window, her father was away.",
        "Marta Quill came to the island in the spring of the tower burning.",
        "It has not been there before him.",
        "Did Marta come to the island in the spring of 1911?",
        "She came to the island.",
        "Nothing of this stands in the passages.",
        "",
    ],
)
def test_what_it_does_not_say_is_not(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    "lead",
    [
        "Harker writes that",
        "In chapter II,",
        "According to Harker,",
        "- **First,**",
        "Meanwhile,",
        "As the book puts it,",
        "**Key point:**",
        "**Her arrival**:",
        "Mina explains to Lucy that",
        "We learn that",
        "Laut Harker:",
    ],
)
def test_what_is_only_introduced_is_found(lead: str) -> None:
    assert found(f"{lead} {SENTENCES[0]}") == [0]


@pytest.mark.parametrize(
    "lead",
    [
        "It is a lie that",
        "Nobody writes that",
        "Mina denies that",
        "In a dream,",
        "The butler sang, and",
        "The butler killed her:",
        "**Wrong:**",
        "Perhaps,",
    ],
)
def test_what_is_denied_or_claimed_besides_is_not(lead: str) -> None:
    assert found(f"{lead} {SENTENCES[0]}") == []


@pytest.mark.parametrize(
    "told",
    [
        "If Hobb sold the brass lamp to the harbour master, Marta would leave.",
        "Marta dreamed that Hobb sold the brass lamp to the harbour master.",
        "Hobb almost sold the brass lamp to the harbour master.",
        "Was it true that Hobb sold the brass lamp to the harbour master?",
        "It was a lie that Hobb sold the brass lamp to the harbour master.",
    ],
)
def test_what_the_book_only_supposes_is_not_told_as_a_fact(told: str) -> None:
    matcher = PassageMatcher()
    matcher.learn(Passage(1, 0, len(told), "12", "12", "The Lamp", (Sentence(0, len(told), told),)))
    assert matcher.match("Hobb sold the brass lamp to the harbour master.") == ()


def test_a_name_stands_for_a_pronoun_only_if_there_is_no_other() -> None:
    matcher = PassageMatcher()
    texts = ("Marta Quill found the keeper asleep beside old Hobb.", "She had never seen the lamp at the top burning.")
    sentences = tuple(Sentence(at * 100, at * 100 + len(text), text) for at, text in enumerate(texts))
    matcher.learn(Passage(1, 0, 200, "12", "12", "The Lamp", sentences))
    assert matcher.match("Hobb had never seen the lamp at the top burning.") == ()


def test_a_chapter_that_is_named_has_to_be_the_right_one() -> None:
    assert leads_elsewhere("In Chapter III, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("In chapter twenty, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("In the first chapter, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("Marta came to the island in chapter 3.", "Chapter XX. The Island")


def test_a_question_of_the_book_is_found_word_for_word_only_and_as_a_question() -> None:
    matcher = PassageMatcher()
    asked = Sentence(0, 45, "“Would you like some sugar for your lamp now?”")
    matcher.learn(Passage(1, 0, 45, "12", "12", "The Lamp", (asked,)))
    assert matcher.match("Would you like some sugar for your lamp now?") == (asked,)
    assert matcher.match("Would you like sugar for your lamp now?") == ()
    assert matcher.match("Would you like some sugar for your lamp now.") == ()


TOLD = (
    "My friend has now a whole colony of sparrows, and his flies and spiders are almost obliterated.",
    "Just now his hobby is catching flies.",
    "He has managed to get a sparrow, and has already partially tamed it.",
    "His spiders are now becoming as great a nuisance as his flies.",
    "Lucy ran to me and said she wanted to ask me a great favour.",
    "His redeeming quality is a love of animals, though, indeed, he has such curious turns in it.",
    "He has turned his mind now to spiders, and has got several very big fellows in a box.",
    "Mina suddenly opened the old wooden door of the chapel.",
    "The old man was quietly counting seven silver coins beside the grave.",
    "Yesterday I caught three brown rats behind the stable door.",
    "Lucy told Mina that the red lamp burned above the harbour.",
    "The family killed the butler in the long gallery.",
    "Mina did not open the heavy chapel gate that night.",
    "Miss Westenra slowly closed the tall garden window again.",
)


def found_in_told(sentence: str) -> list[int]:
    matcher, at, sentences = PassageMatcher(), 0, []
    for text in TOLD:
        sentences.append(Sentence(at, at + len(text), text))
        at += len(text) + 1
    matcher.learn(Passage(1, 0, at - 1, "12", "12", "The Asylum", tuple(sentences)))
    return [TOLD.index(each.text) for each in matcher.match(sentence)]


@pytest.mark.parametrize(
    ("sentence", "at"),
    [
        ("He now has a whole colony of sparrows, and his flies and spiders are almost obliterated.", 0),
        ("He has a whole colony of sparrows now, and his flies and spiders are almost obliterated.", 0),
        ("He has managed to get a sparrow and has partially tamed it already.", 2),
        ("She suddenly opened the old wooden door of the chapel.", 7),
        ("Suddenly she opened the old wooden door of the chapel.", 7),
        ("She opened the old wooden door suddenly.", 7),
        ("He quietly counted seven silver coins beside the grave.", 8),
        ("He was counting seven silver coins quietly beside the grave.", 8),
        ("She slowly closes the tall garden window again.", 13),
        ("Mina opens the old wooden door of the chapel suddenly.", 7),
        ("His spiders now become as great a nuisance as his flies.", 3),
    ],
)
def test_a_pronoun_may_stand_for_who_a_sentence_begins_with_and_adverbs_and_tenses_differ(
    sentence: str, at: int
) -> None:
    assert found_in_told(sentence) == [at]


@pytest.mark.parametrize(
    "sentence",
    [
        "She now has a whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "He now has a whole colony of rats, and his flies and spiders are almost obliterated.",
        "Renfield now has a whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "He now has no whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "He ran to me and said she wanted to ask me a great favour.",
        "He ran to me and said he wanted to do me a great favour.",
        "She quietly counted seven silver coins beside the grave.",
        "He quietly counted eight silver coins beside the grave.",
        "He never counted seven silver coins beside the grave.",
        "The butler caught three brown rats behind the stable door.",
        "You caught three brown rats behind the stable door.",
        "Mina now has a whole colony of sparrows, and my flies and spiders are almost obliterated.",
        "She told that the blue lamp burned above the harbour.",
        "The butler killed the family in the long gallery.",
        "She opened the heavy chapel gate that night.",
        "He slowly closed the tall garden window again.",
        "He suddenly closed the old wooden door of the chapel.",
        "She almost opened the old wooden door of the chapel.",
        "Jonathan has now a whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "They now have a whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "I have now a whole colony of sparrows, and his flies and spiders are almost obliterated.",
        "He has managed to get a sparrow, and has not partially tamed it already.",
        "He has managed to get a rabbit, and has already partially tamed it.",
    ],
)
def test_another_person_animal_or_number_and_a_denial_are_something_else(sentence: str) -> None:
    assert found_in_told(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "He caught three brown rats behind the stable door.",
        "Jonathan Harker caught three brown rats behind the stable door.",
        "I caught three brown rats behind the stable door.",
        "They gave him their lamp, for he had caught their rats.",
        "She was just beginning to shave in her room.",
    ],
)
def test_what_somebody_says_of_themselves_may_be_retold_and_an_and_in_front_left_out(sentence: str) -> None:
    told = (
        "Yesterday I caught three brown rats behind the stable door.",
        "We gave you our lamp, for you had caught our rats.",
        "But I was just beginning to shave in my room.",
    )
    matcher, places = PassageMatcher(), (0, 100, 200)
    known = tuple(Sentence(at, at + len(text), text) for at, text in zip(places, told, strict=True))
    matcher.learn(Passage(1, 0, 300, "12", "12", "JONATHAN HARKER'S JOURNAL", known))
    assert len(matcher.match(sentence)) == 1


PARTS = (
    "Marta has not walked in her sleep for a week, but she is odd; even in her sleep she seems to be watching me.",
    "I thought it was some trick of the moon, some weird effect of shadow; it was a man with a lantern in his hand.",
)


@pytest.mark.parametrize(
    ("sentence", "is_told"),
    [
        ("Even in her sleep she seems to be watching me.", True),
        ("Even in her sleep she seems to be hunting me.", False),
        ("I thought it was some trick of the moon, some weird effect of shadow.", True),
        ("It was some trick of the moon, some weird effect of shadow.", False),
        ("It was a man with a lantern in his hand.", False),
    ],
)
def test_a_part_behind_a_semicolon_is_told_unless_one_before_it_is_only_thought(sentence: str, is_told: bool) -> None:
    matcher = PassageMatcher()
    spans = [Sentence(at * 200, at * 200 + len(text), text) for at, text in enumerate(PARTS)]
    matcher.learn(Passage(1, 0, 400, "12", "12", "The Lamp", tuple(spans)))
    assert bool(matcher.match(sentence)) is is_told
