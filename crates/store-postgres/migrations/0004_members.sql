-- The nodes of a cluster, leading or not. `nodes` has the life of the one that leads.
CREATE TABLE members (
    id           text COLLATE "C" PRIMARY KEY,
    address      text NOT NULL,
    version      text NOT NULL,
    joined_at_ms bigint NOT NULL,
    seen_at_ms   bigint NOT NULL,
    is_draining  boolean NOT NULL DEFAULT FALSE
);

-- The secret keys of a cluster, sealed with its secret. One row at most.
CREATE TABLE cluster_keys (
    is_the_one boolean PRIMARY KEY DEFAULT TRUE CHECK (is_the_one),
    sealed     bytea NOT NULL
);
