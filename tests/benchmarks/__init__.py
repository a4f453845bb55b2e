"""Benchmarks run; what they measure is for docs/performance.md."""
