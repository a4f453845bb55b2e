"""/chat: threads opened, taken up again, and kept private."""

import discord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle

from domain.conversation import TitleSource, TurnState
from tests.cogs.stage import Stage, labels, text_of


async def test_a_thread_is_opened_and_says_how_to_talk(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    assert thread.name == "The Dark Lamp"
    card = text_of(thread.history()[-1])
    assert "The Dark Lamp by A. Nonymous" in card
    assert "Just write here" in card
    assert "Once somebody else writes here too, mention me" in card
    assert "the whole book" in card
    assert "/progress" in card
    conversation = await stage.conversation(thread)
    assert conversation.owner_id == str(stage.ann.id)
    assert conversation.guild_id == str(stage.guild.id)
    assert conversation.channel_id == str(stage.channel.id)
    assert not conversation.private


async def test_the_card_says_where_the_reader_is(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    thread = await stage.chat(book)
    assert "You're at page 2. I won't reveal anything after it." in text_of(thread.history()[-1])


async def test_a_thread_stays_in_sight_for_a_week(stage: Stage) -> None:
    thread = await stage.chat(await stage.book())
    assert shown_thread(stage, thread).auto_archive_duration == 7 * 24 * 60


async def test_a_first_message_is_repeated_in_the_thread_and_answered(stage: Stage) -> None:
    stage.model.say("Hobb put it out.", "The dark lamp of the ninth.")
    thread = await stage.chat(await stage.book(), message="Who put the lamp out?")
    *_, question, answer = [text_of(message) for message in thread.history()]
    assert question.splitlines() == ["", "ann", "Who put the lamp out?"]
    assert "Hobb put it out." in answer
    conversation = await stage.conversation(thread)
    assert conversation.title == thread.name == "The dark lamp of the ninth"
    [turn] = await stage.app.storage.turns.get_by_conversation(conversation.id)
    assert turn.state is TurnState.DELIVERED


async def test_a_title_is_the_conversations_and_the_threads(stage: Stage) -> None:
    thread = await stage.chat(await stage.book(), title="Night reading")
    conversation = await stage.conversation(thread)
    assert thread.name == conversation.title == "Night reading"
    assert conversation.title_source is TitleSource.PERSON


async def test_a_private_thread_is_for_the_reader_alone(stage: Stage) -> None:
    book = await stage.book()
    opened = await stage.ann.slash(stage.channel, "chat", book=book.id, private=True)
    [thread] = stage.channel.threads
    assert opened.ephemeral
    assert thread.mention in text_of(opened)
    assert (await stage.conversation(thread)).private
    [request] = [each for each in stage.env.http_requests if each.path == f"/channels/{stage.channel.id}/threads"]
    assert isinstance(request.json, dict)
    assert request.json["type"] == discord.ChannelType.private_thread.value
    assert request.json["invitable"] is False
    assert can_see(stage, thread, stage.ann)
    assert not can_see(stage, thread, stage.ben)
    assert "ann" not in text_of(stage.channel.last_message)


def can_see(stage: Stage, thread: ChannelHandle, member: MemberActor) -> bool:
    return stage.env.backend.channels[thread.id].thread_members.get(member.id) is not None


async def test_earlier_conversations_are_offered_before_a_new_one_is_opened(stage: Stage) -> None:
    book = await stage.book()
    first = await stage.chat(book, title="First")
    offer = await stage.ann.slash(stage.channel, "chat", book=book.id)
    assert offer.ephemeral
    assert len(stage.channel.threads) == 1
    assert "talked about “The Dark Lamp” before" in text_of(offer)
    assert labels(offer) == ["Start a new one"]
    assert offer.response
    await stage.ann.select(offer.response, [(await stage.conversation(first)).id])
    assert first.mention in text_of(offer)
    assert len(stage.channel.threads) == 1


async def test_what_was_asked_privately_is_no_conversation_to_continue(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "ask", question="Who is Hobb?", book=book.id)
    await stage.ann.slash(stage.channel, "chat", book=book.id)
    assert len(stage.channel.threads) == 1, "it is opened at once"


async def test_earlier_conversations_of_one_name_are_told_apart_by_what_was_asked_last(stage: Stage) -> None:
    book = await stage.book()
    for question in ("The lamp", "Who put the **lamp** out?", "Who is Hobb?"):
        thread = await stage.chat(book, title="The lamp")
        stage.model.say("Hobb.")
        await stage.ann.send(thread, question)
    await stage.chat(book, title="Another")
    offer = await stage.ann.slash(stage.channel, "chat", book=book.id)
    assert offer.response
    menu = offer.response.components[0]["components"][0]
    begun, *asked = zip(*(option["description"].split(" ago") for option in menu["options"]), strict=True)
    assert {each.split(" ")[0] for each in begun} == {"started"}
    assert asked == [("", " · “Who is Hobb?”", " · “Who put the **lamp** out?”", "")]


async def test_a_new_one_may_be_started_all_the_same_even_after_a_restart(stage: Stage) -> None:
    book = await stage.book()
    await stage.chat(book, title="First")
    offer = await stage.ann.slash(stage.channel, "chat", book=book.id)
    await stage.restart()
    assert offer.response
    await stage.ann.click(offer.response, label="Start a new one")
    assert len(stage.channel.threads) == 2
    assert stage.channel.threads[-1].mention in text_of(offer)
    assert labels(offer) == []


async def test_other_readers_conversations_are_not_offered(stage: Stage) -> None:
    book = await stage.book()
    await stage.chat(book, stage.ben)
    await stage.chat(book, stage.ann)
    assert len(stage.channel.threads) == 2


async def test_a_conversation_that_is_named_goes_on_in_its_thread(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book)
    conversation = await stage.conversation(thread)
    await shown_thread(stage, thread).edit(archived=True)
    await stage.env.settle()
    resumed = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
    assert thread.mention in text_of(resumed)
    assert not shown_thread(stage, thread).archived


async def test_a_conversation_whose_thread_is_gone_goes_on_in_a_new_one(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book, title="Night reading")
    conversation = await stage.conversation(thread)
    await delete(stage, thread)
    assert (await stage.app.conversations.get(conversation.id)).thread_id is None
    stage.model.say("It was Hobb.")
    resumed = await stage.ann.slash(
        stage.channel, "chat", book=book.id, conversation=conversation.id, message="Who was it?"
    )
    [anew] = stage.channel.threads
    assert anew.mention in text_of(resumed)
    assert anew.name == "Night reading"
    assert (await stage.conversation(anew)).id == conversation.id
    assert "It was Hobb." in text_of(anew.history()[-1])


async def test_a_locked_thread_is_said_to_be_locked(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book)
    conversation = await stage.conversation(thread)
    await shown_thread(stage, thread).edit(archived=True)
    await stage.env.settle()
    stage.env.inject_error("PATCH", f"/channels/{thread.id}", status=403, code=50013)
    refused = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
    assert f"{thread.mention} is locked" in text_of(refused)


async def test_what_a_moderator_has_locked_opens_for_moderators_alone(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book, title="Closed")
    await shown_thread(stage, thread).edit(archived=True, locked=True)
    await stage.env.settle()
    refused = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation="Closed")
    assert f"{thread.mention} is locked" in text_of(refused)
    cat = stage.member("cat", manage_threads=True)
    assert "continues here" in text_of(await cat.slash(stage.channel, "chat", book=book.id, conversation="Closed"))


async def test_a_private_conversation_stays_private_in_a_new_thread(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book, private=True)
    conversation = await stage.conversation(thread)
    await delete(stage, thread)
    await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
    [anew] = stage.channel.threads
    assert not can_see(stage, anew, stage.ben)


def shown_thread(stage: Stage, thread: ChannelHandle) -> discord.Thread:
    """The thread as the bot knows it."""
    shown = stage.bot.get_channel(thread.id)
    assert isinstance(shown, discord.Thread)
    return shown


async def delete(stage: Stage, thread: ChannelHandle) -> None:
    await shown_thread(stage, thread).delete()
    await stage.env.settle()


async def test_somebody_elses_private_conversation_does_not_exist(stage: Stage) -> None:
    book = await stage.book()
    conversation = await stage.conversation(await stage.chat(book, private=True, title="Secret"))
    for reference in (conversation.id, "Secret"):
        refused = await stage.ben.slash(stage.channel, "chat", book=book.id, conversation=reference)
        assert "There's no such conversation" in text_of(refused)
    for named in (book.id, book.title):  # chosen, or typed
        assert await stage.ben.autocomplete(stage.channel, "chat", "conversation", "", book=named) == []
        [own] = await stage.ann.autocomplete(stage.channel, "chat", "conversation", "", book=named)
        assert own["value"] == conversation.id


async def test_a_conversation_about_another_book_is_not_mixed_up(stage: Stage) -> None:
    conversation = await stage.conversation(await stage.chat(await stage.book()))
    other = await stage.book("Another Tale")
    refused = await stage.ann.slash(stage.channel, "chat", book=other.id, conversation=conversation.id)
    assert "about another book" in text_of(refused)


async def test_a_missing_permission_is_named_and_nothing_is_left_behind(stage: Stage) -> None:
    book = await stage.book()
    me = stage.guild.me
    assert me is not None
    locked = stage.guild.create_text_channel(
        "locked", overwrites={me: discord.PermissionOverwrite(create_public_threads=False)}
    )
    refused = await stage.ann.slash(locked, "chat", book=book.id)
    assert refused.ephemeral
    assert "“Create Public Threads”" in text_of(refused)
    assert "Server Settings → Roles" in text_of(refused)
    assert await stage.conversations() == []


async def test_where_there_are_no_threads_people_are_told_what_works_there(stage: Stage) -> None:
    book, voice = await stage.book(), stage.guild.create_voice_channel("listening")
    refused = text_of(await stage.ann.slash(voice, "chat", book=book.id))
    assert refused == "I can't open a thread here. Please use a text channel, or /ask, which works here, too."
    assert "I do not know." in text_of(await stage.ann.slash(voice, "ask", question="Who is Hobb?"))


async def test_who_wants_a_private_thread_where_only_public_ones_can_be_is_told_so(stage: Stage) -> None:
    book, news = await stage.book(), stage.guild.create_news_channel("news")
    refused = text_of(await stage.ann.slash(news, "chat", book=book.id, private=True))
    assert refused == "I can't open a private thread in an announcement channel. Please use a text channel."


async def reply_to_a_mention(stage: Stage) -> discord.Message:
    """What the bot replies to a mention in a voice channel, where no thread can be opened."""
    voice, own = stage.guild.create_voice_channel("listening"), stage.env.bot.user
    assert own is not None
    await stage.ann.send(voice, f"{own.mention} who is Hobb?")
    await stage.env.settle()
    assert voice.last_message is not None
    return voice.last_message


async def test_who_mentions_the_bot_there_is_told_so_and_offered_no_book(stage: Stage) -> None:
    await stage.book()
    reply = await reply_to_a_mention(stage)
    assert text_of(reply).startswith("I can't open a thread here. Please use a text channel, or /ask")
    assert not reply.components


async def test_who_mentions_the_bot_there_without_a_book_on_the_shelf_is_told_how_to_get_one(stage: Stage) -> None:
    reply = await reply_to_a_mention(stage)
    assert text_of(reply).startswith("The shelf is empty. Find a free book")


async def test_a_conversation_is_gone_again_if_discord_opens_no_thread(stage: Stage) -> None:
    book = await stage.book()
    before = [message.id for message in stage.channel.history()]
    stage.env.inject_error("POST", "/channels/*/messages/*/threads", status=400, code=160006)
    refused = await stage.ann.slash(stage.channel, "chat", book=book.id)
    assert "Discord's limit of open threads" in text_of(refused)
    assert await stage.conversations() == []
    assert [message.id for message in stage.channel.history()] == before


async def test_a_card_that_is_not_shown_keeps_no_question_from_its_answer(stage: Stage) -> None:
    stage.model.say("Hobb put it out.")
    book = await stage.book()
    stage.env.inject_error("POST", "/channels/*/messages", status=403, code=50013)
    thread = await stage.chat(book, message="Who put the lamp out?")
    assert [message.content for message in thread.history()][-1] == "Hobb put it out."


async def test_chat_in_a_thread_opens_another_beside_it(stage: Stage) -> None:
    book = await stage.book()
    thread = await stage.chat(book, title="First")
    opened = await stage.ann.slash(thread, "chat", book=book.id, title="Second")
    assert [each.name for each in stage.channel.threads] == ["First", "Second"]
    assert opened.ephemeral


async def test_a_book_whose_file_is_gone_is_said_to_be(stage: Stage) -> None:
    book = await stage.book()
    await stage.files.remove(book.sha256)
    refused = await stage.ann.slash(stage.channel, "chat", book=book.id)
    assert text_of(refused).startswith("The file of this book is gone from the disk; please add it again")
    assert stage.channel.threads == []
    assert await stage.conversations() == []
