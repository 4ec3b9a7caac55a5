-- The run that a replay repeats. Lists show it, and read no details for it.
ALTER TABLE runs ADD COLUMN replay_of TEXT;
UPDATE runs SET replay_of = json_extract(details, '$.head.replay.run_id') WHERE trigger = 'replay' AND details IS NOT NULL;
