-- The version of each component beside what it is found by: in its own row it is behind the code.
ALTER TABLE component_search ADD COLUMN version TEXT;
UPDATE component_search
SET version = (SELECT description ->> '$.version' FROM components WHERE components.id = component_search.id);
DROP INDEX component_search_by_user;
CREATE INDEX component_search_by_user ON component_search (user_id, key, id, version);
DROP INDEX component_search_by_workspace;
CREATE INDEX component_search_by_workspace ON component_search (workspace_id, key, id, version)
WHERE workspace_id IS NOT NULL;

-- A webhook that becomes inactive begins another generation. Deliveries of a former one that are `pending` are dead,
-- though that is written in bounded steps only.
ALTER TABLE webhooks ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- When the former generation ended, as long as deliveries of it may be `pending`.
ALTER TABLE webhooks ADD COLUMN given_up_at_ms INTEGER;
UPDATE webhooks SET generation = 1, given_up_at_ms = updated_at * 1000 WHERE NOT active;
INSERT INTO untrimmed_deliveries (webhook_id) SELECT id FROM webhooks WHERE NOT active ON CONFLICT DO NOTHING;
-- That in which it became pending last.
ALTER TABLE deliveries ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- Whether it is `pending` once more because somebody wanted that, and since when. Others are so since their creation.
ALTER TABLE deliveries ADD COLUMN is_again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN again_at_ms INTEGER;
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (webhook_id, generation, due_at_ms, event_position) WHERE state = 'pending';
CREATE INDEX deliveries_again ON deliveries (webhook_id, generation, again_at_ms)
WHERE state = 'pending' AND is_again = 1;
DROP INDEX deliveries_by_webhook;
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, state, is_again, id, generation);
