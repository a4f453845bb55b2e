"""Choices of conversations: found among many, and Discord is asked about nobody twice in a minute."""

import asyncio

from cogs.services import MEMBERSHIP_S, MEMBERSHIPS_AT_ONCE, Memberships
from tests.cogs.conversation.scene import Scene

ASKS = "GET /channels/{channel}/thread-members/{user}"


async def test_discord_is_asked_about_a_membership_once_however_often_somebody_types(room: Scene) -> None:
    book = await room.book()
    await room.chat(book, title="Secret", private=True)
    for typed in ("", "s", "se", "sec"):
        offered = await room.ben.autocomplete("chat", "conversation", typed, book=book.id)
        assert not any("Secret" in each["name"] for each in offered)
    assert len([call for call in room.double.rest_log if call.route == ASKS]) == 1


async def test_rights_are_asked_for_anew(room: Scene) -> None:
    book = await room.book()
    await room.chat(book, title="Secret", private=True)
    await room.ben.autocomplete("chat", "conversation", "", book=book.id)
    refused = await room.ben.slash("conversations delete", conversation="Secret")
    await room.until(lambda: refused.messages)
    assert "no such conversation" in refused.text
    assert len([call for call in room.double.rest_log if call.route == ASKS]) == 2


async def test_what_is_known_of_a_membership_is_forgotten_after_a_minute() -> None:
    now, asked = 0.0, 0
    known = Memberships(lambda: now)

    async def ask() -> bool:
        nonlocal asked
        asked += 1
        return True

    for later in (0.0, MEMBERSHIP_S - 1, MEMBERSHIP_S, MEMBERSHIP_S + 1):
        now = later
        task = known.ask("thread", 1, ask)
        assert task is not None
        assert await task
    await asyncio.sleep(0)
    assert asked == 2


async def test_discord_is_asked_a_few_things_at_once_however_many_people_type() -> None:
    known, answer = Memberships(), asyncio.Event()

    async def ask() -> bool:
        return await answer.wait()

    tasks = [known.ask("thread", number, ask) for number in range(MEMBERSHIPS_AT_ONCE + 1)]
    assert tasks.pop() is None
    answer.set()
    assert all([await task for task in tasks if task is not None])
    assert len(tasks) == MEMBERSHIPS_AT_ONCE
    await asyncio.sleep(0)
    assert known.ask("thread", MEMBERSHIPS_AT_ONCE, ask) is not None
