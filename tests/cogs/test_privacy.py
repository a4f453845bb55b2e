"""/privacy: a copy, or erasure."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from simcord.actors import MemberActor
from simcord.results import InteractionResult

from domain.book import PositionState
from tests.cogs.stage import Stage, holding, labels, text_of


async def asked(stage: Stage, reader: MemberActor | None = None) -> InteractionResult:
    shown = await (reader or stage.ann).slash(stage.channel, "privacy")
    assert shown.ephemeral
    return shown


async def erase(stage: Stage, shown: InteractionResult, reader: MemberActor | None = None) -> str:
    assert shown.response
    await (reader or stage.ann).click(shown.response, label="Erase it all")
    assert "This can't be undone" in text_of(shown)
    await (reader or stage.ann).click(shown.response, label="Erase it all")
    return text_of(shown)


async def test_it_says_what_is_kept_and_where_it_goes(stage: Stage) -> None:
    shown = await asked(stage)
    assert "I send your messages to the model (scripted)" in text_of(shown)
    kept = [line for line in text_of(shown).splitlines() if line.startswith("- ")]
    assert "- the clubs you're in, your check-ins, and the votes you've started" in kept
    assert all(len(each) < 100 for each in kept)
    assert labels(shown) == ["Give me a copy", "Erase it all", "Leave me out"]


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("Anthropic", "I send your messages to the model (Anthropic)."),
        ("", "I send your messages to a model on a server that the bot's operator has chosen."),
    ],
)
async def test_it_names_the_company_that_reads_along_if_there_is_one(stage: Stage, provider: str, said: str) -> None:
    object.__setattr__(stage.app, "facts", replace(stage.app.facts, provider=provider))
    assert said in text_of(await asked(stage))


async def test_a_copy_holds_what_i_wrote(stage: Stage) -> None:
    await stage.chat(await stage.book(), message="Who put the lamp out?")
    await stage.chat(await stage.book("Other"), stage.ben, message="Not mine")
    shown = await asked(stage)
    assert shown.response
    given = await stage.ann.click(shown.response, label="Give me a copy")
    assert given.ephemeral
    [attachment] = (given.followups[0] if given.followups else given.response).attachments  # type: ignore[union-attr]
    kept = json.loads(await attachment.read())
    assert [message["content"] for message in kept["messages"]] == ["Who put the lamp out?"]


async def test_erasing_removes_my_conversations_and_their_threads(stage: Stage) -> None:
    book = await stage.book()
    await stage.chat(book, message="Who put the lamp out?", title="Mine")
    await stage.chat(book, stage.ben, title="Ben's")
    told = await erase(stage, await asked(stage))
    assert "Erased: 1 message, 1 conversation" in told
    assert [thread.name for thread in stage.channel.threads] == ["Ben's"]
    assert [each.title for each in await stage.conversations()] == ["Ben's"]


async def test_erasing_what_stands_nowhere_on_discord_is_told_too(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    told = await erase(stage, await asked(stage))
    assert told == "Erased: 0 messages, 0 conversations, your positions and preferences."
    assert (await stage.app.storage.readers.get_position(str(stage.ann.id), book.id)).state is PositionState.UNSET


async def test_in_company_only_my_part_goes(stage: Stage) -> None:
    thread = await stage.chat(await stage.book(), message="Who put the lamp out?")
    conversation = await stage.conversation(thread)
    await stage.ben.slash(
        stage.channel, "chat", book=conversation.book_id, conversation=conversation.id, message="And why?"
    )
    answers = [message.content for message in thread.history() if message.content == "I do not know."]
    assert len(answers) == 2
    await erase(stage, await asked(stage))
    assert [message.content for message in thread.history() if message.content == "I do not know."] == answers[1:]
    kept = await stage.app.storage.messages.get_by_conversation(conversation.id)
    assert [message.content for message in kept if message.author_id] == ["And why?"]


async def test_no_file_holds_my_words_or_my_name_when_all_is_removed(stage: Stage, tmp_path: Path) -> None:
    mia = stage.member("Zanzibarine")
    thread = await stage.chat(await stage.book(), mia, message="Who put the zanzibarine lamp out?")
    conversation = await stage.conversation(thread)
    await stage.ben.slash(
        stage.channel, "chat", book=conversation.book_id, conversation=conversation.id, message="And why?"
    )
    for name in ("who", "recap"):
        await mia.slash(
            stage.channel, name, book=conversation.book_id, public=True, **({"name": "Marta"} if name == "who" else {})
        )
    assert holding(b"zanzibarine", tmp_path)
    await erase(stage, await asked(stage, mia), mia)
    assert not holding(b"zanzibarine", tmp_path)


async def test_what_discord_does_not_let_go_is_said(stage: Stage) -> None:
    thread = await stage.chat(await stage.book(), message="Who put the lamp out?")
    stage.env.inject_error("DELETE", f"/channels/{thread.id}", status=403, code=50013)
    assert "I couldn't remove 1 thread or message" in await erase(stage, await asked(stage))


async def test_thinking_better_of_it_changes_nothing(stage: Stage) -> None:
    await stage.chat(await stage.book(), message="Who put the lamp out?")
    shown = await asked(stage)
    assert shown.response
    await stage.ann.click(shown.response, label="Erase it all")
    await stage.ann.click(shown.response, label="Keep it")
    assert len(await stage.conversations()) == 1
