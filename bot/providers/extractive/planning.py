"""What to look up: the calls a wish begins with, and a second round where the first was not enough."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.providers.extractive.follow_up import in_context
from bot.providers.extractive.intents import (
    ContentsList,
    Count,
    Intent,
    Line,
    Lookup,
    Onward,
    Overview,
    Pages,
    Position,
    Remark,
    intent_of,
)
from bot.providers.extractive.overview import MOST_PLACES, last_quoted
from bot.providers.extractive.question import Question, QuestionKind
from bot.providers.extractive.scoring import Choices, Confidence
from bot.providers.extractive.transcript import OfferedTools, Transcript
from domain.library.search.sentences import split_sentences
from domain.tool_use import ToolInvocation

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


PASSAGES, MORE_PASSAGES = 8, 16
"""Passages of a first and of a second search: for nine questions of ten the answer is in the first eight."""


def next_calls(wishes: Sequence[Wish], choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    """The calls to make now, none when it is time to answer."""
    rounds = (_first_calls, _second_calls)
    if choices.transcript.rounds >= len(rounds):
        return []
    calls = [call for wish in wishes for call in rounds[choices.transcript.rounds](wish, choices, tools)]
    made = [(look.call.tool_name, look.call.arguments) for look in choices.transcript.looks]
    new = {call.tool_use_id: call for call in calls if (call.tool_name, call.arguments) not in made}
    return list(new.values())


def _first_calls(wish: Wish, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    match wish.intent:
        case Remark():
            return []
        case Position(page):
            return tools.call("propose_position", page=page)
        case Overview(chapter):
            return tools.call("story_so_far", chapter=chapter) if chapter is not None else tools.call("story_so_far")
        case Count(term, _):
            calls = tools.call("count_mentions", term=term)
        case Line(text, _):
            calls = tools.call("find_phrase", text=text)
        case Pages(first, last, _):
            calls = tools.call("read_pages", **{"from": first, "to": last})
        case ContentsList():
            calls = tools.call("table_of_contents")
        case Onward():
            quoted = last_quoted(choices.transcript)
            calls = tools.call("read_around", passage=quoted.passage.source, before=0, after=1) if quoted else []
        case Lookup(question):
            calls = _introduction(question, tools)
            return _search(question, tools) + calls
    return calls or _search(wish.question, tools)


def _second_calls(wish: Wish, choices: Choices, tools: OfferedTools) -> list[ToolInvocation]:
    transcript = choices.transcript
    match wish.intent:
        case Lookup(question):
            enough = not transcript.results or choices.of(question).confidence is Confidence.FIRM
            return _first_scene(question, transcript, tools) + ([] if enough else _search_again(question, tools))
        case Line(text, _):
            looks = transcript.looks_for("find_phrase", text=text)
            hits = [passage for look in looks for passage in look.result.passages][:MOST_PLACES]
            around = [call for hit in hits for call in tools.call("read_around", passage=hit.source, before=1, after=1)]
            return around if hits else _search(wish.question, tools)
        case _:
            return []


def _search(question: Question, tools: OfferedTools) -> list[ToolInvocation]:
    return tools.call("search_book", query=question.query, top_k=PASSAGES, also=_other_phrasings(question))


def _search_again(question: Question, tools: OfferedTools) -> list[ToolInvocation]:
    """Wider and word by word: what the first search missed may share but one word with the question."""
    words = sorted((term.word for term in question.terms), key=len, reverse=True)
    return tools.call("search_book", query=question.query, top_k=MORE_PASSAGES, also=words)


def _introduction(question: Question, tools: OfferedTools) -> list[ToolInvocation]:
    """Who somebody is tends to be said where the name falls first, and counting finds that place."""
    if question.kind is not QuestionKind.WHO_IS or not question.names:
        return []
    name = " ".join(question.name_words)
    return tools.call("who_is", name=name) or tools.call("count_mentions", term=name)


def _first_scene(question: Question, transcript: Transcript, tools: OfferedTools) -> list[ToolInvocation]:
    looks = transcript.looks_for("count_mentions", term=" ".join(question.name_words))
    first = next((look.result.passages[0] for look in looks if look.result.passages), None)
    return tools.call("read_around", passage=first.source, before=1, after=1) if first else []


def _other_phrasings(question: Question) -> list[str]:
    """The two halves of a question that has a setting; else the names alone."""
    setting = [term.word for term in question.terms if term.stem in question.setting]
    main = [term.word for term in question.terms if term.stem not in question.setting]
    parts = (main, setting) if setting and main else (question.name_words,)
    phrasings = dict.fromkeys(" ".join(words) for words in parts if words)
    return [phrasing for phrasing in phrasings if phrasing != question.query]
