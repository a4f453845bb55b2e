"""A database that cannot be written to is a sentence below the message, and a button that takes the message in."""

import pytest

from tests.cogs.conversation.scene import Scene

CALLBACK = "POST /interactions/{interaction}/{token}/callback"
TOO_LATE = 10062


@pytest.mark.parametrize("too_late", [False, True], ids=["in time", "too late for an acknowledgement"])
async def test_a_message_that_could_not_be_kept_is_taken_in_once_retry_is_pressed(room: Scene, too_late: bool) -> None:
    [database] = room.folder.rglob("*.db")
    room.model.say("It was Hobb.")
    away = database.rename(database.with_suffix(".away"))
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until(lambda: room.replies())
    [told] = room.replies()
    assert "is gone from the disk" in told.content
    assert [button.label for button in told.buttons] == ["Retry"]
    away.rename(database)
    if too_late:
        room.double.fail(CALLBACK, status=404, code=TOO_LATE)
    await room.ann.click(told, label="Retry", wait=False)
    await room.until_said("It was Hobb.")
    await room.until_kept("Who put the lamp out?", "It was Hobb.")
