"""All that the bot says: the texts in the source, and those of the commands."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "cogs", ROOT / "domain")
"""Where texts are said: by the cogs; page references and what is told of a book without a model, by the domain."""

SPEAKERS = {"say": (0,), "later": (0,), "counted": (1, 2)}
"""Names of calls that say something, and which of their arguments are texts."""


RAISING = ("domain", "storage", "bot")
"""Where errors are raised that may reach a reader, besides the modules below."""
READERS_ERRORS = ("BookError", "DownloadError", "ConversationError", "ClubError", "LLMError")
NOT_FOR_READERS = ("bot/fluent.py", "bot/cli", "bot/mcp")
"""Only the command line and other programs use these."""


def texts_in_source() -> dict[str, str]:
    """Every text that is said, and where."""
    return {text: where for path in _sources() for text, where in _texts_in(path)}


def _sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))


def unreadable_texts() -> list[str]:
    """Calls whose text is put together at run time, so that no catalogue can hold it."""
    calls = (call for path in _sources() for call in _calls_in(path))
    errors = (call for path in _raising() for call in _errors_in(path))
    return [where for text, where in (*calls, *errors) if text is None]


def texts_of_errors() -> dict[str, str]:
    """The sentence of every error that a reader may meet, and where it is made."""
    return {text: where for path in _raising() for text, where in _errors_in(path) if isinstance(text, str)}


def _raising() -> list[Path]:
    paths = (path for folder in RAISING for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in paths if not str(path.relative_to(ROOT)).startswith(NOT_FOR_READERS))


@cache
def _errors_in(path: Path) -> tuple[tuple[object, str], ...]:
    """The sentences of errors in a module: all that is Worded, and what errors are made with."""
    return tuple(_find_errors(path))


def _find_errors(path: Path) -> Iterator[tuple[object, str]]:
    source, module = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    if not any(name in source for name in (*READERS_ERRORS, "PicturesOnlyError", "Worded")):
        return
    tree = ast.parse(source)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Worded"), args=[text, *_]):
                yield from ((each, f"{module}:{node.lineno}") for each in _sentences(text, constants))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                where = f"{module}:{node.lineno}"
                raised = [*_raised(node)]
                names = {text.id for text in raised if isinstance(text, ast.Name)}
                named = _constants(node) if names else ()
                said = [*raised, *(value for name, value in named if name in names)]
                yield from ((each, where) for text in said for each in _sentences(text, constants))


def _raised(function: ast.AST) -> Iterator[ast.expr]:
    """What a function makes readers' errors with."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id="PicturesOnlyError"), args=[text, *_]):
                yield text
            case ast.Call(func=ast.Name(id=name), args=[_, text, *_]) if name in READERS_ERRORS:
                yield text


def _constants(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What names stand for."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _sentences(text: ast.expr, constants: dict[str, ast.expr]) -> Iterator[object]:
    """The texts that an expression may stand for; True for what is handed on."""
    match text:
        case ast.IfExp():
            yield from _sentences(text.body, constants)
            yield from _sentences(text.orelse, constants)
        case ast.Name(id=name) if name.isupper() and name in constants:
            yield from _sentences(constants[name], constants)
        case ast.Subscript(value=ast.Name(id=name)) if isinstance(table := constants.get(name), ast.Dict):
            for value in table.values:
                yield from _sentences(value, constants)
        case _:
            yield _constant(text)


def _texts_in(path: Path) -> Iterator[tuple[str, str]]:
    yield from ((text, where) for text, where in _calls_in(path) if isinstance(text, str))


@cache
def _calls_in(path: Path) -> tuple[tuple[object, str], ...]:
    """The texts of what a module says."""
    return tuple(_find_calls(path))


def _find_calls(path: Path) -> Iterator[tuple[object, str]]:
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
