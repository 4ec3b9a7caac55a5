-- Whether a webhook gets each emitter's events one after the other (`strict`) or side by side (`none`).
ALTER TABLE webhooks ADD COLUMN ordering TEXT NOT NULL DEFAULT 'strict';
