"""What the tests of the house read in the source."""

import ast
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path


def parsed(paths: Iterable[Path]) -> dict[Path, ast.Module]:
    """The files as trees. None of that is garbage, and looking for it among them takes most of the time."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    finally:
        gc.enable()


def imported(tree: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module that is imported anywhere in the tree, in functions too, and the names taken from it."""
    for statement in statements(tree):
        if isinstance(statement, ast.Import):
            yield from ((alias.name, ()) for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module, tuple(alias.name for alias in statement.names)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements of the tree. Expressions hold none, and are most of it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from statements(node)
