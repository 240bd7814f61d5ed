-- What a bead and its task last agreed on. The row outlives both: what was deleted on one side is not made again from
-- the other.
CREATE TABLE mirrors (
    workspace   TEXT NOT NULL,
    bead        TEXT NOT NULL,
    project_id  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    task_id     TEXT NOT NULL UNIQUE,
    bead_text   TEXT NOT NULL,
    task_text   TEXT NOT NULL,
    bead_status TEXT NOT NULL,
    task_status TEXT NOT NULL,
    PRIMARY KEY (workspace, bead)
) STRICT;
