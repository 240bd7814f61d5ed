-- How the beads of a project are given to agents.
CREATE TABLE dispatch_rules (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    body       TEXT NOT NULL
) STRICT;

-- The task that a bead became. Further tries at the bead are further attempts at the task.
CREATE TABLE bead_tasks (
    workspace TEXT NOT NULL,
    bead      TEXT NOT NULL,
    task_id   TEXT NOT NULL UNIQUE REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace, bead)
) STRICT;

CREATE INDEX routings_open ON routings (decided_ms) WHERE ended_ms IS NULL;
