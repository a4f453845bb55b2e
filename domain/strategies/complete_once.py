"""A single question to a model outside a turn: a search query, a summary, a title."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from domain.chat import MessageRole, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import UsageReported
from domain.ports import ChatProvider
from domain.tool_use import ChatResponse, StopReason


async def complete_once(
    chat_provider: ChatProvider, spent: Callable[[UsageReported], Awaitable[None]], question: str, /
) -> str:
    """The model's reply in words; blank where it declines or has nothing to say. `spent` is told what it used.

    Raises:
        LLMError: there was no reply; CONTEXT_EXCEEDED where the question does not fit the model's window.
    """
    response = ChatResponse(text="")
    async with aclosing(chat_provider.stream([PromptMessage(MessageRole.USER, question)])) as stream:
        async for event in stream:
            if isinstance(event, ChatResponse):
                response = event
    if response.usage:
        await spent(UsageReported(response.usage, chat_provider.model_name))
    if response.stop_reason is StopReason.CONTEXT_EXCEEDED:
        raise LLMError(LLMErrorCode.CONTEXT_EXCEEDED, "This is too long for the model.")
    return "" if response.stop_reason is StopReason.REFUSAL else response.text or ""
