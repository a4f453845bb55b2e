"""After a crash or an outage: answers that were made but not delivered, and turns that were interrupted."""

from collections.abc import Sequence

from cogs.conversation.places import Place
from cogs.conversation.screen import Leftover
from cogs.conversation.showing import Showing
from cogs.conversation.standing import Standing, folded, look_around
from cogs.delivery.answer_message import messages_of
from cogs.rendering.answers import answer_note
from cogs.rendering.calls import calls_of
from cogs.services import Services
from domain.chat import ChatMessage, MessageRole
from domain.citations.uncited import unsupported
from domain.conversation import Conversation, Turn, TurnState
from domain.event import Answer
from domain.tools.context import proposals_in


class Aftermath:
    """Puts a conversation in order before anything new is answered in it."""

    def __init__(self, services: Services, showing: Showing) -> None:
        self._services = services
        self._showing = showing

    async def clear_up(self, conversation: Conversation, place: Place) -> tuple[Leftover, bool]:
        """Deliver what is answered, and let what was interrupted wait again.

        Returns what interrupted turns have left in the thread, and whether everything answered stands there now.
        """
        await self._services.chat.withhold(conversation.id)
        history = await self._services.messages.get_by_conversation(conversation.id)
        turns = await self._services.turns.get_by_conversation(conversation.id)
        standing = await self._look_around(place, history, turns)
        answered = [turn for turn in turns if turn.state is TurnState.ANSWERED]
        delivered = [await self._deliver(turn, conversation, place, history, standing) for turn in answered]
        interrupted = await self._services.chat.recover(conversation.id)
        gone = {turn.id for turn in interrupted}
        leftover = standing.of_others_than(turn.id for turn in turns if turn.id not in gone)
        for turn in interrupted:
            leftover += Leftover(turn.reply_ids, turn.trace_id)
        return leftover, all(delivered)

    async def _look_around(self, place: Place, history: Sequence[ChatMessage], turns: Sequence[Turn]) -> Standing:
        """What stands below the oldest message that is not done with."""
        done = {turn.id for turn in turns if turn.state is TurnState.DELIVERED or turn.told}
        questions = [message for message in history if message.role is MessageRole.USER and message.turn_id not in done]
        ids = [message.external_id for message in questions if message.external_id]
        # A question that came with a command has no message of its own, so there is nothing to look after.
        after_all = [int(each) for each in ids] if all(each.isdecimal() for each in ids) else []
        return await look_around(place.thread, min(after_all, default=None)) if ids else Standing()

    async def _deliver(
        self,
        turn: Turn,
        conversation: Conversation,
        place: Place,
        history: Sequence[ChatMessage],
        standing: Standing,
    ) -> bool:
        """Show an answer from storage, in the messages that stand for it already."""
        said = [message for message in history if message.turn_id == turn.id]
        asked = [message for message in said if message.role is MessageRole.USER]
        text = said[-1].content
        answer = Answer(turn.id, text, said[-1].citations, stopped=turn.stopped, uncited=unsupported(text))
        leftover = Leftover(turn.reply_ids, turn.trace_id) + standing.of(turn.id)
        verbose = bool(leftover.trace) or await self._showing.is_verbose(
            conversation, [each.author_id for each in asked]
        )
        note = answer_note(answer, place.say, verbose=verbose)
        leftover += _unmarked(messages_of(text, note), leftover, standing)
        screen = self._showing.screen(
            turn.id,
            place,
            seed=asked[0].id,
            verbose=verbose,
            leftover=leftover,
            calls=calls_of(history, turn.id) if verbose else (),
        )
        for proposal in proposals_in(said):
            screen.follow(proposal)
        screen.follow(answer)
        return await self._showing.conclude(screen, place)


def _unmarked(messages: Sequence[str], known: Leftover, standing: Standing) -> Leftover:
    """Parts of an answer that stand without anybody having noted it: they say what it says."""
    texts = map(folded, messages)
    found = {standing.plain[text] for text in texts if text in standing.plain} - {*known.replies}
    return Leftover(tuple(found))
