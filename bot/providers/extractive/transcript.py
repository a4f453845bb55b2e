"""The talk so far, as a request tells it: what was asked, as it was meant, what was answered and quoted, and what this
turn has looked up.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any

from bot.providers.extractive.language import CAUSE, TYPED, WORDINGS, Language
from bot.providers.extractive.question import as_printed, asked_in
from bot.providers.extractive.quotation import FEWEST_REPEATED, clauses
from domain.book import Passage, Sentence
from domain.chat import Look, PromptKind, PromptMessage, looks_among
from domain.citations.quotations import fold
from domain.library.search.sentences import split_sentences
from domain.library.search.words import words_of

REMEMBERED = 6
"""Exchanges that follow-up questions may refer to."""


_NOT_ASKED = re.compile(
    r"```.*?(?:```|\Z)|<(?:[@#][!&]?|a?:\w+:|t:|id:|/[^<>\n]{1,99}:)[\w:]*>|@(?:everyone|here)\b"
    r"|\]\(<?(?:https?://|www\.)[^\s()<>]*>?\)|<?(?:\b[a-z][a-z+.-]{1,15}://|\bwww\.)[^\s<>]+>?|(?<![\w:]):[\w+-]+:(?![\w:])"
    r"|(?<=\W{8})\W+(?=\W{8})",
    re.IGNORECASE | re.DOTALL,
)
"""What is not asked: code, Discord's mentions, times, emoji, links (but for their words), the middle of many marks."""

_TYPED_WORD = re.compile(rf"(?<![\w'’.])(?:{'|'.join(TYPED)})(?![\w'’]|\.\s?\w)")

_SHOUTED = re.compile(r"\b[A-ZÀ-ÞА-ЯЁ]{2,}\b(?:\W+[A-ZÀ-ÞА-ЯЁ]+\b)+")
"""Two words or more in capitals."""

_SALUTATION = re.compile(WORDINGS["salutation"][0], re.IGNORECASE)
MOST_CHARACTERS = 2_000
"""Characters of a message that are analysed: the longest message a person can send."""


def as_meant(message: str) -> str:
    """A message without mentions, links and code, not shouted, and with words in full that people type in haste."""
    text = _NOT_ASKED.sub(" ", message[:MOST_CHARACTERS]).strip()
    text = _SHOUTED.sub(lambda found: found[0].lower(), text)
    return _TYPED_WORD.sub(lambda found: TYPED[found[0]], _SALUTATION.sub("", text))


@dataclass(frozen=True, slots=True)
class LastQuoted:
    """The last sentence in reading order that an answer quoted, and a passage with it."""

    sentence: Sentence
    passage: Passage


_REFERENCE = re.compile(r"\((?:about )?pp?\. [^()]*\)")


def last_quoted(answers: Iterable[tuple[str, Sequence[Passage]]]) -> LastQuoted | None:
    """The end of the first of these answers, each with its passages, that quoted anything: in the chapter it quoted
    most of.
    """
    for answer, passages in answers:
        told = fold(" ".join(_REFERENCE.split(answer)[:-1]))
        ends = {s: p for p in sorted(passages, key=lambda each: each.end) for s in p.sentences}
        words = {sentence: _quoted_words(sentence, told) for sentence in ends}
        least = min(max(words.values(), default=0), FEWEST_REPEATED)  # "Miss Prism." is everywhere
        if least > 1:
            quoted = [sentence for sentence in ends if words[sentence] >= least]
            share = Counter(ends[sentence].chapter for sentence in quoted for _ in range(words[sentence]))
            last = max(quoted, key=lambda each: (share[ends[each].chapter], each.end))
            return LastQuoted(last, ends[last])
    return None


def quoted_of(results: Iterable[Sequence[Passage]], answer: str, *, causes: bool) -> set[Sentence]:
    """The sentences of which an answer quotes enough to be noticed; those that state a cause only if `causes`."""
    told = fold(answer)
    every = {each for passages in results for passage in passages for each in passage.sentences}
    quoted = (each for each in every if _quoted_words(each, told) >= FEWEST_REPEATED)
    return {each for each in quoted if causes or not CAUSE.search(each.text)}


def _quoted_words(sentence: Sentence, answer: str) -> int:
    """The words of the longest clause of a sentence that a folded answer has."""
    parts = (fold(sentence.text[start:end]).strip(" \"'") for start, end in clauses(sentence.text))
    return max((len(words.split()) for words in parts if words in answer), default=0)


_BEFORE_QUOTED = re.compile(r"^[^“«„]*[“«„]")


def lines_quoted(answer: str) -> list[str]:
    """The last telling sentence of each quotation in an answer, before its reference to a page."""
    lines: list[str] = []
    for quoted in _REFERENCE.split(answer)[:-1]:
        sentences = [quoted[start:end] for start, end in split_sentences(quoted)]
        telling = [each.strip('> “”«»„"…\n') for each in sentences if len(words_of(each)) >= FEWEST_REPEATED]
        lines += [_BEFORE_QUOTED.sub("", each) for each in telling[-1:]]
    return lines


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier question, its answer, and the passages behind that."""

    question: str
    answer: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """`looks` are those of the running turn, made in `rounds` rounds; `handed_over` are passages that came with the
    question.

    `book` is what is known of the book, and whether it is `open`: a reader has finished it.
    """

    asked: str
    book: Mapping[str, Any]
    earlier: tuple[Exchange, ...] = ()
    looks: tuple[Look, ...] = ()
    handed_over: tuple[Passage, ...] = ()
    rounds: int = 0

    @property
    def results(self) -> list[tuple[Passage, ...]]:
        """The passages of each look; if nothing was looked up, those of the talk so far, the latest first."""
        found = [look.result.passages for look in self.looks if look.result.passages]
        if self.handed_over:
            return [self.handed_over, *found]
        return found if self.looks else [exchange.passages for exchange in reversed(self.earlier) if exchange.passages]

    @property
    def spoken(self) -> Language:
        """The language of the readers so far."""
        return reduce(
            lambda spoken, each: asked_in(each.question, spoken), self.earlier[-REMEMBERED:], Language.ENGLISH
        )

    @property
    def told(self) -> str:
        """The text of the results, once where several looks found it."""
        return " ".join(dict.fromkeys(passage.text for passages in self.results for passage in passages))

    @property
    def last_quoted(self) -> LastQuoted | None:
        """The end of the last answer that quoted anything: known, or found again if the history is without passages."""
        known = last_quoted((each.answer, each.passages) for each in reversed(self.earlier))
        again = self.passages_of("find_phrase")
        return known or (LastQuoted(again[0].sentences[-1], again[0]) if again else None)

    @property
    def last_lines(self) -> list[str]:
        """The last sentence of each quotation of the last answer that had any."""
        return next(filter(None, (lines_quoted(each.answer) for each in reversed(self.earlier))), [])

    @property
    def missing(self) -> dict[str, list[str]]:
        """Words of the turn's searches that the book does not have, each with similarly spelt names."""
        data = ((look.result.data or {}).get("missing", {}) for look in self.looks)
        return {word: spelt for missing in data for word, spelt in missing.items()}

    @property
    def listed(self) -> Sequence[Mapping[str, Any]]:
        """The chapters in the table of contents, if it was looked up."""
        looks = self.looks_for("table_of_contents")
        return (looks[-1].result.data or {}).get("chapters", ()) if looks else ()

    @property
    def has_failed(self) -> bool:
        """Whether the turn has looked something up, and found nothing but errors."""
        return bool(self.looks) and all(look.result.is_error for look in self.looks)

    def passages_of(self, tool: str, /, **arguments: str) -> list[Passage]:
        """What those looks have found."""
        return [passage for look in self.looks_for(tool, **arguments) for passage in look.result.passages]

    def looks_for(self, tool: str, /, **arguments: str) -> list[Look]:
        """The looks made with a tool and these arguments, possibly among others."""
        return [
            look
            for look in self.looks
            if look.call.tool_name == tool and all(look.call.arguments.get(k) == v for k, v in arguments.items())
        ]


def transcribe(messages: Sequence[PromptMessage]) -> Transcript:
    """Read the messages of a request."""
    spoken = [_as_asked(m) for m in messages if m.role != "system" and m.kind is not PromptKind.NUDGE]
    about = next((m.data for m in messages if m.role == "system" and m.data), {})
    turns = list(_turns(spoken))
    asked, since = turns[-1] if turns else ([], [])
    return Transcript(
        asked=_words(asked),
        book={"title": "", "author": "", "open": True, **about},
        earlier=tuple(_exchange(*turn) for turn in turns[:-1]),
        looks=tuple(looks_among(since)),
        handed_over=tuple(p for m in asked if m.kind is PromptKind.PASSAGES for p in m.passages),
        rounds=sum(bool(message.tool_invocations) for message in since),
    )


def _words(asked: Sequence[PromptMessage]) -> str:
    return as_meant("\n".join(message.content for message in asked))


def _as_asked(message: PromptMessage) -> PromptMessage:
    """A message with passages: the reader's own words, and the passages."""
    if message.kind is not PromptKind.PASSAGES or message.data is None:
        return message
    return replace(message, content=message.data["message"], passages=tuple(message.data["passages"]))


def _turns(messages: Sequence[PromptMessage]) -> Iterator[tuple[list[PromptMessage], list[PromptMessage]]]:
    """Consecutive messages of readers, and what followed from them; from unanswered ones nothing."""
    asked: list[PromptMessage] = []
    for (is_reader, _), group in groupby(messages, key=lambda m: (m.role == "user", m.kind is PromptKind.UNANSWERED)):
        if is_reader:
            if asked:
                yield asked, []
            asked = list(group)
        elif asked:
            yield asked, list(group)
            asked = []
    if asked:
        yield asked, []


def _exchange(asked: Sequence[PromptMessage], since: Sequence[PromptMessage]) -> Exchange:
    passages = tuple(passage for message in since for passage in message.passages)
    answer = "\n".join(m.content for m in since if m.role == "assistant" and not m.tool_invocations)
    return Exchange(as_printed(_words(asked), " ".join(passage.text for passage in passages)), answer, passages)
