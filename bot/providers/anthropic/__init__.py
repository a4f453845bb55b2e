"""Claude over Anthropic's Messages API."""
