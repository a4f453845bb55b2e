"""Answers to "and then?": what follows in the book on what was quoted last."""

from dataclasses import dataclass

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.choice import MOST_WORDS
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES
from bot.llm.extractive.quoting import introduce, quotations, render
from bot.llm.extractive.transcript import Transcript
from domain.book import Passage, Sentence
from domain.citations.quotations import fold


@dataclass(frozen=True, slots=True)
class LastQuoted:
    """The sentence furthest on in the book that the last answer quoted, and a passage that has it."""

    sentence: Sentence
    passage: Passage


def last_quoted(transcript: Transcript) -> LastQuoted | None:
    """What the last answer that quoted anything ended with."""
    for exchange in reversed(transcript.earlier):
        answer = fold(exchange.answer)
        quoted = [LastQuoted(s, p) for p in exchange.passages for s in p.sentences if _is_quoted(s, answer)]
        if quoted:
            return max(quoted, key=lambda found: (found.sentence.end, found.passage.end))
    return None


def onward(transcript: Transcript, language: Language) -> str:
    """What follows; empty where nothing was quoted before."""
    quoted = last_quoted(transcript)
    if quoted is None:
        return ""
    phrases = PHRASES[language]
    read = [p for look in transcript.looks_for("read_around") for p in look.result.passages] or [quoted.passage]
    following = [candidate for candidate in gather([read], language) if candidate.start >= quoted.sentence.end]
    if not following:
        return phrases.no_more
    kept = _opening(following)
    return introduce(phrases.onward, render(quotations(kept), language))


def _is_quoted(sentence: Sentence, answer: str) -> bool:
    words = fold(sentence.text).strip(" \"'")
    return len(words.split()) > 1 and words in answer


def _opening(following: list[Candidate]) -> list[Candidate]:
    kept, words = following[:1], following[0].length
    for candidate in following[1:]:
        words += candidate.length
        if words > MOST_WORDS or candidate.run != kept[0].run:
            break
        kept.append(candidate)
    return kept
