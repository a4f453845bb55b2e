-- Whether a message repeats what the person wrote; else it only names them.
ALTER TABLE posts ADD COLUMN words INTEGER NOT NULL DEFAULT 0 CHECK (words IN (0, 1));
