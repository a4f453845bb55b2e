"""One question to a model, apart from the talk with readers: by the fluent interface, as any script would put it."""

from collections.abc import Awaitable, Callable

from bot.fluent import llm
from domain.errors import LLMError, LLMErrorCode
from domain.event import UsageReported
from domain.ports import ChatProvider

_NOTHING_SAID = frozenset({LLMErrorCode.REFUSED, LLMErrorCode.EMPTY_REPLY})


async def ask_aside(
    chat_provider: ChatProvider, spent: Callable[[UsageReported], Awaitable[None]], question: str, /
) -> str:
    """As AskAside says."""
    try:
        messages, _ = await llm().provider(chat_provider).on_usage(spent).prompt_conversation(question)
    except LLMError as error:
        if error.code in _NOTHING_SAID:
            return ""
        raise
    return str(messages[-1])
