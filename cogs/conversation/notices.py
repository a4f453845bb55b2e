"""Small sentences to people who write what cannot be answered."""

import logging
from pathlib import PurePath

import aiohttp
import discord

from cogs.conversation.buttons import Buttons, view_of
from cogs.conversation.intake import IntakeResult
from cogs.i18n import Speech

logger = logging.getLogger(__name__)

BOOK_ENDINGS = frozenset({".epub", ".pdf", ".docx", ".txt", ".md", ".html", ".htm", ".xhtml"})


def hint_for(heard: IntakeResult, message: discord.Message, say: Speech) -> str:
    """What to say to a message that was not taken in; nothing where there is nothing to say."""
    match heard:
        case IntakeResult.WORDLESS:
            return _on_wordless(message, say)
        case IntakeResult.UNREADABLE:
            return say("I can't read this message. Mention me in it and I can.")
        case IntakeResult.FIRST_OVERHEARD:
            return say("There's more than one of you here now, so I'll answer when you mention me or reply to me.")
        case _:
            return ""


def how_to_start(say: Speech) -> str:
    """To somebody who speaks to the bot where it has no book at hand."""
    return say("To talk about a book, open a thread with /chat. /books list shows what's on the shelf.")


def conversation_gone(say: Speech) -> str:
    """To somebody who writes in a thread of the bot's after its conversation has been erased."""
    return say("This thread's conversation is no longer stored, so I can't answer here. Start a new one with /chat.")


def in_private(say: Speech) -> str:
    return say("I don't answer direct messages yet. Use /chat in a server we share.")


async def hint(message: discord.Message, text: str, buttons: Buttons = ()) -> None:
    """Say it below the message, without disturbing anybody, and once however often the message is seen."""
    try:
        await message.channel.send(
            text,
            reference=message.to_reference(fail_if_not_exists=False),
            mention_author=False,
            allowed_mentions=discord.AllowedMentions.none(),
            nonce=f"hint:{message.id}",
            silent=True,
            view=view_of(buttons) if buttons else discord.utils.MISSING,
        )
    except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as fault:
        logger.info("a hint was not given: %s", fault)


def _on_wordless(message: discord.Message, say: Speech) -> str:
    if any(PurePath(each.filename).suffix.lower() in BOOK_ENDINGS for each in message.attachments):
        return say("I only read text here. To add a book, use /books add with the file.")
    if message.attachments or message.stickers:
        return say("I only read text. What would you like to know?")
    return say("What would you like to know about the book?")
