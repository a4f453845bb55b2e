-- Rows that transactions write before they count something, so that of two at a time one waits for the other. Names are
-- salted hashes; rows go after a day.
CREATE TABLE locks (
  name TEXT COLLATE "C" PRIMARY KEY,
  at TEXT COLLATE "C" NOT NULL
);

CREATE INDEX locks_by_time ON locks (at);
