"""A turn while it runs: its task, its draft, the decisions it waits for, and its line in the log."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.book import Binding, Citation
from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.citations.resolver import Composition
from domain.conversation import Conversation, Turn
from domain.event import (
    Approval,
    ApprovalAsked,
    ApprovalSettled,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEvent,
)
from domain.ports import ChatProvider
from domain.tool_use import TokenUsage, ToolInvocation

turn_log = logging.getLogger("marginalia.turns")
"""One line per turn, from which figures are made."""

APPROVAL_S = 120.0
"""How long a call waits for its asker's decision."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a turn answers.

    `people` are the ids of those whose positions limit it: who reads along, and who asks. `history` has the newest
    turns, `asked` the readers' messages. `replaces` is the turn that has answered them, if they are answered again.
    """

    conversation: Conversation
    people: Sequence[str]
    history: Sequence[ChatMessage]
    asked: Sequence[ChatMessage]
    replaces: Turn | None = None


@dataclass(frozen=True, slots=True)
class FallbackAnswer:
    """What the book itself says about a question that no model has answered; empty if nothing was found."""

    text: str = ""
    citations: tuple[Citation, ...] = ()


NO_OFFER = FallbackAnswer()


Emit = Callable[[TurnEvent], None]


class Ending(StrEnum):
    """How a person ends a turn: by keeping what was written, or taking the question back."""

    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"


class Decision(StrEnum):
    """The outcome of a decision on a call."""

    TAKEN = "taken"
    NOT_YOURS = "not_yours"
    GONE = "gone"


class Approvals:
    """The calls of a turn that wait for their asker's decision."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, asyncio.Future[bool]]] = {}

    async def ask(self, reader_id: str, tool_name: str, arguments: dict[str, Any], emit: Emit) -> Approval:
        """Ask a reader whether a tool may be called, and wait for the decision; `arguments` are as
        they may see them.
        """
        approval_id = uuid.uuid4().hex[:12]
        word: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[approval_id] = (reader_id, word)
        approval = Approval.UNANSWERED
        emit(ApprovalAsked(approval_id, reader_id, tool_name, arguments))
        try:
            async with asyncio.timeout(APPROVAL_S):
                approval = Approval.ALLOWED if await word else Approval.REFUSED
        except TimeoutError:
            pass
        finally:
            del self._waiting[approval_id]
            emit(ApprovalSettled(approval_id, approval))
        return approval

    def decide(self, approval_id: str, reader_id: str, *, allowed: bool) -> Decision:
        """Pass on a reader's decision on a call."""
        asker, word = self._waiting.get(approval_id, ("", None))
        if word is None or word.done():
            return Decision.GONE
        if reader_id != asker:
            return Decision.NOT_YOURS
        word.set_result(allowed)
        return Decision.TAKEN


class RunningTurn:
    """Runs a turn in a task of its own, so that it can be ended while its consumer is busy or slow.

    `asked` are the ids of the messages it answers, `askers` those of their authors, in order.
    """

    def __init__(self, messages: Sequence[ChatMessage] = ()) -> None:
        self.asked = frozenset(message.id for message in messages)
        self.askers = tuple(dict.fromkeys(message.author_id for message in messages))
        self.ending: Ending | None = None
        self.approvals = Approvals()
        self.started: dict[str, ToolCallStarted] = {}
        self.finished: dict[str, ToolCallFinished] = {}
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def events(self, work: Callable[[Emit], Awaitable[None]]) -> AsyncGenerator[TurnEvent, None]:
        """Start the turn and yield what it emits. Closing the iterator early cancels the turn."""

        async def run() -> None:
            await work(self._emit)

        if self.ending is not None:
            return
        self._task = asyncio.create_task(run())
        self._task.add_done_callback(lambda _: self._queue.put_nowait(None))  # even if it never came to run
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            await asyncio.wait({self._task})
            if not self._task.cancelled():  # a turn that was withdrawn ends without a last event
                self._task.result()
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def end(self, ending: Ending) -> None:
        """End the turn now; it still emits its last event. One that has not begun never does."""
        if self.ending is None and (self._task is None or not self._task.done()):
            self.ending = ending
            if self._task is not None:
                self._task.cancel()

    def _emit(self, event: TurnEvent) -> None:
        match event:
            case ToolCallStarted():
                self.started[event.call_id] = event
            case ToolCallFinished():
                self.finished[event.call_id] = event
        self._queue.put_nowait(event)


class TurnLog:
    """Times the stages of a turn, in milliseconds since its beginning."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._stages: dict[str, int] = {}
        self._cost = 0
        self._tools_ms = 0
        self._calls = 0

    def reach(self, stage: str) -> None:
        """Record the first time that a stage is reached."""
        self._stages.setdefault(stage, self._elapsed())

    def follow(self, event: TurnEvent) -> None:
        """Learn from an event how far the turn is."""
        match event:
            case TextDelta():
                self.reach("first_text_ms")
            case ToolCallFinished(milliseconds=milliseconds):
                self._calls += 1
                self._tools_ms += milliseconds

    def add_cost(self, microdollars: int | None) -> None:
        self._cost += microdollars or 0

    def write(self, turn: Turn, reader_id: str, guild_id: str | None) -> None:
        """Write the line, at INFO."""
        fields = {
            "turn": turn.id,
            "conversation": turn.conversation_id,
            "reader": reader_id,
            "guild": guild_id,
            "state": turn.state.value,
            "error": turn.error,
            "model": turn.model,
            "tokens_in": turn.usage.input_tokens,
            "tokens_cached": turn.usage.cache_read_tokens,
            "tokens_out": turn.usage.output_tokens,
            "tokens_estimated": turn.usage.estimated or None,
            "cost_microdollars": self._cost,
            "calls": self._calls,
            "tools_ms": self._tools_ms,
            **self._stages,
            "total_ms": self._elapsed(),
        }
        told = " ".join(f"{name}={value}" for name, value in fields.items() if value not in ("", None))
        turn_log.info("turn %s", told, extra={"fields": fields})

    def _elapsed(self) -> int:
        return round((time.perf_counter() - self._began) * 1000)


@dataclass(slots=True)
class TurnDraft:
    """A turn in the making.

    `depends_to` is the bound of its view: its prompt, its results and the notes about its readers depend on the book
    up to there, and so does everything a model makes of them. `covered_arguments` are those of its calls, by id, that
    revealed too much. `fall_back` makes the `offer` in the given number of seconds, once there is a prompt. `approvals`
    has the calls that wait for their asker's decision, `binding` the person who limits the turn. `replaces` is the
    answered turn that this one replaces.
    """

    turn: Turn
    asked: list[ChatMessage]
    provider: ChatProvider
    answer: Composition | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    depends_to: int | None = None
    binding: Binding | None = None
    covered_arguments: dict[str, dict[str, Any]] = field(default_factory=dict)
    log: TurnLog = field(default_factory=TurnLog)
    fall_back: Callable[[float], Awaitable[FallbackAnswer]] | None = None
    approvals: Approvals = field(default_factory=Approvals)
    replaces: Turn | None = None
    offer: FallbackAnswer = NO_OFFER

    @property
    def text(self) -> str:
        """The answer as far as it has been composed."""
        return self.answer.text.strip() if self.answer else ""

    @property
    def is_cut(self) -> bool:
        """Whether the model has written more than an answer may have."""
        return self.answer is not None and self.answer.is_cut

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self.answer.citations) if self.answer else ()

    def kept(
        self, messages: Sequence[PromptMessage], calls: Mapping[str, ToolCallFinished], now: datetime
    ) -> list[ChatMessage]:
        """Messages of the model and its tools, as they are stored."""
        return [self._kept(message, calls.get(message.tool_use_id or ""), now) for message in messages]

    def kept_calls(self, running: RunningTurn, now: datetime) -> list[ChatMessage]:
        """The finished calls of an unfinished turn: as one round, so that the history stays valid."""
        finished = running.finished
        if not finished:
            return []
        started = [running.started[call_id] for call_id in finished]
        calls = [ToolInvocation(call.tool_name, call.arguments, call.call_id) for call in started]
        asked = PromptMessage(MessageRole.ASSISTANT, "", tool_invocations=calls)
        return self.kept([asked, *map(_as_result, finished.values())], finished, now)

    def _kept(self, message: PromptMessage, call: ToolCallFinished | None, now: datetime) -> ChatMessage:
        return ChatMessage(
            id=uuid.uuid4().hex,
            conversation_id=self.turn.conversation_id,
            role=MessageRole(message.role),
            content=message.content,
            created_at=now,
            turn_id=self.turn.id,
            tool_use_id=message.tool_use_id,
            tool_invocations=tuple(
                replace(call, covered=self.covered_arguments.get(call.tool_use_id))
                for call in message.tool_invocations or ()
            ),
            is_error=message.is_error,
            passages=message.passages,
            usage=message.usage,
            raw=message.raw,
            note=message.note,
            depends_to=self.depends_to,
            duration_ms=call.milliseconds if call else 0,
            summary=call.summary if call else "",
        )


def _as_result(call: ToolCallFinished) -> PromptMessage:
    return PromptMessage(
        MessageRole.TOOL_RESULT,
        call.content,
        tool_use_id=call.call_id,
        is_error=call.is_error,
        passages=call.passages,
    )
