"""When the model stays away, the book still speaks: its own sentences, found without a model."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from domain.book import Citation
from domain.chat import PromptMessage
from domain.citations.resolver import Composition
from domain.errors import LLMErrorCode, MarginaliaError
from domain.ports import BookView, ChatProvider, RetrievalStrategy
from domain.tools.context import MakeToolbox

logger = logging.getLogger(__name__)

LONGEST_S = 2.0
"""What an offer may take: whoever waits for it has waited long already."""

AT_ONCE = 2
"""Offers made at the same time: a model that stays away does so for everybody."""

_STAYED_AWAY = frozenset(
    {
        LLMErrorCode.API_CALL_FAILED,
        LLMErrorCode.CONNECTION_LOST,
        LLMErrorCode.OUT_OF_CREDIT,
        LLMErrorCode.OVERLOADED,
        LLMErrorCode.RATE_LIMITED,
        LLMErrorCode.TIMEOUT,
    }
)


@dataclass(frozen=True, slots=True)
class FallbackAnswer:
    """What stands in the book about the question; empty where nothing was found."""

    text: str = ""
    citations: tuple[Citation, ...] = ()


NO_OFFER = FallbackAnswer()


class FallbackAnswerer:
    """Makes offers with a provider that is always there, bound to the same part of the book."""

    def __init__(self, provider: ChatProvider, strategy: RetrievalStrategy, toolbox: MakeToolbox) -> None:
        self._provider = provider
        self._strategy = strategy
        self._toolbox = toolbox
        self._free = asyncio.Semaphore(AT_ONCE)

    async def offer(
        self, talk: Sequence[PromptMessage], view: BookView, compose: Callable[[], Composition], seconds: float
    ) -> FallbackAnswer:
        """An answer to the talk in the book's own sentences, if it can be had in time. Raises nothing."""
        answer = compose()
        try:
            async with asyncio.timeout(seconds), self._free:
                await self._write(talk, view, answer)
        except (TimeoutError, MarginaliaError):
            return NO_OFFER
        except Exception:
            logger.exception("the stand-in failed unexpectedly")
            return NO_OFFER
        return FallbackAnswer(answer.text.strip(), tuple(answer.citations)) if answer.citations else NO_OFFER

    async def _write(self, talk: Sequence[PromptMessage], view: BookView, answer: Composition) -> None:
        toolbox = self._toolbox(view)
        dispatch = toolbox.build_dispatcher(timeout=LONGEST_S)
        work = self._strategy.execute(self._provider, talk, toolbox.get_definitions(), dispatch)
        async with aclosing(work) as events:
            async for event in events:
                await answer.follow(event)
        await answer.finish()


def stayed_away(error: Exception) -> bool:
    """Whether a turn came to nothing because the model could not be had, and not because of what was asked of it."""
    return isinstance(error, TimeoutError) or getattr(error, "code", None) in _STAYED_AWAY
