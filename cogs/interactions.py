"""Interactions: acknowledged in time, each button press carried out once, and every failure reported in a sentence."""

import asyncio
import gzip
import io
import re
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Self, TypeVar, cast

import discord
from discord import ButtonStyle
from discord.ui import Button, DynamicItem, Item, Modal, Select, TextInput, View

from cogs.errors import DiscordCode, Refusal, report
from cogs.i18n import Speech, speech_of
from cogs.permissions import server_invite
from cogs.services import Action, bot_of, is_absent, server_of, use_cases_of
from domain.errors import StorageError, StorageErrorCode

T = TypeVar("T")

PROMPT_S = 1.5
"""How long an interaction may wait for its lookups together; the rest of Discord's time is left for the network."""
ACKNOWLEDGE_BY = "acknowledge by"
"""In an interaction's extras: the moment of the loop's clock at which that time is over, from its first lookup on."""

WITHOUT_SERVER = ("privacy", "help")
EXEMPT = ("settings", *WITHOUT_SERVER)
"""What works in every channel: settings, one's own data, and help."""
KEEP = "keep"
VALID_FOR = timedelta(minutes=15)
"""As long as Discord lets the bot edit the reply with the question."""
PAGE_SIZE = 10


async def defer_if_slow(interaction: discord.Interaction[Any], work: Awaitable[T], *, thinking: bool = True) -> T:
    """The result of `work`, acknowledging the interaction if it takes long.

    `thinking`: a private reply follows; else the message with the button is going to be changed.
    """
    now = asyncio.get_running_loop().time()
    by = interaction.extras.setdefault(ACKNOWLEDGE_BY, now + PROMPT_S)
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=max(0.0, by - now))
        if not task.done() and not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True, thinking=thinking)
        return await task
    finally:
        task.cancel()


async def in_time(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work` where a modal follows, which cannot be opened once the interaction is acknowledged.

    Raises:
        StorageError: UNREACHABLE, it takes too long.
    """
    try:
        return await asyncio.wait_for(work, PROMPT_S)
    except TimeoutError as error:
        raise StorageError(StorageErrorCode.UNREACHABLE, "The database does not answer in time.") from error


async def reply(interaction: discord.Interaction[Any], *, ephemeral: bool = True, **parts: Any) -> None:
    """Answer an interaction, acknowledged or not; `parts` as `discord.InteractionResponse.send_message` takes them."""
    if interaction.response.is_done():
        await interaction.edit_original_response(**parts)
    else:
        await interaction.response.send_message(ephemeral=ephemeral, **parts)


async def file_for(interaction: discord.Interaction[Any], data: bytes, name: str) -> discord.File:
    """A file for a reply, compressed if Discord would refuse it as it is."""
    if len(data) > interaction.filesize_limit:
        data, name = await asyncio.to_thread(gzip.compress, data), f"{name}.gz"
    return discord.File(io.BytesIO(data), name)


async def change(interaction: discord.Interaction[Any], **parts: Any) -> None:
    """Change the message whose button was pressed, whether or not that was acknowledged."""
    if interaction.response.is_done():
        await interaction.edit_original_response(**parts)
    else:
        await interaction.response.edit_message(**parts)


async def acknowledge(interaction: discord.Interaction[Any], *, ephemeral: bool) -> bool:
    """Acknowledge the interaction, unless that was done. False: it is too late for any reply.

    Raises:
        DISCORD_ERRORS: Discord refuses it; somebody has answered it before.
    """
    if interaction.response.is_done():
        return True
    thinking = interaction.message is None
    try:
        await interaction.response.defer(ephemeral=ephemeral, thinking=thinking)
    except discord.NotFound as error:
        if error.code != DiscordCode.UNKNOWN_INTERACTION:
            raise
        return False
    return True


async def take_away(interaction: discord.Interaction[Any], *, answerable: bool) -> None:
    """Delete the message with the button; `answerable` is the result of `acknowledge`.

    Raises:
        DISCORD_ERRORS: Discord refuses.
    """
    if answerable:
        await interaction.delete_original_response()
    elif interaction.message is not None:
        await interaction.message.delete()


def action_button(
    action: str,
    argument: str,
    *,
    label: str,
    style: ButtonStyle = ButtonStyle.secondary,
    disabled: bool = False,
) -> Button[View]:
    """A button for the action that a cog has registered with `on_press`."""
    return Button(label=label, style=style, custom_id=f"do:{action}:{argument}", disabled=disabled)


def action_menu(action: str, argument: str, *, options: list[discord.SelectOption], placeholder: str) -> Select[View]:
    """A menu for the action that a cog has registered with `on_choice`; the argument precedes the chosen value."""
    return Select(custom_id=f"pick:{action}:{argument}", options=options, placeholder=placeholder)


async def assert_may_be_used_here(interaction: discord.Interaction[Any]) -> None:
    """Refuse to work where the server's managers do not allow it, and for people who have opted out.

    Raises:
        Refusal: the bot is not in this server; this is not one of the chosen channels; or the person, or the author
        of the message they have chosen, has opted out.
    """
    if is_absent(interaction) and not _is_one_of(WITHOUT_SERVER, interaction):
        raise Refusal(
            speech_of(interaction)(
                "This server has my commands, but not me. Somebody with the permission “Manage Server” can invite me "
                "here: {link}",
                link=server_invite(interaction.application_id),
            )
        )
    if _is_one_of(EXEMPT, interaction):
        return
    await _assert_takes_part(interaction)
    server = server_of(interaction)
    if server is None:
        return
    servers = use_cases_of(interaction).servers
    ids = [str(interaction.channel_id), *allowed_by(interaction.channel)]
    if await servers.may_be_used_in(str(server.id), ids):
        return
    channels = [server.get_channel(int(each)) for each in (await servers.settings(str(server.id))).channels]
    seen = [each.mention for each in channels if each and each.permissions_for(interaction.user).view_channel]  # type: ignore[arg-type]
    raise Refusal(not_here(speech_of(interaction), seen))


def allowed_by(place: Any) -> list[str]:
    """The ids with which the managers of a server allow the bot in a place: its own, its channel's, its category's."""
    parent = place.parent if isinstance(place, discord.Thread) else place
    ids = (getattr(place, "id", None), getattr(place, "parent_id", None), getattr(parent, "category_id", None))
    return [str(each) for each in ids if each]


async def _assert_takes_part(interaction: discord.Interaction[Any]) -> None:
    say = speech_of(interaction)
    people = [str(interaction.user.id), *_chosen_people(interaction)]
    is_left_out, *others = await asyncio.gather(*(_is_left_out(interaction, each) for each in people))
    if is_left_out:
        raise Refusal(
            say("You've asked me to leave you out, so I can't do this for you. You can undo that with /privacy.")
        )
    if any(others):
        raise Refusal(say("They've asked me to leave them out."))


async def _is_left_out(interaction: discord.Interaction[Any], person: str) -> bool:
    """Whether a person is to be left out; while the database is held up, as far as this process knows."""
    people = use_cases_of(interaction).people
    known = asyncio.ensure_future(people.is_left_out(person))
    try:
        done, _ = await asyncio.wait([known], timeout=PROMPT_S / 2)
        return known.result() if done else people.was_left_out(person)
    finally:
        known.cancel()


def _chosen_people(interaction: discord.Interaction[Any]) -> set[str]:
    """Who has written the message that a command of a menu is for, or whom it is for."""
    data = cast(dict[str, Any], interaction.data or {})
    resolved = data.get("resolved") or {}
    authors = {str(message["author"]["id"]) for message in (resolved.get("messages") or {}).values()}
    return authors | {*(resolved.get("users") or {})}


def _is_one_of(commands: tuple[str, ...], interaction: discord.Interaction[Any]) -> bool:
    data = cast(dict[str, Any], interaction.data or {})
    command_or_action = data.get("name") or str(data.get("custom_id", "")).partition(":")[2]
    return str(command_or_action).startswith(commands)


def not_here(say: Speech, channels: Sequence[str] = ()) -> str:
    """What to tell somebody who uses the bot in a channel where it is not allowed; `channels` are mentions of the
    allowed ones.
    """
    rule = say(
        "I'm not allowed in this channel. Somebody with the permission “Manage Server” can change that with "
        "/settings channels."
    )
    return f"{rule}\n{say('You can use me here: {channels}', channels=say.listed(channels))}" if channels else rule


def is_posted_for_somebody(message: discord.Message) -> bool:
    """Whether a webhook has posted it, as PluralKit and Tupperbox do for people. An app's reply to a command comes by a
    webhook too, and has the app's own words.
    """
    return message.webhook_id == message.author.id and message.interaction_metadata is None


def no_webhooks(say: Speech) -> str:
    """What to tell those who have a webhook post for them. Nobody knows whose words they are: how far that person has
    read, whether they may do this, and whether they have opted out.
    """
    return say(
        "I don't answer messages that another app, such as PluralKit, posts for you: I can't see who wrote them, nor "
        "how far you've read. Write to me without it, or use /ask."
    )


async def carry_out(interaction: discord.Interaction[Any], act: Action, argument: str) -> None:
    """Carry out a button; whatever goes wrong ends in a sentence."""
    if not bot_of(interaction).take_up(interaction):
        return
    try:
        await assert_may_be_used_here(interaction)
        await act(interaction, argument)
    except Exception as error:  # noqa: BLE001 - discord.py would only log it, and the person read "interaction failed"
        await report(interaction, error)


def on_press(action: str, act: Action, argument: str = ".*") -> type[DynamicItem[Any]]:
    """The dynamic item for presses of an action's buttons. What does not fit the pattern `argument` is refused as
    stale.
    """
    return on_custom_id(rf"do:{action}:(?P<argument>{argument})", act)


def on_custom_id(pattern: str, act: Action) -> type[DynamicItem[Any]]:
    """As `on_press`, for buttons with a format of their own; without a group `argument`, it is the whole custom_id."""

    class Pressed(DynamicItem[Item[Any]], template=pattern):
        def __init__(self, item: Item[Any], argument: str) -> None:
            super().__init__(item)
            self.argument = argument

        @classmethod
        async def from_custom_id(
            cls, interaction: discord.Interaction[Any], item: Item[Any], match: re.Match[str], /
        ) -> Self:
            return cls(item, match.groupdict().get("argument", match[0]))

        async def callback(self, interaction: discord.Interaction[Any]) -> None:
            await carry_out(interaction, act, self.argument)

    return Pressed


def on_choice(action: str, act: Action) -> type[DynamicItem[Any]]:
    """The dynamic item for choices from an action's menus."""

    async def choose(interaction: discord.Interaction[Any], argument: str) -> None:
        chosen = cast(dict[str, Any], interaction.data).get("values") or [""]
        await act(interaction, f"{argument}{chosen[0]}")

    return on_custom_id(rf"pick:{action}:(?P<argument>.*)", choose)


def on_stale_press(handled: Iterable[type[DynamicItem[Any]]]) -> type[DynamicItem[Any]]:
    """The dynamic item that answers presses of buttons that no cog knows any more."""
    known = "|".join(f"(?:{item.__discord_ui_compiled_template__.pattern})" for item in handled)
    nameless = re.sub(r"\(\?P<\w+>", "(?:", known)

    return on_custom_id(rf"(?!(?:{nameless})\Z)(?:do|pick):.*", _refuse_stale)


@dataclass(frozen=True, slots=True)
class Field:
    """A line of a modal, known by its `name`."""

    name: str
    label: str
    placeholder: str = ""
    required: bool = False
    length: int = 100
    is_long: bool = False
    default: str = ""


def form(action: str, argument: str, *, title: str, fields: Iterable[Field]) -> Modal:
    """A modal for the action that a cog has registered with `handle_form`; it works even after a restart."""
    modal = Modal(title=title, custom_id=f"fill:{action}:{argument}")
    for each in fields:
        style = discord.TextStyle.long if each.is_long else discord.TextStyle.short
        modal.add_item(
            TextInput(
                label=each.label,
                custom_id=each.name,
                placeholder=each.placeholder or None,
                default=each.default or None,
                required=each.required,
                max_length=each.length,
                style=style,
            )
        )
    modal.stop()  # so that discord.py does not keep it
    return modal


def written_in(interaction: discord.Interaction[Any]) -> dict[str, str]:
    """What a person has written in a modal, by the names of its fields, without surrounding white space."""
    return dict(_written(cast(dict[str, Any], interaction.data)))


def _written(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(part.get("value"), str):
        yield part["custom_id"], part["value"].strip()
    for inner in (*part.get("components", ()), *filter(None, [part.get("component")])):
        yield from _written(inner)


async def carry_out_form(interaction: discord.Interaction[Any]) -> None:
    """Carry out a modal made by `form`; others are ignored."""
    custom_id = str(cast(dict[str, Any], interaction.data or {}).get("custom_id", ""))
    kind, _, rest = custom_id.partition(":")
    action, _, argument = rest.partition(":")
    if interaction.type is discord.InteractionType.modal_submit and kind == "fill":
        await carry_out(interaction, bot_of(interaction).forms.get(action, _refuse_stale), argument)


async def _refuse_stale(interaction: discord.Interaction[Any], argument: str) -> None:
    raise Refusal(speech_of(interaction)("This button is from an older version of me."))


def row(*items: Item[Any]) -> View:
    """A view of these items. It is stopped, so that discord.py does not keep it: dynamic items handle the presses."""
    view = View(timeout=None)
    for item in items:
        view.add_item(item)
    view.stop()
    return view


def buttons_of(message: discord.Message) -> list[discord.Button]:
    """The buttons under a message, in order."""
    rows = [line for line in message.components if isinstance(line, discord.ActionRow)]
    return [part for line in rows for part in line.children if isinstance(part, discord.Button)]


def confirmation(action: str, argument: str, label: str, say: Speech, *, keep: str = "") -> View:
    """A button that confirms the action, and one labelled `keep` that does nothing."""
    return row(
        action_button(action, argument, label=label, style=ButtonStyle.danger),
        action_button(KEEP, "", label=keep or say("Keep it")),
    )


def assert_fresh(interaction: discord.Interaction[Any]) -> None:
    """Refuse to act on an old confirmation: what it is about may have grown since.

    Raises:
        Refusal: the question is too old.
    """
    asked = interaction.message
    # Both by Discord's clock: this machine's may be wrong by hours.
    if asked is not None and interaction.created_at - asked.created_at > VALID_FOR:
        raise Refusal(speech_of(interaction)("That question has expired. Please use the command again."))


async def keep(interaction: discord.Interaction[Any], argument: str) -> None:
    """Do nothing, and say that nothing has changed."""
    await interaction.response.edit_message(content=speech_of(interaction)("Nothing changed."), embed=None, view=None)


Listed = TypeVar("Listed")


@dataclass(frozen=True, slots=True)
class PageOf(Generic[Listed]):
    """A page of a list; `number` counts from 1 and always exists."""

    items: Sequence[Listed]
    number: int
    count: int


def page_of(items: Sequence[Listed], number: int, size: int = PAGE_SIZE) -> PageOf[Listed]:
    """The page with that number, or the nearest one: the list may have changed since the button was made."""
    count = max(1, -(-len(items) // size))
    nearest = min(max(1, number), count)
    return PageOf(items[(nearest - 1) * size : nearest * size], nearest, count)


def page_asked(argument: str) -> tuple[str, int]:
    """The subject of the list and the page number, from an argument made by `page_turner`."""
    of, _, number = argument.rpartition(":")
    return of, int(number) if number.isdecimal() else 1


def page_turner(action: str, argument: str, page: PageOf[Listed], say: Speech) -> View | None:
    """Buttons to the previous and next pages; none if there is only one page.

    The action's argument is `argument`, a colon and the page number.
    """
    if page.count == 1:
        return None
    return row(
        action_button(action, f"{argument}:{page.number - 1}", label=say("◀ Back"), disabled=page.number == 1),
        action_button(action, f"{argument}:{page.number + 1}", label=say("Next ▶"), disabled=page.number == page.count),
    )
