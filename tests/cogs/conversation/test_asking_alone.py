"""/ask over the loopback Discord: acknowledged in time, answered to its asker, and in order after a stop."""

from pathlib import Path

from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_readers_behind import stand_at
from tests.doubles.discord_api import DiscordDouble


async def test_it_is_acknowledged_while_the_model_thinks_and_answered_in_its_place(room: Scene) -> None:
    await stand_at(room, room.ann, "2")
    await stand_at(room, room.ben, "1")
    release = await room.hold()
    room.model.say("Marta found a brass key under the stairs.")
    asked = await room.ann.slash("ask", question="What was found?")
    await room.until(lambda: asked.acknowledged)
    await room.until(lambda: room.model.requests)
    release.set()
    await room.until(lambda: "brass key" in asked.text)
    assert "**Ann** asks: What was found?" in asked.text
    assert "up to p. 2" in asked.text
    assert room.said() == [], "nothing of it is said in the thread"


async def test_an_answer_that_takes_longer_than_a_reply_may_is_shown_where_others_see_it(room: Scene) -> None:
    """A model of one's own may take more than a quarter of an hour; a private reply is lost then, which is no fault."""
    release = await room.hold()
    public = await room.ann.slash("ask", question="What was found?", public=True)
    private = await room.ben.slash("ask", question="What was lost?")
    await room.until_asked(2)
    room.double.advance(16 * 60)
    release.set()
    shown = public.original
    assert shown is not None
    await room.until(lambda: "I do not know." in shown.content)
    assert [each.label for each in shown.buttons] == ["Try again"]
    await room.until(lambda: not room.app.chat.is_busy)
    assert private.messages == []


async def test_questions_that_come_together_are_answered_one_after_another(room: Scene) -> None:
    release = await room.hold()
    room.model.say("First.", "Second.")
    one = await room.ann.slash("ask", question="One?")
    await room.until(lambda: room.model.requests)
    two = await room.ann.slash("ask", question="Two?")
    await room.until(lambda: two.acknowledged)
    release.set()
    await room.until(lambda: "First." in one.text and "Second." in two.text)
    assert "One?" in one.text
    assert "Two?" in two.text


async def test_a_question_that_a_stop_has_cut_off_is_not_answered_to_nobody(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await room.hold()
        cut_off = await room.ann.slash("ask", question="One?")
        await room.until(lambda: room.model.requests)
    await double.until(lambda: "I'm restarting" in cut_off.text)
    async with again(room) as after:
        after.model.hold = None
        after.model.say("Second.")
        asked = await after.ann.slash("ask", question="Two?")
        await after.until(lambda: "Second." in asked.text)
        said = [message.text for message in after.model.requests[-1] if message.role == "user"]
        assert len(said) == 1
        assert "Two?" in said[0]
