"""From the sources a model names to page references that code has verified."""
