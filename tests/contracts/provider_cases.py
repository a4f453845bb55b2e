"""Which case of the contract is tried on which provider.

`python -m tests.contracts.provider_cases` prints the table of docs/tool-development.md.
"""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.contracts.chat_providers import BENCHES, PROVIDERS

MODULE = "tests.contracts.test_chat_provider"
TRIED, NO_WIRE = "tried", "no wire"


def case(name: str) -> pytest.MarkDecorator:
    """Marks a test as one of this case."""
    return pytest.mark.case(name)


def tried() -> dict[str, set[str]]:
    """The providers that each case is tried on, the cases in the order of the tests."""
    found: dict[str, set[str]] = {}
    for name, test in _marked():
        providers: Iterable[str] = PROVIDERS if "provider" in inspect.signature(test).parameters else BENCHES
        found.setdefault(name, set()).update(providers)
    return found


def table() -> str:
    """The table in Markdown; what only a far end can do is tried where there is one."""
    rows = [["case", *PROVIDERS], ["---"] * (len(PROVIDERS) + 1)]
    rows += [
        [name, *(TRIED if provider in providers else NO_WIRE for provider in PROVIDERS)]
        for name, providers in tried().items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _marked() -> Iterator[tuple[str, Callable[..., Any]]]:
    for test in vars(importlib.import_module(MODULE)).values():
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "case":
                yield mark.args[0], test


if __name__ == "__main__":
    print(table())  # noqa: T201
