"""A model that knows the book by heart, at the end of a real line: the reader is told nothing they have not read."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.script import Call, Cite, Json, Reply, Stop, Text
from tests.journeys.reading_room import TALE
from tests.journeys.terminal import Terminal

PAGE = "10"
LATER = ("Orchard", "Prudence", "Bessie")
"""Names that first stand far behind page 10."""


@pytest.fixture
async def api() -> AsyncIterator[AnthropicDouble]:
    async with AnthropicDouble(handler=telltale) as double:
        yield double


def given_in(body: Json) -> list[Json]:
    """The blocks of all tool results of a request; an error has only words of the model's own."""
    spoken = [message["content"] for message in body["messages"]]
    parts = [part for content in spoken if isinstance(content, list) for part in content]
    contents = [part["content"] for part in parts if part["type"] == "tool_result" and not part.get("is_error")]
    return [
        block
        for content in contents
        for block in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]


def telltale(body: Json) -> Reply:
    """Searches for what it should not know, then tells it in every way it can, and cites what it was never given."""
    results = [block for block in given_in(body) if block["type"] == "search_result"]
    if "tools" not in body:
        return Reply((Text("Prudence Ferrier and Mr Orchard"),))
    if not results:
        calls = (
            Call("search_book", {"query": "edwin orchard and the bindery", "also": ["Prudence Ferrier"]}),
            Call("story_so_far", {"chapter": "What Orchard Burnt"}),
            Call("read_pages", {"from": "Prudence"}),
            Call("who_is", {"name": "Bessie Nunn"}),
        )
        return Reply((Text("Let me see what Bessie did. "), *calls), stop=Stop.TOOLS)
    first = next(result for result in results if result["source"].startswith("passage"))
    told = (
        Text("It begins so.", (Cite(first["source"], 0, 1),)),
        Text(" It was Edwin Orch"),
        Text("ard, on page 99. "),
        Text("Prudence’s mother knew (p. 87).\n\n```\nBessie Nunn did it.\n```\n\n| Who |\n|---|\n| Orchard |\n\n"),
        Text("As it says: “Orchard had burnt the letters himself”, and _Prudence_ wept. That is all."),
    )
    return Reply(told)


@pytest.mark.parametrize("mode", ["--verbose", "--json"])
async def test_names_from_later_are_on_no_screen_and_in_no_request(
    api: AnthropicDouble, tmp_path: Path, mode: str
) -> None:
    terminal = Terminal(tmp_path)
    line = {"LLM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": api.api_key, "ANTHROPIC_BASE_URL": api.base_url}
    ran = await terminal.run("chat", "--new", "--page", PAGE, mode, stdin="Who did it?\nWhat happens next?\n", **line)
    assert ran.code == 0, ran.err
    for name in LATER:
        assert name.casefold() not in (ran.out + ran.err).casefold()
    assert "hidden" in ran.out
    assert "It begins so. (" in ran.out
    assert "That is all." in ran.out
    assert not re.search(r"p(?:age|\.) ?(?:99|87)", ran.out)
    given = [block for request in api.requests for block in given_in(request)]
    texts = [part["text"] for block in given for part in (block.get("content") or [block])]
    assert len(texts) > 10
    assert not any(name in text for text in texts for name in LATER)


async def test_sentences_that_the_built_in_answerer_says_of_any_book_are_not_hidden(tmp_path: Path) -> None:
    """They may stand in the book, word for word and further on."""
    said = "“I found nothing about that in what you have read so far,” said the clerk."
    terminal = Terminal(tmp_path)
    terminal.write("tale.txt", f"{TALE}\n\n\nCHAPTER 4\n\n{said}")
    line = {"LLM_PROVIDER": "extractive"}
    ran = await terminal.run("chat", "tale.txt", "--new", "--chapter", "1", stdin="Who is Lucian?\n", **line)
    assert "I found nothing about Lucian in what you have read so far." in ran.out
