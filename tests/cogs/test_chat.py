from tests.cogs.stage import Stage, text_of


async def test_a_thread_is_opened_and_says_how_to_talk(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book)
    assert thread.name == "The Dark Lamp"
    card = thread.history()[-1]
    assert "Just write here" in text_of(card)
    assert "The Dark Lamp by A. Nonymous" in text_of(card)
    assert "the whole book is open" in text_of(card)
    conversation = await stage.conversation(thread)
    assert conversation.owner_id == str(stage.ann.id)
    assert conversation.guild_id == str(stage.guild.id)
    assert conversation.channel_id == str(stage.channel.id)
    assert not conversation.private
