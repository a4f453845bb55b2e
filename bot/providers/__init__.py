"""One package per model provider: domain messages to the provider's API and back."""
