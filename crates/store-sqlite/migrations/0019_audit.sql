-- Records of acts. They refer to nothing, because they outlast what they tell of.
CREATE TABLE audit_records (
    id           TEXT PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    via          TEXT NOT NULL,
    -- The user, or else the way: `nobody` and `node` are actors of their own, each with its own bound.
    actor_id     TEXT NOT NULL,
    username     TEXT,
    key_id       TEXT,
    key_name     TEXT,
    session_id   TEXT,
    action       TEXT NOT NULL,
    target_kind  TEXT NOT NULL,
    target_id    TEXT NOT NULL,
    target_name  TEXT,
    owner_id     TEXT,
    workspace_id TEXT,
    details      TEXT NOT NULL,
    address      TEXT,
    user_agent   TEXT NOT NULL
);
CREATE INDEX audit_by_actor ON audit_records (actor_id, id);
CREATE INDEX audit_by_target ON audit_records (target_id, id);
CREATE INDEX audit_by_owner ON audit_records (owner_id, id) WHERE owner_id IS NOT NULL;
CREATE INDEX audit_by_workspace ON audit_records (workspace_id, id) WHERE workspace_id IS NOT NULL;

-- The number of records of each actor.
CREATE TABLE audit_counts (
    actor_id TEXT PRIMARY KEY,
    records  INTEGER NOT NULL
) WITHOUT ROWID;
