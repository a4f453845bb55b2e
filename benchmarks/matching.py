"""Models that ignore sentence keys: the share of their sentences that is cited by matching them to passages.

Doubles stand in for such models. Each says sentences of the sample novel in its own way, with the passages around them
given; counted is how many are cited, how many of those by the sentence they come from, and how many that say something
the book does not are cited all the same.

    python -m benchmarks.matching
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files

from domain.book import Passage, Sentence
from domain.citations.matching import PassageMatcher
from domain.library.search.sentences import split_sentences

GIVEN = 8
"""Passages a model is given at a time, of eight sentences each."""

Say = Callable[[str, random.Random], str]


def verbatim(sentence: str, chance: random.Random) -> str:
    return sentence


def shortened(sentence: str, chance: random.Random) -> str:
    """Without what stands behind the first comma or semicolon in the second half."""
    cut = re.search(r"[,;]", sentence[len(sentence) // 2 :])
    return sentence[: len(sentence) // 2 + cut.start()] + "." if cut else sentence


def framed(sentence: str, chance: random.Random) -> str:
    return f"According to the book, {sentence[0].lower()}{sentence[1:]}"


def gapped(sentence: str, chance: random.Random) -> str:
    """Without one word in eight."""
    words = sentence.split()
    return " ".join(word for at, word in enumerate(words) if at % 8 != 5 or at == len(words) - 1)


def reworded(sentence: str, chance: random.Random) -> str:
    """With one word in six replaced: a paraphrase, which is not to be recognised by its words."""
    return " ".join("somehow" if at % 6 == 3 else word for at, word in enumerate(sentence.split()))


def renamed(sentence: str, chance: random.Random) -> str:
    """With a name or a longer word in place of another: it says something else."""
    words = re.findall(r"[A-Za-z]{5,}", sentence)
    return sentence.replace(chance.choice(words), "Wilhelmina", 1) if words else "Wilhelmina came to the island."


def denied(sentence: str, chance: random.Random) -> str:
    """With a "never" in front of the third word."""
    words = sentence.split()
    return " ".join([*words[:2], "never", *words[2:]])


def swapped(sentence: str, chance: random.Random) -> str:
    """Its halves the other way round."""
    words = sentence.rstrip(".").split()
    half = len(words) // 2
    return " ".join([*words[half:], *words[:half]]) + "."


HONEST: tuple[Say, ...] = (verbatim, shortened, framed, gapped, reworded)
INVENTED: tuple[Say, ...] = (renamed, denied, swapped)


def passages() -> Iterator[Passage]:
    text = files("bot.sample").joinpath("return-on-the-ebb.md").read_text(encoding="utf-8")
    sentences = [Sentence(a, b, text[a:b]) for a, b in split_sentences(text)]
    for at in range(0, len(sentences) - 8, 8):
        part = tuple(sentences[at : at + 8])
        yield Passage(at, part[0].start, part[-1].end, "1", "1", "", part)


def measured(say: Say, groups: Sequence[Sequence[Passage]]) -> dict[str, object]:
    chance = random.Random(7)
    said = cited = right = 0
    for given in groups:
        matcher = PassageMatcher()
        for passage in given:
            matcher.learn(passage)
        for sentence in given[len(given) // 2].sentences:
            plain = " ".join(sentence.text.split())
            if len(plain.split()) < 6 or not plain[0].isalpha():
                continue
            found = matcher.match(say(plain, chance))
            said, cited = said + 1, cited + bool(found)
            right += any(each.start == sentence.start for each in found)
    return {
        "sentences": say.__name__,
        "said": said,
        "cited %": round(100 * cited / said, 1),
        "of these by their own sentence %": round(100 * right / max(cited, 1), 1),
    }


def main() -> None:
    found = [*passages()]
    groups = [found[at : at + GIVEN] for at in range(0, len(found) - GIVEN, GIVEN)]
    for say in (*HONEST, *INVENTED):
        print(json.dumps(measured(say, groups)))


if __name__ == "__main__":
    main()
