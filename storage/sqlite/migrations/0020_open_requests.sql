-- What a request has used is recorded while it is under way, and again at its end: the last record counts.
ALTER TABLE usage ADD COLUMN request_id TEXT;
CREATE UNIQUE INDEX usage_by_request ON usage (request_id);
