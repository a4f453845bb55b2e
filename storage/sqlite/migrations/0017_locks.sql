-- Rows that transactions write before they count something, so that of two at a time one waits for the other. Names are
-- salted hashes; rows go after a day.
CREATE TABLE locks (
  name TEXT PRIMARY KEY,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX locks_by_time ON locks (at);
