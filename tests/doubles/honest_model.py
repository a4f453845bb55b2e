"""A small honest model: it looks a question up, then answers with sentences it found, and cites them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.doubles.script import Call, Cite, Reply, Text, say

SEARCH = "search_book"
NOTHING_FOUND = "I could not find anything about that in the book."


@dataclass(frozen=True, slots=True)
class Finding:
    """A search result as the model sees it."""

    source: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a request comes down to: the last words of a person, and what the tools have brought since."""

    question: str
    tools: tuple[str, ...]
    answered: bool
    findings: tuple[Finding, ...] = ()


def honest_reply(prompt: Prompt) -> Reply:
    """A call of search_book with the person's words; once there are results, up to two sentences that fit best."""
    if SEARCH in prompt.tools and not prompt.answered:
        return say("Let me look that up.", Call(SEARCH, {"query": prompt.question}))
    best = _best_sentences(prompt.question, prompt.findings)
    if not best:
        return say(NOTHING_FOUND)
    return say(*(Text(f"{' '.join(sentence.split())} ", (cite,)) for sentence, cite in best))


def last_line(text: str) -> str:
    """A person's words without the note about them that stands above."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def _best_sentences(question: str, findings: Sequence[Finding]) -> list[tuple[str, Cite]]:
    wanted = _words(question)
    found = [
        (sentence, Cite(finding.source, place, place + 1))
        for finding in findings
        for place, sentence in enumerate(finding.sentences)
    ]
    return sorted(found, key=lambda pair: -len(wanted & _words(pair[0])))[:2]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}
