"""The command line: one file per group of commands, and the chat in the terminal."""
