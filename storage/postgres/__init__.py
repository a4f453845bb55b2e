"""PostgreSQL: one database shared by several nodes."""
