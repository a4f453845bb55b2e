"""Numbered migrations, as they come with the program: one file a step, NNNN_name.sql."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from one version of the schema to the next."""

    version: int
    name: str
    script: str

    def statements(self) -> Iterator[str]:
        """The script's statements; each ends at the end of a line."""
        pending = ""
        for line in self.script.splitlines(keepends=True):
            pending += line
            if sqlite3.complete_statement(pending):
                yield pending
                pending = ""


def migrations_in(package: str) -> tuple[Migration, ...]:
    """The migrations in the folder `migrations` of a package, oldest first."""
    found = ((_FILE_NAME.fullmatch(file.name), file) for file in (files(package) / "migrations").iterdir())
    return tuple(
        sorted(
            (
                Migration(int(match["version"]), match["name"], file.read_text(encoding="utf-8"))
                for match, file in found
                if match
            ),
            key=lambda migration: migration.version,
        )
    )
