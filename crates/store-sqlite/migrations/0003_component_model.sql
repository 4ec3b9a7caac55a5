-- The component model: what published components need beyond their own source.

-- Data stores: key-value stores that components share by name.
CREATE TABLE data_stores (
    -- Never used twice: a store that is cleared goes on under another.
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The workspace's id, or else the user's.
    owner_id      TEXT NOT NULL,
    name          TEXT NOT NULL,
    -- Of all its rows, expired ones among them.
    records       INTEGER NOT NULL DEFAULT 0,
    bytes         INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
);
CREATE UNIQUE INDEX data_stores_by_owner ON data_stores (owner_id, name);

CREATE TABLE data_store_records (
    position      INTEGER PRIMARY KEY,
    store_id      INTEGER NOT NULL,
    key           TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    expires_at_ms INTEGER,
    updated_at_ms INTEGER NOT NULL,
    value         TEXT NOT NULL
);
CREATE UNIQUE INDEX data_store_records_by_key ON data_store_records (store_id, key);
CREATE INDEX data_store_records_by_expiry ON data_store_records (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- Former ids of stores that were cleared or deleted, whose rows are swept later.
CREATE TABLE data_store_leftovers (
    store_id INTEGER PRIMARY KEY
);
-- Accounts that are connected through a browser, renewed and watched.

-- Counts the credentials that an account has had.
ALTER TABLE accounts ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE accounts ADD COLUMN expires_at INTEGER;
ALTER TABLE accounts ADD COLUMN renewable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN renew_at INTEGER;
ALTER TABLE accounts ADD COLUMN health TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE accounts ADD COLUMN health_reason TEXT;
ALTER TABLE accounts ADD COLUMN checked_at INTEGER;

CREATE TABLE connects (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL,
    workspace_id TEXT,
    app          TEXT NOT NULL,
    name         TEXT NOT NULL,
    -- The account that it is about, or that it has made.
    account_id   TEXT,
    sealed       BLOB NOT NULL,
    step         TEXT NOT NULL,
    failure      TEXT,
    token_hash   TEXT NOT NULL UNIQUE,
    state_hash   TEXT UNIQUE,
    expires_at   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX connects_by_expiry ON connects (expires_at);
