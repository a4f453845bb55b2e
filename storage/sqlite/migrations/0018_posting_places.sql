-- In which channels the bot was about to post, and since when: what it posts just before it is killed is recorded
-- nowhere else. Rows go after an hour.
CREATE TABLE posting_places (
  channel_id TEXT NOT NULL,
  at TEXT NOT NULL,
  guild_id TEXT,
  PRIMARY KEY (channel_id, at)
) STRICT, WITHOUT ROWID;
