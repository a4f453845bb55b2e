"""What goes wrong: Discord's passing errors are tried again; the rest is told to whoever waits, in a sentence, and so
is a kill, by the next start.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import aiohttp
import discord
from discord import app_commands

from cogs.i18n import Speech, later, speech_for_all, speech_of, speeches_in_all_languages
from cogs.permissions import permission_names
from cogs.rendering.inline import inert
from cogs.services import ServingBot, is_guest
from domain.errors import BookError, ConversationError, DownloadError, MarginaliaError, StorageError, StorageErrorCode
from domain.leases import CURRENT_LEASE, HeldLease, Shard, is_lease_lost
from domain.ports import OpenReplyRepository
from domain.usage import OpenReply

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

PASSING_SOON = (discord.DiscordServerError, aiohttp.ClientError, OSError, TimeoutError)
TRANSIENT_ERRORS = (discord.RateLimited, *PASSING_SOON)
"""Trouble that goes by without anybody doing anything about it."""

DISCORD_ERRORS = (discord.HTTPException, *TRANSIENT_ERRORS)
"""All that may come of a request to Discord."""

WAITS_S = (0.5, 1.0, 2.0)
"""Before the second try and those after it; whoever waits for an answer waits no longer than for a slow model."""


async def retry_transient(ask: Callable[[], Awaitable[Result]]) -> Result:
    """What Discord says to a request that may be made more than once, asked again while it has trouble.

    It reads, says how something is to be, or is known again by its nonce.

    Raises:
        DISCORD_ERRORS: it has had trouble each time, or it refuses.
    """
    for wait in WAITS_S:
        try:
            return await ask()
        except PASSING_SOON as error:
            logger.info("Discord has trouble, once more in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
    return await ask()


TOO_LATE, ACKNOWLEDGED, TOO_MANY_THREADS = 10062, 40060, 160006
"""Discord's codes: an interaction was not answered in time, or was answered before; no room for another thread."""
DELETED = 10008
"""Discord's code: there is no such message any more."""
EXPIRED = (10015, 50027)
"""Discord's codes: an interaction cannot be answered any more, because a quarter of an hour has passed."""


NOTE_S = 0.3
"""How long a command waits until the note of its reply is stored."""
END_AFTER_S = (0.0, 5.0, 20.0, 60.0, 300.0)
"""When a start tries to end an interrupted reply, while Discord has trouble."""
LOOKED_AT = 50
"""Messages after an interaction among which its reply is looked for."""
WORK = "work"
"""On an interaction: what its reply is about, as `(action, arguments for JSON)`, if a start can continue it."""
PLACE, STANDING = "place", "standing"
"""On an interaction: the channel of its reply, and the reply as a message there, once its token has expired."""
BEGAN = "began"
"""On an interaction of an earlier process: when that began to work on it."""

NAMING_BOOKS = (BookError, ConversationError, DownloadError)
"""Errors whose sentences may hold words of others, such as titles."""


class Refusal(Exception):  # noqa: N818
    """A wish that is not granted; `sentence` says why, in the reader's language."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


async def report(interaction: discord.Interaction[Any], error: BaseException) -> None:
    """Tell the person who asked, and them alone; log what the program did not expect."""
    error = getattr(error, "original", error)
    if isinstance(error, discord.HTTPException) and error.code in (TOO_LATE, ACKNOWLEDGED):
        logger.warning("an interaction was lost: %s", error)
        return
    sentence = sentence_for(error, speech_of(interaction))
    if is_away(error):
        logger.warning("the database is away: %s", error)
    try:
        await tell(interaction, sentence)
    except DISCORD_ERRORS as unheard:
        logger.warning("an error could not be told: %s", unheard)


async def excuse(interaction: discord.Interaction[Any]) -> None:
    """Tell the person who gave a command that it was not carried out, since the program is being stopped."""
    say = speech_of(interaction)
    await tell(interaction, say("I'm restarting and couldn't finish this. Please try again in a minute."))


async def turn_away(interaction: discord.Interaction[Any]) -> None:
    """Tell the person who comes while the program is being stopped to come again."""
    try:
        await tell(interaction, speech_of(interaction)("I'm restarting. Please try again in a minute."))
    except DISCORD_ERRORS as error:
        logger.info("somebody could not be told to try again: %s", error)


TakeBack = Callable[[], Awaitable[None]]
"""Removes something that was said. It raises DISCORD_ERRORS where that is not possible any more."""


async def tell(interaction: discord.Interaction[Any], text: str) -> TakeBack:
    """Say something to the person who asked, and to them alone, whether or not the interaction was acknowledged.

    What is given back removes it; Discord allows that for a quarter of an hour.
    """
    if interaction.response.is_done():
        return (await interaction.followup.send(text, ephemeral=True, wait=True)).delete
    await interaction.response.send_message(text, ephemeral=True)
    return interaction.delete_original_response


def is_away(error: BaseException) -> bool:
    """Whether the database does not answer just now, so that the same may succeed in a minute."""
    return isinstance(error, StorageError) and error.code is StorageErrorCode.UNREACHABLE


_OUTAGE = later("I can't get at my notes just now. I'll answer as soon as I can.")


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

    What is given back removes that again, once the answer stands.
    """
    say = speech_of(interaction)
    kept = say("I can't write in this thread at the moment. I'll post my answer as soon as I can.")
    return await tell(interaction, f"⚠️ {kept}\n{bot_lacks(lacking, say)}" if lacking else f"⚠️ {kept}")


def sentence_for(error: BaseException, say: Speech) -> str:
    """The sentence for an error; one that nobody expected is logged, under an id that the sentence names."""
    match error:
        case Refusal():
            return error.sentence
        case MarginaliaError():
            return inert(say.error(error), ours=not isinstance(error, NAMING_BOOKS))
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
        case discord.HTTPException() | discord.RateLimited() if sentence := _refusal_of_discord(error, say):
            return sentence
        case discord.DiscordServerError() | aiohttp.ClientError() | ConnectionError() | TimeoutError():
            return say("Discord is having trouble. Please try again in a minute.")
    number = secrets.token_hex(3)
    logger.error("unexpected error %s", number, exc_info=error)
    return say("Something went wrong on my side (error {number}). Please try again.", number=number)


def _refusal_of_discord(error: discord.DiscordException, say: Speech) -> str:
    """What Discord's refusal means for people; empty if it was not expected."""
    match error:
        case discord.HTTPException() if error.code == DELETED:
            return say("Somebody deleted the message for this while I was working on it.")
        case discord.HTTPException() if error.code == TOO_MANY_THREADS:
            return say("This server has reached Discord's limit of open threads. Archive some and try again.")
        case discord.Forbidden():
            return say(
                "Discord won't let me do that here: I'm missing a permission. Somebody who manages this "
                "server can give it to me under Server Settings → Roles, or in this channel's settings."
            )
        case discord.RateLimited():
            seconds = round(error.retry_after)
            return say("Discord wants me to wait {seconds} seconds before I do that again.", seconds=seconds)
    return ""


def bot_lacks(names: Iterable[str], say: Speech) -> str:
    return say(
        (
            "I'm missing permissions here: {permissions}. Somebody who manages this server can give "
            "them to me under Server Settings → Roles, or in this channel's settings."
        ),
        permissions=permission_names(names, say),
    )


async def edit_reply(interaction: discord.Interaction[Any], **parts: Any) -> None:
    """Edit the reply to an interaction, also when its token has expired, if others can see the reply.

    Raises:
        DISCORD_ERRORS: that is not possible.
    """
    if (standing := interaction.extras.get(STANDING)) is None:
        try:
            await interaction.edit_original_response(**parts)
        except discord.HTTPException as error:
            standing = await _standing(interaction) if error.code in EXPIRED else None
            if standing is None:
                raise
            interaction.extras[STANDING] = standing
    if standing is not None:
        await standing.edit(**parts)


async def _standing(interaction: discord.Interaction[Any]) -> discord.Message | None:
    """The reply to an interaction as a message of its channel; None if there is none."""
    place_id = interaction.extras.get(PLACE, interaction.channel_id)
    if place_id is None:
        return None
    place: discord.PartialMessageable = interaction.client.get_partial_messageable(place_id)
    async for message in place.history(after=discord.Object(interaction.id), limit=LOOKED_AT, oldest_first=True):
        if (answered := message.interaction_metadata) is not None and answered.id == interaction.id:
            return message
    return None


class OpenReplies:
    """Notes for which replies people wait. After a kill, it ends those of the process before.

    Some continue their work (`ServingBot.continuations`), once; the others say what has happened.
    """

    def __init__(self, bot: ServingBot, replies: OpenReplyRepository) -> None:
        self._bot = bot
        self._replies = replies
        self._own: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def note(self, interaction: discord.Interaction[Any], hidden: bool) -> None:
        """Note that somebody waits for a reply. Storage that is held up is not waited for."""
        lease = CURRENT_LEASE.get()
        is_open = not hidden and not is_guest(interaction)
        reply = OpenReply(
            id=str(interaction.id),
            reader_id=str(interaction.user.id),
            guild_id=str(interaction.guild_id) if interaction.guild_id else None,
            channel_id=str(interaction.channel_id) if is_open else None,
            token=interaction.token,
            about=json.dumps(_about(interaction)),
            began_at=discord.utils.utcnow(),
            lease=lease.name if lease else "",
            epoch=lease.epoch if lease else 0,
        )
        self._own[reply.id] = self._begin(self._note(reply))
        await asyncio.wait([self._own[reply.id]], timeout=NOTE_S)

    async def _note(self, reply: OpenReply) -> None:
        try:
            await self._replies.note(reply)
        except MarginaliaError as error:
            logger.warning("that somebody waits for reply %s is not noted: %s", reply.id, error)

    def ended(self, interaction: discord.Interaction[Any]) -> None:
        """Nobody waits for the reply to an interaction any more. Returns at once."""
        noted = self._own.get(str(interaction.id))
        if noted and not self.is_for_others(interaction):
            self._begin(self._forget(str(interaction.id), noted))

    def is_for_others(self, interaction: discord.Interaction[Any]) -> bool:
        """Whether another process ends the reply to an interaction, because it may have taken over from this one."""
        return is_lease_lost() and str(interaction.id) in self._own

    async def _forget(self, reply_id: str, noted: asyncio.Task[None]) -> None:
        await noted
        try:
            await self._replies.forget(reply_id)
            del self._own[reply_id]
        except MarginaliaError as error:  # the next start sees that the reply stands
            logger.warning("the note of reply %s stays: %s", reply_id, error)

    async def end_interrupted(self) -> None:
        """End the replies that a killed process has left open.

        Raises:
            StorageError: the database is away.
        """
        lease = CURRENT_LEASE.get()
        for reply in await self._replies.list():
            if reply.id in self._own or not is_left(reply, lease, self._bot.shard):
                continue
            about = json.loads(reply.about)
            once = json.dumps(about | {"arguments": None})
            if await self._replies.take(reply, once, lease.name if lease else "", lease.epoch if lease else 0):
                self._own[reply.id] = self._begin(asyncio.sleep(0))
                self._begin(self._end(reply, about))

    async def _end(self, reply: OpenReply, about: dict[str, Any]) -> None:
        interaction, task = _made_again(self._bot, reply, about), asyncio.current_task()
        assert task is not None
        self._bot.at_work[task] = interaction
        task.add_done_callback(self._bot.at_work.pop)
        try:
            for wait in END_AFTER_S:
                await asyncio.sleep(wait)
                try:
                    return await self._end_once(interaction, about)
                except TRANSIENT_ERRORS as error:
                    logger.info("reply %s is ended later: %s", reply.id, error)
        except DISCORD_ERRORS as error:
            logger.warning("reply %s cannot be ended: %s", reply.id, error)
        except Exception:  # nobody waits for this task
            logger.exception("reply %s cannot be ended", reply.id)
        finally:
            self.ended(interaction)

    async def _end_once(self, interaction: discord.Interaction[Any], about: dict[str, Any]) -> None:
        shown = await _shown(interaction)
        if shown is not None and (shown.embeds or not (about["action"] or _is_empty(shown))):
            return
        if act := self._bot.continuations.get(about["action"]):
            await act(interaction, about["arguments"])
        else:
            say = speech_of(interaction) if interaction.extras[PLACE] is None else speech_for_all(interaction)
            text = say("I was restarted in the middle of this. If it isn't done, please try again.")
            await edit_reply(interaction, content=text)

    async def settle(self) -> None:
        """Return when all notes are written."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="open replies")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _about(interaction: discord.Interaction[Any]) -> dict[str, Any]:
    action, arguments = interaction.extras.get(WORK, ("", None))
    installs = [interaction.is_guild_integration(), interaction.is_user_integration()]
    is_direct = interaction.guild_id is None and not interaction.context.private_channel
    return {
        "locale": interaction.locale.value,
        "installs": [number for number, is_there in enumerate(installs) if is_there],
        "context": 0 if interaction.guild_id else 1 if is_direct else 2,
        "action": action,
        "arguments": arguments,
    }


def _made_again(bot: ServingBot, reply: OpenReply, about: dict[str, Any]) -> discord.Interaction[Any]:
    """An interaction of an earlier process, acknowledged; without its channel, and its person without a name."""
    user = {"id": reply.reader_id, "username": "", "discriminator": "0000", "avatar": None}  # 0000: not to be cached
    payload: dict[str, Any] = {
        "id": reply.id,
        "application_id": str(bot.application_id),
        "type": discord.InteractionType.application_command.value,
        "token": reply.token,
        "version": 1,
        "attachment_size_limit": 0,
        "locale": about["locale"],
        "context": about["context"],
        "authorizing_integration_owners": dict.fromkeys(about["installs"], reply.guild_id or reply.reader_id),
        "user": user,
    }
    if reply.guild_id:
        payload |= {"guild_id": reply.guild_id, "member": {"user": user, "roles": [], "flags": 0}}
    made = discord.Interaction[Any](data=payload, state=bot._connection)  # type: ignore[arg-type]  # noqa: SLF001
    made.response._response_type = discord.InteractionResponseType.deferred_channel_message  # noqa: SLF001
    place: Any = bot.get_partial_messageable(int(reply.channel_id or 0))
    made.channel = place  # the library fetches no reply without one
    made.extras[BEGAN] = reply.began_at
    made.extras[PLACE] = int(reply.channel_id) if reply.channel_id else None
    return made


async def _shown(interaction: discord.Interaction[Any]) -> discord.Message | None:
    """The reply as it stands; None if Discord does not show it."""
    try:
        return await interaction.original_response()
    except discord.NotFound:
        return None
    except discord.HTTPException as error:
        if error.code not in EXPIRED:
            raise
        return await _standing(interaction)


def _is_empty(message: discord.Message) -> bool:
    return message.flags.loading or not (message.content or message.embeds or message.attachments or message.components)


def is_left(reply: OpenReply, lease: HeldLease | None, shard: Shard) -> bool:
    """Whether the process that makes a reply is gone, and this one is to end it."""
    if lease is None:
        return True
    if reply.lease == lease.name:
        return reply.epoch < lease.epoch
    number, count = shard  # notes of shards that are not there any more belong to the first
    kind = lease.name.rpartition("/")[0]
    return number == 0 and reply.lease not in {f"{kind}/{each}" for each in range(count)}
