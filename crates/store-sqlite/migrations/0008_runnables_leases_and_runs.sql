-- What owns code is a source or a workflow.
ALTER TABLE invocations RENAME COLUMN source_id TO runnable_id;
ALTER TABLE key_values RENAME COLUMN source_id TO runnable_id;
ALTER TABLE timers RENAME COLUMN source_id TO runnable_id;
DROP INDEX invocations_by_source;
CREATE INDEX invocations_by_runnable ON invocations (runnable_id, position);

-- Whose an emitter is, as its source says too, and which node may write: its epoch, and how often it was leased.
CREATE TABLE owned_emitters (
    emitter_id    TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL,
    workspace_id  TEXT,
    lease_epoch   INTEGER,
    fence         INTEGER NOT NULL DEFAULT 0,
    last_ms       INTEGER,
    last_sequence INTEGER,
    dedupe_state  TEXT
) WITHOUT ROWID;
INSERT INTO owned_emitters (emitter_id, user_id, workspace_id, last_ms, last_sequence, dedupe_state)
SELECT emitter_id, user_id, workspace_id, last_ms, last_sequence, dedupe_state
FROM emitters JOIN sources ON sources.id = emitter_id;
DROP TABLE emitters;
ALTER TABLE owned_emitters RENAME TO emitters;
