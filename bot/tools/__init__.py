"""One file per tool family."""
