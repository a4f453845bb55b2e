"""The moderators' log: who did what, without words, in the channel that was chosen or else in the program's log."""

import logging

import discord
import pytest
from simcord.builders import ChannelHandle

from domain.errors import LLMError, LLMErrorCode
from tests.cogs.stage import Stage, text_of


async def log_channel(stage: Stage, *, closed: bool = False) -> ChannelHandle:
    shut = {stage.guild.me: discord.PermissionOverwrite(send_messages=False)} if closed else {}
    channel = stage.guild.create_text_channel("mod-log", overwrites=shut)  # type: ignore[arg-type]
    await stage.app.servers.change(str(stage.guild.id), log_channel=str(channel.id))
    return channel


async def noted(stage: Stage, channel: ChannelHandle) -> list[str]:
    await stage.bot.audit.close()
    return [message.content for message in channel.history()]


async def remove_a_book(stage: Stage) -> str:
    book = await stage.book(added_by=str(stage.ann.id))
    asked = await stage.ann.slash(stage.channel, "books remove", book=book.id)
    assert asked.response is not None
    return text_of(await stage.ann.click(asked.response, label="Remove it"))


async def test_who_deleted_a_conversation_is_noted_without_its_title(stage: Stage) -> None:
    channel = await log_channel(stage)
    await stage.chat(await stage.book(), title="My secret question")
    asked = await stage.ann.slash(stage.channel, "conversations delete", conversation="My secret question")
    assert asked.response is not None
    await stage.ann.click(asked.response, label="Delete it")
    [line] = await noted(stage, channel)
    assert stage.ann.mention in line
    assert "deleted a conversation" in line
    assert "secret" not in line


async def test_who_removed_a_book_is_noted(stage: Stage) -> None:
    channel = await log_channel(stage)
    await remove_a_book(stage)
    [line] = await noted(stage, channel)
    assert stage.ann.mention in line
    assert "The Dark Lamp" in line


async def test_without_a_channel_it_is_in_the_log(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "marginalia.audit"):
        await remove_a_book(stage)
        await stage.bot.audit.close()
    assert f"{stage.ann.mention} removed the book" in caplog.text


async def test_where_it_may_not_write_it_is_in_the_log_and_the_deed_is_done(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    channel = await log_channel(stage, closed=True)
    assert "Removed" in await remove_a_book(stage)
    assert await noted(stage, channel) == []
    assert "removed the book" in caplog.text


@pytest.mark.parametrize("is_moved", [True, False], ids=["moved", "turned off"])
async def test_a_log_that_is_moved_or_turned_off_says_who_did_it(stage: Stage, is_moved: bool) -> None:
    channel, cat = await log_channel(stage), stage.member("cat", manage_guild=True)
    other = stage.guild.create_text_channel("elsewhere")
    await cat.slash(stage.channel, "settings log", **({"channel": other} if is_moved else {}))
    [line] = await noted(stage, channel)
    assert f"{cat.mention} changed /settings log." in line
    assert len(await noted(stage, other)) == is_moved


async def test_an_answer_that_failed_is_noted_once_for_all_who_meet_the_same(stage: Stage) -> None:
    channel = await log_channel(stage)
    thread = await stage.chat(await stage.book())
    stage.model.say(LLMError(LLMErrorCode.OUT_OF_CREDIT, "There is no credit left."))
    for question in ("Who is Marta?", "And the lamp?"):
        await stage.ann.send(thread, question)
    [line] = await noted(stage, channel)
    assert "no credit" in line
    assert "Marta" not in line


async def test_who_erases_what_is_stored_about_them_is_named_in_the_channel_no_more(stage: Stage) -> None:
    channel = await log_channel(stage)
    await remove_a_book(stage)
    assert stage.ann.mention in "".join(await noted(stage, channel))
    asked = await stage.ann.slash(stage.channel, "privacy")
    assert asked.response is not None
    sure = await stage.ann.click(asked.response, label="Erase it all")
    assert sure.response is not None
    await stage.ann.click(sure.response, label="Erase it all")
    lines = "".join(await noted(stage, channel))
    assert stage.ann.mention not in lines
    assert "Somebody erased" in lines


async def test_a_name_that_was_erased_is_replaced_in_the_language_of_the_server(stage: Stage) -> None:
    channel = await log_channel(stage)
    cat = stage.member("cat", manage_guild=True)
    await cat.slash(stage.channel, "settings language", locale="de")
    asked = await cat.slash(stage.channel, "privacy")
    assert asked.response is not None
    await cat.click(asked.response, label="Erase it all")
    await cat.click(asked.response, label="Erase it all")
    assert "jemand hat /settings language geändert." in "".join(await noted(stage, channel))
