"""What the bot asks of a model apart from a talk: one way for queries, summaries and titles, and all of it booked."""

import pytest

from domain.errors import LLMError, LLMErrorCode
from domain.strategies.window import complete_once
from domain.tool_use import ChatResponse, RequestUsage, StopReason, TextChunk, TokenUsage
from tests.doubles.scripted_chat import Reply, ScriptedChat

SPENT = TokenUsage(100, 5)


async def asked(*replies: Reply) -> tuple[str, list[RequestUsage]]:
    booked: list[RequestUsage] = []

    async def book(spent: RequestUsage) -> None:
        booked.append(spent)

    return await complete_once(ScriptedChat(*replies), book, "A title, please."), booked


async def test_the_answer_comes_back_and_its_tokens_are_told() -> None:
    answer, booked = await asked(ChatResponse(text="The White Rabbit", usage=SPENT))
    assert answer == "The White Rabbit"
    assert [(each.model, each.usage, each.is_open) for each in booked] == [("scripted-1", SPENT, False)]


@pytest.mark.parametrize("reason", [StopReason.REFUSAL, StopReason.END_TURN])
async def test_a_refusal_or_an_empty_reply_is_an_empty_answer_that_was_paid_for(reason: StopReason) -> None:
    answer, booked = await asked(ChatResponse(text="", usage=SPENT, stop_reason=reason))
    assert answer == ""
    assert booked
    assert all(each.usage == SPENT for each in booked)


async def test_a_model_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(LLMError) as caught:
        await asked(LLMError(LLMErrorCode.CONNECTION_LOST, "The line broke."))
    assert caught.value.code is LLMErrorCode.CONNECTION_LOST


async def test_a_reply_that_would_not_come_to_an_end_is_left() -> None:
    answer, _ = await asked([*[TextChunk("The Lamp, ")] * 9_000, ChatResponse(text="The Lamp, " * 9_000)])
    assert 4_000 <= len(answer) < 5_000
