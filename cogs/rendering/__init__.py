"""What is shown, as plain data without discord.py, so that it can be read and tested alone."""
