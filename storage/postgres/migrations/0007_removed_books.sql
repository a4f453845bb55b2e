-- Since when a book is off its shelf, and who took it off: until it is erased, it can be brought back with all it has.
ALTER TABLE books ADD COLUMN removed_at TEXT;
ALTER TABLE books ADD COLUMN removed_by TEXT NOT NULL DEFAULT '';

CREATE INDEX books_removed ON books (removed_at) WHERE removed_at IS NOT NULL;
