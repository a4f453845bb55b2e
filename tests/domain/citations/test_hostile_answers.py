"""Composing an answer takes work by its length, however it was made; and an answer has an end."""

import asyncio
import time

import pytest

from domain.book import Citation
from domain.citations.keys import key_of
from domain.citations.quotations import MOST_LOOKED_UP, Quotations
from domain.citations.resolver import LONGEST_ANSWER, AnswerComposer, Composition
from domain.spoilers.filter import SENTENCES_AT_ONCE, SpoilerFilter
from domain.tool_use import TextChunk
from tests.domain.turn.passages import cite, passage

PIECE = 40


class Looking:
    """Counts the questions put to the book, and the characters looked at for spoilers."""

    def __init__(self) -> None:
        self.looked_up = 0
        self.checked = 0

    async def stands_in_book(self, quoted: str) -> bool:
        self.looked_up += 1
        return False

    async def tells(self, sentence: str, /, before: str = "") -> bool:
        self.checked += len(sentence) + len(before)
        return False

    async def compose(self, text: str) -> Composition:
        composer = AnswerComposer(cite, Quotations(self.stands_in_book), [passage()])
        composition = Composition(composer, SpoilerFilter(self.tells))
        for at in range(0, len(text), PIECE):
            await composition.follow(TextChunk(text[at : at + PIECE]))
        await composition.finish()
        return composition


async def test_an_answer_is_cut_at_its_greatest_length() -> None:
    composition = await Looking().compose("Ben left the house. " * (LONGEST_ANSWER // 10))
    assert composition.is_cut
    assert LONGEST_ANSWER - PIECE < len(composition.text) <= LONGEST_ANSWER


async def test_an_answer_of_its_greatest_length_is_whole() -> None:
    text = ("Ben left the house. " * LONGEST_ANSWER)[: LONGEST_ANSWER - 1] + "."
    composition = await Looking().compose(text)
    assert not composition.is_cut
    assert composition.text == text


async def test_no_more_than_so_many_quotations_are_looked_for_in_the_book() -> None:
    looking = Looking()
    composition = await looking.compose("".join(f'"nobody said {number} of these words." ' for number in range(300)))
    assert looking.looked_up == MOST_LOOKED_UP
    assert '"' not in composition.text


async def test_a_quotation_that_is_invented_again_and_again_is_looked_for_once() -> None:
    looking = Looking()
    await looking.compose('"Nobody ever said these words." ' * 100)
    assert looking.looked_up == 1


@pytest.mark.parametrize("unit", ["word ", "a. ", "a.) ", "....", "灯", "> "])
async def test_what_is_looked_at_for_spoilers_grows_with_the_text(unit: str) -> None:
    short, long = Looking(), Looking()
    await short.compose(unit * (2_000 // len(unit)))
    await long.compose(unit * (8_000 // len(unit)))
    assert long.checked <= 6 * short.checked


@pytest.mark.parametrize("unit", ["```a\n", "~~~ b\nc\n", "```a\n~~~b\n````c\n"])
def test_fences_without_an_end_are_looked_through_in_time_by_their_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        started = time.thread_time()
        Quotations(Looking().stands_in_book).open_at(text)
        return time.thread_time() - started

    seconds(100)  # compiles the patterns
    assert min(seconds(20_000) for _ in range(3)) < 20 * min(seconds(2_000) for _ in range(3)) + 0.01


async def test_lines_that_leave_each_other_open_are_not_looked_at_one_by_one() -> None:
    looks, text = 0, "```a\n" * 800

    class Counted(Quotations):
        def open_at(self, text: str, before: str = "") -> int:
            nonlocal looks
            looks += 1
            return super().open_at(text, before)

    composer, most, shown = AnswerComposer(cite, Counted(Looking().stands_in_book), [passage()]), 0, ""
    for at in range(0, len(text), PIECE):
        looks = 0
        shown += await composer.feed(TextChunk(text[at : at + PIECE]))
        most = max(most, looks)
    assert most <= 40
    assert f"{shown}{await composer.finish()}".strip() == text.strip()


@pytest.mark.parametrize("text", ["。" * 4_000, "“" + "灯。" * 2_000, "「" + "a!\n" * 1_500])
async def test_other_tasks_run_between_hundreds_of_sentences_that_were_held_back(text: str) -> None:
    at_once, most = 0, 0

    async def others() -> None:
        nonlocal at_once
        while True:
            at_once = 0
            await asyncio.sleep(0)

    async def tells(sentence: str, /, before: str = "") -> bool:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        return False

    running = asyncio.create_task(others())
    composer = AnswerComposer(cite, Quotations(Looking().stands_in_book), [passage()])
    composition = Composition(composer, SpoilerFilter(tells))
    await composition.follow(TextChunk(text))
    await composition.finish()
    running.cancel()
    assert 0 < most <= 2 * SENTENCES_AT_ONCE


@pytest.mark.parametrize("number", ["38", "xxxviii", "thirty-eight"])
@pytest.mark.parametrize("filler", ["They counted 12 lamps. ", "12 ", "xii ", "灯12", "She turned 12 pages, and then "])
async def test_other_tasks_run_while_the_numbers_of_a_long_text_are_learnt(filler: str, number: str) -> None:
    ran = 0

    async def others() -> None:
        nonlocal ran
        while True:
            ran += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(others())
    composer = AnswerComposer(cite, Quotations(Looking().stands_in_book))
    composer.learn_figures(f"Dunmore paid {number} crowns for the lamp. {filler * (12_000 // len(filler))}")
    await composer.feed(TextChunk(f"Dunmore gave {number} for the lamp."))
    await composer.finish()
    running.cancel()
    assert composer.text == f"Dunmore gave {number} for the lamp."
    assert ran >= 12_000 // len(filler)  # between any two numbers


async def test_two_thousand_citations_are_looked_up_once_each() -> None:
    asked: list[tuple[int, int]] = []

    async def counted(start: int, end: int) -> Citation:
        asked.append((start, end))
        return await cite(start, end)

    keys = [key_of(sentence) for sentence in passage().sentences]
    composer = AnswerComposer(counted, Quotations(Looking().stands_in_book), [passage()])
    for number in range(2_000):
        await composer.feed(TextChunk(f"So {number} [{keys[number % len(keys)]}]. "))
    await composer.finish()
    assert len(asked) == len(set(asked)) == len(keys)
    assert len(composer.citations) == len(keys)


class CountedQuotations(Quotations):
    """Counts how often held text is examined."""

    examined = 0

    def open_at(self, text: str, before: str = "") -> int:
        self.examined += 1
        return super().open_at(text, before)


@pytest.mark.parametrize("unit", ["Ben left. ", "灯", "“a ", "`", "a\u200b\ue000"])
async def test_a_stream_of_single_characters_is_examined_every_few(unit: str) -> None:
    async def composed(piece: int) -> tuple[str, int]:
        quotations = CountedQuotations(Looking().stands_in_book)
        composer = AnswerComposer(cite, quotations, [passage()])
        text = unit * (4_000 // len(unit))
        shown = [await composer.feed(TextChunk(text[at : at + piece])) for at in range(0, len(text), piece)]
        return "".join([*shown, await composer.finish()]), quotations.examined

    slowly, examined = await composed(1)
    assert examined <= 4_000 // 4
    assert slowly == (await composed(PIECE))[0]
    assert "\u200b" not in slowly
    assert "\ue000" not in slowly
