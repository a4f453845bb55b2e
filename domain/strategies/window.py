"""Fitting requests into a model's context window, and replies into an answer: what is too long is sent again with less,
and a reply without an end is left.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache

from domain.chat import ChatMessage, MessageRole, PromptKind, PromptMessage
from domain.citations.resolver import LONGEST_ANSWER
from domain.errors import LLMError, LLMErrorCode
from domain.event import DraftDiscarded, StrategyEvent, UsageReported
from domain.ports import ChatProvider, Metered
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    RequestSent,
    StopReason,
    TextBlockEnd,
    TextChunk,
    ThinkingEnded,
    TokenUsage,
    ToolDefinition,
)

ASCII_PER_TOKEN = 3.5
"""Characters; in other scripts a character takes about a token."""

PER_MESSAGE = 6
"""Tokens around every message, and around every sentence of a passage, which has its key in front."""

PER_TOOL = 100
"""Characters around a tool's name, description and parameters, at most."""

LEAST_REPLY = 512
ESTIMATE_ERROR = 16
"""One part in so many of the window is left free however short replies are: tokens are only estimated."""
SHRINK = 0.7
"""The least share of a too long request that is tried next if the server does not say how much it accepts."""

MOST_TRIES = 10

MOST_PER_ESTIMATED = 3.0
"""Tokens that a model takes where we estimate one, at most: some have three for a Chinese character."""
ENOUGH_TO_TELL = 1_000
"""Tokens; in a shorter request, what a server adds to it weighs too much to tell how its model counts."""
FORGETTING = 1 / 8
"""How much a lower count than before corrects what has been learnt; a higher one counts at once."""

STUCK = 4_000
"""Characters of a piece written again and again from which on a model is not expected to find an end."""
MOST_OFTEN = 8
"""How often it has to be in them at least: a refrain is rarely sung so often, without a verse in between."""
LOOK_EVERY = 500
"""Characters."""

Message = PromptMessage | ChatMessage
"""A message to be sent, or a stored one, which takes the same room."""


def estimate(messages: Sequence[Message], tools: Sequence[ToolDefinition] = ()) -> int:
    """The approximate number of tokens in a request."""
    return sum(map(_of_message, messages)) + sum(estimate_text(repr(tool)) for tool in tools)


def exceeds(messages: Sequence[Message], tools: Sequence[ToolDefinition], tokens: float) -> bool:
    """Whether `estimate` finds more tokens than this, in a fraction of the time for a request that is far below."""
    return _at_most(messages, tools) > tokens and estimate(messages, tools) > tokens


def _of_message(message: Message) -> int:
    tokens = (
        PER_MESSAGE + estimate_text(message.note) + sum(estimate_text(repr(c)) for c in message.tool_invocations or ())
    )
    if message.passages and message.role == MessageRole.TOOL_RESULT:
        sentences = [sentence.text for passage in message.passages for sentence in passage.sentences]
        return tokens + sum(estimate_text(sentence) + PER_MESSAGE for sentence in sentences)
    return tokens + estimate_text(message.content)


def _at_most(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> int:
    """No fewer tokens than `estimate` finds: a character takes a token at most."""
    characters = sum(map(_length, tools))
    for message in messages:
        characters += len(message.content) + len(message.note) + PER_MESSAGE
        characters += sum(len(repr(call)) for call in message.tool_invocations or ())
        for passage in message.passages:
            characters += passage.end - passage.start + len(passage.sentences) * PER_MESSAGE
    return characters


@lru_cache
def _length(tool: ToolDefinition) -> int:
    """In characters; cached, because it is asked for at every request."""
    return len(tool.name) + len(tool.description) + len(str(tool.parameters)) + PER_TOOL


def estimate_text(text: str) -> int:
    """The approximate number of tokens in a text."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return round(plain / ASCII_PER_TOKEN) + len(text) - plain


class ContextWindow:
    """A model's context window in tokens; `tokens` is 0 until it is known, at the latest from the first overflow.

    `reply` is reserved for the answer; 0: an eighth of the window.

    The window is in tokens as the server counts them, a request in tokens as we estimate them. How many of the former
    are in one of the latter depends on the model and the language of the book, and is learnt from every count that the
    server gives. Of several models, the one that takes most counts. It is never taken for less than one, because some
    servers count only the part of a prompt that is not in their cache.
    """

    def __init__(self, tokens: int = 0, reply: int = 0) -> None:
        self._told = tokens
        self._reply = reply
        self._ratios: dict[str, float] = {}
        self._refused = 0
        self._guessed = 0
        self._longest: dict[str, int] = {}

    @property
    def prompt_tokens(self) -> int:
        """The tokens a request may have, by our own estimate; 0: unknown."""
        tokens = self._tokens
        unknown, error = max(tokens // 8, LEAST_REPLY), tokens // ESTIMATE_ERROR
        reply = max(self._reply, error) if self._reply else unknown
        return int((tokens - min(reply, tokens // 2)) / self._ratio)

    @property
    def history_tokens(self) -> int:
        """The tokens that past turns may take; the rest is for tools, the question, and results."""
        return self.prompt_tokens // 2

    @property
    def _tokens(self) -> int:
        return min(filter(None, (self._told, self._guessed)), default=0)

    @property
    def _ratio(self) -> float:
        return max(self._ratios.values(), default=1.0)

    def is_exceeded_by(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> bool:
        """Whether a request is known not to fit, with however short a reply."""
        return bool(self._tokens) and exceeds(messages, tools, self._tokens / self._ratio)

    def counted(self, estimated: int, counted: int, model: str = "") -> None:
        """Learn from a request that was answered: the tokens we estimated, and those the server has counted."""
        if estimated >= ENOUGH_TO_TELL:
            self._learn(counted / estimated, model)

    def overflowed(self, sent: int, told: int = 0, counted: int = 0, model: str = "") -> None:
        """Learn from a request of about `sent` tokens that was too long; `told` is the limit the server names, and
        `counted` what it has counted. If it names no count, that was the limit at least.
        """
        self._learn((counted or told) / sent, model)
        if told:
            self._told, self._guessed = min(self._told or told, told), 0
        if not told or self.prompt_tokens >= sent:
            self._refused, self._guessed = sent, 0
            self._guess()

    def answered(self, estimated: int, model: str) -> None:
        """Note the length of a request that was answered, in tokens that we estimated."""
        self._longest[model] = max(self.longest_answered(model), estimated)

    def longest_answered(self, model: str) -> int:
        """Of the model's requests so far; 0: none was answered."""
        return self._longest.get(model, 0)

    def _learn(self, ratio: float, model: str) -> None:
        new, known = min(max(ratio, 1.0), MOST_PER_ESTIMATED), self._ratios.get(model, 1.0)
        self._ratios[model] = max(new, known + (new - known) * FORGETTING)
        if self._guessed:
            self._guess()

    def _guess(self) -> None:
        """Take the window for the next smaller power of two, as most are, unless that is far below what it refused;
        some servers count what is kept free for the reply as well.
        """
        refused = int(self._refused * self._ratio)
        power = 1 << (max(refused + self._reply - 1, 1).bit_length() - 1)
        self._guessed = max(self._guessed, power, int(refused * SHRINK) + (self._reply or LEAST_REPLY))


Arrange = Callable[[list[PromptMessage]], list[PromptMessage]]


async def stream_within(
    window: ContextWindow,
    provider: ChatProvider,
    messages: Sequence[PromptMessage],
    tools: Sequence[ToolDefinition] = (),
    *,
    newest: int,
    call_tools: bool = True,
    arrange: Arrange = list,
) -> AsyncGenerator[StrategyEvent | ChatResponse, None]:
    """Ask with as many of the messages as fit, and again with less if that was too much. Some servers fail without a
    reason then: a request that fails so, and is longer than any that was answered, is sent again no longer than that.

    `newest` is the index of the current question; later messages belong to this turn. `arrange` turns the fitted
    messages into what is sent. Each reply's usage is reported, also of those that are not taken.

    Raises:
        LLMError: CONTEXT_EXCEEDED, not even the question and the system text fit.
    """
    size, budget = 0, window.prompt_tokens
    failure: LLMError | None = None
    for _ in range(MOST_TRIES):
        fitted = fit(messages, tools, newest, budget)
        before, size, said = size, estimate(fitted, tools), ""
        if 0 < before <= size:
            break
        try:
            async with aclosing(events_of_reply(provider, arrange(fitted), tools, call_tools=call_tools)) as events:
                async for event in events:
                    if isinstance(event, ThinkingEnded):
                        yield DraftDiscarded(said, again=True)
                        said = ""
                        continue
                    if isinstance(event, TextChunk):
                        said += event.text
                    # without calls, some servers are asked twice, and both requests are in one count
                    if isinstance(event, UsageReported) and call_tools and not event.usage.estimated:
                        window.counted(size, event.usage.input_tokens, event.model)
                    yield event
            window.answered(size, provider.model_name)
            return
        except LLMError as error:
            longest = window.longest_answered(provider.model_name)
            if error.code is LLMErrorCode.CONTEXT_EXCEEDED:
                window.overflowed(size, error.window, error.counted, provider.model_name)
                budget = window.prompt_tokens
            elif error.code is LLMErrorCode.API_CALL_FAILED and 0 < longest < size and not said:
                budget, failure = longest, error
            else:
                raise
        if said:
            yield DraftDiscarded(said, again=True)
    raise failure or _too_long()


def goes_on_for_ever(text: str) -> bool:
    """Whether a model has written more than an answer may contain, or the same piece again and again, as small models
    do until their time is over.
    """
    if len(text) > LONGEST_ANSWER:
        return True
    end = text[-STUCK:]
    if len(end) < STUCK:
        return False
    last = end[-STUCK // 4 :]
    before = end.rfind(last, 0, -1)  # where the last piece stood once before
    period = len(end) - len(last) - before
    return before >= 0 and period * MOST_OFTEN <= STUCK and end[period:] == end[:-period]


async def events_of_reply(
    provider: ChatProvider,
    messages: Sequence[PromptMessage],
    tools: Sequence[ToolDefinition] = (),
    *,
    call_tools: bool = True,
) -> AsyncGenerator[RequestSent | ProviderEvent | UsageReported, None]:
    """The events of one reply, with its usage before the ChatResponse. A reply that would not come to an end is left,
    and ends like one that has reached its greatest length.

    Raises:
        LLMError: there is no reply, or the ChatResponse is no answer.
    """
    response: ChatResponse | None = None
    said = ""
    stream = provider.metered_stream if isinstance(provider, Metered) else provider.stream
    async with aclosing(stream(messages, tools, call_tools=call_tools)) as events:
        async for event in events:
            if isinstance(event, ChatResponse):
                response = event
                if response.usage:
                    yield UsageReported(response.usage, provider.model_name)
                continue
            yield event
            text = event.text if isinstance(event, TextChunk) else ""
            said = "" if isinstance(event, ThinkingEnded) else said + text
            if len(said) % LOOK_EVERY < len(text) and goes_on_for_ever(said):
                yield TextBlockEnd()
                response = ChatResponse(said, stop_reason=StopReason.MAX_TOKENS)
                break
    if response and response.stop_reason is StopReason.CONTEXT_EXCEEDED:
        used = response.usage if response.usage and not response.usage.estimated else TokenUsage()
        raise _too_long(window=used.input_tokens + used.output_tokens)  # a server that says no more has used it all
    if response:
        yield response


def _too_long(window: int = 0) -> LLMError:
    return LLMError(
        LLMErrorCode.CONTEXT_EXCEEDED,
        "This is too long for the model. Please ask something shorter, or choose a model with a larger context window.",
        window=window,
    )


def fit(
    messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], newest: int, budget: int
) -> list[PromptMessage]:
    """The messages, or as many of them as fit into the budget (0: all)."""
    if not budget or not exceeds(messages, tools, budget):
        return [*messages]
    system = [message for message in messages[:newest] if message.role == "system"]
    past = [m for m in messages[:newest] if m.role != "system" and m.kind is not PromptKind.UNANSWERED]
    now = [*messages[newest:]]
    fixed = estimate([*system, *now], tools)
    if exceeds(past, (), budget - fixed):
        past = _newest_turns(without_results(past), budget - fixed)
    while not past and estimate([*system, *now], tools) > budget and _shorten(now):
        pass
    return [*system, *past, *now]


def without_results(past: Sequence[PromptMessage]) -> list[PromptMessage]:
    """Past turns without their tool calls and results: only questions and answers."""
    return [
        replace(message, raw=None) if message.raw else message
        for message in past
        if message.role != MessageRole.TOOL_RESULT and not message.tool_invocations
    ]


def _newest_turns(past: Sequence[PromptMessage], room: float) -> list[PromptMessage]:
    """The newest turns that fit into the room. The oldest ones go by twos, fours and so on, not one at every message:
    until the next ones go, requests begin like the previous one.
    """
    starts = [at for at in range(len(past)) if _starts_turn(past, at)]
    gone = next((turn for turn, at in enumerate(starts) if estimate(past[at:]) <= room), len(starts))
    if gone == len(starts):
        return []
    step = 1 << ((len(starts) - gone).bit_length() - 1)
    gone = -(-gone // step) * step
    return [*past[starts[gone] :]] if gone < len(starts) else []


def _starts_turn(past: Sequence[PromptMessage], at: int) -> bool:
    """Whether a question is the first one, or follows an answer; several in a row are of one turn."""
    return past[at].role == MessageRole.USER and (at == 0 or past[at - 1].role != MessageRole.USER)


def _shorten(now: list[PromptMessage]) -> bool:
    """Remove about half of the longest result of this turn; False: there is nothing left to remove."""
    results = [at for at, message in enumerate(now) if message.role == MessageRole.TOOL_RESULT]
    if not results:
        return False
    at = max(results, key=lambda each: _of_message(now[each]))
    longest = now[at]
    if len(longest.passages) > 1:
        now[at] = replace(longest, passages=longest.passages[: len(longest.passages) // 2])
    elif longest.passages and len(longest.passages[0].sentences) > 1:
        [passage] = longest.passages
        half = passage.sentences[: len(passage.sentences) // 2]
        now[at] = replace(longest, passages=(replace(passage, sentences=half, end=half[-1].end),))
    elif not longest.passages and len(longest.content) > 200:
        now[at] = replace(longest, content=f"{longest.content[: len(longest.content) // 2]} …")
    else:
        return False
    return True


def reply_text(response: ChatResponse) -> str:
    """The text of a reply to a question outside the conversation; blank if the model declines."""
    return "" if response.stop_reason is StopReason.REFUSAL else response.text or ""
