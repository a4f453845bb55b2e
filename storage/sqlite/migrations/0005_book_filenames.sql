-- The name of the file a book was added from, by which it can be found again.
ALTER TABLE books ADD COLUMN filename TEXT NOT NULL DEFAULT '';
