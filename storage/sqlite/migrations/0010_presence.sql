-- When somebody last wrote in a thread without speaking to the bot, and since when they are not waited for: they have
-- left, or were taken out. Whoever is known from before counts as having written just now.
ALTER TABLE present ADD COLUMN written_at TEXT NOT NULL DEFAULT '';
ALTER TABLE present ADD COLUMN absent_since TEXT NOT NULL DEFAULT '';
UPDATE present SET written_at = strftime('%Y-%m-%dT%H:%M:%S.000000+00:00', 'now');
