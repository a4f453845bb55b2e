-- The book files that lie in an object store (BOOKS_URL): what each must hold, byte for byte.
CREATE TABLE book_objects (
  sha256 TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  stored_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX book_objects_by_time ON book_objects (stored_at);
