"""Nothing that a club shows to all depends on text beyond its slowest active member.

Two books that are the same up to there, and have other words and other titles beyond, are one book to the plan, the
board, the names of threads and what stands in public ones, to reminders, events and what polls complete: byte for byte.
Where pages and chapters begin is what a book's table of contents says, and the same in both.
"""

import json
import re
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.actors import MemberActor
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType
from simcord.env import Env

from bot.app import open_app
from bot.client.client import Marginalia
from bot.settings import Settings
from cogs.clubs.cog import Clubs
from domain.book import Book, BookText, Chapter, Page
from storage.book_files.files import SQLiteBookFiles
from tests.cogs.clubs.conftest import Calendar
from tests.cogs.stage import text_of
from tests.doubles.scripted_chat import ScriptedChat
from tests.sampling import a_few

CHAPTERS, PAGES_EACH, LENGTH = 6, 3, 900
READ = ("Ann Hobb kept the lamp of the island that night.", "The ferry was late, and nobody said why.")
UNREAD = (
    ("Lucian drowned her brother in the mill race.", "The wedding was a murder all along."),
    ("Marta sold the island to Varley for a song.", "It had been the postman every single time."),
)
TITLES = (("The Drowning", "Murder at the Mill"), ("A Song", "What the Postman Knew"))


def the_book(which: int, read_chapters: int) -> BookText:
    """A book of six chapters, of which so many are the same in both."""
    text, chapters = "", []
    for number in range(CHAPTERS):
        is_read = number < read_chapters
        title = f"{number + 1}. The Lamp" if is_read else f"{number + 1}. {TITLES[which][number % 2]}"
        words = READ if is_read else UNREAD[which]
        start, body = len(text), " ".join([*words] * 40)
        text += f"{title}\n\n{body}"[: LENGTH - 2] + "\n\n"
        chapters.append(Chapter(number + 1, title, start, len(text)))
    step = LENGTH // PAGES_EACH
    pages = tuple(Page(at // step + 1, str(at // step + 1), at, at + step) for at in range(0, len(text), step))
    return BookText(text, pages, tuple(chapters), "txt", title="The Lamp", author="A. Nonymous")


async def seen(which: int, read_chapters: int, folder: Path, *, private: bool, gate: str) -> list[str]:
    """All that a club of three shows to all, of whom the slowest has read so many chapters."""
    settings = Settings(_env_file=None, data_dir=folder)  # type: ignore[call-arg]
    text = the_book(which, read_chapters)
    async with open_app(settings, ScriptedChat("I do not know.")) as app:
        env = Env(bot := Marginalia(app), check_errors=False, settle_timeout=15.0)
        await env.start()
        files = SQLiteBookFiles(folder / "books")
        try:
            await files.write("a" * 64, text)
            guild = env.create_guild("Bookworms")
            channel = guild.create_text_channel("reading-room")
            book = Book(
                "0" * 32, str(guild.id), "a" * 64, text.title, text.author, "txt", len(text.pages), CHAPTERS,
                1_000, len(text.text), app.clock(),
            )  # fmt: skip
            await app.storage.books.save(book)
            calendar = Calendar(app.clock().replace(year=2026, month=3, day=1, hour=9))
            app.clubs._clock = calendar
            bot_id = env.backend.bot_user.id
            may = discord.Permissions(create_events=True, create_private_threads=True)
            role = guild.create_role("readers", permissions=may)
            env.backend.add_member_role(guild.id, bot_id, role.id)
            if not private:
                bits = discord.Permissions(create_private_threads=True).value
                env.backend.set_overwrite(channel.id, Overwrite(bot_id, OverwriteType.MEMBER, 0, bits))
            people = [guild.add_member(env.create_user(name), roles=[role]) for name in ("ann", "ben", "cas")]
            return await _played(env, bot, channel, people, book, calendar, read_chapters, gate)
        finally:
            await files.close()
            await env.shutdown()


async def _played(
    env: Env,
    bot: Marginalia,
    channel: Any,
    people: list[MemberActor],
    book: Book,
    calendar: Calendar,
    read_chapters: int,
    gate: str,
) -> list[str]:
    ann, ben, cas = people
    cog = bot.get_cog("Clubs")
    assert isinstance(cog, Clubs)
    await ann.slash(channel, "club start", book=book.id, sections=CHAPTERS, gate=gate, events=True)
    for person in (ben, cas):
        await person.slash(channel, "club join")
    if read_chapters:
        for person in people:
            await person.slash(channel, "club checkin", chapter=f"#{read_chapters}")
    await cas.slash(channel, "club checkin", finished=True)  # who is ahead binds nobody
    shown = [text_of(await ann.slash(channel, "club board")), text_of(await ben.slash(channel, "club plan"))]
    for option, typed in (("section", ""), ("chapter", "")):
        shown.append(repr(await ann.autocomplete(channel, "club checkin", option, typed)))
    shown.append(repr(await cas.autocomplete(channel, "club vote", "choices", "x; ")))
    shown.append(repr(await ann.autocomplete(channel, "club open", "section", "")))
    for day in range(14):  # as many days as bring every kind of post, and pause nobody
        calendar.pass_days(1)
        await cog.duties.sweep()
        await env.settle()
        while cog.duties._posing:  # the questions of a section are made in the background
            await env.settle()
        if read_chapters and day % 4 == 1:
            await ann.slash(channel, "club checkin")
            await ben.slash(channel, "club checkin")
    hidden = {str(thread.id) for thread in channel.threads if not is_public(env, thread.id)}
    requests = [each for each in env.http_requests if not _is_for_few(each, hidden if gate != "everyone" else set())]
    shown += [each.content for thread in channel.threads if is_public(env, thread.id) for each in thread.history()]
    lines = [f"{each.method} {each.path} {json.dumps(each.json, sort_keys=True)}" for each in requests]
    # Sections that open together ask their questions side by side, in whatever order.
    return [*map(_masked, shown), *sorted(map(_masked, lines))]


def _masked(line: str) -> str:
    """A line without the ids of clubs, conversations, messages and people."""
    return re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|\b\d{17,20}\b|c:[0-9a-f]{12}", "#", line)


def is_public(env: Env, thread_id: int) -> bool:
    """Whether a thread is seen by all."""
    return bool(env.backend.get_channel(thread_id).type == discord.ChannelType.public_thread.value)


def _is_for_few(request: Any, hidden: set[str]) -> bool:
    """Replies that one person sees, what is said in threads of those who are there, and what is only read."""
    if request.method == "GET" or "/interactions/" in request.path or "/webhooks/" in request.path:
        return True
    return any(f"/channels/{thread_id}" in request.path for thread_id in hidden)


@pytest.mark.parametrize(
    ("private", "gate", "read_chapters"),
    a_few(
        [
            (True, "everyone", 3),
            (True, "open", 3),
            (False, "everyone", 3),
            (False, "open", 0),
            (False, "date", 3),
            (False, "open", 3),
            (True, "everyone", 0),
        ],
        1,
    ),
)
async def test_two_books_alike_up_to_the_slowest_are_one(
    tmp_path: Path, read_chapters: int, private: bool, gate: str
) -> None:
    first = await seen(0, read_chapters, tmp_path / "first", private=private, gate=gate)
    second = await seen(1, read_chapters, tmp_path / "second", private=private, gate=gate)
    assert first == second
    whole = "\n".join(first)
    assert len(whole) > 5_000
    assert not [word for words in (*UNREAD, *TITLES) for word in words if word[:20] in whole]
    if read_chapters == 3:
        assert "3. The Lamp" in whole


async def test_the_books_do_differ_beyond(tmp_path: Path) -> None:
    """So that a plan made with another bound is told from this one."""
    first, second = the_book(0, 3), the_book(1, 3)
    assert first.text[: 3 * LENGTH] == second.text[: 3 * LENGTH]
    assert first.text[3 * LENGTH :] != second.text[3 * LENGTH :]
    assert [each.title for each in first.chapters[3:]] != [each.title for each in second.chapters[3:]]
