-- Facts of runs beside their outcome. Runs of before were started once, as far as is known.
ALTER TABLE runs ADD COLUMN starts bigint NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN time_limit_ms bigint;
-- The answer that the code sent with $respond.
ALTER TABLE runs ADD COLUMN response_status bigint;
ALTER TABLE runs ADD COLUMN response_bytes bigint;
-- Keys of $.service.db: their number, and the first of them as a JSON array.
ALTER TABLE runs ADD COLUMN changed bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN changed_keys text COLLATE "C";
