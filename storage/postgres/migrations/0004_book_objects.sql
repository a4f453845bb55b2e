CREATE TABLE book_objects (
  sha256 TEXT COLLATE "C" PRIMARY KEY,
  digest TEXT COLLATE "C" NOT NULL,
  size BIGINT NOT NULL CHECK (size >= 0),
  stored_at TEXT COLLATE "C" NOT NULL
);

CREATE INDEX book_objects_by_time ON book_objects (stored_at);
