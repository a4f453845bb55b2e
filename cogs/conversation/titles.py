"""One title for a thread, after its first answer: the model's, else the beginning of the first message."""

import asyncio
import logging

from cogs.conversation.presenter import ThreadContext
from cogs.retry import DISCORD_ERRORS
from cogs.threads import rename_thread, thread_name
from domain.chat import ChatMessage, MessageRole
from domain.conversation import UNTITLED, Conversation, TitleSource, TurnState
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

ANSWERED = (TurnState.ANSWERED, TurnState.DELIVERED)


class TitleUpdates:
    """Names conversations in the background; a title that a person chose is left alone, whenever they chose it."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._tasks: set[asyncio.Task[None]] = set()

    def consider(self, conversation: Conversation, place: ThreadContext, turn_id: str) -> None:
        """Name the conversation if this turn was its first answer and nobody has named it. Returns at once."""
        if conversation.title_source is not TitleSource.AUTOMATIC:
            return
        task = asyncio.create_task(self._name(conversation, place, turn_id), name=f"title of {conversation.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Return when no title is being made."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _name(self, conversation: Conversation, place: ThreadContext, turn_id: str) -> None:
        try:
            turns = await self._use_cases.transcripts.turns(conversation.id)
            if [turn.id for turn in turns if turn.state in ANSWERED] == [turn_id]:
                await self._find_title(conversation, turn_id)
                await self._rename(conversation.id, place)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.info("conversation %s keeps its title: %s", conversation.id, error)

    async def _find_title(self, conversation: Conversation, turn_id: str) -> None:
        if self._use_cases.titles is None:
            return
        history = await self._use_cases.transcripts.messages(conversation.id)
        said = [message for message in history if message.turn_id == turn_id]
        title = await self._use_cases.titles(conversation, _asked(said), said[-1].content)
        if title:
            await self._use_cases.conversations.title_by_model(conversation.id, title)

    async def _rename(self, conversation_id: str, place: ThreadContext) -> None:
        current = await self._use_cases.conversations.get(conversation_id)
        if current.title_source is not TitleSource.PERSON and current.title != UNTITLED:
            await rename_thread(place.thread, thread_name(current), place.say)


def _asked(said: list[ChatMessage]) -> ChatMessage:
    return next(message for message in reversed(said) if message.role is MessageRole.USER)
