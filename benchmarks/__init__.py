"""What the figures in the README and the docs come from; each module prints a table: python -m benchmarks.NAME."""
