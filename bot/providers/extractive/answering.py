"""The answer in words, from what was looked up."""

import json
from collections.abc import Sequence

from bot.providers.extractive.cues import CUES
from bot.providers.extractive.intents import ContentsList, Count, Line, Onward, Overview, Pages, Position, Remark
from bot.providers.extractive.overview import contents, count, line, onward, overview, page_text
from bot.providers.extractive.planning import Wish
from bot.providers.extractive.question import Question, QuestionKind
from bot.providers.extractive.quoting import introduce, quotations, render
from bot.providers.extractive.scoring import MOST_PIECES, Choice, Choices, Confidence, has_number
from bot.providers.extractive.transcript import Look, Transcript
from bot.providers.extractive.wording import PHRASES, Phrases

_PIECES_WHEN_UNSURE = 3


def answer_to(wishes: Sequence[Wish], choices: Choices) -> str:
    """One paragraph for each wish; never empty."""
    return "\n\n".join(dict.fromkeys(_answer(wish, choices) for wish in wishes))


def _answer(wish: Wish, choices: Choices) -> str:
    transcript = choices.transcript
    phrases = PHRASES[wish.question.language]
    intent = wish.intent
    if failed := _failure(transcript):
        return phrases.failed.format(failed)
    match intent:
        case Remark(reply):
            return _remark(reply, transcript, phrases)
        case Count():
            said = count(intent, transcript, wish.question.language)
        case Line():
            said = line(intent, transcript, wish.question.language)
        case Pages(_, _, None):
            said = page_text(intent, transcript, wish.question.language)
        case ContentsList():
            said = contents(transcript, phrases)
        case Overview():
            said = overview(intent, transcript, wish.question.language) or phrases.no_summary
        case Position():
            said = phrases.proposed if transcript.looks_for("propose_position") else phrases.position
        case Onward():
            said = onward(transcript, wish.question.language)
        case Pages(_, _, question) if question:
            return _lookup(question, choices)
        case _:
            said = ""
    return said or _lookup(wish.question, choices)


def _remark(reply: str, transcript: Transcript, phrases: Phrases) -> str:
    if reply == "book":
        return phrases.book.format(transcript.book) if transcript.book else phrases.abilities
    return str(getattr(phrases, reply))


def _failure(transcript: Transcript) -> str:
    """What went wrong, if nothing else came of the looks."""
    failed = [look for look in transcript.looks if look.result.is_error]
    return _reason(failed[0]) if failed and len(failed) == len(transcript.looks) else ""


def _reason(look: Look) -> str:
    try:
        told = json.loads(look.result.content)
    except ValueError:
        told = None
    reason = told.get("error") if isinstance(told, dict) else look.result.content
    return " ".join(str(reason).split())[:300] or look.call.tool_name


def _lookup(question: Question, choices: Choices) -> str:
    phrases = PHRASES[question.language]
    choice = choices.of(question)
    if choice.confidence is Confidence.NONE:
        return phrases.nothing_yet if choices.transcript.reading else phrases.nothing
    most = MOST_PIECES if choice.confidence is Confidence.FIRM else _PIECES_WHEN_UNSURE
    quoted = quotations(choice.candidates[:most])
    rendered = render(quoted, question.language)
    if choice.confidence is Confidence.NEAR:
        return introduce(phrases.near, rendered)
    return introduce(_lead(question, choice, phrases, several=len(quoted) > 1), rendered)


def _lead(question: Question, choice: Choice, phrases: Phrases, *, several: bool) -> str:
    cues = CUES[question.language]
    texts = [candidate.text for candidate in choice.candidates]
    match question.kind:
        case QuestionKind.HOW_MANY if not any(has_number(cues, text, question) for text in texts):
            return phrases.no_number
        case QuestionKind.WHEN if not any(cues.time.search(text) for text in texts):
            return phrases.no_time
        case QuestionKind.WHY:
            reasoned = any(p.search(text) for text in texts for p in (cues.reason, cues.because))
            return phrases.reason if reasoned else phrases.came_about
        case _:
            return phrases.found if several else ""
