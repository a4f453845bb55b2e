"""Models that ignore sentence keys: the share of their sentences that is cited by matching them to passages.

Doubles stand in for such models. Each says sentences of a book in its own way, with the passages around them given, to
the composer that makes every answer. The faithful ones say what the book says, in its words or in others; the
unfaithful ones change what it says with as few words as they can. Counted is how many sentences are cited, and how many
of those by the sentence they come from.

    python -m benchmarks.matching               # the sample novel
    python -m benchmarks.matching BOOK.txt …    # plain text files
"""

import asyncio
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from domain.book import Citation, Passage, Sentence
from domain.citations.quotations import Quotations
from domain.citations.resolver import AnswerComposer
from domain.library.search.sentences import split_sentences
from domain.tool_use import TextChunk

GIVEN = 8
"""Passages a model is given at a time, of eight sentences each."""

MOST = 200
"""Sentences of a book that each double says, evenly chosen."""

Say = Callable[[Sequence[str], random.Random], str | None]
"""What a double makes of a sentence, the one before it and the one after it, in that order: before, sentence, after.
None: it has nothing to change in it.
"""


def verbatim(of: Sequence[str], chance: random.Random) -> str | None:
    return of[1]


def shortened(of: Sequence[str], chance: random.Random) -> str | None:
    """Without what stands behind the first comma or semicolon in the second half."""
    cut = re.search(r"[,;]", of[1][len(of[1]) // 2 :])
    return of[1][: len(of[1]) // 2 + cut.start()] + "." if cut else None


def framed(of: Sequence[str], chance: random.Random) -> str | None:
    return f"According to the book, {_lowered(of[1])}"


def introduced(of: Sequence[str], chance: random.Random) -> str | None:
    """Behind words that say where or by whom it is told."""
    lead = chance.choice(
        ("The author writes that", "In chapter 2,", "Meanwhile,", "As the book puts it,", "**Key point:**")
    )
    return f"{lead} {_lowered(of[1])}"


def gapped(of: Sequence[str], chance: random.Random) -> str | None:
    """Without one word in eight, but not without those that turn the meaning."""
    words = of[1].split()
    kept = [at for at, word in enumerate(words) if at % 8 != 5 or word.casefold() in TURNING or at == len(words) - 1]
    return " ".join(words[at] for at in kept)


def merged(of: Sequence[str], chance: random.Random) -> str | None:
    """Two sentences as one."""
    return f"{of[1].rstrip('.')}, and {_lowered(of[2])}" if of[1].endswith(".") and of[2][:1].isalpha() else None


def named(of: Sequence[str], chance: random.Random) -> str | None:
    """With the name of the sentence before in place of a pronoun, if that has only one."""
    pronoun, names = re.match(r"(?:He|She)\b", of[1]), set(_NAME.findall(of[0]))
    return of[1].replace(pronoun[0], names.pop(), 1) if pronoun and len(names) == 1 else None


def retold(of: Sequence[str], chance: random.Random) -> str | None:
    """By somebody else: what the book tells by "I", the answer tells by "he"."""
    if not re.search(r"\bI\b", of[1]) or re.search(r"\b(?:we|you|am|I'|me and)\b", of[1]):
        return None
    persons = {"I": "he", "me": "him", "my": "his", "My": "His", "myself": "himself"}
    told = re.sub(r"\b(?:I|me|my|My|myself)\b", lambda found: persons[found[0]], of[1])
    return told[0].upper() + told[1:]


def reworded(of: Sequence[str], chance: random.Random) -> str | None:
    """With one word in six replaced: a paraphrase."""
    return " ".join("somehow" if at % 6 == 3 else word for at, word in enumerate(of[1].split()))


def translated(of: Sequence[str], chance: random.Random) -> str | None:
    """As in another language: all words are others, only names stay."""
    return " ".join(word if at and word[:1].isupper() else f"{word[::-1]}o" for at, word in enumerate(of[1].split()))


def renamed(of: Sequence[str], chance: random.Random) -> str | None:
    """With a name in place of another word."""
    words = re.findall(r"[A-Za-z]{5,}", of[1])
    return of[1].replace(chance.choice(words), "Wilhelmina", 1) if words else None


def misnamed(of: Sequence[str], chance: random.Random) -> str | None:
    """With one of several names of the sentence before in place of a pronoun: who is meant cannot be known."""
    pronoun, names = re.match(r"(?:He|She)\b", of[1]), sorted(set(_NAME.findall(of[0])))
    return of[1].replace(pronoun[0], names[-1], 1) if pronoun and len(names) > 1 else None


def denied(of: Sequence[str], chance: random.Random) -> str | None:
    """With a "never" in front of the third word."""
    words = of[1].split()
    return " ".join([*words[:2], "never", *words[2:]])


def affirmed(of: Sequence[str], chance: random.Random) -> str | None:
    """Without its first negation."""
    return _without(re.compile(r" (?:not|never|hardly)\b|n[’']t\b"), of[1])


def made_certain(of: Sequence[str], chance: random.Random) -> str | None:
    """Without the word that says that something is not so for certain."""
    return _without(re.compile(r" (?:if|perhaps|almost|nearly|might|would|could|should)\b"), of[1])


def turned(of: Sequence[str], chance: random.Random) -> str | None:
    """With "after" for "before" and the like."""
    found = [word for word in re.findall(r"\b[a-z]+\b", of[1]) if word in TURNING]
    return re.sub(rf"\b{found[0]}\b", TURNING[found[0]], of[1], count=1) if found else None


def swapped(of: Sequence[str], chance: random.Random) -> str | None:
    """Its halves the other way round."""
    words = of[1].rstrip(".”").split()
    half = len(words) // 2
    return " ".join([*words[half:], *words[:half]]) + "."


def spliced(of: Sequence[str], chance: random.Random) -> str | None:
    """The beginning of one sentence and the end of the next."""
    first, second = of[1].split(), of[2].split()
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def continued(of: Sequence[str], chance: random.Random) -> str | None:
    """With a reason that the book does not give."""
    return f"{of[1].rstrip('.')}, because of an old quarrel about money." if of[1].endswith(".") else None


def preceded(of: Sequence[str], chance: random.Random) -> str | None:
    """Behind a claim that the book does not make, or one that turns it."""
    lead = chance.choice(
        ("It is a lie that", "The butler sang, and", "Nobody writes that", "In a dream,", "He drowned:")
    )
    return f"{lead} {_lowered(of[1])}"


LEADS = ("The author writes that", "In chapter 2,", "Meanwhile,", "As the book puts it,", "**Key point:**")
_NAME = re.compile(r"(?<!^)\b[A-Z][a-z]{2,}\b")
_PAIRS = "before after, up down, in out, over under, on off, more less, her his, he she, with without, always never"
TURNING = {one: other for pair in _PAIRS.split(", ") for one, other in (pair.split(), pair.split()[::-1])}

FAITHFUL: tuple[Say, ...] = (
    verbatim,
    shortened,
    framed,
    introduced,
    gapped,
    merged,
    named,
    retold,
    reworded,
    translated,
)
UNFAITHFUL: tuple[Say, ...] = (
    renamed,
    misnamed,
    denied,
    affirmed,
    made_certain,
    turned,
    swapped,
    spliced,
    continued,
    preceded,
)


def _lowered(sentence: str) -> str:
    return sentence if sentence.startswith("I ") else sentence[0].lower() + sentence[1:]


def _without(pattern: re.Pattern[str], sentence: str) -> str | None:
    changed = pattern.sub("", sentence, count=1)
    return changed if changed != sentence else None


def passages(text: str) -> list[Passage]:
    sentences = [Sentence(a, b, text[a:b]) for a, b in split_sentences(text)]
    found = []
    for at in range(0, len(sentences) - 8, 8):
        part = tuple(sentences[at : at + 8])
        found.append(Passage(at, part[0].start, part[-1].end, "1", "1", "", part))
    return found


def asked(found: Sequence[Passage]) -> Iterator[tuple[Sequence[Passage], Sentence, list[str]]]:
    """The passages given, a sentence of them, and that with the ones before and after it."""
    every = [
        (found[at : at + GIVEN], found[at + GIVEN // 2].sentences, place)
        for at in range(0, len(found) - GIVEN, GIVEN // 2)
        for place in range(1, 7)
    ]
    for given, sentences, place in every[:: max(len(every) // MOST, 1)]:
        of = [" ".join(each.text.split()) for each in sentences[place - 1 : place + 2]]
        if len(of[1].split()) >= 6 and of[1][0].isalpha():
            yield given, sentences[place], of


async def measured(say: Say, books: Sequence[str]) -> dict[str, object]:
    chance = random.Random(7)
    said = cited = right = 0
    for text in books:

        async def stands_there(words: str, text: str = text) -> bool:
            return words in text

        async def cite(start: int, end: int, text: str = text) -> Citation:
            return Citation(start, end, text[start:end], "1", "1", "")

        for given, sentence, of in asked(passages(text)):
            if (told := say(of, chance)) is None or told == of[1] != verbatim(of, chance):
                continue
            composer = AnswerComposer(cite, Quotations(stands_there), given)
            await composer.feed(TextChunk(told))
            await composer.finish()
            said, cited = said + 1, cited + bool(composer.citations)
            right += any(each.start <= sentence.start < each.end for each in composer.citations)
    return {
        "double": say.__name__,
        "sentences": said,
        "cited %": round(100 * cited / max(said, 1), 1),
        "of these by their own sentence %": round(100 * right / max(cited, 1), 1),
    }


async def main() -> None:
    sample = files("bot.sample").joinpath("return-on-the-ebb.md").read_text(encoding="utf-8")
    books = [Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]] or [sample]
    for kind, doubles in (("faithful", FAITHFUL), ("unfaithful", UNFAITHFUL)):
        for say in doubles:
            print(json.dumps({"kind": kind, **await measured(say, books)}))


if __name__ == "__main__":
    asyncio.run(main())
