"""The command line, run as a person runs it: another process, a folder of its own, nothing set."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.settings import Settings

ROOT = Path(__file__).parents[2]
PATIENCE_S = 110


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

    async def run(self, *arguments: str, stdin: str | None = "", **environment: str) -> Ran:
        """Run `marginalia` with these arguments. With `stdin` None, standard input is closed from the start."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment(**environment),
            cwd=self.folder,
        )
        out, err = await asyncio.wait_for(process.communicate(None if stdin is None else stdin.encode()), PATIENCE_S)
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    def environment(self, **more: str) -> dict[str, str]:
        settings = {name.upper() for name in Settings.model_fields}
        clean = {name: value for name, value in os.environ.items() if name not in settings}
        return clean | {"PYTHONPATH": str(ROOT), "DATA_DIR": str(self.folder / "data"), "COLUMNS": "100"} | more

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
