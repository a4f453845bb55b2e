"""Persistence: everything that must survive a restart."""
