"""Messages and prompts: what people and models say to each other, and the templates for what models are told."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib.resources.abc import Traversable
from string import Template
from typing import Any, Final

from domain.book import Citation, Passage, encodable
from domain.tool_use import Media, RawReply, TokenUsage, ToolInvocation


class MessageRole(StrEnum):
    """The author of a kept message."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


class PromptKind(StrEnum):
    """The purpose of a message to a model. Models read its text; a provider without a model goes by the kind and its
    data.
    """

    TALK = "talk"
    """A message of a conversation, and the system prompt. The system prompt's data: `title` and `author` of the book,
    `pages`, how many it has, `estimated`, whether that is about so, `open`, whether the whole book may be told, `page`,
    up to where, and `place`, the `page` and the `chapter` that the person who asks has just finished.
    """

    UNANSWERED = "unanswered"
    """A reader's message of an earlier turn that came to no answer."""

    SEARCH_QUERY = "search query"
    """Data: `history`, a list of role and text, and `message`, which is to be turned into a query."""

    PASSAGES = "passages"
    """A message with the passages found for it. Data: `message` and `passages`."""

    TITLE = "title"
    """Data: `question` and `answer`, from which a conversation gets its title."""

    SUMMARY = "summary"
    NUDGE = "nudge"
    """A request to answer now, after an empty reply."""


_PROMPT_ROLES = frozenset({"system", *MessageRole})


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request to a model.

    `kind` and `data` express in structured form what `content` says in words: see PromptKind, and ToolResult for
    results. They belong to the running turn and are neither sent nor kept, so messages of earlier turns have none.

    Raises:
        ValueError: the role is none of system, user, assistant, tool_result.
    """

    role: str
    content: str
    tool_use_id: str | None = None
    tool_invocations: Sequence[ToolInvocation] | None = None
    is_error: bool = False
    passages: tuple[Passage, ...] = ()
    raw: RawReply | None = field(default=None, repr=False)
    usage: TokenUsage | None = field(default=None, repr=False)
    """The cost of the request that produced an assistant message; it is kept, never sent."""
    note: str = ""
    """A line put in front (see `text`): for a reader's words, who they are and how far they have read; for passages, a
    count or a budget.
    """
    kind: PromptKind = PromptKind.TALK
    data: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    media: tuple[Media, ...] = ()
    """What came with a tool's result, for models that accept it; it is not kept."""

    def __post_init__(self) -> None:
        if self.role not in _PROMPT_ROLES:
            raise ValueError(f"unknown role {self.role!r}: use one of {', '.join(sorted(_PROMPT_ROLES))}")
        object.__setattr__(self, "role", str(self.role))
        object.__setattr__(self, "tool_invocations", tuple(self.tool_invocations or ()) or None)

    @property
    def text(self) -> str:
        """What a model is to read: the note, if there is one, and the content."""
        return f"{self.note}\n{self.content}" if self.note else self.content


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A tool call and its result."""

    call: ToolInvocation
    result: PromptMessage


def completed_calls(messages: Sequence[PromptMessage]) -> Iterator[CompletedCall]:
    """The calls of these messages that have a result there, in the order of the results."""
    calls = {call.tool_use_id: call for message in messages for call in message.tool_invocations or ()}
    for message in messages:
        if message.role == "tool_result" and message.tool_use_id in calls:
            yield CompletedCall(calls[message.tool_use_id], message)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation, with everything a later request needs to replay it exactly."""

    id: str
    conversation_id: str
    role: MessageRole
    content: str
    created_at: datetime
    turn_id: str | None = None
    """None while a reader's message waits for its turn."""
    tool_use_id: str | None = None
    tool_invocations: tuple[ToolInvocation, ...] = ()
    is_error: bool = False
    passages: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: TokenUsage | None = None
    raw: RawReply | None = field(default=None, repr=False)
    author_id: str = ""
    author_name: str = ""
    note: str = ""
    """As in PromptMessage."""
    depends_to: int | None = None
    """The largest offset of the book the message depends on; None: on none of it."""
    external_id: str | None = None
    """The id of the Discord message; it is unique, so an event that is replayed is recognised."""
    duration_ms: int = 0
    """How long a tool call took."""
    summary: str = ""
    """A tool's result in a few words, for people."""

    def as_prompt(self) -> PromptMessage:
        """The message as it is sent to the model."""
        return PromptMessage(
            role=self.role,
            content=self.content,
            tool_use_id=self.tool_use_id,
            tool_invocations=self.tool_invocations,
            is_error=self.is_error,
            passages=self.passages,
            raw=self.raw,
            note=self.note,
        )


@dataclass(frozen=True, slots=True)
class PlatformMessage:
    """A message on the platform, by its id and that of its channel.

    `author_id` is given where somebody else may have written it than the person who uses it.
    """

    message_id: str
    channel_id: str
    author_id: str = ""


_QUOTATION = re.compile(r"\n\n(?:> .*(?:\n|\Z))+\Z")


def quoting(question: str, passage: str) -> str:
    """A question, followed by the passage that it is about."""
    return "\n\n".join([question, "\n".join(f"> {line}" for line in passage.splitlines())])


def without_quotation(question: str, *, unless_in: str = "") -> str:
    """The question without the passage that follows it; with that if a text has all of its words."""
    found = _QUOTATION.search(question)
    if found is None:
        return question
    passage = " ".join(re.sub(r"^> “?|…?”?$", "", found[0].strip(), flags=re.MULTILINE).split())
    return question if passage in " ".join(unless_in.split()) else question[: found.start()]


_INTERRUPTED = "This call was interrupted before anything came of it."


def repair_history(messages: Iterable[PromptMessage]) -> Iterator[PromptMessage]:
    """The messages, with an error in place of each missing result, because services refuse a call without a result."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == MessageRole.TOOL_RESULT:
            open_calls = [name for name in open_calls if name != message.tool_use_id]
        else:
            yield from _interrupted(open_calls)
            open_calls = [call.tool_use_id for call in message.tool_invocations or ()]
        yield message
    yield from _interrupted(open_calls)


def _interrupted(open_calls: Iterable[str]) -> Iterator[PromptMessage]:
    for name in open_calls:
        yield PromptMessage(MessageRole.TOOL_RESULT, _INTERRUPTED, tool_use_id=name, is_error=True)


_FIRST_HALVES = ("\ud800", "\udbff")


class WholeCharacters:
    """Joins a text that arrives in pieces, some of which end in the middle of a character."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """The complete characters that have not been returned yet."""
        text = self._half + piece
        cut = len(text) - _ends_in_a_half(text)
        self._half = text[cut:]
        return encodable(text[:cut])

    def end(self) -> str:
        """The rest of the text, once it has ended."""
        half, self._half = self._half, ""
        return encodable(half)


def _ends_in_a_half(text: str) -> bool:
    first, last = _FIRST_HALVES
    return first <= text[-1:] <= last


_THINKING_MARKS: Final = {
    "<think>": "</think>",  # most models
    "<thinking>": "</thinking>",  # Nova
    "<thought>": "</thought>",  # Gemini
    "<reasoning>": "</reasoning>",  # gpt-oss on Bedrock
    "<seed:think>": "</seed:think>",
    "<|channel>": "<channel|>",  # Gemma 4
    "<|channel|>analysis": "<|channel|>final<|message|>",  # gpt-oss
    "[THINK]": "[/THINK]",  # Mistral
}
"""Between what models write their thinking."""
THINKING_OPENINGS: Final = tuple(_THINKING_MARKS)
THINKING_ENDS: Final = re.compile(
    "|".join([*map(re.escape, _THINKING_MARKS.values()), r"<\|channel\|>commentary (?=to=)"])
)
"""What ends thinking: the mark that belongs to it, or a call of gpt-oss."""
LONGEST_THINKING_END: Final = 32


class ReasoningFilter:
    """Removes the thinking at the beginning of a streamed reply; any other reply passes unchanged.

    Servers that know the model remove its thinking themselves; others stream it as part of the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._has_thought = False
        self._answering = False

    def feed(self, piece: str) -> str:
        """The text that may be shown now and has not been returned before."""
        if self._answering:
            return piece
        self._held += piece
        while self._is_thinking or self._held.lstrip().startswith(THINKING_OPENINGS):
            _, *rest = THINKING_ENDS.split(self._held, maxsplit=1)
            if not rest:
                self._is_thinking, self._held = True, self._held[-LONGEST_THINKING_END:]
                return ""
            self._is_thinking, self._has_thought, self._held = False, True, rest[0]
        begun = self._held.lstrip()
        return "" if any(mark.startswith(begun) for mark in THINKING_OPENINGS) else self._answer()

    def end(self) -> str:
        """The text held back because it might have become thinking."""
        return "" if self._is_thinking else self._answer()

    def _answer(self) -> str:
        text, self._held, self._answering = self._held, "", True
        return text.lstrip() if self._has_thought else text


_THINKS: Final = re.compile(
    r"\b(?:the|this) (?:user|reader)(?:['’]s|,| (?:is|wants?|asks?|asked|has|just|said|says|needs?|might|may|did)\b)"
    r"|\buser (?:asks|asked|wants|question|request|query|input)\b|\bthinking process\b"
    r"|(?:^|[\n.!?:*]\s*)(?:okay|ok|alright|hmm+|wait|let me|let['’]s|we (?:need|should|have|must|are)"
    r"|(?:so|now|first|next|maybe|but|also|then),? (?:i|we|let)|i (?:need|should|have|must|will|can|think)"
    r"|i['’](?:ll|ve)|ich (?:muss|sollte|werde)|der nutzer|je dois|l['’]utilisateur|debo|el usuario|мне нужно)\b"
    r"|пользовател|用户|我需要|我应该|\A\s*(?:好的?|首先)[，,]|ユーザー|사용자",
    re.IGNORECASE,
)
"""Words of a model that thinks: about the one who asks, and about what it is going to do."""


def answer_in_thinking(thinking: str, *, may_be_all: bool) -> str:
    """The answer in what a server has sent as thinking without an answer; empty if there is none.

    It follows the mark that ends the thinking. Without such a mark, the model may have broken off, or not have thought
    at all while its server takes for thinking whatever comes before that mark. `may_be_all`: the server has never told
    thinking from an answer, so that this may be one unless it reads as a model thinks.
    """
    *before, rest = THINKING_ENDS.split(thinking)
    if before or not may_be_all or thinking.lstrip().startswith(THINKING_OPENINGS) or _THINKS.search(thinking):
        return rest.strip() if before else ""
    return thinking.strip()


_PEOPLE: Final = ("user", "system", "tool", "human", "developer", "observation", "ipython")
_MODELS: Final = ("assistant", "model", "gpt", "bot", "chatbot")


def _turns_of(roles: Iterable[str]) -> Iterator[str]:
    """How the templates of models open a turn of somebody with these roles."""
    for role in roles:
        yield from (f"<|im_start|>{role}", f"<|im_start|> {role}", f"<|im_user|>{role}", f"<|im_assistant|>{role}")
        yield from (f"<|start_header_id|>{role}<|end_header_id|>", f"<|header_start|>{role}<|header_end|>")
        yield from (f"<start_of_turn>{role}", f"<|turn>{role}", f"<|start_of_role|>{role}<|end_of_role|>")
        yield from (f"<|{role}|>", f"<|{role.title()}|>", f"<｜{role.title()}｜>", f"[|{role}|]", f"[|{role.upper()}|]")
        yield f"<|START_OF_TURN_TOKEN|><|{role.upper()}_TOKEN|>"


_TURNS: Final = (
    *_turns_of(_PEOPLE),
    *("[INST]", "<<SYS>>", "<|start|>user", "<|start|>system", "<|start|>developer"),
    *("### User:", "### Human:", "### Instruction:", "###User:", "###Human:", "###Instruction:"),
)
"""With what models begin to write as somebody else. Other headings may be a book's own."""
_OWN_TURNS: Final = (*_turns_of(_MODELS), "[/INST]", "### Assistant:", "###Assistant:")
"""With what it begins its own turn."""
TURN_ENDS: Final = (
    *("</s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>"),
    *("<end_of_turn>", "<|eom_id|>", "<|eot|>", "<turn|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>"),
)
"""With what models end a reply. TGI and MLX's servers pass it on with some of them, as the last words."""
_AMBIGUOUS: Final = ("</s>", "<|end|>")
"""Those that may also end words that are struck out, and the thinking of gpt-oss, unless a turn or nothing follows."""
_BEGINNING: Final = "<s>"
"""With what a text for some models begins, and each question in it."""
_ALL_MARKS: Final = (*_TURNS, *_OWN_TURNS, *TURN_ENDS)
_SHARED: Final = 3
"""Characters by which a mark is looked up; the shortest mark has more."""
_BY_BEGINNING: Final = {mark[:_SHARED]: [m for m in _ALL_MARKS if m[:_SHARED] == mark[:_SHARED]] for mark in _ALL_MARKS}
_UNFINISHED: Final = frozenset(mark[:length] for mark in _ALL_MARKS for length in range(1, len(mark)))
_LONGEST_MARK: Final = max(map(len, _ALL_MARKS))
_MAY_BEGIN: Final = re.compile(r"[<\[#]")
_MOST_SPACES: Final = 40
"""Characters of white space after a mark beyond which it is not what ends a turn."""
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_LONGEST_FENCE: Final = 6
_QUOTING: Final = frozenset("`\"'“‘„«»‹(")


class OwnTurn:
    """Ends a streamed reply where its model goes on as somebody else, or has ended it; passes any other unchanged.

    Under a wrong template, a server does not know with what its model ends a turn. A mark in code or behind a quotation
    mark is quoted.
    """

    def __init__(self) -> None:
        self.is_over = False
        """Whether the model has gone on after its turn, so that nothing that follows is for the reader."""
        self.held = ""
        """The text held back because it may become a mark."""
        self._begun = ""
        """The first characters of the current line."""
        self._ticks = 0
        self._last = ""
        self._is_code = False
        self._is_blank = True

    def feed(self, piece: str) -> str:
        """The text that may be shown now and has not been returned before."""
        if self.is_over:
            return ""
        text, self.held = self.held + piece, ""
        shown, at = list[str](), 0
        for place in map(re.Match.start, _MAY_BEGIN.finditer(text)):
            mark = _mark_at(text, place)
            if mark is None:
                continue
            shown.append(self._passed(text[at:place]))
            at = place
            if mark and self._is_quoted(mark):
                continue
            if mark in _OWN_TURNS and self._is_blank:
                at += len(mark)
                continue
            end = at + len(mark)
            ends = _ends_turn(mark, text[end : end + _MOST_SPACES + _LONGEST_MARK]) if mark else None
            if ends is None:
                self.held = text[at:]
            self.is_over = bool(ends)
            if ends is not False:
                return "".join(shown)
        return "".join([*shown, self._passed(text[at:])])

    def end(self) -> str:
        """The text held back because it might have become a mark, without the mark of the end."""
        held, self.held = self.held, ""
        mark = held.rstrip()
        is_mark = mark in TURN_ENDS or (mark.endswith((">", "]")) and mark in _UNFINISHED)
        return "" if is_mark and not self._is_quoted(mark) else self._passed(held)

    def _is_quoted(self, mark: str) -> bool:
        """Whether the mark that follows is part of what the reply tells: in code, in quotation marks, or in a line."""
        in_code = self._is_code or self._ticks % 2 or _FENCE.match(self._begun)
        return bool(in_code or self._last in _QUOTING or (mark.startswith("#") and self._begun.strip()))

    def _passed(self, text: str) -> str:
        """The text; where in a line, and in code, it ends is noted."""
        if not text:
            return text
        first, *others = text.split("\n")
        for number, line in enumerate((first, *others)):
            if number:
                self._is_code ^= _FENCE.match(self._begun) is not None
                self._begun, self._ticks = "", 0
            self._begun += line[: _LONGEST_FENCE - len(self._begun)]
            self._ticks += line.count("`")
        self._last = text[-1]
        self._is_blank = self._is_blank and text.isspace()
        return text


def _ends_turn(mark: str, rest: str) -> bool | None:
    """Whether the turn ends with a mark, by what follows; None if more has to arrive to tell."""
    if mark not in TURN_ENDS:
        return True
    following = rest.lstrip().removeprefix(_BEGINNING)
    has_line_ended = "\n" in rest[: len(rest) - len(rest.lstrip())]
    if not following and len(rest) <= _MOST_SPACES and (mark in _AMBIGUOUS or not has_line_ended):
        return None
    if mark not in _AMBIGUOUS:
        return has_line_ended or following[:1] in ("<", "[")
    next_mark = _mark_at(following, 0)
    return None if next_mark == "" else next_mark is not None


def _mark_at(text: str, place: int) -> str | None:
    """The mark that begins at a place of a text; empty if one may have begun, None if there is none."""
    for mark in _BY_BEGINNING.get(text[place : place + _SHARED], ()):
        if text.startswith(mark, place):
            return mark
    return "" if len(text) - place < _LONGEST_MARK and text[place:] in _UNFINISHED else None


_PLACEHOLDERS = {
    "conversation_system_prompt": {"book"},
    "reformulation_prompt": {"message"},
    "retrieved_passages_prompt": {"query", "passages", "message"},
    "title_prompt": {"question", "answer"},
    "summary_prompt": {"words", "sentences"},
    "recap_prompt": {"words", "language", "story"},
    "portrait_prompt": {"name", "language", "sentences"},
    "discussion_prompt": {"count", "language", "sentences"},
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompt templates. They use `string.Template` rather than `str.format`, because books are full of braces."""

    conversation_system: Template
    reformulation: Template
    retrieved_passages: Template
    title: Template
    summary: Template
    recap: Template
    portrait: Template
    discussion: Template

    @classmethod
    def load(cls, folder: Traversable) -> "Prompts":
        """Load all templates of a folder.

        Raises:
            FileNotFoundError: a template is missing.
            ValueError: a template lacks a placeholder, or has an unknown one.
        """
        return cls(*(_read(folder, name) for name in _PLACEHOLDERS))


def _read(folder: Traversable, name: str) -> Template:
    template = Template((folder / f"{name}.md").read_text(encoding="utf-8"))
    found = set(template.get_identifiers())
    if not template.is_valid() or found != _PLACEHOLDERS[name]:
        raise ValueError(f"{name}.md must have exactly these placeholders: {sorted(_PLACEHOLDERS[name])}")
    return template
