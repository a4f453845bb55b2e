"""Rounds of calls and results, whole."""

from collections.abc import Iterable, Iterator

from domain.chat import MessageRole, PromptMessage

_INTERRUPTED = "This call was interrupted before anything came of it."


def with_every_call_answered(messages: Iterable[PromptMessage]) -> Iterator[PromptMessage]:
    """The messages, with an error in place of each result that is missing.

    Services refuse a history in which a call has no result, whatever became of it.
    """
    open_calls: list[str] = []
    for message in messages:
        if message.role == MessageRole.TOOL_RESULT:
            open_calls = [name for name in open_calls if name != message.tool_use_id]
        else:
            yield from _interrupted(open_calls)
            open_calls = [call.tool_use_id for call in message.tool_invocations or ()]
        yield message
    yield from _interrupted(open_calls)


def _interrupted(open_calls: Iterable[str]) -> Iterator[PromptMessage]:
    for name in open_calls:
        yield PromptMessage(MessageRole.TOOL_RESULT, _INTERRUPTED, tool_use_id=name, is_error=True)
