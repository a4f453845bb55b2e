"""Models behind a chat completions API."""
