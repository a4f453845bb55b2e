"""The terminal front end: a conversation over the same use cases and events as on Discord."""

import contextlib
import json
import re
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from bot.cli.terminal import Emphasis, WordWrap, interrupts, print_json, with_provider_message
from bot.tools.results import counted
from domain.book import BETWEEN_SENTENCES, Binding, Citation, PositionState, ReadingPosition, is_source
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Conversation
from domain.errors import MarginaliaError, shortened
from domain.event import (
    Answer,
    ApprovalAsked,
    ApprovalSettled,
    DraftDiscarded,
    PositionProposed,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEvent,
    TurnFailed,
)
from domain.library.progress import limit_line
from domain.spoilers.filter import has_hidden, redacted, spans
from domain.turn.chat_with_book import ChatWithBook, Reader
from domain.turn.state import Decision

_WRITTEN = ("text", "partial", "offer")
"""Fields with an answer's text."""

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


def event_fields(event: TurnEvent) -> dict[str, object]:
    """`{"event": "text_delta", …}`: the event's class in snake case, then its fields, without hidden text."""
    fields = {name: redacted(value) if name in _WRITTEN else value for name, value in asdict(event).items()}
    if isinstance(event, ToolCallFinished):
        del fields["passages"]  # `content` says it all
    if isinstance(event, TextDelta):
        del fields["citations"]  # the answer brings them
    if isinstance(event, TurnFailed) and not event.said:
        del fields["said"]
    return {"event": _WORD_START.sub("_", type(event).__name__).lower(), **fields}


TERMINAL_READER = Reader("terminal", "")
HIDDEN_NOTE = "I've hidden part of this answer: it seems to give away something you haven't read yet."
PROGRESS = "/progress"
HELP = f"""Type a question about the book, or one of these:
{PROGRESS} page N · chapter N · finished · clear: how far you've read; nothing after it is revealed
/recap [FROM] · /who NAME · /discuss [PART]: what has happened, who somebody is, questions to discuss
/verbose on · off: show what is looked up, and what is found
/sources: the sentences behind the last answer
/retry: ask your last question again
/help: this list
quit, exit: leave
To read a book of your own: marginalia chat FILE"""
_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?|[\ufeff\u200b-\u200f\u2060]")
"""What arrow keys and the like type into a line, and characters without width, as in front of files from Windows."""
_COMMANDS = frozenset(
    (PROGRESS, "/recap", "/who", "/discuss", "/verbose", "/sources", "/retry", "/help", "/quit", "/exit")
)
_FULL_WIDTH = {0x3000: " "} | {code + 0xFEE0: chr(code) for code in range(ord("!"), ord("~") + 1)}
"""What Japanese and Chinese keyboards type in place of ASCII, and what they mean."""
_SLASH_KEY = re.compile("^[、・]")
"""What their slash key types where it types no slash."""
DETAIL_LINES = 14
"""Lines of a tool's result shown with --verbose."""
INDENT = 2
"""Columns before small print."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Carries out what a reader types behind commands.

    `move` carries out /progress and returns the new position and a sentence about it. `read` carries out /recap, /who
    or /discuss, and prints the result; None where they are not offered.
    """

    move: Callable[[str], Awaitable[tuple[ReadingPosition, str]]]
    read: Callable[[str, str], Awaitable[None]] | None = None


class ConsoleChat:
    """Answers lines from a person or a pipe. `failures` counts the questions without an answer.

    `missing` names the tool servers that cannot be reached, and why; it may wait a moment for them. `confirm` asks the
    person at the keyboard a question; None if there is nobody.
    """

    def __init__(
        self,
        chat: ChatWithBook,
        conversation: Conversation,
        console: Console,
        *,
        orders: Orders,
        missing: Callable[[], Awaitable[Mapping[str, str]]] | None = None,
        confirm: Callable[[str], Awaitable[bool]] | None = None,
        verbose: bool,
        as_json: bool,
    ) -> None:
        self._chat = chat
        self._conversation = conversation
        self._console = console
        self._orders = orders
        self._missing = missing
        self._told_missing: set[str] = set()
        self._confirm = confirm
        self._verbose = verbose
        self._as_json = as_json
        self._question = ""
        self._answered: Answer | None = None
        self.failures = 0

    async def run(self, lines: AsyncIterator[str]) -> None:
        """Answer line after line until there are no more, or one says quit or exit."""
        async for line in lines:
            question = _KEYS.sub("", line).strip()
            if leaves(question):
                return
            if question:
                await self._take(question)

    async def _take(self, line: str) -> None:
        """Answer or carry out a line, or say why that is impossible: even a full disk does not end the chat."""
        first, *rest = line.translate(_FULL_WIDTH).split(maxsplit=1)
        command = _as_command(first)
        try:
            if command.startswith("/"):
                await self._obey(command, "".join(rest))
            else:
                await self.ask(line)
        except MarginaliaError as error:
            self.failures += 1
            if self._as_json:
                print_json({"event": "refused", "text": error.message})
            else:
                self._console.print(f"{error.message}\n", style="red", markup=False, soft_wrap=True)

    async def _obey(self, command: str, order: str) -> None:
        """Carry out a command that begins with a slash; it never goes to the model."""
        match command:
            case "/progress":
                self._show_progress(*await self._orders.move(order))
            case "/verbose" if order.casefold() not in ("", "on", "off"):
                self._tell("refused", "Type /verbose on or /verbose off.")
            case "/verbose":
                self._verbose = order.casefold() == "on" if order else not self._verbose
                see = "you'll see" if self._verbose else "you won't see"
                self._tell("verbose", f"From now on, {see} what is looked up.", on=self._verbose)
            case "/who" if not order:
                self._tell("refused", "Say whom you mean: /who NAME.")
            case "/recap" | "/who" | "/discuss" if self._orders.read:
                await self._orders.read(command, order)
                if not self._as_json:
                    self._console.print()
            case "/sources":
                self._show_sources()
            case "/retry" if self._question:
                await self.ask(self._question)
            case "/retry":
                self._tell("refused", "You haven't asked anything yet.")
            case "/help":
                missing = await self._missing() if self._missing else {}
                self._tell("help", "\n".join([HELP, *starmap(_missing_tools, missing.items())]))
            case _:
                self._tell(
                    "refused",
                    f"There is no command {shortened(command)}. /help lists the commands. "
                    "If this is a question, begin it with a word instead of a slash.",
                )

    def _show_sources(self) -> None:
        citations = self._answered.citations if self._answered else ()
        told = [f"{_place(run[0])}: {_quoted(run)}" for run in _runs(citations)]
        none = "The last answer cites nothing." if self._answered else "There is no answer yet."
        self._tell("sources", "\n".join(told) or none)

    def _tell(self, event: str, text: str, **fields: object) -> None:
        if self._as_json:
            print_json({"event": event, **fields, "text": text})
        else:
            self._console.print(f"{text}\n", markup=False, soft_wrap=True)

    def _show_progress(self, position: ReadingPosition, sentence: str) -> None:
        if self._as_json:
            print_json({"event": "progress", **position_fields(position), "text": sentence})
        else:
            self._console.print(f"{sentence}\n", markup=False, soft_wrap=True)

    async def take_up(self, said: Sequence[ChatMessage] = ()) -> None:
        """Finish what an earlier run of the program was interrupted in: an unseen answer, or a question.

        For a conversation that is shown on Discord this is left to the bot. `said` are the messages so far: /retry and
        /sources are about the last ones.
        """
        for message in said:
            if message.role is MessageRole.USER:
                self._question = message.content
            elif message.role is MessageRole.ASSISTANT and message.turn_id and not message.tool_invocations:
                self._answered = Answer(message.turn_id, message.content, message.citations)
        talk = self._conversation.id
        if self._conversation.thread_id is not None:
            return
        await self._chat.withhold(talk)
        for answer in await self._chat.undelivered(talk):
            self._say("You may not have seen this answer:", answer=answer.text)
            await self._chat.delivered(answer.turn_id)
        await self._chat.recover(talk)
        if waiting := await self._chat.waiting(talk):
            questions = "\n".join(f"› {message.content}" for message in waiting)
            self._say("I was interrupted before I could answer this:", question=questions)
            await self._answer()

    def _say(self, sentence: str, **about: str) -> None:
        if self._as_json:
            told = {name: redacted(text) for name, text in about.items()}
            print_json({"event": "resumed", **told})
            return
        self._console.print(f"[dim]{sentence}[/]")
        for text in about.values():
            self._console.print(Emphasis().feed(f"{_drawn(text)}\n"), soft_wrap=True)

    async def ask(self, question: str) -> None:
        """Answer one question. Ctrl-C stops the answer and keeps what was written; the chat continues."""
        self._question = question
        await self._chat.receive(self._conversation.id, question, TERMINAL_READER)
        await self._answer()

    async def _tell_missing(self) -> None:
        """Say which tools are missing from now on, and which no longer are."""
        missing = await self._missing() if self._missing else {}
        if not self._as_json:
            for server in sorted(self._told_missing - set(missing)):
                self._console.print(f"The tools of {server} are here now.", style="dim", markup=False, soft_wrap=True)
            for server in [each for each in missing if each not in self._told_missing]:
                sentence = _missing_tools(server, missing[server])
                self._console.print(sentence, style="yellow", markup=False, soft_wrap=True)
        self._told_missing = set(missing)

    async def _answer(self) -> None:
        await self._tell_missing()
        screen = _Rendering(self._console, verbose=self._verbose)
        with (
            interrupts(lambda: self._chat.stop(self._conversation.id)),
            contextlib.nullcontext(_print_json) if self._as_json else screen as show,
        ):
            async with aclosing(self._chat.answer(self._conversation.id)) as events:
                async for event in events:
                    show(event)
                    if isinstance(event, ApprovalAsked):
                        await self._decide(event)
                    if isinstance(event, TurnFailed):
                        self.failures += 1
                    if isinstance(event, Answer):
                        self._answered = event
                    if isinstance(event, Answer | TurnFailed):
                        await self._chat.delivered(event.turn_id)

    async def _decide(self, call: ApprovalAsked) -> None:
        """Have the person decide on a call; if there is nobody to ask, it is refused."""
        allowed = await self._confirm("Allow this? y/n") if self._confirm else False
        decision = self._chat.decide(self._conversation.id, call.approval_id, TERMINAL_READER, allowed=allowed)
        if self._as_json:
            return
        if self._confirm is None:
            self._console.print("Not carried out: I can't ask you while the input is piped.", style="yellow")
        elif decision is Decision.GONE:
            self._console.print("Too late: nothing was done.", style="yellow")


def leaves(line: str) -> bool:
    """Whether a line that a person types means that they leave."""
    return _as_command(line).removeprefix("/") in ("quit", "exit")


def _as_command(word: str) -> str:
    """A word as commands are written; one that is no command stays as it is, unless it begins with a slash."""
    plain = word.translate(_FULL_WIDTH).casefold()
    command = _SLASH_KEY.sub("/", plain)
    return command if command in _COMMANDS else plain


def _missing_tools(server: str, problem: str) -> str:
    return f"The tools of {server} are missing: {problem}."


def _print_json(event: TurnEvent) -> None:
    print_json(event_fields(event))


class _Rendering:
    """One turn on the screen: a status until the answer begins, then the answer as it streams, then its sources."""

    def __init__(self, console: Console, *, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose
        self._status = console.status("[dim]reading …")
        self._wrap = self._new_wrap()
        self._emphasis = Emphasis()
        self._proposed = ""
        self._arguments: dict[str, dict[str, object]] = {}

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, event: TurnEvent) -> None:
        match event:
            case ToolCallStarted(call_id=call_id, tool_name=name, arguments=arguments):
                self._arguments[call_id] = arguments
                self._status.update(f"[dim]{escape(call_line(name, arguments))} …")
            case ToolCallFinished() if self._verbose:
                self._show_call(event)
            case TextDelta(text):
                self._status.stop()
                self._write(self._wrap.feed(_drawn(text)))
            case DraftDiscarded(again=again):
                self._end_line()
                if again:
                    self._console.print("[dim]The lines above don't count. Here is the answer:[/]")
                self._status.start()
            case ApprovalAsked(tool_name=name, arguments=arguments):
                self._status.stop()
                self._end_line()
                self._console.print("[bold]The model wants to use a tool that may change something:[/]", soft_wrap=True)
                self._indented(f"{name} {json.dumps(arguments, ensure_ascii=False)}")
            case ApprovalSettled():
                self._status.start()
            case PositionProposed(page=page, chapter=chapter):
                self._proposed = f"page {page}" if page else f"chapter {chapter}" if chapter else "finished"
            case Answer():
                self._status.stop()
                self._write(self._wrap.feed(f"\n\n{HIDDEN_NOTE}" if has_hidden(event.text) else ""))
                self._write(self._wrap.finish())
                self._show_sources(event)
            case TurnFailed(message=message, said=said):
                self._status.stop()
                self._write(self._wrap.finish())
                self._console.print(f"\n[red]{escape(with_provider_message(message, said))}[/]\n", soft_wrap=True)
                self._show_offer(event)

    def _new_wrap(self) -> WordWrap:
        return WordWrap(self._console.width if self._console.is_terminal else None)

    def _indented(self, text: str) -> None:
        """Small print: wrapped in a terminal, unchanged in a pipe."""
        if self._console.is_terminal:
            self._console.print(Padding(Text(text, style="dim"), (0, 0, 0, INDENT)))
        else:
            self._console.print(Text(textwrap.indent(text, " " * INDENT)), soft_wrap=True)

    def _end_line(self) -> None:
        self._write(self._wrap.feed("\n") + self._wrap.finish())

    def _write(self, text: str) -> None:
        self._console.print(self._emphasis.feed(text), end="", soft_wrap=True)

    def _show_call(self, call: ToolCallFinished) -> None:
        mark = "[red]✗[/]" if call.is_error else "[cyan]▸[/]"
        line = escape(f"{call.number} {call.tool_name} · {call.summary} · {call.milliseconds} ms")
        self._console.print(f"{mark} {line}", style="dim", soft_wrap=True)
        self._indented(json.dumps(self._arguments.get(call.call_id, {}), ensure_ascii=False))
        lines = self._lines(call.content)
        more = len(lines) - DETAIL_LINES
        shown = lines[:DETAIL_LINES] + ([f"… {counted(more, 'more line')}"] if more > 0 else [])
        self._indented("\n".join(shown) + "\n")

    def _lines(self, text: str) -> list[str]:
        """The lines as they are counted: those on the screen in a terminal, where a passage is one of twenty."""
        if not self._console.is_terminal:
            return text.splitlines()
        width = self._console.width - INDENT
        return [part for line in text.splitlines() for part in textwrap.wrap(line, width) or [""]]

    def _show_sources(self, answer: Answer) -> None:
        self._console.print("\n[dim](stopped)[/]" if answer.stopped else "")
        if answer.cut:
            self._console.print("[dim](the model ran out of room here; ask it to go on)[/]")
        self._show_citations(answer.citations, answer.text)
        if self._verbose and answer.uncited:
            many = len(answer.uncited)
            self._indented("1 sentence cites nothing" if many == 1 else f"{many} sentences cite nothing")
        if answer.binding is not None:
            self._indented(_bound_by(answer.binding))
        if self._proposed:
            asked = "finished the book" if self._proposed == "finished" else f"read to {self._proposed}"
            self._indented(f"Have you {asked}? Then type: {PROGRESS} {self._proposed}")
        self._console.print()

    def _show_offer(self, failure: TurnFailed) -> None:
        """Show what the book says when no model answered."""
        if failure.offer:
            self._console.print("[dim]Meanwhile, here's what the book says:[/]\n")
            wrap = self._new_wrap()
            self._write(wrap.feed(_drawn(failure.offer)) + wrap.finish() + "\n")
            self._show_citations(failure.citations, failure.offer)
            self._console.print()

    def _show_citations(self, citations: Sequence[Citation], text: str) -> None:
        # what is quoted in full there is not repeated
        missing = [each for each in citations if _quoted([each]).strip('“”"') not in text]
        for run in _runs(missing):
            self._indented(f"{_place(run[0])}: {_quoted(run)}")


def _runs(citations: Sequence[Citation]) -> list[list[Citation]]:
    """The citations, those together that follow each other at the same place of the book."""
    runs: list[list[Citation]] = []
    for citation in citations:
        last = runs[-1][-1] if runs else None
        if last and _place(last) == _place(citation) and 0 <= citation.start - last.end <= BETWEEN_SENTENCES:
            runs[-1].append(citation)
        else:
            runs.append([citation])
    return runs


def _place(citation: Citation) -> str:
    return " · ".join(part for part in (citation.reference, citation.chapter) if part)


def _quoted(run: Sequence[Citation]) -> str:
    return " ".join(word for citation in run for word in citation.quote.split())


def _drawn(text: str) -> str:
    """Text as a terminal can show it, without hidden spans."""
    return "".join("▒▒▒ (hidden)" if span.is_hidden else span.text for span in spans(text))


def call_line(tool_name: str, arguments: dict[str, object]) -> str:
    """A call on one line: its name and its most telling argument."""
    told = (value for value in arguments.values() if isinstance(value, str) and not is_source(value))
    first = next(told, "")
    return f'{tool_name} "{first}"' if first else tool_name


def conversation_fields(conversation: Conversation, book_title: str, position: ReadingPosition) -> dict[str, object]:
    """What the first line of `--json` output says."""
    about = {"id": conversation.id, "title": conversation.title, "book": book_title}
    return {"event": "conversation", **about, **position_fields(position)}


def position_fields(position: ReadingPosition) -> dict[str, object]:
    """The state of a position and, while reading, the offset up to which the book has been read."""
    reading = position.state is PositionState.READING
    return {"state": position.state.value, "read_to": position.read_to if reading else None}


def _bound_by(binding: Binding) -> str:
    """The line that says how far the answer goes, and because of whom or what."""
    line = limit_line(binding, binding.name or "another reader")
    return line[:1].upper() + line[1:]
