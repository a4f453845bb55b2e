"""Indexing a book, and searching it."""
