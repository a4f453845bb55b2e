-- When somebody last wrote in a thread without speaking to the bot, and since when they are not waited for: they have
-- left, or were taken out. Whoever is known from before counts as having written just now.
ALTER TABLE present ADD COLUMN written_at TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE present ADD COLUMN absent_since TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE present SET written_at = to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"');
