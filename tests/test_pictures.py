"""The README's pictures show what the bot says today; where they do not, `make pictures` takes them anew."""

import re
from pathlib import Path

import discord
import pytest
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.env import Env

from bot.app import SAMPLE, App, open_app
from bot.cli.run import QUESTIONS
from bot.client.client import Marginalia
from bot.settings import Settings
from tests.cogs.stage import text_of
from tests.sampling import a_few

AHEAD = "What did Edwin find in the carpet bag?"
"""Asked by somebody who has not come so far."""
CARDS = ("book", "contents", "settings", "sources")
FIRST = "How does the book begin?"
"""A question that stands on the card of a book."""
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BY_THE_PAGE = re.compile(
    r"^(?:Ann|Ben|Marginalia|APP|THREAD|json|Only you can see this|started a thread)\b"
    r"|\d{1,2}/\d{1,2}/\d\d,|^\w+ \d{1,2}, \d{4}$|^\d{1,2}/\d{1,2}/\d{4}|^\d+\.\d s$"
)
"""What the page adds to what the bot says: who and when."""


def words_of(text: str) -> list[str]:
    """The words of a text without marks, times and places that differ from one run to the next."""
    plain = re.sub(r"\d+ ms\b|<[^>]*>|@\w+|\b\w+ \d{1,2}, \d{4}\b", " ", text)
    return re.findall(r"[\w’']+", plain)


async def played(app: App, name: str) -> str:
    """All that the bot has shown at the end of what a picture shows the end of."""
    env = Env(Marginalia(app), check_errors=False, settle_timeout=15.0)
    await env.start()
    try:
        guild = env.create_guild("Aldermouth Readers")
        may = discord.Permissions(create_private_threads=True, manage_guild=True)
        role = guild.create_role("Readers", permissions=may)
        ann, ben = (guild.add_member(env.create_user(each), roles=[role]) for each in ("ann", "ben"))
        channel = guild.create_text_channel("reading-room")
        book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name, shelf=str(guild.id), added_by=str(ann.id))).book
        if name == "club":
            shown = await _club(channel, ann, ben, book.id)
        elif name in CARDS:
            shown = await _cards(channel, ann)
        else:
            shown = await _thread(channel, ann, book.id, name)
        return "\n".join(
            [*shown, *(_words(message) for each in (channel, *channel.threads) for message in each.history())]
        )
    finally:
        await env.shutdown()


async def _thread(channel: ChannelHandle, ann: MemberActor, book: str, name: str) -> list[str]:
    await ann.slash(channel, "chat", book=book)
    [thread] = channel.threads
    if name == "progress":
        told = await ann.slash(thread, "progress", chapter="1")
        await ann.send(thread, AHEAD)
        return [text_of(told)]
    await ann.slash(thread, "verbose", mode="on")
    for question in QUESTIONS:
        await ann.send(thread, question)
    card = next(message for message in reversed(thread.history()) if "find_phrase" in _words(message))
    await ann.click(card, label="Show quotation 1")
    return list(QUESTIONS)


async def _club(channel: ChannelHandle, ann: MemberActor, ben: MemberActor, book: str) -> list[str]:
    await ann.slash(channel, "club start", book=book)
    told = []
    for member, label in ((ben, "Join"), (ben, "I'm there"), (ann, "I'm there")):
        card = next(message for message in channel.history() if "A club is reading" in _words(message))
        told.append(text_of(await member.click(card, label=label)))
    return told


async def _cards(channel: ChannelHandle, ann: MemberActor) -> list[str]:
    text = re.sub(r"(?m)^#+ ", "", SAMPLE.read_text(encoding="utf-8"))
    card = await ann.slash(channel, "books add", file=("11.txt", text.encode()))
    assert card.response is not None
    told = [await ann.click(card.response, label="Contents"), await ann.slash(channel, "settings show")]
    await ann.click(card.response, label=FIRST)
    [thread] = channel.threads
    answer = next(each for each in reversed(thread.history()) if "Sources" in _words(each))
    told.append(await ann.click(answer, label="Sources"))
    found = "Found in Project Gutenberg's catalogue. The book you choose goes on the shelf."
    return [found, "Ann used /books and /settings", *map(text_of, told)]


def _words(message: discord.Message) -> str:
    rows = (row for row in message.components if isinstance(row, discord.ActionRow))
    labels = (each.label or "" for row in rows for each in row.children if isinstance(each, discord.Button))
    return "\n".join([text_of(message), *labels])


@pytest.mark.parametrize("name", a_few(["thread", "progress", "club", *CARDS], 4))
async def test_a_picture_shows_what_the_bot_says(tmp_path: Path, name: str) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)  # type: ignore[call-arg]
    async with open_app(settings) as app:
        said = {*words_of(await played(app, name))}
    lines = (PICTURES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    shown = [word for line in lines if not BY_THE_PAGE.search(line.strip()) for word in words_of(line)]
    assert len(shown) > 15
    assert [word for word in shown if word not in said] == []
