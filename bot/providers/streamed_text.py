"""The text of a streamed reply as its reader may see it: whole characters, without the model's thinking, and no further
than the model's own turn.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from domain.book import encodable

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
_TURN_ENDS: Final = (
    *("</s>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>"),
    *("<end_of_turn>", "<|eom_id|>", "<|eot|>", "<turn|>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>"),
)
"""With what models end a reply. TGI and MLX's servers pass it on with some of them, as the last words."""
_AMBIGUOUS: Final = ("</s>", "<|end|>")
"""Those that may also end words that are struck out, and the thinking of gpt-oss, unless a turn or nothing follows."""
_BEGINNING: Final = "<s>"
"""With what a text for some models begins, and each question in it."""
_ALL_MARKS: Final = (*_TURNS, *_OWN_TURNS, *_TURN_ENDS)
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
        is_mark = mark in _TURN_ENDS or (mark.endswith((">", "]")) and mark in _UNFINISHED)
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
    if mark not in _TURN_ENDS:
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
