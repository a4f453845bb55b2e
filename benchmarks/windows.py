"""A conversation of 40 turns: how much of what is sent to a model stands in its prompt cache.

A cached prefix is what stands, message for message, at the beginning of an earlier request.

With tools, every turn makes one search of five passages and answers in about 50 tokens (`--answers`). Compared are the
history as the program cuts it, in steps, and one that slides by the oldest turn at every message: the cached share of
the first request of each turn, and the cost of all requests at the prices of `MODEL`. `new %` is the share of what no
request has had before: it cannot be in any cache, whatever is cut, and when.

Without tools, every turn asks for a search query and then for an answer to eight passages. Compared are what the
program sends; the same with the query asked for outside the conversation; and a conversation in which the passages of
earlier turns stay until they are cut. In percent, the cached share of

first      the first request of each turn, which asks for a query
new        the same requests: what no request has had before
answers    the requests for answers

and in tokens per turn

sent       all requests
read       what is not in the cache, if all requests of the last turns are
one slot   what is not in the cache, if only the last request is, as on a server with one slot

    python -m benchmarks.windows [--turns 40] [--messages 20] [--answers 50] [--window 4096 8192 32768 200000]
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import product

from bot.app import cost_in_microdollars
from bot.tools.book import BOOK_TOOLS
from domain.book import Passage, Sentence
from domain.chat import ChatMessage, MessageRole, PromptKind, PromptMessage, Prompts
from domain.strategies.always_retrieve import PASSAGES, AlwaysRetrieveStrategy, ChatOnlyProvider
from domain.strategies.window import ContextWindow, estimate, estimate_text, fit
from domain.tool_use import TokenUsage, ToolInvocation, ToolResult
from domain.turn.history import FullHistoryStrategy, as_said, without_calls

MODEL = "claude-sonnet-5-5"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SENTENCE = "The lamp at the top of the tower was dark that night, and nobody on the island knew why. "
WINDOWS = (4_096, 8_192, 32_768, 200_000)
SENTENCES = 6
"""In a passage without tools: eight of them have as many words as those found in a novel, 870."""
PROMPTS = Prompts.load(files("prompts"))
SYSTEM = PromptMessage("system", PROMPTS.conversation_system.substitute(book="“A Book”"))
Build = Callable[[Sequence[ChatMessage]], list[ChatMessage]]


@dataclass(frozen=True)
class Result:
    """Shares in percent of characters; cost in dollars."""

    cached: float
    new: float
    cost: float
    longest: int


def turn(number: int, tokens: int, passages: int = 5, sentences: int = 8) -> list[ChatMessage]:
    """A question, a search, its passages, an answer of so many tokens."""

    def message(at: int, role: MessageRole, content: str) -> ChatMessage:
        return ChatMessage(f"{number}.{at}", "c", role, content, NOW, turn_id=f"t{number}")

    found = tuple(passage(number * 10 + at, sentences) for at in range(passages))
    call = ToolInvocation("search_book", {"query": f"lamp {number}", "top_k": passages}, f"call_{number}")
    said = SENTENCE * max(round((tokens - 20) / estimate_text(SENTENCE)), 1)
    note = "[Ann · has read to page 12 · 2026-01-01]"
    return [
        replace(message(0, MessageRole.USER, f"And who put out the lamp in night {number}?"), note=note),
        replace(message(1, MessageRole.ASSISTANT, ""), tool_invocations=(call,)),
        replace(message(2, MessageRole.TOOL_RESULT, ""), passages=found, tool_use_id=call.tool_use_id),
        message(3, MessageRole.ASSISTANT, f"In night {number} it was Hobb (p. 12). {said}(p. 13)"),
    ]


def passage(number: int, length: int) -> Passage:
    start = number * 2_000
    sentences = tuple(Sentence(start + at * 90, start + at * 90 + 88, f"{number}. {SENTENCE}") for at in range(length))
    return Passage(number, start, start + length * 90, "12", "13", "The Lamp", sentences)


def sliding(most: int) -> Build:
    """The newest turns that fit, whole, whatever was sent before."""

    def build(history: Sequence[ChatMessage]) -> list[ChatMessage]:
        starts = [at for at in range(0, len(history), 4) if len(history) - at <= most]
        return list(history[starts[0] :]) if starts else []

    return build


def run(build: Build, turns: int, answers: int) -> Result:
    tools = estimate([SYSTEM], BOOK_TOOLS)
    history: list[ChatMessage] = []
    before: list[list[str]] = []
    seen: set[str] = set()
    sent = cached = new_tokens = longest = 0
    cost = 0
    for number in range(turns):
        new = turn(number, answers)
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
                new_tokens += _never_sent(asked, keys, seen) if seen else whole
            before = [*before[-3:], keys]
            seen.update(keys)
        cached += first_cached
        history = (history + new)[-4 * 20 :]
    return Result(100 * cached / sent, 100 * new_tokens / sent, cost / 1_000_000, longest)


def _never_sent(messages: Sequence[PromptMessage], keys: Sequence[str], seen: Collection[str]) -> int:
    """The tokens of the messages whose keys no request has had before."""
    return estimate([message for message, key in zip(messages, keys, strict=True) if key not in seen])


def _common(keys: Sequence[str], earlier: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(keys, earlier, strict=False)) if a != b), min(len(keys), len(earlier))
    )


class Recorder:
    """A model that asks for the question itself, answers as planned, and keeps its requests."""

    def __init__(self) -> None:
        self.requests: list[list[PromptMessage]] = []
        self.answer = ""

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        self.requests.append([*messages])
        return self.answer


Requests = list[list[PromptMessage]]
"""Those of a turn: for a query, except in the first turn, and for the answer."""


async def sent_without_tools(turns: int, most: int, window: int, answers: int) -> tuple[list[Requests], list[Requests]]:
    """What is sent, turn by turn: by the program, and if the passages of earlier turns stay."""
    known = ContextWindow(window)
    history, keeping = FullHistoryStrategy(most, known), FullHistoryStrategy(most, known)
    strategy = AlwaysRetrieveStrategy(PROMPTS, known)
    said: list[ChatMessage] = []
    shown: dict[str | None, PromptMessage] = {}
    sent, kept = [], []
    for number in range(turns):
        asked, call, found, answer = turn(number, answers, PASSAGES, SENTENCES)
        model = Recorder()
        model.answer = answer.content

        async def dispatch(name: str, arguments: dict[str, object], found: ChatMessage = found) -> ToolResult:
            return ToolResult("", passages=found.passages)

        past = map(as_said, history.build_context(without_calls(said)))
        events = strategy.execute(ChatOnlyProvider(model), [SYSTEM, *past, as_said(asked)], (), dispatch)
        _ = [event async for event in events]
        sent.append(model.requests)
        with_passages = _with_passages(keeping.build_context(said), shown)
        kept.append(
            [
                fit([SYSTEM, *with_passages, request[-1]], (), len(with_passages) + 1, known.prompt_tokens)
                for request in model.requests
            ]
        )
        shown[asked.turn_id] = model.requests[-1][-1]
        said = [*said, asked, call, found, answer][-4 * history.reach :]
    return sent, kept


def _with_passages(past: Sequence[ChatMessage], shown: dict[str | None, PromptMessage]) -> list[PromptMessage]:
    """Past turns; those whose results the history still has are as they were sent."""
    whole = {message.turn_id for message in past if message.passages}
    return [
        shown[each.turn_id] if each.role is MessageRole.USER and each.turn_id in whole else as_said(each)
        for each in without_calls(past)
    ]


def asked_apart(turns: Sequence[Requests]) -> list[Requests]:
    """The same requests, but those for a query have a few messages in one and no system prompt."""

    def apart(request: list[PromptMessage]) -> list[PromptMessage]:
        talk = "\n".join(message.content for message in request[1:][-7:])
        return [replace(request[-1], content=talk)] if request[-1].kind is PromptKind.SEARCH_QUERY else request

    return [[*map(apart, requests)] for requests in turns]


def figures(turns: Sequence[Requests]) -> dict[str, float]:
    """The cached share of the first request of each turn, and of those for answers; all tokens, per turn."""
    earlier: list[list[str]] = []
    seen: set[str] = set()
    sent = read = one_slot = first = first_cached = first_new = answers = cached = longest = 0
    for requests in turns:
        for request in requests:
            keys = [f"{message.role} {message.text}" for message in request]
            size = estimate(request)
            known = estimate(request[: max((_common(keys, each) for each in earlier), default=0)])
            last = estimate(request[: _common(keys, earlier[-1])]) if earlier else 0
            sent, read, one_slot = sent + size, read + size - known, one_slot + size - last
            longest = max(longest, size)
            if request is requests[0]:
                first, first_cached = first + size, first_cached + known
                first_new += _never_sent(request, keys, seen)
            if request is requests[-1]:
                answers, cached = answers + size, cached + known
            earlier = [*earlier[-7:], keys]
            seen.update(keys)
    per_turn = {"sent": sent, "read": read, "one slot": one_slot}
    return {
        "first %": round(100 * first_cached / first, 1),
        "new %": round(100 * first_new / first, 1),
        "answers %": round(100 * cached / answers, 1),
        **{name: round(tokens / len(turns)) for name, tokens in per_turn.items()},
        "longest": longest,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--messages", type=int, default=20)
    parser.add_argument("--window", type=int, nargs="+", default=WINDOWS, help="tokens; 0: as large as need be")
    parser.add_argument("--answers", type=int, nargs="+", default=[50], help="their tokens")
    options = parser.parse_args()
    for answers, window in product(options.answers, options.window):
        about = {"window": window, "answers": answers}
        strategy = FullHistoryStrategy(options.messages, ContextWindow(window))
        results = {
            "sliding": run(sliding(options.messages), options.turns, answers),
            "in steps": run(strategy.build_context, options.turns, answers),
        }
        for name, result in results.items():
            told = {**about, "with tools": name, "cached %": round(result.cached, 1), "new %": round(result.new, 1)}
            print(json.dumps({**told, "cost $": round(result.cost, 3), "longest": result.longest}))
    for answers, window in product(options.answers, options.window):
        about = {"window": window, "answers": answers}
        sent, kept = asyncio.run(sent_without_tools(options.turns, options.messages, window, answers))
        ways = {"as sent": sent, "query apart": asked_apart(sent), "passages kept": kept}
        for name, turns in ways.items():
            print(json.dumps({**about, "without tools": name, **figures(turns)}))


if __name__ == "__main__":
    main()
