"""Indexed books as files: one SQLite file a book, written once, read only ever after."""

from storage.book_files.files import SQLiteBookFiles

__all__ = ["SQLiteBookFiles"]
