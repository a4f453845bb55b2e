"""Measure all figures of docs/performance.md, or those of the named benchmarks.

    python -m benchmarks [NAME ...] [--output docs/performance.md] [--quick]

Each benchmark runs in its own process with the command that the page shows, and its output is written to the page.
Without names, all benchmarks run, which takes ten minutes. With names, the other sections of the page stay as they are.
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
        "From a message to the model request, without Discord",
        "at most 20 ms of our own time, median, warm",
        quick=("--messages", "2"),
    ),
    "discord": Benchmark(
        "From a message on Discord to the model request, and from the last token to the final text",
        "at most 20 ms with no latency added; at most 150 ms with a round trip of 80 ms",
        ("--answers", "5"),
        ("--answers", "1"),
    ),
    "load": Benchmark(
        "Two hundred conversations at once, while books are added",
        "nothing lost; 80 answers a second where 200 ask at once; no gap above 50 ms; ten books delay the median "
        "answer by at most 100 ms",
        quick=("--conversations", "3", "--rounds", "1", "--books", "1"),
    ),
    "cluster": Benchmark(
        "SQLite and PostgreSQL",
        "a complete turn costs at most 1.5 times as much with PostgreSQL as with SQLite",
        ("--turns", "100"),
        ("--turns", "20", "--processes", "1"),
    ),
    "choices": Benchmark(
        "Suggesting conversations while people type",
        "at most 300 ms while 20 others type, with 20,000 conversations; Discord is asked at most once a minute for "
        "each person and private thread",
        quick=("--conversations", "20", "--askers", "1", "--rounds", "1"),
    ),
    "hostile_answers": Benchmark(
        "Hostile answers",
        "at most 50 ms on the event loop and one second in all for 64 kB",
        quick=("--kilobytes", "1"),
    ),
    "library": Benchmark(
        "Searching a long book, and a book among a thousand",
        "at most 5 ms, median; at most 1.2 times as long among a thousand books",
        quick=("--characters", "20000", "--books", "3", "--rounds", "1"),
    ),
    "reading": Benchmark(
        "From a file to a searchable book",
        "TXT and EPUB 4 MB of text a second; PDF 70 % of pypdfium2's own speed; index at most 3 times the text",
        quick=("--megabytes", "0.02", "--rounds", "1"),
    ),
    "startup": Benchmark(
        "Complete commands",
        "at most 1 s more with a tool server that never answers; the other figures are for comparison",
        quick=("--rounds", "1"),
    ),
}

HEAD = """# Performance

`python -m benchmarks` writes this page; do not edit it. Each table shows the output of its command. Doubles on loopback
replace the model and Discord. They run in separate processes where that affects the figures. Other work on the machine
makes gaps and waiting times longer; it changes processor times and the ratios within a table less. "p95" is the 95th
percentile. [scaling.md](scaling.md) explains the figures of PostgreSQL and has those of several nodes
(`benchmarks.nodes`).

Machine: {processors} processors, Python {python}. The load average is the number of processes that wanted a processor,
before and after the benchmark. At {processors}, the machine is fully busy.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write")
    parser.add_argument("--quick", action="store_true", help="only check that everything runs; write no page")
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
