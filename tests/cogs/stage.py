"""The whole bot on simcord's Discord: a guild with readers, short tales for its shelf, a model that keeps a script."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import discord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle, GuildHandle
from simcord.env import Env
from simcord.results import InteractionResult, ResponseMessage

from bot.app import App
from bot.client.client import Marginalia
from domain.book import Book
from domain.conversation import Conversation
from storage.book_files.files import SQLiteBookFiles
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.reading_room import tale

Shown = ResponseMessage | discord.Message


@dataclass
class Stage:
    env: Env
    app: App
    model: ScriptedChat
    guild: GuildHandle
    channel: ChannelHandle
    ann: MemberActor
    ben: MemberActor
    files: SQLiteBookFiles

    @property
    def bot(self) -> Marginalia:
        assert isinstance(self.env.bot, Marginalia)
        return self.env.bot

    def member(self, name: str, guild: GuildHandle | None = None, **permissions: bool) -> MemberActor:
        """Somebody who joins, with a role that has these permissions."""
        home = guild or self.guild
        roles = [home.create_role(f"{name}'s", permissions=discord.Permissions(**permissions))] if permissions else []
        return home.add_member(self.env.create_user(name), roles=roles)

    async def book(self, title: str = "The Dark Lamp", *, guild: GuildHandle | None = None, added_by: str = "") -> Book:
        """A book of three chapters on a guild's shelf."""
        text = tale()
        sha256 = f"{abs(hash(title)):064x}"[:64]
        await self.files.write(sha256, text)
        book = Book(
            id=f"{len(await self.app.storage.books.list()):032x}",
            shelf=str((guild or self.guild).id),
            sha256=sha256,
            title=title,
            author=text.author,
            format="txt",
            page_count=3,
            chapter_count=3,
            word_count=len(text.text.split()),
            length=len(text.text),
            created_at=self.app.clock(),
            added_by=added_by,
        )
        await self.app.storage.books.save(book)
        return book

    async def chat(self, book: Book, reader: MemberActor | None = None, **options: Any) -> ChannelHandle:
        """The thread that /chat opens."""
        known = {thread.id for thread in self.channel.threads}
        await (reader or self.ann).slash(self.channel, "chat", book=book.id, **options)
        [opened] = [thread for thread in self.channel.threads if thread.id not in known]
        return opened

    async def restart(self) -> None:
        """The bot is started anew; Discord and the storage are as they were."""
        await self.env.restart_bot(Marginalia(self.app))

    async def conversation(self, thread: ChannelHandle) -> Conversation:
        found = await self.app.storage.conversations.get_by_thread(str(thread.id))
        assert found is not None
        return found

    async def conversations(self) -> list[Conversation]:
        return list(await self.app.storage.conversations.get_by_guild(str(self.guild.id)))

    async def change(self, conversation: Conversation, **changes: Any) -> None:
        await self.app.storage.conversations.save(replace(conversation, **changes))


def holding(word: bytes, folder: Path) -> list[str]:
    """The files of the data folder that hold a word."""
    return [path.name for path in folder.rglob("*") if path.is_file() and word in path.read_bytes().lower()]


def text_of(shown: InteractionResult | Shown | None) -> str:
    """All the words of a response, as a person reads them."""
    if isinstance(shown, InteractionResult):
        return "\n".join(text_of(each) for each in (shown.response, *shown.followups) if each)
    if shown is None:
        return ""
    return "\n".join([shown.content, *(embed_text(embed) for embed in shown.embeds)])


def embed_text(embed: discord.Embed) -> str:
    fields = [text for field in embed.fields for text in (field.name, field.value)]
    parts = (embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
    return "\n".join(part for part in parts if part)


def labels(shown: InteractionResult) -> list[str]:
    """The buttons under a response that can be pressed."""
    assert shown.response is not None
    parts = [part for row in shown.response.components for part in row["components"]]
    return [part["label"] for part in parts if part["type"] == 2 and not part.get("disabled")]
