ALTER TABLE conversations ADD COLUMN shared SMALLINT NOT NULL DEFAULT 0 CHECK (shared IN (0, 1));

ALTER TABLE turns ADD COLUMN told SMALLINT NOT NULL DEFAULT 0 CHECK (told IN (0, 1));
UPDATE turns SET told = 1 WHERE state = 'failed';

CREATE INDEX turns_untold ON turns (started_at) WHERE state = 'failed' AND told = 0;
