-- Clubs: a server's channel reads one book by a plan of sections. `look_at` is when something may be to be done for one
-- (a reminder, a thread, a card), and NULL where nothing is until it changes.
CREATE TABLE clubs (
  id TEXT PRIMARY KEY,
  book_id TEXT NOT NULL REFERENCES books (id) ON DELETE CASCADE,
  guild_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  host_id TEXT NOT NULL,
  gate TEXT NOT NULL CHECK (gate IN ('everyone', 'date', 'open')),
  role_id TEXT,
  events INTEGER NOT NULL DEFAULT 0 CHECK (events IN (0, 1)),
  created_at TEXT NOT NULL,
  ended_at TEXT,
  look_at TEXT
) STRICT;

CREATE UNIQUE INDEX clubs_running ON clubs (channel_id) WHERE ended_at IS NULL;
CREATE INDEX clubs_by_guild ON clubs (guild_id, created_at);
CREATE INDEX clubs_by_book ON clubs (book_id);
CREATE INDEX clubs_by_host ON clubs (host_id);
CREATE INDEX clubs_to_look_at ON clubs (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE club_sections (
  club_id TEXT NOT NULL REFERENCES clubs (id) ON DELETE CASCADE,
  number INTEGER NOT NULL CHECK (number >= 1),
  starts INTEGER NOT NULL CHECK (starts >= 0),
  ends INTEGER NOT NULL CHECK (ends > starts),
  due TEXT NOT NULL,
  opened_at TEXT,
  conversation_id TEXT REFERENCES conversations (id) ON DELETE SET NULL,
  thread_id TEXT,
  private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1)),
  ready INTEGER NOT NULL DEFAULT 0 CHECK (ready IN (0, 1)),
  PRIMARY KEY (club_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX club_sections_by_conversation ON club_sections (conversation_id);

-- `joined` counts the members of a club in the order in which they came.
CREATE TABLE club_members (
  club_id TEXT NOT NULL REFERENCES clubs (id) ON DELETE CASCADE,
  reader_id TEXT NOT NULL,
  joined_at TEXT NOT NULL,
  checked_in_at TEXT,
  hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  left_at TEXT,
  PRIMARY KEY (club_id, reader_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX club_members_by_reader ON club_members (reader_id);

-- What the bot posts for a club, each once: claimed before it is posted, done once it stands.
CREATE TABLE club_posts (
  club_id TEXT NOT NULL REFERENCES clubs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('claimed', 'done', 'gone')),
  claimed_at TEXT NOT NULL,
  message_id TEXT NOT NULL DEFAULT '',
  shown TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (club_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE votes (
  id TEXT PRIMARY KEY,
  guild_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  asker_id TEXT NOT NULL,
  choices TEXT NOT NULL,
  created_at TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  message_id TEXT NOT NULL DEFAULT '',
  told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX votes_running ON votes (channel_id) WHERE told = 0;
CREATE INDEX votes_by_asker ON votes (asker_id);

-- A conversation that goes no further than this offset of its book, however far its readers are.
ALTER TABLE conversations ADD COLUMN read_to INTEGER CHECK (read_to >= 0);
