-- What a person is answered in where messages do not tell their author's language, and whether they want to be left out.
ALTER TABLE readers ADD COLUMN locale TEXT;
ALTER TABLE readers ADD COLUMN opted_out INTEGER NOT NULL DEFAULT 0 CHECK (opted_out IN (0, 1));

-- Servers in which the bot has introduced itself.
CREATE TABLE greeted_servers (
  guild_id TEXT PRIMARY KEY
);
