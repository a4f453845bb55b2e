"""A single question to a model outside a turn: a search query, a summary, a title."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import UsageReported
from domain.ports import ChatProvider
from domain.tool_use import ChatResponse, StopReason


async def complete_once(
    chat_provider: ChatProvider,
    spent: Callable[[UsageReported], Awaitable[None]],
    question: str,
    /,
    *,
    kind: PromptKind = PromptKind.TALK,
    data: Mapping[str, Any] | None = None,
) -> str:
    """The model's reply in words; blank where it declines or has nothing to say. `spent` is told what it used.

    `kind` and `data` are those of PromptMessage.

    Raises:
        LLMError: there was no reply; CONTEXT_EXCEEDED where the question does not fit the model's window.
    """
    response = ChatResponse(text="")
    prompt = PromptMessage(MessageRole.USER, question, kind=kind, data=data)
    async with aclosing(chat_provider.stream([prompt])) as stream:
        async for event in stream:
            if isinstance(event, ChatResponse):
                response = event
    if response.usage:
        await spent(UsageReported(response.usage, chat_provider.model_name))
    if response.stop_reason is StopReason.CONTEXT_EXCEEDED:
        raise LLMError(LLMErrorCode.CONTEXT_EXCEEDED, "This is too long for the model.")
    return "" if response.stop_reason is StopReason.REFUSAL else response.text or ""
