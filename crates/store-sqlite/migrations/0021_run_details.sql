-- The details of runs of workflows, which may be large, beside the records, which lists read.
CREATE TABLE run_details (
    run_id  TEXT PRIMARY KEY,
    details TEXT NOT NULL
);
INSERT INTO run_details (run_id, details) SELECT id, details FROM runs WHERE details IS NOT NULL;
ALTER TABLE runs DROP COLUMN details;
