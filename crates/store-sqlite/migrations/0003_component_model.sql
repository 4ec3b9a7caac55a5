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
