"""How a file becomes searchable, and how it is searched."""
