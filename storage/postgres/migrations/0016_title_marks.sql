-- A hash of the conversation's id and title, 0 where the title is older than this column. The number of conversations
-- on a shelf and the sum of their marks tell whether a list of titles in memory is still true, whoever changed them.
ALTER TABLE conversations ADD COLUMN title_mark BIGINT NOT NULL DEFAULT 0;
CREATE INDEX conversations_by_mark ON conversations (guild_id, book_id, title_mark);
