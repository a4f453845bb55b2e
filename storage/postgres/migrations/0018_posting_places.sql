-- In which channels the bot was about to post, and since when: what it posts just before it is killed is recorded
-- nowhere else. Rows go after an hour.
CREATE TABLE posting_places (
  channel_id TEXT COLLATE "C" NOT NULL,
  at TEXT COLLATE "C" NOT NULL,
  guild_id TEXT COLLATE "C",
  PRIMARY KEY (channel_id, at)
);
