"""/settings for the managers of a server, and the moderators' log, whose channel is one of the settings."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range
from discord.ext import commands

from cogs.access import matching
from cogs.cards import INK
from cogs.errors import DISCORD_ERRORS, Refusal
from cogs.i18n import ENGLISH, Speech, choose_language, later, set_languages, speech_in, speech_of
from cogs.interactions import defer_if_slow, reply
from cogs.permissions import (
    FOR_A_PUBLIC_THREAD,
    granted_to,
    in_servers,
    manages_shelf,
    missing,
    permission_names,
)
from cogs.services import ServingBot, record_action, server_of
from domain.errors import MarginaliaError
from domain.records import ServerSettings
from domain.use_cases import UseCases

logger = logging.getLogger("marginalia.audit")

FOR_THE_LOG = ("view_channel", "send_messages")
TROUBLES_SHOWN = 10
"""Channels that are named with the permissions missing there."""
TROUBLE_AGAIN_AFTER_S = 600.0
"""How long the same failure is not logged again: while the model cannot be reached, every question meets it."""

ON, OFF = "on", "off"
AS_DISCORD_SAYS = "discord"
MOST_TOKENS = 1_000_000_000
LANGUAGES = {"en-US": "English", "de": "Deutsch"}
"""The available languages, by Discord's code, in the language itself."""


class AuditLog:
    """Writes the moderators' log: to the channel set by `/settings log`, or to the program's log if there is none or
    it cannot be written to.
    """

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._posting: set[asyncio.Task[None]] = set()
        self._told: dict[tuple[object, ...], float] = {}

    def note(self, guild: discord.Guild | None, text: str, also: str = "", /, **values: object) -> None:
        """See cogs.services.Audit."""
        if guild is None:  # direct messages have no moderators
            return
        task = asyncio.create_task(self._note(guild, text, also, values))
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)

    def trouble(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """See cogs.services.Audit."""
        known = (guild.id if guild else 0, text, *values.values())
        now = time.monotonic()
        self._told = {key: at for key, at in self._told.items() if now - at < TROUBLE_AGAIN_AFTER_S}
        if known not in self._told:
            self._told[known] = now
            self.note(guild, text, **values)

    async def close(self) -> None:
        """Return once everything is noted."""
        await asyncio.gather(*self._posting, return_exceptions=True)

    async def _note(self, guild: discord.Guild, text: str, also: str, values: dict[str, object]) -> None:
        try:
            chosen = (await self._use_cases.servers.settings(str(guild.id))).log_channel
            line = speech_in(guild)(text, **values)
            is_posted = await self._post(guild, chosen, line)
            if also:
                await self._post(guild, also, line)
            if is_posted:
                return
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.info("guild %s: its moderators' log cannot be written to: %s", guild.id, error)
        logger.warning("guild %s: %s", guild.id, ENGLISH(text, **values))

    async def _post(self, guild: discord.Guild, channel_id: str, line: str) -> bool:
        """Write a line to a channel; returns whether the server has it."""
        channel = guild.get_channel(int(channel_id or 0))
        if not isinstance(channel, discord.TextChannel | discord.Thread):
            return False
        now = discord.utils.format_dt(discord.utils.utcnow(), "T")
        await channel.send(f"-# {now} {line}", silent=True)
        return True


Place = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.ForumChannel | discord.CategoryChannel
)


@in_servers
@app_commands.default_permissions(manage_guild=True)
class ServerSettingsCog(commands.GroupCog, group_name="settings", group_description="How I work on this server"):
    """Each subcommand changes one setting, and shows them all."""

    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def cog_load(self) -> None:
        """Load each server's settings, and use its language."""
        chosen = await self._use_cases.servers.load()
        set_languages({int(server_id): each.language for server_id, each in chosen.items()})

    @app_commands.command(description="All settings of this server")
    async def show(self, interaction: discord.Interaction[Any]) -> None:
        await self._show(interaction, await self._use_cases.servers.settings(str(_managed(interaction).id)))

    @app_commands.command(description="Where I may be used: everywhere, or only in the channels you add")
    @app_commands.describe(add="A channel or category to add", remove="A channel or category to remove")
    async def channels(
        self, interaction: discord.Interaction[Any], add: Place | None = None, remove: Place | None = None
    ) -> None:
        server = _managed(interaction)
        if add is None and remove is None:
            raise Refusal(speech_of(interaction)("Choose a channel to `add` or to `remove`."))
        changing = self._use_cases.servers.change_channels(
            str(server.id),
            add=str(add.id) if add else "",
            remove=str(remove.id) if remove else "",
            existing=[str(channel.id) for channel in server.channels],
        )
        await self._changed(interaction, changing)

    @app_commands.command(description="Who may add books: everyone, or one role and those who manage the server")
    @app_commands.describe(role="Only people with this role", everyone="Everyone again")
    async def adders(
        self, interaction: discord.Interaction[Any], role: discord.Role | None = None, everyone: bool | None = None
    ) -> None:
        if (role is None) == (not everyone):
            raise Refusal(speech_of(interaction)("Choose either a `role` or `everyone`."))
        is_everyone = role is None or role.is_default()
        await self._change(interaction, adder_role="" if is_everyone or role is None else str(role.id))

    @app_commands.command(description="Whether I show how I look things up, unless people choose for themselves")
    @app_commands.describe(mode="On or off")
    @app_commands.choices(mode=[Choice(name="on", value=ON), Choice(name="off", value=OFF)])
    async def verbose(self, interaction: discord.Interaction[Any], mode: str) -> None:
        await self._change(interaction, verbose=mode == ON)

    @app_commands.command(description="How many tokens a day may be used here; 0 for no limit of your own")
    @app_commands.describe(person="By each person", server="By everybody together")
    async def tokens(
        self,
        interaction: discord.Interaction[Any],
        person: Range[int, 0, MOST_TOKENS] | None = None,
        server: Range[int, 0, MOST_TOKENS] | None = None,
    ) -> None:
        chosen = {"tokens_per_person": person, "tokens_per_server": server}
        if not (changes := {name: value for name, value in chosen.items() if value is not None}):
            raise Refusal(speech_of(interaction)("Give a number for `person`, for `server`, or for both."))
        await self._change(interaction, **changes)

    @app_commands.command(description="Which model answers on this server")
    @app_commands.describe(name="One of the models the bot's operator allows")
    async def model(self, interaction: discord.Interaction[Any], name: str) -> None:
        say, typed = speech_of(interaction), name.strip().casefold()
        names = self._use_cases.servers.models.names
        called = {each: _called(each, self._use_cases, say) for each in names}
        wanted = [each for each in names if typed in (each.casefold(), called[each].casefold())]
        if not wanted:
            choices = say.listed([*called.values()])
            raise Refusal(say("The bot's operator doesn't allow that model. You can choose: {names}.", names=choices))
        await self._change(interaction, model=wanted[0])

    @model.autocomplete("name")
    async def _models(self, interaction: discord.Interaction[Any], typed: str) -> list[Choice[str]]:
        say, names = speech_of(interaction), self._use_cases.servers.models.names
        return matching(typed, ((_called(name, self._use_cases, say).strip("`"), name) for name in names))

    @app_commands.command(description="The language of what everybody here reads; replies to one person keep theirs")
    @app_commands.describe(locale="The language")
    @app_commands.choices(
        locale=[
            *(Choice(name=name, value=code) for code, name in LANGUAGES.items()),
            Choice(name="Same as Discord's server settings", value=AS_DISCORD_SAYS),
        ]
    )
    async def language(self, interaction: discord.Interaction[Any], locale: str) -> None:
        code = "" if locale == AS_DISCORD_SAYS else locale
        server = _managed(interaction)
        await self._changed(interaction, self._use_cases.servers.change(str(server.id), language=code))

    @app_commands.command(description="Where I note who removed or changed what, and what went wrong")
    @app_commands.describe(channel="The channel; leave empty to keep it only in the bot's own log")
    async def log(self, interaction: discord.Interaction[Any], channel: discord.TextChannel | None = None) -> None:
        await self._change(interaction, log_channel=str(channel.id) if channel else "")

    async def _change(self, interaction: discord.Interaction[Any], **changes: Any) -> None:
        server = _managed(interaction)
        await self._changed(interaction, self._use_cases.servers.change(str(server.id), **changes))

    async def _changed(
        self, interaction: discord.Interaction[Any], changing: Coroutine[Any, Any, ServerSettings]
    ) -> None:
        """Make a change, show all settings, and record it if it made a difference."""
        server = _managed(interaction)

        async def change() -> tuple[ServerSettings, ServerSettings]:
            before = await self._use_cases.servers.settings(str(server.id))
            return before, await changing

        before, settings = await defer_if_slow(interaction, change())
        choose_language(server.id, settings.language)
        if settings != before:
            assert isinstance(interaction.command, app_commands.Command)
            left = before.log_channel if before.log_channel != settings.log_channel else ""
            action = later("{who} changed /settings {setting}.")
            record_action(interaction, action, left, setting=interaction.command.name)
        await self._show(interaction, settings)

    async def _show(self, interaction: discord.Interaction[Any], settings: ServerSettings) -> None:
        card = settings_card(settings, _managed(interaction), self._use_cases, speech_of(interaction))
        await reply(interaction, embed=card)


def _managed(interaction: discord.Interaction[Any]) -> discord.Guild:
    """The server, if the person may change its settings.

    Raises:
        Refusal: they may not, whatever Discord's Integrations page allows.
    """
    server = server_of(interaction)
    if server is None or not manages_shelf(interaction):
        raise Refusal(
            speech_of(interaction)("Only somebody with the permission “Manage Server” can see and change my settings.")
        )
    return server


def settings_card(settings: ServerSettings, server: discord.Guild, use_cases: UseCases, say: Speech) -> discord.Embed:
    """Everything that is set for a server, and the operator's limits."""
    trouble = _trouble(settings, server, say)
    card = discord.Embed(title=say("Settings of this server"), description=trouble, colour=INK)
    channels = say.listed([f"<#{each}>" for each in settings.channels])
    chosen = (
        ("channels", say("Where I may be used"), channels or say("everywhere")),
        ("adders", say("Who may add books"), _adders(settings, server, say)),
        ("verbose", say("Showing how I look things up"), _verbose(settings, use_cases, say)),
        ("tokens", say("Tokens a day"), _tokens(settings, use_cases, say)),
        ("model", say("Model"), _model(settings, use_cases, say)),
        ("language", say("Language of what everybody reads"), _language(settings, say)),
        ("log", say("Moderators' log"), _log(settings, server, say)),
    )
    for command, name, value in chosen:
        card.add_field(name=f"{name} · /settings {command}", value=value, inline=False)
    card.add_field(name=say("Limits set by the bot's operator"), value=_limits(use_cases, say), inline=False)
    card.set_footer(text=say("To change a setting, use the command shown next to it."))
    return card


def _trouble(settings: ServerSettings, server: discord.Guild, say: Speech) -> str | None:
    """In which of the chosen channels it is of no use, and why; None if all is well."""
    known = [channel for each in settings.channels if (channel := server.get_channel(int(each)))]
    if settings.channels and not known:
        return "⚠️ " + say("The channels I may be used in are gone. Choose others with /settings channels.")
    lines = []
    for channel in known:
        lacking = missing(granted_to(server.me, channel), FOR_A_PUBLIC_THREAD)
        if lacking and isinstance(channel, discord.TextChannel):
            names = permission_names(lacking, say)
            problem = say("I'm missing permissions there: {permissions}", permissions=names)
            lines.append(f"⚠️ {channel.mention} · {problem}")
    return "\n".join(lines[:TROUBLES_SHOWN]) or None


def _adders(settings: ServerSettings, server: discord.Guild, say: Speech) -> str:
    if not settings.adder_role:
        return say("everyone")
    role = server.get_role(int(settings.adder_role))
    return role.mention if role else "⚠️ " + say("that role is gone; choose another with /settings adders")


def _verbose(settings: ServerSettings, use_cases: UseCases, say: Speech) -> str:
    shown = use_cases.facts.verbose_default if settings.verbose is None else settings.verbose
    return say("on, unless somebody chose otherwise") if shown else say("off, unless somebody chose otherwise")


def _tokens(settings: ServerSettings, use_cases: UseCases, say: Speech) -> str:
    none, everywhere = say("no limit"), use_cases.facts.daily_tokens
    lines = [
        f"{say('each person')}: {_number(settings.tokens_per_person, none, say)}",
        f"{say('everybody together')}: {_number(settings.tokens_per_server, none, say)}",
    ]
    if everywhere:
        lines.append(
            say("-# The bot's operator allows each person {limit:,} tokens a day across all servers.", limit=everywhere)
        )
    return "\n".join(lines)


def _number(limit: int, none: str, say: Speech) -> str:
    return say("{number:,}", number=limit) if limit else none


def _model(settings: ServerSettings, use_cases: UseCases, say: Speech) -> str:
    models = use_cases.servers.models
    current = settings.model if settings.model in models.names else models.default
    others = [name for name in models.names if name != current]
    choices = say.listed([_called(name, use_cases, say) for name in others])
    more = "\n" + say("-# You can also choose: {names}", names=choices) if others else ""
    return f"{_called(current, use_cases, say)}{more}"


def _called(model: str, use_cases: UseCases, say: Speech) -> str:
    """What to call a model in front of people."""
    is_model = use_cases.has_model or model != use_cases.servers.models.default
    return f"`{model}`" if is_model else say("the built-in answerer")


def _language(settings: ServerSettings, say: Speech) -> str:
    return LANGUAGES.get(settings.language, settings.language) or say("same as Discord's server settings")


def _log(settings: ServerSettings, server: discord.Guild, say: Speech) -> str:
    if not settings.log_channel:
        return say("not in a channel; only the bot's operator can see it")
    channel = server.get_channel(int(settings.log_channel))
    if channel is None:
        return "⚠️ " + say("that channel is gone; choose another with /settings log")
    if lacking := missing(granted_to(server.me, channel), FOR_THE_LOG):
        problem = say("I'm missing permissions there: {permissions}", permissions=permission_names(lacking, say))
        return f"{channel.mention}\n⚠️ {problem}"
    return channel.mention


def _limits(use_cases: UseCases, say: Speech) -> str:
    limits, none = use_cases.facts.limits, say("no limit")
    return "\n".join(
        (
            f"{say('books on the shelf')}: {_number(limits.books_per_shelf, none, say)}",
            f"{say('megabytes of text on the shelf')}: {_number(limits.shelf_mb, none, say)}",
            f"{say('books a person may add in an hour')}: {_number(limits.adds_per_hour, none, say)}",
            f"{say('conversations a person may open in a day')}: {_number(limits.conversations_per_day, none, say)}",
            f"{say('questions a person may ask in a minute')}: {_number(limits.turns_per_minute, none, say)}",
        )
    )
