-- What was done, where that is known: the same thing that is done again, as after a crash, is counted once.
ALTER TABLE allowances ADD COLUMN about TEXT NOT NULL DEFAULT '';
