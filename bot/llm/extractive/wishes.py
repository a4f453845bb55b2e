"""What a reader's message asks for: one wish or a few, each standing on its own."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.llm.extractive.follow_up import in_context
from bot.llm.extractive.intents import Count, Intent, Lookup, Remark, intent_of
from bot.llm.extractive.question import Question
from bot.llm.extractive.transcript import Transcript
from domain.library.search.sentences import split_sentences

MOST_WISHES = 3
_REMEMBERED = 6
"""Exchanges that follow-ups may reach back over."""

_SECOND_QUESTION = re.compile(
    r",? and (?=(?:what|where|when|who|whom|whose|why|how|which)\b)|,? und (?=(?:was|wo|wann|wer|warum|wie)\b)"
    r"|,? et (?=(?:où|quand|qui|pourquoi|comment)\b)|,? y (?=(?:qué|dónde|cuándo|quién|por qué|cómo)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]\W*$")


@dataclass(frozen=True, slots=True)
class Wish:
    """`question` is what is asked in full: what is looked up if the intent itself cannot be served."""

    intent: Intent
    question: Question


def wishes_of(transcript: Transcript) -> list[Wish]:
    """The wishes of the message that is to be answered."""
    past, answer = _past(transcript)
    whole = _wish(transcript.asked, past, answer, transcript)
    if not isinstance(whole.intent, Lookup):
        return [whole]
    asked: list[Wish] = []
    for part in _parts(transcript.asked):
        wish = _wish(part, past, answer, transcript)
        past = past if isinstance(wish.intent, Remark) else wish.question
        if _ASKS.search(part) or not isinstance(wish.intent, Lookup | Remark):
            asked.append(wish)
    return asked[:MOST_WISHES] or [whole]


def _wish(text: str, past: Question | None, answer: str, transcript: Transcript) -> Wish:
    question = in_context(text, past, answer)
    return Wish(intent_of(text, question, has_past=any(e.passages for e in transcript.earlier)), question)


def _past(transcript: Transcript) -> tuple[Question | None, str]:
    """The last question of the talk so far, itself understood from those before, and its answer."""
    past: Question | None = None
    answer = ""
    for exchange in transcript.earlier[-_REMEMBERED:]:
        question = in_context(exchange.question, past, answer)
        if isinstance(intent_of(exchange.question, question, has_past=True), Lookup | Count):
            past, answer = question, exchange.answer
    return past, answer


def _parts(text: str) -> Iterator[str]:
    for start, end in split_sentences(text):
        sentence = text[start:end]
        parts = _SECOND_QUESTION.split(sentence) if _ASKS.search(sentence) else [sentence]
        yield from (part if _ASKS.search(part) or len(parts) == 1 else f"{part}?" for part in parts if part.strip())
