-- What owns code is a source or a workflow.
ALTER TABLE invocations RENAME COLUMN source_id TO runnable_id;
ALTER TABLE key_values RENAME COLUMN source_id TO runnable_id;
ALTER TABLE timers RENAME COLUMN source_id TO runnable_id;

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

-- When an invocation may run; 0: at once. Those that wait are behind all that are due.
ALTER TABLE invocations ADD COLUMN due_at_ms INTEGER NOT NULL DEFAULT 0;
-- What its last checkpoint left, and whether its run has emitted events to be released later.
ALTER TABLE invocations ADD COLUMN state TEXT;
ALTER TABLE invocations ADD COLUMN has_scheduled INTEGER NOT NULL DEFAULT 0;
DROP INDEX invocations_by_source;
CREATE INDEX invocations_by_runnable ON invocations (runnable_id, due_at_ms, position);
CREATE INDEX invocations_waiting ON invocations (due_at_ms) WHERE due_at_ms > 0;

-- Runs that have ended. Those that failed are kept apart.
CREATE TABLE runs (
    runnable_id   TEXT NOT NULL,
    failed        INTEGER NOT NULL,
    id            TEXT NOT NULL,
    version       TEXT NOT NULL,
    trigger       TEXT NOT NULL,
    queued_at_ms  INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    ended_at_ms   INTEGER NOT NULL,
    outcome       TEXT NOT NULL,
    error         TEXT,
    emitted       INTEGER NOT NULL,
    dropped       INTEGER NOT NULL,
    dropped_keys  TEXT,
    request_id    TEXT,
    traceparent   TEXT,
    -- The emitter's last event at its end. The run's events are not behind it, but for those released later.
    last_ms       INTEGER,
    last_sequence INTEGER,
    has_scheduled INTEGER NOT NULL,
    PRIMARY KEY (runnable_id, failed, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX runs_by_id ON runs (id);
ALTER TABLE events ADD COLUMN run_id TEXT;

-- Runnables with runs that have ended since theirs were last trimmed, and to how many that was.
CREATE TABLE untrimmed_runs (
    runnable_id TEXT PRIMARY KEY
) WITHOUT ROWID;
ALTER TABLE retention ADD COLUMN keep_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE retention ADD COLUMN keep_failed_runs INTEGER NOT NULL DEFAULT 0;

CREATE INDEX deliveries_by_event ON deliveries (event_position);
