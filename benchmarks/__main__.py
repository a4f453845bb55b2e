"""All figures of docs/performance.md, or those that are named.

    python -m benchmarks [NAME ...] [--output docs/performance.md] [--quick]

Each benchmark runs in a process of its own, the way the page says, and what it prints goes onto the page. Without names
all of them run, and take ten minutes; with names the page keeps what it has of the others.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
LONGEST_S = 300


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark on the page. `arguments` are those the page's figures are made with, `quick` the smallest."""

    title: str
    target: str
    arguments: Sequence[str] = ()
    quick: Sequence[str] = ()


BENCHMARKS = {
    "overhead": Benchmark(
        "From a message to the request, in the program",
        "at most 20 ms of our own time, median, warm",
        quick=("--messages", "2"),
    ),
    "discord": Benchmark(
        "From a message on Discord to the request, and from the last token to the final text",
        "at most 20 ms with no latency added; at most 150 ms with a round trip of 80 ms",
        ("--answers", "5"),
        ("--answers", "1"),
    ),
    "load": Benchmark(
        "Two hundred conversations at once, and books added meanwhile",
        "nothing lost; 80 answers a second where 200 ask at once; no gap above 50 ms; ten books delay the median "
        "answer by at most 100 ms",
        quick=("--conversations", "3", "--rounds", "1", "--books", "1"),
    ),
    "cluster": Benchmark(
        "SQLite and PostgreSQL",
        "a whole turn costs at most 1.5 times as much with PostgreSQL",
        ("--turns", "100"),
        ("--turns", "20", "--processes", "1"),
    ),
    "choices": Benchmark(
        "Choices of conversations while people type",
        "at most 300 ms while 20 others type, with 20,000 conversations; nobody's membership asked twice in a minute",
        quick=("--conversations", "20", "--askers", "1", "--rounds", "1"),
    ),
    "hostile_answers": Benchmark(
        "Answers made to hurt",
        "at most 50 ms on the event loop and one second in all for 64 kB",
        quick=("--kilobytes", "1"),
    ),
    "library": Benchmark(
        "Searching a long book, and one among a thousand",
        "at most 5 ms, median; at most 1.2 times as long among a thousand books",
        quick=("--characters", "20000", "--books", "3", "--rounds", "1"),
    ),
    "reading": Benchmark(
        "From a file to a book that can be searched",
        "TXT and EPUB 4 MB of text a second; PDF 70 % of pypdfium2's own speed; index at most 3 times the text",
        quick=("--megabytes", "0.02", "--rounds", "1"),
    ),
    "startup": Benchmark("Whole commands", "none; for comparison", quick=("--rounds", "1")),
}

HEAD = """# Performance

Made by `python -m benchmarks`; do not edit. Each table is what its command printed. All far ends (the model, Discord)
are doubles on loopback, in processes of their own where that matters. A gap or a wait grows with what else the machine
does; processor time and the ratios within a table grow less. "p95" is the 95th percentile.
Several nodes on one PostgreSQL (`benchmarks.cluster`, `benchmarks.nodes`) are in [scaling.md](scaling.md).

Machine: {processors} processors, Python {python}. The load average is how many processes wanted a processor before and
after; {processors} would be a machine that just keeps up.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--output", type=Path, default=PAGE, help="the page that is written")
    parser.add_argument("--quick", action="store_true", help="see only that everything runs; writes no page")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    sections = _sections(options.output)
    failed = []
    for name in options.names or BENCHMARKS:
        section = _run(name, quick=options.quick)
        if section is None:
            failed.append(name)
        elif not options.quick:
            sections[name] = section
            _write(options.output, sections)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def _run(name: str, *, quick: bool) -> str | None:
    """A benchmark's section of the page, or None if it has failed."""
    benchmark = BENCHMARKS[name]
    arguments = ["-m", f"benchmarks.{name}", *(benchmark.quick if quick else benchmark.arguments)]
    print(f"python {' '.join(arguments)}", flush=True)
    before, started = os.getloadavg()[0], time.monotonic()
    try:
        process = subprocess.run(
            [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"took longer than {LONGEST_S} s\n")
        return None
    load = f"Load average {before:.1f} before, {os.getloadavg()[0]:.1f} after; {time.monotonic() - started:.0f} s."
    print(f"{process.stdout}{load}\n", flush=True)
    if process.returncode != 0:
        return None
    command = f"python {' '.join(arguments)}"
    printed = f"```\n$ {command}\n{process.stdout.rstrip()}\n```"
    return f"## {benchmark.title}\n\nTarget: {benchmark.target}.\n\n{printed}\n\n{load}\n"


def _sections(page: Path) -> dict[str, str]:
    """What the page has of each benchmark so far."""
    if not page.exists():
        return {}
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:]
    by_title = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}
    return {name: by_title[it.title] for name, it in BENCHMARKS.items() if it.title in by_title}


def _write(page: Path, sections: dict[str, str]) -> None:
    head = HEAD.format(processors=os.cpu_count(), python=f"{sys.version_info.major}.{sys.version_info.minor}")
    ordered = [sections[name] for name in BENCHMARKS if name in sections]
    page.write_text("\n".join([head, *ordered]), encoding="utf-8")


if __name__ == "__main__":
    main()
