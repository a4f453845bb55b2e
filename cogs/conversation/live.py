"""The turns that are being made just now, by their id: what the buttons under them need."""

from dataclasses import dataclass

from cogs.conversation.screen import TurnScreen
from domain.conversation import Conversation


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """`askers` are the ids of those who wrote what is being answered."""

    screen: TurnScreen
    conversation: Conversation
    askers: tuple[str, ...]


LiveTurns = dict[str, LiveTurn]
