"""What an answer costs that was made to hurt, by a model that a book has talked into it, or that has lost its way.

    python -m benchmarks.hostile_answers [--kilobytes 64] [--only NAME]

Each text is of that size and streams in pieces of 40 characters. "compose" cuts it at LONGEST_ANSWER, checks its
citations, quotations and page numbers against a book of 600,000 characters, and looks in it for unread text; "in
German" says its references so. The whole text goes through "render", which makes of it what Discord renders, "split",
which cuts that into messages, and "uncited", which looks for claims without a reference. Figures are milliseconds of
this process's processor time; "loop" is the most that the event loop's thread took before it came to anything else,
while the answer was composed, and the whole text was posted and searched for claims as in a turn: with a long text, in
a thread.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import chain, count, cycle, pairwise, repeat
from pathlib import Path

import discord

from benchmarks.heartbeat import Heartbeat
from benchmarks.prose import book
from benchmarks.table import print_table
from bot.app import open_app
from bot.cli.run import warm_up
from bot.settings import load_settings
from cogs.delivery.message_group import MessagePayload, Sent
from cogs.delivery.turn_messages import AnswerMessage
from cogs.delivery.writer import ChannelWriter
from cogs.i18n import speech_for
from cogs.rendering.markdown import render
from cogs.rendering.splitting import split_with_spoilers
from domain.book import Book, Passage
from domain.chat import ChatMessage, MessageRole
from domain.citations.keys import in_language, key_of
from domain.citations.matching import find_uncited, uncited_in
from domain.citations.resolver import Composition, compose
from domain.concurrency import LONG_ANSWER
from domain.ports import BookView
from domain.spoilers.detector import SpoilerChecks
from domain.tool_use import TextChunk
from storage.book_files.files import SQLiteBookFiles

PIECE = 40
BOOK = 600_000
QUESTION = "Who keeps the light, and what does the harbour master say of it?"


def hostile_texts(passages: list[Passage]) -> dict[str, Callable[[], Iterator[str]]]:
    """Endless texts by name, each in parts that are not to be cut apart."""
    sentences = [sentence for passage in passages for sentence in passage.sentences]
    keys = cycle(key_of(sentence) for sentence in sentences)
    quotation = max((sentence.text for sentence in sentences), key=len)
    return {
        "plain prose": lambda: (f"{sentence.text} " for sentence in cycle(sentences)),
        "no full stop": lambda: (f"{word} " for word in cycle(quotation.replace(".", "").split())),
        "no blank": lambda: repeat("lighthouse"),
        "dense script": lambda: repeat("灯台守は夜ごとに"),
        "links that never close": lambda: repeat("[a]("),
        "links of blanks": lambda: ("[a](" + " " * width for width in count(1)),
        "links in links": lambda: repeat("["),
        "escapes in links": lambda: repeat("[\\]"),
        "links that lead nowhere": lambda: chain(repeat("[\\]", 9_000), ["]("], repeat("<")),
        "brackets in brackets": lambda: repeat("[[a]"),
        "parentheses": lambda: repeat("("),
        "headings of blanks": lambda: ("# a" + " " * width for width in count(1)),
        "one heading of blanks": lambda: chain(["# a"], repeat(" ")),
        "a heading behind blanks": lambda: (" " * width + "# a\n" for width in count(1)),
        "a table of open marks": lambda: chain(["|a|\n|-|\n|"], repeat("*a ")),
        "a table of marks": lambda: chain(["|a|b|\n|-|-|\n"], repeat("|*x*|`y`|\n")),
        "a table with one long row": lambda: chain(["|a|\n|-|\n", "|x" * 59, "\n"], repeat("|x|\n")),
        "growing backticks": lambda: ("`" * width + " " for width in count(1)),
        "backticks": lambda: repeat("` "),
        "escaped backticks": lambda: repeat("\\```"),
        "fences": lambda: repeat("```\na\n"),
        "one long fence": lambda: chain(["```\n"], repeat("a\n")),
        "open fences": lambda: repeat("```\na\n~~~\n"),
        "fences without an end": lambda: repeat("```a\n"),
        "nested quotes": lambda: ("> " * width + "a\n" for width in count(1)),
        "one nested quote": lambda: repeat("> "),
        "open quotation marks": lambda: repeat("“"),
        "pairs of quotation marks": lambda: repeat("“a “b” "),
        "apostrophes": lambda: repeat("'a "),
        "a long quotation": lambda: chain(["“"], (f"{word} " for word in cycle(quotation.split()))),
        "invented quotations": lambda: (f'"nobody said {number} of these words." ' for number in count()),
        "invented quotations in a block": lambda: (f"> nobody said {number} of these words.\n" for number in count()),
        "citations": lambda: (f"[{key}]" for key in keys),
        "citations in sentences": lambda: (f"So it is [{key}]. " for key in keys),
        "one citation again and again": lambda: repeat(f"[{key_of(sentences[0])}] "),
        "invented citations": lambda: (f"[s-{number:07x}]" for number in count()),
        "page numbers": lambda: (f"(p. {number}) " for number in count(1)),
        "a list of page numbers": lambda: chain(["pages 1"], (f", {number}" for number in count(2))),
        "roman numbers": lambda: repeat("p. xviii "),
        "spaced page numbers": lambda: repeat("p." + " " * 19),
        "tables": lambda: repeat("|a|b|\n|-|-|\n"),
        "one wide table": lambda: chain(["|a|\n|-|\n"], repeat("|x")),
        "dollars": lambda: repeat("$a_"),
        "open formulas": lambda: repeat("\\( a "),
        "long displays": lambda: repeat("$$\n" + "a\n" * 38),
        "open displays": lambda: repeat("$$\na\n"),
        "tags": lambda: repeat("<b "),
        "entities": lambda: repeat("&amp"),
        "addresses": lambda: repeat("http://a"),
        "bars": lambda: repeat("|| a "),
        "stars": lambda: repeat("*a "),
        "emphasis that quotes": lambda: repeat("says *a "),
        "emphasis behind full stops": lambda: repeat(". *a "),
        "numbers alone in their lines": lambda: repeat("38\n\n"),
        "full stops": lambda: repeat("."),
        "full stops of a dense script": lambda: repeat("。"),
        "initials": lambda: repeat("A. B. "),
        "short sentences": lambda: repeat("a. "),
        "line breaks": lambda: repeat("\n"),
        "blanks": lambda: repeat(" "),
        "blanks of other kinds": lambda: repeat("\u00a0\t"),
        "letters nobody sees": lambda: repeat("a\u200b"),
        "marks on one letter": lambda: repeat("\u0301"),
        "halves of characters": lambda: repeat("\ud83d"),
        "flags": lambda: repeat("🇩"),
    }


def sized(parts: Iterator[str], length: int) -> str:
    """A text of that many characters."""
    made, size = list[str](), 0
    while size < length:
        made.append(next(parts))
        size += len(made[-1])
    return "".join(made)[:length]


class Nowhere:
    """A channel that takes every message and keeps none."""

    id = 1

    async def send(self, body: MessagePayload, nonce: str) -> Sent:
        return Sent("1")

    async def edit(self, message_id: str, body: MessagePayload) -> None: ...
    async def delete(self, message_id: str) -> None: ...
    async def unarchive(self) -> None: ...
    async def typing(self) -> None: ...


async def no_pause(seconds: float) -> None:
    """In place of waiting for the channel's pace."""
    await asyncio.sleep(0)


async def cost(text: str, composition: Composition) -> list[float]:
    """Milliseconds for composing, saying it in German, rendering, splitting, looking for claims, all, the longest."""
    async with Heartbeat() as heart:
        started = time.process_time()
        for at in range(0, len(text), PIECE):
            await composition.follow(TextChunk(text[at : at + PIECE]))
        await composition.finish()
        composed = time.process_time()
        await AnswerMessage(ChannelWriter(Nowhere(), now=partial(next, count()), sleep=no_pause), "an answer").settle(
            text
        )
        await uncited_in(text)
        writer = ChannelWriter(Nowhere(), now=partial(next, count()), sleep=no_pause)
        answer = AnswerMessage(writer, "an answer", say=speech_for(discord.Locale.german))
        await answer.settle(composition.text[:LONG_ANSWER], cited=composition.citations)
    times, german = [started, composed], speech_for(discord.Locale.german)
    told = partial(in_language, composition.text, composition.citations, german)
    for step in (told, partial(render, text), partial(split_with_spoilers, render(text)), partial(find_uncited, text)):
        begun = time.process_time()
        step()
        times.append(times[-1] + time.process_time() - begun)
    steps = [1000 * (after - before) for before, after in pairwise(times)]
    return [*steps, sum(steps), max(heart.busy_ms)]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Book, BookView, SpoilerChecks]]:
    """A book, read to the middle."""
    async with open_app(load_settings(_env_file=None, data_dir=folder)) as app:
        await warm_up(app.provider)  # as the bot does: it also says how rarely Python looks for garbage
        book_ = (await app.shelf.add(book(BOOK).encode(), "book.txt")).book
        files = SQLiteBookFiles(folder / "books")
        view = (await files.open(book_)).view(book_.length // 2)
        checks = SpoilerChecks(files)
        if check := checks.check(book_, view.read_to):
            await check("It makes itself ready.")
        speech_for(discord.Locale.german)("It makes itself ready.")
        yield book_, view, checks
        await files.close()


async def measure(length: int, only: str) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as (book_, view, checks):
            passages = await view.search([QUESTION], top_k=10)
            result = ChatMessage("1", "1", MessageRole.TOOL_RESULT, "", datetime.now(UTC), passages=tuple(passages))
            for name, parts in hostile_texts(passages).items():
                if only in name:
                    composition = compose(book_, view, [result], checks.check(book_, view.read_to))
                    figures = await cost(sized(parts(), length), composition)
                    rows.append([name, *(f"{figure:,.0f}" for figure in figures)])
    print_table(("", "compose", "in German", "render", "split", "uncited", "all", "loop"), rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kilobytes", type=int, default=64)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    asyncio.run(measure(chosen.kilobytes * 1_000, chosen.only))


if __name__ == "__main__":
    main()
