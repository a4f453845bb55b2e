"""Sources shows the sentences an answer rests on."""

from pathlib import Path

from domain.tool_use import ChatResponse, CitationMark, TextBlockEnd, TextChunk
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.scripted_chat import Reply, call, calls


def cited(count: int = 1) -> Reply:
    """An answer of that many claims, each of which cites the sentence on Marta Quill."""

    def reply(messages: object) -> Reply:
        assert isinstance(messages, list)
        passage = next(passage for message in messages for passage in message.passages)
        place = next(place for place, each in enumerate(passage.sentences) if "Marta" in each.text)
        blocks: list[object] = []
        for number in range(count):
            mark = CitationMark(passage.source, place, place + 1)
            blocks += [TextChunk(f"Claim {number}."), mark, TextBlockEnd()]
        return [*blocks, ChatResponse(text="Claims.")]  # type: ignore[list-item]

    return reply


async def answered(room: Scene, count: int = 1) -> None:
    room.model.say(calls(call("search_book", query="Marta came to the island")), cited(count))
    await room.ann.say(room.thread, "Who came?")
    await room.until_delivered()


async def test_each_cited_sentence_stands_with_its_page_and_chapter(room: Scene) -> None:
    await answered(room)
    [reply] = room.replies()
    assert "(p. 1)" in reply.content
    pressed = await room.ben.click(reply, label="Sources")
    assert pressed.ephemeral
    assert "**p. 1** · I. The Arrival" in pressed.text
    assert "Marta Quill came to the island" in pressed.text


async def test_the_lines_around_it_are_shown_as_far_as_whoever_presses_has_read(room: Scene) -> None:
    await answered(room)
    [reply] = room.replies()
    pressed = await room.ben.click(reply, label="Sources")
    cited = next(line for line in pressed.text.splitlines() if "Marta Quill" in line)
    before, _, rest = cited.partition("**")
    quote, _, after = rest.partition("**")
    assert "Marta Quill" in quote
    text = await (await room.app.shelf.open((await room.app.shelf.list(None))[0])).text()
    around = [part.removeprefix("> ").strip() for part in (before, after)]
    assert any(around)
    assert all(part in " ".join(text.split()) for part in around)


async def test_an_answer_that_cites_nothing_has_no_button(room: Scene) -> None:
    await room.ann.say(room.thread, "Hello")
    await room.until_delivered()
    assert [button.label for button in room.replies()[0].buttons] == ["Try again"]


async def test_it_works_after_a_restart(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await answered(room)
    async with again(room) as after:
        pressed = await after.ann.click(after.replies()[0], label="Sources")
        assert "Marta Quill" in pressed.text


async def test_an_answer_that_is_gone_says_so(room: Scene) -> None:
    await answered(room)
    await room.app.storage.conversations.delete((await room.conversation()).id)
    pressed = await room.ann.click(room.replies()[0], label="Sources")
    assert pressed.ephemeral
    assert "no longer stored" in pressed.text
