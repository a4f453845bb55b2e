"""The Discord client: connection, workarounds for discord.py, commands told to Discord."""
