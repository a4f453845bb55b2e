"""Indexed books as files: one SQLite file a book, written once, read only ever after."""
