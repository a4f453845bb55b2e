"""The memory: what must survive a restart."""
