"""The running program and its adapters."""
