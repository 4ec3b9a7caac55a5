-- How many events of each class an emitter has, and of those on channels that components name, how many are on each.
-- Those who append and delete events count them.
ALTER TABLE emitters ADD COLUMN ordinary_events  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE emitters ADD COLUMN error_events     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE emitters ADD COLUMN log_events       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE emitters ADD COLUMN scheduled_events INTEGER NOT NULL DEFAULT 0;
UPDATE emitters SET
    ordinary_events  = (SELECT count(*) FROM events WHERE events.emitter_id = emitters.emitter_id AND class = 0),
    error_events     = (SELECT count(*) FROM events WHERE events.emitter_id = emitters.emitter_id AND class = 1),
    log_events       = (SELECT count(*) FROM events WHERE events.emitter_id = emitters.emitter_id AND class = 2),
    scheduled_events = (SELECT count(*) FROM events WHERE events.emitter_id = emitters.emitter_id AND class = 3);

CREATE TABLE channel_events (
    emitter_id TEXT NOT NULL,
    channel    TEXT NOT NULL,
    events     INTEGER NOT NULL,
    PRIMARY KEY (emitter_id, channel)
) WITHOUT ROWID;
INSERT INTO channel_events (emitter_id, channel, events)
SELECT emitter_id, channel, count(*) FROM events WHERE class = 0 AND channel <> '' GROUP BY emitter_id, channel;
CREATE INDEX events_by_channel ON events (emitter_id, channel, ms, sequence) WHERE class = 0 AND channel <> '';
