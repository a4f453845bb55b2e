"""How well the last look at an answer tells a leak from an honest sentence.

    python -m benchmarks.leaks [QUESTIONS.jsonl] [--limit N] [--variants] [--show]

QUESTIONS.jsonl is as `marginalia eval` reads it, with "answers" to each question; without it only the sample novel is
measured. Every sentence is held against a book at a bound:

honest, should pass
    answers just read        an answer, the reader just behind its evidence; the question is known
    own sentences            what stands in the book before the bound, word for word, behind the sentence before it
    prose of other books     sentences of another book, likewise: what anybody may write
planted, should be hidden
    sentences from beyond    what stands in the book beyond the bound, word for word (eight words or more)
    cut into threes          the same with a full stop after every three words; the last of them counts
    names from beyond        "It was NAME.", for names that first stand beyond the bound
    answers from beyond      an answer of four words or more, the reader just before its evidence
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from domain.library.search.sentences import split_sentences
from domain.spoilers import detector
from domain.spoilers.detector import SpoilerDetector

SEED = 11
BOUNDS = (0.1, 0.3, 0.5, 0.7, 0.9)
SENTENCES = 200
"""Sentences taken from each book at each bound."""

VARIANTS: dict[str, dict[str, float]] = {
    "as it is": {},
    "short runs need not be telling": {"TELLING_WORDS": 0, "CHANCE": -99},
    "short runs only improbable": {"TELLING_WORDS": 0},
    "short runs only of telling words": {"CHANCE": -99},
    "no long runs": {"LONG_RUN": 999},
    "no short runs": {"TELLING_WORDS": 99},
    "no runs at all": {"TELLING_WORDS": 99, "LONG_RUN": 999},
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence said to a reader who has read a book up to a bound."""

    kind: str
    book: str
    read_to: int
    said: str
    known: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, its answers, and where its evidence begins and ends."""

    book: str
    text: str
    answers: tuple[str, ...]
    start: int
    end: int


def main() -> None:
    options = _options()
    books, questions = _sample()
    if options.questions:
        more, asked = _labelled(options.questions, options.limit)
        books |= more
        questions += asked
    ready = {name: SpoilerDetector.of(text) for name, text in books.items()}
    claims = [*_from_questions(questions), *_from_books(books), *_names_from_beyond(books, ready)]
    for name, changes in VARIANTS.items() if options.variants else [("as it is", VARIANTS["as it is"])]:
        _print_table(name, claims, _found(claims, ready, changes), show=options.show)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="?", type=Path)
    parser.add_argument("--limit", type=int, default=1_000, help="questions taken at random")
    parser.add_argument("--variants", action="store_true", help="measure with parts left out, too")
    parser.add_argument("--show", action="store_true", help="print the honest sentences that were hidden")
    return parser.parse_args()


def _sample() -> tuple[dict[str, str], list[Labelled]]:
    folder = files("bot.sample")
    text = (folder / "return-on-the-ebb.md").read_text(encoding="utf-8")
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = []
    for line in map(json.loads, lines):
        start = text.index(line["quote"])
        end = start + len(line["quote"])
        questions.append(Labelled("sample", line["question"], (line["answer"],), start, end))
    return {"sample": text}, questions


def _labelled(path: Path, limit: int) -> tuple[dict[str, str], list[Labelled]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    chosen = random.Random(SEED).sample(lines, min(limit, len(lines)))
    books = {name: (path.parent / name).read_text(encoding="utf-8") for name in {line["book"] for line in lines}}
    return books, [
        Labelled(
            line["book"],
            line["question"],
            tuple(line["answers"]),
            min(start for start, _ in line["spans"]),
            max(end for _, end in line["spans"]),
        )
        for line in chosen
    ]


def _from_questions(questions: Sequence[Labelled]) -> Iterator[Claim]:
    for question in questions:
        for answer in question.answers[:2]:
            yield Claim("answers just read", question.book, question.end, answer, question.text)
            if len(answer.split()) >= 4:
                yield Claim("answers from beyond", question.book, question.start, answer, question.text)


def _from_books(books: dict[str, str]) -> Iterator[Claim]:
    chance = random.Random(SEED)
    spans = {name: split_sentences(text) for name, text in books.items()}
    for name, text in books.items():
        others = [other for other in books if other != name]
        for share in BOUNDS:
            bound = round(len(text) * share)
            read = [(a, b) for a, b in spans[name] if b <= bound]
            beyond = [text[a:b] for a, b in spans[name] if a >= bound and len(text[a:b].split()) >= 8]
            for earlier, said in _with_before(text, read, min(SENTENCES, len(read)), chance):
                yield Claim("own sentences", name, bound, said, before=earlier)
            for said in chance.sample(beyond, min(SENTENCES, len(beyond))):
                yield Claim("sentences from beyond", name, bound, said)
                *before, last = _threes(said)
                yield Claim("cut into threes", name, bound, last, before=" ".join(before))
            for other in others:
                for earlier, said in _with_before(books[other], spans[other], SENTENCES // len(others), chance):
                    yield Claim("prose of other books", name, bound, said, before=earlier)


def _with_before(
    text: str, spans: Sequence[tuple[int, int]], count: int, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Some of the sentences, each behind the one before it."""
    for number in chance.sample(range(len(spans)), count):
        yield text[slice(*spans[number - 1])] if number else "", text[slice(*spans[number])]


def _threes(sentence: str) -> list[str]:
    """The sentence cut after every three words, the last piece having three to five."""
    words = [word.strip(".,;:!?") for word in sentence.split()]
    cuts = range(0, len(words) - 5, 3)
    rest = words[len(cuts) * 3 :]
    return [*(f"{' '.join(words[at : at + 3])}." for at in cuts), f"{' '.join(rest)}."]


def _names_from_beyond(books: dict[str, str], ready: dict[str, SpoilerDetector]) -> Iterator[Claim]:
    for book, text in books.items():
        for share in BOUNDS:
            bound = round(len(text) * share)
            for name in sorted(ready[book].names_beyond(bound)):
                yield Claim("names from beyond", book, bound, f"It was {name.title()}.")


def _found(claims: Sequence[Claim], ready: dict[str, SpoilerDetector], changes: dict[str, float]) -> list[bool]:
    usual = {name: getattr(detector, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(detector, name, value)
        return [ready[claim.book].found_in(claim.said, claim.read_to, claim.known, claim.before) for claim in claims]
    finally:
        for name, value in usual.items():
            setattr(detector, name, value)


def _print_table(title: str, claims: Sequence[Claim], found: Sequence[bool], *, show: bool) -> None:
    print(f"\n{title}\n{'':26}{'sentences':>10}{'hidden':>8}{'':>9}")
    for kind in dict.fromkeys(claim.kind for claim in claims):
        hidden = [hit for claim, hit in zip(claims, found, strict=True) if claim.kind == kind]
        print(f"{kind:26}{len(hidden):10,}{sum(hidden):8,}{100 * sum(hidden) / len(hidden):8.1f}%")
    if show:
        for claim, hit in zip(claims, found, strict=True):
            if hit and claim.kind in ("answers just read", "own sentences", "prose of other books"):
                print(f"  {claim.kind}: {claim.said!r}")


if __name__ == "__main__":
    main()
