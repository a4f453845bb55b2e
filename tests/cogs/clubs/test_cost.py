"""What a club costs in requests to Discord."""

import asyncio

from tests.cogs.clubs.conftest import ClubStage


async def test_a_check_in_is_a_reply_and_the_card(reading: ClubStage) -> None:
    await reading.start()
    await reading.press(reading.ben, "Join")
    before = len(reading.stage.env.http_requests)
    await reading.press(reading.ann, "I'm there")
    assert len(reading.stage.env.http_requests) - before == 2


async def test_a_section_opened_is_a_thread_two_messages_and_who_is_let_in(reading: ClubStage) -> None:
    await reading.start()
    await reading.press(reading.ben, "I'm there")
    before = len(reading.stage.env.http_requests)
    await reading.press(reading.ann, "I'm there")
    await reading.stage.env.settle()
    assert len(reading.stage.env.http_requests) - before == 2 + 3 + 2


async def test_a_round_serves_all_who_asked_before_it_began(reading: ClubStage) -> None:
    await reading.start()
    club, clubs = await reading.club(), reading.stage.app.clubs
    before = len(reading.stage.env.http_requests)

    async def check_in(number: int) -> None:
        await clubs.check_in(club, str(number), page="1")
        await reading.cog.duties.attend(club.id)

    await asyncio.gather(*map(check_in, range(1, 51)))
    edits = [each for each in reading.stage.env.http_requests[before:] if each.method == "PATCH"]
    assert len(edits) < 10
    assert len((await reading.club()).taking_part) == 51
