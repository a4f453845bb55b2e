"""Models of Anthropic's API as its documentation describes them, and what they refuse besides messages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.doubles.script import Json


class Refused(Exception):
    """The API's error answer."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message


def bad(message: str) -> Refused:
    return Refused(400, "invalid_request_error", message)


@dataclass(frozen=True, slots=True)
class Model:
    """What a model takes. `signs` says that its thinking is bound to everything before it."""

    id: str
    thinking: frozenset[str]
    default_thinking: str = "adaptive"
    forced_tools: bool = False
    signs: bool = True
    max_tokens: int = 128_000
    max_input_tokens: int = 1_000_000
    lifecycle: str = "active"
    retires_at: str | None = None


MODELS: Mapping[str, Model] = {
    model.id: model
    for model in (
        Model("claude-sonnet-5-5", frozenset({"adaptive", "between_tools"})),
        Model("claude-haiku-5-5", frozenset({"adaptive", "disabled"}), forced_tools=True),
        Model("claude-opus-5-5", frozenset({"adaptive"})),
        Model("claude-sonnet-4-6", frozenset({"adaptive", "enabled", "disabled"}), "disabled", True, signs=False),
        Model(
            "claude-sonnet-4-5-20250929",
            frozenset({"enabled", "disabled"}),
            "disabled",
            True,
            signs=False,
            lifecycle="deprecated",
            retires_at="2026-11-30T00:00:00Z",
        ),
        Model("claude-opus-4-20250514", frozenset({"disabled"}), "disabled", signs=False, lifecycle="retired"),
    )
}

_FIELDS = frozenset(
    {"model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "thinking", "output_config"}
    | {"cache_control", "metadata", "stop_sequences", "service_tier"}
)
_SAMPLING = ("temperature", "top_p", "top_k")
_TOOL_KEYS = frozenset(
    {"type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming"}
)
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def checked_model(body: Json) -> Model:
    """The model asked for, once all settings and tools are seen to suit it.

    Raises:
        Refused: the real API would not have answered.
    """
    for name in body:
        if name in _SAMPLING:
            raise bad(f"{name}: sampling parameters are not supported in this API version")
        if name not in _FIELDS:
            raise bad(f"{name}: Extra inputs are not permitted")
    model = _known_model(body.get("model"))
    if not 1 <= _whole(body.get("max_tokens"), "max_tokens") <= model.max_tokens:
        raise bad(f"max_tokens: {body['max_tokens']} is out of range for {model.id}")
    _check_thinking_settings(body, model)
    _check_tools(body, model)
    _check_cache_marks(body)
    return model


def check_keys(value: Json, allowed: frozenset[str], where: str) -> None:
    for key in value:
        if key not in allowed:
            raise bad(f"{where}.{key}: Extra inputs are not permitted")


def _known_model(model_id: object) -> Model:
    model = MODELS.get(str(model_id))
    if model is None or model.lifecycle == "retired":
        raise Refused(404, "not_found_error", f"model: {model_id}")
    return model


def _whole(value: object, name: str) -> int:
    if type(value) is not int:
        raise bad(f"{name}: Field required, a valid integer")
    return value


def _check_thinking_settings(body: Json, model: Model) -> None:
    setting = body.get("thinking") or {"type": model.default_thinking}
    effort = (body.get("output_config") or {}).get("effort")
    if setting.get("type") not in model.thinking:
        raise bad(f'thinking: "{setting.get("type")}" is not supported on {model.id}')
    if set(setting) - {"type", "display", "budget_tokens"}:
        raise bad("thinking: Extra inputs are not permitted")
    if effort is not None and effort not in _EFFORTS:
        raise bad(f"output_config.effort: {effort!r} is not one of {', '.join(_EFFORTS)}")
    if setting["type"] in ("between_tools", "disabled") and effort in ("xhigh", "max"):
        raise bad(f'thinking: "{setting["type"]}" requires an effort of high or below')


def _check_tools(body: Json, model: Model) -> None:
    tools = body.get("tools", [])
    names = [tool.get("name", "") for tool in tools]
    for place, tool in enumerate(tools):
        check_keys(tool, _TOOL_KEYS, f"tools.{place}")
        if tool.get("type", "custom") != "custom":
            raise bad(f"tools.{place}.type: This double knows no tools of the service's own")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", names[place]):
            raise bad(f"tools.{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        _check_schema(tool.get("input_schema"), f"tools.{place}.input_schema")
    if len(set(names)) < len(names):
        raise bad("tools: Tool names must be unique.")
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools:
        raise bad("tool_choice may only be specified while providing tools")
    if choice.get("type") not in ("auto", "none", "any", "tool"):
        raise bad("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")
    if choice["type"] in ("any", "tool") and not model.forced_tools:
        raise bad(f"tool_choice: forced tool use is not supported on {model.id}")


def _check_schema(schema: object, where: str) -> None:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise bad(f"{where}.type: Input should be 'object'")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(isinstance(value, dict) for value in properties.values()):
        raise bad(f"{where}: JSON schema is invalid")
    if not set(schema.get("required", [])) <= set(properties):
        raise bad(f"{where}: JSON schema is invalid, a required property is not described")


def _check_cache_marks(body: Json) -> None:
    marks = [mark for mark, _ in _marks(body)]
    if any(mark.get("type") != "ephemeral" for mark in marks):
        raise bad("cache_control.type: Input should be 'ephemeral'")
    if len(marks) > 4:
        raise bad(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")


def _marks(value: object) -> Iterator[tuple[Json, object]]:
    """Every cache mark in a request, with what it is on."""
    if isinstance(value, dict):
        if isinstance(value.get("cache_control"), dict):
            yield value["cache_control"], value
        for inner in value.values():
            yield from _marks(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _marks(inner)
