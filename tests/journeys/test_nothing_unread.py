"""Nothing unread leaves the house: two books that are the same up to where a reader is, and differ beyond, are the same
book to the model and on every screen, byte for byte.

The books differ beyond the bound in text, titles, pages, chapters and lengths. The model of these tests calls every
tool, with whatever arguments, cites and quotes what it is given, and writes its summaries from what it is shown.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import domain.library.summaries as pieces_module
import domain.library.summaries as summaries_module
from bot.app import SAMPLE
from bot.cli.search import passage_fields
from bot.mcp.books import OpenBooks
from bot.mcp.features import tools_of
from domain.book import PositionState, ReadingPosition
from domain.chat import PromptMessage
from domain.citations.keys import KEY_IN_GROUP, key_of
from domain.errors import MarginaliaError
from domain.event import ToolCallFinished, TurnEvent, UsageReported
from domain.library.progress import ManagePositions
from domain.library.shelf import Bookshelf
from domain.ports import BookParser
from domain.tool_use import ChatResponse, TokenUsage, ToolInvocation
from domain.tools.registry import as_result
from storage.book_files.files import SQLiteBookFiles
from tests.doubles.scripted_chat import Reply, ScriptedChat, call, calls
from tests.journeys.book_pairs import READ_WORDS, UNREAD_WORDS, Pair, Unread, pairs
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room, shared_bounds
from tests.sampling import a_few

GREETING = "Ann kept the lamp of the island."

words = st.sampled_from([*READ_WORDS, *UNREAD_WORDS, "lamps", "Marta", "?", "灯台"])
phrases = st.lists(words, min_size=1, max_size=6).map(" ".join)
numbers = st.integers(-1, 12)
labels = st.one_of(numbers.map(str), st.sampled_from(["xii", "9999", "page 2", ""]))
places = st.tuples(st.integers(0, 300), st.integers(0, 300)).map(lambda span: f"passage-{span[0]}-{span[1]}")
invocations = st.one_of(
    st.builds(
        lambda query, also, top_k: call("search_book", query=query, also=also, top_k=top_k),
        phrases,
        st.lists(phrases, max_size=2),
        numbers,
    ),
    st.builds(lambda first, last: call("read_pages", **{"from": first, "to": last}), labels, labels),
    st.builds(
        lambda place, before, after: call("read_around", passage=place, before=before, after=after),
        places,
        numbers,
        numbers,
    ),
    st.just(call("table_of_contents")),
    st.builds(lambda text: call("find_phrase", text=text), phrases),
    st.builds(lambda term: call("count_mentions", term=term), phrases),
    st.just(call("story_so_far")),
    st.builds(lambda chapter: call("story_so_far", chapter=chapter), numbers),
    st.builds(lambda name: call("who_is", name=name), phrases),
    st.just(call("who_is")),
    st.builds(lambda chapter: call("who_is", chapter=chapter), numbers),
    st.builds(lambda page: call("propose_position", page=page), labels),
    st.builds(lambda name: call(name, nonsense=1), st.sampled_from(["search_book", "who_is", "no_such_tool"])),
)
EVERY_TOOL = (
    call("search_book", query="Who kept the lamp?", also=["Lucian drowned"], top_k=20),
    call("read_pages", **{"from": "1", "to": "9999"}),
    call("table_of_contents"),
    call("find_phrase", text="Ann kept the lamp of the night"),
    call("count_mentions", term="Ann"),
    call("story_so_far"),
    call("who_is", name="Ann"),
    call("who_is"),
)


class Model:
    """Calls what it is told to, one call after another, then answers with what it was given."""

    def __init__(self, invocations: Sequence[ToolInvocation]) -> None:
        self._invocations = invocations

    def __call__(self, messages: Sequence[PromptMessage]) -> Reply:
        if messages[0].role != "system":
            return self._summary(messages[0].content)
        asked = max(at for at, message in enumerate(messages) if message.role == "user")
        done = sum(bool(message.tool_invocations) for message in messages[asked:])
        if done < len(self._invocations):
            return calls(replace(self._invocations[done], tool_use_id=f"t{done}"), preamble="Let me look.")
        given = [sentence for m in messages for passage in m.passages for sentence in passage.sentences]
        cited = " ".join(f"“{' '.join(s.text.split())}” [{key_of(s)}] (p. 2)." for s in given[:3])
        return ChatResponse(text=f"It is so. {cited} On page 3, more of it.", usage=TokenUsage(10, 3))

    def _summary(self, prompt: str) -> Reply:
        keys = KEY_IN_GROUP.findall(prompt.split("[s-5d6e7f8]")[-1])
        told = " ".join(re.sub(r"\[s-\w+\]", "", prompt.split("[s-5d6e7f8]")[-1]).split()[:9])
        return ChatResponse(text=f"{told}. [{keys[0]}]", usage=TokenUsage(7, 2))


async def seen(pair: Pair, which: int, wild: Sequence[ToolInvocation], folder: Path) -> list[str]:
    """All that leaves for the model and for screens, from the moment on at which the reader is at the bound."""
    provider = ScriptedChat(Model(EVERY_TOOL))
    async with reading_room(folder, provider, text=pair.book(which), max_rounds=20) as room:
        talk = await room.talk(BEN)
        await room.ask(talk, GREETING, BEN)  # the whole book is open: all of it is looked at, summarised and kept
        provider.requests.clear()
        provider.say(Model((*EVERY_TOOL, *wild)))
        bound = ReadingPosition(PositionState.READING, pair.read_to)
        await room.storage.readers.set_position(BEN.id, room.book.id, bound)
        told = [*await room.ask(talk, "What do we know?", BEN), *await room.ask(talk, "And now?", BEN)]
        for request in provider.requests:
            assert request[0].role == "system" or _is_of_the_read(request[0].content, pair)
        return [
            *(repr(request) for request in provider.requests if request[0].role == "system"),
            *(_shown(event) for event in told if not isinstance(event, UsageReported)),
            (await room.manage.get(talk.id)).title,
            *await _looked_up(room, pair, folder),
        ]


def _is_of_the_read(prompt: str, pair: Pair) -> bool:
    """Whether a request for a summary holds sentences of the read part alone. Which summaries are asked for depends on
    those that are kept already, and so may differ."""
    given = re.findall(r"^\[s-[0-9a-f]{7}\] (.+)$", prompt, re.MULTILINE)
    read = " ".join(pair.read.split())
    return bool(given) and all(sentence in read for sentence in given)


def _shown(event: TurnEvent) -> str:
    """The event without what differs from run to run, and without a call's arguments: what the model makes up by itself
    is held against the unread text and covered; nothing else depends on it."""
    fields = asdict(event)
    for name in ("turn_id", "milliseconds", "messages", "arguments"):
        fields.pop(name, None)
    return f"{type(event).__name__} {fields}"


async def _looked_up(room: ReadingRoom, pair: Pair, folder: Path) -> list[str]:
    """The other ways to the book: search as JSON, the position told, orders refused, other programs by MCP."""
    files = SQLiteBookFiles(folder / "books")
    shelf = Bookshelf(
        parser=cast(BookParser, None), files=files, books=room.storage.books, clock=lambda: datetime.now(UTC)
    )
    view = room.file.view(pair.read_to)
    manage = ManagePositions(readers=room.storage.readers, files=files, bounds=shared_bounds(room.storage))
    hits = await view.search(["lamp", "Lucian Orchard", "murder"], 20)
    found = [await passage_fields(hit, view) for hit in hits]
    books = OpenBooks(shelf=shelf, readers=room.storage.readers, reader_id=BEN.id)
    dispatch = tools_of(books).build_dispatcher()
    by_mcp = [await dispatch(each.tool_name, {"book": "Lamps", **each.arguments}) for each in EVERY_TOOL]
    by_mcp.append(await dispatch("list_books", {}))
    # "page 9999" is not among them: it is answered with the number of pages, which the library card shows to everybody.
    refused = [await _refusal(manage, room, order) for order in ("chapter 9999", "chapter murder most foul")]
    return [repr(found), repr(by_mcp), *refused, await manage.describe(BEN.id, room.book)]


async def _refusal(manage: ManagePositions, room: ReadingRoom, order: str) -> str:
    with pytest.raises(MarginaliaError) as caught:
        await manage.follow(ANN.id, room.book, order)
    return caught.value.message


@settings(
    max_examples=settings().max_examples // 6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # making an example smaller takes minutes here
)
@given(pair=pairs(), wild=st.lists(invocations, min_size=1, max_size=8))
async def test_changing_the_unread_changes_no_byte_of_what_leaves(pair: Pair, wild: list[ToolInvocation]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(pieces_module, "PIECE_WORDS", 40)
        patch.setattr(summaries_module, "SHORTEST", 5)
        both = [Path(folder) / name for name in ("one", "two")]
        for each in both:
            each.mkdir()
        one, two = [await seen(pair, which, wild, each) for which, each in enumerate(both)]
    assert not _first_difference(one, two)


@pytest.mark.parametrize("share", a_few([0.61, 0.2], 1))
async def test_it_holds_in_a_real_novel_whose_rest_is_another(tmp_path: Path, share: float) -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    cut = round(len(text) * share)
    heads = [head for head in re.finditer(r"^#+ (.+)$", text, re.MULTILINE) if head.start() < cut]
    rest = (Unread(text[cut:], 3, 9), Unread(f"{text[cut : cut + 7]}. The murderer was Lucian Drowned! " * 90, 1, 2))
    pair = Pair(text[:cut], tuple(head[0] for head in heads), tuple(head.start() for head in heads), 1_500, rest)
    wild = [
        call("search_book", query="Who is guilty, and of what?", also=["Prudence Ferrier", "Edwin Orchard"], top_k=20),
        call("find_phrase", text="the paper was made before it was written on"),
        call("count_mentions", term="Orchard"),
        call("count_mentions", term="the"),
        call("who_is", name="Ferrier"),
        call("who_is"),
        call("who_is", chapter="9"),
        call("read_pages", **{"from": "9", "to": "9999"}),
        call("story_so_far", chapter=9),
        call("story_so_far", chapter=99),
    ]
    both = []
    for which in (0, 1):
        folder = tmp_path / str(which)
        folder.mkdir()
        both.append(await seen(pair, which, wild, folder))
    assert not _first_difference(*both)


def _first_difference(one: Sequence[str], two: Sequence[str]) -> str:
    """What leaves in one book and not in the other, short enough to be read; empty where all is the same."""
    for left, right in zip_longest(one, two, fillvalue=""):
        if left != right:
            at = next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)
            start = max(at - 200, 0)
            return f"…{left[start : at + 200]}…\n…{right[start : at + 200]}…"
    return ""


async def test_the_test_would_notice(tmp_path: Path) -> None:
    """A reader without a bound is shown the difference."""
    pair = Pair("Ann kept the lamp. ", (), (), 40, (Unread("Lucian drowned.", 0, 0), Unread("Orchard lived.", 0, 0)))
    shown = []
    for which in (0, 1):
        folder = tmp_path / str(which)
        folder.mkdir()
        provider = ScriptedChat(Model(EVERY_TOOL))
        async with reading_room(folder, provider, text=pair.book(which), max_rounds=20) as room:
            events = await room.ask(await room.talk(), "What do we know?")
            shown.append([_shown(event) for event in events])
            results = [as_result(e.content) for e in events if isinstance(e, ToolCallFinished)]
            assert len(results) == len(EVERY_TOOL)
            assert not any(result.is_error for result in results)
    assert shown[0] != shown[1]
    assert "Lucian" in "".join(shown[0])
