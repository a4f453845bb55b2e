"""The tools a request offers, as the answerer uses them: only those it knows, only with parameters they have."""

import hashlib
from collections.abc import Sequence
from typing import Any

from domain.tool_use import ToolDefinition, ToolInvocation


class OfferedTools:
    """Makes calls. `seed` is what the ids of the calls are made from: the same request brings the same ids."""

    def __init__(self, definitions: Sequence[ToolDefinition], seed: str) -> None:
        self._parameters = {definition.name: definition.parameters for definition in definitions}
        self._seed = seed

    def call(self, name: str, /, **arguments: Any) -> list[ToolInvocation]:
        """The call in a list, or none where the tool is not offered or wants something that is not known here."""
        if name not in self._parameters:
            return []
        schema = self._parameters[name]
        properties: dict[str, Any] = schema.get("properties") or {}
        known = {key: value for key, value in arguments.items() if key in properties and value != []}
        fitting = {key: _bounded(value, properties[key]) for key, value in known.items()}
        if not set(schema.get("required") or ()) <= set(fitting):
            return []
        return [ToolInvocation(name, fitting, self._id(name, fitting))]

    def _id(self, name: str, arguments: dict[str, Any]) -> str:
        digest = hashlib.blake2s(f"{self._seed}\n{name}\n{arguments}".encode(errors="replace"), digest_size=6)
        return f"look_{digest.hexdigest()}"


def _bounded(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, int) and isinstance(most := schema.get("maximum"), int):
        return min(value, most)
    if isinstance(value, list) and isinstance(most := schema.get("maxItems"), int):
        return value[:most]
    return value
