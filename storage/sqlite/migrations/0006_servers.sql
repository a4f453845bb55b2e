-- What those who manage a server have chosen for it, as JSON; and how often each person, known by a salted hash of their
-- id, has lately done what may be done only so often.
CREATE TABLE servers (
  id TEXT PRIMARY KEY,
  settings TEXT NOT NULL
) STRICT;

CREATE TABLE salts (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE allowances (
  id INTEGER PRIMARY KEY,
  person TEXT NOT NULL,
  deed TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

CREATE INDEX allowances_by_person ON allowances (person, deed, at);
CREATE INDEX allowances_by_time ON allowances (at);
