"""How often the built-in answerer answers.

    python -m benchmarks.extractive FOLDER ... [--part develop|aside|fresh] [--hasty] [--show]
    python -m benchmarks.extractive QUESTIONS.jsonl [--every N] [--strangers] [--show]

With folders, the questions of benchmarks/plain_questions.jsonl are asked, as readers put them, of the novels of Project
Gutenberg that lie there. Each question has the sentences that answer it, by words that all stand in one of them, or
none where the book does not answer it. Of the first questions, every third was kept aside while the answerer was made;
the fresh ones were written and labelled later, before the answerer was asked any of them. These first labels cannot
name every sentence that answers, so all questions were labelled once more from pools: the sentences that the answerer,
the search and BM25 rank high were judged in the order of the book, without the ranks, the answers given and the first
labels. In percent,

answered  an answering sentence is among the first three quotations
first     one by the first labels alone
unsure    none is, and the answer says that it is not sure
wrong     none is, and the answer does not say so; or it says that nothing was found where something is to be found
refused   it quotes nothing: right where the book has no answer, wrong everywhere else

With a file, questions are as `marginalia eval` reads them, with "answers" to each. In percent of the questions,

span     an answer's own words are quoted from where they stand (of the questions that have such a place)
all      or all content words of one of the answers are quoted
half     or half of them
firm     it answers, without saying that it is unsure
nothing  it says that nothing was found

and the mean words of an answer and its tool calls, and the median milliseconds of a turn. The row "best sentence" is
what one gets by quoting the sentence with the best BM25 score among the same passages. With --strangers the questions
are put to the next of the books instead, where "nothing" is right and "firm" is wrong.

Every question is put to its book as in a conversation: the answerer asks for tool calls, the tools search the indexed
book, and what it writes goes through the checks of quotations and keys.
"""

import argparse
import asyncio
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.table import print_table
from bot.parsers.formats import read_book
from bot.parsers.text.parser import read_plain
from bot.providers.extractive.client import ExtractiveChat
from bot.providers.extractive.language import Language
from bot.providers.extractive.wording import PASSAGES, PHRASES
from bot.tools.book import book_toolbox
from domain.book import Book, BookText, Citation, Passage, Sentence
from domain.chat import PromptMessage
from domain.citations.keys import fold
from domain.citations.resolver import Composition, compose
from domain.event import ToolCallFinished
from domain.library.search.words import STOP_WORDS, stem_of, words_of
from domain.ports import BookView
from domain.strategies.tool_use import ToolUseRetrievalStrategy
from storage.book_files.files import SQLiteBookFiles

HEAD = ("", "questions", "span", "all", "half", "firm", "nothing", "words", "calls", "ms")
_GAP = 5
"""Characters of white space at most between sentences that are neighbours."""

_K1, _B = 1.2, 0.75
"""The customary constants of BM25."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question with its answers, and where in the book their words stand."""

    book: str
    text: str
    answers: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What was said to a question; `quoted` are the sentences it cites."""

    text: str
    quoted: tuple[tuple[int, int], ...]
    sentences: tuple[str, ...] = ()
    calls: int = 0
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Measured:
    """How good one reply is; `span` is None where no place is known."""

    span: bool | None
    share: float
    firm: bool
    nothing: bool
    words: int
    calls: int
    milliseconds: float


def main() -> None:
    options = _options()
    if options.places[0].is_dir():
        asyncio.run(_measure_plain(options.places, options.part, hasty=options.hasty, show=options.show))
        return
    [options.questions] = options.places
    lines = [json.loads(line) for line in options.questions.read_text(encoding="utf-8").splitlines()]
    questions = [
        Labelled(q["book"], q["question"], tuple(q["answers"]), tuple(map(tuple, q.get("answer_spans") or ())))
        for q in lines[:: options.every]
    ]
    asyncio.run(_measure(options.questions.parent, questions, strangers=options.strangers, show=options.show))


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", type=Path, nargs="+", metavar="FOLDER|QUESTIONS.jsonl")
    parser.add_argument("--part", choices=PARTS, help="only this part of the plain questions")
    parser.add_argument("--hasty", action="store_true", help="the plain questions without capitals and question marks")
    parser.add_argument("--every", type=int, default=1, help="take only every N-th question")
    parser.add_argument("--strangers", action="store_true", help="put the questions to a book they are not on")
    parser.add_argument("--show", action="store_true", help="print questions and answers")
    return parser.parse_args()


async def _measure(folder: Path, questions: Sequence[Labelled], *, strangers: bool, show: bool) -> None:
    names = list(dict.fromkeys(question.book for question in questions))
    with tempfile.TemporaryDirectory() as place:
        files = SQLiteBookFiles(Path(place))
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
        views = {name: await _open(files, name, read_plain(texts[name])) for name in names}
        if strangers:
            views = dict(zip(names, [*list(views.values())[1:], views[names[0]]], strict=True))
        rows: dict[str, list[Measured]] = {name: [] for name in names}
        baseline: list[Measured] = []
        for question in questions:
            reply = await _ask(views[question.book], question.text)
            rows[question.book].append(_judge(question, reply, texts[question.book]))
            best = await _best_sentence(views[question.book], question.text)
            baseline.append(_judge(question, best, texts[question.book]))
            if show:
                print(f"{rows[question.book][-1].share:.2f}  {question.text}  {question.answers}\n{reply.text}\n")
        await files.close()
    everything = [measured for found in rows.values() for measured in found]
    table = [_row(Path(name).stem, found) for name, found in rows.items()]
    print_table(HEAD, [*table, _row("all", everything), _row("best sentence", baseline)])


async def _open(files: SQLiteBookFiles, name: str, book_text: BookText) -> BookView:
    text = book_text.text
    digest = sha256(text.encode()).hexdigest()
    await files.write(digest, book_text)
    book = Book(
        id=digest,
        shelf="bench",
        sha256=digest,
        title=book_text.title or name,
        author=book_text.author,
        format=book_text.format,
        page_count=len(book_text.pages),
        chapter_count=len(book_text.chapters),
        word_count=len(text.split()),
        length=len(text),
        created_at=datetime.now(UTC),
    )
    return (await files.open(book)).view(len(text))


async def _ask(view: BookView, question: str) -> Reply:
    """A turn, as a conversation plays it."""
    started = time.perf_counter()
    tools, calls = book_toolbox(view), 0
    composition: Composition = compose(view.book, view, (), None)
    messages = [PromptMessage("user", question)]
    turn = ToolUseRetrievalStrategy().execute(
        ExtractiveChat(), messages, tools.get_definitions(), tools.build_dispatcher()
    )
    async for event in turn:
        await composition.follow(event)
        calls += isinstance(event, ToolCallFinished)
    await composition.finish()
    quoted = _joined([(citation.start, citation.end) for citation in composition.citations])
    sentences = tuple(_in_groups(composition.citations, SHOWN))
    return Reply(composition.text, quoted, sentences, calls, (time.perf_counter() - started) * 1000)


def _in_groups(citations: Sequence[Citation], most: int) -> Iterator[str]:
    """The cited sentences of the first quotations; those that follow each other without a gap are one."""
    groups, end = 0, -1
    for citation in citations:
        groups += not 0 <= citation.start - end <= _GAP
        end = citation.end
        if groups <= most:
            yield citation.quote


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The spans in order, neighbours made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start - joined[-1][1] <= _GAP:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


async def _best_sentence(view: BookView, question: str) -> Reply:
    passages = await view.search([question], PASSAGES)
    best = _by_bm25(question, passages)
    return Reply(best.text, ((best.start, best.end),), calls=1) if best else Reply("", (), calls=1)


def _by_bm25(question: str, passages: Sequence[Passage]) -> Sentence | None:
    sentences = list(dict.fromkeys(sentence for passage in passages for sentence in passage.sentences))
    words = [Counter(_content(sentence.text)) for sentence in sentences]
    holders = Counter(word for counts in words for word in counts)
    mean = fmean(counts.total() for counts in words) if words else 1.0

    def score(counts: Counter[str]) -> float:
        norm = _K1 * (1 - _B + _B * counts.total() / (mean or 1.0))
        return sum(
            math.log(1 + (len(words) - holders[word] + 0.5) / (holders[word] + 0.5))
            * (counts[word] * (_K1 + 1) / (counts[word] + norm))
            for word in set(_content(question))
        )

    return max(zip(sentences, words, strict=True), key=lambda pair: score(pair[1]), default=(None, None))[0]


def _judge(question: Labelled, reply: Reply, text: str) -> Measured:
    said, words = fold(reply.text), set(_content(reply.text))
    span = any(
        fold(text[start:end]) in said and any(a <= start and end <= b for a, b in reply.quoted)
        for start, end in question.places
    )
    shares = [len(wanted & words) / len(wanted) for answer in question.answers if (wanted := _wanted(answer))]
    english = PHRASES[Language.ENGLISH]
    return Measured(
        span=span if question.places else None,
        share=1.0 if span else max(shares, default=0.0),
        firm=not said.startswith((*map(fold, english.unsure), fold(english.nothing))),
        nothing=said.startswith(fold(english.nothing)),
        words=len(reply.text.split()),
        calls=reply.calls,
        milliseconds=reply.milliseconds,
    )


def _wanted(answer: str) -> set[str]:
    return set(_content(answer)) or {stem_of(word) for word in words_of(answer)}


def _content(text: str) -> list[str]:
    return [stem_of(word) for word in words_of(text) if word.lower().replace("’", "'") not in STOP_WORDS]


def _row(name: str, found: Sequence[Measured]) -> list[str]:
    shares = (
        [measured.span for measured in found if measured.span is not None],
        [measured.share == 1.0 for measured in found],
        [measured.share >= 0.5 for measured in found],
        [measured.firm for measured in found],
        [measured.nothing for measured in found],
    )
    rates = [f"{100 * fmean(values):.1f}" if values else "-" for values in shares]
    words, calls = (fmean(values) for values in ([m.words for m in found], [m.calls for m in found]))
    return [
        name,
        f"{len(found):,}",
        *rates,
        f"{words:.1f}",
        f"{calls:.2f}",
        f"{median(m.milliseconds for m in found):.1f}",
    ]


PLAIN = Path(__file__).parent / "plain_questions.jsonl"
PLAIN_HEAD = ("", "questions", "answered", "first", "unsure", "wrong", "refused", "words", "ms")
PARTS = ("develop", "aside", "fresh")
SHOWN = 3
"""Quotations of an answer that are looked at; one may have a neighbouring sentence that it needs."""

JOINED_BY = " & "


@dataclass(frozen=True, slots=True)
class PlainQuestion:
    """A question as a reader puts it. Each of the `answers` are words of one sentence, joined by JOINED_BY; those that
    only the pools had are `pooled`.
    """

    book: str
    kind: str
    question: str
    answers: tuple[str, ...]
    part: str
    pooled: tuple[str, ...] = ()


def plain_questions() -> list[PlainQuestion]:
    lines = PLAIN.read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return [
        PlainQuestion(**{**values, "answers": tuple(values["answers"]), "pooled": tuple(values.get("pooled", ()))})
        for values in read
    ]


async def _measure_plain(folders: Sequence[Path], part: str | None, *, hasty: bool, show: bool) -> None:
    asked = [each for each in plain_questions() if part in (None, each.part)]
    verdicts: list[tuple[PlainQuestion, str, Reply]] = []
    with tempfile.TemporaryDirectory() as place:
        files = SQLiteBookFiles(Path(place))
        views = {name: await _open(files, name, _found(folders, name)) for name in dict.fromkeys(q.book for q in asked)}
        for question in asked:
            typed = question.question.lower().rstrip("?") if hasty else question.question
            reply = await _ask(views[question.book], typed)
            verdicts.append((question, _verdict(question, reply), reply))
            if show:
                print(
                    f"{verdicts[-1][1].upper()} [{question.book}, {question.kind}] {question.question}\n{reply.text}\n"
                )
        await files.close()
    kinds = dict.fromkeys(question.kind for question in asked)
    rows = [(kind, [each for each in verdicts if each[0].kind == kind]) for kind in kinds]
    answerable = [each for each in verdicts if each[0].answers]
    rows += [("all that the books answer", answerable), ("the others", [v for v in verdicts if not v[0].answers])]
    if part is None:
        rows += [(f"all answerable, {name}", [each for each in answerable if each[0].part == name]) for name in PARTS]
    print_table(PLAIN_HEAD, [_plain_row(name, found) for name, found in rows if found])


def _found(folders: Sequence[Path], name: str) -> BookText:
    """The book of this name in one of the folders; ends the program where it is in none."""
    for folder in folders:
        if (path := folder / name).exists():
            return read_book(path.read_bytes(), name)
    raise SystemExit(f"{name} is in none of these folders. It is a novel of Project Gutenberg: see docs/retrieval.md.")


def _verdict(question: PlainQuestion, reply: Reply) -> str:
    if not reply.sentences:
        return "refused" if not question.answers else "denied"
    if _is_shown(question.answers, reply):
        return "first"
    if _is_shown(question.pooled, reply):
        return "pooled"
    if not question.answers:
        return "wrong"
    return "unsure" if any(lead in reply.text for phrases in PHRASES.values() for lead in phrases.unsure) else "wrong"


def _is_shown(answers: Sequence[str], reply: Reply) -> bool:
    """Whether one of the first quotations has the words of an answer, and the text shows them."""
    said, sentences = fold(reply.text), [*map(fold, reply.sentences)]
    labels = [[*map(fold, answer.split(JOINED_BY))] for answer in answers]
    return any(all(part in each and part in said for part in parts) for parts in labels for each in sentences)


def _plain_row(name: str, found: Sequence[tuple[PlainQuestion, str, Reply]]) -> list[str]:
    share = Counter(verdict for _, verdict, _ in found)
    percents = [
        100 * sum(share[verdict] for verdict in verdicts) / len(found)
        for verdicts in (["first", "pooled"], ["first"], ["unsure"], ["wrong", "denied"], ["refused", "denied"])
    ]
    words = fmean(len(reply.text.split()) for _, _, reply in found)
    milliseconds = median(reply.milliseconds for _, _, reply in found)
    return [name, str(len(found)), *(f"{percent:.1f}" for percent in percents), f"{words:.1f}", f"{milliseconds:.1f}"]


if __name__ == "__main__":
    main()
