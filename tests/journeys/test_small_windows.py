"""A long conversation with a model of a small context window, on the wire."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.app import SAMPLE, open_app
from bot.settings import Settings
from tests.doubles import anthropic_api, openai_api
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Failure, Json, Step, say

WINDOW = 4_096
TURNS = 13
TOO_LONG = {
    "anthropic": ("invalid_request_error", f"prompt is too long: 5000 tokens > {WINDOW} maximum"),
    "openai": ("context_length_exceeded", f"This model's maximum context length is {WINDOW} tokens."),
}
Pieces = list[str]


def pieces(body: Json) -> Pieces:
    """What a prompt cache compares: tools, system text, and the messages one by one."""
    parts = [body.get("tools"), body.get("system"), *body["messages"]]
    return [json.dumps(part, ensure_ascii=False, sort_keys=True) for part in parts]


def cached(request: Pieces, earlier: list[Pieces]) -> int:
    """The characters with which a request begins like an earlier one."""
    return max((sum(map(len, _same(request, each))) for each in earlier), default=0)


def _same(request: Pieces, earlier: Pieces) -> Pieces:
    differs = (at for at, (a, b) in enumerate(zip(request, earlier, strict=False)) if a != b)
    return request[: next(differs, min(len(request), len(earlier)))]


def is_of_the_talk(body: Json) -> bool:
    """Whether it is no question on the side, such as the one for a search query."""
    return bool(body.get("system")) or body["messages"][0]["role"] == "system"


@pytest.mark.parametrize(
    ("provider", "has_tools", "least_cached"),
    [
        ("anthropic", True, 85),
        ("openai", False, 80),  # the query is asked for first, where the conversation ends
    ],
)
async def test_a_conversation_goes_on_for_ever(
    tmp_path: Path, provider: str, has_tools: bool, least_cached: int
) -> None:
    refused: list[Json] = []
    accepted: list[Json] = []

    def reply(body: Json) -> Step:
        if len("".join(pieces(body))) / 4 > WINDOW:
            refused.append(body)
            return Failure(400, *TOO_LONG[provider])
        accepted.append(body)
        if not body.get("tools"):
            return say("Nobody put out the lamp that night, as far as anybody on the island knows. " * 2)
        return honest_reply((anthropic_api if provider == "anthropic" else openai_api).prompt_of(body))

    if provider == "anthropic":
        double: Any = anthropic_api.AnthropicDouble(reply)
        model = "claude-sonnet-5-5"
    else:
        double = openai_api.OpenAIDouble(reply, knows_tools=has_tools)
        model = double.model
    async with double:
        address = {f"{provider}_api_key": double.api_key, f"{provider}_base_url": double.base_url}
        settings = Settings(_env_file=None, data_dir=tmp_path, llm_provider=provider, llm_model=model, **address)  # type: ignore[call-arg, arg-type]
        async with open_app(settings) as app:
            book = (await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name)).book
            talk = await app.conversations.create(book.id, owner_id="ann")
            sent = kept = 0
            for number in range(TURNS):
                earlier, at = [pieces(each) for each in accepted[-12:]], len(accepted)
                asked = f"What did the keeper do with the lamp in the tower in night {number}?"
                assert await app.chat.execute(talk.id, asked)
                assert all(asked in "".join(pieces(body)) for body in [*accepted[at:], *refused])
                refused.clear()
                first = next(pieces(each) for each in accepted[at:] if is_of_the_talk(each))
                if number:
                    sent, kept = sent + sum(map(len, first)), kept + cached(first, earlier)
    assert 100 * kept / sent >= least_cached
