-- An answer whose question was deleted: who asked, and when the answer goes unless they keep it.
ALTER TABLE turns ADD COLUMN asked_by TEXT;
ALTER TABLE turns ADD COLUMN expires_at TEXT;
CREATE INDEX turns_by_asker ON turns (asked_by) WHERE asked_by IS NOT NULL;
CREATE INDEX turns_unexpired ON turns (expires_at) WHERE expires_at IS NOT NULL;

-- When the thread or the channel of a conversation was found deleted.
ALTER TABLE conversations ADD COLUMN gone_at TEXT;
CREATE INDEX conversations_by_channel ON conversations (channel_id);
CREATE INDEX conversations_gone ON conversations (gone_at) WHERE gone_at IS NOT NULL;

-- Servers that the bot was removed from, and since when; an empty time is for those that are to be erased at once.
CREATE TABLE left_servers (
  guild_id TEXT PRIMARY KEY,
  left_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The bot's own messages on Discord that show a person: `name` is what they are called there, where it is not a mention.
-- `thread_id` is the thread whose name a message shows; whose words that name was made of is known from the thread.
CREATE TABLE posts (
  message_id TEXT NOT NULL,
  reader_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  guild_id TEXT,
  name TEXT NOT NULL DEFAULT '',
  thread_id TEXT,
  PRIMARY KEY (message_id, reader_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX posts_by_reader ON posts (reader_id);
CREATE INDEX posts_by_channel ON posts (channel_id);
CREATE INDEX posts_by_guild ON posts (guild_id);
CREATE INDEX posts_by_thread ON posts (thread_id) WHERE thread_id IS NOT NULL;

-- What is still to be removed from Discord. A row is there until it is done, so it is done after a crash too.
CREATE TABLE removals (
  channel_id TEXT NOT NULL,
  message_id TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL CHECK (kind IN ('message', 'mention', 'thread', 'thread_name')),
  guild_id TEXT,
  reader_id TEXT NOT NULL DEFAULT '',
  name TEXT NOT NULL DEFAULT '',
  noted_at TEXT NOT NULL,
  refused_at TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (channel_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX removals_by_reader ON removals (reader_id);
CREATE INDEX removals_by_guild ON removals (guild_id);
CREATE INDEX removals_by_refusal ON removals (refused_at);
CREATE INDEX removals_by_time ON removals (noted_at);

-- What people used on a day who have had themselves erased since, under hashes that only the day's salt can make.
CREATE TABLE spent_tokens (
  day TEXT NOT NULL,
  person TEXT NOT NULL,
  tokens INTEGER NOT NULL CHECK (tokens >= 0),
  PRIMARY KEY (day, person)
) STRICT, WITHOUT ROWID;
