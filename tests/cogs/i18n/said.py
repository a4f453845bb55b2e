"""All that the bot says: the texts in the source, and those of the commands."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "cogs", ROOT / "domain")
"""Where texts are said: by the cogs; page references and what is told of a book without a model, by the domain."""

SPEAKERS = {"say": (0,), "later": (0,), "counted": (1, 2)}
"""Names of calls that say something, and which of their arguments are texts."""


def texts_in_source() -> dict[str, str]:
    """Every text that is said, and where."""
    return {text: where for path in _sources() for text, where in _texts_in(path)}


def _sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))


def unreadable_texts() -> list[str]:
    """Calls whose text is put together at run time, so that no catalogue can hold it."""
    return [where for path in _sources() for text, where in _calls_in(path) if text is None]


def _texts_in(path: Path) -> Iterator[tuple[str, str]]:
    yield from ((text, where) for text, where in _calls_in(path) if isinstance(text, str))


def _calls_in(path: Path) -> Iterator[tuple[object, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and (name := _speaker(node.func)):
            for place in SPEAKERS[name]:
                yield _constant(node.args[place]), f"{path.relative_to(ROOT)}:{node.lineno}"


def _speaker(function: ast.expr) -> str | None:
    """The name of the call if it says something: `say(…)`, `self._say(…)`, `speech_of(…)(…)`, `say.counted(…)`."""
    match function:
        case ast.Name(id="say" | "later" as name):
            return name
        case ast.Attribute(attr="counted"):
            return "counted"
        case ast.Attribute(attr="say" | "_say"):
            return "say"
        case ast.Call(func=ast.Name(id="speech_of" | "speech_in" | "speech_for" | "speech_for_all")):
            return "say"
    return None


def _constant(argument: ast.expr) -> object:
    """The text; True for one that is handed on (a variable, or a table of texts marked with `later`)."""
    match argument:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr() | ast.BinOp():
            return None
    return True
