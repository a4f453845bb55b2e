"""Figures as people read them: a line a measurement, medians first."""

import resource
import sys
from collections.abc import Sequence
from statistics import median, quantiles

MIB = 2**20


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values, 0..1, does not exceed."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return quantiles(values, n=1_000, method="inclusive")[min(round(share * 1_000), 999) - 1]


def summary(values: Sequence[float], digits: int = 1) -> list[str]:
    """Median and 95th percentile."""
    return [
        f"{figure:,.{digits}f}" for figure in (median(values) if values else float("nan"), percentile(values, 0.95))
    ]


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, the others to the right."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, *rows):
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        print("  ".join(cells).rstrip())


def print_memory() -> None:
    """The most memory this process has had, and the largest of those it has started."""
    own, others = (
        resource.getrusage(who).ru_maxrss * (1 if sys.platform == "darwin" else 1_024) / MIB
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"\npeak memory: {own:.0f} MiB; the largest process started: {others:.0f} MiB")
