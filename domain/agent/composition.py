"""An answer in the making: what the model streams, with its references resolved and its leaks hidden."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from domain.agent.citing import AnswerComposer
from domain.agent.leak_gate import LeakGate, Tells
from domain.agent.quotations import Quotations
from domain.agent.typed_pages import TypedPages
from domain.book import Book, Citation
from domain.chat import ChatMessage, MessageRole
from domain.event import DraftDiscarded, StrategyEvent, ToolCallFinished, ToolCallStarted
from domain.library.bound import without_name
from domain.protocols import BookView
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk


class Composition:
    """Follows a strategy's events and says what of the answer may be shown; `text` is what has been."""

    def __init__(self, composer: AnswerComposer, gate: LeakGate) -> None:
        self._composer = composer
        self._gate = gate

    @property
    def text(self) -> str:
        return self._gate.text

    @property
    def citations(self) -> Sequence[Citation]:
        return self._composer.citations

    async def presentable(self, event: StrategyEvent) -> StrategyEvent:
        """The event as it may be shown: what a model writes on the way to its answer can tell too much, too."""
        match event:
            case ToolCallStarted(arguments=arguments):
                return replace(event, arguments=await self._gate.covered(arguments))
            case DraftDiscarded():
                return DraftDiscarded(self.text)
        return event

    async def follow(self, event: StrategyEvent) -> str:
        """More of the answer to show, or nothing."""
        match event:
            case TextChunk() | CitationMark() | TextBlockEnd():
                return await self._gate.feed(await self._composer.feed(event))
            case ToolCallFinished(passages=passages, content=content, is_error=False):
                self._composer.learn(passages)
                if not passages:
                    self._composer.learn_result(content)
            case DraftDiscarded():
                self._composer.discard()
                self._gate.discard()
        return ""

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._gate.feed(await self._composer.finish()) + await self._gate.finish()


def compose(book: Book, view: BookView, talk: Iterable[ChatMessage], tells: Tells | None) -> Composition:
    """The composition of an answer to a talk: what was said and shown in it may be cited and quoted."""
    composer = AnswerComposer(view.cite, Quotations(_stands_in(view)), TypedPages(estimated=book.pages_estimated))
    composer.learn_name(book.title)
    for message in talk:
        composer.learn(message.passages)
        if message.role is MessageRole.USER:
            composer.learn_name(message.note)
            composer.learn_words(f"{without_name(message.note)}\n{message.content}")
        elif message.role is MessageRole.TOOL_RESULT and not message.passages:
            composer.learn_result(message.content)
    return Composition(composer, LeakGate(tells))


def _stands_in(view: BookView) -> Callable[[str], Awaitable[bool]]:
    async def stands(quoted: str) -> bool:
        return any(hit.exact for hit in await view.find_phrase(quoted, limit=1))

    return stands
