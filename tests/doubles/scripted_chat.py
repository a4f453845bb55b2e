"""A model that says what a test tells it to say, and remembers what it was asked."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from domain.chat import PromptMessage
from domain.errors import LLMError
from domain.tool_use import ChatResponse, ProviderEvent, TextBlockEnd, TextChunk, ToolDefinition, ToolInvocation

Reply = ChatResponse | LLMError | str | Sequence[ProviderEvent] | Callable[[Sequence[PromptMessage]], "Reply"]
"""An answer in words, a response, an error, a whole stream, or a function of the request that gives one of these."""


class ScriptedChat:
    """A ChatProvider whose replies are given beforehand; the last one is repeated for ever."""

    name = "scripted"
    model_name = "scripted-1"

    def __init__(self, *replies: Reply, supports_tools: bool = True) -> None:
        self._replies = list(replies)
        self.supports_tools = supports_tools
        self.requests: list[list[PromptMessage]] = []
        self.allowed_calls: list[bool] = []
        self.hold: asyncio.Event | None = None
        """While set to an Event, streams stop after their first piece until the event is set."""

    def say(self, *replies: Reply) -> None:
        """Replace what is left of the script."""
        self._replies = list(replies)

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return (await self.chat_with_tools(messages, ())).text or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        async for event in self.stream(messages, tools):
            if isinstance(event, ChatResponse):
                return event
        raise AssertionError("a stream ends in a ChatResponse")

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        self.requests.append(list(messages))
        self.allowed_calls.append(bool(tools) and call_tools)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        while callable(reply):
            reply = reply(messages)
        if isinstance(reply, LLMError):
            raise reply
        for event in _events(reply):
            yield event
            if self.hold is not None:
                await self.hold.wait()

    async def check(self) -> str:
        return "ok"

    async def aclose(self) -> None:
        return None


def call(name: str, /, tool_use_id: str = "", **arguments: object) -> ToolInvocation:
    return ToolInvocation(name, dict(arguments), tool_use_id)


def calls(*invocations: ToolInvocation, preamble: str = "") -> ChatResponse:
    return ChatResponse(tool_invocations=invocations, preamble=preamble)


def _events(reply: object) -> list[ProviderEvent]:
    if isinstance(reply, str):
        words = [word + " " for word in reply.split(" ")]
        words[-1:] = [words[-1][:-1]]
        return [*map(TextChunk, words), TextBlockEnd(), ChatResponse(text=reply)]
    if isinstance(reply, ChatResponse):
        text = reply.text or reply.preamble
        said: list[ProviderEvent] = [TextChunk(text), TextBlockEnd()] if text else []
        return [*said, reply]
    assert isinstance(reply, Sequence)
    return list(reply)
