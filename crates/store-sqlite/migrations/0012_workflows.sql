-- Workflows: what they are, what starts them, their runs on the way, and what these send.

CREATE TABLE workflows (
    id            TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL,
    workspace_id  TEXT,
    name          TEXT NOT NULL,
    name_slug     TEXT NOT NULL,
    state         TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    -- Runs that may wait to begin, and days for which ended ones are kept, if its deployment bounds them.
    waiting_runs  INTEGER,
    run_days      INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX workflows_by_user ON workflows (user_id, id);
CREATE INDEX workflows_by_workspace ON workflows (workspace_id, id) WHERE workspace_id IS NOT NULL;
CREATE UNIQUE INDEX workflows_by_slug ON workflows (coalesce(workspace_id, user_id), name_slug);
CREATE INDEX workflows_deleting ON workflows (id) WHERE state = 'deleting';
CREATE INDEX workflows_forgetting ON workflows (id) WHERE run_days IS NOT NULL;

CREATE TABLE deployments (
    id            TEXT PRIMARY KEY,
    workflow_id   TEXT NOT NULL,
    content       TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
);
CREATE INDEX deployments_by_workflow ON deployments (workflow_id, id);

CREATE TABLE workflow_endpoints (
    token       TEXT PRIMARY KEY,
    workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    trigger_id  TEXT NOT NULL,
    kind        TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX workflow_endpoints_by_trigger ON workflow_endpoints (workflow_id, trigger_id);

-- Timers of workflows beside those of sources.
CREATE TABLE timers_of_runnables (
    -- Never used twice: ids of ticks are made of it.
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    runnable_id     TEXT NOT NULL,
    prop            TEXT NOT NULL,
    schedule        TEXT NOT NULL,
    next_fire_at_ms INTEGER,
    UNIQUE (runnable_id, prop)
);
INSERT INTO timers_of_runnables (position, runnable_id, prop, schedule, next_fire_at_ms)
SELECT position, runnable_id, prop, schedule, next_fire_at_ms FROM timers;
DELETE FROM sqlite_sequence WHERE name = 'timers_of_runnables';
INSERT INTO sqlite_sequence (name, seq) SELECT 'timers_of_runnables', seq FROM sqlite_sequence WHERE name = 'timers';
DROP TABLE timers;
ALTER TABLE timers_of_runnables RENAME TO timers;
CREATE INDEX timers_due ON timers (next_fire_at_ms) WHERE next_fire_at_ms IS NOT NULL;

-- The trigger of its listener, a workflow, that has a subscription; others are nobody's but their user's.
ALTER TABLE subscriptions ADD COLUMN trigger_id TEXT;

-- Subscriptions of workflows that had no room for an event: theirs wait in the log, from that event on.
CREATE TABLE held_subscriptions (
    subscription INTEGER PRIMARY KEY,
    listener     TEXT NOT NULL,
    -- Every event up to here has been passed on to it.
    position     INTEGER NOT NULL
);

-- Runs that wait to begin, and the trigger whose subscription queued a run.
ALTER TABLE invocations ADD COLUMN has_begun INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invocations ADD COLUMN trigger_id TEXT;
CREATE INDEX invocations_to_begin ON invocations (runnable_id, position)
    WHERE NOT has_begun AND runnable_id >= 'p_' AND runnable_id < 'p`';
CREATE INDEX runs_by_end ON runs (runnable_id, ended_at_ms) WHERE runnable_id >= 'p_' AND runnable_id < 'p`';

-- The values of idempotency keys, hashed, and the runs that had them first.
CREATE TABLE run_keys (
    workflow_id   TEXT NOT NULL,
    trigger_id    TEXT NOT NULL,
    hash          TEXT NOT NULL,
    run_id        TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, trigger_id, hash)
) WITHOUT ROWID;
CREATE INDEX run_keys_by_end ON run_keys (expires_at_ms);

-- The places of runs of workflows, their large values, and the answers to their waits.
CREATE TABLE run_places (
    run_id TEXT NOT NULL,
    path   TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (run_id, path)
) WITHOUT ROWID;
CREATE TABLE run_blobs (
    run_id TEXT NOT NULL,
    hash   TEXT NOT NULL,
    bytes  BLOB NOT NULL,
    PRIMARY KEY (run_id, hash)
);
CREATE TABLE run_resolutions (
    position   INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL,
    path       TEXT NOT NULL,
    generation INTEGER NOT NULL,
    resolution TEXT NOT NULL,
    is_applied INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, path, generation)
);
CREATE INDEX run_resolutions_open ON run_resolutions (run_id) WHERE NOT is_applied;
-- What is kept of a run of a workflow besides its outcome.
ALTER TABLE runs ADD COLUMN details TEXT;

CREATE TABLE sends (
    position            INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id              TEXT NOT NULL,
    path                TEXT NOT NULL,
    number              INTEGER NOT NULL,
    runnable_id         TEXT NOT NULL,
    user_id             TEXT NOT NULL,
    workspace_id        TEXT,
    way                 TEXT NOT NULL,
    -- Those of one lane share a limit; all of a lane go to one host.
    lane                TEXT,
    value               TEXT NOT NULL,
    state               TEXT NOT NULL,
    queued_at_ms        INTEGER NOT NULL,
    due_at_ms           INTEGER NOT NULL,
    lease_epoch         INTEGER,
    lease_expires_at_ms INTEGER,
    attempts            INTEGER NOT NULL DEFAULT 0,
    result              TEXT,
    -- Whether it is to be forgotten once it has ended.
    is_forgotten        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, path, number)
);
CREATE INDEX sends_due ON sends (due_at_ms, position) WHERE state = 'pending';
CREATE INDEX sends_by_lane ON sends (lane, due_at_ms, position) WHERE state = 'pending';
CREATE INDEX sends_by_run ON sends (run_id, position);

-- Variables that steps see, of a workspace or of a user outside of workspaces.
CREATE TABLE variables (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL,
    name       TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, name)
) WITHOUT ROWID;
