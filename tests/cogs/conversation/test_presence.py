"""Who reads along in a thread binds its answers; who has gone, or is waited for no more, binds nobody."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cogs.conversation.scene import Scene, scene
from tests.cogs.conversation.test_readers_behind import said_of, stand_at
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.interactions import Interaction
from tests.sampling import a_few

BOUND_BY_BEN, OPEN = "has read to page 1", "the whole book"


async def both_wrote(room: Scene) -> None:
    """Ben, who is at page 1, has written in Ann's thread."""
    await stand_at(room, room.ben, "1")
    await room.ann.say(room.thread, "Hello")
    await room.until_delivered()
    await room.ben.say(room.thread, "I read this, too!", mention=room.double.bot)
    await room.until_delivered(2)
    assert BOUND_BY_BEN in note_of(room)


async def asked(room: Scene, count: int) -> str:
    """What the model is told when Ann asks."""
    await room.ann.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(count)
    return note_of(room)


def note_of(room: Scene) -> str:
    """What the model is told last of how far somebody has read."""
    return [line for line in said_of(room).splitlines() if line.startswith("[")][-1]


def looked_for(room: Scene) -> list[int]:
    """Of whom Discord has been asked whether they are still there."""
    calls = room.double.calls("GET /channels/{channel}/thread-members/{user}")
    return [int(call.path.rsplit("/", 1)[1]) for call in calls]


async def pressed(room: Scene, who: Actor, shown: Interaction, label: str) -> Interaction:
    press = await who.click(shown.messages[-1], label=label)
    await room.until(lambda: press.messages)
    return press


async def progress(room: Scene, who: Actor) -> Interaction:
    shown = await who.slash("progress", channel=room.thread)
    await room.until(lambda: shown.messages)
    return shown


async def test_who_was_taken_out_of_the_thread_binds_nobody(room: Scene) -> None:
    await both_wrote(room)
    await room.ben.leave(room.thread)
    assert OPEN in await asked(room, 3)


async def test_who_left_the_server_binds_nobody(room: Scene) -> None:
    await both_wrote(room)
    await room.ben.leave(room.thread)
    del room.double.guild.members[room.ben.id]
    assert OPEN in await asked(room, 3)


async def test_whoever_opened_it_and_left_the_server_binds_nobody(room: Scene) -> None:
    await both_wrote(room)
    await stand_at(room, room.ben, "3")
    await stand_at(room, room.ann, "1")
    del room.double.guild.members[room.ann.id]
    await room.ben.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(3)
    assert OPEN in note_of(room)


async def test_who_is_there_binds_and_so_does_who_comes_back(room: Scene) -> None:
    await both_wrote(room)
    assert BOUND_BY_BEN in await asked(room, 3)
    await room.ben.leave(room.thread)
    assert OPEN in await asked(room, 4)
    await room.ann.invite(room.thread, room.ben)
    await room.ben.say(room.thread, "I'm back.", mention=room.double.bot)
    await room.until_delivered(5)
    assert BOUND_BY_BEN in await asked(room, 6)


async def test_only_who_is_furthest_behind_is_asked_about(room: Scene) -> None:
    cy = room.double.user("cy")
    await stand_at(room, cy, "2")
    await both_wrote(room)
    await cy.say(room.thread, "So do I!", mention=room.double.bot)
    await room.until_delivered(3)
    known = looked_for(room)
    assert BOUND_BY_BEN in await asked(room, 4)
    assert looked_for(room)[len(known) :] == [room.ben.id]
    await room.ben.leave(room.thread)
    assert "has read to page 2" in await asked(room, 5)
    assert looked_for(room)[len(known) :] == [room.ben.id, room.ben.id, cy.id]


@pytest.mark.parametrize(("days", "bound"), a_few([(30, OPEN), (0, BOUND_BY_BEN), (90, BOUND_BY_BEN)], 2))
async def test_who_has_written_nothing_for_long_binds_nobody(
    double: DiscordDouble, tmp_path: Path, days: int, bound: str
) -> None:
    async with scene(double, tmp_path, presence_days=days) as room:
        await room.prepare()
        await both_wrote(room)
        long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="microseconds")
        engine = room.app.storage.engine
        await engine.write("UPDATE chat_messages SET created_at = ? WHERE author_id = ?", [long_ago, str(room.ben.id)])
        assert bound in await asked(room, 3)


async def test_while_discord_does_not_say_who_is_there_everybody_binds(room: Scene) -> None:
    await both_wrote(room)
    await room.ben.leave(room.thread)
    room.double.fail("GET /channels/*/thread-members/*", status=503, times=9)
    assert BOUND_BY_BEN in await asked(room, 3)


class TestWhoBinds:
    async def test_the_threads_owner_waits_for_somebody_no_more(self, room: Scene) -> None:
        await both_wrote(room)
        shown = await pressed(room, room.ann, await progress(room, room.ann), "Whose page counts")
        assert shown.ephemeral
        assert f"I stop at p. 1 here, as far as <@{room.ben.id}> has read." in shown.text
        await room.ann.click(shown.messages[-1], label="Stop waiting for Ben")
        await room.until(lambda: "no longer wait" in shown.messages[-1].content)
        await room.until(lambda: any("Answers here no longer wait for" in said for said in room.said()))
        assert OPEN in await asked(room, 3)
        await room.ben.say(room.thread, "Me again!", mention=room.double.bot)
        await room.until_delivered(4)
        assert BOUND_BY_BEN in await asked(room, 5)

    @pytest.mark.parametrize(("status", "is_told"), [(503, True), (403, False)])
    async def test_nobody_is_waited_for_any_more_though_the_thread_cannot_be_told(
        self, room: Scene, status: int, is_told: bool
    ) -> None:
        await both_wrote(room)
        shown = await pressed(room, room.ann, await progress(room, room.ann), "Whose page counts")
        room.double.fail("POST /channels/*/messages", status=status)
        await room.ann.click(shown.messages[-1], label="Stop waiting for Ben")
        await room.until(lambda: "no longer wait" in shown.messages[-1].content)
        assert any("Answers here no longer wait for" in said for said in room.said()) is is_told

    async def test_only_the_threads_owner_has_the_button_to_wait_no_more(self, room: Scene) -> None:
        await both_wrote(room)
        assert (await progress(room, room.ben)).messages[-1].buttons == []

    @pytest.mark.parametrize("action", a_few(["who-binds:{talk}", "unbind:{talk}:{ben}", "unbind:{talk}:{ann}"], 2))
    async def test_only_the_threads_owner_can_press_the_button_to_wait_no_more(self, room: Scene, action: str) -> None:
        await both_wrote(room)
        talk = (await room.conversation()).id
        forged = f"do:{action.format(talk=talk, ann=room.ann.id, ben=room.ben.id)}"
        button = {"type": 2, "style": 2, "label": "Press", "custom_id": forged}
        [_, reply] = room.replies()
        room.double.world.edit(reply, {"components": [{"type": 1, "components": [button]}]})
        refused = await room.ben.click(reply, label="Press")
        await room.until(lambda: refused.messages)
        assert "Only the person who opened this conversation" in refused.text
        assert BOUND_BY_BEN in await asked(room, 3)

    async def test_alone_there_is_no_button(self, room: Scene) -> None:
        assert (await progress(room, room.ann)).messages[-1].buttons == []
