-- Files of folders whose components are built at their first use. Each text is there once.
CREATE TABLE folder_texts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL
);

CREATE TABLE folders (
    hash   TEXT PRIMARY KEY,
    -- The hashes of the texts by path, as JSON.
    files  TEXT NOT NULL,
    -- Version ranges by package, as JSON.
    ranges TEXT NOT NULL
);

-- The folder of each component that was published with one. Its artifact is the empty one until it is built.
CREATE TABLE folder_components (
    component_id TEXT PRIMARY KEY REFERENCES components (id) ON DELETE CASCADE,
    folder       TEXT NOT NULL REFERENCES folders (hash),
    entry        TEXT NOT NULL
) WITHOUT ROWID;
