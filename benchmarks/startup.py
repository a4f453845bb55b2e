"""How long a whole command takes, from the shell's point of view.

    python -m benchmarks.startup [--rounds 5]

Each command runs in a process of its own over the same folder, with the sample novel on the shelf and the built-in
answerer. "python" is an interpreter that does nothing, which is where every command begins.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.table import print_memory, print_table, summary
from bot.app import SAMPLE

COMMANDS = {
    "python": ["-c", "pass"],
    "marginalia --help": ["-m", "bot", "--help"],
    "marginalia books list": ["-m", "bot", "books", "list"],
    "marginalia search": ["-m", "bot", "search", "Ebb", "Who is Hilda Crake?"],
    "marginalia chat, one question": ["-m", "bot", "chat", "Ebb", "--new"],
}
QUESTION = b"Who is Hilda Crake?\n"


def measure(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(["-m", "bot", "books", "add", str(SAMPLE)], folder)
        rows = []
        for name, command in COMMANDS.items():
            taken = [run(command, folder) for _ in range(rounds)]
            waited, worked = zip(*taken, strict=True)
            rows.append([name, *summary(waited, 0), *summary(worked, 0)])
    print_table(("", "median ms", "p95 ms", "processor ms", "p95"), rows)
    print_memory()


def run(command: list[str], folder: str) -> tuple[float, float]:
    """Milliseconds that the command takes, and of the processor's work on it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | {"DATA_DIR": folder, "LLM_PROVIDER": "extractive"}
    environment["DATABASE_URL"] = f"sqlite:///{folder}/marginalia.db"
    before, started = _processor_seconds(), time.perf_counter()
    subprocess.run([sys.executable, *command], input=QUESTION, env=environment, check=True, capture_output=True)
    return (time.perf_counter() - started) * 1_000, (_processor_seconds() - before) * 1_000


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    measure(parser.parse_args().rounds)


if __name__ == "__main__":
    main()
