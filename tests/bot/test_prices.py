"""What a request costs is what the price list's own sum says, for every model of the list."""

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

from bot.app import cost_in_microdollars
from domain.tool_use import TokenUsage

USAGE = TokenUsage(input_tokens=250_000, output_tokens=5_000, cache_read_tokens=90_000, cache_write_tokens=70_000)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_request_costs_what_the_price_list_says(provider: str) -> None:
    [listed] = [each for each in get_snapshot().providers if each.id == provider]
    costs = 0
    for model in listed.models:
        tokens = Usage(
            input_tokens=USAGE.input_tokens,
            output_tokens=USAGE.output_tokens,
            cache_read_tokens=USAGE.cache_read_tokens,
            cache_write_tokens=USAGE.cache_write_tokens,
        )
        try:
            named = provider if provider == "anthropic" else None
            expected = round(calc_price(tokens, model.id, provider_id=named).total_price * 1_000_000)
        except LookupError:
            expected = None
        assert cost_in_microdollars(provider, model.id, USAGE) == expected, model.id
        costs += expected is not None
    assert costs > 3


def test_nobody_knows_the_price_of_a_model_that_is_not_listed() -> None:
    assert cost_in_microdollars("openai", "my-own-model", USAGE) is None
    assert cost_in_microdollars("extractive", "quotes", USAGE) == 0
