-- Everything of one source carries the source's (or emitter's) id first, so that the schema can be
-- distributed by that key. Times: `_at` epoch seconds, `_ms` epoch milliseconds. JSON is kept as its text.

CREATE TABLE node (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL
);
INSERT INTO node (id, epoch) VALUES (1, 0);

CREATE TABLE users (
    id         TEXT PRIMARY KEY,
    username   TEXT NOT NULL,
    email      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE workspaces (
    id         TEXT PRIMARY KEY,
    orgname    TEXT NOT NULL,
    name       TEXT NOT NULL,
    email      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE memberships (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    user_id      TEXT NOT NULL REFERENCES users (id),
    PRIMARY KEY (workspace_id, user_id)
) WITHOUT ROWID;
CREATE INDEX memberships_by_user ON memberships (user_id);

CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL REFERENCES users (id),
    hash       TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE usage (
    user_id     TEXT NOT NULL,
    day         INTEGER NOT NULL,
    invocations INTEGER NOT NULL,
    compute_ms  INTEGER NOT NULL,
    PRIMARY KEY (user_id, day)
) WITHOUT ROWID;

CREATE TABLE artifacts (
    hash  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
);

CREATE TABLE components (
    id            TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL,
    workspace_id  TEXT,
    key           TEXT,
    code          TEXT NOT NULL,
    code_url      TEXT,
    code_hash     TEXT NOT NULL,
    artifact_hash TEXT NOT NULL REFERENCES artifacts (hash),
    lock          TEXT NOT NULL,
    description   TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
);
CREATE INDEX components_by_key ON components (key, id) WHERE key IS NOT NULL;

CREATE TABLE sources (
    id               TEXT PRIMARY KEY,
    user_id          TEXT NOT NULL,
    workspace_id     TEXT,
    name             TEXT NOT NULL,
    name_slug        TEXT NOT NULL,
    state            TEXT NOT NULL,
    component_id     TEXT NOT NULL REFERENCES components (id),
    artifact_hash    TEXT NOT NULL,
    configured_props TEXT NOT NULL,
    dedupe           TEXT,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sources_by_user ON sources (user_id, id);
CREATE INDEX sources_by_workspace ON sources (workspace_id, id) WHERE workspace_id IS NOT NULL;
CREATE UNIQUE INDEX sources_by_slug ON sources (coalesce(workspace_id, user_id), name_slug);
CREATE INDEX sources_unsettled ON sources (id) WHERE state IN ('deploying', 'updating', 'deleting');

CREATE TABLE endpoints (
    position  INTEGER PRIMARY KEY,
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    prop      TEXT NOT NULL,
    token     TEXT NOT NULL UNIQUE,
    UNIQUE (source_id, prop)
);

CREATE TABLE timers (
    -- Never used twice: ids of ticks are made of it.
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id       TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    prop            TEXT NOT NULL,
    schedule        TEXT NOT NULL,
    next_fire_at_ms INTEGER,
    UNIQUE (source_id, prop)
);
CREATE INDEX timers_due ON timers (next_fire_at_ms) WHERE next_fire_at_ms IS NOT NULL;

-- What every append moves on. Outlives the events, so that ids increase even after all were deleted.
CREATE TABLE emitters (
    emitter_id    TEXT PRIMARY KEY,
    last_ms       INTEGER,
    last_sequence INTEGER,
    dedupe_state  TEXT
) WITHOUT ROWID;

CREATE TABLE key_values (
    source_id TEXT NOT NULL,
    key       TEXT NOT NULL,
    value     TEXT NOT NULL,
    PRIMARY KEY (source_id, key)
) WITHOUT ROWID;

CREATE TABLE events (
    position        INTEGER PRIMARY KEY AUTOINCREMENT,
    emitter_id      TEXT NOT NULL,
    ms              INTEGER NOT NULL,
    sequence        INTEGER NOT NULL,
    class           INTEGER NOT NULL,
    channel         TEXT NOT NULL,
    event           TEXT NOT NULL,
    key             TEXT,
    summary         TEXT,
    ts              REAL,
    hops            INTEGER NOT NULL,
    indexed_at_ms   INTEGER NOT NULL,
    deliver_at_ms   INTEGER,
    deliver_channel TEXT
);
CREATE UNIQUE INDEX events_by_id ON events (emitter_id, class, ms, sequence);
CREATE INDEX events_scheduled ON events (deliver_at_ms, position) WHERE deliver_at_ms IS NOT NULL;

CREATE TABLE dispatch_cursor (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL
);
INSERT INTO dispatch_cursor (id, position) VALUES (1, 0);

-- Emitters and classes with appends since they were last trimmed. Those that wait for dispatch are
-- looked at again after the next append, or when its cursor has passed `waits_at`.
CREATE TABLE untrimmed (
    emitter_id TEXT NOT NULL,
    class      INTEGER NOT NULL,
    waits_at   INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (emitter_id, class)
) WITHOUT ROWID;
CREATE INDEX untrimmed_in_turn ON untrimmed (waits_at);

-- To how many events logs were last trimmed.
CREATE TABLE retention (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    keep INTEGER NOT NULL
);
INSERT INTO retention (id, keep) VALUES (1, 0);

CREATE TABLE deletions (
    id             INTEGER PRIMARY KEY,
    emitter_id     TEXT NOT NULL,
    class          INTEGER NOT NULL,
    channel        TEXT,
    start_ms       INTEGER NOT NULL,
    start_sequence INTEGER NOT NULL,
    end_ms         INTEGER NOT NULL,
    end_sequence   INTEGER NOT NULL,
    up_to_position INTEGER NOT NULL
);
CREATE INDEX deletions_by_emitter ON deletions (emitter_id);

CREATE TABLE subscriptions (
    position INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    user_id  TEXT NOT NULL,
    emitter  TEXT NOT NULL,
    listener TEXT NOT NULL,
    channel  TEXT NOT NULL,
    -- The last event that was there before: it and earlier ones are not matched.
    since    INTEGER NOT NULL,
    UNIQUE (user_id, emitter, listener, channel)
);
CREATE INDEX subscriptions_by_emitter ON subscriptions (emitter, channel);
CREATE INDEX subscriptions_by_listener ON subscriptions (listener);

CREATE TABLE invocations (
    position            INTEGER PRIMARY KEY AUTOINCREMENT,
    id                  TEXT NOT NULL UNIQUE,
    source_id           TEXT NOT NULL,
    trigger             TEXT NOT NULL,
    timer_prop          TEXT,
    event               TEXT NOT NULL,
    hops                INTEGER NOT NULL,
    queued_at_ms        INTEGER NOT NULL,
    lease_epoch         INTEGER,
    lease_expires_at_ms INTEGER,
    -- How often it was leased, and how often a lease was given back.
    attempt             INTEGER NOT NULL DEFAULT 0,
    given_back          INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX invocations_by_source ON invocations (source_id, position);
CREATE INDEX invocations_of_timers ON invocations (source_id, timer_prop) WHERE timer_prop IS NOT NULL;

CREATE TABLE accounts (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL,
    workspace_id TEXT,
    app          TEXT NOT NULL,
    name         TEXT NOT NULL,
    sealed       BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX accounts_by_user ON accounts (user_id, id);
