-- Whether a source shares no worker with others.
ALTER TABLE sources ADD COLUMN isolated INTEGER NOT NULL DEFAULT FALSE;
