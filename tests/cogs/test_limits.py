"""What one person, and one shelf, may take; a refusal says which limit it is and when it is over."""

from datetime import timedelta
from typing import Any

import pytest
from simcord.actors import MemberActor

from domain.records import LimitedAction
from domain.turn.quota import Allowances, Limits
from tests.cogs.stage import Stage, text_of

TALE = b"CHAPTER 1\n\n" + b"Marta came to the island on a Tuesday. " * 20


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"max_books_per_shelf": 3, "max_adds_per_hour": 2, "max_conversations_per_day": 2, "max_turns_per_minute": 2}


async def _added(stage: Stage, name: str, reader: MemberActor | None = None) -> str:
    file = (name, TALE + name.encode())
    return text_of(await (reader or stage.ann).slash(stage.channel, "books add", file=file))


async def test_a_person_adds_only_so_many_books_in_an_hour(stage: Stage) -> None:
    for name in ("one.txt", "two.txt"):
        assert "Added to the shelf" in await _added(stage, name)
    refused = await _added(stage, "three.txt")
    assert "You've added 2 books within an hour" in refused
    assert "<t:" in refused


async def test_a_person_opens_only_so_many_conversations_in_a_day(stage: Stage) -> None:
    book = await stage.book()
    for _ in range(2):
        await stage.chat(book, title="Again")
    refused = text_of(await stage.ann.slash(stage.channel, "chat", book=book.id, title="Once more"))
    assert "You've opened 2 conversations within a day" in refused
    assert "<t:" in refused
    await stage.chat(book, stage.ben, title="Ben's first")


async def test_a_shelf_takes_only_so_many_books(stage: Stage) -> None:
    for number in range(3):
        await stage.book(f"Book {number}")
    assert "it holds 3 books" in await _added(stage, "four.txt")


async def test_another_person_adds_what_one_may_not_any_more(stage: Stage) -> None:
    for name in ("one.txt", "two.txt"):
        await _added(stage, name)
    assert "Three" in await _added(stage, "three.txt", stage.ben)


async def test_what_could_not_be_read_counts_and_the_refusal_says_so(stage: Stage) -> None:
    for name in ("one.pdf", "two.pdf"):
        assert "Added" not in text_of(await stage.ann.slash(stage.channel, "books add", file=(name, b"%PDF-broken")))
    assert "You've added 2 books within an hour, or tried to," in await _added(stage, "three.txt")


class TestALimitOfOne:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {
            "max_books_per_shelf": 1, "max_adds_per_hour": 1, "max_conversations_per_day": 1, "max_turns_per_minute": 1,
        }  # fmt: skip

    async def test_is_told_in_the_singular(self, stage: Stage) -> None:
        await _added(stage, "one.txt")
        assert "You've added 1 book within an hour" in await _added(stage, "two.txt")
        assert "it holds 1 book." in await _added(stage, "two.txt", stage.ben)
        [book] = await stage.app.storage.books.list()
        thread = await stage.chat(book)
        refused = text_of(await stage.ann.slash(stage.channel, "chat", book=book.id, title="Once more"))
        assert "You've opened 1 conversation within a day" in refused
        for question in ("Who?", "Where?"):
            await stage.ann.send(thread, question)
        assert [each.content for each in thread.history() if "You have asked 1 question within" in each.content]


async def test_a_restart_counts_on(stage: Stage) -> None:
    for name in ("one.txt", "two.txt"):
        await _added(stage, name)
    await stage.restart()
    assert "You've added 2 books within an hour" in await _added(stage, "three.txt")


async def test_a_window_slides_and_zero_is_no_limit(stage: Stage) -> None:
    now = stage.app.clock()
    counts = stage.app.storage.allowances
    window = Allowances(counts, Limits(turns_per_minute=2), lambda: now)
    assert [await window.take("ann", LimitedAction.ASK) for _ in range(2)] == [None, None]
    now += timedelta(seconds=45)
    assert await window.take("ann", LimitedAction.ASK) == timedelta(seconds=15)
    assert await window.take("ben", LimitedAction.ASK) is None
    now += timedelta(seconds=15)
    assert await window.take("ann", LimitedAction.ASK) is None
    without = Allowances(counts, Limits(), lambda: now)
    assert {await without.take("ann", LimitedAction.ASK) for _ in range(100)} == {None}


async def test_who_asks_too_fast_is_told_when_to_ask_again(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    for number in range(3):
        await stage.ann.send(thread, f"Question {number}?")
    assert [each.content for each in thread.history() if "questions within a minute" in each.content]


async def test_questions_and_recaps_for_oneself_count_too(stage: Stage) -> None:
    await stage.book()
    for question in ("One?", "Two?"):
        assert "I do not know." in text_of(await stage.ann.slash(stage.channel, "ask", question=question))
    refused = await stage.ann.slash(stage.channel, "ask", question="Three?")
    assert "questions within a minute" in text_of(refused)
    told = text_of(await stage.ann.slash(stage.channel, "recap"))
    assert "You've asked a lot within a minute. So here's what the book itself says." in told
    assert "Marta Quill" in told
