-- Replies that are being made: those a kill has interrupted are ended by the next start. The token opens one reply for a
-- quarter of an hour. Rows go when the reply stands.
CREATE TABLE open_replies (
  id TEXT COLLATE "C" PRIMARY KEY,
  reader_id TEXT COLLATE "C" NOT NULL,
  guild_id TEXT COLLATE "C",
  channel_id TEXT COLLATE "C",
  token TEXT COLLATE "C" NOT NULL,
  about TEXT COLLATE "C" NOT NULL,
  began_at TEXT COLLATE "C" NOT NULL,
  lease TEXT COLLATE "C" NOT NULL,
  epoch INTEGER NOT NULL
);
CREATE INDEX open_replies_by_reader ON open_replies (reader_id);
