-- Whether a member could take over, as far as it knows.
ALTER TABLE members ADD COLUMN can_lead boolean NOT NULL DEFAULT TRUE;

-- A word sealed with the secret of the cluster: a node with another one cannot open it. One row at most.
CREATE TABLE cluster_marks (
    is_the_one boolean PRIMARY KEY DEFAULT TRUE CHECK (is_the_one),
    sealed     bytea NOT NULL
);
