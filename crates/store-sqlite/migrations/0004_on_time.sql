-- Deliveries that are to be attempted again, in the order in which they are due.
CREATE INDEX deliveries_retried ON deliveries (due_at_ms) WHERE state = 'pending' AND due_at_ms > 0;

-- Set, and taken back, by a write that only tries whether anything can be written.
ALTER TABLE node ADD COLUMN probe BLOB;
