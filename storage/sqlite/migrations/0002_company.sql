-- Whether the bot has left a thread's talk to the people in it, and whether the readers of a failed turn know of it.
-- Failures from before are taken as told.
ALTER TABLE conversations ADD COLUMN shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));

ALTER TABLE turns ADD COLUMN told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1));
UPDATE turns SET told = 1 WHERE state = 'failed';

CREATE INDEX turns_untold ON turns (started_at) WHERE state = 'failed' AND told = 0;
