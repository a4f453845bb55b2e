"""What stands in front of every request of a conversation: the system text and the tools."""

from dataclasses import replace

from domain.agent.prompts import Prompts
from domain.book import Book
from domain.conversation import Briefing, Conversation
from domain.protocols import ConversationRepository, Toolbox


class Briefer:
    """Renders a briefing once and keeps it with its conversation: prompt caches and signed thinking want it unchanged.

    It is made anew when the tools are no longer the same: a setting was changed, the program brought up to date, or a
    tool server came up or went. That costs the cache of one request; otherwise a conversation that began while a server
    was down would never learn of its tools, and one that knows a tool which is gone would go on calling it.
    """

    def __init__(self, prompts: Prompts, conversations: ConversationRepository) -> None:
        self._prompts = prompts
        self._conversations = conversations

    async def brief(self, conversation: Conversation, book: Book, toolbox: Toolbox) -> Briefing:
        """The briefing of the conversation, for the tools there are now."""
        tools = tuple(toolbox.get_definitions())
        kept = conversation.briefing
        if kept is not None and kept.tools == tools:
            return kept
        name = f"“{book.title}” by {book.author}" if book.author else f"“{book.title}”"
        briefing = Briefing(self._prompts.conversation_system.substitute(book=name), tools)
        current = await self._conversations.get(conversation.id) or conversation
        await self._conversations.save(replace(current, briefing=briefing))
        return briefing
