"""Answering in a thread without streaming: the whole answer, once it stands."""

import textwrap
from contextlib import aclosing

import discord

from cogs.services import Services
from cogs.translation import speech_in
from domain.conversation import Conversation
from domain.event import Answer, TurnFailed

CONTENT_LENGTH = 2000


class PlainAnswers:
    """Conversing, as simple as can be. To be replaced by the conversation that streams."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def answer_in(self, thread: discord.Thread, conversation: Conversation) -> None:
        async with aclosing(self._services.chat.answer(conversation.id)) as events:
            async for event in events:
                match event:
                    case Answer(turn_id=turn_id, text=text):
                        pieces = textwrap.wrap(text, CONTENT_LENGTH, replace_whitespace=False, drop_whitespace=False)
                        replies = [await thread.send(piece) for piece in pieces]
                        await self._services.chat.delivered(turn_id, [str(reply.id) for reply in replies])
                    case TurnFailed(code=code, message=message):
                        await thread.send(speech_in(thread.guild).failure(code, message))
