"""Telling Discord about the slash commands, and making their names clickable in messages.

Discord is told only when they have changed, because it allows 200 creations a day per server.
"""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import discord
from discord import app_commands

from domain.ports import LeaseRepository

logger = logging.getLogger(__name__)

EVERYWHERE = "everywhere"
"""The name of the scope of commands that are offered in all servers."""


class CommandMemory:
    """A small file with what Discord was told last, by application and scope."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self, application_id: int) -> dict[str, str]:
        """The digest of each scope."""
        told = await asyncio.to_thread(self._read)
        return dict(told.get(str(application_id), {}))

    async def save(self, application_id: int, digests: dict[str, str]) -> None:
        await asyncio.to_thread(self._write, str(application_id), digests)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            told: dict[str, dict[str, str]] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or damaged: telling Discord once more does no harm
            return {}
        return told

    def _write(self, application_id: str, digests: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._read() | {application_id: digests}, indent=2), encoding="utf-8")
        fresh.replace(self._path)


class SharedCommandMemory:
    """The same in the database, for nodes that share one."""

    def __init__(self, leases: LeaseRepository) -> None:
        self._leases = leases

    async def load(self, application_id: int) -> dict[str, str]:
        """The digest of each scope."""
        told: dict[str, str] = json.loads(await self._leases.get_note(f"commands/{application_id}") or "{}")
        return told

    async def save(self, application_id: int, digests: dict[str, str]) -> None:
        await self._leases.set_note(f"commands/{application_id}", json.dumps(digests))


async def sync_commands(
    tree: app_commands.CommandTree[Any],
    application_id: int,
    guild_ids: Iterable[int],
    memory: CommandMemory | SharedCommandMemory,
) -> list[str]:
    """Offer the commands in these servers, or everywhere if none is named; returns the scopes that were told.

    A scope that had commands before and is no longer named is emptied, so that no command is offered twice.

    Raises:
        discord.HTTPException: Discord refused them.
    """
    wanted = [str(guild_id) for guild_id in guild_ids]
    for guild_id in wanted:
        tree.copy_global_to(guild=discord.Object(int(guild_id)))
    if wanted:
        tree.clear_commands(guild=None)
    told = await memory.load(application_id)
    changed = []
    for scope in dict.fromkeys([EVERYWHERE, *wanted, *told]):
        guild = None if scope == EVERYWHERE else discord.Object(int(scope))
        digest = await _digest(tree, guild)
        if told.get(scope) == digest:
            continue
        if await _tell(tree, guild):
            told[scope] = digest
            changed.append(scope)
    if changed:
        await memory.save(application_id, told)
    return changed


async def _digest(tree: app_commands.CommandTree[Any], guild: discord.Object | None) -> str:
    """Changes whenever the commands do, translations included."""
    assert tree.translator is not None
    payloads = [await each.get_translated_payload(tree, tree.translator) for each in tree.get_commands(guild=guild)]
    return hashlib.sha256(json.dumps(payloads, sort_keys=True).encode()).hexdigest()


async def _tell(tree: app_commands.CommandTree[Any], guild: discord.Object | None) -> bool:
    """False: the bot is not in that server."""
    try:
        await tree.sync(guild=guild)
    except discord.Forbidden:
        if guild is None:
            raise
        logger.warning(
            "Commands cannot be offered in guild %s: invite the bot there (with the scope applications.commands), "
            "or take it out of DISCORD_GUILD_IDS.",
            guild.id,
        )
        return False
    return True


LONGEST = {"content": 2000, "description": 4096, "value": 1024}
"""Discord's limits, in characters, for texts in which a command can be clicked."""


class CommandLinks:
    """Makes the names of commands in messages clickable, once their ids are known."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names = re.compile(r"(?!)")

    def learn(self, offered: Iterable[app_commands.AppCommand]) -> None:
        """Store the ids of the commands. A group cannot be clicked, only its subcommands."""
        for command in offered:
            if command.type is discord.AppCommandType.chat_input:
                self._ids |= {f"/{name}": command.id for name in _leaves(command)}
        names = "|".join(re.escape(name) for name in sorted(self._ids, key=len, reverse=True))
        self._names = re.compile(rf"(?<![\w/.<`])(`?)({names})\1(?![\w`/-])") if names else re.compile(r"(?!)")

    def in_message(self, payload: dict[str, Any]) -> dict[str, Any]:
        """A message, or an interaction response with one, with its commands clickable."""
        if isinstance(payload.get("data"), dict):
            return payload | {"data": self.in_message(payload["data"])}
        linked = (
            payload | {"content": self.in_text(payload["content"], "content")} if payload.get("content") else payload
        )
        if payload.get("embeds"):
            linked = linked | {"embeds": [self._in_embed(embed) for embed in payload["embeds"]]}
        return linked

    def _in_embed(self, embed: dict[str, Any]) -> dict[str, Any]:
        described = (
            {"description": self.in_text(embed["description"], "description")} if embed.get("description") else {}
        )
        fields = [each | {"value": self.in_text(each["value"], "value")} for each in embed.get("fields", ())]
        return embed | described | ({"fields": fields} if fields else {})

    def in_text(self, text: str, kind: str) -> str:
        """A text with its commands clickable; unchanged if it contains code, or has no space for links."""
        if "```" in text:
            return text
        linked = self._names.sub(lambda match: f"<{match[2]}:{self._ids[match[2]]}>", text)
        return linked if len(linked) <= LONGEST[kind] else text


def _leaves(command: app_commands.AppCommand | app_commands.AppCommandGroup) -> Iterator[str]:
    groups = [each for each in command.options if isinstance(each, app_commands.AppCommandGroup)]
    for group in groups:
        yield from (f"{command.name} {leaf}" for leaf in _leaves(group))
    if not groups:
        yield command.name
