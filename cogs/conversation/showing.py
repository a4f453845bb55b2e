"""How turns are shown in threads, and what becomes of it."""

import logging
from collections.abc import Sequence
from functools import partial

from cogs.conversation.places import Place
from cogs.conversation.screen import NOTHING, Leftover, TurnScreen
from cogs.delivery.answer_message import AnswerMessage
from cogs.delivery.body import DeliveryState
from cogs.delivery.trace_message import TraceMessage
from cogs.rendering.calls import ShownCall
from cogs.services import Services
from domain.conversation import Conversation
from domain.errors import MarginaliaError

logger = logging.getLogger(__name__)


class Showing:
    """Makes screens for turns, and notes what was delivered by them."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def is_verbose(self, conversation: Conversation, askers: Sequence[str]) -> bool:
        """Whether tool calls are shown: as chosen for the thread, else by who wrote last, else by who runs the bot."""
        chosen = conversation.verbose
        if chosen is None and askers:
            chosen = await self._services.readers.get_verbose(askers[-1])
        return self._services.verbose_default if chosen is None else chosen

    def screen(
        self,
        turn_id: str,
        place: Place,
        *,
        seed: str,
        verbose: bool,
        leftover: Leftover = NOTHING,
        calls: Sequence[ShownCall] = (),
    ) -> TurnScreen:
        return TurnScreen(
            place.pump,
            turn_id,
            seed=seed,
            say=place.say,
            verbose=verbose,
            record=partial(self._services.turns.update_delivery, turn_id),
            leftover=leftover,
            calls=calls,
        )

    async def conclude(self, screen: TurnScreen, place: Place) -> bool:
        """See a turn that has ended to its readers. False: it is to be tried again later."""
        delivery = await screen.settled()
        if delivery.state is DeliveryState.REFUSED:
            text = place.say("⚠️ Discord does not take this answer. /conversations export has it.")
            delivery = await AnswerMessage(place.pump, f"{screen.turn_id} refused").settle(text)
        if not delivery.delivered:
            reason = place.obstacle or delivery.reason
            logger.warning("turn %s was not delivered: %s, %s", screen.turn_id, delivery.state, reason)
            return False
        try:
            await self._services.chat.delivered(screen.turn_id, delivery.message_ids, screen.shown.trace)
        except MarginaliaError as error:  # it stands; the next start will find that it does
            logger.error("the delivery of turn %s was not noted: %s", screen.turn_id, error)
        return True

    async def remove(self, leftover: Leftover, place: Place) -> None:
        """Take away what a turn has shown that comes to nothing."""
        if leftover.replies:
            await AnswerMessage(place.pump, "leftover", standing=leftover.replies).remove()
        if leftover.trace:
            await TraceMessage(place.pump, "leftover", standing=leftover.trace).remove()
