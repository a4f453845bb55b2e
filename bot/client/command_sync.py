"""Telling Discord about the slash commands, only when they have changed: it allows 200 creations a day and guild."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import discord
from discord import app_commands

from domain.ports import LeaseRepository

logger = logging.getLogger(__name__)

EVERYWHERE = "everywhere"
"""The name of the scope of commands that are offered in all guilds."""


class CommandMemory:
    """A small file that remembers what Discord was told last, by application and scope."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def load(self, application_id: int) -> dict[str, str]:
        """The digest told to each scope."""
        told = await asyncio.to_thread(self._read)
        return dict(told.get(str(application_id), {}))

    async def save(self, application_id: int, digests: dict[str, str]) -> None:
        await asyncio.to_thread(self._write, str(application_id), digests)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            told: dict[str, dict[str, str]] = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none yet, or damaged: Discord is told once more, which does no harm
            return {}
        return told

    def _write(self, application_id: str, digests: dict[str, str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._read() | {application_id: digests}, indent=2), encoding="utf-8")
        fresh.replace(self._path)


class SharedCommandMemory:
    """The same in the database, for nodes that share it."""

    def __init__(self, leases: LeaseRepository) -> None:
        self._leases = leases

    async def load(self, application_id: int) -> dict[str, str]:
        """The digest told to each scope."""
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
    """Offer the commands in these guilds, or everywhere if none is named; return the scopes that were told.

    A scope that had commands before and is not named any more is emptied, so that no command is offered twice.

    Raises:
        discord.HTTPException: Discord did not take them.
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
    """Changes when anything of the commands does, translations included."""
    assert tree.translator is not None
    payloads = [await each.get_translated_payload(tree, tree.translator) for each in tree.get_commands(guild=guild)]
    return hashlib.sha256(json.dumps(payloads, sort_keys=True).encode()).hexdigest()


async def _tell(tree: app_commands.CommandTree[Any], guild: discord.Object | None) -> bool:
    """False: the bot is not in that guild."""
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
