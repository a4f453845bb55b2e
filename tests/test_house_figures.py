"""Figures of the source tree: how many modules there are, and how they depend on each other."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def trees() -> Trees:
    return parsed(modules())


@pytest.fixture(scope="module")
def imports(trees: Trees) -> dict[str, set[str]]:
    """What of ours each module imports, imports inside functions included."""
    names = {name_of(path) for path in trees}
    return {name_of(path): names & set(_modules_in(tree)) - {name_of(path)} for path, tree in trees.items()}


def _modules_in(tree: ast.Module) -> Iterator[str]:
    for module, taken in imported(tree):
        yield from (module, *(f"{module}.{name}" for name in taken))


def test_there_are_not_too_many_modules() -> None:
    advice = "join two that belong together, such as a short one and the only module that imports it"
    assert len(modules()) <= MOST_MODULES, advice


def test_few_modules_are_imported_by_only_one_other(imports: dict[str, set[str]]) -> None:
    importers = Counter(name for imported in imports.values() for name in imported)
    assert len([name for name, number in importers.items() if number == 1]) <= MOST_WITH_ONE_IMPORTER


def test_there_are_no_import_cycles(imports: dict[str, set[str]]) -> None:
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_no_constructor_has_too_many_parameters(trees: Trees) -> None:
    wide = {
        f"{name_of(path)}: {node.name}"
        for path, tree in trees.items()
        for node in statements(tree)
        if isinstance(node, ast.ClassDef)
        for each in node.body
        if isinstance(each, ast.FunctionDef) and each.name == "__init__" and _parameters(each) > MOST_PARAMETERS
    }
    assert not wide


def _parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs) - len(["self"])


def test_no_two_packages_have_a_public_class_of_the_same_name(trees: Trees) -> None:
    homes: dict[str, set[Path]] = defaultdict(set)
    for path, tree in trees.items():
        for node in statements(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(path.parent)
    assert not {name for name, packages in homes.items() if len(packages) > 1}
