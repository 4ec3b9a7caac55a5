-- Every way an event leaves: webhooks with their deliveries, automatic subscriptions.

CREATE TABLE webhooks (
    id                     TEXT PRIMARY KEY,
    user_id                TEXT NOT NULL,
    workspace_id           TEXT,
    name                   TEXT,
    description            TEXT,
    url                    TEXT NOT NULL,
    active                 INTEGER NOT NULL,
    disabled_reason        TEXT,
    secret                 BLOB NOT NULL,
    former_secret          BLOB,
    former_valid_until_ms  INTEGER,
    failing_since_ms       INTEGER,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX webhooks_by_user ON webhooks (user_id, id);
CREATE INDEX webhooks_by_workspace ON webhooks (workspace_id) WHERE workspace_id IS NOT NULL;

-- Events that have deliveries, once for all of them: the log does not keep them as long.
CREATE TABLE delivered_events (
    -- The event's position in the log.
    position   INTEGER PRIMARY KEY,
    emitter_id TEXT NOT NULL,
    ms         INTEGER NOT NULL,
    sequence   INTEGER NOT NULL,
    channel    TEXT NOT NULL,
    event      TEXT NOT NULL,
    -- Deliveries that need it.
    deliveries INTEGER NOT NULL
);

CREATE TABLE deliveries (
    position            INTEGER PRIMARY KEY AUTOINCREMENT,
    id                  TEXT NOT NULL UNIQUE,
    webhook_id          TEXT NOT NULL,
    subscription_id     TEXT NOT NULL,
    event_position      INTEGER NOT NULL,
    indexed_at_ms       INTEGER NOT NULL,
    state               TEXT NOT NULL,
    -- Since it was dispatched, or last retried by hand: its place in the schedule.
    attempts            INTEGER NOT NULL DEFAULT 0,
    -- 0: at once, in the order of events.
    due_at_ms           INTEGER NOT NULL DEFAULT 0,
    lease_epoch         INTEGER,
    lease_expires_at_ms INTEGER,
    lease_number        INTEGER NOT NULL DEFAULT 0,
    created_at_ms       INTEGER NOT NULL,
    ended_at_ms         INTEGER
);
CREATE INDEX deliveries_due ON deliveries (webhook_id, due_at_ms, event_position, position) WHERE state = 'pending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, state, id);
CREATE INDEX deliveries_dead ON deliveries (ended_at_ms) WHERE state = 'dead';

CREATE TABLE attempts (
    delivery_position INTEGER NOT NULL REFERENCES deliveries (position) ON DELETE CASCADE,
    -- That of its lease: counts up, and stays unique when the delivery is retried by hand.
    number            INTEGER NOT NULL,
    at_ms             INTEGER NOT NULL,
    latency_ms        INTEGER NOT NULL,
    status            INTEGER,
    response_excerpt  TEXT,
    error             TEXT,
    PRIMARY KEY (delivery_position, number)
) WITHOUT ROWID;

-- Webhooks with deliveries taken since theirs were last trimmed, and those that are gone with deliveries still there.
CREATE TABLE untrimmed_deliveries (
    webhook_id TEXT PRIMARY KEY
) WITHOUT ROWID;

-- To how many taken deliveries webhooks were last trimmed.
ALTER TABLE retention ADD COLUMN keep_deliveries INTEGER NOT NULL DEFAULT 0;

CREATE TABLE auto_subscriptions (
    -- Never used twice: ids of the subscriptions that it makes are made of it and of their number.
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    user_id  TEXT NOT NULL,
    listener TEXT NOT NULL,
    channel  TEXT NOT NULL,
    made     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (user_id, listener, channel)
);
CREATE INDEX auto_subscriptions_by_listener ON auto_subscriptions (listener);

-- Globs match their user's emitters only.
CREATE INDEX subscriptions_by_user ON subscriptions (user_id, emitter, channel);

-- Among the subscriptions of which event past the cursor dispatch has stopped, after which, and whether it has said
-- already that the event goes no further.
ALTER TABLE dispatch_cursor ADD COLUMN partial_event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dispatch_cursor ADD COLUMN partial_subscription INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dispatch_cursor ADD COLUMN partial_told INTEGER NOT NULL DEFAULT 0;

-- What outside the node an invocation goes back to.
ALTER TABLE invocations ADD COLUMN request_id TEXT;
ALTER TABLE invocations ADD COLUMN traceparent TEXT;
ALTER TABLE events ADD COLUMN traceparent TEXT;
ALTER TABLE delivered_events ADD COLUMN traceparent TEXT;

-- What `additionalProps` had added to a source's component when its props were configured.
ALTER TABLE sources ADD COLUMN dynamic_props TEXT NOT NULL DEFAULT '[]';

-- Published components. `rank` sorts as versions win; versions of one rank are one version.
CREATE TABLE registry (
    key          TEXT NOT NULL,
    rank         TEXT NOT NULL,
    version      TEXT NOT NULL,
    component_id TEXT NOT NULL UNIQUE REFERENCES components (id),
    publisher    TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    PRIMARY KEY (key, rank)
) WITHOUT ROWID;

-- What listings of components filter by, apart from the components, whose rows hold their code.
CREATE TABLE component_search (
    id           TEXT PRIMARY KEY REFERENCES components (id),
    user_id      TEXT NOT NULL,
    workspace_id TEXT,
    key          TEXT,
    type         TEXT NOT NULL,
    -- Slugs, each between spaces.
    apps         TEXT NOT NULL,
    -- Key, name and description in lower case.
    text         TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX component_search_by_user ON component_search (user_id, key, id);
CREATE INDEX component_search_by_workspace ON component_search (workspace_id, key, id) WHERE workspace_id IS NOT NULL;
INSERT INTO component_search (id, user_id, workspace_id, key, type, apps, text)
SELECT id, user_id, workspace_id, key, coalesce(description ->> '$.type', 'source'),
       ' ' || coalesce(substr(key, 1, instr(key || '-', '-') - 1), '') || ' '
           || coalesce((SELECT group_concat(prop.value ->> '$.app', ' ')
                        FROM json_each(description, '$.props') AS prop), '') || ' ',
       lower(coalesce(key, '') || ' ' || (description ->> '$.name') || ' ' || coalesce(description ->> '$.description', ''))
FROM components;

-- Several users. Until now there was only the first, who is the administrator.

ALTER TABLE users ADD COLUMN is_admin INTEGER NOT NULL DEFAULT 0;
UPDATE users SET is_admin = 1;
CREATE UNIQUE INDEX users_by_username ON users (username);
CREATE UNIQUE INDEX workspaces_by_orgname ON workspaces (orgname);

ALTER TABLE api_keys ADD COLUMN name TEXT NOT NULL DEFAULT 'first';
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
CREATE INDEX api_keys_by_user ON api_keys (user_id, id);

-- What runs cost per UTC day, of a user (`u_`) and of a workspace (`o_`).
CREATE TABLE daily_usage (
    owner_id    TEXT NOT NULL,
    day         INTEGER NOT NULL,
    invocations INTEGER NOT NULL,
    compute_ms  INTEGER NOT NULL,
    PRIMARY KEY (owner_id, day)
) WITHOUT ROWID;
INSERT INTO daily_usage (owner_id, day, invocations, compute_ms) SELECT user_id, day, invocations, compute_ms FROM usage;
DROP TABLE usage;
