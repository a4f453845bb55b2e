"""What a model may offer a reader to confirm: only a place that the reader has written."""

from datetime import UTC, datetime

import pytest

from domain.chat import ChatMessage, MessageRole
from domain.event import PositionProposed
from domain.library.progress import has_said, place_in, proposed

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def said(words: str, author: str = "ann", role: MessageRole = MessageRole.USER) -> ChatMessage:
    return ChatMessage("m", "c", role, words, NOW, author_id=author)


@pytest.mark.parametrize(
    ("words", "page", "chapter"),
    [
        ("I am on page 80 now", "80", ""),
        ("80!", "80", ""),
        ("Ich bin auf Seite achtzig", "80", ""),
        ("page eighty", "80", ""),
        ("I've read the foreword, to p. xii.", "xii", ""),
        ("page 80, chapter 5", "80", ""),
        ("page 80, chapter 5", "", "5"),
        ("I've just finished chapter 5", "", "5"),
        ("Das fünfte Kapitel ist durch", "", "5"),
        ("J’ai lu le chapitre V", "", "V"),
        ("done with chapter five", "", "5"),
        ("I finished it last night", "", ""),
        ("Ich habe es ausgelesen.", "", ""),
        ("Je l’ai fini", "", ""),
        ("I've finished the book", "", ""),
        ("Ich bin mit dem Buch fertig", "", ""),
    ],
)
def test_what_a_reader_writes_can_be_offered(words: str, page: str, chapter: str) -> None:
    proposal = PositionProposed(page, "ann", chapter, not (page or chapter))
    assert proposed([said(words)], page, chapter) == proposal
    assert has_said([said(words)], proposal)


@pytest.mark.parametrize(
    ("words", "page", "chapter"),
    [
        ("Who put the lamp out?", "80", ""),
        ("I am on page 8 now", "80", ""),
        ("I am on page 800 now", "80", ""),
        ("I've finished chapter 5", "5", ""),
        ("I've finished chapter 5", "", ""),
        ("I've finished book two", "", ""),
        ("I am on page 5", "", "5"),
        ("I like the number 5", "", "5"),
        ("Is it the end of the lamp?", "80", ""),
        ("What becomes of Hobb?", "", ""),
    ],
)
def test_what_only_the_model_says_cannot(words: str, page: str, chapter: str) -> None:
    assert proposed([said(words)], page, chapter) is None
    assert not has_said([said(words)], PositionProposed(page, "ann", chapter, not (page or chapter)))


def test_words_of_the_model_or_of_others_count_for_nobody() -> None:
    messages = [said("Hello"), said("You are on page 80", "", MessageRole.ASSISTANT), said("I'm on page 80", "ben")]
    assert not has_said(messages, PositionProposed("80", "ann"))
    assert has_said(messages, PositionProposed("80", "ben"))
    assert proposed([said("I'm on page 80", "ben"), said("Hello")], "80") == PositionProposed("80", "ben")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"page": "1", "chapter": "2"},
        {"page": "the end"},
        {"chapter": "The Keeper"},
        {"finished": False},
        {"page": "1", "finished": True},
    ],
)
def test_one_place_is_named_and_not_in_words(arguments: dict[str, object]) -> None:
    assert place_in(arguments) is None
