-- Whether a request's tokens were reckoned by its length, because the server did not count them.

ALTER TABLE usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1));
