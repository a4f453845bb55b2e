"""PostgreSQL: one database for several nodes."""
