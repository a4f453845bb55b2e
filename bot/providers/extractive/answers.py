"""The answer in words, from what was looked up."""

from collections.abc import Sequence

from bot.providers.extractive.intents import (
    ContentsList,
    Count,
    Intent,
    Line,
    Onward,
    Overview,
    Pages,
    Position,
    Remark,
)
from bot.providers.extractive.language import CUES
from bot.providers.extractive.overview import contents, count, line, onward, overview, page_text
from bot.providers.extractive.planning import Choices, OfferedTools, Transcript, Wish, next_calls, transcribe, wishes_of
from bot.providers.extractive.question import Question, QuestionKind, standalone_query, title_of
from bot.providers.extractive.quotation import introduce, quotations, render
from bot.providers.extractive.scoring import Choice, Confidence, has_number
from bot.providers.extractive.wording import PHRASES, Phrases
from domain.chat import PromptKind, PromptMessage
from domain.tool_use import ChatResponse, ToolDefinition


def reply_to(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """What to say to these messages; it depends on nothing else."""
    if messages and (written := _written_for(messages[-1])) is not None:
        return ChatResponse(text=written)
    transcript = transcribe(messages)
    wishes = wishes_of(transcript)
    choices = Choices(transcript, questions=len(wishes))
    calls = next_calls(wishes, choices, OfferedTools(tools, seed=f"{len(messages)} {transcript.asked}"))
    return ChatResponse(tool_invocations=calls) if calls else ChatResponse(text=answer_to(wishes, choices))


def _written_for(prompt: PromptMessage) -> str | None:
    """The title or query that a prompt asks for, nothing for a summary; None where it is a message of a talk."""
    data = prompt.data or {}
    match prompt.kind:
        case PromptKind.TITLE:
            return title_of(data["question"])
        case PromptKind.SEARCH_QUERY:
            return standalone_query(data["history"], data["message"])
        case PromptKind.SUMMARY:
            return ""
        case _:
            return None


def answer_to(wishes: Sequence[Wish], choices: Choices) -> str:
    """One paragraph for each wish; never empty."""
    return "\n\n".join(dict.fromkeys(filter(None, (_answer(wish, choices) for wish in wishes))))


def _answer(wish: Wish, choices: Choices) -> str:
    transcript = choices.transcript
    phrases = PHRASES[wish.question.language]
    intent = wish.intent
    if _all_failed(transcript):
        return _failure(intent, phrases)
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
        return _book(transcript, phrases)
    return str(getattr(phrases, reply))


def _book(transcript: Transcript, phrases: Phrases) -> str:
    if not transcript.title:
        return phrases.abilities
    return (
        phrases.book.format(transcript.title, transcript.author)
        if transcript.author
        else phrases.title.format(transcript.title)
    )


def _all_failed(transcript: Transcript) -> bool:
    return bool(transcript.looks) and all(look.result.is_error for look in transcript.looks)


def _failure(intent: Intent, phrases: Phrases) -> str:
    """What cannot be had. A tool says why in words meant for a model; what was asked for is known here."""
    match intent:
        case Pages():
            return phrases.no_page
        case Overview(int() | str(), _):
            return phrases.no_chapter
        case _:
            return phrases.failed


def _lookup(question: Question, choices: Choices) -> str:
    phrases, reading = PHRASES[question.language], choices.transcript.reading
    choice = choices.of(question)
    unknown = choices.unknown(question)
    if choice.candidates and not choices.still_to_quote(choice).candidates:
        return ""  # another question of the message has brought all of it
    answer = "" if unknown else _quoted(choices.as_looked_up(question), choices.still_to_quote(choice), phrases)
    choices.quoted.update(choice.candidates)
    if not answer:
        return _nothing(unknown or choices.missing(question), phrases, reading=reading)
    meant = [phrases.did_you_mean.format(word, spelt) for word, spelt in choices.mended(question).items()]
    foreign = [phrases.foreign] if choices.as_looked_up(question).language is not question.language else []
    return "\n\n".join([*meant, *foreign, answer])


def _nothing(words: Sequence[str], phrases: Phrases, *, reading: bool) -> str:
    """That nothing was found, and about what, as far as that is known."""
    if not words:
        return phrases.nothing_yet if reading else phrases.nothing
    listed = ", ".join(f"*{word}*" for word in dict.fromkeys(words))
    return (phrases.nothing_about_yet if reading else phrases.nothing_about).format(listed)


def _quoted(question: Question, choice: Choice, phrases: Phrases) -> str:
    """What is quoted with its lead-in; empty where nothing is."""
    if choice.confidence is Confidence.NONE:
        return ""
    quoted = quotations(choice.candidates)
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
        case _ if choice.confidence is Confidence.LIKELY:
            return phrases.likely
        case QuestionKind.WHY:
            reasoned = any(p.search(text) for text in texts for p in (cues.reason, cues.because))
            return phrases.reason if reasoned else phrases.came_about
        case _:
            return phrases.found if several else ""
