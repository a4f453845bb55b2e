CREATE TABLE present (
  conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  reader_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (conversation_id, reader_id)
);

CREATE INDEX present_by_reader ON present (reader_id);
