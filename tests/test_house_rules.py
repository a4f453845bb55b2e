"""Rules for the source tree that no linter checks."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import domain.ports
from bot.settings import Settings
from tests.source_tree import imported

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "cogs", "domain", "storage")
MOST_LINES = 500
"""A longer file holds more than one concept."""


def sources(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


def defined(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def test_domain_imports_only_the_standard_library() -> None:
    foreign = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources("domain")
        for name, _ in imported(ast.parse(path.read_text(encoding="utf-8")))
        if name.split(".")[0] not in {*sys.stdlib_module_names, "domain"}
    }
    assert not foreign


@pytest.mark.parametrize("word", ["utils", "helpers", "manager"])
def test_no_module_is_named_after_a_mixture(word: str) -> None:
    assert not [path for path in sources(*PACKAGES) if word in path.stem]


def test_no_file_is_too_long() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in sources(*PACKAGES)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert not too_long


def test_every_port_can_be_imported_from_domain_ports() -> None:
    files = sorted((ROOT / "domain" / "ports").glob("[a-z]*.py"))
    ports = {name for file in files for name in defined(file)}
    assert {"BookView", "Clock", "ToolHandler"} <= ports
    assert sorted(domain.ports.__all__) == sorted(ports)


def test_every_module_has_a_docstring() -> None:
    assert not [path for path in sources(*PACKAGES) if not path.read_text(encoding="utf-8").startswith('"""')]


def test_the_example_of_env_lists_every_setting_and_no_other() -> None:
    listed = re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(name.upper() for name in Settings.model_fields)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-cluster.txt", "requirements-dev.txt", "requirements-pip.txt"]
)
def test_versions_are_pinned_with_hashes_and_no_index_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert text.count("==") >= (1 if name == "requirements-pip.txt" else 20)
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert all("--hash=sha256:" in block for block in blocks if not block.startswith("#"))


def test_what_is_pinned_fits_what_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {Requirement(line).name for line in _pinned("requirements.txt")}
    declared = {re.split(r"[<>=\[ ]", each)[0].replace(".", "-") for each in project["dependencies"]}
    assert declared <= pinned


def test_what_is_pinned_names_the_extras_that_are_asked_of_it() -> None:
    """Python 3.11's own pip tries the newest release of a name with extras, and then misses that release's hash."""
    pinned = {each.name: each.extras for each in map(Requirement, _pinned("requirements-dev.txt"))}
    asked = [
        each
        for name in pinned
        for each in _requires(name)
        if each.extras and (each.marker is None or each.marker.evaluate({"extra": ""}))
    ]
    assert {each.name for each in asked} >= {"coverage", "pyjwt"}
    assert [str(each) for each in asked if not each.extras <= pinned[each.name.lower()]] == []


def _pinned(name: str) -> list[str]:
    """The names with their versions, as `pip` reads them, without the hashes."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line.removesuffix("\\").strip() for line in lines if line and not line.startswith((" ", "#"))]


def _requires(name: str) -> list[Requirement]:
    """What an installed package needs; nothing for one that another platform or Python has."""
    try:
        return [Requirement(each) for each in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:
        return []
