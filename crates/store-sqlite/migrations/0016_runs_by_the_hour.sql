-- Runs that have ended, by the hour in which they were queued: a JSON array of 24 that returned and 24 that went wrong.
-- In the row of the day, so that no commit writes a page more than before; of a workspace, or of a user outside of them.
ALTER TABLE daily_usage ADD COLUMN runs_by_hour TEXT;
