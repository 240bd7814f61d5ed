-- Workers are kept whole as JSON: their launch configuration is the user's and has no fixed shape.
CREATE TABLE workers (
    id         TEXT    NOT NULL PRIMARY KEY,
    phase      TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- Who works on a bead. One row per bead is what keeps two workers apart.
CREATE TABLE leases (
    workspace TEXT    NOT NULL,
    bead      TEXT    NOT NULL,
    worker_id TEXT    NOT NULL,
    actor     TEXT    NOT NULL,
    taken_ms  INTEGER NOT NULL,
    PRIMARY KEY (workspace, bead)
) STRICT;
CREATE INDEX leases_of_worker ON leases (worker_id);

-- How often a bead was given up, so that it is parked in the end.
CREATE TABLE bead_failures (
    workspace TEXT    NOT NULL,
    bead      TEXT    NOT NULL,
    count     INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    parked    INTEGER NOT NULL DEFAULT 0,
    last_ms   INTEGER NOT NULL,
    PRIMARY KEY (workspace, bead)
) STRICT;

CREATE TABLE routings (
    id         TEXT    NOT NULL PRIMARY KEY,
    workspace  TEXT    NOT NULL,
    work       TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    decided_ms INTEGER NOT NULL,
    ended_ms   INTEGER
) STRICT;
CREATE INDEX routings_of_work ON routings (workspace, work, decided_ms);
CREATE INDEX routings_by_time ON routings (decided_ms);

CREATE TABLE alerts (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    last_ms     INTEGER NOT NULL,
    resolved_ms INTEGER
) STRICT;
-- One open alert per kind and subject.
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE resolved_ms IS NULL;
CREATE INDEX alerts_by_time ON alerts (last_ms);
