-- Browsers that are signed in. A session ends with the key that it was begun with.
CREATE TABLE sessions (
    id              TEXT PRIMARY KEY,
    hash            TEXT NOT NULL UNIQUE,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key_id          TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    created_at_ms   INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    address         TEXT,
    user_agent      TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id, id);
CREATE INDEX sessions_by_key ON sessions (key_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at_ms);

-- Links that sign a browser in, once. A link that was used is gone.
CREATE TABLE sign_in_links (
    hash          TEXT PRIMARY KEY,
    key_id        TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    expires_at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sign_in_links_by_key ON sign_in_links (key_id);
