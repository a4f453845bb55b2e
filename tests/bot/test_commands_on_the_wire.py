"""The commands over a wire: files fetched and sent, deadlines kept, limits obeyed, and the reader's language spoken."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.bot.online import Online, online
from tests.doubles.discord_api import PATIENCE_S, Attachment, Channel, DiscordDouble, Interaction, Permission

TALE = b"# The Tin Whistle\n\n## One\n\nPip found a whistle. He blew it.\n\n## Two\n\nNobody came but the fox.\n"


@pytest.fixture
def double(double: DiscordDouble) -> DiscordDouble:
    double.world.grant(double.guild, double.bot, Permission.MANAGE_THREADS)
    return double


@pytest.fixture
async def bot(double: DiscordDouble, tmp_path: Path) -> AsyncIterator[Online]:
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        yield state


async def answered(double: DiscordDouble, interaction: Interaction) -> None:
    await double.until(lambda: interaction.messages)


async def attached(double: DiscordDouble, interaction: Interaction) -> Attachment:
    await double.until(lambda: any(each.attachments for each in interaction.messages))
    return interaction.messages[-1].attachments[0]


async def add_book(double: DiscordDouble, who: str = "ann") -> Interaction:
    added = await double.user(who).slash("books add", file=double.file("whistle.md", TALE))
    await double.until(lambda: "Took" in added.text)
    return added


async def open_thread(double: DiscordDouble, bot: Online, **options: Any) -> Channel:
    known = double.threads()
    [book] = await double.user("ann").autocomplete("chat", "book", "whistle")
    await double.user("ann").slash("chat", book=book["value"], **options)
    await double.until(lambda: len(double.threads()) > len(known))
    [thread] = [each for each in double.threads() if each not in known]
    async with asyncio.timeout(PATIENCE_S):
        while await bot.app.conversations.in_thread(str(thread.id)) is None:
            await asyncio.sleep(0.01)
    return thread


async def test_copies_that_discord_would_refuse_are_compressed(
    double: DiscordDouble, bot: Online, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.doubles.discord_api.actor.UPLOAD_LIMIT", 100)
    ann = double.user("ann")
    await add_book(double)
    thread = await open_thread(double, bot, message="Who came?")
    await double.until(lambda: "I do not know." in double.said(thread))
    exported = await ann.slash("conversations export", channel=thread)
    asked = await ann.slash("privacy")
    await answered(double, asked)
    copied = await ann.click(asked.message, label="Give me a copy")
    for file in (await attached(double, exported), await attached(double, copied)):
        assert file.filename.endswith((".md.gz", ".json.gz"))
        assert b"Who came?" in gzip.decompress(file.data)


async def test_a_book_is_added_talked_about_and_removed(double: DiscordDouble, bot: Online) -> None:
    ann = double.user("ann")
    assert "The Tin Whistle" in (await add_book(double)).text
    thread = await open_thread(double, bot, message="Who came?")
    await double.until(lambda: "I do not know." in double.said(thread))
    exported = await ann.slash("conversations export", channel=thread)
    await answered(double, exported)
    assert b"Who came?" in exported.message.attachments[0].data
    asked = await ann.slash("conversations delete", channel=thread)
    await answered(double, asked)
    await ann.click(asked.message, label="Delete it")
    await double.until(lambda: double.threads() == [])
    [book] = await ann.autocomplete("books remove", "book", "")
    asked = await ann.slash("books remove", book=book["value"])
    await answered(double, asked)
    await ann.click(asked.message, label="Remove it")
    await double.until(lambda: "from the shelf" in asked.text)


async def test_progress_is_shown_while_a_book_is_read(double: DiscordDouble, bot: Online) -> None:
    added = await double.user("ann").slash("books add", file=double.file("whistle.md", TALE))
    await double.until(lambda: "Reading whistle.md" in added.text)
    await double.until(lambda: "Took" in added.text)
    assert added.message.content == ""


async def test_a_third_rename_is_not_waited_for(double: DiscordDouble, bot: Online) -> None:
    await add_book(double)
    thread = await open_thread(double, bot)
    for number in (1, 2, 3):
        renamed = await double.user("ann").slash("conversations rename", channel=thread, title=f"Title {number}")
        await answered(double, renamed)
    assert "It's now called “Title 3”." in renamed.text
    assert "two renames of a thread in ten minutes" in renamed.text
    assert thread.name == "Title 2"


async def test_a_german_reader_is_spoken_to_in_german(double: DiscordDouble, bot: Online) -> None:
    ann = double.user("ann")
    ann.locale = "de"
    told = await ann.slash("help")
    assert "Lesen mit Marginalia" in told.text
    refused = await ann.slash("books info", book="Moby Dick")
    await answered(double, refused)
    assert refused.text.startswith("Das Regal ist leer. Suche mit /books find ein freies Buch")
    assert "Das Regal ist leer" in (await double.user("ann").slash("books list")).text


async def test_a_language_nobody_has_taught_it_is_answered_in_english(double: DiscordDouble, bot: Online) -> None:
    double.user("ann").locale = "tlh"
    assert "Reading with Marginalia" in (await double.user("ann").slash("help")).text


async def test_a_file_that_discord_does_not_hand_out(double: DiscordDouble, bot: Online) -> None:
    file = double.file("whistle.md", TALE)
    double.world.attachments.pop(file.id)
    refused = await double.user("ann").slash("books add", file=file)
    await double.until(lambda: "couldn't download the file" in refused.text)


async def test_a_command_that_a_resume_replays_is_done_once(double: DiscordDouble, bot: Online) -> None:
    await add_book(double)
    thread = await open_thread(double, bot)
    double.gateway.replay = 30
    await double.gateway.drop()
    await double.until(lambda: double.gateway.resumes == 1)
    await double.user("ann").slash("help")
    assert double.threads() == [thread]


async def test_an_answer_that_is_being_written_when_the_bot_goes_waits_for_its_return(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        await add_book(double)
        state.model.hold = asyncio.Event()
        thread = await open_thread(double, state, message="Who came?")
        await double.until(lambda: state.model.requests)
        state.task.cancel()
        await asyncio.gather(state.task, return_exceptions=True)
        conversation = await state.app.storage.conversations.get_by_thread(str(thread.id))
        assert conversation
        [question] = await state.app.storage.messages.get_by_conversation(conversation.id)
        assert question.content == "Who came?"
        assert question.turn_id is None


async def test_commands_are_acknowledged_in_time_far_from_discord(double: DiscordDouble, bot: Online) -> None:
    double.round_trip = 0.2
    await add_book(double)
    thread = await open_thread(double, bot)
    for command in ("conversations list", "progress", "usage", "privacy", "help", "verbose", "books list"):
        told = await double.user("ann").slash(command, channel=thread)
        assert not told.failed, command
        await answered(double, told)


async def test_a_private_thread_is_no_ones_business(double: DiscordDouble, bot: Online) -> None:
    await add_book(double)
    thread = await open_thread(double, bot, private=True, title="Secret")
    assert not thread.invitable
    for name, sees in (("ann", True), ("bob", False)):
        listed = await double.user(name).slash("conversations list")
        await answered(double, listed)
        assert ("Secret" in listed.text) is sees
    await double.user("ann").invite(thread, double.user("bob"))
    listed = await double.user("bob").slash("conversations list")
    await answered(double, listed)
    assert "Secret" in listed.text


async def test_what_comes_at_the_same_moment_or_back_stays_within_the_limits(
    double: DiscordDouble, tmp_path: Path
) -> None:
    limits: dict[str, Any] = {"max_books_per_shelf": 3, "max_adds_per_hour": 4, "max_conversations_per_day": 2}
    async with online(double, tmp_path, **limits) as bot:
        await double.until(lambda: double.commands.commands.get(0))
        people = [double.user(name) for name in ("ann", "ben", "eve")]
        for person in people:
            person.locale = "de"

        async def add(number: int) -> str:
            file = double.file(f"{number}.md", TALE + f"\n\nTale {number}.".encode())
            added = await people[number % 3].slash("books add", file=file)
            await double.until(lambda: "Dauer" in added.text or "Diese Grenze setzt" in added.text)
            return added.text

        told = await asyncio.gather(*map(add, range(18)))
        assert sum("Dauer" in each for each in told) == 3
        assert sum("Das Regal ist voll: Es fasst 3 Bücher" in each for each in told) >= 9
        assert all("books remove" in each or "<t:" in each for each in told if "Dauer" not in each)
        shelf = str(double.guild.id)
        [first, *_] = await bot.app.shelf.list(shelf)
        await bot.app.shelf.take_off(first.id, by=first.added_by)
        await bot.app.shelf.add(b"One more tale. Nobody came but the fox.", "more.txt", shelf=shelf)
        adder = next(each for each in people if str(each.id) == first.added_by)
        back = await adder.slash("books restore", book=first.id)
        await double.until(lambda: "Das Regal ist voll" in back.text)
        begun = await asyncio.gather(*(adder.slash("chat", book="more", title=str(n)) for n in range(10)))
        await double.until(lambda: all(each.messages for each in begun))
        assert len(double.threads()) == 2
        assert sum("<t:" in each.text for each in begun) == 8
