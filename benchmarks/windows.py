"""A conversation of 40 turns: how much of what each turn sends first is a cached prefix, and what the whole costs.

Every turn makes one search of five passages and answers in two sentences. Compared are the history as the program cuts
it, in steps, and one that slides by the oldest turn at every message. Prices are those of `MODEL`; a cached prefix is
what stands, message for message, at the beginning of an earlier request.

    python -m benchmarks.windows [--turns 40] [--window 0]
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files

from bot.app import cost_in_microdollars
from bot.tools.book import BOOK_TOOLS
from domain.book import Passage, Sentence
from domain.chat import ChatMessage, MessageRole, PromptMessage, Prompts
from domain.strategies.window import ContextWindow, estimate
from domain.tool_use import TokenUsage, ToolInvocation
from domain.turn.history import FullHistoryStrategy, as_said

MODEL = "claude-sonnet-5-5"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SENTENCE = "The lamp at the top of the tower was dark that night, and nobody on the island knew why. "
Build = Callable[[Sequence[ChatMessage]], list[ChatMessage]]


@dataclass(frozen=True)
class Result:
    """Shares in percent of characters; cost in dollars."""

    cached: float
    cost: float
    longest: int


def turn(number: int) -> list[ChatMessage]:
    """A question, a search, five passages, an answer."""

    def message(at: int, role: MessageRole, content: str) -> ChatMessage:
        return ChatMessage(f"{number}.{at}", "c", role, content, NOW, turn_id=f"t{number}")

    found = tuple(passage(number * 10 + at) for at in range(5))
    call = ToolInvocation("search_book", {"query": f"lamp {number}", "top_k": 5}, f"call_{number}")
    note = "[Ann · has read to page 12 · 2026-01-01]"
    return [
        replace(message(0, MessageRole.USER, f"And who put out the lamp in night {number}?"), note=note),
        replace(message(1, MessageRole.ASSISTANT, ""), tool_invocations=(call,)),
        replace(message(2, MessageRole.TOOL_RESULT, ""), passages=found, tool_use_id=call.tool_use_id),
        message(3, MessageRole.ASSISTANT, f"In night {number} it was Hobb (p. 12). {SENTENCE} (p. 13)"),
    ]


def passage(number: int) -> Passage:
    start = number * 2_000
    sentences = tuple(Sentence(start + at * 90, start + at * 90 + 88, f"{number}. {SENTENCE}") for at in range(8))
    return Passage(number, start, start + 720, "12", "13", "The Lamp", sentences)


def sliding(most: int) -> Build:
    """The newest turns that fit, whole, whatever was sent before."""

    def build(history: Sequence[ChatMessage]) -> list[ChatMessage]:
        starts = [at for at in range(0, len(history), 4) if len(history) - at <= most]
        return list(history[starts[0] :]) if starts else []

    return build


def run(build: Build, turns: int) -> Result:
    fixed = PromptMessage("system", Prompts.load(files("prompts")).conversation_system.substitute(book="“A Book”"))
    tools = estimate([fixed], BOOK_TOOLS)
    history: list[ChatMessage] = []
    before: list[list[str]] = []
    sent = cached = longest = 0
    cost = 0
    for number in range(turns):
        new = turn(number)
        request = [*map(as_said, build(history)), as_said(new[0])]
        followed = [*request, *map(as_said, new[1:3])]
        first_cached = 0
        for asked in (request, followed):
            keys = [repr(message) for message in asked]
            same = max((_common(keys, earlier) for earlier in before), default=-1)
            whole = tools + estimate(asked)
            read = tools + estimate(asked[:same]) if same >= 0 else 0
            usage = TokenUsage(whole, 60, cache_read_tokens=read, cache_write_tokens=whole - read)
            cost += cost_in_microdollars("anthropic", MODEL, usage) or 0
            if asked is request:
                first_cached = read
                sent, longest = sent + whole, max(longest, whole)
            before = [*before[-3:], keys]
        cached += first_cached
        history = (history + new)[-4 * 20 :]
    return Result(100 * cached / sent, cost / 1_000_000, longest)


def _common(keys: Sequence[str], earlier: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(keys, earlier, strict=False)) if a != b), min(len(keys), len(earlier))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--messages", type=int, default=20)
    parser.add_argument("--window", type=int, default=0, help="tokens; 0: as large as need be")
    options = parser.parse_args()
    strategy = FullHistoryStrategy(options.messages, ContextWindow(options.window))
    results = {
        "sliding": run(sliding(options.messages), options.turns),
        "in steps": run(strategy.build_context, options.turns),
    }
    for name, result in results.items():
        told = {"history": name, "cached %": round(result.cached, 1), "cost $": round(result.cost, 3)}
        print(json.dumps({**told, "longest first request, tokens": result.longest}))


if __name__ == "__main__":
    main()
