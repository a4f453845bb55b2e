"""What the messages of a request come to: the talk so far, what is asked, what was looked up."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from domain.book import Passage
from domain.chat import PromptMessage
from domain.strategies.transcript import NUDGE
from domain.tool_use import ToolDefinition, ToolInvocation

_MOST_CHARACTERS = 2_000
"""Of a message that are looked at: the longest that Discord lets a person write."""

_READING = re.compile(r"has read to page\b")
_BOOK = re.compile(r"about a single book: (.+)\.$", re.MULTILINE)
_QUOTATION_MARKS = str.maketrans("", "", "“”")


@dataclass(frozen=True, slots=True)
class Look:
    """A tool call of the running turn and what came of it."""

    call: ToolInvocation
    result: PromptMessage


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked before, what was answered, and the passages behind it."""

    question: str
    answer: str
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """`looks` are those of the running turn, made in `rounds` rounds. `reading` says that a reader is not through with
    the book; `book` names it, if anybody told."""

    asked: str
    earlier: tuple[Exchange, ...] = ()
    looks: tuple[Look, ...] = ()
    rounds: int = 0
    reading: bool = False
    book: str = ""

    @property
    def results(self) -> list[tuple[Passage, ...]]:
        """The passages of each look; where nothing was looked up, those of the talk so far, the latest first."""
        found = [look.result.passages for look in self.looks if look.result.passages]
        return found if self.looks else [exchange.passages for exchange in reversed(self.earlier) if exchange.passages]

    def looks_for(self, tool: str, /, **arguments: str) -> list[Look]:
        """The looks made with a tool and these arguments, perhaps among others."""
        return [
            look
            for look in self.looks
            if look.call.tool_name == tool and all(look.call.arguments.get(k) == v for k, v in arguments.items())
        ]


def transcribe(messages: Sequence[PromptMessage]) -> Transcript:
    """Read the messages of a request."""
    spoken = [m for m in messages if m.role != "system" and not (m.role == "user" and m.content == NUDGE)]
    turns = list(_turns(spoken))
    if not turns:
        return Transcript("", book=_book(messages))
    asked, since = turns[-1]
    looks = tuple(_looks(since))
    return Transcript(
        asked="\n".join(message.content for message in asked)[:_MOST_CHARACTERS],
        earlier=tuple(_exchange(*turn) for turn in turns[:-1]),
        looks=looks,
        rounds=sum(bool(message.tool_invocations) for message in since),
        reading=any(_READING.search(message.note) for message in asked),
        book=_book(messages),
    )


def _turns(messages: Sequence[PromptMessage]) -> Iterator[tuple[list[PromptMessage], list[PromptMessage]]]:
    """Readers' messages in a row, and what came of them."""
    asked: list[PromptMessage] = []
    for is_reader, group in groupby(messages, key=lambda message: message.role == "user"):
        if is_reader:
            asked = list(group)
        elif asked:
            yield asked, list(group)
            asked = []
    if asked:
        yield asked, []


def _exchange(asked: Sequence[PromptMessage], since: Sequence[PromptMessage]) -> Exchange:
    return Exchange(
        question="\n".join(message.content for message in asked)[:_MOST_CHARACTERS],
        answer="\n".join(m.content for m in since if m.role == "assistant" and not m.tool_invocations),
        passages=tuple(passage for message in since for passage in message.passages),
    )


def _looks(since: Sequence[PromptMessage]) -> Iterator[Look]:
    calls = {call.tool_use_id: call for message in since for call in message.tool_invocations or ()}
    for message in since:
        if message.role == "tool_result" and message.tool_use_id in calls:
            yield Look(calls[message.tool_use_id], message)


def _book(messages: Sequence[PromptMessage]) -> str:
    """The book's name in the system text, without quotation marks: they are kept for what stands in the book."""
    named = (_BOOK.search(message.content) for message in messages if message.role == "system")
    return next((found[1].translate(_QUOTATION_MARKS) for found in named if found), "")


class OfferedTools:
    """Makes calls. `seed` is what the ids of the calls are made from: the same request brings the same ids."""

    def __init__(self, definitions: Sequence[ToolDefinition], seed: str) -> None:
        self._parameters = {definition.name: definition.parameters for definition in definitions}
        self._seed = seed

    def call(self, name: str, /, **arguments: Any) -> list[ToolInvocation]:
        """The call in a list, or none where the tool is not offered or wants something that is not known here."""
        if name not in self._parameters:
            return []
        schema = self._parameters[name]
        properties: dict[str, Any] = schema.get("properties") or {}
        known = {key: value for key, value in arguments.items() if key in properties and value != []}
        fitting = {key: _bounded(value, properties[key]) for key, value in known.items()}
        if not set(schema.get("required") or ()) <= set(fitting):
            return []
        return [ToolInvocation(name, fitting, self._id(name, fitting))]

    def _id(self, name: str, arguments: dict[str, Any]) -> str:
        digest = hashlib.blake2s(f"{self._seed}\n{name}\n{arguments}".encode(errors="replace"), digest_size=6)
        return f"look_{digest.hexdigest()}"


def _bounded(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, int) and isinstance(most := schema.get("maximum"), int):
        return min(value, most)
    if isinstance(value, list) and isinstance(most := schema.get("maxItems"), int):
        return value[:most]
    return value
