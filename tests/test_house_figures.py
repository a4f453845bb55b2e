"""Figures of the source tree: how many modules there are, and how they depend on each other."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from tests.source_tree import imported, parsed, statements

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "cogs", "domain", "storage")

MOST_MODULES = 200
MOST_WITH_ONE_IMPORTER = 59
MOST_PARAMETERS = 8
EMPTY_LINES = 3
"""Lines of a file that holds a docstring at most."""

Trees = dict[Path, ast.Module]


def modules() -> list[Path]:
    """Our files with more in them than a docstring."""
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) > EMPTY_LINES]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_in(trees: Trees) -> dict[str, set[str]]:
    """What of ours each module imports, imports inside functions included."""
    names = {name_of(path) for path in trees}
    return {name_of(path): names & set(_modules_in(tree)) - {name_of(path)} for path, tree in trees.items()}


def _modules_in(tree: ast.Module) -> Iterator[str]:
    for module, taken in imported(tree):
        yield from (module, *(f"{module}.{name}" for name in taken))


def test_there_are_not_too_many_modules() -> None:
    advice = "join two that belong together, such as a short one and the only module that imports it"
    assert len(modules()) <= MOST_MODULES, advice


def test_the_modules_hold_together() -> None:
    """All in one test: reading them takes most of its time."""
    trees = parsed(modules())
    imports = imports_in(trees)
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules
    assert len(imported_by_one(imports)) <= MOST_WITH_ONE_IMPORTER
    assert not with_wide_constructors(trees)
    assert not public_in_two_packages(trees)


def imported_by_one(imports: dict[str, set[str]]) -> list[str]:
    """The modules that only one other imports."""
    importers = Counter(name for imported in imports.values() for name in imported)
    return [name for name, number in importers.items() if number == 1]


def with_wide_constructors(trees: Trees) -> set[str]:
    """Classes whose constructor has too many parameters."""
    return {
        f"{name_of(path)}: {node.name}"
        for path, tree in trees.items()
        for node in statements(tree)
        if isinstance(node, ast.ClassDef)
        for each in node.body
        if isinstance(each, ast.FunctionDef) and each.name == "__init__" and _parameters(each) > MOST_PARAMETERS
    }


def _parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs) - len(["self"])


def public_in_two_packages(trees: Trees) -> set[str]:
    """Names of public classes that two packages have."""
    homes: dict[str, set[Path]] = defaultdict(set)
    for path, tree in trees.items():
        for node in statements(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(path.parent)
    return {name for name, packages in homes.items() if len(packages) > 1}
