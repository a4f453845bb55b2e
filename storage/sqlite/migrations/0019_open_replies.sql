-- Replies that are being made: those a kill has interrupted are ended by the next start. The token opens one reply for a
-- quarter of an hour. Rows go when the reply stands.
CREATE TABLE open_replies (
  id TEXT PRIMARY KEY,
  reader_id TEXT NOT NULL,
  guild_id TEXT,
  channel_id TEXT,
  token TEXT NOT NULL,
  about TEXT NOT NULL,
  began_at TEXT NOT NULL,
  lease TEXT NOT NULL,
  epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX open_replies_by_reader ON open_replies (reader_id);
