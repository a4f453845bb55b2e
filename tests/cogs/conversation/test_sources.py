"""Sources shows the sentences an answer rests on."""

import asyncio
import re
from pathlib import Path

from domain.citations.keys import key_of
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
    assert "no longer available" in pressed.text


def keyed(room: Scene, release: asyncio.Event) -> Reply:
    """The claim of `cited` in a first piece, after which the stream stops until the event; then another one."""

    def reply(messages: object) -> Reply:
        assert isinstance(messages, list)
        sentence = next(s for message in messages for p in message.passages for s in p.sentences if "Marta" in s.text)
        room.model.hold = release
        claim = f"Marta Quill came in a small grey boat [{key_of(sentence)}]. "
        rest = f"And so it is [{key_of(sentence)}]."
        return [
            TextChunk(claim + "Nobody had seen the boat, nor heard of her. "),
            TextChunk(rest),
            ChatResponse(text=claim + rest),
        ]

    return reply


async def test_in_a_german_server_pages_are_cited_in_german(double: DiscordDouble, tmp_path: Path) -> None:
    double.guild.locale = "de"
    async with scene(double, tmp_path) as room:
        await room.prepare()
        room.ann.locale = "de"
        release = asyncio.Event()
        room.model.say(calls(call("search_book", query="Marta came to the island")), keyed(room, release))
        await room.ann.say(room.thread, "Who came?")
        await room.until(lambda: "Nobody" in "".join(room.said()))
        assert pages_in(room.said()[0]) == ["(S. 1)"]
        release.set()
        await room.until_delivered()
        [reply] = room.replies()
        assert pages_in(reply.content) == ["(S. 1)"] * 2
        assert "(p." not in "".join(reply.revisions)
        assert pages_in((await room.kept())[-1]) == ["(p. 1)"] * 2
        pressed = await room.ann.click(reply, label="Quellen")
        assert "**S. 1** · I. The Arrival" in pressed.text
        exported = await room.ann.slash("conversations export", channel=room.thread)
        await room.until(lambda: exported.messages and exported.message.attachments)
        file = exported.message.attachments[0].data.decode()
        assert pages_in(file) == ["(S. 1)"] * 2
        assert "> S. 1: Marta Quill" in file


async def test_what_is_told_aside_cites_pages_in_german(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        room.ann.locale = "de"
        room.model.say(calls(call("search_book", query="Marta came to the island")), cited())
        asked = await room.ann.slash("ask", channel=room.thread, question="Who came?")
        await room.until(lambda: "Claim 0. (S. 1)" in asked.text)
        room.model.say("Nothing of the book.")
        who = await room.ann.slash("who", channel=room.thread, name="Marta")
        recap = await room.ann.slash("recap", channel=room.thread)
        discuss = await room.ann.slash("discuss", channel=room.thread)
        await room.until(lambda: all(map(pages_in, (who.text, recap.text, discuss.text))))
        assert all(page.startswith("(S. ") for page in pages_in(who.text) + pages_in(recap.text))
        assert "von S. 1 bis S. 2" in who.text
        assert all(page.startswith("(p. ") for page in pages_in(discuss.text)), "everybody reads it"


def pages_in(text: str) -> list[str]:
    """What looks like a reference to pages in an answer."""
    return re.findall(r"\((?:etwa |about )?(?:pp?|S)\. [^)]*\)", text)
