-- Searches of events that people named, of a workspace or of a user outside of workspaces. They go with whom they are of.
CREATE TABLE event_views (
    tenant       TEXT NOT NULL,
    name         TEXT NOT NULL,
    user_id      TEXT REFERENCES users (id) ON DELETE CASCADE,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    words        TEXT NOT NULL,
    paths        TEXT NOT NULL,
    emitter      TEXT,
    channel      TEXT,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE INDEX event_views_by_user ON event_views (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX event_views_by_workspace ON event_views (workspace_id) WHERE workspace_id IS NOT NULL;
