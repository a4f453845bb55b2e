-- Who has written in a conversation's thread without speaking to the bot: they read along, so nothing is told that they
-- have not reached. What they wrote is not kept.
CREATE TABLE present (
  conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  reader_id TEXT NOT NULL,
  PRIMARY KEY (conversation_id, reader_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX present_by_reader ON present (reader_id);
