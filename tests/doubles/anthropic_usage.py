"""Token counts and a prompt cache as Anthropic's API keeps one, at four characters a token."""

import hashlib
import json
from collections.abc import Iterator

from tests.doubles.anthropic_rules import search_results, unmarked
from tests.doubles.script import Json

MIN_CACHEABLE = 512


class PromptCache:
    """Remembers the prefixes it was asked to keep; entries never expire."""

    def __init__(self) -> None:
        self._kept: set[str] = set()

    def usage(self, body: Json, messages: list[Json]) -> dict[str, int]:
        """The usage of a request, as it stands in `message_start`."""
        read = written = total = 0
        for key, tokens, marked in _prefixes(body, messages):
            total = tokens
            if key in self._kept:
                read = tokens
            elif marked and tokens >= MIN_CACHEABLE:
                written = tokens - read
                self._kept.add(key)
        return {
            "input_tokens": total - read - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": 1,
        }


def tokens_of(value: object) -> int:
    return len(json.dumps(value)) // 4


def _prefixes(body: Json, messages: list[Json]) -> Iterator[tuple[str, int, bool]]:
    """Key, tokens and cache mark of every prefix: the tools, the system text, and each message.

    Search results with citations change the system prompt behind the scenes; choices and thinking change what follows.
    """
    tools, system = body.get("tools", []), body.get("system", [])
    cites = any((result.get("citations") or {}).get("enabled") for result in search_results(messages))
    settings = [body.get(name) for name in ("tool_choice", "thinking", "output_config")]
    key, tokens = _link(body["model"], tools), tokens_of(tools)
    yield key, tokens, any("cache_control" in tool for tool in tools)
    key, tokens = _link(key, [system, cites]), tokens + tokens_of(system)
    yield key, tokens, any("cache_control" in block for block in system if isinstance(block, dict))
    key = _link(key, settings)
    for number, message in enumerate(messages, start=1):
        key, tokens = _link(key, message), tokens + tokens_of(message)
        automatic = number == len(messages) and "cache_control" in body
        yield key, tokens, automatic or any("cache_control" in block for block in message["content"])


def _link(key: str, value: object) -> str:
    return hashlib.sha256(f"{key}{json.dumps(unmarked(value), sort_keys=True)}".encode()).hexdigest()
