"""Registers the slash commands with Discord, and makes their names clickable in messages.

They are sent only when they have changed, because Discord allows 200 creations a day per server.
"""

import asyncio
import hashlib
import json
import logging
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import discord
from discord import app_commands

from cogs.i18n import catalogues_digest
from domain.concurrency import to_the_end
from domain.ports import LeaseRepository

logger = logging.getLogger(__name__)

SYNC_AGAIN_AFTER_S = 60.0

EVERYWHERE = "everywhere"
"""The name of the scope of commands that are offered in all servers."""


class CommandMemory:
    """A small file with the commands registered last and their ids, by application and scope."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self, name: str) -> dict[str, Any]:
        """What is known under a name, by scope."""
        known = await asyncio.to_thread(self._read)
        return dict(known.get(name, {}))

    async def save(self, name: str, known: dict[str, Any]) -> None:
        await asyncio.to_thread(self._write, name, known)

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            known: dict[str, dict[str, Any]] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or damaged: telling Discord once more does no harm
            return {}
        return known

    def _write(self, name: str, known: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._read() | {name: known}, indent=2), encoding="utf-8")
        fresh.replace(self._path)


class SharedCommandMemory:
    """The same in the database, for nodes that share it."""

    def __init__(self, leases: LeaseRepository) -> None:
        self._leases = leases

    async def load(self, name: str) -> dict[str, Any]:
        """What is known under a name, by scope."""
        known: dict[str, Any] = json.loads(await self._leases.get_note(f"commands/{name}") or "{}")
        return known

    async def save(self, name: str, known: dict[str, Any]) -> None:
        await self._leases.set_note(f"commands/{name}", json.dumps(known))


async def sync_commands(
    tree: app_commands.CommandTree[Any],
    application_id: int,
    guild_ids: Iterable[int],
    memory: CommandMemory | SharedCommandMemory,
) -> list[str]:
    """Register the commands in these servers, or everywhere if none is named; returns the scopes that were updated.

    A scope that had commands before and is no longer named is emptied, so that no command is offered twice.

    Raises:
        discord.HTTPException: Discord refused them.
    """
    wanted = [str(guild_id) for guild_id in guild_ids]
    for guild_id in wanted:
        tree.copy_global_to(guild=discord.Object(int(guild_id)))
    if wanted:
        tree.clear_commands(guild=None)
    told, ids = await memory.load(str(application_id)), await memory.load(_ids_of(application_id))
    changed = []
    for scope in dict.fromkeys([EVERYWHERE, *wanted, *told]):
        guild = None if scope == EVERYWHERE else discord.Object(int(scope))
        digest = _digest(tree, guild)
        if told.get(scope) == digest:
            continue
        offered = await _tell(tree, guild)
        if offered is not None:
            told[scope], ids[scope] = digest, command_ids(offered)
            changed.append(scope)
    if changed:
        await memory.save(_ids_of(application_id), ids)
        await memory.save(str(application_id), told)
    return changed


async def known_ids(
    tree: app_commands.CommandTree[Any],
    application_id: int,
    guild_ids: Iterable[int],
    memory: CommandMemory | SharedCommandMemory,
) -> dict[str, dict[str, int]]:
    """The ids of the commands by scope, whichever node has registered them; ids that are not stored are fetched once.

    Raises:
        discord.HTTPException: Discord did not tell them.
    """
    told, ids = await memory.load(str(application_id)), await memory.load(_ids_of(application_id))
    wanted = [str(guild_id) for guild_id in guild_ids] or [EVERYWHERE]
    unknown = [scope for scope in wanted if scope in told and scope not in ids]
    for scope in unknown:
        guild = None if scope == EVERYWHERE else discord.Object(int(scope))
        ids[scope] = command_ids(await tree.fetch_commands(guild=guild))
    if unknown:
        await memory.save(_ids_of(application_id), ids)
    return {scope: ids[scope] for scope in wanted if scope in ids}


def _ids_of(application_id: int) -> str:
    return f"{application_id}/ids"


def _digest(tree: app_commands.CommandTree[Any], guild: discord.Object | None) -> str:
    """Changes whenever the commands do, and with the catalogues. discord.py takes its time to translate commands."""
    payloads = [each.to_dict(tree) for each in tree.get_commands(guild=guild)]
    return hashlib.sha256(json.dumps([payloads, catalogues_digest()], sort_keys=True).encode()).hexdigest()


async def _tell(
    tree: app_commands.CommandTree[Any], guild: discord.Object | None
) -> Sequence[app_commands.AppCommand] | None:
    """What Discord now offers; None: the bot is not in that server."""
    try:
        return await tree.sync(guild=guild)
    except discord.Forbidden:
        if guild is None:
            raise
        logger.warning(
            "Commands cannot be offered in guild %s: invite the bot there (with the scope applications.commands), "
            "or take it out of DISCORD_GUILD_IDS.",
            guild.id,
        )
        return None


LONGEST = {"content": 2000, "description": 4096, "value": 1024}
"""Discord's limits, in characters, for texts in which a command can be clicked."""


class CommandLinks:
    """Makes the names of commands in messages clickable, once their ids are known."""

    def __init__(self) -> None:
        self._ids: dict[str, dict[str, int]] = {}
        self._names: dict[str, re.Pattern[str]] = {}

    def learn(self, ids: Mapping[str, Mapping[str, int]]) -> None:
        """Store the ids of the commands, by scope and name: they differ between servers."""
        for scope, known in ids.items():
            self._ids[scope] = {f"/{name}": number for name, number in known.items()}
            names = "|".join(re.escape(name) for name in sorted(self._ids[scope], key=len, reverse=True))
            self._names[scope] = re.compile(rf"(?<![\w/.<`])(`?)({names})\1(?![\w`/-])" if names else r"(?!)")

    def lack(self, names: Collection[str], guild_ids: Collection[int]) -> bool:
        """Whether any of the commands cannot be clicked yet in one of the servers, or anywhere if none is named."""
        scopes = [str(guild_id) for guild_id in guild_ids] or [EVERYWHERE]
        return any(f"/{name}" not in self._ids.get(scope, {}) for scope in scopes for name in names)

    def in_message(self, payload: dict[str, Any], server: int | None) -> dict[str, Any]:
        """A message, or an interaction response with one, with its commands clickable in the server it is for."""
        scope = str(server) if str(server) in self._ids else EVERYWHERE
        return self._in_message(payload, scope) if scope in self._ids else payload

    def _in_message(self, payload: dict[str, Any], scope: str) -> dict[str, Any]:
        if isinstance(payload.get("data"), dict):
            return payload | {"data": self._in_message(payload["data"], scope)}
        content = {"content": self._in_text(payload["content"], "content", scope)} if payload.get("content") else {}
        embeds = (
            {"embeds": [self._in_embed(embed, scope) for embed in payload["embeds"]]} if payload.get("embeds") else {}
        )
        return payload | content | embeds

    def _in_embed(self, embed: dict[str, Any], scope: str) -> dict[str, Any]:
        text = embed.get("description")
        described = {"description": self._in_text(text, "description", scope)} if text else {}
        fields = [each | {"value": self._in_text(each["value"], "value", scope)} for each in embed.get("fields", ())]
        return embed | described | ({"fields": fields} if fields else {})

    def _in_text(self, text: str, kind: str, scope: str) -> str:
        """A text with its commands clickable; unchanged if it contains code, or has no space for links."""
        if "```" in text:
            return text
        ids = self._ids[scope]
        linked = self._names[scope].sub(lambda match: f"<{match[2]}:{ids[match[2]]}>", text)
        return linked if len(linked) <= LONGEST[kind] else text


def command_ids(offered: Iterable[app_commands.AppCommand]) -> dict[str, int]:
    """The ids of the slash commands that Discord offers, by name. A group cannot be clicked, only its subcommands."""
    slash = [command for command in offered if command.type is discord.AppCommandType.chat_input]
    return {name: command.id for command in slash for name in _leaves(command)}


def _leaves(command: app_commands.AppCommand | app_commands.AppCommandGroup) -> Iterator[str]:
    groups = [each for each in command.options if isinstance(each, app_commands.AppCommandGroup)]
    for group in groups:
        yield from (f"{command.name} {leaf}" for leaf in _leaves(group))
    if not groups:
        yield command.name


async def stay_in_sync(
    tree: app_commands.CommandTree[Any],
    servers: Collection[int],
    memory: CommandMemory | SharedCommandMemory,
    links: CommandLinks,
    *,
    tells: bool,
) -> None:
    """Register changed commands if this client `tells` Discord, and learn the ids of all, which make them clickable.

    Retried after failures, and while another node has not registered them yet.
    """
    application_id = tree.client.application_id
    assert application_id is not None, "the log-in comes before"
    names = {each.qualified_name for each in tree.walk_commands() if isinstance(each, app_commands.Command)}
    while True:
        try:
            if tells:
                # told and noted, or the next holder of the shard tells Discord once more
                changed = await to_the_end(sync_commands(tree, application_id, servers, memory))
                logger.info("commands told to Discord: %s", ", ".join(changed) or "nothing has changed")
            links.learn(await known_ids(tree, application_id, servers, memory))
            if tells or not links.lack(names, servers):
                return
        except app_commands.CommandSyncFailure:
            logger.exception("Discord does not take the commands as they are")
            return
        except Exception:  # also an answer that the library cannot read, or this task would end unnoticed
            logger.exception("the commands could not be told to Discord, or not learned; it is tried again")
        await asyncio.sleep(SYNC_AGAIN_AFTER_S * random.uniform(1, 2))  # noqa: S311
