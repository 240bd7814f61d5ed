-- What came from other systems: by source, kind and the key the source knows it by. id is what it is here; a row that was
-- deleted since stays noted, so that the next import does not bring it back. A deleted project is forgotten as a whole.
CREATE TABLE imports (
    source     TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    at_ms      INTEGER NOT NULL,
    PRIMARY KEY (source, kind, key)
) STRICT;
CREATE INDEX imports_of_project ON imports (project_id);
