"""The tool guide keeps up with the tools: its table is complete and its examples run."""

import importlib
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import bot.tools
from bot.tools.clock import DateTimeTool
from bot.tools.from_function import Tool
from bot.tools.weather import WeatherTool
from domain.tool_use import ToolDefinition
from domain.tools.registry import ToolRegistry
from tests.doc_examples import DOCS, run_examples

GUIDE = DOCS / "tool-development.md"


def defined_tools() -> dict[str, tuple[str, ToolDefinition]]:
    """Every tool that a module of bot/tools defines: its file and its definition, by name."""
    found: dict[str, tuple[str, ToolDefinition]] = {}
    for info in pkgutil.iter_modules(bot.tools.__path__):
        module = importlib.import_module(f"bot.tools.{info.name}")
        values = [value for name, value in vars(module).items() if not name.startswith("__")]
        definitions = [
            value.definition if isinstance(value, Tool) else getattr(value, "TOOL_DEFINITION", value)
            for value in values
        ]
        for definition in definitions:
            if isinstance(definition, ToolDefinition):
                found[definition.name] = (f"bot/tools/{info.name}.py", definition)
    return found


def test_the_table_lists_every_tool_and_its_file_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([\w/.]+)` \| \S", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(rows) == {name: file for name, (file, _) in defined_tools().items()}
    assert len(rows) == len(dict(rows))


def test_every_definition_is_one_a_provider_accepts_and_a_model_understands() -> None:
    registry = ToolRegistry()
    for _, definition in defined_tools().values():
        registry.register(definition, _never_called)
        assert len(definition.description) > 40, f"{definition.name} does not say when to use it"
        schema = definition.parameters
        assert schema["type"] == "object"
        assert set(schema.get("required", ())) <= set(schema["properties"])
        assert all("description" in each or "$ref" in each for each in schema["properties"].values()), definition.name
        assert json.loads(json.dumps(schema)) == schema
    assert len(registry) >= 8


def test_definitions_are_there_without_an_instance() -> None:
    definitions = [WeatherTool.TOOL_DEFINITION, DateTimeTool.TOOL_DEFINITION]
    assert [definition.name for definition in definitions] == ["get_weather", "get_current_datetime"]


async def test_the_examples_are_a_script_that_runs(tmp_path: Path) -> None:
    await run_examples(GUIDE, tmp_path)


async def _never_called(args: dict[str, Any]) -> str:
    raise AssertionError(args)
