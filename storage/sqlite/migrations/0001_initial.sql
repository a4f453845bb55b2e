-- Everything that changes: shelves, conversations, readers, usage. Books themselves are files of their own.
-- Times are ISO 8601 in UTC with microseconds, so that they sort as text. Lists and structures are JSON.

CREATE TABLE books (
  id TEXT PRIMARY KEY,
  shelf TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  title TEXT NOT NULL,
  author TEXT NOT NULL,
  format TEXT NOT NULL,
  page_count INTEGER NOT NULL CHECK (page_count >= 0),
  chapter_count INTEGER NOT NULL CHECK (chapter_count >= 0),
  word_count INTEGER NOT NULL CHECK (word_count >= 0),
  length INTEGER NOT NULL CHECK (length >= 0),
  created_at TEXT NOT NULL,
  pages_estimated INTEGER NOT NULL DEFAULT 0 CHECK (pages_estimated IN (0, 1)),
  added_by TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'ready' CHECK (status IN ('ready', 'missing')),
  UNIQUE (shelf, sha256)
) STRICT;

CREATE INDEX books_by_shelf ON books (shelf, created_at);
CREATE INDEX books_by_hash ON books (sha256);
CREATE INDEX books_by_person ON books (added_by);

CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  book_id TEXT NOT NULL REFERENCES books (id) ON DELETE CASCADE,
  title TEXT NOT NULL CHECK (trim(title) <> ''),
  created_at TEXT NOT NULL,
  title_source TEXT NOT NULL DEFAULT 'automatic' CHECK (title_source IN ('automatic', 'model', 'person')),
  owner_id TEXT NOT NULL DEFAULT '',
  guild_id TEXT,
  channel_id TEXT,
  thread_id TEXT UNIQUE,
  private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1)),
  verbose INTEGER CHECK (verbose IN (0, 1)),
  briefing TEXT,
  updated_at TEXT
) STRICT;

CREATE INDEX conversations_by_book ON conversations (book_id, created_at);
CREATE INDEX conversations_by_guild ON conversations (guild_id, created_at);
CREATE INDEX conversations_by_owner ON conversations (owner_id);

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  number INTEGER NOT NULL CHECK (number >= 1),
  state TEXT NOT NULL CHECK (state IN ('running', 'answered', 'delivered', 'failed')),
  started_at TEXT NOT NULL,
  finished_at TEXT,
  error TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  usage TEXT NOT NULL DEFAULT '{}',
  reply_ids TEXT NOT NULL DEFAULT '[]',
  trace_id TEXT,
  stopped INTEGER NOT NULL DEFAULT 0 CHECK (stopped IN (0, 1)),
  UNIQUE (conversation_id, number),
  UNIQUE (conversation_id, id)
) STRICT;

CREATE INDEX turns_undelivered ON turns (started_at) WHERE state IN ('running', 'answered');

-- `arrival` is the order in which messages were first written; it never changes. Within a turn it is the order of the
-- messages, because a turn takes messages that wait before it writes its own. A message's turn is one of its own
-- conversation; a turn goes as a whole.
CREATE TABLE chat_messages (
  arrival INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
  turn_id TEXT,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool_result')),
  content TEXT NOT NULL,
  created_at TEXT NOT NULL,
  tool_use_id TEXT,
  tool_invocations TEXT NOT NULL DEFAULT '[]',
  is_error INTEGER NOT NULL DEFAULT 0 CHECK (is_error IN (0, 1)),
  passages TEXT NOT NULL DEFAULT '[]',
  citations TEXT NOT NULL DEFAULT '[]',
  usage TEXT,
  raw TEXT,
  author_id TEXT NOT NULL DEFAULT '',
  author_name TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '',
  depends_to INTEGER CHECK (depends_to >= 0),
  external_id TEXT UNIQUE,
  duration_ms INTEGER NOT NULL DEFAULT 0,
  summary TEXT NOT NULL DEFAULT '',
  FOREIGN KEY (conversation_id, turn_id) REFERENCES turns (conversation_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX chat_messages_by_conversation ON chat_messages (conversation_id);
CREATE INDEX chat_messages_by_turn ON chat_messages (turn_id, conversation_id);
CREATE INDEX chat_messages_by_author ON chat_messages (author_id);

-- Messages that were erased on their author's wish: known again if they are seen again, and nothing else about them.
CREATE TABLE forgotten_messages (
  external_id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX forgotten_messages_by_conversation ON forgotten_messages (conversation_id);

-- A reader without a row in `positions` has not set one: that is a state of its own.
CREATE TABLE positions (
  reader_id TEXT NOT NULL,
  book_id TEXT NOT NULL REFERENCES books (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('reading', 'finished')),
  read_to INTEGER NOT NULL CHECK (read_to >= 0),
  PRIMARY KEY (reader_id, book_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX positions_by_book ON positions (book_id);

CREATE TABLE readers (
  id TEXT PRIMARY KEY,
  verbose INTEGER CHECK (verbose IN (0, 1))
) STRICT, WITHOUT ROWID;

-- One row per request to a model. It outlives its conversation, because what was spent stays spent.
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  reader_id TEXT NOT NULL DEFAULT '',
  guild_id TEXT,
  conversation_id TEXT,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
  cache_read_tokens INTEGER NOT NULL CHECK (cache_read_tokens >= 0),
  cache_write_tokens INTEGER NOT NULL CHECK (cache_write_tokens >= 0),
  cost_microdollars INTEGER CHECK (cost_microdollars >= 0)
) STRICT;

CREATE INDEX usage_by_reader ON usage (reader_id, at);
CREATE INDEX usage_by_guild ON usage (guild_id, at);
CREATE INDEX usage_by_conversation ON usage (conversation_id);

CREATE TABLE derived_texts (
  book_id TEXT NOT NULL REFERENCES books (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  depends_to INTEGER NOT NULL CHECK (depends_to >= 0),
  text TEXT NOT NULL,
  model TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (book_id, kind, key, depends_to)
) STRICT, WITHOUT ROWID;
