"""The repositories, in the SQL that SQLite and PostgreSQL have in common."""
