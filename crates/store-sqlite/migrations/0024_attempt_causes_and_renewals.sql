-- Why an attempt was made. Those of before do not tell.
ALTER TABLE attempts ADD COLUMN cause TEXT;
-- When the node renewed the account's tokens last, epoch seconds.
ALTER TABLE accounts ADD COLUMN renewed_at INTEGER;
