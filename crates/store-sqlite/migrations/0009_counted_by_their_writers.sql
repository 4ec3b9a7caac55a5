-- Those who queue, end and delete invocations of events count them. A trigger has each write of any invocation keep a
-- journal of its own, which took as long as the write.
DROP TRIGGER queued_event_added;
DROP TRIGGER queued_event_removed;
