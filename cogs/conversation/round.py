"""Everything that is to be answered in one conversation now, turn by turn."""

import asyncio
import logging
import uuid
from collections.abc import Sequence
from contextlib import aclosing

from cogs.conversation.aftermath import Aftermath
from cogs.conversation.buttons import again_button
from cogs.conversation.live import LiveTurn, LiveTurns
from cogs.conversation.places import Place, Places
from cogs.conversation.screen import NOTHING, Leftover, TurnScreen
from cogs.conversation.showing import Showing
from cogs.conversation.titling import Titling
from cogs.delivery.answer_message import AnswerMessage
from cogs.delivery.typing import Typing
from cogs.errors import sentence_for
from cogs.patience import PASSING, TROUBLE
from cogs.services import Aside, Services
from domain.conversation import Conversation
from domain.errors import ConversationError, ConversationErrorCode, MarginaliaError
from domain.event import Answer, TurnFailed, TurnStarted

logger = logging.getLogger(__name__)


class Round:
    """Answers in one conversation until nothing waits there any more.

    `leftover` are messages of earlier attempts, for the next turn to use. `untidy` holds the conversations in which
    something is to be put in order before anything is answered.
    """

    def __init__(
        self,
        conversation_id: str,
        *,
        services: Services,
        places: Places,
        showing: Showing,
        titling: Titling,
        live: LiveTurns,
        untidy: set[str],
    ) -> None:
        self._id = conversation_id
        self._services = services
        self._places = places
        self._showing = showing
        self._aftermath = Aftermath(services, showing)
        self._titling = titling
        self._live = live
        self._screen: TurnScreen | None = None
        self._untidy = untidy
        self.leftover = NOTHING
        self.asides: list[Aside] = []
        """How to reach those who wait for an answer otherwise than in the thread."""
        self.wanted = True
        self.closing = False
        self.cut_short = False
        """Whether trouble has ended it that no reader was told of: it is for us to come back."""

    @property
    def is_delivering(self) -> bool:
        """Whether an answer is made and on its way."""
        return self._screen is not None and self._screen.ending is not None

    async def run(self, opened: asyncio.Event) -> None:
        """Answer what waits, and what comes meanwhile. Never fails: trouble ends in a sentence in the thread."""
        await opened.wait()
        while self.wanted and not self.closing:
            self.wanted = self.cut_short = False
            place = None
            try:
                conversation = await self._services.conversation_repository.get(self._id)
                place = await self._places.of(conversation) if conversation else None
                if conversation and place:
                    await self._answer_all(conversation, place)
                elif conversation:
                    await self._tell_aside([])
            except Exception as error:  # noqa: BLE001 - whatever it is, the reader is told
                await self._tell(error, place)
            if self.cut_short:
                await self._tell_aside(place.lacking if place else [])

    async def _answer_all(self, conversation: Conversation, place: Place) -> None:
        """Nobody is to pay for another answer while one that is made cannot be shown."""
        async with Typing(place.channel.typing):
            if self._id in self._untidy:
                self.leftover += await self._tidy(conversation, place)
            while not (self.closing or self.cut_short) and await self._answer_next(conversation, place):
                conversation = await self._services.conversations.get(self._id)
        leftover, self.leftover = self.leftover, NOTHING
        await self._showing.remove(leftover, place)

    async def _tidy(self, conversation: Conversation, place: Place) -> Leftover:
        leftover, is_tidy = await self._aftermath.clear_up(conversation, place)
        if is_tidy:
            self._untidy.discard(self._id)
        self.cut_short = not is_tidy
        return leftover

    async def _answer_next(self, conversation: Conversation, place: Place) -> bool:
        """Play one turn; False if nothing waits for it, or the conversation is not shown here any more."""
        if conversation.thread_id != str(place.thread.id):
            return False
        try:
            await self._play(conversation, place)
            return self._screen is not None and await self._conclude(self._screen, conversation, place)
        finally:
            if self._screen is not None:
                self._live.pop(self._screen.turn_id, None)
            self._screen = None

    async def _play(self, conversation: Conversation, place: Place) -> None:
        try:
            async with aclosing(self._services.chat.answer(conversation.id)) as events:
                async for event in events:
                    if isinstance(event, TurnStarted):
                        await self._show(event, conversation, place)
                    elif self._screen is not None:
                        self._screen.follow(event)
        except asyncio.CancelledError:
            if self._screen is not None and not self.is_delivering:
                await self._screen.pause()
            raise
        except Exception as error:
            if self._screen is None or self.is_delivering:
                raise
            self._untidy.add(self._id)
            self._screen.follow(_failure(self._screen.turn_id, error, place))

    async def _show(self, started: TurnStarted, conversation: Conversation, place: Place) -> None:
        running = self._services.chat.running(conversation.id)
        askers = running.askers if running else ()
        leftover, self.leftover = self.leftover, NOTHING
        self._screen = self._showing.screen(
            started.turn_id,
            place,
            seed=started.messages[0],
            verbose=await self._showing.is_verbose(conversation, askers),
            leftover=leftover,
        )
        self._live[started.turn_id] = LiveTurn(self._screen, conversation, askers)
        if leftover:
            await self._services.turns.update_delivery(started.turn_id, leftover.replies, leftover.trace)

    async def _conclude(self, screen: TurnScreen, conversation: Conversation, place: Place) -> bool:
        """See the end of a turn to its readers. False: it is not the time for another."""
        if screen.ending is None:  # taken back
            self.leftover += await screen.leave()
            return True
        if not await self._showing.conclude(screen, place):
            self._untidy.add(self._id)
            self.cut_short = True
        elif isinstance(screen.ending, Answer):
            self._titling.consider(conversation, place, screen.turn_id)
        return self._id not in self._untidy

    async def _tell(self, error: Exception, place: Place | None) -> None:
        """Say what went wrong where no turn could say it. A conversation that was deleted meanwhile is no trouble."""
        if isinstance(error, ConversationError) and error.code is ConversationErrorCode.NOT_FOUND:
            return
        self._untidy.add(self._id)
        if place is None or isinstance(error, PASSING):
            logger.warning("the thread of conversation %s is out of reach: %r", self._id, error)
            self.cut_short = True
            return
        note = f"⚠️ {sentence_for(error, place.say)}"
        message = AnswerMessage(place.pump, uuid.uuid4().hex)
        try:
            delivery = await message.settle("", note, again_button(self._id, place.say))
        except Exception:
            logger.exception("trouble in conversation %s could not be told", self._id)
        else:
            self.cut_short = not delivery.delivered

    async def _tell_aside(self, lacking: Sequence[str]) -> None:
        asides, self.asides = self.asides, []
        for aside in asides:
            try:
                await aside(lacking)
            except TROUBLE as error:
                logger.warning("nobody could be told of conversation %s: %s", self._id, error)


def _failure(turn_id: str, error: Exception, place: Place) -> TurnFailed:
    code = error.code if isinstance(error, MarginaliaError) else "internal"
    return TurnFailed(
        turn_id, code, error.message if isinstance(error, MarginaliaError) else sentence_for(error, place.say)
    )
