-- The newest deployments of each source, with the values as they were. What names the component is written here too, so
-- that a list needs no more rows. `position` is the order of writing, whatever the clock said.
CREATE TABLE source_deployments (
    position          INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    source_id         TEXT NOT NULL,
    component_id      TEXT NOT NULL,
    component_name    TEXT NOT NULL,
    component_key     TEXT,
    component_version TEXT,
    code_hash         TEXT NOT NULL,
    configured_props  TEXT NOT NULL,
    isolated          INTEGER NOT NULL,
    -- Of a deployment before this table, nobody knows who deployed.
    deployed_by       TEXT,
    restores          TEXT,
    created_at_ms     INTEGER NOT NULL
);
CREATE INDEX source_deployments_by_source ON source_deployments (source_id, id);
CREATE INDEX source_deployments_by_age ON source_deployments (source_id, position);
CREATE INDEX source_deployments_by_component ON source_deployments (component_id);

ALTER TABLE sources ADD COLUMN deployment_id TEXT;

-- Sources that run already: their present code and values, under ids that sort before all later ones.
UPDATE sources SET deployment_id = 'd_00' || hex(randomblob(10)) WHERE state <> 'deploying';
INSERT INTO source_deployments (id, source_id, component_id, component_name, component_key, component_version, code_hash,
                                configured_props, isolated, created_at_ms)
SELECT sources.deployment_id, sources.id, components.id, coalesce(json_extract(components.description, '$.name'), ''), components.key,
       json_extract(components.description, '$.version'), components.code_hash, sources.configured_props,
       sources.isolated, sources.updated_at * 1000
FROM sources JOIN components ON components.id = sources.component_id
WHERE sources.deployment_id IS NOT NULL;
