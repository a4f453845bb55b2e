"""Tools that come and go between the messages of a conversation, as those of a server do that is started late."""

from pathlib import Path
from typing import Any

from bot.providers.anthropic.client import AnthropicChat
from bot.tools.book import book_toolbox
from domain.event import Answer
from domain.ports import BookView
from domain.tool_use import ToolDefinition
from domain.tools.registry import NO_CONTEXT, ToolContext, ToolRegistry
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Json, Reply, Thinking
from tests.journeys.reading_room import reading_room

TIDES = ToolDefinition("harbour_tides", "Tell the tides.", {"type": "object", "properties": {}})


async def test_a_conversation_learns_of_tools_that_come_and_forgets_those_that_go(tmp_path: Path) -> None:
    harbour_is_up = False

    def toolbox(view: BookView, context: ToolContext = NO_CONTEXT, /) -> ToolRegistry:
        registry = book_toolbox(view, context)
        if harbour_is_up:
            registry.register(TIDES, _tides)
        return registry

    async with AnthropicDouble(_thinking) as api:
        provider = AnthropicChat(api_key=api.api_key, base_url=api.base_url, max_retries=0)
        async with reading_room(tmp_path, provider, toolbox=toolbox) as room:
            talk = await room.talk()
            offered = []
            for is_up in (False, False, True, True, False):
                harbour_is_up = is_up
                asked = len(api.requests)
                current = await room.manage.get(talk.id)
                event = (await room.ask(current, "Who put out the lamp?"))[-1]
                assert isinstance(event, Answer), "signed thinking from before the change is no obstacle"
                offered += [[tool["name"] for tool in request["tools"]] for request in api.requests[asked:]]
        await provider.aclose()
    assert ["harbour_tides" in names for names in offered[::2]] == [False, False, True, True, False]
    prefixes = [str(request["system"]) + str(request["tools"]) for request in api.requests]
    assert len(set(prefixes)) == 2, "nothing else of the prefix changes"


def _thinking(body: Json) -> Reply:
    return Reply((Thinking("hm"), *honest_reply(prompt_of(body)).parts))


async def _tides(args: dict[str, Any]) -> str:
    return '{"high": "06:40"}'
