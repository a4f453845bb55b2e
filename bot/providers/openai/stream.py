"""A streamed chat completion as events of the domain."""

import json
import logging
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bot.providers.base import is_complete_object, read_arguments, tool_name
from bot.providers.streamed_text import (
    LONGEST_THINKING_END,
    THINKING_ENDS,
    THINKING_OPENINGS,
    OwnTurn,
    ReasoningFilter,
    WholeCharacters,
    answer_in_thinking,
)
from domain.chat import PromptMessage
from domain.strategies.always_retrieve import is_by_model
from domain.strategies.window import estimate, estimate_text
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    RawReply,
    StopReason,
    TextBlockEnd,
    TextChunk,
    ThinkingEnded,
    TokenUsage,
    ToolDefinition,
    ToolInvocation,
    token_count,
)

logger = logging.getLogger(__name__)

Json = dict[str, Any]

_STOP_REASONS: Final = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
    # Together, TGI, and proxies that pass on what Anthropic's and Gemini's own APIs say
    "eos": StopReason.END_TURN,
    "eos_token": StopReason.END_TURN,
    "end_turn": StopReason.END_TURN,
    "stop_sequence": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "safety": StopReason.REFUSAL,
    "prohibited_content": StopReason.REFUSAL,
    "refusal": StopReason.REFUSAL,
    # Z.ai
    "sensitive": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}

_BROKEN: Final = frozenset({"error", "abort", "network_error", "insufficient_system_resource"})
"""Reported by OpenRouter, vLLM, Z.ai and DeepSeek when a reply was interrupted on their side."""

_COMPLETE: Final = frozenset({StopReason.TOOL_USE, StopReason.END_TURN})
"""Some servers say "stop" when a model stopped to have its calls carried out."""

PROVIDER: Final = "openai"
THINKING: Final = "reasoning_content"
DETAILS: Final = "reasoning_details"
SIGNED: Final = "extra_content"
"""Where servers put a model's thinking, OpenRouter its signed pieces, and Gemini the signature of a call."""
_REASONING: Final = (THINKING, "reasoning")
"""Where servers that know the model put its thinking. It is not shown, but its tokens are used."""

_FITS_ALWAYS: Final = 1_000
"""Tokens; a prompt with fewer fits into every model's window."""
_BARELY_BEGUN: Final = 2
"""Tokens of a reply that has no room left: Ollama counts one, LM Studio none."""


@dataclass(slots=True)
class _Call:
    """A call in the making."""

    id: str = ""
    name: str = ""
    written: list[str] = field(default_factory=list)
    signed: Json = field(default_factory=dict)

    def invocation(self) -> ToolInvocation:
        call_id = self.id or f"call_{uuid.uuid4().hex[:12]}"
        return ToolInvocation(tool_name(self.name), read_arguments("".join(self.written)), call_id)

    def is_followed_by(self, call_id: str | None, name: str | None, written: str) -> bool:
        """Whether a piece with the same index begins another call: its id differs, or this call is complete.

        Some servers give every call of a reply the same index, or none; some give no ids, or the same to all.
        """
        if call_id and self.id and call_id != self.id:
            return True
        goes_on = call_id and self.id and not written.lstrip().startswith("{")  # name and id may be in every piece
        return bool(name and self.name and not goes_on) and is_complete_object("".join(self.written))


class CompletionAccumulator:
    """Assembles a reply from the chunks of its stream."""

    def __init__(
        self, model: str = "", *, call_tools: bool = True, spent: TokenUsage | None = None, prompt_tokens: int = 0
    ) -> None:
        """`spent` is the usage of an earlier attempt at the same reply. `prompt_tokens` is an estimate for this one,
        used if the server does not report it.
        """
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._call_tools = call_tools
        self._spent = spent
        self._thinking = ReasoningFilter()
        self._may_be_thinking = True
        self._characters = WholeCharacters()
        self._text: list[str] = []
        self._turn = OwnTurn()
        self._received: list[str] = []
        self._thoughts: list[str] = []
        self._details: list[Json] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._finish: str | None = None
        self._refused = False
        self._has_begun = False
        self._has_said = False
        self._usage: TokenUsage | None = None

    @property
    def whole(self) -> bool:
        """Whether the reply is complete: a connection can also break without an error."""
        return self.overflowed or (self._finish is not None and self._finish not in _BROKEN)

    @property
    def is_over(self) -> bool:
        """Whether the model has gone on as somebody else, so that the rest need not be read."""
        return self._turn.is_over

    @property
    def is_blank(self) -> bool:
        """Whether the reply ended as if it were complete, but has no words, no calls, and no count of tokens."""
        is_empty = not (self._has_said or self._calls or self._refused or self._usage)
        return is_empty and self._finish in ("stop", "length")

    @property
    def overflowed(self) -> bool:
        """Whether a long prompt left no room for a single word, and the server reports that as a success.

        LM Studio and Ollama do: the reply ends at once, by its length or for no reason at all. A model that has nothing
        to say ends by "stop", one that has used its room for thinking has written something.
        """
        if self._has_said or self._calls or self._finish not in (None, "length"):
            return False
        if self._usage is None:
            return self._finish is not None and self._prompt_tokens >= _FITS_ALWAYS
        return self._usage.input_tokens >= _FITS_ALWAYS and self._usage.output_tokens <= _BARELY_BEGUN

    @property
    def called(self) -> bool:
        """Whether the model made any call."""
        return bool(self._calls)

    @property
    def disobeyed(self) -> bool:
        """Whether the model, told to make no calls, made some and said nothing."""
        return bool(self._calls) and not self._call_tools and not "".join(self._text).strip()

    @property
    def usage(self) -> TokenUsage | None:
        """The reply's usage, estimated if the server does not report it; None if there is no estimate either."""
        counted = self._usage
        if counted is None:
            counted = self._estimated() if self._prompt_tokens else None
        elif self._has_said and not counted.output_tokens:
            counted = replace(counted, output_tokens=self._estimated().output_tokens, estimated=True)
        return self._with_spent(counted)

    @property
    def used(self) -> TokenUsage | None:
        """See CountsTokens. Servers count at the end; a few do all the time."""
        if not self._has_begun:
            return self._spent
        estimated, counted = self._estimated(), self._usage or TokenUsage()
        return self._with_spent(
            replace(
                counted,
                input_tokens=counted.input_tokens or estimated.input_tokens,
                output_tokens=max(counted.output_tokens, estimated.output_tokens),
                estimated=True,
            )
        )

    def _with_spent(self, usage: TokenUsage | None) -> TokenUsage | None:
        known = [each for each in (self._spent, usage) if each]
        return sum(known, TokenUsage()) if known else None

    def _estimated(self) -> TokenUsage:
        written = "".join([*self._received, *(piece for call in self._calls for piece in call.written)])
        return TokenUsage(self._prompt_tokens, estimate_text(written), estimated=True)

    def close(self, *, in_order: bool) -> bool:
        """Whether the server has told why the reply ended.

        If not, what has arrived is complete if the stream ended `in_order`, because some servers never tell.
        """
        has_told = self._finish is not None and not self.is_over
        if in_order and (self._has_said or self._calls):
            self._finish = self._finish or "stop"
        return has_told

    @property
    def closed_thinking(self) -> bool:
        """Whether the server has told the model's thinking from what followed it."""
        return any(self._thoughts) and bool(self._calls or "".join(self._text).strip())

    def withdraw(self) -> None:
        """Count nothing that has arrived: it was no reply, but the server's way to refuse the request."""
        self._has_begun = False

    def read(self, chunk: object) -> Iterator[ProviderEvent]:
        """Process one chunk; unknown fields are ignored, and missing ones count as empty."""
        if not isinstance(chunk, dict):
            return
        self._usage = _token_usage(chunk) or self._usage
        for choice in _objects(chunk.get("choices")):
            self._finish = _finish_reason(choice) or self._finish
            whole = None if self._has_said else choice.get("message")  # Perplexity repeats it all at the end
            delta = next(iter(_objects(choice.get("delta") or whole)), {})
            self._has_begun = True
            self._refused = self._refused or bool(delta.get("refusal"))
            self._has_said = self._has_said or any(delta[name] for name in delta if name != "role")
            said = self._characters.feed(_words(delta.get("content")) + _words(delta.get("refusal")))
            self._thoughts.append(next((_words(delta[name]) for name in _REASONING if delta.get(name)), ""))
            self._received.append(said or self._thoughts[-1])
            for detail in _objects(delta.get(DETAILS)):
                _add_detail(self._details, detail)
            yield from self._say(self._thinking.feed(said))
            for piece in _pieces_of_calls(delta):
                self._extend_call(piece)

    def end(self, *, may_be_answer: bool = False) -> Iterator[ProviderEvent]:
        """The end of the text, then the complete reply. `may_be_answer`: see `answer_in_thinking`."""
        yield from self._say(self._thinking.feed(self._characters.end()))
        yield from self._say(self._thinking.end())
        yield from self._say(self._answer_in_thinking(may_be_all=may_be_answer))
        yield from self._tell(self._turn.end())
        if self._text:
            yield TextBlockEnd()
        yield self._response()

    def _answer_in_thinking(self, *, may_be_all: bool) -> str:
        """The answer, if a reply that has come to its end has nothing but thinking."""
        thinking = "".join(self._thoughts)
        has_ended = _STOP_REASONS.get(self._finish or "") is StopReason.END_TURN
        has_other = self._calls or self._refused or "".join([*self._text, self._turn.held]).strip()
        if not thinking or not has_ended or has_other:
            return ""
        answer = answer_in_thinking(thinking, may_be_all=may_be_all)
        how = "its answer came as thinking" if answer else "it has sent thinking and no answer"
        logger.warning("%s: %s: its server may need another parser for thinking, or none", self._model, how)
        return answer

    def _say(self, text: str) -> Iterator[ProviderEvent]:
        """Tell a piece of text, but not what may become a mark of the end, nor what follows one."""
        yield from self._tell(self._turn.feed(text))
        if self._turn.is_over:
            self._finish = "stop"

    def _tell(self, text: str) -> Iterator[ProviderEvent]:
        if not text:
            return
        self._text.append(text)
        yield TextChunk(text)
        if self._may_be_thinking and THINKING_ENDS.search("".join(self._text[-LONGEST_THINKING_END:])):
            self._may_be_thinking = False
            whole = "".join(self._text)
            thinking = THINKING_ENDS.split(whole, maxsplit=1)[0]
            if not any(mark in thinking for mark in THINKING_OPENINGS):  # the template's, or another's
                whole += self._turn.held
                self._text, self._turn, self._thinking = [], OwnTurn(), ReasoningFilter()
                yield ThinkingEnded()
                yield from self._say(self._thinking.feed(THINKING_OPENINGS[0] + whole))

    def _extend_call(self, piece: Json) -> None:
        index, call_id, function = piece.get("index") or 0, piece.get("id"), piece.get("function") or piece
        arguments = function.get("arguments") or ""
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = self._by_index.get(index)
        if call is None or call.is_followed_by(call_id, function.get("name"), written):
            call = self._by_index[index] = _Call()
            self._calls.append(call)
        call.id = call_id or call.id
        call.name = function.get("name") or call.name
        call.signed = next(iter(_objects(piece.get(SIGNED))), call.signed)
        call.written.append(written)

    def _response(self) -> ChatResponse:
        text = "".join(self._text)
        reason = _STOP_REASONS.get(self._finish or "", StopReason.OTHER)
        if self._calls and reason in _COMPLETE and self._call_tools:
            calls = [call.invocation() for call in self._calls]
            return ChatResponse(
                tool_invocations=calls,
                preamble=text,
                usage=self.usage,
                stop_reason=StopReason.TOOL_USE,
                raw=self._raw(calls),
            )
        if self._refused:
            reason = StopReason.REFUSAL
        elif self.overflowed:
            reason = StopReason.CONTEXT_EXCEEDED
        elif reason is StopReason.TOOL_USE:
            reason = StopReason.OTHER
        return ChatResponse(text=text, usage=self.usage, stop_reason=reason)

    def _raw(self, calls: Sequence[ToolInvocation]) -> RawReply | None:
        """The thinking that led to the calls, which some servers want back with them; the signatures by the calls'
        ids.
        """
        signed = {call.tool_use_id: made.signed for call, made in zip(calls, self._calls, strict=True) if made.signed}
        kept = {THINKING: "".join(self._thoughts), DETAILS: self._details, SIGNED: signed}
        thinking = {name: value for name, value in kept.items() if value}
        return RawReply(PROVIDER, self._model, [thinking]) if thinking else None


LEAST_TO_TELL: Final = 400
"""Tokens of tools from which on the server's count shows whether they were read."""
FEWEST, MOST = 0.6, 1.8
"""Tokens that a server counts for one that we estimate."""
REPLIES_TO_TELL: Final = 3
"""Replies without a call, of a server that counts no tokens, after which its model is taken to know no tools."""
_UNREAD_CALL: Final = re.compile(
    r"^[ \t]*(?:<[|｜]?(?:\w+[:｜])?(?:start_)?(?:tools?|function)[_▁]?(?:calls?|use|prefix)|<function=|<invoke "
    r"|<\|(?:python|action)_\w+\|>|<\|start_action\|>|\[TOOL_CALLS\]|```tool_code)|\bto=functions\.",
    re.IGNORECASE | re.MULTILINE,
)
"""How models of all makers begin a call that their server is to read."""


def _is_unread_call(text: str, tools: Sequence[ToolDefinition]) -> bool:
    """Whether a reply is a call that nobody has read; one without a mark names one of the tools, as JSON or as code."""
    names = "|".join(re.escape(tool.name) for tool in tools)
    bare = (
        rf'"(?:name|function|tool|tool_name)"\s*:\s*"(?:{names})"|<(?:{names})[ >]|^Action: (?:{names})$'
        rf"|^(?:>>>|\[|print\(|\w+\.)*(?:{names})(?:\(|\s*[{{[])"
    )
    return bool(_UNREAD_CALL.search(text) or re.search(bare, text, re.MULTILINE))


class ToolUse:
    """What replies have shown of whether a server reads the tools of a request. `is_known`: it does. And whether it has
    ever told a model's thinking from what follows (`closes_thinking`).
    """

    def __init__(self) -> None:
        self.is_known = False
        self.closes_thinking = False
        self._has_called = False
        self._without_call = 0
        self._per_estimated = 0.0

    def note(self, *, called: bool, closed: bool = False) -> None:
        """Learn from a reply: whether the model called a tool, and the server knew where its thinking ended."""
        self.closes_thinking = self.closes_thinking or closed
        self._has_called = self._has_called or called
        self.is_known = self.is_known or called

    def judge(
        self,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        response: ChatResponse,
        *,
        is_open: bool,
    ) -> tuple[bool, bool]:
        """Whether the server seems to have passed over the tools, or cannot read the model's calls and passes them on
        as text, as SGLang does without a parser for them; and whether that is certain. Unless it `is_open` whether the
        model knows tools, only an unread call tells.

        Where the server counts no tokens, a reply without a call is doubted, and only after a few of them it is
        certain: the model may have had nothing to look up.
        """
        if tools and _is_unread_call(response.text or "", tools):
            return True, not self._has_called
        usage, of_tools = response.usage, estimate((), tools)
        counted = usage.input_tokens if usage and not usage.estimated else 0
        if counted and not tools:
            self._per_estimated = counted / estimate(messages)
        overflowed = response.stop_reason is StopReason.CONTEXT_EXCEEDED
        if not is_open or self.is_known or of_tools <= LEAST_TO_TELL or overflowed:
            return False, False
        of_messages = estimate(messages) if counted else 0
        if counted > FEWEST / 2 * of_messages:  # less is no count, not even of the messages
            return self._judge_count(counted, of_messages, of_tools)
        called = any(is_by_model(call) for message in messages for call in message.tool_invocations or ())
        if not response.text or called:
            return False, False
        self._without_call += 1
        return True, self._without_call >= REPLIES_TO_TELL

    def _judge_count(self, counted: int, of_messages: int, of_tools: int) -> tuple[bool, bool]:
        """The same by what a server has counted. If that may be the messages alone, or all with fewer tokens each, it
        is doubted once: the request without tools that follows shows how many it takes.
        """
        if known := self._per_estimated:
            self.is_known = counted > known * (of_messages + of_tools / 2)
            return not self.is_known, not self.is_known
        self.is_known = counted > MOST * of_messages
        return not self.is_known, counted < FEWEST * (of_messages + of_tools)


def _finish_reason(choice: Json) -> str:
    """Why a reply ended, in small letters, and without what Gemini adds ("content_filter: PROHIBITED_CONTENT")."""
    said = choice.get("finish_reason")
    return said.lower().partition(":")[0] if isinstance(said, str) else ""


def _objects(value: object) -> list[Json]:
    """The objects in a list, or an object alone; anything else that a server sends in their place is left out."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]


def _pieces_of_calls(delta: Json) -> Iterable[Json]:
    """The calls in a delta, or the one in the field that was in use before `tool_calls`."""
    return _objects(delta.get("tool_calls")) or [{"function": each} for each in _objects(delta.get("function_call"))]


def _add_detail(details: list[Json], piece: Json) -> None:
    """Add a piece of OpenRouter's details; the text of one of them comes in many."""
    last = details[-1] if details else {}
    for name in ("text", "summary"):
        if _words(last.get(name)) and _words(piece.get(name)) and last.get("index") == piece.get("index"):
            joined = _words(last[name]) + _words(piece[name])
            last.update({key: value for key, value in piece.items() if value}, **{name: joined})
            return
    details.append({**piece})


def _words(content: object) -> str:
    """A piece of text; some services send it as a list of parts, of which the text parts count."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _token_usage(chunk: Json) -> TokenUsage | None:
    """The tokens a chunk counts. Most servers have them at its top, Groq under `x_groq`, Moonshot in the choice."""
    inside = [chunk, *(value for value in chunk.values() if isinstance(value, dict)), *_objects(chunk.get("choices"))]
    counts = (each["usage"] for each in inside if isinstance(each.get("usage"), dict))
    return next((usage for each in counts if (usage := _counted(each))), None)


def _counted(usage: Json) -> TokenUsage | None:
    """Some servers leave the tokens of a model's thinking out of those it has written, but not out of the total."""
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    if not prompt:
        return None  # zeros are no count: every prompt has tokens
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    return TokenUsage(
        input_tokens=prompt,
        output_tokens=max(_count(usage, "completion_tokens", "output_tokens"), _count(usage, "total_tokens") - prompt),
        cache_read_tokens=_count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens"),
        cache_write_tokens=_count(details, "cache_write_tokens"),
    )


def _count(counts: Json, *names: str) -> int:
    """The tokens under the first of the names that has a count."""
    return next(filter(None, (token_count(counts.get(name)) for name in names)), 0)
