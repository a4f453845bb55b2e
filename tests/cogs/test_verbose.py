"""/verbose: a choice for a thread, or a reader's default."""

from tests.cogs.stage import Stage, text_of


async def default(stage: Stage) -> bool | None:
    return await stage.app.storage.readers.get_verbose(str(stage.ann.id))


async def test_elsewhere_it_is_the_readers_default(stage: Stage) -> None:
    told = await stage.ann.slash(stage.channel, "verbose", mode="on")
    assert told.ephemeral
    assert "show you how I look things up" in text_of(told)
    assert await default(stage) is True
    assert "already" in text_of(await stage.ann.slash(stage.channel, "verbose", mode="on"))
    await stage.ann.slash(stage.channel, "verbose", mode="off")
    assert await default(stage) is False
    assert "anyway" in text_of(await stage.ann.slash(stage.channel, "verbose", mode="off"))


async def test_without_a_mode_it_is_switched_over(stage: Stage) -> None:
    await stage.ann.slash(stage.channel, "verbose")
    assert await default(stage) is True
    await stage.ann.slash(stage.channel, "verbose")
    assert await default(stage) is False


async def test_in_a_thread_it_is_for_the_conversation_and_everybody_is_told(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    told = await stage.ann.slash(thread, "verbose", mode="on")
    assert not told.ephemeral
    assert "This thread now shows" in text_of(told)
    assert "already" in text_of(await stage.ann.slash(thread, "verbose", mode="on"))
    assert (await stage.conversation(thread)).verbose is True
    assert await default(stage) is None


async def test_in_a_thread_what_is_switched_over_is_the_readers_default_at_first(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    await stage.ann.slash(stage.channel, "verbose", mode="on")
    await stage.ann.slash(thread, "verbose")
    assert (await stage.conversation(thread)).verbose is False
    await stage.ann.slash(thread, "verbose")
    assert (await stage.conversation(thread)).verbose is True


async def test_in_a_thread_others_are_told_who_switches_it(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    refused = await stage.ben.slash(thread, "verbose", mode="on")
    assert refused.ephemeral
    assert stage.ann.mention in text_of(refused)
    assert "Manage Threads" in text_of(refused)
    assert (await stage.conversation(thread)).verbose is None
    moderator = stage.member("max", manage_threads=True)
    await moderator.slash(thread, "verbose", mode="on")
    assert (await stage.conversation(thread)).verbose is True
