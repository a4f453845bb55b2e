"""The two other things models are asked for: a title for a conversation, and a query from its last message."""

import re

from bot.llm.extractive.follow_up import in_context
from bot.llm.extractive.question import Question, analyse

_TITLE = re.compile(r"^Reader: (.*?)\n+Answer: ", re.DOTALL | re.MULTILINE)
_REFORMULATION = re.compile(r"^Conversation so far:\n(.*?)\n+Last message:\n(.*)", re.DOTALL | re.MULTILINE)
_SPOKEN = re.compile(r"^(user|assistant): (.*?)(?=^(?:user|assistant): |\Z)", re.DOTALL | re.MULTILINE)
_MOST_WORDS = 6
_EDGES = " .,;:!?…“”\"«»„‘’'()[]"
_UNTITLED = "About the book"


def written_for(prompt: str) -> str | None:
    """What a prompt of one of these two kinds asks for; None where it is none of them."""
    if found := _TITLE.search(prompt):
        return _title(analyse(found[1]))
    if found := _REFORMULATION.search(prompt):
        return _reformulated(found[1], found[2])
    return None


def _title(question: Question) -> str:
    """The question from its first telling word to its last, without what only asks."""
    words = [word.strip(_EDGES) for word in question.text.split()]
    telling = {word.strip(_EDGES) for term in question.terms for word in term.word.split()}
    places = [place for place, word in enumerate(words) if word in telling]
    if not places:
        return _UNTITLED
    last = max(place for place in places if place < places[0] + _MOST_WORDS)
    title = " ".join(words[places[0] : last + 1])
    return title[:1].upper() + title[1:]


def _reformulated(history: str, message: str) -> str:
    past: Question | None = None
    asked, answer = "", ""
    for role, text in _SPOKEN.findall(history):
        if role == "user":
            asked = text.strip()
        elif asked:
            past, answer, asked = in_context(asked, past, answer), text, ""
    return in_context(message.strip(), past, answer).query
