"""One package per model provider: domain messages to the wire and back."""
