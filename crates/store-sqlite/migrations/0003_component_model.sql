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
