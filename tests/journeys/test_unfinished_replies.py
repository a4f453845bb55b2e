"""Replies that never end cost tokens all the same, on the wire."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.app import SAMPLE, open_app
from bot.settings import Settings
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, TextDelta
from domain.tool_use import TokenUsage
from domain.turn.chat_with_book import Reader
from tests.doubles import anthropic_api, openai_api
from tests.doubles.script import Failure, Fault, say

ANN = Reader("ann", "Ann")
LONG = "Nobody put out the lamp that night, as far as anybody on the island knows. " * 20
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_what_an_unfinished_reply_has_used_is_estimated_and_counts(tmp_path: Path, provider: str) -> None:
    double: Any = anthropic_api.AnthropicDouble() if provider == "anthropic" else openai_api.OpenAIDouble()
    model = "claude-sonnet-5-5" if provider == "anthropic" else double.model
    async with double:
        address = {f"{provider}_api_key": double.api_key, f"{provider}_base_url": double.base_url}
        settings = Settings(  # type: ignore[call-arg]
            _env_file=None,
            data_dir=tmp_path,
            llm_provider=provider,  # type: ignore[arg-type]
            llm_model=model,
            llm_context_tokens=200_000,
            daily_tokens_per_user=10_000,
            **address,
        )
        async with open_app(settings) as app:
            book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)).book
            talk = await app.conversations.create(book.id, owner_id=ANN.id)

            async def used() -> tuple[int, TokenUsage]:
                total = await app.people.usage(ANN.id, MIDNIGHT)
                return total.requests, total.usage

            async def code_of_failure() -> str:
                with pytest.raises(LLMError) as failure:
                    await app.chat.execute(talk.id, "Who put out the lamp?", ANN)
                return failure.value.code

            # once more without the fields it can do without, and once without tools
            double.script(*[Failure(400)] * (3 if provider == "openai" else 1))
            assert await code_of_failure() == LLMErrorCode.API_CALL_FAILED
            assert await used() == (0, TokenUsage()), "a refused request costs nothing"

            double.script(say(LONG, fault=Fault.EARLY_END))
            assert await code_of_failure() == LLMErrorCode.CONNECTION_LOST
            requests, cut = await used()
            assert requests == 1
            assert cut.estimated
            assert cut.input_tokens > 1_000
            assert 150 < cut.output_tokens < 600

            double.script(say(LONG, fault=Fault.STALL))
            await app.chat.receive(talk.id, "Who put out the lamp?", ANN)
            async for event in app.chat.answer(talk.id):
                if isinstance(event, TextDelta):
                    app.chat.stop(talk.id)
                if isinstance(event, Answer):
                    assert event.stopped
            requests, stopped = await used()
            assert requests == 2
            assert stopped.input_tokens > 2 * 1_000
            assert stopped.output_tokens > cut.output_tokens

            double.script(Failure(503), say("Hobb did."))
            await app.chat.execute(talk.id, "Who put out the lamp?", ANN)
            assert (await used())[0] == 3, "a request that was sent twice counts once"

            for _ in range(5):
                double.script(say(LONG, fault=Fault.EARLY_END))
                asked, code = len(double.requests), await code_of_failure()
                if code == LLMErrorCode.DAILY_LIMIT:
                    break
            total = (await used())[1]
            assert code == LLMErrorCode.DAILY_LIMIT
            assert total.input_tokens + total.output_tokens >= 10_000
            assert len(double.requests) == asked


async def test_a_reply_that_was_left_because_it_would_not_end_is_kept_and_counts(tmp_path: Path) -> None:
    async with openai_api.OpenAIDouble() as double:
        settings = Settings(  # type: ignore[call-arg]
            _env_file=None,
            data_dir=tmp_path,
            llm_provider="openai",
            llm_model=double.model,
            openai_api_key=double.api_key,
            openai_base_url=double.base_url,
        )
        async with open_app(settings) as app:
            book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)).book
            talk = await app.conversations.create(book.id, owner_id=ANN.id)
            double.script(say("It is dark. " * 20_000, fault=Fault.STALL))
            await app.chat.receive(talk.id, "Who put out the lamp?", ANN)
            answer = [event async for event in app.chat.answer(talk.id)][-1]
            assert isinstance(answer, Answer)
            assert answer.cut
            assert len(answer.text) < 5_000
            usage = (await app.people.usage(ANN.id, MIDNIGHT)).usage
            assert usage.estimated
            assert usage.output_tokens > 1_000
