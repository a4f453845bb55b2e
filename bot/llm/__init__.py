"""One file per language-model provider: domain messages to the wire and back."""
