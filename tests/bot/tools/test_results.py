"""How much of the book one answer may read, and how it is shown."""

from bot.tools.results import WordBudget, counted, labelled, passage_of, per_chapter
from domain.book import ChapterCount, Citation, Passage


def passage(words: int) -> Passage:
    text = " ".join(["word"] * words)
    return passage_of(Citation(0, len(text), text, "12", "12", "The Lamp"))


def test_passages_are_taken_as_long_as_there_is_room() -> None:
    budget = WordBudget(100)
    assert [len(each.text.split()) for each in budget.take([passage(60), passage(60), passage(1)])] == [60, 60]
    assert budget.left == 0
    assert budget.take([passage(1)]) == []


def test_the_model_is_told_what_is_left() -> None:
    budget = WordBudget(8_000)
    budget.spend(1_234)
    assert budget.sentence == "About 6,700 words of reading are left for this answer."


def test_a_passage_stands_under_its_place() -> None:
    shown = passage_of(Citation(3, 9, "Ann\nwas", "12", "13", "The Lamp"))
    assert labelled(shown) == "[Pages 12-13 · The Lamp · passage-3-9]\nAnn was"
    assert counted(1, "place") == "1 place"
    assert counted(1_200, "place") == "1,200 places"


def test_a_chapter_has_its_number_once() -> None:
    counts = [ChapterCount(0, "", 1), ChapterCount(1, "1. Ebb", 2), ChapterCount(2, "Flood", 3)]
    assert per_chapter(counts) == "before the first chapter: 1; 1. Ebb: 2; 2. Flood: 3"
