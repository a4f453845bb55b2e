"""What a request cost, by the prices that the genai-prices package keeps."""

from domain.tool_use import TokenUsage

MICRODOLLARS = 1_000_000


def cost_in_microdollars(provider: str, model: str, usage: TokenUsage) -> int | None:
    """The price of one request in millionths of a US dollar, or None where nobody knows the model's price."""
    if provider == "extractive":
        return 0
    from genai_prices import Usage, calc_price  # 3 MB of prices: not for those who never pay

    tokens = Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        price = calc_price(tokens, model_ref=model, provider_id="anthropic" if provider == "anthropic" else None)
    except LookupError:
        return None
    return round(price.total_price * MICRODOLLARS)
