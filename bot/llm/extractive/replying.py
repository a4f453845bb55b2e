"""One reply of the built-in answerer: the calls it wants made, or its answer."""

from collections.abc import Sequence

from bot.llm.extractive.answering import answer_to
from bot.llm.extractive.choice import Choices
from bot.llm.extractive.headlines import written_for
from bot.llm.extractive.offered import OfferedTools
from bot.llm.extractive.planning import next_calls
from bot.llm.extractive.transcript import transcribe
from bot.llm.extractive.wishes import wishes_of
from domain.chat import PromptMessage
from domain.tool_use import ChatResponse, ToolDefinition


def reply_to(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """What to say to these messages; it depends on nothing else."""
    written = written_for(messages[-1].content) if messages and messages[-1].role == "user" else None
    if written is not None:
        return ChatResponse(text=written)
    transcript = transcribe(messages)
    wishes = wishes_of(transcript)
    choices = Choices(transcript, questions=len(wishes))
    calls = next_calls(wishes, choices, OfferedTools(tools, seed=f"{len(messages)} {transcript.asked}"))
    return ChatResponse(tool_invocations=calls) if calls else ChatResponse(text=answer_to(wishes, choices))
