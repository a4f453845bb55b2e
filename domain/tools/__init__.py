"""The registry of tools, the cache of their results, and what a turn provides to them."""
