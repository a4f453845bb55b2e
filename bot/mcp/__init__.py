"""The Model Context Protocol: the shelf for other programs, and other programs' tools for readers."""
