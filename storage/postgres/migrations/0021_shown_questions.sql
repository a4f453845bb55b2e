-- The messages that show a question which is known by another id: what its author wrote before a book was chosen, and
-- what the bot repeats of it (`repeated`). The rows go with the question.
CREATE TABLE shown_questions (
  message_id TEXT COLLATE "C" NOT NULL,
  question_id TEXT COLLATE "C" NOT NULL REFERENCES chat_messages (id) ON DELETE CASCADE,
  reader_id TEXT COLLATE "C" NOT NULL,
  channel_id TEXT COLLATE "C" NOT NULL,
  repeated SMALLINT NOT NULL CHECK (repeated IN (0, 1)),
  PRIMARY KEY (message_id, question_id)
);

CREATE INDEX shown_questions_by_question ON shown_questions (question_id);
CREATE INDEX shown_questions_by_reader ON shown_questions (reader_id);
CREATE INDEX shown_questions_by_channel ON shown_questions (channel_id);

-- Of a repetition from before, it is known who asked and where: it repeats the last question before it.
INSERT INTO shown_questions (message_id, question_id, reader_id, channel_id, repeated)
SELECT message_id, question_id, reader_id, channel_id, 1 FROM (
  SELECT posts.message_id, chat_messages.id AS question_id, posts.reader_id, posts.channel_id,
    row_number() OVER (
      PARTITION BY posts.message_id ORDER BY CAST(substring(external_id FROM '^command:(\d+)$') AS BIGINT) DESC
    ) AS distance
  FROM posts
    JOIN chat_messages ON author_id = posts.reader_id AND external_id LIKE 'command:%'
    JOIN conversations ON conversations.id = conversation_id
  WHERE words = 1 AND posts.channel_id IN (conversations.thread_id, conversations.channel_id)
    AND CAST(substring(external_id FROM '^command:(\d+)$') AS BIGINT) < CAST(posts.message_id AS BIGINT)
) AS repetitions WHERE distance = 1;
