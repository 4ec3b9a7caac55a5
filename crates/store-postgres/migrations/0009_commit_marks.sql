-- The last commit of runs that each process has written of each kind. A process whose COMMIT got no answer, and whose server
-- is another one since or has crashed, finds here whether it was written.
CREATE TABLE commit_marks (
    process bigint NOT NULL,
    kind text NOT NULL,
    number bigint NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (process, kind)
) WITH (fillfactor = 50);
