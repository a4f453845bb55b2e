"""SQLite: the database for everything that changes."""
