"""Recaps, portraits and questions of two books that are the same up to the bound differ in no byte."""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from importlib.resources import files as resources
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import domain.library.summaries as summaries_module
from domain.book import Book, BookText
from domain.chat import PromptMessage, Prompts
from domain.citations.keys import KEY_IN_GROUP
from domain.errors import BookError, LLMError, LLMErrorCode
from domain.library.summaries import ChapterSummaries
from domain.reading.companion import Asker, Discussion, ReadingCompanion, ReadingWriter, Told
from domain.spoilers.detector import SpoilerChecks
from domain.turn.quota import Quota, UsageMeter
from storage.book_files.files import SQLiteBookFiles
from storage.opening import open_storage
from tests.doubles.scripted_chat import Reply, ScriptedChat
from tests.journeys.book_pairs import READ_WORDS, UNREAD_WORDS, Pair, pairs
from tests.journeys.reading_room import tale, the_book

names = st.sampled_from([*READ_WORDS, *UNREAD_WORDS, "hobb", "Marta"])
places = st.sampled_from(["", "chapter 1", "chapter 2", "#3", "page 2", "4", "9999", "Murder 0.1", "the lamp"])


def echo(messages: Sequence[PromptMessage]) -> Reply:
    """Says what it was shown, a line for each key, and claims a page; in summaries it claims none.

    It adds no words of its own: whether they are the book's is held against the unread text, and may differ.
    """
    shown = re.findall(r"\[(s-[0-9a-f]{7})\] (.+)", messages[-1].content)
    claimed = "" if "Summarise it" in messages[-1].content else " (p. 3)"
    return "\n".join(f"{' '.join(text.split()[:6])}{claimed} [{key}]" for key, text in shown[:9])


class Room:
    """A companion over a book, with a model that keeps a script or without one."""

    def __init__(self, folder: Path, text: BookText, model: ScriptedChat | None, seconds: float = 5) -> None:
        self.folder, self.text, self.model, self.seconds = folder, text, model, seconds
        self.book: Book = the_book(text)

    async def told(self, work: Sequence[tuple[str, object]], read_to: int) -> list[object]:
        """What comes of calls of the companion, each a method and its argument."""
        async with await open_storage(f"sqlite:///{self.folder / 'room.db'}") as storage:
            files = SQLiteBookFiles(self.folder / "books")
            await files.write(self.book.sha256, self.text)
            await storage.books.save(self.book)
            clock = lambda: self.book.created_at  # noqa: E731
            spoilers, prompts = SpoilerChecks(files), Prompts.load(resources("prompts"))
            writer = self.model and ReadingWriter(
                provider=self.model,
                prompts=prompts,
                summaries=ChapterSummaries(
                    texts=storage.derived_texts,
                    prompts=prompts,
                    spoilers=spoilers,
                    clock=clock,
                    model="scripted",
                    seconds=5,
                ),
                spoilers=spoilers,
                meter=UsageMeter(usage=storage.usage, price=lambda *_: 1, clock=clock, provider="scripted"),
                quota=Quota(storage.usage, clock),
                seconds=self.seconds,
            )
            companion = ReadingCompanion(files=files, writer=writer or None)
            found = [await self._one(companion, name, argument, read_to) for name, argument in work]
            await files.close()
        return found

    async def _one(self, companion: ReadingCompanion, name: str, argument: object, read_to: int) -> object:
        asker = Asker("ann", "guild", "German")
        try:
            match name:
                case "recap":
                    return await companion.recap(self.book, read_to, argument or 0, asker)  # type: ignore[arg-type]
                case "discuss":
                    return await companion.discuss(self.book, read_to, argument or 0, 5, asker)  # type: ignore[arg-type]
                case "who":
                    return await companion.who(self.book, read_to, str(argument), asker)
                case _:
                    return await companion.names(self.book, read_to)
        except BookError as error:
            return error.message


@pytest.mark.parametrize("model", [None, echo], ids=["without a model", "with a model"])
@settings(
    max_examples=settings().max_examples // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(pair=pairs(), name=names, place=places)
async def test_changing_the_unread_changes_no_byte(model: object, pair: Pair, name: str, place: str) -> None:
    # What stands before the first chapter is no story to the spoiler check, so its names are unread if they come again.
    assume(not model or pair.chapters or not any(rest.chapters for rest in pair.rest))
    work = [
        ("recap", ""),
        ("recap", place),
        ("discuss", ""),
        ("discuss", place),
        ("who", name),
        ("who", "Ann"),
        ("names", ""),
    ]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(summaries_module, "PIECE_WORDS", 40)
        patch.setattr(summaries_module, "SHORTEST", 5)
        told = []
        for which in (0, 1):
            home = Path(folder) / str(which)
            home.mkdir()
            script = ScriptedChat(echo) if model else None
            room = Room(home, pair.book(which), script)
            told.append([*map(repr, await room.told(work, pair.read_to)), *_asked(script)])
    assert told[0] == told[1]
    assert not any(word in str(told) for word in ("drowned", "Orchard", "wedding") if word not in f"{name} {place}")


def _asked(script: ScriptedChat | None) -> list[str]:
    """What the model was asked, but for summaries, of which several are asked for at once."""
    return sorted(request[-1].content for request in script.requests) if script else []


async def test_what_a_model_writes_is_cited_by_code(tmp_path: Path) -> None:
    model = ScriptedChat(echo)
    room = Room(tmp_path, tale(), model)
    recap, discussion, who = await room.told(
        [("recap", ""), ("discuss", ""), ("who", "Marta")], tale().text.index("It was Hobb")
    )
    assert isinstance(recap, Told)
    assert isinstance(who, Told)
    assert isinstance(discussion, Discussion)
    assert recap.trouble is who.trouble is discussion.trouble is None
    assert "Marta Quill came to the island (p. 1)" in recap.text.split("\n\n")
    assert recap.text.count("(p. 3)") == sum(each.page == "3" for each in recap.citations)
    assert [each.start for each in recap.citations] == sorted(each.start for each in recap.citations)
    assert all("(p." not in each.text and not KEY_IN_GROUP.search(each.text) for each in discussion.questions)
    assert {each.page for each in discussion.questions} == {"p. 1", "p. 2"}
    assert all(
        "in German" in request[-1].content for request in model.requests if "keys of the two" not in request[-1].content
    )


async def test_lines_that_rest_on_nothing_or_tell_too_much_are_left_out(tmp_path: Path) -> None:
    def reply(messages: Sequence[PromptMessage]) -> Reply:
        first, second = KEY_IN_GROUP.findall(messages[-1].content.split("Write no page numbers")[-1])[:2]
        return (
            f"Marta came [{first}]\nShe is the heroine.\nLucian drowned in 1887 [{first}]\nIt is so [s-0000000]\n"
            f"Hobb took nothing [{second}]"
        )

    room = Room(tmp_path, tale(), ScriptedChat(reply))
    [told] = await room.told([("recap", "")], tale().text.index("It was Hobb"))
    assert isinstance(told, Told)
    assert told.text == "Marta came (p. 1)\n\nHobb took nothing (p. 1)"


@pytest.mark.parametrize(
    "reply",
    [
        LLMError(LLMErrorCode.OVERLOADED, "The model is overloaded."),
        "",
        "Nothing of this has a key. I know the book by heart: Lucian drowned.",
    ],
    ids=["away", "silent", "from memory"],
)
async def test_where_the_model_fails_the_book_speaks_and_says_why(tmp_path: Path, reply: Reply) -> None:
    read_to = tale().text.index("It was Hobb")
    work = [("recap", ""), ("discuss", ""), ("who", "Marta")]
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    with_model = await Room(tmp_path / "with", tale(), ScriptedChat(reply)).told(work, read_to)
    without = await Room(tmp_path / "without", tale(), None).told(work, read_to)
    for told, plain in zip(with_model, without, strict=True):
        assert isinstance(told, Told | Discussion)
        assert isinstance(plain, Told | Discussion)
        assert told.trouble
        assert told.trouble.message.endswith(".")
        assert _words(told) == _words(plain)


def _words(told: Told | Discussion) -> str:
    return told.text if isinstance(told, Told) else told.text()


async def test_a_model_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    model = ScriptedChat("x")
    model.hold = asyncio.Event()
    [told] = await Room(tmp_path, tale(), model, seconds=0.05).told([("who", "Marta")], 400)
    assert isinstance(told, Told)
    assert told.trouble
    assert told.trouble.code is LLMErrorCode.TIMEOUT
    assert "Marta" in told.text
