-- The owner of an invocation that an event has queued. Others are not counted by owner.
ALTER TABLE invocations ADD COLUMN owner_id TEXT;
UPDATE invocations SET owner_id = (SELECT coalesce(workspace_id, user_id) FROM sources WHERE sources.id = source_id)
WHERE trigger = 'event';

-- Invocations per owner that events have queued and that have not ended, kept by triggers, so that nobody has to count.
CREATE TABLE queued_events (
    owner_id    TEXT PRIMARY KEY,
    invocations INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    -- Whether it has been said that no more is queued.
    told        INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO queued_events (owner_id, invocations, bytes)
SELECT owner_id, count(*), sum(octet_length(event)) FROM invocations WHERE owner_id IS NOT NULL GROUP BY owner_id;

CREATE TRIGGER queued_event_added AFTER INSERT ON invocations WHEN NEW.owner_id IS NOT NULL BEGIN
    INSERT INTO queued_events (owner_id, invocations, bytes) VALUES (NEW.owner_id, 1, octet_length(NEW.event))
    ON CONFLICT (owner_id) DO UPDATE SET invocations = invocations + 1, bytes = bytes + octet_length(NEW.event);
END;
CREATE TRIGGER queued_event_removed AFTER DELETE ON invocations WHEN OLD.owner_id IS NOT NULL BEGIN
    UPDATE queued_events SET invocations = invocations - 1, bytes = bytes - octet_length(OLD.event)
    WHERE owner_id = OLD.owner_id;
END;
