"""The command line, run as a person runs it: another process, a folder of its own, nothing set."""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from bot.settings import Settings
from tests.journeys.forked import Forked

ROOT = Path(__file__).parents[2]
PATIENCE_S = 240


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """Standard output, a JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Terminal:
    folder: Path

    async def run(self, *arguments: str, stdin: str = "", **environment: str) -> Ran:
        """Run `marginalia` with these arguments; its standard input ends after `stdin`."""
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            process = Forked(arguments, self.environment(**environment), self.folder, (given, out, err))
            try:
                code = await asyncio.wait_for(process.end(), PATIENCE_S)
            except TimeoutError:
                await process.kill()
                raise
            return Ran(code, *map(_text, (out, err)))

    def environment(self, **more: str) -> dict[str, str]:
        settings = {name.upper() for name in Settings.model_fields}
        clean = {name: value for name, value in os.environ.items() if name not in settings}
        return clean | {"PYTHONPATH": str(ROOT), "DATA_DIR": str(self.folder / "data"), "COLUMNS": "100"} | more

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def _text(file: IO[bytes]) -> str:
    """All that stands in it."""
    file.seek(0)
    return file.read().decode()
