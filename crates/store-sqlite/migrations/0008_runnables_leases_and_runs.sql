-- What owns code is a source or a workflow.
ALTER TABLE invocations RENAME COLUMN source_id TO runnable_id;
ALTER TABLE key_values RENAME COLUMN source_id TO runnable_id;
ALTER TABLE timers RENAME COLUMN source_id TO runnable_id;
DROP INDEX invocations_by_source;
CREATE INDEX invocations_by_runnable ON invocations (runnable_id, position);
