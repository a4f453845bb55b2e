"""Rendering as pure functions of plain data, without discord.py."""
