"""Error handling: retries for Discord's temporary errors, and a sentence about every other one for the person who
waits.
"""

import asyncio
import logging
import math
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from enum import IntEnum
from functools import partial
from typing import Any, TypeVar

import aiohttp
import discord
from discord import app_commands

from cogs.i18n import Speech, later, speech_of, speeches_in_all_languages
from cogs.permissions import permission_names
from cogs.rendering.inline import inert
from domain.errors import (
    BookError,
    ConversationError,
    DownloadError,
    MarginaliaError,
    StorageError,
    StorageErrorCode,
    Worded,
)

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

PASSING_SOON = (discord.DiscordServerError, aiohttp.ClientError, OSError, TimeoutError)
TRANSIENT_ERRORS = (discord.RateLimited, *PASSING_SOON)
"""Temporary errors, which pass without anybody's help."""

DISCORD_ERRORS = (discord.HTTPException, *TRANSIENT_ERRORS)
"""Every error that a request to Discord may raise."""

WAITS_S = (0.5, 1.0, 2.0)
"""Pauses before the second and later attempts; in sum no longer than people wait for a slow model."""


async def retry_transient(ask: Callable[[], Awaitable[Result]]) -> Result:
    """The result of a request, which is retried while Discord has temporary errors.

    Only for idempotent requests: they read or set something, or have a nonce.

    Raises:
        DISCORD_ERRORS: all attempts failed, or Discord refuses.
    """
    for wait in WAITS_S:
        try:
            return await ask()
        except PASSING_SOON as error:
            logger.info("Discord has trouble, once more in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
    return await ask()


async def log_failures(work: Callable[[], Awaitable[object]], about: str) -> None:
    """Do recurring background work, and log any exception, so that the next time can come. `about` tells operators
    which work has failed.
    """
    try:
        await work()
    except MarginaliaError as error:
        logger.error("%s: %s", about, error)
    except Exception:
        logger.exception("%s", about)


class DiscordCode(IntEnum):
    """Why Discord refuses a request: the values of `HTTPException.code` that the bot reacts to.

    Discord's documentation lists them as "JSON error codes".
    """

    UNKNOWN_CHANNEL = 10003
    UNKNOWN_MEMBER = 10007
    UNKNOWN_MESSAGE = 10008
    UNKNOWN_USER = 10013
    UNKNOWN_WEBHOOK = 10015
    UNKNOWN_INTERACTION = 10062
    """It was not acknowledged within three seconds."""
    TOO_MANY_OLD_EDITS = 30046
    """A message of more than an hour ago was edited too often."""
    ALREADY_ACKNOWLEDGED = 40060
    INVALID_WEBHOOK_TOKEN = 50027
    THREAD_ARCHIVED = 50083
    """Nothing in a thread can be changed before it is opened again."""
    CANNOT_REPLY = 160002
    """A reply takes the permission to read the history, which other messages do without."""
    THREAD_EXISTS = 160004
    """The message already has a thread."""
    THREAD_LOCKED = 160005
    TOO_MANY_THREADS = 160006


EXPIRED = (DiscordCode.UNKNOWN_WEBHOOK, DiscordCode.INVALID_WEBHOOK_TOKEN)
"""An interaction can't be answered any more, because 15 minutes have passed."""
LOST = (DiscordCode.UNKNOWN_INTERACTION, DiscordCode.ALREADY_ACKNOWLEDGED)
"""An interaction was not answered in time, or was answered before."""

LOOKED_AT = 50
"""Messages after an interaction among which its reply is looked for."""
PLACE, STANDING = "place", "standing"
"""In the extras of an interaction: the channel of its reply, and the reply as a message there once its token has
expired.
"""

NAMING_BOOKS = (BookError, ConversationError, DownloadError)
"""Errors whose sentences may hold words of others, such as titles."""


class Refusal(Exception):  # noqa: N818
    """A request that the bot declines; `sentence` says why, in the reader's language."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


async def report(interaction: discord.Interaction[Any], error: BaseException) -> None:
    """Tell the person who asked about an error, in private; log unexpected ones."""
    error = getattr(error, "original", error)
    if isinstance(error, discord.HTTPException) and error.code in (*LOST, *EXPIRED):
        logger.warning("an interaction was lost: %s", error)
        return
    sentence = sentence_for(error, speech_of(interaction))
    if is_away(error):
        logger.warning("the database is away: %s", error)
    try:
        await tell(interaction, sentence)
    except DISCORD_ERRORS as trouble:
        logger.warning("an error could not be told: %s", trouble)


async def excuse(interaction: discord.Interaction[Any]) -> None:
    """Tell the author of a command that it was cut short because the program is being stopped. The next start may
    continue it, such as by answering in a thread that was opened.
    """
    say = speech_of(interaction)
    text = say("I'm restarting and couldn't finish this. If it isn't done in a minute, please try again.")
    await tell(interaction, text)


async def turn_away(interaction: discord.Interaction[Any]) -> None:
    """Ask a person who uses a command while the program is being stopped to try again."""
    try:
        await tell(interaction, speech_of(interaction)("I'm restarting. Please try again in a minute."))
    except DISCORD_ERRORS as error:
        logger.info("somebody could not be told to try again: %s", error)


TakeBack = Callable[[], Awaitable[None]]
"""Removes something that was said. It raises DISCORD_ERRORS where that is not possible any more."""


async def tell(interaction: discord.Interaction[Any], text: str) -> TakeBack:
    """Send a private reply to the person who asked, whether or not the interaction was acknowledged.

    Returns a function that deletes it; Discord allows that for 15 minutes.
    """
    if interaction.response.is_done():
        return (await interaction.followup.send(text, ephemeral=True, wait=True)).delete
    await interaction.response.send_message(text, ephemeral=True)
    return interaction.delete_original_response


async def hint(
    message: discord.Message, text: str, view: discord.ui.View = discord.utils.MISSING, *, about: str = "hint"
) -> discord.Message | None:
    """Reply to a message without a notification, and only once, however often the message is handled.

    `about` distinguishes several hints for one message. Returns the hint; None if it could not be posted.
    """
    send = partial(
        message.channel.send,
        text,
        allowed_mentions=discord.AllowedMentions.none(),
        nonce=f"{about}:{message.id}",
        silent=True,
        view=view,
    )
    reply = partial(send, reference=message.to_reference(fail_if_not_exists=False), mention_author=False)
    try:
        try:
            return await retry_transient(reply)
        except discord.Forbidden as fault:
            if fault.code != DiscordCode.CANNOT_REPLY:
                raise
            return await retry_transient(send)
    except DISCORD_ERRORS as fault:
        logger.info("a hint was not given: %s", fault)
        return None


async def remove_notice(message: discord.Message) -> None:
    """Delete a notice about a problem that is over, if Discord allows it."""
    try:
        await retry_transient(message.delete)
    except DISCORD_ERRORS as error:
        logger.info("a notice stays: %s", error)


def is_away(error: BaseException) -> bool:
    """Whether the error means that the database does not answer at the moment, so that a retry may succeed."""
    return isinstance(error, StorageError) and error.code is StorageErrorCode.UNREACHABLE


_OUTAGE = later("I can't get at my notes just now. I'll answer as soon as I can.")


def conversation_gone(say: Speech) -> str:
    """The reply to somebody who writes in a thread of the bot whose conversation is gone."""
    return say("This thread's conversation is no longer available, so I can't answer here. Start a new one with /chat.")


def too_many_opened(limit: int, wait: timedelta, say: Speech) -> str:
    """The refusal of another conversation to somebody who has opened as many as a person may within a day."""
    return say.counted(
        limit,
        "You've opened {number} conversation within a day, which is the limit for one person. You can open the "
        "next one {when}. The bot's operator sets this limit.",
        "You've opened {number} conversations within a day, which is the limit for one person. You can open the "
        "next one {when}. The bot's operator sets this limit.",
        when=discord.utils.format_dt(discord.utils.utcnow() + wait, "R"),
    )


def waiting_sentence(error: BaseException, say: Speech) -> str:
    """As `sentence_for`, to somebody who is answered without asking again once the trouble is over."""
    if is_away(error):
        logger.warning("the database is away: %s", error)
        return say(_OUTAGE)
    return sentence_for(error, say)


def tells_of_outage(text: str) -> bool:
    """Whether a text of ours says, in any language, that the database does not answer."""
    return any(say(_OUTAGE) in text for say in speeches_in_all_languages())


async def tell_kept(interaction: discord.Interaction[Any], lacking: Sequence[str]) -> TakeBack:
    """Tell the person who waits for an answer that it cannot be shown now; `lacking` names the permissions it takes.

    Returns a function that deletes it, for when the answer is posted.
    """
    say, me = speech_of(interaction), interaction.guild.me if interaction.guild else None
    kept = say("I can't write in this thread at the moment. I'll post my answer as soon as I can.")
    if interaction.guild_id is None:
        kept = say(
            "I can't write to you at the moment. I'll post my answer as soon as I can. If you've turned off direct "
            "messages, please allow them."
        )
    return await tell(interaction, f"⚠️ {kept}\n{bot_lacks(lacking, say, me)}" if lacking else f"⚠️ {kept}")


def sentence_for(error: BaseException, say: Speech) -> str:
    """The sentence for an error; one that nobody expected is logged, under an id that the sentence names."""
    match error:
        case Refusal():
            return error.sentence
        case MarginaliaError():
            return inert(say.error(error), ours=not isinstance(error, NAMING_BOOKS) or _is_ours_alone(error.message))
        case app_commands.MissingPermissions():
            return say("You need: {permissions}.", permissions=permission_names(error.missing_permissions, say))
        case app_commands.BotMissingPermissions():
            return bot_lacks(error.missing_permissions, say)
        case app_commands.NoPrivateMessage():
            return say("Use this in a server: that's where the books and conversations are.")
        case app_commands.CheckFailure():
            return say("You can't use this command here.")
        case app_commands.CommandNotFound() | app_commands.CommandSignatureMismatch():
            return say("This command has changed. Please reload Discord (Ctrl+R) and try again in a minute.")
        case discord.HTTPException() | discord.RateLimited() if sentence := refusal_of_discord(error, say):
            return sentence
        case discord.DiscordServerError() | aiohttp.ClientError() | ConnectionError() | TimeoutError():
            return say("Discord is having trouble. Please try again in a minute.")
    number = secrets.token_hex(3)
    logger.error("unexpected error %s", number, exc_info=error)
    return say("Something went wrong on my side (error {number}). Please try again.", number=number)


def _is_ours_alone(sentence: str) -> bool:
    """Whether nothing in a sentence is anybody else's words, so that its commands may be clicked."""
    return isinstance(sentence, Worded) and not any(type(value) is str for value in sentence.fields.values())


def refusal_of_discord(error: Exception, say: Speech) -> str:
    """A sentence for a refusal of Discord's; empty if it was not expected."""
    match error:
        case discord.HTTPException() if error.code == DiscordCode.UNKNOWN_MESSAGE:
            return say("Somebody deleted the message for this while I was working on it.")
        case discord.HTTPException() if error.code == DiscordCode.UNKNOWN_CHANNEL:
            return say("Somebody deleted the channel or thread for this while I was working on it.")
        case discord.HTTPException() if error.code == DiscordCode.TOO_MANY_THREADS:
            return say("This server has reached Discord's limit of open threads. Archive some and try again.")
        case discord.Forbidden():
            return say(
                "Discord won't let me do that here: I'm missing a permission. Somebody who manages this "
                "server can give it to me under Server Settings → Roles, or in this channel's settings."
            )
        case discord.RateLimited():
            return say.counted(
                math.ceil(error.retry_after),
                "Discord wants me to wait {number} second before I do that again.",
                "Discord wants me to wait {number} seconds before I do that again.",
            )
    return ""


def bot_lacks(names: Iterable[str], say: Speech, me: discord.Member | None = None) -> str:
    """Why the bot lacks permissions, and who can give them to it; `me` is the bot where they are lacking, if known."""
    if me is not None and me.is_timed_out() and me.timed_out_until is not None:
        until = discord.utils.format_dt(me.timed_out_until, "f")
        return say("I'm in timeout on this server until {until}. Somebody who moderates it can end that.", until=until)
    return say(
        (
            "I'm missing permissions here: {permissions}. Somebody who manages this server can give "
            "them to me under Server Settings → Roles, or in this channel's settings."
        ),
        permissions=permission_names(names, say),
    )


async def edit_reply(interaction: discord.Interaction[Any], **parts: Any) -> discord.Message:
    """Edit the reply to an interaction, also when its token has expired, if others can see the reply; returns the
    reply.

    Raises:
        DISCORD_ERRORS: that is not possible.
    """
    if (standing := interaction.extras.get(STANDING)) is None:
        try:
            return await interaction.edit_original_response(**parts)
        except discord.HTTPException as error:
            standing = await find_reply(interaction) if error.code in EXPIRED else None
            if standing is None:
                raise
            interaction.extras[STANDING] = standing
    edited: discord.Message = await standing.edit(**parts)
    return edited


async def delete_replies(interaction: discord.Interaction[Any], message_ids: Iterable[str]) -> None:
    """Delete messages that were posted in reply to an interaction, as far as Discord allows."""
    for message_id in message_ids:
        try:
            await retry_transient(partial(interaction.followup.delete_message, int(message_id)))
        except DISCORD_ERRORS as error:
            logger.warning("reply %s stays: %s", message_id, error)


async def find_reply(interaction: discord.Interaction[Any]) -> discord.Message | None:
    """Search the channel for the reply to an interaction; None if there is none."""
    place_id = interaction.extras.get(PLACE, interaction.channel_id)
    if place_id is None:
        return None
    client: discord.Client = interaction.client
    place = client.get_partial_messageable(place_id, guild_id=interaction.guild_id)
    async for message in place.history(after=discord.Object(interaction.id), limit=LOOKED_AT, oldest_first=True):
        if (answered := message.interaction_metadata) is not None and answered.id == interaction.id:
            return message
    return None
