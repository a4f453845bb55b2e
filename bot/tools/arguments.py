"""Definitions of tools, and their arguments, which come from a model: what is wrong with one raises ValueError."""

from typing import Any

from domain.tool_use import ToolDefinition


def define(name: str, description: str, properties: dict[str, Any], *required: str) -> ToolDefinition:
    """A definition that takes these parameters and no others."""
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolDefinition(name, description, schema)


def text_argument(args: dict[str, Any], name: str) -> str:
    """A text that is not blank; a number is taken as one."""
    value = args.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value.strip()


def text_arguments(args: dict[str, Any], name: str) -> list[str]:
    """A list of texts, blank ones left out; one text alone is taken as a list."""
    value = args.get(name) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ValueError(f"{name} must be a list of texts")
    return [item.strip() for item in listed if item.strip()]


def whole_argument(args: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    """A whole number, brought within its limits."""
    value = args.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not str(value).strip().removeprefix("-").isdecimal():
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return min(max(int(value), least), most)
