"""The life of a conversation outside its turns: in a thread, out of it, and in another."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from domain.conversation import Conversation, TitleSource
from domain.errors import ConversationError, ConversationErrorCode
from domain.turn.conversations import ManageConversations
from domain.turn.history import Transcripts
from storage.opening import Storage, open_storage
from tests.storage.values import MIDNIGHT, a_book, furnish, hold_turn

PLACE = {"guild_id": "g", "channel_id": "c"}


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    async with await open_storage("sqlite:///:memory:") as storage:
        await storage.books.save(a_book())
        yield storage


@pytest.fixture
def manage(storage: Storage) -> ManageConversations:
    return ManageConversations(books=storage.books, conversations=storage.conversations, clock=lambda: MIDNIGHT)


async def bound(manage: ManageConversations, thread_id: str = "t") -> Conversation:
    conversation = await manage.create("alice", owner_id="ann")
    return await manage.bind(conversation.id, thread_id=thread_id, private=True, **PLACE)


async def test_a_conversation_is_found_by_its_thread(storage: Storage, manage: ManageConversations) -> None:
    conversation = await bound(manage)
    assert (conversation.guild_id, conversation.channel_id, conversation.private) == ("g", "c", True)
    assert await storage.conversations.get_by_thread("t") == conversation


async def test_it_outlives_its_thread_and_moves_to_another(storage: Storage, manage: ManageConversations) -> None:
    conversation = await bound(manage)
    unbound = await manage.unbind("t")
    assert unbound
    assert (unbound.id, unbound.thread_id, unbound.private) == (conversation.id, None, True)
    assert await storage.conversations.get_by_thread("t") is None
    await manage.bind(conversation.id, thread_id="another", private=True, **PLACE)
    found = await storage.conversations.get_by_thread("another")
    assert found
    assert found.id == conversation.id


async def test_a_thread_of_no_conversation_is_nobodys(manage: ManageConversations) -> None:
    assert await manage.unbind("unknown") is None


async def test_showing_calls_is_chosen_for_the_conversation(manage: ManageConversations) -> None:
    conversation = await bound(manage)
    assert conversation.verbose is None
    assert (await manage.show_calls(conversation.id, True)).verbose is True
    assert (await manage.get(conversation.id)).verbose is True
    assert (await manage.show_calls(conversation.id, False)).verbose is False


async def test_what_is_not_there_cannot_be_bound(manage: ManageConversations) -> None:
    with pytest.raises(ConversationError) as caught:
        await manage.bind("unknown", thread_id="t", private=False, **PLACE)
    assert caught.value.code is ConversationErrorCode.NOT_FOUND


async def test_the_name_that_a_person_gives_its_thread_is_its_title(manage: ManageConversations) -> None:
    conversation = await bound(manage)
    renamed = await manage.rename_with_thread(conversation.id, "By hand", MIDNIGHT + timedelta(seconds=1))
    assert (renamed.title, renamed.title_source) == ("By hand", TitleSource.PERSON)


async def test_a_title_that_was_chosen_later_stays(storage: Storage, manage: ManageConversations) -> None:
    conversation = await bound(manage)
    renamed = await manage.rename_with_thread(conversation.id, "Before it was", MIDNIGHT - timedelta(seconds=1))
    assert renamed.title == conversation.title
    in_a_while = MIDNIGHT + timedelta(seconds=10)
    later = ManageConversations(books=storage.books, conversations=storage.conversations, clock=lambda: in_a_while)
    await later.rename(conversation.id, "Chosen")
    renamed = await manage.rename_with_thread(conversation.id, "By hand", MIDNIGHT + timedelta(seconds=5))
    assert renamed.title == "Chosen"


async def test_a_turn_that_is_forgotten_while_it_is_read_is_no_longer_kept(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnish(storage)
    turn = await hold_turn(storage, "why")
    transcripts = Transcripts(conversations=storage.conversations, messages=storage.messages, turns=storage.turns)
    stored = await transcripts.turn(turn.id)
    assert stored
    assert [message.id for message in stored.messages] == ["why-question", "why-answer"]
    get = storage.conversations.get

    async def forgotten_meanwhile(conversation_id: str) -> Conversation | None:
        await storage.turns.forget_question("why-question", MIDNIGHT)
        return await get(conversation_id)

    monkeypatch.setattr(storage.conversations, "get", forgotten_meanwhile)
    assert await transcripts.turn(turn.id) is None
