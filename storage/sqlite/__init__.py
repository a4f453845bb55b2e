"""SQLite: the database of what changes, and the files of what does not."""
