-- Facts of runs beside their outcome. Runs of before were started once, as far as is known.
ALTER TABLE runs ADD COLUMN starts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN time_limit_ms INTEGER;
-- The answer that the code sent with $respond.
ALTER TABLE runs ADD COLUMN response_status INTEGER;
ALTER TABLE runs ADD COLUMN response_bytes INTEGER;
-- Keys of $.service.db: their number, and the first of them as a JSON array.
ALTER TABLE runs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN changed_keys TEXT;
