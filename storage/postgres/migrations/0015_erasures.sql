-- When somebody was last erased, under a salted hash and for a day: what was begun before and ends after is erased, too.
-- `at` is by the program's clock, `written_at` by the platform's. Who was not erased has a row without times while
-- something about them is being written.
CREATE TABLE erasures (
  person TEXT COLLATE "C" PRIMARY KEY,
  at TEXT COLLATE "C" NOT NULL,
  written_at TEXT COLLATE "C" NOT NULL
);
