"""An answer in the making: what the model streams, with its references resolved and its leaks hidden."""

from collections.abc import Sequence

from domain.agent.citing import AnswerComposer
from domain.agent.leak_gate import LeakGate
from domain.book import Citation
from domain.event import DraftDiscarded, StrategyEvent, ToolCallFinished
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

    async def follow(self, event: StrategyEvent) -> str:
        """More of the answer to show, or nothing."""
        match event:
            case TextChunk() | CitationMark() | TextBlockEnd():
                return await self._gate.feed(await self._composer.feed(event))
            case ToolCallFinished(passages=passages):
                self._composer.learn(passages)
            case DraftDiscarded():
                self._composer.discard()
                self._gate.discard()
        return ""

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._gate.feed(await self._composer.finish()) + await self._gate.finish()
