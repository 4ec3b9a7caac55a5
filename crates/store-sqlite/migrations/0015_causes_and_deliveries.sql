-- Events lead to the runs and deliveries that they caused; deliveries are found across webhooks.

-- The event that an invocation was queued for, and a run ran for.
ALTER TABLE invocations ADD COLUMN cause_emitter_id TEXT;
ALTER TABLE invocations ADD COLUMN cause_ms INTEGER;
ALTER TABLE invocations ADD COLUMN cause_sequence INTEGER;
CREATE INDEX invocations_by_cause ON invocations (cause_ms, cause_sequence, cause_emitter_id, id)
WHERE cause_emitter_id IS NOT NULL;
ALTER TABLE runs ADD COLUMN cause_emitter_id TEXT;
ALTER TABLE runs ADD COLUMN cause_ms INTEGER;
ALTER TABLE runs ADD COLUMN cause_sequence INTEGER;
CREATE INDEX runs_by_cause ON runs (cause_ms, cause_sequence, cause_emitter_id, id) WHERE cause_emitter_id IS NOT NULL;

CREATE INDEX delivered_events_by_id ON delivered_events (ms, sequence, emitter_id);
DROP INDEX deliveries_by_event;
CREATE INDEX deliveries_by_event ON deliveries (event_position, id);

-- How an attempt failed, and the headers of its request and response as JSON: [[name, value], …].
ALTER TABLE attempts ADD COLUMN failure TEXT;
ALTER TABLE attempts ADD COLUMN request_headers TEXT;
ALTER TABLE attempts ADD COLUMN response_headers TEXT;
UPDATE attempts SET failure = CASE
    WHEN status BETWEEN 200 AND 299 THEN NULL
    WHEN status BETWEEN 300 AND 399 THEN 'redirect'
    WHEN status IS NOT NULL THEN 'status'
    WHEN error LIKE 'no answer within %' THEN 'timeout'
    WHEN error LIKE '%--allow-private-network%' THEN 'blocked'
    WHEN error LIKE '%onnection refused%' THEN 'refused'
    ELSE 'broken'
END;

-- The last attempt's status class, or its failure if nothing answered.
ALTER TABLE deliveries ADD COLUMN answer TEXT;
UPDATE deliveries SET answer = (
    SELECT CASE WHEN status IS NULL THEN failure ELSE (status / 100) || 'xx' END
    FROM attempts WHERE delivery_position = deliveries.position ORDER BY number DESC LIMIT 1);
-- Deliveries that the last attempt did not bring about: most have none, and take no part in it.
CREATE INDEX deliveries_failed ON deliveries (webhook_id, answer, id) WHERE answer IS NOT NULL AND answer <> '2xx';
CREATE INDEX deliveries_discarded ON deliveries (ended_at_ms) WHERE state = 'discarded';
