"""The Discord client: connection, workarounds for discord.py, command sync."""
